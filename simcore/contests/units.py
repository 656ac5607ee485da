"""From rows to units: the whole-number sums of each deal or round with all its seatings, which every figure rests on.

Rows come a cell and a block of deals at a time, seating by seating.  A playing's *difference* is A's points less B's: of two sides
where a contract is forced, of two seats' credits and the other two's with the auction, of the two players in Showcase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.cards import SEATS
from simcore.contests.contest import Contest
from simcore.rules import TRUMPS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SCORE", "Sums", "Units", "differences", "places_of", "units_of"]

Ints = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
#: Arrays by name; see :func:`units_of`.
Units = dict[str, Ints]

_TYPES = {"playings": np.int32, "difference": np.int64, "score": np.int64, "places": np.int32, "reached": np.int32}

#: A win counts so much: a round's first place may be shared by two, three or four.
SCORE = 12
_PARTNERS = ("partner on the left", "partner opposite", "partner on the right")
_CALLERS = ("calls first", "calls second", "calls third", "dealer")


def _numbers(rows: pa.Table, name: str, words: Sequence[str] = ()) -> Ints:
    """Return a column as whole numbers, names as their places among the words, null as -1."""
    column = rows.column(name).combine_chunks()
    if not words:
        values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64)
        return values
    # a dictionary read from a file may have another order, and lack what is not there
    places = [words.index(word) if word in words else -1 for word in column.dictionary.to_pylist()]
    indices = column.indices.fill_null(-1) if column.null_count else column.indices
    found: Ints = np.array([*places, -1])[indices.to_numpy(zero_copy_only=False)]
    return found


def _letters(seating: str) -> Ints:
    """Return 1 for seats of A and -1 for seats of B."""
    return np.array([1 if letter == "A" else -1 for letter in seating])


def differences(contest: Contest, seating: str, table: pa.Table) -> Ints:
    """Return A's points less B's in each row of one seating."""
    sign = _letters(seating)
    total = np.zeros(table.num_rows, np.int64)
    if contest.game == "showcase":
        total += sign[0] * (_numbers(table, "points_n") - _numbers(table, "points_s"))
        return total
    if contest.auction:
        for seat, letter in zip(SEATS, sign, strict=True):
            total += letter * _numbers(table, f"credit_{seat.lower()}")
        return total
    margin = _numbers(table, "points_attackers") - _numbers(table, "points_defenders")
    total += sign[_numbers(table, "declarer", SEATS)] * margin
    return total


def places_of(contest: Contest) -> tuple[str, ...]:
    """Return the names of the places whose points are told apart."""
    if contest.game == "showcase":
        return ("N", "S", "elder", "dealer", "first playout, counted tricks")
    if contest.auction:
        return (*SEATS, *_CALLERS)
    return ("attackers", "defenders", *(f"declarer {seat}" for seat in SEATS), *_PARTNERS)


class Sums:
    """The units of one cell so far: the arrays of :func:`units_of` under their names."""

    def __init__(self) -> None:
        self.units = 0
        self._parts: dict[str, list[Ints]] = {}

    def __getitem__(self, name: str) -> Ints:
        """Return an array by name, of all units."""
        parts = self._parts[name]
        if len(parts) > 1 or parts[0].dtype != _TYPES[name]:
            self._parts[name] = parts = [np.concatenate(parts, dtype=_TYPES[name])]
        return parts[0]

    def first(self, units: int) -> Ints:
        """Return the differences of the first units."""
        return self["difference"][:units]

    def add(self, units: Units, count: int) -> None:
        """Add the first units of a block."""
        if count:
            for name, values in units.items():
                kept = values[: count * (len(values) // len(units["difference"]))]
                self._parts.setdefault(name, []).append(kept.copy())  # else it would hold on to the whole message it came in
            self.units += count


def units_of(contest: Contest, rows: pa.Table) -> Units:
    """Return what the rows of a cell in a block come to, rows being seating by seating, each in the order of deals.

    Arrays, one row a unit but for the last:
        difference   A's points less B's over all playings
        score        A's wins over all playings, in SCORE-ths
        places       [places, 3]: A's points there, B's, and in how many playings each sat there
        reached      [contracts or trumps, 2]: differences of the playings that came to it, and their number; where none is forced
        playings     [deals, seatings]: differences
    They are of the smallest type that holds their values; :class:`Sums` widens them.
    """
    seatings = len(contest.seatings)
    deals = rows.num_rows // seatings
    facts = _Facts(contest, rows, deals)
    playings = facts.column("difference")
    units = {"playings": playings.T, "difference": facts.by_unit(playings), "score": facts.score(), "places": facts.places()}
    if contest.contracts == (None,):
        units["reached"] = facts.reached(playings)
    return {name: _smallest(values) for name, values in units.items()}


def _smallest(values: Ints) -> Ints:
    """Return whole numbers in the smallest type that holds them."""
    low, high = values.min(initial=0), values.max(initial=0)
    kind = next(k for k in (np.int8, np.int16, np.int32, np.int64) if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    return np.ascontiguousarray(values, kind)


class _Facts:
    """Columns of a table as arrays [seatings, deals], and what A and B had from them by units."""

    def __init__(self, contest: Contest, rows: pa.Table, deals: int) -> None:
        self._contest, self._rows = contest, rows
        self._shape = (len(contest.seatings), deals)
        self._units = deals // contest.deals_per_unit
        self._of_a = np.stack([_letters(seating) for seating in contest.seatings]) > 0  # [seatings, seats]
        self._columns: dict[str, Ints] = {}

    def column(self, name: str, words: Sequence[str] = ()) -> Ints:
        """Return a column, names as their places among the words."""
        if name not in self._columns:
            self._columns[name] = _numbers(self._rows, name, words).astype(np.int32).reshape(self._shape)
        return self._columns[name]

    def by_unit(self, values: Ints | Flags) -> Ints:
        """Return the sums of [seatings, deals] over each unit."""
        total: Ints = np.add.reduce(values, axis=0, dtype=np.int32)
        return total if self._contest.deals_per_unit == 1 else total.reshape(self._units, -1).sum(axis=1)

    def _mine(self, seats: Ints) -> Flags:
        """Return whether a seat, which may be another in each playing, is A's."""
        mine: Flags = np.take_along_axis(self._of_a, seats, 1)
        return mine

    def score(self) -> Ints:
        """Return A's share of wins by units; with the auction of the round's first place."""
        contest = self._contest
        if contest.game == "showcase":
            return self.by_unit(np.where(self.column("winner", "NS") == ~self._of_a[:, :1], SCORE, 0))
        if not contest.auction:
            attacks = self._mine(self.column("declarer", SEATS))
            result = self.column("result", ("win", "loss", "draw"))
            return self.by_unit(np.where(result == 2, SCORE // 2, np.where((result == 0) == attacks, SCORE, 0)))
        credit = np.stack([self.column(f"credit_{seat.lower()}") for seat in SEATS])
        totals = credit.reshape(4, self._shape[0], self._units, -1).sum(axis=3)
        first = totals == totals.max(axis=0)
        shared: Ints = (SCORE * (first & self._of_a.T[:, :, None]).sum(axis=0) // first.sum(axis=0)).sum(axis=0)
        return shared

    def reached(self, playings: Ints) -> Ints:
        """Return the differences of the playings by the contract or trump they came to, and their number."""
        contest = self._contest
        words = TRUMPS if contest.game == "showcase" else contest.ruleset.contract_ids
        came = self.column("trump" if contest.game == "showcase" else "contract", words)
        there = came >= 0
        cells = (came + len(words) * (np.arange(self._shape[1]) // contest.deals_per_unit))[there]
        size = self._units * len(words)
        both = (np.bincount(cells, playings[there], size), np.bincount(cells, minlength=size))  # exact: far below 2^53
        return np.stack(both, axis=1).astype(np.int64).reshape(self._units, len(words), 2)

    def places(self) -> Ints:
        """Return [units, places, 3]: A's points at each place, B's, and how often each sat there (alike, over all seatings)."""
        names = places_of(self._contest)
        sums = np.empty((self._units, len(names), 3), np.int32)
        for number, name in enumerate(names):
            for column, values in enumerate(self._place(name)):
                sums[:, number, column] = self.by_unit(values)
        return sums

    def _place(self, name: str) -> tuple[Flags | Ints, ...]:
        """Return [seatings, deals] thrice: A's points at a place, B's, and whether A sat there."""
        contest = self._contest
        if contest.game == "showcase":
            if name.startswith("first"):
                counts = _divided(self.column("count_n"), self.column("count_s"), self._of_a[:, :1])
                return *counts, np.ones(self._shape, bool)
            points = [self.column("points_n"), self.column("points_s")]
            dealer = self.column("dealer", "NS")
            seats: dict[str, int | Ints] = {"N": 0, "S": 1, "elder": 1 - dealer, "dealer": dealer}
            return self._seat(points, seats[name])
        if contest.auction:
            points = [self.column(f"credit_{seat.lower()}") for seat in SEATS]
            if name in tuple(SEATS):
                return self._seat(points, SEATS.index(name))
            return self._seat(points, (self.column("dealer", SEATS) + 1 + _CALLERS.index(name)) & 3)
        declarer, partner = self.column("declarer", SEATS), self.column("partner", SEATS)
        attackers, defenders = self.column("points_attackers"), self.column("points_defenders")
        attacks = self._mine(declarer)
        if name == "attackers":
            return np.where(attacks, attackers, 0), np.where(attacks, 0, attackers), attacks
        if name == "defenders":
            return np.where(attacks, 0, defenders), np.where(attacks, defenders, 0), ~attacks
        there = ((partner - declarer) & 3) == _PARTNERS.index(name) + 1 if name in _PARTNERS else declarer == SEATS.index(name[-1])
        mine, theirs = _divided(attackers, defenders, attacks)
        return mine * there, theirs * there, there

    def _seat(self, points: list[Ints], seats: int | Ints) -> tuple[Ints, Ints, Flags]:
        """Divide the points of a seat, which may be another in each playing, between A and B."""
        if isinstance(seats, int):
            there, mine = points[seats], np.broadcast_to(self._of_a[:, seats, None], self._shape)
        else:
            there, mine = np.choose(seats, points), self._mine(seats)
        return there * mine, there * ~mine, mine


def _divided(first: Ints, second: Ints, mine: Flags) -> tuple[Ints, Ints]:
    """Return A's and B's points of two sides', the first being A's where ``mine`` says so."""
    return np.where(mine, first, second), np.where(mine, second, first)
