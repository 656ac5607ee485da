"""Card play of the built-in player ``expert`` of Elections.

The candidates get an estimate in points and the best one is played:

    what the trick brings     chance that the own side wins it, from the cards and voids still out, times its points: those on the
                              table, the card's own, those the seats behind may be expected to add, and what the contract pays a
                              trick
    less what the card was    its chance to win (or be caught by) a later trick, times the worth of a trick of its suit, by the
    worth in the hand         unseen cards above or below it and the own cards that guard it; trumps, voids and the next lead

A trick's worth, in all and suit by suit, comes from the contract's payoff and the cards still out, and its sign says whether to
take or to duck.  So one rule draws trumps, ducks, unloads costly cards on the others' tricks and feeds paying ones to the
partner's, in any contract that a ruleset can hold.  All from the view: cards seen, voids shown, who partners whom.

Candidates are the strongest and the weakest card of a suit, of those that would take the trick and of those that would not, and
every odd card (one whose points are not the usual ones of its suit): the cards between hardly ever are the best.

Units: points in 64ths, chances and weights in 256ths.  What can be known beforehand stands in tables.  The weights were set by
hill climbing: one or a few weights changed at random, kept where 1,500 to 1,800 deals each of 13 contracts of the shipped rulesets,
sides swapped, showed a gain of 1.5 standard errors over the weights before, and (at half weight) over ``greedy``.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount

__all__ = ["expert_play"]

_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = (np.uint64(0x1FFF << 16 * suit) for suit in range(4))
_FIRSTS = np.uint64(0x0001000100010001)
_TWO, _THREE, _FOUR, _SEVEN, _SUIT_BITS, _LAST = (np.uint64(x) for x in (2, 3, 4, 7, 48, 63))
_ALL = np.uint64((1 << 64) - 1)

_RUFF = 200  # chance that a seat that can ruff does
_REBEAT = 150  # share of the chance to beat a card that is itself likely to have beaten
_LEAD_WIN, _LEAD_LOSE = 10, 2  # the next lead, by a trick's worth, where tricks pay and where they cost
_LEAD_TRUMP, _LEAD_TRUMP_N = 198, -5  # lead of a trump by the surplus of trumps held, where tricks pay and where they cost
_TRUMP_OPTION = 130  # stake added to a trick's worth for trumps
_MOST = 128  # share of the bonus for more tricks that counts for one trick
_THROW, _THROW_N = 180, 332  # worth later, discarding or ruffing, where tricks pay and where they cost
_KEEP, _KEEP_N = 33, 51  # points not yet played: what paying and costly cards are worth in hand, in 64ths


# ---- tables -------------------------------------------------------------------------------------------------------------------
#
# Seats are named by how far they sit to the left: bit 0 the next one, bit 2 the one on the right.


def _chance(wanted: int, start: int, partner: int, seats: int, p: float) -> int:
    """Return the chance that the own side gets a trick, ``start`` (0 or 1) before the seats behind have played.

    Each of ``seats`` that may follow beats the best card with chance p; one that must beat a card likely to have beaten does so
    less often, if it can choose.
    """
    x = 256.0 * start
    most = 0.0
    for seat in range(3):
        if seats >> seat & 1:
            step = ((256.0 if seat == partner else 0.0) - x) * (p * _REBEAT / 256 if wanted and most > 64 else p)
            x += step
            most = max(most, abs(step))
    return round(x)


#: Chance that a seat holds none of n unseen cards, each of which is with one of the seats not void: entry 16 void + n.
_NONE = np.array(
    [256 if void == 7 else round(256 * (1 - 1 / (3 - void.bit_count())) ** n) for void in range(8) for n in range(16)], np.int64
)
#: How many seats can follow, times 256: entry 16 void + n.
_FOLLOWERS = np.array(
    [(3 - void.bit_count()) * (256 - int(_NONE[16 * void + n])) for void in range(8) for n in range(16)], np.int64
)
#: _chance(wanted, start, partner, seats, p / 32).
_GETS = np.array(
    [
        _chance(wanted, start, partner, seats, p / 32)
        for wanted in range(2)
        for start in range(2)
        for partner in range(3)
        for seats in range(8)
        for p in range(33)
    ],
    np.int16,
)
_PER_SEATS, _PER_START, _PER_WANTED = 33, 3 * 8 * 33, 2 * 3 * 8 * 33
#: Of the seats that may ruff, how many of the others are void (bits 0–1) or may be (2–3), whether the partner is (4) or may be (5).
_RUFFERS = np.array(
    [
        (may & void & ~own).bit_count() | (may & ~void & ~own).bit_count() << 2
        | (may & void & own).bit_count() << 4 | (may & ~void & own).bit_count() << 5
        for own in (1, 2, 4) for may in range(8) for void in range(8)
    ],
    np.int64,
)  # fmt: skip
#: 2^16 / n.
_SHARE = np.array([0] + [65536 // n for n in range(1, 53)], np.int64)
#: Chance that one trick decides who gets most tricks when the sides still need a and b of them: entry 8 a + b.
_PIVOT = np.array(
    [0 if min(a, b) == 0 else round(256 * comb(a + b - 2, a - 1) / 2 ** (a + b - 2)) for a in range(8) for b in range(8)],
    np.int64,
)

# Worth of a card later, in tricks of its suit, by unseen cards that beat it (where tricks cost: that it beats), and by own cards of
# the suit below it: none and no card above, 1, more; none, with one card above that loses its guard; the same with more.
_PLUS = ((132, 132, 132), (96, 96, 96), (44, 44, 44), (23, 23, 23), (14, 8, 8), (-5, -5, 1), (-10, -15, -25), (-24, -24, -24))
_MINUS = ((24, 6, -12), (54, 30, 12), (75, 51, 27), (90, 66, 42), (100, 76, 52), (110, 86, 62), (116, 92, 68), (150, 96, 54))
_TRUMP_PLUS = (
    (333, 327, 333), (256, 250, 256), (197, 191, 217), (169, 163, 169),
    (142, 136, 142), (137, 131, 137), (123, 117, 111), (110, 104, 55),
)  # fmt: skip
_TRUMP_MINUS = tuple((w, w, w) for w in (12, 62, 95, 118, 134, 148)) + ((154, 154, 114), (159, 159, 159))
_GUARD_LOST = ((-1, -2), (-22, -44), (-6, 4), (0, 0))
#: Entry 128 (2 trump + cost) + 8 cards + column.
_LATER = np.array(
    [
        (*row[min(cards, 7)], row[min(cards, 7)][0] + lost[0], row[min(cards, 7)][0] + lost[1], 0, 0, 0)
        for row, lost in zip((_PLUS, _MINUS, _TRUMP_PLUS, _TRUMP_MINUS), _GUARD_LOST, strict=True)
        for cards in range(16)
    ],
    np.int16,
).reshape(-1)
_COST, _TRUMPS = 128, 256
#: Columns of _LATER for the strongest of m cards of a suit, and then for the weakest.
_COLUMN = np.array([0, 0, 1] + [2] * 13 + [0, 0, 3] + [4] * 13, np.int64)
_WEAKEST = 16
#: A side suit left short by the card, in 4ths of 256ths of the stake: entry 32 pay + 16 (trumps in hand) + m.
_SHORT = np.array(
    [
        (0, *((160, 40, -40) if trumps else (32, 40, 44)))[m] if m < 4 else 0
        for _ in range(2)
        for trumps in range(2)
        for m in range(16)
    ],
    np.int64,
)
#: The same for a lead; long suits are not led where tricks cost.
_SHORT_LED = _SHORT - np.array([0 if pay else 10 * m for pay in (0, 1) for _ in (0, 1) for m in range(16)])


# ---- points -------------------------------------------------------------------------------------------------------------------


@inlined
def _odd_points(rules: Any, contract: U64, cards: U64) -> I64:
    """Return what the odd cards of a mask have beyond the usual points of their suits."""
    total = np.int64(0)
    odd = cards & rules.odd_cards[contract]
    while odd != ZERO:
        number = np.uint64(ctz(odd))
        odd &= odd - ONE
        total += rules.card_points[contract, number] - rules.suit_points[contract, number >> _FOUR]
    return total


@inlined
def _mean_of_all(rules: Any, contract: U64, cards: U64) -> I64:
    """Return the mean points of some cards, in 64ths."""
    total = (
        rules.suit_points[contract, 0] * popcount(cards & _CLUBS)
        + rules.suit_points[contract, 1] * popcount(cards & _DIAMONDS)
        + rules.suit_points[contract, 2] * popcount(cards & _HEARTS)
        + rules.suit_points[contract, 3] * popcount(cards & _SPADES)
        + _odd_points(rules, contract, cards)
    )
    return total * _SHARE[np.uint64(popcount(cards))] >> 10


@inlined
def _mean_of_suit(rules: Any, contract: U64, suit: U64, cards: U64, n: I64) -> I64:
    """Return the mean points of n cards of a suit (a number), in 64ths."""
    mean = 64 * rules.suit_points[contract, suit]
    if cards & rules.odd_cards[contract] != ZERO:
        mean += _odd_points(rules, contract, cards) * _SHARE[np.uint64(n)] >> 10
    return mean


@inlined
def _points_of(rules: Any, contract: U64, card: U64) -> I64:
    """Return a card's points in 64ths."""
    return 64 * np.int64(rules.card_points[contract, np.uint64(ctz(card))])


# ---- parts of an estimate -----------------------------------------------------------------------------------------------------


@inlined
def _beating(card: U64, up: U64) -> U64:
    """Return a mask of which the cards of the card's suit, but for the card itself, beat it; ``up`` is zero in low contracts."""
    return (card - ONE) ^ up


@inlined
def _gets(seats: I64, start: I64, wanted: bool, void: U64, n: I64, above: I64) -> I64:
    """Return the chance that the own side gets the trick when ``above`` of n unseen cards beat the best one.

    A trick wanted is beaten by who can, one not wanted is taken by who must.

    Args:
        seats: where the partner sits and who may still follow, as an index of _GETS.
        start: 1 where the own side has the trick so far.
        void: 16 times the mask of the seats without the suit.
    """
    none = _NONE[void + np.uint64(above if wanted else n - above)]
    p = (256 - none if wanted else none - _NONE[void + np.uint64(n)]) + 4
    return np.int64(_GETS[np.uint64(seats + (p >> 3) + (_PER_START if start != 0 else 0) + (_PER_WANTED if wanted else 0))])


@inlined
def _ruffs(may_ruff: U64, void: U64, none: I64, chance: I64, partner: I64) -> tuple[I64, I64]:
    """Return 256 less the chance that somebody ruffs, and the chance that the partner does.

    Args:
        may_ruff, void: masks of the seats that may hold trumps, and that are known to be void in the suit led.
        none: chance that one of the other seats is void.
        chance: that a seat that is void ruffs.
    """
    counts = _RUFFERS[np.uint64(64 * partner) + (may_ruff << _THREE) + void]
    theirs = chance * ((counts & 3) * 256 + (counts >> 2 & 3) * none) >> 8
    ours = chance * ((counts >> 4 & 1) * 256 + (counts >> 5) * none) >> 8
    return max(256 - theirs - ours, 0), ours


@inlined
def _later(table: I64, pay: bool, n: I64, above: I64, column: I64) -> I64:
    """Return what a card is worth later, in tricks."""
    return np.int64(_LATER[np.uint64(table + 8 * (above if pay else n - above) + column)])


@inlined
def _column(m: I64, weakest: bool) -> I64:
    """Return the column of _LATER for the weakest of m cards of a suit, or for another one."""
    return _COLUMN[np.uint64(m + (_WEAKEST if weakest else 0))]


@inlined
def _kept(points: I64) -> I64:
    """Return what the points of a card are worth in the hand."""
    return points * (_KEEP if points > 0 else -_KEEP_N)


@inlined
def _ranked(score: I64, card: U64) -> I64:
    """Return score and card as one number to take the greatest of; of equals the lowest card."""
    return (score << 6) | np.int64(_LAST - np.uint64(ctz(card)))


@inlined
def _card_of(ranked: I64) -> U64:
    return ONE << (_LAST - (np.uint64(ranked) & _LAST))


# ---- leads and discards, suit by suit -----------------------------------------------------------------------------------------


@inlined
def _lead(
    best: I64, suit: U64, rules: Any, contract: U64, hand: U64, unseen: U64, voids: U64, trump: U64, up: U64, partner: I64,
    seats: I64, base: I64, e_all: I64, any_trick: I64, stake: I64, trumps_held: I64, trumps_unseen: I64, may_ruff: U64,
    can_ruff: I64, leading: I64,
) -> I64:  # fmt: skip
    """Return the better of the best so far and the best lead of a suit (a number)."""
    lane = _LANE << (suit << _FOUR)
    held = hand & lane
    out = unseen & lane
    n = popcount(out)
    m = popcount(held)
    mask = (voids >> (suit << _FOUR)) & _SEVEN
    void = mask << _FOUR
    e_suit = _mean_of_suit(rules, contract, suit, out, n)
    here = base + ((_FOLLOWERS[void + np.uint64(n)] * (e_suit - e_all)) >> 8)
    worth = here + e_suit
    pay = worth > 0
    keep = np.int64(256)
    ours = np.int64(0)
    if lane == trump:
        pay = any_trick > 0
        table = np.int64(_TRUMPS) if pay else np.int64(_TRUMPS + _COST)
        scale = any_trick + (stake * _TRUMP_OPTION >> 8)
        common = (stake * (_LEAD_TRUMP if pay else _LEAD_TRUMP_N) >> 2) * (3 * trumps_held - trumps_unseen)
    else:
        table = np.int64(0) if pay else np.int64(_COST)
        scale = worth
        common = stake * _SHORT_LED[np.uint64((32 if pay else 0) + (16 if trumps_held > 0 else 0) + m)] >> 2
        if can_ruff > 0:
            keep, ours = _ruffs(may_ruff, mask, _NONE[void + np.uint64(n)], can_ruff, partner)
    seats += np.int64(~mask & _SEVEN) * _PER_SEATS

    odd = held & rules.odd_cards[contract]
    usual = held ^ odd
    if usual != ZERO:
        points = 64 * rules.suit_points[contract, suit]
        value = here + points
        wanted = value > 0
        factor = 2 * value + leading
        fixed = common - 256 * value - _kept(points)
        kept = keep if wanted else np.int64(256)
        added = ours if wanted else np.int64(0)
        strong = highest_bit(usual) if up != ZERO else lowest_bit(usual)
        above = popcount(out & _beating(strong, up))
        x = (_gets(seats, np.int64(1), wanted, void, n, above) * kept >> 8) + added
        best = max(best, _ranked(fixed + x * factor - _later(table, pay, n, above, _column(m, False)) * scale, strong))
        weak = lowest_bit(usual) if up != ZERO else highest_bit(usual)
        above = popcount(out & _beating(weak, up))
        x = (_gets(seats, np.int64(1), wanted, void, n, above) * kept >> 8) + added
        best = max(best, _ranked(fixed + x * factor - _later(table, pay, n, above, _column(m, True)) * scale, weak))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = _points_of(rules, contract, card)
        value = here + points
        above = popcount(out & _beating(card, up))
        x = _gets(seats, np.int64(1), value > 0, void, n, above)
        if value > 0:
            x = (x * keep >> 8) + ours
        score = common + x * (2 * value + leading) - 256 * value - _kept(points)
        best = max(best, _ranked(score - _later(table, pay, n, above, _column(m, False)) * scale, card))
    return best


@inlined
def _throw(
    best: I64, suit: U64, rules: Any, contract: U64, hand: U64, unseen: U64, voids: U64, up: U64, pays: I64, e_all: I64, here: I64,
    stake: I64, trumps_held: I64, x_wanted: I64, x_unwanted: I64,
) -> I64:  # fmt: skip
    """Return the better of the best so far and the best discard of a side suit (a number)."""
    lane = _LANE << (suit << _FOUR)
    held = hand & lane
    out = unseen & lane
    n = popcount(out)
    m = popcount(held)
    void = ((voids >> (suit << _FOUR)) & _SEVEN) << _FOUR
    e_suit = _mean_of_suit(rules, contract, suit, out, n)
    worth = pays + e_suit + 3 * e_all + ((_FOLLOWERS[void + np.uint64(n)] * (e_suit - e_all)) >> 8)
    pay = worth > 0
    table = np.int64(0) if pay else np.int64(_COST)
    scale = worth * (_THROW if pay else _THROW_N) >> 8
    common = stake * _SHORT[np.uint64((32 if pay else 0) + (16 if trumps_held > 0 else 0) + m)] >> 2
    odd = held & rules.odd_cards[contract]
    usual = held ^ odd
    if usual != ZERO:
        # the trick does not depend on the card: one candidate
        points = 64 * rules.suit_points[contract, suit]
        value = here + points
        card = lowest_bit(usual) if pay == (up != ZERO) else highest_bit(usual)
        later = _later(table, pay, n, popcount(out & _beating(card, up)), _column(m, pay))
        score = common + (2 * (x_wanted if value > 0 else x_unwanted) - 256) * value - _kept(points)
        best = max(best, _ranked(score - later * scale, card))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = _points_of(rules, contract, card)
        value = here + points
        later = _later(table, pay, n, popcount(out & _beating(card, up)), _column(m, False))
        score = common + (2 * (x_wanted if value > 0 else x_unwanted) - 256) * value - _kept(points)
        best = max(best, _ranked(score - later * scale, card))
    return best


@njit
def expert_play(view: Any, rules: Any) -> U64:
    """Return the card with the best estimate."""
    contract = np.uint64(view.contract)
    legal = view.legal
    hand = view.hand
    trump = view.trump
    led = view.suit
    up = ZERO if view.low == 1 else _ALL
    unseen = _PACK & ~(hand | view.played[0] | view.played[1] | view.played[2] | view.played[3])
    follows = legal & led != ZERO
    if follows:
        # cards next to each other, of equal points: no choice
        low = lowest_bit(legal)
        between = highest_bit(legal) - low
        if between & (unseen | view.trick) | legal & rules.odd_cards[contract] == ZERO:
            return low
    me = view.seat & 3
    behind = 3 - view.on_table
    # in each suit's lowest three bits the seats that have shown out
    voids = (
        (view.void[(me + 1) & 3] & _FIRSTS)
        | ((view.void[(me + 2) & 3] & _FIRSTS) << ONE)
        | ((view.void[(me + 3) & 3] & _FIRSTS) << _TWO)
    )
    friend = (me ^ view.pairing) & 3
    partner = np.int64((friend - me) & 3) - 1
    seats = 8 * partner * _PER_SEATS

    # the worth of a trick: what it pays, and four cards
    e_all = _mean_of_all(rules, contract, unseen)
    pays = 64 * rules.trick[contract]
    if rules.most[contract] != 0:
        own = view.tricks[me] + view.tricks[friend]
        pivot = _PIVOT[np.uint64(8 * max(7 - own, 0) + max(7 - view.tricks_played + own, 0))]
        pays += rules.most[contract] * (_MOST * pivot >> 8) >> 2
    any_trick = pays + 4 * e_all
    stake = abs(any_trick) + 32
    leading = any_trick * (_LEAD_WIN if any_trick > 0 else _LEAD_LOSE) >> 8

    trumps_unseen = popcount(unseen & trump)
    trumps_held = popcount(hand & trump)
    trump_mask = (voids >> (np.uint64(ctz(trump)) & _SUIT_BITS)) & _SEVEN if trump != ZERO else _SEVEN
    trump_void = trump_mask << _FOUR
    may_ruff = ~trump_mask & _SEVEN
    best = np.int64(-(1 << 62))
    if behind == 3:
        can_ruff = (256 - _NONE[trump_void + np.uint64(trumps_unseen)]) * _RUFF >> 8
        rest = hand
        while rest != ZERO:
            suit = np.uint64(ctz(rest)) >> _FOUR
            rest &= ~(_LANE << (suit << _FOUR))
            best = _lead(
                best, suit, rules, contract, hand, unseen, voids, trump, up, partner, seats, pays + 3 * e_all, e_all, any_trick,
                stake, trumps_held, trumps_unseen, may_ruff, can_ruff, leading,
            )  # fmt: skip
        return _card_of(best)

    # the trick on the table: its points, its best card, and what the seats behind can do in the suit led
    suit = np.uint64(ctz(led)) >> _FOUR
    waiting = (ONE << np.uint64(behind)) - ONE
    may_ruff &= waiting
    out = unseen & led
    n = popcount(out)
    mask = (voids >> (suit << _FOUR)) & _SEVEN
    void = mask << _FOUR
    none = _NONE[void + np.uint64(n)]
    e_led = _mean_of_suit(rules, contract, suit, out, n)
    trumps = view.trick & trump
    ruffed = trumps != ZERO and led != trump
    winning = trumps if trumps != ZERO else view.trick & led
    winning = highest_bit(winning) if up != ZERO else lowest_bit(winning)
    won = np.int64(view.played[friend] & winning != ZERO)
    follow = waiting & ~mask
    here = pays + behind * e_all + (popcount(follow) * (256 - none) * (e_led - e_all) >> 8)
    here += _points_of(rules, contract, view.trick_cards[0])
    if behind < 2:
        here += _points_of(rules, contract, view.trick_cards[1])
        if behind < 1:
            here += _points_of(rules, contract, view.trick_cards[2])
    if not ruffed:
        seats += np.int64(follow) * _PER_SEATS
    # a card that was ruffed is beaten by higher trumps only: nobody counts as following
    above = popcount(out & _beating(winning, up)) if not ruffed else np.int64(0)
    ruffing = trumps_unseen if not ruffed else popcount(unseen & trump & _beating(winning, up))
    keep = np.int64(256)
    ours = np.int64(0)
    if led != trump and may_ruff != ZERO:
        can_ruff = (256 - _NONE[trump_void + np.uint64(ruffing)]) * _RUFF >> 8
        keep, ours = _ruffs(may_ruff, mask, none, can_ruff, partner)
    x_wanted = (_gets(seats, won, True, void, n, above) * keep >> 8) + ours
    x_unwanted = _gets(seats, won, False, void, n, above)
    trump_pays = any_trick > 0
    trump_table = np.int64(_TRUMPS) if trump_pays else np.int64(_TRUMPS + _COST)
    trump_scale = any_trick + (stake * _TRUMP_OPTION >> 8)

    if follows:
        m = popcount(legal)
        worth = pays + e_led + 3 * e_all + ((_FOLLOWERS[void + np.uint64(n)] * (e_led - e_all)) >> 8)
        pay = trump_pays if led == trump else worth > 0
        table = trump_table if led == trump else (np.int64(0) if worth > 0 else np.int64(_COST))
        scale = trump_scale if led == trump else worth
        weakest = lowest_bit(legal) if up != ZERO else highest_bit(legal)
        winners = ZERO if ruffed else legal & _beating(winning, up)
        odd = legal & rules.odd_cards[contract]
        usual = legal ^ odd
        if usual != ZERO:
            points = 64 * rules.suit_points[contract, suit]
            value = here + points
            wanted = value > 0
            fixed = -256 * value - _kept(points)
            taking = usual & winners
            losing = usual ^ taking
            if taking != ZERO:
                kept = keep if wanted else np.int64(256)
                added = ours if wanted else np.int64(0)
                factor = 2 * value + leading
                card = highest_bit(taking)
                above = popcount(out & _beating(card, up))
                x = (_gets(seats, np.int64(1), wanted, void, n, above) * kept >> 8) + added
                best = max(
                    best, _ranked(fixed + x * factor - _later(table, pay, n, above, _column(m, card == weakest)) * scale, card)
                )
                card = lowest_bit(taking)
                above = popcount(out & _beating(card, up))
                x = (_gets(seats, np.int64(1), wanted, void, n, above) * kept >> 8) + added
                best = max(
                    best, _ranked(fixed + x * factor - _later(table, pay, n, above, _column(m, card == weakest)) * scale, card)
                )
            if losing != ZERO:
                # the trick does not depend on the card: one candidate
                card = lowest_bit(losing) if (scale > 0) == (up != ZERO) else highest_bit(losing)
                later = _later(table, pay, n, popcount(out & _beating(card, up)), _column(m, card == weakest))
                best = max(best, _ranked(fixed + 2 * (x_wanted if wanted else x_unwanted) * value - later * scale, card))
        while odd != ZERO:
            card = lowest_bit(odd)
            odd ^= card
            above = popcount(out & _beating(card, up))
            points = _points_of(rules, contract, card)
            value = here + points
            x = x_wanted if value > 0 else x_unwanted
            factor = 2 * value
            if card & winners != ZERO:
                x = _gets(seats, np.int64(1), value > 0, void, n, above)
                x = (x * keep >> 8) + ours if value > 0 else x
                factor += leading
            score = x * factor - 256 * value - _kept(points)
            best = max(best, _ranked(score - _later(table, pay, n, above, _column(m, card == weakest)) * scale, card))
        return _card_of(best)

    rest = hand & ~trump
    while rest != ZERO:
        suit = np.uint64(ctz(rest)) >> _FOUR
        rest &= ~(_LANE << (suit << _FOUR))
        best = _throw(
            best, suit, rules, contract, hand, unseen, voids, up, pays, e_all, here, stake, trumps_held, x_wanted, x_unwanted
        )
    cards = hand & trump
    if cards != ZERO:
        trump_scale = trump_scale * (_THROW if trump_pays else _THROW_N) >> 8
        weakest = lowest_bit(cards) if up != ZERO else highest_bit(cards)
        winners = cards & _beating(winning, up) if ruffed else cards
        choice = cards & rules.odd_cards[contract] | lowest_bit(cards) | highest_bit(cards)
        if winners != ZERO:
            choice |= lowest_bit(winners) | highest_bit(winners)
        while choice != ZERO:
            card = lowest_bit(choice)
            choice ^= card
            above = popcount(unseen & trump & _beating(card, up))
            points = _points_of(rules, contract, card)
            value = here + points
            x = x_wanted if value > 0 else x_unwanted
            factor = 2 * value
            if card & winners != ZERO:
                x = np.int64(256)
                if value > 0 and may_ruff != ZERO:
                    left, gained = _ruffs(may_ruff, mask, none, (256 - _NONE[trump_void + np.uint64(above)]) * _RUFF >> 8, partner)
                    x = left + gained
                factor += leading
            later = _later(trump_table, trump_pays, trumps_unseen, above, _column(trumps_held, card == weakest))
            best = max(best, _ranked(x * factor - 256 * value - _kept(points) - later * trump_scale, card))
    return _card_of(best)
