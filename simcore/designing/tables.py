"""The tables of a balance report, for each game: what is counted in every unit, and which figures are made of it.

A counter turns rows of deals into whole numbers: for each table and entry (as ``contract``, ``nt-most``) an array
int64[units, numbers].  Units are deals where a contract or trump is forced, since every deal is then played once with each; they
are rounds of eight deals where there is an auction, since the deals of a round share lots and the order of dealers (E1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from simcore.cards import SEATS
from simcore.designing.drama import DRAMA_SCALE, Story
from simcore.designing.sums import Figure
from simcore.rules import TRUMPS, Ruleset

__all__ = ["TABLES", "Counts", "count_every", "count_played", "count_stories", "entries", "figure_form", "table_titles"]

#: Numbers of each unit by (table, entry).
Counts = dict[tuple[str, str], np.ndarray]

_ROUND = 8
#: Who is best shares it with others as good: parts of a deal, exact for up to 16 of them.
_PARTS = math.lcm(*range(1, 17))
_RESULTS = ("win", "loss", "draw")

_DRAMA = (
    Figure("comeback", "winner was behind", "share", 0, 1),
    Figure("drama", "drama", "mean", 0, 2, divisor=DRAMA_SCALE, unit="index"),
    Figure("lead_changes", "lead changes", "mean", 0, 3, unit="times"),
    Figure("settled", "settled after trick", "mean", 0, 4, unit="tricks"),
    Figure("last_trick", "open until the last trick", "share", 0, 5),
)

_FORCED = (
    Figure("attackers_win", "attackers win", "share", 0, 1),
    Figure("margin", "attackers’ margin", "mean", 0, 3, unit="points"),
    Figure("spread", "spread of the margin", "sd", 0, 3, 4, unit="points"),
    Figure("equal", "equal points", "share", 0, 2),
    Figure("best", "best contract in hindsight", "share", 0, 5, divisor=_PARTS),
)
_TRUMP = (
    Figure("namer_wins", "namer wins", "share", 0, 1),
    Figure("margin", "namer’s margin", "mean", 0, 2, unit="tricks"),
    Figure("spread", "spread of the margin", "sd", 0, 2, 3, unit="tricks"),
    Figure("best", "best trump in hindsight", "share", 0, 4, divisor=_PARTS),
)
_AUCTION = (
    Figure("attackers_win", "attackers win", "share", 3, 5),
    Figure("balance", "balance of attackers and defenders", "balance", 3, 7),
    Figure("attackers_gain", "attackers’ relative credit", "mean", 3, 8, divisor=3, unit="credit"),
    Figure("equal", "equal points", "share", 3, 6),
    Figure("lot_partner", "played with the lot partner", "share", 3, 4),
    Figure("passed_out", "passed out", "share", 0, 1),
    Figure("redealt", "redealt", "share", 0, 2),
)
_PLAYED = (Figure("share", "how often it is played", "share", 0, 1),)
_NAMED = (Figure("share", "how often it is named", "share", 0, 1),)
_POSITION = (Figure("relative", "relative credit a deal", "mean", 0, 1, divisor=3, unit="credit"),)
_DEAL = (
    Figure("namer_wins", "namer wins", "share", 0, 1),
    Figure("elder_wins", "elder wins (leads first)", "share", 0, 2),
    Figure("balance", "balance of elder and dealer", "balance", 0, 7),
    Figure("leader_wins", "leader of the second playout wins", "share", 0, 3),
    Figure("first_wins", "winner of the first playout wins", "share", 9, 4),
    Figure("equal_counts", "equal counts (S9)", "share", 0, 5),
    Figure("close", "seven tricks to six", "share", 0, 6),
    Figure("winning_margin", "winner’s margin", "mean", 0, 8, unit="tricks"),
)

#: Figures of each table, in order; and how many numbers a unit gives for it.
TABLES: dict[str, tuple[tuple[Figure, ...], int]] = {
    "auction": (_AUCTION, 9),
    "position": (_POSITION, 2),
    "contract": (_FORCED, 6),
    "played": (_PLAYED, 2),
    "deal": (_DEAL, 10),
    "trump": (_TRUMP, 5),
    "named": (_NAMED, 2),
    "drama": (_DRAMA, 6),
}
_POSITIONS = ("first to call", "second", "third", "dealer")


def table_titles(game: str) -> dict[str, str]:
    """Return the tables of a game in order, with their titles."""
    if game == "showcase":
        return {
            "deal": "The game as it is played",
            "trump": "Each trump, after the same first playout",
            "named": "What is named",
            "drama": "How play goes",
        }
    return {
        "auction": "The game as it is played",
        "position": "The seat",
        "contract": "Each contract, on the same deals",
        "played": "What is played",
        "drama": "How play goes",
    }


_FORMS: dict[str, dict[str, Any]] = {
    "share": {"digits": 1, "percent": True},
    "points": {"digits": 2, "sign": True},
    "credit": {"digits": 2, "sign": True},
    "tricks": {"digits": 2},
    "times": {"digits": 2},
    "index": {"digits": 3},
}


def figure_form(row: dict[str, Any]) -> dict[str, Any]:
    """Return how a figure is written for people: ``digits``, and ``sign`` or ``percent``."""
    return _FORMS[row["unit"]] | ({"sign": False} if row["figure"] == "spread" else {})


def _codes(table: Any, name: str, words: tuple[str, ...]) -> np.ndarray:
    """Return a column of words as their places in ``words``, -1 for null."""
    column = table.column(name).combine_chunks()
    places = np.array([words.index(word) if word in words else -1 for word in column.dictionary.to_pylist()] or [-1])
    indices = np.asarray(column.indices.fill_null(-1)).astype(np.int64)
    found: np.ndarray = np.where(indices < 0, -1, places[indices])
    return found


def _numbers(table: Any, name: str) -> np.ndarray:
    column = table.column(name).combine_chunks()
    return np.asarray(column.fill_null(0)).astype(np.int64)


def _shared(best: np.ndarray) -> np.ndarray:
    """Return each choice's parts of a deal, out of bool[deals, choices]: who is best shares it."""
    parts: np.ndarray = best * (_PARTS // best.sum(axis=1, keepdims=True))
    return parts


def count_every(game: str, table: Any, ruleset: Ruleset) -> Counts:
    """Count deals in which every contract (or trump) was played; the unit is the deal."""
    return _count_trumps(table) if game == "showcase" else _count_contracts(table, ruleset)


def _count_contracts(table: Any, ruleset: Ruleset) -> Counts:
    shape = (-1, len(ruleset.contracts))
    attackers, defenders = (_numbers(table, f"points_{side}").reshape(shape) for side in ("attackers", "defenders"))
    win = _codes(table, "result", _RESULTS).reshape(shape) == 0
    declarer = _codes(table, "declarer", tuple(SEATS)).reshape(shape)
    credits = np.stack([_numbers(table, f"credit_{seat.lower()}").reshape(shape) for seat in SEATS], axis=2)
    own = np.take_along_axis(credits, declarer[:, :, None], axis=2)[:, :, 0]
    worth = 4 * own - credits.sum(axis=2)  # three times the relative credit
    parts = _shared(worth == worth.max(axis=1, keepdims=True))
    margin = attackers - defenders
    one = np.ones_like(margin)
    numbers = np.stack([one, win, margin == 0, margin, margin * margin, parts], axis=2)
    return {("contract", name): numbers[:, place] for place, name in enumerate(ruleset.contract_ids)}


def _count_trumps(table: Any) -> Counts:
    shape = (-1, len(TRUMPS))
    namer, winner = (_codes(table, name, ("N", "S")).reshape(shape) for name in ("namer", "winner"))
    north = _numbers(table, "points_n").reshape(shape)
    tricks = np.where(namer == 0, north, 13 - north)
    margin = 2 * tricks - 13
    parts = _shared(tricks == tricks.max(axis=1, keepdims=True))
    numbers = np.stack([np.ones_like(margin), namer == winner, margin, margin * margin, parts], axis=2)
    return {("trump", name): numbers[:, place] for place, name in enumerate(TRUMPS)}


def _by_round(numbers: np.ndarray) -> np.ndarray:
    """Add up int64[deals, numbers] to whole rounds."""
    rounds: np.ndarray = numbers.reshape(-1, _ROUND, numbers.shape[1]).sum(axis=1)
    return rounds


def count_played(game: str, table: Any, ruleset: Ruleset) -> Counts:
    """Count deals played as they are, whole rounds of Elections; the unit is the round there, the deal in Showcase."""
    return _count_showcase(table) if game == "showcase" else _count_auction(table, ruleset)


def _count_auction(table: Any, ruleset: Ruleset) -> Counts:
    status = _codes(table, "status", ("played", "passed-out", "redealt"))
    played = status == 0
    result = _codes(table, "result", _RESULTS)
    dealer, declarer = (_codes(table, name, tuple(SEATS)) for name in ("dealer", "declarer"))
    credits = np.stack([_numbers(table, f"credit_{seat.lower()}") for seat in SEATS], axis=1)
    relative = 4 * credits - credits.sum(axis=1, keepdims=True)  # three times
    gain = np.where(played, np.take_along_axis(relative, np.maximum(declarer, 0)[:, None], axis=1)[:, 0], 0)
    equal = played & (_numbers(table, "points_attackers") == _numbers(table, "points_defenders"))
    unmatched = played & ~np.asarray(table.column("matched").combine_chunks().fill_null(True)).astype(bool)
    one = np.ones(len(status), np.int64)
    balance = (result == 0).astype(np.int64) - (result == 1)
    columns = [one, status == 1, status == 2, played, unmatched, result == 0, equal, balance, gain]
    counts = {("auction", ""): _by_round(np.stack(columns, axis=1).astype(np.int64))}
    for place, name in enumerate(_POSITIONS):
        seat = (dealer + 1 + place) % 4
        numbers = np.stack([one, np.take_along_axis(relative, seat[:, None], axis=1)[:, 0]], axis=1)
        counts["position", name] = _by_round(numbers)
    contract = _codes(table, "contract", ruleset.contract_ids)
    for place, name in enumerate(ruleset.contract_ids):
        counts["played", name] = _by_round(np.stack([played, contract == place], axis=1).astype(np.int64))
    return counts


def _count_showcase(table: Any) -> Counts:
    seats = ("N", "S")
    dealer, namer, leader, winner = (_codes(table, name, seats) for name in ("dealer", "namer", "leader", "winner"))
    north, south = _numbers(table, "count_n"), _numbers(table, "count_s")
    tricks = _numbers(table, "points_n")
    margin = np.abs(2 * tricks - 13)
    first = np.where(north > south, 0, 1)
    one = np.ones(len(dealer), np.int64)
    uneven = north != south
    elder = winner != dealer
    columns = [
        one,
        namer == winner,
        elder,
        leader == winner,
        uneven & (first == winner),
        ~uneven,
        margin == 1,
        2 * elder.astype(np.int64) - 1,
        margin,
        uneven,
    ]
    counts = {("deal", ""): np.stack(columns, axis=1).astype(np.int64)}
    trump = _codes(table, "trump", TRUMPS)
    for place, name in enumerate(TRUMPS):
        counts["named", name] = np.stack([one, trump == place], axis=1).astype(np.int64)
    return counts


def count_stories(stories: list[Story | None], per_unit: int) -> np.ndarray:
    """Return the numbers of the drama table, ``per_unit`` deals a unit."""
    rows = [
        (0,) * 6 if story is None else (1, story.comeback, story.drama, story.changes, story.settled, story.settled == 13)
        for story in stories
    ]
    numbers: np.ndarray = np.array(rows, np.int64).reshape(-1, per_unit, 6).sum(axis=1)
    return numbers


def entries(game: str, ruleset: Ruleset) -> Iterator[tuple[str, str]]:
    """Yield every (table, entry) of a ruleset, in order."""
    names = TRUMPS if game == "showcase" else ruleset.contract_ids
    for table in table_titles(game):
        if table in ("auction", "deal"):
            yield table, ""
        elif table == "position":
            yield from ((table, name) for name in _POSITIONS)
        elif table == "drama":
            yield table, ""
            yield from ((table, name) for name in names)
        else:
            yield from ((table, name) for name in names)
