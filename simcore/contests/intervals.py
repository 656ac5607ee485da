"""Intervals and chances for a mean over units, that stay finite and never shrink to nothing.

* A sample of fixed size: Student's t.
* A sample that a sequential test ended: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
  ("Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024, theorem 2.2), which holds
  at all sample sizes at once, and so whatever stops it:  mean ± s · sqrt( 2 (n ρ² + 1) / (n ρ)² · log( sqrt(n ρ² + 1) / α ) ).
* All units equal (a shut-out, or one unit): other values come up with a share p of the units that leaves such a sample a chance
  (1 - p)ⁿ of at least α, and they lie within the bounds of the game; so mean + p · (bound - mean) on either side.  That is exact,
  and also holds at all sample sizes at once, since each such sample contains the shorter ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from simcore.stats import mean_estimate

__all__ = ["Verdict", "holm", "judge", "judge_totals", "sequence_radius", "t_cdf", "t_quantile"]

#: From so many degrees of freedom on a normal approximation is exact to seven digits (Abramowitz and Stegun 26.7.8).
_MANY = 1000
#: The sample size at which the confidence sequence is tightest.
_TIGHTEST = 100


def t_cdf(t: float, df: int) -> float:
    """Return the chance of at most t under Student's t with a whole number of degrees of freedom (A. & S. 26.7.3, 26.7.4).

    >>> round(t_cdf(2.0, 2), 6), t_cdf(0.0, 5)
    (0.908248, 0.5)
    """
    if df >= _MANY:
        return NormalDist().cdf(t * (1 - 1 / (4 * df)) / math.sqrt(1 + t * t / (2 * df)))
    angle = math.atan(t / math.sqrt(df))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = (1.0, 1.0) if df % 2 == 0 else (cosine, cosine)
    if df == 1:
        total = 0.0
    for k in range(2 + df % 2, df, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    within = sine * total if df % 2 == 0 else 2 / math.pi * (angle + sine * total)
    return min(1.0, max(0.0, 0.5 + within / 2))


@cache
def t_quantile(p: float, df: int) -> float:
    """Return the t that a share p of Student's t lies below, p from 0.5 on.

    >>> round(t_quantile(0.975, 10), 4)
    2.2281
    """
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p and high < 1e12:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class Verdict:
    """A mean over units with all that is said of it.

    ``chance``: that the true mean is above zero, having seen the units (flat prior; for equal units the rule of succession).
    ``p``: of a mean as far from zero if the true one were zero, two-sided; None for a sample that a test ended.
    """

    n: int
    mean: float
    stderr: float | None
    low: float
    high: float
    chance: float
    p: float | None
    method: str


def sequence_radius(n: int, alpha: float) -> float:
    """Return the half-width of the confidence sequence in standard deviations."""
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / _TIGHTEST
    return math.sqrt(2 * (n * rho2 + 1) / (n * n * rho2) * math.log(math.sqrt(n * rho2 + 1) / alpha))


def judge(sums: npt.NDArray[np.int64], scale: int, bound: float, confidence: float, *, stopped: bool = False) -> Verdict | None:
    """Judge a mean by its units; None where there are none.

    Args:
        sums: whole numbers, one a unit; divided by ``scale`` they are the values.
        bound: no unit's value can be farther from zero.
        stopped: a sequential test decided how many units there are.
    """
    total, squares = int(sums.sum()), int((sums.astype(object) ** 2).sum())
    return judge_totals(len(sums), total, squares, scale, bound, confidence, stopped=stopped)


def judge_totals(
    n: int, total: int, squares: int, scale: int, bound: float, confidence: float, *, stopped: bool = False
) -> Verdict | None:
    """Judge a mean by the units' number, sum and sum of squares; the rest as in :func:`judge`."""
    if n == 0:
        return None
    estimate = mean_estimate(n, total, squares)
    mean, alpha = total / n / scale, 1 - confidence
    if n == 1 or n * squares == total * total:
        share = 1 - alpha ** (1 / n)
        sign = (total > 0) - (total < 0)
        chance, p = 0.5 + sign * (0.5 - 0.5 ** (n + 1)), min(1.0, 2.0 * 0.5**n) if sign else 1.0
        low, high = mean - share * (mean + bound), mean + share * (bound - mean)
        return Verdict(n, mean, None if n == 1 else 0.0, low, high, chance, None if stopped else p, "all units equal")
    assert estimate.stderr is not None
    stderr = estimate.stderr / scale
    t = mean / stderr
    if stopped:
        half = sequence_radius(n, alpha) * stderr * math.sqrt(n)
        return Verdict(n, mean, stderr, mean - half, mean + half, t_cdf(t, n - 1), None, "confidence sequence")
    half = t_quantile(0.5 + confidence / 2, n - 1) * stderr
    return Verdict(n, mean, stderr, mean - half, mean + half, t_cdf(t, n - 1), 2 * t_cdf(-abs(t), n - 1), "Student's t")


def holm(values: list[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, "A simple sequentially rejective multiple test procedure", 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    corrected, last = [0.0] * len(values), 0.0
    for rank, i in enumerate(order):
        last = max(last, min(1.0, (len(values) - rank) * values[i]))
        corrected[i] = last
    return corrected
