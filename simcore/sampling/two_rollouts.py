"""What each card of Showcase's first playout comes to in given worlds: played out by built-in players, the second playout too or
solved exactly from the naming on."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE
from simcore.rng import open_streams
from simcore.sampling.two_worlds import seat_world
from simcore.showcase.engine import advance, apply
from simcore.showcase.state import DONE, FIRST, NAMING, PLAYOUT_1
from simcore.solvers.two_play import trump_values

__all__ = ["play_out"]


@njit
def play_out(
    rules: Any,
    seen: Any,
    worlds: Any,
    stocks: Any,
    cards: Any,
    policy: I64,
    exact: bool,
    key: U64,
    work: Any,
    table: Any,
    views: Any,
    streams: Any,
    points: Any,
) -> None:
    """Play every world on from every card to its end, with the same random streams for each card.

    Args:
        seen: the deciding seat's view, in the first playout.
        worlds: uint64[n, 2], hands; stocks: int8[n, 26], reserves.
        cards: int64[a], bit numbers.
        policy: the built-in player of both seats.
        exact: name the best trump and play the second playout perfectly, both.
        key: starts the players' streams.
        work: workspace of the two-hand solver.
        table, views, streams: working space, a TABLE, VIEW[1], STREAM[2].
        points: int32[n, a], written: tricks of the second playout (S14) for the deciding seat.
    """
    me = seen.seat
    values = np.zeros(6, np.int64)
    for seat in range(2):
        for each in range(3):
            table.policies[seat, each] = policy
    for w in range(len(worlds)):
        for a in range(len(cards)):
            views[0] = seen
            view = views[0]
            seat_world(rules, seen, worlds[w, 1 - me], stocks[w], table, np.int64(PLAYOUT_1))
            open_streams(streams, key, ONE, np.uint64(w))
            apply(rules, table, view, np.int64(FIRST), ONE << np.uint64(cards[a]))
            if exact:
                advance(rules, table, view, streams, np.int64(NAMING))
                namer = view.namer
                leads = view.second_leader == namer
                trump_values(work, values, table.hands[namer], table.hands[1 - namer], leads, np.int64(13), rules.all_trump == 1)
                best = values.max()
                points[w, a] = best if namer == me else 13 - best
            else:
                advance(rules, table, view, streams, np.int64(DONE))
                points[w, a] = view.points[me]
