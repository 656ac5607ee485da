"""Players outside the compiled kernels, called through function pointers.

A policy number above :data:`~simcore.players.EXTERNAL` is the address of a C function

    uint64 decide(void *view, void *rules, void *stream, void *table)

that returns a one-bit mask out of ``view.legal``.  An address is data, so kernels that call one stay cacheable; the call costs
nanoseconds.  ``compiled_pointer`` makes such a function out of an ``@njit`` function, ``python_pointer`` out of a Python callable.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simcore._jit import I64, JIT, U64, njit
from simcore.bits import ONE, ZERO

__all__ = ["ask_player", "call_player", "compiled_pointer", "many_pointer", "python_pointer", "record_at"]

# numba's types are not declared
_numba: Any = numba
_types: Any = types

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_void_p] * 4)

if TYPE_CHECKING:

    def call_player(address: I64, view: Any, rules: Any, stream: Any, table: Any) -> U64: ...

elif JIT:

    @intrinsic
    def call_player(typingctx: Any, address: Any, view: Any, rules: Any, stream: Any, table: Any) -> Any:
        """Call the function at an address with the addresses of four records."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = ir.IntType(8).as_pointer()
            function = ir.FunctionType(ir.IntType(64), [pointer] * 4).as_pointer()
            records = [builder.bitcast(record, pointer) for record in args[1:]]
            return builder.call(builder.inttoptr(args[0], function), records)

        return types.uint64(address, view, rules, stream, table), codegen

else:

    def call_player(address: Any, view: Any, rules: Any, stream: Any, table: Any) -> Any:
        """Call the function at an address with the addresses of four records."""
        records = (view, rules, stream, table)
        return np.uint64(_PROTOTYPE(int(address))(*(record.__array_interface__["data"][0] for record in records)))


@njit
def ask_player(policy: I64, legal: U64, view: Any, rules: Any, stream: Any, table: Any) -> U64:
    """Ask the player at an address; returns its action, or zero if that is not one of the legal ones.

    ``table.asked`` and ``table.asking`` tell a watching thread that a player is being waited for.
    """
    table.asked += 1
    table.asking = 1
    action = call_player(policy, view, rules, stream, table)
    table.asking = 0
    table.refused = action
    return action if action & legal == action and action & (action - ONE) == ZERO else ZERO


def compiled_pointer(function: Any, view: np.dtype[Any], rules: np.dtype[Any], stream: np.dtype[Any]) -> tuple[int, Any]:
    """Compile an ``@njit`` function of (view, rules, stream) to a C function; returns its address and what keeps it alive.

    If the function raises, the C function returns zero, which is never a legal action.

    Raises:
        numba.core.errors.NumbaError: the function cannot be compiled for these records.
        TypeError: it returns no integer.
    """
    pointers = [_types.CPointer(numba.from_dtype(dtype)) for dtype in (view, rules, stream)]

    @_numba.cfunc(_types.uint64(*pointers, _types.voidptr))  # type: ignore[untyped-decorator]
    def decide(view: Any, rules: Any, stream: Any, table: Any) -> Any:
        try:
            return np.uint64(function(_numba.carray(view, 1)[0], _numba.carray(rules, 1)[0], _numba.carray(stream, 1)[0]))
        except Exception:
            return np.uint64(0)

    result = next(iter(function.overloads.values())).signature.return_type
    if not isinstance(result, types.Integer):
        raise TypeError(f"it returns {result}, not an integer")
    address: int = decide.address
    return address, decide


def many_pointer(function: Any, views: np.dtype[Any], rules: np.dtype[Any]) -> tuple[int, Any]:
    """Compile an ``@njit`` function of (views, rules), which answers in the views, likewise; the C function returns one."""
    pointers = [_types.CPointer(numba.from_dtype(dtype)) for dtype in (views, rules)]

    @_numba.cfunc(_types.uint64(*pointers, _types.voidptr, _types.voidptr))  # type: ignore[untyped-decorator]
    def decide(views: Any, rules: Any, _stream: Any, _table: Any) -> Any:
        try:
            function(_numba.carray(views, 1)[0], _numba.carray(rules, 1)[0])
        except Exception:
            return np.uint64(0)
        return np.uint64(1)

    address: int = decide.address
    return address, decide


@lru_cache(1024)
def record_at(address: int, dtype: np.dtype[Any], writeable: bool) -> Any:
    """Return the record at an address, without copying; it must not be used longer than what lies there lives."""
    memory: Any = (ctypes.c_char * dtype.itemsize).from_address(address)
    array: Any = np.frombuffer(memory, dtype)
    array.flags.writeable = writeable
    return array.view(np.recarray)[0]


def python_pointer(function: Callable[[int, int, int, int], int]) -> tuple[int, Any]:
    """Turn a Python callable of four addresses into a C function; returns its address and what keeps it alive.

    The callable must not raise.  It takes the GIL whenever it is called.
    """
    callback = _PROTOTYPE(function)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0, callback
