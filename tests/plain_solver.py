"""Two plain solvers of Elections for endings and deals that naive.py is too slow for.  They share no code with simcore.

    exhaustive      every line of play, without memory, without pruning
    by_position     one question at a time with a table of exact positions, touching cards merged; no patterns, no sure tricks

Cards are numbers, 16 * suit + rank (clubs 0, 2 lowest); hands are int64 masks.  Values are the attackers' points minus the
defenders', from the position on, with a bonus for more tricks decided by all tricks of the deal, those before included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import int64, njit

#: What both kernels know: trump (-1 none), low, low trumps plain, points a trick, bonus; then 64 words: points of each card.
_TRUMP, _LOW, _PLAIN, _TRICK, _MOST, _WORTH = 0, 1, 2, 3, 4, 5


@njit(int64(int64[:], int64, int64))
def _strength(terms, card, led):
    """Return how high a card ranks in a trick: trumps over the suit led over the rest (E14)."""
    rank = 12 - card % 16 if terms[_LOW] else card % 16
    if card // 16 == terms[_TRUMP] and not (terms[_LOW] and terms[_PLAIN]):
        return 200 + rank
    return 100 + rank if card // 16 == led // 16 else 0


@njit(int64(int64[:], int64[:]))
def _taker(terms, cards):
    """Return which card of a full trick takes it, 0 the lead."""
    best = 0
    for n in range(1, 4):
        if _strength(terms, cards[n], cards[0]) > _strength(terms, cards[best], cards[0]):
            best = n
    return best


@njit(int64(int64[:], int64[:], int64, int64))
def _legal(hands, cards, n, seat):
    """Return the cards a seat may play, ``n`` cards being on the table (E13)."""
    if n:
        following = hands[seat] & (int64(0x1FFF) << (16 * (cards[0] // 16)))
        if following:
            return following
    return hands[seat]


@njit(int64(int64[:], int64[:]))
def _points(terms, cards):
    total = terms[_TRICK]
    for n in range(4):
        total += terms[_WORTH + cards[n]]
    return total


@njit(int64(int64[:], int64[:], int64[:, :], int64, int64, int64, int64, int64, int64))
def _exhaustive(terms, hands, tricks, depth, n, leader, attackers, won, lost):
    """Return the best margin; row ``depth`` of ``tricks`` holds the ``n`` cards on the table."""
    cards = tricks[depth]
    if n == 4:
        place = _taker(terms, cards)
        seat = (leader + place) % 4
        gain = _points(terms, cards)
        if (attackers >> seat) & 1:
            won += 1
        else:
            lost += 1
            gain = -gain
        if hands[0] == 0:
            return gain + terms[_MOST] * ((won > lost) - (won < lost))
        return gain + _exhaustive(terms, hands, tricks, depth + 1, 0, seat, attackers, won, lost)
    seat = (leader + n) % 4
    ours = (attackers >> seat) & 1
    legal = _legal(hands, cards, n, seat)
    best = int64(-1000000) if ours else int64(1000000)
    for card in range(64):
        if (legal >> card) & 1:
            hands[seat] ^= int64(1) << card
            cards[n] = card
            value = _exhaustive(terms, hands, tricks, depth, n + 1, leader, attackers, won, lost)
            hands[seat] ^= int64(1) << card
            best = max(best, value) if ours else min(best, value)
    return best


@njit(int64(int64[:], int64[:], int64[:], int64, int64))
def _put_key(terms, hands, key, leader, won):
    """Write a position: who owns each live card, lowest first, which of them score otherwise, who leads; return a hash."""
    key[:] = 0
    place = 0
    for suit in range(4):
        word = suit // 2
        common = terms[_WORTH + 16 * suit]
        for rank in range(13):
            card = 16 * suit + rank
            for seat in range(4):
                if (hands[seat] >> card) & 1:
                    key[word] = 4 * key[word] + seat
                    if terms[_WORTH + card] != common:
                        key[2] |= int64(1) << place
                        key[4] |= int64(1) << card
                    place += 1
    lengths = 0
    for suit in range(4):
        count = 0
        for seat in range(4):
            held = (hands[seat] >> (16 * suit)) & 0x1FFF
            while held:
                held &= held - 1
                count += 1
        lengths = 16 * lengths + count
    key[3] = ((lengths * 4 + leader) * 16 + won) * 2 + 1
    mixed = int64(0)
    for word in range(5):
        mixed = (mixed ^ key[word]) * int64(0x369DEA0F31A53F85)
        mixed ^= (mixed >> 32) & 0xFFFFFFFF
    return mixed


@njit(int64(int64[:, :], int64, int64[:]))
def _is_at(table, slot, key):
    for word in range(5):
        if table[slot, word] != key[word]:
            return 0
    return 1


@njit(int64(int64[:], int64[:], int64[:, :], int64, int64, int64, int64, int64, int64, int64, int64[:, :]))
def _by_position(terms, hands, tricks, depth, n, leader, attackers, won, lost, target, table):
    """Return a margin >= ``target`` that attackers reach, or one below it that they cannot pass."""
    cards = tricks[depth]
    if n == 4:
        place = _taker(terms, cards)
        seat = (leader + place) % 4
        gain = _points(terms, cards)
        if (attackers >> seat) & 1:
            won += 1
        else:
            lost += 1
            gain = -gain
        if hands[0] == 0:
            return gain + terms[_MOST] * ((won > lost) - (won < lost))
        return gain + _by_position(terms, hands, tricks, depth + 1, 0, seat, attackers, won, lost, target - gain, table)
    slot = int64(0)
    remembered = int64(-1)
    key = np.empty(5, np.int64)
    if n == 0:
        most = abs(terms[_MOST])
        for card in range(64):
            if ((hands[0] | hands[1] | hands[2] | hands[3]) >> card) & 1:
                most += abs(terms[_WORTH + card])
            if (hands[leader] >> card) & 1:
                most += abs(terms[_TRICK])
        if -most >= target:
            return -most
        if most < target:
            return most
        slot = _put_key(terms, hands, key, leader, won if terms[_MOST] else int64(0)) & (table.shape[0] - 1)
        if _is_at(table, slot, key):
            if table[slot, 5] >= target:
                return table[slot, 5]
            if table[slot, 6] < target:
                return table[slot, 6]
            remembered = table[slot, 7]
    seat = (leader + n) % 4
    ours = (attackers >> seat) & 1
    legal = _legal(hands, cards, n, seat)
    live = hands[0] | hands[1] | hands[2] | hands[3]
    for k in range(n):
        live |= int64(1) << cards[k]
    # of touching cards of equal worth the highest
    choices = int64(0)
    above = int64(-1)
    for card in range(63, -1, -1):
        if card % 16 == 15:
            above = -1
        if (live >> card) & 1:
            equal = above >= 0 and (legal >> above) & 1 and terms[_WORTH + above] == terms[_WORTH + card]
            if (legal >> card) & 1 and not equal:
                choices |= int64(1) << card
            above = card
    best = int64(-1000000) if ours else int64(1000000)
    last = int64(-1)
    for k in range(-1, 64):
        # the lead that settled the last question here first, then from the top of each suit
        card = remembered if k < 0 else int64(16 * (k % 4) + 15 - k // 4)
        if card >= 0 and (choices >> card) & 1:
            choices ^= int64(1) << card
            hands[seat] ^= int64(1) << card
            cards[n] = card
            last = card
            value = _by_position(terms, hands, tricks, depth, n + 1, leader, attackers, won, lost, target, table)
            hands[seat] ^= int64(1) << card
            best = max(best, value) if ours else min(best, value)
            if (best >= target) == (ours == 1):
                break
    if n == 0:
        if not _is_at(table, slot, key):
            table[slot, :5] = key
            table[slot, 5], table[slot, 6] = -1000000, 1000000
        if best >= target:
            table[slot, 5] = max(table[slot, 5], best)
        else:
            table[slot, 6] = min(table[slot, 6], best)
        table[slot, 7] = last
    return best


def _terms(contract: dict[str, Any], plain: bool) -> np.ndarray:
    """Return the kernels' terms of a contract as naive.terms gives it."""
    terms = np.zeros(_WORTH + 64, np.int64)
    trump = contract["trump"]
    terms[:_WORTH] = -1 if trump is None else "CDHS".index(trump), contract["low"], plain, contract["trick"], contract["most"]
    for suit, name in enumerate("CDHS"):
        for rank, letter in enumerate("23456789TJQKA"):
            terms[_WORTH + 16 * suit + rank] = contract["suits"].get(name, 0) + contract["cards"].get(name + letter, 0)
    return terms


def _start(hands: Sequence[int], table: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    tricks = np.zeros((14, 4), np.int64)
    tricks[0, : len(table)] = table
    return np.array([int(hand) for hand in hands], np.int64), tricks


def exhaustive(
    hands: Sequence[int], contract: dict[str, Any], attackers: int, leader: int, table: Sequence[int] = (),
    won: int = 0, lost: int = 0, *, plain: bool = False,
) -> int:  # fmt: skip
    """Return the value of a position; ``attackers``: a mask of seats, ``leader`` led the cards in ``table``."""
    held, tricks = _start(hands, table)
    return int(_exhaustive(_terms(contract, plain), held, tricks, 0, len(table), leader, attackers, won, lost))


def by_position(
    hands: Sequence[int], contract: dict[str, Any], attackers: int, leader: int, won: int = 0, lost: int = 0, *,
    plain: bool = False, bits: int = 20,
) -> int:  # fmt: skip
    """Return the value at the start of a trick; ``bits``: a table of 2**bits positions, 64 bytes each."""
    terms = _terms(contract, plain)
    held, tricks = _start(hands, ())
    table = np.zeros((1 << bits, 8), np.int64)
    low, high = -1000, 1000
    while low < high:
        target = (low + high + 1) // 2
        value = int(_by_position(terms, held, tricks, 0, 0, leader, attackers, won, lost, target, table))
        if value >= target:
            low = value
        else:
            high = value
    return low
