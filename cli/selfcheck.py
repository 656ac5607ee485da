"""simcore selfcheck: is what runs here right?"""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import format_option, quiet_option
from cli.output import note, note_if_cold, to_json

__all__ = ["command"]


@click.command("selfcheck")
@click.option("--long", "long_", is_flag=True, help="Look at twenty-five times as much; takes minutes.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where files are written for a while, to check that file system.  [default: the system's temporary folder]",
)
@format_option("text", "json")
@quiet_option
def command(long_: bool, folder: Path | None, format_: str, quiet: bool) -> int:
    """Check this installation on this machine.

    Kernels against a plain engine that shares no code with them, shuffles against exact probabilities, solvers against stored
    values and exhaustive search, the same bytes from one and from all threads, and a run that is killed and resumed.  Exit status 0
    where everything is right, 1 where something is not.
    """
    from simcore.selfcheck.checks import machine, run_checks

    facts = machine()
    if format_ == "text":
        click.echo(", ".join(f"{key} {value}" for key, value in facts.items()))
    note_if_cold(quiet, "four_root")
    verdicts = []
    for verdict in run_checks(long=long_, folder=folder):
        verdicts.append(verdict)
        if format_ == "text":
            word = "ok    " if verdict.passed else "FAILED"
            click.echo(f"{word}  {verdict.name}: {verdict.detail} ({verdict.seconds:.1f} s)")
    failed = [verdict.name for verdict in verdicts if not verdict.passed]
    if format_ == "json":
        click.echo(to_json({"machine": facts, "passed": not failed, "checks": [vars(verdict) for verdict in verdicts]}))
    elif failed:
        click.echo(f"{len(failed)} of {len(verdicts)} checks FAILED: do not trust results of this installation")
    else:
        click.echo(f"all {len(verdicts)} checks passed in {sum(verdict.seconds for verdict in verdicts):.1f} s")
    if not facts["cache"]:
        note("simcore: no folder for compiled kernels can be written (set SIMCORE_CACHE_DIR): every start compiles anew", quiet)
    return 1 if failed else 0
