"""Answers and comparisons whose process is killed, alone or at the head of a cluster, or whose disk is full: they go on."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_survival import CLOSED_PIPE, alone, contents, last_line, started, tmpfs, wait_for_parts

from simcore.batches.partfile import part_paths

#: A race that goes on, and so does the answer, for a second or two; two players that are the same.
ANSWER = ["choose", "elections", "--hand", "QT.K96.J763.J865", "--seat", "S", "--seed", 5, "--confidence", 0.9999999]
CONTEST = ["compare", "elections", "expert", "greedy", "--contract", "all", "--seed", 2, "--solved", 0]
COMMANDS: dict[str, list[Any]] = {
    "choose": [*ANSWER, "--max-deals", 400_000],
    "compare": [*CONTEST, "--deals", 20_000],
}


def parts_in(folder: Path) -> int:
    return len(part_paths(folder)) if folder.is_dir() else 0


def kill_and_go_on(command: list[Any], kills: int, tmp_path: Path, *more: Any) -> None:
    rng = random.Random(command[0])
    whole, folder, killed = tmp_path / "whole", tmp_path / "run", 0
    done = alone(*command, "--out", whole, "--threads", 1, status=None)
    assert done.returncode in (0, 3)
    for _ in range(kills):
        wanted = rng.randint(1, 3)
        with started(*command, "--out", folder, *more, most=wanted + 1) as process:  # whole with two such beginnings at the least
            wait_for_parts(folder, parts_in(folder) + wanted, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        if process.returncode in (0, 3):  # it was done before it could be killed
            assert contents(folder) == contents(whole)
            shutil.rmtree(folder)
    assert killed > kills // 2, "the run was too short to be killed"
    again = alone(*command, "--out", folder, *more, status=done.returncode)
    assert again.stdout == done.stdout
    assert contents(folder) == contents(whole)


@pytest.mark.parametrize("verb", list(COMMANDS))
def test_killed(verb: str, tmp_path: Path) -> None:
    kill_and_go_on(COMMANDS[verb], 3, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("verb", list(COMMANDS))
def test_killed_at_the_head_of_a_cluster(verb: str, tmp_path: Path) -> None:
    """Its workers end too."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    kill_and_go_on(COMMANDS[verb], 3, tmp_path, "--cluster", "local:2")


@pytest.mark.parametrize("verb", list(COMMANDS))
def test_a_full_disk(verb: str, tmp_path: Path) -> None:
    small = {"choose": [*ANSWER, "--max-deals", 20_000], "compare": [*CONTEST, "--deals", 2000]}[verb]
    done = alone(*small, "--out", tmp_path / "whole", status=None)
    with tmpfs(tmp_path / "disk", {"choose": "200k", "compare": "300k"}[verb]) as disk:  # room for the first parts, even at a time
        for _ in range(2):
            stopped = alone(*small, "--out", disk / "run", status=1)
            assert last_line(stopped) == f"simcore: writing to '{disk / 'run'}' failed: No space left on device"
            assert parts_in(disk / "run")
            assert not list((disk / "run").glob(".*.tmp"))
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert alone(*small, "--out", disk / "run", status=done.returncode).stdout == done.stdout
        assert contents(disk / "run") == contents(tmp_path / "whole")


def test_two_at_one_folder(tmp_path: Path) -> None:
    for verb, command in COMMANDS.items():
        with started(*command, "--out", tmp_path / verb, most=2) as process:
            wait_for_parts(tmp_path / verb, 1, process)
            assert process.poll() is None
            assert "is in use by another run" in last_line(alone(*command, "--out", tmp_path / verb, status=1))


def test_a_closed_pipe_and_a_locale_without_letters(tmp_path: Path) -> None:
    """The work is done all the same, and what is printed can be printed."""
    small = {"choose": [*ANSWER, "--max-deals", 600], "compare": [*CONTEST, "--deals", 64]}
    for verb, command in small.items():
        line = " ".join([sys.executable, "-m", "cli.main", *map(str, command), "--out", str(tmp_path / verb)])
        shell = f"export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0; {line}"
        first = subprocess.run(["bash", "-c", f"{CLOSED_PIPE} {shell} >&3"], capture_output=True, text=True, timeout=1800)
        assert first.returncode == 141, first.stderr
        assert "Traceback" not in first.stderr
        again = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=1800)
        assert again.returncode in (0, 3), again.stderr
        assert again.stdout.isascii()
        assert b"Traceback" not in again.stderr
