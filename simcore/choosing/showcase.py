"""Which trump to name in Showcase (S9).

At the naming both holdings follow from what is seen, so that every trump's value is exact.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from simcore import __version__
from simcore.batches.config import seat_index
from simcore.cards import FULL, Hand, format_cards, format_hand, parse_card, parse_cards, parse_hand
from simcore.choosing.result import Choices
from simcore.errors import BadInput, NotationError
from simcore.rules import TRUMPS, Ruleset, load_ruleset
from simcore.solvers import two

__all__ = ["answer_showcase"]

_SEATS = "NS"
_TRICKS = 13


def answer_showcase(
    *,
    hand: str | Hand,
    seat: str,
    leader: str,
    show: str = "",
    turned: str | None = None,
    discards: str | None = None,
    won: str | None = None,
    ruleset: str | Path | Ruleset | None = None,
) -> Choices:
    """Compare the six trumps for the seat that names.

    Args:
        hand: cards still in hand, PBN or a Hand.
        seat: who holds them and names.
        leader: who leads to the second playout (S10).
        show: both showcases, as ``N:AK... S:.QJ..``.
        turned: the card turned up, where it is out of play (S2).
        discards: cards discarded (M6), as ``SA HT …``.
        won: tricks each won in the first playout, as ``N:12 S:13``: checked against the holdings (S11).

    Raises:
        SimcoreError: naming the option, its value and what is accepted; the cards do not add up to 52, or to 13 + w.
    """
    start = time.monotonic()
    rules = load_ruleset("showcase" if ruleset is None else ruleset, "showcase")
    me, lead = seat_index(seat, "showcase", "seat"), seat_index(leader, "showcase", "leader")
    holdings = _holdings(rules, me, str(hand), show, turned, discards, won)
    reading = rules.choices["all_trump"]
    tricks = two.all_trumps(*holdings, lead, all_trump=reading)
    points = [int(n) if me == 0 else _TRICKS - int(n) for n in tricks]
    first = TRUMPS.index(two.best_trump(*holdings, me, lead, all_trump=reading))
    order = sorted(range(len(TRUMPS)), key=lambda t: (-points[t], t != first, t))
    rows: list[dict[str, Any]] = []
    for trump in order:
        value = float(points[trump])
        line = two.line(*holdings, trump, lead, all_trump=reading)
        rows.append(
            {
                "table": "trump",
                "choice": TRUMPS[trump],
                "objective": "points",
                "mean": value,
                "stderr": 0.0,
                "low": value,
                "high": value,
                "confidence": 1.0,
                "deals": 1,
                "best": trump == first,
                "tied": trump != first and points[trump] == points[first],
                "points": {"N": int(tricks[trump]), "S": _TRICKS - int(tricks[trump])},
                "win": float(points[trump] > _TRICKS // 2),
                "line": [line[i : i + 2] for i in range(0, len(line), 2)],
            }
        )
    config = {
        "simcore": __version__,
        "game": "showcase",
        "method": "exact",
        "ruleset": rules.name,
        "ruleset_hash": rules.hash,
        "seat": _SEATS[me],
        "leader": _SEATS[lead],
        "holdings": {s: format_hand(mask) for s, mask in zip(_SEATS, holdings, strict=True)},
    }
    return Choices(config=config, rows=rows, seconds=time.monotonic() - start)


def _holdings(
    rules: Ruleset, seat: int, hand: str, show: str, turned: str | None, discards: str | None, won: str | None
) -> tuple[int, int]:
    """Return both holdings, N's first."""
    magri = rules.style == "magri"
    parts = {"the hand": parse_hand(hand)}
    shown = _read_pairs(show, "showcases", "N:AK... S:.QJ..")
    for s, text in shown.items():
        parts[f"the showcase of {s}"] = 0 if text == "-" else parse_hand(text)
    if magri:
        if turned is not None:
            raise BadInput(f"turned {turned!r} does not go with ruleset {rules.name!r}: the display card is taken (M6)")
        parts["the discards"] = 0 if discards is None else parse_cards(str(discards))
        if parts["the discards"].bit_count() != 2 * _TRICKS:
            raise BadInput(f"{parts['the discards'].bit_count()} discards; accepted: {2 * _TRICKS}, two a trick (M6)")
    else:
        if discards is not None:
            raise BadInput(f"discards do not go with ruleset {rules.name!r}; accepted: with the rules of Magri (M6)")
        out = rules.choices["turned_card"] == "out"
        if out and turned is None:
            raise BadInput("the turned card is missing; accepted: --turned CARD, which takes no further part (S2)")
        if turned is not None and not out:
            raise BadInput(f"turned {turned!r} does not go with turned_card 'last': it was drawn (S2)")
        if turned is not None:
            parts["the turned card"] = 1 << parse_card(str(turned))
    seen = 0
    for name, mask in parts.items():
        if mask & seen:
            where = [other for other, cards in parts.items() if cards & mask and other != name]
            raise BadInput(f"{format_cards(mask & seen)} of {name} is also in {where[0]}; accepted: every card once")
        seen |= mask
    mine = parts["the hand"] | parts.get(f"the showcase of {_SEATS[seat]}", 0)
    unseen = int(FULL) & ~seen
    his = unseen | parts.get(f"the showcase of {_SEATS[1 - seat]}", 0)
    holdings = (mine, his) if seat == 0 else (his, mine)
    _check_sizes(rules, holdings, won)
    if not magri:
        _check_showcases(rules, holdings, [parts.get(f"the showcase of {s}", 0).bit_count() for s in _SEATS])
    return holdings


def _check_sizes(rules: Ruleset, holdings: tuple[int, int], won: str | None) -> None:
    """Refuse holdings that are not 13 + w (S11), or 13 with the rules of Magri (M11)."""
    sizes = [mask.bit_count() for mask in holdings]
    if rules.style == "magri":
        wanted: list[int] | None = [_TRICKS, _TRICKS]
        clause = "13 each (M11)"
    else:
        tricks = _tricks(rules)
        wanted, clause = None, f"13 + w each, w being the tricks won of {tricks} (S11)"
        if won is not None:
            words = _read_pairs(won, "tricks won", "N:12 S:13")
            if set(words) != set(_SEATS) or not all(re.fullmatch("[0-9]{1,2}", word) for word in words.values()):
                raise BadInput(f"tricks won {won!r} are not two numbers; accepted: as in 'N:12 S:13'")
            counts = [int(words[s]) for s in _SEATS]
            if sum(counts) != tricks:
                raise BadInput(f"tricks won {won!r} add up to {sum(counts)}; accepted: {tricks} (S7)")
            wanted = [_TRICKS + count for count in counts]
    if (wanted is not None and sizes != wanted) or min(sizes) < _TRICKS:
        accepted = "" if wanted is None else f"{wanted[0]} and {wanted[1]}: "
        raise BadInput(
            f"the cards do not add up: N would hold {sizes[0]} and S {sizes[1]}, 52 less what is seen; accepted: {accepted}{clause}"
        )


def _check_showcases(rules: Ruleset, holdings: tuple[int, int], shown: list[int]) -> None:
    """Refuse showcases that no first playout leaves behind; above all one that was left out.

    ``w`` tricks won lay 2w cards, less what was played out of them.  That happens when following (S4), so at most after every trick
    lost and once to the first; or when leading with no card in hand (S3), which takes at least the 13 dealt, so that of all tricks
    13 were played from the hand.
    """
    tricks = _tricks(rules)
    for seat, holding, cards in zip(_SEATS, holdings, shown, strict=True):
        won = holding.bit_count() - _TRICKS
        most = min(max(tricks - won + 1, tricks - _TRICKS), 2 * won)
        if not 2 * won - most <= cards <= 2 * won:
            raise BadInput(
                f"the cards do not add up: {seat} would hold {holding.bit_count()}, so have won {won} tricks (S11), with "
                f"{cards} cards in the showcase; accepted: {2 * won - most} to {2 * won}, both showcases given, as N:AK... S:-"
            )


def _tricks(rules: Ruleset) -> int:
    """Return how many tricks the first playout has (S7)."""
    return 25 if rules.choices["turned_card"] == "out" else 26


def _read_pairs(text: str, what: str, example: str) -> dict[str, str]:
    """Read ``N:… S:…``."""
    found: dict[str, str] = {}
    for word in str(text).split():
        seat, colon, rest = word.partition(":")
        if not colon or seat.upper() not in tuple(_SEATS) or seat.upper() in found:
            raise NotationError(f"{what} {text!r}: {word!r} does not begin with N: or S:, each once; accepted: as in {example!r}")
        found[seat.upper()] = rest
    return found
