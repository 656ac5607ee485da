"""simcore rulesets balance: what a ruleset makes of the game, and what a changed one changes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.options import OutType, format_option, game_argument, quiet_option, use_options
from cli.output import interrupted, note, note_if_cold, number, progress_bar, text_table, to_json

if TYPE_CHECKING:
    from simcore.designing.verb import Balance

__all__ = ["command"]


@click.command("balance")
@game_argument
@use_options(
    click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]"),
    click.option("--against", metavar="NAME|FILE.toml", help="Another, set beside it on the same deals."),
    click.option(
        "--deals", type=int, default=20_000, show_default=True, metavar="N", help="How many deals; Elections: a multiple of 8."
    ),
    click.option(
        "--traced", type=int, default=2_000, show_default=True, metavar="N", help="Of how many the course of play is followed."
    ),
    click.option("--players", default="expert", show_default=True, metavar="SPEC", help="Player of every seat."),
    click.option("--player", multiple=True, metavar="SEAT=SPEC", help="Player of one seat; may be repeated."),
    click.option("--confidence", type=float, default=0.95, show_default=True, metavar="P", help="Of every interval."),
    click.option("--seed", metavar="INT", help="0 to 2**128 - 1.  Default: drawn from the operating system, and printed."),
    click.option("--threads", type=int, metavar="N", help="Default: all cores.  Changes no figure."),
    click.option(
        "--out",
        type=OutType(store=False),
        metavar="DIR",
        help="Folder for the figures; 'simcore report' makes a page.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace the result that is in --out."),
    format_option("text", "json", "jsonl"),
    quiet_option,
)
def command(format_: str, quiet: bool, **options: Any) -> int:
    """Report how a ruleset of GAME is balanced: who wins, by how much, from which seat, how play goes.

    With --against another ruleset plays the same deals, and differences are paired: a * marks those that stand although there are
    so many (Bonferroni).  What the figures mean is in docs/reports.md.
    """
    from simcore.batches.run import Interrupted
    from simcore.designing.verb import balance
    from simcore.rng import draw_seed, parse_seed

    given = options["seed"] is not None
    options["seed"] = parse_seed(options["seed"]) if given else draw_seed()

    def begun() -> None:
        note(f"seed {options['seed']}", quiet)
        note_if_cold(quiet)

    try:
        with progress_bar(1, "deals", quiet) as progress:
            found = balance(progress=progress, begun=begun, **options)
    except (Interrupted, KeyboardInterrupt):
        return interrupted(None, *([] if given else ["--seed", str(options["seed"])]))
    if format_ == "json":
        click.echo(to_json(found.data()))
    elif format_ == "jsonl":
        for row in found.rows:
            click.echo(to_json(row, lines=True))
    else:
        click.echo(_text(found))
    if options["out"] is not None:
        note(f"figures in {options['out']}; a page: {shlex.join(['simcore', 'report', str(options['out'])])}", quiet)
    return 0


def _text(found: Balance) -> str:
    """Return the figures for people."""
    from simcore.designing.question import ruleset_names
    from simcore.designing.tables import table_titles

    config = found.config
    specs = sorted(set(config["players"].values()))
    who = specs[0] if len(specs) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in config["players"].items())
    names = ruleset_names(config)
    rulesets = " and ".join(names) + (" on the same deals" if len(names) == 2 else "")
    lines = [f"{config['game']}, ruleset {rulesets}: {config['deals']:,} deals, players {who}", f"seed {config['seed']}"]
    for table, title in table_titles(config["game"]).items():
        rows = [row for row in found.rows if row["table"] == table]
        if rows:
            lines += ["", title, _paired(rows, names) if len(names) == 2 else _alone(rows)]
    percent = f"{100 * config['confidence']:g} %"
    lines += [
        "",
        f"±: half of the {percent} interval.  " + ("*: differs although there are so many figures." if config["against"] else ""),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _half(row: dict[str, Any], low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    from simcore.designing.tables import figure_form

    form = figure_form(row) | {"sign": False}
    return f"±{number((high - low) / 2, **form)}"


def _figure(row: dict[str, Any], side: dict[str, Any]) -> str:
    """Return a ruleset's value of a row's figure, with half of its interval."""
    from simcore.designing.tables import figure_form

    return f"{number(side['value'], **figure_form(row))} {_half(row, side['low'], side['high'])}".strip()


def _label(row: dict[str, Any]) -> str:
    return f"{row['label']} %" if row["unit"] == "share" else str(row["label"])


def _alone(rows: list[dict[str, Any]]) -> str:
    """Return a table with a line an entry, or a figure where there is but one entry."""
    entries = list(dict.fromkeys(row["entry"] for row in rows))
    labels = list(dict.fromkeys(_label(row) for row in rows))

    if len(entries) == 1:
        return text_table(["", "value"], [[_label(row), _figure(row, row)] for row in rows])
    by = {(row["entry"], _label(row)): _figure(row, row) for row in rows}
    return text_table(
        ["", *labels], [[entry or "as played", *(by.get((entry, label), "-") for label in labels)] for entry in entries]
    )


def _paired(rows: list[dict[str, Any]], names: Sequence[str]) -> str:
    """Return a table with a line a figure: one ruleset, the other, the difference."""
    from simcore.designing.tables import figure_form

    body = []
    for row in rows:
        form = figure_form(row) | {"sign": True}
        change = number(row["difference"], **form)
        half = _half(row, row["difference_low"], row["difference_high"])
        mark = "*" if row["differs"] else ""
        text = "same" if row["difference"] == row["difference_stderr"] == 0 else f"{change} {half}".strip()
        body.append([row["entry"], _label(row), _figure(row, row), _figure(row, row["against"]), text, mark])
    return text_table(["", "", *names, "difference", ""], body, left=2)
