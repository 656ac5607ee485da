"""The exact four-hand solver: against the oracle table, against exhaustive search, against its own symmetries."""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import naive
import numpy as np
import plain_solver
import pytest

from simcore.cards import ALL_CARDS, format_card, parse_card, parse_hand
from simcore.errors import SimcoreError
from simcore.rules import Contract, load_ruleset
from simcore.solvers import GaveUp, Solver, bound_deals, solve_deals, solve_position

ORACLE = Path(__file__).parent.parent / "data" / "dd_table_200.csv"
SEATS = "NESW"
STRAINS = {"C": "clubs-tricks", "D": "diamonds-tricks", "H": "hearts-tricks", "S": "spades-tricks", "NT": "nt-tricks"}
SHIPPED = [c for name in ("elections", "elections-joint", "variety", "tricks") for c in load_ruleset(name).contracts]
#: Plies entered for the first ten deals of the oracle, all 20 results; a change of the search changes it (say so in the commit).
SIGNATURE = 14_292_365
#: The same for endings of nine cards, every contract of two rulesets.
POINTS_SIGNATURE = 2_811_507


def oracle(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Deals uint64[n, 4] and declarers' tricks int[n, 5 strains, 4 declarers]."""
    with ORACLE.open(newline="") as file:
        rows = list(csv.DictReader(file))[first:last]
    deals = np.array([[parse_hand(hand) for hand in row["pbn"][2:].split()] for row in rows], np.uint64)
    tricks = np.array([[[int(row[f"{seat}_{strain}"]) for seat in SEATS] for strain in STRAINS] for row in rows])
    return deals, tricks


def solved(deals: np.ndarray, solver: Solver | None = None, contracts: list[str] | None = None) -> np.ndarray:
    names = list(STRAINS.values()) if contracts is None else contracts
    margins = solve_deals(deals, load_ruleset("tricks"), contracts=names, solver=solver)
    return (margins[:, :, 0, :] + 13) // 2


def words(mask: int) -> list[str]:
    return [format_card(card) for card in ALL_CARDS if mask >> card & 1]


def naive_terms(contract: Contract) -> dict[str, Any]:
    return naive.terms(
        None if contract.trump is None else "CDHS"[contract.trump],
        contract.low,
        contract.trick,
        contract.most_tricks,
        suits={"CDHS"[suit]: points for suit, points in enumerate(contract.suits)},
        cards={format_card(card): points for card, points in contract.cards.items()},
    )


def made_up(rng: random.Random) -> Contract:
    """A contract nobody ships: any mixture of the schema's payoffs."""
    suits = tuple(rng.choice([0, 0, 1, -2, 3]) if rng.random() < 0.6 else 0 for _ in range(4))
    amounts = [-5, 2, 7, 1] if rng.random() < 0.6 else [rng.choice([-5, 2])]  # of one amount: any card of its suit may be special
    cards = {rng.choice(ALL_CARDS): rng.choice(amounts) for _ in range(rng.choice([0, 0, 1, 3, 8, 24]))}
    return Contract(
        "made-up",
        "made-up",
        rng.choice([None, 0, 1, 2, 3]),
        rng.random() < 0.5,
        rng.choice([0, 0, 1, -1, 2, -3]),
        rng.choice([0, 0, 5, -4, 3]),
        (suits[0], suits[1], suits[2], suits[3]),
        MappingProxyType(cards),
    )


class Ending:
    """A random ending with a random contract, pairing, declarer, leader, cards on the table and past."""

    def __init__(self, rng: random.Random, size: int, on_table: int) -> None:
        kind = rng.random()
        pool = list(ALL_CARDS)
        if kind < 0.4:  # dense at the top
            pool = [card for card in pool if card & 15 >= 13 - size - 2]
        elif kind < 0.6:  # dense in the middle, where tens and jacks are
            pool = [card for card in pool if 6 <= card & 15 < min(13, 6 + size + 2)]
        cards = rng.sample(pool if len(pool) >= 4 * size else ALL_CARDS, 4 * size)
        self.hands = [sum(1 << card for card in cards[size * n : size * n + size]) for n in range(4)]
        self.contract = rng.choice(SHIPPED) if rng.random() < 0.5 else made_up(rng)
        self.plain = rng.random() < 0.5
        self.pairing, self.declarer, self.leader = rng.choice([1, 2, 3]), rng.randrange(4), rng.randrange(4)
        self.table: list[int] = []
        for n in range(on_table):
            seat = (self.leader + n) & 3
            held = [card for card in ALL_CARDS if self.hands[seat] >> card & 1]
            card = rng.choice([card for card in held if self.table and card >> 4 == self.table[0] >> 4] or held)
            self.table.append(card)
            self.hands[seat] ^= 1 << card
        won = rng.randrange(14 - size)
        self.tricks = (0, 0) if rng.random() < 0.3 else (won, rng.randrange(14 - size - won))
        self.points = (rng.randrange(-5, 9), rng.randrange(-3, 5))

    def solve(self, **wanted: Any) -> Any:
        return solve_position(
            self.hands,
            self.contract,
            pairing=self.pairing,
            declarer=self.declarer,
            leader=self.leader,
            table=self.table,
            low_plain=self.plain,
            tricks=self.tricks,
            points=self.points,
            **wanted,
        )

    @property
    def attackers(self) -> int:
        return 1 << self.declarer | 1 << (self.declarer ^ self.pairing)

    def exhaustive(self) -> int:
        terms = naive_terms(self.contract)
        margin = plain_solver.exhaustive(self.hands, terms, self.attackers, self.leader, self.table, *self.tricks, plain=self.plain)
        return margin + self.points[0] - self.points[1]

    def by_position(self) -> int:
        terms = naive_terms(self.contract)
        margin = plain_solver.by_position(self.hands, terms, self.attackers, self.leader, *self.tricks, plain=self.plain)
        return margin + self.points[0] - self.points[1]

    def naive(self, extra: int | None = None) -> int:
        hands = {seat: words(hand) for seat, hand in zip(SEATS, self.hands, strict=True)}
        table = [(SEATS[(self.leader + n) & 3], format_card(card)) for n, card in enumerate(self.table)]
        if extra is not None:
            seat = SEATS[(self.leader + len(table)) & 3]
            hands[seat].remove(format_card(extra))
            table.append((seat, format_card(extra)))
        return naive.minimax_elections(
            hands,
            naive_terms(self.contract),
            [SEATS[self.declarer], SEATS[self.declarer ^ self.pairing]],
            SEATS[self.leader],
            table,
            low_trump="plain" if self.plain else "beats",
            tricks_won=self.tricks,
            points=self.points,
        )


@pytest.mark.parametrize("part", range(2))
def test_oracle(part: int) -> None:
    """All 200 deals, 20 results each."""
    deals, tricks = oracle(100 * part, 100 * part + 100)
    assert (solved(deals) == tricks).all()


def test_signature() -> None:
    deals, _ = oracle(0, 10)
    solver = Solver()
    solved(deals, solver)
    assert solver.nodes == SIGNATURE


def test_signature_of_points() -> None:
    rng = random.Random(12)
    cards = rng.sample(ALL_CARDS, 36)
    hands = np.array([[sum(1 << card for card in cards[9 * n : 9 * n + 9]) for n in range(4)]], np.uint64)
    solver = Solver()
    for name in ("elections", "elections-joint"):
        solve_deals(hands, load_ruleset(name), pairings=[2, 3], declarers=[0, 1], solver=solver)
    assert solver.nodes == POINTS_SIGNATURE


@pytest.mark.parametrize("seed", range(4))
def test_endings_against_exhaustive_search(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(500):
        ending = Ending(rng, rng.choice([1, 2, 2, 3, 3, 3, 4]), rng.choice([0, 1, 2, 3]))
        solution = ending.solve()
        assert solution.margin == ending.naive(), vars(ending)
        assert solution.attackers - solution.defenders == solution.margin


def test_every_card_and_best_line() -> None:
    rng = random.Random(11)
    for _ in range(150):
        ending = Ending(rng, rng.choice([1, 2, 3, 3]), rng.choice([0, 0, 1, 2]))
        solution = ending.solve(cards=True, line=True)
        seat = (ending.leader + len(ending.table)) & 3
        led = format_card(ending.table[0])[0] if ending.table else None
        legal = naive.legal_plays(words(ending.hands[seat]), led)
        assert {format_card(card): value for card, value in solution.cards.items()} == {
            card: ending.naive(parse_card(card)) for card in legal
        }
        best = max if SEATS[seat] in (SEATS[ending.declarer], SEATS[ending.declarer ^ ending.pairing]) else min
        assert best(solution.cards.values()) == solution.margin
        assert sorted(card for _, card in solution.line) == sorted(parse_card(c) for h in ending.hands for c in words(h))


def test_the_plain_solvers_are_right() -> None:
    rng = random.Random(12)
    for _ in range(200):
        ending = Ending(rng, rng.choice([1, 2, 3, 3]), rng.choice([0, 1, 2, 3]))
        assert ending.exhaustive() == ending.naive(), vars(ending)
        if not ending.table:
            assert ending.by_position() == ending.naive(), vars(ending)


def test_endings_of_five_against_exhaustive_search() -> None:
    rng = random.Random(5)
    for n in range(100):
        ending = Ending(rng, 5, 1 + n % 3)
        assert ending.solve().margin == ending.exhaustive(), vars(ending)


@pytest.mark.long
def test_endings_of_six_against_exhaustive_search() -> None:
    rng = random.Random(6)
    for n in range(10):
        ending = Ending(rng, 6, 2 + n % 2)
        assert ending.solve().margin == ending.exhaustive(), vars(ending)


def compare_with_exact_positions(rng: random.Random, size: int, count: int) -> None:
    """Every shipped contract in turn, and made-up ones."""
    for n in range(count):
        ending = Ending(rng, size, 0)
        if n % 2:
            ending.contract = SHIPPED[n // 2 % len(SHIPPED)]
        assert ending.solve().margin == ending.by_position(), vars(ending)


@pytest.mark.parametrize(("size", "count"), [(6, 120), (7, 80), (8, 30)])
def test_longer_endings_against_exact_positions(size: int, count: int) -> None:
    compare_with_exact_positions(random.Random(f"exact {size}"), size, count)


@pytest.mark.long
@pytest.mark.parametrize(("size", "count"), [(8, 100), (9, 40), (10, 4)])
def test_still_longer_endings_against_exact_positions(size: int, count: int) -> None:
    compare_with_exact_positions(random.Random(f"long {size}"), size, count)


def compare_full_deals_with_exact_positions(contract: str, numbers: list[int]) -> None:
    deals, _ = oracle(0, 30)
    (played,) = [c for c in SHIPPED[:8] if c.id == contract]
    for n in numbers:
        pairing, declarer = 1 + n % 3, n % 4
        attackers, leader = 1 << declarer | 1 << (declarer ^ pairing), (declarer + 1) % 4  # E12
        margin = solve_position(deals[n], played, pairing=pairing, declarer=declarer).margin
        assert margin == plain_solver.by_position(deals[n], naive_terms(played), attackers, leader, bits=22), (contract, n)


@pytest.mark.parametrize(("contract", "numbers"), [("hearts-spades", [11, 19]), ("clubs-reds", [21, 27]), ("spades-clubs", [10])])
def test_full_deals_against_exact_positions(contract: str, numbers: list[int]) -> None:
    compare_full_deals_with_exact_positions(contract, numbers)


@pytest.mark.long
@pytest.mark.parametrize(
    ("contract", "numbers"),
    [
        ("hearts-spades", [0, 15, 17, 22, 25, 26, 28]),
        ("clubs-reds", [17, 20]),
        ("spades-clubs", [7, 16]),
        ("nt-most", [1, 2]),
        ("clubs-tricks", [1]),
    ],
)
def test_more_full_deals_against_exact_positions(contract: str, numbers: list[int]) -> None:
    compare_full_deals_with_exact_positions(contract, numbers)


def test_relabelling() -> None:
    rng = random.Random(7)
    for _ in range(40):
        ending = Ending(rng, 6, 0)
        ending.tricks, ending.points = (0, 0), (0, 0)
        margin = ending.solve().margin
        turn = rng.randrange(1, 4)
        ending.hands = [ending.hands[(seat - turn) & 3] for seat in range(4)]
        partner = (ending.declarer ^ ending.pairing) + turn & 3
        ending.declarer, ending.leader = ending.declarer + turn & 3, ending.leader + turn & 3
        ending.pairing = ending.declarer ^ partner
        assert ending.solve().margin == margin
        order = rng.sample(range(4), 4)
        c = ending.contract

        def moved(card: int, order: list[int] = order) -> int:
            return 16 * order[card >> 4] + (card & 15)

        ending.hands = [sum(1 << moved(card) for card in ALL_CARDS if hand >> card & 1) for hand in ending.hands]
        suits = [0, 0, 0, 0]
        for suit in range(4):
            suits[order[suit]] = c.suits[suit]
        ending.contract = Contract(
            c.id,
            c.type,
            None if c.trump is None else order[c.trump],
            c.low,
            c.trick,
            c.most_tricks,
            (suits[0], suits[1], suits[2], suits[3]),
            MappingProxyType({moved(card): points for card, points in c.cards.items()}),
        )
        assert ending.solve().margin == margin


def test_order_and_threads_change_nothing() -> None:
    deals, tricks = oracle(30, 36)
    names = list(STRAINS.values())
    solver = Solver()
    forward = solved(deals, solver, names)
    backward = solved(deals[::-1], solver, names[::-1])[::-1, ::-1]
    assert (forward == tricks).all()
    assert (backward == tricks).all()
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(solved, [deals[:3], deals[3:]]))
    assert (np.concatenate(halves) == tricks).all()


SCRIPT = """
from simcore.rules import load_ruleset
from simcore.solvers import Solver, solve_deals
import numpy as np
solver = Solver(megabytes=8)
hands = np.array({hands}, np.uint64)
for name in ("elections", "elections-joint"):
    print(solve_deals(hands, load_ruleset(name), pairings=[1, 2], solver=solver).ravel().tolist())
print(solver.nodes)
"""


def test_two_processes_and_plain_python_agree() -> None:
    cards = random.Random(8).sample(ALL_CARDS, 12)
    script = SCRIPT.format(hands=[[sum(1 << card for card in cards[3 * n : 3 * n + 3]) for n in range(4)]])
    answers = {
        subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout
        for env in (dict(os.environ), dict(os.environ), {**os.environ, "NUMBA_DISABLE_JIT": "1"})
    }
    assert len(answers) == 1


def test_order_and_threads_change_no_points() -> None:
    rng = random.Random(9)
    packs = [rng.sample(ALL_CARDS, 28) for _ in range(4)]
    hands = np.array([[sum(1 << card for card in pack[7 * n : 7 * n + 7]) for n in range(4)] for pack in packs], np.uint64)
    rules = load_ruleset("elections-joint")

    def margins(deals: np.ndarray) -> np.ndarray:
        return solve_deals(deals, rules, pairings=[1, 2, 3])

    forward = margins(hands)
    assert (margins(hands) == forward).all()
    assert (margins(hands[::-1])[::-1] == forward).all()
    with ThreadPoolExecutor(2) as pool:
        assert (np.concatenate(list(pool.map(margins, [hands[:2], hands[2:]]))) == forward).all()


def test_a_small_table_forgets_and_stays_right() -> None:
    deals, tricks = oracle(10, 13)
    solver = Solver(megabytes=1)
    assert (solved(deals, solver) == tricks).all()
    assert solver.memory["forgotten"] > 0


@pytest.mark.parametrize("name", ["spades-joint", "nt-joint"])
def test_a_full_table_keeps_what_took_effort_and_stays_right(name: str) -> None:
    rng = random.Random(3)
    contract = load_ruleset("elections-joint").contract(name)
    small, roomy = Solver(megabytes=1), Solver()
    for _ in range(3):
        cards = rng.sample(ALL_CARDS, 36)
        hands = [sum(1 << card for card in cards[9 * n : 9 * n + 9]) for n in range(4)]
        for pairing in (1, 2, 3):
            margins = [solve_position(hands, contract, pairing=pairing, solver=solver).margin for solver in (small, roomy)]
            assert margins[0] == margins[1]
    assert small.memory["forgotten"] > 0
    assert small.memory["bytes"] < 8 << 20  # table bound and the fixed state
    assert roomy.memory["forgotten"] == 0


@pytest.mark.parametrize("name", ["nt-joint", "spades-joint", "clubs-joint", "nt-most", "clubs-tricks"])
def test_a_search_that_gives_up_knows_bounds(name: str) -> None:
    """The bounds hold the value, close in as more plies are allowed, and are the same each time."""
    rng = random.Random(f"give up {name}")
    rules = load_ruleset("elections-joint" if name.endswith("joint") else "elections")
    decided = 0
    for cards in (9, 10):
        pack = rng.sample(ALL_CARDS, 4 * cards)
        hands = np.array([[sum(1 << card for card in pack[cards * n : cards * (n + 1)]) for n in range(4)]], np.uint64)
        for pairing in (1, 2, 3):
            (exact,) = solve_deals(hands, rules, contracts=[name], pairings=[pairing], declarers=[1]).ravel()
            before = (-1000, 1000)
            for plies in (1, 100, 1_000, 10_000, 100_000, 10_000_000):
                solver = Solver(max_plies=plies)
                bounds = bound_deals(hands, rules, contracts=[name], pairings=[pairing], declarers=[1], solver=solver)
                least, most = bounds.ravel().tolist()
                assert before[0] <= least <= exact <= most <= before[1]
                assert solver.nodes <= plies + 10  # every question asks for one more
                if least < most:
                    with pytest.raises(GaveUp, match=f"lie between {least} and {most}"):
                        solver.position(hands[0], rules.contract(name), pairing=pairing, declarer=1)
                    with pytest.raises(GaveUp, match=f"lie between {least} and {most}"):
                        solve_deals(hands, rules, contracts=[name], pairings=[pairing], declarers=[1], solver=solver)
                elif cards % 2:  # else a bonus needs a line of play to tell ties
                    assert solver.position(hands[0], rules.contract(name), pairing=pairing, declarer=1).margin == exact
                before = (least, most)
            decided += before[0] == before[1]
    assert decided == 6


@pytest.mark.parametrize(("trick", "most"), [(1, 5), (-2, 12), (3, -4), (0, 6)])
def test_a_table_serves_before_and_after_a_bonus_is_decided(trick: int, most: int) -> None:
    """Along a line and back with one table, which holds what was found while the bonus was open and after: the same values."""
    rng = random.Random(f"bonus {trick} {most}")
    for cards in (6, 7, 8):
        for trump in (None, 2):
            contract = Contract("own", "own", trump, False, trick, most)
            pack = rng.sample(ALL_CARDS, 4 * cards)
            hands = [sum(1 << card for card in pack[cards * n : cards * (n + 1)]) for n in range(4)]
            line = Solver().position(hands, contract, line=True).line
            positions = []
            leader, table, tricks = 1, [], [0, 0]
            for seat, card in line:
                positions.append({"hands": hands, "leader": leader, "table": tuple(table), "tricks": tuple(tricks)})
                hands = [hand & ~(1 << card) for hand in hands]
                table.append(card)
                if len(table) == 4:
                    suit = trump if trump is not None and any(card >> 4 == trump for card in table) else table[0] >> 4
                    leader = (leader + table.index(max(card for card in table if card >> 4 == suit))) & 3
                    tricks[leader & 1] += 1
                    table = []
                assert seat == (positions[-1]["leader"] + len(positions[-1]["table"])) & 3
            fresh = [Solver(megabytes=1).position(contract=contract, **position).margin for position in positions]
            solver = Solver(megabytes=8)
            for order in (1, -1):
                margins = [
                    solver.position(contract=contract, keep=n > 0, cards=True, **position).margin
                    for n, position in enumerate(positions[::order])
                ]
                assert margins == fresh[::order]


@pytest.mark.parametrize("limit", [0, -5, True, 1.5, "7", (1 << 62) + 1])
def test_limits_that_are_none(limit: Any) -> None:
    with pytest.raises(SimcoreError, match="accepted: a whole number from 1 to 4611686018427387904, or None"):
        Solver(max_plies=limit)


def test_tricks_follow_where_the_value_tells_them() -> None:
    deals, tricks = oracle(0, 1)
    rules = load_ruleset("elections")
    solution = solve_position(deals[0], rules.contract("clubs-tricks"))
    assert solution.attackers_tricks == tricks[0, 0, 0]
    assert solution.attackers == 2 * solution.attackers_tricks
    assert solution.attackers + solution.defenders == 26
    most = solve_position(deals[0], rules.contract("nt-most"))
    assert most.attackers_tricks is None
    assert (most.attackers, most.defenders) == ((12, 0) if tricks[0, 4, 0] >= 7 else (0, 12))


@pytest.mark.parametrize(
    ("hands", "wanted", "message"),
    [
        ([1, 1, 2, 4], {}, "overlap"),
        ([1, 2, 4, 24], {}, "uneven"),
        ([1, 2, 4], {}, "3 hands"),
        ([1, 2, 4, 1 << 13], {}, "no cards"),
        ([1, 2, 4, 8], {"pairing": 4}, "pairing"),
        ([1, 2, 4, 8], {"declarer": "X"}, "declarer"),
        ([1, 2, 4, 8], {"table": [16]}, "uneven"),
        ([1, 0, 4, 8], {"leader": 1, "table": [3]}, "held"),
        ([1, 6, 24, 0], {}, "uneven"),
        ([0, 3, 12, 48], {"leader": 0, "table": [0]}, "held"),
        ([1, 2, 4, 8], {"tricks": (9, 9)}, "tricks"),
    ],
)
def test_bad_positions_are_named(hands: list[int], wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(SimcoreError, match=message):
        solve_position(hands, SHIPPED[0], **wanted)
