"""Conditions on deals: the language of ``--where``.

    condition := test | not condition | condition and condition | condition or condition | ( condition )
    test      := sum RELATION sum [RELATION sum]       RELATION is one of  <  <=  =  ==  !=  >=  >
               | SEAT.shape = SHAPE [or-list: SHAPE, SHAPE …]      also  !=
               | SEAT has CARD [CARD …]
    sum       := term { + term | - term }
    term      := INTEGER | SEAT.hcp | SEAT.spades | SEAT.hearts | SEAT.diamonds | SEAT.clubs
    SHAPE     := four lengths: 5332 in any order of suits, 5-3-3-2 as spades-hearts-diamonds-clubs; x for any length

``hcp`` are high-card points: A 4, K 3, Q 2, J 1.  ``not`` binds tighter than ``and``, ``and`` tighter than ``or``.

A condition becomes two things: a program in postfix that a kernel runs on a deal's hands, and *branches*, the alternatives of which
every deal that satisfies it is in one at least, each with *bounds*: suit lengths, points and held cards that it implies for each
seat.  Bounds need only be necessary: what they do not say is tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NoReturn

import numpy as np

from simcore._jit import I64, njit
from simcore.bits import ONE, ZERO, popcount
from simcore.cards import SUIT_NAMES, parse_card
from simcore.errors import BadInput, NotationError

__all__ = ["HCP_MASKS", "Bounds", "Condition", "holds", "parse_condition", "quantity_of"]

#: A condition of more alternatives is dealt by the bounds they have in common.
MAX_BRANCHES = 64

HCP = 4  # number of the quantity "high-card points"; 0 … 3 are the suits' lengths
_MOST = (13, 13, 13, 13, 37)
_JACKS = sum(1 << (16 * suit + 9) for suit in range(4))
#: Masks of jacks, queens, kings, aces: worth 1, 2, 3, 4 points.
HCP_MASKS = np.array([_JACKS << rank for rank in range(4)], dtype=np.uint64)
_LANE = np.uint64(0x1FFF)

# Program steps: (code, operand a, operand b), see ``holds``.
_ADD, _TEST_LE, _TEST_EQ, _TEST_NE, _HAS, _AND, _OR, _NOT, _CLEAR = range(9)


@dataclass
class Bounds:
    """What a condition implies for each seat: which values its quantities may have, cards it holds, and sets of cards of which it
    does not hold all.

    ``values`` is int64[seats, 5], sets of values as bit masks (clubs … spades lengths, points); ``low`` and ``high`` follow.
    """

    values: np.ndarray
    held: list[int]
    without: list[set[int]]
    low: np.ndarray = field(init=False)
    high: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        bits = [[int(mask) for mask in row] for row in self.values]
        self.low = np.array([[(mask & -mask).bit_length() - 1 if mask else 99 for mask in row] for row in bits], np.int64)
        self.high = np.array([[mask.bit_length() - 1 for mask in row] for row in bits], np.int64)

    @classmethod
    def free(cls, seats: int) -> Bounds:
        """Return bounds that say nothing."""
        values = np.tile(np.array([(2 << most) - 1 for most in _MOST], np.int64), (seats, 1))
        return cls(values, [0] * seats, [set() for _ in range(seats)])

    def both(self, other: Bounds) -> Bounds:
        """Return what two conditions imply together."""
        held = [a | b for a, b in zip(self.held, other.held, strict=True)]
        return Bounds(self.values & other.values, held, [a | b for a, b in zip(self.without, other.without, strict=True)])

    def either(self, other: Bounds) -> Bounds:
        """Return what holds under each of two conditions; one that cannot hold does not count."""
        if self.impossible:
            return other
        if other.impossible:
            return self
        held = [a & b for a, b in zip(self.held, other.held, strict=True)]
        return Bounds(self.values | other.values, held, [a & b for a, b in zip(self.without, other.without, strict=True)])

    def lacked(self, seat: int) -> int:
        """Return the single cards that a seat does not hold."""
        return sum(mask for mask in self.without[seat] if mask & (mask - 1) == 0)

    @property
    def impossible(self) -> bool:
        """Whether no hand is within the bounds."""
        if (self.values == 0).any():
            return True
        return any(mask & ~held == 0 for held, sets in zip(self.held, self.without, strict=True) for mask in sets)


@dataclass
class Condition:
    """A condition, ready to be used: program for the kernel, bounds of its branches for the dealer."""

    text: str
    program: np.ndarray  # int64[steps, 3]
    branches: list[Bounds]


@dataclass
class _Node:
    """A piece of the syntax tree in negation normal form."""

    kind: str  # "sum", "has", "hasnt", "and", "or"
    children: list[_Node] = field(default_factory=list)
    terms: dict[tuple[int, int], int] = field(default_factory=dict)  # (seat, quantity) → factor: Σ relation constant
    relation: str = ""
    constant: int = 0
    seat: int = 0
    cards: int = 0


_OPPOSITE = {"<=": ">", ">": "<=", "=": "!=", "!=": "="}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?![\w-]))|(?P<shape>[0-9xX][\w-]*)|(?P<word>[A-Za-z♠♥♦♣][\w♠♥♦♣]*)|(?P<sign><=|>=|==|!=|[<>=+\-().,]))"
)


class _Parser:
    """Recursive descent over tokens that remember their place."""

    def __init__(self, text: str, seats: str) -> None:
        self.text, self.seats = text, seats
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                place += len(text[place:]) - len(text[place:].lstrip())
                self.fail(f"unexpected {text[place]!r}", place)
            self.tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            place = match.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    def fail(self, what: str, place: int | None = None) -> NoReturn:
        """Raise an error that points at the character."""
        place = self.tokens[self.at][2] if place is None else place
        raise BadInput(f"condition: {what} at character {place + 1}\n  {self.text}\n  {' ' * place}^")

    def peek(self) -> str:
        return self.tokens[self.at][1]

    def take(self, *words: str) -> str | None:
        """Take the next token if it is one of some words."""
        word = self.tokens[self.at][1]
        if self.tokens[self.at][0] != "end" and word.lower() in words:
            self.at += 1
            return word.lower()
        return None

    def condition(self) -> _Node:
        nodes = [self.conjunction()]
        while self.take("or"):
            nodes.append(self.conjunction())
        return nodes[0] if len(nodes) == 1 else _Node("or", nodes)

    def conjunction(self) -> _Node:
        nodes = [self.negation()]
        while self.take("and"):
            nodes.append(self.negation())
        return nodes[0] if len(nodes) == 1 else _Node("and", nodes)

    def negation(self) -> _Node:
        if self.take("not"):
            return _negated(self.negation())
        if self.take("("):
            node = self.condition()
            if not self.take(")"):
                self.fail("')' is missing")
            return node
        return self.test()

    def seat(self) -> int:
        kind, word, _ = self.tokens[self.at]
        if kind != "word" or word.upper() not in self.seats or len(word) != 1:
            self.fail(f"{word or 'the end'!r} is no seat; accepted: {' '.join(self.seats)}")
        self.at += 1
        return self.seats.index(word.upper())

    def test(self) -> _Node:
        if self.tokens[self.at][0] == "word":
            start = self.at
            seat = self.seat()
            if self.take("has"):
                return self.has(seat)
            if self.peek() == "." and self.tokens[self.at + 1][1].lower() == "shape":
                self.at += 2
                return self.shape(seat)
            self.at = start
        left = self.sum()
        tests = []
        while True:
            place = self.tokens[self.at][2]
            relation = self.take("<", "<=", "=", "==", "!=", ">=", ">")
            if relation is None:
                break
            right = self.sum()
            tests.append(_comparison(left, relation, right))
            if not tests[-1].terms and len(tests) == 1 and not (left[0] or right[0]):
                self.fail("a comparison without a seat's length or points", place)
            left = right
        if not tests:
            self.fail("a relation is missing; accepted: < <= = != >= >, 'has', or .shape = …")
        return tests[0] if len(tests) == 1 else _Node("and", tests)

    def sum(self) -> tuple[dict[tuple[int, int], int], int]:
        terms: dict[tuple[int, int], int] = {}
        constant = 0
        sign = -1 if self.take("-") else 1
        while True:
            kind, word, _ = self.tokens[self.at]
            if kind in ("number", "shape") and word.isdigit():
                if len(word) > 4 or int(word) > 1000:
                    self.fail(f"number {word} is out of range; accepted: up to 1000")
                self.at += 1
                constant += sign * int(word)
            elif kind == "word":
                key = (self.seat(), self.quantity())
                terms[key] = terms.get(key, 0) + sign
            else:
                self.fail(f"a number or a seat's length or points must stand before {word or 'the end'!r}; accepted: 8, N.spades …")
            operator = self.take("+", "-")
            if operator is None:
                return terms, constant
            sign = 1 if operator == "+" else -1

    def quantity(self) -> int:
        if not self.take("."):
            self.fail("'.' is missing after the seat; accepted: .hcp .spades .hearts .diamonds .clubs .shape, or 'has'")
        word = self.peek().lower()
        names = (*SUIT_NAMES, "hcp")
        if word not in names:
            self.fail(f"{word!r} is unknown; accepted: hcp, {', '.join(SUIT_NAMES)}, shape")
        self.at += 1
        return names.index(word)

    def has(self, seat: int) -> _Node:
        cards = 0
        bracket = self.take("(")
        while True:
            kind, word, _ = self.tokens[self.at]
            if kind not in ("word", "shape") or word.lower() in ("and", "or", "not"):
                break
            try:
                bit = 1 << parse_card(word)
            except NotationError:
                if cards and not bracket:
                    break
                self.fail(f"{word!r} is not a card; accepted: cards as in 'SA'")
            cards |= bit
            self.at += 1
            self.take(",")
        if not cards:
            self.fail("a card is missing; accepted: cards as in 'SA'")
        if bracket and not self.take(")"):
            self.fail("')' is missing")
        return _Node("has", seat=seat, cards=cards)

    def shape(self, seat: int) -> _Node:
        relation = self.take("=", "==", "!=")
        if relation is None:
            self.fail("a relation is missing; accepted: = or !=")
        shapes = [self.one_shape(seat)]
        while self.take(","):
            shapes.append(self.one_shape(seat))
        node = shapes[0] if len(shapes) == 1 else _Node("or", shapes)
        return _negated(node) if relation == "!=" else node

    def one_shape(self, seat: int) -> _Node:
        kind, word, place = self.tokens[self.at]
        if kind not in ("number", "shape"):
            self.fail("a shape is missing; accepted: 5332 (any order) or 5-3-3-2 (spades-hearts-diamonds-clubs), x for any length")
        parts = word.lower().split("-") if "-" in word else list(word.lower())
        if len(parts) != 4 or not all(part == "x" or (part.isdigit() and int(part) <= 13) for part in parts):
            self.fail(f"{word!r} is no shape; accepted: four lengths, as in 5332 or 5-3-3-2, x for any length")
        lengths = [None if part == "x" else int(part) for part in parts]
        known = sum(n for n in lengths if n is not None)
        if known > 13 or (None not in lengths and known != 13):
            self.fail(f"shape {word!r} has {known} cards; accepted: 13", place)
        self.at += 1
        orders = [tuple(lengths)] if "-" in word else sorted(set(permutations(lengths)), key=str)
        nodes = []
        for order in orders:
            tests = [_Node("sum", terms={(seat, 3 - i): 1}, relation="=", constant=n) for i, n in enumerate(order) if n is not None]
            if not tests:  # xxxx: any hand
                tests = [_Node("sum", relation="<=")]
            nodes.append(tests[0] if len(tests) == 1 else _Node("and", tests))
        return nodes[0] if len(nodes) == 1 else _Node("or", nodes)


def _comparison(
    left: tuple[dict[tuple[int, int], int], int], relation: str, right: tuple[dict[tuple[int, int], int], int]
) -> _Node:
    """Return left relation right as Σ terms {<=, >, =, !=} constant."""
    terms = dict(left[0])
    for key, factor in right[0].items():
        terms[key] = terms.get(key, 0) - factor
    terms = {key: factor for key, factor in terms.items() if factor}
    constant = right[1] - left[1]
    if relation in ("<", ">="):  # whole numbers: a < b is a <= b - 1
        constant -= 1
        relation = {"<": "<=", ">=": ">"}[relation]
    return _Node("sum", terms=terms, relation="=" if relation == "==" else relation, constant=constant)


def _negated(node: _Node) -> _Node:
    """Push a negation inwards."""
    if node.kind in ("and", "or"):
        return _Node("or" if node.kind == "and" else "and", [_negated(child) for child in node.children])
    if node.kind == "sum":
        return _Node("sum", terms=node.terms, relation=_OPPOSITE[node.relation], constant=node.constant)
    return _Node("hasnt" if node.kind == "has" else "has", seat=node.seat, cards=node.cards)


def _bounds(node: _Node, seats: int) -> Bounds:
    """Return what a node implies."""
    bounds = Bounds.free(seats)
    if node.kind in ("and", "or"):
        parts = [_bounds(child, seats) for child in node.children]
        bounds = parts[0]
        for part in parts[1:]:
            bounds = bounds.both(part) if node.kind == "and" else bounds.either(part)
    elif node.kind == "has":
        bounds.held[node.seat] = node.cards
    elif node.kind == "hasnt":
        bounds.without[node.seat].add(node.cards)
    elif len(node.terms) == 1:
        ((seat, quantity), factor), *_ = node.terms.items()
        values = [v for v in range(_MOST[quantity] + 1) if _compare(factor * v, node.relation, node.constant)]
        masks = bounds.values.copy()
        masks[seat, quantity] = sum(1 << v for v in values)
        bounds = Bounds(masks, bounds.held, bounds.without)
    elif not _within_reach(node):
        bounds = Bounds(np.zeros_like(bounds.values), bounds.held, bounds.without)
    return bounds


def _within_reach(node: _Node) -> bool:
    """Tell whether a sum can satisfy its relation, each quantity being free."""
    lowest = sum(min(factor * _MOST[quantity], 0) for (_, quantity), factor in node.terms.items())
    highest = sum(max(factor * _MOST[quantity], 0) for (_, quantity), factor in node.terms.items())
    if node.relation == "!=":
        return lowest != highest or lowest != node.constant
    return {"<=": lowest <= node.constant, ">": highest > node.constant, "=": lowest <= node.constant <= highest}[node.relation]


def _branches(node: _Node, seats: int) -> list[Bounds]:
    """Return the bounds of a node's alternatives; where there would be too many, the bounds they have in common."""
    if node.kind == "or":
        found = [bounds for child in node.children for bounds in _branches(child, seats)]
    elif node.kind == "and":
        found = [Bounds.free(seats)]
        for child in node.children:
            ways = _branches(child, seats)
            if len(found) * len(ways) > MAX_BRANCHES:
                ways = [_bounds(child, seats)]
            found = [a.both(b) for a in found for b in ways]
    else:
        found = [_bounds(node, seats)]
    possible = [bounds for bounds in found if not bounds.impossible]
    return possible if 0 < len(possible) <= MAX_BRANCHES else [_bounds(node, seats)]


def _compare(value: int, relation: str, constant: int) -> bool:
    return {"<=": value <= constant, ">": value > constant, "=": value == constant, "!=": value != constant}[relation]


def _compile(node: _Node, steps: list[tuple[int, int, int]]) -> None:
    """Append a node's steps: each test pushes a truth value, ``and`` and ``or`` take two."""
    if node.kind in ("and", "or"):
        for number, child in enumerate(node.children):
            _compile(child, steps)
            if number:
                steps.append((_AND if node.kind == "and" else _OR, 0, 0))
        return
    if node.kind == "sum":
        steps.append((_CLEAR, 0, 0))
        for (seat, quantity), factor in node.terms.items():
            steps.append((_ADD, seat * 5 + quantity, factor))
        code = {"<=": _TEST_LE, ">": _TEST_LE, "=": _TEST_EQ, "!=": _TEST_NE}[node.relation]
        steps.append((code, node.constant, 0))
        if node.relation == ">":
            steps.append((_NOT, 0, 0))
        return
    steps.append((_HAS, node.seat, node.cards))
    if node.kind == "hasnt":
        steps.append((_NOT, 0, 0))


def parse_condition(text: str, seats: Sequence[str]) -> Condition:
    """Read a condition.

    Args:
        seats: the game's seats, ``NESW`` or ``NS``.

    Raises:
        BadInput: pointing at the character.
    """
    parser = _Parser(text, "".join(seats))
    if len(parser.tokens) == 1:
        parser.fail("it is empty; accepted: a condition like 'N.hcp >= 15'", 0)
    if len(parser.tokens) > 2000:
        parser.fail("too long; accepted: up to 2000 words", 0)
    try:
        node = parser.condition()
        if parser.tokens[parser.at][0] != "end":
            parser.fail(f"unexpected {parser.peek()!r}; accepted: and, or, or the end")
        steps: list[tuple[int, int, int]] = []
        _compile(node, steps)
        branches = _branches(node, len(seats))
    except RecursionError:
        parser.fail("nested too deeply", 0)
    program = np.array(steps, dtype=np.int64).reshape(-1, 3)
    if _depth(program) > 60:
        parser.fail("nested too deeply", 0)
    return Condition(text, program, branches)


def _depth(program: np.ndarray) -> int:
    """Return the deepest the stack of truth values gets."""
    depth = most = 0
    for code in program[:, 0]:
        depth += {_TEST_LE: 1, _TEST_EQ: 1, _TEST_NE: 1, _HAS: 1, _AND: -1, _OR: -1}.get(int(code), 0)
        most = max(most, depth)
    return most


@njit
def quantity_of(hand: Any, quantity: I64) -> I64:
    """Return a suit's length (0 … 3) or the high-card points (4) of a hand."""
    if quantity < HCP:
        return popcount(hand & (_LANE << np.uint64(16 * quantity)))
    points = np.int64(0)
    for i in range(4):
        points += (i + 1) * popcount(hand & HCP_MASKS[i])
    return points


@njit
def holds(program: Any, hands: Any) -> Any:
    """Tell whether a deal (uint64[seats]) satisfies a program; the stack of truth values is a word."""
    stack = ZERO
    total = np.int64(0)
    for i in range(len(program)):
        code = program[i, 0]
        a = program[i, 1]
        b = program[i, 2]
        if code == _ADD:
            total += b * quantity_of(hands[a // 5], a % 5)
        elif code == _CLEAR:
            total = np.int64(0)
        elif code == _AND:
            stack = (stack >> ONE) & (stack | ~ONE)
        elif code == _OR:
            stack = (stack >> ONE) | (stack & ONE)
        elif code == _NOT:
            stack ^= ONE
        else:
            if code == _TEST_LE:
                truth = total <= a
            elif code == _TEST_EQ:
                truth = total == a
            elif code == _TEST_NE:
                truth = total != a
            else:
                cards = np.uint64(b)
                truth = hands[a] & cards == cards
            stack = (stack << ONE) | np.uint64(truth)
    return stack & ONE == ONE
