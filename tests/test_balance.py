"""Balance of rulesets: exact sums, figures recounted from the rows, the course of play told by hand, pairs on the same deals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest
from test_cli import run

import simcore
from simcore.designing.drama import DRAMA_SCALE, Story, story_of
from simcore.designing.sums import Figure, Sums, confidence_of_each
from simcore.errors import BadInput
from simcore.rules import SHIPPED, Ruleset, load_ruleset, parse_ruleset

MEAN = Figure("m", "m", "mean", 0, 1)
SHARE = Figure("s", "s", "share", 0, 1)
SD = Figure("d", "d", "sd", 0, 1, 2)
BALANCE = Figure("b", "b", "balance", 0, 1)


def sums_of(*values: np.ndarray) -> Sums:
    """Return sums of single values, one a unit, for one or two rulesets."""
    sums = Sums(3, len(values))
    columns = [np.stack([np.ones_like(v), v, v * v], axis=1) for v in values]
    for start in range(0, len(values[0]), 37):
        sums.add(*(column[start : start + 37] for column in columns))
    return sums


def test_figures_of_one_ruleset() -> None:
    values = np.random.default_rng(1).integers(-20, 30, 500)
    sums = sums_of(values)
    mean = MEAN.row(sums, 0.95, 0.95)
    assert mean["value"] == pytest.approx(values.mean())
    assert mean["stderr"] == pytest.approx(values.std(ddof=1) / math.sqrt(500))
    deviation = SD.row(sums, 0.95, 0.95)
    assert deviation["value"] == pytest.approx(values.std())
    fourth = ((values - values.mean()) ** 4).mean()
    expected = math.sqrt((fourth - values.var() ** 2) / (4 * values.var() * 499))
    assert deviation["stderr"] == pytest.approx(expected)
    assert (mean["n"], mean["units"]) == (500, 500)


def test_clusters_of_uneven_size() -> None:
    rng = np.random.default_rng(2)
    n = rng.integers(0, 9, 300)
    y = rng.binomial(n, 0.3)
    sums = Sums(2, 1)
    sums.add(np.stack([n, y], axis=1))
    share = Figure("s", "s", "share", 0, 1).row(sums, 0.95, 0.95)
    r = y.sum() / n.sum()
    assert share["value"] == pytest.approx(r)
    assert share["stderr"] == pytest.approx(math.sqrt(((y - r * n) ** 2).sum() * 300 / 299) / n.sum())
    assert share["low"] < r < share["high"]


def test_differences_are_paired() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(-20, 30, 400)
    second = first + rng.integers(0, 3, 400)
    row = MEAN.row(sums_of(first, second), 0.95, 0.999)
    change = second - first
    assert row["difference"] == pytest.approx(change.mean())
    assert row["difference_stderr"] == pytest.approx(change.std(ddof=1) / 20)
    assert row["difference_stderr"] < row["stderr"] / 5
    assert row["differs"] is True
    same = SD.row(sums_of(first, first), 0.95, 0.999)
    assert (same["difference"], same["difference_stderr"], same["differs"]) == (0.0, 0.0, False)


def test_numbers_of_any_size_stay_exact() -> None:
    big = np.array([2**31 - 60 + i for i in range(50)])
    row = SD.row(sums_of(big), 0.95, 0.95)
    assert row["value"] == pytest.approx(pstdev(range(50)), rel=1e-9)


def test_edges() -> None:
    nothing = Sums(3, 1)
    assert MEAN.row(nothing, 0.95, 0.95)["value"] is None
    one = sums_of(np.array([1]))
    assert MEAN.row(one, 0.95, 0.95)["stderr"] is None
    assert SHARE.row(one, 0.95, 0.95)["low"] < 0.5
    assert SD.row(sums_of(np.array([4, 4, 4])), 0.95, 0.95)["value"] == 0
    even = BALANCE.row(sums_of(np.array([1, -1] * 50)), 0.95, 0.95)
    assert even["value"] == 1.0
    assert even["high"] == 1.0
    assert 0.7 < even["low"] < 0.9
    assert confidence_of_each(0.95, 10) == pytest.approx(0.995)
    text = json.dumps([MEAN.row(nothing, 0.95, 0.95), even], allow_nan=False)
    assert "null" in text


def test_intervals_cover() -> None:
    """95 % of the intervals of a difference of standard deviations hold it: 800 tries, a false alarm below 1e-6."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(800):
        common = rng.normal(0, 8, 300)
        first, second = common + rng.normal(0, 6, 300), common + rng.normal(0, 6, 300)
        row = SD.row(sums_of(np.round(100 * first).astype(np.int64), np.round(100 * second).astype(np.int64)), 0.95, 0.95)
        held += row["difference_low"] <= 0 <= row["difference_high"]
    assert 720 <= held <= 797


@pytest.fixture(scope="module")
def found() -> simcore.Balance:
    return simcore.balance("elections", deals=400, traced=40, seed=11, players="greedy", against="elections-joint")


def test_contracts_are_those_of_simulate(found: simcore.Balance) -> None:
    rows = simcore.simulate("elections", deals=400, seed=11, players="greedy", contract="all").table().to_pylist()
    best: dict[str, list[float]] = {}
    for deal in range(400):
        every = [row for row in rows if row["deal"] == deal]
        worth = {}
        for row in every:
            credits = [row[f"credit_{seat}"] for seat in "nesw"]
            own = row[f"credit_{row['declarer'].lower()}"]
            worth[row["contract"]] = 3 * own - (sum(credits) - own)
        top = [name for name, value in worth.items() if value == max(worth.values())]
        for name in worth:
            best.setdefault(name, []).append((name in top) / len(top))
    for name, shares in best.items():
        mine = [row for row in rows if row["contract"] == name]
        margins = [row["points_attackers"] - row["points_defenders"] for row in mine]
        expected = {
            "attackers_win": fmean(row["result"] == "win" for row in mine),
            "margin": fmean(margins),
            "spread": pstdev(margins),
            "equal": fmean(margin == 0 for margin in margins),
            "best": fmean(shares),
        }
        for figure, value in expected.items():
            assert found.figure("contract", name, figure)["value"] == pytest.approx(value), (name, figure)
    assert sum(found.figure("contract", name, "best")["value"] for name in best) == pytest.approx(1)


def test_the_game_is_that_of_simulate(found: simcore.Balance) -> None:
    run_ = simcore.simulate("elections", deals=400, seed=11, players="greedy")
    rows = [row for row in run_.table().to_pylist() if row["status"] == "played"]
    expected = {
        "attackers_win": fmean(row["result"] == "win" for row in rows),
        "lot_partner": fmean(row["matched"] is False for row in rows),
        "passed_out": 1 - len(rows) / 400,
        "balance": 1 - abs(fmean((row["result"] == "win") - (row["result"] == "loss") for row in rows)),
    }
    for figure, value in expected.items():
        assert found.figure("auction", "", figure)["value"] == pytest.approx(value)
    places = {"first to call": 1, "second": 2, "third": 3, "dealer": 0}
    for entry, place in places.items():
        relative = []
        for row in run_.table().to_pylist():
            credits = [row[f"credit_{seat}"] for seat in "nesw"]
            own = credits[("NESW".index(row["dealer"]) + place) % 4]
            relative.append(own - (sum(credits) - own) / 3)
        assert found.figure("position", entry, "relative")["value"] == pytest.approx(fmean(relative))
    for row in run_.summary().to_pylist():
        share = found.figure("played", row["contract"], "share")
        assert share["value"] == pytest.approx(row["share"])
    wins = run_.summary_data()["rows"]
    assert found.figure("auction", "", "attackers_win")["n"] == sum(row["deals"] for row in wins)


def test_contracts_of_one_ruleset_only(found: simcore.Balance) -> None:
    lone = found.figure("contract", "nt-most", "margin")
    assert lone["against"]["value"] is None
    assert lone["difference"] is None
    other = found.figure("contract", "nt-joint", "margin")
    assert other["value"] is None
    assert other["against"]["n"] == 400
    both = found.figure("contract", "hearts-spades", "margin")
    assert (both["difference"], both["differs"]) == (0.0, False)


def test_showcase_is_that_of_simulate() -> None:
    found = simcore.balance("showcase", deals=200, traced=16, seed=5, players="greedy")
    rows = simcore.simulate("showcase", deals=200, seed=5, players="greedy").table().to_pylist()
    uneven = [row for row in rows if row["count_n"] != row["count_s"]]
    expected = {
        "namer_wins": fmean(row["namer"] == row["winner"] for row in rows),
        "elder_wins": fmean(row["dealer"] != row["winner"] for row in rows),
        "leader_wins": fmean(row["leader"] == row["winner"] for row in rows),
        "first_wins": fmean(("N" if row["count_n"] > row["count_s"] else "S") == row["winner"] for row in uneven),
        "equal_counts": 1 - len(uneven) / 200,
        "close": fmean(abs(row["points_n"] - row["points_s"]) == 1 for row in rows),
        "winning_margin": fmean(abs(row["points_n"] - row["points_s"]) for row in rows),
    }
    for figure, value in expected.items():
        assert found.figure("deal", "", figure)["value"] == pytest.approx(value), figure
    forced = simcore.simulate("showcase", deals=200, seed=5, players="greedy", trump="all").summary().to_pylist()
    for row in forced:
        assert found.figure("trump", row["trump"], "namer_wins")["value"] == pytest.approx(row["namer_wins"])
        assert found.figure("trump", row["trump"], "margin")["value"] == pytest.approx(2 * row["mean_namer"] - 13)


def test_the_same_ruleset_differs_in_nothing() -> None:
    found = simcore.balance("showcase", deals=40, traced=16, seed=5, players="random", against="showcase")
    assert all(row["difference"] == 0 and row["differs"] is False for row in found.rows)


def test_a_doubled_contract_doubles_its_margin() -> None:
    text = load_ruleset("tricks").text.replace('name = "tricks"', 'name = "double"').replace("trick = 1", "trick = 2")
    doubled = parse_ruleset(text)
    assert doubled.hash != load_ruleset("tricks").hash
    found = simcore.balance("elections", ruleset="tricks", against=doubled, deals=80, traced=0, seed=5, players="random")
    for name in doubled.contract_ids:
        row = found.figure("contract", name, "margin")
        assert row["against"]["value"] == pytest.approx(2 * row["value"])
        assert row["difference_stderr"] == pytest.approx(row["stderr"])
        assert found.figure("contract", name, "attackers_win")["difference"] == 0


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"deals": 64, "traced": 8, "seed": 3, "against": "variety"}
    whole = simcore.balance("elections", threads=1, **options)
    monkeypatch.setattr("simcore.designing.verb._BLOCK", 24)
    assert simcore.balance("elections", threads=2, **options).rows == whole.rows


# ---- the course of play


def elections_trace(winners: str, cards: list[str], contract: str, result: str) -> dict[str, Any]:
    """Return what a story needs of a trace: N and S attack; each trick's winner and cards."""
    tricks = [{"winner": winner, "cards": trick.split()} for winner, trick in zip(winners, cards, strict=True)]
    trace = {"game": "elections", "status": "played", "declarer": "N", "partner": "S", "contract": contract, "result": result}
    return trace | {"tricks": tricks}


BLANK = ["C2 C3 C4 C5"] * 13


def test_stories_by_hand() -> None:
    rules = load_ruleset("elections")
    # N wins the first, then E eight: defenders win; they were behind after trick 1; one change; settled with the 7th, trick 8
    story = story_of(elections_trace("N" + "E" * 8 + "NNNN", BLANK, "clubs-tricks", "loss"), rules)
    assert story == Story(True, round(DRAMA_SCALE * math.sqrt(2 / 26)), 1, 8)
    # level after two, behind after three: the winner is settled with the last trick
    story = story_of(elections_trace("NEENNEENNEENN", BLANK, "clubs-tricks", "win"), rules)
    assert story is not None
    assert story.comeback
    assert story.settled == 13
    # most tricks: behind by one is behind by all twelve points
    story = story_of(elections_trace("EEENNNNNNNEEE", BLANK, "nt-most", "win"), rules)
    assert story == Story(True, DRAMA_SCALE, 1, 10)
    # all tricks to one side: it never was open after the seventh
    story = story_of(elections_trace("N" * 13, BLANK, "nt-most", "win"), rules)
    assert story == Story(False, 0, 0, 7)
    # ♠ tens and jacks: 20 points ahead, the red ones left could make it equal, which is a loss
    cards = ["ST SJ S2 S3", "CT C2 C3 C4", "CJ C5 C6 C7", "HT HJ H2 H3", *["D2 D3 D4 D5"] * 8, "DT DJ D6 D7"]
    story = story_of(elections_trace("NNNEEEEEEEEEE", cards, "spades-honours", "win"), rules)
    assert story == Story(False, 0, 0, 4)
    # equal points are a loss by default: the defenders are settled although they are never ahead
    story = story_of(elections_trace("E" * 13, BLANK, "spades-honours", "loss"), rules)
    assert story is not None
    assert not story.comeback
    assert story_of(elections_trace("E" * 13, BLANK, "spades-honours", "draw"), rules) is None
    assert story_of({"game": "elections", "status": "passed-out"}, rules) is None


@pytest.mark.parametrize("name", [name for name in SHIPPED if load_ruleset(name).game == "elections"])
def test_stories_of_real_deals(name: str) -> None:
    """The last margin is the trace's; once settled, giving every trick left to the loser changes no winner."""
    rules = load_ruleset(name)
    seen = 0
    for contract in rules.contract_ids:
        for trace in simcore.replay("elections", ruleset=name, seed=2, deals=6, contract=contract, players="greedy"):
            story = story_of(trace, rules)
            if story is None:
                continue
            seen += 1
            assert 1 <= story.settled <= 13
            loser = next(s for s in "NESW" if (s in (trace["declarer"], trace["partner"])) != (trace["result"] == "win"))
            tricks = [t if i < story.settled else t | {"winner": loser} for i, t in enumerate(trace["tricks"])]
            assert _winner(tricks, trace, rules) == _winner(trace["tricks"], trace, rules)
            if contract in ("clubs-tricks", "nt-most"):
                side = [
                    (t["winner"] in (trace["declarer"], trace["partner"])) == (trace["result"] == "win") for t in trace["tricks"]
                ]
                assert sum(side[: story.settled]) == 7
                assert sum(side[: story.settled - 1]) == 6
    assert seen > 10


def _winner(tricks: list[dict[str, Any]], trace: dict[str, Any], rules: Ruleset) -> bool:
    """Tell whether the attackers have more points, counted plainly."""
    contract = rules.contract(trace["contract"])
    points = [0, 0]
    won = [0, 0]
    for trick in tricks:
        side = int(trick["winner"] not in (trace["declarer"], trace["partner"]))
        won[side] += 1
        points[side] += contract.trick
        for card in trick["cards"]:
            suit = "CDHS".index(card[0])
            points[side] += contract.suits[suit]
            points[side] += sum(value for key, value in contract.cards.items() if simcore.cards.format_card(key) == card)
    points[int(won[1] > won[0])] += contract.most_tricks
    return points[0] > points[1]


def test_stories_of_showcase() -> None:
    for trace in simcore.replay("showcase", seed=2, deals=20, players="greedy"):
        story = story_of(trace, load_ruleset("showcase"))
        assert story is not None
        mine = [trick["winner"] == trace["winner"] for trick in trace["second"]]
        assert sum(mine[: story.settled]) == 7
        assert mine[story.settled - 1]
        assert story.comeback == any(2 * sum(mine[:i]) < i for i in range(1, 14))


# ---- from outside


def test_bad_questions() -> None:
    for options, words in (
        ({"deals": 12}, "multiple of 8"),
        ({"deals": 0}, "deals"),
        ({"traced": -1}, "traced"),
        ({"confidence": 1.0}, "confidence"),
        ({"against": "showcase"}, "showcase"),
        ({"against": "nothing"}, "nothing"),
    ):
        with pytest.raises(simcore.SimcoreError, match=words):
            simcore.balance("elections", seed=1, **options)


def test_command_line(tmp_path: Path) -> None:
    changed = tmp_path / "a.toml"
    changed.write_text(load_ruleset("elections").text.replace("clubs = -2", "clubs = -4"), "utf-8")  # its name stays
    args = ("rulesets", "balance", "elections", "--deals", "160", "--traced", "16", "--seed", "5", "--players", "greedy")
    done = run(*args, "--against", str(changed), "--out", str(tmp_path / "out"))
    assert "elections (1) and elections (2)" in done.stdout
    assert "same" in done.stdout
    won = next(line for line in done.stdout.splitlines() if "attackers win %" in line)
    assert won.count("±") == 3, "each ruleset's, and the difference's"
    assert "seed 5" in done.stderr
    assert not list(tmp_path.glob("out/*tmp"))
    made = simcore.report(tmp_path / "out")
    assert "--against elections.toml" in made.markdown
    table = simcore.balance("elections", deals=160, traced=16, seed=5, players="greedy", against=changed).table()
    assert table.num_rows == len(open_rows(tmp_path / "out"))
    with pytest.raises(BadInput, match="overwrite"):
        simcore.balance("elections", deals=16, seed=1, out=tmp_path / "out")
    lines = [json.loads(line) for line in run(*args, "--format", "jsonl").stdout.splitlines()]
    assert {line["table"] for line in lines} == {"auction", "position", "contract", "played", "drama"}
    assert all(key in lines[0] for key in ("value", "stderr", "low", "high", "n", "units", "confidence"))
    assert "seed" in run("rulesets", "balance", "elections", "--seed", "x", status=2).stderr


def open_rows(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text("utf-8"))["rows"]
    return rows
