"""Thresholds of statistical tests, exact probabilities, and a fresh Python for tests that need another process.

Every statistical test has a fixed seed, so that it passes or fails for good; FALSE_ALARM bounds the probability that right code
would have been given a failing seed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from math import comb, prod
from pathlib import Path

import numpy as np
from scipy.stats import binom, chi2

#: Of one test function, whatever the number of figures it looks at.
FALSE_ALARM = 1e-7

ROOT = Path(__file__).parents[1]


def check_chi2(statistic: float, freedom: int, tests: int = 1) -> None:
    """Assert that a χ² value is neither too large nor too small to be chance."""
    rate = FALSE_ALARM / tests / 2
    assert chi2.ppf(rate, freedom) < statistic < chi2.isf(rate, freedom), (statistic, freedom)


def check_counts(counts: np.ndarray | list[int], shares: np.ndarray | list[float] | None = None, tests: int = 1) -> None:
    """Assert that counts of independent draws fit their shares (default: all equal), Pearson's χ²."""
    counts = np.asarray(counts, dtype=float).ravel()
    shares = np.full(len(counts), 1 / len(counts)) if shares is None else np.asarray(shares, dtype=float).ravel()
    expected = counts.sum() * shares
    assert abs(shares.sum() - 1) < 1e-9
    assert expected.min() > 50, "too few for the approximation so far out in the tail"
    check_chi2(float(((counts - expected) ** 2 / expected).sum()), len(counts) - 1, tests)


def check_placing(counts: np.ndarray, sizes: np.ndarray, tests: int = 1) -> None:
    """Assert that objects fall uniformly into places: counts[object, place], place p taking sizes[p] objects each time.

    Within a deal the objects are dealt without replacement, so that Pearson's statistic is (m / (m - 1)) χ² with
    (m - 1)(places - 1) degrees of freedom, m objects.
    """
    objects, places = counts.shape
    assert sizes.sum() == objects
    expected = counts[0].sum() * sizes / objects
    assert expected.min() > 50
    statistic = ((counts - expected) ** 2 / expected).sum()
    check_chi2(float(statistic * (objects - 1) / objects), (objects - 1) * (places - 1), tests)


def check_share(hits: int, n: int, share: float, tests: int = 1) -> None:
    """Assert that a number of hits is no binomial outlier, exactly."""
    rate = FALSE_ALARM / tests / 2
    assert binom.ppf(rate, n, share) <= hits <= binom.isf(rate, n, share), (hits, n, share)


def suit_length_share(length: int) -> float:
    """The probability that a hand of 13 holds so many cards of a given suit."""
    return comb(13, length) * comb(39, 13 - length) / comb(52, 13)


def pattern_shares() -> dict[tuple[int, ...], float]:
    """The probabilities of a hand's suit lengths, longest first: 39 patterns."""
    shares: Counter[tuple[int, ...]] = Counter()
    for s in range(14):
        for h in range(14 - s):
            for d in range(14 - s - h):
                lengths = (s, h, d, 13 - s - h - d)
                shares[tuple(sorted(lengths, reverse=True))] += prod(comb(13, n) for n in lengths)
    return {pattern: ways / comb(52, 13) for pattern, ways in shares.items()}


def run_python(code: str, root: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Run code in a fresh Python that imports simcore from ``root``; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env=os.environ | {"PYTHONPATH": str(root)} | dict(env or {}),
        cwd=root,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
