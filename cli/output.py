"""Printing: tables of text, JSON, CSV, and progress on a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from simcore.errors import SimcoreError

if TYPE_CHECKING:
    from simcore.batches.config import Config

__all__ = [
    "colour_wanted",
    "interrupted",
    "note",
    "note_if_cold",
    "notes_before",
    "number",
    "progress_bar",
    "text_table",
    "to_csv",
    "to_json",
    "utf8",
]


def utf8(stream: Any = None) -> bool:
    """Tell whether standard output can show suit symbols."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        "♠♥♦♣".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def colour_wanted() -> bool:
    """Tell whether standard output is a terminal that may be coloured."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def note(text: str, quiet: bool = False) -> None:
    """Write a note to standard error; where that is full or gone, the work goes on without."""
    if not quiet:
        with suppress(OSError):
            click.echo(text, err=True)


def notes_before(config: Config, quiet: bool) -> None:
    """Say what will take time: kernels about to be compiled, players in plain Python."""
    for text in config.notes:
        note(f"simcore: {text}", quiet)
    note_if_cold(quiet)


def to_be_replaced(out: Any, overwrite: bool) -> bytes | None:
    """Return the manifest of the run that --overwrite replaces, to be given to :func:`interrupted`; None where there is none."""
    from simcore.batches.store import MANIFEST

    with suppress(OSError, SimcoreError):
        return bytes((out / MANIFEST).read_bytes()) if overwrite else None
    return None


def interrupted(out: Any, *more: str, replaced: bytes | None = None) -> int:
    """Say how to go on after Ctrl-C: by the same command, without what must be said only once; returns the exit status."""
    given = [arg for arg in sys.argv[1:] if arg not in ("--overwrite", "--repair")]
    what = "to run again"
    if replaced is not None and to_be_replaced(out, True) == replaced:
        given, what = sys.argv[1:], f"nothing of the run in {str(out)!r} was replaced; to run again"
    elif out:
        what = f"complete parts are in {str(out)!r}; to go on" if _saved(out) else "nothing was saved; to run again"
    click.echo(f"simcore: interrupted; {what}: {shlex.join(['simcore', *given, *more])}", err=True)
    return 130


def _saved(out: Any) -> bool:
    """Tell whether a folder holds a manifest or parts; where it cannot be asked, it may."""
    from simcore.batches.partfile import part_paths
    from simcore.batches.store import MANIFEST

    try:
        return (out / MANIFEST).exists() or (out.exists() and bool(part_paths(out)))
    except OSError:
        return True


def note_if_cold(quiet: bool, module: str = "") -> None:
    """Say that kernels (of a module) are about to be compiled."""
    from simcore._jit import cache_is_cold

    if cache_is_cold(module):
        took = "a minute or two" if module else "about 20 s"
        note(f"simcore: compiling kernels, once for this version ({took}; 'simcore warm' does it ahead) …", quiet)


def to_json(data: Any, *, lines: bool = False) -> str:
    """Return data as strict JSON: no NaN, no infinity."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=None if lines else 1)


def to_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV with a header."""
    buffer = io.StringIO()
    if rows:
        writer = csv.DictWriter(buffer, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return buffer.getvalue().rstrip("\n")


def number(value: float | None, digits: int = 2, *, sign: bool = False, percent: bool = False) -> str:
    """Return a figure for a table, ``–`` for None."""
    if value is None:
        return "-"
    if percent:
        return f"{100 * value:.{digits}f}"
    return f"{value:{'+' if sign else ''}.{digits}f}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return an aligned table: the first ``left`` columns flush left, the others right."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = []
    for row in cells:
        words = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(words).rstrip())
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


@contextmanager
def progress_bar(total: int, unit: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress on a terminal: share, rate, time left.  Yields the callback, None where no bar is wanted."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    start = [time.monotonic()]
    last = [0.0]
    first = [-1]
    before = [0]

    def show(done: int, total: int) -> None:
        now = time.monotonic()
        if done < before[0]:  # another stage of the work
            start[0], first[0] = now, -1
        before[0] = done
        if first[0] < 0:
            first[0] = done
        if now - last[0] < 0.1 and done < total:
            return
        last[0] = now
        rate = (done - first[0]) / max(now - start[0], 1e-9)
        filled = 30 * done // total
        bar = "#" * filled + "." * (30 - filled)
        line = f"[{bar}] {100 * done / total:5.1f} %"
        if rate > 0:  # before the second look nobody knows
            left = int((total - done) / rate)
            line += f"  {rate:,.0f} {unit}/s  {left // 60}:{left % 60:02d} left"
        sys.stderr.write(f"\r{line:<78}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r" + " " * 78 + "\r")
        sys.stderr.flush()
