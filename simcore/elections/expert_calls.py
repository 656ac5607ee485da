"""The calls of the player ``expert`` of Elections: what a hand is worth in a contract, and what the others' calls say.

Worths are margins, own side's points less the other's, in 64ths of a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, lowest_bit, popcount

__all__ = ["expert_call", "expert_contract", "hand_worth"]

_LANE = np.uint64(0x1FFF)

# Worth of a card by rank, weakest first, in 256ths of the worth of a trick in its suit: suits whose tricks pay, suits whose tricks
# cost; trumps in 256ths of the stake, and in 256ths of the worth of any trick.  Least squares over deals played by four experts in
# the contracts of the shipped rulesets (R² 0.3 to 0.77, 0.01 to 0.05 less than with 52 free coefficients a contract).
_PLUS = np.array([-92, -90, -90, -87, -87, -90, -84, -87, -77, -56, -10, 92, 169], np.int64)
_MINUS = np.array([-120, -133, -123, -100, -79, -54, -31, -8, 33, 54, 69, 77, 87], np.int64)
_STAKE = np.array([-28, -38, -56, -51, -61, -64, -59, -44, -49, -13, 20, 46, 92], np.int64)
_TRUMP = np.array([67, 82, 105, 102, 118, 120, 133, 133, 156, 164, 169, 205, 220], np.int64)
_TABLES = np.concatenate([_PLUS, _MINUS, _STAKE, _TRUMP])
_MEANS = np.array([int(table.sum()) // 4 for table in (_PLUS, _MINUS, _STAKE, _TRUMP)], np.int64)

# What a named type shows of its owner's hand, and what a partner yet to be found may bring, in spreads of hands' worths.
_SHOWN, _FOUND = 3, 2


@njit
def _worths(rules: Any, contract: I64, suit: I64) -> tuple[I64, I64]:
    """Return the average worth of a trick in a suit, and of any trick, over the whole deal."""
    e_all = rules.mean_points[contract, 4]
    e_suit = rules.mean_points[contract, suit]
    trick = 64 * rules.trick[contract] + 14 * rules.most[contract]
    return trick + ((13 * e_suit + 3 * e_all) >> 2), trick + 4 * e_all


@njit
def _stake(rules: Any, contract: I64) -> I64:
    """Return how much a trick is about: the mean size of a trick's worth over the suits."""
    stake = np.int64(0)
    for suit in range(4):
        stake += abs(_worths(rules, contract, suit)[0])
    return stake >> 2


@njit
def _spread(rules: Any, contract: I64) -> I64:
    """Return how much hands differ in a contract: the standard deviation of their worths, roughly where it was not fitted."""
    if rules.fitted[contract] == 1:
        return rules.worth_spread[contract]
    return 3 * _stake(rules, contract) >> 1


@njit
def _fitted_worth(rules: Any, contract: I64, hand: U64) -> I64:
    """Return the same from the contract's fitted model."""
    total = rules.worth[contract]
    for suit in range(4):
        cards = hand & (_LANE << np.uint64(16 * suit))
        total += rules.worth_lengths[contract, suit, popcount(cards)]
        while cards != ZERO:
            total += rules.worth_cards[contract, ctz(cards)]
            cards &= cards - ONE
    return total


@njit
def hand_worth(rules: Any, contract: I64, hand: U64) -> I64:
    """Return the margin a hand of 13 cards may expect for its side in a contract, partner and opponents unknown.

    A contract without a fitted model (a designer's own) is judged by what it pays.
    """
    if rules.fitted[contract] == 1:
        return _fitted_worth(rules, contract, hand)
    low = rules.low[contract] == 1
    trump = ZERO if rules.low_trump == 1 and low else rules.trump[contract]
    stake = _stake(rules, contract)
    total = np.int64(0)
    short = np.int64(0)
    long = np.int64(0)
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        cards = hand & lane
        m = popcount(cards)
        worth, any_trick = _worths(rules, contract, suit)
        if lane == trump:
            total -= stake * _MEANS[2] + any_trick * _MEANS[3]
            # squares of the length, 4 m - 13 times 4, less their mean
            length = (4 * m - 13) * (4 * m - 13) - 30
            total += stake * length * (18 if any_trick > 0 else -8) >> 4
        else:
            short += max(2 - m, 0)
            long += max(m - 4, 0)
            total -= worth * _MEANS[0 if worth > 0 else 1]
        while cards != ZERO:
            number = ctz(cards)
            cards &= cards - ONE
            rank = number & 15
            if low:
                rank = 12 - rank
            if lane == trump:
                total += stake * _TABLES[26 + rank] + any_trick * _TABLES[39 + rank]
            else:
                total += worth * _TABLES[(0 if worth > 0 else 13) + rank]
            points = 64 * np.int64(rules.card_points[contract, number])
            total += 28 * points + 61 * abs(points)
    # means of the last three over all hands
    total -= 7 * 64 * rules.pack_points[contract] + 61 * 16 * rules.pack_size[contract]
    total += stake * (210 * short - 67 if trump != ZERO else 84 * short - 36 + 33 * long - 29)
    return total // 192


@njit
def expert_contract(view: Any, rules: Any) -> U64:
    """Return the contract of the final type that the hand is worth most in."""
    rest = view.legal
    best = ZERO
    best_worth = np.int64(0)
    while rest != ZERO:
        contract = lowest_bit(rest)
        rest ^= contract
        worth = hand_worth(rules, ctz(contract), view.hand)
        if best == ZERO or worth > best_worth:
            best_worth = worth
            best = contract
    return best


@njit
def _with_bonus(rules: Any, worth: I64, stake: I64) -> I64:
    """Return an attacker's worth less the defenders' bonus where it may be lost."""
    if rules.failure_bonus == 0:
        return worth
    lost = min(max(128 - 16 * worth // max(stake, 1), 0), 256)
    return worth - (64 * rules.failure_bonus * lost >> 8)


@njit
def expert_call(view: Any, rules: Any) -> U64:
    """Return the call with the highest worth."""
    me = view.seat
    lot = me ^ view.lots
    standing = view.standing
    best = ONE
    best_worth = np.int64(-(1 << 60))
    passing: I64 = np.int64(0)
    for kind in range(rules.types):
        call = ONE << np.uint64(kind + 1)
        if view.legal & call == ZERO and kind != standing:
            continue
        own = np.int64(-(1 << 60))
        mean = np.int64(0)
        stake = np.int64(0)
        spread = np.int64(0)
        size = rules.type_size[kind]
        for i in range(size):
            contract = rules.type_contract[kind, i]
            worth = hand_worth(rules, contract, view.hand)
            own = max(own, worth)
            mean += worth
            stake = max(stake, _stake(rules, contract))
            spread = max(spread, _spread(rules, contract))
        mean = mean // size
        shown = _SHOWN * spread
        namer = np.int64(-1)
        lot_named = False
        others_named = np.int64(0)
        for other in range(4):
            if other != me and (view.named[other] >> np.uint64(kind)) & ONE == ONE:
                if rules.match == 1 and (view.passed >> other) & 1 == 0:
                    namer = np.int64(other)
                if other == lot:
                    lot_named = True
                else:
                    others_named += 1
        if standing == kind and view.standing_seat != me:
            namer = view.standing_seat
            if namer == lot:
                # a little less than a match is worth: until there is one, another may take the partner away
                passing = _with_bonus(rules, mean + shown, stake) - 1
            else:
                passing = -_with_bonus(rules, shown - mean, stake)
            if rules.unmatched == 1:
                passing = passing // 4
        elif standing == kind:
            passing = _with_bonus(rules, own, stake)
        if view.legal & call != ZERO:
            if namer >= 0:
                worth = _with_bonus(rules, mean + shown, stake)
            else:
                worth = own + _FOUND * spread
                worth += (shown if lot_named else np.int64(0)) - others_named * shown
                worth = _with_bonus(rules, worth, stake)
            if worth > best_worth:
                best_worth = worth
                best = call
    return best if best_worth > passing else ONE
