"""Players from a user's Python file: ``FILE.py:NAME`` as SPEC.

The file holds a function of (view, rules, stream) per decision: ``NAME_call``, ``NAME_contract``, ``NAME_play`` for Elections,
``NAME_first``, ``NAME_trump``, ``NAME_second`` for Showcase.  ``@njit`` functions are called by pointer from the kernels, or with
``specialise=1`` compiled into them; plain Python functions are called too, thousands of times slower.  A plug-in is code, and runs
as such.  docs/plugins.md describes what it gets and must return.
"""

from __future__ import annotations

import hashlib
import importlib.util
import operator
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError
from numba.extending import is_jitted

from simcore import pointers
from simcore._jit import JIT
from simcore.cards import FULL, SEATS, format_cards
from simcore.errors import BadInput, PlayerError, PlayerStuck
from simcore.players import DECISIONS, SPECIALISED
from simcore.rng import STREAM
from simcore.rules import ELECTIONS_RULES, SHOWCASE_RULES

__all__ = ["DEFAULT_LIMIT", "Decision", "ask", "failure", "load_decisions", "python_decision", "specialise", "stuck"]

#: Seconds a plug-in may take for one decision.
DEFAULT_LIMIT = 10.0
_LONGEST_LIMIT = 86_400.0
_OPTIONS = {"specialise": "1: compile the functions into the kernels", "limit": "seconds a decision may take, 10"}


@dataclass(frozen=True)
class Decision:
    """One kind of decision of a player that is no kernel of ours."""

    player: str
    kind: str
    function: Any
    address: int
    compiled: bool
    peeks: bool = False  # it is given the table: it sees every hand
    limit: float | None = None  # seconds
    specialise: bool = False
    sha256: str = ""  # of the file
    clocked: bool = False  # how long it thinks is told by the clock: the run is not reproducible
    many: Any = field(default=None, compare=False)  # (views, rules): chooses cards in many deals at once
    many_address: int | None = None
    value: Callable[..., Any] | None = field(default=None, compare=False)  # (view, rules, stream): what it thinks of each choice
    #: by thread: how many decisions it made, and seconds it took for them; plain Python only, without those begun before the first
    #: was made, which may have to load and compile
    spent: dict[int, tuple[int, float]] = field(default_factory=dict, compare=False, repr=False)
    errors: dict[int, BaseException] = field(default_factory=dict, compare=False)  # what it raised, by thread
    keep: Any = field(default=None, compare=False, repr=False)  # keeps the code at the address alive


def _records(game: str) -> tuple[Any, Any, Any, Any]:
    """Return the dtypes of a game's records: view, rules, stream, table."""
    if game == "elections":
        from simcore.elections.state import TABLE, VIEW

        return VIEW, ELECTIONS_RULES, STREAM, TABLE
    from simcore.showcase import state

    return state.VIEW, SHOWCASE_RULES, STREAM, state.TABLE


def python_decision(
    player: str, game: str, kind: str, function: Callable[..., Any], *, peeks: bool = False, **facts: Any
) -> Decision:
    """Return a decision made by a Python function of (view, rules, stream), or with ``peeks`` of (view, rules, stream, table).

    The function gets read-only records, but for its stream.
    """
    view_type, rules_type, stream_type, table_type = _records(game)
    errors: dict[int, BaseException] = {}
    spent: dict[int, tuple[int, float]] = {}
    warm = threading.Event()

    def asked(view: int, rules: int, stream: int, table: int) -> int:
        timed = warm.is_set()
        start = time.perf_counter()
        try:
            seen = [
                pointers.record_at(view, view_type, False),
                pointers.record_at(rules, rules_type, False),
                pointers.record_at(stream, stream_type, True),
            ]
            if peeks:
                seen.append(pointers.record_at(table, table_type, False))
            action = operator.index(function(*seen))
            if not 0 <= action < 1 << 64:
                raise ValueError(f"returned {action}, which is no mask of 64 bits")
        except BaseException as error:  # must not pass through machine code; the kernel stops at the zero
            errors[threading.get_ident()] = error
            return 0
        if timed:
            thread = threading.get_ident()
            count, seconds = spent.get(thread, (0, 0.0))
            spent[thread] = (count + 1, seconds + time.perf_counter() - start)
        warm.set()
        return action

    address, keep = pointers.python_pointer(asked)
    return Decision(player, kind, function, address, compiled=False, peeks=peeks, errors=errors, spent=spent, keep=keep, **facts)


def _told(error: BaseException) -> str:
    """Return an exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]


@cache
def _load(path: str, sha256: str) -> types.ModuleType:
    """Run a plug-in's file, once for each content."""
    name = f"simcore_plugin_{sha256[:16]}"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = error.lineno if isinstance(error, SyntaxError) else None
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == path:
                line = trace.tb_lineno
            trace = trace.tb_next
        place = f"player file {path!r}" + (f", line {line}" if line else "")
        raise BadInput(f"{place}: {_told(error)}") from None
    return module


def _limit(text: str, spec: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= _LONGEST_LIMIT:
        raise BadInput(
            f"limit {text!r} of player {spec!r} is not accepted; accepted: seconds, more than 0, up to {_LONGEST_LIMIT:.0f}"
        )
    return seconds


def load_decisions(path: str, name: str, options: Mapping[str, str], game: str, file: Path | None = None) -> dict[str, Decision]:
    """Load the decisions of a player from a file.

    Args:
        path: as it stands in the SPEC.
        file: where it lies; by default at ``path``.

    Returns:
        Decision by kind of decision, at least one.

    Raises:
        BadInput: the file cannot be read or run, holds no function of that name, or an option is unknown.
    """
    spec = f"{path}:{name}"
    for key in options:
        if key not in _OPTIONS:
            raise BadInput(f"option {key!r} of player {spec!r} is unknown; accepted: {', '.join(_OPTIONS)}")
    if options.get("specialise", "0") not in ("0", "1"):
        raise BadInput(f"specialise {options['specialise']!r} of player {spec!r} is not accepted; accepted: 0, 1")
    specialised = options.get("specialise", "0") == "1"
    limit = _limit(options["limit"], spec) if "limit" in options else DEFAULT_LIMIT
    try:
        file = Path(path) if file is None else file
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"player file {path!r} cannot be read: {error.strerror}") from None
    module = _load(str(file.resolve()), sha256)
    found = {kind: getattr(module, f"{name}_{kind}", None) for kind in DECISIONS[game]}
    functions = {kind: function for kind, function in found.items() if callable(function)}
    if not functions:
        ends = tuple(f"_{kind}" for kind in DECISIONS[game])
        names = sorted({key[: key.rindex("_")] for key in vars(module) if key.endswith(ends) and not key.startswith("_")})
        wanted = ", ".join(f"{name}{end}" for end in ends)
        raise BadInput(
            f"player file {path!r} has none of the functions {wanted}; accepted: "
            + (f"one of the players it has: {', '.join(names)}" if names else "a function for at least one of these decisions")
        )
    decisions = {}
    for kind, function in functions.items():
        facts: dict[str, Any] = {"limit": limit, "sha256": sha256}
        if not (is_jitted(function) and JIT):
            if specialised:
                raise BadInput(f"specialise of player {spec!r} needs @njit functions; {name}_{kind} is plain Python")
            decisions[kind] = python_decision(spec, game, kind, getattr(function, "py_func", function), **facts)
            continue
        with _telling(path, f"{name}_{kind}(view, rules, stream)"):
            address, keep = _compiled(function, game)
        decisions[kind] = Decision(spec, kind, function, address, True, specialise=specialised, keep=keep, **facts)
    many = getattr(module, f"{name}_play_many", None) if game == "elections" and JIT else None
    if many is not None:
        if "play" not in decisions or not (is_jitted(many) and decisions["play"].compiled):
            raise BadInput(f"player file {path!r}: {name}_play_many needs {name}_play beside it, both @njit functions")
        with _telling(path, f"{name}_play_many(views, rules)"):
            address, keep = _compiled_many(many)
        keep = (decisions["play"].keep, keep)
        decisions["play"] = replace(decisions["play"], many=many, many_address=address, keep=keep)
    return decisions


@contextmanager
def _telling(path: str, function: str) -> Iterator[None]:
    """Raise BadInput where a function cannot be compiled."""
    try:
        yield
    except Exception as error:  # numba's typing raises many kinds, a KeyError for an unknown field
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        message = _told(error)
        if isinstance(error, NumbaError):  # the reason and the place stand below a heading
            message = " ".join([*lines[1:2], *(line for line in lines if line.startswith("File "))])
        raise BadInput(f"player file {path!r}: numba cannot compile {function}: {message[:400]}") from None


@cache
def _compiled(function: Any, game: str) -> tuple[int, Any]:
    """Return a function's pointer, compiled once for all seats."""
    return pointers.compiled_pointer(function, *_records(game)[:3])


@cache
def _compiled_many(function: Any) -> tuple[int, Any]:
    """Return the pointer of a function that plays many deals of Elections at once."""
    from simcore.elections.lanes import VIEWS

    return pointers.many_pointer(function, VIEWS, ELECTIONS_RULES)


def failure(
    game: str,
    decision: Decision,
    table: Any,
    view: Any,
    rules: Any,
    streams: Any,
    *,
    words: tuple[str, ...] = (),
    deal: str = "",
    views: Any = None,
) -> PlayerError:
    """Return the error for a deal that a player's action ended, out of the state it was left in.

    Args:
        words: what the bits of the action stand for, where they are no cards.
        deal: which deal it is, in words; by default its index.
        views: what the player was shown, where it played many deals at once.
    """
    error = decision.errors.pop(threading.get_ident(), None)
    stream = streams[table.turn]
    if error is None and decision.compiled and table.refused == 0:  # machine code keeps no exception: ask once more, from Python
        try:
            if views is None:
                decision.function(view, rules, stream)
            else:
                decision.many(views, rules)
        except Exception as raised:
            error = raised
    if error is None:
        action, legal = (_shown(decision.kind, int(mask), words) for mask in (table.refused, view.legal))
        did = f"returned {action}, which is not exactly one of the legal {legal}"
    else:
        did = str(error) if isinstance(error, PlayerError) else f"raised {_told(error)}"
    return PlayerError(f"player {decision.player!r} {did}: {where(game, decision.kind, table, view, stream, deal)}")


def _shown(kind: str, mask: int, words: tuple[str, ...]) -> str:
    """Return a set of actions in words, or as the mask it is where it holds something else."""
    if kind in ("call", "contract", "trump"):
        if mask == 0 or mask >> len(words):
            return f"{mask:#x}"
        return ", ".join(f"{word} ({1 << bit:#x})" for bit, word in enumerate(words) if mask >> bit & 1)
    return f"{mask:#x}" if mask == 0 or mask & ~int(FULL) else format_cards(mask)


def where(game: str, kind: str, table: Any, view: Any, stream: Any, deal: str = "") -> str:
    """Return which decision a table stands at, in words."""
    seat = (SEATS if game == "elections" else "NS")[table.turn]
    place = "" if kind in ("call", "contract", "trump") else f", trick {view.tricks_played + 1}, card {view.on_table + 1}"
    return f"{deal or f'deal {int(stream.index)}'}, seat {seat}, decision {kind!r}{place}"


def stuck(game: str, decision: Decision, table: Any, view: Any, stream: Any, deal: str = "") -> PlayerStuck:
    """Return the error for a player that has not answered within its limit."""
    place = where(game, decision.kind, table, view, stream, deal)
    return PlayerStuck(f"player {decision.player!r} has not answered for {decision.limit:g} s: {place}")


def ask(
    game: str, decision: Decision, table: Any, view: Any, rules: Any, streams: Any, *, words: tuple[str, ...] = (), deal: str = ""
) -> int:
    """Ask a player from Python for one decision, as checked as in a kernel; returns its action, a mask of one legal bit.

    The player gets copies: what it writes is lost, and its stream is left where it was.

    Raises:
        PlayerError: it raised, or returned anything but exactly one of the legal choices.
        PlayerStuck: it did not answer within its limit.
    """
    stream = streams[table.turn]
    arguments = [_frozen(view), _frozen(rules), stream.copy(), *([_frozen(table)] if decision.peeks else [])]
    pool = ThreadPoolExecutor(1)
    answer = pool.submit(lambda: operator.index(decision.function(*arguments)))
    pool.shutdown(wait=False)
    table.refused = 0
    try:
        action = answer.result(decision.limit)
        if not 0 <= action < 1 << 64:
            raise ValueError(f"returned {action}, which is no mask of 64 bits")
    except BaseException as error:
        if not answer.done():
            if isinstance(error, TimeoutError):
                raise stuck(game, decision, table, view, stream, deal) from None
            raise  # Ctrl-C
        decision.errors[threading.get_ident()] = error
        raise failure(game, decision, table, view, rules, streams, words=words, deal=deal) from None
    if action & int(view.legal) != action or action == 0 or action & (action - 1):
        table.refused = action
        raise failure(game, decision, table, view, rules, streams, words=words, deal=deal)
    return action


def _frozen(record: Any) -> Any:
    """Return a copy of a record that cannot be written."""
    copy: Any = np.zeros(1, record.dtype).view(np.recarray)
    copy[0] = record
    copy.flags.writeable = False
    return copy[0]


def specialise(kernel: Any, functions: tuple[Any, ...]) -> Any:
    """Return a copy of a row kernel with players' functions compiled in, as policy numbers SPECIALISED, SPECIALISED + 1 …

    Args:
        kernel: ``run_deals`` of a game.
        functions: ``@njit`` functions of (view, rules, stream).
    """
    call: Any = pointers.call_player
    for place, function in enumerate(functions):
        call = _linked(SPECIALISED + place, function, call)
    return _copied(kernel, call, {})


def _linked(number: int, function: Any, others: Any) -> Any:
    """Return a ``call_player`` that knows one policy number more."""

    @numba.njit(nogil=True, error_model="numpy")
    def call(policy: Any, view: Any, rules: Any, stream: Any, table: Any) -> Any:
        if policy == number:
            return numba.uint64(function(view, rules, stream))
        return others(policy, view, rules, stream, table)

    return call


def _copied(kernel: Any, call: Any, known: dict[Any, Any]) -> Any:
    """Return a kernel compiled anew with ``call`` as ``call_player``, wherever it is called from; itself, if it never is."""
    if kernel not in known:
        source = kernel.py_func
        replaced = {}
        for name in source.__code__.co_names:
            used = source.__globals__.get(name)
            if used is pointers.call_player:
                replaced[name] = call
            elif is_jitted(used) and (copy := _copied(used, call, known)) is not used:
                replaced[name] = copy
        known[kernel] = kernel
        if replaced:
            copy = types.FunctionType(
                source.__code__, source.__globals__ | replaced, source.__name__, source.__defaults__, source.__closure__
            )
            known[kernel] = numba.njit(copy, nogil=True, error_model="numpy")
    return known[kernel]
