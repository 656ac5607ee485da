"""Bits of the four-hand solver: gathering and spreading live cards, lanes, top cards.

The solver looks at positions through *live* cards: ``gather(x, live)`` closes the gaps that dead cards leave, so positions that
differ only in dead cards become one, and ``spread`` is the way back.  Both are one instruction where the CPU has BMI2 (the
environment variable of ``simcore._jit`` turns that off) and a loop elsewhere, with the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from simcore._jit import HAS_BMI2, I64, JIT, U64, njit
from simcore.bits import ONE, ZERO, ctz, popcount

__all__ = ["LANE_MASK", "downward", "gather", "lane_of", "lanes_held", "prefetch", "spread", "suit_tops", "upward"]

LANE_MASK = np.uint64(0x1FFF)
_LANE_START = np.uint64(48)
_BELOW1, _BELOW2 = np.uint64(0x7FFF7FFF7FFF7FFF), np.uint64(0x3FFF3FFF3FFF3FFF)
_BELOW4, _BELOW8 = np.uint64(0x0FFF0FFF0FFF0FFF), np.uint64(0x00FF00FF00FF00FF)
_LANES_FULL = np.uint64(0x7FFF7FFF7FFF7FFF)
_GUARD = np.uint64(0x8000800080008000)

if TYPE_CHECKING:

    def gather(value: U64, mask: U64) -> U64: ...
    def spread(value: U64, mask: U64) -> U64: ...

elif JIT and HAS_BMI2:

    def _instruction(name: str) -> Any:
        def make(typingctx: Any, value: Any, mask: Any) -> Any:
            def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
                word = ir.IntType(64)
                kind = ir.FunctionType(word, [word, word])
                return builder.call(builder.module.declare_intrinsic(name, (), kind), args)

            return types.uint64(types.uint64, types.uint64), codegen

        return make

    gather = intrinsic(_instruction("llvm.x86.bmi.pext.64"))
    spread = intrinsic(_instruction("llvm.x86.bmi.pdep.64"))

else:

    @njit
    def gather(value: U64, mask: U64) -> U64:
        """Return the bits of ``value`` that lie in ``mask``, moved together at the low end."""
        result = ZERO
        place = ONE
        rest = mask
        while rest != ZERO:
            lowest = rest & (ZERO - rest)
            if value & lowest != ZERO:
                result |= place
            place = place << ONE
            rest ^= lowest
        return result

    @njit
    def spread(value: U64, mask: U64) -> U64:
        """Return the low bits of ``value`` moved to the places of the bits of ``mask``."""
        result = ZERO
        place = ONE
        rest = mask
        while rest != ZERO:
            lowest = rest & (ZERO - rest)
            if value & place != ZERO:
                result |= lowest
            place = place << ONE
            rest ^= lowest
        return result


if TYPE_CHECKING:

    def prefetch(array: Any, at: I64) -> None: ...

elif JIT:

    @intrinsic
    def prefetch(typingctx: Any, array: Any, at: Any) -> Any:
        """Ask for the cache line of an element, or of the start of a row, soon to be read."""

        def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
            view = ctx.make_array(array)(ctx, builder, value=args[0])
            offset = args[1]
            if array.ndim == 2:
                offset = builder.mul(offset, builder.extract_value(view.shape, 1))
            data = view.data
            byte, word = ir.IntType(8), ir.IntType(32)
            place = builder.bitcast(builder.gep(data, [offset]), byte.as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word])
            function = builder.module.declare_intrinsic("llvm.prefetch", (byte.as_pointer(),), kind)
            builder.call(function, [place, word(0), word(3), word(1)])
            return ctx.get_dummy_value()

        return types.void(array, types.int64), codegen

else:

    def prefetch(array: Any, at: I64) -> None:
        pass


@njit
def lane_of(bit: U64) -> U64:
    """Return the mask of the whole suit of a card given as a one-bit mask."""
    return LANE_MASK << (np.uint64(ctz(bit)) & _LANE_START)


@njit
def upward(cards: U64) -> U64:
    """Return, suit by suit, every place at or above the lowest of ``cards`` (three spare bits of a lane may be set)."""
    # The guard keeps the borrow of a lane inside it: 0x8000 - x has the lowest set bit of x and the complement above it.
    return (_GUARD - cards) | cards


@njit
def downward(cards: U64) -> U64:
    """Return, suit by suit, every place at or below the highest of ``cards``."""
    x = cards | ((cards >> ONE) & _BELOW1)
    x |= (x >> np.uint64(2)) & _BELOW2
    x |= (x >> np.uint64(4)) & _BELOW4
    return x | ((x >> np.uint64(8)) & _BELOW8)


@njit
def lanes_held(cards: U64) -> U64:
    """Return the whole lanes of the suits in which there is a card."""
    return (((cards + _LANES_FULL) & _GUARD) >> np.uint64(15)) * np.uint64(0xFFFF)


@njit
def suit_tops(live: U64) -> U64:
    """Return the places, among gathered cards, of the highest live card of each suit."""
    count = popcount(live & np.uint64(0x1FFF))
    tops = (ONE << np.uint64(count)) >> ONE
    count += popcount(live & np.uint64(0x1FFF0000))
    tops |= (ONE << np.uint64(count)) >> ONE
    count += popcount(live & np.uint64(0x1FFF00000000))
    tops |= (ONE << np.uint64(count)) >> ONE
    count += popcount(live & np.uint64(0x1FFF000000000000))
    return tops | (ONE << np.uint64(count)) >> ONE
