"""The Elections engine: starts a deal, asks the players, applies what they decide.

``advance`` runs a deal until it is done or a seat must be asked that the caller speaks for (``EXTERNAL``: a person); the caller
then writes the answer with ``apply`` and calls ``advance`` again.  Players that are no kernels of ours are called by pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, borrowed, ctz
from simcore.elections.auction import apply_call, apply_contract, legal_calls, legal_contracts, set_sides, start_play
from simcore.elections.play import apply_play, play_random
from simcore.elections.policies import decide
from simcore.elections.state import AUCTION, CALL, CONTRACT, DONE, PLAY, PLAYED, PLAYING
from simcore.players import EXTERNAL, RANDOM, REFUSED
from simcore.pointers import ask_player
from simcore.rng import FORCED, below, open_source
from simcore.tricks import following, led_suit, trick_winner

__all__ = ["advance", "apply", "force_contract", "forced_by_lot", "prepare", "start_deal"]


@njit
def start_deal(table: Any, view: Any, dealer: I64, lots: I64) -> None:
    """Reset everything to the start of the auction; ``table.hands`` holds the hands."""
    for seat in range(4):
        table.dealt[seat] = table.hands[seat]
        view.named[seat] = ZERO
        view.played[seat] = ZERO
        view.void[seat] = ZERO
        view.taken[seat] = ZERO
        view.tricks[seat] = 0
    table.phase = AUCTION
    table.status = PLAYED
    table.turn = (dealer + 1) & 3  # E3
    view.dealer = dealer
    view.lots = lots
    view.calls_made = 0
    view.standing = -1
    view.standing_seat = -1
    view.passed = 0
    view.passes = 0
    view.forced = 0
    view.matched = 0
    view.type = -1
    view.contract = -1
    view.declarer = -1
    view.pairing = 0
    view.attackers = 0
    view.trump = ZERO
    view.low = 0
    view.leader = -1
    view.tricks_played = 0
    view.on_table = 0
    view.suit = ZERO
    view.trick = ZERO


@njit
def force_contract(rules: Any, table: Any, view: Any, contract: I64, declarer: I64, pairing: I64) -> None:
    """Skip the auction: the caller names contract, declarer and partners."""
    view.forced = 1
    set_sides(view, declarer, pairing)
    start_play(rules, table, view, contract)


@inlined
def forced_by_lot(source: Any, key0: U64, key1: U64, index: U64, contracts: I64) -> tuple[I64, I64, I64]:
    """Return a uniformly random declarer, pairing and contract, functions of (seed, index): each is drawn whatever is used."""
    open_source(source, key0, key1, index, ZERO, FORCED)
    declarer = below(source, 4)
    pairing = below(source, 3) + 1
    return declarer, pairing, below(source, contracts)


@njit
def prepare(rules: Any, table: Any, view: Any) -> I64:
    """Write the slots of the seat to decide into the view; returns the kind of decision."""
    seat = table.turn
    view.seat = seat
    view.hand = table.hands[seat]
    if table.phase == PLAYING:
        view.legal = following(view.hand, view.suit) if view.on_table > 0 else view.hand
        return np.int64(PLAY)
    if table.phase == AUCTION:
        view.legal = legal_calls(rules, view, seat)
        return np.int64(CALL)
    view.legal = legal_contracts(rules, view)
    return np.int64(CONTRACT)


@njit
def apply(rules: Any, table: Any, view: Any, kind: I64, action: U64) -> None:
    """Carry out the decision of the seat whose turn it is; the action must be legal."""
    if kind == PLAY:
        apply_play(table, view, table.turn, action)
    elif kind == CALL:
        apply_call(rules, table, view, table.turn, action)
    else:
        apply_contract(rules, table, view, action)


@inlined
def _chosen(rules: Any, table: Any, view: Any, streams: Any, seat: I64, place: I64, suit: U64) -> U64:
    """Take the card that a player chooses out of his hand, as the trick's card number ``place``; returns zero for an illegal one,
    which stays in the hand.
    """
    hand = table.hands[seat]
    card = following(hand, suit)
    if card & (card - ONE) != ZERO:
        view.seat = seat
        view.hand = hand
        view.legal = card
        view.on_table = place
        policy = table.policies[seat, PLAY]
        if policy < EXTERNAL:
            card = decide(policy, np.int64(PLAY), view, rules, streams[seat])
        else:
            table.turn = seat
            card = ask_player(policy, card, view, rules, streams[seat], table)
            if card == ZERO:
                return card
    table.hands[seat] = hand ^ card
    view.played[seat] |= card
    view.trick_cards[place] = card
    view.history[4 * view.tricks_played + place] = np.int8(ctz(card))
    if card & suit == ZERO:
        view.void[seat] |= suit
    return card


@njit
def _play_out(rules: Any, table: Any, view: Any, streams: Any) -> I64:
    """Play the tricks that are left where nobody is ``EXTERNAL``: what ``prepare`` and ``apply_play`` do card by card, in one loop.
    Returns REFUSED for an illegal action, else -1.
    """
    low = view.low == 1
    trump = view.trump
    leader = view.leader & 3  # known not to be negative: no wrap-around to be computed
    for t in range(view.tricks_played, 13):
        second = (leader + 1) & 3
        third = (leader + 2) & 3
        fourth = (leader + 3) & 3
        view.leaders[t] = np.int8(leader)
        view.leader = leader
        view.suit = ZERO
        view.trick = ZERO
        card0 = _chosen(rules, table, view, streams, leader, np.int64(0), ZERO)
        if card0 == ZERO:
            return np.int64(REFUSED)
        suit = led_suit(card0)
        view.suit = suit
        view.trick = card0
        card1 = _chosen(rules, table, view, streams, second, np.int64(1), suit)
        if card1 == ZERO:
            return np.int64(REFUSED)
        view.trick = card0 | card1
        card2 = _chosen(rules, table, view, streams, third, np.int64(2), suit)
        if card2 == ZERO:
            return np.int64(REFUSED)
        view.trick = card0 | card1 | card2
        card3 = _chosen(rules, table, view, streams, fourth, np.int64(3), suit)
        if card3 == ZERO:
            return np.int64(REFUSED)
        trick = card0 | card1 | card2 | card3
        best = trick_winner(trick, suit, trump, low)
        leader = (leader + np.int64(best == card1) + 2 * np.int64(best == card2) + 3 * np.int64(best == card3)) & 3
        view.winners[t] = np.int8(leader)
        view.taken[leader] |= trick
        view.tricks[leader] += 1
        view.tricks_played = t + 1
    view.leader = leader
    view.on_table = 0
    view.suit = ZERO
    view.trick = ZERO
    table.turn = leader
    table.phase = DONE
    return np.int64(-1)


@inlined
def _who_plays(table: Any) -> tuple[bool, bool]:
    """Tell whether every seat plays random cards, and whether any card is chosen by the caller."""
    n, e, s, w = table.policies[0, PLAY], table.policies[1, PLAY], table.policies[2, PLAY], table.policies[3, PLAY]
    return max(max(n, e), max(s, w)) == RANDOM, n == EXTERNAL or e == EXTERNAL or s == EXTERNAL or w == EXTERNAL


@njit
def advance(rules: Any, table: Any, view: Any, streams: Any) -> I64:
    """Play on until the deal is done (returns -1), an external player must decide (returns the kind; the view is prepared), or a
    player called by pointer gave an illegal action (returns REFUSED).

    A decision with one legal action is taken without asking.
    """
    streams = borrowed(streams)
    while table.phase != DONE:
        if table.phase == PLAYING and view.on_table == 0:
            all_random, by_caller = _who_plays(table)
            if all_random and view.tricks_played == 0:
                play_random(table, view, streams)
                break
            if not by_caller:
                return _play_out(rules, table, view, streams)
        kind = prepare(rules, table, view)
        policy = table.policies[table.turn, kind]
        legal = view.legal
        if legal & (legal - ONE) == ZERO:
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
