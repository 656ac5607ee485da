"""What each action of a seat comes to in given worlds of Elections: the deal played out by built-in players, or solved exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE
from simcore.elections.engine import advance, apply
from simcore.elections.worlds import score_world
from simcore.rng import open_streams
from simcore.sampling.four_worlds import seat_world
from simcore.solvers.four_root import NO_GUESS, card_value, set_up
from simcore.solvers.four_state import NODES, STOP
from simcore.solvers.four_table import forget

__all__ = ["play_out", "solve_cards"]


@njit
def play_out(
    rules: Any,
    seen: Any,
    kind: I64,
    worlds: Any,
    actions: Any,
    policy: I64,
    key: U64,
    table: Any,
    views: Any,
    streams: Any,
    results: Any,
) -> None:
    """Play every world on from every action to its end, with the same random streams for each action.

    Args:
        seen: the deciding seat's view; ``kind`` of decision (0 call, 1 contract, 2 card).
        worlds: uint64[n, 4], the cards held.
        actions: int64[a], bit numbers of actions.
        policy: the built-in player of all seats.
        key: starts the players' streams.
        table, views, streams: working space, a TABLE, VIEW[1], STREAM[4].
        results: int32[n, a, len(RESULTS)], written, of :mod:`simcore.elections.worlds`.
    """
    for seat in range(4):
        for each in range(3):
            table.policies[seat, each] = policy
    for w in range(len(worlds)):
        for a in range(len(actions)):
            views[0] = seen
            seat_world(seen, worlds[w], table, kind)  # phases are numbered as kinds of decision
            open_streams(streams, key, ONE, np.uint64(w))
            apply(rules, table, views[0], kind, ONE << np.uint64(actions[a]))
            advance(rules, table, views[0], streams)
            score_world(rules, table, views[0], seen.seat, results[w, a])


@njit
def solve_cards(
    u: Any,
    v: Any,
    keys: Any,
    patterns: Any,
    used: Any,
    hints: Any,
    seen: Any,
    worlds: Any,
    cards: Any,
    terms: Any,
    on_table: Any,
    plies: I64,
    margins: Any,
) -> None:
    """Solve every world after every card, all hands seen.

    Args:
        u … hints: memory of a Solver.
        worlds: uint64[n, 4], the cards held.
        cards: int64[a], bit numbers.
        terms: int64[72], the contract (``four_root``).
        on_table: int64[3], the cards already played to the trick.
        plies: after which a value is given up; the middle of what it can be is taken, rounded down for the own side.
        margins: int32[n, a], written: own side's points less the other's, from this trick on (a bonus decided before left out).
    """
    low = terms[1] != 0
    pairing = seen.pairing
    own_north = seen.seat == 0 or seen.seat == pairing
    won = seen.tricks[0] + seen.tricks[pairing]
    hints[:] = 0  # what they say of other deals would change which values are given up
    for w in range(len(worlds)):
        forget(keys, used)
        for a in range(len(cards)):
            set_up(u, v, worlds[w], terms, pairing, seen.leader, on_table, seen.on_table, won, seen.tricks_played - won)
            card = cards[a]
            if low:
                card = (card & 48) + 12 - (card & 15)
            v[STOP] = v[NODES] + plies
            least, most = card_value(u, v, keys, patterns, used, hints, card, NO_GUESS)
            both = least + most
            margins[w, a] = (both if own_north else -both) // 2
    v[STOP] = 0
