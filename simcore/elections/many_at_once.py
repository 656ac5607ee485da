"""Forced contracts in which one player holds all four seats, many deals in lockstep: ``expert``, or a plug-in that can do so.

All deals of a block are at the same place of the same trick of the same contract, so that loops over the deals do what the engine
does for one; LLVM turns them into vector instructions.  What a deal comes to is exactly what the engine comes to (the tests compare
them).  A player gets VIEWS, which hold nothing that a seat may not know.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, either, lowest_bit
from simcore.elections.estimates import end_of
from simcore.elections.expert_many import expert_many
from simcore.elections.lanes import WHOLE, by_suit, usual_points
from simcore.players import EXPERT
from simcore.pointers import call_player
from simcore.tricks import led_suit

__all__ = ["play_many", "put_down"]

_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)
_THREE_OF_EACH = np.uint64(0x0007000700070007)
_FOUR_OF_EACH = np.uint64(0x000F000F000F000F)
_FOUR = np.uint64(4)
_ALL = np.uint64((1 << 64) - 1)


@inlined
def _attacks(block: Any, i: I64, seat: I64) -> Any:
    """Tell whether a seat is the declarer or his partner."""
    apart = seat ^ block.declarer[i]
    return (apart == 0) | (apart == block.pairing[i])


@njit
def _look(block: Any, views: Any, count: I64, place: I64, tricks_played: I64) -> None:
    """Write what the seats at a place see; what lies on the table stands there already."""
    views.place = place
    views.tricks_played = tricks_played
    shift = np.uint64(place + 1)
    for i in range(count):
        hand = block.hands[place, i]
        held = hand & views.suit[i]
        void = block.void[i]
        seat = (block.leader[i] + place) & 3
        views.seat[i] = seat
        views.partner[i] = seat ^ block.pairing[i]
        views.hand[i] = hand
        views.legal[i] = either(held != ZERO, held, hand)
        views.unseen[i] = _PACK & ~(hand | block.seen[i])
        # places by how far they sit to the left
        views.void[i] = ((void | void << _FOUR) >> shift) & _THREE_OF_EACH
        views.own[i] = either(_attacks(block, i, seat), block.own[i], tricks_played - block.own[i])


@inlined
def _fault(views: Any, i: I64) -> U64:
    """Return zero if the card in a lane is exactly one of the legal ones, else something."""
    card = views.card[i]
    return card & (card - ONE) | card & ~views.legal[i] | either(card == ZERO, ONE, ZERO)


@inlined
def _first_illegal(views: Any, count: I64) -> I64:
    """Return the first lane whose card is not exactly one of the legal ones, or -1."""
    faults = ZERO
    for i in range(count):
        faults |= _fault(views, i)
    if faults != ZERO:
        for i in range(count):
            if _fault(views, i) != ZERO:
                return np.int64(i)
    return np.int64(-1)


@inlined
def _add_odd_points(rules: Any, contract: U64, block: Any, views: Any, count: I64) -> None:
    """Add what the odd cards just played have beyond the usual points of their suits."""
    odd = rules.odd_cards[contract]
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        number = np.uint64(ctz(card))
        extra = 64 * (rules.card_points[contract, number] - rules.suit_points[contract, number >> _FOUR])
        for i in range(count):
            views.points[i] += either(views.card[i] == card, extra, 0)


@njit
def _put_lead(rules: Any, contract: U64, block: Any, views: Any, count: I64) -> None:
    """Play the leaders' cards."""
    points_c, points_d, points_h, points_s = usual_points(rules, contract)
    for i in range(count):
        card = views.card[i]
        block.hands[0, i] ^= card
        block.seen[i] |= card
        views.suit[i] = led_suit(card)
        views.trick[i] = card
        views.winning[i] = card
        views.winner[i] = views.seat[i]
        views.points[i] = by_suit(np.uint64(ctz(card)), points_c, points_d, points_h, points_s)
    _add_odd_points(rules, contract, block, views, count)


@njit
def _put(rules: Any, contract: U64, block: Any, views: Any, count: I64, place: I64, trump: U64, up: U64) -> None:
    """Play the cards of a place behind the leader."""
    points_c, points_d, points_h, points_s = usual_points(rules, contract)
    for i in range(count):
        card = views.card[i]
        led = views.suit[i]
        winning = views.winning[i]
        block.hands[place, i] ^= card
        block.seen[i] |= card
        views.trick[i] |= card
        shown = either(card & led == ZERO, ONE, ZERO)
        block.void[i] |= shown << (np.uint64(ctz(led)) + np.uint64(place))
        trumps = (card | winning) & trump
        candidates = either(trumps != ZERO, trumps, (card | winning) & led)
        best = end_of(candidates, up == ZERO)
        views.winner[i] = either(best != winning, views.seat[i], views.winner[i])
        views.winning[i] = best
        views.points[i] += by_suit(np.uint64(ctz(card)), points_c, points_d, points_h, points_s)
    _add_odd_points(rules, contract, block, views, count)


@njit
def _clear_tables(views: Any, count: I64) -> None:
    """Put down that nobody has led."""
    for i in range(count):
        views.suit[i] = ZERO
        views.trick[i] = ZERO
        views.winning[i] = ZERO
        views.winner[i] = -1
        views.points[i] = 0


@njit
def _take_tricks(block: Any, views: Any, count: I64) -> None:
    """Give the tricks to their winners, who lead next: rows are turned so that the winner's stands first."""
    for i in range(count):
        seat = views.winner[i]
        winner = (seat - block.leader[i]) & 3  # his place
        one = winner & 1 != 0
        two = winner & 2 != 0
        a, b, c, d = block.hands[0, i], block.hands[1, i], block.hands[2, i], block.hands[3, i]
        a, b, c, d = either(two, c, a), either(two, d, b), either(two, a, c), either(two, b, d)
        block.hands[0, i] = either(one, b, a)
        block.hands[1, i] = either(one, c, b)
        block.hands[2, i] = either(one, d, c)
        block.hands[3, i] = either(one, a, d)
        void = block.void[i]
        block.void[i] = ((void | void << _FOUR) >> np.uint64(winner)) & _FOUR_OF_EACH
        block.leader[i] = seat
        trick = views.trick[i]
        block.taken[0, i] |= either(seat == 0, trick, ZERO)
        block.taken[1, i] |= either(seat == 1, trick, ZERO)
        block.taken[2, i] |= either(seat == 2, trick, ZERO)
        block.taken[3, i] |= either(seat == 3, trick, ZERO)
        block.own[i] += np.int64(_attacks(block, i, seat))


@njit
def _start(rules: Any, block: Any, count: I64) -> None:
    """Put the dealt hands before the players, the leader's first."""
    for i in range(count):
        leader = ((block.dealer[i] if rules.lead == 1 else block.declarer[i]) + 1) & 3
        block.leader[i] = leader
        for place in range(4):
            block.hands[place, i] = block.dealt[(leader + place) & 3, i]
            block.taken[place, i] = ZERO
        block.seen[i] = ZERO
        block.void[i] = ZERO
        block.own[i] = 0


@njit
def _fill_up(block: Any, count: I64) -> I64:
    """Repeat the first deal behind the last until whole vectors are full; returns the number of lanes."""
    whole = (count + WHOLE - 1) & -WHOLE
    for i in range(count, whole):
        for seat in range(4):
            block.dealt[seat, i] = block.dealt[seat, 0]
        block.declarer[i] = block.declarer[0]
        block.pairing[i] = block.pairing[0]
        block.dealer[i] = block.dealer[0]
    return whole


@njit
def play_many(rules: Any, block: Any, views: Any, q: Any, deals: I64, contract: U64, player: I64, table: Any, view: Any) -> I64:
    """Play a contract in the first ``deals`` deals of a BLOCK: dealt hands, dealers, declarers and pairings are given; fills
    ``taken``.

    Args:
        views, q: VIEWS and QUESTIONS, working space.
        player: EXPERT, or the address of a function (pointers.py) that gets ``views``.
        table, view: told which decision is waited for.

    Returns:
        The lane of the first illegal card, which ``views`` show, or -1.
    """
    low = rules.low[contract] == 1
    trump = ZERO if rules.low_trump == 1 and low else rules.trump[contract]
    up = ZERO if low else _ALL
    count = _fill_up(block, deals)
    _start(rules, block, count)
    views.count = count
    views.contract = contract
    views.trump = trump
    views.low = np.int64(low)
    for i in range(count):
        views.dealer[i] = block.dealer[i]
        views.declarer[i] = block.declarer[i]
    for t in range(13):
        _clear_tables(views, count)
        for place in range(4):
            _look(block, views, count, place, t)
            if t == 12:
                for i in range(count):
                    views.card[i] = views.legal[i]
            elif player == EXPERT:
                expert_many(views, rules, q)
            else:
                lane = _asked(player, views, rules, table, view)
                if lane >= 0:
                    return lane
            if place == 0:
                _put_lead(rules, contract, block, views, count)
            else:
                _put(rules, contract, block, views, count, place, trump, up)
        _take_tricks(block, views, count)
    return np.int64(-1)


@njit
def _asked(player: I64, views: Any, rules: Any, table: Any, view: Any) -> I64:
    """Have a player from outside the kernels choose a card in every lane; returns the first lane where it is illegal, or -1."""
    for i in range(views.count):
        views.card[i] = ZERO
    view.tricks_played = views.tricks_played
    view.on_table = views.place
    table.turn = views.seat[0]
    table.asked += 1
    table.asking = 1
    answered = call_player(player, views, rules, views, table)
    table.asking = 0
    if answered == ZERO:  # it raised
        views.card[0] = ZERO
        return np.int64(0)
    return _first_illegal(views, views.count)


@njit
def put_down(block: Any, i: I64, contract: I64, deal: Any) -> None:
    """Write a finished deal of a block into a DEAL_STATE record (two_at_once.py)."""
    for seat in range(4):
        deal.taken[seat] = block.taken[seat, i]
    deal.dealer = block.dealer[i]
    deal.declarer = block.declarer[i]
    deal.pairing = block.pairing[i]
    deal.contract = contract
