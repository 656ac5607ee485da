"""The page of a simulation: wins and points per contract or trump with intervals, distributions, seats, rounds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from simcore.batches.config import GAME_SEATS, Config
from simcore.batches.summary import summarise
from simcore.reports.blocks import Block, Cell, Column, Note, Page, Section, Table, Text, Tile, Tiles
from simcore.reports.charts import Bar, Bars, Calibration, CalibrationPoint, Grid, Histogram, Span
from simcore.reports.commands import reproduction
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.results import Result
from simcore.rules import TRUMPS, Ruleset, parse_ruleset
from simcore.specs import Player
from simcore.stats import mean_estimate
from simcore.worth import HandModel, model_of

__all__ = ["SEAT_NAMES", "simulation_page", "who"]

_CONFIDENCE = 0.95
#: The fewest deals of a group in a calibration.
_FEWEST = 30
SEAT_NAMES = {"N": "North", "E": "East", "S": "South", "W": "West"}


def simulation_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore simulate --out`` wrote."""
    manifest, described = result.manifest, result.config
    ruleset = parse_ruleset(manifest["ruleset_text"], where=f"manifest of {str(result.folder)!r}")
    deals = sum(part["deals"] for part in manifest["parts"])
    if not deals:
        result.damaged("no deal was finished; accepted: the same command again, which goes on where it stopped")
    tally: dict[str, Any] = {}
    for part in manifest["parts"]:
        for name, values in part["tally"].items():
            tally[name] = tally.get(name, 0) + np.array(values, np.int64)
    summary = summarise(_config_of(described, ruleset, deals), tally, _CONFIDENCE)
    if described["game"] == "showcase":
        title, blocks = "Showcase", _showcase(result, summary)
    else:
        title, blocks = "Elections", _elections(result, summary, ruleset)
    head: list[Block] = []
    if not manifest["complete"]:
        wanted = described["deals"]
        head.append(
            Note(f"The run was stopped: {deals:,} of {wanted:,} deals are here.  The same command goes on from there.", "warning")
        )
    lead = f"{deals:,} deals under the ruleset {ruleset.name}, {_how(described)}. Players: {who(described['players'])}."
    return Page(f"{title}: {deals:,} deals", lead, [*head, *blocks, reproduction("simulate", described, manifest["ruleset_text"])])


def _config_of(described: dict[str, Any], ruleset: Ruleset, deals: int) -> Config:
    """Return the config as far as a summary needs it: players are names only, their files need not be here."""
    players = tuple(Player(described["players"][seat], (0, 0, 0)) for seat in GAME_SEATS[described["game"]])
    known = {
        key: described[key] for key in ("contract", "pairs", "declarer", "trump", "dealer", "known", "where", "hands", "rounds")
    }
    return Config(described["game"], ruleset, int(described["seed"]), described["first"], deals, players, **known)


def _how(described: dict[str, Any]) -> str:
    if described["game"] == "showcase":
        return {None: "the namer names the trump", "all": "every trump after the same first playout"}.get(
            described["trump"], f"trump {described['trump']}"
        )
    known = {None: "with the auction", "all": "every contract on the same deals", "random": "contracts by chance"}
    return known.get(described["contract"], f"contract {described['contract']}")


def who(players: dict[str, str]) -> str:
    """Return who plays, in a few words."""
    specs = list(dict.fromkeys(players.values()))
    return specs[0] if len(specs) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in players.items())


def _span(value: float | None, stderr: float | None) -> Span:
    """Return a figure with its normal interval."""
    if value is None or stderr is None:
        return Span(value)
    half = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2) * stderr
    return Span(value, value - half, value + half)


def _percent(value: float | None, digits: int = 1) -> str:
    return figure_text(value, digits, percent=True)


_FOOT = "Lines: 95 % intervals."


def _elections(result: Result, summary: dict[str, Any], ruleset: Ruleset) -> list[Block]:
    rows = [row for row in summary["rows"] if row["deals"]]
    blocks: list[Block] = []
    auction = summary["unit"] == "round"
    if auction:
        total = summary["played"] + summary["passed_out"] + summary["redealt"]
        most = max(rows, key=lambda row: row["deals"], default=None)
        tiles = [Tile("Deals played", _percent(summary["played"] / total), f"{summary['played']:,} of {total:,}")]
        tiles += [
            Tile("Passed out", _percent(summary["passed_out"] / total)),
            Tile("Redealt", _percent(summary["redealt"] / total)),
        ]
        tiles += [Tile("Played most", most["contract"], f"{_percent(most['share'])} of deals played")] if most else []
        blocks.append(Tiles(tiles))
    elif len(rows) == 1:
        row = rows[0]
        blocks.append(
            Tiles(
                [
                    Tile(
                        "Attackers win",
                        _percent(row["attackers_win"]),
                        interval_text(row["win_low"], row["win_high"], 1, percent=True),
                    ),
                    Tile(
                        "Attackers’ points",
                        figure_text(row["mean_attackers"], 2, sign=True),
                        f"± {figure_text(row['stderr'], 3)} s.e.",
                    ),
                    Tile("Defenders’ points", figure_text(row["mean_defenders"], 2, sign=True), "mean of a deal"),
                    Tile("Drawn", _percent(row["draws"])),
                ]
            )
        )
    if not rows:
        return [*blocks, Note("No contract was played.")]
    wins = [Bar(row["contract"], [Span(row["attackers_win"], row["win_low"], row["win_high"])]) for row in rows]
    margins = [
        Bar(row["contract"], [_span(2 * row["mean_attackers"] - ruleset.contract(row["contract"]).total, _twice(row["stderr"]))])
        for row in rows
    ]
    words = [[row["contract"], ruleset.contract(row["contract"]).describe().replace(" -", " −")] for row in rows]
    unit = (
        "Intervals are from rounds of eight deals, which share lots and the order of dealers."
        if auction
        else "The unit of statistics is the deal."
    )
    blocks.append(
        Section(
            "Who wins",
            [
                Bars(wins, "How often the attackers win", percent=True, dots=True, reference=0.5, foot=f"{_FOOT} {unit}"),
                Bars(margins, "Attackers’ points less defenders’, a deal", digits=2, sign=True, foot=_FOOT),
                _contract_table(rows),
                Table([Column("contract", True), Column("what it pays", True)], words, "The contracts"),
            ],
        )
    )
    if auction:
        rows = sorted(rows, key=lambda row: (-row["deals"], row["contract"]))
        shares = [Bar(row["contract"], [Span(row["share"], row["share_low"], row["share_high"])]) for row in rows]
        blocks.append(Section("What is played", [Bars(shares, "Share of deals played", percent=True, foot=_FOOT)]))
    blocks.append(_distributions(result, summary, ruleset))
    if not auction and result.config["hands"]:
        blocks += _calibration(result, ruleset)
    if auction:
        blocks += _seats(result, summary)
    return blocks


def _twice(value: float | None) -> float | None:
    return None if value is None else 2 * value


def _contract_table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = [
        Column("contract", True),
        Column("deals"),
        Column("attackers win"),
        Column("95 % interval"),
        Column("drawn"),
        Column("attackers’ points", hint="mean of a deal"),
        Column("defenders’ points", hint="mean of a deal"),
        Column("± s.e.", hint="standard error of either side's points"),
    ]
    body = [
        [
            row["contract"],
            f"{row['deals']:,}",
            _percent(row["attackers_win"], 2),
            interval_text(row["win_low"], row["win_high"], 2, percent=True),
            _percent(row["draws"]),
            figure_text(row["mean_attackers"], 3, sign=True),
            figure_text(row["mean_defenders"], 3, sign=True),
            figure_text(row["stderr"], 3),
        ]
        for row in rows
    ]
    foot = "Points are means of a deal. Both sides’ points have a fixed sum, so one standard error (s.e.) holds for both."
    return Table(columns, body, "All figures", foot)


def _parts(result: Result) -> list[str]:
    return [part["name"] for part in result.manifest["parts"]]


def _distributions(result: Result, summary: dict[str, Any], ruleset: Ruleset) -> Section:
    counts = result.counts(_parts(result), "contract", "points_attackers")
    plots: list[Block] = []
    for row in summary["rows"]:
        name = row["contract"]
        found = counts.get(name, {})
        if sum(found.values()) != row["deals"]:
            result.damaged(f"its tables hold {sum(found.values()):,} deals of {name!r}, its manifest counts {row['deals']:,}")
        if found:
            half = ruleset.contract(name).total / 2
            plots.append(Histogram(found, name, "points", row["mean_attackers"], half))
    said = Text("The attackers’ points of a deal. Right of the dashed line, half of what both sides get together, they win.")
    return Section("Distributions", [said, Grid(plots)])


def _calibration(result: Result, ruleset: Ruleset) -> list[Block]:
    """Return what the declarers' hands foretold, by the models shipped, against the margins they came to."""
    models = {c.id: model for c in ruleset.contracts if (model := model_of(ruleset.meaning(c), c)) is not None}
    sums: dict[str, dict[int, np.ndarray]] = {name: {} for name in models}
    columns = ["contract", "declarer", "points_attackers", "points_defenders", *(f"hand_{seat.lower()}" for seat in SEAT_NAMES)]
    for name in _parts(result) if models else ():
        for batch in result.batches(name, columns):
            contract, declarer = batch.column(0), batch.column(1)
            seats = np.array(["NESW".index(seat) for seat in declarer.dictionary.to_pylist()])[np.asarray(declarer.indices)]
            margins = np.asarray(batch.column(2)).astype(np.int64) - np.asarray(batch.column(3))
            hands = np.stack([np.asarray(batch.column(4 + seat)) for seat in range(4)])
            held = hands[seats, np.arange(len(seats))]
            for place, word in enumerate(contract.dictionary.to_pylist()):
                chosen = np.asarray(contract.indices) == place
                if word in models and chosen.any():
                    _add_groups(sums[word], models[word], held[chosen], margins[chosen])
    plots: list[Block] = []
    for name, groups in sums.items():
        points = [_group_point(groups[key]) for key in sorted(groups) if groups[key][0] >= _FEWEST]
        if len(points) > 1:
            plots.append(Calibration(points, name, "foretold", "seen", height=170))
    if not plots:
        return []
    text = (
        "The margin that the declarer’s hand foretells (simcore’s model of hands, fitted to expert play) against the attackers’ "
        "margin it came to. On the diagonal the model is right for these players; lines are 95 % intervals."
    )
    return [Section("What hands foretell", [Text(text), Grid(plots)])]


def _add_groups(groups: dict[int, np.ndarray], model: HandModel, hands: np.ndarray, margins: np.ndarray) -> None:
    """Add deals to groups half a spread wide: their number, sums of what was foretold and of margins, and of their squares."""
    foretold = model.margins(hands)
    keys = np.floor(foretold / (model.spread / 2)).astype(np.int64)
    for key in np.unique(keys):
        mine = keys == key
        seen = margins[mine]
        row = np.array([mine.sum(), foretold[mine].sum(), seen.sum(), (seen * seen).sum()], float)
        groups[int(key)] = groups.get(int(key), np.zeros(4)) + row


def _group_point(sums: np.ndarray) -> CalibrationPoint:
    n, foretold, total, squares = (float(value) for value in sums)
    estimate = mean_estimate(int(n), int(total), int(squares))
    return CalibrationPoint(foretold / n, _span(estimate.value, estimate.stderr), int(n))


def _seats(result: Result, summary: dict[str, Any]) -> list[Block]:
    seats = [
        Bar(SEAT_NAMES[seat["seat"]], [_span(seat["mean_credit"], seat["stderr"])], note=seat["player"])
        for seat in summary["seats"]
    ]
    blocks: list[Block] = [Bars(seats, "Credit a deal", digits=2, sign=True, foot=_FOOT)]
    if result.config["rounds"]:
        totals: dict[int, int] = {}
        places = np.zeros((4, 4), np.int64)
        names = [f"{what}_{seat.lower()}" for what in ("total", "place") for seat in SEAT_NAMES]
        for batch in result.batches("rounds.parquet", names):
            for seat in range(4):
                for value, count in zip(*np.unique(np.asarray(batch.column(seat)), return_counts=True), strict=True):
                    totals[int(value)] = totals.get(int(value), 0) + int(count)
                places[seat] += np.bincount(np.asarray(batch.column(4 + seat)), minlength=5)[1:5]
        rounds = int(places[0].sum())
        if rounds:
            body = [
                [f"{name}", *(_percent(places[seat, place] / rounds) for place in range(4))]
                for seat, name in enumerate(SEAT_NAMES.values())
            ]
            columns = [Column("seat", True), *(Column(place) for place in ("first", "second", "third", "fourth"))]
            foot = (
                f"{rounds:,} whole rounds of eight deals; equal totals share the place (E18): shares of first places exceed 100 %."
            )
            blocks.append(Table(columns, body, "Places in a round", foot))
            mean = sum(value * count for value, count in totals.items()) / (4 * rounds)
            blocks.append(Histogram(totals, "A player’s total in a round", "credit", mean))
    return [Section("Seats and rounds", blocks)]


def _showcase(result: Result, summary: dict[str, Any]) -> list[Block]:
    rows = [row for row in summary["rows"] if row["deals"]]
    blocks: list[Block] = []
    if "wins" in summary:
        wins = {row["who"]: row for row in summary["wins"]}
        names = (("namer", "The namer wins"), ("elder", "The elder wins"), ("leader", "The second playout’s leader wins"))
        blocks.append(
            Tiles(
                [
                    *(
                        Tile(t, _percent(wins[w]["share"]), interval_text(wins[w]["low"], wins[w]["high"], 1, percent=True))
                        for w, t in names
                    ),
                    Tile(
                        "Equal counts", _percent(summary["count_ties"] / wins["N"]["deals"]), "then S9’s tie rule decides who names"
                    ),
                ]
            )
        )
    bars = [Bar(row["trump"], [Span(row["namer_wins"], row["win_low"], row["win_high"])]) for row in rows]
    tricks = [Bar(row["trump"], [_span(row["mean_namer"], row["stderr"])]) for row in rows]
    columns = ["trump", "deals", "share", "namer wins", "95 % interval", "namer’s tricks", "± s.e."]
    body = [
        [
            row["trump"],
            f"{row['deals']:,}",
            Cell(_percent(row["share"]), interval_text(row["share_low"], row["share_high"], 1, percent=True)),
            _percent(row["namer_wins"], 2),
            interval_text(row["win_low"], row["win_high"], 2, percent=True),
            figure_text(row["mean_namer"], 3),
            figure_text(row["stderr"], 3),
        ]
        for row in rows
    ]
    blocks.append(
        Section(
            "Who wins",
            [
                Bars(bars, "How often the namer wins", percent=True, dots=True, reference=0.5, foot=_FOOT),
                Bars(tricks, "The namer’s tricks in the second playout, of 13", digits=2, dots=True, reference=6.5, foot=_FOOT),
                Table([Column(columns[0], True), *(Column(name) for name in columns[1:])], body, "All figures"),
            ],
        )
    )
    blocks.append(_showcase_distributions(result, summary))
    return blocks


def _showcase_distributions(result: Result, summary: dict[str, Any]) -> Section:
    """Return how the namer's tricks are spread: the table has North's, so both seats' columns are needed."""
    tricks: dict[str, dict[int, int]] = {trump: {} for trump in TRUMPS}
    first: dict[int, int] = {}
    for name in _parts(result):
        for batch in result.batches(name, ["namer", "trump", "points_n", "points_s", "won_n"]):
            namer, trump = (batch.column(i) for i in (0, 1))
            words, places = trump.dictionary.to_pylist(), np.asarray(trump.indices)
            north = np.array(namer.dictionary.to_pylist())[np.asarray(namer.indices)] == "N"
            points = np.where(north, np.asarray(batch.column(2)), np.asarray(batch.column(3)))
            for place, word in enumerate(words):
                for value, count in enumerate(np.bincount(points[places == place])):
                    if count:
                        tricks[word][value] = tricks[word].get(value, 0) + int(count)
            for value, count in enumerate(np.bincount(np.asarray(batch.column(4)))):
                if count:
                    first[value] = first.get(value, 0) + int(count)
    plots: list[Block] = []
    for row in summary["rows"]:
        found = tricks[row["trump"]]
        if sum(found.values()) != row["deals"]:
            result.damaged(
                f"its tables hold {sum(found.values()):,} deals of {row['trump']!r}, its manifest counts {row['deals']:,}"
            )
        if found:
            plots.append(Histogram(found, row["trump"], "tricks", row["mean_namer"], 6.5))
    said = Text("The namer’s tricks in the second playout; right of the dashed line he wins.")
    repeat = len(TRUMPS) if result.config["trump"] == "all" else 1  # rows that share a first playout
    first = {value: count // repeat for value, count in first.items()}
    whole = Histogram(first, "North’s tricks in the first playout", "tricks")
    return Section("Distributions", [said, Grid(plots), whole])
