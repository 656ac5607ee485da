"""``expert``'s decisions in many deals at once (many_at_once.py plays them): the card of every lane of VIEWS.

All lanes are at the same place of the same trick of the same contract.  So what the decisions have in common (the contract, how
many cards are unseen, who sits behind) is computed once, and the rest in loops over the deals, without branches, which LLVM turns
into vector instructions: eight deals at a time with AVX-512.  Decisions of one kind (to lead, to follow suit, to play something
else, no choice) are gathered first, each kind with its own loops.  The estimates are those of estimates.py, the candidates those
of ``expert_play``.

What LLVM needs: conditions as ``either``, rows at fixed distances in one record, and nothing read from the ruleset at an index that
depends on the deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ZERO, ctz, either, lowest_bit, popcount
from simcore.elections.estimates import (
    beating,
    can_ruff,
    card_of,
    end_of,
    follow_estimate,
    follow_terms,
    lead_estimate,
    lead_terms,
    mean_of_all,
    mean_of_suit,
    most_pays,
    none_of,
    points_of,
    ruff_estimate,
    table_terms,
    throw_estimate,
    throw_terms,
    thrown_later,
    trick_worth,
    trump_later,
)
from simcore.elections.lanes import WHOLE, by_suit, usual_points

__all__ = ["expert_many"]

_NO_CHOICE, _FOLLOW, _THROW, _RUFF = range(4)
_LANE = np.uint64(0x1FFF)
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = (np.uint64(0x1FFF << 16 * suit) for suit in range(4))
_FOUR, _SEVEN, _SUIT_BITS = (np.uint64(x) for x in (4, 7, 48))
_ALL = np.uint64((1 << 64) - 1)
_WORST = np.int64(-(1 << 62))

# ---- what a trick is worth ------------------------------------------------------------------------------------------------------


@njit
def _weigh_tricks(rules: Any, contract: U64, q: Any, count: I64, tricks_played: I64, n_unseen: I64) -> None:
    """Fill in mean points and what a trick is worth; ``n_unseen`` cards are unseen."""
    usual_points = rules.suit_points[contract]
    points_c, points_d, points_h, points_s = usual_points[0], usual_points[1], usual_points[2], usual_points[3]
    for suit in range(4):
        usual = 64 * rules.suit_points[contract, suit]
        lane = _LANE << (np.uint64(suit) << _FOUR)
        odd = rules.odd_cards[contract] & lane
        for i in range(count):
            q.odd[suit, i] = 0
            q.e_suit[suit, i] = usual
        if odd != ZERO:
            while odd != ZERO:
                card = lowest_bit(odd)
                odd ^= card
                extra = rules.card_points[contract, np.uint64(ctz(card))] - rules.suit_points[contract, suit]
                for i in range(count):
                    q.odd[suit, i] += either(q.unseen[i] & card != ZERO, extra, 0)
            for i in range(count):
                q.e_suit[suit, i] = mean_of_suit(usual, q.odd[suit, i], popcount(q.unseen[i] & lane))
    pays = 64 * rules.trick[contract]
    most = rules.most[contract]
    for i in range(count):
        q.pays[i] = pays
    if most != 0:
        for i in range(count):
            q.pays[i] += most_pays(most, q.own[i], tricks_played)
    for i in range(count):
        unseen = q.unseen[i]
        total = (
            points_c * popcount(unseen & _CLUBS)
            + points_d * popcount(unseen & _DIAMONDS)
            + points_h * popcount(unseen & _HEARTS)
            + points_s * popcount(unseen & _SPADES)
            + (q.odd[0, i] + q.odd[1, i] + q.odd[2, i] + q.odd[3, i])
        )
        e_all = mean_of_all(total, n_unseen)
        q.e_all[i] = e_all
        q.any_trick[i], q.stake[i], q.leading[i] = trick_worth(q.pays[i], e_all)
        q.best[i] = _WORST


@inlined
def _void_in(voids: U64, shift: U64) -> U64:
    """Return the mask of the seats that have shown out of a suit."""
    return (voids >> shift) & _SEVEN


@inlined
def _void_of_trumps(voids: U64, trump: U64) -> U64:
    """Return the mask of the seats that have no trumps: all, if there are none."""
    return either(trump != ZERO, _void_in(voids, np.uint64(ctz(trump)) & _SUIT_BITS), _SEVEN)


# ---- leads --------------------------------------------------------------------------------------------------------------------


@njit
def _lead_suit(rules: Any, contract: U64, q: Any, count: I64, suit: I64, trump: U64, up: U64) -> None:
    """Look at the leads of a suit."""
    shift = np.uint64(suit) << _FOUR
    lane = _LANE << shift
    trumps = lane == trump
    odd = rules.odd_cards[contract] & lane
    points = 64 * rules.suit_points[contract, suit]
    for i in range(count):
        held = q.hand[i] & lane
        out = q.unseen[i] & lane
        n = popcount(out)
        m = popcount(held)
        mask = _void_in(q.voids[i], shift)
        none = none_of(mask, n)
        trump_mask = _void_of_trumps(q.voids[i], trump)
        partner = q.partner[i]
        here, table, scale, common, keep, ours = lead_terms(
            trumps, mask, none, m, q.pays[i], q.e_all[i], q.e_suit[suit, i], q.any_trick[i], q.stake[i],
            popcount(q.hand[i] & trump), popcount(q.unseen[i] & trump), trump_mask ^ _SEVEN, q.ruff[i], partner,
        )  # fmt: skip
        q.none[i], q.here[i], q.table[i], q.scale[i], q.common[i] = none, here, table, scale, common
        q.keep[i], q.ours[i] = keep, ours
        leading = q.leading[i]
        usual = held & ~odd
        strong = lead_estimate(
            end_of(usual, up == ZERO),
            points,
            False,
            out,
            mask,
            n,
            none,
            m,
            up,
            partner,
            leading,
            here,
            table,
            scale,
            common,
            keep,
            ours,
        )
        weak = lead_estimate(
            end_of(usual, up != ZERO),
            points,
            True,
            out,
            mask,
            n,
            none,
            m,
            up,
            partner,
            leading,
            here,
            table,
            scale,
            common,
            keep,
            ours,
        )
        q.best[i] = max(q.best[i], either(usual != ZERO, max(strong, weak), _WORST))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = points_of(rules, contract, card)
        for i in range(count):
            held = q.hand[i] & lane
            out = q.unseen[i] & lane
            estimate = lead_estimate(
                card, points, False, out, _void_in(q.voids[i], shift), popcount(out), q.none[i], popcount(held), up,
                q.partner[i], q.leading[i], q.here[i], q.table[i], q.scale[i], q.common[i], q.keep[i], q.ours[i],
            )  # fmt: skip
            q.best[i] = max(q.best[i], either(held & card != ZERO, estimate, _WORST))


@njit
def _lead(rules: Any, contract: U64, views: Any, q: Any, trump: U64, up: U64) -> None:
    """Choose the leads."""
    count = views.count
    for i in range(count):
        unseen = views.unseen[i]
        voids = views.void[i]
        q.hand[i] = views.hand[i]
        q.unseen[i] = unseen
        q.voids[i] = voids
        q.partner[i] = _distance(views.seat[i], views.partner[i])
        q.own[i] = views.own[i]
        q.ruff[i] = can_ruff(_void_of_trumps(voids, trump), popcount(unseen & trump))
    _weigh_tricks(rules, contract, q, count, views.tricks_played, 3 * (13 - views.tricks_played))
    for suit in range(4):
        _lead_suit(rules, contract, q, count, suit, trump, up)
    for i in range(count):
        views.card[i] = card_of(q.best[i])


# ---- cards played to a trick --------------------------------------------------------------------------------------------------


@njit
def _look_at_table(q: Any, count: I64, place: U64, trump: U64, up: U64) -> None:
    """Fill in what the trick on the table and the seats behind come to."""
    waiting = _SEVEN >> place
    for i in range(count):
        led = q.led[i]
        shift = np.uint64(ctz(led))
        winning = q.winning[i]
        e_led = by_suit(shift, q.e_suit[0, i], q.e_suit[1, i], q.e_suit[2, i], q.e_suit[3, i])
        mask = _void_in(q.voids[i], shift)
        none = none_of(mask, popcount(q.unseen[i] & led))
        q.none[i] = none
        here, seats, keep, ours, wanted, unwanted = table_terms(
            q.unseen[i] & led, q.unseen[i] & trump, mask, none, _void_of_trumps(q.voids[i], trump), led == trump,
            winning & led == ZERO, winning, q.won[i], up, waiting, q.partner[i], q.pays[i], q.e_all[i],
            e_led,
        )  # fmt: skip
        q.here[i] = here + q.points[i]
        q.seats[i], q.keep[i], q.ours[i], q.wanted[i], q.unwanted[i] = seats, keep, ours, wanted, unwanted


@njit
def _follow(rules: Any, contract: U64, q: Any, count: I64, trump: U64, up: U64) -> None:
    """Choose cards of the suit led."""
    odd_cards = rules.odd_cards[contract]
    points_c, points_d, points_h, points_s = usual_points(rules, contract)
    for i in range(count):
        led = q.led[i]
        legal = q.hand[i] & led
        out = q.unseen[i] & led
        n = popcount(out)
        m = popcount(legal)
        shift = np.uint64(ctz(led))
        mask = _void_in(q.voids[i], shift)
        none = q.none[i]
        winning = q.winning[i]
        e_led = by_suit(shift, q.e_suit[0, i], q.e_suit[1, i], q.e_suit[2, i], q.e_suit[3, i])
        table, scale = follow_terms(led == trump, mask, none, q.pays[i], q.e_all[i], e_led, q.any_trick[i], q.stake[i])
        q.table[i], q.scale[i] = table, scale
        weakest = end_of(legal, up != ZERO)
        winners = either(winning & led == ZERO, ZERO, legal & beating(winning, up))
        usual = legal & ~odd_cards
        taking = usual & winners
        losing = usual ^ taking
        points = by_suit(shift, points_c, points_d, points_h, points_s)
        leading, here, seats, keep, ours = q.leading[i], q.here[i], q.seats[i], q.keep[i], q.ours[i]
        wanted, unwanted = q.wanted[i], q.unwanted[i]
        card = end_of(taking, False)
        first = follow_estimate(
            card, points, True, card == weakest, out, mask, n, none, m, up, leading, here, seats, keep, ours, wanted, unwanted,
            table, scale,
        )  # fmt: skip
        card = end_of(taking, True)
        second = follow_estimate(
            card, points, True, card == weakest, out, mask, n, none, m, up, leading, here, seats, keep, ours, wanted, unwanted,
            table, scale,
        )  # fmt: skip
        # the trick does not depend on the card: one candidate
        card = end_of(losing, (scale > 0) == (up != ZERO))
        third = follow_estimate(
            card, points, False, card == weakest, out, mask, n, none, m, up, leading, here, seats, keep, ours, wanted, unwanted,
            table, scale,
        )  # fmt: skip
        best = either(taking != ZERO, max(first, second), _WORST)
        q.best[i] = max(best, either(losing != ZERO, third, _WORST))
    # the odd cards, one of each suit at a time: a lane looks at that of the suit led
    c, d, h, s = odd_cards & _CLUBS, odd_cards & _DIAMONDS, odd_cards & _HEARTS, odd_cards & _SPADES
    while c | d | h | s != ZERO:
        card_c, card_d, card_h, card_s = lowest_bit(c), lowest_bit(d), lowest_bit(h), lowest_bit(s)
        c, d, h, s = c ^ card_c, d ^ card_d, h ^ card_h, s ^ card_s
        points_c, points_d = points_of(rules, contract, card_c), points_of(rules, contract, card_d)
        points_h, points_s = points_of(rules, contract, card_h), points_of(rules, contract, card_s)
        for i in range(count):
            led = q.led[i]
            shift = np.uint64(ctz(led))
            card = by_suit(shift, card_c, card_d, card_h, card_s)
            points = by_suit(shift, points_c, points_d, points_h, points_s)
            legal = q.hand[i] & led
            out = q.unseen[i] & led
            winning = q.winning[i]
            takes = either(winning & led == ZERO, ZERO, card & beating(winning, up)) != ZERO
            estimate = follow_estimate(
                card, points, takes, card == end_of(legal, up != ZERO), out, _void_in(q.voids[i], shift), popcount(out),
                q.none[i], popcount(legal), up, q.leading[i], q.here[i], q.seats[i], q.keep[i], q.ours[i], q.wanted[i],
                q.unwanted[i], q.table[i], q.scale[i],
            )  # fmt: skip
            q.best[i] = max(q.best[i], either(legal & card != ZERO, estimate, _WORST))


@njit
def _throw_suit(rules: Any, contract: U64, q: Any, count: I64, suit: I64, trump: U64, up: U64) -> None:
    """Look at the discards of a side suit."""
    shift = np.uint64(suit) << _FOUR
    lane = _LANE << shift
    odd = rules.odd_cards[contract] & lane
    points = 64 * rules.suit_points[contract, suit]
    for i in range(count):
        held = q.hand[i] & lane
        out = q.unseen[i] & lane
        n = popcount(out)
        m = popcount(held)
        mask = _void_in(q.voids[i], shift)
        table, scale, common = throw_terms(
            mask, none_of(mask, n), m, q.pays[i], q.e_all[i], q.e_suit[suit, i], q.stake[i], popcount(q.hand[i] & trump)
        )
        q.table[i], q.scale[i], q.common[i] = table, scale, common
        usual = held & ~odd
        # the trick does not depend on the card: one candidate
        weakest = table == 0
        card = end_of(usual, weakest == (up != ZERO))
        estimate = throw_estimate(card, points, weakest, out, n, m, up, q.here[i], q.wanted[i], q.unwanted[i], table, scale, common)
        q.best[i] = max(q.best[i], either(usual != ZERO, estimate, _WORST))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = points_of(rules, contract, card)
        for i in range(count):
            held = q.hand[i] & lane
            out = q.unseen[i] & lane
            estimate = throw_estimate(
                card, points, False, out, popcount(out), popcount(held), up, q.here[i], q.wanted[i], q.unwanted[i], q.table[i],
                q.scale[i], q.common[i],
            )  # fmt: skip
            q.best[i] = max(q.best[i], either(held & card != ZERO, estimate, _WORST))


@inlined
def _ruff_one(q: Any, i: I64, card: U64, points: I64, waiting: U64, trump: U64, up: U64) -> I64:
    """Return the estimate of a trump."""
    cards = q.hand[i] & trump
    trumps_out = q.unseen[i] & trump
    led = q.led[i]
    winning = q.winning[i]
    takes = either(winning & trump == ZERO, card, card & beating(winning, up)) != ZERO
    table, scale = trump_later(q.any_trick[i], q.stake[i])
    return ruff_estimate(
        card, points, takes, card == end_of(cards, up != ZERO), trumps_out, _void_of_trumps(q.voids[i], trump), waiting,
        _void_in(q.voids[i], np.uint64(ctz(led))), q.none[i], popcount(cards), up, q.partner[i], q.leading[i],
        q.here[i], q.wanted[i], q.unwanted[i], table, thrown_later(table, scale),
    )  # fmt: skip


@njit
def _ruff(rules: Any, contract: U64, q: Any, count: I64, place: U64, trump: U64, up: U64) -> None:
    """Look at trumps played to another suit."""
    waiting = _SEVEN >> place
    odd = rules.odd_cards[contract] & trump
    points = 64 * rules.suit_points[contract, np.uint64(ctz(trump)) >> _FOUR]
    for end in range(4):
        # both ends of all the trumps and of those that take the trick; without such, the same once more
        all_trumps = end < 2
        lowest = end & 1 == 0
        for i in range(count):
            cards = q.hand[i] & trump
            winning = q.winning[i]
            winners = cards & either(winning & trump == ZERO, _ALL, beating(winning, up))
            card = end_of(either(all_trumps or winners == ZERO, cards, winners), lowest)
            estimate = _ruff_one(q, i, card, points, waiting, trump, up)
            q.best[i] = max(q.best[i], either(card & cards & ~odd != ZERO, estimate, _WORST))
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        points = points_of(rules, contract, card)
        for i in range(count):
            estimate = _ruff_one(q, i, card, points, waiting, trump, up)
            q.best[i] = max(q.best[i], either(q.hand[i] & card != ZERO, estimate, _WORST))


# ---- all decisions of a place --------------------------------------------------------------------------------------------------


@inlined
def _distance(seat: I64, partner: I64) -> I64:
    """Return how far a seat's partner sits to the left, less one."""
    return ((partner - seat) & 3) - 1


@njit
def _sort_out(rules: Any, contract: U64, views: Any, q: Any, trump: U64) -> None:
    """Take the cards where there is no choice; list the other lanes by kind."""
    odd_cards = rules.odd_cards[contract]
    count = views.count
    for i in range(count):
        hand = views.hand[i]
        held = hand & views.suit[i]
        legal = views.legal[i]
        low = lowest_bit(legal)
        between = end_of(held, False) - lowest_bit(held)
        # cards next to each other, of equal points
        apart = between & (views.unseen[i] | views.trick[i]) | held & odd_cards
        kind = either(held != ZERO, either(apart == ZERO, _NO_CHOICE, _FOLLOW), either(hand & trump != ZERO, _RUFF, _THROW))
        kind = either(legal == low, _NO_CHOICE, kind)
        views.card[i] = low
        q.kind[i] = kind
    follow = np.int64(0)
    throw = np.int64(0)
    ruff = np.int64(0)
    for i in range(count):
        kind = q.kind[i]
        q.asked[_FOLLOW, follow] = i
        q.asked[_THROW, throw] = i
        q.asked[_RUFF, ruff] = i
        follow += np.int64(kind == _FOLLOW)
        throw += np.int64(kind == _THROW)
        ruff += np.int64(kind == _RUFF)
    q.count[_FOLLOW] = follow
    q.count[_RUFF] = ruff
    # those who can ruff first, then the others who cannot follow
    for j in range(throw):
        q.asked[_RUFF, ruff + j] = q.asked[_THROW, j]
    q.count[_THROW] = ruff + throw


@njit
def _ask(views: Any, q: Any, kind: I64, count: I64) -> I64:
    """Write what the lanes on a list know into ``q``; returns their number made up to whole vectors."""
    whole = (count + WHOLE - 1) & -WHOLE
    for j in range(count, whole):
        q.asked[kind, j] = q.asked[kind, 0]
    for j in range(whole):
        i = q.asked[kind, j]
        q.hand[j] = views.hand[i]
        q.unseen[j] = views.unseen[i]
        q.voids[j] = views.void[i]
        q.partner[j] = _distance(views.seat[i], views.partner[i])
        q.own[j] = views.own[i]
        q.led[j] = views.suit[i]
        q.winning[j] = views.winning[i]
        q.won[j] = np.int64(views.winner[i] == views.partner[i])
        q.points[j] = views.points[i]
    return whole


@njit
def expert_many(views: Any, rules: Any, q: Any) -> None:
    """Choose a card in every lane of VIEWS, as ``expert_play`` does one by one; ``q`` (QUESTIONS) is working space."""
    contract = views.contract
    trump = views.trump
    up = ZERO if views.low == 1 else _ALL
    if views.place == 0:
        _lead(rules, contract, views, q, trump, up)
        return
    _sort_out(rules, contract, views, q, trump)
    place = np.uint64(views.place)
    n_unseen = 3 * (13 - views.tricks_played) - views.place
    asked = q.count[_FOLLOW]
    if asked > 0:
        count = _ask(views, q, _FOLLOW, asked)
        _weigh_tricks(rules, contract, q, count, views.tricks_played, n_unseen)
        _look_at_table(q, count, place, trump, up)
        _follow(rules, contract, q, count, trump, up)
        for j in range(asked):
            views.card[q.asked[_FOLLOW, j]] = card_of(q.best[j])
    asked = q.count[_THROW]
    if asked > 0:
        count = _ask(views, q, _RUFF, asked)
        _weigh_tricks(rules, contract, q, count, views.tricks_played, n_unseen)
        _look_at_table(q, count, place, trump, up)
        for suit in range(4):
            if _LANE << (np.uint64(suit) << _FOUR) != trump:
                _throw_suit(rules, contract, q, count, suit, trump, up)
        if q.count[_RUFF] > 0:
            _ruff(rules, contract, q, (q.count[_RUFF] + WHOLE - 1) & -WHOLE, place, trump, up)
        for j in range(asked):
            views.card[q.asked[_RUFF, j]] = card_of(q.best[j])
