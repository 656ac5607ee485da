"""Tree search for a decision of Elections: calls, contract and cards, see ``tree``."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE
from simcore.elections.engine import advance, apply, prepare
from simcore.elections.state import DONE, PLAY
from simcore.elections.worlds import score_world
from simcore.rng import open_streams
from simcore.sampling.four_worlds import seat_world
from simcore.sampling.tree import DEEPEST, descend, record, thinned

__all__ = ["search"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)


@njit
def search(
    rules: Any,
    seen: Any,
    kind: I64,
    worlds: Any,
    first: I64,
    iterations: I64,
    policy: I64,
    column: I64,
    explore: float,
    key: U64,
    source: Any,
    table: Any,
    views: Any,
    streams: Any,
    nodes: Any,
    state: Any,
) -> None:
    """Run iterations ``first`` to ``first + iterations - 1`` on a tree; iteration i in world i modulo the number of worlds.

    Args:
        seen: the deciding seat's view; ``kind`` of decision.
        worlds: uint64[n, 4], the cards held.
        policy: the built-in player that plays on from where the tree ends.
        column: which of the RESULTS of :mod:`simcore.elections.worlds` is the reward.
        explore: how much what is little tried is sought.
        key: starts the players' streams.
        table, views, streams: working space, a TABLE, VIEW[1], STREAM[4].
        nodes, state: the tree.
    """
    path = np.zeros(DEEPEST, np.int64)
    rewards = np.zeros(4, np.int64)
    row = np.zeros(4, np.int64)
    for seat in range(4):
        for each in range(3):
            table.policies[seat, each] = policy
    for i in range(first, first + iterations):
        views[0] = seen
        view = views[0]
        seat_world(seen, worlds[i % len(worlds)], table, kind)
        open_streams(streams, key, ONE, np.uint64(i))
        node = np.int64(0)
        depth = np.int64(0)
        while table.phase != DONE:
            now = prepare(rules, table, view)
            legal = view.legal
            mover = np.int64(table.turn)
            if now == PLAY and mover == seen.seat:  # his own equal cards are known as such
                gone = view.played[0] | view.played[1] | view.played[2] | view.played[3]
                legal = thinned(legal, (_FULL & ~(view.hand | gone)) | view.trick, rules.card_points[view.contract])
            node, new = descend(nodes, state, node, legal, mover, explore, source)
            if node == 0:
                break
            path[depth] = node
            depth += 1
            apply(rules, table, view, now, ONE << np.uint64(nodes[node].action))
            if new:
                break
        advance(rules, table, view, streams)
        for seat in range(4):
            score_world(rules, table, view, np.int64(seat), row)
            rewards[seat] = row[column]
        record(nodes, state, path, depth, rewards)
