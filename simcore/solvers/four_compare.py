"""Comparisons of cards in a search: which are alive at each trick, and what a result rests on (see ``four_table``).

They also prune: when a card has been tried and the answer would rest on the same with another card of the suit in its place, the
other would fare the same (``take_over``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK, upward
from simcore.solvers.four_state import (
    ALIVE,
    CANON,
    CANON_LIVE,
    CARD,
    COUNTED,
    FIRST,
    FOUND,
    LIVE,
    LOOSE,
    PAIRS,
    POINTS,
    RELEVANT,
    RESULT,
    SPECIAL,
    TRIED,
    U_ROW,
    U_ROWS,
)

__all__ = ["next_row", "pin", "shape_of", "start_rows", "take_over"]


@inlined
def shape_of(u: Any) -> U64:
    """Return the shape: 16 counts of four bits, seat by seat, suit by suit."""
    shape = ZERO
    for seat in range(4):
        for suit in range(4):
            count = popcount((u[seat] >> np.uint64(16 * suit)) & np.uint64(0x1FFF))
            shape |= np.uint64(count) << np.uint64(16 * seat + 4 * suit)
    return shape


@inlined
def start_rows(u: Any, v: Any) -> None:
    """Write what the first trick's row needs to know of the live cards."""
    b = U_ROWS
    live = u[0] | u[1] | u[2] | u[3]
    if v[FIRST] > 0:
        live |= u[U_ROWS + U_ROW * (v[FIRST] - 1) + TRIED]
    canon = ZERO
    for suit in range(4):
        pairs = ZERO
        dead = ZERO
        for rank in range(13):
            card = 16 * suit + rank
            if live & (ONE << np.uint64(card)) != ZERO:
                pairs |= u[PAIRS + card]
                canon |= u[CANON + card]
            else:
                dead |= u[PAIRS + card]
        u[b + ALIVE + suit] = pairs & ~dead
    u[b + CANON_LIVE] = canon


@inlined
def next_row(u: Any, b: I64) -> None:
    """Write what a trick's row needs to know of the live cards, from the row of the trick before."""
    before = b - 4 * U_ROW
    canon = u[before + CANON_LIVE]
    for suit in range(4):
        u[b + ALIVE + suit] = u[before + ALIVE + suit]
    for n in range(4):
        card = ctz(u[before + n * U_ROW + CARD])
        u[b + ALIVE + (card >> 4)] &= ~u[PAIRS + card]
        canon &= ~u[CANON + card]
    u[b + CANON_LIVE] = canon


@inlined
def _pairs_of(u: Any, cards: U64) -> U64:
    """Return all comparisons of some cards of a suit."""
    pairs = ZERO
    rest = cards
    while rest != ZERO:
        pairs |= u[PAIRS + ctz(rest)]
        rest &= rest - ONE
    return pairs


@inlined
def pin(u: Any, b: I64, cards: U64, others: U64) -> None:
    """Make the result rest on how some live cards, and those above them in their suits, compare with ``others``."""
    upper = upward(cards) & u[b + LIVE]
    for suit in range(4):
        lane = LANE_MASK << np.uint64(16 * suit)
        if upper & lane == ZERO:
            continue
        u[RESULT + suit] |= _pairs_of(u, upper & lane) & _pairs_of(u, others & u[b + LIVE] & lane) & u[b + ALIVE + suit]


@inlined
def take_over(u: Any, v: Any, b: I64, seat: I64, card: U64, counted: U64) -> None:
    """Take over what a card's result rests on, and strike the seat's other cards of the suit that would fare the same.

    Another card fares the same if everything holds with the two cards exchanged: no comparison that the result rests on comes out
    otherwise, and neither brings points that the other does not.  The node then rests on the exchanged comparisons too.
    """
    suit = ctz(card) >> 4
    lane = LANE_MASK << np.uint64(16 * suit)
    result = u[RESULT + suit]
    todo = u[b + RELEVANT] & lane & ~card
    total = result
    marked = counted
    if todo != ZERO:
        others = u[b + LIVE] & lane & ~u[seat]
        told = counted | (u[SPECIAL] & ~u[LOOSE])
        mine = u[PAIRS + ctz(card)]
        worth = v[POINTS + ctz(card)]
        while todo != ZERO:
            top = highest_bit(todo)
            todo ^= top
            run = top
            theirs = u[PAIRS + ctz(top)]
            same = v[POINTS + ctz(top)] == worth
            while todo != ZERO:
                below = highest_bit(todo)
                if others & (top - ONE) & ~(below - ONE) != ZERO or v[POINTS + ctz(below)] != v[POINTS + ctz(top)]:
                    break
                run |= below
                theirs |= u[PAIRS + ctz(below)]
                todo ^= below
            if not same and (run | card) & told != ZERO:
                continue
            between = others & (top - ONE) & ~(card - ONE) if top > card else others & (card - ONE) & ~(top - ONE)
            apart = ZERO
            while between != ZERO:
                apart |= u[PAIRS + ctz(between)]
                between &= between - ONE
            if result & apart & (mine | theirs) != ZERO:
                continue
            u[b + RELEVANT] &= ~run
            while run != ZERO:
                place = ctz(run)
                bit = run & (ZERO - run)
                run ^= bit
                yours = u[PAIRS + place]
                if result & (mine | yours) != ZERO:
                    rest = others
                    while rest != ZERO:
                        pairs = u[PAIRS + ctz(rest)]
                        rest &= rest - ONE
                        if result & mine & pairs != ZERO:
                            total |= yours & pairs
                        if result & yours & pairs != ZERO:
                            total |= mine & pairs
                if same:
                    if card & counted != ZERO:
                        marked |= bit
                    if bit & counted != ZERO:
                        marked |= card
    for other in range(4):
        u[b + FOUND + other] |= u[RESULT + other]
    u[b + FOUND + suit] |= total
    u[b + COUNTED] |= marked
