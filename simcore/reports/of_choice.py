"""The page of a choice: every table ranked with intervals, distances to the best, outcomes, worlds."""

from __future__ import annotations

from typing import Any

from simcore.choosing.result import comparison_verdict
from simcore.reports.blocks import Block, Cell, Column, Facts, Hand, Note, Page, Section, Table, Text, Tile, Tiles
from simcore.reports.charts import Bar, Bars, Grid, Histogram, Span
from simcore.reports.commands import reproduction
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.of_average import average_page
from simcore.reports.of_simulation import SEAT_NAMES, who
from simcore.reports.of_view import view_page
from simcore.reports.results import Result

__all__ = ["choice_page"]

_WORLDS = "worlds.parquet"
#: What a choice is compared by, in words.
_OBJECTIVES = {
    "relative": "relative credit (own credit less the mean of the others’, E17)",
    "margin": "margin (own side’s points less the other side’s)",
    "win": "chance to win the deal",
    "credit": "credit (own side’s points)",
}
_SHORT = {"relative": "relative credit", "margin": "margin", "win": "chance to win", "credit": "credit"}


def choice_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore choose --out`` wrote."""
    config, answer = result.config, result.manifest["result"]
    if config.get("about") == "average":
        return average_page(result)
    if config.get("about") == "view":
        return view_page(result)
    rows: list[dict[str, Any]] = answer["rows"]
    tables = list(dict.fromkeys(row["table"] for row in rows))
    seat = SEAT_NAMES[config["seat"]]
    blocks: list[Block] = [Hand(config["hand"], f"{seat} holds")]
    last = [row for row in rows if row["table"] == tables[-1]]
    blocks.append(_tiles(last, answer))
    blocks += [Note(text, "warning") for text in answer["warnings"]]
    blocks += [Note(text) for text in answer["notes"]]
    spread = {}
    if any(entry["name"] == _WORLDS for entry in result.manifest["files"]):
        spread = _spread(result, rows)
    for table in tables:
        blocks.append(_section(table, [row for row in rows if row["table"] == table], config, spread))
    if answer.get("comparison"):
        blocks.append(_comparison(answer["comparison"], config["objective"] == "win"))
    blocks.append(_sampling(config, answer["sampling"]))
    blocks.append(reproduction("choose", config, result.manifest["ruleset_text"]))
    question = "What to call?" if tables[-1] == "call" else "Which contract?"
    heard = ", ".join(" ".join(call) for call in config.get("calls") or [])
    lead = f"Elections under the ruleset {config['ruleset']}, players {who(config['players'])}."
    lead += f" Calls heard: {heard}." if heard else ""
    return Page(f"{question} {seat}’s hand", lead, blocks)


def _tiles(rows: list[dict[str, Any]], answer: dict[str, Any]) -> Tiles:
    """Return what the last table answers: it says what to do now."""
    best = rows[0]
    tied = [row["choice"] for row in rows if row["tied"]]
    percent = best["objective"] == "win"
    sure = f"tied with {', '.join(tied)}" if tied else f"{100 * best['confidence']:g} % sure"
    sure = sure if len(rows) > 1 else "the only choice"
    return Tiles(
        [
            Tile(f"Best {best['table']}", best["choice"], sure),
            Tile(_SHORT[best["objective"]].capitalize(), _figure(best["mean"], percent), _interval(best, percent)),
            Tile("Chance to win", figure_text(best["win"], 1, percent=True), "the own side wins the deal"),
            Tile("Worlds", f"{answer['sampling']['worlds']:,}", "the same for every choice"),
        ]
    )


def _figure(value: float | None, percent: bool) -> str:
    return figure_text(value, 1 if percent else 2, sign=not percent, percent=percent)


def _interval(row: dict[str, Any], percent: bool, low: str = "low", high: str = "high") -> str:
    return interval_text(row[low], row[high], 1 if percent else 2, sign=not percent, percent=percent)


def _mark(row: dict[str, Any]) -> str:
    return "best" if row["best"] else "tied" if row["tied"] else ""


def _section(
    table: str, rows: list[dict[str, Any]], config: dict[str, Any], spread: dict[tuple[str, str], dict[int, int]]
) -> Section:
    objective, confidence = rows[0]["objective"], f"{100 * rows[0]['confidence']:g} %"
    percent = objective == "win"
    bars = Bars(
        [Bar(row["choice"], [Span(row["mean"], row["low"], row["high"])], _mark(row)) for row in rows],
        f"By {_OBJECTIVES[objective]}",
        digits=1 if percent else 2,
        sign=not percent,
        percent=percent,
        foot=f"★ best, = cannot be told from it. Lines: {confidence} intervals that hold at every look, each for its own row.",
    )
    others = [name for name in ("relative", "margin", "win", "credit") if name != objective]
    columns = [
        Column("choice", True),
        Column("behind the best", hint="on the same worlds"),
        *(Column(_SHORT[name]) for name in others),
    ]
    body: list[list[str | Cell]] = []
    for row in rows:
        behind = Cell("–") if row["best"] else Cell(_figure(-row["behind"], percent), _behind(row, percent))
        figures = [figure_text(row[name], 1, sign=name != "win", percent=name == "win") for name in others]
        body.append([row["choice"], behind, *figures, f"{row['deals']:,}"])
    foot = (
        f"Behind the best: mean difference on the same worlds, with its {confidence} interval. "
        "A choice that is shown to be beaten is played in no more worlds."
    )
    marked = [i for i, row in enumerate(rows) if row["best"]]
    blocks: list[Block] = [Text(_verdict(rows)), bars, Table([*columns, Column("worlds")], body, "All figures", foot, marked)]
    plots: list[Block] = []
    for row in rows:
        found = spread.get((table, row["choice"]))
        if found:
            mean = sum(value * count for value, count in found.items()) / sum(found.values())
            plots.append(Histogram(found, row["choice"], "margin", mean, 0))
    if plots:
        said = "How the margin (own side’s points less the other side’s) is spread; right of the dashed line it is ahead."
        blocks += [Text(said), Grid(plots)]
    partner = {"any": "with any partner", "lot": "with the lot partner"}.get(config["partner"], f"with partner {config['partner']}")
    titles = {
        "call": "Calls now",
        "contract": f"Contracts as declarer, {partner}",
        "double-dummy": f"Contracts by exact values (all hands seen), {partner}",
    }
    return Section(titles.get(table, table.capitalize()), blocks)


def _behind(row: dict[str, Any], percent: bool) -> str:
    """Return the interval of how far a choice lies from the best, the best's lead turned round."""
    return interval_text(-row["behind_high"], -row["behind_low"], 1 if percent else 2, sign=not percent, percent=percent)


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Say what follows from a table."""
    best, tied = rows[0], [row for row in rows if row["tied"]]
    confidence = f"{100 * best['confidence']:g} %"
    if len(rows) == 1:
        return f"{best['choice']} is the only choice."
    if not tied:
        return f"{best['choice']} is better than every other choice, {confidence} sure."
    within = max(max(abs(row["behind_low"]), abs(row["behind_high"])) for row in tied)
    unit = f"{100 * within:.1f} percentage points" if best["objective"] == "win" else f"{within:.2f} points"
    names = ", ".join(row["choice"] for row in tied)
    return f"{best['choice']} leads, but {names} cannot be told from it: within {unit}, {confidence} sure."


def _spread(result: Result, rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[int, int]]:
    """Count the margins of each choice of each table."""
    import numpy as np

    found: dict[tuple[str, str], dict[int, int]] = {}
    for batch in result.batches(_WORLDS, ["table", "choice", "margin"]):
        names = [(column.dictionary.to_pylist(), np.asarray(column.indices)) for column in (batch.column(0), batch.column(1))]
        margins = np.asarray(batch.column(2))
        for t, table in enumerate(names[0][0]):
            for c, choice in enumerate(names[1][0]):
                chosen = margins[(names[0][1] == t) & (names[1][1] == c)]
                counts = found.setdefault((table, choice), {})
                for value, count in zip(*np.unique(chosen, return_counts=True), strict=True):
                    counts[int(value)] = counts.get(int(value), 0) + int(count)
    for row in rows:
        seen = sum(found.get((row["table"], row["choice"]), {}).values())
        if seen != row["deals"]:
            result.damaged(f"its worlds hold {seen:,} outcomes of {row['choice']!r}, its manifest counts {row['deals']:,}")
    return found


def _comparison(data: dict[str, Any], percent: bool) -> Section:
    """Return rollouts beside exact values, and how much perfect information flatters."""
    body: list[list[str | Cell]] = []
    for row in data["rows"]:
        bias = row["random_deals"]
        measured: str | Cell = "not measured"
        if bias is not None:
            small = f"± {figure_text(bias['bias_best_hand_stderr'], 2)}, {bias['deals']:,} deals"
            measured = Cell(figure_text(bias["bias_best_hand"], 2, sign=True), small)
        stderr = row["flattered_stderr"]
        flattered = Cell(figure_text(row["flattered"], 2, sign=True), "" if stderr is None else f"± {figure_text(stderr, 2)}")
        exact = [_figure(row[key], percent) for key in ("rollout", "double_dummy")]
        body.append([row["choice"], *exact, f"{row['worlds']:,}", flattered, measured])
    said = comparison_verdict(data)
    heads = ("choice", "rollout", "exact", "worlds", "flattered", "on random deals")
    foot = (
        "Flattered: exact margin less the margin played, on the worlds both have: what a double-dummy table promises and such "
        "players do not get. On random deals: the same measured once, for the best hand of four. ±: one standard error."
    )
    table = Table([Column(heads[0], True), *(Column(head) for head in heads[1:])], body, foot=foot)
    return Section("Play beside perfect information", [Text(f"{said[0].upper()}{said[1:]}."), table])


def _sampling(config: dict[str, Any], sampling: dict[str, Any]) -> Section:
    stopped = {
        "decided": "the best choice was separated from every other",
        "limit": "the most worlds allowed were drawn",
        "time": "the time allowed was over",
        "plies": "a world was too hard to solve",
    }
    facts = [
        ("worlds", f"{sampling['worlds']:,}"),
        ("effective sample size", f"{sampling['effective_worlds']:,}"),
        ("deals tested", f"{sampling['tested']:,}"),
        ("of them fit" + (", with slips" if sampling["slips"] else ""), figure_text(sampling["acceptance"], 2, percent=True)),
        ("stopped because", stopped.get(sampling["stopped"], sampling["stopped"])),
        ("dealer", config["dealer"] or "drawn in each world"),
        ("lot pair", config["lot"] or "drawn in each world"),
    ]
    if "solves" in sampling:
        facts.append(("positions solved", f"{sampling['solves']:,} in {sampling['solved_worlds']:,} worlds"))
    if sampling["slips"] and "pilot_deals" in sampling:
        plain = f"{sampling['pilot_fit_without_slips']:,} of {sampling['pilot_deals']:,} pilot deals"
        facts.append(("fit without slips", plain))
    if sampling["slips"]:
        facts.append(("calls unlike the model’s", f"up to {sampling['slips']} in a world"))
    text = (
        "A world is a deal that the seat cannot tell from the real one: it has this hand, and the model’s players make the calls "
        "heard in it. Every choice is tried in the same worlds."
    )
    return Section("The worlds", [Text(text), Facts(facts)])
