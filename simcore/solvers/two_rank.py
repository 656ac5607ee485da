"""Exact search of the second playout of Showcase under all trump read as ``rank`` (S13).

Who cannot follow suit plays any card, and the higher rank wins, whatever its suit; equal ranks to the leader.  Ranks of different
suits are compared, so the strings of owners of ``two_kernel`` are not enough: a position is two masks, the leader's cards and the
follower's (bit = 16*suit + rank), and a table entry has three words: the two masks (k in the gaps of the second) and the data.

The search, its bounds and its use of *higher cards never hurt* are those of ``two_kernel``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, njit
from simcore.bits import clz, ctz, popcount
from simcore.solvers.two_kernel import HEADER, NODES, table_bits

__all__ = ["search_rank", "solve_rank"]

_LANE = 0x1FFF
_COLUMN = 0x0001000100010001
_LIST = 64
_CHILDREN = 40
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER2 = np.uint64(0xC2B2AE3D27D4EB4F)


@njit
def _folded(cards: I64) -> I64:
    """Return the ranks present in any suit."""
    two = cards | (cards >> 32)
    return (two | (two >> 16)) & _LANE


@njit
def _sure(mine: I64, his: I64, k: I64) -> I64:
    """Return tricks the leader can cash without losing the lead; exact for k = 1.

    If the other side leads first and he can win that trick, he still has them, that trick included: it costs one card.
    """
    total = np.int64(0)
    ranks = _folded(his)
    big = _LANE ^ ((1 << (63 - clz(np.uint64(ranks)))) - 1) if ranks else np.int64(_LANE)
    for suit in range(4):
        own = (mine >> (suit << 4)) & _LANE
        if own:
            other = (his >> (suit << 4)) & _LANE
            length = popcount(np.uint64(other))
            tops = popcount(np.uint64(own >> (64 - clz(np.uint64(other)))))
            total += tops if tops < length else length + min(tops - length, popcount(np.uint64(own & big)))
    return min(k, total)


@njit
def _most(mine: I64, his: I64) -> I64:
    """Return the most tricks any play of all my cards to all of his can give me.

    I win only with a rank not below his, so no more than pairs can be made of one of my cards and one of his not above it.
    """
    waiting = np.int64(0)
    pairs = np.int64(0)
    for rank in range(13):
        waiting += popcount(np.uint64((his >> rank) & _COLUMN))
        won = min(waiting, popcount(np.uint64((mine >> rank) & _COLUMN)))
        pairs += won
        waiting -= won
    return pairs


@njit
def _insert(out: Any, base: I64, count: I64, entry: I64) -> I64:
    """Insert an entry into a falling list of ``count`` entries; return the new count."""
    place = base + count
    while place > base and out[place - 1] < entry:
        out[place] = out[place - 1]
        place -= 1
    out[place] = entry
    return count + 1


@njit
def _replies(out: Any, base: I64, his: I64, lead: I64) -> I64:
    """Write the sensible replies to a lead (low 7 bits: bit number, + 64 if it wins); return their number (1 to 6).

    Winners first, low ranks first.
    """
    suit = lead & 48
    rank = lead & 15
    held = (his >> suit) & _LANE
    count = np.int64(0)
    for step in range(0, 64, 16):
        place = (suit + step) & 48
        cards = (his >> place) & _LANE
        if cards:
            above = (cards >> (rank + 1)) << (rank + 1)
            if above:
                reply = ctz(np.uint64(above))
                count = _insert(out, base, count, ((32 - reply) << 7) | 64 | place | reply)
            reply = ctz(np.uint64(cards))
            if reply <= rank:
                count = _insert(out, base, count, ((16 - reply) << 7) | place | reply)
        if held:
            break
    return count


@njit
def _leads(out: Any, base: I64, mine: I64, his: I64, remembered: I64) -> I64:
    """Write the leads worth trying, of cards that do equally in this trick the lowest, best guess first; return their number."""
    count = np.int64(0)
    ranks = _folded(his)
    for suit in range(4):
        cards = (mine >> (suit << 4)) & _LANE
        other = (his >> (suit << 4)) & _LANE
        against = other if other else ranks
        length = popcount(np.uint64(other))
        surplus = popcount(np.uint64(cards)) - length
        tops = popcount(np.uint64(cards >> (64 - clz(np.uint64(other))))) if other else np.int64(0)
        last = np.int64(-1)
        while cards:
            rank = ctz(np.uint64(cards))
            cards &= cards - 1
            beaten = popcount(np.uint64(against & ((2 << rank) - 1)))
            if beaten == last:
                continue
            last = beaten
            above = popcount(np.uint64((against >> rank) >> 1))
            if other == 0:
                score = np.int64(100 if above == 0 else -30 - above)
            elif above == 0:
                score = 50 + tops - length
            else:
                score = 3 * surplus - 2 * above - tops
            move = np.int64((suit << 4) | rank)
            if move == remembered:
                score = np.int64(1000)
            count = _insert(out, base, count, (score << 8) | move)
    return count


@njit
def search_rank(work: Any, mine: I64, his: I64, k: I64, t: I64) -> I64:
    """Return v >= t if the leader can take v of the k tricks, else v < t such that he cannot take more than v."""
    if t <= 0:
        return np.int64(0)
    if t > k:
        return k
    work[NODES] += 1
    best = _sure(mine, his, k)
    if best >= t or k == 1:
        return best
    if best == 0:
        # the follower can win whatever is led
        best = k - max(np.int64(1), _sure(his, mine, k))
        if best < t:
            return best

    second = his | ((k & 3) << 14) | ((k >> 2) << 30)
    mix = np.uint64(mine) * _MULTIPLIER ^ np.uint64(second) * _MULTIPLIER2
    mix = (mix ^ (mix >> np.uint64(32))) * _MULTIPLIER
    bits = table_bits(work)
    start = HEADER + (np.int64(2) << bits) + 6 * np.int64(mix >> np.uint64(66 - bits))
    slot = start
    low = np.int64(0)
    high = k
    remembered = np.int64(-1)
    if work[slot] != mine or work[slot + 1] != second:
        slot += 3
    if work[slot] == mine and work[slot + 1] == second:
        data = work[slot + 2]
        low = data & 15
        high = (data >> 4) & 15
        if low >= t:
            return np.int64(low)
        if high < t:
            return np.int64(high)
        remembered = (data >> 8) & 63
    elif popcount(np.uint64(mine)) == k and popcount(np.uint64(his)) == k:
        low = k - _most(his, mine)
        if low >= t:
            return low
        high = _most(mine, his)
        if high < t:
            return high

    scratch = 16 + k * _LIST - _LIST
    count = _leads(work, scratch, mine, his, remembered)
    best = np.int64(-1)
    move = np.int64(0)
    for i in range(count):
        lead = work[scratch + i] & 63
        left = mine ^ (np.int64(1) << lead)
        replies = _replies(work, scratch + _CHILDREN, his, lead)
        worst = k
        for j in range(replies):
            reply = work[scratch + _CHILDREN + j] & 127
            rest = his ^ (np.int64(1) << (reply & 63))
            if reply & 64:
                value = k - 1 - search_rank(work, rest, left, k - 1, k - t)
            else:
                value = 1 + search_rank(work, left, rest, k - 1, t - 1)
            worst = min(worst, value)
            if worst < t:
                break
        if worst > best:
            best = worst
            move = lead
        if best >= t:
            break
    if best >= t:
        low = max(low, best)
    else:
        high = min(high, best)

    if work[slot] != mine or work[slot + 1] != second:
        slot = start
        if k >= work[slot + 2] >> 16:
            work[slot + 3] = work[slot]
            work[slot + 4] = work[slot + 1]
            work[slot + 5] = work[slot + 2]
        else:
            slot += 3
    work[slot] = mine
    work[slot + 1] = second
    work[slot + 2] = low | (high << 4) | (move << 8) | (k << 16)
    return best


@njit
def solve_rank(work: Any, mine: I64, his: I64, k: I64) -> I64:
    """Return the tricks, of k, that the leader takes with best play of both."""
    low = _sure(mine, his, np.int64(k))
    high = np.int64(k)
    guess = (low + high + 1) >> 1
    while low < high:
        t = max(low + 1, min(high, guess))
        value = search_rank(work, mine, his, np.int64(k), t)
        if value >= t:
            low = value
            guess = value + 1
        else:
            high = value
            guess = value
    return low
