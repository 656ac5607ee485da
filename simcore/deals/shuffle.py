"""Uniform deals as masks.

A uniform deal is a chain of uniform splits, not 52 swaps: random bits choose a random subset of the pack; given its size it is
uniform among the subsets of that size; then cards chosen uniformly are moved until the size is right, which keeps it uniform
(every target set is reached the same way from every start by symmetry).  Splitting 52 into 26 and 26 moves about 3 cards,
each 26 into 13 and 13 about 2: three random words and about seven exact draws a deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, nth_card, popcount
from simcore.rng import DEAL, LOTS, below, next_word, open_source

__all__ = ["deal_four", "deal_two", "lots_of_round", "random_split", "shuffle_cards"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)


@inlined
def random_split(source: Any, pack: U64, size: I64) -> U64:
    """Return a uniform subset of ``size`` cards of ``pack`` (a mask of cards), size being about half of the pack for speed."""
    chosen = next_word(source) & pack
    excess = popcount(chosen) - size
    step = np.int64(-1) if excess > 0 else np.int64(1)
    # cards to move from: one loop, whether out or in, because which of the two it is no branch predictor can know
    pool = chosen if excess > 0 else pack ^ chosen
    while excess != 0:
        card = nth_card(pool, below(source, popcount(pool)))
        pool ^= card
        chosen ^= card
        excess += step
    return chosen


@inlined
def deal_four(source: Any) -> tuple[U64, U64, U64, U64]:
    """Return the hands of N E S W, 13 cards each (E2), from a source at the start of the deal."""
    half = random_split(source, _FULL, 26)
    north = random_split(source, half, 13)
    south = random_split(source, _FULL ^ half, 13)
    return north, half ^ north, south, _FULL ^ half ^ south


@inlined
def shuffle_cards(source: Any, cards: U64, order: Any) -> None:
    """Write the cards of a mask (26) into ``order`` (int8[26]) in uniformly random order."""
    for position in range(26):
        card = nth_card(cards, below(source, 26 - position))
        cards ^= card
        order[position] = np.int8(ctz(card))


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
    shuffle_cards(source, rest, reserve)
    return dealer


@njit
def lots_of_round(source: Any, key0: U64, key1: U64, number: U64) -> tuple[I64, I64]:
    """Return the first dealer (0 … 3) and the lot pairing (1 … 3) of a round (E1).

    In pairing p the partner of a seat is ``seat ^ p``: 1 is N–E, 2 is N–S, 3 is N–W.
    """
    open_source(source, key0, key1, number, ZERO, LOTS)
    dealer = below(source, 4)
    return dealer, below(source, 3) + 1
