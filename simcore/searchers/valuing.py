"""What a searching player thinks of each choice: means over worlds with their standard errors, in whole-number sums.

The choice is the one with the highest sum, of equal ones the first in the order of bits; sums are integers, so that the choice
does not hang on rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simcore.cards import cards_of
from simcore.plugins import Decision, python_decision
from simcore.searchers.worlds import Worlds

__all__ = ["Choice", "Valuation", "distinct_cards", "searching_decision", "valued"]


@dataclass(frozen=True)
class Choice:
    """One action: its bit number, estimated mean, and how far that is behind the best action's, paired in the same worlds."""

    action: int
    mean: float
    stderr: float | None  # None with fewer than two worlds; 0.0 where the value is exact
    behind: float
    behind_stderr: float | None
    visits: int | None = None  # of a tree: iterations that tried it


@dataclass(frozen=True)
class Valuation:
    """A decision's choices in the order of bits, and what they were valued on."""

    choices: tuple[Choice, ...]
    best: int  # bit number
    unit: str  # what a mean counts
    method: str  # "rollout", "exact", "tree"
    worlds: int  # how many, repeated ones each time; iterations of a tree
    effective: float
    slips: int = 0


def distinct_cards(cards: int, others: int, points: Any = None) -> dict[int, int]:
    """Return for each of some cards of a hand the one that stands for it: the lowest of a run of equal ones.

    Cards are equal where no card that may still count lies between them, and they score alike.

    Args:
        cards: mask of the cards.
        others: mask of the cards of other hands and those on the table.
        points: points by bit number, as in the ruleset's record; None where cards do not score.
    """
    stands: dict[int, int] = {}
    previous = -1
    for card in cards_of(cards):
        same = previous >= 0 and previous >> 4 == card >> 4 and (points is None or points[previous] == points[card])
        if same and not others & ((1 << card) - (2 << previous)):
            stands[card] = stands[previous]
        else:
            stands[card] = card
        previous = card
    return stands


def valued(
    actions: Sequence[int],
    values: np.ndarray,
    worlds: Worlds,
    *,
    unit: str,
    method: str,
    scale: int = 1,
    stands: dict[int, int] | None = None,
) -> Valuation:
    """Return a valuation out of whole-number values.

    Args:
        actions: bit numbers, in order, of the actions tried.
        values: int[worlds, actions].
        scale: divisor of the values.
        stands: for each legal action the one tried for it; by default each for itself.
    """
    weights = worlds.weights
    size = worlds.size
    sums = (values.astype(np.int64) * weights[:, None]).sum(0)
    best = int(np.argmax(sums))
    total = values.astype(float)
    errors = _errors(total, weights, worlds.effective)
    behind = _errors(total[:, best : best + 1] - total, weights, worlds.effective)
    found = {
        action: (float(sums[i]) / size / scale, errors[i], float(sums[best] - sums[i]) / size / scale, behind[i])
        for i, action in enumerate(actions)
    }

    def scaled(error: float | None) -> float | None:
        return None if error is None else error / scale

    choices = []
    for action in sorted(stands) if stands else actions:
        mean, error, lead, lead_error = found[stands[action] if stands else action]
        choices.append(Choice(action, mean, scaled(error), lead, scaled(lead_error)))
    return Valuation(tuple(choices), actions[best], unit, method, size, worlds.effective, worlds.slips)


def _errors(values: np.ndarray, weights: np.ndarray, effective: float) -> list[float | None]:
    """Return standard errors of weighted means, one a column, with the effective number of worlds."""
    if effective <= 1:
        return [None] * values.shape[1]
    share = weights / weights.sum()
    mean = (values * share[:, None]).sum(0)
    variance = ((values - mean) ** 2 * share[:, None]).sum(0)
    return [math.sqrt(each / (effective - 1)) for each in variance.tolist()]


def searching_decision(player: str, game: str, kind: str, value: Callable[..., Valuation], *, clocked: bool = False) -> Decision:
    """Return a player's decision that takes the best choice of a valuation.

    Args:
        value: of (view, rules, stream, quick); ``quick``: only the best choice is wanted.
    """

    def decide(view: Any, rules: Any, stream: Any) -> int:
        return 1 << value(view, rules, stream, quick=True).best

    return python_decision(player, game, kind, decide, clocked=clocked, value=partial(value, quick=False))
