"""Card play of the built-in player ``expert`` of Elections.

Every legal card gets an estimate in points and the best one is played:

    what the trick brings     chance that the own side wins it, from the cards and voids still out, times its points: those on the
                              table, the card's own, those the seats behind may be expected to add, and what the contract pays a
                              trick
    less what the card was    its chance to win (or be caught by) a later trick, times the worth of a trick of its suit, by the
    worth in the hand         unseen cards above or below it and the own cards that guard it; trumps, voids and the next lead

A trick's worth, in all and suit by suit, comes from the contract's payoff and the cards still out, and its sign says whether to
take or to duck.  So one rule draws trumps, ducks, unloads costly cards on the others' tricks and feeds paying ones to the
partner's, in any contract that a ruleset can hold.  All from the view: cards seen, voids shown, who partners whom.

Units: points in 64ths, chances and weights in 256ths.  The weights were set by hill climbing: one or a few weights changed at
random, kept where 1,500 to 1,800 deals each of 13 contracts of the shipped rulesets, sides swapped, showed a gain of 1.5 standard
errors over the weights before, and (at half weight) over ``greedy``.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount
from simcore.tricks import led_suit

__all__ = ["expert_play", "odd_points", "points_in"]

_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = (np.uint64(0x1FFF << 16 * suit) for suit in range(4))
_FIRSTS = np.uint64(0x0001000100010001)
_TWO, _THREE, _FOUR, _EIGHT = np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(8)

#: Chance that a seat holds none of n unseen cards, of which each is with one of k seats: entry 16 k + n.
_NONE = np.array([256 if k == 0 else round(256 * ((k - 1) / k) ** n) for k in range(4) for n in range(16)], np.int64)
#: 2^16 / n.
_SHARE = np.array([0] + [65536 // n for n in range(1, 53)], np.int64)
#: Chance that one trick decides who gets most tricks when the sides still need a and b of them: entry 8 a + b.
_PIVOT = np.array(
    [0 if min(a, b) == 0 else round(256 * comb(a + b - 2, a - 1) / 2 ** (a + b - 2)) for a in range(8) for b in range(8)],
    np.int64,
)

# Worth later, in tricks of the suit: three columns, the number of own cards of the suit below (0, 1, more).  Then single weights;
# where not said otherwise in units of the stake, the size of a trick's worth.
WEIGHTS = np.array(
    [
        # a card of a suit whose tricks pay, by unseen cards that beat it
        132, 132, 132,
        96, 96, 96,
        44, 44, 44,
        23, 23, 23,
        14, 8, 8,
        -5, -5, 1,
        -10, -15, -25,
        -24, -24, -24,
        # a card of a suit whose tricks cost, by unseen cards that it beats
        24, 6, -12,
        54, 30, 12,
        75, 51, 27,
        90, 66, 42,
        100, 76, 52,
        110, 86, 62,
        116, 92, 68,
        150, 96, 54,
        # a trump where tricks pay, by unseen trumps that beat it
        333, 327, 333,
        256, 250, 256,
        197, 191, 217,
        169, 163, 169,
        142, 136, 142,
        137, 131, 137,
        123, 117, 111,
        110, 104, 55,
        # a trump where tricks cost, by unseen trumps that it beats
        12, 12, 12,
        62, 62, 62,
        95, 95, 95,
        118, 118, 118,
        134, 134, 134,
        148, 148, 148,
        154, 154, 114,
        159, 159, 159,
        33,  # points not yet played: what paying cards are worth in hand, in 64ths
        51,  # the same for costly ones
        40,  # a side suit left void by the card, trumps in hand
        10,  # one card left
        -10,  # two left
        8,  # a suit left void, no trumps in hand
        10,  # one card left
        11,  # two left
        150,  # share of the chance to beat a card that is itself likely to have beaten
        200,  # chance that a seat that can ruff does
        10,  # the next lead where tricks pay
        2,  # the same where they cost
        198,  # lead of a trump by the surplus of trumps held, where tricks pay
        -5,  # the same where they cost
        0,  # lead by the suit's length, where its tricks pay
        -10,  # the same where they cost
        130,  # stake added to a trick's worth for trumps
        128,  # share of the bonus for more tricks that counts for one trick
        256,  # worth later, on lead, where tricks pay
        256,  # the same where they cost
        180,  # worth later, discarding or ruffing, where tricks pay
        332,  # the same where they cost
    ],
    np.int64,
)  # fmt: skip
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
    _TRUMP_OPTION,
    _MOST,
    _F_LEAD,
    _F_LEAD_N,
    _F_DISCARD,
    _F_DISCARD_N,
) = range(96, 118)
_TRUMPS, _COSTS = 48, 24  # offsets in the tables


@inlined
def odd_points(rules: Any, contract: I64, cards: U64) -> I64:
    """Return what the odd cards of a mask have beyond the usual points of their suits."""
    total = np.int64(0)
    odd = cards & rules.odd_cards[contract]
    while odd != ZERO:
        number = np.uint64(ctz(odd))
        odd &= odd - ONE
        total += rules.card_points[contract, number] - rules.suit_points[contract, number >> _FOUR]
    return total


@inlined
def points_in(rules: Any, contract: I64, cards: U64) -> I64:
    """Return the points of the cards of a mask."""
    return (
        odd_points(rules, contract, cards)
        + rules.suit_points[contract, 0] * popcount(cards & _CLUBS)
        + rules.suit_points[contract, 1] * popcount(cards & _DIAMONDS)
        + rules.suit_points[contract, 2] * popcount(cards & _HEARTS)
        + rules.suit_points[contract, 3] * popcount(cards & _SPADES)
    )


@inlined
def _mean_points(rules: Any, contract: I64, suit: U64, cards: U64, n: I64, otherwise: I64) -> I64:
    """Return the mean points of n cards of a suit, in 64ths."""
    if n == 0:
        return otherwise
    mean = 64 * rules.suit_points[contract, np.uint64(ctz(suit)) >> _FOUR]
    if cards & rules.odd_cards[contract] != ZERO:
        mean += odd_points(rules, contract, cards) * _SHARE[np.uint64(n)] >> 10
    return mean


@inlined
def _holders(voids: U64, suit: U64) -> I64:
    """Return how many other seats may hold cards of a suit; ``voids`` counts in each suit's lowest bits those who do not."""
    return 3 - np.int64((voids >> np.uint64(ctz(suit))) & _THREE)


@inlined
def _beating(card: U64, suit: U64, low: bool) -> U64:
    """Return the cards of a suit that beat one of its cards."""
    under = card - ONE
    return (suit & under) if low else (suit & ~(under | card))


@inlined
def _weakest(cards: U64, low: bool) -> U64:
    """Return the weakest of the cards of a suit."""
    return highest_bit(cards) if low else lowest_bit(cards)


@inlined
def _distinct(held: U64, between: U64, odd: U64) -> U64:
    """Return the cards of a hand but for those next above another one of equal points: no card of ``between`` lies between.

    Upward fill from the cards through places that nobody can play any more, in doubling steps (Kogge and Stone).
    """
    gaps = _PACK & ~between
    fill = ((held & ~odd) << ONE) & gaps
    fill |= gaps & (fill << ONE)
    gaps &= gaps << ONE
    fill |= gaps & (fill << _TWO)
    gaps &= gaps << _TWO
    fill |= gaps & (fill << _FOUR)
    gaps &= gaps << _FOUR
    fill |= gaps & (fill << _EIGHT)
    return held & (odd | ~fill)


@inlined
def _chance(
    x: I64, beats: I64, ruffs: I64, again: I64,
    may1: I64, may2: I64, may3: I64, ruff1: I64, ruff2: I64, ruff3: I64, side1: I64, side2: I64, side3: I64,
) -> I64:  # fmt: skip
    """Return the chance that the own side gets the trick, when x it is before the seats behind have played.

    Args:
        beats, ruffs: chance that a seat that may follow beats the best card in its suit, or with a trump if it is void.
        again: factor for a seat that must beat a seat that is likely to have beaten.
        may1 …: 1 where the seat may follow, ruff1 …: chance that it may ruff, side1 …: 256 for the partner, else 0.
    """
    d = (side1 - x) * (may1 * beats + (ruff1 * ruffs >> 8)) >> 8
    x += d
    p = may2 * beats + (ruff2 * ruffs >> 8)
    p = p * again >> 8 if abs(d) > 64 else p
    e = (side2 - x) * p >> 8
    x += e
    p = may3 * beats + (ruff3 * ruffs >> 8)
    p = p * again >> 8 if max(abs(d), abs(e)) > 64 else p
    return x + ((side3 - x) * p >> 8)


@njit
def expert_play(view: Any, rules: Any) -> U64:
    """Return the card with the best estimate."""
    contract = np.uint64(view.contract)
    me = view.seat & 3
    hand = view.hand
    trump = view.trump
    low = view.low == 1
    on_table = view.on_table
    led = view.suit
    unseen = _PACK & ~(hand | view.played[0] | view.played[1] | view.played[2] | view.played[3])
    odd = rules.odd_cards[contract]
    distinct = _distinct(view.legal, unseen | view.trick, odd)
    if distinct & (distinct - ONE) == ZERO:
        return distinct
    behind = 3 - on_table
    partner = (me ^ view.pairing) & 3
    side1 = np.int64(256) if (me + 1) & 3 == partner else np.int64(0)
    side2 = np.int64(256) if (me + 2) & 3 == partner else np.int64(0)
    side3 = np.int64(256) if (me + 3) & 3 == partner else np.int64(0)
    void1 = view.void[(me + 1) & 3]
    void2 = view.void[(me + 2) & 3]
    void3 = view.void[(me + 3) & 3]
    voids = (void1 & _FIRSTS) + (void2 & _FIRSTS) + (void3 & _FIRSTS)
    # who has played to the trick neither follows nor ruffs any more
    out1 = void1 if behind > 0 else _PACK
    out2 = void2 if behind > 1 else _PACK
    out3 = void3 if behind > 2 else _PACK

    # the worth of a trick: what it pays, and four cards
    e_all = points_in(rules, contract, unseen) * _SHARE[np.uint64(popcount(unseen))] >> 10
    pays = 64 * rules.trick[contract]
    if rules.most[contract] != 0:
        own = view.tricks[me] + view.tricks[partner]
        theirs = view.tricks_played - own
        pivot = _PIVOT[8 * max(7 - own, 0) + max(7 - theirs, 0)]
        pays += rules.most[contract] * (WEIGHTS[_MOST] * pivot >> 8) >> 2
    any_trick = pays + 4 * e_all
    stake = abs(any_trick) + 32

    trumps_unseen = popcount(unseen & trump)
    trumps_held = popcount(hand & trump)
    trump_holders = _holders(voids, trump) if trump != ZERO else np.int64(0)
    can_ruff = (256 - _NONE[np.uint64(16 * trump_holders + trumps_unseen)]) * WEIGHTS[_RUFF] >> 8

    # the trick on the table: its points, its best card, and of the suit led the unseen cards, who may hold them, their mean points
    here = pays + behind * e_all
    winning = ZERO
    won = np.int64(0)
    n = np.int64(0)
    holders = np.int64(0)
    e_led = e_all
    if on_table > 0:
        trumps = view.trick & trump
        winning = trumps if trumps != ZERO else view.trick & led
        winning = lowest_bit(winning) if low else highest_bit(winning)
        here += 64 * rules.card_points[contract, np.uint64(ctz(view.trick_cards[0]))]
        if on_table > 1:
            if view.played[partner] & winning != ZERO:
                won = np.int64(256)
            here += 64 * rules.card_points[contract, np.uint64(ctz(view.trick_cards[1]))]
            if on_table > 2:
                here += 64 * rules.card_points[contract, np.uint64(ctz(view.trick_cards[2]))]
        n = popcount(unseen & led)
        holders = _holders(voids, led)
        e_led = _mean_points(rules, contract, led, unseen & led, n, e_all)
    ready = False
    none = np.int64(256)
    may1 = may2 = may3 = ruff1 = ruff2 = ruff3 = ruffs = np.int64(0)

    best = ZERO
    best_score = np.int64(-(1 << 60))
    while distinct != ZERO:
        suit = led_suit(lowest_bit(distinct))
        cards = distinct & suit
        distinct ^= cards
        held = hand & suit
        m = popcount(held)
        if on_table == 0 or (suit != led and suit != trump):
            # the cards between hardly ever are the best: not looked at
            cards &= odd | highest_bit(cards) | lowest_bit(cards)
        n_suit = n
        k_suit = holders
        e_suit = e_led
        if suit != led:
            n_suit = popcount(unseen & suit)
            k_suit = _holders(voids, suit)
            e_suit = _mean_points(rules, contract, suit, unseen & suit, n_suit, e_all)
        none_suit = _NONE[np.uint64(16 * k_suit + n_suit)]
        worth = pays + e_suit + 3 * e_all + ((k_suit * (256 - none_suit) * (e_suit - e_all)) >> 8)
        if on_table == 0:
            led = suit
            n = n_suit
            holders = k_suit
            e_led = e_suit
            here = pays + 3 * e_all
            ready = False
        if not ready:
            # what the seats behind can do in the suit led
            ready = True
            none = _NONE[np.uint64(16 * holders + n)]
            may1 = np.int64(out1 & led == ZERO)
            may2 = np.int64(out2 & led == ZERO)
            may3 = np.int64(out3 & led == ZERO)
            here += (may1 + may2 + may3) * (256 - none) * (e_led - e_all) >> 8
            if led != trump:
                ruffs = can_ruff
                ruff1 = (none if may1 == 1 else np.int64(256)) if out1 & trump == ZERO else np.int64(0)
                ruff2 = (none if may2 == 1 else np.int64(256)) if out2 & trump == ZERO else np.int64(0)
                ruff3 = (none if may3 == 1 else np.int64(256)) if out3 & trump == ZERO else np.int64(0)
            else:
                ruffs = ruff1 = ruff2 = ruff3 = np.int64(0)

        # what tricks of the suit are worth later, and where in the tables its cards are
        pay = worth > 0
        base = np.int64(0)
        scale = worth
        if suit == trump:
            pay = any_trick > 0
            base = np.int64(_TRUMPS)
            scale = any_trick + (stake * WEIGHTS[_TRUMP_OPTION] >> 8)
        if not pay:
            base += _COSTS
        if on_table == 0:
            scale = scale * (WEIGHTS[_F_LEAD] if pay else WEIGHTS[_F_LEAD_N]) >> 8
        elif suit != led:
            scale = scale * (WEIGHTS[_F_DISCARD] if pay else WEIGHTS[_F_DISCARD_N]) >> 8

        # without the weakest card, or the next, the cards above have a guard less
        shift1 = np.int64(0)
        shift2 = np.int64(0)
        if m > 1:
            rest = held ^ _weakest(held, low)
            card = _weakest(rest, low)
            h = popcount(unseen & _beating(card, suit, low))
            entry = np.uint64(base + 3 * min(h if pay else n_suit - h, 7))
            shift1 = WEIGHTS[entry + ONE] - WEIGHTS[entry]
            if m > 2:
                card = _weakest(rest ^ card, low)
                h = popcount(unseen & _beating(card, suit, low))
                entry = np.uint64(base + 3 * min(h if pay else n_suit - h, 7))
                shift2 = WEIGHTS[entry + _TWO] - WEIGHTS[entry + ONE]

        common = np.int64(0)
        if suit != trump and m <= 3:
            common += stake * WEIGHTS[np.uint64((_SHORT if trumps_held > 0 else _SHORT_N) + m - 1)]
        if on_table == 0:
            if suit == trump:
                common += (
                    stake * (WEIGHTS[_LEAD_TRUMP] if any_trick > 0 else WEIGHTS[_LEAD_TRUMP_N]) * (3 * trumps_held - trumps_unseen)
                    >> 2
                )
            common += stake * (WEIGHTS[_LEAD_LEN] if worth > 0 else WEIGHTS[_LEAD_LEN_N]) * m >> 2

        # can a card of the suit be the trick's best so far
        may_win = on_table == 0 or suit == trump or (suit == led and winning & suit != ZERO)
        lead_worth = any_trick * (WEIGHTS[_LEAD_WIN] if any_trick > 0 else WEIGHTS[_LEAD_LOSE])
        # From here on choices of values, not of ways: what a card does is a coin toss to a branch predictor.
        while cards != ZERO:
            card = lowest_bit(cards)
            cards ^= card
            beating = _beating(card, suit, low)
            h = popcount(unseen & beating)
            points = 64 * np.int64(rules.card_points[contract, np.uint64(ctz(card))])
            wins = may_win & (winning & beating == ZERO)
            value = here + points
            wanted = value > 0
            x = np.int64(256) if wins else won
            if behind > 0:
                # a trick wanted is beaten by who can, one not wanted is taken by who must
                top = card if wins else winning
                in_led = top & led != ZERO
                above = popcount(unseen & _beating(top, led if in_led else trump, low))
                none_above = _NONE[
                    np.uint64((16 * holders if in_led else 16 * trump_holders) + (above if wanted or not in_led else n - above))
                ]
                beats = (256 - none_above if wanted else none_above - none) if in_led else np.int64(0)
                over = ruffs if in_led else (256 - none_above) * WEIGHTS[_RUFF] >> 8
                over = over if wanted else np.int64(0)
                again = WEIGHTS[_REBEAT] if wanted else np.int64(256)
                x = _chance(x, beats, over, again, may1, may2, may3, ruff1, ruff2, ruff3, side1, side2, side3)
            guards = popcount(held & ~beating) - 1
            later = WEIGHTS[np.uint64(base + 3 * min(h if pay else n_suit - h, 7) + min(guards, 2))]
            later += shift2 if guards < 2 else np.int64(0)
            later += shift1 if guards < 1 else np.int64(0)
            score = common + (2 * x - 256) * value
            score -= later * scale + abs(points) * (WEIGHTS[_KEEP_PLUS] if points > 0 else WEIGHTS[_KEEP_MINUS])
            score += x * lead_worth >> 8 if wins else np.int64(0)
            if score > best_score:
                best_score = score
                best = card
    return best
