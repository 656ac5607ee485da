"""Compile the kernels that choosing needs, by using each once."""

from __future__ import annotations

from collections.abc import Iterator

from simcore.choosing.verb import choose

__all__ = ["warm_choices"]


def warm_choices() -> Iterator[str]:
    """Make a small choice in each game; yields the name of each as it is ready."""
    choose("elections", hand="AKQ.JT9.876.5432", seat="N", dealer="E", calls="S pass, W clubs", max_deals=1, seed=0)
    yield "choose elections"
    show = "N:AKQJT98765432... S:.AKQJT98765432..2"
    choose("showcase", hand="..AKQJT98765432.", seat="N", leader="N", show=show, turned="C3")
    yield "choose showcase"
