"""Tree search for a card of Showcase's first playout, see ``tree``; from the naming on built-in players play on."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO
from simcore.rng import open_streams
from simcore.sampling.tree import DEEPEST, descend, record, thinned
from simcore.sampling.two_worlds import seat_world
from simcore.showcase.engine import advance, apply, prepare
from simcore.showcase.state import DONE, FIRST, PLAYOUT_1

__all__ = ["search"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)


@njit
def search(
    rules: Any,
    seen: Any,
    worlds: Any,
    stocks: Any,
    first: I64,
    iterations: I64,
    policy: I64,
    win: bool,
    explore: float,
    key: U64,
    source: Any,
    table: Any,
    views: Any,
    streams: Any,
    nodes: Any,
    state: Any,
) -> None:
    """Run iterations on a tree; arguments as for :func:`simcore.sampling.four_tree.search`, and

    Args:
        stocks: int8[n, 26], the reserve of each world.
        win: a won deal is the reward, else the tricks of the second playout.
    """
    path = np.zeros(DEEPEST, np.int64)
    rewards = np.zeros(2, np.int64)
    no_points = np.zeros(0, np.int32)
    for seat in range(2):
        for each in range(3):
            table.policies[seat, each] = policy
    for i in range(first, first + iterations):
        views[0] = seen
        view = views[0]
        world = i % len(worlds)
        seat_world(rules, seen, worlds[world, 1 - seen.seat], stocks[world], table, np.int64(PLAYOUT_1))
        open_streams(streams, key, ONE, np.uint64(i))
        node = np.int64(0)
        depth = np.int64(0)
        while table.phase == PLAYOUT_1:
            prepare(rules, table, view)
            mover = np.int64(table.turn)
            legal = view.legal
            if mover == seen.seat:  # equal cards of his hand; those of the showcase differ by the tricks they lie in
                inside = legal & view.hand
                out = view.discards | (ONE << np.uint64(view.turned) if rules.magri == 0 and view.turned_to < 0 else ZERO)
                legal = (legal ^ inside) | thinned(inside, _FULL & ~(view.hand | out), no_points)
            node, new = descend(nodes, state, node, legal, mover, explore, source)
            if node == 0:
                break
            path[depth] = node
            depth += 1
            apply(rules, table, view, np.int64(FIRST), ONE << np.uint64(nodes[node].action))
            if new:
                break
        advance(rules, table, view, streams, np.int64(DONE))
        for seat in range(2):
            rewards[seat] = np.int64(view.points[seat] > 6) if win else view.points[seat]
        record(nodes, state, path, depth, rewards)
