"""Bit primitives on uint64, each an LLVM instruction with a plain-Python twin.

numba turns ``uint64`` next to a bare literal into a signed or floating number, so every constant here and in the kernels is a
module-level ``np.uint64`` and counts come back as int64.

``nth_set_bit`` is ``pdep(1 << n, x)`` where that is fast and a binary search over popcounts elsewhere.  ``nth_card`` does the same
for masks of cards (13 bits in each 16): elsewhere popcounts tell the suit and a table of 64 kB the rank.

``borrowed``, which spares arrays their reference counts, stands here because it is made of the same stuff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from simcore._jit import FAST_PDEP, I64, JIT, U64, inlined, njit

__all__ = [
    "ONE",
    "ZERO",
    "borrowed",
    "clz",
    "ctz",
    "either",
    "gather_suit",
    "highest_bit",
    "lowest_bit",
    "nth_card",
    "nth_set_bit",
    "popcount",
    "product",
]

ZERO = np.uint64(0)
ONE = np.uint64(1)
_M32 = np.uint64(0xFFFFFFFF)
_TOP = np.uint64(1 << 63)
_TWO = np.uint64(2)
_FOUR = np.uint64(4)
_SEVEN = np.uint64(7)
_FIFTEEN = np.uint64(15)
_SIXTEEN = np.uint64(16)
_M16 = np.uint64(0xFFFF)
_LANE = np.uint64(0x1FFF)
_SEVEN_BITS = np.uint64(0x7F)

if TYPE_CHECKING:

    def popcount(x: U64) -> I64: ...
    def ctz(x: U64) -> I64: ...
    def clz(x: U64) -> I64: ...
    def product(x: U64, y: U64) -> tuple[U64, U64]: ...
    def either(condition: bool, x: Any, y: Any) -> Any: ...
    def borrowed(array: Any) -> Any: ...
    def _pdep(source: U64, mask: U64) -> U64: ...
    def _pext(source: U64, mask: U64) -> U64: ...

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
    def product(typingctx: Any, x: Any, y: Any) -> Any:
        """Return the 128-bit product of two uint64 as (upper, lower) half: one instruction for both."""

        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            whole = b.mul(b.zext(args[0], wide), b.zext(args[1], wide))
            halves = [b.trunc(part, ir.IntType(64)) for part in (b.lshr(whole, ir.Constant(wide, 64)), whole)]
            return ctx.make_tuple(b, sig.return_type, halves)

        return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), codegen

    @intrinsic
    def either(typingctx: Any, condition: Any, x: Any, y: Any) -> Any:
        """Return x if the condition holds, else y, two integers of a kind: never a branch, so that loops can be vectorised."""
        kind = types.uint64 if types.uint64 in (x, y) else types.int64
        return kind(types.boolean, kind, kind), lambda ctx, b, sig, args: b.select(*args)

    @intrinsic
    def borrowed(typingctx: Any, array: Any) -> Any:
        """Return an array that is not counted as a reference: numba counts, by locked instructions, each time one is passed on.

        Whoever calls the kernel holds the array as long as it runs.
        """

        def codegen(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
            view = ctx.make_array(array)(ctx, builder, value=args[0])
            view.meminfo = ir.Constant(view.meminfo.type, None)
            view.parent = ir.Constant(view.parent.type, None)
            return view._getvalue()

        return array(array), codegen

    @intrinsic
    def _pdep(typingctx: Any, source: Any, mask: Any) -> Any:
        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word, word])
            return b.call(b.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind), args)

        return types.uint64(types.uint64, types.uint64), codegen

    @intrinsic
    def _pext(typingctx: Any, source: Any, mask: Any) -> Any:
        def codegen(ctx: Any, b: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word, word])
            return b.call(b.module.declare_intrinsic("llvm.x86.bmi.pext.64", (), kind), args)

        return types.uint64(types.uint64, types.uint64), codegen

else:

    def popcount(x: np.uint64) -> np.int64:
        return np.int64(int(x).bit_count())

    def ctz(x: np.uint64) -> np.int64:
        value = int(x)
        return np.int64((value & -value).bit_length() - 1 if value else 64)

    def clz(x: np.uint64) -> np.int64:
        return np.int64(64 - int(x).bit_length())

    def either(condition: bool, x: Any, y: Any) -> Any:
        return x if condition else y

    def borrowed(array: Any) -> Any:
        return array

    def product(x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
        whole = int(x) * int(y)
        return np.uint64(whole >> 64), np.uint64(whole & 0xFFFFFFFFFFFFFFFF)


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


def _places() -> np.ndarray:
    """Return for each holding of a suit (13 bits) the places of its cards, lowest first, four bits each: uint64[8192]."""
    holdings = np.arange(1 << 13, dtype=np.uint64)
    places = np.zeros_like(holdings)
    for rank in range(12, -1, -1):
        held = (holdings >> np.uint64(rank)) & ONE == ONE
        places = np.where(held, (places << _FOUR) | np.uint64(rank), places)
    return places


_PLACES = _places()


@inlined
def _card_portable(x: U64, n: I64) -> U64:
    """Return the n-th card of a mask without a branch: which suit it is in is a toss-up that no branch predictor knows."""
    suit = np.uint64(n >= popcount(x & _M16))
    suit += np.uint64(n >= popcount(x & _M32))
    suit += np.uint64(n >= popcount(x << _SIXTEEN))
    shift = suit << _FOUR
    rank_in_suit = n - popcount(x & ((ONE << shift) - ONE))
    rank = (_PLACES[(x >> shift) & _LANE] >> (np.uint64(rank_in_suit) << _TWO)) & _FIFTEEN
    return (ONE << shift) << rank


def _gathered() -> np.ndarray:
    """Return for each mask and value of 7 bits the bits of the value in the mask, moved together: uint8[128 * mask + value]."""
    mask, value = np.divmod(np.arange(1 << 14), 128)
    gathered = np.zeros_like(mask)
    for place in range(6, -1, -1):
        held = mask >> place & 1 == 1
        gathered = np.where(held, (gathered << 1) | (value >> place & 1), gathered)
    return gathered.astype(np.uint8)


_GATHERED = _gathered()


@inlined
def _gather_portable(cards: U64, mask: U64) -> U64:
    """Return those of 14 bits that lie in a mask, moved together at the low end: two halves out of a table."""
    low = mask & _SEVEN_BITS
    upper = np.uint64(_GATHERED[(mask & ~_SEVEN_BITS) | (cards >> _SEVEN)])
    return np.uint64(_GATHERED[(low << _SEVEN) | (cards & _SEVEN_BITS)]) | upper << np.uint64(popcount(low))


if JIT and FAST_PDEP:

    @njit
    def nth_set_bit(x: U64, n: I64) -> U64:
        """Return the n-th lowest set bit of x (n from 0) as a mask; n must be below popcount(x)."""
        return _pdep(ONE << np.uint64(n), x)

    nth_card = nth_set_bit
    gather_suit: Any = _pext

else:
    nth_set_bit = _select_portable
    nth_card = _card_portable
    gather_suit = _gather_portable
