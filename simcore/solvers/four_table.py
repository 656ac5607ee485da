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

The patterns of a shape fill a chain of blocks of 32 words; only the first block may have room.  Word 0 of a block is
``| next block, 32 bits | words in use, 32 bits |``, the rest is patterns:

    word 0             | effort, 4 bits | 20 bits unused | upper bound, 20 bits | lower bound, 20 bits |   biased by 2**19
    words 1 … n        the comparisons it rests on
    words n+1 … 2n     how they come out (1: the card of the first seat is higher)
    word 2n+1          the special cards it counts on, where the contract has loose ones

Bounds are for side 0, from the position on: what it gets at least above the least, and at most (a minus) above the most that it
could get whichever cards are special.  A bound that counts on a special card holds only where this card of the seat is special
too; one that does not holds wherever that card is: it took the worst that the card can bring.

When the shapes or the blocks run out, the half of the patterns that took the fewest plies to find out (*effort*, in powers of
four) is forgotten: memory is bounded, results do not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ZERO, clz, popcount
from simcore.solvers.four_bits import gather, spread
from simcore.solvers.four_state import ALIVE, RESULT

__all__ = [
    "BLOCK",
    "FORGOTTEN",
    "SHAPES",
    "SLOTS",
    "USED",
    "find_slot",
    "forget",
    "lower_bound",
    "pack",
    "pattern_words",
    "remember",
    "search_table",
    "unpack",
    "upper_bound",
]

BLOCK = 32  # words of a block
BIAS = np.int64(1 << 19)
_BOUND = np.uint64(0xFFFFF)
_EFFORT_AT, _UPPER_AT, _NEXT_AT = np.uint64(60), np.uint64(20), np.uint64(32)
_COUNT = np.uint64(0xFFFFFFFF)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_AT = np.uint64(40)

# Counters kept in ``used`` (int64[8 + shapes]): shapes in use, blocks ever taken (0 is "none"), times forgotten, the first of the
# blocks given back, words of patterns in use; then the slots.
SHAPES, BLOCKS, FORGOTTEN, FREE, USED, SLOTS = 0, 1, 2, 3, 4, 8


@njit
def forget(keys: Any, used: Any) -> None:
    """Empty the table; costs as much as was stored."""
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        keys[slot, 0] = ZERO
        keys[slot, 1] = ZERO
    used[SHAPES] = 0
    used[BLOCKS] = 1
    used[FREE] = 0
    used[USED] = 0


@njit
def find_slot(keys: Any, key: U64) -> I64:
    """Return the slot of a shape, or the free slot where it belongs (keys are never zero)."""
    last = np.int64(keys.shape[0] - 1)
    slot = np.int64((key * _MIX) >> _MIX_AT) & last
    while keys[slot, 0] != key and keys[slot, 0] != ZERO:
        slot = (slot + 1) & last
    return slot


@njit
def pattern_words(u: Any, b: I64) -> I64:
    """Return how many words the comparisons of a row's live cards take."""
    total = popcount(u[b + ALIVE]) + popcount(u[b + ALIVE + 1]) + popcount(u[b + ALIVE + 2]) + popcount(u[b + ALIVE + 3])
    return max((total + 63) >> 6, np.int64(1))


@njit
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


@njit
def unpack(u: Any, b: I64, patterns: Any, at: I64) -> None:
    """Make the result rest on what a stored pattern rests on."""
    total = np.int64(0)
    for suit in range(4):
        alive = u[b + ALIVE + suit]
        count = popcount(alive)
        place = at + 1 + (total >> 6)
        shift = total & 63
        bits = patterns[place] >> np.uint64(shift)
        if shift + count > 64:
            bits |= patterns[place + 1] << np.uint64(64 - shift)
        u[RESULT + suit] = spread(bits, alive)
        total += count


@njit
def lower_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at least, above the least."""
    return np.int64(patterns[at] & _BOUND) - BIAS


@njit
def upper_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at most, above the most (zero or less)."""
    return np.int64((patterns[at] >> _UPPER_AT) & _BOUND) - BIAS


@njit
def search_table(
    u: Any, keys: Any, patterns: Any, key: U64, words: I64, at_words: I64, marked: bool, special: U64, above: I64, below: I64
) -> I64:
    """Return a stored pattern that matches a position and whose bounds reach ``above`` or stay under ``below``, or 0.

    ``at_words``: where in ``u`` the position's comparisons stand, in ``words`` words; ``marked``: patterns name special cards;
    ``special``: which of the position's are.
    """
    slot = find_slot(keys, key)
    if keys[slot, 0] != key:
        return np.int64(0)
    least = np.uint64(above + BIAS)
    most = np.uint64(below + BIAS)
    size = 2 * words + 1 + (1 if marked else 0)
    one = u[at_words]
    block = np.int64(keys[slot, 1])
    while block != 0:
        start = BLOCK * block
        head = patterns[start]
        at = start + 1
        end = at + np.int64(head & _COUNT)
        while at < end:
            meta = patterns[at]
            if ((meta & _BOUND) >= least or ((meta >> _UPPER_AT) & _BOUND) < most) and (patterns[at + 1 + words] ^ one) & patterns[
                at + 1
            ] == ZERO:
                same = True
                for n in range(1, words):
                    if (patterns[at + 1 + words + n] ^ u[at_words + n]) & patterns[at + 1 + n] != ZERO:
                        same = False
                        break
                if same and (not marked or patterns[at + 2 * words + 1] & ~special == ZERO):
                    return at
            at += size
        block = np.int64(head >> _NEXT_AT)
    return np.int64(0)


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
def _room(keys: Any, patterns: Any, used: Any, slot: I64, size: I64) -> I64:
    """Return where a new pattern of a shape goes."""
    block = np.int64(keys[slot, 1])
    count = np.int64(patterns[BLOCK * block] & _COUNT) if block != 0 else np.int64(BLOCK)
    if 1 + count + size > BLOCK:
        new = used[FREE]
        if new != 0:
            used[FREE] = np.int64(patterns[BLOCK * new] >> _NEXT_AT)
        else:
            new = used[BLOCKS]
            used[BLOCKS] += 1
        patterns[BLOCK * new] = np.uint64(block) << _NEXT_AT
        keys[slot, 1] = np.uint64(new)
        block = np.int64(new)
        count = np.int64(0)
    patterns[BLOCK * block] += np.uint64(size)
    used[USED] += size
    return BLOCK * block + 1 + count


@njit
def _give_back(patterns: Any, used: Any, block: I64) -> None:
    patterns[BLOCK * block] = np.uint64(used[FREE]) << _NEXT_AT
    used[FREE] = block


@njit
def _drop(keys: Any, patterns: Any, used: Any, slot: I64, at: I64, size: I64) -> None:
    """Take out a pattern: the last of the first block moves to its place."""
    block = np.int64(keys[slot, 1])
    patterns[BLOCK * block] -= np.uint64(size)
    used[USED] -= size
    count = np.int64(patterns[BLOCK * block] & _COUNT)
    last = BLOCK * block + 1 + count
    for n in range(size):
        patterns[at + n] = patterns[last + n]
    if count == 0:
        keys[slot, 1] = patterns[BLOCK * block] >> _NEXT_AT
        _give_back(patterns, used, block)


@njit
def shrink(keys: Any, patterns: Any, used: Any) -> None:
    """Forget at least half of the patterns, those that took least effort; costs as much as is stored."""
    counts = np.zeros(17, np.int64)
    total = np.int64(0)
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        size = np.int64(keys[slot, 2])
        block = np.int64(keys[slot, 1])
        while block != 0:
            head = patterns[BLOCK * block]
            at = BLOCK * block + 1
            end = at + np.int64(head & _COUNT)
            while at < end:
                counts[np.int64(patterns[at] >> _EFFORT_AT) + 1] += size
                total += size
                at += size
            block = np.int64(head >> _NEXT_AT)
    least = np.int64(0)
    dropped = np.int64(0)
    while least < 16 and 2 * dropped < total:
        least += 1
        dropped += counts[least]
    shapes = used[SHAPES]
    entries = np.empty((shapes, 3), np.uint64)
    kept = np.int64(0)
    for n in range(shapes):
        slot = used[SLOTS + n]
        size = np.int64(keys[slot, 2])
        block = np.int64(keys[slot, 1])
        # The first block is refilled from the chain, so that only it has room.
        chain = np.int64(0)
        while block != 0:
            chain += BLOCK
            block = np.int64(patterns[BLOCK * block] >> _NEXT_AT)
        saved = np.empty(chain, np.uint64)
        count = np.int64(0)
        block = np.int64(keys[slot, 1])
        while block != 0:
            head = patterns[BLOCK * block]
            at = BLOCK * block + 1
            end = at + np.int64(head & _COUNT)
            while at < end:
                if np.int64(patterns[at] >> _EFFORT_AT) >= least:
                    for k in range(size):
                        saved[count + k] = patterns[at + k]
                    count += size
                at += size
            used[USED] -= np.int64(head & _COUNT)
            after = np.int64(head >> _NEXT_AT)
            _give_back(patterns, used, block)
            block = np.int64(after)
        keys[slot, 1] = ZERO
        place = np.int64(0)
        while place < count:
            at = _room(keys, patterns, used, slot, size)
            for k in range(size):
                patterns[at + k] = saved[place + k]
            place += size
        if count != 0:
            entries[kept, 0] = keys[slot, 0]
            entries[kept, 1] = keys[slot, 1]
            entries[kept, 2] = keys[slot, 2]
            kept += 1
    blocks, free, words = used[BLOCKS], used[FREE], used[USED]
    forget(keys, used)
    if 2 * kept > keys.shape[0]:
        return  # mostly shapes with few patterns: start anew
    used[BLOCKS], used[FREE], used[USED] = blocks, free, words
    for n in range(kept):
        slot = _claim(keys, used, entries[n, 0])
        keys[slot, 1] = entries[n, 1]
        keys[slot, 2] = entries[n, 2]


@njit
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
    lower: I64,
    upper: I64,
    work: I64,
) -> None:
    """Store that positions of shape ``key`` that compare alike are worth ``lower`` to ``upper``.

    ``at_words``, ``at_masks``: where in ``u`` the position's comparisons and those that count stand, packed; ``counted``: the
    special cards that this counts on; ``work``: the plies it took to find out.  Other arguments as for ``search_table``.
    """
    if (used[FREE] == 0 and BLOCK * used[BLOCKS] >= patterns.size) or 4 * used[SHAPES] >= 3 * keys.shape[0] - 8:
        shrink(keys, patterns, used)
        used[FORGOTTEN] += 1
    effort = np.uint64(min(np.int64(64) - clz(np.uint64(work)), np.int64(30)) >> 1) << _EFFORT_AT
    low_word = np.uint64(lower + BIAS)
    high_word = np.uint64(upper + BIAS)
    size = 2 * words + 1 + (1 if marked else 0)
    slot = _claim(keys, used, key)
    keys[slot, 2] = np.uint64(size)
    # Drop stored patterns that the new one covers and that say no more.
    block = np.int64(keys[slot, 1])
    while block != 0:
        start = BLOCK * block
        after = np.int64(patterns[start] >> _NEXT_AT)
        at = start + 1
        while at < start + 1 + np.int64(patterns[start] & _COUNT):
            meta = patterns[at]
            covered = (meta & _BOUND) <= low_word and ((meta >> _UPPER_AT) & _BOUND) >= high_word
            if covered:
                for n in range(words):
                    mask = u[at_masks + n]
                    if (mask & ~patterns[at + 1 + n]) | ((patterns[at + 1 + words + n] ^ u[at_words + n]) & mask) != ZERO:
                        covered = False
                        break
                if covered and marked and counted & ~patterns[at + 2 * words + 1] != ZERO:
                    covered = False
            if covered:
                _drop(keys, patterns, used, slot, at, size)
            else:
                at += size
        block = after
    at = _room(keys, patterns, used, slot, size)
    patterns[at] = effort | high_word << _UPPER_AT | low_word
    for n in range(words):
        patterns[at + 1 + n] = u[at_masks + n]
        patterns[at + 1 + words + n] = u[at_words + n] & u[at_masks + n]
    if marked:
        patterns[at + 2 * words + 1] = counted
