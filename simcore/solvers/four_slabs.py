"""Long lists of patterns: 512 to a *slab*, with an index that finds the few that can fit without looking at the others.

The index holds, for each of 32 comparisons, two rows of 512 bits: which patterns rest on its coming out 1, and which on its coming
out 0.  A position is looked up by joining, comparison by comparison, the rows of those that want it otherwise, until none is left
that does not, or all 32 are through: then a few patterns are left, and looked at.  (Such an index is called bit-sliced, or a
signature file.)  All slabs of a shape use the same comparisons, the 32 that part its first 128 patterns best.

A slab has a block as its head, its index, and up to eight chunks of 64 patterns; in a chunk, the words of a pattern stand together.

    head, word 0       | next slab, 32 bits | patterns, 32 bits |
         word 1        the block of the index
         words 2 … 4   the 32 comparisons, a bit each
         words 5 … 12  the blocks of the chunks
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from simcore._jit import I64, JIT, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, popcount
from simcore.solvers.four_bits import gather, prefetch
from simcore.solvers.four_blocks import BLOCK, CHUNK, INDEX, NEXT_AT, USED, take_new
from simcore.solvers.four_state import HIT, LEFT

__all__ = ["COUNT", "NO_BOUND", "SERVED", "SLAB", "UPPER_AT", "add_to_slab", "begin_slab", "pattern_in_slab", "search_slabs"]

SLAB = 512  # patterns
_LANES = 8
_COMPARISONS = 32
_MASKS = 3  # words of comparisons of a pattern that may lie in a chunk
COUNT = np.uint64(0xFFFFFFFF)  # in word 0 of a slab
SERVED = np.uint64(1 << 40)  # in a pattern's word 0: it has settled a position since the table was last full
_ALL = ~ZERO
NO_BOUND = np.uint64(0xFFFFF)  # a set of outcomes that says nothing; the bits of any bound
UPPER_AT = np.uint64(20)
_SIX, _LOW_SIX = np.uint64(6), np.uint64(63)

if TYPE_CHECKING:

    def _strike(u: Any, patterns: Any, index: U64, signature: U64) -> I64: ...

elif JIT:

    @intrinsic
    def _strike(typingctx: Any, u: Any, patterns: Any, index: Any, signature: Any) -> Any:
        """Strike from a slab the patterns that want a comparison to come out otherwise, eight words at a time.

        ``u[LEFT]`` and the seven words behind it say which are struck, before and after.  Returns which of them are not all ones.
        """

        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            row = ir.VectorType(word, _LANES)
            data = ctx.make_array(patterns)(ctx, b, value=args[1]).data
            start = b.gep(data, [args[2]])
            place = b.bitcast(b.gep(ctx.make_array(u)(ctx, b, value=args[0]).data, [word(LEFT)]), row.as_pointer())
            everything = ir.Constant(row, [-1] * _LANES)
            struck = b.load(place, align=8)
            done = b.append_basic_block("done")
            ends = []
            left = None
            for first in range(0, _COMPARISONS, 8):
                for n in range(first, first + 8):
                    bit = b.and_(b.lshr(args[3], word(n)), word(1))
                    at = b.add(b.shl(bit, word(3)), word(2 * _LANES * n))
                    struck = b.or_(struck, b.load(b.bitcast(b.gep(start, [at]), row.as_pointer()), align=8))
                left = b.zext(b.bitcast(b.icmp_unsigned("!=", struck, everything), ir.IntType(_LANES)), word)
                ends.append((b.block, struck, left))
                if first + 8 < _COMPARISONS:
                    following = b.append_basic_block("group")
                    b.cbranch(b.icmp_unsigned("==", left, word(0)), done, following)
                    b.position_at_end(following)
                else:
                    b.branch(done)
            b.position_at_end(done)
            result, lanes = b.phi(row), b.phi(word)
            for block, value, some in ends:
                result.add_incoming(value, block)
                lanes.add_incoming(some, block)
            b.store(result, place, align=8)
            return lanes

        return types.int64(u, patterns, types.uint64, types.uint64), codegen

else:

    def _strike(u: Any, patterns: Any, index: Any, signature: Any) -> Any:
        for n in range(_COMPARISONS):
            at = int(index) + 2 * _LANES * n + _LANES * (int(signature) >> n & 1)
            u[LEFT : LEFT + _LANES] |= patterns[at : at + _LANES]
        return np.int64(sum(1 << n for n in range(_LANES) if u[LEFT + n] != _ALL))


@inlined
def _mark_beyond(u: Any, count: I64) -> None:
    """Strike, in ``u[LEFT]`` and on, the places at or past ``count``."""
    for lane in range(_LANES):
        n = count - 64 * lane
        u[LEFT + lane] = ZERO if n >= 64 else (_ALL if n <= 0 else _ALL << np.uint64(n))


@inlined
def _signature(u: Any, patterns: Any, head: U64, words: I64, at: I64) -> U64:
    """Return those bits of packed comparisons that the index is made of."""
    signature = ZERO
    shift = ZERO
    for n in range(words):
        mask = patterns[head + np.uint64(2 + n)]
        signature |= gather(u[at + n], mask) << shift
        shift += np.uint64(popcount(mask))
    return signature


@inlined
def _pattern_at(patterns: Any, head: U64, place: U64, size: U64) -> U64:
    """Return where a pattern of a slab begins."""
    return np.uint64(BLOCK) * patterns[head + np.uint64(5) + (place >> _SIX)] + (place & _LOW_SIX) * size


@inlined
def search_slabs(
    u: Any,
    patterns: Any,
    slab: I64,
    words: I64,
    at_words: I64,
    marked: bool,
    special: U64,
    least: U64,
    most: U64,
    sets: bool,
) -> bool:
    """Copy to ``u[HIT]`` a pattern of a chain that matches a position and whose bounds serve; tell whether there is one.

    Arguments as for ``four_table.search_table``.
    """
    size = np.uint64(2 * words + 1 + (1 if marked else 0))
    following = np.uint64(slab)
    signature = _signature(u, patterns, np.uint64(BLOCK) * following, words, at_words)
    while following != ZERO:
        head = np.uint64(BLOCK) * following
        following = patterns[head] >> NEXT_AT
        prefetch(patterns, BLOCK * np.int64(following))
        _mark_beyond(u, np.int64(patterns[head] & COUNT))
        lanes = np.uint64(_strike(u, patterns, np.uint64(BLOCK) * patterns[head + ONE], signature))
        best = ZERO
        fewest = np.int64(1000)
        while lanes != ZERO:
            lane = ctz(lanes)
            lanes &= lanes - ONE
            rest = ~u[LEFT + lane]
            while rest != ZERO:
                at = _pattern_at(patterns, head, np.uint64(64 * lane + ctz(rest)), size)
                rest &= rest - ONE
                meta = patterns[at]
                if sets:
                    if (meta & least) != ZERO and ((meta >> UPPER_AT) & most) != ZERO:
                        continue
                elif (meta & NO_BOUND) < least and ((meta >> UPPER_AT) & NO_BOUND) >= most:
                    continue
                wrong = ZERO
                count = np.int64(0)
                for n in range(words):
                    mask = patterns[at + np.uint64(1 + 2 * n)]
                    count += popcount(mask)
                    wrong |= (patterns[at + np.uint64(2 + 2 * n)] ^ u[at_words + n]) & mask
                if marked:
                    wrong |= patterns[at + size - ONE] & ~special
                if wrong == ZERO and count < fewest:
                    best, fewest = at, count
        if best != ZERO:
            u[HIT] = patterns[best]
            if patterns[best] & SERVED == ZERO:
                patterns[best] |= SERVED
            u[HIT + 1] = patterns[best + size - ONE] if marked else ZERO
            for n in range(words):
                u[HIT + 2 + n] = patterns[best + np.uint64(1 + 2 * n)]
            return True
    return False


@njit
def _new_slab(patterns: Any, used: Any, next_slab: I64) -> I64:
    slab = take_new(used, np.int64(1))
    index = take_new(used, np.int64(INDEX // BLOCK))
    for n in range(INDEX):
        patterns[BLOCK * index + n] = ZERO
    patterns[BLOCK * slab] = np.uint64(next_slab) << NEXT_AT
    patterns[BLOCK * slab + 1] = np.uint64(index)
    return slab


@njit
def begin_slab(patterns: Any, used: Any, source: Any, size: I64, words: I64, count: I64) -> I64:
    """Return the first slab of a shape, empty; ``count`` patterns in ``source``, one after the other, choose the comparisons."""
    ones = np.zeros(64 * words, np.int64)
    zeros = np.zeros(64 * words, np.int64)
    for k in range(count):
        for n in range(words):
            rest, values = source[k * size + 1 + 2 * n], source[k * size + 2 + 2 * n]
            while rest != ZERO:
                pair = ctz(rest)
                rest &= rest - ONE
                if (values >> np.uint64(pair)) & ONE != ZERO:
                    ones[64 * n + pair] += 1
                else:
                    zeros[64 * n + pair] += 1
    slab = _new_slab(patterns, used, np.int64(0))
    for n in range(_MASKS):
        patterns[BLOCK * slab + 2 + n] = ZERO
    for _ in range(_COMPARISONS):
        best = 0
        most = -1
        for pair in range(64 * words):
            # what many want one way and many the other parts them best
            parts = min(ones[pair], zeros[pair]) * 1024 + max(ones[pair], zeros[pair])
            if parts > most:
                best, most = pair, parts
        ones[best] = zeros[best] = -1
        patterns[BLOCK * slab + 2 + (best >> 6)] |= ONE << np.uint64(best & 63)
    return slab


@njit
def _enter(u: Any, patterns: Any, head: U64, place: I64, at: U64, words: I64) -> None:
    """Enter a pattern of a slab, which stands at ``at``, into the index."""
    for n in range(words):
        u[LEFT + n] = patterns[at + np.uint64(1 + 2 * n)]
        u[LEFT + 4 + n] = patterns[at + np.uint64(2 + 2 * n)]
    rest = _signature(u, patterns, head, words, np.int64(LEFT))
    values = _signature(u, patterns, head, words, np.int64(LEFT + 4))
    index = BLOCK * np.int64(patterns[head + ONE]) + (place >> 6)
    while rest != ZERO:
        n = ctz(rest)
        rest &= rest - ONE
        # among those that do not fit where it comes out otherwise
        row = index + 2 * _LANES * n + _LANES * np.int64(((values >> np.uint64(n)) & ONE) ^ ONE)
        patterns[row] |= ONE << np.uint64(place & 63)


@njit
def add_to_slab(u: Any, patterns: Any, used: Any, slab: I64, source: Any, start: I64, size: I64, words: I64) -> I64:
    """Write a pattern, which stands at ``source[start]`` and on, into the first slab of a shape; return the first slab."""
    place = np.int64(patterns[BLOCK * slab] & COUNT)
    if place == SLAB:
        new = _new_slab(patterns, used, slab)
        for n in range(_MASKS):
            patterns[BLOCK * new + 2 + n] = patterns[BLOCK * slab + 2 + n]
        slab = new
        place = np.int64(0)
    if place & (CHUNK - 1) == 0:
        patterns[BLOCK * slab + 5 + (place >> 6)] = np.uint64(take_new(used, 2 * size))
    head = np.uint64(BLOCK * slab)
    at = _pattern_at(patterns, head, np.uint64(place), np.uint64(size))
    for n in range(size):
        patterns[at + np.uint64(n)] = source[start + n]
    _enter(u, patterns, head, place, at, words)
    patterns[head] += ONE
    used[USED] += size
    return slab


@njit
def pattern_in_slab(patterns: Any, slab: I64, place: I64, size: I64) -> I64:
    """Return where a pattern of a slab begins."""
    return np.int64(_pattern_at(patterns, np.uint64(BLOCK * slab), np.uint64(place), np.uint64(size)))
