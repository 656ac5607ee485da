"""The Showcase player ``expert``: what a good human does, in integers, one pass over a few masks a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount
from simcore.showcase.state import FIRST, TRUMP
from simcore.tricks import led_suit, trick_winner

__all__ = ["expert_action"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)

# Weights in thousandths of a trick.
WORTH = np.array([0, 0, 0, 0, 0, 0, 20, 50, 100, 200, 400, 600, 800], np.int64)
# LONG, MEAN, LEAD, DUCK (of 256), SHOWN
WEIGHTS = np.array([50, 200, 1000, 200, 0], np.int64)
NAME, SPREAD = 4000, 0.9


def _prices(name, spread):
    """Return int64[27, 64]: what one counted trick costs, by tricks to go and twice the lead in counts."""
    out = np.zeros((27, 64), np.int64)
    for r in range(27):
        sd = 2 * spread * np.sqrt(r + 0.5)
        for d in range(64):
            out[r, d] = int(2 * name * 0.3989 / sd * np.exp(-0.5 * (d / sd) ** 2))
    return out


PRICES = _prices(NAME, SPREAD)


@njit
def expert_action(kind: I64, view: Any, rules: Any) -> U64:
    """Return the expert's decision."""
    if kind == FIRST:
        return first_card(view, rules, WORTH, WEIGHTS, PRICES)
    if kind == TRUMP:
        return name_trump(view, rules)
    return second_card(view, rules)


# ---- first playout ----------------------------------------------------------------------------------------------------------------


@njit
def first_card(view: Any, rules: Any, worth: Any, weights: Any, prices: Any) -> U64:
    me = view.seat
    magri = rules.magri == 1
    own = view.hand | view.show[me]
    if magri:
        ahead = 2 * (view.value[me] - view.value[1 - me])
        togo = 13 - view.tricks_played
        middle = togo == 1
    else:
        ahead = 2 * (popcount(view.owned[me] & ~view.broken) - popcount(view.owned[1 - me] & ~view.broken))
        togo = view.reserve
        middle = view.tricks_played == 12 if rules.second_lead == 0 else togo == 1
        if view.middle >= 0 and rules.second_lead == 0:
            ahead += 1 if (view.middle == me) == (rules.tie_namer == 0) else -1
    price = prices[togo, min(abs(ahead), 63)]
    mean = weights[1]
    prize = weights[2] if middle else np.int64(0)
    unseen = _FULL & ~(own | view.show[1 - me] | view.discards | view.lead | (ONE << np.uint64(view.turned)))
    if magri:
        unseen &= ~(ONE << np.uint64(view.display))
    hidden = np.int64(0)
    stays = np.int64(256)
    all_unseen = popcount(unseen)
    if view.on_table == 0 and all_unseen > 0:
        known = 1 if not magri and rules.turned_card == 1 else 0
        hidden = all_unseen - (view.reserve - known)
        if magri:
            hidden = all_unseen - view.reserve
        stays = 256 * (all_unseen - hidden) // all_unseen
    # gain of taking the trick apart from the cards in it
    gift = np.int64(0)
    if magri:
        gift = _worth(ONE << np.uint64(view.display), own, worth, weights) - mean
    else:
        gift = -mean
    take = gift + prize - (np.int64(0) if magri else price)
    best = ZERO
    best_score = np.int64(-(1 << 40))
    rest = view.legal
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        value = _worth(card, own, worth, weights)
        score = np.int64(0)
        if card & view.show[me] != ZERO and not magri:
            score += weights[4]
            if (ONE << np.uint64(view.lies_in[ctz(card)])) & view.broken == ZERO:
                score += price
        if magri:
            score -= value
        if view.on_table == 1:
            follows = card & view.suit != ZERO
            if magri:
                if not follows:
                    score += take - price
                elif card > view.lead:
                    score += take
                else:
                    score -= take
            elif trick_winner(view.lead | card, view.suit, view.trump, False) == card:
                score += take + 2 * _worth(view.lead, own, worth, weights)
            else:
                score -= take + 2 * value
        else:
            suit = led_suit(card)
            above = suit & ~((card << ONE) - ONE)
            beats = view.show[1 - me] & above != ZERO
            keeps = np.int64(0)
            if not beats:
                n = popcount(unseen & above)
                keeps = np.int64(256)
                while n > 0:
                    keeps = keeps * stays >> 8
                    n -= 1
            # of 256: he cannot beat it, or does not
            wins = keeps + ((256 - keeps) * (256 - weights[3]) >> 8)
            if magri:
                score += (2 * wins - 256) * take >> 8
            else:
                score += (wins * take - (256 - wins) * (take + 2 * value)) >> 8
        if score > best_score:
            best_score = score
            best = card
    return best


@njit
def _worth(card: U64, own: U64, worth: Any, weights: Any) -> I64:
    rank = np.int64(np.uint64(ctz(card)) & _FIFTEEN)
    length = popcount(own & led_suit(card))
    return worth[rank] + weights[0] * max(np.int64(0), length - 3)


# ---- naming -----------------------------------------------------------------------------------------------------------------------


@njit
def name_trump(view: Any, rules: Any) -> U64:
    best = ZERO
    best_score = np.int64(-100000)
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        mine = view.hand & lane
        his = view.other & lane
        score = 4 * (popcount(mine) - popcount(his)) + popcount(mine)
        if mine != ZERO:
            score += 2 * popcount(mine & ~(highest_bit(his | ONE << np.uint64(16 * suit)) - ONE))
        if score > best_score:
            best_score = score
            best = ONE << np.uint64(suit)
    return best


# ---- second playout ---------------------------------------------------------------------------------------------------------------


@njit
def second_card(view: Any, rules: Any) -> U64:
    if view.on_table == 1:
        return follow(view.legal, view.lead, view.suit, view.trump)
    return lead(view.hand, view.other, view.trump, view.all_trump)


@njit
def follow(legal: U64, led: U64, suit: U64, trump: U64) -> U64:
    higher = legal & suit & ~(led - ONE)
    if higher != ZERO:
        return lowest_bit(higher)
    if legal & suit == ZERO and legal & trump != ZERO:
        return lowest_bit(legal & trump)
    return _lowest_rank(legal)


@njit
def _lowest_rank(cards: U64) -> U64:
    best = ZERO
    rank = np.int64(99)
    while cards != ZERO:
        card = lowest_bit(cards)
        suit = led_suit(card)
        cards &= ~suit
        r = np.int64(np.uint64(ctz(card)) & _FIFTEEN)
        if r < rank:
            rank = r
            best = card
    return best


@njit
def lead(mine: U64, his: U64, trump: U64, all_trump: I64) -> U64:
    best = ZERO
    best_score = np.int64(-100000)
    ruffs = his & trump != ZERO or all_trump == 1
    for s in range(4):
        lane = _LANE << np.uint64(16 * s)
        a = mine & lane
        b = his & lane
        if a == ZERO:
            continue
        if b == ZERO:
            score = np.int64(-5) if ruffs and lane != trump else np.int64(50)
            card = lowest_bit(a)
        elif highest_bit(a) > highest_bit(b):
            score = np.int64(60)
            card = lowest_bit(a & ~(highest_bit(b) - ONE))
        else:
            score = np.int64(0)
            card = lowest_bit(a)
        score += popcount(a)
        if lane == trump:
            score -= 3
        if score > best_score:
            best_score = score
            best = card
    return best
