"""The page of a choice on average: how often each contract or trump is the best, what it, the places and naming are worth."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from simcore.reports.blocks import Block, Cell, Column, Note, Page, Section, Table, Text, Tile, Tiles
from simcore.reports.charts import Bar, Bars, Calibration, CalibrationPoint, Grid, Histogram, Span, Stack
from simcore.reports.commands import reproduction
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.of_simulation import who
from simcore.reports.results import Result

__all__ = ["average_page"]

_WORLDS = "worlds.parquet"
_PLACES = {"left": "to the left", "opposite": "opposite", "right": "to the right"}
_STOPPED = {
    "decided": "It stopped when one was the best most often.",
    "limit": "It stopped at the most allowed; which is the best most often is not decided.",
    "time": "It stopped when the time allowed was over.",
}
#: Groups of a calibration, and the fewest hands of one.
_GROUPS, _LEAST_GROUP = 10, 4
_OBJECTIVES = {"relative": "relative credit", "margin": "margin", "win": "chance to win", "credit": "credit"}


def average_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore choose --out`` wrote without a hand."""
    config, answer = result.config, result.manifest["result"]
    tables: dict[str, list[dict[str, Any]]] = {}
    for row in answer["rows"]:
        tables.setdefault(row["table"], []).append(row)
    notes = [*(Note(text, "warning") for text in answer["warnings"]), *(Note(text) for text in answer["notes"])]
    if config["game"] == "showcase":
        title, what, count = "Which trump, on average?", "deals", answer["sampling"]["deals"]
        body = _showcase(result, tables)
    else:
        title, what, count = "Which contract, on average?", "random hands", answer["sampling"]["hands"]
        body = [*_elections(result, tables, answer["sampling"]), *_hand_points(answer.get("hand_points") or [])]
    lead = f"{count:,} {what} under the ruleset {config['ruleset']}, players {who(config['players'])}."
    end = reproduction("choose", config, result.manifest["ruleset_text"])
    return Page(title, lead, [*body, *notes, Text(_STOPPED.get(answer["sampling"]["stopped"], "")), end])


def _percent(value: float | None, digits: int = 1) -> str:
    return figure_text(value, digits, percent=True)


def _with_error(value: float | None, stderr: float | None, *, sign: bool = True, percent: bool = False) -> Cell:
    """Return a figure with its standard error in small print."""
    digits = 1 if percent else 2
    small = "" if stderr is None else f"± {figure_text(stderr, digits, percent=percent)}"
    return Cell(figure_text(value, digits, sign=sign, percent=percent), small)


def _span(value: float | None, stderr: float | None, confidence: float) -> Span:
    if value is None or stderr is None:
        return Span(value)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * stderr
    return Span(value, value - half, value + half)


def _shares(rows: list[dict[str, Any]], caption: str) -> Bars:
    """Return how often each choice is the best, marked where it is so most often."""
    bars = [
        Bar(row["choice"], [Span(row["mean"], row["low"], row["high"])], "best" if row["best"] else "tied" if row["tied"] else "")
        for row in rows
    ]
    foot = f"★ most often, = cannot be told from it. Lines: {100 * rows[0]['confidence']:g} % intervals that hold at every look."
    return Bars(bars, caption, percent=True, foot=foot)


def _most(rows: list[dict[str, Any]], noun: str) -> Tile:
    tied = [row["choice"] for row in rows if row["tied"]]
    note = f"not told from {', '.join(tied)}" if tied else f"{_percent(rows[0]['mean'])}, {100 * rows[0]['confidence']:g} % sure"
    return Tile(f"Best most often: {noun}", rows[0]["choice"], note)


def _elections(result: Result, tables: dict[str, list[dict[str, Any]]], sampling: dict[str, Any]) -> list[Block]:
    best, places = tables["best-for-a-hand"], tables["position"]
    objective = result.config["objective"]
    percent = objective == "win"
    worth = _with_error(sampling["worth_of_choosing"], sampling["worth_of_choosing_stderr"], percent=percent, sign=not percent)
    looked = sampling["worlds_a_hand"]
    tiles = [
        _most(best, "contract"),
        Tile("Worth of a hand’s best", worth.text, f"{_OBJECTIVES[objective]}, {worth.small} s.e."),
        Tile("Close hands", _percent(sampling["close"], 0), "the best two cannot be told apart"),
        Tile("Hands", f"{sampling['hands']:,}", f"{looked['all']} worlds each, {looked['close']} more where close"),
    ]
    body = [
        [
            row["choice"],
            _percent(row["mean"]),
            interval_text(row["low"], row["high"], 1, percent=True),
            _with_error(row["worth_then"], row["worth_then_stderr"], percent=percent, sign=not percent),
            _with_error(row["worth_by_chance"], row["worth_by_chance_stderr"], percent=percent, sign=not percent),
        ]
        for row in best
    ]
    columns = [Column("contract", True), Column("best"), Column("interval"), Column("worth then"), Column("worth by chance")]
    foot = (
        f"Worth then: {_OBJECTIVES[objective]} where it is the hand’s best, measured in fresh worlds. By chance: of a declarer "
        "who had no choice. ±: one standard error; the unit is the hand."
    )
    first: list[Block] = [
        Text("Each hand was the declarer’s, and every contract was tried on the same worlds; the highest mean is the hand’s best."),
        _shares(best, "How often each contract is a hand’s best"),
        Table(columns, body, "What it is worth", foot),
    ]
    if not percent:
        plots = _worths(result, [row["choice"] for row in best])
        first += [Text(f"What each contract is worth to a hand ({_OBJECTIVES[objective]}, rounded), over all hands."), Grid(plots)]
    return [Tiles(tiles), Section("Contracts", first), *_fresh(result, _OBJECTIVES[objective], percent=percent), _positions(places)]


def _fresh(result: Result, objective: str, *, percent: bool) -> list[Block]:
    """Return what the best contracts promised in the worlds they were chosen by, against what they brought in fresh ones."""
    promised: list[np.ndarray] = []
    brought: list[np.ndarray] = []
    for batch in result.batches(_WORLDS, ["best", "mean", "worth"]):
        best = np.asarray(batch.column(0))
        promised.append(np.asarray(batch.column(1))[best])
        brought.append(np.asarray(batch.column(2))[best])
    foretold, seen = np.concatenate(promised), np.concatenate(brought)
    order = np.argsort(foretold, kind="stable")
    points = []
    for group in np.array_split(order, min(_GROUPS, len(order) // _LEAST_GROUP)) if len(order) >= _LEAST_GROUP else []:
        stderr = float(seen[group].std(ddof=1)) / len(group) ** 0.5
        mean = float(seen[group].mean())
        points.append(CalibrationPoint(float(foretold[group].mean()), _span(mean, stderr, 0.95), len(group)))
    if not points:
        return []
    text = (
        "A hand’s best contract is the one with the highest mean, and so it looks better than it is: its mean holds the luck it "
        "was chosen by. The same contracts in fresh worlds show what they are worth; below the diagonal they promised too much."
    )
    foot = f"Hands in {len(points)} groups by what was promised. Lines: 95 % intervals; the unit is the hand."
    plot = Calibration(points, f"Best contracts: {objective}", "promised", "in fresh worlds", 2, percent=percent, foot=foot)
    return [Section("What the choice promises, and what it brings", [Text(text), plot])]


def _hand_points(models: list[dict[str, Any]]) -> list[Block]:
    """Return what makes a hand good: for each contract points to add up, and how well they foretell."""
    if not models:
        return []
    cells: list[Block] = []
    for model in models:
        rows = [["start from", figure_text(model["base"], 1, sign=True)]]
        rows += [[what, figure_text(points, 1, sign=True)] for what, points in model["add"]]
        points = [CalibrationPoint(foretold, _span(seen, stderr, 0.95), n) for foretold, seen, stderr, n in model["calibration"]]
        r2 = f"of what hands are worth; of single deals R² {model['r2_deal']:.3f}"
        cells.append(
            Stack(
                [
                    Table([Column("", True), Column("margin")], rows, f"{model['choice']}: R² {model['r2_hand']:.2f}", r2),
                    Calibration(points, "", "foretold", "seen", height=170),
                ]
            )
        )
    text = (
        "Points to add up for the margin to expect as declarer, partner and opponents unknown; fitted to contracts that experts "
        "played. A single deal depends on 39 more cards and is foretold far worse than what hands are worth. Plots: "
        "held-out deals in ten groups by what was foretold, and the margin they came to; on the diagonal the points are right."
    )
    return [Section("What makes a hand good", [Text(text), Grid(cells)])]


def _worths(result: Result, names: list[str]) -> list[Block]:
    counts: dict[str, dict[int, int]] = {name: {} for name in names}
    for batch in result.batches(_WORLDS, ["choice", "mean"]):
        choice = batch.column(0)
        places, means = np.asarray(choice.indices), np.floor(np.asarray(batch.column(1)) + 0.5).astype(np.int64)
        for place, name in enumerate(choice.dictionary.to_pylist()):
            for value, count in zip(*np.unique(means[places == place], return_counts=True), strict=True):
                counts[name][int(value)] = counts[name].get(int(value), 0) + int(count)
    return [Histogram(counts[name], name, "points", threshold=0) for name in names]


def _positions(rows: list[dict[str, Any]]) -> Section:
    confidence = rows[0]["confidence"]
    sides = [Bar(row["choice"], [Span(row["mean"], row["low"], row["high"])]) for row in rows]
    partners = [
        Bar(row["choice"], [_span(row[f"partner_{name}"], row[f"partner_{name}_stderr"], confidence) for name in _PLACES])
        for row in rows
    ]
    foot = f"Lines: {100 * confidence:g} % intervals; the unit is the hand."
    return Section(
        "What the places are worth",
        [
            Bars(sides, "Margin of the leader’s side (points)", digits=2, sign=True, foot=foot),
            Bars(
                partners,
                "Attackers’ margin (points), by where the declarer’s partner sits",
                digits=2,
                sign=True,
                series=[f"partner {place}" for place in _PLACES.values()],
                foot=foot,
            ),
        ],
    )


def _showcase(result: Result, tables: dict[str, list[dict[str, Any]]]) -> list[Block]:
    best, worth = tables["best-trump"], tables["worth"]
    by = {row["choice"]: row for row in worth}

    def tile(label: str, row: dict[str, Any]) -> Tile:
        form: dict[str, Any] = {"digits": 1, "percent": True} if row["objective"] == "win" else {"digits": 2}
        return Tile(label, figure_text(row["mean"], **form), interval_text(row["low"], row["high"], **form))

    tiles = [
        _most(best, "trump"),
        tile("The namer’s tricks", by["namer"]),
        tile("Naming is worth (tricks)", by["naming"]),
        tile("Naming is worth (wins)", by["naming-win"]),
    ]
    body = [
        [
            row["choice"],
            _percent(row["mean"]),
            _percent(row["as_good"]),
            _percent(row["alone"]),
            _with_error(row["tricks"], row["tricks_stderr"], sign=False),
            _percent(row["win"]),
        ]
        for row in best
    ]
    heads = ("trump", "best, ties shared", "as good as any", "better than any", "namer’s tricks", "namer wins")
    worths = []
    for row in worth:
        percent = row["objective"] == "win"
        digits, sign = (1, True) if percent else (2, row["choice"] != "namer")
        worths.append(
            [
                row["what"],
                _with_error(row["mean"], row["stderr"], sign=sign, percent=percent),
                interval_text(row["low"], row["high"], digits, sign=sign, percent=percent),
                f"{row['deals']:,}",
            ]
        )
    columns = [Column("", True), Column("worth"), Column(f"{100 * worth[0]['confidence']:g} % interval"), Column("deals")]
    first: list[Block] = [
        Text("The first playout is played by the players, the second solved exactly, for every trump."),
        _shares(best, "How often each trump is the namer’s best, ties shared"),
        Table(
            [Column(heads[0], True), *(Column(head) for head in heads[1:])],
            body,
            "What each trump brings",
            "±: one standard error.",
        ),
        Text("The namer’s tricks with each trump; right of the dashed line he wins."),
        Grid(_tricks(result, [row["choice"] for row in best])),
    ]
    foot = "Intervals hold at every look; ±: one standard error."
    return [
        Tiles(tiles),
        Section("Trumps", first),
        Section("What naming and leading are worth", [Table(columns, worths, foot=foot)]),
    ]


def _tricks(result: Result, names: list[str]) -> list[Block]:
    """Return how the namer's tricks are spread: he leads, or follows."""
    counts: dict[str, dict[int, int]] = {name: {} for name in names}
    for batch in result.batches(_WORLDS, ["choice", "namer", "leader", "tricks_leading", "tricks_following"]):
        namer, leader = (
            np.array(column.dictionary.to_pylist())[np.asarray(column.indices)] for column in (batch.column(1), batch.column(2))
        )
        tricks = np.where(namer == leader, np.asarray(batch.column(3)), np.asarray(batch.column(4)))
        choice = batch.column(0)
        for place, name in enumerate(choice.dictionary.to_pylist()):
            for value, count in enumerate(np.bincount(tricks[np.asarray(choice.indices) == place])):
                if count:
                    counts[name][value] = counts[name].get(value, 0) + int(count)
    means = {name: sum(v * c for v, c in found.items()) / max(sum(found.values()), 1) for name, found in counts.items()}
    return [Histogram(counts[name], name, "tricks", means[name], 6.5) for name in names]
