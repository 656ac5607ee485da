"""Comparing players: intervals and tests by simulation, the design by counting, the figures by computing them another way."""

from __future__ import annotations

import itertools
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import simcore
from cli.main import main
from simcore.batches.run import Interrupted
from simcore.contests import playing, verb
from simcore.contests.contest import make_contest
from simcore.contests.intervals import holm, judge, sequence_radius, t_cdf, t_quantile
from simcore.contests.sequential import MIN_UNITS, parse_sprt
from simcore.errors import RunError, SimcoreError

ROOT = Path(__file__).parent.parent


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(args))
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


# Intervals


def test_student_t_is_scipys() -> None:
    for df in (1, 2, 3, 4, 5, 18, 19, 100, 999, 1000, 20_000):
        for t in (-40.0, -2.5, -0.1, 0.0, 1.0, 7.0):
            assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-7)
        for p in (0.6, 0.975, 0.9995):
            assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-5)


def test_a_common_sample_is_judged_as_scipy_does() -> None:
    sums = np.random.default_rng(3).integers(-20, 30, 37)
    verdict = judge(sums, 6, 26.0, 0.9)
    assert verdict is not None
    expected = stats.ttest_1samp(sums / 6, 0.0)
    low, high = expected.confidence_interval(0.9)
    assert (verdict.mean, verdict.p) == pytest.approx((sums.mean() / 6, expected.pvalue))
    assert (verdict.low, verdict.high) == pytest.approx((low, high))
    assert verdict.chance == pytest.approx(1 - expected.pvalue / 2)


@pytest.mark.parametrize(("value", "n"), [(12, 1), (12, 40), (0, 1), (0, 500), (-72, 3)])
@pytest.mark.parametrize("stopped", [False, True])
def test_shut_outs_have_intervals_neither_empty_nor_infinite(value: int, n: int, stopped: bool) -> None:
    verdict = judge(np.full(n, value), 6, 12.0, 0.95, stopped=stopped)
    assert verdict is not None
    assert math.isfinite(verdict.low)
    assert math.isfinite(verdict.high)
    assert verdict.low <= value / 6 <= verdict.high
    assert verdict.high - verdict.low > 0
    assert -12 <= verdict.low
    assert verdict.high <= 12
    assert (verdict.chance > 0.5, verdict.chance < 0.5) == (value > 0, value < 0)
    assert 0 < verdict.chance < 1


def test_the_interval_of_a_shut_out_holds() -> None:
    """Mostly 0, sometimes 12: among samples that are all 0 or not, the mean lies in the interval as often as stated."""
    generator = np.random.default_rng(5)
    for share in (0.01, 0.05, 0.2):
        inside = []
        for _ in range(2000):
            verdict = judge(12 * (generator.random(30) < share).astype(np.int64), 1, 12.0, 0.95)
            assert verdict is not None
            if verdict.method == "all units equal":
                inside.append(verdict.low <= 12 * share <= verdict.high)
        # the samples without a 12 are a share (1 - share)^30 of all; only if that is below 5 % may the interval miss
        if inside and (1 - share) ** 30 >= 0.05:
            assert all(inside)


def test_the_confidence_sequence_holds_at_every_look() -> None:
    """A mean of 0: how often does any interval from the 16th unit on miss it?  Binomial(400, 0.05) is above 50 once in 10^9."""
    generator = np.random.default_rng(7)
    missed, missed_by_t = 0, 0
    for _ in range(400):
        sums = generator.integers(-3, 4, 600) + 12 * (generator.random(600) < 0.1) - 1
        sums = sums * 10 - 2  # mean zero
        looks = [judge(sums[:n], 1, 1000.0, 0.95, stopped=True) for n in (16, 24, 36, 54, 80, 120, 180, 270, 400, 600)]
        fixed = [judge(sums[:n], 1, 1000.0, 0.95) for n in (16, 24, 36, 54, 80, 120, 180, 270, 400, 600)]
        missed += any(not v.low <= 0 <= v.high for v in looks if v)
        missed_by_t += any(not v.low <= 0 <= v.high for v in fixed if v)
    assert missed <= 50
    assert missed_by_t > 50  # what it is for


def test_holm_is_what_it_says() -> None:
    generator = np.random.default_rng(1)
    for _ in range(50):
        p = generator.random(6) ** 3
        corrected = holm(p.tolist())
        for level in (0.01, 0.05, 0.3):
            rejected, order = set(), np.argsort(p)
            for rank, place in enumerate(order):  # the procedure, step by step
                if p[place] > level / (6 - rank):
                    break
                rejected.add(int(place))
            assert rejected == {i for i in range(6) if corrected[i] <= level}


# The sequential test

LAWS: dict[str, Any] = {
    "normal": lambda g, n, mean: g.normal(mean, 3, n),
    "few values": lambda g, n, mean: mean + (10 * g.integers(-2, 3, (n, 6))).mean(1),
    "two values": lambda g, n, mean: mean + 6 * (2.0 * (g.random(n) < 0.5) - 1),
    "skewed": lambda g, n, mean: mean + g.exponential(4.0, n) - 4,
    "mostly equal": lambda g, n, mean: np.where(g.random(n) < (0.1 + mean) / 10, 10.0, 0.0) - 0.1,
}


@pytest.mark.parametrize("law", LAWS)
def test_error_rates_of_the_sequential_test(law: str) -> None:
    """400 tests of 0 against 1 at 5 % under either: 5 % are 20; Binomial(400, 0.05) exceeds 46 with probability below 1e-6."""
    test = parse_sprt("0 1 0.05 0.05")
    for mean, wrong in ((0.0, "H1"), (1.0, "H0")):
        generator = np.random.default_rng([sum(map(ord, law)), int(mean)])
        outcomes = []
        for _ in range(400):
            state = test.start(10.0)
            state.add(LAWS[law](generator, 3000, mean))
            outcomes.append(state.accepted)
        assert outcomes.count(wrong) <= 46
        assert outcomes.count(None) <= 20  # and it ends


def test_the_sequential_test_is_the_same_in_any_pieces_and_never_ends_before_its_first_look() -> None:
    values = np.random.default_rng(2).normal(2.0, 1.0, 200)
    whole = parse_sprt("0 1 0.05 0.05").start(1.0)
    used = whole.add(values)
    pieces = parse_sprt("0 1 0.05 0.05").start(1.0)
    assert sum(pieces.add(piece) for piece in np.array_split(values, 37)) == used == whole.units
    assert np.allclose(pieces.curve, whole.curve)
    assert (pieces.accepted, whole.accepted) == ("H1", "H1")
    assert used >= MIN_UNITS
    assert pieces.add(values) == 0


@pytest.mark.parametrize(("value", "accepted"), [(0.0, "H0"), (1.0, "H1"), (12.0, "H1"), (-12.0, "H0")])
def test_the_sequential_test_ends_after_shut_outs(value: float, accepted: str) -> None:
    state = parse_sprt("0 1 0.05 0.05").start(6.0)
    state.add(np.full(1000, value))
    assert state.accepted == accepted
    assert np.isfinite(state.curve).all()


def test_its_statistic_is_walds_where_the_variance_is_known() -> None:
    """Of many normal units the statistic is near n (d1 - d0) (mean - middle) / variance."""
    values = np.random.default_rng(4).normal(0.25, 3.0, 4000)
    state = parse_sprt([0, 0.5, 1e-9, 1e-9]).start(0.1)
    state.add(values)
    n = state.units
    wald = n * 0.5 * (values[:n].mean() - 0.25) / values[:n].var()
    assert state.curve[-1] == pytest.approx(wald, abs=0.3)


# The design


def test_every_swap_of_sides() -> None:
    four = make_contest("elections", ["greedy", "random"], contract="all", deals=8, seed=1)
    assert {"".join(s) for s in itertools.product("AB", repeat=4) if s.count("A") == 2} == set(four.seatings)
    assert set(make_contest("elections", ["greedy", "random"], deals=8, seed=1).seatings) == set(four.seatings)
    assert make_contest("showcase", ["greedy", "random"], deals=8, seed=1).seatings == ("AB", "BA")
    for seating in four.seatings:
        config = four.config(four.cells[0], seating)
        partner = {"NE": 1, "NS": 2, "NW": 3}[str(config.pairs)]
        assert seating[partner] == seating[0]


def _strength(ruleset: str, contract: str, deals: int, seed: int) -> np.ndarray:
    """Return unit means of greedy over random in a contract, out of plain simulations."""
    total = np.zeros(deals)
    for pairs, side in {"NE": (0, 1), "NS": (0, 2), "NW": (0, 3)}.items():
        for swapped in (0, 1):
            who = ("random", "greedy") if swapped else ("greedy", "random")
            players = {seat: who[place not in side] for place, seat in enumerate("NESW")}
            frame = simcore.simulate(
                "elections", ruleset=ruleset, seed=seed, deals=deals, player=players, contract=contract, pairs=pairs
            ).table()
            for i, row in enumerate(frame.to_pylist()):
                margin = row["points_attackers"] - row["points_defenders"]
                total[i] += margin if players[row["declarer"]] == "greedy" else -margin
    return total / 6


def test_a_contract_by_plain_simulations() -> None:
    result = simcore.compare("elections", "greedy", "random", contract="clubs-reds", deals=70, seed=5, solved=0, threads=2)
    units = _strength("elections", "clubs-reds", 70, 5)
    row = result.rows[0]
    assert (row["mean"], row["stderr"]) == pytest.approx((units.mean(), units.std(ddof=1) / math.sqrt(70)))
    assert (row["units_for_a"], row["units_for_b"]) == ((units > 1e-9).sum(), (units < -1e-9).sum())
    assert (row["a"], row["b"], row["contract"], row["deals"], row["confidence"]) == ("greedy", "random", "clubs-reds", 70, 0.95)
    table = result.table()
    assert table.num_rows == 70 * 6
    wins = [
        (row["result"] == "win") == (row["seating"]["NESW".index(row["declarer"])] == "A") for row in table.to_pylist()
    ]  # in this contract nobody draws, and a tie is the attackers' loss
    assert row["win_share"] == pytest.approx(np.mean(wins))
    roles = {place["place"]: place for place in result.data()["places"]}
    attack = [r["points_attackers"] for r in table.to_pylist() if r["seating"]["NESW".index(r["declarer"])] == "A"]
    assert roles["attackers"]["a_mean"] == pytest.approx(np.mean(attack))


def test_rounds_by_plain_simulations() -> None:
    result = simcore.compare("elections", "greedy", "random", ruleset="variety", deals=48, first=16, seed=9, solved=0)
    total, firsts = np.zeros(48), []
    for pair in itertools.combinations("NESW", 2):
        players = {seat: "greedy" if seat in pair else "random" for seat in "NESW"}
        run_ = simcore.simulate("elections", ruleset="variety", seed=9, first=16, deals=48, player=players)
        for seat in "NESW":
            total += run_.table().column(f"credit_{seat.lower()}").to_numpy() * (1 if seat in pair else -1)
        for round_ in run_.rounds().to_pylist():
            first = [seat for seat in "NESW" if round_[f"place_{seat.lower()}"] == 1]
            firsts.append(sum(seat in pair for seat in first) / len(first))
    units = total.reshape(-1, 8).sum(axis=1) / (6 * 8 * 2)
    row = result.rows[0]
    assert (row["mean"], row["stderr"]) == pytest.approx((units.mean(), units.std(ddof=1) / math.sqrt(6)))
    assert (row["unit"], row["units"], row["deals"]) == ("round", 6, 48)
    assert row["win_share"] == pytest.approx(np.mean(firsts))
    places = {place["place"]: place for place in result.data()["places"]}
    assert set(places) == {*"NESW", "calls first", "calls second", "calls third", "dealer"}
    assert np.mean([places[seat]["mean"] for seat in "NESW"]) == pytest.approx(row["mean"])
    assert np.mean([places[seat]["mean"] for seat in set(places) - set("NESW")]) == pytest.approx(row["mean"])
    playings = sum(reached["playings"] for reached in result.data()["reached"])
    assert playings == sum(status == "played" for status in result.table().column("status").to_pylist())


def test_showcase_by_plain_simulations() -> None:
    result = simcore.compare("showcase", "expert", "greedy", deals=30, seed=2, solved=0)
    total = np.zeros(30)
    for n, s in (("expert", "greedy"), ("greedy", "expert")):
        table = simcore.simulate("showcase", seed=2, deals=30, player={"N": n, "S": s}).table()
        margin = table.column("points_n").to_numpy().astype(int) - table.column("points_s").to_numpy().astype(int)
        total += margin if n == "expert" else -margin
    assert result.rows[0]["mean"] == pytest.approx(total.mean() / 2)
    assert result.rows[0]["verdict"] == "a"


def test_several_players_have_ratings_and_corrected_comparisons() -> None:
    names = ["random", "expert", "greedy"]
    result = simcore.compare("elections", *names, deals=64, seed=3, solved=0)
    data = result.data()
    assert [row["player"] for row in data["ratings"]] == ["expert", "greedy", "random"]
    assert sum(row["rating"] for row in data["ratings"]) == pytest.approx(0)
    matrix = data["matrix"]
    for i, j in itertools.permutations(range(3), 2):
        assert matrix[i][j] == pytest.approx(-matrix[j][i])
    for row in data["ratings"]:
        place = names.index(row["player"])
        assert row["rating"] == pytest.approx(sum(value for value in matrix[place] if value is not None) / 3)
        assert row["low"] < row["rating"] < row["high"]
    assert [(row["a"], row["b"], row["verdict"]) for row in result.rows] == [
        ("random", "expert", "b"),
        ("random", "greedy", "b"),
        ("expert", "greedy", "a"),
    ]
    assert [row["p_holm"] for row in result.rows] == holm([row["p"] for row in result.rows])


def test_a_player_that_thinks_by_the_clock_is_noted() -> None:
    contest = make_contest("elections", ["pimc:time=0.01", "greedy"], contract="nt-most", deals=8, seed=1)
    assert contest.describe()["reproducible"] is False
    assert any("not reproducible" in note for note in contest.notes)
    assert make_contest("elections", ["pimc", "greedy"], contract="nt-most", deals=8, seed=1).describe()["reproducible"] is True


def test_two_names_of_one_player_stay_open() -> None:
    result = simcore.compare("elections", "greedy", "random+greedy", contract="nt-most", deals=24, seed=1, solved=0)
    row = result.rows[0]
    assert (row["mean"], row["verdict"], result.decided) == (0.0, "open", False)
    assert row["low"] < 0 < row["high"]
    assert (row["p"], row["chance"], row["win_share"], row["units_equal"]) == (1.0, 0.5, 0.5, 24)
    assert result.data()["largest"] == []


def test_a_test_ends_each_contract_by_itself() -> None:
    options: dict[str, Any] = {"contract": "all", "deals": 400, "seed": 1, "solved": 0}
    result = simcore.compare("elections", "expert", "random", sprt="0 2 0.05 0.05", **options)
    rows = {row["contract"]: row for row in result.rows}
    assert result.decided
    singles = [row for contract, row in rows.items() if contract is not None]
    assert all(row["sprt"]["accepted"] == "H1" and row["verdict"] == "a" for row in singles)
    assert len({row["units"] for row in singles}) > 1
    assert rows[None]["units"] == min(row["units"] for row in singles)
    assert result.table().num_rows == 6 * sum(row["units"] for row in singles)
    whole = simcore.compare("elections", "expert", "random", **(options | {"deals": singles[0]["units"]}))
    same = {row["contract"]: row for row in whole.rows}[singles[0]["contract"]]
    assert same["mean"] == pytest.approx(singles[0]["mean"])  # the first units of the same deals


# Mistakes


def test_costs_are_those_of_replay() -> None:
    result = simcore.compare("showcase", "greedy", "random", deals=4, seed=4, solved=2)
    rows = result.cards().to_pylist()
    assert len(rows) == 2 * 2 * 26
    for seating, players in (("AB", ("greedy", "random")), ("BA", ("random", "greedy"))):
        traces = simcore.replay("showcase", seed=4, deals=2, player=dict(zip("NS", players, strict=True)), double_dummy=True)
        for trace in traces:
            costs = [cost for trick in trace["second"] for cost in trick["cost"]]
            mine = [row for row in rows if row["seating"] == seating and row["deal"] == trace["deal"]]
            assert [row["cost"] for row in mine] == costs
            assert [row["card"] for row in mine] == [card for trick in trace["second"] for card in trick["cards"]]
    lost = {row["player"]: row for row in result.data()["mistakes"] if row["by"] == "all"}
    assert sum(row["lost"] for row in lost.values()) == sum(row["cost"] for row in rows)
    assert all(row["cards"] == 52 for row in lost.values())


def test_what_a_card_lost_has_its_error_in_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["compare", "showcase", "greedy", "random", "--deals", "8", "--seed", "4"]
    for solved in (4, 1):
        _, text, _ = run(capsys, *asked, "--solved", str(solved))
        _, data, _ = run(capsys, *asked, "--solved", str(solved), "--format", "json")
        rows = {row["player"]: row for row in json.loads(data)["mistakes"] if row["by"] == "all"}
        line = next(line for line in text.splitlines() if line.startswith("all "))
        for row in rows.values():
            error = "" if solved == 1 else f" ±{row['stderr']:.3f}"  # one deal alone has none
            assert f"{row['lost_a_card']:.3f}{error} ({row['cards']})" in line


def test_costs_of_elections_from_a_late_trick() -> None:
    options: dict[str, Any] = {"contract": "spades-clubs", "deals": 8, "seed": 4, "solved": 2, "solve_from": 9}
    result = simcore.compare("elections", "greedy", "random", **options)
    rows = result.cards().to_pylist()
    assert len(rows) == 2 * 6 * 52
    assert all((row["cost"] is None) == (row["trick"] < 9) for row in rows)
    assert all(row["cost"] >= 0 for row in rows if row["trick"] >= 9)
    kinds = {row["kind"] for row in rows}
    assert kinds == {"opening lead", "lead", "follow", "ruff", "discard"}
    for row in rows:
        if row["kind"] == "ruff":
            assert row["card"][0] == "S"
    # what all tricks brought is what the table says
    gained = sum(row["points"] * (1 if row["won"] == (row["player"] == "greedy") else -1) for row in rows if row["place"] == 0)
    table = [row["difference"] for row in result.table().to_pylist() if row["deal"] < 2]
    assert gained == sum(table)
    tricks = result.data()["tricks"]
    assert sum(row["points"] * row["n"] for row in tricks) == pytest.approx(gained)


# Folder, command line


def _bytes(folder: Path) -> dict[str, bytes]:
    left_out = ("timings.json", ".lock")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in left_out}


ARGS = ("compare", "elections", "greedy", "random", "--contract", "nt-fewest", "--deals", "200", "--seed", "6", "--solved", "1",
        "--solve-from", "8")  # fmt: skip


def test_a_stopped_comparison_goes_on_and_ends_with_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = run(capsys, *ARGS, "--out", str(tmp_path / "whole"), "--threads", "1")
    assert status == 0, err
    contest = make_contest("elections", ["greedy", "random"], contract="nt-fewest", deals=200, seed=6, solved=1, solve_from=8)

    def stop(done: int, total: int) -> None:
        if done > 600:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        verb.run_contest(contest, out=tmp_path / "stopped", threads=3, progress=stop)
    assert [path.name for path in sorted((tmp_path / "stopped").glob("part*"))] == ["part-00000.parquet"]
    assert json.loads((tmp_path / "stopped" / "manifest.json").read_text())["complete"] is False
    status, again, _ = run(capsys, *ARGS, "--out", str(tmp_path / "stopped"), "--threads", "3")
    assert (status, again) == (0, out)
    assert _bytes(tmp_path / "stopped") == _bytes(tmp_path / "whole")
    # once more: everything is there already
    status, again, _ = run(capsys, *ARGS, "--out", str(tmp_path / "stopped"))
    assert (status, again) == (0, out)
    # and by the command that it prints
    line = shlex.split(out.rsplit("again: ", 1)[1])
    status, _, _ = run(capsys, *line[1:], "--out", str(tmp_path / "again"))
    assert _bytes(tmp_path / "again") == _bytes(tmp_path / "whole")
    page = (tmp_path / "whole" / "report.html").read_text()
    for wanted in ("simcore compare elections greedy random", "greedy is better", simcore.__version__, "nt-fewest"):
        assert wanted in page
    times = json.loads((tmp_path / "whole" / "timings.json").read_text())
    assert [row["player"] for row in times["rows"]] == ["greedy", "random"]
    assert all(row["seconds_a_decision"] > 0 for row in times["rows"])
    # another comparison is not mixed in
    status, _, err = run(capsys, *ARGS[:-6], "--seed", "7", "--out", str(tmp_path / "whole"))
    assert status == 2
    assert "holds another run" in err


class Shelf:
    """A folder that takes its time, and refuses one part."""

    def __init__(self, bad: int | None) -> None:
        self.bad, self.put, self.listed = bad, list[int](), list[int]()

    def put_part(self, number: int, write: object) -> dict[str, Any]:
        time.sleep(0.01)
        if number == self.bad:
            raise RunError(f"no room for {number}")
        self.put.append(number)
        return {"name": str(number)}

    def add_lines(self, lines: dict[int, dict[str, Any]]) -> None:
        assert all(number in self.put for number in lines)
        self.listed += lines


@pytest.mark.parametrize("bad", [None, 0, 4, 9])
def test_parts_are_written_beside_the_playing_and_a_failure_is_told(bad: int | None) -> None:
    shelf = Shelf(bad)
    writer = playing._Writer(shelf)  # type: ignore[arg-type]
    added, told = 0, None
    try:
        for number in range(10):
            writer.add(number, lambda path: None)
            added += 1
        writer.wait(0)
    except RunError as error:
        told = str(error)
    finally:
        writer.close()
    assert told == (None if bad is None else f"no room for {bad}")
    assert shelf.listed == sorted(shelf.put) == [number for number in range(added) if number != bad]  # nothing played is lost
    assert bad is None or added <= bad + 4


def test_a_part_has_a_row_a_deal_and_seating(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "compare", "showcase", "greedy", "random", "--deals", "100", "--seed", "6", "--solved", "0", "--out", str(tmp_path))
    rows = [row for path in sorted(tmp_path.glob("part*")) for row in pq.read_table(path).to_pylist()]
    assert sorted((row["deal"], row["seating"]) for row in rows) == [(d, s) for d in range(100) for s in ("AB", "BA")]
    for row in rows:
        assert row["difference"] == (row["points_n"] - row["points_s"]) * (1 if row["seating"] == "AB" else -1)


def test_replay_commands_show_the_deals(capsys: pytest.CaptureFixture[str]) -> None:
    for options in ({"contract": "hearts-spades"}, {}):
        result = simcore.compare("elections", "greedy", "random", deals=16, seed=8, solved=0, **options)
        worst = result.data()["largest"][0]
        assert worst["difference"] == pytest.approx(sum(worst["playings"].values()) / 6)
        seen = {}
        for command in worst["commands"]:
            status, out, _ = run(capsys, *shlex.split(command)[1:], "--format", "jsonl")
            assert status == 0
            trace = json.loads(out)
            specs = dict(word.split("=") for word in shlex.split(command) if "=" in word)
            seating = "".join("A" if specs[seat] == "greedy" else "B" for seat in "NESW")
            signs = {seat: 1 if specs[seat] == "greedy" else -1 for seat in "NESW"}
            if options:
                points = trace["side_points"]
                seen[seating] = (points["attackers"] - points["defenders"]) * signs[trace["declarer"]]
            else:
                seen[seating] = sum(trace["credits"][seat] * signs[seat] for seat in "NESW") / 2
        assert seen.items() <= worst["playings"].items()


def test_json_lines_are_as_the_format_says(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(
        capsys, "compare", "elections", "greedy", "random+greedy", "--contract", "all", "--ruleset", "tricks", "--deals", "8",
        "--seed", "340282366920938463463374607431768211455", "--solved", "0", "--format", "jsonl",
    )  # fmt: skip
    assert status == 3
    assert "seed 340282366920938463463374607431768211455" in err
    rows = [json.loads(line, parse_constant=pytest.fail) for line in out.splitlines()]
    assert [row["contract"] for row in rows] == [None, *simcore.load_ruleset("tricks").contract_ids]
    for row in rows:
        wanted = {"a", "b", "contract", "mean", "stderr", "low", "high", "confidence", "deals", "verdict"}
        assert wanted <= row.keys()
        assert row["verdict"] == "open"


def test_a_players_file_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    low = "def low_play(view, rules, stream):\n    return int(view.legal) & -int(view.legal)\n"
    path.write_text(low + "\n\ndef bad_play(view, rules, stream):\n    return 0\n")
    spec = f"greedy+{path}:low"
    args = ("compare", "elections", spec, "greedy", "--contract", "nt-most", "--deals", "8", "--seed", "1", "--solved", "0")
    status, out, err = run(capsys, *args)
    assert status in (0, 3), err
    assert "plain Python" in err
    assert spec in out
    status, _, err = run(capsys, *args[:2], f"greedy+{path}:bad", *args[3:])
    assert status == 1
    assert "mine.py:bad' returned 0x0" in err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["elections", "greedy"], "1 player(s) named; accepted: 2 to 20"),
        (["elections", "greedy", "greedy"], "named twice"),
        (["elections", "greedy", "nobody"], "'nobody'"),
        (["elections", "greedy", "random", "--contract", "spades"], "contract 'spades' is unknown"),
        (["elections", "greedy", "random", "--deals", "12"], "deals 12 cuts a round"),
        (["elections", "greedy", "random", "--deals", "8", "--first", "4"], "first 4 cuts a round"),
        (["elections", "greedy", "random", "--pairs", "NS"], "accepted only with a contract"),
        (["elections", "greedy", "random", "--pairs", "lot", "--contract", "all"], "pairs 'lot'"),
        (["elections", "greedy", "random", "--declarer", "N"], "needs a contract"),
        (["elections", "greedy", "random", "--trump", "clubs"], "does not go with elections"),
        (["showcase", "greedy", "random", "--contract", "all"], "does not go with showcase"),
        (["showcase", "greedy", "random", "--pairs", "NS"], "do not go with showcase"),
        (["showcase", "greedy", "random", "--trump", "x"], "trump 'x' is unknown"),
        (["showcase", "greedy", "random", "--sprt", "1 0 .05 .05"], "d0 < d1"),
        (["showcase", "greedy", "random", "--sprt", "0 nan .05 .05"], "no two hypotheses"),
        (["showcase", "greedy", "random", "--sprt", "0 1 .05"], "not four numbers"),
        (["showcase", "greedy", "random", "--sprt", "0 1 .05 .9"], "beta 0.9 is out of range"),
        (["showcase", "greedy", "random", "expert", "--sprt", "0 1 .05 .05"], "goes with two players"),
        (["showcase", "greedy", "random", "--confidence", "1"], "confidence 1.0 is out of range"),
        (["showcase", "greedy", "random", "--confidence", "nan"], "confidence nan is out of range"),
        (["showcase", "greedy", "random", "--solved", "-1"], "solved deals -1"),
        (["showcase", "greedy", "random", "--solve-from", "14"], "trick 14"),
        (["showcase", "greedy", "random", "--threads", "0"], "threads 0"),
        (["showcase", "greedy", "random", "--deals", "0"], "deals 0"),
        (["showcase", "greedy", "random", "--overwrite"], "--out DIR"),
        (["showcase", "greedy", "random", "--format", "markdown"], "--out DIR"),
    ],
)  # fmt: skip
def test_bad_use_is_told(args: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "compare", *args)
    assert (status, out) == (2, "")
    assert says in err


def test_nothing_is_said_before_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert "seed" not in run(capsys, "compare", "showcase", "greedy", "random", "--threads", "0")[2]


def test_the_command_is_read_back_as_the_same_contest() -> None:
    contest = make_contest("showcase", ["greedy", "random"], sprt="0 1.2345678 0.0123456789 .05", confidence=0.9512345, seed=1)
    words = contest.command()
    again = {word: words[place + 1] for place, word in enumerate(words) if word in ("--sprt", "--confidence")}
    assert again == {"--sprt": "0 1.2345678 0.0123456789 0.05", "--confidence": "0.9512345"}


def test_bad_options_from_python() -> None:
    for options in ({"sprt": [0, 1]}, {"sprt": "0 1 x y"}, {"deals": 9}, {"ruleset": "showcase"}):
        with pytest.raises(SimcoreError):
            simcore.compare("elections", "greedy", "random", **options)
    with pytest.raises(SimcoreError):
        simcore.compare("chess", "greedy", "random")


@pytest.mark.parametrize("spec", ["rollout:,", "rollout:", "rollout:worlds=2,", "random+rollout:,worlds=2"])
def test_an_empty_option_is_refused(spec: str) -> None:
    with pytest.raises(SimcoreError, match="empty option"):
        make_contest("showcase", ["random", spec])


def test_a_folder_of_another_command_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simcore.compare("showcase", "greedy", "random", deals=2, solved=0, seed=1, out=tmp_path)
    for args in (("simulate", "--resume"), ("replay", "--run")):
        status, _, err = run(capsys, *args, str(tmp_path))
        assert status == 2
        assert "holds a comparison, of 'simcore compare'" in err


def test_ctrl_c_ends_with_130_and_the_command_that_goes_on(tmp_path: Path) -> None:
    program = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program += "from cli.main import main\nmain(sys.argv[1:])"
    args = ["compare", "showcase", "expert", "greedy", "--deals", "400000000", "--solved", "0", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *args],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 1800
        while not (tmp_path / "out" / "part-00001.parquet").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=1800)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert process.returncode == 130, err
    last = err.strip().splitlines()[-1]
    assert "simcore compare showcase expert greedy" in last
    assert "--seed" in last
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["complete"] is False


@pytest.mark.parametrize("name", ["result.json", "cards.parquet", "timings.json", "report.html", "report.md"])
def test_a_folder_with_foreign_files_is_refused_before_anything_is_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("mine")
    given = ("compare", "showcase", "greedy", "random", "--deals", "2", "--solved", "0", "--seed", "1", "--out", str(folder))
    status, _, err = run(capsys, *given)
    assert status == 2
    assert f"{name!r} is in the way" in err.replace(str(folder) + "/", "")
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "mine"
    run(capsys, *given, "--overwrite")
    assert (folder / name).read_bytes() != b"mine"


def test_overwriting_removes_the_old_runs_pages_and_times_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--deals", "2", "--seed", "1", "--out", str(tmp_path))
    run(capsys, "compare", "showcase", "greedy", "random", "--solved", "0", *given)
    (tmp_path / "notes.txt").write_text("mine")
    assert {"report.html", "report.md", "timings.json"} <= {path.name for path in tmp_path.iterdir()}
    (tmp_path / "report.md").write_text("mine")
    run(capsys, "simulate", "showcase", *given, "--overwrite")
    left = {path.name for path in tmp_path.iterdir()} - {".lock"}
    assert left == {"manifest.json", "part-00000.parquet", "notes.txt", "report.md"}


def test_all_intervals_of_a_sequential_test_are_wide_enough_for_where_it_stops() -> None:
    given: dict[str, Any] = {"deals": 400, "solved": 0, "seed": 5}
    fixed = simcore.compare("showcase", "greedy", "random", **given).data()
    mean = fixed["rows"][0]["mean"]
    stopped = simcore.compare("showcase", "greedy", "random", sprt=[mean - 0.01, mean + 0.01, 0.01, 0.01], **given).data()
    assert stopped["rows"][0]["units"] == 400  # as far from the one as from the other
    assert stopped["reached"]
    for row in stopped["reached"]:
        if row["stderr"]:
            wide = sequence_radius(row["units"], 0.05) * math.sqrt(row["units"]) * row["stderr"]
            assert row["high"] == pytest.approx(min(row["mean"] + wide, 13))
    row, other = stopped["rows"][0], fixed["rows"][0]
    assert 0 <= row["win_low"] < row["win_share"] < row["win_high"] <= 1
    assert row["win_high"] - row["win_low"] > 1.2 * (other["win_high"] - other["win_low"])


#: It works for 0.4 s before it answers for the first time.
SLOW_AT_FIRST = """
import time
seen = []
def slow_first(view, rules, stream):
    start = time.thread_time()
    while not seen and time.thread_time() < start + 0.4:
        pass
    seen.append(1)
    return int(view.legal) & -int(view.legal)
"""


def test_times_leave_out_loading_and_stay_those_of_the_run_that_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # clocks that stand still while something else has the processor
    monkeypatch.setattr("simcore.plugins.time", SimpleNamespace(perf_counter=time.thread_time))
    monkeypatch.setattr("simcore.contests.timings.time", SimpleNamespace(perf_counter=time.process_time))
    (tmp_path / "slow.py").write_text(SLOW_AT_FIRST)
    given = ("compare", "showcase", f"greedy+{tmp_path / 'slow.py'}:slow", "random", "--deals", "8", "--solved", "0", "--seed", "1")
    run(capsys, *given, "--out", str(tmp_path / "out"))
    file = tmp_path / "out" / "timings.json"
    rows = json.loads(file.read_text())["rows"]
    assert rows[0]["decision"] == "first"
    assert rows[0]["seconds_a_decision"] < 0.4 / (2 * 8 * 13)
    assert rows[1]["seconds_a_decision"] < 1e-3
    file.write_text("those of the run that played")
    run(capsys, *given, "--out", str(tmp_path / "out"))
    assert file.read_text() == "those of the run that played"


@pytest.mark.parametrize(
    "args",
    [
        ("showcase", "{file}:slow:limit=9+greedy", "random", "--trump", "all", "--deals", "40", "--ruleset", "{rules}"),
        ("elections", "greedy", "random", "--contract", "nt-fewest", "--pairs", "NS", "--sprt", "0 1.25 .05 .05", "--deals", "200"),
        (
            "elections",
            "greedy",
            "random",
            "--contract",
            "all",
            "--deals",
            "2",
            "--confidence",
            "0.9512345",
            "--known",
            "N:A... - - -",
        ),
    ],
)
def test_a_folder_goes_on_without_options(args: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "slow.py").write_text(SLOW_AT_FIRST)
    (tmp_path / "mine.toml").write_text((ROOT / "simcore" / "rulesets" / "showcase.toml").read_text())
    given = [word.format(file=tmp_path / "slow.py", rules=tmp_path / "mine.toml") for word in args]
    folder = tmp_path / "out"
    status, whole, _ = run(capsys, "compare", *given, "--seed", "1", "--solved", "0", "--out", str(folder))
    before = _bytes(folder)
    for name in ("result.json", "report.html", "cards.parquet", "part-00000.parquet"):
        (folder / name).unlink()
    again, out, err = run(capsys, "compare", "--resume", str(folder), "--repair")
    assert (again, out) == (status, whole), err
    assert _bytes(folder) == before


def test_resuming_takes_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simcore.compare("showcase", "greedy", "random", deals=2, solved=0, seed=1, out=tmp_path / "c")
    simcore.simulate("showcase", deals=2, seed=1, out=tmp_path / "s")
    for args, says in (
        (("--resume", str(tmp_path / "c"), "--seed", "1"), "--seed does not go with --resume"),
        (("showcase", "greedy", "--resume", str(tmp_path / "c")), "does not go with --resume"),
        (("elections", "--resume", str(tmp_path / "c")), "is not the game of"),
        (("--resume", str(tmp_path / "s")), "holds no comparison"),
        (("--resume", str(tmp_path / "none")), "holds no manifest"),
        ((), "which game?"),
    ):
        status, out, err = run(capsys, "compare", *args)
        assert (status, out) == (2, "")
        assert says in err
