"""The estimates of the built-in player ``expert`` of Elections: tables, and formulas written once for both that play by them.

``expert_play`` (expert.py) chooses one card; ``expert_many.py`` one in each of many deals.  There these functions are the
bodies of loops over deals that LLVM turns into vector instructions, so they are free of branches: what depends on a condition is
computed and chosen, and a table is read once, at an index chosen before.  All from the view: cards seen, voids shown, who partners
whom.

Units: points in 64ths, chances and weights in 256ths.  What can be known beforehand stands in tables.  The weights were set by
hill climbing: one or a few weights changed at random, kept where 1,500 to 1,800 deals each of 13 contracts of the shipped rulesets,
sides swapped, showed a gain of 1.5 standard errors over the weights before, and (at half weight) over ``greedy``.

Words of the arguments:
    up              all bits set, but none in low contracts
    mask            seats that are void in a suit, named by how far they sit to the left: bit 0 the next one, bit 2 the one on the
                    right; ``void`` is 16 times that
    n, above        how many cards of a suit are unseen, and how many of them beat a card
    none            chance that a seat has none of the n
    partner         how far the partner sits to the left, less one
    e_all, e_suit   mean points of the unseen cards, and of those of a suit
    any_trick       what a trick is worth: what it pays, and four cards
    stake, leading  weight of what makes or costs tricks later; what the next lead is worth
    wanted          the trick is worth having
    keep, ours      256 less the chance that a trick that the own side would get is ruffed, and the chance that the partner ruffs
    costs           COST where tricks of a suit are not worth having, else 0 (part of a table index)
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined
from simcore.bits import ONE, ZERO, ctz, either, highest_bit, lowest_bit, popcount

__all__ = [
    "beating",
    "can_ruff",
    "card_of",
    "end_of",
    "follow_estimate",
    "follow_terms",
    "lead_estimate",
    "lead_terms",
    "mean_of_all",
    "mean_of_suit",
    "most_pays",
    "none_of",
    "points_of",
    "ruff_estimate",
    "table_terms",
    "throw_estimate",
    "throw_terms",
    "thrown_later",
    "trick_worth",
    "trump_later",
]

_THREE, _FOUR, _SEVEN, _LAST = (np.uint64(x) for x in (3, 4, 7, 63))

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
#: _chance(wanted, start, partner, seats, p / 32); like _LATER in words that vector instructions gather, but small.
_GETS = np.array(
    [
        _chance(wanted, start, partner, seats, p / 32)
        for wanted in range(2)
        for start in range(2)
        for partner in range(3)
        for seats in range(8)
        for p in range(33)
    ],
    np.int32,
)
_PER_SEATS, _PER_START, _PER_WANTED = 33, 3 * 8 * 33, 2 * 3 * 8 * 33
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
    np.int32,
).reshape(-1)
_COST, _TRUMPS = 128, 256


# ---- the worth of a trick -------------------------------------------------------------------------------------------------------


@inlined
def mean_of_all(total: I64, n: I64) -> I64:
    """Return the mean points, in 64ths, of n cards that have a total."""
    return total * _SHARE[np.uint64(n)] >> 10


@inlined
def mean_of_suit(points: I64, odd_points: I64, n: I64) -> I64:
    """Return the mean points, in 64ths, of n cards of a suit with usual points (64ths) and so many more of its odd cards."""
    return points + (odd_points * _SHARE[np.uint64(n)] >> 10)


@inlined
def most_pays(most: I64, own: I64, tricks_played: I64) -> I64:
    """Return what the bonus for more tricks adds to the next trick's worth, for a side that has ``own`` tricks."""
    pivot = _PIVOT[np.uint64(8 * max(7 - own, 0) + max(7 - tricks_played + own, 0))]
    return most * (_MOST * pivot >> 8) >> 2


@inlined
def trick_worth(pays: I64, e_all: I64) -> tuple[I64, I64, I64]:
    """Return any_trick, stake and leading."""
    any_trick = pays + 4 * e_all
    return any_trick, abs(any_trick) + 32, any_trick * either(any_trick > 0, _LEAD_WIN, _LEAD_LOSE) >> 8


@inlined
def _short(m: I64, trumps_held: I64) -> I64:
    """Return what a side suit of m cards left shorter is worth, in 4ths of 256ths of the stake."""
    one, three = either(trumps_held > 0, 160, 32), either(trumps_held > 0, -40, 44)
    return either(m == 1, one, either(m == 2, 40, either(m == 3, three, 0)))


@inlined
def none_of(mask: U64, n: I64) -> I64:
    """Return the chance that a seat holds none of n unseen cards of a suit."""
    return _NONE[(mask << _FOUR) + np.uint64(n)]


@inlined
def with_followers(pays: I64, e_all: I64, e_suit: I64, mask: U64, none: I64) -> I64:
    """Return what a trick of a suit is worth, but for the card led, when the three others may follow."""
    return pays + 3 * e_all + (popcount(mask ^ _SEVEN) * (256 - none) * (e_suit - e_all) >> 8)


@inlined
def trump_later(any_trick: I64, stake: I64) -> tuple[I64, I64]:
    """Return for trumps what :func:`estimate` needs for later tricks: index of the table and scale."""
    return either(any_trick > 0, _TRUMPS, _TRUMPS + _COST), any_trick + (stake * _TRUMP_OPTION >> 8)


@inlined
def suit_later(worth: I64) -> I64:
    """Return for a side suit whose tricks have a worth the index of the table of later tricks; the scale is the worth."""
    return either(worth > 0, 0, _COST)


@inlined
def thrown_later(table: I64, scale: I64) -> I64:
    """Return the scale of later tricks for a card that does not follow suit."""
    return scale * either(table & _COST == 0, _THROW, _THROW_N) >> 8


# ---- parts of an estimate -----------------------------------------------------------------------------------------------------


@inlined
def beating(card: U64, up: U64) -> U64:
    """Return a mask of which the cards of the card's suit, but for the card itself, beat it."""
    return (card - ONE) ^ up


@inlined
def end_of(cards: U64, lowest: bool) -> U64:
    """Return the lowest or the highest card of a mask (of an empty one, anything)."""
    return either(lowest, lowest_bit(cards), highest_bit(cards | ONE))


@inlined
def _gets(seats: I64, start: I64, wanted: bool, mask: U64, n: I64, none: I64, above: I64) -> I64:
    """Return the chance that the own side gets the trick when ``above`` of n unseen cards beat the best one.

    A trick wanted is beaten by who can, one not wanted is taken by who must.

    Args:
        seats: where the partner sits and who may still follow, as an index of _GETS.
        start: 1 where the own side has the trick so far.
    """
    chance = none_of(mask, either(wanted, above, n - above))
    p = either(wanted, 256 - chance, chance - none) + 4
    return np.int64(_GETS[np.uint64(seats + (p >> 3) + start * _PER_START + either(wanted, _PER_WANTED, 0))])


@inlined
def _ruffs(may_ruff: U64, mask: U64, none: I64, chance: I64, partner: I64) -> tuple[I64, I64]:
    """Return 256 less the chance that somebody ruffs, and the chance that the partner does.

    Args:
        may_ruff: mask of the seats that may hold trumps.
        none: chance that one of the other seats is void.
        chance: that a seat that is void ruffs.
    """
    surely, perhaps = may_ruff & mask, may_ruff & ~mask
    place = np.uint64(partner)
    partners = np.int64((surely >> place) & ONE) * 256 + np.int64((perhaps >> place) & ONE) * none
    theirs = chance * (popcount(surely) * 256 + popcount(perhaps) * none - partners) >> 8
    ours = chance * partners >> 8
    return max(256 - theirs - ours, 0), ours


@inlined
def can_ruff(trump_mask: U64, n: I64) -> I64:
    """Return the chance that a seat that is void in the suit led ruffs with one of n trumps."""
    return (256 - none_of(trump_mask, n)) * _RUFF >> 8


@inlined
def _column(m: I64, weakest: bool) -> I64:
    """Return the column of _LATER for the weakest of m cards of a suit, or for another one."""
    return either(m > 1, min(m, 3) + either(weakest, 1, -1), 0)


@inlined
def later(table: I64, n: I64, above: I64, m: I64, weakest: bool) -> I64:
    """Return what a card is worth later, in tricks: one of m cards of a suit."""
    return np.int64(_LATER[np.uint64(table + 8 * either(table & _COST == 0, above, n - above) + _column(m, weakest))])


@inlined
def _estimate(card: U64, points: I64, value: I64, x: I64, leading: I64, common: I64, later_worth: I64) -> I64:
    """Return estimate and card as one number to take the greatest of; of equals the lowest card.

    Args:
        value: what the trick brings to the side that gets it.
        x: chance that the own side does.
        leading: what the next lead adds where the card may win.
        common: what is the same for all cards of the suit.
        later_worth: the card's worth in later tricks.
    """
    kept = points * either(points > 0, _KEEP, -_KEEP_N)
    score = common + x * (2 * value + leading) - 256 * value - kept - later_worth
    return (score << 6) | np.int64(_LAST - np.uint64(ctz(card)))


@inlined
def points_of(rules: Any, contract: U64, card: U64) -> I64:
    """Return a card's points in 64ths (of no card, anything)."""
    return 64 * np.int64(rules.card_points[contract, np.uint64(ctz(card)) & _LAST])


@inlined
def card_of(estimate: I64) -> U64:
    """Return the card of an estimate."""
    return ONE << (_LAST - (np.uint64(estimate) & _LAST))


# ---- leads --------------------------------------------------------------------------------------------------------------------


@inlined
def lead_terms(
    trumps: bool, mask: U64, none: I64, m: I64, pays: I64, e_all: I64, e_suit: I64, any_trick: I64, stake: I64, trumps_held: I64,
    trumps_unseen: I64, may_ruff: U64, ruff: I64, partner: I64,
) -> tuple[I64, I64, I64, I64, I64, I64]:  # fmt: skip
    """Return what the leads of a suit of which m cards are held have in common: here, table, scale, common, keep, ours.

    Args:
        trumps: the suit is trumps.
        ruff: :func:`can_ruff`.
    """
    here = with_followers(pays, e_all, e_suit, mask, none)
    worth = here + e_suit
    trump_table, trump_scale = trump_later(any_trick, stake)
    drawing = (stake * either(any_trick > 0, _LEAD_TRUMP, _LEAD_TRUMP_N) >> 2) * (3 * trumps_held - trumps_unseen)
    # long suits are not led where tricks cost
    short = stake * (_short(m, trumps_held) - either(worth > 0, 0, 10 * m)) >> 2
    keep, ours = _ruffs(may_ruff, mask, none, either(trumps, 0, ruff), partner)
    table = either(trumps, trump_table, suit_later(worth))
    return here, table, either(trumps, trump_scale, worth), either(trumps, drawing, short), keep, ours


@inlined
def lead_estimate(
    card: U64, points: I64, weakest: bool, out: U64, mask: U64, n: I64, none: I64, m: I64, up: U64, partner: I64, leading: I64,
    here: I64, table: I64, scale: I64, common: I64, keep: I64, ours: I64,
) -> I64:  # fmt: skip
    """Return the estimate of a lead; ``out`` are the unseen cards of its suit."""
    above = popcount(out & beating(card, up))
    value = here + points
    seats = (8 * partner + np.int64(mask ^ _SEVEN)) * _PER_SEATS
    x = _gets(seats, np.int64(1), value > 0, mask, n, none, above)
    x = either(value > 0, (x * keep >> 8) + ours, x)
    return _estimate(card, points, value, x, leading, common, later(table, n, above, m, weakest) * scale)


# ---- cards played to a trick --------------------------------------------------------------------------------------------------


@inlined
def table_terms(
    out: U64, trumps_out: U64, mask: U64, none: I64, trump_mask: U64, led_trumps: bool, ruffed: bool, winning: U64, won: I64,
    up: U64, waiting: U64, partner: I64, pays: I64, e_all: I64, e_led: I64,
) -> tuple[I64, I64, I64, I64, I64, I64]:  # fmt: skip
    """Return what the trick on the table and the seats behind come to: here (but for the points on the table), seats, keep, ours,
    and the chance to get the trick if the card does not take it, for a trick wanted and for one not wanted.

    Args:
        out, trumps_out: unseen cards of the suit led, and trumps.
        winning: the best card so far; ``ruffed``: it is a trump and no trump was led.
        won: 1 where it is the partner's.
        waiting: mask of the seats behind.
    """
    n = popcount(out)
    follow = waiting & ~mask
    behind = popcount(waiting)
    here = pays + behind * e_all + (popcount(follow) * (256 - none) * (e_led - e_all) >> 8)
    # a card that was ruffed is beaten by higher trumps only: nobody counts as following
    seats = (8 * partner + either(ruffed, 0, np.int64(follow))) * _PER_SEATS
    better = beating(winning, up)
    above = popcount(either(ruffed, ZERO, out & better))
    ruff = can_ruff(trump_mask, popcount(either(ruffed, trumps_out & better, trumps_out)))
    keep, ours = _ruffs(~trump_mask & waiting, mask, none, either(led_trumps, 0, ruff), partner)
    wanted = (_gets(seats, won, True, mask, n, none, above) * keep >> 8) + ours
    return here, seats, keep, ours, wanted, _gets(seats, won, False, mask, n, none, above)


@inlined
def follow_terms(
    led_trumps: bool, mask: U64, none: I64, pays: I64, e_all: I64, e_led: I64, any_trick: I64, stake: I64
) -> tuple[I64, I64]:  # fmt: skip
    """Return table and scale of the later tricks of the suit led."""
    worth = with_followers(pays, e_all, e_led, mask, none) + e_led
    trump_table, trump_scale = trump_later(any_trick, stake)
    return either(led_trumps, trump_table, suit_later(worth)), either(led_trumps, trump_scale, worth)


@inlined
def follow_estimate(
    card: U64, points: I64, takes: bool, weakest: bool, out: U64, mask: U64, n: I64, none: I64, m: I64, up: U64, leading: I64,
    here: I64, seats: I64, keep: I64, ours: I64, x_wanted: I64, x_unwanted: I64, table: I64, scale: I64,
) -> I64:  # fmt: skip
    """Return the estimate of a card that follows suit; ``takes``: it beats the best card so far."""
    above = popcount(out & beating(card, up))
    value = here + points
    wanted = value > 0
    taken = _gets(seats, np.int64(1), wanted, mask, n, none, above)
    taken = either(wanted, (taken * keep >> 8) + ours, taken)
    x = either(takes, taken, either(wanted, x_wanted, x_unwanted))
    later_worth = later(table, n, above, m, weakest) * scale
    return _estimate(card, points, value, x, either(takes, leading, 0), np.int64(0), later_worth)


@inlined
def throw_terms(
    mask: U64, none: I64, m: I64, pays: I64, e_all: I64, e_suit: I64, stake: I64, trumps_held: I64
) -> tuple[I64, I64, I64]:  # fmt: skip
    """Return what the discards of a side suit of which m cards are held have in common: table, scale, common."""
    worth = with_followers(pays, e_all, e_suit, mask, none) + e_suit
    table = suit_later(worth)
    return table, thrown_later(table, worth), stake * _short(m, trumps_held) >> 2


@inlined
def throw_estimate(
    card: U64, points: I64, weakest: bool, out: U64, n: I64, m: I64, up: U64, here: I64, x_wanted: I64, x_unwanted: I64,
    table: I64, scale: I64, common: I64,
) -> I64:  # fmt: skip
    """Return the estimate of a discard."""
    value = here + points
    x = either(value > 0, x_wanted, x_unwanted)
    later_worth = later(table, n, popcount(out & beating(card, up)), m, weakest) * scale
    return _estimate(card, points, value, x, np.int64(0), common, later_worth)


@inlined
def ruff_estimate(
    card: U64, points: I64, takes: bool, weakest: bool, trumps_out: U64, trump_mask: U64, waiting: U64, mask: U64, none: I64,
    trumps_held: I64, up: U64, partner: I64, leading: I64, here: I64, x_wanted: I64, x_unwanted: I64, table: I64, scale: I64,
) -> I64:  # fmt: skip
    """Return the estimate of a trump; ``mask`` and ``none`` are of the suit led, ``takes``: it beats the best card so far."""
    above = popcount(trumps_out & beating(card, up))
    value = here + points
    wanted = value > 0
    left, gained = _ruffs(~trump_mask & waiting, mask, none, can_ruff(trump_mask, above), partner)
    x = either(takes, either(wanted, left + gained, 256), either(wanted, x_wanted, x_unwanted))
    later_worth = later(table, popcount(trumps_out), above, trumps_held, weakest) * scale
    return _estimate(card, points, value, x, either(takes, leading, 0), np.int64(0), later_worth)
