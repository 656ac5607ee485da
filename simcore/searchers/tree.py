"""The player ``ismcts``: single-observer information set Monte Carlo tree search (``simcore.sampling.tree``), both games.

In Showcase it searches the first playout; it names the trump and plays the second playout exactly.  The choice is the action tried
most, of equal ones the first in the order of bits.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simcore.elections import state as four
from simcore.elections.worlds import RESULTS
from simcore.plugins import Decision
from simcore.rng import next_word
from simcore.sampling import four_tree, two_tree
from simcore.sampling.four_worlds import unseen_cards
from simcore.sampling.tree import NODE, STATE, start_tree
from simcore.searchers import perfect
from simcore.searchers.options import Options
from simcore.searchers.sampling import ROLLOUT_PLAYERS, distinct_first, moment_of, own_space
from simcore.searchers.valuing import Choice, Valuation, distinct_cards, searching_decision
from simcore.searchers.worlds import MODELS, Worlds, elections_worlds, own_source, showcase_worlds

__all__ = ["ismcts"]

_MOST_ITERATIONS = 1_000_000
#: Worlds of a tree: iterations go through them in turn.
_WORLDS = 500
#: Iterations between two looks at the clock.
_BATCH = 50
#: With a time limit: most nodes.
_NODES = 200_000

_local = threading.local()


@dataclass(frozen=True)
class _Plan:
    iterations: int
    seconds: float | None
    policy: int
    model: int
    play_model: int
    win: bool
    explore: float

    def run(self, search: Callable[[int, int, np.ndarray, np.ndarray], None]) -> tuple[np.ndarray, int]:
        """Grow a tree by ``search(first, iterations, nodes, state)``; returns its nodes and the number of iterations."""
        size = min(self.iterations + 1, _NODES)
        if getattr(_local, "nodes", None) is None or len(_local.nodes) < size:
            _local.nodes = np.zeros(size, NODE).view(np.recarray)
        nodes, state = _local.nodes[:size], np.zeros(STATE, np.int64)
        start_tree(nodes, state)
        if self.seconds is None:
            search(0, self.iterations, nodes, state)
            return nodes, self.iterations
        end = time.monotonic() + self.seconds
        done = 0
        while done < self.iterations and (not done or time.monotonic() < end):
            search(done, _BATCH, nodes, state)
            done += _BATCH
        return nodes, done


def ismcts(game: str, given: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions of ``ismcts``."""
    options = Options("ismcts", given)
    seconds = options.seconds("time")
    plan = _Plan(
        options.whole("iterations", 1000 if seconds is None else _MOST_ITERATIONS, 1, _MOST_ITERATIONS),
        seconds,
        ROLLOUT_PLAYERS[options.word("player", ROLLOUT_PLAYERS)],
        MODELS[options.word("calls", ("expert", "greedy", "none"))],
        MODELS[options.word("plays", ("expert", "greedy", "none"))],
        options.word("objective", ("points", "win")) == "win",
        options.real("explore", 0.7, 0.0, 100.0),
    )
    clocked = seconds is not None
    if game == "showcase":
        first = searching_decision("ismcts", game, "first", partial(_value_showcase, plan=plan), clocked=clocked)
        return perfect.exact(game, {}) | {"first": first}
    return {
        kind: searching_decision("ismcts", game, kind, partial(_value_elections, plan=plan, kind=number), clocked=clocked)
        for number, kind in enumerate(("call", "contract", "play"))
    }


def _value_elections(view: Any, rules: Any, stream: Any, *, quick: bool, plan: _Plan, kind: int) -> Valuation:
    """Value a decision of Elections; ``quick``: not where all cards are equal."""
    stands = {bit: bit for bit in range(64) if int(view.legal) >> bit & 1}
    if kind == four.PLAY:
        others = int(unseen_cards(view)) | int(view.trick)
        stands = distinct_cards(int(view.legal), others, rules.card_points[view.contract])
    if kind == four.CALL:
        unit, scale = "relative credit", 3
    else:
        unit, scale = "points more than the other side", 2
    unit, scale = ("chance to win", 1) if plan.win else (unit, scale)
    if quick and len(set(stands.values())) == 1:
        return _only(stands, unit)
    source = own_source(stream, moment_of(view, kind))
    worlds = elections_worlds(view, rules, source, min(plan.iterations, _WORLDS), plan.model, plan.play_model)
    hands = np.repeat(worlds.hands, worlds.weights, axis=0)
    key = np.uint64(next_word(source))
    column = RESULTS.index("win" if plan.win else "relative3")

    def search(first: int, count: int, nodes: np.ndarray, state: np.ndarray) -> None:
        four_tree.search(
            rules, view, kind, hands, first, count, plan.policy, column, plan.explore, key, source, *own_space().four, nodes, state
        )

    return _valuation(*plan.run(search), stands, worlds, unit, scale)


def _value_showcase(view: Any, rules: Any, stream: Any, *, quick: bool, plan: _Plan) -> Valuation:
    """Value a card of Showcase's first playout; ``quick``: not where all cards are equal."""
    stands = distinct_first(view)
    unit = "chance to win" if plan.win else "tricks of the second playout"
    if quick and len(set(stands.values())) == 1:
        return _only(stands, unit)
    source = own_source(stream, 2 * int(view.tricks_played) + int(view.on_table))
    worlds = showcase_worlds(view, rules, source, min(plan.iterations, _WORLDS))
    key = np.uint64(next_word(source))

    def search(first: int, count: int, nodes: np.ndarray, state: np.ndarray) -> None:
        rest = (first, count, plan.policy, plan.win, plan.explore, key, source)
        two_tree.search(rules, view, worlds.hands, worlds.stocks, *rest, *own_space().two, nodes, state)

    return _valuation(*plan.run(search), stands, worlds, unit, 1)


def _only(stands: dict[int, int], unit: str) -> Valuation:
    """Return what is said where there is nothing to choose."""
    best = min(stands)
    return Valuation(tuple(Choice(action, 0.0, None, 0.0, None) for action in stands), best, unit, "none", 0, 0.0)


def _valuation(nodes: Any, iterations: int, stands: dict[int, int], worlds: Worlds, unit: str, scale: int) -> Valuation:
    """Return what the root's children say.  Iterations of a tree are no independent sample: standard errors are rough."""
    found: dict[int, tuple[int, float, float | None]] = {}
    child = int(nodes[0].child)
    while child:
        node = nodes[child]
        visits = int(node.visits)
        mean = int(node.total) / visits
        spread = max(float(node.squares) / visits - mean * mean, 0.0)
        error = None if visits < 2 else math.sqrt(spread / (visits - 1)) / scale
        found[int(node.action)] = (visits, mean / scale, error)
        child = int(node.sibling)
    best = max(found, key=lambda action: (found[action][0], -action))
    choices = []
    for action in sorted(stands):
        if stands[action] in found:  # with very few iterations some are never tried
            visits, mean, error = found[stands[action]]
            choices.append(Choice(action, mean, error, found[best][1] - mean, None, visits))
    return Valuation(tuple(choices), best, unit, "tree", iterations, worlds.effective, worlds.slips)
