"""Commands that write into an object store: the same bytes as into a folder, resumed where they were stopped, read from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores import objects
from test_survival import Done, contents

import simcore
from cli.main import main
from simcore.batches.partfile import part_paths
from simcore.batches.places import BucketPath
from simcore.batches.store import MANIFEST, Store
from simcore.choosing.kept import KeptInFolder
from simcore.contests.contest import make_contest
from simcore.contests.verb import run_contest
from simcore.errors import BadInput, RunError

ASKED: dict[str, Any] = {"hand": "AKQJT98.AK.32.32", "seat": "S", "players": "greedy", "max_deals": 1200}
COMPARED: dict[str, Any] = {"contract": "all", "ruleset": "tricks", "deals": 700, "seed": 2, "solved": 1}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command line in this process."""

    def call(*args: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(args))
        return Done(int(stop.value.code or 0), *capsys.readouterr())

    return call


class Enough(Exception):
    """Stands for whatever ends a process."""


def test_an_answer_that_is_stopped_again_and_again(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ASKED | {"dealer": "N", "calls": "E pass", "seed": 5}
    place = BucketPath(f"s3://runs/answer{bucket}")
    whole = simcore.choose("elections", out=tmp_path / "whole", **options)
    recall, stopped = KeptInFolder.recall, 0

    def stopping(self: KeptInFolder, what: str, make: Any, *whole: Any) -> Any:
        known = len(self._store.parts)
        arrays = recall(self, what, make, *whole)
        if len(self._store.parts) > known:
            raise Enough
        return arrays

    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "recall", stopping)
        while True:
            try:
                choices = simcore.choose("elections", out=str(place), **options)
                break
            except Enough:
                stopped += 1
                assert len(part_paths(place)) == stopped
    assert stopped > 1
    assert objects(place) == contents(tmp_path / "whole")
    assert choices.data() == whole.data()
    assert simcore.choose("elections", out=place, **options).worlds().equals(whole.worlds())
    with pytest.raises(BadInput, match="seed is '5' there and '6' here"):
        simcore.choose("elections", out=place, **options | {"seed": 6})
    simcore.choose("elections", out=place, overwrite=True, **options)
    assert objects(place) == contents(tmp_path / "whole")


def test_a_part_that_another_driver_has_tidied_away(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no lock in an object store: two drivers at the same question end with its answer."""
    place = BucketPath(f"s3://runs/twice{bucket}")
    simcore.choose("elections", out=tmp_path / "whole", seed=5, **ASKED)
    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "finish", lambda self, choices: (_ for _ in ()).throw(Enough))
        with pytest.raises(Enough):
            simcore.choose("elections", out=place, seed=5, **ASKED)
    opened = Store.__init__

    def first_comes_the_other(self: Store, *args: Any, **options: Any) -> None:
        opened(self, *args, **options)
        monkeypatch.setattr(Store, "__init__", opened)
        simcore.choose("elections", out=place, seed=5, **ASKED)

    monkeypatch.setattr(Store, "__init__", first_comes_the_other)
    simcore.choose("elections", out=place, seed=5, **ASKED)
    assert objects(place) == contents(tmp_path / "whole")


def test_a_comparison_that_is_stopped(bucket: str, tmp_path: Path) -> None:
    contest = make_contest("elections", ["expert", "greedy"], **COMPARED)
    place = BucketPath(f"s3://runs/contest{bucket}")
    whole = run_contest(contest, out=tmp_path / "whole", threads=1)

    def progress(done: int, total: int) -> None:
        if done > total // 2:
            raise Enough

    with pytest.raises(Enough):
        run_contest(contest, out=place, threads=1, progress=progress)
    assert 0 < len(part_paths(place)) < len(part_paths(tmp_path / "whole"))
    again = run_contest(contest, out=place, threads=2)
    assert again.fresh
    assert objects(place) == contents(tmp_path / "whole")
    assert again.data() == whole.data()
    assert again.table().equals(whole.table())
    assert not run_contest(contest, out=str(place), threads=1).fresh
    with pytest.raises(BadInput, match="holds another run: deals is 700 there and 600 here"):
        run_contest(make_contest("elections", ["expert", "greedy"], **COMPARED | {"deals": 600}), out=place, threads=1)
    (place / "part-00001.parquet").unlink()
    with pytest.raises(RunError, match=r"'part-00001.parquet': it is missing; accepted: --repair"):
        run_contest(contest, out=place, threads=1)
    run_contest(contest, out=place, threads=1, repair=True)
    assert objects(place) == contents(tmp_path / "whole")


def test_commands_and_reports(run: Callable[..., Done], bucket: str, tmp_path: Path) -> None:
    compared = ["elections", "expert", "greedy", "--contract", "all", "--ruleset", "tricks", "--deals", "80", "--solved", "0"]
    commands: dict[str, list[str]] = {
        "choose": ["choose", "elections", "--hand", ASKED["hand"], "--seat", "S", "--max-deals", "600"],
        "compare": ["compare", *compared],
        "simulate": ["simulate", "elections", "--deals", "200"],
        "solve": ["solve", "elections", "--deal", "N:AK... .AK.. ..AK. ...AK"],
    }
    for name, command in commands.items():
        folder, place = tmp_path / name, BucketPath(f"s3://runs/by-{name}{bucket}")
        seed = [] if name == "solve" else ["--seed", "3"]
        there = run(*command, *seed, "--out", str(place))
        here = run(*command, *seed, "--out", str(folder))
        assert there.returncode == here.returncode
        assert there.stdout == here.stdout
        assert there.returncode in (0, 3)
        if name != "solve":
            resumed = run(*command[: 1 + (name == "choose")], "--resume", str(place))
            assert (resumed.returncode, resumed.stdout) == (here.returncode, here.stdout)
            assert run("report", str(place)).stdout.split() == [str(place / page) for page in ("report.html", "report.md")]
            run("report", str(folder))
            run("report", str(place), "--out", str(tmp_path / "page.md"))
            assert (tmp_path / "page.md").read_bytes() == (folder / "report.md").read_bytes()
        stored = {key: data for key, data in objects(place).items() if key != "timings.json"}
        assert stored == contents(folder)
    where = [str(BucketPath(f"s3://runs/by-simulate{bucket}")), str(tmp_path / "simulate")]
    replayed = [run("replay", "--run", each, "--first", "7").stdout for each in where]
    assert replayed[0] == replayed[1]
    answer = BucketPath(f"s3://runs/by-choose{bucket}")
    (answer / "worlds.parquet").unlink()
    refused = run("report", str(answer))
    assert refused.returncode == 1
    assert "worlds.parquet" in refused.stderr
    assert json.loads((answer / MANIFEST).read_text())["kind"] == "choose"


def test_addresses_are_refused_where_only_folders_do(run: Callable[..., Done]) -> None:
    refused = run("rulesets", "balance", "elections", "--out", "s3://runs/x")
    assert refused.returncode == 2
    assert "--out 's3://runs/x' is an address; accepted: a folder" in refused.stderr
    with pytest.raises(BadInput, match="is an address; accepted: a folder"):
        simcore.balance("elections", deals=8, out="s3://runs/x")
