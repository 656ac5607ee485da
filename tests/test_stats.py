"""Estimates from integer sums: against plain numpy, against simulation, and at the extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import check_share
from scipy.stats import binom, binomtest, norm

from simcore.stats import Estimate, mean_estimate, ratio_estimate, wilson

CLUSTERS = st.lists(st.tuples(st.integers(0, 50), st.integers(-1000, 1000)), max_size=40)


def of_clusters(n: np.ndarray, y: np.ndarray) -> Estimate:
    sums = (n.sum(), y.sum(), (n * n).sum(), (n * y).sum(), (y * y).sum())
    return ratio_estimate(len(n), *(int(value) for value in sums))


def share_of(hits: int, n: int) -> Estimate:
    return mean_estimate(n, hits, hits)


# ---- ratios and means


@given(CLUSTERS)
def test_ratio_estimate_is_the_textbook_formula(clusters: list[tuple[int, int]]) -> None:
    n, y = (np.array([pair[i] for pair in clusters], dtype=np.int64) for i in (0, 1))
    estimate = of_clusters(n, y)
    assert (estimate.units, estimate.n) == (len(n), n.sum())
    if n.sum() == 0:
        assert estimate.value is estimate.stderr is None
        assert estimate.interval() == (None, None)
        return
    ratio = y.sum() / n.sum()
    assert estimate.value == pytest.approx(ratio, rel=1e-12, abs=1e-12)
    if len(n) == 1:
        assert estimate.stderr is None
        assert estimate.interval() == (None, None)
        return
    residuals = y - ratio * n
    stderr = math.sqrt(len(n) / (len(n) - 1) * float((residuals**2).sum())) / n.sum()
    assert estimate.stderr == pytest.approx(stderr, rel=1e-9, abs=1e-9)
    low, high = estimate.interval(0.9)
    assert low == pytest.approx(estimate.value - norm.ppf(0.95) * stderr, rel=1e-9, abs=1e-9)
    assert high == pytest.approx(estimate.value + norm.ppf(0.95) * stderr, rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=100))
def test_mean_estimate_is_mean_and_standard_error_of_the_mean(values: list[int]) -> None:
    estimate = mean_estimate(len(values), sum(values), sum(v * v for v in values))
    assert estimate.value == pytest.approx(np.mean(values))
    assert estimate.stderr == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), abs=1e-9)


def test_sums_far_beyond_floating_point_lose_nothing() -> None:
    """10**15 ± 1: in floats the squares cancel to nothing; the integers give the standard error to the last digit."""
    values = [10**15 + (-1) ** i for i in range(1000)]
    estimate = mean_estimate(1000, sum(values), sum(v * v for v in values))
    assert estimate.value == 1e15
    assert estimate.stderr == pytest.approx(math.sqrt(1000 / 999) / math.sqrt(1000), rel=1e-14)
    n = 10**12  # deals
    estimate = mean_estimate(n, 26 * n // 2, 26 * 26 * n // 2)
    assert estimate.stderr == pytest.approx(13 / math.sqrt(n), rel=1e-9)


def test_merging_parts_in_any_order_gives_the_same_figures() -> None:
    generator = np.random.default_rng(3)
    n, y = generator.integers(1, 9, 5000), generator.integers(-26, 27, 5000)
    order = generator.permutation(5000)
    assert of_clusters(n, y) == of_clusters(n[order], y[order])


def test_values_without_spread() -> None:
    estimate = mean_estimate(10, -130, 1690)
    assert (estimate.value, estimate.stderr) == (-13.0, 0.0)
    assert estimate.interval() == (-13.0, -13.0)
    assert ratio_estimate(5, 10, 20, 30, 60, 120) == Estimate(2.0, 0.0, 5, 10)


def test_nothing_and_one_unit_have_no_error_and_no_nan() -> None:
    assert ratio_estimate(0, 0, 0, 0, 0, 0) == mean_estimate(0, 0, 0) == Estimate(None, None, 0, 0)
    assert ratio_estimate(7, 0, 0, 0, 0, 0) == Estimate(None, None, 7, 0)
    assert mean_estimate(1, 5, 25) == Estimate(5.0, None, 1, 1)
    assert ratio_estimate(1, 8, 4, 64, 32, 16) == Estimate(0.5, None, 1, 8)
    for estimate in (mean_estimate(0, 0, 0), mean_estimate(1, 5, 25)):
        assert estimate.interval() == estimate.interval(0.99) == (None, None)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_coverage_of_the_intervals(confidence: float) -> None:
    """20,000 experiments of 300 clusters of different sizes, value tied to size: the interval holds the true ratio as often as it
    says.  False alarm below 1e-7 each, for a true coverage within 0.5 % of the nominal one (second-order terms)."""
    experiments, units = 20_000, 300
    generator = np.random.default_rng(11)
    n = generator.integers(1, 9, (experiments, units))
    y = generator.binomial(2 * n, 0.3) + (n > 4)  # E(y) = 0.6 n + P(n > 4); E(n) = 4.5
    true = (0.6 * 4.5 + 0.5) / 4.5
    sums = np.stack([n.sum(1), y.sum(1), (n * n).sum(1), (n * y).sum(1), (y * y).sum(1)], axis=1).tolist()
    inside = 0
    for row in sums:
        low, high = ratio_estimate(units, *row).interval(confidence)
        assert low is not None
        assert high is not None
        inside += low <= true <= high
    slack = int(0.005 * experiments)
    nominal = int(confidence * experiments)
    check_share(nominal + max(0, abs(inside - nominal) - slack), experiments, confidence, tests=3)


def test_single_deals_of_clusters_would_be_overconfident() -> None:
    """Eight equal deals are one unit: the standard error is that of the units, not of the deals."""
    generator = np.random.default_rng(5)
    y = generator.integers(0, 2, 400)
    clustered = of_clusters(np.full(400, 8), 8 * y)
    alone = mean_estimate(400, int(y.sum()), int(y.sum()))
    assert clustered.value == alone.value
    assert clustered.stderr == pytest.approx(alone.stderr)


# ---- shares


@given(st.integers(1, 10**6), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999999]))
def test_wilson_holds_the_share_and_stays_between_0_and_1(n: int, data: st.DataObject, confidence: float) -> None:
    hits = data.draw(st.integers(0, n) | st.sampled_from([0, n]))
    low, high = wilson(share_of(hits, n), confidence)
    assert low is not None
    assert high is not None
    assert 0 <= low <= hits / n <= high <= 1
    assert low < high


@pytest.mark.parametrize("n", [1, 2, 3, 10, 800, 10**6, 10**9, 10**12])
def test_wilson_after_a_shut_out(n: int) -> None:
    z2 = norm.isf(0.025) ** 2
    assert wilson(share_of(0, n)) == (0.0, pytest.approx(z2 / (n + z2)))
    assert wilson(share_of(n, n)) == (pytest.approx(n / (n + z2)), 1.0)


@pytest.mark.parametrize(("hits", "n"), [(1, 2), (3, 10), (50, 101), (1, 1000), (7777, 10_000)])
def test_wilson_is_the_textbook_interval_of_one_deal_less(hits: int, n: int) -> None:
    """The standard error divides by n - 1, and so does the interval that is built on it."""
    low, high = wilson(share_of(hits, n))
    p, m, z = hits / n, n - 1, norm.isf(0.025)
    centre = (p + z * z / (2 * m)) / (1 + z * z / m)
    half = z / (1 + z * z / m) * math.sqrt(p * (1 - p) / m + z * z / (4 * m * m))
    assert (low, high) == (pytest.approx(centre - half), pytest.approx(centre + half))
    if n >= 1000:
        textbook = binomtest(hits, n).proportion_ci(method="wilson")
        assert (low, high) == (pytest.approx(textbook.low, rel=0.002), pytest.approx(textbook.high, rel=0.002))


def test_wilson_of_clusters_uses_their_effective_number() -> None:
    """400 units of eight equal deals are 400 deals, not 3,200."""
    y = np.arange(400) % 2
    assert wilson(of_clusters(np.full(400, 8), 8 * y)) == tuple(pytest.approx(bound) for bound in wilson(share_of(200, 400)))


def test_wilson_of_nothing_and_of_one_unit() -> None:
    assert wilson(mean_estimate(0, 0, 0)) == (None, None)
    assert wilson(ratio_estimate(9, 0, 0, 0, 0, 0)) == (None, None)
    low, high = wilson(ratio_estimate(1, 8, 4, 64, 32, 16))
    assert 0 < low < 0.5 < high < 1


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=30))
def test_wilson_of_any_clusters(clusters: list[tuple[int, int]]) -> None:
    n = np.array([size for size, _ in clusters])
    y = np.array([min(size, hits) for size, hits in clusters])
    estimate = of_clusters(n, y)
    low, high = wilson(estimate)
    assert 0 <= low <= estimate.value <= high <= 1
    assert low < high


def test_coverage_of_wilson() -> None:
    """On average over the shares 0.05 … 0.95 Wilson's interval covers close to what it says, also with 30 deals; each by exact
    summation over the binomial distribution, so nothing random is in it."""
    n = 30
    bounds = [wilson(share_of(hits, n)) for hits in range(n + 1)]
    coverage = []
    for true in np.linspace(0.05, 0.95, 181):
        coverage.append(sum(binom.pmf(k, n, true) for k, (low, high) in enumerate(bounds) if low <= true <= high))
    assert 0.945 < np.mean(coverage) < 0.965
    assert min(coverage) > 0.9
