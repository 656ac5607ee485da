"""Running a simulation: chunks over threads, row groups over chunks, parts over row groups.

    part   1,048,576 rows     a file: complete or not there
    group    131,072 rows     a Parquet row group, encoded by the main thread while the workers play the next one
    chunk  8,192 deals        what a thread takes at a time; its size changes nothing in the results

All are aligned to whole rounds of eight deals by absolute index, so a round's sums are never split between chunks.  Kernels release
the GIL; the main thread only waits, encodes and shows progress, so Ctrl-C is answered within a chunk.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import Backend, Buffers, Tally, backend_for
from simcore.batches.config import Config, make_config
from simcore.batches.store import Store, write_atomically
from simcore.batches.summary import summarise
from simcore.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Interrupted", "Simulation", "run_simulation", "simulate"]

PART_ROWS = 1 << 20
GROUP_ROWS = 1 << 17
CHUNK_DEALS = 1 << 13
#: Where plain Python decides, deals take milliseconds and more: row groups of this many rows, chunks of eight deals.
SLOW_ROWS = 1 << 10
#: Results of at most this many rows are kept in memory by the Python function, so that ``table()`` need not play them again.
KEPT_ROWS = 1 << 22


class Interrupted(Exception):
    """The run was stopped by Ctrl-C; what was complete is on disk."""


@dataclass
class Simulation:
    """A finished simulation."""

    config: Config
    tally: dict[str, np.ndarray]
    folder: Path | None
    seconds: float
    deals_played: int  # in this call: fewer than config.deals where a run was resumed
    threads: int
    _tables: list[pa.Table] | None = None

    @property
    def seed(self) -> int:
        """The seed used."""
        return self.config.seed

    def summary(self) -> pa.Table:
        """Return the summary: one row a contract (or trump), with standard errors and 95 % intervals."""
        import pyarrow as pa

        rows = summarise(self.config, self.tally)["rows"]
        return pa.table({key: [row[key] for row in rows] for key in rows[0]} if rows else {})

    def summary_data(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return the summary as plain data (JSON-ready)."""
        return summarise(self.config, self.tally, confidence)

    def table(self) -> pa.Table:
        """Return all rows: read from the run's folder, kept from the run, or played again."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        from simcore.batches.tables import schema_of

        schema = schema_of(backend_for(self.config), self.config)
        if self.folder is not None:
            files = sorted(str(path) for path in self.folder.glob("part-*.parquet"))
            return ds.dataset(files, schema=schema).to_table()
        if self._tables is None:
            self._tables = []
            _play_all(self.config, 0, self.threads, self._tables.append, None)
        return pa.concat_tables(self._tables) if self._tables else schema.empty_table()

    def rounds(self) -> pa.Table:
        """Return the table of full rounds (E18)."""
        from simcore.batches.rounds import rounds_of

        return rounds_of(self.table())


@dataclass(frozen=True)
class _Plan:
    """How the index range is cut; every edge but the two ends is a multiple of eight deals."""

    first: int
    end: int
    per_group: int
    per_part: int

    @classmethod
    def of(cls, config: Config) -> _Plan:
        repeat = config.rows_per_deal
        per_group = (SLOW_ROWS if config.slow else GROUP_ROWS) // repeat // 8 * 8
        return cls(config.first, config.first + config.deals, per_group, per_group * (PART_ROWS // GROUP_ROWS))

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield (first index, end) of each part."""
        return _cut(self.first, self.end, self.per_part)

    def groups(self, part: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Yield (first index, end) of each row group of a part."""
        return _cut(*part, self.per_group)


def _cut(first: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut a range at ``first`` rounded down to a round, plus multiples of ``size``."""
    edge = first - first % 8 + size
    while first < end:
        yield first, min(edge, end)
        first, edge = min(edge, end), edge + size


def _merge(total: Tally, tally: Tally) -> None:
    for name, values in tally.items():
        total[name] += values


def _to_json(tally: Tally) -> dict[str, Any]:
    return {name: values.tolist() for name, values in tally.items()}


def _from_json(data: dict[str, Any]) -> Tally:
    return {name: np.array(values, np.int64) for name, values in data.items()}


def _played_groups(
    backend: Backend, groups: list[tuple[int, int]], threads: int, chunk: int, want_rows: bool
) -> Iterator[tuple[tuple[int, int], Buffers | None, Tally, bool]]:
    """Play groups of deals on a pool of threads; yields pieces in order: (range, buffers, tally, whether the group is done).

    The next group's chunks run while the caller deals with this one's rows.
    """

    def play(first: int, end: int, buffers: Buffers | None, place: int) -> Tally:
        tally = backend.new_tally()
        backend.run(first, end - first, buffers, place, tally)
        return tally

    def tasks() -> Iterator[tuple[Buffers | None, tuple[int, int], int, bool]]:
        for group in groups:
            buffers = backend.buffers(group[1] - group[0]) if want_rows else None
            for piece in _cut(*group, chunk):
                yield buffers, piece, piece[0] - group[0], piece[1] == group[1]

    pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
    waiting: deque[tuple[tuple[int, int], Buffers | None, Future[Tally], bool]] = deque()
    # enough to keep every thread busy for the time a group's encoding takes, few enough that memory stays flat
    ahead = max(2 * threads, 2 * threads * GROUP_ROWS // max(chunk * backend.rows_per_deal, 1) // 2) if want_rows else 2 * threads
    try:
        source = tasks()
        while True:
            while len(waiting) < ahead and (task := next(source, None)) is not None:
                buffers, piece, place, last = task
                waiting.append((piece, buffers, pool.submit(play, *piece, buffers, place), last))
            if not waiting:
                return
            piece, buffers, future, last = waiting.popleft()
            yield piece, buffers, backend.wait(future), last
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # what runs already ends by itself, and nobody reads it


Progress = Callable[[int], None]


def _play_all(
    config: Config,
    skip_parts: int,
    threads: int,
    keep: Callable[[pa.Table], None] | None,
    progress: Progress | None,
    *,
    chunk: int = CHUNK_DEALS,
    store: Store | None = None,
) -> Tally:
    """Play the parts from number ``skip_parts`` on; rows go to ``keep`` or into ``store``, sums are returned."""
    backend = backend_for(config)
    plan = _Plan.of(config)
    parts = list(plan.parts())[skip_parts:] if store or keep else [(plan.first, plan.end)]
    total = backend.new_tally()
    want_rows = store is not None or keep is not None
    if want_rows:
        from simcore.batches.tables import schema_of, table_of

        schema = schema_of(backend, config)
    groups = [group for part in parts for group in plan.groups(part)] if want_rows else list(parts)
    pieces = _played_groups(backend, groups, threads, chunk, want_rows)
    try:
        for part in parts:
            part_tally = backend.new_tally()

            def groups_of(part: tuple[int, int], part_tally: Tally) -> Iterator[pa.Table | None]:
                start = part[0]
                for piece, buffers, tally, last in pieces:
                    _merge(part_tally, tally)
                    if progress is not None:
                        progress(piece[1] - piece[0])
                    if last:
                        if buffers is not None:
                            yield table_of(schema, backend, buffers, start, piece[1] - start)
                        start = piece[1]
                    if piece[1] == part[1]:
                        return

            if store is not None:
                tables = groups_of(part, part_tally)
                write = partial(
                    _write_part, part=part, tables=tables, tally=part_tally, schema=schema, repeat=backend.rows_per_deal
                )
                store.add_part(write)
            else:
                for table in groups_of(part, part_tally):
                    if keep is not None and table is not None:
                        keep(table)
            _merge(total, part_tally)
    finally:
        pieces.close()  # type: ignore[attr-defined]
    return total


def _write_part(
    path: Path, part: tuple[int, int], tables: Iterator[pa.Table | None], tally: Tally, schema: pa.Schema, repeat: int
) -> None:
    """Write one part file; the tally is complete once the tables are used up."""
    import pyarrow.parquet as pq

    # Small integers packed by dictionary beat everything else here; the index column counts up: deltas.
    names = [field.name for field in schema if field.name != "deal"]
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in names if not name.startswith("hand_")],
        column_encoding={"deal": "DELTA_BINARY_PACKED"},
        write_statistics=["deal"],
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=GROUP_ROWS)
        deals = part[1] - part[0]
        facts = {"first": part[0], "deals": deals, "rows": deals * repeat, "tally": _to_json(tally)}
        writer.add_key_value_metadata({"simcore:part": json.dumps(facts)})


def run_simulation(
    config: Config,
    *,
    out: str | Path | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    keep_rows: bool = False,
    progress: Callable[[int, int], None] | None = None,
    chunk: int = CHUNK_DEALS,
) -> Simulation:
    """Run a checked config.

    Args:
        out: folder for the tables; an unfinished run of the same config in it is continued.
        threads: default all cores.
        progress: called with (deals done, deals in all) after each chunk.
        chunk: deals a thread takes at a time, a multiple of eight; changes no result.

    Raises:
        Interrupted: Ctrl-C; complete parts and a true manifest are left in ``out``.
        SimcoreError: the folder cannot be used, or writing failed.
    """
    threads = available_threads() if threads is None else threads
    if threads < 1:
        raise BadInput(f"threads {threads} is out of range; accepted: 1 or more")
    if chunk < 8 or chunk % 8:
        raise BadInput(f"chunk {chunk} is not a multiple of 8 deals (a round)")
    threads = min(threads, 1024)
    if config.slow:
        chunk = 8
    start = time.perf_counter()
    store = Store(Path(out), config, overwrite=overwrite) if out is not None else None
    tables: list[pa.Table] | None = [] if keep_rows and out is None else None
    before = list(store.parts) if store else []
    done = sum(part["deals"] for part in before)
    played = [0]

    def advance(deals: int) -> None:
        played[0] += deals
        if progress is not None:
            progress(done + played[0], config.deals)

    try:
        total = _play_all(
            config,
            len(before),
            threads,
            None if tables is None else tables.append,
            advance,
            chunk=chunk,
            store=store,
        )
        if store is not None:
            for part in before:
                _merge(total, _from_json(part["tally"]))
            if config.rounds:
                from simcore.batches.rounds import write_rounds

                with store.failures():
                    write_atomically(store.folder / "rounds.parquet", lambda path: write_rounds(store.folder, path))
            store.write_manifest(complete=True)
    except KeyboardInterrupt:
        if store is not None:
            store.adopt_parts()
            store.write_manifest(complete=False)
        raise Interrupted from None
    finally:
        if store is not None:
            store.close()
    return Simulation(config, total, store.folder if store else None, time.perf_counter() - start, played[0], threads, tables)


def available_threads() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def simulate(
    game: str,
    *,
    out: str | Path | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Simulation:
    """Simulate deals of a game.

    Args:
        game: ``elections`` or ``showcase``.
        out: a folder for Parquet parts and manifest; None keeps the result in memory.
        threads: default all cores.
        overwrite: replace what is in ``out``.
        progress: called with (deals done, deals in all).
        options: as :func:`simcore.batches.config.make_config`: ruleset, seed, first, deals, players, player, contract, pairs,
            declarer, trump, dealer, file, hands, rounds.

    Returns:
        A Simulation with ``.table()`` (a pyarrow Table, one row a deal), ``.summary()``, ``.rounds()`` and ``.seed``.

    Raises:
        SimcoreError: an option is not accepted, or the folder cannot be written.

    >>> simulate("elections", deals=80, seed=1, contract="nt-most").table().num_rows
    80
    """
    config = make_config(game, **options)
    keep = config.deals * config.rows_per_deal <= KEPT_ROWS
    return run_simulation(config, out=out, threads=threads, overwrite=overwrite, keep_rows=keep, progress=progress)
