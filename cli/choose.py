"""simcore choose: which contract, which call, which trump."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import Choices as Games
from cli.options import format_option, quiet_option, use_options
from cli.output import note, note_if_cold, number, progress_bar, text_table, to_json, utf8

if TYPE_CHECKING:
    from simcore.choosing.result import Choices

__all__ = ["command"]

_hand_options = (
    click.option("--hand", required=True, metavar="PBN", help="The hand, as AKQ.T98.75.65432."),
    click.option("--seat", required=True, metavar="SEAT", help="Who holds it."),
)
_common_options = (
    click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]"),
    format_option("text", "json", "jsonl"),
    quiet_option,
)
_BAR = 24
_LINE_TRICKS = 4


@click.group("choose", cls=Games)
def command() -> None:
    """Compare the choices of one hand: contracts and calls of Elections, trumps of Showcase.

    The manual, docs/choosing.md, says what the figures mean.
    """


@command.command("elections")
@use_options(*_hand_options)
@click.option("--dealer", metavar="SEAT", help="Needed with --calls, and to ask what to call.")
@click.option("--lot", metavar="PAIR", help="A lot pair, as NS or SW.  [default: any, drawn in each world]")
@click.option("--calls", metavar="CALLS", help="Calls so far, as 'E pass, S clubs'.")
@click.option("--partner", default="any", show_default=True, metavar="SEAT|lot|any", help="Partner in the contracts compared.")
@click.option("--players", default="expert", show_default=True, metavar="SPEC", help="The model: every seat's player.")
@click.option("--player", multiple=True, metavar="SEAT=SPEC", help="The model of one seat; may be repeated.")
@click.option(
    "--objective", default="relative", show_default=True, metavar="relative|margin|win|credit", help="What to compare by."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, metavar="P", help="That the best is the best.")
@click.option("--max-deals", type=int, default=100_000, show_default=True, metavar="N", help="Most worlds to draw.")
@click.option("--max-time", metavar="TIME", help="As 60s or 2m; the answer is then not reproducible.")
@click.option("--seed", metavar="INT", help="0 to 2**128 - 1.  Default: drawn from the operating system, and printed.")
@click.option("--threads", type=int, metavar="N", help="Default: all cores.  Changes no answer.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for the worlds (Parquet) and a manifest."
)
@click.option("--overwrite", is_flag=True, help="Replace the result that is in --out.")
@use_options(*_common_options)
def elections(format_: str, quiet: bool, **options: Any) -> int:
    """Compare every contract as declarer and, at this seat's turn, every call.

    All are judged on the same random worlds that fit the hand and the calls heard.  Sampling stops as soon as the best is separated
    from every other at the confidence asked, or at the limit: then it is said which are tied, and the exit status is 3.
    """
    from simcore.choosing.verb import choose
    from simcore.rng import draw_seed, parse_seed

    # drawn here, so that it is printed before the work
    options["seed"] = draw_seed() if options["seed"] is None else parse_seed(options["seed"])
    note(f"seed {options['seed']}", quiet)
    note_if_cold(quiet, "worlds")
    with progress_bar(options["max_deals"], "worlds", quiet) as progress:
        choices = choose("elections", progress=progress, **options)
    if not choices.config["reproducible"]:
        note("simcore: not reproducible: --max-time makes the answer depend on the machine", quiet)
    for text in choices.warnings:
        note(f"simcore: warning: {text}", quiet)
    _print(choices, format_, _elections_text)
    note(f"{choices.sampling['worlds']:,} worlds in {choices.seconds:.2f} s on {choices.threads} thread(s)", quiet)
    return 0 if choices.decided else 3


@command.command("showcase")
@use_options(*_hand_options)
@click.option("--leader", required=True, metavar="SEAT", help="Who leads to the second playout (S10).")
@click.option("--show", default="", metavar="SHOWCASES", help="Both showcases, as 'N:AK... S:.QJ..'.")
@click.option("--turned", metavar="CARD", help="The turned card, where it is out of play (S2).")
@click.option("--discards", metavar="CARDS", help="Rules of Magri: the 26 discards, as 'SA HT …' (M6).")
@click.option("--won", metavar="TRICKS", help="Tricks won in the first playout, as 'N:12 S:13': to check the cards (S11).")
@use_options(*_common_options)
def showcase(format_: str, quiet: bool, **options: Any) -> int:
    """Compare the six trumps for the seat that names, at the moment of naming (S9).

    Both holdings follow from what is seen: the own hand, the showcases, the turned card or the discards.  Values are exact.
    """
    from simcore.choosing.verb import choose

    note_if_cold(quiet, "two_kernel")
    _print(choose("showcase", **options), format_, _showcase_text)
    return 0


def _print(choices: Choices, format_: str, text: Callable[[Choices], str]) -> None:
    if format_ == "json":
        click.echo(to_json(choices.data()))
    elif format_ == "jsonl":
        for row in choices.rows:
            click.echo(to_json(row, lines=True))
    else:
        click.echo(text(choices))


def _elections_text(choices: Choices) -> str:
    """Return the tables for people."""
    config, sampling = choices.config, choices.sampling
    specs = sorted(set(config["players"].values()))
    who = specs[0] if len(specs) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in config["players"].items())
    lines = [
        f"elections, ruleset {config['ruleset']}: {config['seat']} holds {config['hand']}, players {who}",
        f"seed {config['seed']}" + ("" if config["reproducible"] else " (not reproducible: limited by time)"),
        f"{sampling['worlds']:,} worlds, every choice on the same ones",
    ]
    if config["calls"]:
        heard = ", ".join(" ".join(call) for call in config["calls"])
        lines.append(
            f"calls heard: {heard}; {100 * sampling['acceptance']:.3g} % of {sampling['tested']:,} deals fit them, "
            f"effective sample size {sampling['effective_worlds']:,}"
        )
    lines += [*choices.notes, *(f"warning: {text}" for text in choices.warnings)]
    for table in choices.tables:
        lines += ["", *_table_lines(choices, [row for row in choices.rows if row["table"] == table])]
    return "\n".join([*lines, "", "* best, = cannot be told from it.  Intervals hold at every look, each for its own row."])


def _table_lines(choices: Choices, rows: list[dict[str, Any]]) -> list[str]:
    """Return one table with its verdict."""
    config = choices.config
    objective, confidence = config["objective"], f"{100 * config['confidence']:g} %"
    if rows[0]["table"] == "call":
        title = f"Calls of {config['seat']} now"
    else:
        partner = {"any": "any partner", "lot": "the lot partner"}.get(config["partner"], f"partner {config['partner']}")
        title = f"Contracts, {config['seat']} declarer, {partner}"
    percent = objective == "win"

    def figure(value: float) -> str:
        return number(value, 2, sign=not percent, percent=percent)

    bars = _bars([row["mean"] for row in rows])
    others = [column for column in ("relative", "margin", "win", "credit") if column != objective]
    dots = "…" if utf8() else ".."
    heads = {"relative": "relative", "margin": "margin", "win": "win %", "credit": "credit"}
    body = [
        [
            "*" if row["best"] else ("=" if row["tied"] else " "),
            row["choice"],
            figure(row["mean"]),
            f"{figure(row['low'])} {dots} {figure(row['high'])}",
            bar,
            *(number(row[column], 1, sign=column != "win", percent=column == "win") for column in others),
            f"{row['deals']:,}",
        ]
        for row, bar in zip(rows, bars, strict=True)
    ]
    header = ["", "choice", heads[objective], f"{confidence} interval", "", *(heads[column] for column in others), "worlds"]
    what = "relative credit" if objective == "relative" else objective
    return [f"{title}: by {what}", text_table(header, body, left=2), _verdict(rows)]


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Say what follows from a table."""
    best, tied = rows[0], [row for row in rows if row["tied"]]
    confidence = f"{100 * best['confidence']:g} %"
    if not tied:
        beaten = f"better than every other, {confidence} sure" if len(rows) > 1 else "there is no other choice"
        return f"best: {best['choice']}, {beaten}"
    within = max(max(abs(row["behind_low"]), abs(row["behind_high"])) for row in tied)
    unit = f"{100 * within:.1f} percentage points" if best["objective"] == "win" else f"{within:.2f} points"
    names = ", ".join(row["choice"] for row in [best, *tied])
    return f"tied: {names}; {best['choice']} leads, the others are within {unit} of it ({confidence})"


def _bars(means: Sequence[float]) -> list[str]:
    """Return a bar for each mean, from a common zero, as text of one width."""
    full, axis = ("█", "│") if utf8() else ("#", "|")
    low, high = min(0.0, *means), max(0.0, *means)
    scale = _BAR / ((high - low) or 1.0)
    zero = round(-low * scale)
    bars = []
    for mean in means:
        length = round(abs(mean) * scale)
        left = (full * min(length, zero)).rjust(zero) if mean < 0 else " " * zero
        right = (full * min(length, _BAR - zero)).ljust(_BAR - zero) if mean > 0 else " " * (_BAR - zero)
        bars.append(left + axis + right)
    return bars


def _showcase_text(choices: Choices) -> str:
    """Return the table of trumps for people."""
    data, rows = choices.config, choices.rows
    bars = _bars([row["mean"] for row in rows])
    lines = [f"showcase, ruleset {data['ruleset']}: {data['seat']} names the trump, {data['leader']} leads"]
    lines += [f"{seat} {holding}" for seat, holding in data["holdings"].items()]
    body = [
        [
            "*" if row["best"] else ("=" if row["tied"] else " "),
            row["choice"],
            f"{row['mean']:.0f} : {13 - row['mean']:.0f}",
            bar,
            "  ".join("-".join(trick) for trick in row["line"][:_LINE_TRICKS]),
        ]
        for row, bar in zip(rows, bars, strict=True)
    ]
    header = ["", "trump", "tricks", "", f"first {_LINE_TRICKS} tricks of best play"]
    legend = "* best, = as good.  Tricks of the namer and of the other, exact."
    return "\n".join([*lines, "", text_table(header, body, left=2), "", legend])
