"""Long lists of patterns in the four-hand solver's memory: a search finds a pattern if and only if one fits."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from simcore._jit import njit
from simcore.solvers import Solver
from simcore.solvers.four_state import HIT
from simcore.solvers.four_table import _store, biased, search_table

WORDS, SIZE, SLOT, AT = 2, 6, 5, 24  # two words of comparisons and special cards; AT: scratch in u


@njit
def look_up(u: Any, keys: Any, patterns: Any, special: Any, least: Any, most: Any, sets: Any) -> bool:
    first, slab = np.int64(keys[SLOT, 1]), np.int64(keys[SLOT, 3])
    return bool(search_table(u, patterns, first, slab, WORDS, AT, True, special, least, most, sets))


def word(rng: random.Random, density: float) -> int:
    return sum(1 << bit for bit in range(64) if rng.random() < density)


def pattern(rng: random.Random, sets: bool) -> list[int]:
    """Bounds, then comparisons and how they come out, twice, then special cards."""
    if sets:
        bounds = [0xFFFFF, 0xFFFFF]
        bounds[rng.randrange(2)] = rng.randrange(1, 1 << 8)
    else:
        bounds = [int(biased(0)), int(biased(0))]
        kind = rng.randrange(2)
        bounds[kind] = int(biased(rng.randrange(1, 20) * (1 - 2 * kind)))
    masks = [word(rng, 0.1), word(rng, 0.03)]
    values = [masks[0] & word(rng, 0.5), masks[1] & word(rng, 0.5)]
    return [bounds[0] | bounds[1] << 20, masks[0], values[0], masks[1], values[1], word(rng, 0.01)]


def fits(stored: list[int], position: list[int], special: int, least: int, most: int, sets: bool) -> bool:
    lower, upper = stored[0] & 0xFFFFF, stored[0] >> 20 & 0xFFFFF
    if sets:
        serves = lower & least == 0 or upper & most == 0
    else:
        serves = lower >= least or upper < most
    same = all((position[n] ^ stored[2 + 2 * n]) & stored[1 + 2 * n] == 0 for n in range(WORDS))
    return serves and same and stored[5] & ~special == 0


def check(count: int, asked: int) -> tuple[int, int]:
    """Store patterns under one shape, and look up positions after every few; return how many were found and how many not."""
    found = missed = 0
    for sets in (False, True):
        rng = random.Random(count)
        solver = Solver(megabytes=1)
        u, _, keys, patterns, used, _ = solver.lend()
        keys[SLOT, 0] = 1
        keys[SLOT, 2] = SIZE
        stored: list[list[int]] = []
        for n in range(count):
            stored.append(pattern(rng, sets))
            _store(u, keys, patterns, used, np.int64(SLOT), np.array(stored[-1], np.uint64), np.int64(0), SIZE, WORDS)
            if n % (count // asked):
                continue
            position = [word(rng, 0.5), word(rng, 0.5)]
            special = word(rng, 0.9)
            bounds = (rng.randrange(1 << 8), rng.randrange(1, 1 << 8)) if sets else (int(biased(10)), int(biased(-10)))
            u[AT : AT + WORDS] = position
            answer = look_up(u, keys, patterns, np.uint64(special), np.uint64(bounds[0]), np.uint64(bounds[1]), sets)
            those = [one for one in stored if fits(one, position, special, *bounds, sets)]
            assert answer == bool(those), (n, sets)
            if answer:
                hit = (int(u[HIT]) & (1 << 40) - 1, int(u[HIT + 1]), int(u[HIT + 2]), int(u[HIT + 3]))
                assert hit in [(one[0], one[5], one[1], one[3]) for one in those]
            found, missed = found + answer, missed + (not answer)
    return found, missed


def test_long_lists_find_what_fits() -> None:
    found, missed = check(2000, 1000)
    assert found > 300
    assert missed > 300


def test_plain_python_agrees() -> None:
    script = "import test_solver_lists as t; print(t.check(600, 60))"
    where = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": where}
    answer = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout
    assert answer.strip() == str(check(600, 60))
