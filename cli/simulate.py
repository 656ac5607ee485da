"""simcore simulate: play many deals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.options import (
    OutType,
    check_folder_options,
    cluster_option,
    deal_options,
    folder_options,
    format_option,
    nothing_else_goes_with,
    optional_game_argument,
    player_options,
    quiet_option,
    range_options,
    use_options,
)
from cli.output import interrupted, note, notes_before, number, progress_bar, text_table, to_be_replaced, to_csv, to_json

if TYPE_CHECKING:
    from simcore.batches.places import Place

__all__ = ["command"]


@click.command("simulate")
@optional_game_argument
@click.option("--deals", type=int, default=None, metavar="N", help="How many deals.  [default: 10000, or all of --file]")
@use_options(*range_options, *player_options, *deal_options)
@click.option("--rounds", is_flag=True, help="Elections: also the table of full rounds of eight deals (E18).")
@click.option("--hands", is_flag=True, help="Add the hands to the table, as uint64 masks.")
@click.option("--out", type=OutType(), metavar="DIR|s3://…", help="Folder for Parquet tables and manifest.")
@use_options(*folder_options)
@click.option(
    "--resume",
    type=OutType(),
    metavar="DIR",
    help="Go on with the run in this folder; seed and options are taken from there.",
)
@click.option("--threads", type=int, default=None, metavar="N", help="Default: all cores.  Changes no result.")
@cluster_option
@format_option("text", "json", "jsonl", "csv")
@quiet_option
def command(
    game: str | None,
    out: Place | None,
    overwrite: bool,
    repair: bool,
    resume: Place | None,
    threads: int | None,
    cluster: str | None,
    format_: str,
    quiet: bool,
    **options: Any,
) -> int:
    """Play deals of GAME and print a summary; with --out, write one row a deal to Parquet.

    Without --contract (or --trump) the players hold the auction (name the trump); with it the contract is forced, the declarer and
    the pairing by chance unless fixed.  `all` plays every contract on the same deals, so that they can be compared pair by pair.
    The same seed gives the same tables, byte for byte.  Whatever stops a run with --out, its complete parts stay; the same command,
    or --resume DIR, goes on from there.
    """
    from simcore._jit import compiler_watched
    from simcore.batches.config import make_config
    from simcore.batches.replaying import config_of_run
    from simcore.batches.run import Interrupted, check_threads, run_simulation

    if resume is not None:
        nothing_else_goes_with("resume", "game", "file", "repair", "threads", "cluster", "format_", "quiet")
        config, out = config_of_run(resume, file=options["file"], game=game), resume
    elif game is None:
        raise click.UsageError("which game? accepted: GAME (elections or showcase), or --resume DIR")
    else:
        options["first"] = options["first"] or 0
        config = make_config(game, **options)
    check_folder_options(out, overwrite=overwrite, repair=repair)
    check_threads(threads, cluster)
    replaced = to_be_replaced(out, overwrite)
    note(f"seed {config.seed}", quiet)
    notes_before(config, quiet)
    try:
        with compiler_watched() as compiled, progress_bar(config.deals, "deals", quiet) as progress:
            result = run_simulation(
                config,
                out=out,
                threads=threads,
                cluster=cluster,
                overwrite=overwrite,
                repair=repair,
                progress=progress,
                note=lambda text: note(f"simcore: {text}", quiet),
            )
    except Interrupted:
        seed_known = resume is not None or options["seed"] is not None
        return interrupted(out, *([] if seed_known else ["--seed", str(config.seed)]), replaced=replaced)
    data = result.summary_data()
    if format_ == "json":
        click.echo(to_json(data))
    elif format_ == "jsonl":
        for row in data["rows"]:
            click.echo(to_json(row, lines=True))
    elif format_ == "csv":
        click.echo(to_csv(data["rows"]))
    else:
        click.echo(_text(data))
    if result.deals_played:
        who = "thread(s)" if cluster is None else "worker thread(s)"
        seconds = max(result.seconds - compiled(), 1e-9)
        first = f", after {compiled():.1f} s of compiling kernels, once for this version" if compiled() else ""
        rate = result.deals_played / seconds
        note(f"{result.deals_played:,} deals in {seconds:.2f} s on {result.threads} {who}: {rate:,.0f} deals/s{first}", quiet)
    if out is not None:
        note(f"tables in {out}", quiet)
    return 0


def _text(data: dict[str, Any]) -> str:
    """Return the summary for people."""
    percent = f"{100 * data['confidence']:g} %"
    players = sorted(set(data["players"].values()))
    who = players[0] if len(players) == 1 else ", ".join(f"{seat} {spec}" for seat, spec in data["players"].items())
    lines = [
        f"{data['game']}, ruleset {data['ruleset']}: {data['deals']:,} deals from index {data['first']:,}, players {who}",
        f"seed {data['seed']}",
        *_condition_lines(data),
        "",
    ]
    if data["game"] == "showcase":
        return "\n".join(lines + _showcase_lines(data, percent))
    rows = [
        [
            row["contract"],
            f"{row['deals']:,}",
            *_share(row),
            number(row["attackers_win"], 2, percent=True),
            _interval(row, "win_low", "win_high"),
            number(row["mean_attackers"], 3, sign=True),
            number(row["mean_defenders"], 3, sign=True),
            number(row["stderr"], 3),
        ]
        for row in data["rows"]
    ]
    header = [
        "contract",
        *_share_header(data, percent),
        "attackers win %",
        f"{percent} interval",
        "attackers",
        "defenders",
        "± s.e.",
    ]
    lines.append(text_table(header, rows))
    lines.append("")
    lines.append("attackers, defenders: mean points a deal, each ± its standard error (their sum is fixed, so both have the same).")
    if data["unit"] == "round":
        lines.append("Intervals and standard errors are from rounds of eight deals, which share lots and the order of dealers.")
        lines.append(f"passed out {data['passed_out']:,}, redealt {data['redealt']:,} of {data['deals']:,} deals.")
        lines.append("")
        seats = [
            [row["seat"], row["player"], number(row["mean_credit"], 3, sign=True), number(row["stderr"], 3)]
            for row in data["seats"]
        ]
        lines.append(text_table(["seat", "player", "credit a deal", "± s.e."], seats, left=2))
    return "\n".join(lines)


def _condition_lines(data: dict[str, Any]) -> list[str]:
    """Return what the deals were bound by, and how many had to be tried."""
    if "tried" not in data:
        return []
    lines = [f"{key} {data[key]}" for key in ("known", "where") if data[key] is not None]
    return [*lines, f"{data['tried']:,} deals tried: acceptance {100 * data['acceptance']:.3g} %"]


def _interval(row: dict[str, Any], low: str, high: str, places: int = 2) -> str:
    return f"{number(row[low], places, percent=True)} … {number(row[high], places, percent=True)}"


def _share(row: dict[str, Any]) -> list[str]:
    """Return the cells for how often a contract or trump is played: with an interval, where that is not given."""
    share = [number(row["share"], 1, percent=True)]
    return share if row["share_low"] is None else [*share, _interval(row, "share_low", "share_high", 1)]


def _share_header(data: dict[str, Any], percent: str) -> list[str]:
    """Return the heads of the columns of deals and shares."""
    given = any(row["share_low"] is None for row in data["rows"])
    return ["deals", "share %"] if given else ["deals", "share %", f"{percent} interval"]


def _showcase_lines(data: dict[str, Any], percent: str) -> list[str]:
    """Return Showcase's summary for people."""
    rows = [
        [
            row["trump"],
            f"{row['deals']:,}",
            *_share(row),
            number(row["namer_wins"], 2, percent=True),
            _interval(row, "win_low", "win_high"),
            number(row["mean_namer"], 3),
            number(row["stderr"], 3),
        ]
        for row in data["rows"]
    ]
    header = ["trump", *_share_header(data, percent), "namer wins %", f"{percent} interval", "namer's tricks", "± s.e."]
    lines = [text_table(header, rows)]
    if "wins" in data:
        who = {"N": "North", "elder": "the elder", "leader": "the second playout's leader", "namer": "the namer"}
        wins = [[who[row["who"]], number(row["share"], 2, percent=True), _interval(row, "low", "high")] for row in data["wins"]]
        lines += ["", text_table(["who", "wins %", f"{percent} interval"], wins)]
        lines += ["", f"equal counts (S9) in {data['count_ties']:,} of {data['deals']:,} deals."]
    return lines
