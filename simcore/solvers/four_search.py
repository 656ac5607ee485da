"""One question to the solver: does side 0 get at least this much?  A zero-window search with an explicit stack.

The loop below is an alpha-beta search with the window closed to a single question, so a node is settled as soon as one card
settles it.  Three moves make up the walk: *enter* a ply (at the start of a trick first try to answer without a search: counts,
table, sure tricks), *try* the next card, *leave* with a value and the comparisons of cards it rests on.

Comparisons make the memory strong (see ``four_table``) and also prune: when a card has been tried and the answer would rest on the
same with another card of the suit in its place, the other would fare the same (``_take_over``).

Values count for side 0 (the seats in ``v[SIDES]``), in points from the root on; side 1 gets the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, popcount
from simcore.solvers.four_bits import LANE_MASK, borrowed, gather, lane_of, spread, suit_tops, upward
from simcore.solvers.four_bounds import tricks_of_leaders, tricks_of_others
from simcore.solvers.four_order import order_follow, order_lead, order_void
from simcore.solvers.four_order_points import order_points_lead, order_points_reply
from simcore.solvers.four_state import (
    ALIVE,
    BEST,
    CANON,
    CANON_LIVE,
    CARD,
    CARD_AT,
    COMMON,
    COMPARED,
    COUNTED,
    END,
    ENTERED,
    EXTRA,
    FIRST,
    FOUND,
    GAIN,
    HINT,
    HINT_SLOT,
    KEY,
    KIND,
    LEADER,
    LED,
    LIST,
    LIVE,
    LOOSE,
    LOOSE_CANON,
    MARKED,
    MINUS,
    MIXED,
    MOST,
    NEXT,
    NODES,
    PAIRING,
    PAIRS,
    PLUS,
    POINTS,
    RELEVANT,
    REPS,
    RESULT,
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
    WIDE_HIGH,
    WIDE_LOW,
    WINNER,
    WINNING,
    WON,
    WON_BEFORE,
    WORDS,
)
from simcore.solvers.four_table import (
    find_slot,
    lower_bound,
    pack,
    pattern_words,
    prefetch_slot,
    remember,
    search_table,
    unpack,
    upper_bound,
)

__all__ = ["UNKNOWN", "at_least"]

UNKNOWN = np.int64(-(1 << 50))

_SIXTY = np.uint64(0xFFF0FFF0FFF0FFF0)
_LANE_START = np.uint64(48)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xD6E8FEB86659FD93)
_M32 = np.uint64(32)
_TAG = np.uint64(0xFFFFFF00)


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
def _sure_trumps(u: Any, v: Any) -> tuple[U64, I64]:
    """Return the trumps that the side that holds them is sure to take, and which side: those above all of the other side's."""
    trump = u[TRUMP]
    ours = (u[0] | u[v[PAIRING]]) & trump
    theirs = (u[1] | u[2] | u[3]) & trump & ~ours
    if ours > theirs:
        return (ours if theirs == ZERO else ours & ~(highest_bit(theirs) | (highest_bit(theirs) - ONE))), np.int64(0)
    return (theirs if ours == ZERO else theirs & ~(highest_bit(ours) | (highest_bit(ours) - ONE))), np.int64(1)


@inlined
def _extremes(u: Any, v: Any, live: U64, left: I64, won: I64) -> tuple[I64, I64, I64, I64]:
    """Return what side 0 can still get: least and most; least and most whichever cards of a suit are its loose special ones.

    The former know which trumps are sure to be taken by whom (``_sure_trumps``).  The latter take a special card's common and extra
    points apart, so where they differ in sign (*uneven*) they are wider.  All are rounded to the steps in which values come.
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
    if u[TRUMP] & live != ZERO:
        sure, side = _sure_trumps(u, v)
        while sure != ZERO:
            worth = v[POINTS + ctz(sure)]
            sure &= sure - ONE
            if (worth > 0) == (side == 0):
                low += abs(worth)
            else:
                high -= abs(worth)
    step = v[STEP]
    if step == 1:
        return low, high, wide_low, wide_high
    return -(-low // step) * step, high // step * step, -(-wide_low // step) * step, wide_high // step * step


@inlined
def rest_on_trumps(u: Any, v: Any, live: U64) -> U64:
    """Make the result rest on what tells the sure trumps; return the special cards that the narrow extremes count on."""
    counted = live & u[UNEVEN]
    if u[TRUMP] & live == ZERO:
        return counted
    sure, _ = _sure_trumps(u, v)
    ours = u[0] | u[v[PAIRING]]
    others = u[TRUMP] & live & (~ours if sure & ours != ZERO else ours)
    rest = sure
    while rest != ZERO:
        card = ctz(rest)
        rest &= rest - ONE
        below = others
        while below != ZERO:
            u[RESULT + (card >> 4)] |= u[PAIRS + card] & u[PAIRS + ctz(below)]
            below &= below - ONE
    return counted | (sure & u[LOOSE])


@inlined
def _counted(u: Any, trick: U64, ours: I64, lower: bool) -> U64:
    """Return the loose special cards of a trick that a bound counts on: what they bring is not the worst for the bound."""
    return trick & (u[PLUS] if (ours != 0) == lower else u[MINUS])


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
def pin(u: Any, b: I64, cards: U64) -> None:
    """Make the result rest on all comparisons of some live cards, and of those above them in their suits."""
    rest = upward(cards) & u[b + LIVE]
    while rest != ZERO:
        card = ctz(rest)
        suit = card >> 4
        u[RESULT + suit] |= u[PAIRS + card] & u[b + ALIVE + suit]
        rest &= rest - ONE


@inlined
def _take_over(u: Any, v: Any, b: I64, seat: I64, card: U64, counted: U64) -> None:
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
    trump = u[TRUMP]
    special = u[SPECIAL]
    marked = v[MARKED] != 0
    last_hint = np.uint64(hints.size - 1)
    value = np.int64(0)
    counted = ZERO
    start_rows(u, v)
    entering = True
    nodes = np.int64(0)
    while True:
        b = U_ROWS + U_ROW * ply
        c = V_ROWS + V_ROW * ply
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
                for suit in range(4):
                    u[RESULT + suit] = ZERO
                counted = ZERO
                if ply != v[FIRST]:
                    next_row(u, b)
                if scoring:
                    low_end, high_end, wide_low, wide_high = _extremes(u, v, live, left, won)
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
                    rest = live & lane_of(winning) & ~u[winner ^ v[PAIRING]] & ~winning
                    card = ctz(winning)
                    while rest != ZERO:
                        u[RESULT + (card >> 4)] |= u[PAIRS + card] & u[PAIRS + ctz(rest)]
                        rest &= rest - ONE
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
                    pack(u, b, COMPARED, b + WORDS)
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
                    above, below = needed - wide_low, needed - wide_high
                    slot = find_slot(keys, key)
                    first = np.int64(keys[slot, 1]) if keys[slot, 0] == key else np.int64(0)
                    at, step = search_table(u, patterns, first, words, b + WORDS, marked, loose, above, below)
                    if at != 0:
                        value = gain + wide_low + lower_bound(patterns, at)
                        if value < target:
                            value = gain + wide_high + upper_bound(patterns, at)
                        unpack(u, b, patterns, at, step)
                        if marked:
                            rest = spread(patterns[at + (2 * words + 1) * step], u[b + CANON_LIVE])
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
                        if not settled:
                            count, found = tricks_of_others(u, v, seat, live)
                            if ours == 0:
                                value = gain + count
                                settled = value >= target
                            else:
                                value = gain + left - count
                                settled = value < target
                        if settled:
                            pin(u, b, found)
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
                place = ctz(winning)
                while losers != ZERO:
                    u[RESULT + (place >> 4)] |= u[PAIRS + place] & u[PAIRS + ctz(losers)]
                    losers &= losers - ONE
                if special != ZERO:
                    counted |= _counted(u, u[b + TRIED], (v[SIDES] >> v[c + WINNER]) & 1, value >= target)
            maximising = ((v[SIDES] >> seat) & 1) != 0
            if (value >= target) if maximising else (value < target):
                slot = v[c + HINT_SLOT]
                if slot >= 0:
                    hints[slot] = np.uint32(v[c + HINT] | ctz(card))
                for suit in range(4):
                    u[b + FOUND + suit] = u[RESULT + suit]
                u[b + COUNTED] = counted
                v[c + BEST] = value
                v[c + NEXT] = v[c + END] = LIST
                u[b + REPS] = ZERO
            else:
                if maximising:
                    v[c + BEST] = max(v[c + BEST], value)
                else:
                    v[c + BEST] = min(v[c + BEST], value)
                _take_over(u, v, b, seat, card, counted)
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
                    if place == 0:
                        end = order_points_lead(u, v, c + LIST, seat, reps)
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
            for suit in range(4):
                u[RESULT + suit] = u[b + FOUND + suit]
            counted = u[b + COUNTED]
            if ply & 3 == 0:
                # A bound is stored as what it is better than the widest extremes.
                lower, upper = np.int64(0), np.int64(0)
                if value >= target:
                    lower = value - v[c + GAIN] - v[c + WIDE_LOW]
                else:
                    upper = value - v[c + GAIN] - v[c + WIDE_HIGH]
                pack(u, b, RESULT, b + FOUND)
                places = ZERO
                rest = counted if marked else ZERO
                while rest != ZERO:
                    places |= u[CANON + ctz(rest)]
                    rest &= rest - ONE
                places = gather(places, u[b + CANON_LIVE])
                words = pattern_words(u, b)
                work = nodes - v[c + ENTERED]
                remember(u, keys, patterns, used, u[b + KEY], words, b + WORDS, b + FOUND, marked, places, lower, upper, work)
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
            key = (u[b + U_ROW + SHAPE] & _SIXTY) | np.uint64(popcount(u[seat])) | (np.uint64(v[c + WINNER] + 1) << np.uint64(16))
            prefetch_slot(keys, key)
        ply += 1
        entering = True
