"""The players ``rollout`` and ``pimc``: every choice tried in the same sampled worlds, the best mean taken.

``rollout`` plays each world out with built-in players.  ``pimc`` (perfect information Monte Carlo: Levy 1989; Ginsberg, "GIB",
2001; its merits and faults: Long, Sturtevant, Buro, Furtak, AAAI-10) does so only before the trick ``exact_from``, and from then
on solves each world exactly.  Both know nothing that their seat does not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simcore.cards import cards_of
from simcore.elections import state as four
from simcore.elections.worlds import RESULTS
from simcore.plugins import Decision
from simcore.rng import STREAM, next_word
from simcore.sampling import four_rollouts, two_rollouts
from simcore.sampling.four_worlds import unseen_cards
from simcore.searchers import perfect
from simcore.searchers.options import Options
from simcore.searchers.valuing import Valuation, distinct_cards, searching_decision, valued
from simcore.searchers.worlds import MODELS, Worlds, elections_worlds, own_source, showcase_worlds
from simcore.showcase import state as two_state
from simcore.showcase.play import unseen_cards as showcase_unseen
from simcore.solvers import own_solver, two

__all__ = [
    "ROLLOUT_PLAYERS",
    "Plan",
    "distinct_first",
    "moment_of",
    "own_space",
    "pimc",
    "rollout",
    "showcase_plan",
    "value_showcase",
]

#: Built-in players that may play worlds out, and their policy numbers.
ROLLOUT_PLAYERS = {"expert": 2, "greedy": 1, "random": 0}
#: With a time limit: worlds of a batch, and in all where no number is asked for.
_BATCH = 16
_MOST_WORLDS = 100_000
#: Plies for a card in a world: over ten times what the hardest deals of ten cards a hand that we know of take.
_PLIES = 100_000_000
_RELATIVE, _MARGIN, _WIN = RESULTS.index("relative3"), RESULTS.index("margin"), RESULTS.index("win")

_local = threading.local()


@dataclass(frozen=True)
class _Budget:
    """How many worlds a decision may use, and how long."""

    worlds: int
    seconds: float | None = None

    def collect(self, batch: Callable[[int], tuple[Worlds, np.ndarray]]) -> tuple[Worlds, np.ndarray]:
        """Return worlds and values, int[worlds, actions]: one batch, or with a time limit batches until it is over."""
        if self.seconds is None:
            return batch(self.worlds)
        end = time.monotonic() + self.seconds
        parts: list[tuple[Worlds, np.ndarray]] = []
        count = 0
        while count < self.worlds and (not parts or time.monotonic() < end):
            parts.append(batch(min(_BATCH, self.worlds - count)))
            count += parts[-1][0].size
        worlds = [part for part, _ in parts]
        return (
            Worlds(
                np.concatenate([part.hands for part in worlds]),
                np.concatenate([part.weights for part in worlds]),
                None,
                sum(part.tried for part in worlds),
                sum(part.effective for part in worlds),
                min(part.slips for part in worlds),
            ),
            np.concatenate([values for _, values in parts]),
        )


@dataclass(frozen=True)
class Plan:
    """What a searching player was asked for."""

    budget: _Budget
    rollouts: _Budget  # before exact solving
    policy: int  # plays worlds out
    model: int  # judges calls heard
    play_model: int  # judges cards played
    win: bool  # objective: chance to win the deal
    exact_end: bool = False  # Showcase: second playout solved
    exact_from: int = 14  # trick from which on worlds are solved
    max_plies: int = 0  # after which a value is given up


def _budget(options: Options, key: str, default: int, most: int) -> _Budget:
    seconds = options.seconds("time")
    asked = options.whole(key, default if seconds is None else min(most, _MOST_WORLDS), 1, most)
    return _Budget(asked, seconds)


def _rollout_plan(options: Options) -> Plan:
    budget = _budget(options, "worlds", 100, 100_000)
    return Plan(
        budget,
        budget,
        ROLLOUT_PLAYERS[options.word("player", ROLLOUT_PLAYERS)],
        MODELS[options.word("calls", ("expert", "greedy", "none"))],
        MODELS[options.word("plays", ("expert", "greedy", "none"))],
        options.word("objective", ("points", "win")) == "win",
        options.word("end", ("expert", "exact")) == "exact",
    )


def showcase_plan(given: dict[str, str]) -> Plan:
    """Return what :func:`value_showcase` needs, out of the options of ``rollout``."""
    return _rollout_plan(Options("rollout", given))


def rollout(game: str, given: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions of ``rollout``."""
    options = Options("rollout", given)
    plan = _rollout_plan(options)
    part = options.word("decides", ("all", "calls", "cards"))
    if game == "showcase":
        made = {} if part == "calls" else {"first": partial(value_showcase, plan=plan)}
        exactly = perfect.exact(game, {})
        decisions = {"trump": exactly["trump"]} if part != "cards" else {}
        decisions |= {"second": exactly["second"]} if part != "calls" else {}
    else:
        kinds = {"all": ("call", "contract", "play"), "calls": ("call", "contract"), "cards": ("play",)}[part]
        made = {kind: partial(_value_elections, plan=plan, kind=number) for number, kind in enumerate(("call", "contract", "play"))
                if kind in kinds}  # fmt: skip
        decisions = {}
    clocked = plan.budget.seconds is not None
    return decisions | {k: searching_decision("rollout", game, k, value, clocked=clocked) for k, value in made.items()}


def pimc(game: str, given: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions of ``pimc`` that are not the expert's."""
    options = Options("pimc", given)
    budget = _budget(options, "worlds", 20, 100_000)
    plan = Plan(
        budget,
        _budget(options, "rollouts", 100, 100_000),
        ROLLOUT_PLAYERS[options.word("player", ROLLOUT_PLAYERS)],
        MODELS[options.word("calls", ("expert", "greedy", "none"))],
        MODELS[options.word("plays", ("expert", "greedy", "none"))],
        options.word("objective", ("points", "win")) == "win",
        exact_from=options.whole("exact_from", 6, 1, 14),
        max_plies=options.whole("max_plies", _PLIES, 1, 99_999_999_999),
    )
    if game == "showcase":
        return perfect.exact(game, {})
    value = partial(_value_elections, plan=plan, kind=four.PLAY)
    return {"play": searching_decision("pimc", game, "play", value, clocked=budget.seconds is not None)}


@dataclass(frozen=True)
class _Space:
    """Working space of a thread."""

    four: tuple[Any, Any, Any]
    two: tuple[Any, Any, Any]


def own_space() -> _Space:
    """Return the calling thread's working space: for each game a table, views and streams."""
    if not hasattr(_local, "space"):
        _local.space = _Space(
            (four.new_table()[0], four.new_view(), np.zeros(4, STREAM).view(np.recarray)),
            (two_state.new_table()[0], two_state.new_view(), np.zeros(2, STREAM).view(np.recarray)),
        )
    space: _Space = _local.space
    return space


def moment_of(view: Any, kind: int) -> int:
    """Return a number that no other decision of the seat in the deal has."""
    if kind == four.PLAY:
        return 1024 + 4 * int(view.tricks_played) + int(view.on_table)
    return int(view.calls_made) + 512 * kind


def _actions(view: Any) -> list[int]:
    legal = int(view.legal)
    return [bit for bit in range(64) if legal >> bit & 1]


def _value_elections(view: Any, rules: Any, stream: Any, *, quick: bool, plan: Plan, kind: int) -> Valuation:
    """Value a decision of Elections; ``quick``: not where all cards are equal."""
    source = own_source(stream, moment_of(view, kind))
    stands = None
    actions = _actions(view)
    if kind == four.PLAY:
        unseen = int(unseen_cards(view)) | int(view.trick)
        stands = distinct_cards(int(view.legal), unseen, rules.card_points[view.contract])
        actions = sorted(set(stands.values()))
    exact = kind == four.PLAY and int(view.tricks_played) + 1 >= plan.exact_from
    numbers = np.array(actions, np.int64)

    def batch(count: int) -> tuple[Worlds, np.ndarray]:
        worlds = elections_worlds(view, rules, source, count, plan.model, plan.play_model)
        if quick and len(actions) == 1:
            return worlds, np.zeros((len(worlds.hands), 1), np.int32)
        if exact:
            return worlds, _solved(view, rules, worlds, numbers, plan)
        results = np.empty((len(worlds.hands), len(actions), len(RESULTS)), np.int32)
        key = np.uint64(next_word(source))
        four_rollouts.play_out(rules, view, kind, worlds.hands, numbers, plan.policy, key, *own_space().four, results)
        return worlds, results[:, :, _WIN if plan.win else _RELATIVE]

    worlds, values = (plan.budget if exact else plan.rollouts).collect(batch)
    if plan.win:
        unit, scale = "chance to win", 1
    elif kind == four.CALL:
        unit, scale = "relative credit", 3
    else:
        unit, scale = "points more than the other side", 2
    method = "exact" if exact else "rollout"
    return valued(actions, values, worlds, unit=unit, method=method, scale=scale, stands=stands)


def _solved(view: Any, rules: Any, worlds: Worlds, cards: np.ndarray, plan: Plan) -> np.ndarray:
    """Return three times the relative credit (or 1 for a win) that each card comes to in each world with perfect play."""
    number, pairing, me = int(view.contract), int(view.pairing), int(view.seat)
    terms = np.zeros(72, np.int64)
    trump = int(rules.trump[number])
    terms[0] = -1 if trump == 0 else (trump.bit_length() - 1) >> 4
    terms[1], terms[2] = rules.low[number], rules.low_trump
    terms[3], terms[4] = rules.trick[number], rules.most[number]
    terms[8:] = _points(rules, number)
    on_table = np.zeros(3, np.int64)
    for place in range(int(view.on_table)):
        on_table[place] = int(view.trick_cards[place]).bit_length() - 1
    margins = np.empty((len(worlds.hands), len(cards)), np.int32)
    kernel: Any = four_rollouts.solve_cards
    kernel(*own_solver().lend(), view, worlds.hands, cards, terms, on_table, np.int64(plan.max_plies), margins)
    margins = margins + _margin_so_far(view, rules, number, me, pairing)
    attacks = bool(int(view.attackers) >> me & 1)
    attackers_win = margins > 0 if attacks else margins < 0
    if plan.win:
        return (attackers_win if attacks else ~attackers_win & ((margins != 0) | (rules.tie == 0))).astype(np.int32)
    lost = ~attackers_win & ((margins != 0) | (rules.tie == 0))  # E16; the bonus is the defenders' (E17)
    bonus = (-2 if attacks else 2) * int(rules.failure_bonus)
    return np.asarray(2 * margins + bonus * lost)


def _points(rules: Any, number: int) -> np.ndarray:
    points: np.ndarray = np.asarray(rules.card_points[number], np.int64)
    return points


def _margin_so_far(view: Any, rules: Any, number: int, me: int, pairing: int) -> int:
    """Return the own side's points less the other's of the tricks that are complete, with a bonus that is decided."""
    points = _points(rules, number)
    margin = 0
    tricks = [0, 0]
    for seat in range(4):
        other = seat not in (me, me ^ pairing)
        cards = int(view.taken[seat])
        gained = int(points[[card for card in range(64) if cards >> card & 1]].sum()) + int(rules.trick[number]) * int(
            view.tricks[seat]
        )
        margin += -gained if other else gained
        tricks[other] += int(view.tricks[seat])
    return margin + int(rules.most[number]) * ((tricks[0] > 6) - (tricks[1] > 6))


def value_showcase(view: Any, rules: Any, stream: Any, *, quick: bool, plan: Plan) -> Valuation:
    """Value a card of Showcase's first playout; ``quick``: not where all cards are equal."""
    source = own_source(stream, 2 * int(view.tricks_played) + int(view.on_table))
    stands = distinct_first(view)
    actions = sorted(set(stands.values()))
    numbers = np.array(actions, np.int64)

    def batch(count: int) -> tuple[Worlds, np.ndarray]:
        worlds = showcase_worlds(view, rules, source, count)
        if quick and len(actions) == 1:
            return worlds, np.zeros((count, 1), np.int32)
        points = np.empty((len(worlds.hands), len(actions)), np.int32)
        key = np.uint64(next_word(source))
        work = two.own_workspace()
        two_rollouts.play_out(
            rules, view, worlds.hands, worlds.stocks, numbers, plan.policy, plan.exact_end, key, work, *own_space().two, points
        )
        return worlds, (points > 6).astype(np.int32) if plan.win else points

    worlds, values = plan.budget.collect(batch)
    unit = "chance to win" if plan.win else "tricks of the second playout"
    return valued(actions, values, worlds, unit=unit, method="rollout", stands=stands)


def distinct_first(view: Any) -> dict[int, int]:
    """Return for each legal card the one that stands for it; a card of the showcase stands for itself."""
    others = int(showcase_unseen(view)) | int(view.show[0]) | int(view.show[1]) | int(view.lead)
    if view.display >= 0:
        others |= 1 << int(view.display)
    return distinct_cards(int(view.legal) & int(view.hand), others) | {
        card: card for card in cards_of(int(view.legal) & ~int(view.hand))
    }
