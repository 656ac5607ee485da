"""Playing a comparison: blocks of deals, in each every cell that is still open, in each every seating.

    block   64 deals, then twice as many each time up to 4,096 (8 deals throughout where Python decides): a part of the folder
    cell    a pair of players and a contract; with a sequential test it ends by itself, and later blocks do not play it
    rows    seating by seating, each in the order of deals

What a block holds follows from the rows before it alone, never from threads or the clock, so a resumed comparison ends with the
same bytes.  Statistics are taken from the rows of complete parts, whether just played or read.
"""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import Backend, Buffers, Tally, backend_for
from simcore.batches.partfile import PartFile, open_parquet
from simcore.batches.store import Store
from simcore.batches.tables import schema_of, table_of
from simcore.contests.contest import Cell, Contest
from simcore.contests.sequential import SprtState
from simcore.contests.units import Sums, Units, differences, units_of
from simcore.errors import RunError

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster
    from simcore.contests.remote import Ahead

__all__ = ["Block", "Played", "Table", "block_ranges", "open_cells", "play_contest", "rows_schema", "write_block"]

_FIRST_BLOCK, _LARGEST_BLOCK, _SLOW_BLOCK = 64, 4096, 8
_CHUNK = 512
#: Blocks being written beside the playing: a disk that makes files durable one by one takes several times as long.
_WRITING = 4

Progress = Callable[[int, int], None]


def _nobody(playings: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Block:
    """A block as played to its end.

    Attributes:
        deals: how many.
        units: of each cell.
        rows: cell by cell, each seating by seating in the order of deals; or the bytes of the part that holds them.
    """

    deals: int
    units: list[Units]
    rows: pa.Table | bytes

    def of_cells(self, places: list[int], contest: Contest) -> Block:
        """Return the block of some of its cells."""
        size = self.deals * len(contest.seatings)
        rows = _as_table(self.rows, contest)
        return Block(self.deals, [self.units[i] for i in places], _joined([rows.slice(i * size, size) for i in places]))

    def first(self, counts: list[int], contest: Contest) -> pa.Table:
        """Return the rows of each cell's first units."""
        rows, seatings = _as_table(self.rows, contest), len(contest.seatings)
        starts = range(0, rows.num_rows, self.deals)  # of each cell's seatings
        kept = np.repeat(counts, seatings) * contest.deals_per_unit
        return _joined([rows.slice(start, count) for start, count in zip(starts, kept.tolist(), strict=True)])


@dataclass
class Played:
    """A cell's sums and, where there is one, its sequential test."""

    cell: Cell
    sums: Sums
    test: SprtState | None

    @property
    def open(self) -> bool:
        """Whether it is to be played on."""
        return self.test is None or self.test.accepted is None


def open_cells(contest: Contest) -> list[Played]:
    """Return all cells with nothing played yet."""
    played = []
    for cell in contest.cells:
        jump = contest.bound(cell.contract) * len(contest.seatings) / contest.scale / 2
        test = None if contest.sprt is None else contest.sprt.start(jump)
        played.append(Played(cell, Sums(), test))
    return played


def rows_schema(contest: Contest) -> pa.Schema:
    """Return the schema of the rows: who played whom, in which seating, the difference, then the columns of ``simulate``."""
    import pyarrow as pa

    config = contest.config(contest.cells[0], contest.seatings[0])
    inner = schema_of(backend_for(config), config)
    word = pa.dictionary(pa.int8(), pa.string())
    fields = [pa.field(name, word, nullable=False) for name in ("a", "b", "seating")]
    fields += [pa.field("difference", pa.int16(), nullable=False), *inner]
    described = contest.describe()
    metadata = {
        "simcore:config": json.dumps(described, sort_keys=True),
        "simcore:config_hash": contest.hash,
        "simcore:ruleset_text": contest.ruleset.text,
        "simcore:players": json.dumps(described["players"]),
    }
    return pa.schema(fields, metadata=metadata)


def block_ranges(contest: Contest) -> Iterator[tuple[int, int]]:
    """Yield (first deal, deals) of each block."""
    first, end = contest.base.first, contest.base.first + contest.base.deals
    size = _SLOW_BLOCK if contest.slow else _FIRST_BLOCK
    while first < end:
        deals = min(size, end - first)
        yield first, deals
        first += deals
        if not contest.slow:
            size = min(2 * size, _LARGEST_BLOCK)


class Table:
    """Plays blocks on a pool of threads."""

    def __init__(self, contest: Contest, threads: int) -> None:
        self._contest = contest
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
        self._backends: dict[tuple[Cell, str], Backend] = {}
        self.schema = rows_schema(contest)
        self._names = [player.spec for player in contest.players]

    def close(self) -> None:
        """Let the threads go; what runs already ends by itself, and nobody reads it."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _backend(self, cell: Cell, seating: str) -> Backend:
        if (cell, seating) not in self._backends:
            self._backends[cell, seating] = backend_for(self._contest.config(cell, seating))
        return self._backends[cell, seating]

    def play(self, cells: Sequence[Cell], first: int, deals: int, progress: Callable[[int], None] = _nobody) -> Block:
        """Play a block."""
        waiting: list[tuple[Backend, Future[None], int]] = []
        buffers: dict[tuple[Cell, str], Buffers] = {}
        size = 1 if self._contest.slow and not self._contest.auction else (_SLOW_BLOCK if self._contest.slow else _CHUNK)
        for cell in cells:
            for seating in self._contest.seatings:
                backend = self._backend(cell, seating)
                place = buffers[cell, seating] = backend.buffers(deals)
                for start in range(0, deals, size):
                    count = min(size, deals - start)
                    task = self._pool.submit(_run, backend, first + start, count, place, start)
                    waiting.append((backend, task, count))
        for backend, task, count in waiting:
            backend.wait(task)
            progress(count)
        rows = _joined([self._rows(*of, place, first, deals) for of, place in buffers.items()])
        size = deals * len(self._contest.seatings)
        units = [units_of(self._contest, rows.slice(start, size)) for start in range(0, rows.num_rows, size)]
        return Block(deals, units, rows)

    def _rows(self, cell: Cell, seating: str, buffers: Buffers, first: int, deals: int) -> pa.Table:
        import pyarrow as pa

        contest = self._contest
        config, backend = contest.config(cell, seating), self._backend(cell, seating)
        inner = table_of(schema_of(backend, config), backend, buffers, first, deals)
        words: list[tuple[int, Any]] = [(cell.a, self._names), (cell.b, self._names)]
        words.append((contest.seatings.index(seating), contest.seatings))
        columns = [
            pa.DictionaryArray.from_arrays(np.full(inner.num_rows, place, np.int8), pa.array(list(names), pa.string()))
            for place, names in words
        ]
        columns.append(pa.array(differences(contest, seating, inner).astype(np.int16)))
        return pa.Table.from_arrays([*columns, *inner.columns], schema=self.schema)


def _run(backend: Backend, first: int, deals: int, buffers: Buffers, place: int) -> None:
    tally: Tally = backend.new_tally()
    backend.run(first, deals, buffers, place, tally)


def _as_table(rows: pa.Table | bytes, contest: Contest) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(rows, bytes):
        return rows
    with pq.ParquetFile(pa.BufferReader(rows)) as parquet:
        return parquet.read().cast(rows_schema(contest))


def _joined(tables: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(tables).combine_chunks()


def _judge(contest: Contest, played: Played, units: Units) -> int:
    """Add a block's units to a cell, up to where its test stops; returns how many."""
    count = len(units["difference"])
    if played.test is not None:
        count = played.test.add(units["difference"].astype(np.int64) / contest.scale)
    played.sums.add(units, count)
    return count


def _split(contest: Contest, cells: list[Played], rows: pa.Table) -> Iterator[tuple[Played, pa.Table]]:
    """Yield each cell's rows of a part."""
    import pyarrow.compute as pc

    names = [player.spec for player in contest.players]
    for played in cells:
        cell = played.cell
        mask = pc.and_(pc.equal(rows.column("a"), names[cell.a]), pc.equal(rows.column("b"), names[cell.b]))
        if cell.contract is not None:
            column = "trump" if contest.game == "showcase" else "contract"
            mask = pc.and_(mask, pc.equal(rows.column(column), cell.contract))
        table = rows.filter(mask).combine_chunks()
        if table.num_rows:
            yield played, table


def write_block(path: Path, number: int, table: pa.Table, first: int, deals: int) -> None:
    """Write a block as a part."""
    names = [name for name in table.column_names if name not in ("deal", "difference")]
    with PartFile(path, number, table.schema, use_dictionary=names) as part:
        part.write_table(table)
        part.finish(first=first, deals=deals)


def _write(path: Path, number: int, rows: pa.Table | bytes, first: int, deals: int) -> None:
    if isinstance(rows, bytes):
        path.write_bytes(rows)
    else:
        write_block(path, number, rows, first, deals)


class _Writer:
    """Puts parts into a folder while the next blocks are played.

    One that is lost when the process is killed, with a later one in place, is played again when the comparison goes on.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = ThreadPoolExecutor(_WRITING, thread_name_prefix="simcore-parts")
        self._waiting: deque[tuple[int, Future[dict[str, Any]]]] = deque()

    def add(self, number: int, write: Callable[[Path], object]) -> None:
        """Have a part written.

        Raises:
            RunError: one before it could not be.
        """
        self.wait(_WRITING - 1)
        self._waiting.append((number, self._pool.submit(self._store.put_part, number, write)))

    def wait(self, most: int) -> None:
        """List the parts that are written, and wait until at most so many are not.

        Raises:
            RunError: the folder fails.
        """
        while self._waiting and (len(self._waiting) > most or self._waiting[0][1].done()):
            number, written = self._waiting[0]
            line = written.result()
            self._waiting.popleft()
            self._store.add_lines({number: line})

    def close(self) -> None:
        """Wait for what is to be written whatever has happened; a failure is not told any more."""
        self._pool.shutdown()
        while self._waiting:
            number, written = self._waiting.popleft()
            with contextlib.suppress(RunError):
                self._store.add_lines({number: written.result()})


def play_contest(
    contest: Contest,
    *,
    threads: int,
    store: Store | None = None,
    keep: Callable[[pa.Table], None] | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> list[Played]:
    """Play all cells to their end.

    Args:
        store: a folder whose complete parts are taken up, and where each block becomes a part.
        keep: called with each block's rows.
        progress: called with (playings done, playings in all at most).
        cluster: whose workers play, instead of threads.
    """
    cells = open_cells(contest)
    everything = len(contest.seatings) * contest.base.deals
    table = Table(contest, threads)
    done = 0

    def advance(playings: int) -> None:
        nonlocal done
        done += playings
        if progress is not None:
            progress(done, everything * len(cells))

    ahead: Ahead | None = None
    if cluster is not None:
        from simcore.contests import remote

        have = {} if store is None else store.parts
        numbers = [number for number, _ in enumerate(block_ranges(contest)) if number not in have]
        ahead = remote.Ahead(cluster, contest, numbers, parts=store is not None)
    writer = None if store is None else _Writer(store)
    try:
        for number, (first, deals) in enumerate(block_ranges(contest)):
            playing = [played for played in cells if played.open]
            if not playing:
                break
            advance((len(cells) - len(playing)) * len(contest.seatings) * deals)
            if store is not None and number in store.parts:
                with open_parquet(store.path(number)) as parquet:
                    rows: pa.Table | bytes = parquet.read()
                for played, own in _split(contest, playing, rows):
                    _judge(contest, played, units_of(contest, own))
                advance(len(playing) * len(contest.seatings) * deals)
            else:
                wanted = [played.cell for played in playing]
                if ahead is None:
                    block = table.play(wanted, first, deals, advance)
                else:
                    block = ahead.block(number, wanted)
                    advance(len(playing) * len(contest.seatings) * deals)
                counts = [_judge(contest, played, units) for played, units in zip(playing, block.units, strict=True)]
                rows = block.rows
                if any(count * contest.deals_per_unit < deals for count in counts):
                    rows = block.first(counts, contest)
                if writer is not None:
                    writer.add(number, partial(_write, number=number, rows=rows, first=first, deals=deals))
            if keep is not None:
                keep(_as_table(rows, contest))
        if writer is not None:
            writer.wait(0)
    finally:
        if ahead is not None:
            ahead.close()
        table.close()
        if writer is not None:
            writer.close()
    return cells
