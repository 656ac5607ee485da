"""simcore players: who can play."""

from __future__ import annotations

import textwrap

import click

from cli.options import format_option
from cli.output import to_json

__all__ = ["command"]


@click.command("players")
@format_option("text", "json")
def command(format_: str) -> None:
    """List the built-in players, the decisions they know, and their options.

    A SPEC is NAME[:key=value,…][+NAME…]; a later part takes over the decisions it knows.
    """
    from simcore.searchers.known import known_players

    players = known_players().values()
    if format_ == "json":
        click.echo(to_json([{"name": p.name, "what": p.what, "decisions": p.decisions, "options": p.options} for p in players]))
        return
    for player in players:
        click.echo(player.name)
        click.echo(textwrap.fill(player.what, 100, initial_indent="    ", subsequent_indent="    "))
        for game, decisions in player.decisions.items():
            if decisions:
                click.echo(f"    decides in {game}: {', '.join(decisions)}")
        for key, text in player.options.items():
            click.echo(f"    {key}: {text}")
        if not player.options:
            click.echo("    no options")
