"""What each card cost against perfect play, and which trick went to whom, on the first deals of a comparison.

A card's cost is what it takes from its side by exact solving, all hands seen (:mod:`simcore.batches.costs`): points in Elections,
tricks in the second playout of Showcase.  Nobody at the table sees all hands, so the best of players has costs too; what counts is
who has less, and where.  One row a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import Backend, backend_for
from simcore.batches.config import GAME_SEATS
from simcore.batches.costs import add_costs
from simcore.cards import parse_card
from simcore.contests.contest import Cell, Contest
from simcore.contests.playing import Played
from simcore.rules import TRUMPS, Contract
from simcore.stats import ratio_estimate

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KINDS", "cards_schema", "judge_cards", "mistakes", "tricks"]

KINDS = ("opening lead", "lead", "follow", "ruff", "discard")
_ROLES = {"elections": ("declarer", "partner", "defender"), "showcase": ("namer", "other")}

Row = dict[str, Any]


def cards_schema(contest: Contest) -> pa.Schema:
    """Return the schema of the table of cards."""
    import pyarrow as pa

    word = pa.dictionary(pa.int8(), pa.string())
    fields: list[tuple[str, pa.DataType]] = [("a", word), ("b", word), ("seating", word), ("deal", pa.uint64())]
    fields += [("contract", word), ("trick", pa.int8()), ("place", pa.int8()), ("card", word), ("seat", word), ("player", word)]
    fields += [("role", word), ("kind", word), ("won", pa.bool_()), ("points", pa.int16())]
    return pa.schema([pa.field(*item, nullable=False) for item in fields] + [pa.field("cost", pa.int16())])


def _trump(contest: Contest, name: str) -> int | None:
    """Return the suit that trumps, -1 where every suit does, None for no suit."""
    if contest.game == "showcase":
        number = TRUMPS.index(name)
        return {4: None, 5: -1}.get(number, number)
    terms = contest.ruleset.contract(name)
    return None if terms.low and contest.ruleset.choices["low_trump"] == "plain" else terms.trump


def _trick_points(terms: Contract | None, cards: list[int]) -> int:
    """Return what a trick is worth to the side that takes it, but for what is paid for most tricks."""
    if terms is None:
        return 1
    return terms.trick + sum(sum(terms.card_signs.get(card, (0, 0))) for card in cards)


def _rows(contest: Contest, cell: Cell, seating: str, trace: dict[str, Any]) -> Iterator[Row]:
    """Yield a row a card of a judged trace."""
    elections = contest.game == "elections"
    seats = GAME_SEATS[contest.game]
    name = trace["contract"] if elections else trace["trump"]
    trump = _trump(contest, name)
    terms = contest.ruleset.contract(name) if elections else None
    a, b = (contest.players[number].spec for number in (cell.a, cell.b))
    attackers = (trace["declarer"], trace["partner"]) if elections else (trace["namer"],)
    for number, trick in enumerate(trace["tricks" if elections else "second"], 1):
        cards = [parse_card(card) for card in trick["cards"]]
        for place, card in enumerate(cards):
            seat = seats[(seats.index(trick["leader"]) + place) % len(seats)]
            if place == 0:
                kind = "opening lead" if number == 1 else "lead"
            elif card >> 4 == cards[0] >> 4:
                kind = "follow"
            else:
                kind = "ruff" if trump in (card >> 4, -1) else "discard"
            if elections:
                role = "declarer" if seat == trace["declarer"] else "partner" if seat == trace["partner"] else "defender"
            else:
                role = "namer" if seat in attackers else "other"
            yield {
                "a": a,
                "b": b,
                "seating": seating,
                "deal": trace["deal"],
                "contract": name,
                "trick": number,
                "place": place,
                "card": trick["cards"][place],
                "seat": seat,
                "player": a if seating[seats.index(seat)] == "A" else b,
                "role": role,
                "kind": kind,
                "won": (seat in attackers) == (trick["winner"] in attackers),
                "points": _trick_points(terms, cards),
                "cost": trick["cost"][place] if "cost" in trick else None,
            }


def judge_cards(
    contest: Contest, cells: list[Played], *, threads: int, progress: Callable[[int, int], None] | None = None
) -> pa.Table:
    """Play the first deals of each cell once more and solve every position of them."""
    import pyarrow as pa

    def judged(cell: Cell, seating: str, backend: Backend, deal: int) -> list[Row]:
        trace = backend.trace(deal)
        if contest.game == "elections" and not trace["tricks"]:
            return []
        return list(_rows(contest, cell, seating, add_costs(trace, contest.ruleset, from_trick=contest.solve_from)))

    pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
    try:
        waiting = []
        for played in cells:
            deals = min(contest.solved, len(played.sums["playings"]))
            for seating in contest.seatings if deals else ():
                backend = backend_for(contest.config(played.cell, seating))
                for deal in range(contest.base.first, contest.base.first + deals):
                    waiting.append(pool.submit(judged, played.cell, seating, backend, deal))
        rows: list[Row] = []
        for number, future in enumerate(waiting, 1):
            rows += future.result()
            if progress is not None:
                progress(number, len(waiting))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    schema = cards_schema(contest)
    arrays = []
    for field in schema:
        values = [row[field.name] for row in rows]
        if pa.types.is_dictionary(field.type):
            names = list(dict.fromkeys(values))
            places = {name: place for place, name in enumerate(names)}
            indices = pa.array([places[value] for value in values], pa.int8())
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())))
        else:
            arrays.append(pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _estimate(cluster: np.ndarray, values: np.ndarray) -> dict[str, Any]:
    """Return a mean over rows with its standard error, the deals being what is independent."""
    _, place = np.unique(cluster, return_inverse=True)
    n, y = np.bincount(place), np.bincount(place, weights=values).astype(np.int64)
    estimate = ratio_estimate(len(n), int(n.sum()), int(y.sum()), int((n * n).sum()), int((n * y).sum()), int((y * y).sum()))
    return {"mean": estimate.value, "stderr": estimate.stderr, "n": estimate.n, "deals": estimate.units}


def mistakes(contest: Contest, table: pa.Table) -> list[dict[str, Any]]:
    """Return what players lost a card: over all, by kind of card, by role, by contract and by trick."""
    import pyarrow.compute as pc

    solved = table.filter(pc.is_valid(table.column("cost")))
    columns = {name: np.array(solved.column(name).to_pylist()) for name in ("player", "kind", "role", "contract", "trick", "deal")}
    cost = np.array(solved.column("cost").to_pylist(), np.int64)
    words: dict[str, tuple[Any, ...]] = {
        "all": ("",),
        "kind": KINDS,
        "role": _ROLES[contest.game],
        "contract": contest.ruleset.contract_ids if contest.game == "elections" else TRUMPS,
        "trick": tuple(range(contest.solve_from, 14)),
    }
    rows = []
    for by, groups in words.items():
        for group in groups:
            chosen = np.ones(len(cost), bool) if by == "all" else columns[by] == group
            for player in contest.players:
                mine = chosen & (columns["player"] == player.spec)
                if mine.any():
                    figures = _estimate(columns["deal"][mine], cost[mine])
                    lost = int(cost[mine].sum())
                    shown = {"by": by, "group": str(group), "player": player.spec, "lost_a_card": figures["mean"]}
                    rows.append(
                        shown | {"stderr": figures["stderr"], "lost": lost, "cards": figures["n"], "deals": figures["deals"]}
                    )
    return rows


def tricks(contest: Contest, table: pa.Table) -> list[dict[str, Any]]:
    """Return, by the trick's number, how often A's side took it and its points to A's side less B's."""
    rows = []
    leads = table.filter(np.array(table.column("place").to_pylist(), np.int64) == 0) if table.num_rows else table
    columns = {name: np.array(leads.column(name).to_pylist()) for name in ("a", "b", "player", "won", "points", "trick", "deal")}
    for cell in {(cell.a, cell.b): cell for cell in contest.cells}.values():
        a, b = (contest.players[number].spec for number in (cell.a, cell.b))
        for number in range(1, 14):
            mine = (columns["a"] == a) & (columns["b"] == b) & (columns["trick"] == number)
            if not mine.any():
                continue
            took = columns["won"][mine] == (columns["player"][mine] == a)
            deals, points = columns["deal"][mine], columns["points"][mine] * np.where(took, 1, -1)
            share, gain = _estimate(deals, took.astype(np.int64)), _estimate(deals, points)
            rows.append(
                {"a": a, "b": b, "trick": number, "a_takes": share["mean"], "a_takes_stderr": share["stderr"]}
                | {"points": gain["mean"], "points_stderr": gain["stderr"], "n": share["n"], "deals": share["deals"]}
            )
    return rows
