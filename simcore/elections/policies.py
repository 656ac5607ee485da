"""The built-in players of Elections as kernels: one if-chain over policy numbers (HOUSE fact: cacheable, and free).

A policy gets the view, the ruleset's record and its seat's stream, and returns a one-bit mask out of ``view.legal``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, lowest_bit, nth_set_bit, popcount
from simcore.elections.expert import expert_play
from simcore.elections.expert_calls import expert_call, expert_contract
from simcore.elections.state import CALL, CONTRACT
from simcore.players import EXPERT, RANDOM
from simcore.rng import pick
from simcore.tricks import trick_winner

__all__ = ["decide"]

_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)
_WEIGHTS = (16, 10, 5)  # sixteenths of a trick that the three best cards of a suit are worth


@njit
def decide(policy: I64, kind: I64, view: Any, rules: Any, stream: Any) -> U64:
    """Return a built-in policy's decision."""
    if policy == RANDOM:
        return nth_set_bit(view.legal, pick(stream, popcount(view.legal)))
    if policy == EXPERT:
        if kind == CALL:
            return expert_call(view, rules)
        if kind == CONTRACT:
            return expert_contract(view, rules)
        return expert_play(view, rules)
    if kind == CALL:
        return greedy_call(view, rules)
    if kind == CONTRACT:
        return greedy_contract(view, rules)
    return greedy_play(view, rules)


@njit
def _rank_for(card: U64, low: I64) -> I64:
    """Return a card's rank, 0 weakest … 12 strongest in the contract."""
    rank = np.int64(np.uint64(ctz(card)) & _FIFTEEN)
    return 12 - rank if low == 1 else rank


@njit
def _points_in(rules: Any, contract: I64, cards: U64) -> I64:
    """Return the points of the cards of a mask."""
    total = np.int64(0)
    for g in range(rules.groups[contract]):
        total += popcount(cards & rules.group_cards[contract, g]) * (rules.group_plus[contract, g] + rules.group_minus[contract, g])
    return total


@njit
def _pack_points(rules: Any, contract: I64) -> I64:
    """Return what both sides score together: whether tricks are worth having."""
    return 13 * rules.trick[contract] + rules.most[contract] + _points_in(rules, contract, ~ZERO)


@njit
def greedy_estimate(rules: Any, contract: I64, hand: U64) -> I64:
    """Return a simple count of a hand in a contract: tricks above the average, weighed by what the contract pays.

    Tricks, in sixteenths: 16, 10 and 5 for a suit's best three cards, 16 for each trump beyond the third; average 3 1/4.
    """
    low = rules.low[contract]
    trump = ZERO if rules.low_trump == 1 and low == 1 else rules.trump[contract]
    tricks = np.int64(0)
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        held = hand & lane
        for top in range(3):
            rank = top if low == 1 else 12 - top
            if (held >> np.uint64(16 * suit + rank)) & ONE != ZERO:
                tricks += _WEIGHTS[top]
        if lane == trump:
            tricks += 16 * max(popcount(held) - 3, 0)
    weight = 13 * abs(rules.trick[contract]) + abs(rules.most[contract])
    for g in range(rules.groups[contract]):
        weight += popcount(rules.group_cards[contract, g]) * (rules.group_plus[contract, g] - rules.group_minus[contract, g])
    margin = weight * (tricks - 52)
    return margin if _pack_points(rules, contract) >= 0 else -margin


@njit
def greedy_contract(view: Any, rules: Any) -> U64:
    """Name the contract in which the hand counts most."""
    rest = view.legal
    best = lowest_bit(rest)
    best_value = greedy_estimate(rules, ctz(best), view.hand)
    rest ^= best
    while rest != ZERO:
        contract = lowest_bit(rest)
        rest ^= contract
        value = greedy_estimate(rules, ctz(contract), view.hand)
        if value > best_value:
            best_value = value
            best = contract
    return best


@njit
def greedy_call(view: Any, rules: Any) -> U64:
    """Call the legal type whose best contract counts most, if that is above average; else pass."""
    best = ONE
    best_value = np.int64(0)
    rest = view.legal ^ ONE
    while rest != ZERO:
        call = lowest_bit(rest)
        rest ^= call
        kind = ctz(call) - 1
        for i in range(rules.type_size[kind]):
            value = greedy_estimate(rules, rules.type_contract[kind, i], view.hand)
            if value > best_value:
                best_value = value
                best = call
    return best


@njit
def greedy_play(view: Any, rules: Any) -> U64:
    """Take the trick as cheaply as possible when it is worth points, else get rid of the worst card."""
    contract = view.contract
    wanted = _pack_points(rules, contract) >= 0
    trick_points = rules.trick[contract] + np.int64(np.sign(rules.most[contract]))
    on_table = _points_in(rules, contract, view.trick)
    partner_wins = False
    if view.on_table > 1:
        best_so_far = trick_winner(view.trick, view.suit, view.trump, view.low == 1)
        partner = view.seat ^ view.pairing
        for place in range(view.on_table):
            if view.trick_cards[place] == best_so_far:
                partner_wins = ((view.leader + place) & 3) == partner
    best = ZERO
    best_score = np.int64(-(1 << 40))
    rest = view.legal
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        points = np.int64(rules.card_points[contract, ctz(card)])
        strength = _rank_for(card, view.low) + (13 if card & view.trump != ZERO else 0)
        keep = strength if wanted else -strength
        if view.on_table == 0:
            # nothing on the table to look at: the strongest side card where tricks pay, else the weakest card
            score = (strength if strength < 13 else np.int64(0)) if wanted else -strength
        else:
            wins = trick_winner(view.trick | card, view.suit, view.trump, view.low == 1) == card
            gain = on_table + points + trick_points
            if not wins and not partner_wins:
                gain = -gain
            score = 64 * gain - keep
        if score > best_score:
            best_score = score
            best = card
    return best
