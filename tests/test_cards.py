"""Cards, hands and their notation: round trips, everything that may be written, everything that may not."""

from __future__ import annotations

import doctest

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore import cards
from simcore.cards import (
    ALL_CARDS,
    BLACK,
    FULL,
    RED,
    SUIT_MASKS,
    Hand,
    cards_of,
    format_card,
    format_cards,
    format_hand,
    parse_card,
    parse_cards,
    parse_hand,
    suit_of,
)
from simcore.errors import NotationError, SimcoreError

MASKS = st.sets(st.sampled_from(ALL_CARDS)).map(lambda held: sum(1 << card for card in held))
WORDS = st.text(alphabet="SHDCshdc23456789TJQKA10tjqka♠♥♦♣ .-\ufe0f", max_size=24)


# ---- the card order


def test_the_card_order_is_as_documented() -> None:
    names = [suit + rank for suit in "CDHS" for rank in "23456789TJQKA"]
    assert [format_card(card) for card in ALL_CARDS] == names
    assert [16 * "CDHS".index(suit) + "23456789TJQKA".index(rank) for suit, rank in names] == list(ALL_CARDS)
    assert set(names) == set(naive.PACK)
    assert [suit_of(card) for card in ALL_CARDS] == ["CDHS".index(name[0]) for name in names]


def test_masks() -> None:
    of_suit = {suit: sum(1 << parse_card(card) for card in naive.PACK if card[0] == suit) for suit in "CDHS"}
    assert [int(mask) for mask in SUIT_MASKS] == list(of_suit.values())
    assert int(RED) == of_suit["D"] | of_suit["H"]
    assert int(BLACK) == of_suit["C"] | of_suit["S"]
    assert int(FULL) == sum(of_suit.values()) == sum(1 << card for card in ALL_CARDS)
    assert {mask.dtype for mask in (RED, BLACK, FULL, *SUIT_MASKS)} == {np.dtype(np.uint64)}


# ---- cards


@pytest.mark.parametrize("card", ALL_CARDS)
def test_a_card_in_every_spelling(card: int) -> None:
    suit, rank = format_card(card)
    symbol = dict(zip("CDHS", "♣♦♥♠", strict=True))[suit]
    hollow = dict(zip("CDHS", "♧♢♡♤", strict=True))[suit]
    assert format_card(card, symbols=True) == symbol + rank
    for s in (suit, suit.lower(), symbol, hollow, symbol + "\ufe0f", symbol + "\ufe0e"):
        for r in {rank, rank.lower(), "10" if rank == "T" else rank}:
            for text in (s + r, r + s, f" {s}{r}\t"):
                assert parse_card(text) == card


@pytest.mark.parametrize(
    "text",
    ["", " ", "S", "A", "SS", "AA", "S1", "S0", "1S", "X2", "SX", "SAK", "S A", "S-A", "SA2", "S110", "S101", "0S", "S11", "NT"]
    + ["ЅА", "S１", "SA\x00", "♠♠", "**", "S.A", "T10"],
)
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="is not a card; accepted: a suit of S H D C and a rank of 2 … 9 T J Q K A") as caught:
        parse_card(text)
    assert repr(text) in str(caught.value)
    assert isinstance(caught.value, SimcoreError)
    assert isinstance(caught.value, ValueError)


@given(st.text(max_size=6) | WORDS)
def test_any_text_is_a_card_or_a_notation_error(text: str) -> None:
    try:
        card = parse_card(text)
    except NotationError:
        return
    assert card in ALL_CARDS


@given(MASKS)
def test_lists_of_cards_round_trip(mask: int) -> None:
    text = format_cards(mask)
    assert parse_cards(text) == parse_cards(text.replace(" ", ", ")) == mask
    held = cards_of(mask)
    assert sum(1 << card for card in held) == mask
    assert held == sorted(set(held))
    assert text.split() == [format_card(card) for card in reversed(held)]
    assert cards_of(np.uint64(mask)) == held


@pytest.mark.parametrize("text", ["SA AS", "H10 HT", "sa, ♠A", "C2 D3 C2"])
def test_a_card_twice_in_a_list_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="stands twice"):
        parse_cards(text)


# ---- hands


@given(MASKS)
def test_hands_round_trip_and_are_what_the_naive_twin_writes(mask: int) -> None:
    text = format_hand(mask)
    names = [format_card(card) for card in cards_of(mask)]
    assert text == naive.format_hand(names)
    assert sorted(naive.parse_hand(text)) == sorted(names)
    assert parse_hand(text) == parse_hand(text, size=len(names)) == mask
    assert format_hand(np.uint64(mask)) == text


@given(MASKS, st.randoms(use_true_random=False))
def test_hands_are_read_in_any_order_case_and_with_10(mask: int, random) -> None:
    suits = []
    for ranks in format_hand(mask).split("."):
        letters = list(ranks)
        random.shuffle(letters)
        word = "".join(random.choice([letter, letter.lower()]) for letter in letters)
        if random.random() < 0.5:
            word = word.replace("T", "10").replace("t", "10")
        suits.append(word or random.choice(["", "-", "--", "—"]))
    assert parse_hand(f" {'.'.join(suits)}\n") == mask


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["has 1 suit(s)", "four"]),
        ("AKQ.T98.75", ["'AKQ.T98.75'", "has 3 suit(s)", "four"]),
        ("AKQ.T98.75.65432.", ["has 5 suit(s)"]),
        ("AAKQ.T98.75.6543", ["SA stands twice"]),
        ("AKQ.T10.75.65432", ["HT stands twice"]),
        ("AKQ.T98.75.6543x", ["unknown rank 'X' in clubs", "23456789TJQKA"]),
        ("AKQ.T98.7-5.65432", ["unknown rank '-' in diamonds"]),
        ("AKQ.T98.1.65432", ["unknown rank '1' in diamonds"]),
        ("AKQ.T 98.75.65432", ["unknown rank ' ' in hearts"]),
        ("SAKQ.T98.75.65432", ["unknown rank 'S' in spades"]),
        ("AKQ.T98.75.654321", ["unknown rank '1' in clubs"]),
    ],
)
def test_what_is_no_hand_is_refused(text: str, words: list[str]) -> None:
    with pytest.raises(NotationError) as caught:
        parse_hand(text)
    for word in [repr(text), *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(("text", "held"), [("AKQ.T98.75.6543", 12), ("AKQJ.T98.75.65432", 14), ("...", 0), ("-.-.-.-", 0)])
def test_hands_of_another_size_are_refused(text: str, held: int) -> None:
    assert parse_hand(text).bit_count() == held
    with pytest.raises(NotationError, match=f"has {held} cards; accepted: 13"):
        parse_hand(text, size=13)


@given(st.text() | WORDS | st.lists(WORDS, min_size=4, max_size=4).map(".".join), st.none() | st.just(13))
def test_any_text_is_a_hand_or_a_notation_error(text: str, size: int | None) -> None:
    try:
        mask = parse_hand(text, size=size)
    except NotationError:
        return
    assert parse_hand(format_hand(mask)) == mask
    assert mask & ~int(FULL) == 0


# ---- the human view


@given(MASKS)
def test_hand_is_a_view_of_a_mask(mask: int) -> None:
    hand = Hand(mask)
    assert Hand.parse(str(hand)) == hand == Hand(np.uint64(mask))
    assert eval(repr(hand), {"Hand": Hand}) == hand
    assert hash(hand) == hash(Hand(mask))
    assert len(hand) == len(list(hand)) == mask.bit_count()
    assert list(hand) == format_cards(mask).split()
    for card in ALL_CARDS:
        assert (format_card(card) in hand) == bool(mask >> card & 1)
    assert [hand.suit(letter) for letter in "SHDC"] == str(hand).split(".")
    assert [hand.suit(letter) for letter in "shd♣"] == str(hand).split(".")
    assert 7 not in hand


@pytest.mark.parametrize("mask", [1 << 13, 1 << 15, 1 << 63, 1 << 64, -1, 2**64 - 1])
def test_masks_with_bits_that_are_no_cards_are_refused(mask: int) -> None:
    with pytest.raises(NotationError, match="no cards"):
        Hand(mask)


def test_unknown_suits_are_refused() -> None:
    with pytest.raises(NotationError, match="'X' is not a suit; accepted: S H D C"):
        Hand(0).suit("X")


def test_notebook_view_shows_every_card() -> None:
    html = Hand.parse("AKQ.T98.7.65432")._repr_html_()
    for part in ("♠</span> A K Q", "♥</span> 10 9 8", "♦</span> 7", "♣</span> 6 5 4 3 2"):
        assert part in html
    assert "♣</span> –" in Hand(0)._repr_html_()


def test_examples_in_the_docstrings() -> None:
    assert doctest.testmod(cards).failed == 0
