"""The order in which cards are tried where tricks are not all that pays: each card gets a score, the best comes first.

What a trick is going to be worth to its taker is estimated from the cards in it and the average of the suit led for those who
still have to follow; then the seat wants to take it or to be rid of it.  Amounts are in thirteenths of a point, so that the
average card of a suit is a whole number.  A lead counts first by how few replies it leaves the other side: that makes the tree
small, which proved to matter more (half the plies in ``spades-honours``).

Where a bonus for most tricks is open, whether a side wants the next trick depends on the tricks taken so far and on the question
(``wish_of``): with twelve points for seven tricks and two off for each, six are too few and too many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK
from simcore.solvers.four_extremes import bonus_of
from simcore.solvers.four_state import AVERAGE, MOST, PAIRING, POINTS, SCORES, TRICK, TRICKS, TRUMP

__all__ = ["order_points_lead", "order_points_reply", "wish_of", "wish_of_set"]

_TOP = np.uint64(1 << 63)
_LANE_START = np.uint64(48)
_REPLIES, _VOID = np.int64(300), np.int64(10)  # by trial: they outweigh what a trick is worth


@inlined
def _insert(v: Any, at: I64, end: I64, card: I64, score: I64) -> I64:
    place = end
    while place > at and v[SCORES + place - at - 1] < score:
        v[place] = v[place - 1]
        v[SCORES + place - at] = v[SCORES + place - at - 1]
        place -= 1
    v[place] = card
    v[SCORES + place - at] = score
    return end + 1


@inlined
def wish_of(v: Any, won: I64, left: I64, needed: I64) -> I64:
    """Return what a trick is worth, to both sides alike: the points of a trick, their sign as the open bonus makes it.

    ``needed``: the points that side 0 wants from here on.
    """
    trick, most, total = v[TRICK], v[MOST], v[TRICKS]
    if most == 0 or 2 * won > total or 2 * (won + left) < total:
        return trick
    wanted = ZERO
    for taken in range(left + 1):
        if trick * taken + bonus_of(v, won + taken) >= needed:
            wanted |= ONE << np.uint64(taken)
    return wish_of_set(v, left, wanted)


@inlined
def wish_of_set(v: Any, left: I64, wanted: U64) -> I64:
    """Return what a trick is worth where side 0 wants to take one of the numbers of tricks in ``wanted``, a bit each.

    Counts the ways to share the other ``left - 1`` tricks in which it does so if it takes this one, and if not.
    """
    balance = np.int64(0)
    ways = np.int64(1)
    before = np.int64(0)
    for taken in range(left + 1):
        enough = np.int64((wanted >> np.uint64(taken)) & ONE)
        if taken != 0:
            balance += ways * (enough - before)
            ways = ways * (left - taken) // taken
        before = enough
    if balance == 0:
        return v[TRICK]
    return abs(v[TRICK]) if balance > 0 else -abs(v[TRICK])


@inlined
def order_points_lead(u: Any, v: Any, at: I64, seat: I64, choices: U64, wish: I64) -> I64:
    """List the leads of a seat by score (``wish``: what a trick is worth); return the place behind the list."""
    trump = u[TRUMP]
    mate = (seat ^ v[PAIRING]) & 3
    first = (seat + 1) & 3
    if first == mate:
        first = (seat + 2) & 3
    second = (first ^ v[PAIRING]) & 3
    end = at
    rest = choices
    while rest != ZERO:
        bit = rest & (ZERO - rest)
        rest ^= bit
        card = ctz(bit)
        suit = card >> 4
        rank = card & 15
        lane = LANE_MASK << np.uint64(16 * suit)
        one, two, friend = u[first] & lane, u[second] & lane, u[mate] & lane
        average = v[AVERAGE + suit]
        worth = 13 * (wish + v[POINTS + card])
        if one != ZERO:
            worth += average
        if two != ZERO:
            worth += average
        if friend != ZERO:
            worth += average
        theirs = one | two
        ruffed = lane != trump and ((one == ZERO and u[first] & trump != ZERO) or (two == ZERO and u[second] & trump != ZERO))
        if worth >= 0:
            if ruffed:
                score = -worth - rank
            elif theirs == ZERO or bit > highest_bit(theirs):
                score = 2000 + worth * 4 + rank
            elif friend != ZERO and highest_bit(friend) > highest_bit(theirs):
                score = 1500 + worth * 4 - rank
            else:
                score = 200 - worth * 4 - rank
        elif ruffed:
            score = 1000 - worth * 4
        elif one != ZERO and two != ZERO and bit < (one & (ZERO - one)) and bit < (two & (ZERO - two)):
            score = 2000 - worth * 4 + rank
        elif theirs == ZERO or bit > highest_bit(theirs):
            score = -1000 + worth * 4 + rank
        elif bit < highest_bit(theirs):
            score = 1000 - 40 * rank
        else:
            score = -rank
        # Of leads that settle the question, one to which the other side has few replies makes the smaller tree.
        replies = popcount(one) if one != ZERO else popcount(u[first]) + _VOID
        replies += popcount(two) if two != ZERO else popcount(u[second]) + _VOID
        end = _insert(v, at, end, card, score - _REPLIES * replies)
    return end


@inlined
def order_points_reply(
    u: Any,
    v: Any,
    at: I64,
    seat: I64,
    later: I64,
    choices: U64,
    led: U64,
    trick: U64,
    winning: U64,
    ours: bool,
    wish: I64,
) -> I64:
    """List the replies of a seat by score; ``trick`` holds the cards played, ``later`` seats (0 to 2) still follow."""
    trump = u[TRUMP]
    mate = (seat ^ v[PAIRING]) & 3
    average = v[AVERAGE + (ctz(led) >> 4)]
    base = 13 * wish
    rest = trick
    while rest != ZERO:
        base += 13 * v[POINTS + ctz(rest)]
        rest &= rest - ONE
    theirs = ZERO  # the best and the worst that an opponent may still play, the best of partner
    lowest = _TOP
    mates = ZERO
    for n in range(1, later + 1):
        other = (seat + n) & 3
        held = u[other] & led
        if held != ZERO:
            base += average
            best, least = highest_bit(held), held & (ZERO - held)
        else:
            best = _TOP if u[other] & trump != ZERO and led != trump else ZERO
            least = ZERO
        if other == mate:
            mates = best
        else:
            theirs = max(theirs, best)
            lowest = min(lowest, least) if lowest != _TOP else least
    if lowest == _TOP:
        lowest = ZERO
    end = at
    rest = choices
    while rest != ZERO:
        bit = rest & (ZERO - rest)
        rest ^= bit
        card = ctz(bit)
        rank = card & 15
        points = 13 * v[POINTS + card]
        worth = base + points
        follows = bit & led != ZERO
        ruff = (not follows) and bit & trump != ZERO
        if follows:
            wins = winning & led != ZERO and bit > winning
        else:
            wins = ruff and (winning & trump == ZERO or bit > winning)
        if wins:
            beaten = theirs > bit if follows else False
        else:
            beaten = theirs > winning if winning & led != ZERO else False
        if worth >= 0:
            if wins and not beaten:
                score = 2000 + points - rank
                if ours and not (theirs > winning):
                    score -= 300
            elif ours and not wins and not beaten:
                score = 2000 + 2 * points - rank
            elif mates > winning and mates > theirs:
                score = 1500 + points - rank
            elif wins:
                score = 500 + 4 * rank - points
            else:
                score = -points - rank
        elif wins:
            if later > 0 and bit < lowest:
                score = 1500 + 10 * rank - points
            elif later == 0:
                score = 10 * rank + 2 * points
            else:
                score = -10 * rank - points
        elif not ours:
            score = 2000 - points * 2 + 10 * rank
        elif later == 0:
            score = 1000 + points + 10 * rank
        else:
            score = 1000 - points + 10 * rank
        if not follows and not ruff:
            # a discard: rid of high cards where taking the suit costs, of low ones where it pays
            own = v[AVERAGE + (card >> 4)] * 4 + 13 * wish
            score += -20 * rank if own > 0 else (20 * rank if own < 0 else -rank)
        end = _insert(v, at, end, card, score)
    return end
