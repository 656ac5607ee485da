"""Forced contracts in which one player holds all four seats, many deals in lockstep: ``expert``, or a plug-in that can do so.

All deals of a block are at the same place of the same trick of the same contract.  So what the decisions have in common (the
contract, how many cards are unseen, who sits behind) is computed once, and the rest in loops over the deals, without branches,
which LLVM turns into vector instructions: eight deals at a time with AVX-512.  Decisions of one kind (to lead, to follow suit, to
play something else, no choice) are gathered first, each kind with its own loops.  The estimates are those of estimates.py, the
candidates those of ``expert_play``; what a deal comes to is exactly what the engine comes to (the tests compare them).
A player gets VIEWS, which hold nothing that a seat may not know.

Everything of a trick is kept by place: the leader's hand stands in row 0, that of his left neighbour in row 1.

What LLVM needs: conditions as ``either``, rows at fixed distances in one record (else it cannot tell that they do not overlap),
and nothing read from the ruleset at an index that depends on the deal, for the same reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, either, lowest_bit, popcount
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
    ruff_estimate,
    table_terms,
    throw_estimate,
    throw_terms,
    thrown_later,
    trick_worth,
    trump_later,
)
from simcore.players import EXPERT
from simcore.pointers import call_player
from simcore.tricks import led_suit

__all__ = ["BLOCK", "LANES", "QUESTIONS", "VIEWS", "expert_many", "play_many", "put_down"]

#: Deals of a block.
LANES = 256
# Questions are padded to whole vectors, because what a vectorised loop leaves over is done one by one.
_WHOLE = 8

BLOCK = np.dtype(
    [
        ("dealt", "u8", (4, LANES)),  # by seat
        ("taken", "u8", (4, LANES)),  # cards in the tricks each seat has won
        ("declarer", "i8", (LANES,)),
        ("pairing", "i8", (LANES,)),
        ("dealer", "i8", (LANES,)),
        ("place", "i8", (LANES,)),  # which deal it is, for whoever filled the block
        # the play, by place
        ("hands", "u8", (4, LANES)),
        ("leader", "i8", (LANES,)),  # seat
        ("seen", "u8", (LANES,)),  # cards played
        ("void", "u8", (LANES,)),  # in each suit's lowest four bits the places that have shown out
        ("own", "i8", (LANES,)),  # tricks of the attackers
    ],
    align=True,
)

#: What the seats whose turn it is see, a lane each, and what they play.  docs/plugins.md describes every field.
VIEWS = np.dtype(
    [
        ("count", "i8"),
        ("contract", "u8"),
        ("trump", "u8"),
        ("low", "i8"),
        ("tricks_played", "i8"),
        ("place", "i8"),
        ("seat", "i8", (LANES,)),
        ("partner", "i8", (LANES,)),
        ("declarer", "i8", (LANES,)),
        ("dealer", "i8", (LANES,)),
        ("hand", "u8", (LANES,)),
        ("legal", "u8", (LANES,)),
        ("unseen", "u8", (LANES,)),
        ("void", "u8", (LANES,)),
        ("own", "i8", (LANES,)),
        ("suit", "u8", (LANES,)),
        ("trick", "u8", (LANES,)),
        ("winning", "u8", (LANES,)),
        ("winner", "i8", (LANES,)),
        ("points", "i8", (LANES,)),
        ("card", "u8", (LANES,)),  # the answer
    ],
    align=True,
)
_NO_CHOICE, _FOLLOW, _THROW, _RUFF = range(4)

_PLACES = LANES + _WHOLE
#: Working space of ``expert``: which lanes are asked, by kind of decision; of one kind what is known, and what the estimates have
#: in common.
QUESTIONS = np.dtype(
    [
        ("kind", "i8", (LANES,)),
        ("asked", "i8", (4, _PLACES)),
        ("count", "i8", (4,)),
        ("hand", "u8", (_PLACES,)),
        ("unseen", "u8", (_PLACES,)),
        ("voids", "u8", (_PLACES,)),  # in each suit's lowest three bits the seats that have shown out
        ("partner", "i8", (_PLACES,)),
        ("own", "i8", (_PLACES,)),  # tricks of the own side
        ("led", "u8", (_PLACES,)),
        ("winning", "u8", (_PLACES,)),
        ("won", "i8", (_PLACES,)),
        ("points", "i8", (_PLACES,)),
        ("odd", "i8", (4, _PLACES)),  # what the unseen odd cards of a suit have beyond the usual points
        ("e_suit", "i8", (4, _PLACES)),  # mean points of the unseen cards of a suit
        ("e_all", "i8", (_PLACES,)),
        ("pays", "i8", (_PLACES,)),
        ("any_trick", "i8", (_PLACES,)),
        ("stake", "i8", (_PLACES,)),
        ("leading", "i8", (_PLACES,)),
        ("ruff", "i8", (_PLACES,)),
        ("none", "i8", (_PLACES,)),  # of the suit led
        ("here", "i8", (_PLACES,)),
        ("seats", "i8", (_PLACES,)),
        ("keep", "i8", (_PLACES,)),
        ("ours", "i8", (_PLACES,)),
        ("wanted", "i8", (_PLACES,)),
        ("unwanted", "i8", (_PLACES,)),
        ("table", "i8", (_PLACES,)),
        ("scale", "i8", (_PLACES,)),
        ("common", "i8", (_PLACES,)),
        ("best", "i8", (_PLACES,)),
    ],
    align=True,
)

_PACK = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_CLUBS, _DIAMONDS, _HEARTS, _SPADES = (np.uint64(0x1FFF << 16 * suit) for suit in range(4))
_THREE_OF_EACH = np.uint64(0x0007000700070007)
_FOUR_OF_EACH = np.uint64(0x000F000F000F000F)
_FOUR, _SEVEN, _SIXTEEN, _THIRTY_TWO, _SUIT_BITS, _LAST = (np.uint64(x) for x in (4, 7, 16, 32, 48, 63))
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


@inlined
def _points_of(rules: Any, contract: U64, card: U64) -> I64:
    """Return a card's points in 64ths (of no card, anything)."""
    return 64 * np.int64(rules.card_points[contract, np.uint64(ctz(card)) & _LAST])


@inlined
def _by_suit(shift: U64, c: Any, d: Any, h: Any, s: Any) -> Any:
    """Return what belongs to a suit: chosen, not read at an index, because what is written meanwhile could be what is read."""
    return either(shift & _THIRTY_TWO == ZERO, either(shift & _SIXTEEN == ZERO, c, d), either(shift & _SIXTEEN == ZERO, h, s))


@inlined
def _usual_points(rules: Any, contract: U64) -> tuple[I64, I64, I64, I64]:
    """Return the usual points of the cards of each suit, in 64ths."""
    points = rules.suit_points
    return 64 * points[contract, 0], 64 * points[contract, 1], 64 * points[contract, 2], 64 * points[contract, 3]


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
        points = _points_of(rules, contract, card)
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
        e_led = _by_suit(shift, q.e_suit[0, i], q.e_suit[1, i], q.e_suit[2, i], q.e_suit[3, i])
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
    points_c, points_d, points_h, points_s = _usual_points(rules, contract)
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
        e_led = _by_suit(shift, q.e_suit[0, i], q.e_suit[1, i], q.e_suit[2, i], q.e_suit[3, i])
        table, scale = follow_terms(led == trump, mask, none, q.pays[i], q.e_all[i], e_led, q.any_trick[i], q.stake[i])
        q.table[i], q.scale[i] = table, scale
        weakest = end_of(legal, up != ZERO)
        winners = either(winning & led == ZERO, ZERO, legal & beating(winning, up))
        usual = legal & ~odd_cards
        taking = usual & winners
        losing = usual ^ taking
        points = _by_suit(shift, points_c, points_d, points_h, points_s)
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
        points_c, points_d = _points_of(rules, contract, card_c), _points_of(rules, contract, card_d)
        points_h, points_s = _points_of(rules, contract, card_h), _points_of(rules, contract, card_s)
        for i in range(count):
            led = q.led[i]
            shift = np.uint64(ctz(led))
            card = _by_suit(shift, card_c, card_d, card_h, card_s)
            points = _by_suit(shift, points_c, points_d, points_h, points_s)
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
        points = _points_of(rules, contract, card)
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
        points = _points_of(rules, contract, card)
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
    whole = (count + _WHOLE - 1) & -_WHOLE
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
            _ruff(rules, contract, q, (q.count[_RUFF] + _WHOLE - 1) & -_WHOLE, place, trump, up)
        for j in range(asked):
            views.card[q.asked[_RUFF, j]] = card_of(q.best[j])


# ---- the play -----------------------------------------------------------------------------------------------------------------


@inlined
def _attacks(block: Any, i: I64, seat: I64) -> Any:
    """Tell whether a seat is the declarer or his partner."""
    apart = seat ^ block.declarer[i]
    return (apart == 0) | (apart == block.pairing[i])


@njit
def _look(block: Any, views: Any, count: I64, place: I64, tricks_played: I64) -> None:
    """Write what the seats at a place see; what lies on the table stands there already."""
    views.place = place
    views.tricks_played = tricks_played
    shift = np.uint64(place + 1)
    for i in range(count):
        hand = block.hands[place, i]
        held = hand & views.suit[i]
        void = block.void[i]
        seat = (block.leader[i] + place) & 3
        views.seat[i] = seat
        views.partner[i] = seat ^ block.pairing[i]
        views.hand[i] = hand
        views.legal[i] = either(held != ZERO, held, hand)
        views.unseen[i] = _PACK & ~(hand | block.seen[i])
        # places by how far they sit to the left
        views.void[i] = ((void | void << _FOUR) >> shift) & _THREE_OF_EACH
        views.own[i] = either(_attacks(block, i, seat), block.own[i], tricks_played - block.own[i])


@inlined
def _fault(views: Any, i: I64) -> U64:
    """Return zero if the card in a lane is exactly one of the legal ones, else something."""
    card = views.card[i]
    return card & (card - ONE) | card & ~views.legal[i] | either(card == ZERO, ONE, ZERO)


@inlined
def _first_illegal(views: Any, count: I64) -> I64:
    """Return the first lane whose card is not exactly one of the legal ones, or -1."""
    faults = ZERO
    for i in range(count):
        faults |= _fault(views, i)
    if faults != ZERO:
        for i in range(count):
            if _fault(views, i) != ZERO:
                return np.int64(i)
    return np.int64(-1)


@inlined
def _add_odd_points(rules: Any, contract: U64, block: Any, views: Any, count: I64) -> None:
    """Add what the odd cards just played have beyond the usual points of their suits."""
    odd = rules.odd_cards[contract]
    while odd != ZERO:
        card = lowest_bit(odd)
        odd ^= card
        number = np.uint64(ctz(card))
        extra = 64 * (rules.card_points[contract, number] - rules.suit_points[contract, number >> _FOUR])
        for i in range(count):
            views.points[i] += either(views.card[i] == card, extra, 0)


@njit
def _put_lead(rules: Any, contract: U64, block: Any, views: Any, count: I64) -> None:
    """Play the leaders' cards."""
    points_c, points_d, points_h, points_s = _usual_points(rules, contract)
    for i in range(count):
        card = views.card[i]
        block.hands[0, i] ^= card
        block.seen[i] |= card
        views.suit[i] = led_suit(card)
        views.trick[i] = card
        views.winning[i] = card
        views.winner[i] = views.seat[i]
        views.points[i] = _by_suit(np.uint64(ctz(card)), points_c, points_d, points_h, points_s)
    _add_odd_points(rules, contract, block, views, count)


@njit
def _put(rules: Any, contract: U64, block: Any, views: Any, count: I64, place: I64, trump: U64, up: U64) -> None:
    """Play the cards of a place behind the leader."""
    points_c, points_d, points_h, points_s = _usual_points(rules, contract)
    for i in range(count):
        card = views.card[i]
        led = views.suit[i]
        winning = views.winning[i]
        block.hands[place, i] ^= card
        block.seen[i] |= card
        views.trick[i] |= card
        shown = either(card & led == ZERO, ONE, ZERO)
        block.void[i] |= shown << (np.uint64(ctz(led)) + np.uint64(place))
        trumps = (card | winning) & trump
        candidates = either(trumps != ZERO, trumps, (card | winning) & led)
        best = end_of(candidates, up == ZERO)
        views.winner[i] = either(best != winning, views.seat[i], views.winner[i])
        views.winning[i] = best
        views.points[i] += _by_suit(np.uint64(ctz(card)), points_c, points_d, points_h, points_s)
    _add_odd_points(rules, contract, block, views, count)


@njit
def _clear_tables(views: Any, count: I64) -> None:
    """Put down that nobody has led."""
    for i in range(count):
        views.suit[i] = ZERO
        views.trick[i] = ZERO
        views.winning[i] = ZERO
        views.winner[i] = -1
        views.points[i] = 0


@njit
def _take_tricks(block: Any, views: Any, count: I64) -> None:
    """Give the tricks to their winners, who lead next: rows are turned so that the winner's stands first."""
    for i in range(count):
        seat = views.winner[i]
        winner = (seat - block.leader[i]) & 3  # his place
        one = winner & 1 != 0
        two = winner & 2 != 0
        a, b, c, d = block.hands[0, i], block.hands[1, i], block.hands[2, i], block.hands[3, i]
        a, b, c, d = either(two, c, a), either(two, d, b), either(two, a, c), either(two, b, d)
        block.hands[0, i] = either(one, b, a)
        block.hands[1, i] = either(one, c, b)
        block.hands[2, i] = either(one, d, c)
        block.hands[3, i] = either(one, a, d)
        void = block.void[i]
        block.void[i] = ((void | void << _FOUR) >> np.uint64(winner)) & _FOUR_OF_EACH
        block.leader[i] = seat
        trick = views.trick[i]
        block.taken[0, i] |= either(seat == 0, trick, ZERO)
        block.taken[1, i] |= either(seat == 1, trick, ZERO)
        block.taken[2, i] |= either(seat == 2, trick, ZERO)
        block.taken[3, i] |= either(seat == 3, trick, ZERO)
        block.own[i] += np.int64(_attacks(block, i, seat))


@njit
def _start(rules: Any, block: Any, count: I64) -> None:
    """Put the dealt hands before the players, the leader's first."""
    for i in range(count):
        leader = ((block.dealer[i] if rules.lead == 1 else block.declarer[i]) + 1) & 3
        block.leader[i] = leader
        for place in range(4):
            block.hands[place, i] = block.dealt[(leader + place) & 3, i]
            block.taken[place, i] = ZERO
        block.seen[i] = ZERO
        block.void[i] = ZERO
        block.own[i] = 0


@njit
def _fill_up(block: Any, count: I64) -> I64:
    """Repeat the first deal behind the last until whole vectors are full; returns the number of lanes."""
    whole = (count + _WHOLE - 1) & -_WHOLE
    for i in range(count, whole):
        for seat in range(4):
            block.dealt[seat, i] = block.dealt[seat, 0]
        block.declarer[i] = block.declarer[0]
        block.pairing[i] = block.pairing[0]
        block.dealer[i] = block.dealer[0]
    return whole


@njit
def play_many(rules: Any, block: Any, views: Any, q: Any, deals: I64, contract: U64, player: I64, table: Any, view: Any) -> I64:
    """Play a contract in the first ``deals`` deals of a BLOCK: dealt hands, dealers, declarers and pairings are given; fills
    ``taken``.

    Args:
        views, q: VIEWS and QUESTIONS, working space.
        player: EXPERT, or the address of a function (pointers.py) that gets ``views``.
        table, view: told which decision is waited for.

    Returns:
        The lane of the first illegal card, which ``views`` show, or -1.
    """
    low = rules.low[contract] == 1
    trump = ZERO if rules.low_trump == 1 and low else rules.trump[contract]
    up = ZERO if low else _ALL
    count = _fill_up(block, deals)
    _start(rules, block, count)
    views.count = count
    views.contract = contract
    views.trump = trump
    views.low = np.int64(low)
    for i in range(count):
        views.dealer[i] = block.dealer[i]
        views.declarer[i] = block.declarer[i]
    for t in range(13):
        _clear_tables(views, count)
        for place in range(4):
            _look(block, views, count, place, t)
            if t == 12:
                for i in range(count):
                    views.card[i] = views.legal[i]
            elif player == EXPERT:
                expert_many(views, rules, q)
            else:
                lane = _asked(player, views, rules, table, view)
                if lane >= 0:
                    return lane
            if place == 0:
                _put_lead(rules, contract, block, views, count)
            else:
                _put(rules, contract, block, views, count, place, trump, up)
        _take_tricks(block, views, count)
    return np.int64(-1)


@njit
def _asked(player: I64, views: Any, rules: Any, table: Any, view: Any) -> I64:
    """Have a player from outside the kernels choose a card in every lane; returns the first lane where it is illegal, or -1."""
    for i in range(views.count):
        views.card[i] = ZERO
    view.tricks_played = views.tricks_played
    view.on_table = views.place
    table.turn = views.seat[0]
    table.asked += 1
    table.asking = 1
    answered = call_player(player, views, rules, views, table)
    table.asking = 0
    if answered == ZERO:  # it raised
        views.card[0] = ZERO
        return np.int64(0)
    return _first_illegal(views, views.count)


@njit
def put_down(block: Any, i: I64, contract: I64, deal: Any) -> None:
    """Write a finished deal of a block into a DEAL_STATE record (two_at_once.py)."""
    for seat in range(4):
        deal.taken[seat] = block.taken[seat, i]
    deal.dealer = block.dealer[i]
    deal.declarer = block.declarer[i]
    deal.pairing = block.pairing[i]
    deal.contract = contract
