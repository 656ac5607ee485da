"""The command group.  A command's file is imported when that command is asked for, so that --help and completion are instant."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any, NoReturn, TextIO

import click

from cli.options import Choices
from cli.output import note
from simcore import __version__
from simcore.errors import RunError, SimcoreError

__all__ = ["cli", "main"]

#: Command → (module in cli, one line for --help).
COMMANDS = {
    "simulate": ("simulate", "Play many deals; print a summary, write tables to Parquet."),
    "replay": ("replay", "Show single deals of a simulation, or check traces against the rules."),
    "solve": ("solve", "Exact values of deals, all hands seen: double dummy for every contract and trump."),
    "choose": ("choose", "Compare contracts, calls or trumps for one hand."),
    "report": ("report", "Turn a finished result into one HTML page and Markdown."),
    "compare": ("compare", "Compare players on the same deals, every swap of sides."),
    "deal": ("deal", "Write random deals, without playing them."),
    "play": ("play", "Play a deal in the terminal against any players."),
    "rulesets": ("rulesets", "List, show, check or judge rulesets."),
    "players": ("players", "List the built-in players and their options."),
    "selfcheck": ("selfcheck", "Check this installation: rules, chance, solvers, threads, files."),
    "warm": ("warm", "Compile all kernels now, so that the next run starts at once."),
}


#: What click raises where a group is called without a command (from 8.2 on; before, it prints the help and ends).
_HELP_ASKED_FOR: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())

#: How click says what it does not accept, and how the rest of simcore says it.
_OURS = {
    " is not one of ": " is unknown; accepted: ",
    " is not a valid integer": " is not accepted; accepted: a whole number",
    " is not a valid float": " is not accepted; accepted: a number",
}


class _ReaderGone(Exception):
    """Whoever read standard output has gone, as in "| head"."""


class _Commands(Choices):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; see :class:`click.Group`.  click would end with status 1 and no word where the reader has gone."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="simcore")
def cli() -> None:
    """Fast, honest Monte Carlo simulation of the card games Elections and Showcase.

    Data goes to standard output, progress and notes to standard error.  Exit status: 0 done, 1 failed, 2 bad use, 3 finished but
    inconclusive, 130 interrupted.
    """


def main(args: list[str] | None = None) -> Any:
    """Run the command line: errors become one line on stderr and an exit status."""
    try:
        status = cli.main(args=args, prog_name="simcore", standalone_mode=False)
        if sys.stdout is not None:  # None where the shell has closed it
            sys.stdout.flush()
        _leave(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as stop:
        _leave(stop.exit_code)
    except click.ClickException as error:
        if isinstance(error, _HELP_ASKED_FOR):
            error.show()
        else:
            note(f"simcore: {_in_one_line(error)}")
        _leave(error.exit_code)
    except SimcoreError as error:
        note(f"simcore: {error}")
        _leave(1 if isinstance(error, RunError) else 2)
    except (click.Abort, KeyboardInterrupt):
        note("simcore: interrupted")
        _leave(130)
    except (_ReaderGone, BrokenPipeError):
        # nothing is wrong, but nothing more can be said: what a shell says of a program that SIGPIPE has ended
        _silence(sys.stdout)
        _leave(141)
    except OSError as error:
        # what simcore reads and writes itself is reported where it happens: this is standard output
        _silence(sys.stdout)
        note(f"simcore: failed: {error.strerror or error}")
        _leave(1)
    except MemoryError:
        note("simcore: out of memory; fewer --threads need less")
        _leave(1)


def _in_one_line(error: click.ClickException) -> str:
    """Return what click finds wrong with a command line in the form of simcore's own errors, and where the options are told."""
    text = " ".join(error.format_message().split()).removesuffix(".")
    for theirs, ours in _OURS.items():
        text = text.replace(theirs, ours)
    context = error.ctx if isinstance(error, click.UsageError) else None
    return text[:1].lower() + text[1:] + (f" (see: {context.command_path} --help)" if context else "")


def _silence(stream: TextIO | None) -> None:
    """Send what is still to be written to a stream nowhere."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end(status: int) -> NoReturn:
    """End the process without waiting for anything (the tests, which call commands in their own process, do not)."""
    os._exit(status)


def _leave(status: int) -> NoReturn:
    """End the process.

    Python would wait for threads: those in a player that never answers or in a long search are left behind instead; what they
    work on is wanted by nobody any more.
    """
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:  # full, or gone: Python would try again, and end with a status of its own
        _silence(sys.stderr)
    workers = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    for thread in workers:
        thread.join(0.1)
    if any(thread.is_alive() for thread in workers):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        _end(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
