"""The order in which the solver tries cards: the sooner the refuting card, the smaller the tree.

A seat's choices come as a mask, one card for each run of equal cards (the highest).  They are written into the ply's list,
likely best first, by position in the trick: lead, follow, or ruff and discard.  Sides are a mask of seats, so partners may sit
anywhere; what counts is who still plays after this seat in the trick and for whom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, clz, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK
from simcore.solvers.four_state import PAIRING, TRUMP

__all__ = ["order_follow", "order_lead", "order_void"]

_TOP = np.uint64(1 << 63)
_LANE_START = np.uint64(48)


@inlined
def put_up(v: Any, at: I64, cards: U64) -> I64:
    """Append cards to a list, low bits first; return the place behind them."""
    rest = cards
    while rest != ZERO:
        v[at] = ctz(rest)
        at += 1
        rest &= rest - ONE
    return at


@inlined
def put_down(v: Any, at: I64, cards: U64) -> I64:
    """Append cards to a list, high bits first; return the place behind them."""
    rest = cards
    while rest != ZERO:
        bit = 63 - clz(rest)
        v[at] = bit
        at += 1
        rest ^= ONE << np.uint64(bit)
    return at


@inlined
def order_lead(u: Any, v: Any, at: I64, seat: I64, choices: U64, live: U64) -> I64:
    """List the leads of a seat; return the place behind the list."""
    trump = u[TRUMP]
    mate = (seat ^ v[PAIRING]) & 3
    before_mate = (mate + 3) & 3  # plays just before partner: the opponent a finesse goes through, if he is one
    first = (seat + 1) & 3
    if first == mate:
        first = (seat + 2) & 3
    second = (first ^ v[PAIRING]) & 3
    hand, partner = u[seat], u[mate]
    left, right = u[first], u[second]
    ruffs = ZERO
    good = ZERO
    high = ZERO
    plain = ZERO
    bad = ZERO
    trumps = ZERO
    for suit in range(4):
        lane = LANE_MASK << np.uint64(16 * suit)
        mine = choices & lane
        if mine == ZERO:
            continue
        both_ends = highest_bit(mine) | (mine & (ZERO - mine))
        if lane == trump:
            trumps |= both_ends
            continue
        l_suit, r_suit, p_suit = left & lane, right & lane, partner & lane
        if trump != ZERO and ((left & trump != ZERO and l_suit == ZERO) or (right & trump != ZERO and r_suit == ZERO)):
            continue
        rest = live & lane
        ace = highest_bit(rest)
        rest ^= ace
        king = highest_bit(rest) if rest != ZERO else ZERO
        rest ^= king
        queen = highest_bit(rest) if rest != ZERO else ZERO
        rest ^= queen
        jack = highest_bit(rest) if rest != ZERO else ZERO
        rest ^= jack
        ten = highest_bit(rest) if rest != ZERO else ZERO
        ours = (hand & lane) | p_suit
        if before_mate != seat:
            through = u[before_mate] & lane
            if p_suit & (p_suit - ONE) != ZERO and through & (through - ONE) != ZERO:
                queen_jack, jack_ten = queen | jack, jack | ten
                if (
                    (p_suit & king != ZERO and through & ace != ZERO)
                    or (
                        p_suit & ace != ZERO
                        and through & king != ZERO
                        and (p_suit & queen != ZERO or ours & queen_jack == queen_jack)
                    )
                    or (
                        p_suit & king != ZERO and through & queen != ZERO and (p_suit & jack != ZERO or ours & jack_ten == jack_ten)
                    )
                ):
                    good |= both_ends
                    continue
        if trump != ZERO:
            own = hand & lane
            behind = u[(seat + 3) & 3] & lane
            if (
                own & (own - ONE) != ZERO
                and behind & (behind - ONE) != ZERO
                and (
                    (own & ace != ZERO and behind & king != ZERO)
                    or (own & king != ZERO and behind & ace != ZERO and ours & queen == ZERO)
                )
            ):
                bad |= highest_bit(mine)
                continue
        if l_suit != ZERO and r_suit != ZERO and popcount(ours & (ace | king | queen)) >= 2:
            high |= both_ends
            continue
        if (
            trump != ZERO
            and p_suit == ZERO
            and l_suit != ZERO
            and r_suit != ZERO
            and partner & trump != ZERO
            and popcount(partner & trump) <= popcount(hand & trump)
            and mine & (ZERO - mine) != ace
        ):
            ruffs |= mine & (ZERO - mine)
            continue
        plain |= both_ends
    at = put_down(v, at, ruffs)
    at = put_down(v, at, good & ~ruffs)
    at = put_down(v, at, high)
    at = put_down(v, at, plain)
    at = put_down(v, at, bad)
    at = put_down(v, at, trumps)
    return put_down(v, at, choices & ~(ruffs | good | high | plain | bad | trumps))


@inlined
def order_follow(
    u: Any,
    v: Any,
    at: I64,
    seat: I64,
    later: I64,
    choices: U64,
    led: U64,
    winning: U64,
    ours: bool,
) -> I64:
    """List the cards of a seat that follows suit; ``later`` seats (0 to 2) play after it."""
    best = highest_bit(choices)
    if winning & led == ZERO or best < winning:
        return put_up(v, at, choices)
    # The highest card that each side may still play to this trick; a possible ruff beats everything.
    theirs = ZERO
    mates = ZERO
    for n in range(1, later + 1):
        other = (seat + n) & 3
        held = u[other] & led
        card = highest_bit(held) if held != ZERO else ZERO
        if other == seat ^ v[PAIRING]:
            mates = card
        elif card > theirs:
            theirs = card
    if ours and (theirs < winning or theirs > best):
        # Partner wins anyway, or the one card that beats partner's beats mine too.
        if theirs < winning or theirs == _TOP:
            return put_up(v, at, choices)
        between = u[(seat + 1) & 3] & led & ~(winning - ONE) & (best - ONE)
        if between == ZERO:
            return put_up(v, at, choices)
    if mates > winning and mates > theirs:
        return put_up(v, at, choices)
    higher = choices & ~(winning | (winning - ONE))
    sure = higher & ~(theirs | (theirs - ONE)) if theirs != ZERO and theirs != _TOP else higher
    if theirs == _TOP:
        return put_up(v, at, choices)
    if sure != ZERO:
        at = put_up(v, at, sure)
        return put_up(v, at, choices & ~sure)
    at = put_down(v, at, higher)
    return put_up(v, at, choices & ~higher)


@inlined
def order_void(
    u: Any,
    v: Any,
    at: I64,
    seat: I64,
    later: I64,
    choices: U64,
    led: U64,
    winning: U64,
    ours: bool,
) -> I64:
    """List the ruffs and discards of a seat void in the suit led; ``later`` seats (0 to 2) play after it."""
    trump = u[TRUMP]
    rest = choices
    mine = choices & trump
    if mine != ZERO:
        safe = ours
        for n in range(1, later + 1):
            other = (seat + n) & 3
            if other != seat ^ v[PAIRING]:
                held = u[other] & led
                if held != ZERO:
                    if winning & led != ZERO and highest_bit(held) > winning:
                        safe = False
                elif u[other] & trump != ZERO:
                    safe = False
        if not safe:
            if winning & trump != ZERO:
                if not ours:
                    higher = mine & ~(winning | (winning - ONE))
                    at = put_up(v, at, higher)
                    rest &= ~higher
            else:
                over = False
                for n in range(1, later + 1):
                    other = (seat + n) & 3
                    if other != seat ^ v[PAIRING] and u[other] & led == ZERO and u[other] & trump != ZERO:
                        over = True
                first = mine if over else mine & (ZERO - mine)
                at = put_up(v, at, first)
                rest &= ~first
    # One low card of each side suit, from the longest suit first; then the rest.
    side = rest & ~trump
    taken = ZERO
    while side != ZERO:
        longest = np.int64(-1)
        chosen = ZERO
        for suit in range(4):
            lane = LANE_MASK << np.uint64(16 * suit)
            held = side & lane
            if held != ZERO and popcount(u[seat] & lane) > longest:
                longest = popcount(u[seat] & lane)
                chosen = held
        low = chosen & (ZERO - chosen)
        v[at] = ctz(low)
        at += 1
        taken |= low
        side &= ~(LANE_MASK << (np.uint64(ctz(low)) & _LANE_START))
    return put_down(v, at, rest & ~taken)
