"""Contracts of one hand by exact values: against the solver called directly, scores against the engine's, beside rollouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cli import run

import simcore
from simcore.choosing import exactly, pieces
from simcore.choosing.bias import TABLE, bias_of
from simcore.choosing.exactly import results_of_margins
from simcore.choosing.result import comparison_verdict
from simcore.choosing.verb import resume_choice
from simcore.elections.play import LOSS, WIN, result_from
from simcore.elections.worlds import RESULTS
from simcore.errors import BadInput, RunError
from simcore.reports.commands import command_line
from simcore.rules import load_ruleset, parse_ruleset
from simcore.solvers import solve_position

HAND = "AKQJT98.AK.32.32"


def choose(**options: Any) -> simcore.Choices:
    options = {"hand": HAND, "seat": "S", "seed": 7, "threads": 2, "ruleset": "tricks", "method": "double-dummy"} | options
    return simcore.choose("elections", **options)


@pytest.mark.parametrize("lead", ["left-of-declarer", "left-of-dealer"])
def test_values_are_those_of_the_solver_and_rows_follow_from_them(lead: str) -> None:
    rules = load_ruleset("tricks").with_choices(lead=lead)
    choices = choose(max_deals=12, ruleset=rules)
    assert choices.tables == ("double-dummy",)
    worlds = choices.worlds().to_pylist()
    assert len(worlds) == 12 * 5
    for row in worlds[::3]:
        hands = [row[f"hand_{seat}"] for seat in "nesw"]
        partner = "NESW".index(row["partner"])
        leads = "NESW".index(row["dealer"] if lead == "left-of-dealer" else "S") + 1
        contract = rules.contract(row["choice"])
        margin = solve_position(hands, contract, pairing=2 ^ partner, declarer="S", leader=leads % 4).margin
        assert (row["margin"], row["win"], row["credit"]) == (margin, margin > 0, (13 + margin) // 2)
        assert row["relative"] == pytest.approx(margin * 2 / 3)
    frame = choices.worlds().to_pandas()
    for line in choices.rows:
        mine = frame[frame["choice"] == line["choice"]]
        assert (len(mine), mine["relative"].mean()) == (line["deals"], pytest.approx(line["mean"]))
        assert mine["relative"].sem() == pytest.approx(line["stderr"])
    assert choices.sampling["solves"] == 60


@pytest.mark.parametrize("ruleset", ["elections", "variety", "elections-joint"])
def test_scores_follow_from_the_margin_as_the_engine_counts_them(ruleset: str) -> None:
    rules = load_ruleset(ruleset)
    generator = np.random.default_rng(3)
    for variant in (rules, rules.with_choices(tie="draw")):
        for number, _ in enumerate(variant.contracts):
            for _ in range(40):
                cards = sum(1 << int(16 * (c // 13) + c % 13) for c in generator.permutation(52)[:26])
                taken = int(generator.integers(0, 14))
                own, other, result = result_from(variant.record[0], number, np.uint64(cards), np.int64(taken))
                bonus = variant.failure_bonus if result == LOSS else 0
                credits = np.array([own, own, other + bonus, other + bonus])
                row = results_of_margins(variant, number, np.array([own - other]))[0]
                assert dict(zip(RESULTS, row.tolist(), strict=True)) == {
                    "relative3": 3 * credits[0] - credits[1:].sum(),
                    "margin": own - other,
                    "win": int(result == WIN),
                    "credit": own,
                }


def test_both_share_their_worlds_and_are_compared_pairwise() -> None:
    choices = choose(method="both", dealer="E", max_solved=20)
    assert choices.tables == ("double-dummy", "contract", "call")
    assert choices.best("contract") == choices.comparison["best"]["rollout"] == "spades-tricks"
    assert choices.decided  # by the rollouts
    frame = choices.worlds().to_pandas()
    exact = frame[frame["table"] == "double-dummy"].set_index(["world", "choice"])
    played = frame[frame["table"] == "contract"].set_index(["world", "choice"])
    hands = [f"hand_{seat}" for seat in "nesw"]
    for row in choices.comparison["rows"]:
        mine = exact.xs(row["choice"], level="choice")
        theirs = played.xs(row["choice"], level="choice").loc[mine.index]
        assert (mine[hands] == theirs[hands]).all(axis=None)
        assert (mine["partner"].astype(str) == theirs["partner"].astype(str)).all()
        difference = mine["margin"] - theirs["margin"]
        assert row["flattered"] == pytest.approx(difference.mean())
        assert row["flattered_stderr"] == pytest.approx(difference.sem())
        assert row["worlds"] == 20
    # rollouts are what they are without exact values beside them
    alone = choose(method="rollout", dealer="E")
    assert alone.rows == [row for row in choices.rows if row["table"] != "double-dummy"]
    assert choose(method="both", dealer="E", max_solved=20, threads=1).data() == choices.data()


def test_the_declarer_solves_the_contracts_of_the_type_with_the_partner_found() -> None:
    """Matched: the partner of the auction; unmatched: the lot partner of each world (E8)."""
    text = load_ruleset("tricks").text.replace('contracts = ["spades-tricks"]', 'contracts = ["spades-tricks", "spades-more"]')
    rules = parse_ruleset(text + '\n[contracts.spades-more]\ntrump = "spades"\nmost_tricks = 12\n')
    matched = choose(ruleset=rules, dealer="E", calls="S spades, W pass, N spades", max_deals=8)
    assert {row["choice"] for row in matched.rows} == {"spades-tricks", "spades-more"}
    alone = choose(ruleset=rules, dealer="E", calls="S spades, W pass, N pass, E pass", max_deals=8, players="greedy")
    for choices, fixed in ((matched, 2), (alone, None)):
        for row in choices.worlds().to_pylist():
            pairing = fixed or {"NE": 1, "NS": 2, "NW": 3}[row["lots"]]
            hands = [row[f"hand_{seat}"] for seat in "nesw"]
            solution = solve_position(hands, rules.contract(row["choice"]), pairing=pairing, declarer="S")
            assert row["margin"] == solution.margin


def test_time_ends_it_at_whole_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if time ran out while the fourth world is being solved; and before the first one is."""
    take = pieces._FromThreads.take

    def late(self: Any, numbers: Any, choices: Any, **how: Any) -> Any:
        found = take(self, numbers, choices, **how)
        return found[: 3 * len(choices) + 1] if how.get("least") == 0 else found

    monkeypatch.setattr(pieces._FromThreads, "take", late)
    choices = choose(max_time=1000)
    assert choices.sampling["stopped"] == "time"
    assert not choices.config["reproducible"]
    assert choices.sampling["solved_worlds"] == 3
    assert all(row["deals"] == 3 for row in choices.rows)
    monkeypatch.undo()
    whole = choose(max_deals=3)
    assert [(row["choice"], row["mean"]) for row in choices.rows] == [(row["choice"], row["mean"]) for row in whole.rows]
    assert choices.sampling["worlds"] == choices.sampling["effective_worlds"] == 3
    assert choices.warnings == ("only 3 worlds were solved: figures are rough",)


def test_no_time_for_a_single_world() -> None:
    """Exact values alone are an error; beside rollouts these are told without them."""
    with pytest.raises(RunError, match="no world was solved"):
        choose(ruleset="elections", max_time=0.0001)
    choices = choose(ruleset="elections", method="both", max_time=0.0001)
    assert choices.tables == ("contract",)
    assert choices.comparison == {}
    assert any("no world was solved" in warning for warning in choices.warnings)
    assert (choices.sampling["solved_worlds"], choices.sampling["stopped"]) == (0, "time")
    assert set(choices.worlds()["table"].to_pylist()) == {"contract"}


@pytest.mark.parametrize(
    ("first", "other", "agree", "said"),
    [
        (["a"], ["a"], True, "both put a first"),
        (["a"], ["b"], False, "they disagree: rollouts put a first, double dummy puts b first"),
        (["a"], ["a", "b"], None, "rollouts put a first; double dummy cannot tell (a tied with b)"),
        (["a"], ["b", "a"], None, "rollouts put a first; double dummy cannot tell (b tied with a)"),
        (["a", "b"], ["b"], None, "rollouts cannot tell (a tied with b); double dummy puts b first"),
        (["a"], ["b", "c"], False, "they disagree: rollouts put a first, double dummy cannot tell (b tied with c)"),
    ],
)
def test_no_agreement_is_stated_where_a_side_is_tied(first: list[str], other: list[str], agree: bool | None, said: str) -> None:
    assert exactly._agree(first, other) is agree
    sides = {"rollout": first, "double_dummy": other}
    best, tied = ({side: names[cut] for side, names in sides.items()} for cut in (0, slice(1, None)))
    assert comparison_verdict({"best": best, "tied": tied, "agree": agree}) == said


def test_few_worlds_solved_leave_the_comparison_open() -> None:
    """Two solved worlds tell nothing apart, whatever rollouts say."""
    choices = choose(method="both", max_solved=2)
    ranked = [row for row in choices.rows if row["table"] == "double-dummy"]
    assert choices.comparison["agree"] is None
    assert choices.comparison["tied"] == {"rollout": [], "double_dummy": [row["choice"] for row in ranked if row["tied"]]}


def test_solving_ends_at_a_world_that_is_too_hard(tmp_path: Path) -> None:
    """Which it is does not depend on threads or folders; the worlds before it count, and the next is not tried."""
    asked: dict[str, Any] = {"ruleset": "elections", "max_deals": 40, "max_plies": 1_000_000}
    choices = choose(**asked)
    sampling, (given_up, *_) = choices.sampling, choices.warnings
    assert (sampling["stopped"], choices.decided) == ("plies", False)
    assert 0 < sampling["worlds"] < 40
    assert f"was given up in world {sampling['worlds']} after 1,000,000 plies (attackers' points minus defenders' lie" in given_up
    assert choose(**asked, threads=1).data() == choices.data()
    first = choose(ruleset="elections", max_deals=sampling["worlds"], max_plies=None)
    assert [row["mean"] for row in first.rows] == [row["mean"] for row in choices.rows]
    assert first.sampling["stopped"] != "plies"
    (named,) = [name for name in choices.worlds().column("choice").unique().to_pylist() if given_up.startswith(name)]
    hard = choose(ruleset="elections", max_deals=sampling["worlds"] + 1, max_plies=None).worlds().to_pylist()
    (row,) = [row for row in hard if row["world"] == max(row["world"] for row in hard) and row["choice"] == named]
    least, most = (int(text) for text in given_up.split("lie between ")[1].split(")")[0].split(" and "))
    assert least <= row["margin"] <= most
    assert least < most
    # in a folder, and gone on with after the batch that ended it
    written = choose(**asked, out=tmp_path / "answer")
    assert written.data() == choices.data()
    assert resume_choice(tmp_path / "answer").data() == choices.data()
    manifest = json.loads((tmp_path / "answer" / "manifest.json").read_text())
    assert manifest["config"]["max_plies"] == 1_000_000
    again = command_line("choose", manifest["config"])
    assert again[again.index("--max-plies") + 1] == "1000000"


def test_no_world_solved_within_the_plies() -> None:
    with pytest.raises(RunError, match=r"was given up in world 0 after 1 plies .* accepted: more --max-plies, or method rollout"):
        choose(max_plies=1)
    both = choose(method="both", max_plies=1, max_solved=4)
    assert "was given up in world 0 after 1 plies" in both.warnings[0]
    assert {row["table"] for row in both.rows} == {"contract"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_plies": 0}, ["max plies 0", "a whole number from 1 to"]),
        ({"max_plies": 7, "method": "rollout"}, ["max plies 7", "double-dummy or both"]),
        ({"max_plies": None, "method": "rollout"}, ["max plies None", "double-dummy or both"]),
        ({"method": "dd"}, ["'dd'", "double-dummy"]),
        ({"max_solved": 0, "method": "both"}, ["0", "1,048,576"]),
        ({"max_solved": 5, "method": "rollout"}, ["5", "both"]),
        ({"ruleset": load_ruleset("elections").with_choices(result="both-signs")}, ["both-signs", "diamonds-colours", "E16"]),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        choose(**options)
    for word in words:
        assert word in str(error.value)


def test_the_bias_table_covers_contracts_of_the_default_ruleset() -> None:
    data = json.loads(TABLE.read_text("utf-8"))
    assert {"simcore", "seed", "contracts"} <= set(data)
    rules = load_ruleset("elections")
    for contract in ("nt-most", "nt-fewest", "clubs-tricks", "clubs-reds", "hearts-spades", "diamonds-colours", "spades-honours"):
        found = bias_of(rules, contract)
        assert found is not None, contract
        assert found["deals"] >= 10
        assert found["bias_best_hand_stderr"] > 0
    assert bias_of(rules.with_choices(lead="left-of-dealer"), "nt-most") is None


def test_command_prints_both_side_by_side(tmp_path: Path) -> None:
    args = ["choose", "elections", "--hand", HAND, "--seat", "S", "--seed", "7", "--ruleset", "tricks", "--max-solved", "10"]
    done = run(*args, "--method", "both", "--out", str(tmp_path))
    assert "rollouts put spades-tricks first; double dummy cannot tell (spades-tricks tied with" in done.stdout
    assert "solves/s" in done.stderr
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["result"]["comparison"]["agree"] is None
    lines = run(*args[:-2], "--method", "double-dummy", "--max-deals", "10", "--format", "jsonl", status=3).stdout.splitlines()
    assert [json.loads(line)["table"] for line in lines] == ["double-dummy"] * 5
