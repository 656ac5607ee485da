"""From a position and a contract to a number: setting up the search and asking it until the value is known.

A contract reaches the kernels as *terms*, int64[72]:

    0 trump suit (-1 none)   1 low   2 low trumps are plain (E14)   3 points a trick   4 points for most tricks
    8 … 71 points of each card, by bit number

What the search is told is simpler: ranks run high (a low contract is turned round, once, here), plain low trumps are no trumps,
and all amounts are divided by their common divisor.  Side 0 is always the side of N, whoever declares, so that one table serves
every leader and declarer of a deal, contract and pairing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, popcount
from simcore.solvers.four_bits import LANE_MASK, lane_of, suit_tops
from simcore.solvers.four_compare import shape_of
from simcore.solvers.four_search import UNKNOWN, at_least
from simcore.solvers.four_state import (
    AVERAGE,
    CANON,
    CARD,
    CARD_AT,
    COMMON,
    COMPARED,
    EXTRA,
    FIRST,
    GAIN,
    HALVES,
    KIND,
    LEADER,
    LED,
    LIVE,
    LOOSE,
    LOOSE_CANON,
    MARKED,
    MINUS,
    MIXED,
    MOST,
    NODES,
    OUTCOMES,
    PAIRING,
    PAIRS,
    PLUS,
    POINTS,
    SCALE,
    SCORING,
    SEAT,
    SHAPE,
    SIDES,
    SPECIAL,
    START,
    STEP,
    STOP,
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
    WISH,
    WON,
    WON_BEFORE,
)
from simcore.solvers.four_table import forget

__all__ = ["NO_GUESS", "TERMS", "card_value", "put_card", "set_up", "solve", "solve_batch", "turned", "value_between"]

TERMS = 72
NO_GUESS = np.int64(-(1 << 40))
_NO_LIMIT = np.int64(1 << 60)
_FIRST_LIMIT, _LAST_LIMIT = np.int64(1 << 12), np.int64(1 << 16)  # plies
_T_TRUMP, _T_LOW, _T_PLAIN, _T_TRICK, _T_MOST, _T_POINTS = 0, 1, 2, 3, 4, 8


@njit
def turned(cards: U64) -> U64:
    """Return cards with their ranks turned round: the 2 becomes the ace."""
    result = ZERO
    rest = cards
    while rest != ZERO:
        card = ctz(rest)
        result |= ONE << np.uint64((card & 48) + 12 - (card & 15))
        rest &= rest - ONE
    return result


@njit
def _divisor(a: I64, b: I64) -> I64:
    a, b = abs(a), abs(b)
    while b != 0:
        a, b = b, a % b
    return a


@njit
def _set_points(u: Any, v: Any, terms: Any, low: bool, every: I64, unit: I64, factor: I64, live: U64) -> None:
    """Write what cards score: points of each, what is common to a suit, and which cards are special (see ``four_state``)."""
    special = ZERO
    plus = ZERO
    minus = ZERO
    uneven = ZERO
    mixed = 0
    step = _divisor(v[TRICK], v[MOST] >> v[HALVES])
    first = (terms[_T_POINTS] - every) // unit * factor
    step = _divisor(step, 4 * first)
    for suit in range(4):
        v[AVERAGE + suit] = 0
        common = np.int64(0)
        times = np.int64(0)
        for rank in range(13):
            points = terms[_T_POINTS + 16 * suit + rank]
            count = np.int64(0)
            for other in range(13):
                if terms[_T_POINTS + 16 * suit + other] == points:
                    count += 1
            if count > times:
                times, common = count, points
        common = (common - every) // unit * factor
        v[COMMON + suit] = common
        v[EXTRA + suit] = 0
        for rank in range(13):
            place = 16 * suit + (12 - rank if low else rank)
            bit = ONE << np.uint64(place)
            points = (terms[_T_POINTS + 16 * suit + rank] - every) // unit * factor
            step = _divisor(step, points - first)
            v[AVERAGE + suit] += points
            v[POINTS + place] = points if live & bit != ZERO else 0
            if points != 0:
                v[KIND] = SCORING
            if points != common:
                extra = points - common
                if v[EXTRA + suit] != 0 and extra != v[EXTRA + suit]:
                    mixed = 1  # cards of one suit score in more than two ways: which is which must be told by place
                v[EXTRA + suit] = extra
                special |= bit
                if extra > 0:
                    plus |= bit
                else:
                    minus |= bit
                if (common > 0) != (extra > 0) and common != 0:
                    uneven |= bit
    v[MIXED] = mixed
    v[STEP] = max(step, 1)
    loose = special if mixed == 0 else ZERO
    v[MARKED] = 1 if loose != ZERO else 0
    u[SPECIAL] = special & live
    u[LOOSE] = loose & live
    u[PLUS], u[MINUS], u[UNEVEN] = plus & loose, minus & loose, uneven & loose


@njit
def number_pairs(u: Any, owned: Any) -> None:
    """Number the comparisons and the cards of a deal (see ``four_table``); ``owned``: the live cards by seat."""
    for card in range(64):
        u[PAIRS + card] = ZERO
        u[CANON + card] = ZERO
        u[CARD_AT + card] = ZERO
    for suit in range(4):
        u[COMPARED + suit] = ZERO
        lane = LANE_MASK << np.uint64(16 * suit)
        pair = ONE
        for one in range(3):
            for two in range(one + 1, 4):
                rest = owned[one] & lane
                while rest != ZERO:
                    first = ctz(rest)
                    rest &= rest - ONE
                    others = owned[two] & lane
                    while others != ZERO:
                        second = ctz(others)
                        others &= others - ONE
                        u[PAIRS + first] |= pair
                        u[PAIRS + second] |= pair
                        if first > second:
                            u[COMPARED + suit] |= pair
                        pair = pair << ONE
        place = np.int64(16 * suit)
        for seat in range(4):
            rest = owned[seat] & lane
            while rest != ZERO:
                card = ctz(rest)
                u[CANON + card] = ONE << np.uint64(place)
                u[CARD_AT + place] = rest & (ZERO - rest)
                place += 1
                rest &= rest - ONE
    u[LOOSE_CANON] = ZERO
    rest = u[LOOSE]
    while rest != ZERO:
        u[LOOSE_CANON] |= u[CANON + ctz(rest)]
        rest &= rest - ONE


@njit
def set_up(
    u: Any,
    v: Any,
    hands: Any,
    terms: Any,
    pairing: I64,
    leader: I64,
    table: Any,
    played: I64,
    won: I64,
    lost: I64,
) -> None:
    """Write a position into the state.

    Args:
        hands: uint64[4], the cards still held.
        pairing: 1 … 3, partner of a seat is ``seat ^ pairing``.
        leader: seat that led or leads to the current trick.
        table: int64[3], the cards already played to it, ``played`` of them.
        won, lost: tricks that side 0 and side 1 have already taken.
    """
    low = terms[_T_LOW] != 0
    for seat in range(4):
        u[seat] = turned(hands[seat]) if low else hands[seat]
    v[PAIRING] = pairing
    v[SIDES] = 1 | (1 << pairing)
    v[LEADER] = leader
    v[FIRST] = played
    v[START] = 0
    v[WON] = won
    plain = low and terms[_T_PLAIN] != 0
    u[TRUMP] = ZERO if terms[_T_TRUMP] < 0 or plain else LANE_MASK << np.uint64(16 * terms[_T_TRUMP])
    live = u[0] | u[1] | u[2] | u[3]
    on_table = ZERO
    for n in range(played):
        card = table[n]
        if low:
            card = (card & 48) + 12 - (card & 15)
        on_table |= ONE << np.uint64(card)
    live |= on_table
    left = popcount(live) >> 2
    v[TRICKS] = left + won + lost
    # Amounts, in a unit that is the same all through a deal, since the table outlives the root: halves where a bonus can be tied,
    # divided by what all amounts of the contract have in common, a point on every card turned into points a trick.
    trick, most = terms[_T_TRICK], terms[_T_MOST]
    total = v[TRICKS]
    v[HALVES] = 1 if most != 0 and total & 1 == 0 else 0
    every = terms[_T_POINTS]
    for card in range(64):
        if card & 15 < 13 and terms[_T_POINTS + card] != every:
            every = np.int64(0)
            break
    trick += 4 * every
    unit = _divisor(trick, most)
    for card in range(64):
        unit = _divisor(unit, terms[_T_POINTS + card] - every if card & 15 < 13 else np.int64(0))
    if unit == 0:
        unit = np.int64(1)
    factor = 1 + v[HALVES]
    v[SCALE] = unit
    v[TRICK], v[MOST] = trick // unit * factor, most // unit * factor
    if most != 0:
        v[KIND] = OUTCOMES
    else:
        v[KIND] = TRICKS_ONLY if trick > 0 else SCORING
    _set_points(u, v, terms, low, every, unit, factor, live)
    owned = np.empty(4, np.uint64)
    for seat in range(4):
        owned[seat] = u[seat]
    for n in range(played):
        card = table[n]
        if low:
            card = (card & 48) + 12 - (card & 15)
        owned[(leader + n) & 3] |= ONE << np.uint64(card)
    number_pairs(u, owned)
    if 2 * won > total or 2 * lost > total:
        v[MOST] = 0  # decided before the root; the table may hold sets of outcomes already
    # the cards on the table are plies already played
    u[U_ROWS + SHAPE] = shape_of(u)
    for n in range(played):
        card = table[n]
        if low:
            card = (card & 48) + 12 - (card & 15)
        put_card(u, v, n, (leader + n) & 3, ONE << np.uint64(card), live)
    if played != 0:
        u[U_ROWS + U_ROW * played + SHAPE] = shape_of(u)


@njit
def put_card(u: Any, v: Any, ply: I64, seat: I64, card: U64, live: U64) -> None:
    """Write a card of the root's own trick into the row of its ply, as the search would have."""
    b = U_ROWS + U_ROW * ply
    c = V_ROWS + V_ROW * ply
    v[c + SEAT] = seat
    v[c + GAIN] = v[START]
    v[c + WON_BEFORE] = v[WON]
    v[c + WISH] = v[TRICK]
    u[b + CARD] = card
    u[b + LIVE] = live
    u[b + TOPS] = suit_tops(live)
    if ply == 0:
        u[b + LED] = lane_of(card)
        u[b + WINNING] = card
        u[b + TRIED] = card
        v[c + WINNER] = seat
        return
    winning = u[b - U_ROW + WINNING]
    u[b + LED] = u[b - U_ROW + LED]
    u[b + TRIED] = u[b - U_ROW + TRIED] | card
    u[b + WINNING] = winning
    v[c + WINNER] = v[c - V_ROW + WINNER]
    if (card > winning) if (card & lane_of(winning)) != ZERO else (card & u[TRUMP]) != ZERO:
        u[b + WINNING] = card
        v[c + WINNER] = seat


@njit
def _table_cards(u: Any, v: Any) -> U64:
    return u[U_ROWS + U_ROW * (v[FIRST] - 1) + TRIED] if v[FIRST] > 0 else ZERO


@njit
def limits(u: Any, v: Any) -> tuple[I64, I64]:
    """Return the least and the most that side 0 can get from the root on, in the search's units."""
    live = u[0] | u[1] | u[2] | u[3] | _table_cards(u, v)
    left = popcount(live) >> 2
    if v[KIND] == TRICKS_ONLY:
        return np.int64(0), left
    low = min(v[TRICK], 0) * left + min(v[MOST], 0)
    high = max(v[TRICK], 0) * left + max(v[MOST], 0)
    for card in range(64):
        low += min(v[POINTS + card], 0)
        high += max(v[POINTS + card], 0)
    return low, high


@njit
def margin_of(u: Any, v: Any, value: I64) -> I64:
    """Return side 0's points minus side 1's from the root on, in the contract's points, for a value in the search's units."""
    live = u[0] | u[1] | u[2] | u[3] | _table_cards(u, v)
    left = popcount(live) >> 2
    if v[KIND] == TRICKS_ONLY:
        return (2 * value - left) * v[SCALE]
    total = v[TRICK] * left + v[MOST]
    for card in range(64):
        total += v[POINTS + card]
    margin = (2 * value - total) * v[SCALE]
    return margin // 2 if v[HALVES] != 0 else margin


@njit
def _ask(u: Any, v: Any, keys: Any, patterns: Any, used: Any, hints: Any, target: I64, limit: I64) -> I64:
    """Ask for ``target``; give up after ``limit`` plies, or where the solve's plies are used up."""
    if v[STOP] != 0:
        limit = min(limit, max(v[STOP] - v[NODES], 0))
    return at_least(u, v, keys, patterns, used, hints, target, limit)


@njit
def value_between(
    u: Any,
    v: Any,
    keys: Any,
    patterns: Any,
    used: Any,
    hints: Any,
    low: I64,
    high: I64,
    guess: I64,
) -> tuple[I64, I64]:
    """Return the least and the most that the value at the root can be, known to lie in ``low`` … ``high``: zero-window searches.

    They are the same, unless the search gives up at ``v[STOP]`` plies.
    """
    # Values lie a step apart.  From a guess the questions go to neighbouring values, for tricks in growing strides.  Where more
    # than tricks count and there is no guess, or it was far off: questions far from the value are cheap, so both ends close in as
    # far as answers take few plies.  What is left is halved.
    tricks_only = v[KIND] == TRICKS_ONLY
    step = np.int64(1) if tricks_only else v[STEP]
    low = -(-low // step)
    high = high // step
    if guess != NO_GUESS or tricks_only:
        target = (low + high + 1) >> 1 if guess == NO_GUESS else max(low + 1, min(high, guess // step))
        stride = np.int64(0)
        rising = False
        falling = False
        asked = 0
        while low < high and (asked < 3 or (tricks_only and not (rising and falling))):
            value = _ask(u, v, keys, patterns, used, hints, target * step, _NO_LIMIT)
            if value == UNKNOWN:
                return low * step, high * step
            asked += 1
            if asked >= 3:
                stride = 2 * stride + 1
            if value >= target * step:
                low = -(-value // step)
                target = min(high, low + 1 + stride)
                rising = True
            else:
                high = value // step
                target = max(low + 1, high - stride)
                falling = True
    limit = _NO_LIMIT if tricks_only else _FIRST_LIMIT
    while low < high and limit <= _LAST_LIMIT:
        for end in range(2):
            while low < high:
                target = low + 1 if end == 0 else high
                value = _ask(u, v, keys, patterns, used, hints, target * step, limit)
                if value == UNKNOWN:
                    break
                if value >= target * step:
                    low = -(-value // step)
                else:
                    high = value // step
        limit *= 4
    while low < high:
        target = (low + high + 1) >> 1
        value = _ask(u, v, keys, patterns, used, hints, target * step, _NO_LIMIT)
        if value == UNKNOWN:
            break
        if value >= target * step:
            low = -(-value // step)
        else:
            high = value // step
    return low * step, high * step


@njit
def _reaches(u: Any, v: Any, keys: Any, patterns: Any, used: Any, hints: Any, tricks: I64, left: I64) -> I64:
    """Tell whether side 0 takes so many of the tricks left: 1, 0, or -1 where the search gives up."""
    if tricks <= 0:
        return np.int64(1)
    if tricks > left:
        return np.int64(0)
    value = _ask(u, v, keys, patterns, used, hints, tricks, _NO_LIMIT)
    if value == UNKNOWN:
        return np.int64(-1)
    return np.int64(1 if value >= tricks else 0)


@njit
def solve(u: Any, v: Any, keys: Any, patterns: Any, used: Any, hints: Any, guess: I64) -> tuple[I64, I64, I64]:
    """Return the least and the most that side 0's margin at the root can be, and the value to guess for a neighbouring position.

    They are the same, unless the search gives up at ``v[STOP]`` plies.
    """
    if v[KIND] == OUTCOMES and v[MOST] > 0 and v[TRICK] == 0:
        # Only who takes more tricks counts: one or two questions to the search for tricks.
        bonus = v[MOST]
        v[KIND], v[MOST], v[TRICK] = TRICKS_ONLY, 0, 1
        needed = (v[TRICKS] >> 1) + 1 - v[WON]
        left = popcount(u[0] | u[1] | u[2] | u[3] | _table_cards(u, v)) >> 2
        more = _reaches(u, v, keys, patterns, used, hints, needed, left)
        half = np.int64(0)
        if more != 1 and v[TRICKS] & 1 == 0:
            half = _reaches(u, v, keys, patterns, used, hints, needed - 1, left)
        least = np.int64(1 if more == 1 else (0 if half == 1 else -1))
        most = np.int64(1 if more != 0 else (0 if half != 0 else -1))
        v[KIND], v[MOST], v[TRICK] = OUTCOMES, bonus, 0
        scale = v[SCALE] * bonus
        if v[HALVES] != 0:
            scale //= 2
        return least * scale, most * scale, NO_GUESS
    low, high = limits(u, v)
    low, high = value_between(u, v, keys, patterns, used, hints, low, high, guess)
    return margin_of(u, v, low), margin_of(u, v, high), low


@njit
def card_value(u: Any, v: Any, keys: Any, patterns: Any, used: Any, hints: Any, card: I64, guess: I64) -> tuple[I64, I64]:
    """Return the least and the most that side 0's margin from the root on can be if the seat to play plays ``card``.

    The card is turned round if the contract is low.
    ``guess``: the root's value in the search's units, or ``NO_GUESS``.
    """
    ply = v[FIRST]
    live = u[0] | u[1] | u[2] | u[3] | _table_cards(u, v)
    seat = (v[LEADER] + ply) & 3
    bit = ONE << np.uint64(card)
    u[seat] ^= bit
    put_card(u, v, ply, seat, bit, live)
    if ply < 3:
        v[FIRST] = ply + 1
        u[U_ROWS + U_ROW * (ply + 1) + SHAPE] = shape_of(u)
        least, most, _ = solve(u, v, keys, patterns, used, hints, guess)
        return least, most
    # the trick is full: what it brings, and the rest from its winner's lead
    winner = v[V_ROWS + V_ROW * ply + WINNER]
    trick = u[U_ROWS + U_ROW * ply + TRIED]
    ours = (v[SIDES] >> winner) & 1
    gain = v[TRICK]
    rest = trick
    while rest != ZERO:
        gain += v[POINTS + ctz(rest)]
        rest &= rest - ONE
    for place in range(64):
        if (trick >> np.uint64(place)) & ONE != ZERO:
            v[POINTS + place] = 0
    u[SPECIAL] &= ~trick
    u[LOOSE] &= ~trick
    if guess != NO_GUESS and ours != 0:
        guess -= gain
    gain = (gain if ours != 0 else -gain) * v[SCALE]
    won = v[WON] + ours
    left = popcount(u[seat])
    bonus = np.int64(0)
    if v[MOST] != 0:
        lost = v[TRICKS] - won - left
        if 2 * won > v[TRICKS]:
            bonus = v[MOST] * v[SCALE]
        elif 2 * lost > v[TRICKS]:
            bonus = -v[MOST] * v[SCALE]
    v[WON], v[LEADER], v[FIRST] = won, winner, 0
    if bonus != 0:
        v[MOST] = 0
    before = gain + bonus
    if v[HALVES] != 0:
        before //= 2
    least = most = np.int64(0)
    if left != 0:
        least, most, _ = solve(u, v, keys, patterns, used, hints, guess)
    return before + least, before + most


@njit
def solve_batch(
    u: Any,
    v: Any,
    keys: Any,
    patterns: Any,
    used: Any,
    hints: Any,
    hands: Any,
    terms: Any,
    pairings: Any,
    declarers: Any,
    leads: Any,
    plies: I64,
    out: Any,
) -> None:
    """Fill ``out`` (int32[n, contracts, pairings, declarers, 2]) with the least and the most that attackers' margins can be.

    One table serves a contract and pairing.  They are the same, unless a solve gives up after ``plies`` (0: never).
    """
    table = np.zeros(3, np.int64)
    for d in range(hands.shape[0]):
        for t in range(terms.shape[0]):
            for p in range(pairings.size):
                forget(keys, used)
                hints[:] = 0
                guess = NO_GUESS
                for s in range(declarers.size):
                    declarer = declarers[s]
                    leader = (declarer + 1) & 3 if leads[d] < 0 else leads[d]
                    north = declarer == 0 or declarer == pairings[p]
                    set_up(u, v, hands[d], terms[t], pairings[p], leader, table, np.int64(0), np.int64(0), np.int64(0))
                    v[STOP] = v[NODES] + plies if plies != 0 else 0
                    least, most, guess = solve(u, v, keys, patterns, used, hints, guess)
                    out[d, t, p, s, 0] = least if north else -most
                    out[d, t, p, s, 1] = most if north else -least
    v[STOP] = 0
