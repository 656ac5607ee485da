"""Legal plays and trick winners: written once for both games.

A trick is a mask of the cards in it (at most one of each), so its winner is the highest (in a *low* contract the lowest) bit of
its trumps, or without trumps of its suit led: no comparison card by card.
"""

from __future__ import annotations

import numpy as np

from simcore._jit import U64, inlined
from simcore.bits import ZERO, ctz, highest_bit, lowest_bit

__all__ = ["following", "led_suit", "trick_winner"]

_LANE = np.uint64(0x1FFF)
_SUIT_BITS = np.uint64(48)


@inlined
def led_suit(card: U64) -> U64:
    """Return the mask of the whole suit of a card (given as a one-bit mask)."""
    return _LANE << (np.uint64(ctz(card)) & _SUIT_BITS)


@inlined
def following(hand: U64, suit: U64) -> U64:
    """Return the cards of a hand that may be played to a suit (a mask): that suit, else anything (E13)."""
    held = hand & suit
    return held if held != ZERO else hand


@inlined
def trick_winner(trick: U64, suit: U64, trump: U64, low: bool) -> U64:
    """Return the winning card of a trick as a one-bit mask.

    Args:
        trick: mask of the cards played.
        suit: mask of the suit led.
        trump: mask of the trump suit, zero for none.
        low: ranks turned round (E14).
    """
    trumps = trick & trump
    candidates = trumps if trumps != ZERO else trick & suit
    return lowest_bit(candidates) if low else highest_bit(candidates)
