"""Bit primitives on uint64, each an LLVM instruction with a plain-Python twin.

numba turns ``uint64`` next to a bare literal into a signed or floating number, so every constant here and in the kernels is a
module-level ``np.uint64`` and counts come back as int64.

``nth_set_bit`` is ``pdep(1 << n, x)`` where the CPU has BMI2 and a binary search over popcounts elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from simcore._jit import HAS_BMI2, I64, JIT, U64, njit

__all__ = ["ONE", "ZERO", "clz", "ctz", "highest_bit", "lowest_bit", "mulhi", "nth_set_bit", "popcount"]

ZERO = np.uint64(0)
ONE = np.uint64(1)
_M32 = np.uint64(0xFFFFFFFF)
_TOP = np.uint64(1 << 63)

if TYPE_CHECKING:

    def popcount(x: U64) -> I64: ...
    def ctz(x: U64) -> I64: ...
    def clz(x: U64) -> I64: ...
    def mulhi(x: U64, y: U64) -> U64: ...
    def _pdep(source: U64, mask: U64) -> U64: ...

elif JIT:

    @intrinsic
    def popcount(typingctx: Any, x: Any) -> Any:
        """Return the number of set bits of a uint64, as int64."""
        return types.int64(types.uint64), lambda ctx, b, sig, args: b.ctpop(args[0])

    @intrinsic
    def ctz(typingctx: Any, x: Any) -> Any:
        """Return the number of trailing zeros of a uint64 as int64; 64 for zero."""
        return types.int64(types.uint64), lambda ctx, b, sig, args: b.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    @intrinsic
    def clz(typingctx: Any, x: Any) -> Any:
        """Return the number of leading zeros of a uint64 as int64; 64 for zero."""
        return types.int64(types.uint64), lambda ctx, b, sig, args: b.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    @intrinsic
    def mulhi(typingctx: Any, x: Any, y: Any) -> Any:
        """Return the upper 64 bits of the 128-bit product of two uint64."""

        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = b.mul(b.zext(args[0], wide), b.zext(args[1], wide))
            return b.trunc(b.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), codegen

    @intrinsic
    def _pdep(typingctx: Any, source: Any, mask: Any) -> Any:
        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word, word])
            return b.call(b.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind), args)

        return types.uint64(types.uint64, types.uint64), codegen

else:

    def popcount(x: np.uint64) -> np.int64:
        return np.int64(int(x).bit_count())

    def ctz(x: np.uint64) -> np.int64:
        value = int(x)
        return np.int64((value & -value).bit_length() - 1 if value else 64)

    def clz(x: np.uint64) -> np.int64:
        return np.int64(64 - int(x).bit_length())

    def mulhi(x: np.uint64, y: np.uint64) -> np.uint64:
        return np.uint64((int(x) * int(y)) >> 64)


@njit
def lowest_bit(x: U64) -> U64:
    """Return the lowest set bit of x as a mask (zero for zero)."""
    return x & (ZERO - x)


@njit
def highest_bit(x: U64) -> U64:
    """Return the highest set bit of x as a mask; x must not be zero."""
    return _TOP >> np.uint64(clz(x))


@njit
def _select_portable(x: U64, n: I64) -> U64:
    """Return the n-th set bit by halving the word, popcount by popcount (Vigna's broadword select, without tables)."""
    rest = n
    shift = np.int64(0)
    width = np.int64(32)
    while width > 0:
        low = (x >> np.uint64(shift)) & ((ONE << np.uint64(width)) - ONE)
        count = popcount(low)
        if rest >= count:
            rest -= count
            shift += width
        width >>= 1
    return ONE << np.uint64(shift)


if JIT and HAS_BMI2:

    @njit
    def nth_set_bit(x: U64, n: I64) -> U64:
        """Return the n-th lowest set bit of x (n from 0) as a mask; n must be below popcount(x)."""
        return _pdep(ONE << np.uint64(n), x)

else:
    nth_set_bit = _select_portable
