"""What both games' traces share: reading foreign data without trusting it, and drawing cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

from simcore.cards import RANKS, SUIT_LETTERS, SUIT_SYMBOLS, SUITS, format_card, format_hand, parse_card, parse_hand
from simcore.errors import NotationError, TraceError
from simcore.rng import SEED_LIMIT

__all__ = ["Reader", "bold", "card_word", "cost_width", "cost_word", "deal_diagram", "hand_lines", "seat_word", "shown"]

Style = tuple[bool, bool]  # suit symbols, colours

_SHOWN = 81  # characters of foreign data in an error
_INDEX_LIMIT = 1 << 64

_NO_CLAUSES: Mapping[str, str] = MappingProxyType({})
#: The card table between West's hand and East's.
_TABLE = ("+---N---+", "|       |", "W       E", "|       |", "+---S---+")
_NAMES = {"N": "North", "E": "East", "S": "South", "W": "West"}


def shown(value: object) -> str:
    """Return foreign data as an error shows it: one short line whatever it is.

    >>> shown("N"), shown(10**5000), len(shown(["N"] * 500))
    ("'N'", 'int too large to show', 81)
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists nested as deep
        return f"{type(value).__name__} too large to show"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class Reader:
    """A trace being read: every access checks the type, every error names the deal."""

    def __init__(self, data: object, game: str) -> None:
        if not isinstance(data, dict):
            raise TraceError(f"a trace is {type(data).__name__}; accepted: an object")
        self.data = data
        self._where = "trace"
        deal = data.get("deal")
        if isinstance(deal, bool) or not isinstance(deal, int) or not 0 <= deal < _INDEX_LIMIT:
            self.bad(f"key 'deal' is {shown(deal)}; accepted: a deal index, 0 to 2**64 - 1")
        self._where = f"deal {deal}"
        if data.get("game") != game:
            self.bad(f"key 'game' is {shown(data.get('game'))}; accepted: {game!r}")
        seed = data.get("seed")
        if not isinstance(seed, str) or not (seed.isascii() and seed.isdigit() and len(seed) <= 39 and int(seed) < SEED_LIMIT):
            self.bad(f"key 'seed' is {shown(seed)}; accepted: a decimal string, 0 to 2**128 - 1")

    def bad(self, text: str) -> NoReturn:
        """Refuse the trace."""
        raise TraceError(f"{self._where}: {text}")

    def _get(self, key: str, kind: type, wanted: str) -> Any:
        if key not in self.data:
            self.bad(f"key {key!r} is missing; accepted: {wanted}")
        value = self.data[key]
        if not isinstance(value, kind):
            self.bad(f"key {key!r} is {shown(value)}; accepted: {wanted}")
        return value

    def boolean(self, key: str) -> bool:
        """Return true or false."""
        return bool(self._get(key, bool, "true or false"))

    def items(self, key: str) -> list[Any]:
        """Return a list."""
        value: list[Any] = self._get(key, list, "a list")
        return value

    def word(self, key: str, words: Sequence[str]) -> str:
        """Return one of some words."""
        value = self._get(key, str, ", ".join(words))
        if value not in words:
            self.bad(f"key {key!r} is {shown(value)}; accepted: {', '.join(words)}")
        return str(value)

    def seat(self, key: str, seats: str) -> str:
        """Return a seat."""
        return self.word(key, tuple(seats))

    def card(self, value: object, where: str) -> int:
        """Return a card's number."""
        try:
            return parse_card(value if isinstance(value, str) else "")
        except NotationError:
            self.bad(f"{where}: {shown(value)} is not a card; accepted: a suit and a rank, as in 'SA'")

    def cards(self, trick: object, key: str, where: str, count: int) -> list[int]:
        """Return the cards of a trick (an object with a list of them)."""
        if not isinstance(trick, dict):
            self.bad(f"{where}: {shown(trick)}; accepted: an object with leader, cards, winner")
        cards = trick.get(key)
        if not isinstance(cards, list) or len(cards) != count:
            self.bad(f"{where}: {key!r} is {shown(cards)}; accepted: a list of {count} cards")
        return [self.card(card, where) for card in cards]

    def hands(self, seats: str, clause: str) -> list[int]:
        """Return 13-card hands as masks in the order of the seats."""
        hands = self._get("hands", dict, "an object with a PBN hand a seat")
        if hands.keys() != set(seats):
            self.bad(f"hands of {shown(list(hands))}; accepted: {' '.join(seats)} ({clause})")
        masks: list[int] = []
        for seat in seats:
            if not isinstance(hands[seat], str) or len(hands[seat]) > _SHOWN:
                self.bad(f"hand of {seat} is {shown(hands[seat])}; accepted: a PBN hand")
            try:
                masks.append(parse_hand(hands[seat], size=13))
            except NotationError as error:
                self.bad(f"{clause}: hand of {seat}: {error}")
            twice = masks[-1] & sum(masks[:-1])
            if twice:
                self.bad(f"{clause}: {format_card(twice.bit_length() - 1)} of {seat} is held by another seat too")
        return masks

    def compare(self, wanted: Mapping[str, Any], clauses: Mapping[str, str] = _NO_CLAUSES) -> None:
        """Refuse the first field that is not as it must be after the play; ``clauses`` says which rule each field follows from."""
        for key, value in wanted.items():
            clause = f" ({clauses[key]})" if key in clauses else ""
            if key not in self.data:
                self.bad(f"key {key!r} is missing; it must be {shown(value)}{clause}")
            if not _same(self.data[key], value):
                self.bad(f"key {key!r} is {shown(self.data[key])}, but it must be {shown(value)}{clause}")


def _same(given: object, wanted: object) -> bool:
    """Compare JSON data: true is not 1, and cards may be written in any accepted way."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and given.keys() >= wanted.keys() and all(_same(given[k], v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return isinstance(given, list) and len(given) == len(wanted) and all(map(_same, given, wanted))
    if isinstance(wanted, bool) or isinstance(given, bool) or wanted is None:
        return given is wanted
    if isinstance(wanted, str) and isinstance(given, str) and len(wanted) == 2:
        try:
            return parse_card(given) == parse_card(wanted)
        except NotationError:
            return given == wanted
    return type(given) is type(wanted) and given == wanted


def seat_word(seat: str) -> str:
    """Return a seat's full name."""
    return _NAMES[seat]


def bold(text: str, colour: bool) -> str:
    """Return text in bold where colours are wanted."""
    return f"\033[1m{text}\033[0m" if colour else text


def _suit_word(suit: int, style: Style) -> str:
    symbols, colour = style
    word = (SUIT_SYMBOLS if symbols else SUIT_LETTERS)[suit]
    return f"\033[31m{word}\033[0m" if colour and suit in (1, 2) else word


def card_word(card: str, style: Style, *, width: int = 0, lead: bool = False, won: bool = False) -> str:
    """Return a card for a trick's row, right-aligned: ``>`` before a lead, ``*`` behind the winner."""
    number = parse_card(card)
    text = _suit_word(number >> 4, style) + RANKS[number & 15]
    mark = "*" if won else " "
    before = ">" if lead else ""
    visible = len(before) + 2 + 1
    return " " * max(width - visible, 0) + before + (bold(text, style[1]) if won else text) + mark


def cost_width(tricks: Sequence[Mapping[str, Any]]) -> int:
    """Return how wide the marks of what cards cost are, 0 where no trick has any."""
    return max((len(_mark(cost)) for trick in tricks for cost in trick.get("cost", ())), default=0)


def _mark(cost: int | None) -> str:
    return "?" if cost is None else f"-{cost}"


def cost_word(trick: Mapping[str, Any], place: int, width: int) -> str:
    """Return the mark behind a card: what it cost against perfect play, blank where nothing, a question mark where unknown."""
    cost = trick["cost"][place] if width else 0
    return ("" if cost == 0 else _mark(cost)).ljust(width)


def hand_lines(pbn: str, style: Style) -> list[tuple[str, int]]:
    """Return a hand's four lines, spades first, each with its visible width; the hand may be written in any accepted way."""
    lines = []
    for suit, ranks in zip(SUITS, format_hand(parse_hand(pbn)).split("."), strict=True):
        held = " ".join("10" if rank == "T" else rank for rank in ranks) or "-"
        lines.append((f"{_suit_word(suit, style)} {held}", 2 + len(held)))
    return lines


def deal_diagram(hands: Mapping[str, str], dealer: str, style: Style) -> list[str]:
    """Draw four hands round the table; the dealer is named."""
    blocks = {seat: hand_lines(pbn, style) for seat, pbn in hands.items()}
    named = {seat: name + (", dealer" if seat == dealer else "") for seat, name in _NAMES.items()}
    column = max([len(named["W"])] + [width for _, width in blocks["W"]]) + 4
    inset = " " * column
    lines = [inset + named["N"]] + [inset + text for text, _ in blocks["N"]]
    west = [(named["W"], len(named["W"])), *blocks["W"]]
    for (left, width), table, (right, _) in zip(west, _TABLE, [(named["E"], 0), *blocks["E"]], strict=True):
        lines.append(left + " " * (column - width) + table + "   " + right)
    return lines + [inset + named["S"]] + [inset + text for text, _ in blocks["S"]]
