"""The built-in player ``expert`` of Elections."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, lowest_bit, popcount
from simcore.tricks import led_suit, trick_winner

__all__ = ["WEIGHTS", "expert_play"]

_LANE = np.uint64(0x1FFF)
_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)

#: Chance in 256ths that a seat holds none of n unseen cards, of which each is with one of k seats: entry 16 k + n.
_NONE = np.array([256 if k == 0 else round(256 * ((k - 1) / k) ** n) for k in range(4) for n in range(16)], np.int64)
#: Chance in 256ths that the trick decides who gets most tricks when the sides still need a and b: entry 8 a + b.
_PIVOT = np.array(
    [0 if min(a, b) == 0 else round(256 * comb(a + b - 2, a - 1) / 2 ** (a + b - 2)) for a in range(8) for b in range(8)],
    np.int64,
)

NAMES = (
    [f"high{h}" for h in range(8)]
    + [f"low{h}" for h in range(8)]
    + [f"trump{h}" for h in range(8)]
    + [f"danger_trump{h}" for h in range(8)]
    + ["keep_plus", "keep_minus", "short1", "short2", "short3", "shortn1", "shortn2", "shortn3", "rebeat", "ruff",
       "lead_win", "lead_lose", "lead_trump", "lead_trump_n", "lead_len", "lead_len_n", "trump_option", "ruff_care"]
)  # fmt: skip
INDEX = {name: i for i, name in enumerate(NAMES)}
WEIGHTS = np.array(
    [200, 110, 60, 35, 20, 10, 5, 0]
    + [0, 60, 100, 130, 150, 170, 180, 190]
    + [230, 180, 150, 130, 110, 100, 90, 80]
    + [0, 60, 100, 130, 150, 170, 180, 190]
    + [20, 20, 20, 10, 0, 20, 10, 0, 150, 200, 20, 20, 10, 0, 0, 0, 100, 256],
    np.int64,
)
_HIGH, _LOW, _TRUMP, _TDANGER = 0, 8, 16, 24
(
    _KEEP_PLUS,
    _KEEP_MINUS,
    _SHORT,
    _,
    _,
    _SHORT_N,
    _,
    _,
    _REBEAT,
    _RUFF,
    _LEAD_WIN,
    _LEAD_LOSE,
    _LEAD_TRUMP,
    _LEAD_TRUMP_N,
    _LEAD_LEN,
    _LEAD_LEN_N,
    _OPTION,
    _RUFF_CARE,
) = range(32, 50)


@njit
def _points_in(rules: Any, contract: I64, cards: U64) -> I64:
    """Return the points of the cards of a mask."""
    total = np.int64(0)
    for g in range(rules.groups[contract]):
        total += popcount(cards & rules.group_cards[contract, g]) * (rules.group_plus[contract, g] + rules.group_minus[contract, g])
    return total


@njit
def _above(card: U64, lane: U64, low: Any) -> U64:
    """Return the cards of a suit that beat one of its cards."""
    under = card - ONE
    return (lane & under) if low else (lane & ~(under | card))


@njit
def expert_play(view: Any, rules: Any, w: Any) -> U64:
    """Return the card with the highest estimate."""
    contract = view.contract
    me = view.seat
    partner = me ^ view.pairing
    hand = view.hand
    low = view.low == 1
    trump = view.trump
    on_table = view.on_table
    leader = view.leader
    played = view.played[0] | view.played[1] | view.played[2] | view.played[3]
    unseen = _PACK & ~(hand | played)
    count = max(popcount(unseen), 1)
    behind = 3 - on_table

    # points are counted in 64ths
    e_all = 64 * _points_in(rules, contract, unseen) // count
    own = view.tricks[me] + view.tricks[partner]
    theirs = view.tricks_played - own
    t = 64 * rules.trick[contract]
    if rules.most[contract] != 0:
        t += rules.most[contract] * _PIVOT[8 * max(7 - own, 0) + max(7 - theirs, 0)] >> 2
    w_all = t + 4 * e_all

    k_t = np.int64(0)
    n_t = popcount(unseen & trump)
    h_own = popcount(hand & trump)
    if trump != ZERO:
        for j in range(1, 4):
            k_t += np.int64(view.void[(me + j) & 3] & trump == ZERO)
    has_trump = 256 - _NONE[16 * k_t + n_t]

    table = np.int64(0)
    best_so_far = ZERO
    partner_wins = False
    if on_table > 0:
        table = 64 * _points_in(rules, contract, view.trick)
        best_so_far = trick_winner(view.trick, view.suit, trump, low)
        for place in range(on_table):
            if view.trick_cards[place] == best_so_far:
                partner_wins = ((leader + place) & 3) == partner

    # pass 1: worth of each suit
    stake = np.int64(0)
    worth0 = np.int64(0)
    worth1 = np.int64(0)
    worth2 = np.int64(0)
    worth3 = np.int64(0)
    for s in range(4):
        lane = _LANE << np.uint64(16 * s)
        cards = unseen & lane
        n = popcount(cards)
        e_s = e_all
        if n > 0:
            e_s = 64 * _points_in(rules, contract, cards) // n
        k = np.int64(0)
        for j in range(1, 4):
            k += np.int64(view.void[(me + j) & 3] & lane == ZERO)
        none = _NONE[16 * k + n]
        follow = k * (256 - none)
        worth = t + e_s + ((follow * e_s + (768 - follow) * e_all) >> 8)
        stake += abs(worth)
        if s == 0:
            worth0 = worth
        elif s == 1:
            worth1 = worth
        elif s == 2:
            worth2 = worth
        else:
            worth3 = worth
    stake >>= 2

    best = ZERO
    best_value = np.int64(-(1 << 60))
    rest = view.legal
    led = view.suit
    last_lane = ZERO
    last = ZERO
    last_points = np.int64(0)
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        number = ctz(card)
        s = number >> 4
        lane = _LANE << np.uint64(16 * s)
        points = np.int64(rules.card_points[contract, number])
        if lane == last_lane and points == last_points and (unseen | view.trick) & lane & (card - last) == ZERO:
            last = card
            continue
        last_lane = lane
        last = card
        last_points = points
        suit = lane if on_table == 0 else led
        wins = on_table == 0
        if on_table > 0:
            wins = trick_winner(view.trick | card, suit, trump, low) == card
        top = card if wins else best_so_far
        x = np.int64(256) if wins or partner_wins else np.int64(0)

        # what is still to come in the led suit
        n = popcount(unseen & suit)
        k = np.int64(0)
        for j in range(1, 4):
            k += np.int64(view.void[(me + j) & 3] & suit == ZERO)
        none = _NONE[16 * k + n]
        to_come = np.int64(0)
        e_s = e_all
        if behind > 0:
            if n > 0:
                e_s = 64 * _points_in(rules, contract, unseen & suit) // n
            for j in range(behind):
                void = view.void[(me + 1 + j) & 3] & suit != ZERO
                p_void = np.int64(256) if void else none
                to_come += ((256 - p_void) * e_s + p_void * e_all) >> 8
        value = table + 64 * points + t + to_come
        if behind > 0:
            top_lane = led_suit(top)
            beating = unseen & _above(top, top_lane, low)
            h = popcount(beating)
            if value > 0:
                if top_lane == suit:
                    follow_beats = 256 - _NONE[16 * k + h]
                    ruff = w[_RUFF] if trump != suit else np.int64(0)
                else:
                    follow_beats = np.int64(0)
                    ruff = w[_RUFF]
                    has_trump = 256 - _NONE[16 * k_t + h]
                beaten = np.int64(256)
                for j in range(behind):
                    seat = (me + 1 + j) & 3
                    void = view.void[seat] & suit != ZERO
                    beats = np.int64(0) if void else follow_beats
                    if view.void[seat] & trump == ZERO and trump != ZERO:
                        p_void = np.int64(256) if void else none
                        beats += (p_void * has_trump >> 8) * ruff >> 8
                    beats = min(beats, 256)
                    beats = beats * beaten >> 8
                    if seat == partner:
                        gain = (256 - x) * beats >> 8
                        x += gain
                    else:
                        gain = x * beats >> 8
                        x -= gain
                    if gain > 64:
                        beaten = w[_REBEAT]
            elif top_lane == suit:
                forced = max(_NONE[16 * k + n - h] - none, 0)
                for j in range(behind):
                    seat = (me + 1 + j) & 3
                    if view.void[seat] & suit == ZERO:
                        if seat == partner:
                            x += (256 - x) * forced >> 8
                        else:
                            x -= x * forced >> 8
        score = (2 * x - 256) * value

        # what the card would have been worth later
        h = popcount(unseen & _above(card, lane, low))
        n_own = popcount(unseen & lane)
        if s == 0:
            worth = worth0
        elif s == 1:
            worth = worth1
        elif s == 2:
            worth = worth2
        else:
            worth = worth3
        if lane == trump:
            if w_all > 0:
                score -= w[_TRUMP + min(h, 7)] * (w_all + (stake * w[_OPTION] >> 8))
            else:
                score -= w[_TDANGER + min(n_own - h, 7)] * (w_all + (stake * w[_OPTION] >> 8))
        elif worth > 0:
            score -= w[_HIGH + min(h, 7)] * worth
        else:
            score -= w[_LOW + min(n_own - h, 7)] * worth
        score -= 64 * points * w[_KEEP_PLUS] if points > 0 else -64 * points * w[_KEEP_MINUS]
        if lane != trump:
            m = popcount(hand & lane)
            if m <= 3:
                score += stake * w[(_SHORT if h_own > 0 else _SHORT_N) + m - 1]
        # the lead next
        if wins:
            score += x * (w_all * w[_LEAD_WIN] if w_all > 0 else w_all * w[_LEAD_LOSE]) >> 8
        if on_table == 0:
            if lane == trump:
                score += stake * (w[_LEAD_TRUMP] if w_all > 0 else w[_LEAD_TRUMP_N]) * (3 * h_own - n_t) >> 2
            score += stake * (w[_LEAD_LEN] if worth > 0 else w[_LEAD_LEN_N]) * popcount(hand & lane) >> 2
        if score > best_value:
            best_value = score
            best = card
    return best
