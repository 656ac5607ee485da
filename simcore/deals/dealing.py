"""Deals only: the hands that a seed deals at a range of indices, without playing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import U64, njit
from simcore.deals.shuffle import deal_four, deal_two
from simcore.errors import BadInput
from simcore.rng import SOURCE, parse_seed, seed_words

__all__ = ["deal_hands", "deal_showcase"]


@njit
def _four(hands: Any, source: Any, key0: U64, key1: U64, first: U64) -> None:
    for i in range(len(hands)):
        deal_four(hands[i], source, key0, key1, first + np.uint64(i))


@njit
def _two(hands: Any, reserve: Any, dealers: Any, source: Any, key0: U64, key1: U64, first: U64) -> None:
    for i in range(len(hands)):
        dealers[i] = deal_two(hands[i], reserve[i], source, key0, key1, first + np.uint64(i))


def _check(seed: int, first: int, deals: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the seed's two words and the first index, or refuse them."""
    if first < 0 or deals < 0 or first + deals > 1 << 63:
        raise BadInput(f"deals {deals!r} from index {first!r} are out of range; accepted: indices 0 to 2**63 - 1")
    return *seed_words(parse_seed(seed)), np.uint64(first)


def deal_hands(seed: int, first: int, deals: int) -> np.ndarray:
    """Return the Elections deals of a seed: uint64[deals, 4] masks, N E S W.

    Raises:
        BadInput: seed or indices are out of range.

    >>> int(np.bitwise_or.reduce(deal_hands(1, 0, 1)[0])) == 0x1FFF1FFF1FFF1FFF
    True
    """
    start = _check(seed, first, deals)
    hands = np.empty((deals, 4), np.uint64)
    _four(hands, np.zeros(1, SOURCE).view(np.recarray)[0], *start)
    return hands


def deal_showcase(seed: int, first: int, deals: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Showcase deals of a seed: hands uint64[deals, 2] (N S), reserve int8[deals, 26] (bit numbers, top card first; the
    first is turned up), dealers int8[deals] (0 N, 1 S).

    Raises:
        BadInput: seed or indices are out of range.
    """
    start = _check(seed, first, deals)
    hands, reserve, dealers = np.empty((deals, 2), np.uint64), np.empty((deals, 26), np.int8), np.empty(deals, np.int8)
    _two(hands, reserve, dealers, np.zeros(1, SOURCE).view(np.recarray)[0], *start)
    return hands, reserve, dealers
