"""Random deals of Showcase, two at a time.

A trick is a chain of latencies: the follower's choice waits for the lead, the next lead for the winner.  Two deals played side by
side fill each other's gaps.  Nobody looks at a view, so none is kept, only what a row says.  The rules (what may follow, who takes)
are the engine's own functions, and the tests compare the rows with the engine's.  The first playout of Magri is left to the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, nth_card, popcount
from simcore.rng import pick
from simcore.showcase.play import first_follows, namer_of, second_beats, second_follows, trump_mask
from simcore.showcase.state import ALL_TRUMP
from simcore.tricks import led_suit, trick_winner

__all__ = ["DEAL_STATE", "play_first_two", "play_second_two"]

_TWELVE = np.uint64(12)

DEAL_STATE = np.dtype(
    [
        ("hands", "u8", (2,)),
        ("show", "u8", (2,)),  # cards in each showcase
        ("owned", "u8", (2,)),  # tricks of each showcase, bit = trick number
        ("broken", "u8"),  # tricks of which a card has been played
        ("suit", "u8"),
        ("trump", "u8"),
        ("leader", "i8"),
        # what the row says, under the names that the view has
        ("dealer", "i8"),
        ("turned", "i8"),
        ("won", "i8", (2,)),
        ("count", "i8", (2,)),
        ("namer", "i8"),
        ("named", "i8"),
        ("second_leader", "i8"),
        ("points", "i8", (2,)),
        ("stock", "i1", (26,)),  # the reserve in order, the turned card first
        ("lies_in", "i1", (64,)),  # number of the trick a showcase card lies in
    ],
    align=True,
)


@njit
def _start(deal: Any) -> None:
    for seat in range(2):
        deal.show[seat] = ZERO
        deal.owned[seat] = ZERO
    deal.broken = ZERO
    deal.turned = np.int64(deal.stock[0])
    deal.trump = led_suit(ONE << np.uint64(deal.turned))  # S2
    deal.leader = 1 - deal.dealer  # S3


@inlined
def _random_card(cards: U64, stream: Any) -> U64:
    return nth_card(cards, pick(stream, popcount(cards)))


@inlined
def _take_out(deal: Any, seat: I64, card: U64) -> None:
    """Take a card out of hand or showcase, whichever holds it."""
    from_show = np.uint64(deal.show[seat] & card != ZERO)
    deal.broken |= from_show << np.uint64(deal.lies_in[ctz(card)])  # S8
    deal.show[seat] &= ~card
    deal.hands[seat] &= ~card


@inlined
def _first_lead(deal: Any, streams: Any, side: I64) -> U64:
    leader = deal.leader & 1  # known not to be negative: no wrap-around to be computed
    hand = deal.hands[leader]
    card = _random_card(hand if hand != ZERO else deal.show[leader], streams[side, leader])  # S3
    _take_out(deal, leader, card)
    deal.suit = led_suit(card)
    return card


@inlined
def _first_follow(rules: Any, deal: Any, streams: Any, side: I64, number: I64, lead: U64) -> None:
    leader = deal.leader & 1
    seat = leader ^ 1
    card = _random_card(first_follows(rules, deal.hands[seat], deal.show[seat], deal.suit, deal.trump), streams[side, seat])
    _take_out(deal, seat, card)
    takes = trick_winner(lead | card, deal.suit, deal.trump, False) == card  # S5
    winner = (leader ^ np.int64(takes)) & 1
    deal.leader = winner
    deal.show[winner] |= lead | card  # S6
    deal.owned[winner] |= ONE << np.uint64(number)
    deal.lies_in[ctz(lead)] = np.int8(number)
    deal.lies_in[ctz(card)] = np.int8(number)
    deal.hands[winner ^ 1] |= ONE << np.uint64(deal.stock[number + 1 if number < 25 else 0])


@njit
def _name_trump(rules: Any, deal: Any, streams: Any, side: I64, trump: I64) -> None:
    """S8–S11, the trump given or (below zero) named at random."""
    middle = np.int64((deal.owned[1] >> _TWELVE) & ONE)
    for seat in range(2):
        deal.won[seat] = popcount(deal.owned[seat])
        deal.count[seat] = popcount(deal.owned[seat] & ~deal.broken)
        deal.hands[seat] |= deal.show[seat]
        deal.points[seat] = 0
    deal.second_leader = deal.leader if rules.second_lead == 1 else middle
    deal.namer = namer_of(rules, deal.count[0], deal.count[1], deal.second_leader)
    deal.named = trump if trump >= 0 else pick(streams[side, deal.namer], 6)
    deal.trump = trump_mask(deal.named)
    deal.leader = deal.second_leader


@inlined
def _second_lead(deal: Any, streams: Any, side: I64) -> U64:
    leader = deal.leader & 1
    holding = deal.hands[leader]
    card = _random_card(holding, streams[side, leader])
    deal.hands[leader] = holding ^ card
    deal.suit = led_suit(card)
    return card


@inlined
def _second_follow(rules: Any, deal: Any, streams: Any, side: I64, lead: U64) -> None:
    leader = deal.leader & 1
    seat = leader ^ 1
    holding = deal.hands[seat]
    card = _random_card(second_follows(holding, deal.suit, deal.trump), streams[side, seat])
    deal.hands[seat] = holding ^ card
    takes = second_beats(rules, deal.named == ALL_TRUMP, lead, card, deal.suit, deal.trump)
    winner = (leader ^ np.int64(takes)) & 1
    deal.leader = winner
    deal.points[winner] += 1


@njit
def play_first_two(rules: Any, a: Any, b: Any, streams: Any) -> None:
    """Play the first playout of two deals (DEAL_STATE records: hands, stock and dealer given).

    Args:
        streams: STREAM[2 deals, 2 seats].
    """
    _start(a)
    _start(b)
    for number in range(26 if rules.turned_card == 1 else 25):  # S7
        lead_a = _first_lead(a, streams, 0)
        lead_b = _first_lead(b, streams, 1)
        _first_follow(rules, a, streams, 0, number, lead_a)
        _first_follow(rules, b, streams, 1, number, lead_b)


@njit
def play_second_two(rules: Any, a: Any, b: Any, streams: Any, trump: I64) -> None:
    """Play two deals from the naming to the end, the trump given or (below zero) named at random."""
    _name_trump(rules, a, streams, 0, trump)
    _name_trump(rules, b, streams, 1, trump)
    for _ in range(13):  # S14
        lead_a = _second_lead(a, streams, 0)
        lead_b = _second_lead(b, streams, 1)
        _second_follow(rules, a, streams, 0, lead_a)
        _second_follow(rules, b, streams, 1, lead_b)
