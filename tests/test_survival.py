"""Runs that are killed, starved or cut off: one clear line, the right status, nothing complete lost, the same bytes in the end."""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from cli.main import main
from simcore.batches import parts as parts_module
from simcore.batches import run as run_module
from simcore.batches.config import make_config
from simcore.batches.partfile import part_paths
from simcore.batches.replaying import config_of_run
from simcore.batches.run import run_simulation
from simcore.batches.store import MANIFEST
from simcore.errors import BadInput, PlayerError

ROOT = Path(__file__).parent.parent
#: The command line with parts of 2,048 rows, so that small runs have many.
SMALL = (
    "import sys\n"
    "from simcore.batches import parts, solved\n"
    "parts.PART_ROWS, parts.GROUP_ROWS = 1 << 11, 1 << 9\n"
    "from cli.main import main\n"
    "main(sys.argv[1:])\n"
)
#: The same, which stops itself, as by SIGSTOP, when it has put so many parts in place: however fast the machine is and however late
#: the test is, there is a middle in which something can happen to it.
STOPPING = (
    "import os, signal, threading, time\n"
    "from simcore.batches import partfile, parts, store\n"
    "put, left, done = partfile.put_part, threading.Semaphore({most}), []\n"
    "def put_part(*args):\n"
    "    while not left.acquire(blocking=False):\n"
    "        time.sleep(0.01)\n"
    "        if len(done) == {most}:\n"
    "            os.kill(os.getpid(), signal.SIGSTOP)\n"
    "    line = put(*args)\n"
    "    done.append(line)\n"
    "    return line\n"
    "parts.put_part = store.put_part = put_part\n"
)


def command(*args: Any, most: int | None = None) -> list[str]:
    return [sys.executable, "-c", SMALL if most is None else STOPPING.format(most=most) + SMALL, *map(str, args)]


class Done(NamedTuple):
    """What a command ended with."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], small_parts: None) -> Run:
    """The command line in this process, with small parts."""

    def call(*args: Any, status: int = 0) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        done = Done(int(stop.value.code or 0), *capsys.readouterr())
        assert done.returncode == status, done.stderr
        return done

    return call


def alone(*args: Any, status: int | None = 0, **options: Any) -> Done:
    """The command line in a process of its own."""
    process = subprocess.run(command(*args), cwd=ROOT, capture_output=True, text=True, timeout=1800, **options)
    done = Done(process.returncode, process.stdout, process.stderr)
    assert status in (None, done.returncode), done.stderr
    assert "Traceback" not in done.stderr
    return done


def last_line(done: Done) -> str:
    return done.stderr.strip().splitlines()[-1]


def contents(folder: Path) -> dict[str, bytes]:
    """What stands in a folder, but for what is never twice the same."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (".lock", "timings.json")}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "PART_ROWS", 1 << 11)
    monkeypatch.setattr(parts_module, "GROUP_ROWS", 1 << 9)
    monkeypatch.setattr(parts_module, "SLOW_ROWS", 1 << 5)


@contextmanager
def started(*args: Any, most: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A command in the background, which does not outlive the test; it puts ``most`` parts in place and stops."""
    line = command(*args, most=most)
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_parts(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 1800
    while (len(part_paths(folder)) if folder.is_dir() else 0) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


# ------------------------------------------------------------------ Ctrl-C


def test_ctrl_c_before_anything_is_replaced_keeps_overwrite(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command printed has to work when it is given: the old run is still there."""
    folder = tmp_path / "run"
    run("simulate", "elections", "--deals", 80, "--seed", 9, "--out", folder)
    args = ["simulate", "elections", "--deals", "80", "--seed", "8", "--overwrite", "--out", str(folder)]
    monkeypatch.setattr(sys, "argv", ["simcore", *args])

    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run_module, "Store", stopped)
        done = run(*args, status=130)
    assert last_line(done).endswith(
        f"nothing of the run in {str(folder)!r} was replaced; to run again: {shlex.join(['simcore', *args])}"
    )
    with monkeypatch.context() as patched:
        patched.setattr(run_module, "_filled", stopped)
        done = run(*args, status=130)
    args.remove("--overwrite")
    assert last_line(done).endswith(shlex.join(["simcore", *args]))
    run(*args)


@pytest.mark.parametrize("args", [["deal", "--deals", "9"], ["replay", "elections", "--deals", "9"]])
def test_ctrl_c_of_what_is_printed(run: Run, args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from cli import deal, replay

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    for module in (deal, replay):
        monkeypatch.setattr(module, "_print", stopped)
    monkeypatch.setattr(sys, "argv", ["simcore", *args])
    done = run(*args, status=130)
    seed = done.stderr.split()[1]
    assert last_line(done) == f"simcore: interrupted; to run again: simcore {' '.join(args)} --seed {seed}"


# ------------------------------------------------------------------ SIGKILL


RUNS: dict[str, list[Any]] = {
    "elections": ["simulate", "elections", "--deals", 300_000, "--seed", 4, "--rounds", "--threads", 2],
    "contracts": ["simulate", "elections", "--deals", 100_000, "--first", 13, "--seed", 4, "--contract", "all", "--threads", 6],
    "showcase": ["simulate", "showcase", "--deals", 300_000, "--seed", 4, "--hands", "--threads", 3],
}


def kill_and_go_on(run: Run, name: str, kills: int, tmp_path: Path) -> None:
    """Kill a run at random moments, going on with the same folder, then let it finish; compare with one never stopped."""
    rng = random.Random(name)
    folder, killed = tmp_path / "run", 0
    run(*RUNS[name], "--out", tmp_path / "whole")
    whole = contents(tmp_path / "whole")
    for attempt in range(kills):
        with started(*RUNS[name], "--out", folder, most=40) as process:
            if attempt % 4:  # while it writes; else wherever it is
                wait_for_parts(folder, (len(part_paths(folder)) if folder.is_dir() else 0) + 1, process)
                time.sleep(rng.uniform(0, 0.1))
            else:
                time.sleep(rng.uniform(0, 1.5))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        for path in part_paths(folder).values() if folder.is_dir() else ():
            assert pq.read_metadata(path).num_rows  # visible only when complete
        if (folder / MANIFEST).exists():
            json.loads((folder / MANIFEST).read_text())
        if process.returncode == 0:  # it was done before it could be killed
            assert contents(folder) == whole
            shutil.rmtree(folder)
    run(*RUNS[name], "--out", folder)
    assert contents(folder) == whole
    assert killed > kills // 2, "the run was too short to be killed"


def test_killed_ten_times(run: Run, tmp_path: Path) -> None:
    kill_and_go_on(run, "elections", 10, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", list(RUNS))
def test_killed_a_hundred_times(run: Run, name: str, tmp_path: Path) -> None:
    kill_and_go_on(run, name, 34, tmp_path)


def test_two_runs_into_one_folder(run: Run, tmp_path: Path) -> None:
    """The second is refused while the first works; a crash of the first leaves no lock."""
    args = ["simulate", "elections", "--deals", 10**9, "--seed", 1, "--out", tmp_path / "run"]
    with started(*args) as process:
        wait_for_parts(tmp_path / "run", 1, process)
        assert "is in use by another run" in last_line(run(*args, status=1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    refused = run("simulate", "elections", "--deals", 500, "--seed", 2, "--out", tmp_path / "run", status=2)
    assert "deals is 1000000000 there and 500 here" in last_line(refused)


# ------------------------------------------------------------------ --resume


def test_resume_goes_on_without_the_command(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    args = ["--deals", 20_000, "--seed", 9, "--contract", "random", "--player", "S=greedy", "--hands"]
    run("simulate", "elections", *args, "--out", folder)
    whole = contents(folder)
    for name in ("part-00003.parquet", "part-00007.parquet", MANIFEST):
        (folder / name).unlink()
    done = run("simulate", "--resume", folder, "--format", "json", "--threads", 1)
    assert "4,096 deals in" in done.stderr
    assert "manifest.json is missing" in done.stderr
    assert contents(folder) == whole
    assert json.loads(done.stdout)["seed"] == "9"
    assert run("simulate", "elections", "--resume", folder, "--format", "json").stdout == done.stdout


def test_resume_takes_nothing_that_is_in_the_run(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run("simulate", "elections", "--deals", 80, "--seed", 9, "--out", folder)
    for more, words in (
        (["--seed", "9"], "--seed does not go with --resume; accepted beside it: --file, --repair, --threads"),
        (["--out", "x"], "--out does not go with --resume"),
        (["--overwrite"], "--overwrite does not go with --resume"),
    ):
        assert words in last_line(run("simulate", "--resume", folder, *more, status=2))
    assert "game 'showcase' is not the game of run" in last_line(run("simulate", "showcase", "--resume", folder, status=2))
    assert "holds no manifest.json" in last_line(run("simulate", "--resume", tmp_path / "none", status=2))
    assert not (tmp_path / "none").exists()
    assert "--players does not go with --run" in last_line(run("replay", "--run", folder, "--players", "greedy", status=2))
    assert "repair goes with out only" in last_line(run("simulate", "elections", "--repair", status=2))


def test_resume_of_deals_from_a_file_wants_the_file(run: Run, tmp_path: Path) -> None:
    file, folder = tmp_path / "deals.pbn", tmp_path / "run"
    file.write_text(run("deal", "--deals", 60, "--seed", 3).stdout)
    run("simulate", "elections", "--file", file, "--first", 4, "--seed", 1, "--out", folder)
    whole = contents(folder)
    (folder / "part-00000.parquet").unlink()
    (folder / MANIFEST).write_text(json.dumps(json.loads(whole[MANIFEST]) | {"parts": []}))
    assert "the same file with --file" in last_line(run("simulate", "--resume", folder, status=2))
    run("simulate", "--resume", folder, "--file", file)
    assert contents(folder) == whole


# ------------------------------------------------------------------ players


#: It sleeps in one deal, until there is a file ``awake`` beside it.
SLEEPY = """
import pathlib, time
def sleepy_play(view, rules, stream):
    while int(stream.index) == 70 and int(view.tricks_played) == 5 and not pathlib.Path(__file__).with_name("awake").exists():
        time.sleep(0.02)
    legal = int(view.legal)
    return legal & -legal
"""


def test_a_larger_limit_goes_on_with_the_run(tmp_path: Path, small_parts: None) -> None:
    file = tmp_path / "sleepy.py"
    file.write_text(SLEEPY)

    def options(limit: str) -> dict[str, Any]:
        return {"seed": 1, "deals": 320, "contract": "nt-most", "player": {"N": f"greedy+{file}:sleepy{limit}"}}

    short, long = make_config("elections", **options(":limit=1.5")), make_config("elections", **options(":limit=300"))
    with pytest.raises(PlayerError, match=r"has not answered for 1\.5 s: deal 70"):
        run_simulation(short, out=tmp_path / "run", threads=1)
    (tmp_path / "awake").touch()
    assert config_of_run(tmp_path / "run").players[0].given.endswith(":limit=1.5")
    result = run_simulation(long, out=tmp_path / "run", threads=2)
    assert result.deals_played == 320
    run_simulation(long, out=tmp_path / "whole", threads=1)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    found = config_of_run(tmp_path / "run")
    assert found.hash == long.hash == short.hash
    assert found.players[0].given.endswith(":limit=300")
    assert found.players[0].spec == f"greedy+{file}:sleepy"


def test_a_relative_players_file_is_found_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "players").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    file = Path("players/mine.py")
    file.write_text(SLEEPY)
    config = make_config("elections", seed=1, deals=16, contract="nt-most", player={"E": "greedy+players/mine.py:sleepy"})
    run_simulation(config, out="out/run")
    monkeypatch.chdir(tmp_path)
    assert config_of_run("project/out/run").hash == config.hash
    (tmp_path / "players").mkdir()
    (tmp_path / "players" / "mine.py").write_text("# another file of that name, here\n")
    assert config_of_run("project/out/run").hash == config.hash
    (tmp_path / "project" / file).unlink()
    with pytest.raises(BadInput) as caught:
        config_of_run("project/out/run")
    for words in ("player file 'players/mine.py'", "has other contents now", str(tmp_path / "project" / "out"), "SHA-256"):
        assert words in str(caught.value)


# ------------------------------------------------------------------ the file system


@contextmanager
def tmpfs(place: Path, size: str) -> Iterator[Path]:
    """A small disk of its own, where root may mount one."""
    place.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mount.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk(run: Run, tmp_path: Path) -> None:
    # three writers: as many as the parts that many cores write at a time would fill the disk before one of them is complete
    args = ["simulate", "elections", "--deals", 60_000, "--seed", 2, "--contract", "nt-most", "--rounds", "--threads", 2]
    with tmpfs(tmp_path / "disk", "256k") as disk:
        done = run(*args, "--out", disk / "run", status=1)
        assert last_line(done) == f"simcore: writing to '{disk / 'run'}' failed: No space left on device"
        complete = part_paths(disk / "run")
        assert complete
        assert not list((disk / "run").glob(".*.tmp"))
        again = run(*args, "--out", disk / "run", status=1)
        assert last_line(again) == last_line(done)
        assert part_paths(disk / "run").keys() >= complete.keys()
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        run(*args, "--out", disk / "run")
        run(*args, "--out", tmp_path / "whole")
        assert contents(disk / "run") == contents(tmp_path / "whole")


def test_a_read_only_disk(run: Run, tmp_path: Path) -> None:
    args = ["simulate", "elections", "--deals", 3000, "--seed", 2, "--contract", "nt-most"]
    with tmpfs(tmp_path / "disk", "4m") as disk:
        run(*args, "--out", disk / "run")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for out in ("run", "new"):
            done = run(*args, "--out", disk / out, status=1)
            assert last_line(done) == f"simcore: folder '{disk / out}' cannot be written: Read-only file system"
        assert run("replay", "--run", disk / "run", "--first", 7).stdout, "what was written is read from there all the same"


def _ordinary() -> None:
    """Take from root what lets it write everywhere (CAP_DAC_OVERRIDE, by PR_CAPBSET_DROP), for the program started next."""
    if ctypes.CDLL(None, use_errno=True).prctl(24, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@pytest.fixture
def shut() -> Iterator[tuple[Path, Run]]:
    """A folder that may be read and not written, and the command line for which that holds: root's too, or else another user's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # another user does not get through to tmp_path
        folder, home = Path(name) / "folder", Path(name) / "home"
        folder.mkdir()
        home.mkdir()
        Path(name).chmod(0o755)
        folder.chmod(0o555)
        env = os.environ | {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(ROOT)}
        ways: list[dict[str, Any]] = [{}]
        if os.geteuid() == 0:
            os.chown(home, 65534, 65534)
            other = {"user": 65534, "group": 65534, "extra_groups": [], "env": env | {"SIMCORE_CACHE_DIR": str(home)}}
            ways = [{"preexec_fn": _ordinary}, other]
        code = f"import os, sys, cli.main; sys.exit(os.access({str(folder)!r}, os.W_OK))"
        for way in ways:
            options = {"env": env} | way
            try:
                tried = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False, **options)
            except (OSError, subprocess.SubprocessError):
                continue
            if tried.returncode == 0:
                break
        else:
            pytest.skip("no command can be started here that may not write everywhere")
        try:
            yield folder, lambda *args, status=0: alone(*args, status=status, **options)
        finally:
            folder.chmod(0o755)


def test_a_folder_that_may_not_be_written(shut: tuple[Path, Run]) -> None:
    folder, run_there = shut
    for out in (folder, folder / "new"):
        done = run_there("simulate", "elections", "--deals", 80, "--out", out, status=1)
        assert last_line(done) == f"simcore: folder '{out}' cannot be written: Permission denied"
    assert not list(folder.iterdir())


def test_a_run_that_may_be_read_only(shut: tuple[Path, Run]) -> None:
    folder, run_there = shut
    folder.chmod(0o755)
    args = ["simulate", "elections", "--deals", 80, "--seed", 1, "--out", folder]
    alone(*args)
    (folder / ".lock").chmod(0o444)
    folder.chmod(0o555)
    whole = contents(folder)
    assert last_line(run_there(*args, status=1)) == f"simcore: folder '{folder}' cannot be written: Permission denied"
    refused = last_line(run_there("report", folder, status=1))
    assert refused == f"simcore: file '{folder / 'report.html'}' cannot be written: Permission denied"
    assert "# " in run_there("report", folder, "--out", "-").stdout
    assert contents(folder) == whole


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    args = ["simulate", "elections", "--deals", 20_000, "--seed", 2, "--contract", "all", "--out", tmp_path / "run"]
    limit = 30_000
    done = alone(*args, status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert last_line(done) == f"simcore: writing to '{tmp_path / 'run'}' failed: File too large"
    assert not list((tmp_path / "run").glob("*part*"))


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    args = ["simulate", "elections", "--deals", 20_000_000, "--seed", 2, "--contract", "nt-most"]
    with started(*args, "--out", tmp_path / "run") as process:
        wait_for_parts(tmp_path / "run", 3, process)
        (tmp_path / "run").rename(tmp_path / "elsewhere")
        _, errors = process.communicate(timeout=1800)
    assert process.returncode == 1, errors
    assert errors.strip().splitlines()[-1] == f"simcore: writing to '{tmp_path / 'run'}' failed: No such file or directory"
    assert len(part_paths(tmp_path / "elsewhere")) >= 3
    assert not (tmp_path / "run").exists()
    config = config_of_run(tmp_path / "elsewhere")
    assert (config.deals, config.seed) == (20_000_000, 2)


def test_a_file_where_the_folder_should_be(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    done = run("simulate", "elections", "--deals", 80, "--out", tmp_path / "run", status=2)
    assert "is a file" in last_line(done)
    assert (tmp_path / "run").read_text() == "mine"


# ------------------------------------------------------------------ streams and surroundings


#: In bash: a pipe as file 3 that nobody reads any more.
CLOSED_PIPE = "exec 3> >(exit); wait $!;"


@pytest.mark.parametrize(
    ("shell", "status", "words"),
    [
        (f"{CLOSED_PIPE} {{}} --format json >&3", 141, None),
        ("{} > /dev/full", 1, "simcore: failed: No space left on device"),
        ("{} 2> /dev/full", 0, None),
        ("{} 2>&-", 0, None),
        ("{} >&-", 0, None),
    ],
)
def test_streams_that_are_full_or_closed(shell: str, status: int, words: str | None, tmp_path: Path) -> None:
    line = f"{sys.executable} -m cli.main simulate elections --deals 80 --seed 1 --out {tmp_path}/run"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # it hides what is left unwritten
    done = subprocess.run(["bash", "-c", shell.format(line)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if words:
        assert done.stderr.splitlines()[-1] == words
    assert json.loads((tmp_path / "run" / MANIFEST).read_text())["complete"], "the work itself is done"


def test_an_error_that_nobody_can_read_keeps_its_status() -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    line = f"{sys.executable} -m cli.main simulate elections --threads none 2> /dev/full"
    assert subprocess.run(["bash", "-c", line], cwd=ROOT, env=env, check=False, timeout=1800).returncode == 2


def test_paths_and_rules_that_the_locale_has_no_letters_for(tmp_path: Path) -> None:
    env = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    rules = tmp_path / "größe.toml"
    text = (ROOT / "simcore/rulesets/elections.toml").read_text("utf-8")
    rules.write_text(text.replace('title = "', 'title = "Größe ♠ '), "utf-8")
    folder = os.fsencode(tmp_path) + b"/\xff\xc3\xb6"
    args = [*command("simulate", "elections", "--ruleset", rules, "--deals", 5000, "--seed", 1, "--rounds", "--out"), folder]
    for _ in range(2):
        done = subprocess.run(args, cwd=ROOT, env=env, capture_output=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii() or done.stdout.decode("utf-8")
    again = subprocess.run(command("simulate", "--resume", os.fsdecode(folder)), cwd=ROOT, env=env, capture_output=True)
    assert again.returncode == 0, again.stderr
    assert b"Gr" in subprocess.run(command("rulesets", "show", rules), cwd=ROOT, env=env, capture_output=True, check=True).stdout


def test_neither_home_nor_a_cache_that_can_be_written(tmp_path: Path) -> None:
    """Kernels are compiled for this process alone; the answer is the same."""
    env = {"PATH": os.environ["PATH"], "SIMCORE_CACHE_DIR": "/dev/null/cache"}
    done = alone("deal", "--deals", 2, "--seed", 1, env=env)
    assert done.stdout == alone("deal", "--deals", 2, "--seed", 1).stdout


@pytest.mark.long
def test_a_whole_run_with_neither_home_nor_cache(tmp_path: Path) -> None:
    args = ["simulate", "elections", "--deals", 3000, "--seed", 1, "--contract", "nt-most", "--out"]
    alone(*args, tmp_path / "a", env={"PATH": os.environ["PATH"], "SIMCORE_CACHE_DIR": "/dev/null/cache"})
    alone(*args, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_memory_is_flat_and_the_end_is_never_planned_ahead(tmp_path: Path) -> None:
    """A run of 10^18 deals starts like any other, and ten times the parts need no more memory."""
    script = (
        "import resource, sys\n"
        "from simcore.batches import parts\n"
        "parts.PART_ROWS, parts.GROUP_ROWS, parts.LARGEST_PART_ROWS = 1 << 14, 1 << 14, 1 << 14\n"
        "from simcore.batches.config import make_config\n"
        "from simcore.batches.run import run_simulation\n"
        "marks = []\n"
        "class Enough(Exception): pass\n"
        "def progress(done, total):\n"
        "    marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        "    if len(marks) == 400: raise Enough\n"
        "try:\n"
        "    config = make_config('elections', seed=1, deals=10**18, contract='nt-most')\n"
        "    run_simulation(config, out=sys.argv[1], threads=2, progress=progress)\n"
        "except Enough:\n"
        "    print(marks[40], marks[-1])\n"
    )
    out = [sys.executable, "-c", script, str(tmp_path / "run")]
    done = subprocess.run(out, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=True)
    early, late = (int(word) for word in done.stdout.split())
    assert late - early < 12_000, "kilobytes"
    assert len(part_paths(tmp_path / "run")) > 100
    shutil.rmtree(tmp_path / "run")
