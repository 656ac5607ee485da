"""Solved deals as an Arrow table, and in parts in a folder: written as they come, taken up where an interrupted run stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.batches.config import GAME_SEATS
from simcore.batches.partfile import PartFile, open_parquet
from simcore.batches.places import Place, place_of
from simcore.batches.run import check_threads
from simcore.batches.solving import Problem, Row, make_problem, solve_rows
from simcore.batches.store import Store
from simcore.cards import SEATS
from simcore.rules import TRUMPS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["solve_table", "solve_to_folder"]

#: Rows a part: what an interrupted run loses at most.  A row of Elections takes up to a second.
PART_ROWS = {"elections": 1 << 11, "showcase": 1 << 16}
_GROUP_ROWS = 1 << 10
#: Parts begin at multiples of this many deals, a multiple of what a thread takes at a time.
_EDGE = 32


def _schema(problem: Problem) -> pa.Schema:
    import pyarrow as pa

    name = pa.dictionary(pa.int8(), pa.string())
    fields = [pa.field("deal", pa.uint64(), nullable=False)]
    if problem.game == "elections":
        fields += [pa.field(column, name, nullable=False) for column in ("contract", "pairs", "declarer", "leader")]
        fields += [pa.field(column, pa.int16()) for column in ("attackers", "defenders")]
        fields.append(pa.field("attackers_tricks", pa.int8()))
        fields += [pa.field(column, pa.int16()) for column in ("margin_least", "margin_most")]
    else:
        fields += [pa.field(column, name, nullable=False) for column in ("trump", "leader")]
        fields += [pa.field(column, pa.int8(), nullable=False) for column in ("points_n", "points_s")]
    if problem.cards:
        fields.append(pa.field("cards", pa.map_(pa.string(), pa.int16()), nullable=problem.game == "elections"))
    if problem.line:
        fields.append(pa.field("line", pa.list_(pa.string()), nullable=problem.game == "elections"))
    described = problem.describe()
    metadata = {
        "simcore:config": json.dumps(described, sort_keys=True),
        "simcore:config_hash": problem.hash,
        "simcore:ruleset_text": problem.ruleset.text,
    }
    return pa.schema(fields, metadata=metadata)


def _table(schema: pa.Schema, problem: Problem, rows: list[Row]) -> pa.Table:
    """Turn rows into a table; names are numbered alike in every part."""
    import pyarrow as pa

    words = {
        "contract": problem.ruleset.contract_ids,
        "pairs": ("NS", "NE", "NW"),
        "declarer": tuple(SEATS),
        "leader": tuple(GAME_SEATS[problem.game]),
        "trump": TRUMPS,
    }
    arrays = []
    for field in schema:
        if field.name in words:
            places = {word: place for place, word in enumerate(words[field.name])}
            indices = pa.array([places[row[field.name]] for row in rows], pa.int8())
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array(words[field.name], pa.string())))
        elif field.name.startswith("points_"):
            arrays.append(pa.array([row["points"][field.name[-1].upper()] for row in rows], field.type))
        elif field.name == "cards":
            arrays.append(pa.array([None if row["cards"] is None else list(row["cards"].items()) for row in rows], field.type))
        else:
            arrays.append(pa.array([row.get(field.name) for row in rows], field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def solve_table(hands: Any, *, threads: int = 1, **options: Any) -> pa.Table:
    """Solve many deals: :func:`simcore.solve` with the rows as a pyarrow Table, docs/formats.md has its columns.

    >>> solve_table([[3, 12, 48, 192]], contract="nt-fewest", declarer="N").column("attackers").to_pylist()
    [0]
    """
    import pyarrow as pa

    threads = check_threads(threads)
    problem = make_problem(hands, **options)
    schema = _schema(problem)
    tables: list[pa.Table] = []
    rows: list[Row] = []
    for block in solve_rows(problem, threads=threads):
        rows += block
        if len(rows) >= _GROUP_ROWS:
            tables.append(_table(schema, problem, rows))
            rows = []
    return pa.concat_tables([*tables, _table(schema, problem, rows)])


def _write_part(path: Path, problem: Problem, number: int, deals: range, groups: Iterator[list[Row]]) -> None:
    schema = _schema(problem)
    with PartFile(path, number, schema) as part:
        for rows in groups:
            part.write_table(_table(schema, problem, rows))
        part.finish(first=deals.start, deals=len(deals))


def solve_to_folder(
    problem: Problem,
    out: str | Place,
    *,
    threads: int = 1,
    overwrite: bool = False,
    repair: bool = False,
    progress: Callable[[int, int], None] | None = None,
    undecided: list[Row] | None = None,
    note: Callable[[str], object] = lambda text: None,
) -> tuple[int, float]:
    """Solve into a folder of Parquet parts and a manifest; goes on where an interrupted call with the same problem stopped.

    Args:
        overwrite, repair: replace the run that is in ``out``, or only its parts that are damaged.
        undecided: gets the rows whose value was given up, in this call or before, in the order of deals.
        note: told what is out of the ordinary in ``out``, a line each.

    Returns:
        The deals solved in this call and the seconds it took.

    Raises:
        SimcoreError: the folder cannot be used, or writing failed.
    """
    start = time.monotonic()
    size = max(PART_ROWS[problem.game] // problem.rows_per_deal // _EDGE, 1) * _EDGE
    parts = [range(first, min(first + size, problem.count)) for first in range(0, problem.count, size)]
    with Store(place_of(out), problem, schema=_schema(problem), overwrite=overwrite, repair=repair, note=note) as store:
        before = done = sum(part["deals"] for part in store.parts.values())
        if undecided is not None and problem.game == "elections":
            for number in sorted(store.parts):
                undecided += _given_up(store.path(number))
        blocks: Iterator[list[Row]] | None = None
        last = -1
        try:
            for number in store.missing(len(parts)):
                deals = parts[number]
                if blocks is None or number != last + 1:
                    if blocks is not None:
                        blocks.close()  # type: ignore[attr-defined]
                    blocks = solve_rows(problem, first=deals.start, threads=threads)
                groups = _groups(blocks, problem, done, len(deals), progress, undecided)
                store.add_part(number, partial(_write_part, problem=problem, number=number, deals=deals, groups=groups))
                done, last = done + len(deals), number
        finally:
            if blocks is not None:
                blocks.close()  # type: ignore[attr-defined]
        store.write_manifest(complete=True)
    if undecided is not None:
        undecided.sort(key=itemgetter("deal"))
    return done - before, time.monotonic() - start


def _given_up(path: Place) -> Iterator[Row]:
    """Yield the rows of a part whose value was given up."""
    columns = ["deal", "contract", "pairs", "declarer", "attackers", "margin_least", "margin_most"]
    with open_parquet(path) as parquet:
        for group in range(parquet.num_row_groups):
            table = parquet.read_row_group(group, columns=columns)
            if table.column("attackers").null_count:
                yield from (row for row in table.to_pylist() if row["attackers"] is None)


def _groups(
    blocks: Iterator[list[Row]],
    problem: Problem,
    done: int,
    deals: int,
    progress: Callable[[int, int], None] | None,
    undecided: list[Row] | None,
) -> Iterator[list[Row]]:
    """Yield the rows of a part in row groups."""
    rows: list[Row] = []
    left = deals * problem.rows_per_deal
    while left:
        block = next(blocks)
        rows += block
        left -= len(block)
        if undecided is not None:
            undecided += (row for row in block if "margin_least" in row)
        if progress is not None:
            progress(done + deals - left // problem.rows_per_deal, problem.count)
        if len(rows) >= _GROUP_ROWS or not left:
            yield rows
            rows = []
