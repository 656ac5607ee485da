"""simcore choose --out: an interrupted answer goes on where it was, and ends with the same bytes; a complete one is read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import simcore
from cli.main import main
from simcore.batches.partfile import part_name, part_paths
from simcore.batches.store import MANIFEST
from simcore.choosing import kept as kept_module
from simcore.choosing.kept import KeptInFolder
from simcore.choosing.pieces import Stretch
from simcore.errors import BadInput, RunError

HAND = "AKQJT98.AK.32.32"
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "calls": (
        "elections",
        {"hand": HAND, "seat": "S", "dealer": "N", "calls": "E pass", "players": "greedy", "max_deals": 1200},
    ),
    "both": ("elections", {"hand": HAND, "seat": "S", "method": "both", "players": "greedy", "max_deals": 600, "max_solved": 20}),
    "average": ("elections", {"players": "greedy", "max_deals": 12}),
    "showcase": ("showcase", {"players": "greedy", "max_deals": 300}),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


class Clock:
    """Stands for the module ``time``: these times, then the last for ever."""

    def __init__(self, times: list[float]) -> None:
        self._times = times

    def monotonic(self) -> float:
        return self._times.pop(0) if len(self._times) > 1 else self._times[0]


class Enough(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_stopped_after_every_piece_of_work(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, options = QUESTIONS[name]
    if name == "both":
        options = options | {"ruleset": "tricks"}
    whole = simcore.choose(game, seed=5, out=tmp_path / "whole", **options)
    assert not part_paths(tmp_path / "whole")
    original, stopped, made = KeptInFolder.recall, 0, 0

    def recall(self: KeptInFolder, what: str, make: Any, *whole: Any) -> Any:
        nonlocal made
        number = self._next

        def making() -> Any:
            nonlocal made
            made += 1
            return make()

        arrays = original(self, what, making, *whole)
        if number == stopped:
            raise Enough
        return arrays

    monkeypatch.setattr(KeptInFolder, "recall", recall)
    while True:
        try:
            choices = simcore.choose(game, seed=5, out=tmp_path / "run", threads=1, **options)
            break
        except Enough:
            stopped += 1
            assert len(part_paths(tmp_path / "run")) == stopped
    assert stopped > 0
    assert made == stopped, "each piece is worked out once"
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert choices.data() == whole.data()
    again = simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    assert made == stopped
    assert again.data() == json.loads(json.dumps(whole.data()))
    assert again.worlds().equals(whole.worlds())


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_resume_takes_the_question_from_the_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game, options = QUESTIONS[name]
    if name == "both":
        options = options | {"ruleset": "tricks", "partner": "lot", "confidence": 0.9}
    original = KeptInFolder.recall

    def recall(self: KeptInFolder, what: str, make: Any, *whole: Any) -> Any:
        original(self, what, make, *whole)
        raise Enough

    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "recall", recall)
        with pytest.raises(Enough):
            simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    with pytest.raises(SystemExit) as stop:
        main(["choose", game, "--resume", str(tmp_path / "run"), "--format", "json", "--threads", "1"])
    whole = simcore.choose(game, seed=5, out=tmp_path / "whole", **options)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(whole.data()))
    assert (stop.value.code or 0) == (0 if whole.decided else 3)
    other = "showcase" if game == "elections" else "elections"
    for args, words in (
        ([other, "--resume", str(tmp_path / "run")], "is not the game of"),
        ([game, "--resume", str(tmp_path / "run"), "--seed", "5"], "--seed does not go with --resume"),
        ([game, "--resume", str(tmp_path / "none")], "holds no manifest.json"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["choose", *args])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err


def test_a_crash_between_answer_and_tidying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, options = QUESTIONS["showcase"]
    simcore.choose(game, seed=5, out=tmp_path / "whole", **options)
    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "_tidy", lambda self: None)
        simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    assert part_paths(tmp_path / "run")
    simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_what_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, options = QUESTIONS["showcase"]
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "finish", lambda self, choices: (_ for _ in ()).throw(Enough))
        with pytest.raises(Enough):
            simcore.choose(game, seed=5, out=folder, **options)
    with pytest.raises(BadInput, match="seed is '5' there and '6' here"):
        simcore.choose(game, seed=6, out=folder, **options)
    data = bytearray((folder / part_name(0)).read_bytes())
    data[40] ^= 1
    (folder / part_name(0)).write_bytes(data)
    with pytest.raises(RunError, match=r"'part-00000.parquet': it .*--repair"):
        simcore.choose(game, seed=5, out=folder, **options)
    simcore.choose(game, seed=5, out=folder, repair=True, **options)
    (folder / "part-00000.parquet.aside").unlink()
    simcore.choose(game, seed=5, out=tmp_path / "whole", **options)
    assert contents(folder) == contents(tmp_path / "whole")
    (folder / kept_module._WORLDS).write_bytes(b"rubbish")
    with pytest.raises(RunError, match=r"worlds.parquet.* is damaged"):
        simcore.choose(game, seed=5, out=folder, **options)
    simcore.choose(game, seed=5, out=folder, overwrite=True, **options)
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_an_answer_limited_by_time_goes_on_too(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call has the time anew; with time enough the answer is that of a run without a limit."""
    game, options = QUESTIONS[name]
    if name == "both":
        options = options | {"ruleset": "tricks"}
    whole = simcore.choose(game, seed=5, **options)
    original, made = KeptInFolder.recall, 0

    def recall(self: KeptInFolder, what: str, make: Any, *whole: Any) -> Any:
        nonlocal made
        before = made

        def making() -> Any:
            nonlocal made
            made += 1
            return make()

        arrays = original(self, what, making, *whole)
        if made > before:
            raise Enough
        return arrays

    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "recall", recall)
        while True:
            try:
                choices = simcore.choose(game, seed=5, out=tmp_path / "run", max_time="1000s", **options)
                break
            except Enough:
                assert len(part_paths(tmp_path / "run")) == made
    assert choices.rows == whole.rows
    assert choices.sampling == whole.sampling
    assert choices.config["reproducible"] is False
    assert sorted(contents(tmp_path / "run")) == [MANIFEST, "worlds.parquet"]
    again = simcore.choose(game, seed=5, out=tmp_path / "run", max_time="1000s", **options)
    assert again.data() == json.loads(json.dumps(choices.data()))


def test_what_time_cut_short_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rollouts that end in the middle of a batch, then exact values; the next call goes on with both."""
    game, options = QUESTIONS["both"]
    options = options | {"ruleset": "tricks", "max_deals": 900, "max_solved": 30, "max_time": "1000s"}
    original, take = KeptInFolder.recall, Stretch.take
    asked: list[str] = []
    now = time.monotonic()

    def recall(self: KeptInFolder, what: str, make: Any, *whole: Any) -> Any:
        def making() -> Any:
            asked.append(what)
            return make()

        arrays = original(self, what, making, *whole)
        if what.startswith("solved 16"):
            raise Enough
        return arrays

    def late(self: Stretch, first: int, end: int, *args: Any, **how: Any) -> Any:
        if first < 512:
            return take(self, first, end, *args, **how)
        return take(self, first, end, *args, **how | {"deadline": 0.0})

    with monkeypatch.context() as patch:
        patch.setattr(KeptInFolder, "recall", recall)
        patch.setattr(Stretch, "take", late)
        patch.setattr("simcore.choosing.elections.time", Clock([now, now, now + 1e6]))
        with pytest.raises(Enough):
            simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    assert [what.split(",")[0] for what in asked] == ["worlds from 0", "worlds from 512", "solved 0 to 16", "solved 16 to 24"]
    assert len(part_paths(tmp_path / "run")) == 3, "not the batch that was cut short"
    choices = simcore.choose(game, seed=5, out=tmp_path / "run", **options)
    whole = simcore.choose(game, seed=5, **options)
    assert choices.rows == whole.rows
    assert choices.sampling == whole.sampling
    assert choices.comparison == whole.comparison
