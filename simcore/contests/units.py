"""From rows to units: the whole-number sums of each deal or round with all its seatings, which every figure rests on.

Rows come a cell and a block of deals at a time, seating by seating.  A playing's *difference* is A's points less B's: of two sides
where a contract is forced, of two seats' credits and the other two's with the auction, of the two players in Showcase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simcore.cards import SEATS
from simcore.contests.contest import Cell, Contest
from simcore.rules import TRUMPS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SCORE", "Sums", "differences", "places_of"]

Ints = npt.NDArray[np.int64]

#: A win counts so much: a round's first place may be shared by two, three or four.
SCORE = 12
_PARTNERS = ("partner on the left", "partner opposite", "partner on the right")
_CALLERS = ("calls first", "calls second", "calls third", "dealer")


def _numbers(table: pa.Table, name: str, words: Sequence[str] = ()) -> Ints:
    """Return a column as whole numbers, names as their places among the words, null as -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name).combine_chunks()
    if not words:
        values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64)
        return values
    # a dictionary read from a file may have another order, and lack what is not there
    places = pc.fill_null(pc.index_in(column.dictionary, pa.array(words, pa.string())), -1).to_numpy(zero_copy_only=False)
    indices = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False)
    found: Ints = np.append(places, -1)[indices].astype(np.int64)
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
    """The units of one cell so far.

    Arrays, one row a unit but for the last:
        difference   A's points less B's over all playings
        score        A's wins over all playings, in SCORE-ths
        places       [places, 3]: A's points there, B's, and in how many playings each sat there
        reached      [contracts or trumps, 2]: differences of the playings that came to it, and their number; where none is forced
        playings     [deals, seatings]: differences
    """

    def __init__(self, contest: Contest, cell: Cell) -> None:
        self._contest = contest
        self.cell = cell
        self.units = 0
        self._parts: dict[str, list[Ints]] = {}

    def __getitem__(self, name: str) -> Ints:
        """Return an array by name, of all units."""
        parts = self._parts[name]
        if len(parts) > 1:
            self._parts[name] = parts = [np.concatenate(parts)]
        return parts[0]

    def first(self, units: int) -> Ints:
        """Return the differences of the first units."""
        return self["difference"][:units]

    def add(self, table: pa.Table) -> None:
        """Add the rows of whole units, seating by seating, each in the order of deals."""
        contest = self._contest
        seatings = len(contest.seatings)
        deals = table.num_rows // seatings
        units = deals // contest.deals_per_unit
        if units == 0:
            return
        playings = _numbers(table, "difference").reshape(seatings, deals)
        new: dict[str, Ints] = {
            "playings": np.ascontiguousarray(playings.T, np.int32),
            "difference": playings.reshape(seatings, units, -1).sum(axis=(0, 2)),
        }
        facts = _Facts(contest, table, deals)
        new["score"] = facts.score().reshape(seatings, units, -1).sum(axis=(0, 2))
        places = np.stack([facts.place(name) for name in places_of(contest)])  # [places, 3, seatings, deals]
        new["places"] = places.reshape(len(places), 3, seatings, units, -1).sum(axis=(2, 4)).transpose(2, 0, 1).astype(np.int32)
        if contest.contracts == (None,):
            new["reached"] = self._reached(facts, playings, units)
        for name, values in new.items():
            self._parts.setdefault(name, []).append(values)
        self.units += units

    def _reached(self, facts: _Facts, playings: Ints, units: int) -> Ints:
        """Return the differences of the playings by the contract or trump they came to, and their number."""
        contest = self._contest
        words = TRUMPS if contest.game == "showcase" else contest.ruleset.contract_ids
        came = facts.column("trump" if contest.game == "showcase" else "contract", words)
        hits = came[None] == np.arange(len(words))[:, None, None]
        both = np.stack([hits * playings[None], hits.astype(np.int64)])  # [2, words, seatings, deals]
        sums: Ints = both.reshape(2, len(words), len(contest.seatings), units, -1).sum(axis=(2, 4)).astype(np.int32)
        return sums.transpose(2, 1, 0)


class _Facts:
    """Columns of a table as arrays [seatings, deals], and what A and B had from them."""

    def __init__(self, contest: Contest, table: pa.Table, deals: int) -> None:
        self._contest, self._table = contest, table
        self._shape = (len(contest.seatings), deals)
        self._sign = np.stack([_letters(seating) for seating in contest.seatings])[:, None, :]  # [seatings, 1, seats]

    def column(self, name: str, words: Sequence[str] = ()) -> Ints:
        """Return a column, names as their places among the words."""
        return _numbers(self._table, name, words).reshape(self._shape)

    def _seats(self, prefix: str, seats: str) -> Ints:
        """Return columns of all seats, [seatings, deals, seats]."""
        return np.stack([self.column(f"{prefix}_{seat.lower()}") for seat in seats], axis=2)

    def score(self) -> Ints:
        """Return A's share of each playing's win; of a round's first place, told at its first deal."""
        contest, sign = self._contest, self._sign
        if contest.game == "showcase":
            return np.where(self.column("winner", "NS") == (sign[:, :, 0] < 0), SCORE, 0)
        if not contest.auction:
            attacks = self._attacking()[..., 0] > 0
            result = self.column("result", ("win", "loss", "draw"))
            return np.where(result == 2, SCORE // 2, np.where((result == 0) == attacks, SCORE, 0))
        totals = self._seats("credit", SEATS).reshape(self._shape[0], -1, 8, 4).sum(axis=2)
        first = totals == totals.max(axis=2, keepdims=True)
        share = SCORE * (first & (sign > 0)).sum(axis=2) // first.sum(axis=2)
        told: Ints = share.repeat(8, axis=1) * (np.arange(self._shape[1]) % 8 == 0)
        return told

    def _attacking(self) -> Ints:
        """Return [seatings, deals, 1]: 1 where A attacks, -1 where B does."""
        declarer = self.column("declarer", SEATS)[..., None]
        return np.take_along_axis(np.broadcast_to(self._sign, (*self._shape, 4)), declarer, 2)

    def place(self, name: str) -> Ints:
        """Return [3, seatings, deals]: A's points at a place, B's, and how often each sat there (alike, over all seatings)."""
        contest = self._contest
        if contest.game == "showcase":
            prefix = "count" if name.startswith("first") else "points"
            points = self._seats(prefix, "NS")
            seat = np.broadcast_to(np.arange(2), points.shape)
            dealer = self.column("dealer", "NS")[..., None]
            at = {"N": seat == 0, "S": seat == 1, "elder": seat != dealer, "dealer": seat == dealer}.get(name, seat >= 0)
            return self._shared(points, at)
        if contest.auction:
            points = self._seats("credit", SEATS)
            seat = np.broadcast_to(np.arange(4), points.shape)
            if name in tuple(SEATS):
                return self._shared(points, seat == SEATS.index(name))
            order = (seat - self.column("dealer", SEATS)[..., None] - 1) & 3
            return self._shared(points, order == _CALLERS.index(name))
        declarer, partner = self.column("declarer", SEATS), self.column("partner", SEATS)
        both = np.stack([self.column("points_attackers"), self.column("points_defenders")], axis=2)
        sides = np.broadcast_to(np.arange(2), both.shape)
        if name in ("attackers", "defenders"):
            at = sides == int(name == "defenders")
        elif name in _PARTNERS:
            at = np.broadcast_to((((partner - declarer) & 3) == _PARTNERS.index(name) + 1)[..., None], both.shape)
        else:
            at = np.broadcast_to((declarer == SEATS.index(name[-1]))[..., None], both.shape)
        attacks = self._attacking()
        return self._shared(both, at, np.concatenate([attacks, -attacks], axis=2))

    def _shared(self, points: Ints, at: npt.NDArray[np.bool_], sign: Ints | None = None) -> Ints:
        """Divide the points of the chosen seats or sides between A and B."""
        sign = np.broadcast_to(self._sign if sign is None else sign, points.shape)
        of_a = at & (sign > 0)
        return np.stack([(points * of_a).sum(axis=2), (points * (at & (sign < 0))).sum(axis=2), of_a.sum(axis=2)])
