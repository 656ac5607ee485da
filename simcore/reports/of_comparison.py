"""The page of a comparison: who is better and by how much, where, what mistakes cost, and how to see and make it again."""

from __future__ import annotations

import json
from typing import Any

from simcore.reports.blocks import (
    Block,
    Cell,
    Column,
    Command,
    Fold,
    Matrix,
    MatrixCell,
    Note,
    Page,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
)
from simcore.reports.charts import Bar, Bars, Calibration, CalibrationPoint, Curve, Grid, Line, Span
from simcore.reports.commands import reproduction
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.results import Result

__all__ = ["comparison_page", "verdict_text"]

_RESULT = "result.json"
_SHOWN_DEALS = 5
_BY = {
    "all": "All cards",
    "kind": "By kind of card",
    "role": "By role",
    "contract": "By contract or trump",
    "trick": "By trick number",
}

Data = dict[str, Any]
Row = dict[str, Any]


def comparison_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore compare --out`` wrote."""
    data: Data = json.loads((result.folder / _RESULT).read_text("utf-8"))
    names: list[str] = data["players"]
    rows: list[Row] = data["rows"]
    head: list[Block] = []
    if len(names) == 2:
        head.append(_tiles(rows[0], data["unit"]))
    head += [Note(text, "warning") for text in _warnings(data)]
    blocks = [*head, _pairs(data), *_several(data), *_curves(data), *_where(data), *_mistakes(data), *_tricks(data)]
    blocks += [*_largest(data), _method(data)]
    blocks.append(reproduction("compare", result.config, result.manifest["ruleset_text"], line=data["command_line"]))
    title = f"{names[0]} against {names[1]}" if len(names) == 2 else f"{len(names)} players compared"
    return Page(f"{data['game'].capitalize()}: {title}", _lead(data), blocks)


def _lead(data: Data) -> str:
    contracts = [contract for contract in data["contracts"] if contract is not None]
    how = (
        ", ".join(contracts) if contracts else ("with the auction" if data["game"] == "elections" else "the namer names the trump")
    )
    most = max(row["deals"] for row in data["rows"])
    return (
        f"{most:,} deals under the ruleset {data['ruleset']}, {how}; every deal in {len(data['seatings'])} seatings "
        f"({', '.join(data['seatings'])}). What is independent, and counted, is the {data['unit']} with all its seatings."
    )


def _warnings(data: Data) -> list[str]:
    texts = []
    if data["sprt"] is not None and not data["decided"]:
        texts.append("A sequential test came to the last deal undecided.")
    few = [row for row in data["rows"] if row["units"] < 20]
    if few:
        texts.append(f"Some rows rest on fewer than 20 {data['unit']}s: their intervals lean on the normal law.")
    return texts


def verdict_text(row: Row) -> str:
    """Say what a row comes to."""
    if row["verdict"] != "open":
        return f"{row['a' if row['verdict'] == 'a' else 'b']} is better"
    if row["sprt"] and row["sprt"]["accepted"] == "H0":
        return f"not better by {row['sprt']['d1']:g}"
    if row["sprt"] and row["sprt"]["accepted"] == "H1":
        return f"not worse by {-row['sprt']['d0']:g}"
    return "open"


def _mean(row: Row) -> str:
    return figure_text(row["mean"], 2, sign=True)


def _interval(row: Row) -> str:
    return interval_text(row["low"], row["high"], 2, sign=True)


def _share(row: Row) -> str:
    return figure_text(row["win_share"], 1, percent=True)


def _chance(value: float | None) -> str:
    """Return a chance that is never shown as certain."""
    if value is None:
        return "–"
    if value > 0.9999:
        return "> 99.99 %"
    return "< 0.01 %" if value < 0.0001 else figure_text(value, 2, percent=True)


def _tiles(row: Row, unit: str) -> Tiles:
    return Tiles(
        [
            Tile("Verdict", verdict_text(row), _sure(row)),
            Tile("Mean difference a deal", _mean(row), _interval(row)),
            Tile(f"{row['a']} wins", _share(row), interval_text(row["win_low"], row["win_high"], 1, percent=True)),
            Tile(f"Chance that {row['a']} is better", _chance(row["chance"])),
            Tile(f"{unit.capitalize()}s", f"{row['units']:,}", f"{row['deals']:,} deals"),
        ]
    )


def _sure(row: Row) -> str:
    """Say what a verdict may be wrong by."""
    if row["sprt"] is not None:
        return f"by a test with errors {row['sprt']['alpha']:g} and {row['sprt']['beta']:g}" if row["sprt"]["accepted"] else ""
    return f"{100 * row['confidence']:g} % sure" if row["verdict"] != "open" else ""


def _label(row: Row, names: list[str]) -> str:
    who = "" if len(names) == 2 else f"{row['a']} – {row['b']}"
    what = row["contract"] or ("all together" if len(names) == 2 else "")
    return ": ".join(part for part in (who, what) if part)


def _pairs(data: Data) -> Section:
    names, rows = data["players"], data["rows"]
    confidence = f"{100 * data['confidence']:g} %"
    bars = Bars(
        [Bar(_label(row, names), [Span(row["mean"], row["low"], row["high"])]) for row in rows if row["mean"] is not None],
        f"Points a deal of the first player less those of the second, with {confidence} intervals",
        digits=2,
        sign=True,
        reference=0.0,
    )
    columns = [Column("", left=True), Column("verdict", left=True), Column(f"difference, {confidence} interval"), Column("s.e.")]
    columns += [Column("first wins", hint="share of playings won; a first place shared counts in part"), Column("first better")]
    columns += [Column("p (Holm)")] if data["sprt"] is None else [Column("statistic")]
    columns += [Column(f"{data['unit']}s: for, equal, against")]
    table = Table(
        columns,
        [
            [
                _label(row, names),
                verdict_text(row),
                Cell(_mean(row), _interval(row)),
                figure_text(row["stderr"], 3),
                Cell(_share(row), interval_text(row["win_low"], row["win_high"], 1, percent=True)),
                _chance(row["chance"]),
                _p(row),
                Cell(f"{row['units']:,}", f"{row['units_for_a']:,}, {row['units_equal']:,}, {row['units_for_b']:,}"),
            ]
            for row in rows
        ],
        marked=[number for number, row in enumerate(rows) if row["verdict"] != "open"],
        foot=_foot(data),
        stacked=True,
    )
    return Section("Who is better", [bars, table])


def _p(row: Row) -> str:
    if row["sprt"] is not None:
        return figure_text(row["sprt"]["statistic"], 2, sign=True)
    if row["p_holm"] is None:
        return "–"
    return "< 0.0001" if row["p_holm"] < 0.0001 else f"{row['p_holm']:.4f}"


def _foot(data: Data) -> str:
    if data["sprt"] is not None:
        return "Intervals hold at all sample sizes at once, so also where the test stopped."
    return "p: of a difference as large by chance, corrected for the number of comparisons (Holm); the verdict follows from it."


def _several(data: Data) -> list[Block]:
    """Return ratings and matrix."""
    if not data["ratings"]:
        return []
    names = data["players"]
    bars = Bars(
        [Bar(row["player"], [Span(row["rating"], row["low"], row["high"])]) for row in data["ratings"]],
        "Rating: points a deal above the mean of all players",
        digits=2,
        sign=True,
    )
    most = max((abs(value) for line in data["matrix"] for value in line if value is not None), default=1.0) or 1.0
    cells = [
        [None if value is None else MatrixCell(figure_text(value, 2, sign=True), "", value / most) for value in line]
        for line in data["matrix"]
    ]
    matrix = Matrix(names, cells, "Mean difference a deal, the row's player less the column's")
    return [Section("Ratings", [bars, matrix, *_fit(data)])]


def _fit(data: Data) -> list[Block]:
    """Return what ratings say of each pair against what was seen: off the diagonal where A beats B beats C, but not A so much C."""
    ratings = {row["player"]: row["rating"] for row in data["ratings"]}
    points = [
        CalibrationPoint(ratings[row["a"]] - ratings[row["b"]], Span(row["mean"], row["low"], row["high"]), row["units"])
        for row in data["rows"]
        if row["mean"] is not None and row["contract"] in (None, data["rows"][0]["contract"])
    ]
    if not points:
        return []
    foot = "Each point is a pair of players. On the diagonal one number a player says it all; off it, who meets whom matters."
    caption = "Difference of ratings against the difference seen, points a deal"
    return [Calibration(points, caption, "difference of ratings", "difference seen", digits=2, foot=foot)]


def _curves(data: Data) -> list[Block]:
    """Return how mean and statistic went."""
    if not data["curves"]:
        return []
    plots: list[Block] = []
    for curve in data["curves"]:
        points = curve["points"]
        x = [float(point["units"]) for point in points]
        name = curve["contract"] or "all"
        shown = [point for point in points if point["units"] >= min(8, points[-1]["units"])] if points else []
        mean = Line(
            "mean",
            [float(point["units"]) for point in shown],
            [point["mean"] for point in shown],
            [point["low"] for point in shown],
            [point["high"] for point in shown],
        )
        if data["sprt"] is not None and points:
            row = next(row for row in data["rows"] if row["contract"] == curve["contract"] and row["sprt"])
            bounds = (
                (row["sprt"]["upper"], f"{row['sprt']['d1']:g} accepted"),
                (row["sprt"]["lower"], f"{row['sprt']['d0']:g} accepted"),
            )
            line = Line("log-likelihood ratio", x, [point["statistic"] for point in points])
            plots.append(Curve([line], f"{name}: the test's statistic", f"{data['unit']}s", "statistic", bounds))
        if shown:
            plots.append(Curve([mean], f"{name}: mean and interval", f"{data['unit']}s", "points a deal", ((0.0, "equal"),)))
    return [Section("How it went", [Grid(plots)])] if plots else []


def _where(data: Data) -> list[Block]:
    """Return seats, roles and contracts reached."""
    names = data["players"]
    blocks: list[Block] = []
    columns = [
        Column("", left=True),
        Column("first"),
        Column("second"),
        Column("difference"),
        Column("interval"),
        Column(f"{data['unit']}s"),
    ]
    for pair in dict.fromkeys((row["a"], row["b"]) for row in data["places"]):
        rows = [
            [
                row["place"],
                figure_text(row["a_mean"], 2, sign=True),
                figure_text(row["b_mean"], 2, sign=True),
                _mean(row),
                _interval(row),
            ]
            + [f"{row['units']:,}"]
            for row in data["places"]
            if (row["a"], row["b"]) == pair
        ]
        caption = f"Mean points of {pair[0]} and of {pair[1]} in each place"
        table = Table(columns, rows, caption)
        blocks.append(table if len(names) == 2 else Fold(f"{pair[0]} – {pair[1]}", [table]))
    columns = [Column("", left=True), Column("playings"), Column("difference"), Column("interval"), Column(f"{data['unit']}s")]
    for pair in dict.fromkeys((row["a"], row["b"]) for row in data["reached"]):
        rows = [
            [row["contract"], f"{row['playings']:,}", _mean(row), _interval(row), f"{row['units']:,}"]
            for row in data["reached"]
            if (row["a"], row["b"]) == pair
        ]
        what = "contract" if data["game"] == "elections" else "trump"
        caption = f"{pair[0]} less {pair[1]} by the {what} the playing came to (the players chose it: no cause by itself)"
        table = Table(columns, rows, caption)
        blocks.append(table if len(names) == 2 else Fold(f"{pair[0]} – {pair[1]}, by {what}", [table]))
    return [Section("Where", blocks)] if blocks else []


def _mistakes(data: Data) -> list[Block]:
    """Return what cards cost."""
    names = data["players"]
    if not data["mistakes"]:
        return []
    unit = "points" if data["game"] == "elections" else "tricks"
    blocks: list[Block] = [
        Text(
            f"What a card cost its side against perfect play with all hands seen, by exact solving of the first {data['solved']} "
            f"deals from trick {data['solve_from']} on. Nobody at the table sees all hands, so the best of players loses too; what "
            f"counts is who loses less, and where. Mean {unit} lost a card ± standard error; cards in small print."
        )
    ]
    for by, title in _BY.items():
        groups = list(dict.fromkeys(row["group"] for row in data["mistakes"] if row["by"] == by))
        if not groups:
            continue
        figures = {(row["group"], row["player"]): row for row in data["mistakes"] if row["by"] == by}
        rows: list[list[str | Cell]] = [
            [("trick " if by == "trick" else "") + (group or "all"), *(_lost(figures.get((group, name))) for name in names)]
            for group in groups
        ]
        blocks.append(Table([Column("", left=True), *(Column(name) for name in names)], rows, title))
    return [Section("The cost of mistakes", blocks)]


def _lost(row: Row | None) -> str | Cell:
    if row is None:
        return "–"
    error = f" ± {figure_text(row['stderr'], 3)}" if row["stderr"] is not None else ""
    return Cell(figure_text(row["lost_a_card"], 3) + error, f"{row['cards']:,}")


def _tricks(data: Data) -> list[Block]:
    """Return who took which trick."""
    blocks: list[Block] = []
    for pair in dict.fromkeys((row["a"], row["b"]) for row in data["tricks"]):
        rows = [
            [f"trick {row['trick']}", figure_text(row["a_takes"], 1, percent=True)]
            + [figure_text(row["points"], 2, sign=True) + f" ± {figure_text(row['points_stderr'], 2)}"]
            for row in data["tricks"]
            if (row["a"], row["b"]) == pair
        ]
        columns = [Column("", left=True), Column("taken"), Column("points ± s.e.")]
        deals = max(row["deals"] for row in data["tricks"])
        caption = (
            f"Tricks that {pair[0]}'s side took from {pair[1]}'s, and their points less the other's, on the first {deals} deals"
        )
        table = Table(columns, rows, caption)
        blocks.append(table if len(data["players"]) == 2 else Fold(f"{pair[0]} – {pair[1]}", [table]))
    return [Section("By trick number", blocks)] if blocks else []


def _largest(data: Data) -> list[Block]:
    """Return the deals on which players differ most."""
    blocks: list[Block] = []
    for pair in dict.fromkeys((row["a"], row["b"]) for row in data["largest"]):
        mine = [row for row in data["largest"] if (row["a"], row["b"]) == pair]
        rows = [
            [f"deal {row['deal']:,}", row["contract"] or "", figure_text(row["difference"], 2, sign=True)]
            + [figure_text(row["playings"][seating], 1, sign=True) for seating in data["seatings"]]
            for row in mine
        ]
        columns = [Column("", left=True), Column("contract", left=True), Column("difference"), *map(Column, data["seatings"])]
        seats = "N E S W" if data["game"] == "elections" else "N S"
        caption = f"{pair[0]} less {pair[1]}, and so in each seating: A is {pair[0]}, seats {seats}"
        show: list[Block] = [Command("\n".join(row["commands"]), f"Deal {row['deal']:,}:") for row in mine[:_SHOWN_DEALS]]
        blocks += [Table(columns, rows, caption), Fold(f"See these playings: {pair[0]} – {pair[1]}", show)]
    return [Section("Deals on which they differ most", blocks)] if blocks else []


def _method(data: Data) -> Section:
    unit = data["unit"]
    texts = [
        "Everyone plays the same deals from every side, and each seat's random numbers are the same in every seating, so luck of "
        f"cards and seats falls on both alike. A {unit} with all its seatings gives one number; figures are computed from these.",
    ]
    if data["sprt"] is None:
        texts.append(
            "Intervals are Student's t. Where all units are equal they are exact: how often other values, within the bounds of the "
            "game, may come up."
        )
    else:
        test = data["sprt"]
        texts.append(
            f"Sequential test of a mean difference of {test['d1']:g} against {test['d0']:g} points a deal, error rates "
            f"{test['alpha']:g} and {test['beta']:g}: generalised likelihood ratio of unit means with unknown variance (Van den "
            f"Bergh 2017; Li, Liu, Ying 2014) at Wald's bounds (1945), looked at after every {unit} from the 16th on. "
            "Intervals are asymptotic confidence sequences (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024), which hold "
            "whatever stops the sampling."
        )
    texts.append(
        "The chance that the first is better is that of a true mean above zero, having seen the units, before which all means were "
        "thought equally likely."
    )
    if data["ratings"]:
        texts.append("Ratings are least squares over all pairs, which on common deals are plain means of differences.")
    return Section("How it is computed", [Text(text) for text in texts])
