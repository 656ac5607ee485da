"""The one place that calls numba.

Why a wrapper: numba's file cache stamps a kernel with the file it stands in, so a changed constant or callee in *another*
file is served stale.  Here the cache directory carries a fingerprint of every simcore source a kernel can depend on, of
Python, numba, numpy and the CPU, so a change anywhere below the batch floor starts a fresh cache.  Kernels of the searching players
stand above all others and have a cache of their own, so that work on them makes nothing else compile anew.

Environment:
    SIMCORE_CACHE_DIR   where compiled kernels are kept (default: NUMBA_CACHE_DIR, else the user's cache directory)
    SIMCORE_PORTABLE    "1": do not use BMI2 instructions even where the CPU has them; "0": use them even where they are slow
                        (results are the same)
    NUMBA_DISABLE_JIT   "1": run every kernel as plain Python (slow; the tests compare both)
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config
from numba.core.event import TimingListener, install_listener
from numba.core.registry import CPUDispatcher

__all__ = [
    "FAST_PDEP",
    "HAS_BMI2",
    "I64",
    "JIT",
    "U64",
    "WIDE_VECTORS",
    "cache_directory",
    "cache_is_cold",
    "compiler_watched",
    "cpu_name",
    "fingerprint",
    "inlined",
    "njit",
]

# numba sets its options as attributes at run time, and not all that njit takes are declared
_numba: Any = config
_njit: Any = numba.njit

F = TypeVar("F", bound=Callable[..., Any])

# Types of kernel arguments.  numba's scalars are plain ints, numpy scalars or machine words, depending on who calls: for mypy they
# are Any, for the reader they say which machine type a kernel is compiled for.
U64: TypeAlias = Any
I64: TypeAlias = Any

#: False under NUMBA_DISABLE_JIT=1: kernels are then the plain Python functions.
JIT: bool = not _numba.DISABLE_JIT

# Folders and files above the kernels: import-linter keeps kernels from importing them, so they cannot make machine code stale.
_ABOVE_KERNELS = ("batches", "choosing", "contests", "designing", "reports", "rulesets", "sampling", "searchers", "selfcheck")
_FILES_ABOVE = ("__init__.py", "plugins.py", "specs.py")
#: The folder above the kernels that has kernels of its own.
_LAYER = "sampling"


def _spare_scipy() -> None:
    """Keep numba from importing ``scipy.linalg`` before its first kernel, half a second just to see that it is there.

    numba looks again wherever linear algebra is compiled, so a player's kernel that multiplies matrices still works.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    look = getattr(linalg, "ensure_blas", None)
    if look is None or "numba.np.arraymath" in sys.modules:
        return

    def see() -> None:
        if importlib.util.find_spec("scipy") is None:
            raise ImportError("scipy is required for linear algebra")

    linalg.ensure_blas = see
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look


if JIT:
    _spare_scipy()


def _cpu_features() -> dict[str, bool]:
    try:
        return dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM cannot tell on some platforms: assume nothing
        return {}


def cpu_name() -> str:
    """Name the CPU as LLVM sees it (part of the cache fingerprint and of benchmark reports)."""
    return str(llvm.get_host_cpu_name())


# CPUs that have pdep but run it in microcode, a few cycles for every bit of the mask (Agner Fog, "Instruction tables").
_SLOW_PDEP = ("bdver4", "znver1", "znver2")

#: True where the instructions pext and pdep are used.
HAS_BMI2: bool = (
    platform.machine().lower() in ("x86_64", "amd64")
    and _cpu_features().get("bmi2", False)
    and os.environ.get("SIMCORE_PORTABLE", "") != "1"
)
#: True where pdep selects the n-th set bit: it takes a few cycles there.
FAST_PDEP: bool = HAS_BMI2 and (cpu_name() not in _SLOW_PDEP or os.environ.get("SIMCORE_PORTABLE", "") == "0")
#: True where vectors of 256 bits and more gain over one deal at a time; with 128 bits, which is what the CPU named has, they lose.
WIDE_VECTORS: bool = _cpu_features().get("avx2", False) and cpu_name() != "znver1"


@cache
def fingerprint(layer: str = "") -> str:
    """Return 16 hex digits that change whenever compiled kernels could differ; ``layer``: those of this folder too."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        if relative.parts[0] not in (*_ABOVE_KERNELS, *_FILES_ABOVE) or relative.parts[0] == layer:
            digest.update(str(relative).encode() + b"\0" + path.read_bytes() + b"\0")
    features = ",".join(sorted(name for name, on in _cpu_features().items() if on))
    for part in (sys.version, numba.__version__, np.__version__, cpu_name(), features, str(HAS_BMI2), str(FAST_PDEP)):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


def _candidate_bases() -> list[Path]:
    for variable in ("SIMCORE_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            return [Path(os.environ[variable])]
    bases: list[Path] = []
    if os.environ.get("XDG_CACHE_HOME"):
        bases.append(Path(os.environ["XDG_CACHE_HOME"]) / "simcore")
    elif os.environ.get("HOME"):
        bases.append(Path(os.environ["HOME"]) / ".cache" / "simcore")
    return [*bases, Path(tempfile.gettempdir()) / f"simcore-cache-{getattr(os, 'getuid', lambda: 0)()}"]


@cache
def cache_directory(layer: str = "") -> Path | None:
    """Return the writable directory compiled kernels (of a layer) are kept in, or None where there is none."""
    for base in _candidate_bases():
        path = base / fingerprint(layer)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            owner = path.stat().st_uid
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError:
            continue
        # A cache is machine code: never run one that somebody else could have written (shared temporary folders).
        if not hasattr(os, "getuid") or owner == os.getuid():
            return path
    return None


def cache_is_cold(module: str = "") -> bool:
    """Tell whether no kernel (of a module, if named) is in the cache yet, so that the first run has to compile."""
    path = cache_directory()
    return JIT and (path is None or next(path.rglob(f"{module}*.nbc"), None) is None)


@contextmanager
def compiler_watched() -> Iterator[Callable[[], float]]:
    """Give a function that tells for how many seconds kernels have been compiled since; in this process, by the clock."""
    listener: Any = TimingListener()  # type: ignore[no-untyped-call]
    with install_listener("numba:compile", listener):
        yield lambda: listener.duration if listener.done else 0.0


def njit(function: F) -> F:
    """Compile a kernel: nogil, cached under :func:`cache_directory`, integer wrap-around."""
    return _compile(function)


def inlined(function: F) -> F:
    """Compile a small kernel that every caller takes in whole, however LLVM judges it.

    For innermost loops, where a call costs more than what is called: arguments through memory, reference counts of arrays.
    Compiled without what Python needs to call it, which takes half the time; Python calls another kernel, compiled if need be.
    """
    compiled = _compile(function, inline=True)
    if JIT:
        compiled.__class__ = _Inlined  # type: ignore[assignment]
    return compiled


class _Inlined(CPUDispatcher):
    """A kernel that Python calls by its twin: machine code without an entry for Python would crash."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _callable(self.py_func)(*arguments, **named)


@cache
def _callable(function: F) -> F:
    """Compile what stands in other kernels once more, for calls from Python."""
    return _compile(function, apart="called")


def _compile(function: F, *, inline: bool = False, apart: str = "") -> F:
    if not JIT:
        # Kernels wrap modulo 2**64 on purpose; numpy scalars would warn where machine code does not (and per thread).
        return np.errstate(over="ignore")(function)
    directory = cache_directory(_LAYER if f".{_LAYER}." in function.__module__ else "")
    saved = _numba.CACHE_DIR
    _numba.CACHE_DIR = str(directory / apart) if directory else saved
    try:
        compiled = _njit(
            function,
            nogil=True,
            cache=directory is not None,
            error_model="numpy",
            forceinline=inline,
            no_cpython_wrapper=inline,
            # for calls by pointer: players' functions, which are compiled elsewhere (pointers.py)
            no_cfunc_wrapper=True,
        )
    finally:
        _numba.CACHE_DIR = saved
    return compiled  # type: ignore[no-any-return]
