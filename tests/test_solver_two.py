"""The exact solver of Showcase's second playout against searches that share nothing with it.

``exhaust`` is plain minimax over all legal cards: no memory, no pruning, cards as (rank, suit) pairs.  ``Reference`` adds a table
and a zero window, and tries one of touching cards: long endings and whole holdings, without the solver's dominance and bounds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from simcore._jit import JIT, njit
from simcore.bits import ZERO
from simcore.cards import Hand
from simcore.errors import BadInput
from simcore.rules import TRUMPS
from simcore.solvers import two, two_kernel, two_play, two_proofs, two_rank

Card = tuple[int, int]  # rank, suit
READINGS = ("ruff", "rank")


# ------------------------------------------------------------------------------------------------ slow and obvious twins


def replies(holding: Iterable[Card], lead: Card, trump: int) -> list[Card]:
    """S12."""
    for suit in (lead[1], trump):
        held = [card for card in holding if card[1] == suit]
        if held:
            return held
    return list(holding)


def reply_wins(lead: Card, reply: Card, trump: int, rank: bool) -> bool:
    """S13."""
    if reply[1] == lead[1]:
        return reply[0] > lead[0]
    if trump == 5:
        return reply[0] > lead[0] if rank else True
    return reply[1] == trump


def exhaust(lead: frozenset[Card], follow: frozenset[Card], k: int, trump: int, rank: bool, table: Card | None = None) -> int:
    """Tricks of k for the side that leads, or led the card on the table, by plain minimax."""
    if k == 0:
        return 0
    best = -1
    for card in lead if table is None else [table]:
        worst = k
        for reply in replies(follow, card, trump):
            mine, his = lead - {card}, follow - {reply}
            if reply_wins(card, reply, trump, rank):
                worst = min(worst, k - 1 - exhaust(his, mine, k - 1, trump, rank))
            else:
                worst = min(worst, 1 + exhaust(mine, his, k - 1, trump, rank))
        best = max(best, worst)
    return best


class Reference:
    """Zero-window search with a table of exact positions and one of touching cards tried; cards are bits 4*rank + suit."""

    def __init__(self, trump: int, rank: bool) -> None:
        self.trump, self.rank = trump, rank
        self.known: dict[tuple[int, int, int], list[int]] = {}

    def cards(self, holding: int, others: int) -> list[int]:
        """One of each run of cards between which (in any suit, under ``rank``) the other side has none, strongest first."""
        found = []
        for suit in range(4):
            above = -1
            for card in range(48 + suit, -1, -4):
                if others >> card & 1:
                    above = -1
                elif holding >> card & 1:
                    if above < 0 or (self.rank and others & ((1 << (above | 3) + 1) - (1 << (card & ~3)))):
                        found.append(card)
                    above = card
        return sorted(found, reverse=True)

    def legal(self, holding: int, lead: int) -> int:
        for suit in (lead & 3, self.trump):
            if suit < 4 and (held := holding & 0x1111111111111 << suit):
                return held
        return holding

    def wins(self, lead: int, reply: int) -> bool:
        return reply_wins((lead >> 2, lead & 3), (reply >> 2, reply & 3), self.trump, self.rank)

    def takes(self, lead: int, follow: int, k: int, t: int) -> bool:
        if t <= 0 or t > k:
            return t <= 0
        bounds = self.known.setdefault((lead, follow, k), [0, k])
        if bounds[0] >= t or bounds[1] < t:
            return bounds[0] >= t
        yes = any(self.holds(lead, follow, k, t, card) for card in self.cards(lead, follow))
        bounds[not yes] = t if yes else t - 1
        return yes

    def holds(self, lead: int, follow: int, k: int, t: int, card: int) -> bool:
        rest = lead ^ 1 << card
        legal = self.legal(follow, card)
        for reply in self.cards(follow, lead):
            if legal >> reply & 1:
                if self.wins(card, reply):
                    good = not self.takes(follow ^ 1 << reply, rest, k - 1, k - t)
                else:
                    good = self.takes(rest, follow ^ 1 << reply, k - 1, t - 1)
                if not good:
                    return False
        return True

    def value(self, lead: int, follow: int, k: int) -> int:
        low, high = 0, k
        while low < high:
            middle = (low + high + 1) // 2
            if self.takes(lead, follow, k, middle):
                low = middle
            else:
                high = middle - 1
        return low


def mask(cards: Iterable[Card]) -> int:
    return sum(1 << 16 * suit + rank for rank, suit in cards)


def bits(cards: Iterable[Card]) -> int:
    return sum(1 << 4 * rank + suit for rank, suit in cards)


def name(card: Card) -> str:
    return "CDHS"[card[1]] + "23456789TJQKA"[card[0]]


def split(rng: random.Random, north: int, south: int, ranks: int = 13, suits: int = 4) -> tuple[list[Card], list[Card]]:
    """Two random holdings from a pack of the given ranks (spread over all 13) and suits."""
    pack = [(r, s) for s in rng.sample(range(4), suits) for r in sorted(rng.sample(range(13), ranks))]
    drawn = rng.sample(pack, north + south)
    return drawn[:north], drawn[north:]


def readings(trump: int) -> tuple[str, ...]:
    return READINGS if trump == 5 else ("ruff",)


# ------------------------------------------------------------------------------------------------ right


def test_exhaustive() -> None:
    """3,000 small endings: unequal holdings, both leaders, all trumps and readings, a card on the table, every card's value."""
    rng = random.Random(5)
    for number in range(3000):
        k = rng.choice((1, 2, 2, 3, 3, 3, 4) if number % 40 else (4, 5))
        extra = (0, 0) if k > 3 or rng.random() < 0.3 else (rng.randrange(4 - k + 1), rng.randrange(4 - k + 1))
        suits = rng.choice((1, 2, 3, 4, 4)) if k < 4 else 4
        sizes = (k + extra[0], k + extra[1])
        ranks = rng.randint(-(-sum(sizes) // suits), 13)
        hands = split(rng, *sizes, ranks=ranks, suits=suits)
        trump = number % 6
        reading = readings(trump)[number // 6 % len(readings(trump))]
        rank = reading == "rank"
        leader = rng.randrange(2)
        lead, follow = frozenset(hands[leader]), frozenset(hands[1 - leader])
        table = rng.choice(sorted(lead)) if rng.random() < 0.4 else None
        expected = exhaust(lead, follow, k, trump, rank, table)
        held = [mask(set(hand) - {table}) for hand in hands]
        at = (held[0], held[1], trump, "NS"[leader], k, reading)
        on_table = name(table) if table else None
        assert two.value(*at, table=on_table) == (expected if leader == 0 else k - expected)
        # every card of the side to play
        values = {card.card: card for card in two.card_values(*at, table=on_table)}
        if table is None:
            exact = {name(card): exhaust(lead, follow, k, trump, rank, card) for card in lead}
        else:
            exact = {}
            for reply in replies(follow, table, trump):
                if reply_wins(table, reply, trump, rank):
                    exact[name(reply)] = 1 + exhaust(follow - {reply}, lead - {table}, k - 1, trump, rank)
                else:
                    exact[name(reply)] = k - 1 - exhaust(lead - {table}, follow - {reply}, k - 1, trump, rank)
        assert {card: found.tricks for card, found in values.items()} == exact
        top = max(exact.values())
        assert all(found.best == (found.tricks == top) for found in values.values())
        assert exact[str(two.best_card(*at, table=on_table))] == top


@pytest.mark.parametrize("trump", range(6))
def test_reference_endings(trump: int) -> None:
    """Endings of 5 to 9 tricks, some with cards left over, against the reference."""
    rng = random.Random(100 + trump)
    for number in range(36):
        k = rng.randint(5, 9)
        left = (rng.randrange(5), rng.randrange(5)) if k < 8 and number % 2 else (0, 0)
        north, south = split(rng, k + left[0], k + left[1], ranks=rng.randint(7, 13) if k + max(left) < 10 else 13)
        reading = readings(trump)[number // 2 % len(readings(trump))]
        reference = Reference(trump, reading == "rank")
        assert two.value(mask(north), mask(south), trump, "N", k, reading) == reference.value(bits(north), bits(south), k)
        assert two.value(mask(north), mask(south), trump, "S", k, reading) == k - reference.value(bits(south), bits(north), k)


@pytest.mark.parametrize("trump", range(6))
def test_reference_whole_holdings(trump: int) -> None:
    """Whole holdings of 13 cards (M11)."""
    rng = random.Random(200 + trump)
    for reading in readings(trump):
        north, south = split(rng, 13, 13)
        reference = Reference(trump, reading == "rank")
        assert two.value(mask(north), mask(south), trump, "N", 13, reading) == reference.value(bits(north), bits(south), 13)


@njit
def plain(lead: np.int64, follow: np.int64, k: np.int64) -> np.int64:
    """``exhaust`` on masks, all trump read as ``rank``."""
    best = np.int64(0)
    for first in range(64 if k > 0 else 0):
        if not (lead >> first) & 1:
            continue
        suit = np.int64(0x1FFF) << (first & 48)
        legal = follow & suit if follow & suit else follow
        worst = k
        for second in range(64):
            if (legal >> second) & 1:
                mine, his = lead ^ (np.int64(1) << first), follow ^ (np.int64(1) << second)
                if second > first if second >> 4 == first >> 4 else second & 15 > first & 15:
                    worst = min(worst, k - 1 - plain(his, mine, k - 1))
                else:
                    worst = min(worst, 1 + plain(mine, his, k - 1))
        best = max(best, worst)
    return best


def of_shape(rng: random.Random, shape: list[tuple[int, int]], least: int) -> list[list[Card]]:
    """Two random holdings of given numbers of cards in each suit."""
    hands: list[list[Card]] = [[], []]
    for suit, both in enumerate(shape):
        ranks = rng.sample(range(max(least, sum(both))), sum(both))
        for hand, length in zip(hands, both, strict=True):
            hand += [(ranks.pop(), suit) for _ in range(length)]
    return hands


def lengths(hands: Iterable[Iterable[Card]]) -> list[tuple[int, int]]:
    north, south = ([card[1] for card in hand] for hand in hands)
    return [(north.count(suit), south.count(suit)) for suit in range(4)]


@pytest.mark.skipif(not JIT, reason="takes minutes in plain Python")
def test_rank_proofs() -> None:
    """What was proved in one deal holds in all of its shape (S13, ``rank``): endings against plain minimax, in one memory."""
    rng = random.Random(13)
    work = two.workspace(18)
    for number in range(60):
        k = (2, 3, 4, 4)[number % 4]
        shape = lengths(split(rng, k, k + number // 4 % 2, suits=rng.choice((2, 3, 4))))
        for again in range(800):
            hands = of_shape(rng, shape, 7)
            at = np.int64(mask(hands[0])), np.int64(mask(hands[1])), np.int64(k)
            expected = plain(*at)
            if k < 4 and again % 80 == 0:
                assert expected == exhaust(frozenset(hands[0]), frozenset(hands[1]), k, 5, True)
            for t in range(1, k + 1):
                work[two_proofs.SIDES] = work[two_proofs.SIDES + 1] = 0  # as if all had been parts of one deal
                found = two_rank.search_rank(work, *at, np.int64(t))
                assert (found >= t) == (expected >= t)
                assert found <= expected if found >= t else found >= expected


def test_rank_wide() -> None:
    """The same with many more cards than tricks (S11), so that proofs have two words: longer endings against the reference."""
    rng = random.Random(14)
    work = two.workspace()
    for number in range(60):
        k = (4, 5, 6)[number % 3]
        if number % 10 == 0:
            shape = lengths(split(rng, rng.randint(13, 18), rng.randint(13, 18)))
        north, south = of_shape(rng, shape, 9)
        work[two_proofs.SIDES] = work[two_proofs.SIDES + 1] = 0
        reference = Reference(5, True)
        assert two.value(mask(north), mask(south), 5, "N", k, "rank", work=work) == reference.value(bits(north), bits(south), k)


def wide_values(bits: int) -> list[int]:
    """Thirteen tricks of more cards, owners that nearly alternate: of each deal ten positions in one memory, as one number."""
    rng = random.Random(15)
    found = []
    for _ in range(40):
        sides: list[list[int]] = [[], []]
        for suit in range(4):
            first = rng.randrange(2)
            for rank in range(13):
                sides[(rank + first) % 2].append(16 * suit + rank)
        for side in sides:
            rng.shuffle(side)
        if rng.random() < 0.5:
            sides = [side[: rng.randint(16, len(side))] for side in sides]
        for i in range(rng.randrange(8)):
            sides[0][i], sides[1][i] = sides[1][i], sides[0][i]
        work = two.workspace(bits)
        digits = 0
        for _ in range(10):
            north, south = (sum(1 << card for card in rng.sample(side, rng.randint(13, len(side)))) for side in sides)
            digits = 14 * digits + two.value(north, south, 5, "NS"[rng.randrange(2)], 13, "rank", work=work)
        found.append(digits)
    return found


@pytest.mark.skipif(not JIT, reason="takes minutes in plain Python")
def test_rank_wide_proofs_serve_other_positions_of_the_deal() -> None:
    """As with a memory that forgets nearly all; the sum, so that both cannot change together."""
    roomy = wide_values(18)
    assert roomy == wide_values(10)
    assert sum(roomy) == 5_268_832_198_356


def test_rank_lanes() -> None:
    """A proof on what is left of two holdings, turned into one on the whole of them, against lists of numbers."""
    rng = random.Random(16)
    work = two.workspace(4)
    for _ in range(300):
        hands = [sorted((suit, rank) for rank, suit in hand) for hand in split(rng, rng.randint(2, 24), rng.randint(2, 24))]
        left = [sorted(rng.sample(hand, len(hand) - rng.randint(1, 2))) for hand in hands]
        # of the winner's cards: how many of the loser's to beat, how high; of the loser's: how low
        beat = [rng.randint(0, sum(other[0] == card[0] for other in left[1])) for card in left[0]]
        high = [rng.randrange(14) for _ in left[0]]
        low = [rng.randrange(14) for _ in left[1]]
        for word, numbers in enumerate((beat, high, low)):
            for half in (0, 1):
                lanes = numbers[12 * half :][:12]
                work[two_proofs.PROOF + word + 3 * half] = sum(number << 5 * lane for lane, number in enumerate(lanes))
        masks = [np.int64(mask((rank, suit) for suit, rank in hand)) for hand in (hands[0], left[0], hands[1], left[1])]
        two_rank._whole(work, *masks)
        expected: list[list[int]] = [[], [], []]
        for card in hands[0]:
            there = card in left[0]
            expected[1].append(high[left[0].index(card)] if there else 0)
            to_beat = beat[left[0].index(card)] if there else 0
            if to_beat:  # counted among the whole of the suit: up to the same card
                mine = [other for other in left[1] if other[0] == card[0]]
                to_beat = 1 + [other for other in hands[1] if other[0] == card[0]].index(mine[to_beat - 1])
            expected[0].append(to_beat)
        expected[2] = [low[left[1].index(card)] if card in left[1] else 0 for card in hands[1]]
        for word, numbers in enumerate(expected):
            words = [int(work[two_proofs.PROOF + word + 3 * half]) for half in (0, 1)]
            assert [words[lane // 12] >> 5 * (lane % 12) & 31 for lane in range(24)] == numbers + [0] * (24 - len(numbers))


def alternating(rng: random.Random, exchanged: int) -> tuple[int, int]:
    """Every suit of alternating owners, a few cards exchanged: neither side has long runs of sure tricks."""
    hands: list[list[Card]] = [[], []]
    for suit in range(4):
        first = rng.randrange(2)
        for rank in range(13):
            hands[(rank + first) % 2].append((rank, suit))
    for hand in hands:
        rng.shuffle(hand)
    for i in range(exchanged):
        hands[0][i], hands[1][i] = hands[1][i], hands[0][i]
    return mask(hands[0]), mask(hands[1])


@pytest.mark.skipif(not JIT, reason="takes minutes in plain Python")
def test_rank_hard() -> None:
    """Deals made to be hard do not run away; the values are those of a search with a table of exact positions (S13, ``rank``)."""
    rng = random.Random(15)
    values = []
    for exchanged in range(6):
        work = two.workspace()
        values.append(two.value(*alternating(rng, exchanged), 5, "NS"[exchanged % 2], 13, "rank", work=work))
        assert two.node_count(work) < 100_000
    assert values == HARD


HARD = [8, 9, 6, 6, 6, 7]


def wide_split(rng: random.Random) -> tuple[list[Card], list[Card]]:
    """Holdings of 13 + w and 13 + 25 - w cards: S11 in the default rules."""
    w = rng.randint(9, 16)
    return split(rng, 13 + w, 38 - w)


# ------------------------------------------------------------------------------------------------ laws


def test_relabelling() -> None:
    """Seats and untrumped suits are only names; the dead gaps between ranks do not count."""
    rng = random.Random(3)
    for number in range(60):
        north, south = split(rng, 13, 13) if number % 3 else wide_split(rng)
        trump = number % 6
        for reading in readings(trump):
            found = two.value(mask(north), mask(south), trump, "N", 13, reading)
            assert 13 - found == two.value(mask(south), mask(north), trump, "S", 13, reading)
            order = rng.sample(range(4), 4)
            north2, south2 = ([(r, order[s]) for r, s in hand] for hand in (north, south))
            trump2 = order[trump] if trump < 4 else trump
            assert found == two.value(mask(north2), mask(south2), trump2, "N", 13, reading)
    # AQ against KJ is 97 against 84
    for trump in TRUMPS:
        for leader in "NS":
            tight = two.value(Hand.parse("AQ...5"), Hand.parse("KJ...3"), trump, leader, all_trump="ruff")
            assert tight == two.value(Hand.parse("97...A"), Hand.parse("82...2"), trump, leader, all_trump="ruff")


def test_one_more_trick() -> None:
    """A trick more to go gives nobody less and one side one more; the lead costs at most a trick; a higher card never hurts."""
    rng = random.Random(4)
    for number in range(80):
        sizes = (8, 8) if number % 2 else (10, 9)
        north, south = split(rng, *sizes, ranks=rng.randint(5, 9))
        trump = number % 6
        for reading in readings(trump):
            values = [two.value(mask(north), mask(south), trump, "N", k, reading) for k in range(9)]
            assert values[0] == 0
            assert all(b - a in (0, 1) for a, b in pairwise(values))
            assert values[8] >= two.value(mask(north), mask(south), trump, "S", 8, reading) - 1
            swaps = [(a, b) for a in north for b in south if a[1] == b[1] and a[0] < b[0]]
            for a, b in rng.sample(swaps, min(4, len(swaps))):
                better = mask(set(north) - {a} | {b}), mask(set(south) - {b} | {a})
                assert two.value(*better, trump, "N", 8, reading) >= values[8]


def test_best_line() -> None:
    """Along a best line the value stays, no card gains, and the tricks taken add up to it."""
    rng = random.Random(6)
    for number in range(24):
        north, south = (split(rng, 13, 13), wide_split(rng))[number % 2]
        trump = number % 6
        reading = readings(trump)[number // 6 % len(readings(trump))]
        hands, leader, k, taken, table = [mask(north), mask(south)], number // 12, 13, [0, 0], None
        value = two.value(hands[0], hands[1], trump, "NS"[leader], k, reading)
        for card in two.line(hands[0], hands[1], trump, "NS"[leader], k, reading):
            play = leader if table is None else 1 - leader
            at = (hands[0], hands[1], trump, "NS"[leader], k, reading)
            own = value - taken[0] if play == 0 else 13 - value - taken[1]
            values = {c.card: c.tricks for c in two.card_values(*at, table=table)}
            assert max(values.values()) == own == values[card]
            bit = Hand(1 << 16 * "CDHS".index(card[0]) + "23456789TJQKA".index(card[1])).mask
            hands[play] ^= bit
            if table is None:
                table = card
                continue
            lead, reply = (("23456789TJQKA".index(c[1]), "CDHS".index(c[0])) for c in (table, card))
            if reply_wins(lead, reply, trump, reading == "rank"):
                leader = 1 - leader
            taken[leader] += 1
            table, k = None, k - 1
        assert k == 0
        assert taken == [value, 13 - value]


def test_naming() -> None:
    rng = random.Random(8)
    for number in range(12):
        north, south = (mask(hand) for hand in split(rng, 13, 13))
        reading = READINGS[number % 2]
        for leader in "NS":
            six = two.all_trumps(north, south, leader, all_trump=reading)
            assert list(six) == [two.value(north, south, trump, leader, all_trump=reading) for trump in TRUMPS]
            assert two.best_trump(north, south, "N", leader, all_trump=reading) == TRUMPS[int(np.argmax(six))]
            assert two.best_trump(north, south, "S", leader, all_trump=reading) == TRUMPS[int(np.argmin(six))]


# ------------------------------------------------------------------------------------------------ tables, threads, processes


def batch(count: int, seed: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = random.Random(seed)
    deals = [split(rng, 13, 13) if i % 8 else wide_split(rng) for i in range(count)]
    north, south = (np.array([mask(deal[side]) for deal in deals], dtype=np.uint64) for side in (0, 1))
    return north, south


@pytest.mark.parametrize("reading", READINGS)
def test_table_changes_nothing(reading: str) -> None:
    """Other order, a tiny table, a fresh table, two threads: the same answers."""
    north, south = batch(40)
    leaders = np.arange(40) % 2
    first = two.all_trumps_batch(north, south, leaders, all_trump=reading, work=two.workspace())
    again = two.all_trumps_batch(north, south, leaders, all_trump=reading)
    back = two.all_trumps_batch(north[::-1], south[::-1], leaders[::-1], all_trump=reading)[::-1]
    small = two.all_trumps_batch(north[1:8], south[1:8], leaders[1:8], all_trump=reading, work=two.workspace(6))
    threads = two.all_trumps_batch(north, south, leaders, all_trump=reading, threads=2)
    assert (first == again).all()
    assert (first == back).all()
    assert (first[1:8] == small).all()
    assert (first == threads).all()
    for trump in (5, 0, 4):
        assert (two.values_batch(north, south, trump, leaders, all_trump=reading) == first[:, trump]).all()
    assert (two.values_batch(north, south, 2, leaders, 7) == two.values_batch(north, south, 2, leaders, 7, threads=2)).all()


def test_threads_of_ones_own() -> None:
    north, south = batch(16, 10)
    results: dict[int, list[int]] = {}

    def run(number: int) -> None:
        results[number] = [two.value(n, s, number, "N") for n, s in zip(north, south, strict=True)]

    workers = [threading.Thread(target=run, args=(number,)) for number in (1, 4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number in (1, 4):
        assert results[number] == list(two.values_batch(north, south, number, 0))


SECOND = """
from simcore.cards import Hand
from simcore.solvers import two
hands = Hand.parse("AQ742.K63.J5.T84"), Hand.parse("KJ3.AQ9.T62.AJ95")
six = list(map(int, two.all_trumps(*hands, "N")))
print(six, two.value(*hands, "all-trump", "S", all_trump="rank"), two.line(*hands, 4, "S"))
"""


def run_python(code: str, **env: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **env})
    return done.stdout


def test_second_process() -> None:
    """Recursion loaded from the cache in another process."""
    hands = Hand.parse("AQ742.K63.J5.T84"), Hand.parse("KJ3.AQ9.T62.AJ95")
    six = list(map(int, two.all_trumps(*hands, "N")))
    rank = two.value(*hands, "all-trump", "S", all_trump="rank")
    expected = f"{six} {rank} {two.line(*hands, 4, 'S')}\n"
    assert run_python(SECOND) == expected


def test_without_jit() -> None:
    code = """
from simcore.solvers import two
hands = 0x0015_0009_0022_0001, 0x002a_0006_0001_0006
work = two.workspace(8)
print([two.value(*hands, t, l, 5, r, work=work) for t in range(6) for l in "NS" for r in ("ruff", "rank")], two.node_count(work))
print(two.card_values(*hands, 5, "S", 5, "rank"), two.best_trump(*hands, "N", "S"))
work = two.workspace(8)
many = 0x0a95_1555_0aaa_1555, 0x156a_0aaa_1555_0aaa
print([two.value(*many, 5, l, 3, "rank", work=work) for l in "NS"], two.node_count(work))
"""
    assert run_python(code) == run_python(code, NUMBA_DISABLE_JIT="1")


@njit
def play_out(work: Any, north: np.uint64, south: np.uint64, k: np.int64, rank: bool) -> tuple[np.int64, np.int64, np.int64]:
    """What a perfect player does within a kernel: S, who does not lead, names the trump, then both play; tricks of N as well."""
    trump = two_play.best_trump(work, south, north, False, k, rank)
    expected = two_play.side_to_play_value(work, north, south, ZERO, k, trump, rank)
    hands = (north, south)
    leader = np.int64(0)
    taken = np.int64(0)
    while k > 0:
        lead = two_play.best_card(work, hands[leader], hands[1 - leader], ZERO, k, trump, rank)
        rest = hands[leader] & ~lead
        reply = two_play.best_card(work, hands[1 - leader], rest, lead, k, trump, rank)
        other = hands[1 - leader] & ~reply
        hands = (rest, other) if leader == 0 else (other, rest)
        if two_play.wins_trick(lead, reply, trump, rank):
            leader = 1 - leader
        taken += 1 - leader
        k -= 1
    return trump, expected, taken


def test_within_a_kernel() -> None:
    north, south = batch(16, 12)
    for reading in READINGS:
        for n, s in zip(north, south, strict=True):
            trump, expected, taken = play_out(two.workspace(12), n, s, np.int64(13), reading == "rank")
            assert expected == taken == two.value(n, s, int(trump), "N", all_trump=reading)
            assert TRUMPS[trump] == two.best_trump(n, s, "S", "N", all_trump=reading)


@pytest.mark.skipif(not JIT, reason="kernels are plain Python")
def test_no_floats() -> None:
    """Masks above 2**53 would be rounded: no kernel may hold a floating number."""
    two.value(0b101, 0b1010, 5, "N", all_trump="rank")
    for module in (two_kernel, two_proofs, two_rank, two_play):
        for kernel in vars(module).values():
            for overload in getattr(kernel, "overloads", {}).values():
                assert "float" not in str(overload.type_annotation), kernel


def test_signature() -> None:
    """Positions searched on fixed deals: a commit that changes the search changes these numbers and says so."""
    counts = []
    for trump, reading in [(t, "ruff") for t in range(6)] + [(5, "rank")]:
        work = two.workspace()
        north, south = batch(16, 11)
        total = int(two.values_batch(north, south, trump, 0, all_trump=reading, work=work).sum())
        counts.append((trump, reading, total, two.node_count(work)))
    assert counts == SIGNATURE


SIGNATURE: list[tuple[int, str, int, int]] = [
    (0, "ruff", 99, 32321),
    (1, "ruff", 102, 31204),
    (2, "ruff", 108, 40223),
    (3, "ruff", 111, 45948),
    (4, "ruff", 114, 26067),
    (5, "ruff", 104, 56958),
    (5, "rank", 103, 52037),
]


# ------------------------------------------------------------------------------------------------ edges


def test_edges() -> None:
    ace, king = Hand.parse("A..."), Hand.parse("K...")
    assert two.value(ace, king, "clubs", "S") == 1
    assert two.value(0, 0, "clubs", "N") == 0
    assert two.value(ace, king, "clubs", "N", 0) == 0
    assert two.card_values(ace, king, "clubs", "N", 0) == []
    assert two.best_card(ace, king, "clubs", "N", 0) is None
    assert two.line(ace, king, "clubs", "N", 0) == []
    assert two.card_values(0, king, "no-trump", "N", table="SA") == [two.CardValue("SK", 0, True)]
    # the last card, an off-suit ace at no trump, at all trump read both ways, and ruffed
    two_clubs, ace_hearts = Hand.parse("...2"), Hand.parse(".A..")
    for trump, reading, leader_tricks in (
        ("no-trump", "ruff", 1), ("all-trump", "ruff", 0), ("all-trump", "rank", 0), ("hearts", "ruff", 0), ("clubs", "ruff", 1),
    ):  # fmt: skip
        assert two.value(two_clubs, ace_hearts, trump, "N", all_trump=reading) == leader_tricks
        assert two.value(ace_hearts, two_clubs, trump, "S", all_trump=reading) == 1 - leader_tricks
    # equal ranks to the leader
    assert two.value(Hand.parse("9..."), Hand.parse("..9."), 5, "N", all_trump="rank") == 1
    assert two.value(Hand.parse("9..."), Hand.parse("..9."), 5, "N") == 0
    # he must trump if he cannot follow
    assert [card.card for card in two.card_values(Hand.parse("A3..."), Hand.parse("2.2..4"), "clubs", "N", 2, table="H7")] != []
    legal = two_play.legal_cards(np.uint64(Hand.parse("A3.7..42").mask), np.uint64(1 << 24), 0)
    assert Hand(int(legal)) == Hand.parse("...42")
    # 26 cards against 25, all suits of one side
    whole = Hand.parse("AKQJT98765432.AKQJT98765432..")
    rest = Hand.parse("..AKQJT98765432.AKQJT9876543")
    assert two.value(whole, rest, "no-trump", "S") == 0
    assert two.value(whole, rest, "spades", "N") == 13
    assert two.value(whole, rest, "all-trump", "N") == 6  # who leads loses the trick


def test_bad_input() -> None:
    ace, king = Hand.parse("A..."), Hand.parse("K...")
    for bad in (
        lambda: two.value(ace, ace, "clubs", "N"),
        lambda: two.value(ace, king, "stars", "N"),
        lambda: two.value(ace, king, 6, "N"),
        lambda: two.value(ace, king, "clubs", "E"),
        lambda: two.value(ace, king, "clubs", "N", 2),
        lambda: two.value(ace, king, "clubs", "N", -1),
        lambda: two.value(ace, king, "clubs", "N", all_trump="both"),
        lambda: two.value(ace, king, "clubs", "N", table="SA"),
        lambda: two.value(ace, king, "clubs", "N", table=13),
        lambda: two.value(ace, 0, "clubs", "N", 1, table="SQ"),
        lambda: two.value(1 << 13, king, "clubs", "N"),
        lambda: two.value(-1, king, "clubs", "N"),
        lambda: two.workspace(2),
        lambda: two.values_batch([1], [1], 0, 0),
        lambda: two.values_batch([1], [2, 4], 0, 0),
        lambda: two.values_batch([1], [2], 6, 0),
        lambda: two.values_batch([1], [2], 0, 0.5),
        lambda: two.values_batch([1], [2], 0, 0, 2),
        lambda: two.values_batch([1], [2], 0, 0, threads=0),
        lambda: two.values_batch([1], [2], 0, 0, threads=2, work=two.workspace(8)),
        lambda: two.values_batch([[1]], [[2]], 0, 0),
        lambda: two.all_trumps_batch([1 << 63], [2], 0),
    ):
        with pytest.raises(BadInput):
            bad()
    assert two.values_batch([], [], 0, 0).shape == (0,)
