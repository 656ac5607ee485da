"""A search tree over information sets in one array, shared by both games.

Single-observer information set Monte Carlo tree search (Cowling, Powley, Whitehouse, "Information Set Monte Carlo Tree Search",
IEEE TCIAIG 4, 2012): one tree for all worlds, whose nodes are what was done since the decision.  In each iteration a world is
dealt, and only actions legal in it may be taken; an action is weighed by how often it *could* have been taken.  Whoever is to
move looks at his own rewards.

    nodes[0]     the root; its children are the choices
    state[0]     nodes in use; state[1], state[2] the least and the greatest reward seen, to which rewards are scaled
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, lowest_bit, nth_set_bit, popcount
from simcore.rng import below
from simcore.tricks import led_suit

__all__ = ["DEEPEST", "NODE", "STATE", "descend", "record", "start_tree", "thinned"]

NODE = np.dtype(
    [
        ("child", "i8"),  # first child, 0 for none
        ("sibling", "i8"),  # next child of the same parent, 0 for none
        ("action", "i8"),  # bit number of the action that leads here
        ("mover", "i8"),  # seat that took it
        ("visits", "i8"),
        ("available", "i8"),  # iterations in which the action could be taken
        ("total", "i8"),  # of the mover's rewards
        ("squares", "f8"),
    ],
    align=True,
)
#: Shape of ``state``.
STATE = 3
#: Most decisions of a deal: 124 calls, a contract, 52 cards (Showcase: 52).
DEEPEST = 180


@njit
def start_tree(nodes: Any, state: Any) -> None:
    """Empty a tree: NODE[n], int64[STATE]."""
    state[0] = 1
    state[1] = 0
    state[2] = 0
    nodes[0].child = 0
    nodes[0].visits = 0


@njit
def descend(nodes: Any, state: Any, node: I64, legal: U64, mover: I64, explore: float, source: Any) -> tuple[I64, bool]:
    """Return the child to go to, and whether it is new: an action never tried if there is one, else the one with the best bound.

    The child is 0 where the tree is full.
    """
    fresh = legal
    best = np.int64(0)
    best_bound = -1e300
    low = float(state[1])
    width = max(float(state[2] - state[1]), 1.0)
    child = nodes[node].child
    while child != 0:
        bit = ONE << np.uint64(nodes[child].action)
        if legal & bit != ZERO:
            fresh ^= bit
            nodes[child].available += 1
            visits = float(nodes[child].visits)
            bound = (float(nodes[child].total) / visits - low) / width
            bound += explore * math.sqrt(math.log(float(nodes[child].available)) / visits)
            if bound > best_bound:
                best_bound = bound
                best = child
        child = nodes[child].sibling
    if fresh == ZERO:
        return best, False
    if state[0] == len(nodes):
        return np.int64(0), False
    new = np.int64(state[0])
    state[0] += 1
    nodes[new].child = 0
    nodes[new].sibling = nodes[node].child
    nodes[new].action = ctz(nth_set_bit(fresh, below(source, popcount(fresh))))
    nodes[new].mover = mover
    nodes[new].visits = 0
    nodes[new].available = 1
    nodes[new].total = 0
    nodes[new].squares = 0.0
    nodes[node].child = new
    return new, True


@njit
def record(nodes: Any, state: Any, path: Any, length: I64, rewards: Any) -> None:
    """Add an iteration's rewards (int64, one a seat) to the nodes it went through."""
    if nodes[0].visits == 0:
        state[1] = rewards[0]
        state[2] = rewards[0]
    for seat in range(len(rewards)):
        state[1] = min(state[1], rewards[seat])
        state[2] = max(state[2], rewards[seat])
    nodes[0].visits += 1
    for step in range(length):
        node = path[step]
        reward = rewards[nodes[node].mover]
        nodes[node].visits += 1
        nodes[node].total += reward
        nodes[node].squares += float(reward) * float(reward)


@njit
def thinned(legal: U64, others: U64, points: Any) -> U64:
    """Return the legal cards without those equal to the next lower one: no card of others between, and the same points.

    Args:
        others: cards that may count besides the mover's own.
        points: by bit number; of length 0 where cards do not score.
    """
    kept = ZERO
    rest = legal
    previous = ZERO
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        equal = False
        if previous != ZERO and previous & led_suit(card) != ZERO:
            between = (card - ONE) & ~((previous << ONE) - ONE)
            equal = others & between == ZERO
            if len(points) > 0:
                equal = equal and points[np.uint64(ctz(previous))] == points[np.uint64(ctz(card))]
        if not equal:
            kept |= card
        previous = card
    return kept
