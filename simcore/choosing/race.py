"""Races: which of several choices has the highest mean, looked at after every batch without losing the stated confidence.

Every choice is tried in the same worlds, so what counts is the paired difference of two choices.  For bounded values x_i in
[low, high] of mean at most m, and any guess g_i of x_i made before seeing it,

    exp(λ Σ (x_i - m) - ψ(λ) Σ (x_i - g_i)²),    ψ(λ) = -log(1 - λ) - λ,    0 ≤ λ < 1, all in units of high - low,

is a non-negative supermartingale that starts at 1 (Fan, Grama, Liu, "Exponential inequalities for martingales with applications",
2015; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49,
2021, theorem 4: the empirical Bernstein bound), and so is a mixture over several λ.  By Ville's inequality it ever reaches 1/α with
probability at most α, however often one looks and whatever makes one stop.

A choice is out once some other choice's mean is shown to be higher at level α / (K - 1), K being the number of choices.  The truly
best choice is only out if one of the K - 1 others is falsely shown to be better, so it survives, and a wrong choice is called the
best with probability at most α.  Choices that are out are not tried any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

__all__ = ["Race", "RunningMean", "Standing", "bounds_of_mean", "log_evidence"]

Floats = npt.NDArray[np.float64]

# The mixture's λ: a geometric grid that holds the best one for some hundreds to millions of values; equal weights.
_RATES = 0.8 * 2.0 ** (-np.arange(18) / 2)
_COSTS = -np.log1p(-_RATES) - _RATES
# A bound is found by cutting the range where it lies into so many parts, so often.
_PARTS, _CUTS = 64, 6


def log_evidence(excess: npt.ArrayLike, squares: npt.ArrayLike) -> Floats:
    """Return the log of the mixture: evidence that the mean is higher than m.

    Args:
        excess: Σ (x - m), squares: Σ (x - g)², both in units of the range of x; any shape.
    """
    x, v = np.asarray(excess, np.float64)[..., None], np.asarray(squares, np.float64)[..., None]
    exponents = _RATES * x - _COSTS * v
    top = exponents.max(-1)
    result: Floats = top + np.log(np.exp(exponents - top[..., None]).mean(-1))
    return result


def bounds_of_mean(n: int, total: float, squares: float, low: float, high: float, alpha: float) -> tuple[float, float]:
    """Return bounds that hold the mean of n values in [low, high] at all times with probability 1 - alpha.

    Args:
        total: Σ x, squares: Σ (x - g)².
    """
    width = high - low
    if n == 0 or width == 0:
        return low, high
    mean, needed = total / n, log(2 / alpha)

    def farthest(sign: float, edge: float) -> float:
        """Return the value between the mean and the edge that is just not ruled out."""
        inside, outside = mean, edge
        for _ in range(_CUTS):
            grid = np.linspace(inside, outside, _PARTS + 1)
            ruled_out = log_evidence(sign * n * (mean - grid) / width, np.full(len(grid), squares / width**2)) >= needed
            first = int(ruled_out.argmax())
            if not ruled_out[first]:
                return edge
            inside, outside = float(grid[first - 1]), float(grid[first])
        return outside

    return farthest(1.0, low), farthest(-1.0, high)


class RunningMean:
    """The mean of bounded values, with bounds that hold however often they are looked at.

    Args:
        low, high: bounds of the values.
    """

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self._n, self._total, self._squares = 0, 0.0, 0.0

    @property
    def mean(self) -> float:
        """The mean so far; zero without values."""
        return self._total / max(self._n, 1)

    def add(self, values: npt.NDArray[np.integer]) -> None:
        """Add a batch; the guess for its values is the mean before it."""
        guess = min(max(self.mean, self._low), self._high)
        self._squares += float(((values - guess) ** 2).sum())
        self._total += float(values.sum())
        self._n += len(values)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Return bounds that hold the mean at all times with probability 1 - alpha."""
        return bounds_of_mean(self._n, self._total, self._squares, self._low, self._high, alpha)


@dataclass(frozen=True)
class Standing:
    """Where a choice stands; figures in the units of the values given.

    ``low`` and ``high`` hold the choice's mean at all times with the race's confidence; ``lead`` is the best choice's mean less
    this one's over the worlds they share, ``lead_low`` and ``lead_high`` bound it at the level of the race.
    """

    choice: int
    n: int
    mean: float
    stderr: float | None
    low: float
    high: float
    best: bool
    tied: bool
    lead: float
    lead_low: float
    lead_high: float


class Race:
    """Choices in contention, with the sums that decide between them.

    Args:
        lows, highs: bounds of the values of each choice.
        confidence: of never calling a choice the best that is not.
    """

    def __init__(self, lows: Sequence[float], highs: Sequence[float], confidence: float) -> None:
        self._low, self._high = np.asarray(lows, np.float64), np.asarray(highs, np.float64)
        count = len(self._low)
        self._alpha = 1 - confidence
        self._share = self._alpha / max(count - 1, 1)
        #: Choices still in contention.
        self.active: list[int] = list(range(count))
        self._n = np.zeros(count, np.int64)
        self._sums, self._raw = np.zeros(count), np.zeros(count)
        self._squares = np.zeros(count)
        # of the pair (a, b): worlds both were tried in, Σ (a - b), Σ (a - b - guess)²
        self._pair_n = np.zeros((count, count), np.int64)
        self._pair_sums, self._pair_squares = np.zeros((count, count)), np.zeros((count, count))

    @property
    def decided(self) -> bool:
        """Whether one choice is separated from every other."""
        return len(self.active) == 1

    @property
    def worlds(self) -> int:
        """How many worlds the choices in contention were tried in."""
        return int(self._n.max(initial=0))

    def add(self, values: npt.NDArray[np.integer]) -> None:
        """Add a batch, whole numbers [worlds, active choices] in the order of ``active``, and look."""
        batch = values.astype(np.int64)
        n, who = len(batch), np.array(self.active)
        if n == 0:
            return
        sums = batch.sum(0)
        products = batch.T @ batch
        squares = products.diagonal()
        # guesses: the means before this batch, at first zero or the nearest possible value
        guess = np.clip(self._sums[who] / np.maximum(self._n[who], 1), self._low[who], self._high[who])
        self._squares[who] += squares - 2 * guess * sums + n * guess**2
        self._n[who] += n
        self._sums[who] += sums
        self._raw[who] += squares
        pairs = np.ix_(who, who)
        low, high = self._pair_bounds(pairs)
        guess = np.clip(self._pair_sums[pairs] / np.maximum(self._pair_n[pairs], 1), low, high)
        difference = (sums[:, None] - sums[None, :]).astype(np.float64)
        self._pair_squares[pairs] += squares[:, None] + squares[None, :] - 2 * products - 2 * guess * difference + n * guess**2
        self._pair_n[pairs] += n
        self._pair_sums[pairs] += difference
        width = np.where(high > low, high - low, 1.0)
        evidence = log_evidence(self._pair_sums[pairs] / width, self._pair_squares[pairs] / width**2)
        strongest = evidence.max(0).tolist()  # that something else is better than this choice
        self.active = [int(choice) for choice, against in zip(who, strongest, strict=True) if against < log(1 / self._share)]

    def _pair_bounds(self, pairs: tuple[npt.NDArray[np.intp], ...]) -> tuple[Floats, Floats]:
        """Return the bounds of the differences."""
        low = (self._low[:, None] - self._high[None, :])[pairs]
        high = (self._high[:, None] - self._low[None, :])[pairs]
        return low, high

    def standings(self) -> list[Standing]:
        """Return all choices, the best first: those in contention by their means, then the others by theirs."""
        means = self._sums / np.maximum(self._n, 1)
        order = sorted(range(len(means)), key=lambda c: (c not in self.active, -means[c], c))
        return [self._standing(choice, order[0], float(means[choice])) for choice in order]

    def _standing(self, choice: int, best: int, mean: float) -> Standing:
        n = int(self._n[choice])
        low, high = float(self._low[choice]), float(self._high[choice])
        low, high = bounds_of_mean(n, float(self._sums[choice]), float(self._squares[choice]), low, high, self._alpha)
        stderr = float(np.sqrt(max(self._raw[choice] / n - mean**2, 0.0) / (n - 1))) if n > 1 else None
        lead, lead_low, lead_high = 0.0, 0.0, 0.0
        if choice != best:
            shared = int(self._pair_n[best, choice])
            lead = float(self._pair_sums[best, choice]) / max(shared, 1)
            lead_low, lead_high = bounds_of_mean(
                shared,
                float(self._pair_sums[best, choice]),
                float(self._pair_squares[best, choice]),
                float(self._low[best] - self._high[choice]),
                float(self._high[best] - self._low[choice]),
                2 * self._share,
            )
        tied = choice != best and choice in self.active
        return Standing(choice, n, mean, stderr, low, high, choice == best, tied, lead, lead_low, lead_high)
