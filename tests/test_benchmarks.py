"""What of the benchmarks can be tested without a clock: size of tables, turns and medians, the committed report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import ROOT

from benchmarks import ladder, measure, report, standing
from simcore.batches.config import make_config
from simcore.batches.run import run_simulation
from simcore.rules import SHIPPED, load_ruleset


@pytest.mark.parametrize(("game", "limit"), [("elections", 8), ("showcase", 8)])
def test_a_row_without_hands_takes_at_most_eight_bytes(game: str, limit: float, tmp_path: Path) -> None:
    """A full row group, where dictionaries and headers count as they do in a long run."""
    contract = "random" if game == "elections" else None
    config = make_config(game, seed=5, deals=1 << 17, contract=contract)
    run_simulation(config, out=tmp_path / game)
    size = sum(path.stat().st_size for path in (tmp_path / game).glob("*.parquet"))
    assert size / config.deals <= limit


def test_alternate_takes_turns_and_leaves_the_first_out() -> None:
    order: list[str] = []

    def call(name: str, values: list[float]) -> Any:
        def measured() -> float:
            order.append(name)
            return values.pop(0)

        return measured

    found = measure.alternate({"a": call("a", [100, 1, 2, 9]), "b": call("b", [0, 4, 4, 1])}, 3)
    assert order == ["a", "b"] * 4
    assert found == {"a": 2, "b": 4}


def test_the_committed_report_is_of_one_real_run() -> None:
    """report.md and the table of targets follow from report.json; the README quotes its figures with date and machine."""
    folder = ROOT / "benchmarks" / "report"
    data = report.load(folder)
    assert not data["quick"]
    assert (folder / "report.md").read_text() == report.markdown(data)
    assert len(report.targets(data)) >= 17
    assert {path.name for path in folder.iterdir()} == {
        "report.json",
        "report.md",
        *(f"{name}.svg" for name in ("peers", "growth", "threads", "stages")),
    }
    for game, row in data["c"].items():
        assert row["equal_tallies"], game
    readme = (ROOT / "README.md").read_text()
    assert data["facts"]["date"] in readme
    quoted = re.search(r"([\d.]+) million random Elections deals", readme)
    assert quoted is not None
    assert float(quoted[1]) == pytest.approx(data["c"]["elections"]["cards_per_second"]["simcore"] / 52e6, abs=0.05)


def test_the_readme_quotes_the_standing_comparison() -> None:
    """The tables are those of the committed report, which follow from the figures beside it; every player in every ruleset."""
    folder = ROOT / "benchmarks" / "players"
    data = json.loads((folder / "standing.json").read_text())
    rows = data["rows"]
    for pairs in (standing.compiled_pairs(rows), standing.searching_pairs(rows)):
        table = "\n".join(standing.table(rows, pairs))
        assert table in (folder / "standing.md").read_text()
        assert table in (ROOT / "README.md").read_text()
    for ruleset, text in ((name, load_ruleset(name)) for name in SHIPPED):
        there = standing.players_in([row for row in rows if row["what"].partition(":")[0] == ruleset])
        assert set(there) == {player for players in standing.standing_players(text.game) for player in players}, ruleset
    for row in rows:
        assert row["low"] <= row["mean"] <= row["high"]


def test_the_ladder_follows_from_its_figures() -> None:
    """All contracts, every claim with the duels it rests on, commands that can be given again."""
    folder = ROOT / "benchmarks" / "players"
    data = json.loads((folder / "ladder.json").read_text())
    text = (folder / "ladder.md").read_text()
    assert text == ladder.markdown(data)
    contracts = set(load_ruleset("elections").contract_ids)
    assert set(data["shares"]) == contracts
    for pair in (("pimc", "expert"), ("ismcts", "expert"), ("ismcts", "pimc")):
        assert {row["what"] for row in data["duels"] if (row["a"], row["b"]) == pair} == contracts
    for row in data["duels"] + data["gaps"]:
        assert row["low"] <= row["mean"] <= row["high"]
    for row in data["duels"]:
        assert row["units"] <= (600 if row["what"].endswith("rounds") else 200)


def test_a_share_is_a_ratio_of_means_with_its_error() -> None:
    whole = np.array([4.0, 6.0, 5.0, 5.0])
    assert ladder.share(whole / 2, whole) == (0.5, 0.0)
    part = np.array([1.0, 5.0, 2.0, 2.0])
    value, stderr = ladder.share(part, whole)
    assert value == 0.5
    left_out = [(part.sum() - p) / (whole.sum() - w) for p, w in zip(part, whole, strict=True)]
    assert stderr == pytest.approx(3**0.5 * np.std(left_out))


def test_what_is_asked_of_players_is_counted() -> None:
    def duel(a: str, b: str, what: str, verdict: str) -> dict[str, Any]:
        return {"a": a, "b": b, "what": what, "verdict": verdict}

    shares = {f"c{n}": {"expert": 0.1 * n, "pimc": 0.5 if n < 5 else 0.2} for n in range(8)}
    duels = [duel("pimc", "expert", "c1", "a"), duel("pimc", "expert", "c2", "open"), duel("rollout", "expert+exact", "s", "a")]
    told = ladder.verdicts({"shares": shares, "duels": duels})
    assert [("not reached" in line) for line in told] == [True, True, False, False, False]
    assert told[0].endswith("(5 of 8, not in c0, c1, c2).")
    assert told[1].endswith("(1 of 2, not in c2).")
