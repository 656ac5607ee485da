"""Options of the searching players, read from a SPEC's texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from simcore.errors import BadInput

__all__ = ["Options"]


class Options:
    """A part's options: each is read with what it may be, and refused with what would be accepted."""

    def __init__(self, player: str, given: Mapping[str, str]) -> None:
        self._player, self._given = player, given

    def _refuse(self, key: str, accepted: str) -> BadInput:
        return BadInput(f"{key} {self._given[key]!r} of player {self._player!r} is not accepted; accepted: {accepted}")

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """Return a whole number."""
        text = self._given.get(key, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
            raise self._refuse(key, f"a whole number, {least} to {most}")
        return int(text)

    def real(self, key: str, default: float, least: float, most: float) -> float:
        """Return a number."""
        try:
            number = float(self._given.get(key, default))
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise self._refuse(key, f"a number, {least:g} to {most:g}")
        return number

    def word(self, key: str, accepted: Iterable[str]) -> str:
        """Return one of some words, the first by default."""
        words = tuple(accepted)
        word = self._given.get(key, words[0])
        if word not in words:
            raise self._refuse(key, ", ".join(words))
        return word

    def seconds(self, key: str) -> float | None:
        """Return a time, None where none is given."""
        return self.real(key, 0.0, 0.001, 86_400.0) if key in self._given else None
