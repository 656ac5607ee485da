"""Worlds of Elections: where the unseen cards may lie, for all that a seat knows in the middle of a deal.

What it knows: its own hand, every card played, and the suits that others have shown out of (E13).  Nobody draws cards, so a void
stays one, and the worlds are the ways to fill the other three hands that respect voids and sizes.  ``count_worlds`` counts them
by suits: ``ways[s, a, b]`` is the number of ways to deal the unseen cards of suits s … 3 so that the first other seat gets a of
them and the second b.  ``deal_world`` draws suit by suit how many cards go where, then which.  Uniform, and never in vain.

Calls heard (and the contract named, E11) are evidence under a player model: in a world its players, asked with the whole hands
they would have had, make these calls or others.  ``sample_worlds`` draws worlds until enough of them explain every call; each is
then uniform among those that do.  Where they are too rare it stops at a fixed number, and weighs each world by ``SLIP`` for every
call that the model would not have made: sampling with importance weights, whose effective size (Kish: the square of the sum over
the sum of squares) is reported.

Cards played are evidence too, and a player model knows far less of them than of calls: hardly a world explains all.  So worlds are
only weighed, by a factor for each card that the model would not have played; the caller chooses the factor (``worlds.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, popcount
from simcore.elections.engine import apply, force_contract, prepare, start_deal
from simcore.elections.policies import decide
from simcore.elections.state import CALL, CONTRACT, NAMING, PLAY
from simcore.rng import open_streams
from simcore.sampling.unseen import CHOOSE, chance, draw_cards

__all__ = ["NO_MODEL", "SLIP", "WAYS", "count_worlds", "deal_world", "sample_worlds", "seat_world", "slips_of", "unseen_cards"]

#: Shape of ``ways``.
WAYS = (5, 14, 14)
#: Instead of a policy number: calls are not taken as evidence.
NO_MODEL = -1
#: What a call that the model would not have made weighs.
SLIP = 1 / 32
#: Worlds with so many slips more than the best are not worth finishing.
_HOPELESS = 4

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)


@njit
def unseen_cards(view: Any) -> U64:
    """Return the cards that the deciding seat has not seen: those in the other three hands."""
    return _FULL & ~(view.hand | view.played[0] | view.played[1] | view.played[2] | view.played[3])


@njit
def count_worlds(view: Any, ways: Any) -> float:
    """Fill ``ways`` (float64[WAYS]) and return how many worlds the deciding seat could be in, 0.0 if what it sees cannot be."""
    unseen = unseen_cards(view)
    first, second, third = (view.seat + 1) & 3, (view.seat + 2) & 3, (view.seat + 3) & 3
    ways[:] = 0.0
    ways[4, 0, 0] = 1.0
    rest = np.int64(0)
    for step in range(4):
        suit = 3 - step
        lane = _LANE << np.uint64(16 * suit)
        cards = popcount(unseen & lane)
        rest += cards
        most_x = cards if view.void[first] & lane == ZERO else np.int64(0)
        most_y = cards if view.void[second] & lane == ZERO else np.int64(0)
        third_may = view.void[third] & lane == ZERO
        for a in range(min(13, rest) + 1):
            for b in range(min(13, rest - a) + 1):
                total = 0.0
                for x in range(min(most_x, a) + 1):
                    for y in range(min(most_y, b, cards - x) + 1):
                        if x + y == cards or third_may:
                            total += CHOOSE[cards, x] * CHOOSE[cards - x, y] * ways[suit + 1, a - x, b - y]
                ways[suit, a, b] = total
    size1, size2, size3 = 13 - popcount(view.played[first]), 13 - popcount(view.played[second]), 13 - popcount(view.played[third])
    if size1 + size2 + size3 != rest:
        return 0.0
    return ways[0, size1, size2]  # type: ignore[no-any-return]


@njit
def deal_world(view: Any, ways: Any, source: Any, hands: Any) -> None:
    """Deal one world into ``hands`` (uint64[4]): the cards now held.  ``count_worlds`` has filled ``ways``, with at least one."""
    unseen = unseen_cards(view)
    first, second, third = (view.seat + 1) & 3, (view.seat + 2) & 3, (view.seat + 3) & 3
    for seat in range(4):
        hands[seat] = ZERO
    hands[view.seat] = view.hand
    a, b = 13 - popcount(view.played[first]), 13 - popcount(view.played[second])
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        pool = unseen & lane
        cards = popcount(pool)
        most_x = cards if view.void[first] & lane == ZERO else np.int64(0)
        most_y = cards if view.void[second] & lane == ZERO else np.int64(0)
        third_may = view.void[third] & lane == ZERO
        left = chance(source) * ways[suit, a, b]
        to_first = np.int64(-1)
        to_second = np.int64(-1)
        for x in range(min(most_x, a) + 1):
            for y in range(min(most_y, b, cards - x) + 1):
                if x + y == cards or third_may:
                    weight = CHOOSE[cards, x] * CHOOSE[cards - x, y] * ways[suit + 1, a - x, b - y]
                    if weight > 0.0 and left >= 0.0:  # the last that is possible, should rounding leave something over
                        to_first, to_second = np.int64(x), np.int64(y)
                    left -= weight
        drawn = draw_cards(source, pool, to_first)
        hands[first] |= drawn
        pool ^= drawn
        drawn = draw_cards(source, pool, to_second)
        hands[second] |= drawn
        hands[third] |= pool ^ drawn
        a -= to_first
        b -= to_second


@njit
def seat_world(view: Any, hands: Any, table: Any, phase: I64) -> None:
    """Set a table up as it stands in a world, with the deciding seat to move."""
    for seat in range(4):
        table.hands[seat] = hands[seat]
        table.dealt[seat] = hands[seat] | view.played[seat]
    table.phase = phase
    table.status = 0
    table.turn = view.seat


@njit
def slips_of(rules: Any, seen: Any, hands: Any, model: I64, most: I64, table: Any, view: Any, streams: Any) -> I64:
    """Return how many calls of others (and the naming of the contract) the model would not have made, or more than ``most``.

    Args:
        seen: the deciding seat's view.
        hands: uint64[4], the cards held in the world.
        model: policy number of a built-in player.
        table, view, streams: working space.
    """
    slips = np.int64(0)
    for seat in range(4):
        table.hands[seat] = hands[seat] | seen.played[seat]
    start_deal(table, view, seen.dealer, seen.lots)
    for i in range(seen.calls_made):
        heard = ONE << np.uint64(seen.calls[i])
        prepare(rules, table, view)
        legal = view.legal
        if table.turn != seen.seat and legal & (legal - ONE) != ZERO:
            slips += np.int64(decide(model, CALL, view, rules, streams[table.turn]) != heard)
            if slips > most:
                return slips
        apply(rules, table, view, CALL, heard)
    if table.phase == NAMING and seen.contract >= 0 and seen.declarer != seen.seat:
        prepare(rules, table, view)
        legal = view.legal
        if legal & (legal - ONE) != ZERO:
            named = ONE << np.uint64(seen.contract)
            slips += np.int64(decide(model, CONTRACT, view, rules, streams[table.turn]) != named)
    return slips


@njit
def play_slips_of(rules: Any, seen: Any, hands: Any, model: I64, table: Any, view: Any, streams: Any) -> I64:
    """Return how many cards the others have played that the model would not have; arguments as for :func:`slips_of`."""
    slips = np.int64(0)
    for seat in range(4):
        table.hands[seat] = hands[seat] | seen.played[seat]
    start_deal(table, view, seen.dealer, seen.lots)
    for i in range(seen.calls_made):
        prepare(rules, table, view)
        apply(rules, table, view, CALL, ONE << np.uint64(seen.calls[i]))
    if seen.forced == 1:
        force_contract(rules, table, view, seen.contract, seen.declarer, seen.pairing)
    else:
        prepare(rules, table, view)
        apply(rules, table, view, CONTRACT, ONE << np.uint64(seen.contract))
    for i in range(4 * seen.tricks_played + seen.on_table):
        card = ONE << np.uint64(seen.history[i])
        prepare(rules, table, view)
        legal = view.legal
        if table.turn != seen.seat and legal & (legal - ONE) != ZERO:
            slips += np.int64(decide(model, PLAY, view, rules, streams[table.turn]) != card)
        apply(rules, table, view, PLAY, card)
    return slips


@njit
def sample_worlds(
    rules: Any,
    seen: Any,
    model: I64,
    wanted: I64,
    most: I64,
    key: U64,
    ways: Any,
    source: Any,
    table: Any,
    view: Any,
    streams: Any,
    hands: Any,
    slips: Any,
    play_model: I64,
    play_slips: Any,
) -> tuple[I64, I64]:
    """Draw worlds for the deciding seat of ``seen``; returns how many were tried and how many of them are in ``hands``.

    ``wanted`` worlds that explain every call, or, where ``most`` were tried before there were so many, all that are not hopeless.
    Where cards are judged too, all of ``most`` that are not hopeless.

    Args:
        model: policy number of the players that called, NO_MODEL to take calls as no evidence.
        key: starts the streams of a model that plays by chance.
        ways: float64[WAYS], filled here.
        table, view, streams: working space.
        hands: uint64[most, 4], written.
        slips: int64[most], written: calls that the model would not have made.
        play_model: policy number of the players whose cards are judged, or NO_MODEL.
        play_slips: int64[most], written: cards that it would not have played.
    """
    judge = play_model != NO_MODEL and seen.contract >= 0 and seen.tricks_played + seen.on_table > 0
    if count_worlds(seen, ways) <= 0.0:
        return np.int64(0), np.int64(0)
    listen = model != NO_MODEL and seen.forced == 0 and seen.calls_made > 0
    fewest = np.int64(1 << 20)
    perfect = np.int64(0)
    kept = np.int64(0)
    tried = np.int64(0)
    while (judge or perfect < wanted) and tried < most:
        deal_world(seen, ways, source, hands[kept])
        slips[kept] = 0
        if listen:
            open_streams(streams, key, ZERO, np.uint64(tried))
            slips[kept] = slips_of(rules, seen, hands[kept], model, fewest + _HOPELESS, table, view, streams)
        tried += 1
        if slips[kept] <= fewest + _HOPELESS:
            fewest = min(fewest, slips[kept])
            play_slips[kept] = 0
            if judge:
                play_slips[kept] = play_slips_of(rules, seen, hands[kept], play_model, table, view, streams)
            perfect += np.int64(slips[kept] == 0)
            kept += 1
    if not judge and perfect == wanted:  # drop the others: those left are uniform among all that explain the calls
        place = np.int64(0)
        for i in range(kept):
            if slips[i] == 0:
                for seat in range(4):
                    hands[place, seat] = hands[i, seat]
                slips[place] = 0
                place += 1
        kept = place
    return tried, kept
