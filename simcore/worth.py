"""What a hand of 13 cards is worth in a contract: fitted models, shipped with the package (benchmarks/hand_points.py makes them).

A model adds up: a base, a worth for each card, and one for the length of each suit, for the margin (own side's points less the
other's) that the hand's side may expect as attackers, its partner and the other hands unknown, experts at the table.  Suits that a
contract does not tell apart (both no trumps, the same points by rank) share their numbers: they form a *class*.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simcore.rules import Contract

__all__ = ["TABLE", "HandModel", "model_of", "points_table", "suit_classes"]

TABLE = Path(__file__).with_name("hand_points.json")


def suit_classes(contract: Contract) -> tuple[int, ...]:
    """Return the class of each suit, clubs … spades, numbered in the order they first appear."""
    seen: list[tuple[bool, tuple[int, ...]]] = []
    classes = []
    for suit in range(4):
        points = tuple(sum(contract.card_signs.get(16 * suit + rank, (0, 0))) for rank in range(13))
        key = (contract.trump == suit, points)
        if key not in seen:
            seen.append(key)
        classes.append(seen.index(key))
    return tuple(classes)


@dataclass(frozen=True)
class HandModel:
    """A contract's model, in points of margin: ``base``, ``cards`` float64[4, 13] by suit and rank, ``lengths`` float64[4, 14], and
    the ``spread`` (standard deviation) of the worths of random hands."""

    base: float
    spread: float
    cards: np.ndarray
    lengths: np.ndarray

    def margins(self, hands: np.ndarray) -> np.ndarray:
        """Return the margin to expect of each hand, uint64[n] masks."""
        total = np.full(len(hands), self.base)
        for suit in range(4):
            lane = (hands >> np.uint64(16 * suit)).astype(np.int64) & 0x1FFF
            held = lane[:, None] >> np.arange(13) & 1
            total += held @ self.cards[suit] + self.lengths[suit][held.sum(1)]
        return total


@cache
def points_table() -> dict[str, dict[str, Any]]:
    """Return the shipped table: what is known of a contract, by its meaning in words (``Ruleset.meaning``)."""
    contracts: dict[str, dict[str, Any]] = json.loads(TABLE.read_text("utf-8"))["contracts"]
    return contracts


def model_of(meaning: str, contract: Contract) -> HandModel | None:
    """Return the model of a contract; None for one that was not fitted (a designer's own)."""
    row = points_table().get(meaning)
    if row is None:
        return None
    classes = suit_classes(contract)
    cards, lengths = (np.array([row[key][k] for k in classes], np.float64) for key in ("cards", "lengths"))
    return HandModel(float(row["base"]), float(row["spread"]), cards, lengths)
