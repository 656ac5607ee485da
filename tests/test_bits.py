"""Bit primitives against their plain-Python twins, word for word."""

from __future__ import annotations

import numpy as np
import twins
from hypothesis import given
from hypothesis import strategies as st
from oracles import run_python

from simcore import bits
from simcore._jit import njit

WORDS = st.integers(0, 2**64 - 1) | st.builds(lambda a, b, c: a & b & c, *[st.integers(0, 2**64 - 1)] * 3)
#: The words where something tends to go wrong: one bit, all bits but one, runs from either end, above 2**53, alternating.
EDGES = sorted(
    {0, 2**64 - 1, 2**53 + 1, 2**63 + 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x1FFF1FFF1FFF1FFF}
    | {1 << i for i in range(64)}
    | {2**64 - 1 - (1 << i) for i in range(64)}
    | {(1 << i) - 1 for i in range(65)}
    | {2**64 - (1 << i) for i in range(65)}
)


@njit
def _unary(words, out):
    for i in range(len(words)):
        out[i, 0] = bits.popcount(words[i])
        out[i, 1] = bits.ctz(words[i])
        out[i, 2] = bits.clz(words[i])


@njit
def _masks(words, out):
    for i in range(len(words)):
        out[i, 0] = bits.lowest_bit(words[i])
        out[i, 1] = bits.highest_bit(words[i])


@njit
def _products(xs, ys, out):
    for i in range(len(xs)):
        out[i, 0], out[i, 1] = bits.product(xs[i], ys[i])


@njit
def _chosen(xs, ys, out, signed):
    for i in range(len(xs)):
        out[i] = bits.either(xs[i] < ys[i], xs[i], ys[i])
        signed[i] = bits.either(xs[i] < ys[i], -1, np.int64(i))


@njit
def _cards(word, native, portable):
    for n in range(len(native)):
        native[n] = bits.nth_card(word, n)
        portable[n] = bits._card_portable(word, n)


@njit
def _gathered(cards, masks, out):
    for i in range(len(cards)):
        out[i, 0] = bits.gather_suit(cards[i] & masks[i], masks[i])
        out[i, 1] = bits._gather_portable(cards[i] & masks[i], masks[i])


@njit
def _selected(word, native, portable):
    for n in range(len(native)):
        native[n] = bits.nth_set_bit(word, n)
        portable[n] = bits._select_portable(word, n)


def _words(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


def check_counts_of(words: list[int]) -> None:
    out = np.empty((len(words), 3), np.int64)
    _unary(_words(words), out)
    assert out.tolist() == [[twins.popcount(x), twins.ctz(x), twins.clz(x)] for x in words]


def check_ends_of(words: list[int]) -> None:
    words = [x for x in words if x]
    out = np.empty((len(words), 2), np.uint64)
    _masks(_words(words), out)
    assert out.tolist() == [[1 << twins.ctz(x), 1 << 63 - twins.clz(x)] for x in words]


def check_selection_of(word: int) -> None:
    expected = twins.set_bits(word)
    native, portable = np.empty(len(expected), np.uint64), np.empty(len(expected), np.uint64)
    _selected(np.uint64(word), native, portable)
    assert native.tolist() == portable.tolist() == expected


def check_cards_of(word: int) -> None:
    expected = twins.set_bits(word)
    native, portable = np.empty(len(expected), np.uint64), np.empty(len(expected), np.uint64)
    _cards(np.uint64(word), native, portable)
    assert native.tolist() == portable.tolist() == expected


def check_products_of(pairs: list[tuple[int, int]]) -> None:
    out = np.empty((len(pairs), 2), np.uint64)
    _products(_words([x for x, _ in pairs]), _words([y for _, y in pairs]), out)
    assert out.tolist() == [list(twins.product(x, y)) for x, y in pairs]


def test_edges() -> None:
    check_counts_of(EDGES)
    check_ends_of(EDGES)
    for word in EDGES:
        check_selection_of(word)
    check_products_of([(x, y) for x in EDGES for y in EDGES[::7]])


@given(st.lists(WORDS, min_size=1))
def test_popcount_ctz_clz(words: list[int]) -> None:
    check_counts_of(words)


@given(st.lists(WORDS, min_size=1))
def test_lowest_and_highest_bit(words: list[int]) -> None:
    check_ends_of(words)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1))
def test_product(pairs: list[tuple[int, int]]) -> None:
    check_products_of(pairs)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1))
def test_either(pairs: list[tuple[int, int]]) -> None:
    out, signed = np.empty(len(pairs), np.uint64), np.empty(len(pairs), np.int64)
    _chosen(_words([x for x, _ in pairs]), _words([y for _, y in pairs]), out, signed)
    assert out.tolist() == [min(pair) for pair in pairs]
    assert signed.tolist() == [-1 if x < y else i for i, (x, y) in enumerate(pairs)]


@given(WORDS)
def test_nth_set_bit_native_and_portable(word: int) -> None:
    check_selection_of(word)


@given(WORDS)
def test_nth_card_native_and_portable(word: int) -> None:
    check_cards_of(word & 0x1FFF1FFF1FFF1FFF)


def test_nth_card_of_every_holding_in_every_suit() -> None:
    """All 8192 entries of the table, in a suit chosen by the holding, between cards of the other suits."""
    for holding in range(1, 1 << 13):
        suit = holding % 4
        check_cards_of(holding << 16 * suit | 0x1001_0800_0003_0010 & ~(0xFFFF << 16 * suit))


def test_cards_of_every_mask_of_a_suit_gathered_native_and_portable() -> None:
    """Every mask with cards that the mask chooses: word by word like the bits of the cards, read in the mask's places."""
    masks = range(1 << 13)
    cards = [mask * 0x9E37 >> 3 & 0x1FFF for mask in masks]
    expected = [
        sum((card & bit != 0) << i for i, bit in enumerate(twins.set_bits(mask))) for card, mask in zip(cards, masks, strict=True)
    ]
    out = np.empty((len(masks), 2), np.uint64)
    _gathered(_words(cards), _words(list(masks)), out)
    assert out[:, 0].tolist() == out[:, 1].tolist() == expected


def test_lowest_bit_of_nothing_is_nothing() -> None:
    assert int(bits.lowest_bit(np.uint64(0))) == 0


def test_counts_come_back_signed() -> None:
    """A uint64 count next to a literal would become a float: counts are int64."""

    @njit
    def difference(x):
        return bits.popcount(x) - 65, bits.ctz(x) - 65, bits.clz(x) - 65

    assert difference(np.uint64(0)) == (-65, -1, -1)
    assert difference(np.uint64(2**64 - 1)) == (-1, -65, -65)


def test_portable_is_asked_for_by_the_environment() -> None:
    code = (
        "from simcore import _jit, bits\n"
        "table = bits.nth_set_bit is bits._select_portable and bits.nth_card is bits._card_portable\n"
        "print(_jit.HAS_BMI2, _jit.FAST_PDEP, table, _jit.fingerprint())"
    )
    portable, default, native = (run_python(code, env={"SIMCORE_PORTABLE": value}).split() for value in ("1", "", "0"))
    assert portable[:3] == ["False", "False", "True"]
    assert native[0] == native[1] == default[0], "asked for, they are used wherever the CPU has them"
    assert default[2] == str(default[1] == "False")
    for a, b in ((portable, default), (default, native), (portable, native)):
        assert (a[3] != b[3]) == (a[:2] != b[:2]), "machine code of different kinds is kept apart"
