"""Shuffles: uniform in every way that a user could look at them, the same everywhere, different for every seed and index.

False-alarm rates: each test function below oracles.FALSE_ALARM = 1e-7 (fixed seeds, so it is settled once).
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from oracles import check_counts, check_placing, check_share, pattern_shares, run_python, suit_length_share

import simcore
from simcore import rng
from simcore._jit import njit
from simcore.cards import ALL_CARDS, FULL, format_card, format_hand
from simcore.deals.dealing import deal_hands, deal_showcase
from simcore.deals.shuffle import lots_of_round, random_split
from simcore.errors import BadInput

SEED = 20_240_229
DEALS = 150_000
U64 = st.integers(0, 2**64 - 1)
#: Sets of four cards: near, far, of one suit, of one rank, the last of the pack.
FOURS = [(0, 1, 2, 3), (12, 28, 44, 60), (0, 20, 40, 60), (16, 17, 33, 50), (57, 58, 59, 60)]


@njit
def _splits(source, pack, size, out):
    for i in range(len(out)):
        out[i] = random_split(source, pack, size)


@njit
def _lots(source, key0, key1, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1] = lots_of_round(source, key0, key1, np.uint64(i))


def new_source(state: tuple[int, int, int, int] = (1, 2, 3, 4)):
    source = np.zeros(1, rng.SOURCE).view(np.recarray)[0]
    source.a, source.b, source.c, source.counter = (np.uint64(word) for word in state)
    return source


def holders(hands: np.ndarray) -> np.ndarray:
    """Return int8[52, deals]: the number of the seat that holds the card."""
    seats = np.full((52, len(hands)), -1, np.int8)
    for place, card in enumerate(ALL_CARDS):
        for seat in range(hands.shape[1]):
            seats[place][(hands[:, seat] >> np.uint64(card)) & np.uint64(1) == 1] = seat
    return seats


def order_numbers(order: np.ndarray) -> np.ndarray:
    """Number the orders of four different things, given as int[n, 4] (each row's ranking)."""
    order = np.argsort(order, axis=1)
    return order[:, 0] * 64 + order[:, 1] * 16 + order[:, 2] * 4 + order[:, 3]


def counts_of_orders(order: np.ndarray) -> list[int]:
    counts = Counter(order_numbers(order).tolist())
    assert len(counts) == 24
    return list(counts.values())


@pytest.fixture(scope="module")
def hands() -> np.ndarray:
    return deal_hands(SEED, 0, DEALS)


@pytest.fixture(scope="module")
def seats(hands: np.ndarray) -> np.ndarray:
    return holders(hands)


@pytest.fixture(scope="module")
def showcase() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return deal_showcase(SEED, 0, DEALS)


@pytest.fixture(scope="module")
def places(showcase: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """int8[52, deals]: place 0 N's hand, 1 S's, 2 … 27 the reserve, top card first."""
    hands, reserve, _ = showcase
    place = holders(hands)
    index = np.full(64, -1)
    index[list(ALL_CARDS)] = range(52)
    rows = index[reserve]
    place[rows.T, np.arange(len(reserve))] = np.arange(2, 28)[:, None]
    return place


# ---- the parts


@given(st.tuples(U64, U64, U64, U64), U64.map(lambda word: word & int(FULL)).filter(bool), st.data())
def test_random_split_is_its_twin(state: tuple[int, int, int, int], pack: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, pack.bit_count()))
    split = int(random_split(new_source(state), np.uint64(pack), size))
    assert split == twins.random_split(twins.sfc64(*state), pack, size)
    assert split & ~pack == 0
    assert split.bit_count() == size


@pytest.mark.parametrize("size", [0, 1, 2, 4, 6, 8])
def test_random_split_is_uniform_over_all_subsets(size: int) -> None:
    """All C(8, size) subsets of eight cards that lie apart in the word, also of sizes far from the half."""
    cards = [0, 12, 16, 28, 32, 44, 48, 60]
    subsets = [sum(1 << card for card in chosen) for chosen in itertools.combinations(cards, size)]
    out = np.empty(70_000, np.uint64)
    _splits(new_source(), np.uint64(sum(1 << card for card in cards)), size, out)
    found = Counter(out.tolist())
    assert set(found) == set(subsets)
    if len(subsets) > 1:
        check_counts([found[subset] for subset in subsets])


@pytest.mark.parametrize("seed", [0, 7, 2**127 + 3, 2**128 - 1])
def test_deals_are_their_twins(seed: int) -> None:
    for first in (0, 2**32, 2**63 - 20):
        deals = deal_hands(seed, first, 20)
        hands, reserve, dealers = deal_showcase(seed, first, 20)
        for i in range(20):
            words = twins.sfc64(*twins.philox(seed, (first + i, 0, 0, 0)))
            assert deals[i].tolist() == twins.deal(words)
            words = twins.sfc64(*twins.philox(seed, (first + i, 0, 0, 0)))
            half = twins.random_split(words, int(FULL), 26)
            north = twins.random_split(words, half, 13)
            assert hands[i].tolist() == [north, half - north]
            assert dealers[i] == next(words) & 1
            rest = twins.set_bits(int(FULL) - half)
            order = [rest.pop(twins.below(words, len(rest))).bit_length() - 1 for _ in range(26)]
            assert reserve[i].tolist() == order


def test_lots_are_their_twin_and_belong_to_the_round() -> None:
    out = np.empty((50, 2), np.int64)
    _lots(new_source(), *rng.seed_words(SEED), out)
    for number, (dealer, pairing) in enumerate(out.tolist()):
        words = twins.sfc64(*twins.philox(SEED, (number, 0, 3, 0)))
        assert (dealer, pairing) == (twins.below(words, 4), twins.below(words, 3) + 1)


# ---- Elections


def test_e2_thirteen_cards_each_all_fifty_two(hands: np.ndarray) -> None:
    assert (np.bitwise_count(hands) == 13).all()
    assert (np.bitwise_or.reduce(hands, axis=1) == FULL).all()


def test_card_by_seat(seats: np.ndarray) -> None:
    counts = np.array([np.bincount(row, minlength=4) for row in seats])
    check_placing(counts, np.full(4, 13))


def test_all_24_orders_of_four_cards(seats: np.ndarray) -> None:
    """Four cards in four hands: who holds which is one of 24 orders."""
    for four in FOURS:
        order = seats[[ALL_CARDS.index(card) for card in four]].T
        order = order[(np.sort(order, axis=1) == range(4)).all(axis=1)]
        check_share(len(order), DEALS, 13**4 / comb(52, 4), tests=2 * len(FOURS))
        check_counts(counts_of_orders(order), tests=2 * len(FOURS))


def test_pairs_of_cards_fall_together_as_often_as_they_should(seats: np.ndarray) -> None:
    """Each of the 1,326 pairs is in one hand in 12/51 of all deals."""
    pairs = list(itertools.combinations(range(52), 2))
    for a, b in pairs:
        check_share(int((seats[a] == seats[b]).sum()), DEALS, 12 / 51, tests=len(pairs))


def test_suit_lengths_of_a_hand(hands: np.ndarray) -> None:
    """Exact hypergeometric shares, lengths of 8 and more together (0.5 %), for each seat and suit."""
    shares = [suit_length_share(length) for length in range(14)]
    shares = [*shares[:8], sum(shares[8:])]
    for seat in range(4):
        for suit in range(4):
            lengths = np.bitwise_count(hands[:, seat] & np.uint64(0x1FFF << 16 * suit))
            check_counts(np.bincount(np.minimum(lengths, 8), minlength=9), shares, tests=16)


def test_suit_patterns_of_a_hand(hands: np.ndarray) -> None:
    """All four lengths at once: 4-3-3-3 … 13-0-0-0, the rare ones together."""
    shares = pattern_shares()
    assert len(shares) == 39
    for seat in range(4):
        lengths = np.stack([np.bitwise_count(hands[:, seat] & np.uint64(0x1FFF << 16 * suit)) for suit in range(4)], axis=1)
        found = Counter(map(tuple, (-np.sort(-lengths.astype(int), axis=1)).tolist()))
        common = [pattern for pattern, share in shares.items() if share * DEALS > 100]
        counts = [found[pattern] for pattern in common]
        expected = [shares[pattern] for pattern in common]
        check_counts([*counts, DEALS - sum(counts)], [*expected, 1 - sum(expected)], tests=4)


def test_neighbouring_deals_are_independent(seats: np.ndarray) -> None:
    """The holder of a card in deal i and of the same or another card in deal i + 1: 16 pairs, equally often."""
    cards = [0, 12, 27, 51]
    combinations = list(itertools.product(cards, cards))
    for a, b in combinations:
        check_counts(np.bincount(seats[a][0::2] * 4 + seats[b][1::2], minlength=16), tests=len(combinations))


def test_near_seeds_are_independent(seats: np.ndarray) -> None:
    others = [SEED + 1, SEED ^ 1 << 63, SEED ^ 1 << 64, SEED ^ 1 << 127]
    for other in others:
        theirs = holders(deal_hands(other, 0, 40_000))
        for card in (0, 25, 51):
            check_counts(np.bincount(seats[card][:40_000] * 4 + theirs[card], minlength=16), tests=3 * len(others))


# ---- Showcase


def test_cards_of_two_hands_and_the_reserve(showcase: tuple[np.ndarray, np.ndarray, np.ndarray], places: np.ndarray) -> None:
    hands, reserve, dealers = showcase
    assert (np.bitwise_count(hands) == 13).all()
    drawn = np.bitwise_or.reduce(np.uint64(1) << reserve.astype(np.uint64), axis=1)
    assert (np.bitwise_count(drawn) == 26).all()
    assert (hands[:, 0] ^ hands[:, 1] ^ drawn == FULL).all()
    assert set(dealers.tolist()) == {0, 1}
    assert (np.sort(places, axis=0) == np.repeat(np.arange(28), [13, 13] + [1] * 26)[:, None]).all()


def test_card_by_place(places: np.ndarray) -> None:
    """Every card is in N's hand, in S's and at each of the 26 places of the reserve as often as it should be."""
    counts = np.array([np.bincount(row, minlength=28) for row in places])
    check_placing(counts, np.array([13, 13] + [1] * 26))


def test_all_24_orders_of_four_cards_in_the_reserve(places: np.ndarray) -> None:
    for four in FOURS:
        order = places[[ALL_CARDS.index(card) for card in four]].T
        order = order[(order >= 2).all(axis=1)]
        check_share(len(order), DEALS, comb(26, 4) / comb(52, 4), tests=2 * len(FOURS))
        check_counts(counts_of_orders(order), tests=2 * len(FOURS))


def test_neighbours_in_the_reserve(showcase: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Any card may follow any other: suits and ranks of the first two, and of the last two cards."""
    _, reserve, _ = showcase
    for first, second in ((0, 1), (24, 25), (0, 25)):
        a, b = reserve[:, first].astype(int), reserve[:, second].astype(int)
        assert (a != b).all()
        for x, y, same in ((a >> 4, b >> 4, 12 / 51), (a & 15, b & 15, 3 / 51)):
            kinds = int(x.max()) + 1
            shares = np.full((kinds, kinds), (1 - same) / (kinds - 1)) / kinds
            np.fill_diagonal(shares, same / kinds)
            check_counts(np.bincount(x * kinds + y, minlength=kinds**2), shares, tests=6)


def test_s1_dealers_are_even_and_tied_to_nothing(showcase: tuple[np.ndarray, np.ndarray, np.ndarray], places: np.ndarray) -> None:
    _, reserve, dealers = showcase
    dealers = dealers.astype(int)
    check_share(int(dealers.sum()), DEALS, 1 / 2, tests=4)
    index = np.full(64, -1)
    index[list(ALL_CARDS)] = range(52)
    check_counts(np.bincount(dealers * 52 + index[reserve[:, 0]], minlength=104), tests=4)
    check_counts(np.bincount(dealers[0::2] * 2 + dealers[1::2], minlength=4), tests=4)
    shares = np.array([[1 / 4, 1 / 4, 1 / 2]] * 2) / 2
    check_counts(np.bincount(dealers * 3 + np.minimum(places[51], 2), minlength=6), shares, tests=4)


# ---- rounds


def test_e1_first_dealers_and_lot_pairs() -> None:
    """The 12 lots of a round equally often, whatever those of the round before."""
    out = np.empty((60_000, 2), np.int64)
    _lots(new_source(), *rng.seed_words(SEED), out)
    assert set(out[:, 0].tolist()) == {0, 1, 2, 3}
    assert set(out[:, 1].tolist()) == {1, 2, 3}
    lots = out[:, 0] * 3 + out[:, 1] - 1
    check_counts(np.bincount(lots, minlength=12), tests=2)
    check_counts(np.bincount(lots[0::2] * 12 + lots[1::2], minlength=144), tests=2)


def test_lots_are_not_tied_to_the_deals(seats: np.ndarray) -> None:
    out = np.empty((60_000, 2), np.int64)
    _lots(new_source(), *rng.seed_words(SEED), out)
    lots = out[:, 0] * 3 + out[:, 1] - 1
    for card in (0, 51):
        check_counts(np.bincount(lots * 4 + seats[card][:60_000], minlength=48), tests=2)


# ---- the same everywhere, different for every seed and index


def test_a_thousand_deals_are_a_thousand_different_deals() -> None:
    for seed in (0, 1, 2**64, 2**128 - 1):
        assert len({tuple(deal) for deal in deal_hands(seed, 0, 1000).tolist()}) == 1000
        hands, reserve, _ = deal_showcase(seed, 0, 1000)
        assert len({(*hand, *order) for hand, order in zip(hands.tolist(), reserve.tolist(), strict=True)}) == 1000


def test_ranges_of_indices_are_slices_and_disjoint() -> None:
    whole = deal_hands(5, 0, 3000)
    assert (np.concatenate([deal_hands(5, first, 500) for first in range(0, 3000, 500)]) == whole).all()
    assert len(np.unique(whole, axis=0)) == 3000
    high = deal_hands(5, 2**62, 1000)
    assert len(np.unique(np.concatenate([whole, high]), axis=0)) == 4000
    two = deal_showcase(5, 0, 300)
    for mine, theirs in zip(two, deal_showcase(5, 100, 200), strict=True):
        assert (mine[100:] == theirs).all()


def test_every_bit_of_the_seed_counts() -> None:
    base = deal_hands(SEED, 3, 5)
    deals = [base, *(deal_hands(SEED ^ 1 << bit, 3, 5) for bit in range(128))]
    assert len(np.unique(np.concatenate(deals), axis=0)) == 129 * 5


def test_every_bit_of_the_index_counts() -> None:
    deals = [deal_hands(SEED, 0, 1), *(deal_hands(SEED, 1 << bit, 1) for bit in range(63))]
    assert len(np.unique(np.concatenate(deals), axis=0)) == 64


_DIGEST = """
import hashlib
from simcore.deals.dealing import deal_hands, deal_showcase
digest = hashlib.sha256(deal_hands(2**100 + 7, 11, 40).tobytes())
for part in deal_showcase(2**100 + 7, 11, 40):
    digest.update(part.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize(
    "env",
    [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "SIMCORE_PORTABLE": "1"}, {"NUMBA_DISABLE_JIT": "1"}],
    ids=["hash-seed", "portable", "no-jit"],
)
def test_another_process_hash_seed_cpu_or_no_compiler_gives_the_same_deals(env: dict[str, str]) -> None:
    space: dict[str, object] = {"print": lambda text: space.update(digest=text)}
    exec(_DIGEST, space)
    assert run_python(_DIGEST, env=env).strip() == space["digest"]


def test_the_stream_version_stands_for_these_deals() -> None:
    """These lines change only together with STREAM_VERSION."""
    assert rng.STREAM_VERSION == 1
    assert [simcore.Deal.from_masks(deal).pbn() for deal in deal_hands(7, 0, 2)] == [
        "N:J32.T2.J97.J9842 QT954.AQ7.QT6.65 A876.KJ654.83.Q7 K.983.AK542.AKT3",
        "N:972.KQ85.AQ5.K87 AJ4.J93.93.J6542 T5.AT72.KJ642.T3 KQ863.64.T87.AQ9",
    ]
    hands, reserve, dealers = deal_showcase(7, 0, 1)
    assert [format_hand(hand) for hand in hands[0]] == ["J32.T2.J97.J9842", "QT954.AQ7.QT6.65"]
    assert (
        " ".join(map(format_card, reserve[0].tolist()))
        == "S7 H3 H6 H8 C3 CA SK CQ D4 S8 HJ HK H4 H5 D3 CT S6 C7 SA DA D8 D2 H9 DK D5 CK"
    )
    assert dealers.tolist() == [0]


@pytest.mark.parametrize("deal", [deal_hands, deal_showcase])
@pytest.mark.parametrize(
    ("seed", "first", "deals"), [(-1, 0, 1), (2**128, 0, 1), (1.5, 0, 1), (0, -1, 1), (0, 0, -1), (0, 2**63, 1), (0, 2**63 - 5, 6)]
)
def test_seeds_and_indices_out_of_range_are_refused(deal, seed, first, deals) -> None:
    with pytest.raises(BadInput, match="accepted: "):
        deal(seed, first, deals)


def test_no_deals_at_all() -> None:
    assert deal_hands(1, 0, 0).shape == (0, 4)
    assert deal_hands(1, 2**63, 0).shape == (0, 4)
