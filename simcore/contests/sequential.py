"""The sequential test: is the mean difference a deal nearer d0 or d1?  It looks after every unit and stops as early as it can.

The statistic is the generalised log-likelihood ratio of unit means that are normal with an unknown variance,

    L(n) = n/2 · log( (Σ (x - d0)² + c) / (Σ (x - d1)² + c) ),

the profile likelihood of either hypothesis, variance maximised (M. Van den Bergh, "A practical introduction to the GSPRT", 2017,
which chess programs are tested with; X. Li, J. Liu, Z. Ying, "Generalized sequential probability ratio test for separate families
of hypotheses", Sequential Analysis 33, 2014).  It stops at Wald's bounds (A. Wald, "Sequential tests of statistical hypotheses",
Annals of Mathematical Statistics 16, 1945): d1 is accepted where L ≥ log((1 - β)/α), d0 where L ≤ log(β/(1 - α)).

c is ours, against players who mostly do the same: where a unit differs once in many, by J, and n of them have come without it, L
is near -n² (d1 - d0)² / 2c, which reaches Wald's bound at n = sqrt(2 c log(1/β)) / (d1 - d0); at a true mean of d1 - d0 the chance
of seeing none till then is exp(-sqrt(2 c log(1/β)) / J), which is well below β for c = J² log(1/β).  J is half of what a playing's
difference can be at most, in one deal of a unit.  It also keeps L finite where all units are equal.  In a long test c weighs
nothing.  The first look is after ``MIN_UNITS``.  Error rates are simulated in tests/test_compare.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simcore.errors import BadInput

__all__ = ["MIN_UNITS", "Sprt", "SprtState", "parse_sprt"]

MIN_UNITS = 16


@dataclass(frozen=True)
class Sprt:
    """A sequential test of mean difference d0 against d1, with the chances of either error."""

    d0: float
    d1: float
    alpha: float  # of accepting d1 where the mean is d0
    beta: float  # of accepting d0 where the mean is d1

    @property
    def lower(self) -> float:
        """The bound at which d0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The bound at which d1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def describe(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"d0": self.d0, "d1": self.d1, "alpha": self.alpha, "beta": self.beta}

    def start(self, jump: float) -> SprtState:
        """Return a test that has seen nothing, of units that may differ by ``jump`` once in many."""
        return SprtState(self, jump)


class SprtState:
    """A running test: fed with unit means, it keeps its statistic after each and knows where it stopped."""

    def __init__(self, sprt: Sprt, jump: float) -> None:
        self.sprt = sprt
        self._spare = max(jump**2 * math.log(1 / min(sprt.alpha, sprt.beta)), (sprt.d1 - sprt.d0) ** 2)
        self.units = 0
        #: ``H0``, ``H1``, or None while it is open.
        self.accepted: str | None = None
        self._squares = [0.0, 0.0]
        self._curve: list[npt.NDArray[np.float64]] = []

    @property
    def curve(self) -> npt.NDArray[np.float64]:
        """The statistic after each unit."""
        return np.concatenate(self._curve) if self._curve else np.zeros(0)

    def add(self, means: npt.NDArray[np.float64]) -> int:
        """Go on with more unit means; returns how many of them the test used: fewer where it stopped among them."""
        if self.accepted is not None:
            return 0
        test = self.sprt
        n = self.units + 1 + np.arange(len(means))
        to_0, to_1 = (total + np.cumsum((means - d) ** 2) for total, d in zip(self._squares, (test.d0, test.d1), strict=True))
        values = n / 2 * np.log((to_0 + self._spare) / (to_1 + self._spare))
        over = np.flatnonzero((n >= MIN_UNITS) & ((values >= test.upper) | (values <= test.lower)))
        used = int(over[0]) + 1 if len(over) else len(means)
        if len(over):
            self.accepted = "H1" if values[used - 1] >= test.upper else "H0"
        if used:
            self._squares = [float(to_0[used - 1]), float(to_1[used - 1])]
        self._curve.append(values[:used])
        self.units += used
        return used


def parse_sprt(given: str | Sequence[float]) -> Sprt:
    """Read a test: ``d0 d1 alpha beta``.

    Raises:
        BadInput: not four numbers, or none that make a test.

    >>> parse_sprt("0 0.5 0.05 0.05").d1
    0.5
    """
    items: Sequence[Any] = given.replace(",", " ").split() if isinstance(given, str) else given
    try:
        d0, d1, alpha, beta = (float(item) for item in items)
    except (TypeError, ValueError):
        raise BadInput(f"sprt {given!r} is not four numbers; accepted: 'd0 d1 alpha beta', as in '0 0.5 0.05 0.05'") from None
    if not (math.isfinite(d0) and math.isfinite(d1) and d0 < d1 and max(abs(d0), abs(d1)) <= 1e6 and d1 - d0 >= 1e-6):
        raise BadInput(f"sprt {given!r}: d0 {d0:g} and d1 {d1:g} are no two hypotheses; accepted: d0 < d1, points a deal")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 1e-9 <= value < 0.5:
            raise BadInput(f"sprt {given!r}: {name} {value:g} is out of range; accepted: 1e-9 up to less than 0.5, as in 0.05")
    return Sprt(d0, d1, alpha, beta)
