"""One seat's choices in Showcase at its turn: figures from their worlds, the same on any threads, exact from the naming on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from test_cli import run
from test_one_seat import some_views

import simcore
from simcore.cards import cards_of, format_card, format_hand, parse_card
from simcore.errors import BadInput, SimcoreError
from simcore.rules import TRUMPS
from simcore.searchers.one_seat import read_one_seat, value_choices
from simcore.showcase import state
from simcore.solvers import two


def choose(view: Any, **options: Any) -> simcore.Choices:
    return simcore.choose("showcase", view=view, **({"seed": 3, "threads": 2} | options))


@pytest.mark.parametrize("name", ["showcase", "magri"])
def test_cards_of_the_first_playout(name: str) -> None:
    ruleset, data, view = some_views(name, state.FIRST, 1)[0]
    choices = choose(data, ruleset=ruleset, max_deals=300)
    assert {row["choice"] for row in choices.rows} == {format_card(card) for card in cards_of(int(view.legal))}
    frame = choices.worlds().to_pandas()
    for row in choices.rows:
        mine = frame[frame["choice"] == (row["equal_to"] or row["choice"])]
        assert len(mine) == row["deals"]
        assert mine["tricks"].mean() == pytest.approx(row["tricks"]) == pytest.approx(row["mean"])
        assert (mine["tricks"] > 6).mean() == pytest.approx(row["win"])
        assert row["low"] <= row["mean"] <= row["high"]
        assert row["from"] == ("showcase" if int(view.show[view.seat]) >> parse_card(row["choice"]) & 1 else "hand")
    assert choices.rows[0]["best"]
    # another way through the sampler: within six standard errors
    found = value_choices(read_one_seat(data, ruleset), worlds=300, seed=9)
    means = {format_card(choice.action): (choice.mean, choice.stderr) for choice in found.choices}
    for row in choices.rows:
        mean, stderr = means[row["choice"]]
        if row["deals"] == 300 or row["best"]:
            assert abs(mean - row["mean"]) <= 6 * ((stderr or 0) ** 2 + row["stderr"] ** 2) ** 0.5 + 1e-9
    one = choose(json.dumps(data), ruleset=ruleset, max_deals=300, threads=1)
    assert one.data() == choices.data()
    assert choose(data, ruleset=ruleset, max_deals=300, seed=4).rows != choices.rows


def test_worlds_may_end_exactly_and_winning_may_be_the_aim() -> None:
    ruleset, data, _ = some_views("showcase", state.FIRST, 1)[0]
    choices = choose(data, ruleset=ruleset, max_deals=32, end="exact", objective="win")
    assert all(row["mean"] == pytest.approx(row["win"]) for row in choices.rows)
    assert choices.rows != choose(data, ruleset=ruleset, max_deals=32, objective="win").rows
    assert choices.config["end"] == "exact"


def test_trumps_and_cards_are_exact_from_the_naming_on() -> None:
    ruleset, data, view = some_views("showcase", state.TRUMP, 1)[0]
    choices = choose(data, ruleset=ruleset)
    assert choices.config["method"] == "exact"
    assert choices.decided
    seat = "NS"[view.seat]
    holdings = (view.hand, view.other) if seat == "N" else (view.other, view.hand)
    leader = "NS"[view.second_leader]
    for row in choices.rows:
        north = two.value(*(int(h) for h in holdings), row["choice"], leader)
        assert row["mean"] == row["tricks"] == (north if seat == "N" else 13 - north)
        assert row["win"] == (1.0 if row["tricks"] > 6 else 0.0)
    assert {row["choice"] for row in choices.rows} == set(TRUMPS)
    means = [row["mean"] for row in choices.rows]
    assert means == sorted(means, reverse=True)
    ruleset, data, view = some_views("showcase", state.SECOND, 1)[0]
    cards = choose(data, ruleset=ruleset)
    assert {row["choice"] for row in cards.rows} == {format_card(card) for card in cards_of(int(view.legal))}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"view": "{"}, ["not one JSON object"]),
        ({"view": "[]"}, ["not one JSON object"]),
        ({"players": "oracle"}, ["'oracle'", "expert, greedy, random"]),
        ({"end": "soon"}, ["'soon'", "expert, exact"]),
        ({"objective": "margin"}, ["'margin'", "points, win"]),
        ({"leader": "N"}, ["leader 'N'", "view"]),
        ({"confidence": 2.0}, ["2.0"]),
        ({"threads": 0}, ["0", "1 to 1024"]),
    ],
)
def test_bad_views_are_refused(options: dict[str, Any], words: list[str]) -> None:
    ruleset, data, _ = some_views("showcase", state.FIRST, 1)[0]
    with pytest.raises(SimcoreError) as error:
        choose(**({"view": data, "ruleset": ruleset} | options))
    for word in words:
        assert word in str(error.value)
    with pytest.raises(BadInput, match="needs a view"):
        simcore.choose("showcase", end="exact")


def test_command_reads_a_view(tmp_path: Path) -> None:
    _, data, view = some_views("showcase", state.FIRST, 1)[0]
    path = tmp_path / "view.json"
    path.write_text(json.dumps(data | {"ruleset": "showcase"}))
    args = ["choose", "showcase", "--view", str(path), "--seed", "3", "--max-deals", "40", "--out", str(tmp_path / "out")]
    done = run(*args, status=3)
    assert format_hand(int(view.hand)) in done.stdout
    assert "40 worlds" in done.stdout
    assert pq.read_table(tmp_path / "out" / "worlds.parquet").num_rows > 0
    page = simcore.report(tmp_path / "out")
    assert "Which card?" in page.markdown
    assert "simcore choose showcase --view view.json --seed 3" in page.markdown
    assert "By tricks of the second playout" in page.html
    again = run("choose", "showcase", "--resume", str(tmp_path / "out"), status=3)  # complete: the answer is read
    assert again.stdout == done.stdout
