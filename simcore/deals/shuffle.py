"""Uniform deals as masks.

A uniform deal is a chain of uniform splits, not 52 swaps: random bits choose a random subset of the pack; given its size it is
uniform among the subsets of that size; then cards chosen uniformly are moved until the size is right, which keeps it uniform
(every target set is reached the same way from every start by symmetry).  Splitting 52 into 26 and 26 moves about 3 cards,
each 26 into 13 and 13 about 2: three random words and about seven exact draws a deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, nth_set_bit, popcount
from simcore.rng import DEAL, LOTS, below, next_word, open_source

__all__ = ["deal_four", "deal_two", "lots_of_round", "random_split"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)


@njit
def random_split(source: Any, pack: U64, size: I64) -> U64:
    """Return a uniform subset of ``size`` cards of ``pack``, size being about half of the pack for speed."""
    chosen = next_word(source) & pack
    count = popcount(chosen)
    while count > size:
        chosen ^= nth_set_bit(chosen, below(source, count))
        count -= 1
    total = popcount(pack)
    while count < size:
        chosen |= nth_set_bit(pack ^ chosen, below(source, total - count))
        count += 1
    return chosen


@njit
def deal_four(hands: Any, source: Any, key0: U64, key1: U64, index: U64) -> None:
    """Deal index ``index`` of a seed into ``hands`` (uint64[4], N E S W), 13 cards each (E2)."""
    open_source(source, key0, key1, index, ZERO, DEAL)
    half = random_split(source, _FULL, 26)
    hands[0] = random_split(source, half, 13)
    hands[1] = half ^ hands[0]
    rest = _FULL ^ half
    hands[2] = random_split(source, rest, 13)
    hands[3] = rest ^ hands[2]


@njit
def deal_two(hands: Any, reserve: Any, source: Any, key0: U64, key1: U64, index: U64) -> I64:
    """Deal for two: ``hands`` (uint64[2], N S), 13 each, and the 26 cards of ``reserve`` (int8[26]) in order, top card first (S2).

    Returns the dealer, 0 for N or 1 for S (S1).
    """
    open_source(source, key0, key1, index, ZERO, DEAL)
    half = random_split(source, _FULL, 26)
    hands[0] = random_split(source, half, 13)
    hands[1] = half ^ hands[0]
    rest = _FULL ^ half
    dealer = np.int64(next_word(source) & ONE)
    for position in range(26):
        card = nth_set_bit(rest, below(source, 26 - position))
        rest ^= card
        reserve[position] = np.int8(ctz(card))
    return dealer


@njit
def lots_of_round(source: Any, key0: U64, key1: U64, number: U64) -> tuple[I64, I64]:
    """Return the first dealer (0 … 3) and the lot pairing (1 … 3) of a round (E1).

    In pairing p the partner of a seat is ``seat ^ p``: 1 is N–E, 2 is N–S, 3 is N–W.
    """
    open_source(source, key0, key1, number, ZERO, LOTS)
    dealer = below(source, 4)
    return dealer, below(source, 3) + 1
