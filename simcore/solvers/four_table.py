"""The solver's memory: shapes, and under each shape the patterns whose value is known (partition search).

A *position* at the start of a trick is given by who holds which live card.  Its *shape* is the number of cards each seat holds
in each suit, with the seat on lead: the key.  What a search finds out rarely depends on more than the owners of a few top
cards; a *pattern* names just these, and every position of that shape with the same owners has the value.  (Ginsberg,
Partition search, 1996; the packing below is our own.)

Owners are two bit planes over the gathered live cards (seat = low plane + 2 * high plane); a pattern is 32 bytes:

    word 0   low plane  & mask
    word 1   high plane & mask
    word 2   mask: the cards whose owners matter, from the top of each suit down
    word 3   | upper bound, 20 bits | lower bound, 20 bits | next pattern, 24 bits |     bounds are biased by 2**19

Which of the pinned cards score by themselves is a fifth word, in an array of its own (``marks``): it must agree too.

so a position matches when ``((low ^ word0) | (high ^ word1)) & mask`` is zero.  Within one shape the gathered suits always
lie at the same places.  Bounds count from the position on, for side 0.

A shape's patterns are dealt out over up to 16 lists, by the set of suits whose two top cards they pin, and under each set by the
owners of those cards (a 64-bit hash); the shape's own entry says which sets there are, and a lookup visits one list of each.

When the shapes or the patterns run out, the whole table is forgotten: memory is bounded, results do not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, popcount

__all__ = ["BIAS", "find_slot", "finer", "forget", "lower_bound", "remember", "search_table", "upper_bound"]

BIAS = np.int64(1 << 19)
_BOUND = np.uint64(0xFFFFF)
_HEAD, _HEAD_BITS = np.int64(0xFFFFFFFF), np.uint64(0xFFFFFFFF)
_LANE, _THREE = np.uint64(0x1FFF), np.uint64(3)
_NEXT = np.uint64(0xFFFFFF)
_LOWER_AT = np.uint64(24)
_UPPER_AT = np.uint64(44)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX3, _MIX4 = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xBF58476D1CE4E5B9)
_MIX_AT = np.uint64(40)

# Counters kept in ``used`` (int64[4 + shapes]): shapes in use, patterns in use (0 is "none"), times forgotten; then the slots.
SHAPES, PATTERNS, FORGOTTEN, SLOTS = 0, 1, 2, 4


@njit
def forget(keys: Any, used: Any) -> None:
    """Empty the table; costs as much as was stored."""
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        keys[slot, 0] = ZERO
        keys[slot, 1] = ZERO
    used[SHAPES] = 0
    used[PATTERNS] = 1


@njit
def find_slot(keys: Any, key: U64) -> I64:
    """Return the slot of a shape, or the free slot where it belongs (keys are never zero)."""
    last = np.int64(keys.shape[0] - 1)
    slot = np.int64((key * _MIX) >> _MIX_AT) & last
    while keys[slot, 0] != key and keys[slot, 0] != ZERO:
        slot = (slot + 1) & last
    return slot


@njit
def finer(key: U64, low: U64, high: U64) -> U64:
    """Return the key of a shape together with the owners of some cards (a 64-bit hash, never zero)."""
    mixed = (low * _MIX) ^ (high * _MIX3)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX4
    return ((key * _MIX3) ^ mixed ^ (mixed >> np.uint64(32))) | ONE


@njit
def lookup(patterns: Any, marks: Any, head: I64, low: U64, high: U64, scored: U64, needed: I64) -> I64:
    """Return the first pattern of a list that matches and settles "at least ``needed``?", or 0."""
    want = np.uint64(needed + BIAS)
    at = head
    while at != 0:
        meta = patterns[at, 3]
        if (
            ((patterns[at, 0] ^ low) | (patterns[at, 1] ^ high)) & patterns[at, 2] == ZERO
            and (((meta >> _LOWER_AT) & _BOUND) >= want or (meta >> _UPPER_AT) < want)
            and (scored == ZERO or (marks[at] ^ scored) & patterns[at, 2] == ZERO)
        ):
            return at
        at = np.int64(meta & _NEXT)
    return np.int64(0)


@njit
def lower_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at least."""
    return np.int64((patterns[at, 3] >> _LOWER_AT) & _BOUND) - BIAS


@njit
def upper_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at most."""
    return np.int64(patterns[at, 3] >> _UPPER_AT) - BIAS


@njit
def fine_tops(live: U64, suits: I64) -> U64:
    """Return, gathered, the two top live cards of each suit in the set ``suits`` (bit 0 clubs)."""
    tops = ZERO
    below = np.int64(0)
    for suit in range(4):
        count = popcount((live >> np.uint64(16 * suit)) & _LANE)
        below += count
        if (suits >> suit) & 1 != 0 and count != 0:
            if count > 1:
                tops |= _THREE << np.uint64(below - 2)
            else:
                tops |= ONE << np.uint64(below - 1)
    return tops


@njit
def search_table(keys: Any, patterns: Any, marks: Any, key: U64, low: U64, high: U64, scored: U64, live: U64, needed: I64) -> I64:
    """Return a stored pattern that matches a position of shape ``key`` and settles "at least ``needed``?", or 0."""
    slot = find_slot(keys, key)
    if keys[slot, 0] != key:
        return np.int64(0)
    head = np.int64(keys[slot, 1])
    at = lookup(patterns, marks, head & _HEAD, low, high, scored, needed)
    sets = head >> 32
    while at == 0 and sets != 0:
        suits = ctz(np.uint64(sets))
        sets &= sets - 1
        tops = fine_tops(live, suits)
        fine = finer(key + np.uint64(suits) * _MIX, low & tops, high & tops)
        slot = find_slot(keys, fine)
        if keys[slot, 0] == fine:
            at = lookup(patterns, marks, np.int64(keys[slot, 1] & _HEAD_BITS), low, high, scored, needed)
    return at


@njit
def _claim(keys: Any, used: Any, key: U64) -> I64:
    """Return the slot of a key, taking a free one if it is new."""
    slot = find_slot(keys, key)
    if keys[slot, 0] == ZERO:
        keys[slot, 0] = key
        keys[slot, 1] = ZERO
        used[SLOTS + used[SHAPES]] = slot
        used[SHAPES] += 1
    return slot


@njit
def remember(
    keys: Any,
    patterns: Any,
    marks: Any,
    used: Any,
    key: U64,
    low: U64,
    high: U64,
    mask: U64,
    scored: U64,
    live: U64,
    many: bool,
    lower: I64,
    upper: I64,
) -> None:
    """Store that positions of shape ``key`` with these owners under ``mask`` are worth ``lower`` to ``upper``.

    ``many``: use all 16 lists; else (patterns that pin little, short lists) only those that pin no or every suit.
    """
    if used[PATTERNS] >= patterns.shape[0] or 4 * used[SHAPES] >= 3 * keys.shape[0] - 8:
        forget(keys, used)
        used[FORGOTTEN] += 1
    low = low & mask
    high = high & mask
    low_word = np.uint64(lower + BIAS)
    high_word = np.uint64(upper + BIAS)
    slot = _claim(keys, used, key)
    suits = np.int64(0)
    if not many and fine_tops(live, np.int64(15)) & ~mask == ZERO:
        suits = np.int64(15)
    for suit in range(4 if many else 0):
        if (live >> np.uint64(16 * suit)) & _LANE != ZERO and fine_tops(live, 1 << suit) & ~mask == ZERO:
            suits |= 1 << suit
    if suits != 0:
        keys[slot, 1] |= ONE << np.uint64(32 + suits)
        tops = fine_tops(live, suits)
        slot = _claim(keys, used, finer(key + np.uint64(suits) * _MIX, low & tops, high & tops))
    # Drop stored patterns that the new one covers and that say no more; tighten an equal one.
    before = np.int64(0)
    at = np.int64(keys[slot, 1] & _HEAD_BITS)
    while at != 0:
        meta = patterns[at, 3]
        after = np.int64(meta & _NEXT)
        if (
            mask & ~patterns[at, 2] == ZERO
            and ((patterns[at, 0] ^ low) | (patterns[at, 1] ^ high) | (marks[at] ^ scored)) & mask == ZERO
        ):
            old_low = (meta >> _LOWER_AT) & _BOUND
            old_high = meta >> _UPPER_AT
            if mask == patterns[at, 2]:
                patterns[at, 3] = (
                    (old_high if old_high < high_word else high_word) << _UPPER_AT
                    | (old_low if old_low > low_word else low_word) << _LOWER_AT
                    | np.uint64(after)
                )
                return
            if old_low <= low_word and old_high >= high_word:
                if before == 0:
                    keys[slot, 1] = (keys[slot, 1] & ~_HEAD_BITS) | np.uint64(after)
                else:
                    patterns[before, 3] = (patterns[before, 3] & ~_NEXT) | np.uint64(after)
                at = after
                continue
        before = at
        at = after
    new = used[PATTERNS]
    used[PATTERNS] = new + 1
    marks[new] = scored & mask
    patterns[new, 0] = low
    patterns[new, 1] = high
    patterns[new, 2] = mask
    patterns[new, 3] = high_word << _UPPER_AT | low_word << _LOWER_AT | (keys[slot, 1] & _HEAD_BITS)
    keys[slot, 1] = (keys[slot, 1] & ~_HEAD_BITS) | np.uint64(new)
