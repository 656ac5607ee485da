"""A finished comparison: its rows, and everything that is said of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from simcore.batches.places import Place
from simcore.contests import figures
from simcore.contests.contest import Contest
from simcore.contests.playing import Played

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Comparison"]


@dataclass(frozen=True)
class Comparison:
    """Which player is better, by how much, and where.

    ``rows`` has a row a pair of players (and contract, where several are forced; the first rows are then over all of them).
    """

    contest: Contest
    cells: list[Played]
    folder: Place | None
    seconds: float = field(compare=False)
    threads: int = field(compare=False)
    _tables: Callable[[], pa.Table] = field(compare=False, repr=False)
    _cards: pa.Table = field(compare=False, repr=False)
    fresh: bool = field(default=True, compare=False)  # something was played for it, beside what its folder had

    @property
    def seed(self) -> int:
        """The seed used."""
        return self.contest.base.seed

    @property
    def command(self) -> str:
        """The command that makes this comparison again, to the byte."""
        return shlex.join(self.contest.command())

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Pairs of players, as docs/formats.md has them."""
        return figures.pair_rows(self.contest, self.cells)

    @property
    def decided(self) -> bool:
        """Whether every comparison has an answer: a verdict, or a hypothesis that its sequential test accepted."""
        if self.contest.sprt is not None:
            return all(not played.open for played in self.cells)
        return all(row["verdict"] != "open" for row in self.rows)

    def table(self) -> pa.Table:
        """Return all playings as a pyarrow Table, one row a deal and seating."""
        return self._tables()

    def cards(self) -> pa.Table:
        """Return the judged cards as a pyarrow Table, one row a card."""
        return self._cards

    @cached_property
    def _data(self) -> dict[str, Any]:
        from simcore.contests.mistakes import mistakes, tricks

        contest, cells = self.contest, self.cells
        names = [player.spec for player in contest.players]
        several = len(names) > 2
        return {
            "kind": "compare",
            **contest.describe(),
            "command_line": self.command,
            "unit": contest.unit,
            "decided": self.decided,
            "rows": self.rows,
            "ratings": figures.ratings(contest, cells) if several else [],
            "matrix": figures.matrix(self.rows, names) if several else [],
            "places": figures.places(contest, cells),
            "reached": figures.reached(contest, cells),
            "tricks": tricks(contest, self._cards),
            "mistakes": mistakes(contest, self._cards),
            "largest": figures.largest(contest, cells),
            "curves": figures.curves(contest, cells),
        }

    def data(self) -> dict[str, Any]:
        """Return everything as plain data (JSON-ready), a function of the options alone."""
        return self._data
