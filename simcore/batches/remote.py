"""A simulation on a cluster: the parts, or without a folder ranges of deals, are its job's pieces (cluster.py).

Where a worker sees the run's folder, being on the same machine or a shared file system, it writes parts there itself; so it does
into an object store.  Otherwise it sends them back, and the driver writes them.  The driver alone writes the manifest.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from simcore.batches import sending  # noqa: F401 (a config can be sent)
from simcore.batches.backends import Tally
from simcore.batches.cluster import Cluster, Work
from simcore.batches.config import Config
from simcore.batches.partfile import describe_part, part_name, write_atomically
from simcore.batches.parts import Advance, PartMaker, Plan, merge
from simcore.batches.places import BucketPath, Place
from simcore.batches.store import Store
from simcore.errors import RunError

__all__ = ["sums_on", "write_missing_on"]

#: Deals of a piece where no rows are written.
PIECE_DEALS = 1 << 15
SLOW_PIECE_DEALS = 8


@dataclass(frozen=True)
class _Parts:
    """Parts into a folder; ``sign`` is a file in it that shows a worker that it sees the same one."""

    config: Config
    hash: str
    folder: Place
    sign: str

    def open(self) -> Work:
        """Return what does parts ``a`` to ``b`` - 1: their lines, with their bytes where they are sent back."""
        _check(self.config, self.hash)
        maker = PartMaker(self.config, 1)

        def work(first: int, end: int) -> list[tuple[dict[str, Any], bytes | None]]:
            return [self._written(maker, number) for number in range(first, end)]

        return work

    def _written(self, maker: PartMaker, number: int) -> tuple[dict[str, Any], bytes | None]:
        if isinstance(self.folder, BucketPath) or (self.folder / self.sign).exists():
            return maker.write(number, self.folder), None
        with TemporaryDirectory(prefix="simcore-") as scratch:
            line = maker.write(number, Path(scratch))
            return line, (Path(scratch) / line["name"]).read_bytes()


@dataclass(frozen=True)
class _Sums:
    """Sums of ranges of deals."""

    config: Config
    hash: str
    edges: tuple[int, int, int]  # first index rounded down to a round, end, deals of a piece

    def open(self) -> Work:
        """Return what plays pieces ``a`` to ``b`` - 1: what they add up to."""
        _check(self.config, self.hash)
        maker = PartMaker(self.config, 1)
        base, _, size = self.edges

        def work(first: int, end: int) -> dict[str, np.ndarray]:
            return maker.sums_of(max(base + first * size, self.config.first), min(base + end * size, self.edges[1]))

        return work


def _check(config: Config, sent: str) -> None:
    if config.hash != sent:
        raise RunError(f"the run came to a worker as another one: {config.hash[:16]} instead of {sent[:16]}")


@contextmanager
def _sign(folder: Place) -> Iterator[str]:
    """Leave a file in a folder for as long as workers look for it."""
    name = f".cluster-{uuid.uuid4().hex}.tmp"
    if isinstance(folder, BucketPath):
        yield name
        return
    try:
        (folder / name).touch()
        yield name
    finally:
        (folder / name).unlink(missing_ok=True)


def write_missing_on(cluster: Cluster, config: Config, store: Store, advance: Advance) -> None:
    """Have the parts that are not there written by a cluster's workers, and list them as they come.

    Raises:
        RunError: the folder or a worker fails.
        PlayerError: a player failed.
    """
    count = Plan.of(config).count
    folder = store.folder if isinstance(store.folder, BucketPath) else store.folder.absolute()
    with store.failures(), _sign(folder) as sign:
        job = _Parts(config, config.hash, folder, sign)
        for first, _, parts in cluster.run(job, store.missing(count), count - len(store.parts)):
            lines = {}
            for number, (line, contents) in enumerate(parts, first):
                if contents is not None:
                    path = folder / part_name(number)
                    write_atomically(path, lambda temporary, data=contents: temporary.write_bytes(data))  # type: ignore[misc]
                    if describe_part(path, number, config.hash) != line:
                        raise RunError(f"part {path.name!r} was damaged on its way from a worker")
                lines[number] = line
            store.add_lines(lines)
            advance(sum(line["deals"] for line in lines.values()))
        store.remove_leftovers()


def sums_on(cluster: Cluster, config: Config, total: Tally, advance: Advance) -> Tally:
    """Play all deals on a cluster without rows; returns what they add up to.

    Raises:
        RunError: a worker fails.
        PlayerError: a player failed.
    """
    size = SLOW_PIECE_DEALS if config.slow else PIECE_DEALS
    base, end = config.first - config.first % 8, config.first + config.deals
    count = -(-(end - base) // size)
    for first, last, tally in cluster.run(_Sums(config, config.hash, (base, end, size)), iter(range(count)), count):
        merge(total, tally)
        advance(min(base + last * size, end) - max(base + first * size, config.first))
    return total
