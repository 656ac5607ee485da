"""The built-in players of Showcase as kernels: one if-chain over policy numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, lowest_bit, nth_set_bit, popcount
from simcore.players import EXPERT, RANDOM
from simcore.rng import pick
from simcore.showcase.expert import expert_action
from simcore.showcase.play import second_takes
from simcore.showcase.state import SECOND, TRUMP
from simcore.tricks import trick_winner

__all__ = ["decide"]

_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)


@njit
def decide(policy: I64, kind: I64, view: Any, rules: Any, stream: Any) -> U64:
    """Return a built-in policy's decision."""
    if policy == RANDOM:
        return nth_set_bit(view.legal, pick(stream, popcount(view.legal)))
    if policy == EXPERT:
        return expert_action(kind, view, rules)
    if kind == TRUMP:
        return greedy_trump(view)
    return greedy_play(view, rules, kind)


@njit
def greedy_trump(view: Any) -> U64:
    """Name the longest suit of the own holding (of equal ones the highest suit)."""
    best = np.int64(0)
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        if popcount(view.hand & lane) >= popcount(view.hand & (_LANE << np.uint64(16 * best))):
            best = np.int64(suit)
    return ONE << np.uint64(best)


@njit
def _takes(view: Any, rules: Any, kind: I64, card: U64) -> Any:
    """Tell whether a follower's card takes the trick."""
    if kind == SECOND:
        return second_takes(rules, view, card)
    if rules.magri == 1:
        return card & view.suit == ZERO or card > view.lead
    return trick_winner(view.lead | card, view.suit, view.trump, False) == card


@njit
def greedy_play(view: Any, rules: Any, kind: I64) -> U64:
    """Lead the highest side card; take a trick as cheaply as possible, else throw the worst card.

    Cheap is a low card of no trump suit that does not break an own trick of the showcase (S8).
    """
    best = ZERO
    best_score = np.int64(-1000)
    rest = view.legal
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        rank = np.int64(np.uint64(ctz(card)) & _FIFTEEN)
        is_trump = card & view.trump != ZERO
        cost = rank + (13 if is_trump else 0)
        if kind != SECOND and card & view.show[view.seat] != ZERO:
            trick = ONE << np.uint64(view.lies_in[ctz(card)])
            if trick & view.broken == ZERO:
                cost += 6
        if view.on_table == 0:
            score = rank - (13 if is_trump else 0)
        else:
            score = (100 if _takes(view, rules, kind, card) else 0) - cost
        if score > best_score:
            best_score = score
            best = card
    return best
