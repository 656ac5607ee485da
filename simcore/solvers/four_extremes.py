"""What the points still out allow: the least and the most that side 0 can get from a trick's start on.

Everything that pays goes one way, everything that costs the other, but for trumps that one side is sure to take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK
from simcore.solvers.four_state import (
    COMMON,
    EXTRA,
    LOOSE,
    MINUS,
    MOST,
    PAIRING,
    PAIRS,
    PLUS,
    POINTS,
    RESULT,
    SPECIAL,
    STEP,
    TRICK,
    TRICKS,
    TRUMP,
    UNEVEN,
)

__all__ = ["bonus_of", "counted_of", "either_way", "extremes", "points_in", "rest_on_trumps"]


@inlined
def _sure_trumps(u: Any, v: Any) -> tuple[U64, I64]:
    """Return the trumps that the side that holds them is sure to take, and which side: those above all of the other side's."""
    trump = u[TRUMP]
    ours = (u[0] | u[v[PAIRING] & 3]) & trump
    theirs = (u[1] | u[2] | u[3]) & trump & ~ours
    if ours > theirs:
        return (ours if theirs == ZERO else ours & ~(highest_bit(theirs) | (highest_bit(theirs) - ONE))), np.int64(0)
    return (theirs if ours == ZERO else theirs & ~(highest_bit(ours) | (highest_bit(ours) - ONE))), np.int64(1)


@inlined
def bonus_of(v: Any, won: I64) -> I64:
    """Return the bonus of a side with so many tricks of the deal: half of it where both have as many."""
    ahead = 2 * won - v[TRICKS]
    return v[MOST] if ahead > 0 else (v[MOST] >> 1 if ahead == 0 else np.int64(0))


@inlined
def extremes(u: Any, v: Any, live: U64, left: I64, won: I64) -> tuple[I64, I64, I64, I64]:
    """Return what side 0 can still get: least and most; least and most whichever cards of a suit are its loose special ones.

    The former know which trumps are sure to be taken by whom (``_sure_trumps``).  The latter take a special card's common and extra
    points apart, so where they differ in sign (*uneven*) they are wider.  All are rounded to the steps in which values come.
    """
    low = min(v[TRICK], 0) * left
    high = max(v[TRICK], 0) * left
    total = v[TRICKS]
    if v[MOST] != 0 and left != 0 and 2 * won <= total and 2 * (won + left) >= total:
        # the bonus is still open: all tricks or none need not be an extreme
        for taken in range(left + 1):
            value = v[TRICK] * taken + bonus_of(v, won + taken)
            low = value if taken == 0 else min(low, value)
            high = value if taken == 0 else max(high, value)
    keyed = live & u[SPECIAL] & ~u[LOOSE]
    rest = keyed
    while rest != ZERO:
        worth = v[POINTS + ctz(rest)]
        low += min(worth, 0)
        high += max(worth, 0)
        rest &= rest - ONE
    wide_low = low
    wide_high = high
    for suit in range(4):
        common, extra = v[COMMON + suit], v[EXTRA + suit]
        if common == 0 and extra == 0:
            continue
        lane = live & (LANE_MASK << np.uint64(16 * suit)) & ~keyed
        count, special = popcount(lane), popcount(lane & u[LOOSE])
        low += (count - special) * min(common, 0) + special * min(common + extra, 0)
        high += (count - special) * max(common, 0) + special * max(common + extra, 0)
        wide_low += count * min(common, 0) + special * min(extra, 0)
        wide_high += count * max(common, 0) + special * max(extra, 0)
    if u[TRUMP] & live != ZERO:
        sure, side = _sure_trumps(u, v)
        while sure != ZERO:
            worth = v[POINTS + ctz(sure)]
            sure &= sure - ONE
            if (worth > 0) == (side == 0):
                low += abs(worth)
            else:
                high -= abs(worth)
    step = v[STEP]
    if step == 1:
        return low, high, wide_low, wide_high
    return -(-low // step) * step, high // step * step, -(-wide_low // step) * step, wide_high // step * step


@inlined
def rest_on_trumps(u: Any, v: Any, live: U64) -> U64:
    """Make the result rest on what tells the sure trumps; return the special cards that the narrow extremes count on."""
    counted = live & u[UNEVEN]
    if u[TRUMP] & live == ZERO:
        return counted
    sure, _ = _sure_trumps(u, v)
    ours = u[0] | u[v[PAIRING] & 3]
    others = u[TRUMP] & live & (~ours if sure & ours != ZERO else ours)
    rest = sure
    while rest != ZERO:
        card = ctz(rest)
        rest &= rest - ONE
        below = others
        while below != ZERO:
            u[RESULT + (card >> 4)] |= u[PAIRS + card] & u[PAIRS + ctz(below)]
            below &= below - ONE
    return counted | (sure & u[LOOSE])


@inlined
def points_in(v: Any, trick: U64) -> I64:
    """Return what a trick of these cards brings to the side that takes it."""
    points = v[TRICK]
    rest = trick
    while rest != ZERO:
        points += v[POINTS + ctz(rest)]
        rest &= rest - ONE
    return points


@inlined
def either_way(u: Any, trick: U64, ours: I64, lower: bool, counted: U64) -> Any:
    """Tell whether a bound for both outcomes of a trick counts on no more special cards than the one for the outcome at hand."""
    return trick & ~counted & (u[MINUS] if (ours != 0) == lower else u[PLUS]) == ZERO


@inlined
def counted_of(u: Any, trick: U64, ours: I64, lower: bool) -> U64:
    """Return the loose special cards of a trick that a bound counts on: what they bring is not the worst for the bound."""
    return trick & (u[PLUS] if (ours != 0) == lower else u[MINUS])
