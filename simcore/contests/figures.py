"""The figures of a comparison, as plain data: pairs, ratings, places, largest differences, curves.

Every figure is computed from the whole numbers of units (units.py); where several contracts were played it is the mean over them of
the same deal, over the deals that all of them played.
"""

from __future__ import annotations

import math
import shlex
from itertools import combinations
from typing import Any

import numpy as np

from simcore.contests.contest import Contest
from simcore.contests.intervals import Verdict, holm, judge, judge_totals, sequence_radius, t_quantile
from simcore.contests.playing import Played
from simcore.contests.units import SCORE, Ints, places_of
from simcore.rules import TRUMPS
from simcore.stats import ratio_estimate, wilson

__all__ = ["curves", "largest", "matrix", "pair_rows", "places", "ratings", "reached"]

_LARGEST = 10
_CURVE_POINTS = 120

Row = dict[str, Any]
Pair = tuple[int, int]


def _by_pair(contest: Contest, cells: list[Played]) -> dict[Pair, list[Played]]:
    """Return the cells of each pair of players."""
    pairs: dict[Pair, list[Played]] = {pair: [] for pair in combinations(range(len(contest.players)), 2)}
    for played in cells:
        pairs[played.cell.a, played.cell.b].append(played)
    return pairs


def _names(contest: Contest, pair: Pair) -> Row:
    return {"a": contest.players[pair[0]].spec, "b": contest.players[pair[1]].spec}


def _pooled(cells: list[Played], name: str) -> Ints:
    """Return the sum of an array over cells, over the units that all of them have."""
    units = min(played.sums.units for played in cells)
    if units == 0:
        return np.zeros(0, np.int64)
    total: Ints = sum((played.sums[name][:units] for played in cells[1:]), start=cells[0].sums[name][:units].copy())
    return total


def _bound(contest: Contest, cells: list[Played]) -> float:
    """Return how far from zero a unit's mean difference can be, over cells."""
    playings = len(contest.seatings) * contest.deals_per_unit
    return sum(contest.bound(played.cell.contract) for played in cells) * playings / contest.scale / len(cells)


def _verdict(contest: Contest, cells: list[Played]) -> Verdict | None:
    sums, scale = _pooled(cells, "difference"), contest.scale * len(cells)
    return judge(sums, scale, _bound(contest, cells), contest.confidence, stopped=contest.sprt is not None)


def _row(contest: Contest, pair: Pair, cells: list[Played], contract: str | None) -> Row:
    """Return what is said of a pair in a contract, or over all of them."""
    verdict = _verdict(contest, cells)
    score = _pooled(cells, "score")
    units, full = len(score), SCORE * len(contest.seatings) * len(cells)
    won, squares = int(score.sum()), int((score.astype(object) ** 2).sum())
    share = ratio_estimate(units, units * full, won, units * full * full, full * won, squares)
    low, high = wilson(share, contest.confidence)
    if contest.sprt is not None and units:  # a test decided how many there are; score runs from 0 to full, its double from -1 to 1
        stopped = judge(2 * score - full, full, 1.0, contest.confidence, stopped=True)
        assert stopped is not None
        low, high = max(0.0, (1 + stopped.low) / 2), min(1.0, (1 + stopped.high) / 2)
    differences = _pooled(cells, "difference")
    row: Row = _names(contest, pair) | {"contract": contract}
    row |= {"mean": None, "stderr": None, "low": None, "high": None} if verdict is None else _figures(verdict)
    row |= {
        "confidence": contest.confidence,
        "deals": units * contest.deals_per_unit,
        "verdict": "open",
        "unit": contest.unit,
        "units": units,
        "method": None if verdict is None else verdict.method,
        "chance": None if verdict is None else verdict.chance,
        "p": None if verdict is None else verdict.p,
        "p_holm": None,
        "win_share": share.value,
        "win_low": low,
        "win_high": high,
        "units_for_a": int((differences > 0).sum()),
        "units_equal": int((differences == 0).sum()),
        "units_for_b": int((differences < 0).sum()),
        "sprt": None,
    }
    return row


def _figures(verdict: Verdict) -> Row:
    return {"mean": verdict.mean, "stderr": verdict.stderr, "low": verdict.low, "high": verdict.high}


def pair_rows(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return a row a pair and contract, before them one a pair over all contracts where there are several.

    The verdict is a sequential test's where there is one (over several contracts: the interval's); else that of the p-values,
    corrected for how many comparisons of the kind there are (Holm).
    """
    overall, single = [], []
    for pair, mine in _by_pair(contest, cells).items():
        if len(mine) > 1:
            overall.append(_row(contest, pair, mine, None))
        for played in mine:
            row = _row(contest, pair, [played], played.cell.contract)
            if played.test is not None:
                _add_test(row, played)
            single.append(row)
    for family in (overall, single):
        if contest.sprt is None:
            for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
                row["p_holm"] = p
                if p < 1 - contest.confidence:
                    row["verdict"] = "a" if row["mean"] > 0 else "b"
        elif family is overall:
            for row in family:
                row["verdict"] = "a" if row["low"] > 0 else "b" if row["high"] < 0 else "open"
    return overall + single


def _add_test(row: Row, played: Played) -> None:
    """Add a sequential test's outcome: d1 shown above zero is for A, d0 below it for B."""
    test = played.test
    assert test is not None
    row["sprt"] = test.sprt.describe() | {
        "lower": test.sprt.lower,
        "upper": test.sprt.upper,
        "statistic": float(test.curve[-1]) if test.units else 0.0,
        "accepted": test.accepted,
    }
    if test.accepted == "H1" and test.sprt.d1 > 0:
        row["verdict"] = "a"
    elif test.accepted == "H0" and test.sprt.d0 < 0:
        row["verdict"] = "b"


def ratings(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return the players, the best first: points a deal above the mean of all, by least squares.

    Where everyone has met everyone on the same deals the least squares of all pairs' differences are plain means (K. Massey, 1997):
    of a player's differences to all others, himself among them.  Each unit gives one such mean, so intervals follow from units.
    """
    pairs = _by_pair(contest, cells)
    count = len(contest.players)
    contracts = len(contest.contracts)
    units = min(played.sums.units for played in cells)
    rows = []
    for number, player in enumerate(contest.players):
        total = np.zeros(units, np.int64)
        for (a, b), mine in pairs.items():
            if number in (a, b):
                total += _pooled(mine, "difference")[:units] * (1 if number == a else -1)
        bound = _bound(contest, cells) * (count - 1) / count
        verdict = judge(total, contest.scale * count * contracts, bound, contest.confidence, stopped=contest.sprt is not None)
        if verdict is not None:
            rows.append({"player": player.spec, "rating": verdict.mean} | _figures(verdict) | {"units": verdict.n})
    for row in rows:
        del row["mean"]
    return sorted(rows, key=lambda row: -row["rating"])


def matrix(rows: list[Row], names: list[str]) -> list[list[float | None]]:
    """Return mean differences, the row's player less the column's; None on the diagonal."""
    means: dict[tuple[str, str], float | None] = {}
    for row in reversed(rows):  # the first of a pair is the one over all contracts
        means[row["a"], row["b"]] = row["mean"]
        means[row["b"], row["a"]] = None if row["mean"] is None else -row["mean"]
    return [[means.get((a, b)) for b in names] for a in names]


def places(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return, for each pair and place, what A and B made there, and the difference."""
    rows = []
    for pair, mine in _by_pair(contest, cells).items():
        sums = _pooled(mine, "places")
        for number, name in enumerate(places_of(contest)):
            seen = sums[:, number][sums[:, number, 2] > 0] if len(sums) else np.zeros((0, 3), np.int64)
            if len(seen) == 0:
                continue
            count = int(seen[0, 2])  # alike in all units
            bound = 2 * _bound(contest, mine)
            verdict = judge(seen[:, 0] - seen[:, 1], count, bound, contest.confidence, stopped=contest.sprt is not None)
            assert verdict is not None
            means = {f"{who}_mean": float(seen[:, place].mean() / count) for place, who in enumerate("ab")}
            rows.append(_names(contest, pair) | {"place": name} | means | _figures(verdict) | {"units": verdict.n})
    return rows


def _radius(contest: Contest, units: int) -> float:
    """Return the half-width of an interval of a mean in standard errors; wider where a test decided how many units there are."""
    if contest.sprt is not None:
        return sequence_radius(units, 1 - contest.confidence) * math.sqrt(units)
    return t_quantile(0.5 + contest.confidence / 2, units - 1)


def reached(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return the differences by the contract or trump that a playing came to, where the players choose it."""
    if contest.contracts != (None,):
        return []
    rows = []
    words = TRUMPS if contest.game == "showcase" else contest.ruleset.contract_ids
    seats = 2 if contest.auction else 1
    for pair, mine in _by_pair(contest, cells).items():
        sums = _pooled(mine, "reached")
        for number, name in enumerate(words):
            seen = sums[:, number][sums[:, number, 1] > 0] if len(sums) else np.zeros((0, 2), np.int64)
            if len(seen) == 0:
                continue
            y, n = seen[:, 0].astype(object), seen[:, 1].astype(object)
            totals = (int((n * n).sum()), int((n * y).sum()), int((y * y).sum()))
            estimate = ratio_estimate(len(seen), int(n.sum()), int(y.sum()), *totals)
            mean, bound = float(estimate.value or 0.0) / seats, float(_bound(contest, mine))
            stderr = None if estimate.stderr is None else estimate.stderr / seats
            half = _radius(contest, len(seen)) * stderr if stderr else None
            low, high = (-bound, bound) if half is None else (max(mean - half, -bound), min(mean + half, bound))
            row = _names(contest, pair) | {"contract": name, "playings": estimate.n, "mean": mean, "stderr": stderr}
            rows.append(row | {"low": low, "high": high, "units": estimate.units})
    return rows


def largest(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return, for each pair, the deals on which the two differ most, with the commands that show the playings that differ most."""
    rows = []
    seats = 2 if contest.auction else 1
    mirror = {seating: contest.seatings.index(seating.translate(str.maketrans("AB", "BA"))) for seating in contest.seatings}
    for pair, mine in _by_pair(contest, cells).items():
        found: list[tuple[int, int, Played]] = []
        for played in mine:
            totals = played.sums["playings"].sum(axis=1) if played.sums.units else np.zeros(0, np.int64)
            found += [(int(totals[i]), int(i), played) for i in np.argsort(-abs(totals), kind="stable")[:_LARGEST]]
        found = [item for item in sorted(found, key=lambda item: -abs(item[0])) if item[0]]
        for total, place, played in found[:_LARGEST]:
            playings = played.sums["playings"][place]
            sign = 1 if total > 0 else -1
            best = int(np.argmax(sign * playings))
            shown = (best, mirror[contest.seatings[best]])
            deal = contest.base.first + place
            commands = [shlex.join(contest.replay_command(played.cell, contest.seatings[number], deal)) for number in shown]
            rows.append(
                _names(contest, pair)
                | {
                    "contract": played.cell.contract,
                    "deal": deal,
                    "difference": total / len(contest.seatings) / seats,
                    "playings": {s: int(d) / seats for s, d in zip(contest.seatings, playings, strict=True)},
                    "commands": commands,
                }
            )
    return rows


def curves(contest: Contest, cells: list[Played]) -> list[Row]:
    """Return how mean, interval and statistic went as units came, for two players: a curve a contract, at up to 120 points."""
    if len(contest.players) > 2:
        return []
    rows = []
    for played in cells:
        sums = played.sums["difference"] if played.sums.units else np.zeros(0, np.int64)
        points = np.unique(np.linspace(1, len(sums), min(len(sums), _CURVE_POINTS)).astype(int)).tolist() if len(sums) else []
        total, squares = np.cumsum(sums), np.cumsum(sums * sums)
        bound = _bound(contest, [played])
        curve = []
        for n in points:
            facts = (n, int(total[n - 1]), int(squares[n - 1]), contest.scale, bound, contest.confidence)
            verdict = judge_totals(*facts, stopped=contest.sprt is not None)
            assert verdict is not None
            statistic = None if played.test is None else float(played.test.curve[n - 1])
            curve.append({"units": n, "mean": verdict.mean, "low": verdict.low, "high": verdict.high, "statistic": statistic})
        rows.append(_names(contest, (played.cell.a, played.cell.b)) | {"contract": played.cell.contract, "points": curve})
    return rows
