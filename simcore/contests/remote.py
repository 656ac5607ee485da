"""A comparison on a cluster: blocks of deals are its job's pieces (simcore.batches.cluster), in which workers play every open cell.

Workers also do what there is to be done deal by deal: they add up the units, and make the part that goes into the folder.  The
driver judges units and writes parts as they come; where a test has ended a cell, it makes the part anew out of the rows in it.

Blocks are played ahead.  Where a sequential test ends a cell, what was played of it beyond is thrown away, a player's failure too;
so the rows are those of a run on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from simcore.batches import sending
from simcore.batches.cluster import Cluster, Work
from simcore.batches.partfile import part_name
from simcore.contests.contest import Cell, Contest
from simcore.contests.playing import Block, Table, block_ranges, write_block
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
    parts: bool  # rows are wanted as parts

    def open(self) -> Work:
        """Return what plays blocks ``a`` to ``b`` - 1."""
        if self.contest.hash != self.hash:
            raise RunError(f"the comparison came to a worker as another one: {self.contest.hash[:16]}, not {self.hash[:16]}")
        table = Table(self.contest, 1)

        def work(first: int, end: int) -> list[Block | _Failed]:
            blocks: list[Block | _Failed] = []
            for number, (start, deals) in enumerate(islice(block_ranges(self.contest), first, end), first):
                try:
                    block = table.play(self.cells, start, deals)
                except SimcoreError as error:
                    return blocks + [_Failed(number, error)] * (end - number)
                blocks.append(replace(block, rows=_part(number, block.rows, start, deals)) if self.parts else block)
            return blocks

        return work


def _part(number: int, rows: pa.Table, first: int, deals: int) -> bytes:
    """Return the bytes of a part.

    Raises:
        RunError: this machine's temporary folder cannot be used.
    """
    try:
        with TemporaryDirectory(prefix="simcore-") as scratch:
            path = Path(scratch) / part_name(number)
            write_block(path, number, rows, first, deals)
            return path.read_bytes()
    except OSError as error:
        raise RunError(
            f"a worker's temporary folder cannot be written: {error.strerror or error}; accepted: another as TMPDIR"
        ) from None


class Ahead:
    """The blocks that are not in the folder, played ahead by a cluster.

    Args:
        numbers: of the blocks to be played, rising.
        parts: whether rows are wanted as parts.
    """

    def __init__(self, cluster: Cluster, contest: Contest, numbers: list[int], *, parts: bool) -> None:
        self._cluster, self._contest, self._numbers, self._parts = cluster, contest, numbers, parts
        self._deals = [deals for _, deals in block_ranges(contest)]
        self._cells: tuple[Cell, ...] = ()
        self._blocks: Iterator[Block | _Failed] = iter(())

    def block(self, number: int, cells: list[Cell]) -> Block:
        """Return a block of these cells; to be asked for the numbers in order.

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
        if self._cells == tuple(cells):
            return block
        return block.of_cells([self._cells.index(cell) for cell in cells], self._contest)

    def _start(self, number: int, cells: list[Cell]) -> None:
        self._close()
        self._cells = tuple(cells)
        self._blocks = self._played(self._numbers[self._numbers.index(number) :])

    def _played(self, numbers: list[int]) -> Iterator[Block | _Failed]:
        job = _Blocks(self._contest, self._contest.hash, self._cells, self._parts)
        deals = sum(self._deals[number] for number in numbers)
        for _, _, blocks in self._cluster.run(job, iter(numbers), deals, ordered=True, size=self._deals.__getitem__):
            yield from blocks

    def _close(self) -> None:
        close = getattr(self._blocks, "close", None)
        if close is not None:
            close()

    def close(self) -> None:
        """Take back what is not played yet."""
        self._close()
