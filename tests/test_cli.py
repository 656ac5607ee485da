"""The command line: exit statuses, streams, formats, bad input, terminals that cannot show suit symbols."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent


def run(*args: str, status: int = 0, stdin: str | bytes = "", cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *args],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        input=data,
        capture_output=True,
        timeout=1800,
    )
    result = subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "surrogateescape")
    )
    assert done.returncode == status, result.stderr + result.stdout
    assert "Traceback" not in result.stderr
    return result


def test_help_imports_neither_numba_nor_pyarrow() -> None:
    script = (
        "import sys; from cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(sorted({'numba','pyarrow','numpy','llvmlite'} & set(sys.modules)), file=sys.stderr)"
    )
    for args in (
        ["--help"],
        ["simulate", "--help"],
        ["replay", "--help"],
        ["solve", "showcase", "--help"],
        ["choose", "elections", "--help"],
        ["compare", "--help"],
        ["play", "--help"],
        ["report", "--help"],
        ["--version"],
        ["players"],
    ):
        done = subprocess.run([sys.executable, "-c", script, *args], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0
        assert done.stderr.strip() == "[]", args


@pytest.mark.parametrize(
    "command",
    [
        "",
        "simulate",
        "replay",
        "solve",
        "solve elections",
        "solve showcase",
        "choose",
        "choose elections",
        "choose showcase",
        "compare",
        "play",
        "report",
        "deal",
        "rulesets",
        "rulesets balance",
        "players",
        "selfcheck",
        "warm",
    ],
)
def test_golden_help(command: str, regen: bool) -> None:
    text = run(*command.split(), "--help", COLUMNS="110").stdout
    path = Path(__file__).parent / "golden" / f"help-{command.replace(' ', '-') or 'simcore'}.txt"
    if regen:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("elections", ["elections", "--seed", "7", "--first", "5", "--players", "greedy"]),
        ("elections-passed-out", ["elections", "--seed", "1", "--first", "49"]),
        ("showcase", ["showcase", "--seed", "7", "--first", "5", "--players", "greedy"]),
        ("showcase-magri", ["showcase", "--ruleset", "showcase-magri", "--seed", "7", "--first", "5"]),
    ],
)
@pytest.mark.parametrize("format_", ["text", "jsonl"])
def test_golden_traces(name: str, args: list[str], format_: str, regen: bool) -> None:
    text = run("replay", *args, "--format", format_, PYTHONIOENCODING="utf-8").stdout
    path = Path(__file__).parent / "golden" / f"trace-{name}.{'txt' if format_ == 'text' else 'jsonl'}"
    if regen:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_simulate_formats_and_streams() -> None:
    done = run("simulate", "elections", "--deals", "400", "--seed", "5", "--format", "json")
    data = json.loads(done.stdout)
    assert data["seed"] == "5"
    assert "seed 5" in done.stderr
    assert "deals/s" in done.stderr
    lines = [
        json.loads(line)
        for line in run("simulate", "elections", "--deals", "400", "--seed", "5", "--format", "jsonl").stdout.splitlines()
    ]
    assert lines == data["rows"]
    for key in ("contract", "deals", "attackers_win", "mean_attackers", "stderr"):
        assert key in lines[0]
    rows = list(
        csv.DictReader(io.StringIO(run("simulate", "elections", "--deals", "400", "--seed", "5", "--format", "csv").stdout))
    )
    assert [row["contract"] for row in rows] == [row["contract"] for row in lines]
    text = run("simulate", "elections", "--deals", "400", "--seed", "5")
    assert "seed 5" in text.stdout
    assert "95 % interval" in text.stdout
    trumps = [
        json.loads(line)
        for line in run("simulate", "showcase", "--deals", "100", "--seed", "5", "--format", "jsonl").stdout.splitlines()
    ]
    for key in ("trump", "deals", "namer_wins", "mean_namer", "stderr"):
        assert key in trumps[0]
    quiet = run("simulate", "showcase", "--deals", "100", "--quiet")
    assert quiet.stderr == ""
    assert re.search(r"seed \d+", quiet.stdout)


@pytest.mark.parametrize("args", [["elections"], ["elections", "--contract", "random"], ["showcase"]])
def test_how_often_is_played_has_an_interval_in_the_text_too(args: list[str]) -> None:
    asked = ["simulate", *args, "--deals", "400", "--seed", "3", "--quiet"]
    rows = json.loads(run(*asked, "--format", "json").stdout)["rows"]
    text = run(*asked).stdout
    assert text.count("95 % interval") >= 2
    for row in rows:
        name = row.get("contract") or row["trump"]
        shares = [f"{100 * row[key]:.1f}" for key in ("share", "share_low", "share_high")]
        assert re.search(rf"^{name} +{row['deals']} +{shares[0]} +{shares[1]} … {shares[2]} ", text, re.MULTILINE), name


def test_a_seed_is_drawn_printed_and_reproduces() -> None:
    first = run("simulate", "elections", "--deals", "50")
    seed = re.search(r"^seed (\d+)$", first.stderr, re.MULTILINE)
    assert seed
    assert int(seed[1]) > 2**64
    again = run("simulate", "elections", "--deals", "50", "--seed", seed[1])
    assert again.stdout == first.stdout
    assert run("simulate", "elections", "--deals", "50").stdout != first.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["simulate"], ["GAME"]),
        (["simulate", "bridge"], ["bridge", "elections", "showcase"]),
        (["simulte", "elections"], ["simulte", "simulate"]),
        (["simulate", "elections", "--deals", "ten"], ["'ten' is not accepted; accepted: a whole number", "--deals"]),
        (["simulate", "elections", "--dealz", "10"], ["'--dealz'", "--deals", "simulate --help"]),
        (["play", "elections"], ["'--me'"]),
        (["simulate", "elections", "--deals", "-5"], ["-5"]),
        (["simulate", "elections", "--seed", "0.5"], ["0.5", "2**128"]),
        (["simulate", "elections", "--seed", str(2**128)], [str(2**128)]),
        (["simulate", "elections", "--contract", "spade-clubs"], ["spade-clubs", "spades-clubs"]),
        (["simulate", "elections", "--player", "N=expertt"], ["expertt", "random"]),
        (["simulate", "elections", "--ruleset", "none.toml"], ["none.toml"]),
        (["simulate", "elections", "--file", "none.pbn"], ["none.pbn"]),
        (["simulate", "elections", "--threads", "0"], ["0", "1 to 1024"]),
        (["simulate", "elections", "--threads", "100000"], ["100000", "1 to 1024"]),
        (["simulate", "elections", "--cluster", "nowhere"], ["nowhere", "local:N"]),
        (["compare", "elections", "expert", "greedy", "--threads", "1025"], ["1025", "1 to 1024"]),
        (["choose", "elections", "--hand", "AKQJT98.AK.32.32", "--seat", "S", "--threads", "1025"], ["1025", "1 to 1024"]),
        (["choose", "elections", "--hand", "AKQJT98.AK.32.32", "--seat", "Q"], ["'Q'"]),
        (["choose", "showcase", "--confidence", "2"], ["2"]),
        (["rulesets", "balance", "elections", "--threads", "1025"], ["1025", "1 to 1024"]),
        (["rulesets", "balance", "elections", "--deals", "0"], ["0"]),
        (["replay"], ["GAME"]),
        (["replay", "elections", "--format", "csv"], ["csv", "jsonl"]),
        (["replay", "elections", "--explain", "bob"], ["bob", "pimc"]),
        (["replay", "elections", "--explain", "X=pimc"], ["'X'", "N E S W"]),
        (["play", "elections", "--me", "X"], ["'X'", "N E S W"]),
        (["play", "elections", "--me", "S", "--contract", "all"], ["'all'", "a single one"]),
        (["replay", "--run", "nowhere"], ["nowhere"]),
        (["replay", "--trace", "nowhere.jsonl"], ["nowhere.jsonl"]),
        (["deal", "--deals", "0"], ["0"]),
        (["rulesets", "show", "bridge"], ["bridge", "variety"]),
        (["rulesets", "check", "README.md"], ["README.md", ".toml"]),
    ],
)
def test_bad_use_is_status_2_and_names_the_value(args: list[str], words: list[str]) -> None:
    done = run(*args, status=2)
    assert done.stdout == ""
    assert re.fullmatch(r"simcore: .+\n", done.stderr), "one line, and nothing before it"
    for word in words:
        assert word in done.stderr


def test_bad_use_writes_nothing(tmp_path: Path) -> None:
    run("simulate", "elections", "--contract", "none", "--out", str(tmp_path / "run"), status=2)
    assert not (tmp_path / "run").exists()


def test_failed_work_is_status_1(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run("simulate", "elections", "--deals", "10", "--out", str(blocked / "run"), status=1)
    assert str(blocked) in done.stderr


def test_run_replay_and_second_run(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    ruleset = tmp_path / "mine.toml"
    text = (
        run("rulesets", "show", "elections")
        .stdout.replace('name = "elections"', 'name = "mine"')
        .replace("most_tricks = 12", "most_tricks = 20")
    )
    ruleset.write_text(text)
    assert "'mine'" in run("rulesets", "check", str(ruleset)).stdout
    args = ["elections", "--seed", "3", "--deals", "600", "--ruleset", str(ruleset), "--player", "S=greedy"]
    run("simulate", *args, "--out", folder)
    ruleset.unlink()  # the manifest carries the rules
    from_run = run("replay", "--run", folder, "--first", "17", "--format", "jsonl").stdout
    ruleset.write_text(text)
    args = ["elections", "--seed", "3", "--deals", "1", "--ruleset", str(ruleset), "--player", "S=greedy"]
    assert run("replay", *args, "--first", "17", "--format", "jsonl").stdout == from_run
    assert json.loads(from_run)["ruleset"] == "mine"
    assert len(run("replay", "--run", folder, "--format", "jsonl").stdout.splitlines()) == 1
    for beyond in (["--first", "600"], ["--first", "599", "--deals", "2"], ["--deals", "601"]):
        refused = run("replay", "--run", folder, *beyond, status=2)
        assert (refused.stdout, refused.stderr.count("\n")) == ("", 1)
        assert "accepted: indices 0 to 599" in refused.stderr
    done = run("simulate", "elections", "--seed", "4", "--deals", "600", "--out", folder, status=2)
    assert "seed is '3' there and '4' here" in done.stderr
    assert run("replay", "--trace", "-", "--ruleset", str(ruleset), stdin=from_run).stderr.endswith("all legal\n")
    assert "not shipped" in run("replay", "--trace", "-", stdin=from_run, status=2).stderr


def test_a_revoke_in_a_foreign_trace_is_refused_with_deal_trick_card_and_clause() -> None:
    trace = json.loads(run("replay", "elections", "--seed", "7", "--first", "5", "--players", "greedy", "--format", "jsonl").stdout)
    first = trace["tricks"][0]["cards"]  # D3 DQ DJ DA: put a card of another suit in S's place
    other = trace["tricks"][1]["cards"][3 - 1]
    trace["tricks"][0]["cards"][1], trace["tricks"][1]["cards"][2] = other, first[1]
    done = run("replay", "--trace", "-", stdin=json.dumps(trace), status=2)
    assert re.search(r"deal 5: trick 1: \w plays \w\w .*E13", done.stderr), done.stderr
    assert "not JSON" in run("replay", "--trace", "-", stdin="{nonsense", status=2).stderr
    assert "no trace" in run("replay", "--trace", "-", stdin="\n\n", status=2).stderr
    assert "UTF-8" in run("replay", "--trace", "-", stdin=b"\xff\xfe\x00", status=2).stderr


@pytest.mark.parametrize("game", ["elections", "showcase"])
def test_suit_symbols_never_crash_a_terminal(game: str) -> None:
    done = run("replay", game, "--seed", "1", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.stdout.isascii()
    assert "S A" in done.stdout
    shown = run("replay", game, "--seed", "1", PYTHONIOENCODING="utf-8").stdout
    assert "♠" in shown
    assert "\033[" not in shown
    run("simulate", game, "--deals", "50", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")


def test_a_closed_pipe_ends_quietly() -> None:
    command = f"{sys.executable} -m cli.main deal --deals 200000 --seed 1 | head -n 2"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.stdout.startswith("% PBN")
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_deal_formats(tmp_path: Path) -> None:
    from simcore import deal_hands
    from simcore.deals.pbn import read_deals

    path = tmp_path / "deals.pbn"
    path.write_text(run("deal", "--deals", "7", "--seed", "9", "--first", "100").stdout)
    assert (read_deals(path) == deal_hands(9, 100, 7)).all()
    data = json.loads(run("deal", "--deals", "5000", "--seed", "9", "--format", "json").stdout)
    assert [row["deal"] for row in data] == list(range(5000))
    lines = run("deal", "--deals", "2", "--seed", "9", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == data[:2]
    assert "S " in run("deal", "--format", "text").stdout
    for format_ in ("pbn", "text", "json", "jsonl"):
        assert run("deal", "showcase", "--deals", "2", "--seed", "9", "--format", format_).stdout
    showcase = json.loads(run("deal", "showcase", "--seed", "9", "--format", "jsonl").stdout)
    trace = json.loads(run("replay", "showcase", "--seed", "9", "--format", "jsonl").stdout)
    assert {key: showcase[key] for key in ("dealer", "hands", "turned", "reserve")} == {
        key: trace[key] for key in ("dealer", "hands", "turned", "reserve")
    }


def test_lists() -> None:
    listed = run("rulesets", "list").stdout
    for name in ("elections", "elections-joint", "variety", "tricks", "showcase", "showcase-magri"):
        assert name in listed
    assert "+12 for more tricks" in run("rulesets", "show", "elections", "--words").stdout
    players = json.loads(run("players", "--format", "json").stdout)
    assert {"random", "greedy"} <= {player["name"] for player in players}
    assert "kernels ready" in run("warm").stdout


def test_progress_says_no_rate_and_no_time_left_before_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    from cli import output

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    clock = iter([0.0, 1.0, 3.0, 200.0])
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: next(clock)))  # other threads keep theirs
    monkeypatch.setattr(sys, "stderr", Terminal())
    with output.progress_bar(10_000, "deals", quiet=False) as progress:
        assert progress is not None
        for done in (1000, 7000, 7001):
            progress(done, 10_000)
    first, second, third, empty, _ = sys.stderr.getvalue().split("\r")[1:]  # type: ignore[attr-defined]
    assert first.split("]")[1].strip() == "10.0 %"
    assert second.split("]")[1].strip() == "70.0 %  2,000 deals/s  0:01 left"
    assert len({len(line) for line in (first, second, third, empty)}) == 1, "nothing of a longer line is left behind a shorter one"


def test_module_names_do_not_shadow_the_verbs() -> None:
    script = (
        "import simcore; simcore.simulate('elections', deals=8, seed=1); simcore.replay('elections', seed=1)\n"
        "print(callable(simcore.simulate), callable(simcore.replay))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True"
