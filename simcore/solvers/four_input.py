"""What the four-hand solver takes: seats, pairings and positions, checked; see :mod:`simcore.solvers.four`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simcore.cards import FULL, SEATS, format_card, format_cards
from simcore.errors import BadInput

__all__ = ["PAIRINGS", "check_counts", "checked_hands", "checked_position", "pairing_of", "seat_of"]

#: The pairings: which seat is N's partner.
PAIRINGS = {"NE": 1, "NS": 2, "NW": 3}


def seat_of(seat: int | str, what: str) -> int:
    """Return a seat's number."""
    if isinstance(seat, str) and seat in SEATS and len(seat) == 1:
        return SEATS.index(seat)
    if isinstance(seat, (int, np.integer)) and not isinstance(seat, bool) and 0 <= seat <= 3:
        return int(seat)
    raise BadInput(f"{what} is {seat!r}; accepted: 0 to 3 or one of N E S W")


def pairing_of(pairing: int | str) -> int:
    """Return a pairing's number."""
    if isinstance(pairing, str) and pairing in PAIRINGS:
        return PAIRINGS[pairing]
    if isinstance(pairing, (int, np.integer)) and not isinstance(pairing, bool) and 1 <= pairing <= 3:
        return int(pairing)
    raise BadInput(f"pairing is {pairing!r}; accepted: 1, 2, 3 or NE, NS, NW")


def checked_hands(hands: Sequence[int] | np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return hands as masks, after checking that no card stands twice."""
    if len(hands) != 4:
        raise BadInput(f"there are {len(hands)} hands; accepted: four")
    masks = [int(hand) for hand in hands]
    seen = 0
    for seat, mask in enumerate(masks):
        if mask < 0 or mask & ~int(FULL):
            raise BadInput(f"the hand of {SEATS[seat]} is {mask!r}, which has bits that are no cards")
        if mask & seen:
            raise BadInput(f"hands overlap: {format_cards(mask & seen)} is held twice, by {SEATS[seat]} and by a seat before")
        seen |= mask
    return np.array(masks, np.uint64)


def checked_position(held: np.ndarray[Any, np.dtype[np.uint64]], leader: int, table: Sequence[int]) -> tuple[int, ...]:
    """Check that hand sizes fit the cards on the table (a seat that has played to the trick has one card less)."""
    cards = tuple(int(card) for card in table)
    if len(cards) > 3:
        raise BadInput(f"{len(cards)} cards are on the table; accepted: 0 to 3")
    everything = int(held[0] | held[1] | held[2] | held[3])
    for n, card in enumerate(cards):
        if not 0 <= card < 64 or not int(FULL) >> card & 1:
            raise BadInput(f"card {card!r} on the table is no card; accepted: bit numbers 16 * suit + rank")
        if everything >> card & 1 or card in cards[:n]:
            raise BadInput(f"card {format_card(card)!r} on the table is held by a hand or lies there twice")
    sizes = [int(hand).bit_count() for hand in held]
    for n in range(len(cards)):
        sizes[(leader + n) & 3] += 1
    if len(set(sizes)) != 1 or sizes[0] > 13:
        words = ", ".join(f"{SEATS[seat]} {int(hand).bit_count()}" for seat, hand in enumerate(held))
        raise BadInput(
            f"hands are uneven: {words} with {len(cards)} on the table, led by {SEATS[leader]}; "
            "accepted: equal hands of at most 13, one card less for each seat that has played"
        )
    if cards:
        suit = cards[0] >> 4
        for n, card in enumerate(cards):
            seat = (leader + n) & 3
            if card >> 4 != suit and int(held[seat]) >> (16 * suit) & 0x1FFF:
                raise BadInput(f"{SEATS[seat]} played {format_card(card)!r} though he holds the suit led (E13)")
    return cards


def check_counts(held: np.ndarray[Any, np.dtype[np.uint64]], tricks: tuple[int, int], points: tuple[int, int]) -> None:
    """Refuse tricks and points that cannot have been won before."""
    left = max(int(hand).bit_count() for hand in held)
    if len(tricks) != 2 or min(tricks) < 0 or sum(tricks) + left > 13:
        raise BadInput(f"tricks won before are {tricks!r} with {left} cards a hand left; accepted: two counts, at most 13 in all")
    if len(points) != 2:
        raise BadInput(f"points won before are {points!r}; accepted: the attackers' and the defenders'")
