"""simcore warm: compile ahead."""

from __future__ import annotations

import time
from itertools import chain

import click

from cli.options import quiet_option
from cli.output import note

__all__ = ["command"]


@click.command("warm")
@quiet_option
def command(quiet: bool) -> None:
    """Compile every kernel into the cache, so that the next command starts at once."""
    from simcore._jit import cache_directory
    from simcore.batches.warming import warm
    from simcore.choosing.warming import warm_choices

    start = time.perf_counter()
    for name in chain(warm(), warm_choices()):
        note(f"compiled {name}", quiet)
    directory = cache_directory()
    where = str(directory) if directory else "nowhere: no writable cache folder (set SIMCORE_CACHE_DIR)"
    click.echo(f"kernels ready in {time.perf_counter() - start:.1f} s; kept in {where}")
