"""Where the solver's memory of patterns lies: one array, cut into pieces of whole *blocks* of 32 words.

Lists take single blocks and *big* ones, four in a row, and give them back when patterns are dropped or the list has grown so long
that it moves into slabs; what was given back waits in two chains, linked through the upper half of word 0.  Slabs take an *index*,
sixteen blocks, and *chunks*, room for 64 patterns, for good.  What was never handed out lies behind ``used[BLOCKS]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, njit
from simcore.bits import ZERO

__all__ = [
    "BIG",
    "BLOCK",
    "BLOCKS",
    "CHUNK",
    "CHUNK_WORDS",
    "FORGOTTEN",
    "INDEX",
    "IS_BIG",
    "NEXT_AT",
    "SHAPES",
    "SLOTS",
    "USED",
    "clear",
    "give_back",
    "is_full",
    "take_block",
    "take_new",
]

BLOCK, BIG, INDEX = 32, 128, 512  # words
CHUNK, CHUNK_WORDS = 64, 8  # patterns of a chunk, and words of a pattern that may lie in one: it takes two blocks for each
NEXT_AT = np.uint64(32)
IS_BIG = np.uint64(1 << 16)  # in word 0 of a block that is big
_PAST_END = 64  # words; lists are read past their end
_RESERVE = 1 + INDEX // BLOCK + 3 * 2 * CHUNK_WORDS  # blocks that one new pattern may ask for: a slab and three chunks

# Counters kept in ``used`` (int64[SLOTS + shapes]): shapes in use, blocks ever taken (0 is "none"), times forgotten, words of
# patterns in use, the first of the single and of the big blocks given back; then the slots in use.
SHAPES, BLOCKS, FORGOTTEN, USED, FREE, FREE_BIG, SLOTS = 0, 1, 2, 3, 4, 5, 8


@njit
def clear(used: Any) -> None:
    """Take back everything."""
    used[BLOCKS] = 1
    used[USED] = used[FREE] = used[FREE_BIG] = 0


@njit
def is_full(patterns: Any, used: Any) -> bool:
    """Tell whether there may not be room for one more pattern."""
    return bool(BLOCK * (used[BLOCKS] + _RESERVE) > patterns.size - _PAST_END)


@njit
def take_new(used: Any, blocks: I64) -> I64:
    """Return the first of some blocks in a row that were never handed out; there are."""
    first = used[BLOCKS]
    used[BLOCKS] += blocks
    return first


@njit
def take_block(patterns: Any, used: Any, big: bool) -> tuple[I64, I64]:
    """Return a free block, single or big, and its words."""
    free = FREE_BIG if big else FREE
    length = np.int64(BIG if big else BLOCK)
    block = used[free]
    if block == 0:
        return take_new(used, length // BLOCK), length
    used[free] = np.int64(patterns[BLOCK * block] >> NEXT_AT)
    return block, length


@njit
def give_back(patterns: Any, used: Any, block: I64) -> None:
    """Take back a single or a big block."""
    free = FREE_BIG if patterns[BLOCK * block] & IS_BIG != ZERO else FREE
    patterns[BLOCK * block] = np.uint64(used[free]) << NEXT_AT
    used[free] = block
