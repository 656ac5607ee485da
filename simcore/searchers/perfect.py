"""Players that use the exact solvers: ``oracle``, which sees every hand, and the part ``exact``, which sees no more than it may.

``exact`` names Showcase's trump and plays the second playout: by then each player knows every card (S11).  ``oracle`` plays that
part of Showcase in the same way, and in Elections names the contract of a type (E11) and plays every card double dummy, for its own
side's margin.  Of equal choices each takes the first, in the order of contracts, trumps and cards.  A deal made to be hard could
take ``oracle`` for ever, so it gives a value up after ``max_plies`` and with it the deal: what it plays is perfect or nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from simcore.bits import ZERO
from simcore.errors import PlayerError
from simcore.plugins import Decision, python_decision
from simcore.rules import Contract
from simcore.searchers.options import Options
from simcore.searchers.valuing import Choice, Valuation
from simcore.solvers import MOST_PLIES, GaveUp, Solver, two, two_play

__all__ = ["exact", "exact_value", "oracle"]

_local = threading.local()
_PLIES_AT_MOST = 99_999_999_999  # as many as an option may have digits


def exact(game: str, options: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions of ``exact`` and of ``oracle`` in Showcase."""
    functions = {"trump": _best_trump, "second": _best_second}
    return {
        kind: python_decision("exact", game, kind, function, value=partial(exact_value, kind=kind))
        for kind, function in functions.items()
    }


def exact_value(view: Any, rules: Any, stream: Any, *, kind: str, win: bool = False) -> Valuation:
    """Return the exact values of the choices at the naming (``"trump"``) or in the second playout (``"second"``); ``win``: 1 for a
    won deal instead of tricks."""
    work, rank = two.own_workspace(), bool(rules.all_trump == 1)
    values: dict[int, int] = {}
    if kind == "trump":
        out = np.zeros(6, np.int64)
        leads = bool(view.second_leader == view.seat)
        two_play.trump_values(work, out, view.hand, view.other, leads, np.int64(13), rank)
        values = dict(enumerate(out.tolist()))
        best = int(two_play.best_trump(work, view.hand, view.other, leads, np.int64(13), rank))
    else:
        cards = np.zeros(64, np.int8)
        lead = view.lead if view.on_table else ZERO
        to_go = np.int64(13 - view.tricks_played)
        two_play.card_values(work, cards, view.hand, view.other, lead, to_go, np.int64(view.named), rank)
        values = {card: int(cards[card]) + int(view.points[view.seat]) for card in range(64) if cards[card] >= 0}
        best = max(values, key=lambda card: (values[card], -card))
    if win:
        values = {action: int(value > 6) for action, value in values.items()}
        best = max(values, key=lambda action: (values[action], action == best))
    choices = [Choice(action, float(v), 0.0, float(values[best] - v), 0.0) for action, v in values.items()]
    unit = "chance to win" if win else "tricks of the second playout"
    return Valuation(tuple(choices), best, unit, "exact", 1, 1.0)


def oracle(game: str, options: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions of ``oracle`` that are not the expert's."""
    plies = Options("oracle", options).whole("max_plies", MOST_PLIES, 1, _PLIES_AT_MOST)
    if game == "showcase":
        return exact(game, options)
    functions = {"contract": _within(plies, _best_contract), "play": _within(plies, _best_play)}
    return {kind: python_decision("oracle", game, kind, function, peeks=True) for kind, function in functions.items()}


def _within(plies: int, best: Callable[..., int]) -> Callable[[Any, Any, Any, Any], int]:
    """Return a decision that ends the deal with an error where a value takes more plies."""

    def decide(view: Any, rules: Any, stream: Any, table: Any) -> int:
        try:
            return best(view, rules, table, plies)
        except GaveUp:
            raise PlayerError(
                f"gave a value up after {plies:,} plies; accepted: an easier deal, or oracle:max_plies=N, N up to {_PLIES_AT_MOST}"
            ) from None

    return decide


def _best_trump(view: Any, rules: Any, stream: Any) -> int:
    leads, rank = bool(view.second_leader == view.seat), bool(rules.all_trump == 1)
    return 1 << int(two_play.best_trump(two.own_workspace(), view.hand, view.other, leads, np.int64(13), rank))


def _best_second(view: Any, rules: Any, stream: Any) -> int:
    lead = view.lead if view.on_table else ZERO
    to_go, trump, rank = np.int64(13 - view.tricks_played), np.int64(view.named), bool(rules.all_trump == 1)
    return int(two_play.best_card(two.own_workspace(), view.hand, view.other, lead, to_go, trump, rank))


@lru_cache(256)
def _contract(trump: int, low: int, trick: int, most: int, points: bytes) -> Contract:
    cards = {card: int(value) for card, value in enumerate(np.frombuffer(points, np.int32)) if value}
    suit = None if trump == 0 else (trump.bit_length() - 1) >> 4
    return Contract("", "", suit, bool(low), trick, most, cards=MappingProxyType(cards))


def _contract_of(rules: Any, number: int) -> Contract:
    """Return a contract of a ruleset's record."""
    points = rules.card_points[number].tobytes()
    return _contract(int(rules.trump[number]), int(rules.low[number]), int(rules.trick[number]), int(rules.most[number]), points)


def _solver(table: Any, contract: int, pairing: int, plies: int) -> tuple[Solver, bool]:
    """Return this thread's solver, with this limit, and whether it was last used for the same deal, contract and pairing."""
    now = (table.dealt.tobytes(), contract, pairing)
    if not hasattr(_local, "solver"):
        _local.solver, _local.deal = Solver(), None
    same = _local.deal == now
    _local.deal = now
    _local.solver.max_plies = plies
    return _local.solver, same


def _best_contract(view: Any, rules: Any, table: Any, plies: int) -> int:
    """Return the contract of the type in which the declarer's side has most with perfect play."""
    leader = (int(view.dealer if rules.lead == 1 else view.declarer) + 1) & 3  # E12
    best, best_margin = 0, 0
    for number in range(64):
        if not int(view.legal) >> number & 1:
            continue
        solver, keep = _solver(table, number, int(view.pairing), plies)
        solution = solver.position(
            table.hands,
            _contract_of(rules, number),
            pairing=int(view.pairing),
            declarer=int(view.declarer),
            leader=leader,
            low_plain=bool(rules.low_trump),
            keep=keep,
        )
        if best == 0 or solution.margin > best_margin:
            best, best_margin = 1 << number, solution.margin
    return best


def _best_play(view: Any, rules: Any, table: Any, plies: int) -> int:
    """Return the first card that keeps what the own side can have."""
    number, pairing = int(view.contract), int(view.pairing)
    solver, keep = _solver(table, number, pairing, plies)
    north = int(view.tricks[0] + view.tricks[pairing])
    card = solver.best_card(
        table.hands,
        _contract_of(rules, number),
        pairing=pairing,
        leader=int(view.leader),
        table=[int(card).bit_length() - 1 for card in view.trick_cards[: view.on_table]],
        low_plain=bool(rules.low_trump),
        tricks=(north, int(view.tricks_played) - north),
        keep=keep,
    )
    return 1 << card
