"""Options that several commands share, defined once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from simcore.errors import BadInput

__all__ = [
    "Choices",
    "OutType",
    "check_folder_options",
    "cluster_option",
    "condition_options",
    "deal_options",
    "folder_options",
    "format_option",
    "game_argument",
    "nothing_else_goes_with",
    "optional_game_argument",
    "player_options",
    "plies_option",
    "quiet_option",
    "range_options",
    "take_plies",
    "use_options",
]

F = TypeVar("F", bound=Callable[..., Any])


class Choices(click.Group):
    """A group that says which commands it has when another is asked for."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; see :class:`click.Group`."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message.rstrip('.')}; accepted: {', '.join(self.list_commands(ctx))}") from None


game_argument = click.argument("game", metavar="GAME", type=click.Choice(["elections", "showcase"]))
optional_game_argument = click.argument("game", metavar="[GAME]", required=False, type=click.Choice(["elections", "showcase"]))
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar and no notes on standard error.")


cluster_option = click.option(
    "--cluster", metavar="ADDRESS|local:N", help="Have the workers of a Dask scheduler, or N processes, do it (docs/scale.md)."
)


def plies_option(what: str) -> Callable[[F], F]:
    """Return the option --max-plies; ``what`` it does.  :func:`take_plies` reads it."""
    text = f"{what}  [default: 4000000000, some ten minutes]"
    return click.option("--max-plies", metavar="N|none", help=text)


def take_plies(options: dict[str, Any]) -> None:
    """Have ``max_plies`` in options be a limit, None for ``none``, and no key where it was not given.

    Raises:
        BadInput: it is no number of plies.
    """
    text = options.pop("max_plies")
    if text is None:
        return
    from simcore.solvers import PLIES_ACCEPTED, is_plies

    # so many digits that it must be too large are not worth reading
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 100 else 0
    if text != "none" and not is_plies(number):
        raise BadInput(f"--max-plies {text[:100]!r}; accepted: {PLIES_ACCEPTED}, or none")
    options["max_plies"] = None if text == "none" else number


class OutType(click.Path):
    """A folder, or a place in an object store where the command takes one.

    Args:
        store: the command takes one.
    """

    def __init__(self, *, store: bool = True, file_okay: bool = False) -> None:
        super().__init__(file_okay=file_okay, path_type=Path)
        self._store = store

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; see :class:`click.ParamType`."""
        if isinstance(value, str) and ("://" in value or value == "" or value.startswith(("s3:", "gs:"))):
            from simcore.batches.places import place_of

            if value and not self._store:
                raise BadInput(f"{param.opts[0] if param else 'folder'} {value!r} is an address; accepted: a folder")
            return place_of(value)
        return super().convert(value, param, ctx)


def format_option(*formats: str, default: str = "text") -> Callable[[F], F]:
    """Return the --format option."""
    return click.option(
        "--format", "format_", type=click.Choice(formats), default=default, show_default=True, help="Form of the data."
    )


def use_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Apply several options in the order they are listed in --help."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


range_options = (
    click.option("--seed", metavar="INT", help="0 to 2**128 - 1.  Default: drawn from the operating system, and printed."),
    click.option("--first", type=int, default=None, metavar="I", help="Index of the first deal.  [default: 0]"),
)

player_options = (
    click.option("--ruleset", metavar="NAME|FILE.toml", help="A shipped ruleset or your own file.  [default: the game's]"),
    click.option(
        "--players", default="random", show_default=True, metavar="SPEC", help="Player of every seat (see 'simcore players')."
    ),
    click.option("--player", multiple=True, metavar="SEAT=SPEC", help="Player of one seat; may be repeated."),
)

condition_options = (
    click.option("--known", metavar="PBN", help="Cards that are known, as 'N:AKQ.T98.75.65432 - - -'; the rest is dealt."),
    click.option("--where", metavar="EXPR", help="Only deals like 'N.hcp >= 15 and N.spades >= 5' (docs/conditions.md)."),
)

deal_options = (
    click.option("--contract", metavar="ID|all|random", help="Elections: force a contract instead of the auction."),
    click.option("--pairs", metavar="lot|NS|NE|NW", help="Partners of a forced contract (N's side).  [default: by chance]"),
    click.option("--declarer", metavar="SEAT", help="Declarer of a forced contract.  [default: by chance]"),
    click.option("--trump", metavar="T|all", help="Showcase: name this trump at S9 instead of the namer."),
    click.option("--dealer", metavar="SEAT", help="The same dealer in every deal.  [default: by lot]"),
    click.option(
        "--file", type=click.Path(dir_okay=False, path_type=Path), metavar="deals.pbn", help="Play the deals of a PBN file."
    ),
    *condition_options,
)

#: Of a run's folder, beside --out.
folder_options = (
    click.option("--overwrite", is_flag=True, help="Replace the run that is in --out."),
    click.option(
        "--repair", is_flag=True, help="Make parts of --out anew that are damaged or another run's; those are kept aside."
    ),
)


def check_folder_options(out: Any, **flags: bool) -> None:
    """Refuse what is said of a folder that is not given."""
    for name, given in flags.items():
        if given and out is None:
            raise BadInput(f"{name} goes with out only; accepted: with --out DIR")


def nothing_else_goes_with(option: str, *accepted: str) -> None:
    """Refuse every option of the command that was given beside ``option``, but the accepted ones.

    Raises:
        BadInput: naming the first.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name != option and name not in accepted:
            flags = ", ".join(p.opts[0] for p in context.command.params if p.name in accepted and p.opts[0].startswith("--"))
            raise BadInput(f"{parameter.opts[0]} does not go with --{option}; accepted beside it: {flags}")
