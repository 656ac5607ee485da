"""Simulations: same bytes whatever the threads, chunks, processes and interruptions; tables, metadata, rounds, summaries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import simcore
from simcore.batches import parts as parts_module
from simcore.batches import run as run_module
from simcore.batches.config import make_config
from simcore.batches.run import run_simulation
from simcore.errors import BadInput, RunError, SimcoreError
from simcore.rules import load_ruleset

ROOT = Path(__file__).parent.parent


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 2,048 rows in groups of 512, so that small runs have many."""
    monkeypatch.setattr(parts_module, "PART_ROWS", 1 << 11)
    monkeypatch.setattr(parts_module, "GROUP_ROWS", 1 << 9)


VARIANTS = [
    ("elections", {}),
    ("elections", {"ruleset": "variety", "players": "greedy", "hands": True, "rounds": True}),
    ("elections", {"contract": "all"}),
    ("elections", {"contract": "random", "pairs": "lot", "declarer": "E"}),
    ("showcase", {}),
    ("showcase", {"ruleset": "showcase-magri", "trump": "all", "hands": True}),
]


@pytest.mark.parametrize(("game", "options"), VARIANTS)
def test_bytes_do_not_depend_on_threads_or_chunks(game: str, options: dict, tmp_path: Path, small_parts: None) -> None:
    config = make_config(game, seed=11, first=5, deals=5003, **options)
    folders = []
    for threads, chunk, writers in ((1, 8192, 1), (2, 64, 1), (3, 1000, 3)):
        folder = tmp_path / f"{threads}"
        result = run_simulation(config, out=folder, threads=threads, chunk=chunk, writers=writers)
        folders.append((_files(folder), result.summary_data()))
    assert folders[0] == folders[1] == folders[2]
    assert len(folders[0][0]) > 3


@pytest.mark.parametrize(("game", "options"), VARIANTS)
def test_a_subset_of_the_indices_gives_the_same_rows(game: str, options: dict) -> None:
    options = {key: value for key, value in options.items() if key != "rounds"}
    whole = simcore.simulate(game, seed=2**100 + 7, deals=900, **options).table()
    repeat = whole.num_rows // 900
    for first, deals in ((0, 1), (123, 77), (899, 1)):
        part = simcore.simulate(game, seed=2**100 + 7, first=first, deals=deals, **options).table()
        assert part.to_pylist() == whole.slice(first * repeat, deals * repeat).to_pylist()


def test_other_seeds_and_the_hash_seed(tmp_path: Path) -> None:
    script = (
        "import simcore,hashlib,json\n"
        "t=simcore.simulate('elections',seed=9,deals=300,hands=True).table()\n"
        "print(hashlib.sha256(json.dumps(t.to_pylist()).encode()).hexdigest())"
    )
    digests = set()
    for value in ("0", "12345"):
        env = os.environ | {"PYTHONHASHSEED": value}
        digests.add(subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout)
    assert len(digests) == 1
    a = simcore.simulate("elections", seed=9, deals=300, hands=True).table()
    b = simcore.simulate("elections", seed=9 + 2**127, deals=300, hands=True).table()
    assert not set(a.column("hand_n").to_pylist()) & set(b.column("hand_n").to_pylist())


def test_players_do_not_change_the_deals() -> None:
    for game in ("elections", "showcase"):
        a = simcore.simulate(game, seed=4, deals=200, hands=True).table()
        b = simcore.simulate(game, seed=4, deals=200, hands=True, player={"N": "greedy"}).table()
        columns = [name for name in a.column_names if name.startswith("hand_") or name == "dealer"]
        assert a.select(columns).equals(b.select(columns))
        assert not a.equals(b)


def test_schema_and_metadata(tmp_path: Path) -> None:
    """The columns are those of the format, the metadata tells everything needed to make them again."""
    config = make_config("elections", seed=2**128 - 1, deals=100, hands=True)
    run_simulation(config, out=tmp_path / "run")
    table = pq.read_table(tmp_path / "run" / "part-00000.parquet")
    assert table.column_names == [
        "deal",
        "dealer",
        "status",
        "type",
        "contract",
        "declarer",
        "partner",
        "matched",
        "tricks_n",
        "tricks_e",
        "tricks_s",
        "tricks_w",
        "points_attackers",
        "points_defenders",
        "result",
        "credit_n",
        "credit_e",
        "credit_s",
        "credit_w",
        "hand_n",
        "hand_e",
        "hand_s",
        "hand_w",
    ]
    assert table.schema.field("deal").type == pa.uint64()
    assert pa.types.is_dictionary(table.schema.field("contract").type)
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert metadata["simcore:seed"] == str(2**128 - 1)
    assert metadata["simcore:game"] == "elections"
    assert metadata["simcore:ruleset_text"] == load_ruleset("elections").text
    assert metadata["simcore:ruleset_hash"] == load_ruleset("elections").hash
    assert json.loads(metadata["simcore:players"]) == dict.fromkeys("NESW", "random")
    for key in ("schema_version", "stream_version", "first", "deals", "simcore"):
        assert metadata[f"simcore:{key}"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert sum(part["rows"] for part in manifest["parts"]) == 100
    pbn = simcore.hands_to_pbn(table)
    assert simcore.Deal.parse(pbn[0]).masks.tolist() == [table.column(f"hand_{s}")[0].as_py() for s in "nesw"]


def test_showcase_columns() -> None:
    table = simcore.simulate("showcase", seed=1, deals=50, hands=True).table()
    wanted = [
        *("deal", "dealer", "turned", "won_n", "won_s", "count_n", "count_s", "namer", "trump", "leader"),
        *("points_n", "points_s", "winner"),
    ]
    assert table.column_names[: len(wanted)] == wanted
    for row in table.to_pylist():
        assert row["points_n"] + row["points_s"] == 13
        assert row["won_n"] + row["won_s"] == 25
        assert row["winner"] == ("N" if row["points_n"] > 6 else "S")


def test_every_contract_is_played_on_the_same_deal() -> None:
    table = simcore.simulate("elections", seed=5, deals=40, contract="all", hands=True).table().to_pylist()
    ids = load_ruleset("elections").contract_ids
    for deal in range(40):
        rows = table[deal * 8 : deal * 8 + 8]
        assert [row["contract"] for row in rows] == list(ids)
        for key in ("deal", "dealer", "declarer", "partner", "hand_n", "hand_e", "hand_s", "hand_w"):
            assert len({row[key] for row in rows}) == 1
        alone = simcore.simulate("elections", seed=5, first=deal, deals=1, contract="spades-clubs", hands=True).table().to_pylist()
        assert alone == [rows[ids.index("spades-clubs")]]


def test_every_trump_is_named_after_the_same_first_playout() -> None:
    table = simcore.simulate("showcase", seed=5, deals=40, trump="all").table().to_pylist()
    for deal in range(40):
        rows = table[deal * 6 : deal * 6 + 6]
        assert [row["trump"] for row in rows] == ["clubs", "diamonds", "hearts", "spades", "no-trump", "all-trump"]
        for key in ("dealer", "turned", "won_n", "count_n", "count_s", "namer", "leader"):
            assert len({row[key] for row in rows}) == 1
        alone = simcore.simulate("showcase", seed=5, first=deal, deals=1, trump="hearts").table().to_pylist()
        assert alone == [rows[2]]


def test_forced_declarer_pairing_and_contract_are_uniform_and_fixed_ones_change_nothing_else() -> None:
    """Random contracts are uniform over contracts; 12 declarer × pairing cells; χ² with a false-alarm rate of 1e-7."""
    from scipy.stats import chi2

    rows = simcore.simulate("elections", seed=77, deals=24000, contract="random").table()
    contracts = np.unique(np.array(rows.column("contract").to_pylist()), return_counts=True)[1]
    cells = [f"{d}{p}" for d, p in zip(rows.column("declarer").to_pylist(), rows.column("partner").to_pylist(), strict=True)]
    for counts, size in ((contracts, 8), (np.unique(cells, return_counts=True)[1], 12)):
        assert len(counts) == size
        expected = 24000 / size
        assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-7, size - 1)
    fixed = simcore.simulate("elections", seed=77, deals=2000, contract="random", declarer="S").table()
    assert fixed.column("contract").to_pylist() == rows.column("contract").to_pylist()[:2000]
    lots = simcore.simulate("elections", seed=77, deals=800, contract="nt-most", pairs="lot").table()
    pairing = [
        frozenset((d, p)) for d, p in zip(lots.column("declarer").to_pylist(), lots.column("partner").to_pylist(), strict=True)
    ]
    for start in range(0, 800, 8):  # E1: the same lot pairs for all deals of a round
        both = {frozenset("NESW") - pair for pair in pairing[start : start + 8]} | set(pairing[start : start + 8])
        assert len(both) <= 2


def test_e1_dealers_move_round_and_lots_belong_to_the_round() -> None:
    dealers = simcore.simulate("elections", seed=3, deals=800).table().column("dealer").to_pylist()
    for start in range(0, 800, 8):
        first = "NESW".index(dealers[start])
        assert dealers[start : start + 8] == ["NESW"[(first + i) % 4] for i in range(8)]
    assert {dealers[start] for start in range(0, 800, 8)} == set("NESW")


def test_e18_rounds(tmp_path: Path, small_parts: None) -> None:
    """Whole rounds only; totals are sums of eight credits; equal totals share a place."""
    config = make_config("elections", seed=8, first=3, deals=5000, rounds=True, players="greedy")
    result = run_simulation(config, out=tmp_path / "run", threads=2)
    rows = result.table().to_pylist()
    rounds = pq.read_table(tmp_path / "run" / "rounds.parquet").to_pylist()
    assert [row["round"] for row in rounds] == list(range(1, 5003 // 8))
    assert result.rounds().to_pylist() == rounds
    by_index = {row["deal"]: row for row in rows}
    shared_places = 0
    for row in rounds:
        eight = [by_index[8 * row["round"] + i] for i in range(8)]
        totals = [sum(deal[f"credit_{s}"] for deal in eight) for s in "nesw"]
        assert totals == [row[f"total_{s}"] for s in "nesw"]
        places = [1 + sum(other > total for other in totals) for total in totals]
        assert places == [row[f"place_{s}"] for s in "nesw"]
        shared_places += len(set(totals)) < 4
    assert shared_places > 0


def test_summary_against_plain_arithmetic() -> None:
    """Means, shares and round-based standard errors agree with a direct computation from the rows."""
    result = simcore.simulate("elections", seed=6, deals=8000)
    rows = result.table().to_pylist()
    data = result.summary_data()
    assert data["seed"] == "6"
    for row in data["rows"]:
        mine = [r for r in rows if r["contract"] == row["contract"]]
        assert row["deals"] == len(mine)
        mean = sum(r["points_attackers"] for r in mine) / len(mine)
        assert row["mean_attackers"] == pytest.approx(mean)
        assert row["attackers_win"] == pytest.approx(sum(r["result"] == "win" for r in mine) / len(mine))
        rounds: dict[int, list[int]] = {}
        for r in mine:
            rounds.setdefault(r["deal"] // 8, []).append(r["points_attackers"])
        residuals = np.array([sum(v) - mean * len(v) for v in rounds.values()])
        units = len(rounds)
        stderr = np.sqrt((residuals**2).sum() * units / (units - 1)) / len(mine)
        assert row["stderr"] == pytest.approx(stderr)
        assert row["units"] == units
        assert row["win_low"] < row["attackers_win"] < row["win_high"]
        # how often it is played: units are all rounds, also those in which it is not
        a_round = np.array([r["contract"] == row["contract"] for r in rows]).reshape(-1, 8).sum(axis=1)
        played = np.array([r["status"] == "played" for r in rows]).reshape(-1, 8).sum(axis=1)
        residuals = a_round - row["share"] * played
        stderr = np.sqrt((residuals**2).sum() * 1000 / 999) / played.sum()
        stderr = max(stderr, np.sqrt(row["share"] * (1 - row["share"]) / played.sum()))  # no narrower than of as many lone deals
        assert row["share_low"] < row["share"] < row["share_high"]
        assert row["share_high"] - row["share_low"] == pytest.approx(2 * 1.96 * stderr, rel=0.02)
    for seat in data["seats"]:
        column = np.array([r[f"credit_{seat['seat'].lower()}"] for r in rows]).reshape(-1, 8).mean(axis=1)
        assert seat["mean_credit"] == pytest.approx(column.mean())
        assert seat["stderr"] == pytest.approx(column.std(ddof=1) / np.sqrt(len(column)))
    forced = simcore.simulate("elections", seed=6, deals=500, contract="nt-fewest")
    points = np.array(forced.table().column("points_attackers").to_pylist())
    assert forced.summary_data()["rows"][0]["stderr"] == pytest.approx(points.std(ddof=1) / np.sqrt(500))
    assert forced.summary().to_pylist() == forced.summary_data()["rows"]
    assert forced.summary_data()["rows"][0]["share_low"] is None, "the caller has chosen it"
    for chance in (
        simcore.simulate("elections", seed=6, deals=500, contract="random").summary_data(),
        simcore.simulate("showcase", seed=6, deals=500).summary_data(),
    ):
        for row in chance["rows"]:
            share = row["deals"] / 500
            assert row["share"] == share
            assert row["share_high"] - row["share_low"] == pytest.approx(2 * 1.96 * np.sqrt(share * (1 - share) / 500), rel=0.05)


def test_tiny_runs_have_no_nan_anywhere() -> None:
    for options in ({"deals": 1}, {"deals": 1, "contract": "nt-most"}, {"deals": 9, "contract": "all"}):
        text = json.dumps(simcore.simulate("elections", seed=0, **options).summary_data(), allow_nan=False)
        assert "NaN" not in text
    json.dumps(simcore.simulate("showcase", seed=0, deals=1).summary_data(), allow_nan=False)


def test_rates_add_up_and_statuses_are_counted() -> None:
    result = simcore.simulate("elections", ruleset="variety", seed=1, deals=4000)
    status = result.table().column("status").to_pylist()
    data = result.summary_data()
    assert (data["played"], data["passed_out"], data["redealt"]) == tuple(
        status.count(s) for s in ("played", "passed-out", "redealt")
    )
    assert data["redealt"] > 0
    assert sum(row["share"] for row in data["rows"]) == pytest.approx(1)
    for row in result.table().to_pylist():
        if row["status"] != "played":
            assert row["contract"] is None
            assert row["points_attackers"] is None
            assert row["matched"] is None
            assert row["credit_n"] == 0


def test_given_deals(tmp_path: Path) -> None:
    """--file plays the file's deals: index i is the file's deal i."""
    hands = simcore.deal_hands(5, 0, 20)
    path = tmp_path / "deals.pbn"
    path.write_text("\n".join(f'[Deal "{simcore.Deal.from_masks(row).pbn("S")}"]' for row in hands))
    table = simcore.simulate("elections", seed=1, file=path, hands=True).table()
    assert table.num_rows == 20
    assert [table.column(f"hand_{s}").to_pylist() for s in "nesw"] == hands.T.tolist()
    own = simcore.simulate("elections", seed=5, deals=20, hands=True).table()
    assert own.equals(simcore.simulate("elections", seed=5, file=path, hands=True).table())
    later = simcore.simulate("elections", seed=5, first=7, deals=3, file=path).table()
    assert later.to_pylist() == own.drop_columns([f"hand_{s}" for s in "nesw"]).slice(7, 3).to_pylist()
    with pytest.raises(BadInput, match="up to 20"):
        simcore.simulate("elections", file=path, deals=21)
    for first in (20, -1):
        with pytest.raises(BadInput, match=rf"first {first} is not in the file .*accepted: 0 to 19"):
            simcore.simulate("elections", file=path, first=first)


def test_resume_after_an_interruption_gives_the_same_bytes(tmp_path: Path, small_parts: None) -> None:
    config = make_config("elections", seed=12, deals=6000, rounds=True)
    run_simulation(config, out=tmp_path / "whole", threads=2)

    def stop(done: int, total: int) -> None:
        if done > 3000:
            raise KeyboardInterrupt

    with pytest.raises(run_module.Interrupted):
        run_simulation(config, out=tmp_path / "run", threads=2, progress=stop, chunk=64, writers=1)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["complete"] is False
    assert len(manifest["parts"]) == 1
    assert not list((tmp_path / "run").glob(".*.tmp"))
    resumed = run_simulation(config, out=tmp_path / "run", threads=1)
    assert resumed.deals_played < 6000
    assert _files(tmp_path / "run") == _files(tmp_path / "whole")
    again = run_simulation(config, out=tmp_path / "run")
    assert again.deals_played == 0
    assert again.summary_data() == run_simulation(config, out=tmp_path / "whole").summary_data()


def test_another_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    run_simulation(make_config("elections", seed=1, deals=50), out=tmp_path / "run")
    before = _files(tmp_path / "run")
    with pytest.raises(BadInput, match="seed is '1' there and '2' here"):
        run_simulation(make_config("elections", seed=2, deals=50), out=tmp_path / "run")
    assert _files(tmp_path / "run") == before
    run_simulation(make_config("elections", seed=2, deals=50), out=tmp_path / "run", overwrite=True)
    assert _files(tmp_path / "run") != before
    (tmp_path / "run" / "part-00000.parquet").write_bytes(b"PAR1 rubbish PAR1")
    with pytest.raises(RunError, match=r"part-00000.parquet.*damaged"):
        run_simulation(make_config("elections", seed=2, deals=50), out=tmp_path / "run")


def test_ctrl_c_leaves_complete_parts_and_status_130(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "cli.main",
        "simulate",
        "elections",
        "--deals",
        "2000000000",
        "--seed",
        "5",
        "--out",
        str(folder),
    ]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 1800
            while not (folder / "part-00000.parquet").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=1800)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert "--deals 2000000000" in err.splitlines()[-1]
    assert out == ""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"] is False
    names = sorted(path.name for path in folder.glob("part-*"))
    assert names == [part["name"] for part in manifest["parts"]]
    assert all(pq.read_metadata(folder / part["name"]).num_rows == part["rows"] for part in manifest["parts"])


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("bridge", {}, ["'bridge'", "elections, showcase"]),
        ("elections", {"seed": -1}, ["-1", "2**128 - 1"]),
        ("elections", {"seed": "x7"}, ["'x7'"]),
        ("elections", {"deals": 0}, ["deals 0"]),
        ("elections", {"first": -3}, ["-3"]),
        ("elections", {"contract": "hearts"}, ["'hearts'", "nt-most"]),
        ("elections", {"pairs": "NS"}, ["'NS'", "contract"]),
        ("elections", {"contract": "all", "pairs": "EW"}, ["'EW'", "NE, NS, NW"]),
        ("elections", {"contract": "all", "declarer": "X"}, ["'X'", "N E S W"]),
        ("elections", {"contract": "all", "rounds": True}, ["rounds"]),
        ("elections", {"trump": "hearts"}, ["'hearts'", "showcase"]),
        ("elections", {"ruleset": "nope"}, ["'nope'", "variety"]),
        ("elections", {"ruleset": "showcase"}, ["'showcase'", "'elections'"]),
        ("elections", {"players": "genius"}, ["'genius'", "random"]),
        ("elections", {"players": "random:depth=3"}, ["'depth'"]),
        ("elections", {"player": ["Ngreedy"]}, ["'Ngreedy'", "SEAT=SPEC"]),
        ("elections", {"player": ["Q=greedy"]}, ["'Q'"]),
        ("showcase", {"contract": "all"}, ["contract", "elections"]),
        ("showcase", {"dealer": "E"}, ["'E'", "N S"]),
        ("showcase", {"trump": "stars"}, ["'stars'", "all-trump"]),
        ("elections", {"players": {}}, ["players {}", "text"]),
        ("elections", {"player": 3}, ["player 3", "SEAT=SPEC"]),
        ("elections", {"deals": True}, ["deals True", "whole number"]),
        ("elections", {"hands": "no"}, ["hands 'no'", "True or False"]),
        ("elections", {"rounds": 2}, ["rounds 2", "True or False"]),
        ("elections", {"file": ["x"]}, ["file ['x']", "a path"]),
        ("elections", {"cluster": 3}, ["cluster 3", "local:2"]),
        ("elections", {"player": {"N": 3}}, ["player of seat 'N': 3", "text"]),
        ("elections", {"player": [3]}, ["player 3", "text"]),
        ("elections", {"deals": "10"}, ["deals '10'", "a whole number"]),
        ("elections", {"first": 1.5}, ["first 1.5", "a whole number"]),
        ("elections", {"known": 5}, ["known 5", "text"]),
        ("elections", {"where": 7}, ["where 7", "text"]),
        ("elections", {"threads": "2"}, ["threads '2'", "1 to 1024"]),
        ("elections", {"out": 3}, ["folder 3", "a path"]),
    ],
)
def test_bad_options_are_named(game: str, options: dict, words: list[str]) -> None:
    with pytest.raises(simcore.SimcoreError) as caught:
        simcore.simulate(game, **options)
    for word in words:
        assert word in str(caught.value)


def test_numbers_of_numpy_are_whole_numbers(tmp_path: Path) -> None:
    options = {"seed": np.uint64(3), "first": np.int32(8), "deals": np.int64(16), "hands": np.bool_(True)}
    simcore.simulate("elections", **options, rounds=True, out=tmp_path / "numpy")
    simcore.simulate("elections", seed=3, first=8, deals=16, hands=True, rounds=True, out=tmp_path / "plain")
    assert _files(tmp_path / "numpy") == _files(tmp_path / "plain")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simcore.render({}), "accepted: what replay returns"),
        (lambda: simcore.render({"game": "showcase", "deal": 3}), "trace of deal 3 is damaged"),
        (
            lambda: simcore.render(simcore.replay("elections", seed=1, contract="nt-most")[0] | {"tricks": [{}]}),
            "deal 0 is damaged",
        ),
        (lambda: simcore.render(None), "accepted: what replay returns"),
        (lambda: simcore.replay("elections", explain=5), "explain 5"),
        (lambda: simcore.hands_to_pbn(None), "accepted: a pyarrow Table"),
        (lambda: simcore.Deal.from_masks([1, 2, 4]), "3 hands; accepted: 4"),
        (lambda: simcore.simulate("elections", deals=8, player=[None]), "player None"),
        (lambda: simcore.simulate("elections", deals=8, player={"N": None}), "seat 'N': None"),
        (lambda: simcore.compare("elections", 1, 2), "player 1"),
        (lambda: simcore.compare("elections", "greedy", "random", solved=1.5), "solved deals 1.5"),
        (lambda: simcore.balance("elections", deals=8, out=4), "folder 4"),
        (lambda: simcore.report(".", out=5), "folder 5"),
    ],
)
def test_other_kinds_from_python_are_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(SimcoreError, match=words):
        call()
