"""Perft: the numbers of legal lines in data/perft.csv, counted by the kernels and by the naive engine.

A row is a position (ruleset, hands, what else was fixed before the first action, and the actions taken since) with the number of
legal lines of ``depth`` actions from there.  ``--regen`` chooses positions anew and writes what the naive engine counts.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simcore.cards import SEATS, format_hand, parse_card
from simcore.elections import engine as elections_engine
from simcore.elections import perft as elections_perft
from simcore.elections import state as elections_state
from simcore.rules import SHIPPED, TRUMPS, load_ruleset
from simcore.showcase import engine as showcase_engine
from simcore.showcase import perft as showcase_perft
from simcore.showcase import play as showcase_play
from simcore.showcase import state as showcase_state
from tests import naive

FILE = Path(__file__).parent.parent / "data" / "perft.csv"
COLUMNS = ("ruleset", "phase", "hands", "setting", "actions", "depth", "lines")
#: Rows of more lines are counted by the naive engine in `make test-long` only.
FEW = 1500

Row = dict[str, str]


def rows() -> list[Row]:
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def masks_of(row: Row) -> list[int]:
    return [sum(1 << parse_card(card) for card in naive.parse_hand(hand)) for hand in row["hands"].split()]


# ---- the position of a row, in both engines


def naive_game(row: Row) -> Any:
    rules = naive.RULESETS[row["ruleset"]]
    words = row["setting"].split()
    seats = SEATS if rules["game"] == "elections" else "NS"
    hands = {seat: naive.parse_hand(hand) for seat, hand in zip(seats, row["hands"].split(), strict=True)}
    if rules["game"] == "elections":
        dealer, mate, *forced = words
        pairs = [["N", mate], [seat for seat in "ESW" if seat != mate]]
        game: Any = naive.ElectionsGame(rules, hands, dealer, pairs, tuple(forced) if forced else None)
    else:
        dealer, turned, *reserve = words
        game = naive.ShowcaseGame(rules, hands, turned, reserve, dealer)
    for action in row["actions"].split():
        game.apply(action)
    return game


def bit_of(word: str, kind: int, game: str, ruleset: Any) -> np.uint64:
    """The kernels' bit of an action."""
    if game == "elections" and kind == elections_state.CALL:
        number = ("pass", *ruleset.type_ids).index(word)
    elif game == "elections" and kind == elections_state.CONTRACT:
        number = ruleset.contract_ids.index(word)
    elif game == "showcase" and kind == showcase_state.TRUMP:
        number = TRUMPS.index(word)
    else:
        number = parse_card(word)
    return np.uint64(1 << number)


def kernel_lines(row: Row) -> int:
    ruleset = load_ruleset(row["ruleset"])
    rules, depth, words = ruleset.record[0], int(row["depth"]), row["setting"].split()
    game = ruleset.game
    state: Any = elections_state if game == "elections" else showcase_state
    engine: Any = elections_engine if game == "elections" else showcase_engine
    tables, views = np.zeros(depth, state.TABLE).view(np.recarray), np.zeros(depth, state.VIEW).view(np.recarray)
    table, view = tables[0], views[0]
    table.hands[:] = masks_of(row)
    if game == "elections":
        engine.start_deal(table, view, SEATS.index(words[0]), SEATS.index(words[1]))
        if len(words) > 2:
            declarer, partner = SEATS.index(words[3]), SEATS.index(words[4])
            engine.force_contract(rules, table, view, ruleset.contract_ids.index(words[2]), declarer, declarer ^ partner)
    else:
        table.stock[:] = [parse_card(card) for card in words[1:]]
        showcase_play.start_deal(rules, table, view, "NS".index(words[0]))
    for word in row["actions"].split():
        kind = engine.prepare(rules, table, view)
        engine.apply(rules, table, view, kind, bit_of(word, kind, game, ruleset))
    perft: Any = elections_perft if game == "elections" else showcase_perft
    return int(perft.perft(rules, tables, views, depth))


# ---- choosing positions


def chosen() -> Iterator[tuple[Row, Any]]:
    """Positions of every kind: openings, middles, endings."""
    rng = random.Random(2026)
    for name in SHIPPED:
        rules = naive.RULESETS[name]
        if rules["game"] == "elections":
            for depth in (1, 3, 5):
                yield row_of(naive.random_deal(rules, rng), [], "auction", depth)
            for contract in rules["contracts"]:
                for played, depth in ((0, 4), (18, 5), (33, 6), (36, 16), (40, 12)):
                    declarer, partner = rng.sample(SEATS, 2)
                    game = naive.random_deal(rules, rng, (contract, declarer, partner))
                    yield row_of(game, walk(game, played, rng), "play", depth)
        else:
            for played, depth in ((0, 4), (9, 4), (21, 4), (40, 5)):
                game = naive.random_deal(rules, rng)
                if played < (26 if "follow_from" in rules["choices"] else 50):
                    yield row_of(game, walk(game, played, rng), "first", depth)
            for trump in TRUMPS:
                for played, depth in ((0, 3), (15, 4), (21, 5), (22, 4)):
                    game = naive.random_deal(rules, rng)
                    line = walk(game, 99, rng, until="naming")
                    game.apply(trump)
                    yield row_of(game, [*line, trump, *walk(game, played, rng)], "second", depth)
            game = naive.random_deal(rules, rng)
            yield row_of(game, walk(game, 99, rng, until="naming"), "naming", 2)


def walk(game: Any, actions: int, rng: random.Random, until: str = "done") -> list[str]:
    line: list[str] = []
    while len(line) < actions and game.phase != until:
        line.append(rng.choice(sorted(game.legal())))
        game.apply(line[-1])
    return line


def row_of(game: Any, actions: list[str], phase: str, depth: int) -> tuple[Row, Any]:
    hands = " ".join(naive.format_hand(hand) for hand in game.dealt.values())
    if game.rules["game"] == "elections":
        mate = next(seat for pair in game.lot_pairs if "N" in pair for seat in pair if seat != "N")
        setting = [game.dealer, mate, *(game.forced or ())]
    else:
        setting = [game.dealer, game.turned, *game.reserve]
    values = (game.rules["name"], phase, hands, " ".join(setting), " ".join(actions), str(depth))
    return dict(zip(COLUMNS, values, strict=False)), game


# ---- tests


def test_file_is_made_by_the_naive_engine(regen: bool) -> None:
    if regen:
        with FILE.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            for row, game in chosen():
                writer.writerow(row | {"lines": naive.perft(game, int(row["depth"]))})
    kinds = Counter((row["ruleset"], row["phase"]) for row in rows())
    for name in SHIPPED:
        phases = ("auction", "play") if naive.RULESETS[name]["game"] == "elections" else ("first", "naming", "second")
        assert all(kinds[name, phase] for phase in phases)
    contracts = {(row["ruleset"], row["setting"].split()[2]) for row in rows() if row["phase"] == "play"}
    elections = [name for name in SHIPPED if naive.RULESETS[name]["game"] == "elections"]
    assert contracts == {(name, contract) for name in elections for contract in load_ruleset(name).contract_ids}
    assert all(format_hand(mask) in row["hands"].split() for row in rows() for mask in masks_of(row))


def test_kernels_count_the_same_lines() -> None:
    wrong = [(row, lines) for row in rows() if (lines := kernel_lines(row)) != int(row["lines"])]
    assert wrong == []


def test_naive_engine_counts_the_same_lines() -> None:
    few = [row for row in rows() if int(row["lines"]) <= FEW]
    assert len(few) > 100
    assert [row for row in few if naive.perft(naive_game(row), int(row["depth"])) != int(row["lines"])] == []


@pytest.mark.long
def test_naive_engine_counts_the_same_lines_of_all_rows() -> None:
    assert [row for row in rows() if naive.perft(naive_game(row), int(row["depth"])) != int(row["lines"])] == []
