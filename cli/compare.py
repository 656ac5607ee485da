"""simcore compare: which player is better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import (
    OutType,
    check_folder_options,
    cluster_option,
    condition_options,
    folder_options,
    format_option,
    nothing_else_goes_with,
    optional_game_argument,
    quiet_option,
    range_options,
    use_options,
)
from cli.output import interrupted, note, note_if_cold, number, progress_bar, text_table, to_be_replaced, to_json, utf8

if TYPE_CHECKING:
    from simcore.contests.result import Comparison

__all__ = ["command"]

_LARGEST = 3


@click.command("compare")
@optional_game_argument
@click.argument("players", nargs=-1, metavar="PLAYER PLAYER...")
@click.option(
    "--deals", type=int, metavar="N", help="How many, at most with --sprt.  [default: 1000, with --sprt 10000, or all of --file]"
)
@use_options(*range_options)
@click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]")
@click.option("--contract", metavar="ID|all|auction", help="Elections: force a contract, or each in turn.  [default: auction]")
@click.option("--pairs", metavar="NE|NS|NW|all", help="Partners of a forced contract (N's side).  [default: all three]")
@click.option("--declarer", metavar="SEAT", help="Declarer of a forced contract.  [default: by chance]")
@click.option("--trump", metavar="T|all", help="Showcase: name this trump at S9 instead of the namer, or each in turn.")
@click.option("--dealer", metavar="SEAT", help="The same dealer in every deal.  [default: by lot]")
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), metavar="deals.pbn", help="The deals of a PBN file.")
@use_options(*condition_options)
@click.option(
    "--sprt", metavar="'D0 D1 ALPHA BETA'", help="End as soon as a mean difference of D0 or D1 points a deal is accepted."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, metavar="P", help="Of intervals and verdicts.")
@click.option("--solved", type=int, metavar="N", help="Deals whose cards are judged by exact solving; 0 for none.  [default: 10]")
@click.option("--solve-from", type=int, metavar="T", help="From this trick on; 1 takes long.  [default: 4, in Showcase 1]")
@click.option("--out", type=OutType(), metavar="DIR|s3://…", help="Folder for tables, result and report.")
@use_options(*folder_options)
@click.option(
    "--resume", type=OutType(), metavar="DIR|s3://…", help="Go on with the comparison in this folder; its options are there."
)
@click.option("--threads", type=int, metavar="N", help="Default: all cores.  Changes no result.")
@cluster_option
@format_option("text", "json", "jsonl", "markdown")
@quiet_option
def command(
    game: str | None,
    players: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    repair: bool,
    resume: Path | None,
    threads: int | None,
    cluster: str | None,
    format_: str,
    quiet: bool,
    **options: Any,
) -> int:
    """Compare two or more players: the same deals, every swap of sides, a verdict with its interval.

    Elections with a forced contract: the two play attackers and defenders in turn, in all three pairings.  With the auction: all
    six ways to seat two of each, over whole rounds.  Showcase: both seats.  What is counted is the deal (the round) with all its
    seatings.  Players are SPECs as in `simulate`, your own files too.  The manual, docs/comparing.md, says what the figures mean.

    Exit status 3 where a comparison stays open.  Ctrl-C leaves complete parts in --out; the same command, or
    --resume DIR, goes on from there.
    """
    from simcore.batches.run import Interrupted, check_threads
    from simcore.contests.contest import make_contest
    from simcore.contests.resuming import contest_of_run
    from simcore.contests.verb import run_contest

    check_threads(threads, cluster)
    if resume is not None:
        nothing_else_goes_with("resume", "game", "file", "repair", "threads", "cluster", "format_", "quiet")
        contest, out = contest_of_run(resume, file=options["file"], game=game), resume
    elif game is None:
        raise click.UsageError("which game? accepted: GAME (elections or showcase), or --resume DIR")
    check_folder_options(out, overwrite=overwrite, repair=repair)
    if format_ == "markdown" and out is None:
        raise click.UsageError("format 'markdown' is the report of a folder; accepted: together with --out DIR")
    if resume is None:
        assert game is not None
        contest = make_contest(game, players, **options | {"first": options["first"] or 0})
    replaced = to_be_replaced(out, overwrite)
    note(f"seed {contest.base.seed}", quiet)
    for text in contest.notes:
        note(f"simcore: {text}", quiet)
    note_if_cold(quiet)
    total = len(contest.cells) * len(contest.seatings) * contest.base.deals
    try:
        with progress_bar(total, "playings", quiet) as progress:
            result = run_contest(
                contest,
                out=out,
                threads=threads,
                cluster=cluster,
                overwrite=overwrite,
                repair=repair,
                progress=progress,
                note=lambda text: note(f"simcore: {text}", quiet),
            )
        if out is not None:
            _write_more(result, out, overwrite, quiet)
    except (Interrupted, KeyboardInterrupt):
        known = resume is not None or options["seed"] is not None
        return interrupted(out, *([] if known else ["--seed", str(contest.base.seed)]), replaced=replaced)
    _print(result, format_, out)
    playings = sum(len(played.sums["playings"]) if played.sums.units else 0 for played in result.cells) * len(contest.seatings)
    note(f"{playings:,} playings in {result.seconds:.2f} s on {result.threads} thread(s)", quiet)
    if out is not None:
        note(f"tables, result and report in {out}", quiet)
    return 0 if result.decided else 3


def _write_more(result: Comparison, out: Path, overwrite: bool, quiet: bool) -> None:
    """Write the report, and times a decision beside it."""
    from simcore.batches.partfile import write_atomically
    from simcore.contests.timings import time_players
    from simcore.errors import RunError
    from simcore.reports.verb import report

    report(out, out=[out / "report.html", out / "report.md"], overwrite=overwrite)
    if not result.fresh and (out / "timings.json").exists():
        return  # they tell of the process that played
    times = time_players(result.contest, lambda text: note(text, quiet))
    try:
        write_atomically(out / "timings.json", lambda path: path.write_text(json.dumps(times, indent=1) + "\n", "utf-8"))
    except OSError as error:
        raise RunError(f"writing to {str(out)!r} failed: {error.strerror or error}") from None


def _print(result: Comparison, format_: str, out: Path | None) -> None:
    if format_ == "json":
        click.echo(to_json(result.data()))
    elif format_ == "jsonl":
        for row in result.rows:
            click.echo(to_json(row, lines=True))
    elif format_ == "markdown":
        assert out is not None
        click.echo((out / "report.md").read_text("utf-8"), nl=False)
    else:
        click.echo(_text(result))


def _text(result: Comparison) -> str:
    """Return the comparison for people."""
    data = result.data()
    contest = result.contest
    end = contest.base.first + contest.base.deals - 1
    who = " against ".join(data["players"]) if len(data["players"]) == 2 else "all pairs"
    lines = [
        f"{data['game']}, ruleset {data['ruleset']}: {who}",
        f"deals {contest.base.first:,} to {end:,} at most, each in {len(contest.seatings)} seatings; unit: the {contest.unit}",
        f"seed {data['seed']}",
        "",
        *_pair_lines(data),
    ]
    if data["ratings"]:
        lines += ["", *_rating_lines(data)]
    if len(data["players"]) == 2:
        lines += ["", *_place_lines(data)]
    lines += _mistake_lines(data)
    lines += _largest_lines(data)
    return "\n".join([*lines, "", f"again: {data['command_line']}"])


def _interval(row: dict[str, Any]) -> str:
    dots = "…" if utf8() else ".."
    return f"{number(row['low'], 2, sign=True)} {dots} {number(row['high'], 2, sign=True)}"


def _pair_lines(data: dict[str, Any]) -> list[str]:
    from simcore.reports.of_comparison import verdict_text

    confidence = f"{100 * data['confidence']:g} %"
    several = len({row["contract"] for row in data["rows"]}) > 1
    rows = []
    for row in data["rows"]:
        sure = "> 99.99" if row["chance"] > 0.9999 else "< 0.01" if row["chance"] < 0.0001 else f"{100 * row['chance']:.2f}"
        cells = [f"{row['a']} - {row['b']}"] + ([row["contract"] or "(all)"] if several else [])
        cells += [number(row["mean"], 3, sign=True), _interval(row), number(row["win_share"], 1, percent=True), sure]
        if row["sprt"] is not None:
            cells.append(f"{row['sprt']['statistic']:+.2f}")
        elif data["sprt"] is None:
            cells.append("< 0.0001" if row["p_holm"] < 0.0001 else f"{row['p_holm']:.4f}")
        else:
            cells.append("")
        rows.append([*cells, f"{row['units']:,}", verdict_text(row)])
    header = ["A - B", *(["contract"] if several else []), "A less B", f"{confidence} interval", "A wins %", "A better %"]
    header += ["p (Holm)" if data["sprt"] is None else "statistic", f"{data['unit']}s", "verdict"]
    lines = [text_table(header, rows, left=1 + several), "", "A less B: points a deal.  A better: the chance of it."]
    if data["sprt"] is not None:
        test = next(row["sprt"] for row in data["rows"] if row["sprt"])
        lines.append(
            f"Sequential test: {test['d1']:g} is accepted at {test['upper']:+.2f}, {test['d0']:g} at {test['lower']:+.2f}; "
            "intervals hold wherever it stops."
        )
    return lines


def _rating_lines(data: dict[str, Any]) -> list[str]:
    rows = [[row["player"], number(row["rating"], 3, sign=True), _interval(row)] for row in data["ratings"]]
    matrix = [
        [name, *(number(value, 2, sign=True) for value in line)] for name, line in zip(data["players"], data["matrix"], strict=True)
    ]
    ratings = text_table(["player", "rating", f"{100 * data['confidence']:g} % interval"], rows)
    return [ratings, "", "rating: points a deal above the mean of all", "", text_table(["less", *data["players"]], matrix)]


def _place_lines(data: dict[str, Any]) -> list[str]:
    a, b = data["players"]
    rows = [
        [row["place"], number(row["a_mean"], 2, sign=True), number(row["b_mean"], 2, sign=True), number(row["mean"], 2, sign=True)]
        + [_interval(row), f"{row['units']:,}"]
        for row in data["places"]
    ]
    return [text_table(["place", a, b, "difference", "interval", f"{data['unit']}s"], rows)]


def _mistake_lines(data: dict[str, Any]) -> list[str]:
    names = data["players"]
    found = {(row["by"], row["group"], row["player"]): row for row in data["mistakes"]}
    rows = []
    for by, group in dict.fromkeys((row["by"], row["group"]) for row in data["mistakes"] if row["by"] in ("all", "kind", "role")):
        cells = [found.get((by, group, name)) for name in names]
        shown = ["-" if row is None else _lost(row) for row in cells]
        rows.append([group or "all", *shown])
    if not rows:
        return []
    unit = "points" if data["game"] == "elections" else "tricks"
    which = f"the first {data['solved']} deals from trick {data['solve_from']} on"
    text = f"{unit} lost a card ± standard error (cards) against perfect play, all hands seen: {which}"
    return ["", text_table(["cards", *names], rows), text]


def _lost(row: dict[str, Any]) -> str:
    """Return what a player lost a card, with its standard error if there is one, and the cards."""
    error = "" if row["stderr"] is None else f" ±{number(row['stderr'], 3)}"
    return f"{number(row['lost_a_card'], 3)}{error} ({row['cards']:,})"


def _largest_lines(data: dict[str, Any]) -> list[str]:
    lines = []
    for row in data["largest"][:_LARGEST]:
        what = f", {row['contract']}" if row["contract"] else ""
        lines.append(f"deal {row['deal']}{what}: {row['a']} {number(row['difference'], 2, sign=True)} over {row['b']}")
        lines += [f"  {line}" for line in row["commands"]]
    return ["", "they differ most on", *lines] if lines else []
