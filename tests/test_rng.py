"""Random streams: word for word against numpy's generators and the twins, seeds, and independence of streams."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from oracles import check_counts

from simcore import rng
from simcore._jit import njit
from simcore.errors import BadInput

U64 = st.integers(0, 2**64 - 1)
SEEDS = st.integers(0, 2**128 - 1)
SOME_SEEDS = [0, 1, 7, 2**32, 2**63, 2**64 - 1, 2**64, 2**127, 2**128 - 1, 0x243F6A8885A308D313198A2E03707344]


@njit
def _below_many(source, n, out):
    for i in range(len(out)):
        out[i] = rng.below(source, n)


@njit
def _pick_many(stream, sizes, out):
    """Pick through the sizes; note the room after each."""
    for i in range(len(sizes)):
        out[i, 0] = rng.pick(stream, sizes[i])
        out[i, 1] = np.int64(stream.room)


@njit
def _pick_table(streams, key0, key1, first, out):
    """Two picks of 13 for each lane of each index."""
    for i in range(len(out)):
        rng.open_streams(streams, key0, key1, first + np.uint64(i))
        for lane in range(len(streams)):
            out[i, lane, 0] = rng.pick(streams[lane], 13)
            out[i, lane, 1] = rng.pick(streams[lane], 13)


def new_source():
    return np.zeros(1, rng.SOURCE).view(np.recarray)[0]


def new_streams(seed: int, index: int, lanes: int):
    streams = np.zeros(lanes, rng.STREAM).view(np.recarray)
    rng.open_streams(streams, *rng.seed_words(seed), np.uint64(index))
    return streams


def source_at(state: list[int]):
    source = new_source()
    source.a, source.b, source.c, source.counter = (np.uint64(word) for word in state)
    return source


def block(seed: int, *counter: int) -> list[int]:
    return [int(word) for word in rng.philox(*rng.seed_words(seed), *(np.uint64(c) for c in counter))]


# ---- seeds


def test_seeds_are_integers_below_2_to_the_128() -> None:
    for seed in SOME_SEEDS:
        for text in (seed, str(seed), hex(seed), hex(seed).upper(), f"0x{seed:064x}", "000" + str(seed)):
            assert rng.parse_seed(text) == seed
            assert type(rng.parse_seed(text)) is int
        low, high = rng.seed_words(seed)
        assert low.dtype == high.dtype == np.uint64
        assert int(low) + (int(high) << 64) == seed
    assert rng.parse_seed(np.uint64(2**64 - 1)) == 2**64 - 1


@given(SEEDS)
def test_seeds_round_trip(seed: int) -> None:
    assert rng.parse_seed(str(seed)) == rng.parse_seed(hex(seed)) == seed


@pytest.mark.parametrize("seed", [-1, "-1", 2**128, str(2**128), hex(2**128), -(2**150), "-" + "9" * 50, np.int64(-3)])
def test_seeds_out_of_range_are_refused(seed: object) -> None:
    with pytest.raises(BadInput, match=r"^seed .* is out of range; accepted: 0 to 2\*\*128 - 1$") as caught:
        rng.parse_seed(seed)
    assert repr(seed) in str(caught.value)


@pytest.mark.parametrize("seed", ["9" * 6000, "0x" + "f" * 6000, 16**6000, -(16**6000), "-" + "1" * 6000], ids=lambda _: "")
def test_seeds_of_thousands_of_digits_are_refused_in_a_short_line(seed: object) -> None:
    with pytest.raises(BadInput, match="out of range") as caught:
        rng.parse_seed(seed)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "seed",
    ["", " ", "x7", "7 8", " 7", "1_000", "+5", "1e3", "1.0", "0x", "0xg", "-0x5", "٣", "７", "²", "nan", 3.7, 7.0, float("inf")]
    + [float("nan"), None, True, b"7", [7], np.float64(7), np.bool_(True)],
)
def test_junk_seeds_are_refused(seed: object) -> None:
    with pytest.raises(BadInput, match=r"^seed .* is not an integer; accepted: 0 to 2\*\*128 - 1$") as caught:
        rng.parse_seed(seed)
    assert repr(seed) in str(caught.value)


@given(st.text())
def test_no_text_crashes_the_seed_parser(text: str) -> None:
    if re.fullmatch("[0-9]{1,38}", text):
        assert rng.parse_seed(text) == int(text)
        return
    with pytest.raises(BadInput):
        rng.parse_seed(text)


def test_drawn_seeds_use_all_bits() -> None:
    seeds = [rng.draw_seed() for _ in range(100)]
    assert len(set(seeds)) == 100
    assert all(0 <= seed < rng.SEED_LIMIT for seed in seeds)
    union, common = 0, 2**128 - 1
    for seed in seeds:  # a bit the same in all 100: 128 · 2**-99
        union, common = union | seed, common & seed
    assert (union, common) == (2**128 - 1, 0)


# ---- Philox


@pytest.mark.parametrize("seed", SOME_SEEDS)
def test_philox_is_numpys_word_by_word(seed: int) -> None:
    counters = [(0, 0, 0, 0), (1, 0, 0, 0), (5, 2, 1, 0), (2**64 - 1, 0, 3, 0), (2**53 + 1, 2**63, 5, 9), (2**64 - 1,) * 4]
    for counter in counters:
        number = sum(word << 64 * i for i, word in enumerate(counter))
        # numpy counts up before it draws
        theirs = np.random.Philox(key=seed, counter=(number - 1) % 2**256).random_raw(4).tolist()
        assert block(seed, *counter) == theirs == list(twins.philox(seed, counter))


@given(SEEDS, U64, U64, U64, U64)
def test_philox_is_its_twin(seed: int, c0: int, c1: int, c2: int, c3: int) -> None:
    assert block(seed, c0, c1, c2, c3) == list(twins.philox(seed, (c0, c1, c2, c3)))


# ---- Source


def numpys_sfc64(state: list[int], words: int) -> list[int]:
    generator = np.random.SFC64()
    generator.state = {
        "bit_generator": "SFC64",
        "state": {"state": np.array(state, dtype=np.uint64)},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return generator.random_raw(words).tolist()


@given(st.lists(U64, min_size=4, max_size=4))
def test_next_word_is_numpys_sfc64(state: list[int]) -> None:
    source = source_at(state)
    mine = [int(rng.next_word(source)) for _ in range(20)]
    assert mine == numpys_sfc64(state, 20) == list(itertools.islice(twins.sfc64(*state), 20))


def test_a_source_starts_at_the_block_of_its_purpose() -> None:
    seed = SOME_SEEDS[-1]
    for index, number, purpose in ((0, 0, 0), (7, 3, 4), (2**63 - 1, 2**64 - 1, 5)):
        source = new_source()
        rng.open_source(source, *rng.seed_words(seed), np.uint64(index), np.uint64(number), np.uint64(purpose))
        assert [int(x) for x in (source.a, source.b, source.c, source.counter)] == block(seed, index, number, purpose, 0)


def test_purposes_differ() -> None:
    purposes = [rng.DEAL, rng.PLAYERS, rng.FORCED, rng.LOTS, rng.WORLDS, rng.SEARCH]
    assert [int(purpose) for purpose in purposes] == list(range(6))
    blocks = {tuple(block(1, 1, 1, int(purpose), 0)) for purpose in purposes}
    assert len(blocks) == 6


@pytest.mark.parametrize("n", [1, 2, 3, 13, 26, 52, 2**32 - 1, 2**53 + 1, 2**61 + 1, 2**62 + 1, 2**62 - 1, 2**63 - 1])
def test_below_is_its_twin_also_where_words_are_refused(n: int) -> None:
    state = [3, 1, 4, 1]
    source, out = source_at(state), np.empty(2000, np.int64)
    _below_many(source, n, out)
    words = twins.sfc64(*state)
    assert out.tolist() == [twins.below(words, n) for _ in range(2000)]
    assert int(rng.next_word(source)) == next(words), "both have used the same number of words"
    if n in (2**61 + 1, 2**62 + 1):  # 2**64 mod n is nearly n, of 8 n or 4 n words
        assert int(source.counter) > 2200


@given(st.lists(U64, min_size=4, max_size=4), st.integers(1, 2**63 - 1))
def test_below_of_any_size_is_its_twin(state: list[int], n: int) -> None:
    source, words = source_at(state), twins.sfc64(*state)
    assert [int(rng.below(source, n)) for _ in range(5)] == [twins.below(words, n) for _ in range(5)]


def test_below_refuses_exactly_the_words_that_would_favour_a_value() -> None:
    """The kernel's rule, asked word by word near every border: a source whose first word is w, then another, accepted word."""
    for n in (3, 7, 52, 2**40 + 15, 2**62 + 1):
        threshold = 2**64 % n
        stretches = {0, 1, n // 2, n - 1}
        for value in stretches:
            start = -(-value * 2**64 // n)  # the first word that gives the value
            for word in {(start + d) % 2**64 for d in (-1, 0, 1)}:
                # a + b + counter = word; the next word is then b ^ (b >> 11) + c + (c << 3) + counter + 1
                source = source_at([word, 0, 0x123456789ABCDEF, 0])
                words = twins.sfc64(word, 0, 0x123456789ABCDEF, 0)
                refused = word * n % 2**64 < threshold
                assert int(rng.below(source, n)) == twins.below(words, n)
                assert (int(source.counter) > 1) == refused


def test_the_rule_of_below_is_exactly_uniform_by_enumeration() -> None:
    """The twin with words of eight bits: for every n each value is given by the same number of the 256 words."""
    for n in range(1, 256):
        counts = [0] * n
        for word in range(256):
            with suppress(StopIteration):
                counts[twins.below(iter([word]), n, bits=8)] += 1
        assert set(counts) == {256 // n}


# ---- Stream


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("seed", SOME_SEEDS[::3])
def test_word_w_of_a_lane_is_word_w_times_lanes_plus_lane_of_the_blocks(lanes: int, seed: int) -> None:
    for index in (0, 5, 2**63 - 1):
        streams = new_streams(seed, index, lanes)
        for lane in range(lanes):
            expected = list(itertools.islice(twins.lane_words(seed, index, lane, lanes), 12))
            mine = [int(streams[lane].fraction)]
            while len(mine) < 12:
                rng._refill(streams[lane])
                assert int(streams[lane].room) == 1
                mine.append(int(streams[lane].fraction))
            assert mine == expected


@given(SEEDS, st.integers(0, 2**63 - 1), st.sampled_from([2, 4]), st.lists(st.integers(1, 60) | st.integers(1, 2**30), max_size=60))
def test_pick_is_its_twin_and_the_room_stays_small(seed: int, index: int, lanes: int, sizes: list[int]) -> None:
    streams = new_streams(seed, index, lanes)
    for lane in range(lanes):
        out = np.empty((len(sizes), 2), np.int64)
        _pick_many(streams[lane], np.array(sizes, dtype=np.int64), out)
        twin = twins.Picker(twins.lane_words(seed, index, lane, lanes))
        for (mine, room), size in zip(out.tolist(), sizes, strict=True):
            assert mine == twin.pick(size) < size
            assert room == twin.room <= 2**33


def test_the_plays_of_a_hand_need_one_word() -> None:
    assert factorial(13) < 2**33
    streams = new_streams(1, 1, 4)
    _pick_many(streams[2], np.arange(13, 0, -1), np.empty((13, 2), np.int64))
    assert int(streams[2].word) == 1
    rng.pick(streams[2], 2)
    assert int(streams[2].word) == 2


def _share(values: list[int], sizes: list[int], bits: int) -> int:
    """How many fractions of so many bits give these digits: those with ⌊fraction · room / 2**bits⌋ = the mixed-radix number."""
    number, room = 0, 1
    for value, size in zip(values, sizes, strict=True):
        number, room = number * size + value, room * size
    return -(-(number + 1) * 2**bits // room) - -(-number * 2**bits // room)


def test_counting_fractions_by_digits_is_right_by_enumeration() -> None:
    for sizes in ([3], [5, 4], [7, 3, 2], [1, 6, 5, 4], [13, 9]):
        counts: dict[tuple[int, ...], int] = {}
        for fraction in range(2**12):
            picker = twins.Picker(iter([fraction]), bits=12, room=2**12)
            digits = tuple(picker.pick(size) for size in sizes)
            counts[digits] = counts.get(digits, 0) + 1
        for digits in itertools.product(*[range(size) for size in sizes]):
            assert counts.get(digits, 0) == _share(list(digits), sizes, 12)


@pytest.mark.parametrize(
    "sizes",
    [list(range(13, 0, -1)), [13] * 8, [2] * 33, [2**30, 8], [2**30, 7], [3] * 20, [52, 51, 50, 49, 48], [7, 2**30], [5, 8**10]],
)
def test_the_bias_of_pick_is_below_2_to_the_minus_31(sizes: list[int]) -> None:
    """Exactly, in fractions: given all earlier choices of a word, each value's probability is within 2**-31 of 1 / n."""
    generator = np.random.default_rng(1)
    for _ in range(50):
        before: list[int] = []
        for place, size in enumerate(sizes):
            whole = _share(before, sizes[:place], 64)
            values = range(size) if size <= 60 else [0, size - 1, *generator.integers(0, size, 20).tolist()]
            for value in values:
                bias = Fraction(_share([*before, value], sizes[: place + 1], 64), whole) - Fraction(1, size)
                assert abs(bias) < Fraction(1, 2**31)
            before.append(int(generator.integers(size)))


# ---- independence


def _pairs_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.bincount(a.ravel() * 13 + b.ravel(), minlength=169)


@pytest.mark.parametrize("lanes", [2, 4])
def test_streams_of_seats_indices_and_seeds_are_independent(lanes: int) -> None:
    """All 169 pairs of two picks of 13 equally often: in one stream, of two seats, of neighbouring indices, of near seeds."""
    seed, n = 42, 40_000
    tables = []
    for number in (seed, seed + 1, seed ^ 1 << 64, seed ^ 1 << 127):
        table = np.empty((n, lanes, 2), np.int64)
        _pick_table(new_streams(0, 0, lanes), *rng.seed_words(number), np.uint64(0), table)
        tables.append(table)
    table = tables[0]
    counts = [_pairs_of(table[:, lane, 0], table[:, lane, 1]) for lane in range(lanes)]
    counts += [_pairs_of(table[:, a, 0], table[:, b, 0]) for a, b in itertools.combinations(range(lanes), 2)]
    counts += [_pairs_of(table[0::2, lane, 0], table[1::2, lane, 0]) for lane in range(lanes)]
    counts += [_pairs_of(table[:, 0, 0], other[:, 0, 0]) for other in tables[1:]]
    counts += [_pairs_of(table[:, 0, 0], other[:, 1, 0]) for other in tables[1:]]
    for count in counts:
        check_counts(count, tests=len(counts))


def test_no_word_comes_twice() -> None:
    """Blocks of different seeds, indices, numbers and purposes: the 48,320 words are all different (by chance but for 1e-10)."""
    words = []
    for seed in (0, 1, 2**64, 2**127):
        for index in (*range(300), 2**32, 2**62):
            for number, purpose in ((0, 0), (0, 1), (1, 1), (2, 1), (0, 2), (0, 3), (0, 4), (3, 4), (0, 5), (0, 2**63)):
                words += block(seed, index, number, purpose, 0)
    assert len(set(words)) == len(words) == 48_320
