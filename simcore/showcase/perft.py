"""Perft: how many legal lines there are to a depth.  Two engines that agree on these numbers agree on the rules.

The twin of this file is in the other game's folder: kernels call their rules by global name, so each game has its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, njit
from simcore.bits import ZERO, lowest_bit, popcount
from simcore.showcase.engine import apply, prepare
from simcore.showcase.state import DONE

__all__ = ["perft"]


@njit
def perft(rules: Any, tables: Any, views: Any, depth: I64) -> I64:
    """Count the legal lines of ``depth`` actions; a line that ends the deal sooner counts as one.

    Args:
        tables, views: TABLE[depth], VIEW[depth] arrays, the position in the first; the others are working space.
        depth: at least 1.
    """
    if tables[0].phase == DONE:
        return np.int64(1)
    left = np.zeros(depth, np.uint64)
    kinds = np.zeros(depth, np.int64)
    kinds[0] = prepare(rules, tables[0], views[0])
    left[0] = views[0].legal
    lines = np.int64(0)
    level = np.int64(0)
    while level >= 0:
        if level == depth - 1:
            lines += popcount(left[level])
            left[level] = ZERO
        if left[level] == ZERO:
            level -= 1
            continue
        action = lowest_bit(left[level])
        left[level] ^= action
        below = level + 1
        tables[below] = tables[level]
        views[below] = views[level]
        apply(rules, tables[below], views[below], kinds[level], action)
        if tables[below].phase == DONE:
            lines += 1
            continue
        kinds[below] = prepare(rules, tables[below], views[below])
        left[below] = views[below].legal
        level = below
    return lines
