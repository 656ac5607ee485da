"""One question to the solver: does side 0 get at least this much?  A zero-window search with an explicit stack.

The loop below is an alpha-beta search with the window closed to a single question, so a node is settled as soon as one card
settles it.  Three moves make up the walk: *enter* a ply (at the start of a trick first try to answer without a search: counts,
table, sure tricks), *try* the next card, *leave* with a value and the mask of the rank winners it rests on.

Rank winners make the memory strong (see ``four_table``) and also prune: when a card has been tried and the answer did not rest
on any rank as low as its own, the lower cards of that suit would fare the same.

Values count for side 0 (the seats in ``v[SIDES]``), in points from the root on; side 1 gets the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK, downward, gather, lane_of, lanes_held, spread, suit_tops, upward
from simcore.solvers.four_bounds import tricks_of_leaders, tricks_of_others
from simcore.solvers.four_order import order_follow, order_lead, order_void
from simcore.solvers.four_order_points import order_points_lead, order_points_reply
from simcore.solvers.four_state import (
    BEST,
    BOTTOMS,
    CARD,
    COMMON,
    COUNTED,
    END,
    ENTERED,
    EXTRA,
    FIRST,
    FOUND,
    FOUND_LOW,
    GAIN,
    HIGH,
    HINT,
    HINT_SLOT,
    KEY,
    KIND,
    LEADER,
    LED,
    LIST,
    LIVE,
    LOOSE,
    LOW,
    MINUS,
    MIXED,
    MOST,
    NEXT,
    NODES,
    PAIRING,
    PLUS,
    POINTS,
    RELEVANT,
    REPS,
    SCORES,
    SEAT,
    SHAPE,
    SIDES,
    SPECIAL,
    START,
    STEP,
    TAKEN,
    TAKEN_TRICKS,
    TOPS,
    TRICK,
    TRICKS,
    TRICKS_ONLY,
    TRIED,
    TRUMP,
    U_ROW,
    U_ROWS,
    UNEVEN,
    V_ROW,
    V_ROWS,
    WINNER,
    WINNING,
    WON,
    WON_BEFORE,
)
from simcore.solvers.four_table import asked_cards, lower_bound, remember, search_table, upper_bound

__all__ = ["at_least"]

_SIXTY = np.uint64(0xFFF0FFF0FFF0FFF0)
_LANE_START = np.uint64(48)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xD6E8FEB86659FD93)
_M32 = np.uint64(32)
_TAG = np.uint64(0xFFFFFF00)


@njit
def shape_of(u: Any) -> U64:
    """Return the shape: 16 counts of four bits, seat by seat, suit by suit."""
    shape = ZERO
    for seat in range(4):
        for suit in range(4):
            count = popcount((u[seat] >> np.uint64(16 * suit)) & np.uint64(0x1FFF))
            shape |= np.uint64(count) << np.uint64(16 * seat + 4 * suit)
    return shape


@njit
def _extremes(u: Any, v: Any, live: U64, left: I64, won: I64) -> tuple[I64, I64, I64, I64]:
    """Return what side 0 can still get: least and most; least and most whichever cards of a suit are its loose special ones.

    The latter take a special card's common and extra points apart, so where they differ in sign (*uneven*) they are wider.  All are
    rounded to the steps in which values come.
    """
    low = min(v[TRICK], 0) * left
    high = max(v[TRICK], 0) * left
    total = v[TRICKS]
    if v[MOST] != 0 and left != 0 and 2 * won <= total and 2 * (won + left) >= total:
        # the bonus is still open: all tricks or none need not be an extreme
        for taken in range(left + 1):
            ahead = 2 * (won + taken) - total
            value = v[TRICK] * taken + (v[MOST] if ahead > 0 else (v[MOST] >> 1 if ahead == 0 else 0))
            low = value if taken == 0 else min(low, value)
            high = value if taken == 0 else max(high, value)
    keyed = live & u[SPECIAL] & ~u[LOOSE]
    rest = keyed
    while rest != ZERO:
        worth = v[POINTS + ctz(rest)]
        low += min(worth, 0)
        high += max(worth, 0)
        rest &= rest - ONE
    wide_low = low
    wide_high = high
    for suit in range(4):
        common, extra = v[COMMON + suit], v[EXTRA + suit]
        if common == 0 and extra == 0:
            continue
        lane = live & (LANE_MASK << np.uint64(16 * suit)) & ~keyed
        count, special = popcount(lane), popcount(lane & u[LOOSE])
        low += (count - special) * min(common, 0) + special * min(common + extra, 0)
        high += (count - special) * max(common, 0) + special * max(common + extra, 0)
        wide_low += count * min(common, 0) + special * min(extra, 0)
        wide_high += count * max(common, 0) + special * max(extra, 0)
    step = v[STEP]
    return -(-low // step) * step, high // step * step, -(-wide_low // step) * step, wide_high // step * step


@njit
def _counted(u: Any, trick: U64, ours: I64, lower: bool) -> U64:
    """Return the loose special cards of a trick that a bound counts on: what they bring is not the worst for the bound."""
    return trick & (u[PLUS] if (ours != 0) == lower else u[MINUS])


@njit
def _touching(held: U64, live: U64, card: U64, told: U64) -> U64:
    """Return the run of touching cards of a holding around ``card``, ended by cards that are told from others."""
    run = card
    rest = live & (card - ONE)
    while rest != ZERO:
        below = highest_bit(rest)
        if below & held & ~told == ZERO:
            break
        run |= below
        rest ^= below
    rest = live & ~(card | (card - ONE))
    while rest != ZERO:
        above = rest & (ZERO - rest)
        if above & held & ~told == ZERO:
            break
        run |= above
        rest ^= above
    return run


@njit
def owner_of(u: Any, bit: U64) -> I64:
    """Return the seat that holds a card."""
    for seat in range(3):
        if u[seat] & bit != ZERO:
            return np.int64(seat)
    return np.int64(3)


@njit
def at_least(u: Any, v: Any, keys: Any, patterns: Any, marks: Any, used: Any, hints: Any, target: I64) -> I64:
    """Answer "does side 0 get ``target`` or more?" with a bound: a value >= target is a lower, a smaller one an upper bound.

    The root stands in row ``v[FIRST]`` (0 to 3 cards already on the table in the rows before).
    """
    ply = v[FIRST]
    scoring = v[KIND] != TRICKS_ONLY
    trump = u[TRUMP]
    special = u[SPECIAL]
    last_hint = np.uint64(hints.size - 1)
    value = np.int64(0)
    found = ZERO
    found_low = ZERO
    counted = ZERO
    entering = True
    nodes = np.int64(0)
    while True:
        b = U_ROWS + U_ROW * ply
        c = V_ROWS + V_ROW * ply
        if entering:
            # ---------------------------------------------------------------- enter a ply
            nodes += 1
            place = ply & 3
            settled = False
            if place == 0:
                if ply == v[FIRST]:
                    seat, gain, won = v[LEADER], v[START], v[WON]
                    u[b + SHAPE] = shape_of(u)
                else:
                    seat, gain, won = v[c - V_ROW + WINNER], v[c - V_ROW + TAKEN], v[c - V_ROW + TAKEN_TRICKS]
                v[c + SEAT] = seat
                v[c + GAIN] = gain
                v[c + WON_BEFORE] = won
                v[c + ENTERED] = nodes
                live = u[0] | u[1] | u[2] | u[3]
                left = popcount(u[seat])
                found = ZERO
                found_low = ZERO
                counted = ZERO
                if scoring:
                    low_end, high_end, wide_low, wide_high = _extremes(u, v, live, left, won)
                else:
                    low_end, high_end = np.int64(0), left
                    wide_low, wide_high = low_end, high_end
                if gain + wide_low >= target or left == 0:
                    value = gain + wide_low
                    settled = True
                elif gain + wide_high < target:
                    value = gain + wide_high
                    settled = True
                elif gain + low_end >= target:
                    value = gain + low_end
                    counted = live & u[UNEVEN]
                    settled = True
                elif gain + high_end < target:
                    value = gain + high_end
                    counted = live & u[UNEVEN]
                    settled = True
                elif left == 1:
                    # the last trick plays itself
                    winning = u[seat]
                    winner = seat
                    for n in range(1, 4):
                        other = (seat + n) & 3
                        card = u[other]
                        if (card > winning) if (card & lane_of(winning)) != ZERO else (card & trump) != ZERO:
                            winning = card
                            winner = other
                    if popcount(live & lane_of(winning)) > 1:
                        found = winning
                    ours = (v[SIDES] >> winner) & 1
                    if scoring:
                        value = gain
                        if ours != 0:
                            value += v[TRICK]
                            rest = live
                            while rest != ZERO:
                                value += v[POINTS + ctz(rest)]
                                rest &= rest - ONE
                        if v[MOST] != 0 and 2 * won <= v[TRICKS] and 2 * (won + 1) >= v[TRICKS]:
                            final = won + ours
                            if 2 * final > v[TRICKS]:
                                value += v[MOST]
                            elif 2 * final == v[TRICKS]:
                                value += v[MOST] >> 1
                        counted = _counted(u, live, ours, value >= target)
                    else:
                        value = gain + ours
                    settled = True
                else:
                    low = gather(u[1] | u[3], live)
                    high = gather(u[2] | u[3], live)
                    key = (u[b + SHAPE] & _SIXTY) | np.uint64(left) | (np.uint64(seat + 1) << np.uint64(16))
                    if scoring:
                        if v[MOST] != 0 and 2 * won <= v[TRICKS] and 2 * (won + left) >= v[TRICKS]:
                            need = np.uint64(v[TRICKS] - 2 * won + 32)
                            key |= (need & np.uint64(15)) << np.uint64(32) | (need >> np.uint64(4)) << np.uint64(48)
                        rest = live & special & ~u[LOOSE]
                        if rest != ZERO:
                            tag = ZERO
                            while rest != ZERO:
                                bit = rest & (ZERO - rest)
                                where = np.uint64(owner_of(u, bit)) + (np.uint64(ctz(bit) >> 4) << np.uint64(2))
                                if v[MIXED] != 0:
                                    where += np.uint64(popcount((bit - ONE) & live)) << np.uint64(4)
                                part = (np.uint64(v[POINTS + ctz(bit)] * 1024) + where + ONE) * _MIX
                                part = (part ^ (part >> np.uint64(29))) * _MIX2
                                tag += part ^ (part >> _M32)
                                rest ^= bit
                            key ^= tag * _MIX2
                    u[b + LOW], u[b + HIGH], u[b + KEY], u[b + LIVE] = low, high, key, live
                    needed = target - gain
                    at = search_table(u, keys, patterns, marks, key, low, high, live, needed - wide_low, needed - wide_high)
                    if at != 0:
                        value = gain + wide_low + lower_bound(patterns, at)
                        if value < target:
                            value = gain + wide_high + upper_bound(patterns, at)
                        found = spread(patterns[at, 2], live)
                        open_cards = live & ~found
                        found_low = found & ~upward(open_cards) & lanes_held(open_cards)
                        found &= ~downward(open_cards)
                        if special != ZERO:
                            counted = asked_cards(u, marks, at, live)
                        settled = True
                    elif not scoring:
                        ours = (v[SIDES] >> seat) & 1
                        needed = target - gain if ours != 0 else gain + left - target + 1
                        count, found = tricks_of_leaders(u, v, seat, left, needed)
                        if ours != 0:
                            value = gain + count
                            settled = value >= target
                        else:
                            value = gain + left - count
                            settled = value < target
                        if not settled:
                            count, found = tricks_of_others(u, v, seat, live)
                            if ours == 0:
                                value = gain + count
                                settled = value >= target
                            else:
                                value = gain + left - count
                                settled = value < target
            else:
                seat = (v[c - V_ROW + SEAT] + 1) & 3
                v[c + SEAT] = seat
                u[b + LIVE], u[b + TOPS] = u[b - U_ROW + LIVE], u[b - U_ROW + TOPS]
                u[b + LED] = u[b - U_ROW + LED]
                v[c + GAIN], v[c + WON_BEFORE] = v[c - V_ROW + GAIN], v[c - V_ROW + WON_BEFORE]
            if settled:
                if ply == v[FIRST]:
                    v[NODES] += nodes
                    return value
                ply -= 1
                entering = False
                continue
            # ---------------------------------------------------------------- choices
            if place == 0:
                u[b + TOPS] = suit_tops(u[b + LIVE])
            hand = u[seat]
            live = u[b + LIVE]
            choices = hand
            if place != 0 and hand & u[b + LED] != ZERO:
                choices = hand & u[b + LED]
            maximising = ((v[SIDES] >> seat) & 1) != 0
            v[c + BEST] = np.int64(-(1 << 40)) if maximising else np.int64(1 << 40)
            u[b + FOUND] = ZERO
            u[b + FOUND_LOW] = ZERO
            u[b + COUNTED] = ZERO
            u[b + RELEVANT] = choices
            v[c + NEXT] = LIST
            u[b + REPS] = ZERO
            if choices & (choices - ONE) == ZERO:
                v[c + LIST] = ctz(choices)
                v[c + END] = LIST + 1
                v[c + HINT_SLOT] = -1
                u[b + BOTTOMS] = choices
            else:
                packed = gather(choices, live)
                # joined: the next higher live card of the suit is mine too (and neither scores by itself)
                joined = packed & (packed >> ONE) & ~u[b + TOPS]
                if special != ZERO:
                    own = gather(special, live)
                    joined &= ~(own | (own >> ONE))
                reps = spread(packed & ~joined, live)
                u[b + BOTTOMS] = spread(packed & ~(joined << ONE), live)
                if place == 0:
                    index = hand
                elif hand & u[b + LED] != ZERO:
                    index = (live & u[b + LED]) ^ (u[b - U_ROW + WINNING] * _MIX2)
                else:
                    index = hand ^ (u[b - U_ROW + WINNING] * _MIX2)
                index = (index + np.uint64(4 * place + seat + 1) * _MIX2) * _MIX
                index ^= index >> _M32
                index *= _MIX2
                slot = np.int64((index >> np.uint64(40)) & last_hint)
                mark = np.int64((index >> np.uint64(8)) & _TAG)
                v[c + HINT_SLOT] = slot
                v[c + HINT] = mark
                hint = np.int64(hints[slot])
                hinted = ZERO
                if (hint & ~255) == mark:
                    hint &= 255
                    bit = ONE << np.uint64(hint)
                    if choices & bit != ZERO:
                        # the highest of the run of equal cards that the remembered one is in now
                        hinted = reps & ~(bit - ONE)
                        hinted &= ZERO - hinted
                if hinted != ZERO:
                    v[c + LIST] = ctz(hinted)
                    v[c + END] = LIST + 1
                    u[b + REPS] = reps & ~hinted
                else:
                    u[b + REPS] = reps
                    v[c + END] = LIST
            entering = False
        else:
            # ---------------------------------------------------------------- leave: a card has got its value
            card = u[b + CARD]
            seat = v[c + SEAT]
            u[seat] |= card
            if ply & 3 == 3:
                winning = u[b + WINNING]
                lane = lane_of(winning)
                losers = u[b + TRIED] & lane & ~winning
                if losers != ZERO:
                    # Why this card won: it is known from the top down, or the best loser from the bottom up.
                    above = found & lane
                    below = found_low & lane
                    loser = highest_bit(losers)
                    known = above != ZERO and above & (ZERO - above) <= winning
                    if not known and below < loser:
                        found |= winning
                if special != ZERO:
                    counted |= _counted(u, u[b + TRIED], (v[SIDES] >> v[c + WINNER]) & 1, value >= target)
            maximising = ((v[SIDES] >> seat) & 1) != 0
            if (value >= target) if maximising else (value < target):
                slot = v[c + HINT_SLOT]
                if slot >= 0:
                    hints[slot] = np.uint32(v[c + HINT] | ctz(card))
                u[b + FOUND] = found
                u[b + FOUND_LOW] = found_low
                u[b + COUNTED] = counted
                v[c + BEST] = value
                v[c + NEXT] = v[c + END] = LIST
                u[b + REPS] = ZERO
            else:
                if maximising:
                    v[c + BEST] = max(v[c + BEST], value)
                else:
                    v[c + BEST] = min(v[c + BEST], value)
                lane = lane_of(card)
                told = counted | (special & ~u[LOOSE])  # special cards that this result tells from others
                ranks = found & lane
                lowest = ranks & (ZERO - ranks)
                low_ranks = found_low & lane
                bottom = u[b + BOTTOMS] & lane & (card | (card - ONE))
                bottom = highest_bit(bottom)
                if ranks != ZERO and lowest <= card:
                    found |= bottom
                    if special != ZERO and card & told == ZERO:
                        run = _touching(u[seat] & lane, u[b + LIVE] & lane, card, told)
                        if run & u[b + RELEVANT] & ~card != ZERO:
                            u[b + RELEVANT] &= ~run
                            found |= run & (ZERO - run)
                elif low_ranks >= bottom:
                    found_low |= card
                elif card & told == ZERO:
                    # No rank hung on this card: the cards of the suit about which nothing is known fare the same.
                    same = lane if ranks == ZERO else lane & (lowest - ONE)
                    if low_ranks != ZERO:
                        low_ranks = highest_bit(low_ranks)
                        same &= ~(low_ranks | (low_ranks - ONE))
                    u[b + RELEVANT] &= ~same | told
                u[b + FOUND] |= found
                u[b + FOUND_LOW] |= found_low
                u[b + COUNTED] |= counted
        # -------------------------------------------------------------------- try the next card
        chosen = ZERO
        while True:
            at = v[c + NEXT]
            if at < v[c + END]:
                v[c + NEXT] = at + 1
                bit = ONE << np.uint64(v[c + at])
                if bit & u[b + RELEVANT] != ZERO:
                    chosen = bit
                    break
            elif u[b + REPS] != ZERO:
                reps = u[b + REPS]
                u[b + REPS] = ZERO
                v[c + NEXT] = LIST
                seat = v[c + SEAT]
                place = ply & 3
                if scoring:
                    scores = v[SCORES : SCORES + 14]
                    if place == 0:
                        end = order_points_lead(u, v, scores, c + LIST, seat, reps)
                    else:
                        winner = v[c - V_ROW + WINNER]
                        ours = winner == (seat ^ v[PAIRING])
                        end = order_points_reply(
                            u,
                            v,
                            scores,
                            c + LIST,
                            seat,
                            3 - place,
                            reps,
                            u[b + LED],
                            u[b - U_ROW + TRIED],
                            u[b - U_ROW + WINNING],
                            ours,
                        )
                elif place == 0:
                    end = order_lead(u, v, c + LIST, seat, reps, u[b + LIVE])
                else:
                    winner = v[c - V_ROW + WINNER]
                    winning = u[b - U_ROW + WINNING]
                    ours = winner == (seat ^ v[PAIRING])
                    if u[seat] & u[b + LED] != ZERO:
                        end = order_follow(u, v, c + LIST, seat, 3 - place, reps, u[b + LED], winning, ours)
                    else:
                        end = order_void(u, v, c + LIST, seat, 3 - place, reps, u[b + LED], winning, ours)
                v[c + END] = end - c
            else:
                break
        if chosen == ZERO:
            # all cards tried: the node's value is known
            value = v[c + BEST]
            found = u[b + FOUND]
            found_low = u[b + FOUND_LOW]
            counted = u[b + COUNTED]
            if ply & 3 == 0:
                live = u[b + LIVE]
                gain = v[c + GAIN]
                left = popcount(u[v[c + SEAT]])
                # A bound is stored as what it is better than the widest extremes.
                wide_low, wide_high = np.int64(0), left
                if scoring:
                    _, _, wide_low, wide_high = _extremes(u, v, live, left, v[c + WON_BEFORE])
                lower, upper = np.int64(0), np.int64(0)
                if value >= target:
                    lower = value - gain - wide_low
                else:
                    upper = value - gain - wide_high
                mask = gather((upward(found) | downward(found_low)) & live, live)
                remember(
                    u,
                    keys,
                    patterns,
                    marks,
                    used,
                    u[b + KEY],
                    u[b + LOW],
                    u[b + HIGH],
                    mask,
                    counted,
                    live,
                    scoring,
                    lower,
                    upper,
                    nodes - v[c + ENTERED],
                )
            if ply == v[FIRST]:
                v[NODES] += nodes
                return value
            ply -= 1
            continue
        # -------------------------------------------------------------------- play it
        seat = v[c + SEAT]
        u[seat] ^= chosen
        u[b + CARD] = chosen
        place = ply & 3
        if place == 0:
            u[b + LED] = lane_of(chosen)
            u[b + WINNING] = chosen
            v[c + WINNER] = seat
            u[b + TRIED] = chosen
        else:
            winning = u[b - U_ROW + WINNING]
            if (chosen > winning) if (chosen & lane_of(winning)) != ZERO else (chosen & trump) != ZERO:
                u[b + WINNING] = chosen
                v[c + WINNER] = seat
            else:
                u[b + WINNING] = winning
                v[c + WINNER] = v[c - V_ROW + WINNER]
            u[b + TRIED] = u[b - U_ROW + TRIED] | chosen
        u[b + U_ROW + SHAPE] = u[b + SHAPE] - (ONE << np.uint64(16 * seat + 4 * (ctz(chosen) >> 4)))
        if place == 3:
            ours = (v[SIDES] >> v[c + WINNER]) & 1
            won = v[c + WON_BEFORE]
            if scoring:
                left = popcount(u[seat])
                gain = v[c + GAIN]
                if ours != 0:
                    gain += v[TRICK]
                    rest = u[b + TRIED]
                    while rest != ZERO:
                        gain += v[POINTS + ctz(rest)]
                        rest &= rest - ONE
                if v[MOST] != 0 and 2 * won <= v[TRICKS] and 2 * (won + left + 1) >= v[TRICKS]:
                    # still open before this trick: is it decided now?
                    if 2 * (won + ours) > v[TRICKS]:
                        gain += v[MOST]
                    elif left == 0 and 2 * (won + ours) == v[TRICKS]:
                        gain += v[MOST] >> 1
                v[c + TAKEN] = gain
            else:
                v[c + TAKEN] = v[c + GAIN] + ours
            won += ours
            v[c + TAKEN_TRICKS] = won
        ply += 1
        entering = True
