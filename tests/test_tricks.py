"""Legal plays and trick winners against the naive twin, card by card."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.cards import ALL_CARDS, SUIT_MASKS, SUIT_NAMES, cards_of, format_card, parse_card, parse_cards
from simcore.rules import load_ruleset
from simcore.tricks import following, led_suit, trick_winner

CARDS = st.sampled_from(naive.PACK)
TRICKS = st.lists(CARDS, min_size=1, max_size=4, unique=True)
TRUMPS = st.sampled_from([None, *"SHDC"])


def mask(cards: list[str] | set[str] | str) -> np.uint64:
    return np.uint64(parse_cards(cards if isinstance(cards, str) else " ".join(cards)))


def suit_mask(suit: str | None) -> np.uint64:
    return np.uint64(0) if suit is None else SUIT_MASKS["CDHS".index(suit)]


def winner(cards: list[str], trump: str | None, low: bool = False) -> str:
    best = int(trick_winner(mask(cards), suit_mask(cards[0][0]), suit_mask(trump), low))
    assert best.bit_count() == 1
    return format_card(best.bit_length() - 1)


@pytest.mark.parametrize("card", ALL_CARDS)
def test_led_suit(card: int) -> None:
    assert int(led_suit(np.uint64(1 << card))) == int(SUIT_MASKS[card >> 4])


@given(st.sets(CARDS, min_size=1), CARDS)
def test_e13_following_is_what_the_twin_says(hand: set[str], led: str) -> None:
    legal = following(mask(hand), led_suit(mask(led)))
    assert sorted(format_card(card) for card in cards_of(legal)) == naive.legal_plays(hand, led[0])


def test_e13_by_hand() -> None:
    assert following(mask("SA H2 H9"), suit_mask("H")) == mask("H2 H9")
    assert following(mask("SA H2 H9"), suit_mask("D")) == mask("SA H2 H9"), "no duty to trump"
    assert following(mask("H2"), suit_mask("H")) == following(mask("H2"), suit_mask("S")) == mask("H2"), "one card is always legal"


@given(TRICKS, TRUMPS, st.booleans())
def test_e14_trick_winner_is_what_the_twin_says(cards: list[str], trump: str | None, low: bool) -> None:
    assert winner(cards, trump, low) == cards[naive.trick_winner(cards, trump, low)]
    if low:
        # low_trump = "plain": the engine gives no trump to the winner of the trick
        assert winner(cards, None, low) == cards[naive.trick_winner(cards, trump, low, low_trump="plain")]


def test_e14_all_tricks_of_two_cards() -> None:
    for cards in itertools.permutations(naive.PACK, 2):
        for trump in (None, "S", "D"):
            for low in (False, True):
                assert winner(list(cards), trump, low) == cards[naive.trick_winner(cards, trump, low)]


@pytest.mark.parametrize(
    ("cards", "trump", "low", "best"),
    [
        ("S2 SA S3 S4", None, False, "SA"),
        ("HA H2 H3 H4", None, False, "HA"),
        ("CA CK S2 CQ", "S", False, "S2"),  # a low trump beats the ace led
        ("CA CK S2 S3", "S", False, "S3"),
        ("C2 SA HA DA", None, False, "C2"),  # an ace of another suit wins nothing
        ("C2 SA HA DA", "D", False, "DA"),
        ("S2 S3 S4 SA", "S", False, "SA"),
        ("S5 S3 S4 SA", None, True, "S3"),  # ranks turned round
        ("S5 H2 S4 SA", "H", True, "H2"),
        ("S5 HA S4 SA", "H", True, "HA"),  # any trump beats the suit led
        ("S5 HA S4 H3", "H", True, "H3"),
        ("S5 C2 D2 H2", None, True, "S5"),
        ("CA", None, False, "CA"),
        ("CA", "S", True, "CA"),
    ],
)
def test_e14_by_hand(cards: str, trump: str | None, low: bool, best: str) -> None:
    assert winner(cards.split(), trump, low) == best


@given(TRICKS, TRUMPS, st.booleans(), st.randoms(use_true_random=False))
def test_the_winner_does_not_depend_on_who_plays_after_the_leader(cards: list[str], trump: str | None, low: bool, random) -> None:
    rest = cards[1:]
    random.shuffle(rest)
    assert winner(cards, trump, low) == winner([cards[0], *rest], trump, low)


@given(TRICKS, TRUMPS, st.permutations("SHDC"))
def test_the_winner_moves_with_the_names_of_the_suits(cards: list[str], trump: str | None, names: list[str]) -> None:
    other = dict(zip("SHDC", names, strict=True))
    renamed = [other[card[0]] + card[1] for card in cards]
    best = winner(cards, trump)
    assert winner(renamed, other.get(trump)) == other[best[0]] + best[1]


def test_every_contract_names_trump_and_low_as_the_rules_do() -> None:
    for name in ("elections", "elections-joint", "variety", "tricks"):
        for contract in load_ruleset(name).contracts:
            twin = naive.RULESETS[name]["contracts"][contract.id]
            assert twin["trump"] == (None if contract.trump is None else SUIT_NAMES[contract.trump][0].upper())
            assert twin["low"] == contract.low
    assert parse_card("SA") == max(ALL_CARDS)
