"""simcore solve: exact values, all hands seen."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import (
    Choices,
    OutType,
    check_folder_options,
    folder_options,
    format_option,
    plies_option,
    quiet_option,
    take_plies,
    use_options,
)
from cli.output import interrupted, note, note_if_cold, progress_bar, text_table, to_be_replaced, to_json
from simcore.errors import BadInput

if TYPE_CHECKING:
    from simcore.batches.solving import Problem, Row

__all__ = ["command"]

_deal_options = (
    click.option("--deal", metavar="PBN", help="The deal, as 'N:HAND HAND …'; equal hands of fewer than 13 cards are endings."),
    click.option("--file", type=click.Path(dir_okay=False, path_type=Path), metavar="deals.pbn", help="Every deal of a PBN file."),
)
_common_options = (
    click.option("--table", default="", metavar="CARDS", help="Cards on the table in order of play, as 'SA S2'; with --leader."),
    click.option("--cards", is_flag=True, help="Also the value of every card the seat to play may play."),
    click.option("--line", is_flag=True, help="Also one line of best play."),
    click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]"),
    click.option("--threads", type=int, default=None, metavar="N", help="Default: all cores.  Changes no result."),
    click.option(
        "--out",
        type=OutType(),
        metavar="DIR|s3://…",
        help="Write Parquet tables there, print nothing.",
    ),
    *folder_options,
    format_option("text", "json", "jsonl", "csv"),
    quiet_option,
)


@click.group("solve", cls=Choices)
def command() -> None:
    """Solve deals exactly, all hands seen: what each side gets when everybody plays perfectly.

    The manual, docs/solving.md, says what the values mean.
    """


@command.command("elections")
@use_options(*_deal_options)
@click.option("--contract", metavar="ID|all", help="A contract of the ruleset.  [default: all]")
@click.option("--pairs", metavar="NS|NE|NW|all", help="Who are partners: N's side.  [default: NS]")
@click.option("--declarer", metavar="SEAT|all", help="Declarer; his side are the attackers.  [default: all]")
@click.option("--leader", metavar="SEAT", help="Who leads.  [default: left of the declarer, E12]")
@plies_option("Give a value up after so many cards tried, and say what it lies between.")
@use_options(*_common_options)
def elections(**options: Any) -> int:
    """Double dummy for every contract of Elections.

    A row is a deal, contract, pairing and declarer; its values are both sides' points.
    """
    return _run("elections", **options)


@command.command("showcase")
@use_options(*_deal_options)
@click.option("--trump", metavar="T|all", help="The trump named.  [default: all]")
@click.option("--leader", metavar="N|S|all", help="Who leads.  [default: all]")
@click.option("--tricks", type=int, metavar="K", help="Tricks to go.  [default: all that the smaller holding allows, at most 13]")
@use_options(*_common_options)
def showcase(**options: Any) -> int:
    """The second playout of Showcase with perfect play.

    A deal is the whole holdings at S11, 'N:HAND HAND': the first is that of the seat named, the second the other's; they may be of
    unequal size.  A row is a deal, trump and leader; its values are the tricks of N and S.
    """
    return _run("showcase", **options)


def _run(
    game: str,
    *,
    threads: int | None,
    out: Path | None,
    overwrite: bool,
    repair: bool,
    format_: str,
    quiet: bool,
    **options: Any,
) -> int:
    from simcore.batches.run import check_threads
    from simcore.batches.solving import make_problem

    threads = check_threads(threads)
    check_folder_options(out, overwrite=overwrite, repair=repair)
    if options["deal"] is None and options["file"] is None:
        raise BadInput("no deal is given; accepted: --deal PBN or --file deals.pbn")
    replaced = to_be_replaced(out, overwrite)
    if game == "elections":
        take_plies(options)
    undecided: list[Row] = []
    problem = make_problem(game=game, **options)
    note_if_cold(quiet, "four_root" if game == "elections" else "two_play")
    try:
        # a bar would stand between rows on the same screen
        with progress_bar(problem.count, "deals", quiet or (out is None and sys.stdout.isatty())) as progress:
            if out is not None:
                from simcore.batches.solved import solve_to_folder

                deals, seconds = solve_to_folder(
                    problem,
                    out,
                    threads=threads,
                    overwrite=overwrite,
                    repair=repair,
                    progress=progress,
                    undecided=undecided,
                    note=lambda text: note(f"simcore: {text}", quiet),
                )
            else:
                with closing(_printed(problem, threads, format_, progress, undecided)) as pieces:
                    for text in pieces:
                        click.echo(text)
    except KeyboardInterrupt:
        return interrupted(out, replaced=replaced)
    if out is not None:
        note(f"{deals:,} deals solved in {seconds:.2f} s on {threads} thread(s)\ntables in {out}", quiet)
    if not undecided:
        return 0
    row, plies = undecided[0], problem.max_plies or 0
    note(
        f"values given up after {plies:,} plies: {len(undecided):,}; the first: deal {row['deal']}, {row['contract']}, "
        f"{row['pairs']}, by {row['declarer']}: attackers' points minus defenders' {_between(row)}; --max-plies allows more",
        quiet,
    )
    return 3


def _between(row: Row) -> str:
    """Return what is known of a value that was given up."""
    least, most = row["margin_least"], row["margin_most"]
    return f"are {least:+d}" if least == most else f"lie between {least:+d} and {most:+d}"


def _printed(problem: Problem, threads: int, format_: str, progress: Any, undecided: list[Row]) -> Generator[str, None, None]:
    """Yield the output piece by piece, as the rows come."""
    from simcore.batches.solving import solve_rows

    done = 0
    deals = problem.deals()
    for rows in solve_rows(problem, threads=threads):
        undecided += (row for row in rows if "margin_least" in row)
        each = [rows[i : i + problem.rows_per_deal] for i in range(0, len(rows), problem.rows_per_deal)]
        first, done = done == 0, done + len(each)
        last = done == problem.count
        if format_ == "json":
            yield ("[" if first else "") + ",\n".join(to_json(row, lines=True) for row in rows) + ("]" if last else ",")
        elif format_ == "jsonl":
            yield "\n".join(to_json(row, lines=True) for row in rows)
        elif format_ == "csv":
            yield _csv(rows, first, problem.game)
        else:
            yield "\n".join(_text(problem, next(deals), deal) for deal in each)
        if progress is not None:
            progress(done, problem.count)


def _csv(rows: list[Row], header: bool, game: str) -> str:
    """Return rows as CSV: nested values become columns, or words in one cell."""
    flat = []
    for row in rows:
        cells: dict[str, Any] = {}
        for key, value in row.items():
            if key == "points":
                cells |= {f"points_{seat.lower()}": points for seat, points in value.items()}
            elif value is None:
                cells[key] = None
            elif key == "cards":
                cells[key] = " ".join(f"{card}:{worth}" for card, worth in value.items())
            else:
                cells[key] = " ".join(value) if key == "line" else value
        if game == "elections":
            cells |= {key: row.get(key) for key in ("margin_least", "margin_most")}
        flat.append(cells)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(flat[0]), lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(flat)
    return buffer.getvalue().rstrip("\n")


def _text(problem: Problem, masks: Any, rows: list[Row]) -> str:
    """Return one deal's rows for people: a table, and below it what --cards and --line ask for."""
    from simcore.batches.config import GAME_SEATS
    from simcore.deals.pbn import format_deal

    lines = [f"deal {rows[0]['deal']}  {format_deal(masks, seats=GAME_SEATS[problem.game])}", ""]
    values: dict[tuple[str, ...], list[str]] = {}
    if problem.game == "elections":
        header = ["contract", "pairs", *(f"by {declarer}" for declarer in problem.declarers)]
        for row in rows:
            won = "" if row["attackers_tricks"] is None else f" ({row['attackers_tricks']})"
            text = "?" if row["attackers"] is None else f"{row['attackers']} : {row['defenders']}{won}"
            values.setdefault((row["contract"], row["pairs"]), []).append(text)
        below = "attackers : defenders, their points; in brackets the attackers' tricks."
        left = 2
    else:
        header = ["trump", *(f"{leader} leads" for leader in problem.leaders)]
        for row in rows:
            values.setdefault((row["trump"],), []).append(f"{row['points']['N']} : {row['points']['S']}")
        below = "N : S, their tricks."
        left = 1
    lines += [text_table(header, [[*key, *cells] for key, cells in values.items()], left=left), "", below]
    for row in rows:
        if problem.game == "elections":
            what = f"{row['contract']}, {row['pairs']}, by {row['declarer']}, {row['leader']} leads"
        else:
            what = f"{row['trump']}, {row['leader']} leads"
        if "margin_least" in row:
            lines += ["", f"{what}: given up; attackers' points minus defenders' {_between(row)}"]
            continue
        if problem.cards:
            sign = "+" if problem.game == "elections" else ""
            lines += ["", f"{what}: cards", "  " + "  ".join(f"{card} {worth:{sign}d}" for card, worth in row["cards"].items())]
        if problem.line:
            lines += ["", f"{what}: line", *_tricks(row["line"], len(problem.table), 4 if problem.game == "elections" else 2)]
    return "\n".join([*lines, ""])


def _tricks(cards: list[str], on_table: int, seats: int) -> list[str]:
    """Return a line of play, a trick a word group; the first trick lacks the cards on the table."""
    first = seats - on_table
    tricks = [cards[:first], *(cards[i : i + seats] for i in range(first, len(cards), seats))]
    width = 4 if seats == 4 else 8
    groups = ["-".join(trick) for trick in tricks if trick]
    return ["  " + "  ".join(groups[i : i + width]) for i in range(0, len(groups), width)]
