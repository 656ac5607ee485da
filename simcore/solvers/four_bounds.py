"""What a side gets for certain at the start of a trick, without a search (contracts that pay for tricks alone).

Each function returns a number of tricks and the mask of the cards whose ranks the claim rests on (rank winners;
``four_compare.pin`` takes everything above the lowest of them in its suit).  All claims are proved, not guessed:

*The side on lead.*  The leader cashes the run of top cards that he alone holds in each suit, then crosses to his partner in a
suit where the run continues in partner's hand, and partner cashes his runs.  Partner throws losers meanwhile; if he has not
enough of them, all tricks are won anyway, so the sum may be cut at the number of tricks left.  With a trump suit a run counts
only for as many rounds as every opponent who holds trumps must follow, unless the leader's own run in trumps exhausts theirs.

*The other side.*  The run of top trumps held by one side takes as many tricks as the longer of the two holdings allows.  At
no-trump, where the other side holds the top of every suit the leader can lead, it takes one trick, or one in each of these
suits if one hand holds them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK
from simcore.solvers.four_state import PAIRING, TRUMP

__all__ = ["tricks_of_leaders", "tricks_of_others"]


@inlined
def _run(mine: U64, others: U64) -> U64:
    """Return the cards of ``mine`` (one suit) above every card of ``others``."""
    if others == ZERO:
        return mine
    top = highest_bit(others)
    return mine & ~(top | (top - ONE))


@inlined
def _lowest_kept(cards: U64, count: I64) -> U64:
    """Return the lowest of the ``count`` highest of ``cards`` (at least one)."""
    rest = cards
    for _ in range(popcount(cards) - count):
        rest &= rest - ONE
    return rest & (ZERO - rest)


@inlined
def tricks_of_leaders(u: Any, v: Any, seat: I64, left: I64, needed: I64) -> tuple[I64, U64]:
    """Return how many tricks the side on lead takes at least, ``left`` tricks to be played, and the rank winners."""
    mate = (seat ^ v[PAIRING]) & 3
    first = (seat + 1) & 3
    if first == mate:
        first = (seat + 2) & 3
    second = (first ^ v[PAIRING]) & 3
    hand, partner, one, two = u[seat], u[mate], u[first], u[second]
    trump = u[TRUMP]
    own = np.int64(0)
    mates = np.int64(0)
    crossing = False
    own_ranks = ZERO
    mate_ranks = ZERO
    drawn = np.int64(0)
    ruffs_one = False
    ruffs_two = False
    if trump != ZERO:
        mine, theirs, e1, e2 = hand & trump, partner & trump, one & trump, two & trump
        most = max(popcount(e1), popcount(e2))
        run = _run(mine, theirs | e1 | e2)
        count = popcount(run)
        if count != 0:
            if count >= most and count >= popcount(theirs):
                # All others are out of trumps by then: every trump I hold is a trick.
                if count > max(most, popcount(theirs)):
                    count = max(most, popcount(theirs))
                if count != 0:
                    own_ranks |= _lowest_kept(run, count)
                count = popcount(mine)
                most = 0
            else:
                own_ranks |= run & (ZERO - run)
                if count >= most:
                    most = 0
        own = count
        drawn = count
        ruffs_one = most != 0 and e1 != ZERO
        ruffs_two = most != 0 and e2 != ZERO
        if count < popcount(mine) and popcount(theirs) > count:
            run = _run(theirs, (mine & ~run) | e1 | e2)
            count_mate = min(popcount(run), popcount(theirs) - count)
            if count_mate > 0:
                crossing = True
                mates += count_mate
                mate_ranks |= _lowest_kept(run, count_mate)
    # A player whose side cards are used up must ruff his partner's winner and so take the lead: count no further than that.
    cap = left - popcount(partner & trump) + min(drawn, popcount(partner & trump))
    for suit in range(4):
        if min(own, cap) >= needed:
            return min(own, cap), own_ranks
        lane = LANE_MASK << np.uint64(16 * suit)
        if lane == trump:
            continue
        mine, theirs, e1, e2 = hand & lane, partner & lane, one & lane, two & lane
        if mine == ZERO and theirs == ZERO:
            continue
        rounds = np.int64(13)
        if ruffs_one:
            rounds = popcount(e1)
        if ruffs_two:
            rounds = min(rounds, popcount(e2))
        if rounds == 0:
            continue
        longest = max(popcount(e1), popcount(e2))
        run = _run(mine, e1 | e2)
        run_mate = _run(theirs, e1 | e2)
        count = popcount(run)
        count_mate = popcount(run_mate)
        if count != 0 and count_mate != 0 and count + count_mate <= popcount(theirs) and rounds >= count + count_mate:
            # Partner has a loser for each winner of mine; then, mine gone, his are the top.
            own += count
            own_ranks |= run & (ZERO - run)
            if popcount(mine) > count:
                crossing = True
            mates += count_mate
            mate_ranks |= run_mate & (ZERO - run_mate)
            continue
        run = _run(run, theirs)
        count = popcount(run)
        after = run
        if count != 0:
            length = max(longest, popcount(theirs))
            if count >= length:
                if length != 0:
                    own_ranks |= _lowest_kept(run, length)
                count = min(popcount(mine), rounds)
            else:
                count = min(count, rounds)
                own_ranks |= _lowest_kept(run, count)
        own += count
        if popcount(theirs) > count and rounds > count:
            run = _run(theirs, (mine & ~after) | e1 | e2)
            count_mate = popcount(run)
            if count_mate > 0:
                count_mate = min(count_mate, min(popcount(theirs), rounds) - count)
                if popcount(after) == count:
                    if popcount(mine) > count:
                        crossing = True
                    mates += count_mate
                    mate_ranks |= _lowest_kept(run, count_mate)
    own = min(own, cap)
    if crossing and mates != 0:
        both = min(own + mates, left - popcount(hand & trump) + drawn)
        if both > own:
            own = both
            own_ranks |= mate_ranks
    return own, own_ranks


@inlined
def tricks_of_others(u: Any, v: Any, seat: I64, live: U64) -> tuple[I64, U64, U64]:
    """Return how many tricks the side not on lead takes at least, the rank winners, and the cards that these must be above."""
    mate = (seat ^ v[PAIRING]) & 3
    first = (seat + 1) & 3
    if first == mate:
        first = (seat + 2) & 3
    second = (first ^ v[PAIRING]) & 3
    trump = u[TRUMP]
    if live & trump != ZERO:
        e1, e2 = u[first] & trump, u[second] & trump
        ours = (u[seat] | u[mate]) & trump
        run = _run(e1 | e2, ours)
        count = min(popcount(run), max(popcount(e1), popcount(e2)))
        if count == 0:
            return np.int64(0), ZERO, ZERO
        if ours == ZERO:
            return count, ZERO, ZERO
        return count, _lowest_kept(run, count), ours
    hand = u[seat]
    tops = ZERO
    for suit in range(4):
        lane = LANE_MASK << np.uint64(16 * suit)
        if hand & lane != ZERO:
            top = highest_bit(live & lane)
            if (hand | u[mate]) & top != ZERO:
                return np.int64(0), ZERO, ZERO
            tops |= top
    if tops & ~u[first] == ZERO or tops & ~u[second] == ZERO:
        return popcount(tops), tops, live
    return np.int64(1), tops, hand | u[mate]
