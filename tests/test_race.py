"""The rule that stops a choice: its inequality by enumeration, its error rate and its intervals by simulation, at every look."""

from __future__ import annotations

from itertools import product
from math import exp, sqrt

import numpy as np
import pytest

from simcore.choosing.race import _COSTS, _RATES, Race, bounds_of_mean, log_evidence

ALPHA = 0.2
RUNS = 300
LOOKS = (64, 64, 64, 64, 96, 128, 160, 200, 250, 310, 400, 500)


def test_the_inequality_behind_it_holds_for_every_law_on_three_points() -> None:
    """E exp(λ(x - m) - ψ(λ)(x - g)²) ≤ 1 for x in {0, ½, 1}: exact, so any slip in ψ, in a sign or in the units shows."""
    points = np.array([0.0, 0.5, 1.0])
    grid = np.linspace(0, 1, 11)
    closest = 0.0
    for rate, cost in zip(_RATES, _COSTS, strict=True):
        for p, q, guess in product(grid, grid, grid):
            if p + q <= 1 + 1e-12:
                law = np.array([p, q, max(0.0, 1 - p - q)])
                mean = float(law @ points)
                closest = max(closest, float(law @ np.exp(rate * (points - mean) - cost * (points - guess) ** 2)))
    assert 0.99 < closest <= 1 + 1e-12


def test_the_mixture_is_the_mean_of_its_parts() -> None:
    direct = np.log(np.mean([exp(rate * 3.0 - cost * 2.0) for rate, cost in zip(_RATES, _COSTS, strict=True)]))
    assert log_evidence(3.0, 2.0) == pytest.approx(direct)
    assert np.isfinite(log_evidence(1e7, 1e6))


def _rolls(generator: np.random.Generator, n: int, shifts: tuple[int, ...]) -> np.ndarray:
    """Return correlated skewed whole numbers in -30 … 30, one column a choice, of equal means but for the shifts."""
    common = generator.integers(-6, 7, n)
    own = [15 * (generator.random(n) < 0.2) - 3 for _ in shifts]
    return np.stack([common + column + shift for column, shift in zip(own, shifts, strict=True)], 1)


def _naive_separates(sums: np.ndarray, squares: np.ndarray, n: int, choices: int) -> bool:
    """Tell whether fixed-sample intervals, looked at again and again, would call a winner."""
    z = 1.2816  # 90 % one-sided, which is right for two comparisons at one look
    order = np.argsort(-sums)
    best = order[0]
    for other in order[1:choices]:
        variance = squares[best, other] / n - ((sums[best] - sums[other]) / n) ** 2
        if (sums[best] - sums[other]) / n < z * sqrt(variance / n):
            return False
    return True


def test_equal_choices_are_separated_no_more_often_than_stated_and_a_naive_rule_is() -> None:
    """Three choices of equal mean: any separation is an error.  A correct rule fails this with probability below 1e-6."""
    generator = np.random.default_rng(11)
    wrong, naive = 0, 0
    for _ in range(RUNS):
        race = Race([-30] * 3, [30] * 3, 1 - ALPHA)
        sums, squares, n, called = np.zeros(3), np.zeros((3, 3)), 0, False
        for size in LOOKS:
            values = _rolls(generator, size, (0, 0, 0))
            race.add(values[:, race.active])
            differences = values[:, :, None] - values[:, None, :]
            sums, squares, n = sums + values.sum(0), squares + (differences**2).sum(0), n + size
            called = called or _naive_separates(sums, squares, n, 3)
            if race.decided:
                break
        wrong += race.decided
        naive += called
    limit = RUNS * ALPHA + 5 * sqrt(RUNS * ALPHA * (1 - ALPHA))
    assert wrong <= limit
    assert naive > limit


def test_a_slightly_better_choice_is_rarely_beaten_and_is_found_in_time() -> None:
    generator = np.random.default_rng(12)
    decided = 0
    for _ in range(60):
        race = Race([-30] * 4, [30] * 4, 1 - ALPHA)
        for size in LOOKS:
            race.add(_rolls(generator, size, (0, 1, 0, -4))[:, race.active])
            if race.decided:
                break
        # the truly best is choice 1; an error has probability at most 0.2, in practice far less
        decided += race.active == [1]
        first = race.standings()[0]
        assert first.best
        assert not first.tied
        assert [s.tied for s in race.standings()[1:]].count(True) == len(race.active) - 1
    assert decided >= 45


def test_intervals_hold_the_mean_at_every_look() -> None:
    """Skewed values, where a normal interval at a small sample misses most."""
    generator = np.random.default_rng(13)
    missed = 0
    for _ in range(RUNS):
        n, total, squares, out = 0, 0.0, 0.0, False
        for size in LOOKS[:8]:
            values = (generator.random(size) < 0.03) * 20.0 - 1
            guess = total / n if n else 0.0
            n, total, squares = n + size, total + values.sum(), squares + ((values - guess) ** 2).sum()
            low, high = bounds_of_mean(n, total, squares, -1, 19, ALPHA)
            assert -1 <= low <= total / n <= high <= 19
            out = out or not low <= 0.03 * 20 - 1 <= high
        missed += out
    assert missed <= RUNS * ALPHA
    # and they are of use: after 1,000 values of standard deviation 3.4 not more than 4.5 standard errors each side
    low, high = bounds_of_mean(1000, -400.0, 11_600.0, -1, 19, 0.05)
    assert high - low < 9 * 3.4 / sqrt(1000)


def test_what_is_out_is_not_tried_and_keeps_its_figures() -> None:
    race = Race([0, 0, 0], [10, 10, 10], 0.95)
    values = np.tile(np.array([[9, 5, 1]]), (400, 1))
    race.add(values)
    assert race.active == [0]
    best, second, third = race.standings()
    assert (best.choice, second.choice, third.choice) == (0, 1, 2)
    assert (best.n, best.mean, best.stderr) == (400, 9.0, 0.0)
    assert second.lead == 4.0
    assert second.lead_low > 0
    assert third.lead_low > second.lead_low
    assert not second.tied


def test_identical_choices_are_never_separated() -> None:
    race = Race([0, 0], [1, 1], 0.9)
    for _ in range(50):
        race.add(np.repeat(np.random.default_rng(1).integers(0, 2, (100, 1)), 2, 1))
    best, other = race.standings()
    assert other.tied
    assert max(abs(other.lead_low), abs(other.lead_high)) < 0.02
    assert best.best
