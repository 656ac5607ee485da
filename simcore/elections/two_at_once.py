"""Random play of forced contracts, two deals at a time.

In a random playout a card must be drawn before the next player knows the suit to follow: a chain of latencies that leaves much of
a core idle.  Two deals played side by side fill the gaps.  Nobody looks at a view, so none is kept: a deal is its hands, the seats'
random words and the tricks taken.  What it comes to is exactly what the engine comes to (the tests compare them).

A word of a seat's stream serves all its thirteen choices, because the choices' sizes multiply to 13! < 2**33 at most and a forced
contract leaves the word untouched until the first lead; hence no count of what is left in it (``pick`` in simcore.rng).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ZERO, highest_bit, lowest_bit, nth_card, popcount, product
from simcore.tricks import following, led_suit

__all__ = ["DEAL_STATE", "play_two"]

DEAL_STATE = np.dtype(
    [
        ("dealt", "u8", (4,)),
        ("words", "u8", (4,)),  # first word of each seat's stream
        ("hands", "u8", (4,)),
        ("fractions", "u8", (4,)),
        ("taken", "u8", (4,)),  # cards in the tricks each seat has won
        ("dealer", "i8"),
        ("contract", "i8"),
        ("declarer", "i8"),
        ("pairing", "i8"),
        ("leader", "i8"),
        ("trump", "u8"),
        ("low", "u8"),  # all bits set in a low contract, else none
    ],
    align=True,
)


@inlined
def _play_card(deal: Any, seat: I64, hand: U64, legal: U64) -> U64:
    """Take a uniformly random card of ``legal`` out of a hand."""
    choice, deal.fractions[seat] = product(deal.fractions[seat], np.uint64(popcount(legal)))
    card = nth_card(legal, np.int64(choice))
    deal.hands[seat] = hand ^ card
    return card


@inlined
def _lead(deal: Any) -> U64:
    leader = deal.leader & 3  # known not to be negative: no wrap-around to be computed
    hand = deal.hands[leader]
    return _play_card(deal, leader, hand, hand)


@inlined
def _follow(deal: Any, place: I64, suit: U64) -> U64:
    seat = (deal.leader + place) & 3
    hand = deal.hands[seat]
    return _play_card(deal, seat, hand, following(hand, suit))


@inlined
def _take_trick(deal: Any, suit: U64, card0: U64, card1: U64, card2: U64, card3: U64) -> None:
    trick = card0 | card1 | card2 | card3
    trumps = trick & deal.trump
    candidates = trumps if trumps != ZERO else trick & suit
    best = (lowest_bit(candidates) & deal.low) | (highest_bit(candidates) & ~deal.low)
    place = np.int64(best == card1) + 2 * np.int64(best == card2) + 3 * np.int64(best == card3)
    winner = (deal.leader + place) & 3
    deal.leader = winner
    deal.taken[winner] |= trick


@njit
def _last_trick(deal: Any) -> None:
    """Play the last trick: everyone has one card, and choosing one of one spends no random bits."""
    leader = deal.leader
    card = deal.hands[leader]
    hands = deal.hands
    _take_trick(deal, led_suit(card), card, hands[(leader + 1) & 3], hands[(leader + 2) & 3], hands[(leader + 3) & 3])


@njit
def _start(rules: Any, deal: Any) -> None:
    contract = deal.contract
    for seat in range(4):
        deal.hands[seat] = deal.dealt[seat]
        deal.fractions[seat] = deal.words[seat]
        deal.taken[seat] = ZERO
    low = rules.low[contract] == 1
    deal.low = ~ZERO if low else ZERO
    deal.trump = ZERO if rules.low_trump == 1 and low else rules.trump[contract]
    deal.leader = ((deal.dealer if rules.lead == 1 else deal.declarer) + 1) & 3


@njit
def play_two(rules: Any, a: Any, b: Any) -> None:
    """Play two deals (DEAL_STATE records: dealt hands, words, dealer, contract and declarer given); fills ``taken``."""
    _start(rules, a)
    _start(rules, b)
    for _ in range(12):
        a0 = _lead(a)
        b0 = _lead(b)
        suit_a = led_suit(a0)
        suit_b = led_suit(b0)
        a1 = _follow(a, 1, suit_a)
        b1 = _follow(b, 1, suit_b)
        a2 = _follow(a, 2, suit_a)
        b2 = _follow(b, 2, suit_b)
        a3 = _follow(a, 3, suit_a)
        b3 = _follow(b, 3, suit_b)
        _take_trick(a, suit_a, a0, a1, a2, a3)
        _take_trick(b, suit_b, b0, b1, b2, b3)
    _last_trick(a)
    _last_trick(b)
