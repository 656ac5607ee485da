"""A simulation cut into parts, and one part played and written: all that a thread, process or machine of a run has to do.

    part   1,048,576 rows     a file: complete or not there
    group    131,072 rows     a Parquet row group, encoded by one thread while others play the next one
    chunk    32,768 deals     what a thread plays at a time; its size changes nothing in the results

All are aligned to whole rounds of eight deals by absolute index, so a round's sums are never split between chunks.  Where there
would be more than 10,000 parts they are made larger, up to a gigabyte, so that 10^12 rows are 7,451 files.  Which deals a part
holds depends on the config alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import Backend, Buffers, Stopped, Tally, backend_for
from simcore.batches.config import Config
from simcore.batches.partfile import PartFile, put_part
from simcore.batches.places import Place, place_of
from simcore.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CHUNK_DEALS", "PartMaker", "Plan", "merge", "tally_from_json", "write_part"]

PART_ROWS = 1 << 20
GROUP_ROWS = 1 << 17
#: A thread plays so many deals at a time; of a run so short that threads would stand idle, down to a quarter of them.
CHUNK_DEALS = 1 << 15
#: Where plain Python decides, deals take milliseconds and more: row groups of this many rows, chunks of eight deals.
SLOW_ROWS = 1 << 10
#: Parts grow where there would be more of them than this, but not beyond so many rows.
MOST_PARTS = 10_000
LARGEST_PART_ROWS = 1 << 27


#: Told how many deals more were played.
Advance = Callable[[int], object]


def _nothing(deals: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Plan:
    """How the index range is cut; every edge but the two ends is a multiple of eight deals."""

    first: int
    end: int
    per_group: int
    per_part: int

    @classmethod
    def of(cls, config: Config) -> Plan:
        """Return the plan of a config."""
        repeat = config.rows_per_deal
        per_group = (SLOW_ROWS if config.slow else GROUP_ROWS) // repeat // 8 * 8
        per_part = per_group * (PART_ROWS // GROUP_ROWS)
        while config.deals > MOST_PARTS * per_part and 2 * per_part * repeat <= LARGEST_PART_ROWS:
            per_part *= 2
        return cls(config.first, config.first + config.deals, per_group, per_part)

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-(self.end - self._base) // self.per_part)

    @property
    def _base(self) -> int:
        return self.first - self.first % 8

    def part(self, number: int) -> tuple[int, int]:
        """Return (first index, end) of a part."""
        start = self._base + number * self.per_part
        return max(start, self.first), min(start + self.per_part, self.end)

    def groups(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield (first index, end) of each row group of a part."""
        return cut(*self.part(number), self.per_group)


def cut(first: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut a range at ``first`` rounded down to a round, plus multiples of ``size``."""
    edge = first - first % 8 + size
    while first < end:
        yield first, min(edge, end)
        first, edge = min(edge, end), edge + size


def merge(total: Tally, tally: Tally) -> None:
    """Add a tally to another."""
    for name, values in tally.items():
        total[name] += values


def _tally_to_json(tally: Tally) -> dict[str, Any]:
    """Return a tally as plain data."""
    return {name: values.tolist() for name, values in tally.items()}


def tally_from_json(data: dict[str, Any], like: Tally) -> Tally:
    """Return a tally out of plain data.

    Raises:
        BadInput: it is not of the shape of ``like``.
    """
    try:
        tally = {name: np.array(data[name], np.int64) for name in like}
        if any(tally[name].shape != values.shape for name, values in like.items()):
            raise ValueError("wrong shape")
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise BadInput(f"a part's tally is damaged: {error!r}; accepted: --repair or --overwrite") from None
    return tally


class PartMaker:
    """Plays and writes the parts of one config; several threads may ask at once, the kernels run on one pool.

    Args:
        threads: for the kernels.
        writers: how many threads will ask at once.
        chunk: deals a thread plays at a time, a multiple of eight; by default more where there are many threads.
    """

    def __init__(self, config: Config, threads: int, *, writers: int = 1, chunk: int | None = None) -> None:
        self.config = config
        self.backend: Backend = backend_for(config)
        self.plan = Plan.of(config)
        # what a chunk costs outside its kernel is spent under Python's lock, so that many threads want larger ones
        size = min(max(config.deals // (4 * threads) // 8 * 8, CHUNK_DEALS // 4), CHUNK_DEALS << (threads // 96).bit_length())
        self._chunk = 8 if config.slow else (size if chunk is None else chunk)
        # enough to keep every thread busy for the time a group's encoding takes, few enough that memory stays flat
        in_groups = threads * GROUP_ROWS // (self._chunk * self.backend.rows_per_deal)
        self._ahead = max(4, max(2 * threads, in_groups) // writers)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
        self._stop = Event()
        # buffers of row groups that are written: memory fresh from the system costs more than filling it
        self._spare: deque[Buffers] = deque()

    def __enter__(self) -> PartMaker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what is not yet played; what runs already ends by itself, and nobody reads it."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def schema(self) -> pa.Schema:
        """The parts' schema, with the run's metadata."""
        from simcore.batches.tables import schema_of

        return schema_of(self.backend, self.config)

    def sums(self, advance: Advance = _nothing) -> Tally:
        """Play all deals without rows; returns what they add up to."""
        return self.sums_of(self.plan.first, self.plan.end, advance)

    def sums_of(self, first: int, end: int, advance: Advance = _nothing) -> Tally:
        """Play the deals of a range, which begins and ends with a round or the run; returns what they add up to."""
        total = self.backend.new_tally()
        for piece, _, tally, _ in self._played(iter([(first, end)]), rows=False):
            merge(total, tally)
            advance(piece[1] - piece[0])
        return total

    def tables(self, number: int, total: Tally, advance: Advance = _nothing, *, keep: bool = True) -> Iterator[pa.Table]:
        """Yield the row groups of a part; what they add up to is added to ``total`` by the time the last is taken.

        Args:
            keep: else a table's memory serves another once the next is asked for.
        """
        from simcore.batches.tables import table_of

        start = self.plan.part(number)[0]
        for piece, buffers, tally, last in self._played(self.plan.groups(number), rows=True):
            merge(total, tally)
            if last:
                assert buffers is not None
                yield table_of(self.schema, self.backend, buffers, start, piece[1] - start)
                start = piece[1]
                if not keep:
                    self._spare.append(buffers)
            advance(piece[1] - piece[0])

    def _buffers(self, deals: int) -> Buffers:
        """Return buffers for a row group, used before if there are such."""
        with suppress(IndexError):
            spare = self._spare.pop()
            if spare.names.shape[1] >= deals * self.backend.rows_per_deal:
                return spare
        return self.backend.buffers(deals)

    def write(self, number: int, folder: Place, advance: Advance = _nothing) -> dict[str, Any]:
        """Play a part and write it into a folder, where it appears when it is complete; returns its line of the manifest.

        Raises:
            OSError: the file system refuses.
            PlayerError: a player failed.
            Stopped: :meth:`close` was called.
        """
        return put_part(folder, number, self.config.hash, lambda path: self._write(number, path, advance))

    def _write(self, number: int, path: Path, advance: Advance) -> str:
        # Small integers packed by dictionary beat everything else here; the index column counts up: deltas.
        columns = self.backend.columns
        dense = {column.name for column in columns if column.dense}
        codecs = {name: "none" if name in dense else "zstd" for name in self.schema.names}
        tally = self.backend.new_tally()
        with PartFile(
            path,
            number,
            self.schema,
            compression=codecs,
            compression_level={name: 1 for name, codec in codecs.items() if codec == "zstd"},
            write_batch_size=1 << 13,
            use_dictionary=[column.name for column in columns if column.buffer != "hands"],
            column_encoding={"deal": "DELTA_BINARY_PACKED"},
            write_statistics=["deal"],
        ) as part:
            for table in self.tables(number, tally, advance, keep=False):
                part.write_table(table, row_group_size=GROUP_ROWS)
            first, end = self.plan.part(number)
            part.finish(first=first, deals=end - first, tally=_tally_to_json(tally))
        return part.sha256

    def _played(
        self, groups: Iterator[tuple[int, int]], *, rows: bool
    ) -> Iterator[tuple[tuple[int, int], Buffers | None, Tally, bool]]:
        """Play groups of deals; yields pieces in order: (range, the group's buffers, tally, whether the group is done).

        The next group's chunks run while the caller deals with this one's rows.
        """

        def play(piece: tuple[int, int], buffers: Buffers | None, place: int) -> Tally:
            tally = self.backend.new_tally()
            self.backend.run(piece[0], piece[1] - piece[0], buffers, place, tally)
            return tally

        def tasks() -> Iterator[tuple[Buffers | None, tuple[int, int], int, bool]]:
            for group in groups:
                buffers = self._buffers(group[1] - group[0]) if rows else None
                for piece in cut(*group, self._chunk):
                    yield buffers, piece, piece[0] - group[0], piece[1] == group[1]

        waiting: deque[tuple[tuple[int, int], Buffers | None, Future[Tally], bool]] = deque()
        source = tasks()
        while True:
            while len(waiting) < self._ahead and (task := next(source, None)) is not None:
                buffers, piece, place, last = task
                if self._stop.is_set():  # the pool takes nothing any more
                    raise Stopped
                waiting.append((piece, buffers, self._pool.submit(play, piece, buffers, place), last))
            if not waiting:
                return
            piece, buffers, future, last = waiting.popleft()
            yield piece, buffers, self.backend.wait(future, self._stop), last


def write_part(config: Config, number: int, folder: str | Place, *, threads: int = 1) -> dict[str, Any]:
    """Play part ``number`` of a config and write it into a folder: what a worker of a distributed run is asked to do.

    The same bytes whoever writes it.  The folder's :class:`simcore.batches.store.Store`, held by the one that gives out the numbers
    (``Plan.of(config).count`` of them), takes the line returned by its ``add_lines``.

    Raises:
        OSError: the file system refuses.
        PlayerError: a player failed.
    """
    with PartMaker(config, threads) as maker:
        return maker.write(number, place_of(folder))
