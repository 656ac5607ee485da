"""A plain solver of endings: memory of exact positions, no bounds, no patterns; the middle way between naive.py and the solver.

Cards are (suit, rank) pairs; a position is who holds what, who leads, and the tricks so far where a bonus hangs on them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import naive


def margin(
    hands: Mapping[str, Sequence[str]], contract: dict[str, Any], attackers: Sequence[str], leader: str, low_trump: str = "beats"
) -> int:
    """Attackers' minus defenders' points from the start of a trick on."""
    worth = {card: contract["suits"].get(card[0], 0) + contract["cards"].get(card, 0) for card in naive.PACK}
    most, pays = contract["most"], contract["trick"]
    seats = naive.SEATS
    memory: dict[Any, int] = {}

    def at_trick(held: tuple[frozenset[str], ...], lead: int, won: int, lost: int) -> int:
        if not held[0]:
            return most * ((won > lost) - (won < lost))
        key = (held, lead, (won, lost) if most else None)
        if key not in memory:
            memory[key] = in_trick(held, lead, [], won, lost)
        return memory[key]

    def in_trick(held: tuple[frozenset[str], ...], lead: int, cards: list[str], won: int, lost: int) -> int:
        if len(cards) == 4:
            taker = (lead + naive.trick_winner(cards, contract["trump"], contract["low"], low_trump)) % 4
            gain = pays + sum(worth[card] for card in cards)
            if seats[taker] in attackers:
                return gain + at_trick(held, taker, won + 1, lost)
            return -gain + at_trick(held, taker, won, lost + 1)
        seat = (lead + len(cards)) % 4
        values = []
        for card in naive.legal_plays(held[seat], cards[0][0] if cards else None):
            after = tuple(hand - {card} if n == seat else hand for n, hand in enumerate(held))
            values.append(in_trick(after, lead, [*cards, card], won, lost))
        return max(values) if seats[seat] in attackers else min(values)

    return at_trick(tuple(frozenset(hands[seat]) for seat in seats), seats.index(leader), 0, 0)
