"""One question to the solver: does side 0 get at least this much?  A zero-window search with an explicit stack.

The loop below is an alpha-beta search with the window closed to a single question, so a node is settled as soon as one card
settles it.  Three moves make up the walk: *enter* a ply (at the start of a trick first try to answer without a search: counts,
table, sure tricks), *try* the next card, *leave* with a value and the comparisons of cards it rests on.

Comparisons make the memory strong (see ``four_table``) and also prune: when a card has been tried and the answer would rest on the
same with another card of the suit in its place, the other would fare the same (``take_over``).

The card that settled a node is remembered as a hint for like nodes.  Half of the hints are kept for hands of eight cards or more:
small nodes are so many that they would overwrite what large ones found out, and what is best there is seldom best with few cards.

Values count for side 0 (the seats in ``v[SIDES]``), in points from the root on; side 1 gets the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, borrowed, ctz, highest_bit, popcount
from simcore.solvers.four_bits import gather, lane_of, spread, suit_tops
from simcore.solvers.four_bounds import tricks_of_leaders, tricks_of_others
from simcore.solvers.four_compare import next_row, pin, shape_of, start_rows, take_over
from simcore.solvers.four_extremes import bonus_of, counted_of, either_way, extremes, points_in, rest_on_trumps
from simcore.solvers.four_order import order_follow, order_lead, order_void
from simcore.solvers.four_order_points import order_points_lead, order_points_reply, wish_of, wish_of_set
from simcore.solvers.four_state import (
    BEST,
    CANON,
    CANON_LIVE,
    CARD,
    CARD_AT,
    COMPARED,
    COUNTED,
    END,
    ENTERED,
    FIRST,
    FOUND,
    GAIN,
    HINT,
    HINT_SLOT,
    HIT,
    KEY,
    KIND,
    LEADER,
    LED,
    LIST,
    LIVE,
    LOOSE,
    LOOSE_CANON,
    MARKED,
    MIXED,
    MOST,
    NEXT,
    NODES,
    OUTCOMES,
    PAIRING,
    PAIRS,
    POINTS,
    RELEVANT,
    REPS,
    RESULT,
    SEAT,
    SHAPE,
    SIDES,
    SPECIAL,
    START,
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
    V_ROW,
    V_ROWS,
    WIDE_HIGH,
    WIDE_LOW,
    WINNER,
    WINNING,
    WISH,
    WON,
    WON_BEFORE,
    WORDS,
)
from simcore.solvers.four_table import (
    NO_BOUND,
    biased,
    bounds_found,
    find_slot,
    pack,
    pattern_words,
    prefetch_slot,
    remember,
    search_table,
    unbiased,
    unpack,
)

__all__ = ["UNKNOWN", "at_least"]

UNKNOWN = np.int64(-(1 << 50))

_SIXTY = np.uint64(0xFFF0FFF0FFF0FFF0)
_LANE_START = np.uint64(48)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xD6E8FEB86659FD93)
_WANTED = np.uint64(0x1ADD1FD70CCB3FB)
_M32 = np.uint64(32)
_TAG = np.uint64(0xFFC0)
_LARGE = np.int64(8)  # cards; from here on a hand's hints lie in the upper half


@njit
def _outcome(v: Any, taken: I64) -> I64:
    """Return the points of side 0 if it takes so many tricks from the root on."""
    return v[TRICK] * taken + bonus_of(v, v[WON] + taken)


@njit
def _outcomes_worth(v: Any, target: I64) -> U64:
    """Return the numbers of tricks, a bit each, that bring side 0 ``target`` or more."""
    outcomes = ZERO
    for taken in range(14):
        if _outcome(v, taken) >= target:
            outcomes |= ONE << np.uint64(taken)
    return outcomes


@njit
def _points_of(v: Any, outcomes: U64, value: I64) -> I64:
    """Return the bound in points that a set of numbers of tricks is: the least of them if ``value`` is 1, else the most."""
    bound = np.int64(1 << 40) if value != 0 else np.int64(-(1 << 40))
    for taken in range(14):
        if (outcomes >> np.uint64(taken)) & ONE != ZERO:
            points = _outcome(v, taken)
            bound = min(bound, points) if value != 0 else max(bound, points)
    return bound


@njit
def at_least(u: Any, v: Any, keys: Any, patterns: Any, used: Any, hints: Any, target: I64, limit: I64) -> I64:
    """Answer "does side 0 get ``target`` or more?" with a bound: a value >= target is a lower, a smaller one an upper bound.

    The root stands in row ``v[FIRST]`` (0 to 3 cards already on the table in the rows before).  After ``limit`` plies the search
    gives up and returns ``UNKNOWN``; what it has found out by then stays in the table.
    """
    u, v, keys, patterns, used, hints = (
        borrowed(u),
        borrowed(v),
        borrowed(keys),
        borrowed(patterns),
        borrowed(used),
        borrowed(hints),
    )
    ply = v[FIRST]
    scoring = v[KIND] != TRICKS_ONLY
    # Where a question is which numbers of tricks will do, values are 1 and 0, and bounds are sets of such numbers (``outcomes``).
    sets = v[KIND] == OUTCOMES
    accepted = ZERO
    outcomes = ZERO
    if sets:
        accepted = _outcomes_worth(v, target)
        target = np.int64(1)
    trump = u[TRUMP]
    special = u[SPECIAL]
    marked = v[MARKED] != 0
    half_hints = np.int64(hints.size >> 1)
    last_hint = np.uint64(half_hints - 1)
    value = np.int64(0)
    counted = ZERO
    leaderless = False  # the last value holds whichever of two partners is on lead
    start_rows(u, v)
    entering = True
    nodes = np.int64(0)
    while True:
        # What is known not to be negative needs no test for an index from the end: a tenth of the time.
        b = U_ROWS + U_ROW * (ply & 63)
        c = V_ROWS + V_ROW * (ply & 63)
        if entering:
            # ---------------------------------------------------------------- enter a ply
            nodes += 1
            if nodes > limit:
                while ply > v[FIRST]:
                    ply -= 1
                    u[v[V_ROWS + V_ROW * ply + SEAT]] |= u[U_ROWS + U_ROW * ply + CARD]
                v[NODES] += nodes
                return UNKNOWN
            place = ply & 3
            settled = False
            if place == 0:
                if ply == v[FIRST]:
                    seat, gain, won = v[LEADER] & 3, v[START], v[WON]
                    u[b + SHAPE] = shape_of(u)
                else:
                    seat, gain, won = v[c - V_ROW + WINNER] & 3, v[c - V_ROW + TAKEN], v[c - V_ROW + TAKEN_TRICKS]
                v[c + SEAT] = seat
                v[c + GAIN] = gain
                v[c + WON_BEFORE] = won
                v[c + ENTERED] = nodes
                live = u[0] | u[1] | u[2] | u[3]
                left = popcount(u[seat])
                for suit in range(4):
                    u[RESULT + suit] = ZERO
                counted = ZERO
                leaderless = True
                if ply != v[FIRST]:
                    next_row(u, b)
                if sets:
                    full = (np.uint64(2) << np.uint64(left)) - ONE
                    gain = won - v[WON]
                    v[c + GAIN] = gain
                    wanted = (accepted >> np.uint64(gain)) & full
                    low_end = wide_low = np.int64(1 if wanted == full else 0) - gain
                    high_end = wide_high = np.int64(1 if wanted != ZERO else 0) - gain
                    outcomes = full << np.uint64(gain)
                elif scoring:
                    low_end, high_end, wide_low, wide_high = extremes(u, v, live, left, won)
                else:
                    low_end, high_end = np.int64(0), left
                    wide_low, wide_high = low_end, high_end
                v[c + WIDE_LOW], v[c + WIDE_HIGH] = wide_low, wide_high
                if gain + wide_low >= target or left == 0:
                    value = gain + wide_low
                    settled = True
                elif gain + wide_high < target:
                    value = gain + wide_high
                    settled = True
                elif gain + low_end >= target:
                    value = gain + low_end
                    counted = rest_on_trumps(u, v, live)
                    settled = True
                elif gain + high_end < target:
                    value = gain + high_end
                    counted = rest_on_trumps(u, v, live)
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
                    ours = (v[SIDES] >> winner) & 1
                    leaderless = False
                    if sets:
                        outcomes = ONE << np.uint64(gain + ours)
                        value = np.int64((accepted >> np.uint64(gain + ours)) & ONE)
                    elif scoring:
                        points = points_in(v, live)
                        value = gain + points if ours != 0 else gain
                        if v[MOST] != 0 and 2 * won <= v[TRICKS] and 2 * (won + 1) >= v[TRICKS]:
                            final = won + ours
                            if 2 * final > v[TRICKS]:
                                value += v[MOST]
                            elif 2 * final == v[TRICKS]:
                                value += v[MOST] >> 1
                        elif (gain + points >= target) == (gain >= target) and either_way(u, live, ours, value >= target, ZERO):
                            leaderless = True  # nor does it matter who takes it
                            value = gain + (min(points, 0) if value >= target else max(points, 0))
                        counted = counted_of(u, live, ours, value >= target)
                    else:
                        value = gain + ours
                    if not leaderless:
                        rest = live & lane_of(winning) & ~u[winner ^ v[PAIRING]] & ~winning
                        card = ctz(winning)
                        while rest != ZERO:
                            u[RESULT + (card >> 4)] |= u[PAIRS + card] & u[PAIRS + ctz(rest)]
                            rest &= rest - ONE
                    settled = True
                else:
                    leaderless = False
                    pack(u, b, COMPARED, b + WORDS)
                    key = (u[b + SHAPE] & _SIXTY) | np.uint64(left) | (np.uint64(seat + 1) << np.uint64(16))
                    if scoring:
                        if v[MOST] != 0 and not sets and 2 * won <= v[TRICKS] and 2 * (won + left) >= v[TRICKS]:
                            need = np.uint64(v[TRICKS] - 2 * won + 32)
                            key |= (need & np.uint64(15)) << np.uint64(32) | (need >> np.uint64(4)) << np.uint64(48)
                        rest = live & special & ~u[LOOSE]
                        if rest != ZERO:
                            tag = ZERO
                            while rest != ZERO:
                                bit = rest & (ZERO - rest)
                                where = np.uint64(popcount((u[CANON + ctz(bit)] - ONE) & u[b + CANON_LIVE]))
                                part = (np.uint64(v[POINTS + ctz(bit)] * 1024) + where + ONE) * _MIX
                                part = (part ^ (part >> np.uint64(29))) * _MIX2
                                tag += part ^ (part >> _M32)
                                rest ^= bit
                            key ^= tag * _MIX2
                    u[b + KEY], u[b + LIVE] = key, live
                    needed = target - gain
                    loose = gather(u[LOOSE_CANON], u[b + CANON_LIVE]) if marked else ZERO
                    words = pattern_words(u, b)
                    if sets:
                        least, most = ~wanted & NO_BOUND, wanted
                    else:
                        least, most = biased(needed - wide_low), biased(needed - wide_high)
                    slot = find_slot(keys, key)
                    first = np.int64(keys[slot, 1]) if keys[slot, 0] == key else np.int64(0)
                    slab = np.int64(keys[slot, 3]) if keys[slot, 0] == key else np.int64(0)
                    if search_table(u, patterns, first, slab, words, b + WORDS, marked, loose, least, most, sets):
                        lower, upper = bounds_found(u)
                        if sets:
                            value = np.int64(1 if lower & least == ZERO else 0)
                            outcomes = (lower if value != 0 else upper) << np.uint64(gain)
                        else:
                            value = gain + wide_low + unbiased(lower)
                            if value < target:
                                value = gain + wide_high + unbiased(upper)
                        unpack(u, b)
                        if marked:
                            rest = spread(u[HIT + 1], u[b + CANON_LIVE])
                            while rest != ZERO:
                                counted |= u[CARD_AT + ctz(rest)]
                                rest &= rest - ONE
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
                        others = live
                        if not settled:
                            count, found, others = tricks_of_others(u, v, seat, live)
                            leaderless = live & trump != ZERO
                            if ours == 0:
                                value = gain + count
                                settled = value >= target
                            else:
                                value = gain + left - count
                                settled = value < target
                        if settled:
                            pin(u, b, found, others)
            else:
                seat = (v[c - V_ROW + SEAT] + 1) & 3
                v[c + SEAT] = seat
                u[b + LIVE], u[b + TOPS] = u[b - U_ROW + LIVE], u[b - U_ROW + TOPS]
                u[b + LED] = u[b - U_ROW + LED]
                v[c + WISH] = v[c - V_ROW + WISH]
                v[c + GAIN], v[c + WON_BEFORE] = v[c - V_ROW + GAIN], v[c - V_ROW + WON_BEFORE]
            if settled:
                if ply == v[FIRST]:
                    v[NODES] += nodes
                    return _points_of(v, outcomes, value) if sets else value
                ply -= 1
                entering = False
                continue
            # ---------------------------------------------------------------- choices
            if place == 0:
                u[b + TOPS] = suit_tops(u[b + LIVE])
                if scoring:
                    if sets:
                        v[c + WISH] = wish_of_set(v, popcount(u[seat]), accepted >> np.uint64(v[c + GAIN]))
                    else:
                        v[c + WISH] = wish_of(v, v[c + WON_BEFORE], popcount(u[seat]), target - v[c + GAIN])
            hand = u[seat]
            live = u[b + LIVE]
            choices = hand
            if place != 0 and hand & u[b + LED] != ZERO:
                choices = hand & u[b + LED]
            maximising = ((v[SIDES] >> seat) & 1) != 0
            v[c + BEST] = np.int64(0) if sets else (np.int64(-(1 << 40)) if maximising else np.int64(1 << 40))
            for suit in range(4):
                u[b + FOUND + suit] = ZERO
            u[b + COUNTED] = ZERO
            u[b + RELEVANT] = choices
            v[c + NEXT] = LIST
            u[b + REPS] = ZERO
            if choices & (choices - ONE) == ZERO:
                v[c + LIST] = ctz(choices)
                v[c + END] = LIST + 1
                v[c + HINT_SLOT] = -1
            else:
                packed = gather(choices, live)
                # joined: the next higher live card of the suit is mine too (and neither scores by itself)
                joined = packed & (packed >> ONE) & ~u[b + TOPS]
                if special != ZERO:
                    own = gather(special, live)
                    joined &= ~((own | (own >> ONE)) if v[MIXED] != 0 else (own ^ (own >> ONE)))
                reps = spread(packed & ~joined, live)
                # Of equal cards one is tried: the highest, for what beats others is likelier to do so as the higher card; of those
                # that lose the trick at once the lowest, which is likelier to be beaten.  So a result fits more positions.
                losing = ZERO
                if place == 0:
                    index = hand
                elif hand & u[b + LED] != ZERO:
                    winning = u[b - U_ROW + WINNING]
                    losing = choices & (winning - ONE) if winning & u[b + LED] != ZERO else choices
                    reps = (reps & ~losing) | (spread(packed & ~(joined << ONE), live) & losing)
                    index = (live & u[b + LED]) ^ (u[b - U_ROW + WINNING] * _MIX2)
                else:
                    index = hand ^ (u[b - U_ROW + WINNING] * _MIX2)
                if scoring and v[c + WISH] > 0:
                    index ^= _WANTED
                if place != 0:
                    index ^= np.uint64(v[c - V_ROW + WINNER]) << np.uint64(13)  # the suits' lanes leave three bits free
                index = (index + np.uint64(4 * place + seat + 1) * _MIX2) * _MIX
                index ^= index >> _M32
                index *= _MIX2
                slot = np.int64((index >> np.uint64(40)) & last_hint)
                if popcount(hand) >= _LARGE:
                    slot += half_hints
                mark = np.int64((index >> np.uint64(24)) & _TAG)
                v[c + HINT_SLOT] = slot
                v[c + HINT] = mark
                hint = np.int64(hints[slot])
                hinted = ZERO
                if (hint & ~63) == mark:
                    hint &= 63
                    bit = ONE << np.uint64(hint)
                    if choices & bit != ZERO:
                        # the run of equal cards that the remembered one is in now
                        if bit & losing != ZERO:
                            hinted = highest_bit(reps & (bit | (bit - ONE)))
                        else:
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
            seat = v[c + SEAT] & 3
            u[seat] |= card
            if ply & 3 == 3:
                winning = u[b + WINNING]
                losers = u[b + TRIED] & lane_of(winning) & ~winning
                ours = (v[SIDES] >> v[c + WINNER]) & 1
                if leaderless:
                    # Which of two partners takes the trick does not matter; and perhaps not even which side.
                    mate = v[c + WINNER] ^ v[PAIRING]
                    for n in range(4):
                        if v[c - n * V_ROW + SEAT] == mate:
                            losers &= ~u[b - n * U_ROW + CARD]
                    if sets:
                        others_taken = outcomes >> ONE if ours != 0 else outcomes << ONE
                        if others_taken & (~accepted if value != 0 else accepted) == ZERO:
                            outcomes |= others_taken
                            losers = ZERO
                    elif scoring and v[MOST] == 0 and either_way(u, u[b + TRIED], ours, value >= target, counted):
                        points = points_in(v, u[b + TRIED])
                        other = value - points if ours != 0 else value + points
                        if (other >= target) == (value >= target):
                            value = min(value, other) if value >= target else max(value, other)
                            losers = ZERO
                place = ctz(winning)
                while losers != ZERO:
                    u[RESULT + (place >> 4)] |= u[PAIRS + place] & u[PAIRS + ctz(losers)]
                    losers &= losers - ONE
                if special != ZERO:
                    counted |= counted_of(u, u[b + TRIED], ours, value >= target)
            maximising = ((v[SIDES] >> seat) & 1) != 0
            if (value >= target) if maximising else (value < target):
                slot = v[c + HINT_SLOT]
                if slot >= 0:
                    hints[slot] = np.uint16(v[c + HINT] | ctz(card))
                for suit in range(4):
                    u[b + FOUND + suit] = u[RESULT + suit]
                u[b + COUNTED] = counted
                v[c + BEST] = np.int64(outcomes) if sets else value
                v[c + NEXT] = v[c + END] = LIST
                u[b + REPS] = ZERO
            else:
                if sets:
                    v[c + BEST] |= np.int64(outcomes)
                elif maximising:
                    v[c + BEST] = max(v[c + BEST], value)
                else:
                    v[c + BEST] = min(v[c + BEST], value)
                take_over(u, v, b, seat, card, counted)
        # -------------------------------------------------------------------- try the next card
        chosen = ZERO
        while True:
            at = v[c + NEXT]
            if at < v[c + END]:
                v[c + NEXT] = at + 1
                bit = ONE << np.uint64(v[c + (at & 31)])
                if bit & u[b + RELEVANT] != ZERO:
                    chosen = bit
                    break
            elif u[b + REPS] != ZERO:
                reps = u[b + REPS]
                u[b + REPS] = ZERO
                v[c + NEXT] = LIST
                seat = v[c + SEAT] & 3
                place = ply & 3
                if scoring:
                    if place == 0:
                        end = order_points_lead(u, v, c + LIST, seat, reps, v[c + WISH])
                    else:
                        winner = v[c - V_ROW + WINNER]
                        ours = winner == (seat ^ v[PAIRING])
                        end = order_points_reply(
                            u,
                            v,
                            c + LIST,
                            seat,
                            3 - place,
                            reps,
                            u[b + LED],
                            u[b - U_ROW + TRIED],
                            u[b - U_ROW + WINNING],
                            ours,
                            v[c + WISH],
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
            if sets:
                outcomes = np.uint64(value)
                value = np.int64(1 if outcomes & ~accepted == ZERO else 0)
            for suit in range(4):
                u[RESULT + suit] = u[b + FOUND + suit]
            counted = u[b + COUNTED]
            if ply & 3 == 0:
                leaderless = False
                # A bound is stored as what it is better than the widest extremes.
                lower = upper = NO_BOUND if sets else biased(0)
                if sets:
                    if value != 0:
                        lower = outcomes >> np.uint64(v[c + GAIN])
                    else:
                        upper = outcomes >> np.uint64(v[c + GAIN])
                elif value >= target:
                    lower = biased(value - v[c + GAIN] - v[c + WIDE_LOW])
                else:
                    upper = biased(value - v[c + GAIN] - v[c + WIDE_HIGH])
                pack(u, b, RESULT, b + FOUND)
                places = ZERO
                rest = counted if marked else ZERO
                while rest != ZERO:
                    places |= u[CANON + ctz(rest)]
                    rest &= rest - ONE
                places = gather(places, u[b + CANON_LIVE])
                words = pattern_words(u, b)
                work = nodes - v[c + ENTERED]
                remember(u, keys, patterns, used, u[b + KEY], words, b + WORDS, b + FOUND, marked, places, lower, upper, sets, work)
            if ply == v[FIRST]:
                v[NODES] += nodes
                return _points_of(v, outcomes, value) if sets else value
            ply -= 1
            continue
        # -------------------------------------------------------------------- play it
        seat = v[c + SEAT] & 3
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
            if sets:
                v[c + TAKEN] = v[c + GAIN] + ours
            elif scoring:
                left = popcount(u[seat])
                gain = v[c + GAIN]
                if ours != 0:
                    gain += points_in(v, u[b + TRIED])
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
            key = (u[b + U_ROW + SHAPE] & _SIXTY) | np.uint64(popcount(u[seat])) | (np.uint64(v[c + WINNER] + 1) << np.uint64(16))
            prefetch_slot(keys, key)
        ply += 1
        entering = True
