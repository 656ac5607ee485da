"""Results as pages: the figures are those of the tables, the command makes the same bytes, what is damaged is refused."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, look
from test_cli import run

import simcore
from simcore.errors import BadInput, RunError, SimcoreError
from simcore.reports.commands import command_line
from simcore.reports.markup import figure_text, interval_text
from simcore.reports.results import open_result

HAND = "AKQJT98.AK.32.32"


def ruleset_file(folder: Path) -> Path:
    """Write a ruleset that is not shipped."""
    path = folder / "tricks-too.toml"
    text = (
        simcore.load_ruleset("elections")
        .text.replace('name = "elections"', 'name = "tricks too"')
        .replace("most_tricks = 12", "trick = 3")
    )
    path.write_text(text, "utf-8")
    return path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one result of each kind."""
    folder = tmp_path_factory.mktemp("results")
    simcore.simulate("elections", deals=808, seed=7, rounds=True, players="expert", player=["N=greedy"], out=folder / "auction")
    simcore.simulate(
        "elections", deals=60, seed=2**128 - 1, contract="all", ruleset=ruleset_file(folder), first=3, out=folder / "all"
    )
    simcore.simulate(
        "elections", deals=50, seed=7, contract="nt-most", pairs="NS", where="N.hcp >= 12", hands=True, out=folder / "one"
    )
    simcore.simulate("elections", deals=40, seed=1, ruleset="variety", players="random", out=folder / "variety")
    simcore.simulate("showcase", deals=300, seed=7, players="greedy", out=folder / "showcase")
    simcore.simulate("showcase", deals=100, seed=7, trump="all", ruleset="showcase-magri", out=folder / "trumps")
    simcore.choose("elections", hand=HAND, seat="S", dealer="E", seed=3, max_deals=600, out=folder / "choice")
    heard = {"calls": "E hearts", "objective": "win", "confidence": 0.9, "lot": "NE", "partner": "lot"}
    simcore.choose(
        "elections", hand=HAND, seat="S", dealer="N", seed=3, max_deals=100, player=["N=greedy"], out=folder / "heard", **heard
    )
    both = {"method": "both", "max_solved": 2, "ruleset": "tricks", "max_deals": 60}
    simcore.choose("elections", hand=HAND, seat="S", seed=3, out=folder / "both", **both)
    simcore.choose("elections", seed=3, max_deals=8, players="greedy", out=folder / "average")
    simcore.choose("showcase", seed=3, max_deals=8, out=folder / "naming")
    simcore.balance("elections", deals=80, traced=16, seed=4, against=ruleset_file(folder), out=folder / "balance")
    simcore.balance("showcase", deals=40, traced=8, seed=4, ruleset="showcase-magri", players="greedy", out=folder / "fair")
    simcore.compare("elections", "greedy", "random", "expert", deals=16, seed=4, solved=0, out=folder / "contest")
    simcore.compare("elections", "greedy", "random", contract="all", deals=16, seed=4, solved=0, out=folder / "contracts")
    simcore.simulate("elections", deals=400, seed=7, contract="spades-clubs", hands=True, players="expert", out=folder / "hands")
    return folder


NAMES = (
    "auction",
    "all",
    "one",
    "variety",
    "showcase",
    "trumps",
    "choice",
    "heard",
    "both",
    "average",
    "naming",
    "balance",
    "fair",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_line_makes_the_same_bytes(results: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from cli.main import cli

    result = open_result(results / name)
    words = command_line(result.kind, result.config)
    assert shlex.join(words) in simcore.report(results / name).markdown.replace("\n", " ")
    monkeypatch.chdir(tmp_path)
    if name in ("all", "balance"):
        ruleset_file(tmp_path)
    assert cli.main(words[1:], prog_name="simcore", standalone_mode=False) in (None, 0, 3)
    for path in (results / name).iterdir():
        if path.suffix in (".json", ".parquet"):
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("name", [*NAMES, "contest"])
def test_same_folder_same_bytes(results: Path, tmp_path: Path, name: str) -> None:
    first = simcore.report(results / name, out=[tmp_path / "a.html", tmp_path / "a.md"])
    shutil.copytree(results / name, tmp_path / "elsewhere")
    second = simcore.report(tmp_path / "elsewhere")
    assert (first.html, first.markdown) == (second.html, second.markdown)
    assert (tmp_path / "a.html").read_text("utf-8") == first.html
    assert (tmp_path / "a.md").read_text("utf-8") == first.markdown
    assert str(tmp_path) not in first.html


def test_figures_are_those_of_the_summary(results: Path) -> None:
    text = simcore.report(results / "auction").markdown
    again = simcore.simulate("elections", deals=808, seed=7, rounds=True, players="expert", player=["N=greedy"])
    rows = [row for row in again.summary_data()["rows"] if row["deals"]]
    assert len(rows) >= 4
    for row in rows:
        line = next(line for line in text.splitlines() if line.startswith(f"| {row['contract']} | {row['deals']:,} |"))
        assert figure_text(row["attackers_win"], 2, percent=True) in line
        assert interval_text(row["win_low"], row["win_high"], 2, percent=True) in line
        assert figure_text(row["mean_attackers"], 3, sign=True) in line
    places = again.rounds().column("place_n").to_pylist()
    share = figure_text(places.count(1) / len(places), 1, percent=True)
    assert f"| North | {share} |" in text


def test_distributions_are_those_of_the_tables(results: Path) -> None:
    table = simcore.simulate("elections", deals=808, seed=7, players="expert", player=["N=greedy"]).table()
    counted = open_result(results / "auction").counts(["part-00000.parquet"], "contract", "points_attackers")
    expected: dict[str, Counter[int]] = {}
    for contract, points in zip(table.column("contract").to_pylist(), table.column("points_attackers").to_pylist(), strict=True):
        if contract is not None:
            expected.setdefault(contract, Counter())[points] += 1
    assert counted == expected


def test_what_hands_foretell_is_held_against_what_came(results: Path) -> None:
    """The groups of the calibration are those of the model and the table, counted plainly."""
    from simcore.worth import model_of

    rules = simcore.load_ruleset("elections")
    contract = rules.contract("spades-clubs")
    model = model_of(rules.meaning(contract), contract)
    assert model is not None
    groups: dict[int, list[tuple[float, int]]] = {}
    options: dict[str, Any] = {"deals": 400, "seed": 7, "contract": "spades-clubs", "hands": True, "players": "expert"}
    for row in simcore.simulate("elections", **options).table().to_pylist():
        held = np.array([row[f"hand_{row['declarer'].lower()}"]], np.uint64)
        foretold = float(model.margins(held)[0])
        margin = row["points_attackers"] - row["points_defenders"]
        groups.setdefault(math.floor(foretold / (model.spread / 2)), []).append((foretold, margin))
    text = simcore.report(results / "hands").markdown
    section = text[text.index("What hands foretell") :]
    shown = [group for _, group in sorted(groups.items()) if len(group) >= 30]
    assert len(shown) >= 4
    for group in shown:
        foretold, seen = (figure_text(sum(values) / len(group), 1) for values in zip(*group, strict=True))
        assert re.search(rf"\| {foretold} \| {seen} \| .* \| {len(group)} \|", section), (foretold, seen)


def test_what_makes_a_hand_good_is_told(results: Path) -> None:
    text = simcore.report(results / "average").markdown
    data = json.loads((results / "average" / "manifest.json").read_text("utf-8"))["result"]
    assert len(data["hand_points"]) == 8
    for model in data["hand_points"]:
        assert f"**{model['choice']}: R² {model['r2_hand']:.2f}**" in text
        assert f"| {model['add'][0][0]} | {figure_text(model['add'][0][1], 1, sign=True)} |" in text


def test_best_contracts_are_held_against_fresh_worlds(results: Path) -> None:
    import pyarrow.parquet as pq

    best = [row for row in pq.read_table(results / "average" / "worlds.parquet").to_pylist() if row["best"]]
    assert len(best) == 8
    text = simcore.report(results / "average").markdown
    table = text[text.index("promised | in fresh worlds") :].splitlines()[2:4]  # two groups of four hands
    halves = sorted(best, key=lambda row: row["mean"])[:4], sorted(best, key=lambda row: row["mean"])[4:]
    for line, half in zip(table, halves, strict=True):
        foretold, seen = (sum(row[key] for row in half) / 4 for key in ("mean", "worth"))
        assert line.startswith(f"| {foretold:.2f} | {seen:.2f} |".replace("-", "−"))


def test_tables_are_read_a_piece_at_a_time(tmp_path: Path) -> None:
    simcore.simulate("elections", deals=150_000, seed=1, contract="nt-most", out=tmp_path / "run")
    batches = open_result(tmp_path / "run").batches("part-00000.parquet", ["contract", "points_attackers"])
    sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 150_000
    assert max(sizes) <= 1 << 16


def test_an_interrupted_run_says_so(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(results / "all", folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["complete"] = False
    manifest["config"]["deals"] = 1000
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    made = simcore.report(folder)
    assert "60 of 1,000 deals" in made.markdown
    assert "--deals 1000" in made.markdown


def damage(folder: Path, change: Any) -> None:
    """Change a folder's manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), "utf-8")


def test_damage_is_told(results: Path, tmp_path: Path) -> None:
    for number, (name, harm, error, words) in enumerate(
        [
            ("all", lambda f: (f / "part-00000.parquet").unlink(), RunError, "cannot be read"),
            ("all", lambda f: (f / "part-00000.parquet").write_bytes(b"PAR1"), RunError, "SHA-256"),
            ("all", lambda f: (f / "manifest.json").unlink(), BadInput, "holds no manifest"),
            ("all", lambda f: (f / "manifest.json").write_bytes(b"\xff\xfe{"), BadInput, "not JSON"),
            ("all", lambda f: (f / "manifest.json").write_text("[" * 100_000), BadInput, "not JSON"),
            ("all", lambda f: (f / "manifest.json").write_text("[]"), BadInput, "config"),
            ("all", lambda f: (f / "manifest.json").write_text('{"config": {"deals": NaN}}'), BadInput, "NaN"),
            ("all", lambda f: damage(f, lambda m: m.update(kind="horse")), BadInput, "horse"),
            ("all", lambda f: damage(f, lambda m: m["parts"][0].update(name="../all/part-00000.parquet")), BadInput, "outside"),
            ("all", lambda f: damage(f, lambda m: m["parts"].clear()), BadInput, "no deal"),
            ("all", lambda f: damage(f, lambda m: m["parts"][0]["tally"]["sums"][0].__setitem__(0, 59)), BadInput, "59"),
            ("all", lambda f: damage(f, lambda m: m["config"].pop("players")), BadInput, "players"),
            ("auction", lambda f: (f / "rounds.parquet").write_bytes(b"no parquet"), RunError, "rounds"),
            ("choice", lambda f: damage(f, lambda m: m["result"]["rows"][0].update(deals=1)), BadInput, "counts 1"),
            ("choice", lambda f: damage(f, lambda m: m["result"].pop("sampling")), BadInput, "sampling"),
            ("choice", lambda f: damage(f, lambda m: (m.pop("kind"), m.update(complete=False))), BadInput, "not finished"),
            ("contest", lambda f: damage(f, lambda m: m.update(complete=False)), BadInput, "not finished"),
            ("one", shutil.rmtree, BadInput, "does not exist"),
        ]
    ):
        folder = tmp_path / str(number)
        shutil.copytree(results / name, folder)
        harm(folder)
        with pytest.raises(error, match=words):
            simcore.report(folder)


def _paths(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = data.items() if isinstance(data, dict) else enumerate(data[:3]) if isinstance(data, list) else ()
    for key, value in items:
        found += _paths(value, (*path, key))
    return found


@pytest.mark.parametrize("name", ["auction", "showcase", "choice", "both", "average", "naming", "balance", "contest"])
def test_no_manifest_makes_a_traceback(results: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(results / name, folder)
    whole = json.loads((folder / "manifest.json").read_text("utf-8"))
    paths = _paths(whole)
    rng = random.Random(1)
    for path in rng.sample(paths, min(40, len(paths))):
        manifest = copy.deepcopy(whole)
        place = manifest
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = rng.choice([None, "<x>", -1, 1e308, [], {}, [None], {"a": 1}, True, "\ud800", 10**400])
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        with contextlib.suppress(SimcoreError):
            simcore.report(folder).html.encode()


def test_names_from_outside_are_escaped(tmp_path: Path) -> None:
    text = simcore.load_ruleset("elections").text.replace('name = "elections"', 'name = "<img src=x>`|"')
    (tmp_path / "x.toml").write_text(text, "utf-8")
    simcore.simulate("elections", deals=8, seed=1, ruleset=tmp_path / "x.toml", out=tmp_path / "run")
    made = simcore.report(tmp_path / "run")
    assert "<img" not in made.html
    assert "&lt;img src=x&gt;`|" in made.html
    assert "\\<img src=x\\>\\`\\|" in made.markdown


def test_command_line(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(results / "showcase", folder)
    assert run("report", str(folder)).stdout.split() == [str(folder / "report.html"), str(folder / "report.md")]
    assert run("report", str(folder), "--out", "-").stdout == (folder / "report.md").read_text("utf-8")
    other = tmp_path / "notes.md"
    other.write_text("# simcore\n\nsimcore is mine\n", "utf-8")
    assert "in the way" in run("report", str(folder), "--out", str(other), status=2).stderr
    run("report", str(folder), "--out", str(other), "--overwrite")
    assert other.read_text("utf-8") == (folder / "report.md").read_text("utf-8")
    assert "cannot be written" in run("report", str(folder), "--out", str(tmp_path / "none" / "x.md"), status=1).stderr
    with pytest.raises(BadInput, match="accepted: names ending in"):
        simcore.report(folder, out=tmp_path / "x.pdf")
    with pytest.raises(BadInput, match="is no folder"):
        simcore.report(other)
    simcore.report(folder, out=folder / "report.md")  # reports are replaced
    assert not list(folder.glob(".*tmp"))


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: pages are not looked at in a browser")
@pytest.mark.parametrize("dark", [False, True])
def test_pages_in_a_browser(results: Path, tmp_path: Path, dark: bool) -> None:
    facts, said = look([simcore.report(results / name).html for name in (*NAMES, "contest")], tmp_path, dark=dark)
    assert said == []
    assert {fact["width"] for fact in facts} == {390}
    assert [fact["out"] for fact in facts if fact["out"]] == []
    assert len(facts) == len(NAMES) + 1
    assert all(fact["plots"] for fact in facts)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: pages are not looked at in a browser")
def test_no_table_is_wider_than_a_screen(results: Path, tmp_path: Path) -> None:
    facts, _ = look(
        [simcore.report(results / name).html for name in (*NAMES, "contest", "contracts")], tmp_path, dark=False, width=1200
    )
    assert {fact["width"] for fact in facts} == {1200}
    assert [(fact["title"], fact["cut"]) for fact in facts if fact["cut"]] == []
