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

so a position matches when ``((low ^ word0) | (high ^ word1)) & mask`` is zero.  Within one shape the gathered suits always
lie at the same places.  Bounds are for side 0, from the position on: what it gets at least above the least, and at most (a minus)
above the most that it could get whichever cards are special.

Where special cards score, two more words say which of them the bounds count on, in an array of their own (``marks``).  The loose
special cards of a suit (see ``four_state``) are numbered from the lowest live one up, five places a suit:

    word 0   the places, among the gathered cards, of the special cards counted on, as far as they lie in mask
    word 1   | effort, 4 bits | counted on, 20 bits | their owners, high plane, 20 bits | low plane, 20 bits |

A bound that counts on a special card holds only where the special card of that number has the same owner, and the same place if
either place is pinned.  One that does not holds wherever that card is: it took the worst that the card can bring.

A shape's patterns are dealt out over up to 16 lists (numbers 0 to 15), by the set of suits whose two top cards they pin, and under
each set by the owners of those cards.  Patterns that count on all live special cards, which are most where there are such, have
16 lists more, under the owners of these too.  The shape's own entry says which lists there are, and a lookup visits one of each.
The key of a list is a 64-bit hash, and not checked further: with a full table of 2**20 keys and 2**24 lookups, a wrong list is
visited with a chance of 2**-20, and does harm only if a pattern in it matches.

When the shapes or the patterns run out, the half that took the fewest plies to find out (*effort*, in powers of four) is
forgotten: memory is bounded, results do not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, clz, ctz, popcount
from simcore.solvers.four_bits import gather, spread
from simcore.solvers.four_state import LOOSE, SPECIAL

__all__ = [
    "BIAS",
    "MOST_LOOSE",
    "asked_cards",
    "find_slot",
    "finer",
    "forget",
    "lower_bound",
    "remember",
    "search_table",
    "upper_bound",
]

MOST_LOOSE = 5

BIAS = np.int64(1 << 19)
_BOUND = np.uint64(0xFFFFF)
_NO_EFFORT, _EFFORT_AT = np.uint64((1 << 60) - 1), np.uint64(60)
_HEAD_BITS, _SETS_AT = np.uint64(0xFFFFFFFF), np.uint64(32)
_ALL_COUNTED = np.int64(16)
_FIVE, _TWENTY = np.uint64(0x1F), np.uint64(0xFFFFF)
_HIGH_AT, _COUNTED_AT = np.uint64(20), np.uint64(40)
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
def _numbers(cards: U64, loose: U64) -> U64:
    """Return the numbers, as 20 bits, of those special cards that are in ``cards``."""
    result = ZERO
    for suit in range(4):
        lane = loose & (_LANE << np.uint64(16 * suit))
        result |= gather(cards, lane) << np.uint64(5 * suit)
    return result


@njit
def _numbered(numbers: U64, loose: U64) -> U64:
    """Return the special cards that have the given numbers."""
    result = ZERO
    for suit in range(4):
        lane = loose & (_LANE << np.uint64(16 * suit))
        result |= spread((numbers >> np.uint64(5 * suit)) & _FIVE, lane)
    return result


@njit
def _owners(u: Any, loose: U64) -> U64:
    """Return the owners of the live special cards in two planes of 20 bits."""
    return _numbers(u[1] | u[3], loose) | _numbers(u[2] | u[3], loose) << _HIGH_AT


@njit
def asked_cards(u: Any, marks: Any, at: I64, live: U64) -> U64:
    """Return the loose special cards that a stored pattern counts on, in a position that it matches."""
    counted = (marks[at, 1] >> _COUNTED_AT) & _TWENTY
    return _numbered(counted, live & u[LOOSE]) if counted != ZERO else ZERO


@njit
def lookup(
    u: Any, patterns: Any, marks: Any, head: I64, low: U64, high: U64, live: U64, owners: U64, above: I64, below: I64
) -> I64:
    """Return the first pattern of a list that matches and whose bounds reach ``above`` or stay under ``below``, or 0.

    ``owners``: those of the live special cards, and which numbers there are, as in word 1 of ``marks``.
    """
    least = np.uint64(above + BIAS)
    most = np.uint64(below + BIAS)
    special = u[SPECIAL]
    at = head
    while at != 0:
        meta = patterns[at, 3]
        if ((patterns[at, 0] ^ low) | (patterns[at, 1] ^ high)) & patterns[at, 2] == ZERO and (
            ((meta >> _LOWER_AT) & _BOUND) >= least or (meta >> _UPPER_AT) < most
        ):
            if special == ZERO:
                return at
            word = marks[at, 1]
            counted = (word >> _COUNTED_AT) & _TWENTY
            if (word ^ owners) & (counted << _COUNTED_AT | counted << _HIGH_AT | counted) == ZERO:
                loose = live & u[LOOSE]
                cards = (live & special & ~loose) | _numbered(counted, loose)
                if (marks[at, 0] ^ gather(cards, live)) & patterns[at, 2] == ZERO:
                    return at
        at = np.int64(meta & _NEXT)
    return np.int64(0)


@njit
def lower_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at least, above the least."""
    return np.int64((patterns[at, 3] >> _LOWER_AT) & _BOUND) - BIAS


@njit
def upper_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at most, above the most (zero or less)."""
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
def _list_key(key: U64, number: I64, low: U64, high: U64, live: U64, owners: U64) -> U64:
    """Return the key of the list of a shape into which a position falls: see the module's text for the ``number`` of a list."""
    tops = fine_tops(live, number & 15)
    start = key + np.uint64(number) * _MIX
    if number >= _ALL_COUNTED:
        start ^= owners * _MIX4
    return finer(start, low & tops, high & tops)


@njit
def search_table(
    u: Any, keys: Any, patterns: Any, marks: Any, key: U64, low: U64, high: U64, live: U64, above: I64, below: I64
) -> I64:
    """Return a stored pattern that matches a position of shape ``key`` and settles the question (see ``lookup``), or 0."""
    slot = find_slot(keys, key)
    if keys[slot, 0] != key:
        return np.int64(0)
    loose = live & u[LOOSE]
    owners = ZERO
    if loose != ZERO:
        owners = _owners(u, loose) | _numbers(loose, loose) << _COUNTED_AT
    head = keys[slot, 1]
    at = lookup(u, patterns, marks, np.int64(head & _HEAD_BITS), low, high, live, owners, above, below)
    sets = head >> _SETS_AT
    while at == 0 and sets != ZERO:
        number = ctz(sets)
        sets &= sets - ONE
        fine = _list_key(key, number, low, high, live, owners)
        slot = find_slot(keys, fine)
        if keys[slot, 0] == fine:
            at = lookup(u, patterns, marks, np.int64(keys[slot, 1] & _HEAD_BITS), low, high, live, owners, above, below)
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
def shrink(keys: Any, patterns: Any, marks: Any, used: Any) -> None:
    """Forget at least half of the patterns, those that took least effort; costs as much as is stored."""
    last = used[PATTERNS]
    counts = np.zeros(17, np.int64)
    for place in range(1, last):
        counts[np.int64(marks[place, 1] >> _EFFORT_AT) + 1] += 1
    least = np.int64(0)
    dropped = np.int64(0)
    while least < 16 and 2 * dropped < last:
        least += 1
        dropped += counts[least]
    # New places, in the old order, so that moving down never overwrites.
    places = np.zeros(last, np.int64)
    new = np.int64(1)
    for place in range(1, last):
        if np.int64(marks[place, 1] >> _EFFORT_AT) >= least:
            places[place] = new
            new = np.int64(new + 1)
    shapes = used[SHAPES]
    entries = np.empty((shapes, 2), np.uint64)
    kept = np.int64(0)
    for n in range(shapes):
        slot = used[SLOTS + n]
        head = keys[slot, 1]
        first = np.int64(0)
        before = np.int64(0)
        at = np.int64(head & _HEAD_BITS)
        while at != 0:
            after = np.int64(patterns[at, 3] & _NEXT)
            if places[at] != 0:
                if before == 0:
                    first = np.int64(places[at])
                else:
                    patterns[before, 3] = (patterns[before, 3] & ~_NEXT) | np.uint64(places[at])
                before = np.int64(at)
            at = after
        if before != 0:
            patterns[before, 3] &= ~_NEXT
        if first != 0 or head >> _SETS_AT != ZERO:
            entries[kept, 0] = keys[slot, 0]
            entries[kept, 1] = (head & ~_HEAD_BITS) | np.uint64(first)
            kept += 1
    for place in range(1, last):
        if places[place] != 0:
            patterns[places[place]] = patterns[place]
            marks[places[place]] = marks[place]
    forget(keys, used)
    used[PATTERNS] = new
    if 2 * kept > keys.shape[0]:
        used[PATTERNS] = 1  # mostly shapes without patterns: start anew
        return
    for n in range(kept):
        slot = _claim(keys, used, entries[n, 0])
        keys[slot, 1] = entries[n, 1]


@njit
def remember(
    u: Any,
    keys: Any,
    patterns: Any,
    marks: Any,
    used: Any,
    key: U64,
    low: U64,
    high: U64,
    mask: U64,
    counted: U64,
    live: U64,
    many: bool,
    lower: I64,
    upper: I64,
    work: I64,
) -> None:
    """Store that positions of shape ``key`` with these owners under ``mask`` are worth ``lower`` to ``upper``.

    ``counted``: the loose special cards that this counts on; ``work``: the plies it took to find out.
    ``many``: use all 16 lists; else (patterns that pin little, short lists) only those that pin no or every suit.
    """
    if used[PATTERNS] >= patterns.shape[0] or 4 * used[SHAPES] >= 3 * keys.shape[0] - 8:
        shrink(keys, patterns, marks, used)
        used[FORGOTTEN] += 1
    effort = (min(np.int64(64) - clz(np.uint64(work)), np.int64(30)) >> 1) << 60
    low = low & mask
    high = high & mask
    low_word = np.uint64(lower + BIAS)
    high_word = np.uint64(upper + BIAS)
    word = ZERO
    scored = ZERO
    owners = ZERO
    suits = np.int64(0)
    if u[SPECIAL] != ZERO:
        loose = live & u[LOOSE]
        numbers = _numbers(counted, loose)
        owners = _owners(u, loose) | _numbers(loose, loose) << _COUNTED_AT
        word = owners & (numbers | numbers << _HIGH_AT | numbers << _COUNTED_AT)
        scored = gather((live & u[SPECIAL] & ~loose) | counted, live) & mask
        if loose != ZERO and counted == loose:
            suits = _ALL_COUNTED
    slot = _claim(keys, used, key)
    if not many and fine_tops(live, np.int64(15)) & ~mask == ZERO:
        suits |= 15
    for suit in range(4 if many else 0):
        if (live >> np.uint64(16 * suit)) & _LANE != ZERO and fine_tops(live, 1 << suit) & ~mask == ZERO:
            suits |= 1 << suit
    if suits != 0:
        keys[slot, 1] |= ONE << (_SETS_AT + np.uint64(suits))
        slot = _claim(keys, used, _list_key(key, suits, low, high, live, owners))
    # Drop stored patterns that the new one covers and that say no more; tighten an equal one.
    before = np.int64(0)
    at = np.int64(keys[slot, 1] & _HEAD_BITS)
    while at != 0:
        meta = patterns[at, 3]
        after = np.int64(meta & _NEXT)
        if (
            mask & ~patterns[at, 2] == ZERO
            and ((patterns[at, 0] ^ low) | (patterns[at, 1] ^ high) | (marks[at, 0] ^ scored)) & mask == ZERO
            and marks[at, 1] & _NO_EFFORT == word
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
    marks[new, 0] = scored
    marks[new, 1] = word | np.uint64(effort)
    patterns[new, 0] = low
    patterns[new, 1] = high
    patterns[new, 2] = mask
    patterns[new, 3] = high_word << _UPPER_AT | low_word << _LOWER_AT | (keys[slot, 1] & _HEAD_BITS)
    keys[slot, 1] = (keys[slot, 1] & ~_HEAD_BITS) | np.uint64(new)
