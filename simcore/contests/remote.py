"""A comparison on a cluster: blocks of deals are its job's pieces (simcore.batches.cluster), in which workers play every open cell.

Blocks are played ahead.  Where a sequential test ends a cell, what was played of it beyond is thrown away, a player's failure too;
so the rows are those of a run on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from simcore.batches import sending
from simcore.batches.cluster import Cluster, Work
from simcore.contests.contest import Cell, Contest
from simcore.contests.playing import Table, block_ranges, open_cells
from simcore.errors import RunError, SimcoreError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Ahead"]

sending.fields_only(Contest)


@dataclass(frozen=True)
class _Failed:
    """Why a block, and those after it in its task, were not played."""

    number: int
    error: SimcoreError


@dataclass(frozen=True)
class _Blocks:
    contest: Contest
    hash: str
    cells: tuple[Cell, ...]

    def open(self) -> Work:
        """Return what plays blocks ``a`` to ``b`` - 1: for each the rows of each cell."""
        if self.contest.hash != self.hash:
            raise RunError(f"the comparison came to a worker as another one: {self.contest.hash[:16]}, not {self.hash[:16]}")
        table = Table(self.contest, 1)

        def work(first: int, end: int) -> list[list[pa.Table] | _Failed]:
            cells = [played for played in open_cells(self.contest) if played.cell in self.cells]
            blocks: list[list[pa.Table] | _Failed] = []
            for number, block in enumerate(islice(block_ranges(self.contest), first, end), first):
                try:
                    blocks.append([rows for _, rows in table.play(cells, *block, lambda playings: None)])
                except SimcoreError as error:
                    return blocks + [_Failed(number, error)] * (end - number)
            return blocks

        return work


class Ahead:
    """The blocks that are not in the folder, played ahead by a cluster.

    Args:
        numbers: of the blocks to be played, rising.
    """

    def __init__(self, cluster: Cluster, contest: Contest, numbers: list[int]) -> None:
        self._cluster, self._contest, self._numbers = cluster, contest, numbers
        self._cells: tuple[Cell, ...] = ()
        self._blocks: Iterator[list[pa.Table] | _Failed] = iter(())

    def block(self, number: int, cells: list[Cell]) -> list[pa.Table]:
        """Return the rows of each of these cells; to be asked for the numbers in order.

        Raises:
            RunError: a worker fails.
            PlayerError: a player failed.
        """
        if 2 * len(cells) <= len(self._cells) or not self._cells:  # so many are not played in vain
            self._start(number, cells)
        while isinstance(block := next(self._blocks), _Failed):
            if block.number == number and self._cells == tuple(cells):
                raise block.error
            self._start(number, cells)  # what failed is not asked for
        rows = dict(zip(self._cells, block, strict=True))
        return [rows[cell] for cell in cells]

    def _start(self, number: int, cells: list[Cell]) -> None:
        self._close()
        self._cells = tuple(cells)
        self._blocks = self._played(self._numbers[self._numbers.index(number) :])

    def _played(self, numbers: list[int]) -> Iterator[list[pa.Table] | _Failed]:
        job = _Blocks(self._contest, self._contest.hash, self._cells)
        for _, _, blocks in self._cluster.run(job, iter(numbers), len(numbers), ordered=True):
            yield from blocks

    def _close(self) -> None:
        close = getattr(self._blocks, "close", None)
        if close is not None:
            close()

    def close(self) -> None:
        """Take back what is not played yet."""
        self._close()
