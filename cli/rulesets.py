"""simcore rulesets: list, show, check, balance."""

from __future__ import annotations

from pathlib import Path

import click

from cli.balance import command as balance_command
from cli.options import Choices
from cli.output import text_table
from simcore.errors import BadInput

__all__ = ["command"]


@click.group("rulesets", cls=Choices)
def command() -> None:
    """List, show, check or judge rulesets.

    A ruleset is a TOML file: copy one (`simcore rulesets show elections > my.toml`), change points or add a contract, check it, and
    play it with `--ruleset my.toml`.  The schema is in docs/rulesets.md.
    """


@command.command("list")
def list_rulesets() -> None:
    """List the shipped rulesets."""
    from simcore.rules import SHIPPED, load_ruleset

    rows = [[name, (r := load_ruleset(name)).game, str(len(r.contracts) or "-"), r.title] for name in SHIPPED]
    click.echo(text_table(["ruleset", "game", "contracts", "title"], rows, left=4))


@command.command("show")
@click.argument("name", metavar="NAME|FILE.toml")
@click.option("--words", is_flag=True, help="Say in words what it means instead of printing the file.")
def show(name: str, words: bool) -> None:
    """Print a ruleset's TOML, ready to be copied and changed."""
    from simcore.rules import load_ruleset

    ruleset = load_ruleset(name)
    if not words:
        click.echo(ruleset.text.rstrip("\n"))
        return
    click.echo(f"{ruleset.name} ({ruleset.game}): {ruleset.title}")
    for key, value in ruleset.choices.items():
        click.echo(f"  {key} = {value}")
    if ruleset.game == "elections":
        click.echo(f"  failure_bonus = {ruleset.failure_bonus}")
    for type_id, ids in ruleset.types:
        click.echo(type_id)
        for contract_id in ids:
            contract = ruleset.contract(contract_id)
            click.echo(f"  {contract_id}: {contract.describe()}; both sides together {contract.total}")


@command.command("check")
@click.argument("path", metavar="FILE.toml", type=click.Path(path_type=Path))
def check(path: Path) -> None:
    """Check a ruleset file: the first mistake is reported with key, value and what is allowed."""
    from simcore.rules import load_ruleset

    if path.suffix != ".toml":
        raise BadInput(f"ruleset file {str(path)!r} does not end in .toml")
    ruleset = load_ruleset(path)
    click.echo(f"{path}: ruleset {ruleset.name!r} for {ruleset.game} is in order ({len(ruleset.contracts)} contracts)")


command.add_command(balance_command)
