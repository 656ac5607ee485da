"""simcore replay: show deals, check traces."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from cli.options import (
    OutType,
    deal_options,
    format_option,
    nothing_else_goes_with,
    optional_game_argument,
    player_options,
    plies_option,
    quiet_option,
    range_options,
    take_plies,
    use_options,
)
from cli.output import colour_wanted, interrupted, note, notes_before, to_json, utf8
from simcore.errors import BadInput

__all__ = ["command"]


@click.command("replay")
@optional_game_argument
@click.option("--deals", type=int, default=None, metavar="K", help="How many deals.  [default: 1]")
@use_options(*range_options, *player_options, *deal_options)
@click.option("--run", type=OutType(), metavar="DIR|s3://…", help="Seed and options from a run's folder.")
@click.option("--trace", metavar="FILE|-", help="Read traces (JSON lines) and check them against the rules.")
@click.option("--double-dummy", is_flag=True, help="Mark what each card cost against perfect play (Showcase: second playout).")
@plies_option("With --double-dummy (Elections): leave out what takes more cards tried a deal.")
@click.option("--explain", metavar="PLAYER", help="At each decision, what this player saw and thought: SPEC, SEAT=SPEC or SEAT.")
@format_option("text", "json", "jsonl")
@quiet_option
def command(
    game: str | None,
    deals: int | None,
    first: int | None,
    run: Path | None,
    trace: str | None,
    double_dummy: bool,
    explain: str | None,
    format_: str,
    quiet: bool,
    **options: Any,
) -> int:
    """Show exactly the deals that `simcore simulate GAME` plays with the same options, from index --first on.

    With --run DIR the seed and all options come from a run's manifest.  With --trace FILE traces are read, whoever wrote them, and
    checked move by move: an illegal one is refused with deal, trick, card and clause.

    --explain pimc asks that player at every decision what it would have thought in that place; --explain N explains N's own player.
    """
    from simcore.batches import replaying
    from simcore.batches.config import make_config

    more: dict[str, Any] = {"double_dummy": double_dummy, "explain": explain, "max_plies": options.pop("max_plies")}
    if more["max_plies"] is not None and not double_dummy:
        raise BadInput(f"--max-plies {more['max_plies'][:100]!r} needs --double-dummy; accepted: together with it")
    take_plies(more)
    if trace is not None:
        nothing_else_goes_with("trace", "game", "ruleset", "double_dummy", "max_plies", "explain", "format_", "quiet")
        return _check(trace, game, options["ruleset"], more, format_, quiet)
    if run is not None:
        nothing_else_goes_with("run", "game", "first", "deals", "file", "double_dummy", "max_plies", "explain", "format_", "quiet")
        config = replaying.config_of_run(run, first=first, deals=1 if deals is None else deals, file=options["file"], game=game)
    elif game is None:
        raise click.UsageError("which game? accepted: GAME (elections or showcase), --run DIR or --trace FILE")
    else:
        deals = 1 if deals is None else deals
        config = make_config(game, first=first or 0, deals=deals, **options)
    traces = replaying.replay_config(config, **more)
    note(f"seed {config.seed}", quiet)
    notes_before(config, quiet)
    unknown: list[int] = []
    try:
        _print(_watched(traces, unknown), format_)
    except KeyboardInterrupt:
        return interrupted(None, *([] if run is not None or options["seed"] is not None else ["--seed", str(config.seed)]))
    return _status(unknown, quiet)


def _watched(traces: Iterable[dict[str, Any]], unknown: list[int]) -> Iterator[dict[str, Any]]:
    """Yield traces, and note the deals in which it is not known what some card cost."""
    for trace in traces:
        if any(cost is None for trick in trace.get("tricks", ()) for cost in trick.get("cost", ())):
            unknown.append(trace["deal"])
        yield trace


def _status(unknown: list[int], quiet: bool) -> int:
    """Return the exit status, after telling of what was given up."""
    if not unknown:
        return 0
    note(
        f"deals in which perfect play is not known from the first card on: {len(unknown):,}; the first: deal {unknown[0]}; "
        "--max-plies allows more",
        quiet,
    )
    return 3


def _print(traces: Iterable[dict[str, Any]], format_: str) -> None:
    """Print traces as they come."""
    from simcore.batches.replaying import render

    if format_ == "json":
        click.echo(to_json(list(traces)))
        return
    for number, trace in enumerate(traces):
        if format_ == "jsonl":
            click.echo(to_json(trace, lines=True))
        else:
            click.echo(("\n" if number else "") + render(trace, symbols=utf8(), colour=colour_wanted()))


def _check(source: str, game: str | None, ruleset: str | None, more: dict[str, Any], format_: str, quiet: bool) -> int:
    """Check traces and print them with what more is asked for; returns the exit status."""
    from simcore.batches.replaying import check_traces
    from simcore.rules import load_ruleset

    rules = load_ruleset(ruleset, game) if ruleset is not None else None
    if source == "-":
        data, where = sys.stdin.buffer.read(), "standard input"
    else:
        try:
            data, where = Path(source).read_bytes(), source
        except OSError as error:
            raise BadInput(f"trace file {source!r} cannot be read: {error.strerror}") from None
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    unknown: list[int] = []
    traces = list(_watched(check_traces(iter(lines), where, rules, **more), unknown))
    if not traces:
        raise BadInput(f"{where} holds no trace; accepted: one JSON object a line")
    for trace in traces:
        if game is not None and trace["game"] != game:
            raise BadInput(f"{where}: deal {trace['deal']} is of {trace['game']!r}, not of {game!r}")
    _print(traces, format_)
    note(f"{len(traces)} trace(s) checked: all legal", quiet)
    return _status(unknown, quiet)
