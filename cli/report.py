"""simcore report: a finished result as one page."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import OutType

__all__ = ["command"]


@click.command("report")
@click.argument("folder", metavar="DIR", type=OutType(file_okay=True))
@click.option(
    "--out",
    multiple=True,
    metavar="FILE",
    help="A file to write, .html or .md; - prints Markdown.  May be repeated.  [default: DIR/report.html and DIR/report.md]",
)
@click.option("--overwrite", is_flag=True, help="Replace a file of --out that is no report.")
def command(folder: Path, out: tuple[str, ...], overwrite: bool) -> None:
    """Turn the result in DIR into one self-contained HTML page and Markdown.

    DIR is a folder (or s3://…) written by --out of `simulate`, `choose` and other commands.  The page needs no network and no
    scripts; it shows distributions, choices with intervals, and the line that makes the result again.  Prints the names of the
    files written.
    """
    from simcore.reports.verb import report

    files = [name for name in out if name != "-"] if out else [folder / "report.html", folder / "report.md"]
    made = report(folder, out=files, overwrite=overwrite)
    if "-" in out:
        click.echo(made.markdown, nl=False)
    else:
        for path in made.files:
            click.echo(path)
