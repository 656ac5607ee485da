"""simcore choose --out: an interrupted answer goes on where it was, and ends with the same bytes; a complete one is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import simcore
from cli.main import main
from simcore.batches.store import MANIFEST, part_name, part_paths
from simcore.choosing import kept as kept_module
from simcore.choosing.kept import KeptInFolder
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

    def recall(self: KeptInFolder, what: str, make: Any) -> Any:
        nonlocal made
        number = self._next

        def making() -> Any:
            nonlocal made
            made += 1
            return make()

        arrays = original(self, what, making)
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

    def recall(self: KeptInFolder, what: str, make: Any) -> Any:
        original(self, what, make)
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


def test_an_answer_limited_by_time_starts_anew(tmp_path: Path) -> None:
    game, options = QUESTIONS["showcase"]
    choices = simcore.choose(game, seed=5, out=tmp_path / "run", max_time="60s", **options)
    assert choices.config["reproducible"] is False
    assert sorted(contents(tmp_path / "run")) == [MANIFEST, "worlds.parquet"]
