"""Deals only: the hands that a seed deals at a range of indices, without playing them, also under known cards and conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO
from simcore.cards import FULL
from simcore.deals.constrained import MAX_TRIES, Plan, deal_constrained
from simcore.deals.shuffle import deal_four, deal_two, shuffle_cards
from simcore.errors import BadInput
from simcore.rng import DEAL, SOURCE, open_source, parse_seed, seed_words

__all__ = ["deal_conditioned", "deal_hands", "deal_showcase"]


@njit
def _four(hands: Any, source: Any, key0: U64, key1: U64, first: U64) -> None:
    for i in range(len(hands)):
        open_source(source, key0, key1, first + np.uint64(i), ZERO, DEAL)
        hands[i, 0], hands[i, 1], hands[i, 2], hands[i, 3] = deal_four(source)


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


@njit
def _conditioned(
    hands: Any, reserve: Any, tries: Any, source: Any, key0: U64, key1: U64, first: U64, limit: I64, plan: Any
) -> None:
    for i in range(len(hands)):
        open_source(source, key0, key1, first + np.uint64(i), ONE, DEAL)
        tries[i] = deal_constrained(hands[i], source, plan, FULL, limit)
        if tries[i] < 0:
            return
        if len(reserve) > 0:
            shuffle_cards(source, FULL & ~(hands[i, 0] | hands[i, 1]), reserve[i])


def deal_conditioned(
    seed: int, first: int, deals: int, plan: Plan, *, max_tries: int = MAX_TRIES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deal under known cards and a condition (a plan made by ``make_plan``): uniform over all deals that satisfy them.

    Returns:
        Hands uint64[deals, seats]; for two seats the reserve int8[deals, 26], top card first (else of length 0); int64[deals], how
        many deals were tried for each.

    Raises:
        BadInput: seed or indices are out of range, or no deal was found in ``max_tries``.
    """
    start = _check(seed, first, deals)
    seats = plan.sizes.shape[1]
    hands, tries = np.zeros((deals, seats), np.uint64), np.zeros(deals, np.int64)
    reserve = np.zeros((deals if seats == 2 else 0, 26), np.int8)
    _conditioned(hands, reserve, tries, np.zeros(1, SOURCE).view(np.recarray)[0], *start, max_tries, plan)
    failed = np.flatnonzero(tries < 0)
    if len(failed):
        raise BadInput(
            f"no deal satisfies the condition in {max_tries:,} tries (deal {first + int(failed[0])}); accepted: a condition that "
            "some deals satisfy; bounds on single seats' suits and points are dealt directly, however rare"
        )
    return hands, reserve, tries
