"""What both games' world samplers share: random cards out of a set, a random choice by weights, and the counting of hands.

A sampler counts in how many ways the unseen cards can lie, by suit counts, and draws a way with probability in proportion: every
world is equally likely, none is tried in vain.  Counts are float64: numbers of ways up to 10^60, right to 1 in 10^15.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ZERO, nth_card, popcount
from simcore.rng import below, next_word

__all__ = ["CHOOSE", "FACTORIAL", "chance", "draw_cards"]

#: n!, up to a pack.
FACTORIAL = np.array([float(factorial(n)) for n in range(53)])
#: Ways to choose k of n cards of a suit: CHOOSE[n, k].
CHOOSE = np.array([[float(comb(n, k)) for k in range(14)] for n in range(14)])

_ELEVEN = np.uint64(11)
_UNIT = 2.0**-53


@njit
def chance(source: Any) -> float:
    """Return a random number from 0 up to less than 1, of 53 bits."""
    return float(next_word(source) >> _ELEVEN) * _UNIT


@njit
def draw_cards(source: Any, cards: U64, count: I64) -> U64:
    """Return a uniformly random subset of ``count`` cards."""
    drawn = ZERO
    for _ in range(count):
        card = nth_card(cards, below(source, popcount(cards)))
        cards ^= card
        drawn |= card
    return drawn
