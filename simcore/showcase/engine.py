"""The Showcase engine: asks the players, applies what they decide.  The same shape as the Elections engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, borrowed, ctz
from simcore.players import EXPERT, EXTERNAL, RANDOM, REFUSED
from simcore.pointers import ask_player
from simcore.showcase.expert import second_trick
from simcore.showcase.play import (
    apply_first,
    apply_second,
    apply_trump,
    first_leads,
    first_replies,
    lead_first,
    lead_second,
    legal_first,
    legal_second,
    reply_first,
    reply_second,
    second_follows,
    start_deal,
)
from simcore.showcase.policies import decide
from simcore.showcase.state import FIRST, NAMING, PLAYOUT_1, PLAYOUT_2, SECOND, TRUMP

__all__ = ["advance", "apply", "other_holding", "prepare", "start_deal"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_SIX_TRUMPS = np.uint64(63)


@njit
def other_holding(rules: Any, view: Any, own: U64) -> U64:
    """Return the other seat's holding after the first playout, out of what a seat can see: the pack less its own holding, the cards
    played or discarded, and the turned card where it is out (S2)."""
    out = view.discards
    if rules.magri == 0 and rules.turned_card == 0:
        out |= ONE << np.uint64(view.turned)
    if view.playout == 2:
        out |= view.played[0] | view.played[1]
    return _FULL & ~(own | out)


@njit
def prepare(rules: Any, table: Any, view: Any) -> I64:
    """Write the slots of the seat to decide into the view; returns the kind of decision."""
    seat = table.turn
    view.seat = seat
    view.hand = table.hands[seat]
    if table.phase == PLAYOUT_1:
        view.other = ZERO
        view.legal = legal_first(rules, view, view.hand, view.show[seat])
        return np.int64(FIRST)
    view.other = other_holding(rules, view, view.hand)
    if table.phase == NAMING:
        view.legal = _SIX_TRUMPS
        return np.int64(TRUMP)
    view.legal = legal_second(view, view.hand)
    return np.int64(SECOND)


@njit
def apply(rules: Any, table: Any, view: Any, kind: I64, action: U64) -> None:
    """Carry out the decision of the seat whose turn it is; the action must be legal."""
    if kind == FIRST:
        apply_first(rules, table, view, action)
    elif kind == SECOND:
        apply_second(rules, table, view, action)
    else:
        apply_trump(table, view, ctz(action))


@njit
def _second_by_experts(rules: Any, table: Any, view: Any) -> None:
    """Play the second playout of two experts: both holdings are open, so who leads knows the other's reply."""
    rank = rules.all_trump == 1
    while table.phase == PLAYOUT_2:
        leader = view.leader & 1
        togo = 12 - view.tricks_played
        lead, reply = second_trick(table.hands[leader], table.hands[leader ^ 1], view.trump, view.all_trump, rank, togo)
        lead_second(table, view, leader, lead)
        reply_second(rules, table, view, leader ^ 1, reply)


@inlined
def _chosen(rules: Any, table: Any, view: Any, streams: Any, kind: I64, seat: I64, hand: U64, legal: U64) -> U64:
    """Return the card that a player chooses out of his hand, or zero for an illegal one."""
    view.seat = seat
    view.hand = hand
    view.other = ZERO if kind == FIRST else other_holding(rules, view, hand)
    view.legal = legal
    policy = table.policies[seat, kind]
    single = legal & (legal - ONE) == ZERO
    if single and policy != RANDOM:  # random picks a single card too, and spends nothing on it: no branch to mispredict
        return legal
    if policy < EXTERNAL:
        return decide(policy, kind, view, rules, streams[seat])
    return ask_player(policy, legal, view, rules, streams[seat], table)


@njit
def _first_out(rules: Any, table: Any, view: Any, streams: Any) -> I64:
    """Play the tricks of the first playout that are left where nobody is ``EXTERNAL``: what ``prepare`` and ``apply_first`` do card
    by card, in one loop.  Returns REFUSED for an illegal action, else -1.
    """
    show = view.show
    kind = np.int64(FIRST)
    while table.phase == PLAYOUT_1:
        leader = view.leader & 1
        hand = table.hands[leader]
        card = _chosen(rules, table, view, streams, kind, leader, hand, first_leads(rules, hand, show[leader]))
        if card == ZERO:
            return np.int64(REFUSED)
        lead_first(table, view, leader, card)
        seat = leader ^ 1
        hand = table.hands[seat]
        legal = first_replies(rules, hand, show[seat], view.suit, view.trump)
        card = _chosen(rules, table, view, streams, kind, seat, hand, legal)
        if card == ZERO:
            return np.int64(REFUSED)
        reply_first(rules, table, view, seat, card)
    return np.int64(-1)


@njit
def _second_out(rules: Any, table: Any, view: Any, streams: Any) -> I64:
    """Play the tricks of the second playout that are left, likewise."""
    kind = np.int64(SECOND)
    while table.phase == PLAYOUT_2:
        leader = view.leader & 1
        hand = table.hands[leader]
        card = _chosen(rules, table, view, streams, kind, leader, hand, hand)
        if card == ZERO:
            return np.int64(REFUSED)
        lead_second(table, view, leader, card)
        seat = leader ^ 1
        hand = table.hands[seat]
        card = _chosen(rules, table, view, streams, kind, seat, hand, second_follows(hand, view.suit, view.trump))
        if card == ZERO:
            return np.int64(REFUSED)
        reply_second(rules, table, view, seat, card)
    return np.int64(-1)


@njit
def advance(rules: Any, table: Any, view: Any, streams: Any, until: I64) -> I64:
    """Play on until phase ``until`` (NAMING or DONE) is reached (returns -1), an external player must decide (returns the kind), or
    a player called by pointer gave an illegal action (returns REFUSED).

    A decision with one legal action is taken without asking.
    """
    streams = borrowed(streams)
    while table.phase != until:
        if view.on_table == 0 and table.phase != NAMING:
            first = table.phase == PLAYOUT_1
            kind = np.int64(FIRST if first else SECOND)
            n, s = table.policies[0, kind], table.policies[1, kind]
            if not first and n == EXPERT and s == EXPERT:
                _second_by_experts(rules, table, view)
                continue
            if n != EXTERNAL and s != EXTERNAL:
                status = _first_out(rules, table, view, streams) if first else _second_out(rules, table, view, streams)
                if status == REFUSED:
                    return status
                continue
        kind = prepare(rules, table, view)
        policy = table.policies[table.turn, kind]
        legal = view.legal
        single = legal & (legal - ONE) == ZERO
        if single and policy != RANDOM:  # random picks a single action too, and spends nothing on it: no branch to mispredict
            action = legal
        elif policy < EXTERNAL:
            action = decide(policy, kind, view, rules, streams[table.turn])
        elif policy == EXTERNAL:
            return kind
        else:
            action = ask_player(policy, legal, view, rules, streams[table.turn], table)
            if action == ZERO:
                return np.int64(REFUSED)
        apply(rules, table, view, kind, action)
    return np.int64(-1)
