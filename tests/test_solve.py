"""simcore solve, the players oracle and exact, and what replayed cards cost against perfect play."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import naive
import numpy as np
import pyarrow.parquet as pq
import pytest

import simcore
from cli.main import main
from simcore.batches import solved
from simcore.batches.config import make_config
from simcore.batches.replaying import check_traces, replay_config, verify
from simcore.batches.solved import solve_table
from simcore.batches.solving import make_problem, solve, solve_rows
from simcore.cards import ALL_CARDS, format_card, parse_hand
from simcore.deals.pbn import format_deal
from simcore.elections.state import new_table, new_view
from simcore.errors import SimcoreError
from simcore.rules import TRUMPS, load_ruleset
from simcore.showcase.trace import holdings
from simcore.solvers import own_solver, solve_position, two
from simcore.specs import parse_player

ROOT = Path(__file__).parent.parent
DEAL = "N:J32.T2.J97.J9842 QT954.AQ7.QT6.65 A876.KJ654.83.Q7 K.983.AK542.AKT3"
TWO = "N:J32.T2.J97.J9842 QT954.AQ7.QT6.65"


class Call(Protocol):
    def __call__(self, *args: str, status: int = 0, stdin: str = "") -> Any: ...


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command in this process, since a new one takes seconds to load numba."""

    def call(*args: str, status: int = 0, stdin: str = "") -> Any:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(args))
        written = capsys.readouterr()
        assert stop.value.code == status, written.err
        return SimpleNamespace(stdout=written.out, stderr=written.err)

    return call


def ending(rng: random.Random, size: int, hands: int = 4) -> list[int]:
    cards = rng.sample(ALL_CARDS, hands * size)
    return [sum(1 << card for card in cards[i * size : (i + 1) * size]) for i in range(hands)]


def pbn_file(path: Path, deals: list[list[int]], seats: str = "NESW") -> Path:
    path.write_text("".join(f'[Deal "{format_deal(deal, seats=seats)}"]\n' for deal in deals))
    return path


# ------------------------------------------------------------------ rows


@pytest.mark.parametrize("name", ["elections", "elections-joint", "variety", "tricks"])
def test_rows_of_elections_are_the_solvers_values(name: str) -> None:
    rng = random.Random(3)
    rules = load_ruleset(name)
    for size in (1, 2, 3, 4):
        hands = ending(rng, size)
        rows = solve(np.array(hands, np.uint64), ruleset=rules, pairs="all", cards=True, line=True)
        assert [(r["contract"], r["pairs"], r["declarer"]) for r in rows] == [
            (c, p, s) for c in rules.contract_ids for p in ("NS", "NE", "NW") for s in "NESW"
        ]
        for row in rng.sample(rows, 12):
            expected = solve_position(
                hands, rules.contract(row["contract"]), pairing=row["pairs"], declarer=row["declarer"], cards=True
            )
            assert row["leader"] == "NESW"[("NESW".index(row["declarer"]) + 1) % 4]
            assert (row["attackers"], row["defenders"]) == (expected.attackers, expected.defenders)
            assert row["attackers_tricks"] == expected.attackers_tricks
            assert row["cards"] == {format_card(card): value for card, value in expected.cards.items()}
            assert len(row["line"]) == 4 * size


def test_whole_deals_are_solved_as_single_positions() -> None:
    rules = load_ruleset("elections")
    masks = simcore.Deal.parse(DEAL).masks
    rows = solve(DEAL, pairs="NE", contract="clubs-tricks") + solve(masks, contract="nt-most") + solve(DEAL, contract="clubs-reds")
    for row in rows:
        one = solve_position(masks, rules.contract(row["contract"]), pairing=row["pairs"], declarer=row["declarer"])
        assert (row["attackers"], row["defenders"], row["attackers_tricks"]) == (one.attackers, one.defenders, one.attackers_tricks)
    assert rows[0]["attackers_tricks"] == rows[0]["attackers"] // 2
    assert rows[4]["attackers_tricks"] is None


def test_leader_and_table() -> None:
    hands = "N:AK... QJ... T9... 87..."
    (row,) = solve(hands, contract="nt-fewest", leader="N")
    assert (row["declarer"], row["leader"], row["attackers"], row["defenders"]) == ("W", "N", 0, -4)
    rows = solve("N:K... QJ... T9... 87...", contract="nt-fewest", leader="N", table="SA", declarer="all", cards=True)
    assert [row["declarer"] for row in rows] == list("NESW")
    assert {row["leader"] for row in rows} == {"N"}
    assert rows[0]["cards"] == {"SQ": -4, "SJ": -4}
    dealer_leads = load_ruleset("elections").with_choices(lead="left-of-dealer")
    assert len(solve(hands, contract="nt-fewest", leader="N", ruleset=dealer_leads)) == 4
    with pytest.raises(SimcoreError, match="leader is not given, and by ruleset 'elections' the player left of the dealer leads"):
        solve(hands, ruleset=dealer_leads)


def test_rows_of_showcase_are_the_solvers_values() -> None:
    rng = random.Random(4)
    for reading in ("ruff", "rank"):
        rules = load_ruleset("showcase").with_choices(all_trump=reading)
        for sizes in ((4, 4), (5, 3), (2, 7)):
            cards = rng.sample(ALL_CARDS, sum(sizes))
            north, south = (sum(1 << card for card in part) for part in (cards[: sizes[0]], cards[sizes[0] :]))
            rows = solve([north, south], ruleset=rules, cards=True, line=True)
            assert [(row["trump"], row["leader"]) for row in rows] == [(trump, leader) for trump in TRUMPS for leader in "NS"]
            for row in rows:
                assert row["points"]["N"] == two.value(north, south, row["trump"], row["leader"], all_trump=reading)
                assert sum(row["points"].values()) == min(sizes)
                assert max(row["cards"].values()) == row["points"][row["leader"]]
                assert len(row["line"]) == 2 * min(sizes)
    (row,) = solve("S:AQ... KJ...", trump="spades", leader="S", tricks=1)
    assert row["points"] == {"N": 0, "S": 1}
    (row,) = solve("N:Q... KJ...", trump="spades", leader="N", table="SA", cards=True)
    assert row["points"] == {"N": 1, "S": 1}
    assert row["cards"] == {"SK": 0, "SJ": 1}


def test_user_made_rules(run: Call, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    text = (
        load_ruleset("elections").text.replace('name = "elections"', 'name = "mine"').replace("most_tricks = 12", "most_tricks = 7")
    )
    mine.write_text(text)
    done = run("solve", "elections", "--deal", "N:AK3... QJ2... T98... 765...", "--ruleset", str(mine), "--contract", "nt-most",
               "--format", "jsonl", "--quiet")  # fmt: skip
    assert [(row["attackers"], row["defenders"]) for row in map(json.loads, done.stdout.splitlines())] == [(7, 0), (0, 7)] * 2


# ------------------------------------------------------------------ the command


def test_formats_of_elections(run: Call) -> None:
    args = [
        "solve",
        "elections",
        "--deal",
        "N:AK... QJ... T9... 87...",
        "--contract",
        "clubs-tricks",
        "--cards",
        "--line",
        "--quiet",
    ]
    rows = [json.loads(line) for line in run(*args, "--format", "jsonl").stdout.splitlines()]
    assert rows[0] == {
        "deal": 0, "contract": "clubs-tricks", "pairs": "NS", "declarer": "N", "leader": "E", "attackers": 4, "defenders": 0,
        "attackers_tricks": 2, "cards": {"SQ": 4, "SJ": 4}, "line": rows[0]["line"],
    }  # fmt: skip
    assert json.loads(run(*args, "--format", "json").stdout) == rows
    table = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))
    assert [row["attackers"] for row in table] == [str(row["attackers"]) for row in rows]
    assert table[0]["cards"] == "SQ:4 SJ:4"
    assert table[0]["line"].split() == rows[0]["line"]
    text = run(*args).stdout
    assert "4 : 0 (2)" in text
    assert "clubs-tricks, NS, by N, E leads: cards\n  SQ +4  SJ +4\n" in text


def test_values_that_are_given_up(run: Call, tmp_path: Path) -> None:
    """Status 3, no values, and what the margin lies between; the other rows as ever."""
    args = ["solve", "elections", "--deal", DEAL, "--contract", "nt-fewest", "--declarer", "S", "--max-plies", "20000"]
    (row,) = solve(DEAL, contract="nt-fewest", declarer="S")
    done = run(*args, "--format", "jsonl", status=3)
    given_up = json.loads(done.stdout)
    assert given_up["attackers"] is given_up["defenders"] is given_up["attackers_tricks"] is None
    least, most = given_up["margin_least"], given_up["margin_most"]
    assert least < most
    assert least <= row["attackers"] - row["defenders"] <= most
    assert "values given up after 20,000 plies: 1; the first: deal 0, nt-fewest, NS, by S" in done.stderr
    assert f"lie between {least:+d} and {most:+d}; --max-plies allows more" in done.stderr
    (cells,) = csv.DictReader(io.StringIO(run(*args, "--format", "csv", status=3).stdout))
    assert (cells["attackers"], cells["margin_least"], cells["margin_most"]) == ("", str(least), str(most))
    text = run(*args, "--cards", "--line", status=3).stdout
    assert re.search(r"nt-fewest\s+NS\s+\?\n", text)
    assert f"given up; attackers' points minus defenders' lie between {least:+d} and {most:+d}" in text
    assert "cards" not in text
    run(*args, "--out", str(tmp_path / "out"), "--quiet", status=3)
    (stored,) = pq.read_table(tmp_path / "out/part-00000.parquet").to_pylist()
    assert (stored["attackers"], stored["margin_least"], stored["margin_most"]) == (None, least, most)
    again = run(*args, "--out", str(tmp_path / "out"), status=3)  # nothing is left to solve
    assert "0 deals solved" in again.stderr
    assert f"1; the first: deal 0, nt-fewest, NS, by S: attackers' points minus defenders' lie between {least:+d}" in again.stderr
    for allowed in ("none", "1000000000"):
        done = run(*args[:-1], allowed, "--format", "jsonl")
        assert json.loads(done.stdout) == row


def test_cards_that_are_given_up() -> None:
    """The value of the position may be known, and that of a card not."""
    options = {"contract": "hearts-spades", "declarer": "W"}
    (row,) = solve(DEAL, **options)
    for plies in (int(1.3**n) for n in range(30, 60)):
        (found,) = solve(DEAL, **options, cards=True, max_plies=plies)
        if found["attackers"] is None and found["margin_least"] == found["margin_most"]:
            assert found["cards"] is None
            assert found["margin_least"] == row["attackers"] - row["defenders"]
            break
    else:
        raise AssertionError("no limit in between was found")


def test_formats_of_showcase(run: Call) -> None:
    args = ["solve", "showcase", "--deal", "N:AQ... KJ...", "--leader", "N", "--trump", "spades", "--cards", "--line", "--quiet"]
    row = {"deal": 0, "trump": "spades", "leader": "N", "points": {"N": 1, "S": 1}, "cards": {"SA": 1, "SQ": 1}}
    rows = [json.loads(line) for line in run(*args, "--format", "jsonl").stdout.splitlines()]
    assert rows == [row | {"line": rows[0]["line"]}]
    assert json.loads(run(*args, "--format", "json").stdout) == rows
    assert run(*args, "--format", "csv").stdout.splitlines() == [
        "deal,trump,leader,points_n,points_s,cards,line",
        f"0,spades,N,1,1,SA:1 SQ:1,{' '.join(rows[0]['line'])}",
    ]
    text = run(*args).stdout
    assert "1 : 1" in text
    assert "spades, N leads: line" in text
    assert len(json.loads(run("solve", "showcase", "--deal", "N:AQ... KJ...", "--format", "json", "--quiet").stdout)) == 12


@pytest.mark.parametrize("game", ["elections", "showcase"])
@pytest.mark.parametrize("format_", ["text", "json", "jsonl", "csv"])
def test_threads_and_files_give_the_same_bytes(run: Call, game: str, format_: str, tmp_path: Path) -> None:
    rng = random.Random(5)
    seats = "NESW" if game == "elections" else "NS"
    deals = [ending(rng, rng.choice([2, 3]), len(seats)) for _ in range(70)]
    path = pbn_file(tmp_path / "deals.pbn", deals, seats)
    outputs = {
        run("solve", game, "--file", str(path), "--format", format_, "--line", "--threads", threads, "--quiet").stdout
        for threads in ("1", "3")
    }
    assert len(outputs) == 1
    if format_ == "jsonl":
        rows = [json.loads(line) for line in outputs.pop().splitlines()]
        assert rows == [row | {"deal": number} for number, deal in enumerate(deals) for row in solve(deal, line=True)]


@pytest.mark.parametrize("game", ["elections", "showcase"])
def test_out_writes_parts_and_goes_on(run: Call, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(6)
    seats = "NESW" if game == "elections" else "NS"
    deals = [ending(rng, 2, len(seats)) for _ in range(150)]
    path = pbn_file(tmp_path / "deals.pbn", deals, seats)
    choice = {"elections": {"contract": "clubs-tricks"}, "showcase": {"trump": "spades"}}[game]
    rows_a_deal = 4 if game == "elections" else 2
    monkeypatch.setattr(solved, "PART_ROWS", {game: 64 * rows_a_deal})
    args = ["solve", game, "--file", str(path), *(f"--{key}={value}" for key, value in choice.items()), "--cards", "--line"]
    for threads in ("1", "2"):
        done = run(*args, "--threads", threads, "--out", str(tmp_path / threads))
        assert done.stdout == ""
        assert "150 deals solved" in done.stderr
    parts = sorted((tmp_path / "1").glob("part-*.parquet"))
    assert len(parts) == 3
    assert [part.read_bytes() for part in parts] == [part.read_bytes() for part in sorted((tmp_path / "2").glob("part-*"))]
    table = pq.read_table(parts)
    rows = solve(np.array(deals, np.uint64), cards=True, line=True, **choice)
    for column in table.column_names:
        values = table.column(column).to_pylist()
        if column.startswith("points_"):
            assert values == [row["points"][column[-1].upper()] for row in rows]
        elif column == "cards":
            assert [dict(value) for value in values] == [row["cards"] for row in rows]
        else:
            assert values == [row.get(column) for row in rows]
    assert solve_table(np.array(deals, np.uint64), cards=True, line=True, **choice).equals(table)
    manifest = json.loads((tmp_path / "1/manifest.json").read_text())
    assert manifest["complete"]
    parts[-1].unlink()  # as an interrupted run leaves it
    manifest |= {"complete": False, "parts": manifest["parts"][:-1]}
    (tmp_path / "1/manifest.json").write_text(json.dumps(manifest))
    again = run(*args, "--out", str(tmp_path / "1"))
    assert f"{150 % 64} deals solved" in again.stderr
    assert (tmp_path / "1/manifest.json").read_bytes() == (tmp_path / "2/manifest.json").read_bytes()
    assert parts[-1].read_bytes() == (tmp_path / "2" / parts[-1].name).read_bytes()
    done = run(*args[:-1], "--out", str(tmp_path / "1"), status=2)
    assert "holds another run: line is True there and False here" in done.stderr
    assert "holds solved deals" in run("replay", "--run", str(tmp_path / "1"), status=2).stderr


def test_rows_come_while_later_deals_are_not_yet_read(tmp_path: Path) -> None:
    """Flat memory: however many deals there are, few are ahead of the rows."""
    read = []

    class Deals(list[Any]):
        def __iter__(self) -> Any:
            for number, deal in enumerate(super().__iter__()):
                read.append(number)
                yield deal

    problem = make_problem(np.array([ending(random.Random(i), 1) for i in range(500)], np.uint64), contract="nt-fewest")
    object.__setattr__(problem, "given", Deals(problem.given))
    blocks = solve_rows(problem, threads=2)
    for expected in range(500):
        assert next(blocks)[0]["deal"] == expected
        assert len(read) <= expected + 10
    assert next(blocks, None) is None


def test_ctrl_c_is_status_130_with_the_command(run: Call, tmp_path: Path) -> None:
    path = tmp_path / "deals.pbn"
    path.write_text(run("deal", "--deals", "3000", "--seed", "1", "--quiet").stdout)
    args = ["solve", "elections", "--file", str(path), "--contract", "clubs-tricks", "--format", "jsonl", "--threads", "1"]
    line = [sys.executable, "-m", "cli.main", *args]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["deal"] == 0
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=1800)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "interrupted; to run again: simcore " + " ".join(args) in errors.decode()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["bridge"], ["bridge", "accepted: elections, showcase"]),
        (["elections"], ["no deal is given", "--deal PBN or --file"]),
        (["elections", "--deal", DEAL, "--file", "x.pbn"], ["deal and file", "one of the two"]),
        (["elections", "--file", "missing.pbn"], ["missing.pbn", "No such file"]),
        (["elections", "--deal", "N:AK... QJ... T9..."], ["3 hands; accepted: 4"]),
        (["elections", "--deal", "N:AK... QJ... T9... 8..."], ["deal 0: hands are uneven: N 2, E 2, S 2, W 1"]),
        (["elections", "--deal", "N:AK... QJ... A9... 87..."], ["SA of S is held by another seat too"]),
        (["elections", "--deal", "N:AK... QJ... T9... -"], ["seat W", "accepted: every hand of the deal"]),
        (["elections", "--deal", "N:... ... ... ..."], ["deal 0: hands are empty"]),
        (["elections", "--deal", DEAL, "--contract", "club-tricks"], ["contract 'club-tricks'", "clubs-tricks"]),
        (["elections", "--deal", DEAL, "--pairs", "EW"], ["pairs 'EW' is unknown; accepted: NS, NE, NW, all"]),
        (["elections", "--deal", DEAL, "--declarer", "X"], ["declarer 'X' is unknown; accepted: N, E, S, W, all"]),
        (["elections", "--deal", DEAL, "--leader", "X"], ["leader 'X'", "N E S W"]),
        (["elections", "--deal", DEAL, "--table", "SA"], ["table 'SA' needs the leader"]),
        (["elections", "--deal", DEAL, "--table", "SX", "--leader", "N"], ["table 'SX'", "not a card"]),
        (["elections", "--deal", DEAL, "--table", "SA", "--leader", "N"], ["'SA' on the table is held by a hand"]),
        (["elections", "--deal", DEAL, "--threads", "0"], ["threads 0", "1 to 1024"]),
        (["elections", "--deal", DEAL, "--format", "xml"], ["xml", "jsonl"]),
        (
            ["elections", "--deal", DEAL, "--max-plies", "0"],
            ["--max-plies '0'", "from 1 to 4611686018427387904, or none"],
        ),
        (["elections", "--deal", DEAL, "--max-plies", "1e9"], ["--max-plies '1e9'"]),
        (["elections", "--deal", DEAL, "--max-plies", "9" * 5000], ["--max-plies '999"]),
        (["showcase", "--deal", TWO, "--max-plies", "9"], ["--max-plies"]),
        (["elections", "--deal", DEAL, "--overwrite"], ["overwrite", "--out"]),
        (["elections", "--deal", DEAL, "--ruleset", "showcase"], ["showcase", "elections"]),
        (["elections", "--deal", DEAL, "--ruleset", "none.toml"], ["none.toml"]),
        (["showcase", "--deal", DEAL], ["4 hands; accepted: 2"]),
        (["showcase", "--deal", "N:AK... A2..."], ["SA of S is held by another seat too"]),
        (["showcase", "--deal", "E:AK... Q2..."], ["does not begin with a seat; accepted: one of N S"]),
        (["showcase", "--deal", TWO, "--trump", "heart"], ["trump 'heart' is unknown; accepted: clubs", "all-trump, all"]),
        (["showcase", "--deal", TWO, "--leader", "E"], ["leader 'E'", "N S"]),
        (["showcase", "--deal", TWO, "--tricks", "14"], ["deal 0: tricks 14", "accepted: 0 to 13"]),
        (["showcase", "--deal", TWO, "--table", "SA SK", "--leader", "N"], ["table 'SA SK' has 2 cards; accepted: one"]),
        (["showcase", "--deal", TWO, "--contract", "all"], ["--contract"]),
    ],
)
def test_bad_use_is_status_2_and_names_the_value(run: Call, args: list[str], words: list[str]) -> None:
    done = run("solve", *args, status=2)
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr


def test_a_bad_deal_in_a_file_is_named_before_anything_is_solved(run: Call, tmp_path: Path) -> None:
    path = tmp_path / "deals.pbn"
    path.write_text(f'[Deal "{DEAL}"]\n\n[Deal "N:AK... QJ... T9... 8..."]\n')
    done = run("solve", "elections", "--file", str(path), "--out", str(tmp_path / "out"), status=2)
    assert "deal 1: hands are uneven" in done.stderr
    assert not (tmp_path / "out").exists()
    path.write_text(f'[Deal "{DEAL}"]\n\n[Deal "N:AK... KJ... T9... 87..."]\n')
    done = run("solve", "elections", "--file", str(path), status=2)
    assert done.stdout == ""
    assert "line 3: deal 'N:AK... KJ... T9... 87...': card SK of E" in done.stderr


@pytest.mark.parametrize(
    ("deal", "options", "message"),
    [
        (np.zeros((2, 3), np.uint64), {}, r"shape \(2, 3\)"),
        (np.zeros((0, 4), np.uint64), {}, "no deals"),
        ([0.5, 1, 2, 3], {}, "float64"),
        ([1, 2, 4, 1 << 13], {}, "deal 0: the hand of W is 8192"),
        ([1, 2, 4, 8], {"game": "bridge"}, "game 'bridge'"),
        ([1, 2, 4, 8], {"trump": "hearts"}, "trump 'hearts' does not go with elections"),
        ([1, 2], {"contract": "nt-most"}, "contract 'nt-most' does not go with showcase"),
        (None, {}, "one of the two"),
        (DEAL, {"threads": 0}, r"threads 0 is out of range; accepted: 1 to 1024"),
        (DEAL, {"max_plies": 0}, "max_plies is 0; accepted: a whole number from 1 to 4611686018427387904, or None"),
        (DEAL, {"max_plies": 1e9}, "max_plies is 1000000000.0"),
        ([1, 2], {"max_plies": 9}, "max_plies 9 does not go with showcase"),
    ],
)
def test_bad_arguments_from_python(deal: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SimcoreError, match=message):
        solve(deal, **options)


# ------------------------------------------------------------------ players


def costs(trace: dict[str, Any]) -> list[int]:
    return [cost for trick in trace["tricks" if trace["game"] == "elections" else "second"] for cost in trick["cost"]]


def test_four_oracles_reach_the_value() -> None:
    config = make_config("elections", seed=5, deals=2, contract="clubs-tricks", players="oracle")
    for trace in replay_config(config, double_dummy=True):
        verify(trace)
        assert naive.check_trace(trace) == []
        pairs = "N" + next(seat for seat in "ESW" if {"N", seat} in sides(trace))
        hands = "N:" + " ".join(trace["hands"].values())
        (row,) = solve(hands, contract="clubs-tricks", pairs=pairs, declarer=trace["declarer"])
        assert trace["side_points"] == {"attackers": row["attackers"], "defenders": row["defenders"]}
        assert trace["double_dummy"] == trace["side_points"]
        assert set(costs(trace)) == {0}


def sides(trace: dict[str, Any]) -> list[set[str]]:
    attackers = {trace["declarer"], trace["partner"]}
    return [attackers, set("NESW") - attackers]


@pytest.mark.parametrize("contract", ["clubs-tricks", "nt-most", "clubs-reds"])
def test_costs_add_up(contract: str) -> None:
    """Value less costs of the attackers plus costs of the defenders is what came out; and no card gains."""
    config = make_config("elections", seed=2, deals=2, contract=contract, players="random")
    seen = 0
    for trace in replay_config(config, double_dummy=True):
        attackers = sides(trace)[0]
        signed = 0
        for trick in trace["tricks"]:
            start = "NESW".index(trick["leader"])
            for place, cost in enumerate(trick["cost"]):
                assert cost >= 0
                seen += cost > 0
                signed += cost if "NESW"[(start + place) % 4] in attackers else -cost
        assert trace["double_dummy"]["attackers"] - signed == trace["side_points"]["attackers"], trace["contract"]
        hands = "N:" + " ".join(trace["hands"].values())
        partner = next(seat for seat in "ESW" if {"N", seat} in sides(trace))
        (row,) = solve(hands, contract=trace["contract"], pairs="N" + partner, declarer=trace["declarer"])
        assert trace["double_dummy"] == {"attackers": row["attackers"], "defenders": row["defenders"]}
    assert seen > 1


@pytest.mark.parametrize("name", ["showcase", "showcase-magri"])
def test_exact_in_both_seats_reaches_the_value_and_costs_add_up(name: str) -> None:
    wasted = 0
    for players in ("greedy+exact", "random"):
        for trace in replay_config(make_config("showcase", ruleset=name, seed=8, deals=4, players=players), double_dummy=True):
            verify(trace)
            assert all(cost >= 0 for cost in costs(trace))
            leaders = [trick["leader"] for trick in trace["second"]]
            lost = dict.fromkeys("NS", 0)
            for leader, trick in zip(leaders, trace["second"], strict=True):
                for seat, cost in zip((leader, "S" if leader == "N" else "N"), trick["cost"], strict=True):
                    lost[seat] += cost
            value = trace["double_dummy"]["N"]
            assert value - lost["N"] + lost["S"] == trace["points"]["N"]
            wasted += sum(lost.values())
            if players == "greedy+exact":
                assert set(costs(trace)) == {0}
                held = {seat: parse_hand(hand) for seat, hand in holdings(trace).items()}
                values = {
                    trump: two.value(held["N"], held["S"], trump, leaders[0]) if trace["namer"] == "N" else
                    13 - two.value(held["N"], held["S"], trump, leaders[0])
                    for trump in TRUMPS
                }  # fmt: skip
                assert values[trace["trump"]] == max(values.values()) == trace["points"][trace["namer"]]
    assert wasted > 0


def test_oracle_is_no_worse_than_greedy() -> None:
    """One side oracle against greedy defenders, each deal: never below the double-dummy value."""
    rules = load_ruleset("elections")
    config = make_config("elections", seed=9, deals=3, contract="clubs-tricks", pairs="NS", declarer="N", players="greedy",
                         player={"N": "oracle", "S": "oracle"})  # fmt: skip
    better = 0
    for trace in replay_config(config):
        masks = [parse_hand(hand) for hand in trace["hands"].values()]
        value = solve_position(masks, rules.contract("clubs-tricks"), pairing=2, declarer=0)
        assert trace["side_points"]["attackers"] >= value.attackers
        better += trace["side_points"]["attackers"] > value.attackers
    assert better


def test_oracle_names_the_better_contract_of_a_type() -> None:
    rules = load_ruleset("elections")
    decide = parse_player("oracle", "elections").outside[1]
    assert decide is not None
    table, view = new_table()[0], new_view()[0]
    table.hands[:] = table.dealt[:] = simcore.deal_hands(3, 0, 1)[0]
    ids = dict(rules.types)["clubs"]
    view.pairing = 1
    view.legal = sum(1 << rules.contract_ids.index(contract) for contract in ids)
    named = set()
    for declarer in range(4):
        view.declarer = declarer
        rows = [solve(table.hands, contract=contract, pairs="NE", declarer="NESW"[declarer])[0] for contract in ids]
        margins = [row["attackers"] - row["defenders"] for row in rows]
        action = decide.function(view, rules.record[0], None, table)
        assert rules.contract_ids[action.bit_length() - 1] == ids[margins.index(max(margins))]
        named.add(action)
    assert len(named) == 2


def test_runs_with_oracles_do_not_depend_on_threads(tmp_path: Path) -> None:
    tables = [
        simcore.simulate("showcase", seed=3, deals=24, players="oracle", player={"S": "random+exact"}, threads=threads).table()
        for threads in (1, 2)
    ]
    assert tables[0].equals(tables[1])
    config = make_config("showcase", players="oracle")
    assert config.notes == []
    assert config.slow


# ------------------------------------------------------------------ replay --double-dummy


def in_seats(trace: dict[str, Any]) -> list[int]:
    """What cards cost, where they did, trick by trick in the order of the seats."""
    found = []
    for trick in trace["tricks"]:
        start = "NESW".index(trick["leader"])
        found += [trick["cost"][(seat - start) % 4] for seat in range(4) if trick["cost"][(seat - start) % 4]]
    return found


def test_replay_marks_costs(run: Call) -> None:
    args = ["replay", "elections", "--seed", "7", "--first", "5", "--contract", "clubs-tricks", "--players", "greedy"]
    (trace,) = [json.loads(line) for line in run(*args, "--double-dummy", "--format", "jsonl").stdout.splitlines()]
    assert any(costs(trace))
    plain = json.loads(run(*args, "--format", "jsonl").stdout)
    text = run(*args, "--double-dummy").stdout
    rows = [line for line in text.splitlines() if re.match(r" +\d+ ", line)]
    assert len(rows) == 13
    assert [int(mark) for mark in re.findall(r"-(\d+)", "".join(rows))] == in_seats(trace)
    assert "A number behind a card" in text
    assert "A number behind a card" not in run(*args).stdout
    # the checker ignores the further keys, and what they claim is not repeated
    trace["tricks"][0]["cost"] = "nonsense"
    data = json.dumps(trace)
    assert json.loads(run("replay", "--trace", "-", "--format", "jsonl", stdin=data).stdout) == plain
    again = json.loads(run("replay", "--trace", "-", "--double-dummy", "--format", "jsonl", stdin=data).stdout)
    assert costs(again) == [cost for trick in again["tricks"] for cost in trick["cost"]]
    assert again["double_dummy"] == trace["double_dummy"]
    run("replay", "--trace", "-", stdin=data)


def test_costs_of_a_deal_that_is_too_hard_are_those_that_are_known(run: Call) -> None:
    """Of a whole deal the later positions are the easier ones: with fewer plies the costs from some card on are left."""
    asked: dict[str, Any] = {"seed": 7, "contract": "nt-fewest", "players": "greedy", "double_dummy": True}
    (whole,) = simcore.replay("elections", **asked)
    known = []
    for plies in (100, 20_000, 200_000):
        before = own_solver().nodes
        (trace,) = simcore.replay("elections", **asked, max_plies=plies)
        assert own_solver().nodes - before <= plies + 60  # of all positions together
        assert simcore.replay("elections", **asked, max_plies=plies) == [trace]
        assert trace["double_dummy"] is None
        found = costs(trace)
        known.append(sum(cost is not None for cost in found))
        assert found == [None] * (52 - known[-1]) + costs(whole)[52 - known[-1] :]
    assert 0 < known[0] < known[1] < known[2] < 52
    (unlimited,) = simcore.replay("elections", **asked, max_plies=None)
    assert unlimited == whole
    args = ["replay", "elections", "--seed", "7", "--contract", "nt-fewest", "--players", "greedy", "--double-dummy"]
    done = run(*args, "--max-plies", "20000", status=3)
    assert "is not known from the first card on: 1; the first: deal 0; --max-plies allows more" in done.stderr
    rows = [line for line in done.stdout.splitlines() if re.match(r" +\d+ ", line)]
    assert "".join(rows).count("?") == 52 - known[1]
    assert "? where that is not known: the deal is too hard." in done.stdout
    line = run(*args, "--max-plies", "20000", "--format", "jsonl", status=3).stdout
    assert costs(json.loads(line)).count(None) == 52 - known[1]
    again = run("replay", "--trace", "-", "--double-dummy", "--max-plies", "20000", "--format", "jsonl", stdin=line, status=3)
    assert json.loads(again.stdout) == json.loads(line)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["elections", "--max-plies", "9"], "--max-plies '9' needs --double-dummy"),
        (["elections", "--double-dummy", "--max-plies", "many"], "--max-plies 'many'; accepted: a whole number from 1 to"),
        (["showcase", "--double-dummy", "--max-plies", "9"], "max plies 9 goes with double dummy and elections only"),
    ],
)
def test_limits_that_replay_refuses(run: Call, args: list[str], words: str) -> None:
    assert words in run("replay", *args, status=2).stderr


def test_oracle_ends_a_deal_that_is_too_hard_with_an_error(run: Call, tmp_path: Path) -> None:
    args = ["simulate", "elections", "--seed", "7", "--deals", "1", "--contract", "nt-fewest"]
    done = run(*args, "--player", "N=oracle:max_plies=5000", "--out", str(tmp_path / "run"), status=1)
    assert "player 'oracle' gave a value up after 5,000 plies; accepted: an easier deal, or oracle:max_plies=N" in done.stderr
    assert "deal 0, seat N, decision 'play', trick 1" in done.stderr
    asked: dict[str, Any] = {"seed": 9, "contract": "clubs-tricks"}
    (free,) = simcore.replay("elections", players="oracle", **asked)
    (limited,) = simcore.replay("elections", players="oracle:max_plies=99999999999", **asked)
    assert limited["tricks"] == free["tricks"]
    assert "max_plies '0' of player 'oracle'" in run(*args, "--players", "oracle:max_plies=0", status=2).stderr


def test_replay_marks_costs_in_showcase_and_leaves_unplayed_deals() -> None:
    (trace,) = simcore.replay("showcase", seed=7, first=5, double_dummy=True)
    text = simcore.render(trace)
    assert f"against perfect play ({trace['double_dummy']['N']} : {trace['double_dummy']['S']})" in text
    assert any(costs(trace))
    assert list(check_traces(iter([json.dumps(trace)]), "here", double_dummy=True)) == [trace]
    (passed,) = simcore.replay("elections", seed=1, first=49, double_dummy=True)
    assert passed["status"] == "passed-out"
    assert "double_dummy" not in passed
