"""Cards, hands and their notation.  One card order everywhere.

    bit = 16 * suit + rank          suits C D H S = 0 … 3, ranks 2 … A = 0 … 12

     63      48 47      32 31      16 15       0
    +----------+----------+----------+----------+
    | spades   | hearts   | diamonds | clubs    |     in each lane of 16: bit 0 = 2 … bit 12 = A, three bits unused
    +----------+----------+----------+----------+

The lanes make a suit's mask a shift by 16, and comparing two cards of a suit a comparison of integers.

A card is an int (its bit number), a set of cards an int mask; ``Hand`` is the human view of a mask.  Text is suit then rank,
``SA``, ``HT``, ``C2``; a hand is PBN, ``AKQ.T98.75.65432`` (spades first).  Read also: ``AS``, ``10``, any case, ♠♥♦♣.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simcore.errors import NotationError

__all__ = [
    "ALL_CARDS",
    "BLACK",
    "FULL",
    "LANE",
    "RANKS",
    "RED",
    "SEATS",
    "SUITS",
    "SUIT_LETTERS",
    "SUIT_MASKS",
    "SUIT_NAMES",
    "Hand",
    "cards_of",
    "format_card",
    "format_cards",
    "format_hand",
    "parse_card",
    "parse_cards",
    "parse_hand",
    "suit_of",
]

SUIT_LETTERS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_SYMBOLS = "♣♦♥♠"
RANKS = "23456789TJQKA"
SEATS = "NESW"
#: Suits in the order hands are written.
SUITS = (3, 2, 1, 0)

LANE = 0x1FFF
FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
SUIT_MASKS = np.array([LANE << 16 * s for s in range(4)], dtype=np.uint64)
RED = np.uint64(LANE << 16 | LANE << 32)
BLACK = np.uint64(LANE | LANE << 48)
#: Bit numbers of all 52 cards, clubs first, low cards first.
ALL_CARDS = tuple(16 * s + r for s in range(4) for r in range(13))

_RANK_OF = {letter: i for i, letter in enumerate(RANKS)}
_SUIT_OF = {letter: i for i, letter in enumerate(SUIT_LETTERS)} | {letter: i for i, letter in enumerate(SUIT_SYMBOLS)}
_SUIT_OF |= {"♧": 0, "♢": 1, "♡": 2, "♤": 3}
_EMOJI = "\ufe0e\ufe0f"  # variation selectors that often follow a suit symbol


def suit_of(card: int) -> int:
    """Return the suit (0 clubs … 3 spades) of a card."""
    return card >> 4


def parse_card(text: str) -> int:
    """Read a card: suit and rank in either order.

    Raises:
        NotationError: the text is no card.

    >>> parse_card("SA"), parse_card("10♥"), parse_card("2c")
    (60, 40, 0)
    """
    word = text.strip().upper().replace("10", "T")
    for selector in _EMOJI:
        word = word.replace(selector, "")
    if len(word) == 2:
        for suit, rank in ((word[0], word[1]), (word[1], word[0])):
            if suit in _SUIT_OF and rank in _RANK_OF:
                return 16 * _SUIT_OF[suit] + _RANK_OF[rank]
    raise NotationError(f"{text!r} is not a card; accepted: a suit of S H D C and a rank of 2 … 9 T J Q K A, as in 'SA'")


def format_card(card: int, *, symbols: bool = False) -> str:
    """Return a card as suit and rank, ``SA``, or with a suit symbol, ``♠A``."""
    return (SUIT_SYMBOLS if symbols else SUIT_LETTERS)[card >> 4] + RANKS[card & 15]


def cards_of(mask: int) -> list[int]:
    """Return the cards of a mask, low bits first."""
    mask = int(mask)
    return [card for card in ALL_CARDS if mask >> card & 1]


def format_cards(mask: int) -> str:
    """Return the cards of a mask as words, spades first, high cards first: ``SA SK C2``."""
    return " ".join(format_card(card) for card in reversed(cards_of(mask)))


def parse_cards(text: str) -> int:
    """Read cards separated by blanks or commas into a mask; a card twice is refused."""
    mask = 0
    for word in text.replace(",", " ").split():
        bit = 1 << parse_card(word)
        if mask & bit:
            raise NotationError(f"card {word!r} stands twice in {text!r}")
        mask |= bit
    return mask


def parse_hand(text: str, *, size: int | None = None) -> int:
    """Read a PBN hand (spades.hearts.diamonds.clubs) into a mask.

    Args:
        text: four suits with dots between, ranks in any order, a void empty or ``-``.
        size: how many cards it must have; None for any number.

    Raises:
        NotationError: not four suits, an unknown rank, a card twice, another number of cards.
    """
    suits = text.strip().split(".")
    if len(suits) != 4:
        raise NotationError(f"hand {text!r} has {len(suits)} suit(s); accepted: four, as in 'AKQ.T98.75.65432'")
    mask = 0
    for suit, ranks in zip(SUITS, suits, strict=True):
        word = ranks.strip().upper().replace("10", "T")
        if word in ("-", "--", "—"):
            continue
        for rank in word:
            if rank not in _RANK_OF:
                raise NotationError(f"hand {text!r}: unknown rank {rank!r} in {SUIT_NAMES[suit]}; accepted: {RANKS}")
            bit = 1 << (16 * suit + _RANK_OF[rank])
            if mask & bit:
                raise NotationError(f"hand {text!r}: {SUIT_LETTERS[suit]}{rank} stands twice")
            mask |= bit
    if size is not None and mask.bit_count() != size:
        raise NotationError(f"hand {text!r} has {mask.bit_count()} cards; accepted: {size}")
    return mask


def format_hand(mask: int) -> str:
    """Return a mask as a PBN hand, ranks high to low, a void empty."""
    mask = int(mask)
    return ".".join("".join(RANKS[r] for r in range(12, -1, -1) if mask >> (16 * suit + r) & 1) for suit in SUITS)


@dataclass(frozen=True, slots=True)
class Hand:
    """A set of cards: the human view of a uint64 mask.

    >>> hand = Hand.parse("AKQ.T98.75.65432")
    >>> len(hand), "SA" in hand, str(hand)
    (13, True, 'AKQ.T98.75.65432')
    """

    mask: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "mask", int(self.mask))
        if self.mask & ~int(FULL) or self.mask < 0:
            raise NotationError(f"mask {self.mask:#x} has bits that are no cards")

    @classmethod
    def parse(cls, text: str, *, size: int | None = None) -> Hand:
        """Read a PBN hand; see :func:`parse_hand`."""
        return cls(parse_hand(text, size=size))

    def __str__(self) -> str:
        return format_hand(self.mask)

    def __repr__(self) -> str:
        return f"Hand.parse({format_hand(self.mask)!r})"

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __iter__(self) -> Iterator[str]:
        return iter(format_cards(self.mask).split())

    def __contains__(self, card: object) -> bool:
        return isinstance(card, str) and bool(self.mask >> parse_card(card) & 1)

    def suit(self, letter: str) -> str:
        """Return the ranks held in a suit (``S H D C``), high to low."""
        suit = _SUIT_OF.get(letter.upper())
        if suit is None:
            raise NotationError(f"{letter!r} is not a suit; accepted: S H D C")
        return format_hand(self.mask).split(".")[3 - suit]

    def _repr_html_(self) -> str:
        rows = []
        for suit, ranks in zip(SUITS, format_hand(self.mask).split("."), strict=True):
            colour = "#c00" if suit in (1, 2) else "inherit"
            held = " ".join("10" if rank == "T" else rank for rank in ranks) or "–"
            rows.append(f'<span style="color:{colour}">{SUIT_SYMBOLS[suit]}</span> {held}')
        return '<div style="font-family:monospace">' + "<br>".join(rows) + "</div>"
