"""Running a simulation: missing parts are given to writers, the folder's store lists what is complete.

A writer is a thread that encodes one part at a time and waits for the kernels, which run on threads of their own (parts.py), and
for the disk.  The main thread only waits, so Ctrl-C is answered at once.  On a cluster its workers write (remote.py).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simcore.batches.backends import Tally, backend_for
from simcore.batches.config import Config, is_whole, make_config
from simcore.batches.partfile import open_parquet, part_paths, write_atomically
from simcore.batches.parts import Advance, PartMaker, merge, tally_from_json
from simcore.batches.places import Place, place_of
from simcore.batches.store import Store
from simcore.batches.summary import summarise
from simcore.batches.timings import write_timings
from simcore.errors import BadInput, RunError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["Interrupted", "Simulation", "available_threads", "check_threads", "run_simulation", "simulate", "workers_of"]

#: Results of at most this many rows are kept in memory by the Python function, so that ``table()`` need not play them again.
KEPT_ROWS = 1 << 22
#: More threads than any machine has cores for would only take memory.
MOST_THREADS = 1024
#: A writer takes as long for a row as a fast kernel: two for every three threads that play; one more, while one waits for the disk.
_WRITERS, _PLAYING = 2, 3


class Interrupted(Exception):
    """The run was stopped by Ctrl-C; what was complete is on disk."""


@dataclass
class Simulation:
    """A finished simulation."""

    config: Config
    tally: dict[str, np.ndarray]
    folder: Place | None
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

        from simcore.batches.tables import schema_of

        schema = schema_of(backend_for(self.config), self.config)
        if self.folder is not None:
            tables = []
            for path in part_paths(self.folder).values():
                with open_parquet(path) as parquet:
                    tables.append(parquet.read().cast(schema))
            return pa.concat_tables(tables)
        if self._tables is None:
            with PartMaker(self.config, self.threads) as maker:
                _, self._tables = _kept(maker)
        return pa.concat_tables(self._tables) if self._tables else schema.empty_table()

    def rounds(self) -> pa.Table:
        """Return the table of full rounds (E18)."""
        from simcore.batches.rounds import rounds_of

        return rounds_of(self.table())


def _kept(maker: PartMaker, advance: Advance = lambda deals: None) -> tuple[Tally, list[pa.Table]]:
    """Play all deals; returns what they add up to, and their rows."""
    total = maker.backend.new_tally()
    return total, [table for number in range(maker.plan.count) for table in maker.tables(number, total, advance)]


def _write_missing(maker: PartMaker, store: Store, writers: int, advance: Advance) -> None:
    """Have the parts that are not there written, each by one of several threads, and list them as they come."""
    pool = ThreadPoolExecutor(writers, thread_name_prefix="simcore-writer")
    numbers = store.missing(maker.plan.count)
    running: dict[Future[dict[str, Any]], int] = {}
    try:
        while True:
            while len(running) < writers and (number := next(numbers, None)) is not None:
                running[pool.submit(maker.write, number, store.folder, advance)] = number
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            with store.failures():
                store.add_lines({running[future]: future.result() for future in done})
            for future in done:
                del running[future]
    finally:
        maker.close()
        pool.shutdown()
        for future, number in running.items():  # what was complete stays so
            if future.exception() is None:
                store.parts[number] = future.result()


def run_simulation(
    config: Config,
    *,
    out: str | Place | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    repair: bool = False,
    keep_rows: bool = False,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], object] = lambda text: None,
    chunk: int | None = None,
    writers: int | None = None,
    cluster: str | None = None,
) -> Simulation:
    """Run a checked config.

    Args:
        out: folder for the tables; an unfinished run of the same config in it is continued.
        threads: default all cores.
        overwrite: replace the run that is in ``out``.
        repair: compute parts of ``out`` again that are damaged or not this run's; they are kept under another name.
        progress: called with (deals done, deals in all) after each chunk, from any thread, one at a time.
        note: told what is out of the ordinary in ``out``, a line each.
        chunk: deals a thread takes at a time, a multiple of eight; changes no result.
        writers: threads that encode a part each; changes no result.
        cluster: ``local:N`` or a Dask scheduler's address, whose workers play and write; changes no result.

    Raises:
        Interrupted: Ctrl-C; complete parts and a true manifest are left in ``out``.
        SimcoreError: the folder or the cluster cannot be used, or writing failed.
    """
    threads = check_threads(threads, cluster)
    if chunk is not None and (chunk < 8 or chunk % 8):
        raise BadInput(f"chunk {chunk} is not a multiple of 8 deals (a round)")
    if writers is None:
        writers = 1 if config.slow else -(-_WRITERS * threads // _PLAYING) + 1
    start = time.perf_counter()
    played, done, lock = 0, 0, threading.Lock()

    def advance(deals: int) -> None:
        nonlocal played
        with lock:
            played += deals
            if progress is not None:
                progress(done + played, config.deals)

    tables: list[pa.Table] | None = None
    folder = None if out is None else place_of(out)
    with PartMaker(config, threads, writers=writers if out is not None else 1, chunk=chunk) as maker, ExitStack() as stack:
        try:
            workers = None if cluster is None else workers_of(cluster, stack, note)
            if folder is not None:
                more = {"specs": config.specs} if config.specs else {}
                with Store(folder, config, schema=maker.schema, more=more, overwrite=overwrite, repair=repair, note=note) as store:
                    done = sum(part["deals"] for part in store.parts.values())
                    total = _filled(maker, store, writers, advance, workers)
            elif workers is not None:
                from simcore.batches.remote import sums_on

                total = sums_on(workers, config, maker.backend.new_tally(), advance)
            elif keep_rows:
                total, tables = _kept(maker, advance)
            else:
                total = maker.sums(advance)
        except KeyboardInterrupt:
            raise Interrupted from None
        if workers is not None:
            threads = workers.slots
    return Simulation(config, total, folder, time.perf_counter() - start, played, threads, tables)


def workers_of(cluster: str, stack: ExitStack, note: Callable[[str], object]) -> Cluster:
    """Return a cluster, which is let go with the stack."""
    from simcore.batches.cluster import Cluster

    return stack.enter_context(Cluster(cluster, note=note))


def _filled(maker: PartMaker, store: Store, writers: int, advance: Advance, workers: Cluster | None) -> Tally:
    """Fill a folder; returns what all its parts add up to."""
    try:
        if workers is None:
            _write_missing(maker, store, writers, advance)
        else:
            from simcore.batches.remote import write_missing_on

            write_missing_on(workers, maker.config, store, advance)
        total = maker.backend.new_tally()
        for part in store.parts.values():
            merge(total, tally_from_json(part["tally"], total))
        if maker.config.rounds:
            from simcore.batches.rounds import write_rounds

            with store.failures():
                write_atomically(store.folder / "rounds.parquet", lambda path: write_rounds(store.folder, path))
        store.write_manifest(complete=True)
        write_timings(maker.config, store)
    except BaseException:
        with contextlib.suppress(RunError):  # what was complete is adopted when the run goes on, listed or not
            store.write_manifest(complete=False)
        raise
    return total


def available_threads() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: int | None, cluster: str | None = None) -> int:
    """Return how many threads are asked for, all cores by default.

    Raises:
        BadInput: none, too many, or a number beside a cluster; a cluster's address that is none.
    """
    if cluster is not None:
        from simcore.batches.cluster import parse_address

        if threads is not None:
            raise BadInput(f"threads {threads!r} does not go with a cluster; accepted: left out (every worker has its own)")
        if not isinstance(cluster, str):
            raise BadInput(f"cluster {cluster!r} is not accepted; accepted: text, as 'local:2'")
        parse_address(cluster)
    if threads is None:
        return min(available_threads(), MOST_THREADS)
    if not is_whole(threads, 1, MOST_THREADS):
        raise BadInput(f"threads {threads!r} is out of range; accepted: 1 to {MOST_THREADS}")
    return int(threads)


def simulate(
    game: str,
    *,
    out: str | Place | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    repair: bool = False,
    progress: Callable[[int, int], None] | None = None,
    cluster: str | None = None,
    **options: Any,
) -> Simulation:
    """Simulate deals of a game.

    Args:
        game: ``elections`` or ``showcase``.
        out: a folder for Parquet parts and manifest, or ``s3://bucket/prefix``; None keeps the result in memory.
        threads: default all cores.
        overwrite, repair: replace the run that is in ``out``, or only its parts that are damaged.
        progress: called with (deals done, deals in all).
        cluster: ``local:N``, or a Dask scheduler's address whose workers play (docs/scale.md).
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
    return run_simulation(
        config,
        out=out,
        threads=threads,
        overwrite=overwrite,
        repair=repair,
        keep_rows=keep,
        progress=progress,
        cluster=cluster,
    )
