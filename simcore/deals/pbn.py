"""PBN deals: text ↔ hands, single deals and whole files.

Read leniently: comments, byte-order mark, CRLF, several deals a file, any first seat, ``10`` for T, lower case, bare deal lines
without a tag.  Refused, with line and place: a card twice, a hand of another number of cards, an unknown rank, a missing hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simcore.cards import SEATS, SUITS, Hand, format_card, format_hand, parse_hand
from simcore.errors import NotationError

__all__ = ["Deal", "format_deal", "iter_deals", "parse_deal", "parse_partial_deal", "read_deals"]

_TAG = re.compile(r'\s*\[\s*(?P<name>\w+)\s+"(?P<value>[^"]*)"\s*\]')
_BROKEN = re.compile(r"\[\s*Deal\b", re.IGNORECASE)
_BARE = re.compile(r"^\s*[NESW]\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Deal:
    """Four hands N E S W: the human view of a row of masks.

    >>> deal = Deal.parse("E:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432")
    >>> str(deal.hands[1])
    'AKQJT98765432...'
    """

    hands: tuple[Hand, Hand, Hand, Hand]

    @classmethod
    def parse(cls, text: str) -> Deal:
        """Read a PBN deal of 52 cards; see :func:`parse_deal`."""
        return cls.from_masks(parse_deal(text))

    @classmethod
    def from_masks(cls, masks: Sequence[int] | np.ndarray) -> Deal:
        """Make a deal of four uint64 masks, N E S W.

        Raises:
            NotationError: fewer or more.
        """
        if len(masks) != 4:
            raise NotationError(f"a deal has {len(masks)} hands; accepted: 4, N E S W")
        north, east, south, west = (Hand(int(mask)) for mask in masks)
        return cls((north, east, south, west))

    @property
    def masks(self) -> np.ndarray:
        """The hands as uint64[4]."""
        return np.array([hand.mask for hand in self.hands], dtype=np.uint64)

    def pbn(self, first: str = "N") -> str:
        """Return the deal as PBN, the named seat first."""
        return format_deal([hand.mask for hand in self.hands], first)

    def __str__(self) -> str:
        """Draw the hands round a table, in letters."""
        blocks = [[f"{'CDHS'[s]} {ranks or '-'}" for s, ranks in zip(SUITS, str(h).split("."), strict=True)] for h in self.hands]
        north, east, south, west = blocks
        pad = " " * 18
        lines = [pad + line for line in north]
        lines += [f"{w:<36}{e}" for w, e in zip(west, east, strict=True)]
        lines += [pad + line for line in south]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = dict(zip(SEATS, (hand._repr_html_() for hand in self.hands), strict=True))
        return (
            "<table><tr><td></td><td>{N}</td><td></td></tr><tr><td>{W}</td><td></td><td>{E}</td></tr>"
            "<tr><td></td><td>{S}</td><td></td></tr></table>".format(**cells)
        )


def format_deal(masks: Sequence[int] | np.ndarray, first: str = "N", seats: str = SEATS) -> str:
    """Return hands (masks in the order of ``seats``) as PBN, ``first`` named and written first, then clockwise."""
    if first not in tuple(seats):
        raise NotationError(f"first seat {first!r} is unknown; accepted: {' '.join(seats)}")
    start = seats.index(first)
    order = [(start + i) % len(seats) for i in range(len(seats))]
    return f"{first}:" + " ".join(format_hand(int(masks[seat])) for seat in order)


def _split(text: str, seats: str) -> list[str]:
    """Return the words of a deal in the order of ``seats``."""
    first, colon, rest = text.strip().partition(":")
    first = first.strip().upper()
    if not colon or first not in tuple(seats):
        raise NotationError(f"deal {text!r} does not begin with a seat; accepted: one of {' '.join(seats)} and a colon, as in 'N:'")
    words = rest.split()
    if len(words) != len(seats):
        raise NotationError(f"deal {text!r} has {len(words)} hands; accepted: {len(seats)}")
    start = seats.index(first)
    return [words[(i - start) % len(seats)] for i in range(len(seats))]


def _check_disjoint(masks: Sequence[int], text: str, seats: str) -> None:
    seen = 0
    for seat, mask in zip(seats, masks, strict=True):
        twice = seen & mask
        if twice:
            card = (twice & -twice).bit_length() - 1
            raise NotationError(f"deal {text!r}: card {format_card(card)} of {seat} is held by another seat too")
        seen |= mask


def parse_deal(text: str, seats: str = SEATS, *, size: int | None = 13) -> np.ndarray:
    """Read a PBN deal of which every hand is known: uint64 masks in the order of ``seats``.

    Args:
        size: how many cards each hand must have; None for any number.

    Raises:
        NotationError: not one hand a seat, a hand of another number of cards, a card twice, an unknown rank.
    """
    masks: list[int] = []
    for seat, word in zip(seats, _split(text, seats), strict=True):
        if word == "-":
            raise NotationError(f"deal {text!r}, seat {seat}: '-' is a hand not known; accepted: every hand of the deal")
        try:
            masks.append(parse_hand(word, size=size))
        except NotationError as error:
            raise NotationError(f"deal {text!r}, seat {seat}: {error}") from None
    _check_disjoint(masks, text, seats)
    return np.array(masks, dtype=np.uint64)


def parse_partial_deal(text: str, seats: str = SEATS) -> np.ndarray:
    """Read a deal of which not everything is known: a lone ``-`` for a hand, up to 13 cards a hand; masks as in parse_deal."""
    masks: list[int] = []
    for seat, word in zip(seats, _split(text, seats), strict=True):
        try:
            masks.append(0 if word == "-" else parse_hand(word))
        except NotationError as error:
            raise NotationError(f"deal {text!r}, seat {seat}: {error}") from None
        if masks[-1].bit_count() > 13:
            raise NotationError(f"deal {text!r}, seat {seat}: {masks[-1].bit_count()} cards; accepted: up to 13")
    _check_disjoint(masks, text, seats)
    return np.array(masks, dtype=np.uint64)


def _strip_comments(lines: Iterable[str], where: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) without ``{…}`` comments (they may span lines), ``;`` comments and ``%`` lines."""
    inside = 0
    for number, line in enumerate(lines, 1):
        if not inside and line.startswith("%"):
            continue
        kept = []
        quoted = False
        for char in line:
            if inside:
                inside = 0 if char == "}" else inside
            elif char == '"':
                quoted = not quoted
                kept.append(char)
            elif char == "{" and not quoted:
                inside = number
            elif char == ";" and not quoted:
                break
            else:
                kept.append(char)
        yield number, "".join(kept)
    if inside:
        raise NotationError(f"{where}, line {inside}: the comment opened by '{{' is never closed")


def _deals_of(line: str) -> list[str]:
    """Return the texts of the deals in a line without comments: a bare one, or those of its tags."""
    if _BARE.match(line):
        return [line]
    found = []
    position = 0
    while tag := _TAG.match(line, position):
        position = tag.end()
        if tag["name"].lower() == "deal":
            found.append(tag["value"])
    rest = line[position:].strip()
    if _BROKEN.search(rest) or (found and rest and not rest.startswith("%")):
        raise NotationError(f'{line.strip()!r} is not a line of deal tags; accepted: [Deal "N:…"]')
    return found


def _lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, ended in any of the three usual ways."""
    where = str(path)
    offset = 0
    try:
        with open(path, "rb") as file:
            for raw in file:
                text = raw.decode("utf-8" if offset else "utf-8-sig")
                offset += len(raw)
                yield from text.removesuffix("\n").removesuffix("\r").split("\r")
    except UnicodeDecodeError as error:
        raise NotationError(f"file {where!r} is not UTF-8 text: {error.reason} at byte {offset + error.start}") from None
    except OSError as error:
        raise NotationError(f"file {where!r} cannot be read: {error.strerror}") from None


def iter_deals(path: str | Path, seats: str = SEATS, *, size: int | None = 13) -> Iterator[np.ndarray]:
    """Yield the deals of a PBN file one by one, whatever its length; see :func:`read_deals` and :func:`parse_deal`."""
    where = str(path)
    found = False
    for number, line in _strip_comments(_lines(path), where):
        try:
            for text in _deals_of(line):
                found = True
                yield parse_deal(text, seats, size=size)
        except NotationError as error:
            raise NotationError(f"{where}, line {number}: {error}") from None
    if not found:
        raise NotationError(f'file {where!r} holds no deal; accepted: lines like [Deal "N:AKQ.T98.75.65432 …"]')


def read_deals(path: str | Path, seats: str = SEATS) -> np.ndarray:
    """Read every deal of a PBN file (``[Deal "…"]`` tags, or bare ``N:…`` lines): uint64[deals, seats].

    Raises:
        NotationError: an unreadable file, a bad deal (with its line), or no deal at all.
    """
    return np.stack(list(iter_deals(path, seats)))
