"""The page of a balance report: every figure of a ruleset, and beside it another's, with paired differences."""

from __future__ import annotations

from typing import Any

from simcore.designing.question import ruleset_names
from simcore.designing.tables import figure_form, table_titles
from simcore.reports.blocks import Block, Cell, Column, Command, Fold, Note, Page, Section, Table, Text, Tile, Tiles
from simcore.reports.charts import Bar, Bars, Span
from simcore.reports.commands import reproduction
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.of_simulation import who
from simcore.reports.results import Result

__all__ = ["balance_page"]

#: The figures shown as plots, by table, and where even lies; the others stand in the tables.
_PLOTS: dict[str, tuple[tuple[str, float | None], ...]] = {
    "position": (("relative", 0.0),),
    "contract": (("attackers_win", 0.5), ("margin", 0.0), ("spread", None), ("best", None)),
    "trump": (("namer_wins", 0.5), ("margin", 0.0), ("best", None)),
    "played": (("share", None),),
    "named": (("share", None),),
    "drama": (("comeback", None), ("settled", None)),
}
#: Figures whose zero means nothing: dots, not bars.
_DOTS = ("attackers_win", "namer_wins", "settled")
_TILES = {
    "elections": (
        ("auction", "", "attackers_win"),
        ("auction", "", "balance"),
        ("position", "first to call", "relative"),
        ("drama", "", "comeback"),
    ),
    "showcase": (("deal", "", "namer_wins"), ("deal", "", "elder_wins"), ("deal", "", "close"), ("drama", "", "comeback")),
}
_MEANINGS = {
    "auction": "Balance is 1 less the difference of the shares won by attackers and defenders: 100 % where both win as often.",
    "position": "A player’s relative credit (own less the mean of the others’, E17) by his place after the dealer. "
    "Fair is 0 everywhere.",
    "contract": "Declarer and partners by lot, every contract on the same deals. Best in hindsight: on how many deals it gave "
    "the declarer the highest relative credit of all contracts; ties are shared.",
    "played": "Shares of the deals played, with the auction.",
    "deal": "Balance is 1 less the difference of the shares won by elder and dealer: 100 % where both win as often.",
    "trump": "The namer’s result with each trump after the same first playout. Best in hindsight: on how many deals it gave him "
    "the most tricks; ties are shared.",
    "named": "Shares of all deals.",
    "drama": "The score after each trick is what both would have if play stopped there. Winner was behind: after some trick. "
    "Drama (Browne 2008): over the tricks after which the winner is behind, the mean square root of how far, as a share of all "
    "points at stake. Lead changes: how often another side is ahead than before. Settled: after how many tricks nothing still "
    "to come can change the winner.",
}


def balance_page(result: Result) -> Page:
    """Return the page of a folder that ``simcore rulesets balance --out`` wrote."""
    config, rows = result.config, result.manifest["rows"]
    game, names = config["game"], ruleset_names(config)
    paired = len(names) == 2
    blocks: list[Block] = [_tiles(game, rows, paired)]
    if paired:
        blocks.append(_changes(rows, config))
    for table, title in table_titles(game).items():
        found = [row for row in rows if row["table"] == table]
        if found:
            blocks.append(Section(title, [Text(_MEANINGS[table]), *_plots(table, found, config), *_table(found, config)]))
    blocks.append(reproduction("balance", config, result.manifest["ruleset_text"]))
    if paired:
        blocks.append(Fold(f"The other ruleset, {names[1]}, whole", [Command(result.manifest["against_text"])]))
    lead = f"{config['deals']:,} deals{', the same for both rulesets' if paired else ''}. Players: {who(config['players'])}."
    return Page(f"Balance of {' and '.join(names)}", lead, blocks)


def _figure(row: dict[str, Any], side: dict[str, Any]) -> str:
    return figure_text(side["value"], **figure_form(row))


def _interval(row: dict[str, Any], side: dict[str, Any]) -> str:
    return interval_text(side["low"], side["high"], **figure_form(row))


def _alone(row: dict[str, Any]) -> Cell:
    return Cell(_figure(row, row), _interval(row, row))


def _change(row: dict[str, Any]) -> tuple[str, str]:
    """Return a difference and its interval; of shares in percentage points."""
    if row["difference"] == row["difference_stderr"] == 0:
        return "same", ""
    form = figure_form(row) | {"sign": True}
    texts = figure_text(row["difference"], **form), interval_text(row["difference_low"], row["difference_high"], **form)
    return (texts[0].replace(" %", " pp"), texts[1].replace(" %", " pp"))


def _tiles(game: str, rows: list[dict[str, Any]], paired: bool) -> Tiles:
    tiles = []
    for table, entry, name in _TILES[game]:
        for row in rows:
            if (row["table"], row["entry"], row["figure"]) == (table, entry, name):
                label = f"{entry.capitalize()}: {row['label']}" if entry else row["label"].capitalize()
                note = f"{_figure(row, row['against'])} under the other" if paired else _interval(row, row)
                tiles.append(Tile(label, _figure(row, row), note))
    return Tiles(tiles)


def _changes(rows: list[dict[str, Any]], config: dict[str, Any]) -> Section:
    """Return what differs: the figures whose difference stands although so many are looked at."""
    found = sorted(
        (row for row in rows if row["differs"]), key=lambda row: -abs(row["difference"]) / (row["difference_stderr"] or 1e-12)
    )
    count = sum(row["differs"] is not None for row in rows)
    gone = list(dict.fromkeys(row["entry"] for row in rows if not row["n"] and row["entry"]))
    new = list(dict.fromkeys(row["entry"] for row in rows if not row["against"]["n"] and row["entry"]))
    blocks: list[Block] = [
        Text(
            f"{len(found)} of {count} figures differ at {100 * config['confidence']:g} % over all of them together (Bonferroni). "
            "Differences are the second ruleset’s figure less the first’s, paired by deals; pp: percentage points. Clearest first."
        )
    ]
    if found:
        columns = [Column("", True), Column("", True), *(Column(name) for name in ruleset_names(config)), Column("difference")]
        body: list[list[str | Cell]] = [
            [row["entry"] or "the game", row["label"], _figure(row, row), _figure(row, row["against"]), Cell(*_change(row))]
            for row in found
        ]
        blocks.append(Table(columns, body))
    lone = zip(ruleset_names(config), ([e for e in gone if e not in new], [e for e in new if e not in gone]), strict=True)
    blocks += [Note(f"Never seen under {name}: {', '.join(entries)}.") for name, entries in lone if entries]
    return Section("What changes", blocks)


def _plots(table: str, rows: list[dict[str, Any]], config: dict[str, Any]) -> list[Block]:
    """Return bars of the figures worth a plot, both rulesets in each."""
    blocks: list[Block] = []
    series = ruleset_names(config) if config["against"] is not None else ()
    for name, even in _PLOTS.get(table, ()):
        chosen = [row for row in rows if row["figure"] == name]
        if not chosen:
            continue
        bars = []
        for row in chosen:
            sides = (row, row["against"]) if series else (row,)
            spans = [Span(side["value"], side["low"], side["high"]) for side in sides]
            bars.append(Bar(row["entry"] or "as played", spans))
        form = figure_form(chosen[0])
        label = chosen[0]["label"][:1].upper() + chosen[0]["label"][1:]
        unit = {"points": " (points)", "credit": " (credit)", "tricks": " (tricks)"}.get(chosen[0]["unit"], "")
        caption = label if "settled" in name else label + unit
        blocks.append(Bars(bars, caption, dots=name in _DOTS, reference=even if name in _DOTS else None, series=series, **form))
    return blocks


def _table(rows: list[dict[str, Any]], config: dict[str, Any]) -> list[Block]:
    """Return all figures in a table; none where the plot has said it all."""
    if config["against"] is not None:
        whole = _paired_table(rows, config)
        return [whole if len(rows) <= 8 else Fold(f"All {len(rows)} figures", [whole])]
    entries = list(dict.fromkeys(row["entry"] for row in rows))
    labels = list(dict.fromkeys(row["label"] for row in rows))
    if len(entries) == 1:
        single: list[list[str | Cell]] = [[row["label"], _alone(row), f"{row['n']:,}"] for row in rows]
        return [Table([Column("", True), Column("value"), Column("n")], single)]
    if len(labels) == 1:
        return []
    by = {(row["entry"], row["label"]): row for row in rows}
    body: list[list[str | Cell]] = [[entry or "as played", *(_alone(by[entry, label]) for label in labels)] for entry in entries]
    return [Table([Column("", True), *(Column(label) for label in labels)], body)]


def _paired_table(rows: list[dict[str, Any]], config: dict[str, Any]) -> Table:
    """Return a line a figure: one ruleset, the other, the difference; entry and figure are named where there are several."""
    several = [len({row[key] for row in rows}) > 1 for key in ("entry", "label")]
    columns = [Column("", True) for wanted in several if wanted]
    columns += [*(Column(name) for name in ruleset_names(config)), Column("difference")]
    body: list[list[str | Cell]] = []
    for row in rows:
        names = [name for name, wanted in zip((row["entry"] or "as played", row["label"]), several, strict=True) if wanted]
        other = Cell(_figure(row, row["against"]), _interval(row, row["against"]))
        body.append([*names, _alone(row), other, Cell(*_change(row))])
    marked = [place for place, row in enumerate(rows) if row["differs"]]
    return Table(columns, body, foot="Marked: differs, over all figures together.", marked=marked)
