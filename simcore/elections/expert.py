"""Card play of the built-in player ``expert`` of Elections.

The candidates get an estimate in points and the best one is played:

    what the trick brings     chance that the own side wins it, from the cards and voids still out, times its points: those on the
                              table, the card's own, those the seats behind may be expected to add, and what the contract pays a
                              trick
    less what the card was    its chance to win (or be caught by) a later trick, times the worth of a trick of its suit, by the
    worth in the hand         unseen cards above or below it and the own cards that guard it; trumps, voids and the next lead

A trick's worth, in all and suit by suit, comes from the contract's payoff and the cards still out, and its sign says whether to
take or to duck.  So one rule draws trumps, ducks, unloads costly cards on the others' tricks and feeds paying ones to the
partner's, in any contract that a ruleset can hold.  All from the view: cards seen, voids shown, who partners whom.

Candidates are the strongest and the weakest card of a suit, of those that would take the trick and of those that would not, and
every odd card (one whose points are not the usual ones of its suit): the cards between hardly ever are the best.

The estimates stand in estimates.py, where their words are explained.  Where four of these players play many deals of a forced
contract, expert_many.py chooses among the same candidates by the same estimates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount
from simcore.elections.estimates import (
    beating,
    can_ruff,
    card_of,
    end_of,
    follow_estimate,
    follow_terms,
    lead_estimate,
    lead_terms,
    mean_of_all,
    mean_of_suit,
    most_pays,
    none_of,
    points_of,
    ruff_estimate,
    table_terms,
    throw_estimate,
    throw_terms,
    thrown_later,
    trick_worth,
    trump_later,
)

__all__ = ["expert_play"]

_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = (np.uint64(0x1FFF << 16 * suit) for suit in range(4))
_FIRSTS = np.uint64(0x0001000100010001)
_TWO, _FOUR, _SEVEN, _SUIT_BITS = (np.uint64(x) for x in (2, 4, 7, 48))
_ALL = np.uint64((1 << 64) - 1)
_WORST = np.int64(-(1 << 62))


# ---- points -------------------------------------------------------------------------------------------------------------------


@inlined
def _odd_points(rules: Any, contract: U64, cards: U64) -> I64:
    """Return what the odd cards of a mask have beyond the usual points of their suits."""
    total = np.int64(0)
    odd = cards & rules.odd_cards[contract]
    while odd != ZERO:
        number = np.uint64(ctz(odd))
        odd &= odd - ONE
        total += rules.card_points[contract, number] - rules.suit_points[contract, number >> _FOUR]
    return total


@inlined
def _mean_of_all(rules: Any, contract: U64, cards: U64) -> I64:
    """Return the mean points of some cards, in 64ths."""
    total = (
        rules.suit_points[contract, 0] * popcount(cards & _CLUBS)
        + rules.suit_points[contract, 1] * popcount(cards & _DIAMONDS)
        + rules.suit_points[contract, 2] * popcount(cards & _HEARTS)
        + rules.suit_points[contract, 3] * popcount(cards & _SPADES)
        + _odd_points(rules, contract, cards)
    )
    return mean_of_all(total, popcount(cards))


@inlined
def _mean_of_suit(rules: Any, contract: U64, suit: U64, cards: U64, n: I64) -> I64:
    """Return the mean points of n cards of a suit (a number), in 64ths."""
    usual = 64 * rules.suit_points[contract, suit]
    if cards & rules.odd_cards[contract] == ZERO:
        return usual
    return mean_of_suit(usual, _odd_points(rules, contract, cards), n)


# ---- leads and discards, suit by suit -----------------------------------------------------------------------------------------


@inlined
def _lead(
    best: I64, suit: U64, rules: Any, contract: U64, hand: U64, unseen: U64, voids: U64, trump: U64, up: U64, partner: I64,
    pays: I64, e_all: I64, any_trick: I64, stake: I64, trumps_held: I64, trumps_unseen: I64, may_ruff: U64, ruff: I64,
    leading: I64,
) -> I64:  # fmt: skip
    """Return the better of the best so far and the best lead of a suit (a number)."""
    lane = _LANE << (suit << _FOUR)
    held = hand & lane
    out = unseen & lane
    n = popcount(out)
    m = popcount(held)
    mask = (voids >> (suit << _FOUR)) & _SEVEN
    none = none_of(mask, n)
    here, table, scale, common, keep, ours = lead_terms(
        lane == trump, mask, none, m, pays, e_all, _mean_of_suit(rules, contract, suit, out, n), any_trick, stake, trumps_held,
        trumps_unseen, may_ruff, ruff, partner,
    )  # fmt: skip
    odd = held & rules.odd_cards[contract]
    usual = held ^ odd
    if usual != ZERO:
        points = 64 * rules.suit_points[contract, suit]
        for weakest in (False, True):
            card = end_of(usual, weakest == (up != ZERO))
            estimate = lead_estimate(
                card, points, weakest, out, mask, n, none, m, up, partner, leading, here, table, scale, common, keep, ours
            )
            best = max(best, estimate)
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = points_of(rules, contract, card)
        estimate = lead_estimate(
            card, points, False, out, mask, n, none, m, up, partner, leading, here, table, scale, common, keep, ours
        )
        best = max(best, estimate)
    return best


@inlined
def _throw(
    best: I64, suit: U64, rules: Any, contract: U64, hand: U64, unseen: U64, voids: U64, up: U64, pays: I64, e_all: I64, here: I64,
    stake: I64, trumps_held: I64, x_wanted: I64, x_unwanted: I64,
) -> I64:  # fmt: skip
    """Return the better of the best so far and the best discard of a side suit (a number)."""
    lane = _LANE << (suit << _FOUR)
    held = hand & lane
    out = unseen & lane
    n = popcount(out)
    m = popcount(held)
    mask = (voids >> (suit << _FOUR)) & _SEVEN
    none = none_of(mask, n)
    e_suit = _mean_of_suit(rules, contract, suit, out, n)
    table, scale, common = throw_terms(mask, none, m, pays, e_all, e_suit, stake, trumps_held)
    odd = held & rules.odd_cards[contract]
    usual = held ^ odd
    if usual != ZERO:
        # the trick does not depend on the card: one candidate
        points = 64 * rules.suit_points[contract, suit]
        weakest = table == 0
        card = end_of(usual, weakest == (up != ZERO))
        best = max(best, throw_estimate(card, points, weakest, out, n, m, up, here, x_wanted, x_unwanted, table, scale, common))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = points_of(rules, contract, card)
        best = max(best, throw_estimate(card, points, False, out, n, m, up, here, x_wanted, x_unwanted, table, scale, common))
    return best


@njit
def expert_play(view: Any, rules: Any) -> U64:
    """Return the card with the best estimate."""
    contract = np.uint64(view.contract)
    legal = view.legal
    hand = view.hand
    trump = view.trump
    led = view.suit
    up = ZERO if view.low == 1 else _ALL
    unseen = _PACK & ~(hand | view.played[0] | view.played[1] | view.played[2] | view.played[3])
    follows = legal & led != ZERO
    if follows:
        # cards next to each other, of equal points: no choice
        low = lowest_bit(legal)
        between = highest_bit(legal) - low
        if between & (unseen | view.trick) | legal & rules.odd_cards[contract] == ZERO:
            return low
    me = view.seat & 3
    behind = 3 - view.on_table
    # in each suit's lowest three bits the seats that have shown out
    voids = (
        (view.void[(me + 1) & 3] & _FIRSTS)
        | ((view.void[(me + 2) & 3] & _FIRSTS) << ONE)
        | ((view.void[(me + 3) & 3] & _FIRSTS) << _TWO)
    )
    friend = (me ^ view.pairing) & 3
    partner = np.int64((friend - me) & 3) - 1

    # the worth of a trick: what it pays, and four cards
    e_all = _mean_of_all(rules, contract, unseen)
    pays = 64 * rules.trick[contract]
    if rules.most[contract] != 0:
        pays += most_pays(rules.most[contract], view.tricks[me] + view.tricks[friend], view.tricks_played)
    any_trick, stake, leading = trick_worth(pays, e_all)

    trumps_out = unseen & trump
    trumps_held = popcount(hand & trump)
    trump_mask = (voids >> (np.uint64(ctz(trump)) & _SUIT_BITS)) & _SEVEN if trump != ZERO else _SEVEN
    best = _WORST
    if behind == 3:
        trumps_unseen = popcount(trumps_out)
        ruff = can_ruff(trump_mask, trumps_unseen)
        rest = hand
        while rest != ZERO:
            suit = np.uint64(ctz(rest)) >> _FOUR
            rest &= ~(_LANE << (suit << _FOUR))
            best = _lead(
                best, suit, rules, contract, hand, unseen, voids, trump, up, partner, pays, e_all, any_trick, stake, trumps_held,
                trumps_unseen, trump_mask ^ _SEVEN, ruff, leading,
            )  # fmt: skip
        return card_of(best)

    # the trick on the table: its points, its best card, and what the seats behind can do in the suit led
    suit = np.uint64(ctz(led)) >> _FOUR
    waiting = (ONE << np.uint64(behind)) - ONE
    out = unseen & led
    n = popcount(out)
    mask = (voids >> (suit << _FOUR)) & _SEVEN
    none = none_of(mask, n)
    e_led = _mean_of_suit(rules, contract, suit, out, n)
    trumps = view.trick & trump
    ruffed = trumps != ZERO and led != trump
    winning = trumps if trumps != ZERO else view.trick & led
    winning = end_of(winning, up == ZERO)
    won = np.int64(view.played[friend] & winning != ZERO)
    here, seats, keep, ours, x_wanted, x_unwanted = table_terms(
        out, trumps_out, mask, none, trump_mask, led == trump, ruffed, winning, won, up, waiting, partner, pays, e_all, e_led
    )
    here += points_of(rules, contract, view.trick_cards[0])
    if behind < 2:
        here += points_of(rules, contract, view.trick_cards[1])
        if behind < 1:
            here += points_of(rules, contract, view.trick_cards[2])

    if follows:
        m = popcount(legal)
        table, scale = follow_terms(led == trump, mask, none, pays, e_all, e_led, any_trick, stake)
        weakest = end_of(legal, up != ZERO)
        winners = ZERO if ruffed else legal & beating(winning, up)
        odd = legal & rules.odd_cards[contract]
        usual = legal ^ odd
        if usual != ZERO:
            points = 64 * rules.suit_points[contract, suit]
            taking = usual & winners
            losing = usual ^ taking
            if taking != ZERO:
                for lowest in (False, True):
                    card = end_of(taking, lowest)
                    estimate = follow_estimate(
                        card, points, True, card == weakest, out, mask, n, none, m, up, leading, here, seats, keep, ours, x_wanted,
                        x_unwanted, table, scale,
                    )  # fmt: skip
                    best = max(best, estimate)
            if losing != ZERO:
                # the trick does not depend on the card: one candidate
                card = end_of(losing, (scale > 0) == (up != ZERO))
                estimate = follow_estimate(
                    card, points, False, card == weakest, out, mask, n, none, m, up, leading, here, seats, keep, ours, x_wanted,
                    x_unwanted, table, scale,
                )  # fmt: skip
                best = max(best, estimate)
        while odd != ZERO:
            card = lowest_bit(odd)
            odd ^= card
            estimate = follow_estimate(
                card, points_of(rules, contract, card), card & winners != ZERO, card == weakest, out, mask, n, none, m, up,
                leading, here, seats, keep, ours, x_wanted, x_unwanted, table, scale,
            )  # fmt: skip
            best = max(best, estimate)
        return card_of(best)

    rest = hand & ~trump
    while rest != ZERO:
        suit = np.uint64(ctz(rest)) >> _FOUR
        rest &= ~(_LANE << (suit << _FOUR))
        best = _throw(
            best, suit, rules, contract, hand, unseen, voids, up, pays, e_all, here, stake, trumps_held, x_wanted, x_unwanted
        )
    cards = hand & trump
    if cards != ZERO:
        table, scale = trump_later(any_trick, stake)
        scale = thrown_later(table, scale)
        weakest = end_of(cards, up != ZERO)
        winners = cards & beating(winning, up) if ruffed else cards
        choice = cards & rules.odd_cards[contract] | lowest_bit(cards) | highest_bit(cards)
        if winners != ZERO:
            choice |= lowest_bit(winners) | highest_bit(winners)
        while choice != ZERO:
            card = lowest_bit(choice)
            choice ^= card
            estimate = ruff_estimate(
                card, points_of(rules, contract, card), card & winners != ZERO, card == weakest, trumps_out, trump_mask, waiting,
                mask, none, trumps_held, up, partner, leading, here, x_wanted, x_unwanted, table, scale,
            )  # fmt: skip
            best = max(best, estimate)
    return card_of(best)
