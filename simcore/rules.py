"""Rulesets: TOML files read into frozen, validated objects, and those into one record of plain numbers for the kernels.

The schema is described in ``docs/rulesets.md``.  A record holds every setting and every contract as integers in fixed places, so
one compiled kernel a game serves every ruleset, a designer's own included.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import category

import numpy as np

from simcore.cards import ALL_CARDS, SUIT_MASKS, SUIT_NAMES, SUITS, format_card, parse_card
from simcore.errors import NotationError, RulesError
from simcore.worth import model_of

__all__ = [
    "ELECTIONS_RULES",
    "GAMES",
    "MAX_CONTRACTS",
    "MAX_TYPES",
    "SHIPPED",
    "SHOWCASE_RULES",
    "TRUMPS",
    "Contract",
    "Ruleset",
    "load_ruleset",
    "parse_ruleset",
]

GAMES = ("elections", "showcase")
SHIPPED = ("elections", "elections-joint", "variety", "tricks", "showcase", "showcase-magri")
#: What the namer of Showcase may name, in the order of the kernels' trump numbers.
TRUMPS = ("clubs", "diamonds", "hearts", "spades", "no-trump", "all-trump")

#: Words that mean something else where a contract's id may stand.
RESERVED_IDS = ("all", "random", "auction", "pass")

MAX_TYPES = 10  # keeps every auction within 128 calls, see elections/state.py
MAX_CONTRACTS = 32
MAX_PER_TYPE = 8
MAX_POINTS = 500  # a trick, card or bonus; keeps a side's points within int16
_GROUPS = 52

#: Every (choice) of the rules with its values, the default first.
CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "elections": {
        "calls": ("rising", "free"),
        "pass": ("final", "turn"),
        "match": ("standing", "any"),
        "unmatched": ("lot-partner", "redeal"),
        "passed_out": ("counts", "redeal"),
        "lead": ("left-of-declarer", "left-of-dealer"),
        "low_trump": ("beats", "plain"),
        "tie": ("loss", "draw"),
        "result": ("net", "both-signs"),
    },
    "showcase": {
        "turned_card": ("out", "last"),
        "showcase_follow": ("must", "may"),
        "tie_namer": ("non-leader", "leader"),
        "second_lead": ("trick-13", "last-trick"),
        "all_trump": ("ruff", "rank"),
    },
    "magri": {
        "follow_from": ("showcase", "hand-and-showcase"),
        "tie_namer": ("non-leader", "leader"),
        "second_lead": ("trick-13", "last-trick"),
        "all_trump": ("ruff", "rank"),
    },
}

#: A ruleset of Elections as numbers.  A choice is 0 for its default value, 1 for the other.
ELECTIONS_RULES = np.dtype(
    [(name, "i8") for name in CHOICES["elections"]]
    + [
        ("failure_bonus", "i8"),
        ("types", "i8"),
        ("contracts", "i8"),
        ("type_size", "i8", (MAX_TYPES,)),
        ("type_contract", "i8", (MAX_TYPES, MAX_PER_TYPE)),
        ("contract_type", "i8", (MAX_CONTRACTS,)),
        ("trump", "u8", (MAX_CONTRACTS,)),  # mask of the trump suit, zero for none
        ("low", "i8", (MAX_CONTRACTS,)),
        ("trick", "i8", (MAX_CONTRACTS,)),  # points a trick
        ("most", "i8", (MAX_CONTRACTS,)),  # points for taking more tricks
        ("two_signs", "i8", (MAX_CONTRACTS,)),  # gives plus and minus points (E16)
        ("groups", "i8", (MAX_CONTRACTS,)),  # cards of equal points form a group
        ("group_cards", "u8", (MAX_CONTRACTS, _GROUPS)),
        ("group_plus", "i8", (MAX_CONTRACTS, _GROUPS)),
        ("group_minus", "i8", (MAX_CONTRACTS, _GROUPS)),
        ("card_points", "i4", (MAX_CONTRACTS, 64)),
        ("suit_points", "i8", (MAX_CONTRACTS, 4)),  # points of most cards of a suit
        ("odd_cards", "u8", (MAX_CONTRACTS,)),  # mask of the cards that have other points
        (
            "fitted",
            "i8",
            (MAX_CONTRACTS,),
        ),  # a fitted model is there (worth.py), in 64ths of a point
        ("worth", "i8", (MAX_CONTRACTS,)),
        ("worth_spread", "i8", (MAX_CONTRACTS,)),
        ("worth_cards", "i2", (MAX_CONTRACTS, 64)),
        ("worth_lengths", "i2", (MAX_CONTRACTS, 4, 14)),
        ("mean_points", "i8", (MAX_CONTRACTS, 5)),  # 64ths, of a card of each suit, then of any card
        ("pack_points", "i8", (MAX_CONTRACTS,)),  # points of all cards
        ("pack_size", "i8", (MAX_CONTRACTS,)),  # the same without their signs
    ],
    align=True,
)
#: A ruleset of Showcase as numbers.
SHOWCASE_RULES = np.dtype([("magri", "i8")] + [(name, "i8") for name in CHOICES["showcase"]] + [("follow_from", "i8")], align=True)


@dataclass(frozen=True)
class Contract:
    """What a contract pays: trump suit, turned ranks, points (E15)."""

    id: str
    type: str
    trump: int | None = None  # 0 clubs … 3 spades
    low: bool = False
    trick: int = 0
    most_tricks: int = 0
    suits: tuple[int, int, int, int] = (0, 0, 0, 0)  # points a card of clubs, diamonds, hearts, spades
    cards: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))  # further points of single cards

    @cached_property
    def card_signs(self) -> dict[int, tuple[int, int]]:
        """Plus points and minus points of each card that has any: a line of its suit and one of its own stay apart (E16)."""
        signs = {}
        for card in ALL_CARDS:
            lines = (self.suits[card >> 4], self.cards.get(card, 0))
            if any(lines):
                signs[card] = (sum(p for p in lines if p > 0), sum(p for p in lines if p < 0))
        return signs

    @property
    def total(self) -> int:
        """Both sides' points together, the same in every deal."""
        return 13 * self.trick + self.most_tricks + sum(plus + minus for plus, minus in self.card_signs.values())

    @property
    def largest_side(self) -> int:
        """A bound on a side's points, plus or minus."""
        cards = sum(plus - minus for plus, minus in self.card_signs.values())
        return 13 * abs(self.trick) + abs(self.most_tricks) + cards

    @property
    def two_signs(self) -> bool:
        """Whether the contract gives both plus and minus points (E16)."""
        lines = [self.trick, self.most_tricks, *self.suits, *self.cards.values()]
        return min(lines) < 0 < max(lines)

    def describe(self) -> str:
        """Say in words what the contract pays."""
        parts = []
        if self.most_tricks:
            parts.append(f"{self.most_tricks:+d} for more tricks")
        if self.trick:
            parts.append(f"{self.trick:+d} a trick")
        parts += [f"{self.suits[suit]:+d} a {SUIT_NAMES[suit][:-1]}" for suit in SUITS if self.suits[suit]]
        by_points: dict[int, list[str]] = {}
        for card in sorted(self.cards, reverse=True):
            by_points.setdefault(self.cards[card], []).append(format_card(card))
        parts += [f"{points:+d} for {' '.join(cards)}" for points, cards in sorted(by_points.items(), reverse=True)]
        trump = "no trump" if self.trump is None else f"{SUIT_NAMES[self.trump]} trump"
        return f"{trump}{', low' if self.low else ''}: {', '.join(parts) or 'no points'}"


@dataclass(frozen=True)
class Ruleset:
    """One game's rules, complete and validated.  Made by :func:`load_ruleset` or :func:`parse_ruleset`."""

    game: str
    name: str
    title: str
    style: str  # the first playout of Showcase: "showcase" or "magri"; "elections" for Elections
    choices: Mapping[str, str]
    failure_bonus: int
    types: tuple[tuple[str, tuple[str, ...]], ...]
    contracts: tuple[Contract, ...]
    text: str  # the TOML it was read from

    @property
    def contract_ids(self) -> tuple[str, ...]:
        """Ids of the contracts in the order of the kernels' numbers."""
        return tuple(contract.id for contract in self.contracts)

    @property
    def type_ids(self) -> tuple[str, ...]:
        """Ids of the types in rising order."""
        return tuple(name for name, _ in self.types)

    def contract(self, contract_id: str) -> Contract:
        """Return a contract by id.

        Raises:
            RulesError: the ruleset has no such contract.
        """
        for contract in self.contracts:
            if contract.id == contract_id:
                return contract
        raise RulesError(f"contract {contract_id!r} is not in ruleset {self.name!r}; accepted: {', '.join(self.contract_ids)}")

    def meaning(self, contract: Contract) -> str:
        """Return what the worth of a contract depends on, in words: what it pays, who leads, how low trumps are read (E12, E14)."""
        words = [contract.describe()]
        if contract.low and contract.trump is not None and self.choices["low_trump"] != "beats":
            words.append("low trumps plain")
        if self.choices["lead"] != "left-of-declarer":
            words.append("left of dealer leads")
        return "; ".join(words)

    def with_choices(self, **choices: str | int) -> Ruleset:
        """Return a copy with other values of some choices (``-`` written ``_`` in names; ``pass_`` for ``pass``).

        The copy's text is regenerated from its meaning, so that tables carry the rules they were played under.
        """
        data = tomllib.loads(self.text)
        table = data.setdefault("choices", {})
        for key, value in choices.items():
            if not isinstance(value, (str, int)):
                raise RulesError(f"{self.name}: choice {key!r} has the value {value!r}; accepted: a text or a whole number")
            table[key.rstrip("_")] = value
        return parse_ruleset(_dump_toml(data), where=f"{self.name} with {choices}")

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the meaning of the ruleset (not its comments or layout)."""
        meaning = {
            "game": self.game,
            "style": self.style,
            "choices": dict(self.choices),
            "failure_bonus": self.failure_bonus,
            "types": self.types,
            "contracts": [[c.id, c.trump, c.low, c.trick, c.most_tricks, c.suits, sorted(c.cards.items())] for c in self.contracts],
        }
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()

    @cached_property
    def record(self) -> np.ndarray[Any, Any]:
        """The rules as a one-row record array for the kernels (ELECTIONS_RULES or SHOWCASE_RULES)."""
        rules = np.zeros(1, ELECTIONS_RULES if self.game == "elections" else SHOWCASE_RULES).view(np.recarray)
        row = rules[0]
        for key, value in self.choices.items():
            row[key] = CHOICES[self.style][key].index(value)
        if self.game == "showcase":
            row["magri"] = self.style == "magri"
            return rules
        row["failure_bonus"] = self.failure_bonus
        row["types"], row["contracts"] = len(self.types), len(self.contracts)
        for t, (_, ids) in enumerate(self.types):
            row["type_size"][t] = len(ids)
            row["type_contract"][t, : len(ids)] = [self.contract_ids.index(i) for i in ids]
        for c, contract in enumerate(self.contracts):
            row["contract_type"][c] = self.type_ids.index(contract.type)
            row["trump"][c] = 0 if contract.trump is None else SUIT_MASKS[contract.trump]
            row["low"][c] = contract.low
            row["trick"][c], row["most"][c] = contract.trick, contract.most_tricks
            row["two_signs"][c] = contract.two_signs
            for g, (plus, minus) in enumerate(sorted(set(contract.card_signs.values()))):
                cards = [card for card, signs in contract.card_signs.items() if signs == (plus, minus)]
                row["groups"][c] = g + 1
                row["group_plus"][c, g], row["group_minus"][c, g] = plus, minus
                row["group_cards"][c, g] = sum(1 << card for card in cards)
                row["card_points"][c, cards] = plus + minus
            for suit in SUITS:
                points = [int(row["card_points"][c, card]) for card in ALL_CARDS if card >> 4 == suit]
                row["suit_points"][c, suit] = max(sorted(set(points)), key=points.count)
                row["mean_points"][c, suit] = 64 * sum(points) // 13
            everything = [int(row["card_points"][c, card]) for card in ALL_CARDS]
            row["mean_points"][c, 4] = 64 * sum(everything) // 52
            row["pack_points"][c], row["pack_size"][c] = sum(everything), sum(map(abs, everything))
            model = model_of(self.meaning(contract), contract)
            if model is not None:
                row["fitted"][c] = 1
                row["worth"][c], row["worth_spread"][c] = round(64 * model.base), round(64 * model.spread)
                for suit in SUITS:
                    row["worth_cards"][c, 16 * suit : 16 * suit + 13] = np.rint(64 * model.cards[suit])
                    row["worth_lengths"][c, suit] = np.rint(64 * model.lengths[suit])
            row["odd_cards"][c] = sum(
                1 << card for card in ALL_CARDS if row["card_points"][c, card] != row["suit_points"][c, card >> 4]
            )
        return rules


def load_ruleset(name_or_path: str | Path | Ruleset, game: str | None = None) -> Ruleset:
    """Return a shipped ruleset by name, or read one from a TOML file.

    Args:
        name_or_path: one of SHIPPED, or a path ending in ``.toml``.
        game: refuse a ruleset of another game.

    Raises:
        RulesError: no such ruleset or file, a mistake in the file, another game's rules.
    """
    if isinstance(name_or_path, Ruleset):
        ruleset = name_or_path
    elif str(name_or_path) in SHIPPED:
        text = (resources.files("simcore.rulesets") / f"{name_or_path}.toml").read_text("utf-8")
        ruleset = parse_ruleset(text, where=f"shipped ruleset {name_or_path!r}")
    elif str(name_or_path).endswith(".toml"):
        try:
            text = Path(name_or_path).read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise RulesError(f"ruleset file {str(name_or_path)!r} is not UTF-8: {error.reason} at byte {error.start}") from None
        except OSError as error:
            raise RulesError(f"ruleset file {str(name_or_path)!r} cannot be read: {error.strerror}") from None
        ruleset = parse_ruleset(text, where=str(name_or_path))
    else:
        raise RulesError(f"ruleset {str(name_or_path)!r} is unknown; accepted: {', '.join(SHIPPED)}, or a file ending in .toml")
    if game is not None and ruleset.game != game:
        raise RulesError(f"ruleset {ruleset.name!r} is for {ruleset.game!r}, not for {game!r}")
    return ruleset


def parse_ruleset(text: str, where: str = "ruleset") -> Ruleset:
    """Read and check a ruleset from TOML text; ``where`` names it in errors.

    Raises:
        RulesError: naming the key, the value and what is allowed.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, brackets nested as deep
        raise RulesError(f"{where}: not valid TOML: {error}") from None
    top = _Table(data, where)
    game = top.one_of("game", GAMES)
    name = top.line("name")
    title = top.line("title", default="")
    top.string("note", default="")
    style = game
    if game == "showcase":
        style = top.one_of("first_playout", ("showcase", "magri"))
    table = top.table("choices", default={})
    choices = {key: table.one_of(key, values, default=values[0]) for key, values in CHOICES[style].items()}
    failure_bonus = table.integer("failure_bonus", default=0) if game == "elections" else 0
    table.done()
    types: list[tuple[str, tuple[str, ...]]] = []
    contracts: list[Contract] = []
    if game == "elections":
        types, contracts = _parse_types(top)
    top.done()
    most = max((contract.largest_side + abs(failure_bonus) for contract in contracts), default=0)
    if most > np.iinfo(np.int16).max:
        raise RulesError(f"{where}: a side could score {most} points; accepted: at most {np.iinfo(np.int16).max}")
    return Ruleset(game, name, title, style, MappingProxyType(choices), failure_bonus, tuple(types), tuple(contracts), text)


def _parse_types(top: _Table) -> tuple[list[tuple[str, tuple[str, ...]]], list[Contract]]:
    blocks = top.table("contracts")
    types: list[tuple[str, tuple[str, ...]]] = []
    contracts: list[Contract] = []
    for entry in top.tables("types", most=MAX_TYPES):
        type_id = entry.identifier("id")
        ids = entry.identifiers("contracts", most=MAX_PER_TYPE)
        entry.done()
        if type_id == "pass" or type_id in (known for known, _ in types):
            raise RulesError(f"{entry.where}: id {type_id!r} is taken; accepted: another word than 'pass' and the other types")
        types.append((type_id, tuple(ids)))
        for contract_id in ids:
            if contract_id in (contract.id for contract in contracts):
                raise RulesError(f"{entry.where}: contract {contract_id!r} belongs to two types; accepted: one")
            if contract_id in RESERVED_IDS:
                raise RulesError(f"{entry.where}: id {contract_id!r} is taken; accepted: not {', '.join(RESERVED_IDS)}")
            contracts.append(_parse_contract(blocks.table(contract_id), contract_id, type_id))
    blocks.done("a contract that no type lists")
    if len(contracts) > MAX_CONTRACTS:
        raise RulesError(f"{top.where}: {len(contracts)} contracts; accepted: at most {MAX_CONTRACTS}")
    return types, contracts


def _parse_contract(block: _Table, contract_id: str, type_id: str) -> Contract:
    trump = block.one_of("trump", ("none", *SUIT_NAMES))
    low = block.boolean("low", default=False)
    trick = block.integer("trick", default=0)
    most = block.integer("most_tricks", default=0)
    suit_table = block.table("suits", default={})
    clubs, diamonds, hearts, spades = (suit_table.integer(suit_name, default=0) for suit_name in SUIT_NAMES)
    suit_table.done()
    cards = block.table("cards", default={})
    seen: dict[int, str] = {}
    points: dict[int, int] = {}
    for key in list(cards):
        try:
            card = parse_card(key)
        except NotationError as error:
            raise RulesError(f"{cards.where}: {error}") from None
        if card in seen:
            raise RulesError(f"{cards.where}: {key!r} and {seen[card]!r} are the same card")
        seen[card] = key
        points[card] = cards.integer(key)
    cards.done()
    block.string("note", default="")
    block.done()
    return Contract(
        contract_id,
        type_id,
        None if trump == "none" else SUIT_NAMES.index(trump),
        low,
        trick,
        most,
        (clubs, diamonds, hearts, spades),
        MappingProxyType({card: value for card, value in points.items() if value}),
    )


class _Table:
    """A TOML table being read: every access checks type and range, ``done`` refuses keys nobody asked for."""

    def __init__(self, data: Mapping[str, Any], where: str) -> None:
        self.data, self.where, self.seen = data, where, set[str]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def _get(self, key: str, default: Any, wanted: str) -> Any:
        self.seen.add(key)
        if key in self.data:
            return self.data[key]
        if default is None:
            raise RulesError(f"{self.where}: key {key!r} is missing; accepted: {wanted}")
        return default

    def _bad(self, key: str, value: Any, wanted: str) -> RulesError:
        try:
            shown = repr(value)
        except ValueError:  # a hexadecimal number of thousands of digits
            shown = "a number out of all range"
        return RulesError(f"{self.where}: key {key!r} has the value {shown}; accepted: {wanted}")

    def line(self, key: str, default: str | None = None) -> str:
        """Return a text that stands in lines for people: a line break or an escape sequence would garble them."""
        value = self.string(key, default)
        if any(category(letter) in ("Cc", "Cf", "Zl", "Zp") for letter in value):
            raise self._bad(key, value, "a text on one line, without control characters")
        return value

    def string(self, key: str, default: str | None = None) -> str:
        value = self._get(key, default, "a text")
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self._bad(key, value, "a text")
        return value

    def one_of(self, key: str, values: tuple[str, ...], default: str | None = None) -> str:
        wanted = ", ".join(repr(value) for value in values)
        value = self._get(key, default, wanted)
        if value not in values:
            raise self._bad(key, value, wanted)
        return str(value)

    def integer(self, key: str, default: int | None = None) -> int:
        wanted = f"a whole number from {-MAX_POINTS} to {MAX_POINTS}"
        value = self._get(key, default, wanted)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_POINTS:
            raise self._bad(key, value, wanted)
        return value

    def boolean(self, key: str, default: bool) -> bool:
        value = self._get(key, default, "true or false")
        if not isinstance(value, bool):
            raise self._bad(key, value, "true or false")
        return value

    def identifier(self, key: str) -> str:
        value = self.string(key)
        return self._check_identifier(key, value)

    def _check_identifier(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value.replace("-", "").isalnum() or not value.isascii() or value != value.lower():
            raise self._bad(key, value, "lower-case letters, digits and '-', as in 'clubs-tricks'")
        return value

    def identifiers(self, key: str, most: int) -> list[str]:
        wanted = f"a list of 1 to {most} contract ids"
        value = self._get(key, None, wanted)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            raise self._bad(key, value, wanted)
        return [self._check_identifier(key, item) for item in value]

    def table(self, key: str, default: Mapping[str, Any] | None = None) -> _Table:
        value = self._get(key, default, "a table")
        if not isinstance(value, Mapping):
            raise self._bad(key, value, "a table")
        return _Table(value, f"{self.where}: {key}")

    def tables(self, key: str, most: int) -> list[_Table]:
        wanted = f"1 to {most} tables [[{key}]]"
        value = self._get(key, None, wanted)
        if not isinstance(value, list) or not 1 <= len(value) <= most or not all(isinstance(v, Mapping) for v in value):
            raise self._bad(key, value, wanted)
        return [_Table(item, f"{self.where}: {key} number {number}") for number, item in enumerate(value, 1)]

    def done(self, what: str = "an unknown key") -> None:
        for key in self.data:
            if key not in self.seen:
                known = ", ".join(sorted(self.seen)) or "none"
                raise RulesError(f"{self.where}: {key!r} is {what}; accepted: {known}")


def _dump_toml(data: Mapping[str, Any]) -> str:
    """Write a ruleset's data as TOML (the few shapes a ruleset has)."""

    def value(item: Any) -> str:
        if isinstance(item, Mapping):
            return "{ " + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in item.items()) + " }"
        # JSON but for one character, which TOML does not allow bare
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"{key} = {value(item)}" for key, item in data.items() if key not in ("choices", "types", "contracts")]
    lines += ["", "[choices]"] + [f"{key} = {value(item)}" for key, item in data.get("choices", {}).items()]
    for entry in data.get("types", []):
        lines += ["", "[[types]]"] + [f"{key} = {value(item)}" for key, item in entry.items()]
    for contract_id, block in data.get("contracts", {}).items():
        lines += ["", f"[contracts.{contract_id}]"] + [f"{key} = {value(item)}" for key, item in block.items()]
    return "\n".join(lines) + "\n"
