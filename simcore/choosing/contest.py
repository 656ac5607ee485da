"""What a choice came to in the worlds it was tried in: batches of worlds, and a table of choices that race on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simcore.choosing.question import OBJECTIVES, ElectionsQuestion, action_bounds, contract_bounds
from simcore.choosing.race import Race
from simcore.choosing.result import DOUBLE_DUMMY
from simcore.elections.worlds import RESULTS

__all__ = ["Chunk", "Contest", "Playing", "contests_of", "double_dummy_contest"]

#: Contracts and actions that are played.
Playing = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Chunk:
    """Worlds found and what the choices played came to in them."""

    candidates: int
    indices: np.ndarray
    hands: np.ndarray
    facts: np.ndarray
    results: tuple[np.ndarray, np.ndarray]  # of contracts and actions, int32[worlds, choices, len(RESULTS)]

    def bare(self) -> Chunk:
        """Return the worlds without results: those of chunks with other choices can then be joined."""
        results = (self.results[0][:, :0], self.results[1][:, :0])
        return Chunk(self.candidates, self.indices, self.hands, self.facts, results)

    def first(self, worlds: int) -> Chunk:
        """Return the first worlds only."""
        return self._cut(slice(0, worlds), self.candidates)

    def between(self, first: int, end: int) -> Chunk:
        """Return the part of candidates ``first`` to ``end`` - 1, all of them tested."""
        places = np.searchsorted(self.indices, np.array([first, end], np.uint64))
        return self._cut(slice(*places.tolist()), end - first)

    def _cut(self, cut: slice, candidates: int) -> Chunk:
        results = (self.results[0][cut], self.results[1][cut])
        return Chunk(candidates, self.indices[cut], self.hands[cut], self.facts[cut], results)

    def of_choices(self, had: Playing, wanted: Playing) -> Chunk:
        """Return the results of fewer choices."""
        contracts, actions = (
            results[:, [played.index(choice) for choice in kept]]
            for results, played, kept in zip(self.results, had, wanted, strict=True)
        )
        return Chunk(self.candidates, self.indices, self.hands, self.facts, (contracts, actions))


@dataclass
class Contest:
    """A table of choices: the race, and the sums of everything that is shown beside."""

    table: str
    numbers: tuple[int, ...]  # as the kernel takes them
    names: tuple[str, ...]
    race: Race
    column: int
    sums: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.numbers), len(RESULTS)), np.int64)

    def playing(self) -> list[int]:
        """Return the choices still played."""
        return [] if self.race.decided and self.race.worlds else [self.numbers[i] for i in self.race.active]

    def add(self, results: np.ndarray, played: list[int]) -> None:
        """Add results int32[worlds, choices played, len(RESULTS)]."""
        if not played:
            return
        places = [self.numbers.index(number) for number in played]
        self.sums[places] += results.sum(0, dtype=np.int64)
        self.race.add(results[:, :, self.column])

    def rows(self, objective: str, confidence: float) -> list[dict[str, Any]]:
        """Return the table's rows, the best choice first."""
        unit = OBJECTIVES[objective]
        rows = []
        for place in self.race.standings():
            means = dict(zip(RESULTS, (self.sums[place.choice] / max(place.n, 1)).tolist(), strict=True))
            rows.append(
                {
                    "table": self.table,
                    "choice": self.names[place.choice],
                    "objective": objective,
                    "mean": place.mean / unit,
                    "stderr": None if place.stderr is None else place.stderr / unit,
                    "low": place.low / unit,
                    "high": place.high / unit,
                    "confidence": confidence,
                    "deals": place.n,
                    "best": place.best,
                    "tied": place.tied,
                    "behind": place.lead / unit,
                    "behind_low": place.lead_low / unit,
                    "behind_high": place.lead_high / unit,
                    "relative": means["relative3"] / 3,
                    "margin": means["margin"],
                    "win": means["win"],
                    "credit": means["credit"],
                }
            )
        return rows


def contests_of(question: ElectionsQuestion) -> tuple[Contest, Contest]:
    """Return the contest of contracts and that of actions; either may be without choices."""
    ruleset = question.config.ruleset
    column = list(OBJECTIVES).index(question.objective)
    contracts = [contract_bounds(ruleset, contract, question.objective) for contract in question.contracts]
    words = ("pass", *ruleset.type_ids) if question.action_table == "call" else ruleset.contract_ids
    if question.action_table == "call":
        actions = [action_bounds(ruleset, question.objective)] * len(question.actions)
    else:
        actions = [contract_bounds(ruleset, contract, question.objective) for contract in question.actions]
    return (
        Contest(
            "contract",
            question.contracts,
            tuple(ruleset.contract_ids[contract] for contract in question.contracts),
            Race([low for low, _ in contracts], [high for _, high in contracts], question.confidence),
            column,
        ),
        Contest(
            question.action_table,
            question.actions,
            tuple(words[action] for action in question.actions),
            Race([low for low, _ in actions], [high for _, high in actions], question.confidence),
            column,
        ),
    )


def double_dummy_contest(question: ElectionsQuestion) -> Contest:
    """Return the contest of exact values: all contracts as declarer, or those of the type where this seat must name one (E11)."""
    ruleset = question.config.ruleset
    numbers = question.contracts or question.actions
    bounds = [contract_bounds(ruleset, number, question.objective) for number in numbers]
    return Contest(
        DOUBLE_DUMMY,
        numbers,
        tuple(ruleset.contract_ids[number] for number in numbers),
        Race([low for low, _ in bounds], [high for _, high in bounds], question.confidence),
        list(OBJECTIVES).index(question.objective),
    )
