"""Figures out of exact sums over independent units, of one ruleset or of two on the same deals.

A unit (a deal, or a round of eight) gives a few whole numbers for each ruleset; kept are their totals T and the sums of their
products P, as Python integers of any size.  A figure is a function f of the totals that does not change when all of them are
multiplied (a mean, a share, a standard deviation), so its variance is, linearised (delta method; Cochran, *Sampling Techniques*,
1977, ch. 6): u / (u - 1) · g' P g, with u units and g the gradient of f at T.  With both rulesets' numbers in one vector the same
formula gives the standard error of a difference between them, paired by deals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from simcore.stats import Estimate, wilson

__all__ = ["Figure", "Sums", "confidence_of_each"]

_SAFE = 1 << 62
#: With fewer units a normal interval is too short for saying that two rulesets differ.
_FEW = 30


@dataclass
class Sums:
    """Totals and sums of products over units; ``width`` numbers a ruleset."""

    width: int
    rulesets: int
    units: int = 0
    totals: np.ndarray = field(init=False)
    products: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        size = self.width * self.rulesets
        self.totals = np.zeros(size, object)
        self.products = np.zeros((size, size), object)

    def add(self, *columns: np.ndarray) -> None:
        """Add units: for each ruleset int64[units, width]."""
        block = np.concatenate(columns, axis=1).astype(np.int64)
        if not len(block):
            return
        largest = int(np.abs(block).max())
        exact = block if largest * largest * len(block) < _SAFE else block.astype(object)
        self.totals = self.totals + block.astype(object).sum(axis=0)
        self.products = self.products + (exact.T @ exact).astype(object)
        self.units += len(block)


@dataclass(frozen=True)
class Figure:
    """A figure of a table: what it is called, what it is made of.

    Args:
        name, label: for programs and for people.
        kind: ``mean`` of y over n, ``share`` (a mean between 0 and 1), ``sd`` (of y, with its squares yy), or ``balance``:
            1 - abs(y / n).
        n, y, yy: places of the numbers in a unit's vector.
        divisor: y is so many times what is meant.
        unit: of the figure: ``share``, ``points``, ``credit``, ``tricks`` or ``times``.
    """

    name: str
    label: str
    kind: str
    n: int
    y: int
    yy: int = -1
    divisor: int = 1
    unit: str = "share"

    def row(self, sums: Sums, confidence: float, alone: float) -> dict[str, Any]:
        """Return value, standard error and interval for each ruleset, and the paired difference of two.

        Args:
            alone: the confidence at which a difference counts as one: stricter, since there are many.
        """
        sides = [self._side(sums, place, confidence) for place in range(sums.rulesets)]
        row: dict[str, Any] = {"figure": self.name, "label": self.label, "unit": self.unit, "confidence": confidence, **sides[0]}
        if sums.rulesets == 2:
            row["against"] = sides[1]
            row |= self._difference(sums, confidence, alone)
        return row

    def _values(self, sums: Sums, place: int) -> tuple[int, int, int]:
        start = place * sums.width
        totals = sums.totals
        return int(totals[start + self.n]), int(totals[start + self.y]), int(totals[start + self.yy]) if self.yy >= 0 else 0

    def _value(self, sums: Sums, place: int) -> tuple[float, dict[int, Fraction]] | None:
        """Return the figure and its gradient by places of the whole vector; None without data."""
        n, y, yy = self._values(sums, place)
        if n <= 0:
            return None
        start, d = place * sums.width, self.divisor
        mean, slope = Fraction(y, n * d), Fraction(1, n * d)
        gradient = {start + self.n: -Fraction(y, n * n * d), start + self.y: slope}
        if self.kind == "balance":
            sign = -1 if mean > 0 else 1
            return 1 - abs(float(mean)), {key: sign * value for key, value in gradient.items()}
        if self.kind != "sd":
            return float(mean), gradient
        variance = Fraction(yy, n * d * d) - mean * mean
        deviation = math.sqrt(variance)
        if not deviation:
            return 0.0, {}
        half = Fraction(1) / Fraction(2 * deviation)
        return deviation, {
            start + self.n: half * (-Fraction(yy, n * n * d * d) + 2 * mean * Fraction(y, n * n * d)),
            start + self.y: half * (-2 * mean * slope),
            start + self.yy: half * Fraction(1, n * d * d),
        }

    @staticmethod
    def _stderr(sums: Sums, gradient: dict[int, Fraction]) -> float | None:
        if sums.units < 2:
            return None
        form = sum((a * b * int(sums.products[i, j]) for i, a in gradient.items() for j, b in gradient.items()), start=Fraction(0))
        return math.sqrt(max(form, Fraction(0)) * sums.units / (sums.units - 1))

    def _side(self, sums: Sums, place: int, confidence: float) -> dict[str, Any]:
        n = self._values(sums, place)[0]
        found = self._value(sums, place)
        if found is None:
            return {"value": None, "stderr": None, "low": None, "high": None, "n": n, "units": sums.units}
        value, gradient = found
        stderr = self._stderr(sums, gradient)
        estimate = Estimate(value, stderr, sums.units, n)
        if self.kind == "share":
            low, high = wilson(estimate, confidence)
        elif self.kind == "balance":
            low, high = self._balance(sums, place, confidence)
        else:
            low, high = estimate.interval(confidence)
            if low is not None and self.kind == "sd":
                low = max(low, 0.0)
        return {"value": value, "stderr": stderr, "low": low, "high": high, "n": n, "units": sums.units}

    def _balance(self, sums: Sums, place: int, confidence: float) -> tuple[float | None, float | None]:
        """Return the interval of 1 - abs(d) out of that of d, which may lie on both sides of zero."""
        mean = Figure(self.name, self.label, "mean", self.n, self.y, divisor=self.divisor)._side(sums, place, confidence)
        if mean["low"] is None:
            return None, None
        ends = sorted((abs(mean["low"]), abs(mean["high"])))
        nearest = 0.0 if mean["low"] <= 0 <= mean["high"] else ends[0]
        return max(0.0, 1 - ends[1]), min(1.0, 1 - nearest)

    def _difference(self, sums: Sums, confidence: float, alone: float) -> dict[str, Any]:
        """Return the second ruleset's figure less the first's, on the same deals."""
        first, second = self._value(sums, 0), self._value(sums, 1)
        if first is None or second is None:
            return {"difference": None, "difference_stderr": None, "difference_low": None, "difference_high": None, "differs": None}
        value = second[0] - first[0]
        gradient = {key: -slope for key, slope in first[1].items()} | second[1]
        stderr = self._stderr(sums, gradient)
        low, high = Estimate(value, stderr, sums.units, sums.units).interval(confidence)
        certain = stderr is not None and sums.units >= _FEW and abs(value) > NormalDist().inv_cdf(0.5 + alone / 2) * stderr
        return {
            "difference": value,
            "difference_stderr": stderr,
            "difference_low": low,
            "difference_high": high,
            "differs": bool(certain),
        }


def confidence_of_each(confidence: float, count: int) -> float:
    """Return the confidence for each of several statements that all hold with ``confidence`` (Bonferroni)."""
    return 1 - (1 - confidence) / max(count, 1)
