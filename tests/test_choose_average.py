"""Averages over random hands and deals: against their own rows, against simulate, against rulesets where the answer is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from test_choose import _seen
from test_cli import run

import simcore
from simcore.choosing.race import RunningMean
from simcore.deals.dealing import deal_hands
from simcore.errors import BadInput
from simcore.rules import TRUMPS, parse_ruleset
from simcore.solvers import two

_EASY = """
game = "elections"
name = "easy"

[[types]]
id = "spades"
contracts = ["spades-tricks", "spades-penance"]

[contracts.spades-tricks]
trump = "spades"
trick = 1

[contracts.spades-penance]
trump = "spades"
trick = -1
"""


def average(**options: Any) -> simcore.Choices:
    return simcore.choose("elections", **({"seed": 3, "threads": 2, "max_deals": 96} | options))


def test_rows_follow_from_the_hands() -> None:
    choices = average(objective="margin")
    frame = choices.worlds().to_pandas()
    hands = deal_hands(3, 0, 96)
    assert frame.groupby("number")["hand"].first().to_list() == [int(hands[i, i % 4]) for i in range(96)]
    for row in [row for row in choices.rows if row["table"] == "best-for-a-hand"]:
        mine = frame[frame["choice"] == row["choice"]]
        assert mine["mean"].mean() == pytest.approx(row["worth_by_chance"])
        assert mine["mean"].sem() == pytest.approx(row["worth_by_chance_stderr"])
        assert mine["best"].mean() == pytest.approx(row["mean"])
        assert row["low"] <= row["mean"] <= row["high"]
        chosen = mine[mine["best"]]["worth"]
        if len(chosen) > 1:
            assert chosen.mean() == pytest.approx(row["worth_then"])
            assert chosen.sem() == pytest.approx(row["worth_then_stderr"])
    best = frame[frame["best"]]
    assert len(best) == 96
    assert best["worth"].mean() == pytest.approx(choices.sampling["worth_of_choosing"])
    # a contract that is not close to the best is never called so; the best by first looks mostly stays the best
    assert (best["mean"].to_numpy() == frame.groupby("number")["mean"].max().to_numpy()).mean() > 0.7


def test_positions_agree_with_simulate() -> None:
    """By chance the margin of the attackers is that of simulate, within six standard errors, whatever the partner's place."""
    choices = average(max_deals=300, objective="margin")
    for pairs in ("NE", "NS", "NW"):
        options = {"players": "expert", "declarer": "N", "pairs": pairs, "contract": "all"}
        table = simcore.simulate("elections", deals=6000, seed=9, **options).table().to_pandas()
        margins = table["points_attackers"].astype(int) - table["points_defenders"].astype(int)
        name = {"NE": "partner_left", "NS": "partner_opposite", "NW": "partner_right"}[pairs]
        for row in [row for row in choices.rows if row["table"] == "position"]:
            mine = margins[table["contract"] == row["choice"]]
            error = np.hypot(mine.sem(), row[f"{name}_stderr"])
            assert abs(mine.mean() - row[name]) < 6 * error


def test_mirrored_contracts_are_worth_the_opposite() -> None:
    """Taking tricks and being fined for them: where one is good the other is not, so that nobody's best is worth less than 0."""
    rules = parse_ruleset(_EASY)
    choices = average(ruleset=rules, max_deals=64)
    frame = choices.worlds().to_pandas().pivot(index="number", columns="choice", values="mean")
    assert np.corrcoef(frame["spades-tricks"], frame["spades-penance"])[0, 1] < -0.6
    assert choices.sampling["worth_of_choosing"] > 0.5
    assert {row["choice"] for row in choices.rows} == set(rules.contract_ids)


def test_the_same_seed_gives_the_same_average_on_any_threads() -> None:
    assert average(max_deals=20, threads=1).data() == average(max_deals=20).data()
    assert average(max_deals=20, seed=4).rows != average(max_deals=20).rows


def test_an_average_that_is_decided_stops() -> None:
    """A single contract is every hand's best."""
    text = _EASY.replace(', "spades-penance"', "").split("[contracts.spades-penance]")[0]
    choices = average(ruleset=parse_ruleset(text), max_deals=2000)
    assert (choices.sampling["hands"], choices.sampling["stopped"], choices.decided) == (256, "decided", True)
    assert choices.best() == "spades-tricks"
    assert choices.rows[0]["mean"] == 1


def test_showcase_values_are_exact_after_the_same_first_playouts() -> None:
    choices = simcore.choose("showcase", seed=5, max_deals=6, players="expert")
    frame = choices.worlds().to_pandas()
    for index in range(6):
        trace = simcore.replay("showcase", seed=5, first=index, players="expert")[0]
        hands, shows, _ = _seen(trace, magri=False)
        holdings = [hand | show for hand, show in zip(hands, shows, strict=True)]
        mine = frame[frame["deal"] == index]
        assert set(mine["namer"]) == {trace["namer"]}
        assert set(mine["leader"]) == {trace["second"][0]["leader"]}
        assert set(mine["trick_13"]) == {trace["first"][12]["winner"]}
        for row in mine.to_dict("records"):
            other = "S" if row["namer"] == "N" else "N"
            for leader, name in ((row["namer"], "tricks_leading"), (other, "tricks_following")):
                north = two.value(*holdings, row["choice"], leader)
                assert row[name] == (north if row["namer"] == "N" else 13 - north)


@pytest.mark.parametrize("ruleset", ["showcase", "showcase-magri"])
def test_showcase_rows_follow_from_the_deals(ruleset: str) -> None:
    choices = simcore.choose("showcase", ruleset=ruleset, seed=5, max_deals=40)
    assert choices.data() == simcore.choose("showcase", ruleset=ruleset, seed=5, max_deals=40, threads=1).data()
    frame = choices.worlds().to_pandas()
    frame["now"] = np.where(frame["leader"] == frame["namer"], frame["tricks_leading"], frame["tricks_following"])
    table = frame.pivot(index="deal", columns="choice", values="now")[list(TRUMPS)]
    best = table.eq(table.max(axis=1), axis=0)
    rows = {row["choice"]: row for row in choices.rows}
    for trump in TRUMPS:
        assert rows[trump]["tricks"] == pytest.approx(table[trump].mean())
        assert rows[trump]["mean"] == pytest.approx((best[trump] / best.sum(axis=1)).mean())
        assert rows[trump]["as_good"] == pytest.approx(best[trump].mean())
    assert sum(rows[trump]["mean"] for trump in TRUMPS) == pytest.approx(1)
    assert rows["naming"]["mean"] == pytest.approx((table.max(axis=1) - table.min(axis=1)).mean())
    assert rows["namer"]["mean"] == pytest.approx(table.max(axis=1).mean())
    gain = frame.groupby("deal")["tricks_leading"].max() - frame.groupby("deal")["tricks_following"].max()
    assert rows["lead"]["mean"] == pytest.approx(gain.mean())
    assert rows["lead-namer"]["deals"] + rows["lead-other"]["deals"] == 40
    for row in choices.rows:
        assert row["low"] <= row["mean"] <= row["high"]


def test_running_mean_holds_at_every_look() -> None:
    """100 runs, each looked at 15 times, at 95 %: the bounds are valid at every look, so few runs may ever miss."""
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(100):
        running, out = RunningMean(0, 1), False
        for _ in range(15):
            running.add((generator.random(20) < 0.3).astype(np.int64))
            low, high = running.bounds(0.05)
            out |= not low <= 0.3 <= high
        missed += out
    assert missed <= 12


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("elections", {"seat": "N"}, ["seat 'N'", "hand"]),
        ("elections", {"calls": "N pass"}, ["calls", "hand"]),
        ("elections", {"partner": "N"}, ["'N'", "any, lot"]),
        ("elections", {"method": "both"}, ["'both'", "rollout"]),
        ("elections", {"hand": "AKQJT98765432..."}, ["needs a seat"]),
        ("elections", {"max_deals": 0}, ["0"]),
        ("showcase", {"leader": "N"}, ["leader 'N'", "hand"]),
        ("showcase", {"hand": "AK...", "seat": "N"}, ["needs a leader"]),
        ("showcase", {"hand": "AK...", "seat": "N", "leader": "N", "players": "expert"}, ["players 'expert'"]),
        ("showcase", {"confidence": 1.5}, ["1.5"]),
        ("showcase", {"players": "nobody"}, ["'nobody'"]),
    ],
)
def test_what_does_not_go_together_is_refused(game: str, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        simcore.choose(game, **options)
    for word in words:
        assert word in str(error.value)


def test_commands_print_and_write(tmp_path: Path) -> None:
    done = run("choose", "elections", "--seed", "7", "--max-deals", "12", "--out", str(tmp_path / "e"), status=3)
    assert "12 random hands" in done.stdout
    assert "leader's side" in done.stdout
    assert "What makes a hand good" in done.stdout
    assert "clubs-tricks: start from" in done.stdout
    again = run("choose", "elections", "--seed", "7", "--max-deals", "12", "--out", str(tmp_path / "e"), status=3)
    assert again.stdout == done.stdout  # a finished answer is shown again, whole
    page = simcore.report(tmp_path / "e")
    assert "What makes a hand good" in page.markdown
    assert pq.read_table(tmp_path / "e" / "worlds.parquet").num_rows == 12 * 8
    done = run("choose", "showcase", "--seed", "7", "--max-deals", "8", "--out", str(tmp_path / "s"), status=3)
    assert "naming (S9)" in done.stdout
    assert json.loads((tmp_path / "s" / "manifest.json").read_text())["config"]["about"] == "average"
    lines = run("choose", "showcase", "--seed", "7", "--max-deals", "8", "--format", "jsonl", status=3).stdout.splitlines()
    assert [json.loads(line)["table"] for line in lines] == ["best-trump"] * 6 + ["worth"] * 6
