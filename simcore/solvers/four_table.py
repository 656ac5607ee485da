"""The solver's memory: shapes, and under each shape the patterns whose value is known (partition search).

A *position* at the start of a trick is given by who holds which live card.  Its *shape* is the number of cards each seat holds
in each suit, with the seat on lead: the key.  Positions of one shape differ only in how the cards of two hands *compare*: is the
i-th card that a seat holds of a suit higher than the j-th of another seat?  What a search finds out rests on few of these
comparisons, those that settled a trick somewhere below; a *pattern* names just these, and every position of that shape in which
they come out the same has the value.  (Ginsberg, Partition search, 1996, pins the owners of all cards from the top of a suit down
to the lowest that won by its rank; comparisons ask for less.)

Comparisons are numbered, suit by suit, from the root on (see ``four_root``): pairs of seats in order, then the cards of the
first from the lowest up, then those of the second.  Thirteen cards of a suit make at most 63, one word.  Leaving out those of dead
cards (``gather``) moves the rest together, and what is left depends on the shape only; the suits' are packed one behind the other
into n words, 1 to 4, as many as the shape needs.  Loose special cards (see ``four_state``) are named in the same way: which of the
live cards, in order of suit, seat and rank, are special.

The first patterns of a shape fill a chain of blocks, the first two of 32 words and the others of 128, so that lists lie in few
pieces; only the first of the chain may have room.  Word 0 of a block is ``| next block, 32 bits | 15 unused | big | room, 8 bits
| patterns, 8 bits |``.  The rest is columns, one for each word of a pattern, as long as there is room: a list is looked through by
its first three columns, eight patterns at a time where the CPU can.  A list of 128 moves into slabs (``four_slabs``).  A pattern is

    word 0             | effort, 4 bits | 19 unused | served | upper bound, 20 bits | lower bound, 20 bits |
    words 1, 3 ...     the comparisons it rests on
    words 2, 4 ...     how they come out (1: the card of the first seat is higher)
    word 2n+1          the special cards it counts on, where the contract has loose ones

Bounds are for side 0, from the position on: what it gets at least above the least, and at most (a minus) above the most that it
could get whichever cards are special, both biased by 2**19.  A bound that counts on a special card holds only where this card of
the seat is special too; one that does not holds wherever that card is: it took the worst that the card can bring.  Where only
tricks and a bonus for most of them count, bounds are *sets of outcomes*, a bit for each number of tricks: side 0 can see to it that
it takes one of the first set, or side 1 that it takes one of the second.  What is found out so serves however many were taken
before.

A slot of the table of shapes has four words: the key, the first block, ``| patterns in blocks | words of a pattern, 8 bits |``, and
the first slab.

When the shapes or the blocks run out, half of the patterns is forgotten: first those that have not settled anything (*served*)
since that happened last, of these first those that took the fewest plies to find out (*effort*, in powers of four).  Memory is
bounded, results do not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, clz, ctz, popcount
from simcore.solvers.four_bits import gather, prefetch, spread
from simcore.solvers.four_blocks import (
    BIG,
    BLOCK,
    CHUNK_WORDS,
    FORGOTTEN,
    IS_BIG,
    NEXT_AT,
    SHAPES,
    SLOTS,
    USED,
    clear,
    give_back,
    is_full,
    take_block,
)
from simcore.solvers.four_slabs import (
    COUNT,
    NO_BOUND,
    SERVED,
    UPPER_AT,
    add_to_slab,
    begin_slab,
    pattern_in_slab,
    search_slabs,
)
from simcore.solvers.four_state import ALIVE, HIT, RESULT

__all__ = [
    "NO_BOUND",
    "biased",
    "bounds_found",
    "find_slot",
    "forget",
    "pack",
    "pattern_words",
    "remember",
    "search_table",
    "unbiased",
    "unpack",
]

_BIAS = np.int64(1 << 19)
_EFFORT_AT = np.uint64(60)
_ROOM_AT, _COUNT_AT = np.uint64(8), np.uint64(8)
_BYTE = np.uint64(0xFF)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_AT = np.uint64(40)
_SEVEN = np.uint64(7)
_SLOTS_AT_MOST = np.int64((1 << 24) - 1)
_ALL = ~ZERO
_WORTHS = 32  # what a pattern can be worth: effort, and whether it has served
_IN_SLABS = np.int64(128)  # patterns of a shape from which on they lie in slabs


@njit
def forget(keys: Any, used: Any) -> None:
    """Empty the table; costs as much as was stored."""
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        keys[slot, 0] = ZERO
        keys[slot, 1] = ZERO
    used[SHAPES] = 0
    clear(used)


@inlined
def find_slot(keys: Any, key: U64) -> I64:
    """Return the slot of a shape, or the free slot where it belongs (keys are never zero)."""
    last = np.int64(keys.shape[0] - 1) & _SLOTS_AT_MOST
    slot = np.int64((key * _MIX) >> _MIX_AT) & last
    while keys[slot, 0] != key and keys[slot, 0] != ZERO:
        slot = (slot + 1) & last
    return slot


@inlined
def prefetch_slot(keys: Any, key: U64) -> None:
    """Ask for the place where a shape's slot is likely to be, soon to be looked up."""
    prefetch(keys, np.int64((key * _MIX) >> _MIX_AT) & np.int64(keys.shape[0] - 1))


@inlined
def pattern_words(u: Any, b: I64) -> I64:
    """Return how many words the comparisons of a row's live cards take."""
    total = popcount(u[b + ALIVE]) + popcount(u[b + ALIVE + 1]) + popcount(u[b + ALIVE + 2]) + popcount(u[b + ALIVE + 3])
    return max((total + 63) >> 6, np.int64(1))


@inlined
def pack(u: Any, b: I64, source: I64, target: I64) -> None:
    """Write the comparisons between a row's live cards, four words at ``source``, packed at ``target``."""
    for n in range(4):
        u[target + n] = ZERO
    total = np.int64(0)
    for suit in range(4):
        alive = u[b + ALIVE + suit]
        count = popcount(alive)
        bits = gather(u[source + suit], alive)
        at = target + (total >> 6)
        shift = total & 63
        u[at] |= bits << np.uint64(shift)
        if shift + count > 64:
            u[at + 1] |= bits >> np.uint64(64 - shift)
        total += count


@inlined
def unpack(u: Any, b: I64) -> None:
    """Make the result rest on what the pattern found rests on."""
    total = np.int64(0)
    for suit in range(4):
        alive = u[b + ALIVE + suit]
        count = popcount(alive)
        place = HIT + 2 + (total >> 6)
        shift = total & 63
        bits = u[place] >> np.uint64(shift)
        if shift + count > 64:
            bits |= u[place + 1] << np.uint64(64 - shift)
        u[RESULT + suit] = spread(bits, alive)
        total += count


@inlined
def biased(bound: I64) -> U64:
    """Return a bound as it is stored."""
    return np.uint64(bound + _BIAS)


@inlined
def bounds_found(u: Any) -> tuple[U64, U64]:
    """Return the lower and the upper bound of the pattern found, as they are stored."""
    return u[HIT] & NO_BOUND, (u[HIT] >> UPPER_AT) & NO_BOUND


@inlined
def unbiased(bound: U64) -> I64:
    """Return a bound that was stored."""
    return np.int64(bound) - _BIAS


@inlined
def search_table(
    u: Any,
    patterns: Any,
    first: I64,
    slab: I64,
    words: I64,
    at_words: I64,
    marked: bool,
    special: U64,
    least: U64,
    most: U64,
    sets: bool,
) -> bool:
    """Copy to ``u[HIT]`` a stored pattern that matches a position and whose bounds settle a question.

    Args:
        first, slab: the first block, or the first slab, of the position's shape.
        at_words: where in ``u`` the position's comparisons stand, in ``words`` words.
        marked: patterns name special cards.
        special: which of the position's are.
        least, most: a lower bound serves from ``least`` on, an upper bound below ``most`` (biased).
        sets: bounds are sets of outcomes; a lower bound serves that has none of ``least``, an upper one that has none of ``most``.

    Returns: whether there is one.
    """
    if slab != 0:
        return search_slabs(u, patterns, slab, words, at_words, marked, special, least, most, sets)
    one = u[at_words]
    block = first
    while block != 0:
        start = BLOCK * block
        head = patterns[start]
        block = np.int64(head >> NEXT_AT)
        prefetch(patterns, BLOCK * block)
        prefetch(patterns, BLOCK * block + 8)
        count, room = head & _BYTE, (head >> _ROOM_AT) & _BYTE
        metas = np.uint64(start + 1)
        masks = metas + room
        values = masks + room
        found = ZERO
        if sets:
            for k in range((count + _SEVEN) & ~_SEVEN):
                meta = patterns[metas + k]
                fits = ((meta & least) == ZERO) | (((meta >> UPPER_AT) & most) == ZERO)
                fits &= (patterns[values + k] ^ one) & patterns[masks + k] == ZERO
                found |= np.uint64(fits) << k
        else:
            for k in range((count + _SEVEN) & ~_SEVEN):
                meta = patterns[metas + k]
                fits = ((meta & NO_BOUND) >= least) | (((meta >> UPPER_AT) & NO_BOUND) < most)
                fits &= (patterns[values + k] ^ one) & patterns[masks + k] == ZERO
                found |= np.uint64(fits) << k
        found &= (ONE << count) - ONE
        best = np.int64(0)
        fewest = np.int64(1000)
        step = np.int64(room)
        while found != ZERO:
            at = start + 1 + ctz(found)
            found &= found - ONE
            same = True
            for n in range(1, words):
                place = at + (1 + 2 * n) * step
                if (patterns[place + step] ^ u[at_words + n]) & patterns[place] != ZERO:
                    same = False
                    break
            if same and (not marked or patterns[at + (2 * words + 1) * step] & ~special == ZERO):
                # of those that fit, the one that rests on least makes the strongest patterns further up
                count_of = popcount(patterns[at + step])
                for n in range(1, words):
                    count_of += popcount(patterns[at + (1 + 2 * n) * step])
                if count_of < fewest:
                    fewest, best = count_of, at
        if best != 0:
            u[HIT] = patterns[best]
            if patterns[best] & SERVED == ZERO:
                patterns[best] |= SERVED
            u[HIT + 1] = patterns[best + (2 * words + 1) * step] if marked else ZERO
            for n in range(words):
                u[HIT + 2 + n] = patterns[best + (1 + 2 * n) * step]
            return True
    return False


@njit
def _claim(keys: Any, used: Any, key: U64) -> I64:
    """Return the slot of a key, taking a free one if it is new."""
    slot = find_slot(keys, key)
    if keys[slot, 0] == ZERO:
        keys[slot, 0] = key
        keys[slot, 1] = ZERO
        keys[slot, 2] = ZERO
        keys[slot, 3] = ZERO
        used[SLOTS + used[SHAPES]] = slot
        used[SHAPES] += 1
    return slot


@njit
def _room(keys: Any, patterns: Any, used: Any, slot: I64, size: I64) -> tuple[I64, I64]:
    """Return where a new pattern of a shape goes, and how far it is from each of its words to the next."""
    block = np.int64(keys[slot, 1])
    head = patterns[BLOCK * block]
    count, room = np.int64(head & _BYTE), np.int64((head >> _ROOM_AT) & _BYTE)
    stored = np.int64(keys[slot, 2] >> _COUNT_AT)
    if block == 0 or count == room:
        new, length = take_block(patterns, used, stored * size >= 2 * (BLOCK - size))
        room = (length - 1) // size
        patterns[BLOCK * new] = np.uint64(block) << NEXT_AT | np.uint64(room) << _ROOM_AT | (IS_BIG if length == BIG else ZERO)
        keys[slot, 1] = np.uint64(new)
        block = new
        count = np.int64(0)
    patterns[BLOCK * block] += ONE
    keys[slot, 2] = np.uint64(size) | np.uint64(stored + 1) << _COUNT_AT
    used[USED] += size
    return BLOCK * block + 1 + count, room


@njit
def _drop(keys: Any, patterns: Any, used: Any, slot: I64, at: I64, step: I64, size: I64) -> None:
    """Take out a pattern: the last of the first block moves to its place."""
    block = np.int64(keys[slot, 1])
    patterns[BLOCK * block] -= ONE
    keys[slot, 2] -= ONE << _COUNT_AT
    used[USED] -= size
    head = patterns[BLOCK * block]
    count, room = np.int64(head & _BYTE), np.int64((head >> _ROOM_AT) & _BYTE)
    last = BLOCK * block + 1 + count
    for n in range(size):
        patterns[at + n * step] = patterns[last + n * room]
    if count == 0:
        keys[slot, 1] = head >> NEXT_AT
        give_back(patterns, used, block)


@njit
def _worth(meta: U64) -> I64:
    """Return what a pattern is worth keeping for: first that it has served since the table was last full, then effort."""
    return np.int64(meta >> _EFFORT_AT) + (16 if meta & SERVED != ZERO else 0)


@njit
def _copy_out(keys: Any, patterns: Any, slot: I64, least: I64, target: Any, start: I64) -> I64:
    """Copy a shape's patterns worth at least some to ``target[start]`` and on, one after the other; return how many.

    Where only some are kept, they have not served from here on.
    """
    fresh = ~SERVED if least > 0 else _ALL
    size = np.int64(keys[slot, 2] & _BYTE)
    count = np.int64(0)
    block = np.int64(keys[slot, 1])
    while block != 0:
        head = patterns[BLOCK * block]
        room = np.int64((head >> _ROOM_AT) & _BYTE)
        for k in range(np.int64(head & _BYTE)):
            at = BLOCK * block + 1 + k
            if _worth(patterns[at]) >= least:
                for m in range(size):
                    target[start + size * count + m] = patterns[at + m * room] & (fresh if m == 0 else _ALL)
                count += 1
        block = np.int64(head >> NEXT_AT)
    slab = np.int64(keys[slot, 3])
    while slab != 0:
        head = patterns[BLOCK * slab]
        for k in range(np.int64(head & COUNT)):
            at = pattern_in_slab(patterns, slab, k, size)
            if _worth(patterns[at]) >= least:
                for m in range(size):
                    target[start + size * count + m] = patterns[at + m] & (fresh if m == 0 else _ALL)
                count += 1
        slab = np.int64(head >> NEXT_AT)
    return count


@njit
def _store(u: Any, keys: Any, patterns: Any, used: Any, slot: I64, source: Any, start: I64, size: I64, words: I64) -> None:
    """Store a pattern, ``size`` words one after the other, under a shape."""
    stored = np.int64(keys[slot, 2] >> _COUNT_AT)
    if keys[slot, 3] == ZERO and (stored < _IN_SLABS or size > CHUNK_WORDS):
        at, step = _room(keys, patterns, used, slot, size)
        for n in range(size):
            patterns[at + n * step] = source[start + n]
        return
    if keys[slot, 3] == ZERO:
        # the list has grown long: all of it moves into a slab
        saved = np.empty(size * stored, np.uint64)
        _copy_out(keys, patterns, slot, np.int64(0), saved, np.int64(0))
        slab = begin_slab(patterns, used, saved, size, words, stored)
        for n in range(stored):
            add_to_slab(u, patterns, used, slab, saved, size * n, size, words)
        block = np.int64(keys[slot, 1])
        while block != 0:
            following = np.int64(patterns[BLOCK * block] >> NEXT_AT)
            give_back(patterns, used, block)
            block = following
        keys[slot, 1] = ZERO
        keys[slot, 2] = np.uint64(size)
        keys[slot, 3] = np.uint64(slab)
        used[USED] -= size * stored
    keys[slot, 3] = np.uint64(add_to_slab(u, patterns, used, np.int64(keys[slot, 3]), source, start, size, words))


@njit
def shrink(u: Any, keys: Any, patterns: Any, used: Any) -> None:
    """Forget at least half of the patterns, those that are worth least; costs as much as is stored."""
    counts = np.zeros(_WORTHS + 1, np.int64)
    total = np.int64(0)
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        size = np.int64(keys[slot, 2] & _BYTE)
        block = np.int64(keys[slot, 1])
        while block != 0:
            head = patterns[BLOCK * block]
            for k in range(np.int64(head & _BYTE)):
                counts[_worth(patterns[BLOCK * block + 1 + k]) + 1] += size
            block = np.int64(head >> NEXT_AT)
        slab = np.int64(keys[slot, 3])
        while slab != 0:
            head = patterns[BLOCK * slab]
            for k in range(np.int64(head & COUNT)):
                counts[_worth(patterns[pattern_in_slab(patterns, slab, k, size)]) + 1] += size
            slab = np.int64(head >> NEXT_AT)
    for n in range(_WORTHS + 1):
        total += counts[n]
    least = np.int64(0)
    dropped = np.int64(0)
    while least < _WORTHS and 2 * dropped < total:
        least += 1
        dropped += counts[least]
    saved = np.empty(total - dropped + 1, np.uint64)
    entries = np.empty((used[SHAPES], 3), np.uint64)
    kept = np.int64(0)
    start = np.int64(0)
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        count = _copy_out(keys, patterns, slot, least, saved, start)
        if count != 0:
            entries[kept, 0], entries[kept, 1], entries[kept, 2] = keys[slot, 0], keys[slot, 2] & np.uint64(_BYTE), np.uint64(count)
            start += count * np.int64(keys[slot, 2] & _BYTE)
            kept += 1
    forget(keys, used)
    if 2 * kept > keys.shape[0]:
        return  # mostly shapes with few patterns: start anew
    start = np.int64(0)
    for n in range(kept):
        slot = _claim(keys, used, entries[n, 0])
        size = np.int64(entries[n, 1])
        keys[slot, 2] = np.uint64(size)
        for _ in range(np.int64(entries[n, 2])):
            if is_full(patterns, used):
                return
            _store(u, keys, patterns, used, slot, saved, start, size, (size - 1) >> 1)
            start += size


@inlined
def remember(
    u: Any,
    keys: Any,
    patterns: Any,
    used: Any,
    key: U64,
    words: I64,
    at_words: I64,
    at_masks: I64,
    marked: bool,
    counted: U64,
    lower: U64,
    upper: U64,
    sets: bool,
    work: I64,
) -> None:
    """Store that positions of shape ``key`` that compare alike are worth ``lower`` to ``upper``, both as they are stored.

    ``at_words``, ``at_masks``: where in ``u`` the position's comparisons and those that count stand, packed; ``counted``: the
    special cards that this counts on; ``work``: the plies it took to find out.  Other arguments as for ``search_table``.
    """
    if is_full(patterns, used) or 4 * used[SHAPES] >= 3 * keys.shape[0] - 8:
        shrink(u, keys, patterns, used)
        used[FORGOTTEN] += 1
    effort = np.uint64(min(np.int64(64) - clz(np.uint64(work)), np.int64(30)) >> 1) << _EFFORT_AT
    size = 2 * words + 1 + (1 if marked else 0)
    slot = _claim(keys, used, key)
    # Drop stored patterns that the new one covers and that say no more.
    one, mask = u[at_words] & u[at_masks], u[at_masks]
    block = np.int64(keys[slot, 1])
    while block != 0:
        start = BLOCK * block
        head = patterns[start]
        count, room = head & _BYTE, (head >> _ROOM_AT) & _BYTE
        metas = np.uint64(start + 1)
        masks = metas + room
        values = masks + room
        found = ZERO
        for k in range((count + _SEVEN) & ~_SEVEN):
            meta = patterns[metas + k]
            if sets:
                covered = lower & ~meta | upper & ~(meta >> UPPER_AT) == ZERO
            else:
                covered = ((meta & NO_BOUND) <= lower) & (((meta >> UPPER_AT) & NO_BOUND) >= upper)
            covered &= (mask & ~patterns[masks + k]) | ((patterns[values + k] & mask) ^ one) == ZERO
            found |= np.uint64(covered) << k
        found &= (ONE << count) - ONE
        step = np.int64(room)
        while found != ZERO:
            # from the last: what moves into the gap has been looked at
            place = 63 - clz(found)
            found ^= ONE << np.uint64(place)
            at = start + 1 + place
            gone = not marked or counted & ~patterns[at + (2 * words + 1) * step] == ZERO
            for n in range(1, words):
                other = at + (1 + 2 * n) * step
                part = u[at_masks + n]
                if (part & ~patterns[other]) | ((patterns[other + step] ^ u[at_words + n]) & part) != ZERO:
                    gone = False
                    break
            if gone:
                _drop(keys, patterns, used, slot, at, step, size)
        block = np.int64(head >> NEXT_AT)
    u[HIT] = effort | upper << UPPER_AT | lower
    for n in range(words):
        u[HIT + 1 + 2 * n] = u[at_masks + n]
        u[HIT + 2 + 2 * n] = u[at_words + n] & u[at_masks + n]
    if marked:
        u[HIT + 2 * words + 1] = counted
    if keys[slot, 2] == ZERO:
        keys[slot, 2] = np.uint64(size)
    _store(u, keys, patterns, used, slot, u, np.int64(HIT), size, words)
