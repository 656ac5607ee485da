"""Worlds of Showcase: where the unseen cards may lie in the first playout, for all that a seat knows.

What it knows: its own hand, both showcases, the turned or display cards, discards, and what the other's replies say of his hand:
who does not follow suit from hand has no card of it there, and under S4 no trump either if he throws something else.  But he draws
cards: a suit he lacked may have come since, and a card he played may have been drawn only after that.  So a world is more than a
hand: which cards he was dealt, which he drew at each trick, and in which order the reserve lies.

Worlds are counted by the suit counts of his hand, step by step from the deal on.  Think of his hand as places, 13 dealt and one
for each draw; ``ways[k, c, d, h]`` is the number of ways, after step k, that his hand can hold c clubs, d diamonds, h hearts and
the rest spades, the places being told apart and the cards not yet (no count exceeds 13, the cards of a suit):

    dealt           13! / (c! d! h! s!)
    draw            a place more, of any suit
    card played     a place of its suit less, any of those there are: times their number
    suits missing   zero unless he has none of them

At the end the places still in his hand take different unseen cards of their suits, u! / (u - n)! ways a suit, and the rest of the
unseen cards form the reserve in any order.  Going back through the steps with these counts as weights draws a whole history;
uniform, and never in vain.  Some 560 hands a step: a fraction of a millisecond.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, nth_card, popcount
from simcore.rng import below
from simcore.sampling.unseen import FACTORIAL, chance, draw_cards
from simcore.showcase.play import unseen_cards

__all__ = ["HISTORY", "STEPS", "WAYS", "count_worlds", "deal_world", "deal_worlds", "seat_world"]

_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)

#: Most steps: 26 replies or leads, 26 draws, as many voids.
_MOST = 80
#: Shape of ``ways``.
WAYS = (_MOST, 14, 14, 14)
# Kinds of step, and what stands beside: the trick drawn after, the card played, the suits missing as bits 0 … 3.
_DRAW, _PLAY, _MISS = 0, 1, 2
#: The steps of a view: int64[STEPS], the number of them in the last row.
STEPS = (_MOST, 2)
#: What a world says of the past: cards the other was dealt, then his draw after each trick (a bit number, -1 for none).
HISTORY = 27


@njit
def _upto(cards: I64) -> I64:
    """Return the end of a range over how many of some cards can be of one suit."""
    return np.int64(min(cards, 13) + 1)


@njit
def _list_steps(rules: Any, view: Any, steps: Any) -> tuple[I64, I64]:
    """List what happened to the other hand; returns the number of steps and how many cards it holds now."""
    him = 1 - view.seat
    magri = rules.magri == 1
    trump = np.int64(0) if view.trump == ZERO else np.int64(1) << (np.int64(ctz(view.trump)) >> 4)
    count = np.int64(0)
    held = np.int64(13)
    shown = ZERO  # his showcase
    for trick in range(view.tricks_played + 1):
        cards = 2 if trick < view.tricks_played else view.on_table
        for place in range(cards):
            if (view.leaders[0, trick] ^ place) != him:
                continue
            number = np.int64(view.history[0, 2 * trick + place])
            bit = ONE << np.uint64(number)
            if view.source[2 * trick + place] == 1:
                shown &= ~bit
                continue
            led = np.int64(view.history[0, 2 * trick]) >> 4
            if place == 1 and number >> 4 != led:
                missing = np.int64(0)
                if not magri:  # S4
                    missing = np.int64(1) << led
                    if trump != 0 and (np.int64(1) << (number >> 4)) != trump:
                        missing |= trump
                elif rules.follow_from == 1 and shown & (_LANE << np.uint64(16 * led)) == ZERO:  # M4
                    missing = np.int64(1) << led
                if missing != 0:
                    steps[count, 0], steps[count, 1] = _MISS, missing
                    count += 1
            steps[count, 0], steps[count, 1] = _PLAY, number
            count += 1
            held -= 1
        if cards < 2:
            break
        if view.winners[0, trick] == him:
            if magri:
                shown |= ONE << np.uint64(view.taken[trick])
            else:
                for place in range(2):
                    shown |= ONE << np.uint64(view.history[0, 2 * trick + place])
        else:
            steps[count, 0], steps[count, 1] = _DRAW, trick
            count += 1
            held += 1
    return count, held


@njit
def _final(unseen: Any, c: I64, d: I64, h: I64, s: I64) -> float:
    """Return in how many ways places of his hand can take unseen cards; ``unseen`` counts them by suit."""
    if s < 0 or c > unseen[0] or d > unseen[1] or h > unseen[2] or s > unseen[3]:
        return 0.0
    return (  # type: ignore[no-any-return]
        (FACTORIAL[unseen[0]] / FACTORIAL[unseen[0] - c])
        * (FACTORIAL[unseen[1]] / FACTORIAL[unseen[1] - d])
        * (FACTORIAL[unseen[2]] / FACTORIAL[unseen[2] - h])
        * (FACTORIAL[unseen[3]] / FACTORIAL[unseen[3] - s])
    )


@njit
def _of_suits(cards: U64, counts: Any) -> None:
    """Count a mask's cards by suit."""
    for suit in range(4):
        counts[suit] = popcount(cards & (_LANE << np.uint64(16 * suit)))


@njit
def count_worlds(rules: Any, view: Any, steps: Any, ways: Any) -> float:
    """Fill ``steps`` and ``ways`` and return how many worlds there are (reserves in any order counted once), 0.0 for none.

    Args:
        steps: int64[STEPS].
        ways: float64[WAYS].
    """
    count, now = _list_steps(rules, view, steps)
    steps[_MOST - 1, 0], steps[_MOST - 1, 1] = count, now
    face_down = 25 - (2 if rules.magri == 1 else 1) * view.tricks_played
    if now < 0 or popcount(unseen_cards(view)) != now + face_down:
        return 0.0
    held = np.int64(13)
    for c in range(14):
        for d in range(14 - c):
            for h in range(14 - c - d):
                ways[0, c, d, h] = FACTORIAL[13] / (FACTORIAL[c] * FACTORIAL[d] * FACTORIAL[h] * FACTORIAL[13 - c - d - h])
    for k in range(count):
        kind, what = steps[k, 0], steps[k, 1]
        before = held
        held += 1 if kind == _DRAW else (-1 if kind == _PLAY else 0)
        if held < 0:
            return 0.0
        for c in range(_upto(held)):
            for d in range(_upto(held - c)):
                for h in range(_upto(held - c - d)):
                    s = held - c - d - h
                    total = 0.0
                    if s > 13:  # there are no more cards of a suit
                        pass
                    elif kind == _DRAW:
                        if c > 0:
                            total += ways[k, c - 1, d, h]
                        if d > 0:
                            total += ways[k, c, d - 1, h]
                        if h > 0:
                            total += ways[k, c, d, h - 1]
                        if s > 0:
                            total += ways[k, c, d, h]
                    elif kind == _PLAY:
                        suit = what >> 4
                        if suit == 0:
                            total = (c + 1) * ways[k, c + 1, d, h] if c < 13 else 0.0
                        elif suit == 1:
                            total = (d + 1) * ways[k, c, d + 1, h] if d < 13 else 0.0
                        elif suit == 2:
                            total = (h + 1) * ways[k, c, d, h + 1] if h < 13 else 0.0
                        else:
                            total = (before - c - d - h) * ways[k, c, d, h]
                    elif _misses(what, c, d, h, s):
                        total = ways[k, c, d, h]
                    ways[k + 1, c, d, h] = total
    unseen = np.zeros(4, np.int64)
    _of_suits(unseen_cards(view), unseen)
    everything = 0.0
    for c in range(_upto(now)):
        for d in range(_upto(now - c)):
            for h in range(_upto(now - c - d)):
                everything += ways[count, c, d, h] * _final(unseen, c, d, h, now - c - d - h)
    return everything


@njit
def _misses(suits: I64, c: I64, d: I64, h: I64, s: I64) -> bool:
    """Tell whether a hand has none of the suits in a mask of bits 0 … 3."""
    return (  # type: ignore[no-any-return]
        (suits & 1 == 0 or c == 0) and (suits & 2 == 0 or d == 0) and (suits & 4 == 0 or h == 0) and (suits & 8 == 0 or s == 0)
    )


@njit
def deal_world(view: Any, steps: Any, ways: Any, total: float, source: Any, stock: Any, history: Any) -> U64:
    """Draw one world; returns the other hand as it is now.

    Args:
        steps, ways, total: filled and returned by :func:`count_worlds`; total is more than 0.
        stock: int8[26], the reserve in order: what was already drawn is -1, the turned or first display card stands first.
        history: int64[HISTORY], written: what the other was dealt and drew.
    """
    count, now = steps[_MOST - 1, 0], steps[_MOST - 1, 1]
    unseen = unseen_cards(view)
    counts = np.zeros(4, np.int64)
    _of_suits(unseen, counts)
    # his hand now, by suits
    left = chance(source) * total
    hand = np.zeros(4, np.int64)
    for c in range(_upto(now)):
        for d in range(_upto(now - c)):
            for h in range(_upto(now - c - d)):
                weight = ways[count, c, d, h] * _final(counts, c, d, h, now - c - d - h)
                if weight > 0.0 and left >= 0.0:
                    hand[0], hand[1], hand[2], hand[3] = c, d, h, now - c - d - h
                left -= weight
    # back to the deal: the suit of each draw
    suits = np.zeros(40, np.int64)  # of each place: 13 dealt, then a draw each
    after = np.zeros(40, np.int64)  # trick of each draw
    draws = np.int64(0)
    for k in range(count):
        if steps[k, 0] == _DRAW:
            after[13 + draws] = steps[k, 1]
            draws += 1
    place = 13 + draws
    for back in range(count):
        k = count - 1 - back
        if steps[k, 0] == _PLAY:
            hand[steps[k, 1] >> 4] += 1
        elif steps[k, 0] == _DRAW:
            place -= 1
            part = 0.0
            for suit in range(4):
                part += _before(ways, k, hand, suit)
            left = chance(source) * part
            drawn = np.int64(0)
            for suit in range(4):
                weight = _before(ways, k, hand, suit)
                if weight > 0.0 and left >= 0.0:
                    drawn = np.int64(suit)
                left -= weight
            suits[place] = drawn
            hand[drawn] -= 1
    place = np.int64(0)
    for suit in range(4):
        for _ in range(hand[suit]):
            suits[place] = suit
            place += 1
    # forward again: which place each card played lay in
    card = np.full(40, -1, np.int64)
    places = np.int64(13)
    for k in range(count):
        if steps[k, 0] == _DRAW:
            places += 1
        elif steps[k, 0] == _PLAY:
            fitting = np.int64(0)
            for p in range(places):
                fitting += np.int64(card[p] < 0 and suits[p] == steps[k, 1] >> 4)
            chosen = below(source, fitting)
            for p in range(places):
                if card[p] < 0 and suits[p] == steps[k, 1] >> 4:
                    if chosen == 0:
                        card[p] = steps[k, 1]
                    chosen -= 1
    # the places left take unseen cards
    held = ZERO
    history[:] = -1
    dealt = ZERO
    for p in range(places):
        if card[p] < 0:
            drawn_card = draw_cards(source, unseen & (_LANE << np.uint64(16 * suits[p])), np.int64(1))
            unseen ^= drawn_card
            held |= drawn_card
            card[p] = ctz(drawn_card)
        if p < 13:
            dealt |= ONE << np.uint64(card[p])
        else:
            history[1 + after[p]] = card[p]
    history[0] = np.int64(dealt)
    stock[:] = -1
    stock[0] = view.turned
    following = 26 - popcount(unseen)
    for p in range(following, 26):
        drawn_card = nth_card(unseen, below(source, popcount(unseen)))
        unseen ^= drawn_card
        stock[p] = np.int8(ctz(drawn_card))
    return held


@njit
def _before(ways: Any, k: I64, hand: Any, suit: I64) -> float:
    """Return the ways before step k, a draw, if it brought a card of a suit to what is now ``hand``."""
    if hand[suit] == 0:
        return 0.0
    c, d, h = hand[0] - (suit == 0), hand[1] - (suit == 1), hand[2] - (suit == 2)
    return ways[k, c, d, h]  # type: ignore[no-any-return]


@njit
def seat_world(rules: Any, view: Any, held: U64, stock: Any, table: Any, phase: I64) -> None:
    """Set a table up as it stands in a world, with the deciding seat to move; ``held`` is the other's hand (or holding)."""
    table.hands[view.seat] = view.hand
    table.hands[1 - view.seat] = held
    for place in range(26):
        table.stock[place] = stock[place]
    table.next = 1 + (2 if rules.magri == 1 else 1) * view.tricks_played
    table.phase = phase
    table.turn = view.seat


@njit
def deal_worlds(view: Any, steps: Any, ways: Any, total: float, source: Any, hands: Any, stocks: Any) -> None:
    """Draw worlds into ``hands`` (uint64[n, 2], now) and ``stocks`` (int8[n, 26]); arguments as for :func:`deal_world`."""
    history = np.zeros(HISTORY, np.int64)
    for i in range(len(hands)):
        hands[i, view.seat] = view.hand
        hands[i, 1 - view.seat] = deal_world(view, steps, ways, total, source, stocks[i], history)
