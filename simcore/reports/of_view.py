"""The page of one seat's choices in Showcase (``simcore choose showcase --view``): cards ranked, tricks spread, the view itself."""

from __future__ import annotations

import json
import shlex
from typing import Any

from simcore.reports.blocks import Block, Column, Command, Facts, Fold, Hand, Page, Section, Table, Text, Tile, Tiles
from simcore.reports.charts import Bar, Bars, Grid, Histogram, Span
from simcore.reports.commands import reproduction, ruleset_option
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.results import Result

__all__ = ["view_page"]

_SEATS = {"N": "North", "S": "South"}


def view_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore choose showcase --view … --out`` wrote."""
    config, answer = result.config, result.manifest["result"]
    rows: list[dict[str, Any]] = answer["rows"]
    percent = config["objective"] == "win"
    digits, unit = (1, "chance to win") if percent else (2, "tricks of the second playout")
    best, tied = rows[0], [row["choice"] for row in rows if row["tied"]]
    seat = _SEATS[config["seat"]]
    said = f"tied with {', '.join(tied)}" if tied else f"{100 * best['confidence']:g} % sure"
    said = said if len(rows) > 1 else "the only choice"
    interval = interval_text(best["low"], best["high"], digits, sign=False, percent=percent)
    figure = figure_text(best["mean"], digits, percent=percent)
    tiles = [
        Tile("Best card", best["choice"], said),
        Tile(unit.capitalize(), figure, interval),
        Tile("Worlds", f"{answer['sampling']['worlds']:,}", "the same for every card"),
    ]
    confidence = f"{100 * best['confidence']:g} %"
    bars = Bars(
        [Bar(_name(row), [Span(row["mean"], row["low"], row["high"])], _mark(row)) for row in rows],
        f"By {unit}",
        digits=digits,
        percent=percent,
        foot=f"★ best, = cannot be told from it. Lines: {confidence} intervals that hold at every look, each for its own row.",
    )
    body = [
        [
            _name(row),
            row["from"],
            figure_text(row["tricks"], 2),
            figure_text(row["win"], 1, percent=True),
            figure_text(-row["behind"], digits, sign=True, percent=percent),
            f"{row['deals']:,}",
        ]
        for row in rows
    ]
    columns = [Column("card", True), Column("from", True), *map(Column, ("tricks", "wins", "behind the best", "worlds"))]
    foot = "Cards that are equal in the seat's eyes are tried once. A card that is shown to be beaten is played in no more worlds."
    marked = [i for i, row in enumerate(rows) if row["best"]]
    blocks: list[Block] = [Hand(config["hand"], f"{seat} holds"), Tiles(tiles)]
    blocks.append(Section("Cards now", [bars, Table(columns, body, "All figures", foot, marked), *_plots(result)]))
    stopped = {"decided": "one card was separated from every other", "limit": "the most worlds allowed were drawn"}
    facts = [
        ("worlds", f"{answer['sampling']['worlds']:,}"),
        ("stopped because", stopped.get(answer["sampling"]["stopped"], "the time allowed was over")),
        ("played out by", config["players"]["N"]),
        ("second playout by", "perfect play" if config["end"] == "exact" else config["players"]["N"]),
    ]
    text = "A world is a deal that the seat cannot tell from the real one; all such deals are equally likely."
    blocks.append(Section("The worlds", [Text(text), Facts(facts), Fold("What the seat sees", [Command(_shown(config))])]))
    blocks.append(reproduction("choose", config, result.manifest["ruleset_text"], line=_line(config)))
    lead = f"Showcase under the ruleset {config['ruleset']}, first playout; save what the seat sees as view.json to ask again."
    return Page(f"Which card? {seat}’s hand", lead, blocks)


def _name(row: dict[str, Any]) -> str:
    return str(row["choice"]) + (f" (as {row['equal_to']})" if row["equal_to"] else "")


def _mark(row: dict[str, Any]) -> str:
    return "best" if row["best"] else "tied" if row["tied"] else ""


def _plots(result: Result) -> list[Block]:
    """Return how the tricks of each card tried are spread."""
    counts = result.counts(["worlds.parquet"], "choice", "tricks")
    plots: list[Block] = []
    for choice, found in counts.items():
        mean = sum(tricks * n for tricks, n in found.items()) / sum(found.values())
        plots.append(Histogram(found, choice, "tricks", mean, 6.5))
    said = "How the tricks of the second playout are spread; right of the dashed line the deal is won."
    return [Text(said), Grid(plots)] if plots else []


def _shown(config: dict[str, Any]) -> str:
    return json.dumps(config["view"], ensure_ascii=False)


def _line(config: dict[str, Any]) -> str:
    words = ["simcore", "choose", "showcase", "--view", "view.json", "--seed", config["seed"], "--players", config["players"]["N"]]
    words += ["--end", config["end"], "--objective", config["objective"], "--confidence", str(config["confidence"])]
    words += ["--max-deals", str(config["max_deals"])]
    if config["max_time"] is not None:
        words += ["--max-time", f"{config['max_time']:g}s"]
    ruleset, _ = ruleset_option(config["ruleset"], config["ruleset_hash"], "showcase")
    return shlex.join([*words, *(["--ruleset", ruleset] if ruleset else []), "--out", "again"])
