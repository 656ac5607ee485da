"""Interval estimates from integer sums.

Sums are exact integers collected by the kernels, merged in any order; floating point begins here, after the last merge, so that the
same tallies give the same figures on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

__all__ = ["Estimate", "mean_estimate", "ratio_estimate", "wilson"]


@dataclass(frozen=True)
class Estimate:
    """A figure with its standard error; ``stderr`` is None where it cannot be told (fewer than two units).

    ``units`` counts what is independent, ``n`` what the figure is a mean over.
    """

    value: float | None
    stderr: float | None
    units: int
    n: int

    def interval(self, confidence: float = 0.95) -> tuple[float | None, float | None]:
        """Return the normal interval value ± z · stderr."""
        if self.value is None or self.stderr is None:
            return None, None
        z = NormalDist().inv_cdf(0.5 + confidence / 2)
        return self.value - z * self.stderr, self.value + z * self.stderr


def ratio_estimate(units: int, n: int, y: int, nn: int, ny: int, yy: int) -> Estimate:
    """Estimate Σy / Σn over independent units (clusters), each with a size n and a sum y.

    The standard error is the linearised one of a ratio (Cochran, *Sampling Techniques*, 1977, ch. 6):
    s² = units / (units - 1) · Σ (y - r n)² / (Σn)².

    Args:
        units: number of clusters; n, y: sums of sizes and of values; nn, ny, yy: sums of their products over clusters.
    """
    if n == 0:
        return Estimate(None, None, units, n)
    ratio = y / n
    if units < 2:
        return Estimate(ratio, None, units, n)
    # Σ (y - r n)² = (yy n² - 2 y n ny + y² nn) / n²: exact integers up to the last division
    squares = (yy * n * n - 2 * y * n * ny + y * y * nn) / (n * n)
    return Estimate(ratio, math.sqrt(max(squares, 0.0) * units / (units - 1)) / n, units, n)


def mean_estimate(n: int, total: int, squares: int) -> Estimate:
    """Estimate a mean of n independent values with sum ``total`` and sum of squares ``squares``."""
    return ratio_estimate(n, n, total, n, total, squares)


def wilson(share: Estimate, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Return the Wilson score interval of a share (Wilson 1927), with the units' effective number where they are clusters.

    Never of width zero or beyond 0 and 1, also where the share is 0 or 1 (then the units themselves are the sample size).
    """
    if share.value is None or share.units == 0:
        return None, None
    p = share.value
    variance = p * (1 - p)
    n = float(share.units)
    if share.stderr and variance > 0:
        n = min(variance / share.stderr**2, float(share.n))
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(variance / n + z * z / (4 * n * n))
    # rounding must not leave the share itself out
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))
