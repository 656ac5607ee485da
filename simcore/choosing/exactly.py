"""Contracts of one hand by exact values: every world is solved with all hands seen (double dummy), in the worlds that rollouts use.

The race decides as it does for rollouts, in smaller batches, because some contracts take seconds a solve.  Beside rollouts it is
told, on the worlds both were tried in, how much perfect information flatters each contract; and what the shipped table (bias.py)
says about random deals.

A world in which a contract is too hard ends the solving, at the worlds before it: to leave it out would favour easy worlds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from simcore.cards import SEATS
from simcore.choosing.bias import bias_of
from simcore.choosing.contest import Chunk, Contest, double_dummy_contest
from simcore.choosing.kept import Kept
from simcore.choosing.pieces import Workers
from simcore.choosing.question import ElectionsQuestion
from simcore.elections.worlds import BY_LOT, RESULTS
from simcore.rules import Ruleset
from simcore.solvers import GaveUp, own_solver, solve_deals

__all__ = ["GivenUp", "Solved", "compare", "results_of_margins", "solve_worlds"]

_FIRST_BATCH, _LEAST_BATCH = 16, 8


@dataclass(frozen=True)
class GivenUp:
    """A contract in a world that was not solved within the plies allowed."""

    world: int  # how many were solved before it
    choice: int
    least: int  # attackers' margin
    most: int


class _TooHard(Exception):
    """Margins found of a batch, the last one given up."""

    def __init__(self, found: list[Any]) -> None:
        super().__init__()
        self.found = found


@dataclass
class Solved:
    """The contest of exact values, the batches with their results, and what they cost."""

    contest: Contest
    batches: list[tuple[Chunk, list[int]]] = field(default_factory=list)
    worlds: int = 0
    solves: int = 0
    seconds: float = 0.0
    late: bool = False
    given_up: GivenUp | None = None


def results_of_margins(ruleset: Ruleset, contract: int, margins: np.ndarray) -> np.ndarray:
    """Return what attackers' margins come to for an attacker: int32[…, len(RESULTS)] (E16, E17)."""
    total = ruleset.contracts[contract].total
    own = (total + margins) // 2
    lost = margins < 0 if ruleset.choices["tie"] == "draw" else margins <= 0
    other = total - own + ruleset.failure_bonus * lost
    return np.stack([2 * own - 2 * other, margins, margins > 0, own], -1).astype(np.int32)


def _pairings(question: ElectionsQuestion, facts: np.ndarray) -> np.ndarray:
    """Return the pairing of the contracts in each world: as asked, or after the auction as it was found there."""
    if question.contracts:
        return facts[:, 2]
    return facts[:, 1] if question.found == BY_LOT else np.full(len(facts), question.found)


@dataclass(frozen=True)
class _Solves:
    """Pieces of work: number ``world · choices + place``, one choice in one world."""

    question: ElectionsQuestion
    choices: tuple[int, ...]
    hands: np.ndarray
    pairings: np.ndarray
    dealers: np.ndarray

    def piece(self, number: int, playing: tuple[int, ...]) -> int | GivenUp | None:
        """Return the attackers' margin, or nothing for a choice that is not played any more."""
        world, place = divmod(number, len(self.choices))
        choice = self.choices[place]
        if choice not in playing:
            return None
        rules = self.question.config.ruleset
        names, seats = [rules.contract_ids[choice]], [self.question.seat]
        one, pairings = slice(world, world + 1), [int(self.pairings[world])]
        with own_solver().limited(self.question.max_plies) as solver:
            try:
                margins = solve_deals(
                    self.hands[one],
                    rules,
                    contracts=names,
                    pairings=pairings,
                    declarers=seats,
                    dealers=self.dealers[one],
                    solver=solver,
                )
            except GaveUp as known:
                return GivenUp(world, choice, known.least, known.most)
        return int(margins.item())

    def narrowed(self, margin: int | GivenUp, had: object, wanted: object) -> int | GivenUp:
        """Return the margin: a choice's does not depend on the others."""
        return margin

    def wait(self, future: Future[Any]) -> Any:
        """Return a result."""
        return future.result()


def solve_worlds(
    question: ElectionsQuestion,
    worlds: Chunk,
    workers: Workers,
    kept: Kept = Kept(),  # noqa: B008 (keeps nothing)
    *,
    deadline: float = math.inf,
    progress: Callable[[int, int], None] | None = None,
) -> Solved:
    """Solve the worlds until the best contract is separated or all are solved.

    Args:
        deadline: of ``time.monotonic``; the last batch is then cut to the worlds that are solved for every choice.
        progress: called with (worlds solved, worlds).

    Returns:
        What was solved; no world where the time, or the plies, were too few for one.
    """
    start = time.monotonic()
    solved = Solved(double_dummy_contest(question))
    count = len(worlds.indices)
    choices = solved.contest.numbers
    pairings, dealers = _pairings(question, worlds.facts), worlds.facts[:, 0].astype(np.int64)
    line = workers.line(_Solves(question, choices, worlds.hands, pairings, dealers), count * len(choices))

    def solve(playing: list[int], end: int) -> dict[str, np.ndarray]:
        places = [choices.index(choice) for choice in playing]
        numbers = [world * len(choices) + place for world in range(solved.worlds, end) for place in places]

        def told(found: list[Any]) -> None:
            if isinstance(found[-1], GivenUp):
                raise _TooHard(found)
            if progress is not None and len(found) % len(playing) == 0:
                progress(solved.worlds + len(found) // len(playing), count)

        unsolved: list[int] = []
        try:
            margins = line.take(numbers, tuple(playing), deadline=deadline, told=told, least=0)
        except _TooHard as hard:
            *margins, last = hard.found
            unsolved = [last.world, last.choice, last.least, last.most]
        whole = len(margins) // len(playing) * len(playing)
        solved.late = whole < len(numbers) and not unsolved
        return {
            "margins": np.array(margins[:whole], np.int64).reshape(-1, len(playing)),
            "given_up": np.array(unsolved, np.int64),
        }

    while not (solved.late or solved.given_up) and solved.worlds < count and (playing := solved.contest.playing()):
        end = min(solved.worlds + max(_FIRST_BATCH if not solved.worlds else _LEAST_BATCH, solved.worlds // 4), count)
        what = f"solved {solved.worlds} to {end}, choices {playing}"
        batch = kept.recall(what, partial(solve, playing, end), lambda: not solved.late)
        if len(batch["margins"]):
            _add(solved, question, worlds, playing, batch["margins"])
        if len(batch["given_up"]):
            solved.given_up = GivenUp(*batch["given_up"].tolist())
    solved.seconds = time.monotonic() - start
    return solved


def _add(solved: Solved, question: ElectionsQuestion, worlds: Chunk, playing: list[int], margins: np.ndarray) -> None:
    """Add a batch: margins [worlds, choices played]."""
    rules = question.config.ruleset
    results = np.stack([results_of_margins(rules, c, margins[:, place]) for place, c in enumerate(playing)], 1)
    cut = slice(solved.worlds, solved.worlds + len(margins))
    batch = Chunk(0, worlds.indices[cut], worlds.hands[cut], worlds.facts[cut], (results, results[:, :0]))
    solved.contest.add(results, playing)
    solved.batches.append((batch, playing))
    solved.worlds += len(margins)
    solved.solves += margins.size


def _by_choice(batches: Sequence[tuple[np.ndarray, np.ndarray, list[int]]]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return the worlds' numbers and the results of each choice."""
    found: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}
    for indices, results, playing in batches:
        for place, choice in enumerate(playing):
            ids, rows = found.setdefault(choice, ([], []))
            ids.append(indices)
            rows.append(results[:, place])
    return {choice: (np.concatenate(ids), np.concatenate(rows)) for choice, (ids, rows) in found.items()}


def _first(contest: Contest) -> list[str]:
    """Return the best choice, and after it those tied with it."""
    standings = contest.race.standings()
    return [contest.names[place.choice] for place in standings if place.best or place.tied]


def _agree(first: list[str], other: list[str]) -> bool | None:
    """Tell whether two sides put the same choice first; None where one is tied and cannot tell."""
    if set(first).isdisjoint(other):
        return False
    return True if len(first) == len(other) == 1 else None


def compare(
    question: ElectionsQuestion, solved: Solved, rolled: Contest, batches: Sequence[tuple[np.ndarray, np.ndarray, list[int]]]
) -> dict[str, Any]:
    """Put exact values and rollouts side by side, on the worlds both have.

    Args:
        rolled: the contest of the same contracts by rollouts; batches: its worlds' numbers, results and choices played.
    """
    rules = question.config.ruleset
    exact = _by_choice([(chunk.indices, chunk.results[0], playing) for chunk, playing in solved.batches])
    played = _by_choice(batches)
    margin, objective = RESULTS.index("margin"), rolled.column
    rows = []
    for choice in (rolled.numbers[place.choice] for place in rolled.race.standings()):
        _, mine, theirs = np.intersect1d(exact[choice][0], played[choice][0], return_indices=True)
        a, b = exact[choice][1][mine].astype(np.float64), played[choice][1][theirs].astype(np.float64)
        flattered = a[:, margin] - b[:, margin]
        n = len(flattered)
        unit = 3 if question.objective == "relative" else 1
        bias = bias_of(rules, rules.contract_ids[choice])
        rows.append(
            {
                "choice": rules.contract_ids[choice],
                "worlds": n,
                "rollout": float(b[:, objective].mean()) / unit if n else None,
                "double_dummy": float(a[:, objective].mean()) / unit if n else None,
                "flattered": float(flattered.mean()) if n else None,
                "flattered_stderr": float(flattered.std(ddof=1)) / math.sqrt(n) if n > 1 else None,
                "random_deals": bias,
            }
        )
    first = {"rollout": _first(rolled), "double_dummy": _first(solved.contest)}
    return {
        "best": {side: names[0] for side, names in first.items()},
        "tied": {side: names[1:] for side, names in first.items()},
        "agree": _agree(*first.values()),
        "players": sorted({player.spec for player in question.config.players}),
        "declarer": SEATS[question.seat],
        "rows": rows,
    }
