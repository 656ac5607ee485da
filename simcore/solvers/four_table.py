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

The patterns of a shape fill a chain of blocks, the first two of 32 words and the others of 128, so that long lists lie in few
pieces; only the first of the chain may have room.  Word 0 of a block is ``| next block, 32 bits | 15 unused | big | room, 8 bits
| patterns, 8 bits |``.  The rest is columns, one for each word of a pattern, as long as there is room: a list is looked through by
its first three columns, eight patterns at a time where the CPU can.  A pattern is

    word 0             | effort, 4 bits | 20 bits unused | upper bound, 20 bits | lower bound, 20 bits |   biased by 2**19
    words 1, 3 ...     the comparisons it rests on
    words 2, 4 ...     how they come out (1: the card of the first seat is higher)
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

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, clz, ctz, popcount
from simcore.solvers.four_bits import gather, prefetch, spread
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

BLOCK, BIG = 32, 128  # words of a block; a big one is four small ones in a row
BIAS = np.int64(1 << 19)
_BOUND = np.uint64(0xFFFFF)
_EFFORT_AT, _UPPER_AT, _NEXT_AT = np.uint64(60), np.uint64(20), np.uint64(32)
_ROOM_AT, _CHAIN_AT = np.uint64(8), np.uint64(8)
_BYTE, _BIG = np.uint64(0xFF), np.uint64(1 << 16)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_AT = np.uint64(40)
_SEVEN = np.uint64(7)
_SLOTS_AT_MOST = np.int64((1 << 24) - 1)

# Counters kept in ``used`` (int64[8 + shapes]): shapes in use, blocks ever taken (0 is "none"), times forgotten, the first of the
# small and of the big blocks given back, words of patterns in use; then the slots.  A slot's words in ``keys`` are the key, the
# first block, and ``| blocks in the chain | words of a pattern, 8 bits |``.
SHAPES, BLOCKS, FORGOTTEN, FREE, USED, FREE_BIG, SLOTS = 0, 1, 2, 3, 4, 5, 8


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
    used[FREE_BIG] = 0
    used[USED] = 0


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
def unpack(u: Any, b: I64, patterns: Any, at: I64, room: I64) -> None:
    """Make the result rest on what a stored pattern rests on."""
    total = np.int64(0)
    for suit in range(4):
        alive = u[b + ALIVE + suit]
        count = popcount(alive)
        place = at + room * (1 + 2 * (total >> 6))
        shift = total & 63
        bits = patterns[place] >> np.uint64(shift)
        if shift + count > 64:
            bits |= patterns[place + 2 * room] << np.uint64(64 - shift)
        u[RESULT + suit] = spread(bits, alive)
        total += count


@inlined
def lower_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at least, above the least."""
    return np.int64(patterns[at] & _BOUND) - BIAS


@inlined
def upper_bound(patterns: Any, at: I64) -> I64:
    """Return what side 0 gets at most, above the most (zero or less)."""
    return np.int64((patterns[at] >> _UPPER_AT) & _BOUND) - BIAS


@inlined
def search_table(
    u: Any, patterns: Any, first: I64, words: I64, at_words: I64, marked: bool, special: U64, above: I64, below: I64
) -> tuple[I64, I64]:
    """Return a stored pattern that matches a position and whose bounds reach ``above`` or stay under ``below``, or 0.

    Args:
        first: the first block of the position's shape.
        at_words: where in ``u`` the position's comparisons stand, in ``words`` words.
        marked: patterns name special cards.
        special: which of the position's are.

    Returns: where the pattern's word 0 stands, and how far it is to the next word.
    """
    least = np.uint64(above + BIAS)
    most = np.uint64(below + BIAS)
    one = u[at_words]
    block = first
    while block != 0:
        start = BLOCK * block
        head = patterns[start]
        block = np.int64(head >> _NEXT_AT)
        prefetch(patterns, BLOCK * block)
        prefetch(patterns, BLOCK * block + 8)
        count, room = head & _BYTE, (head >> _ROOM_AT) & _BYTE
        metas = np.uint64(start + 1)
        masks = metas + room
        values = masks + room
        found = ZERO
        for k in range((count + _SEVEN) & ~_SEVEN):
            meta = patterns[metas + k]
            fits = ((meta & _BOUND) >= least) | (((meta >> _UPPER_AT) & _BOUND) < most)
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
            return best, step
    return np.int64(0), np.int64(0)


@njit
def _claim(keys: Any, used: Any, key: U64) -> I64:
    """Return the slot of a key, taking a free one if it is new."""
    slot = find_slot(keys, key)
    if keys[slot, 0] == ZERO:
        keys[slot, 0] = key
        keys[slot, 1] = ZERO
        keys[slot, 2] = ZERO
        used[SLOTS + used[SHAPES]] = slot
        used[SHAPES] += 1
    return slot


@njit
def _take_block(patterns: Any, used: Any, big: Any) -> tuple[I64, I64]:
    """Return a free block and its words: a small one where a big one was wanted and there is none."""
    if big:
        block = used[FREE_BIG]
        if block != 0:
            used[FREE_BIG] = np.int64(patterns[BLOCK * block] >> _NEXT_AT)
            return block, np.int64(BIG)
        block = used[BLOCKS]
        if BLOCK * (block + 4) <= patterns.size - 64:
            used[BLOCKS] += 4
            return block, np.int64(BIG)
    block = used[FREE]
    if block != 0:
        used[FREE] = np.int64(patterns[BLOCK * block] >> _NEXT_AT)
        return block, np.int64(BLOCK)
    block = used[BLOCKS]
    if BLOCK * (block + 1) <= patterns.size - 64:
        used[BLOCKS] += 1
        return block, np.int64(BLOCK)
    block = used[FREE_BIG]  # cut it up
    used[FREE_BIG] = np.int64(patterns[BLOCK * block] >> _NEXT_AT)
    for n in range(1, 4):
        patterns[BLOCK * (block + n)] = np.uint64(used[FREE]) << _NEXT_AT
        used[FREE] = block + n
    return block, np.int64(BLOCK)


@njit
def _is_full(patterns: Any, used: Any) -> bool:
    free = used[FREE] != 0 or used[FREE_BIG] != 0
    return not free and BLOCK * (used[BLOCKS] + 1) > patterns.size - 64


@njit
def _room(keys: Any, patterns: Any, used: Any, slot: I64, size: I64) -> tuple[I64, I64]:
    """Return where a new pattern of a shape goes, and how far it is from each of its words to the next."""
    block = np.int64(keys[slot, 1])
    head = patterns[BLOCK * block]
    count, room = np.int64(head & _BYTE), np.int64((head >> _ROOM_AT) & _BYTE)
    if block == 0 or count == room:
        chain = np.int64(keys[slot, 2] >> _CHAIN_AT)
        new, length = _take_block(patterns, used, chain >= 2)
        room = (length - 1) // size
        patterns[BLOCK * new] = np.uint64(block) << _NEXT_AT | np.uint64(room) << _ROOM_AT | (_BIG if length == BIG else ZERO)
        keys[slot, 1] = np.uint64(new)
        keys[slot, 2] = np.uint64(size) | np.uint64(chain + 1) << _CHAIN_AT
        block = new
        count = np.int64(0)
    patterns[BLOCK * block] += ONE
    used[USED] += size
    return BLOCK * block + 1 + count, room


@njit
def _give_back(patterns: Any, used: Any, block: I64) -> None:
    free = FREE_BIG if patterns[BLOCK * block] & _BIG != ZERO else FREE
    patterns[BLOCK * block] = np.uint64(used[free]) << _NEXT_AT
    used[free] = block


@njit
def _drop(keys: Any, patterns: Any, used: Any, slot: I64, at: I64, step: I64, size: I64) -> None:
    """Take out a pattern: the last of the first block moves to its place."""
    block = np.int64(keys[slot, 1])
    patterns[BLOCK * block] -= ONE
    used[USED] -= size
    head = patterns[BLOCK * block]
    count, room = np.int64(head & _BYTE), np.int64((head >> _ROOM_AT) & _BYTE)
    last = BLOCK * block + 1 + count
    for n in range(size):
        patterns[at + n * step] = patterns[last + n * room]
    if count == 0:
        keys[slot, 1] = head >> _NEXT_AT
        keys[slot, 2] -= ONE << _CHAIN_AT
        _give_back(patterns, used, block)


@njit
def shrink(keys: Any, patterns: Any, used: Any) -> None:
    """Forget at least half of the patterns, those that took least effort; costs as much as is stored."""
    counts = np.zeros(17, np.int64)
    total = np.int64(0)
    for n in range(used[SHAPES]):
        slot = used[SLOTS + n]
        size = np.int64(keys[slot, 2] & _BYTE)
        block = np.int64(keys[slot, 1])
        while block != 0:
            head = patterns[BLOCK * block]
            for k in range(np.int64(head & _BYTE)):
                counts[np.int64(patterns[BLOCK * block + 1 + k] >> _EFFORT_AT) + 1] += size
                total += size
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
        size = np.int64(keys[slot, 2] & _BYTE)
        saved = np.empty(BIG * np.int64(keys[slot, 2] >> _CHAIN_AT), np.uint64)
        count = np.int64(0)
        block = np.int64(keys[slot, 1])
        while block != 0:
            head = patterns[BLOCK * block]
            room = np.int64((head >> _ROOM_AT) & _BYTE)
            for k in range(np.int64(head & _BYTE)):
                at = BLOCK * block + 1 + k
                if np.int64(patterns[at] >> _EFFORT_AT) >= least:
                    for m in range(size):
                        saved[count + m] = patterns[at + m * room]
                    count += size
                used[USED] -= size
            _give_back(patterns, used, block)
            block = np.int64(head >> _NEXT_AT)
        # The chain is written anew, so that only its first block has room.
        keys[slot, 1] = ZERO
        keys[slot, 2] = ZERO
        place = np.int64(0)
        while place < count:
            at, room = _room(keys, patterns, used, slot, size)
            for m in range(size):
                patterns[at + m * room] = saved[place + m]
            place += size
        if count != 0:
            for m in range(3):
                entries[kept, m] = keys[slot, m]
            kept += 1
    blocks, free, free_big, words = used[BLOCKS], used[FREE], used[FREE_BIG], used[USED]
    forget(keys, used)
    if 2 * kept > keys.shape[0]:
        return  # mostly shapes with few patterns: start anew
    used[BLOCKS], used[FREE], used[FREE_BIG], used[USED] = blocks, free, free_big, words
    for n in range(kept):
        slot = _claim(keys, used, entries[n, 0])
        keys[slot, 1] = entries[n, 1]
        keys[slot, 2] = entries[n, 2]


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
    lower: I64,
    upper: I64,
    work: I64,
) -> None:
    """Store that positions of shape ``key`` that compare alike are worth ``lower`` to ``upper``.

    ``at_words``, ``at_masks``: where in ``u`` the position's comparisons and those that count stand, packed; ``counted``: the
    special cards that this counts on; ``work``: the plies it took to find out.  Other arguments as for ``search_table``.
    """
    if _is_full(patterns, used) or 4 * used[SHAPES] >= 3 * keys.shape[0] - 8:
        shrink(keys, patterns, used)
        used[FORGOTTEN] += 1
    effort = np.uint64(min(np.int64(64) - clz(np.uint64(work)), np.int64(30)) >> 1) << _EFFORT_AT
    low_word = np.uint64(lower + BIAS)
    high_word = np.uint64(upper + BIAS)
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
            covered = ((meta & _BOUND) <= low_word) & (((meta >> _UPPER_AT) & _BOUND) >= high_word)
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
        block = np.int64(head >> _NEXT_AT)
    at, step = _room(keys, patterns, used, slot, size)
    patterns[at] = effort | high_word << _UPPER_AT | low_word
    for n in range(words):
        patterns[at + (1 + 2 * n) * step] = u[at_masks + n]
        patterns[at + (2 + 2 * n) * step] = u[at_words + n] & u[at_masks + n]
    if marked:
        patterns[at + (2 * words + 1) * step] = counted
