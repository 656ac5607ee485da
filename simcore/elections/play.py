"""Card play of Elections (E12–E14) and its score (E15–E17)."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ZERO, ctz, either, nth_card, popcount
from simcore.elections.state import DONE
from simcore.rng import pick
from simcore.tricks import following, led_suit, trick_winner

__all__ = ["DRAW", "LOSS", "WIN", "apply_play", "both_points", "credits_of", "play_random", "result_from", "result_of"]

# The attackers' result (E16).
WIN, LOSS, DRAW = 0, 1, 2


@njit
def apply_play(table: Any, view: Any, seat: I64, card: U64) -> None:
    """Play a card (a one-bit mask); after the fourth the trick goes to its winner, who leads next."""
    count = view.on_table
    table.hands[seat] ^= card
    view.history[4 * view.tricks_played + count] = np.int8(ctz(card))
    view.trick_cards[count] = card
    view.played[seat] |= card
    if count == 0:
        view.suit = led_suit(card)
        view.trick = card
        view.leaders[view.tricks_played] = np.int8(seat)
    else:
        view.trick |= card
        if card & view.suit == ZERO:
            view.void[seat] |= view.suit
    if count < 3:
        view.on_table = count + 1
        table.turn = (seat + 1) & 3
        return
    best = trick_winner(view.trick, view.suit, view.trump, view.low == 1)
    place = (
        np.int64(best == view.trick_cards[1])
        + 2 * np.int64(best == view.trick_cards[2])
        + 3 * np.int64(best == view.trick_cards[3])
    )
    winner = (view.leader + place) & 3
    view.winners[view.tricks_played] = np.int8(winner)
    view.taken[winner] |= view.trick
    view.tricks[winner] += 1
    view.leader = winner
    view.on_table = 0
    view.suit = ZERO
    view.trick = ZERO
    view.tricks_played += 1
    table.turn = winner
    if view.tricks_played == 13:
        table.phase = DONE


@njit
def _random_card(hands: Any, seat: I64, suit: U64, streams: Any) -> U64:
    """Take a uniformly random legal card out of a hand."""
    card = following(hands[seat], suit)
    card = nth_card(card, pick(streams[seat], popcount(card)))
    hands[seat] ^= card
    return card


@njit
def play_random(table: Any, view: Any, streams: Any) -> None:
    """Play the whole deal when every seat plays uniformly random legal cards: what ``apply_play`` does card by card, in one loop.

    Nobody looks at the view meanwhile, so only what a finished deal shows is kept: history, leaders, winners, tricks, cards taken.
    """
    hands = table.hands
    leader = view.leader
    trump = view.trump
    low = view.low == 1
    for t in range(13):
        second = (leader + 1) & 3
        third = (leader + 2) & 3
        fourth = (leader + 3) & 3
        card0 = _random_card(hands, leader, hands[leader], streams)
        suit = led_suit(card0)
        card1 = _random_card(hands, second, suit, streams)
        card2 = _random_card(hands, third, suit, streams)
        card3 = _random_card(hands, fourth, suit, streams)
        trick = card0 | card1 | card2 | card3
        best = trick_winner(trick, suit, trump, low)
        view.history[4 * t] = np.int8(ctz(card0))
        view.history[4 * t + 1] = np.int8(ctz(card1))
        view.history[4 * t + 2] = np.int8(ctz(card2))
        view.history[4 * t + 3] = np.int8(ctz(card3))
        view.leaders[t] = np.int8(leader)
        leader = (leader + np.int64(best == card1) + 2 * np.int64(best == card2) + 3 * np.int64(best == card3)) & 3
        view.winners[t] = np.int8(leader)
        view.taken[leader] |= trick
        view.tricks[leader] += 1
    view.tricks_played = 13
    view.leader = leader
    table.phase = DONE


@inlined
def both_points(rules: Any, contract: I64, cards: U64, tricks: I64) -> tuple[I64, I64, I64, I64]:
    """Return plus points and minus points (≤ 0) of the side with these cards and tricks, then the other side's (E15)."""
    plus_trick = max(rules.trick[contract], 0)
    minus_trick = min(rules.trick[contract], 0)
    # no branch: who takes most tricks is a toss-up
    most = either(2 * tricks > 13, rules.most[contract], 0)
    most_other = rules.most[contract] - most
    plus = plus_trick * tricks + max(most, 0)
    minus = minus_trick * tricks + min(most, 0)
    plus_other = plus_trick * (13 - tricks) + max(most_other, 0)
    minus_other = minus_trick * (13 - tricks) + min(most_other, 0)
    for g in range(rules.groups[contract]):
        group = rules.group_cards[contract, g]
        count = popcount(cards & group)
        other = popcount(group) - count
        plus += count * rules.group_plus[contract, g]
        minus += count * rules.group_minus[contract, g]
        plus_other += other * rules.group_plus[contract, g]
        minus_other += other * rules.group_minus[contract, g]
    return plus, minus, plus_other, minus_other


@inlined
def result_from(rules: Any, contract: I64, cards: U64, tricks: I64) -> tuple[I64, I64, I64]:
    """Return attackers' points, defenders' points and the attackers' result, from the attackers' cards and tricks (E15, E16)."""
    plus, minus, plus_d, minus_d = both_points(rules, contract, cards, tricks)
    attackers = plus + minus
    defenders = plus_d + minus_d
    if rules.result == 1 and rules.two_signs[contract] == 1:
        result = WIN if plus > plus_d and minus > minus_d else LOSS
    elif attackers == defenders:
        result = DRAW if rules.tie == 1 else LOSS
    else:
        result = WIN if attackers > defenders else LOSS
    return attackers, defenders, np.int64(result)


@njit
def result_of(rules: Any, view: Any) -> tuple[I64, I64, I64]:
    """Return attackers' points, defenders' points and the attackers' result of a finished deal (E15, E16)."""
    cards = ZERO
    tricks = np.int64(0)
    for seat in range(4):
        if (view.attackers >> seat) & 1:
            cards |= view.taken[seat]
            tricks += view.tricks[seat]
    return result_from(rules, view.contract, cards, tricks)


@njit
def credits_of(rules: Any, view: Any, seat: I64, attackers: I64, defenders: I64, result: I64) -> I64:
    """Return a player's credit for a played deal (E17)."""
    if (view.attackers >> seat) & 1:
        return attackers
    return defenders + (rules.failure_bonus if result == LOSS else np.int64(0))
