"""Work on clusters: real schedulers and workers in processes of their own, over TCP on this machine; an S3 server likewise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stores import CREDENTIALS, objects
from test_one_seat import some_views

from simcore.batches import cluster as cluster_module
from simcore.batches import parts as parts_module
from simcore.batches import remote
from simcore.batches.cluster import Cluster, Sizes, _Ahead, parse_address
from simcore.batches.config import make_config
from simcore.batches.partfile import part_paths
from simcore.batches.places import BucketPath, place_of
from simcore.batches.run import run_simulation
from simcore.batches.store import MANIFEST
from simcore.choosing.verb import choose
from simcore.contests import playing
from simcore.contests import remote as contests_remote
from simcore.contests.contest import make_contest
from simcore.contests.verb import run_contest
from simcore.errors import BadInput, PlayerError, RunError
from simcore.showcase import state

ROOT = Path(__file__).parent.parent
#: Small parts on driver and workers alike, so that small runs have many.
SMALL = (
    "import sys\n"
    "from simcore.batches import parts, remote\n"
    "parts.PART_ROWS, parts.GROUP_ROWS, remote.PIECE_DEALS = 1 << 11, 1 << 9, 1 << 11\n"
)
WORKER = SMALL + "from distributed.cli.dask_worker import main\nmain(sys.argv[1:])\n"
#: A driver whose tasks are a part each, and which takes its time between them, so that it can be stopped in the middle; it says
#: when it has had some.
DRIVER = SMALL + (
    "import time\n"
    "from simcore.batches.cluster import Cluster, Sizes\n"
    "Sizes.pieces = lambda *_: 1\n"
    "run = Cluster.run\n"
    "def slowly(*args, **options):\n"
    "    for count, task in enumerate(run(*args, **options)):\n"
    "        yield task\n"
    "        if count == 2:\n"
    "            print('in the middle', file=sys.stderr, flush=True)\n"
    "        time.sleep(0.1)\n"
    "Cluster.run = slowly\n"
    "from cli.main import main\n"
    "main(sys.argv[1:])\n"
)
OLD = "import simcore\nfrom simcore.batches import cluster\ncluster.__version__ = '0.0.9'\n"


# ------------------------------------------------------------------ without a cluster


def test_addresses() -> None:
    assert parse_address("local:4") == 4
    for good in ("host:8786", "tcp://10.0.0.1:8786", "tls://host.example:1", "[::1]:8786", "tcp://[fe80::1]:99"):
        assert parse_address(good) == good
    for bad in ("local", "local:", "local:0", "local:-1", "local:9999", "local:1.5", "local:²", "", "host", "host:0", "host:70000"):
        with pytest.raises(BadInput, match="accepted: local:N"):
            parse_address(bad)
    for bad in ("http://host:80", "tcp://host:1/x", "a b:1", "file:///etc/passwd"):
        with pytest.raises(BadInput):
            parse_address(bad)


def test_a_task_costs_less_than_a_fiftieth_of_its_calculation() -> None:
    for overhead in (0.0002, 0.002, 0.02):
        for piece in (1e-4, 0.01, 3.0):
            for slots in (1, 8, 1000):
                sizes = Sizes(overhead)
                assert sizes.pieces(slots, 10**9) == 1  # nothing known yet
                sizes.seen(4, 4 * piece)
                pieces = sizes.pieces(slots, 10**9)
                assert overhead <= 0.02 * pieces * piece
                assert pieces == 1 or pieces * piece <= 30 + piece  # little is lost with a worker
                if pieces * piece < 30:
                    assert slots * overhead <= 0.5 * pieces * piece  # the scheduler keeps up
                few = sizes.pieces(slots, 3)  # at the end all have something to do, if it is worth a task
                assert few == 1 or overhead >= 0.019 * (few - 1) * piece
                assert overhead <= 0.02 * few * piece
    assert Sizes(0.002, 4).pieces(8, 10**9) == 4  # as the job says, before anything is known


def test_ranges_of_numbers() -> None:
    source = _Ahead(iter([0, 1, 2, 5, 6, 9]))
    assert [source.take(2) for _ in range(5)] == [(0, 2), (2, 3), (5, 7), (9, 10), None]
    assert _Ahead(iter([])).take(1) is None
    sized = _Ahead(iter([0, 1, 2, 3, 4, 6]), [10, 20, 40, 80, 80, 5, 5].__getitem__)
    assert [sized.take(most) for most in (1, 60, 79, 200, 200, 1)] == [(0, 1), (1, 3), (3, 4), (4, 5), (6, 7), None]


@pytest.mark.parametrize(
    ("game", "options"),
    [("elections", {"contract": "all", "ruleset": "tricks"}), ("elections", {}), ("showcase", {}), ("showcase", {"trump": "all"})],
)
def test_the_rows_of_a_part_are_those_it_was_made_of(game: str, options: dict[str, Any], tmp_path: Path) -> None:
    """A worker sends a part; where a test has ended cells, another is made out of it, as out of the rows."""
    contest = make_contest(game, ["expert", "greedy"], deals=64, seed=2, solved=0, **options)
    table = playing.Table(contest, 1)
    block = table.play(contest.cells, 0, 64)
    table.close()
    sent = replace(block, rows=contests_remote._part(3, block.rows, 0, 64))
    half = len(contest.cells) // 2
    counts = [number % 3 for number in range(half, len(contest.cells))]
    counts[-1] = 5
    written = []
    for each in (block, sent):
        rows = each.of_cells(list(range(half, len(contest.cells))), contest).first(counts, contest)
        playing.write_block(tmp_path / "part", 3, rows, 0, 64)
        written.append((tmp_path / "part").read_bytes())
    assert written[0] == written[1]
    assert rows.num_rows == sum(counts) * contest.deals_per_unit * len(contest.seatings)


def test_a_worker_without_room_for_a_part_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contests_remote, "TemporaryDirectory", lambda **_: (tmp_path / "nowhere" / "else").mkdir())
    rows = playing.rows_schema(make_contest("showcase", ["expert", "greedy"], deals=8, seed=2)).empty_table()
    with pytest.raises(RunError, match="temporary folder cannot be written: No such file"):
        contests_remote._part(3, rows, 0, 8)


def test_addresses_of_object_stores() -> None:
    place = place_of("s3://bucket//runs/one/?region=eu-north-1")
    assert isinstance(place, BucketPath)
    assert str(place / "part") == "s3://bucket/runs/one/part?region=eu-north-1"
    assert (place / "part").name == "part"
    assert (place / "part").parent == place
    assert place_of("run") == Path("run")
    assert place_of("./s3:") == Path("./s3:")
    with pytest.raises(BadInput, match="folder '' has no name"):
        place_of("")
    for bad in ("http://bucket/run", "s3:///run", "s3://", "file:///tmp/run", "s3:/bucket/run", "gs:run"):
        with pytest.raises(BadInput, match="s3://BUCKET/PREFIX"):
            place_of(bad)
    with pytest.raises(BadInput) as refused:
        place_of("s3://key:hidden@bucket/run")
    assert "hidden" not in str(refused.value)


def test_threads_do_not_go_with_a_cluster() -> None:
    with pytest.raises(BadInput, match="threads 2 does not go with a cluster"):
        run_simulation(make_config("showcase", deals=8), threads=2, cluster="local:2")


# ------------------------------------------------------------------ with one


def environment() -> dict[str, str]:
    return {**os.environ, **CREDENTIALS}


class Processes:
    """A scheduler and workers; nothing of them outlives the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.workers: list[subprocess.Popen[bytes]] = []
        where = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(where)]
        self.scheduler = self._start([sys.executable, "-m", "distributed.cli.dask_scheduler", *options])
        self.until(lambda: self._told(where) is not None)
        self.address = str(self._told(where))

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        log = self._stack.enter_context((self._folder / f"log{len(self.workers)}").open("ab"))
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment())
        self._stack.callback(self._end, process)
        return process

    @staticmethod
    def _told(file: Path) -> str | None:
        """Return the address in a scheduler's file, once it is written to its end."""
        try:
            return str(json.loads(file.read_text())["address"])
        except (OSError, ValueError):
            return None

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def add(self, code: str = WORKER) -> subprocess.Popen[bytes]:
        """Start one more worker, of one thread."""
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0"]
        process = self._start([sys.executable, "-c", code, self.address, *options])
        self.workers.append(process)
        return process

    @staticmethod
    def until(there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 1800
        while not there():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler and two workers."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    try:
        processes.add()
        processes.add()
        yield processes
    finally:
        processes.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may be so busy that it takes minutes to start a worker."""
    monkeypatch.setattr(cluster_module, "_PATIENCE", 600.0)
    monkeypatch.setattr(cluster_module, "_ANSWER", 300.0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "PART_ROWS", 1 << 11)
    monkeypatch.setattr(parts_module, "GROUP_ROWS", 1 << 9)
    monkeypatch.setattr(remote, "PIECE_DEALS", 1 << 11)


@pytest.fixture
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of one part each, however dear the machine's load makes a task: a run has a middle in which things can happen."""
    monkeypatch.setattr(Sizes, "pieces", lambda *_: 1)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


OPTIONS: dict[str, Any] = {"seed": 4, "first": 13, "rounds": True, "ruleset": "variety", "players": "expert"}


@pytest.mark.usefixtures("small")
def test_the_same_bytes_as_on_one_machine(two: Processes, tmp_path: Path) -> None:
    config = make_config("elections", deals=40_000, **OPTIONS)
    told: list[tuple[int, int]] = []
    alone = run_simulation(config, out=tmp_path / "alone", threads=1)
    spread = run_simulation(config, out=tmp_path / "spread", cluster=two.address, progress=lambda *done: told.append(done))
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")
    assert told[-1] == (40_000, 40_000)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    sums = run_simulation(config, cluster=two.address)
    assert sums.summary_data() == spread.summary_data() == alone.summary_data()


@pytest.mark.usefixtures("small")
def test_parts_are_sent_back_where_the_folder_is_not_shared(
    two: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make_config("showcase", deals=20_000, seed=4, hands=True)
    run_simulation(config, out=tmp_path / "alone", threads=1)
    monkeypatch.setattr(Path, "touch", lambda path, *_: None)  # so workers see no sign of the folder
    run_simulation(config, out=tmp_path / "spread", cluster=two.address)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")


@pytest.mark.usefixtures("small")
def test_players_from_files_deals_and_rulesets_are_sent_along(two: Processes, tmp_path: Path) -> None:
    player = tmp_path / "mine.py"
    player.write_text(
        "from numba import njit\n\n\ndef low_play(view, rules, stream):\n    return int(view.legal) & -int(view.legal)\n"
    )
    options: dict[str, Any] = {"deals": 64, "seed": 1, "players": f"random+{player}:low", "contract": "random", "pairs": "lot"}
    config = make_config("elections", **options)
    alone = run_simulation(config, threads=1)
    player.rename(tmp_path / "moved.py")
    with pytest.raises(RunError, match="cannot be read"):
        run_simulation(config, cluster=two.address)
    (tmp_path / "moved.py").rename(player)
    assert run_simulation(config, cluster=two.address).summary_data() == alone.summary_data()


def test_a_player_that_fails_ends_the_run_as_on_one_machine(two: Processes, tmp_path: Path) -> None:
    player = tmp_path / "mine.py"
    player.write_text("def bad_play(view, rules, stream):\n    return 1 / 0\n")
    config = make_config("elections", deals=8, seed=1, players=f"random+{player}:bad", contract="random")
    told = []
    for where in ({"threads": 1}, {"cluster": two.address}):
        with pytest.raises(PlayerError) as stop:
            run_simulation(config, **where)  # type: ignore[arg-type]
        told.append(str(stop.value))
    assert told[0] == told[1]
    assert "ZeroDivisionError" in told[0]


@pytest.mark.parametrize("sprt", [None, "0 0.5 0.01 0.01"])
def test_comparisons(two: Processes, tmp_path: Path, sprt: str | None) -> None:
    options: dict[str, Any] = {"contract": "all", "ruleset": "tricks", "deals": 1200, "seed": 2, "solved": 0, "sprt": sprt}
    contest = make_contest("elections", ["expert", "greedy"], **options)
    alone = run_contest(contest, out=tmp_path / "alone", threads=1)
    done: list[tuple[int, int]] = []
    spread = run_contest(contest, out=tmp_path / "spread", cluster=two.address, progress=lambda *figures: done.append(figures))
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")
    assert spread.data() == alone.data()
    assert all(one <= two_ <= total for (one, total), (two_, _) in pairwise(done))
    # a block is lost
    part_paths(tmp_path / "spread")[1 if sprt is None else 0].unlink()
    (tmp_path / "spread" / MANIFEST).unlink()
    run_contest(contest, out=tmp_path / "spread", cluster=two.address)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")
    assert run_contest(contest, cluster=two.address).data() == alone.data()


HAND = {"hand": "AQJ94.KJ8.Q2.T64", "seat": "S"}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "rollouts": ("elections", {**HAND, "max_deals": 1500}),
    "choices that drop out": ("elections", {"hand": "KJ74.Q86.A876.AJ", "seat": "S", "dealer": "S", "max_deals": 6000}),
    "calls heard": ("elections", {**HAND, "dealer": "W", "calls": [("N", "pass"), ("E", "pass")], "max_deals": 300}),
    "exact": ("elections", {**HAND, "ruleset": "tricks", "method": "both", "max_deals": 512, "max_solved": 2}),
    "average": ("elections", {"max_deals": 16}),
    "trumps": ("showcase", {"max_deals": 100}),
    "cards": ("showcase", {"view": some_views("showcase", state.FIRST, 1)[0][1], "max_deals": 1000}),
}


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_choices(two: Processes, name: str) -> None:
    game, options = QUESTIONS[name]
    alone = choose(game, seed=5, threads=1, **options)
    spread = choose(game, seed=5, cluster=two.address, **options)
    assert spread.rows == alone.rows
    assert spread.sampling == alone.sampling
    assert spread.worlds().equals(alone.worlds())


def test_a_player_that_fails_ends_an_answer_as_on_one_machine(two: Processes, tmp_path: Path) -> None:
    """And not where it fails in worlds that nobody needs."""
    player = tmp_path / "mine.py"
    player.write_text(
        "def bad_play(view, rules, stream):\n    assert int(stream.index) < 20\n    return int(view.legal) & -int(view.legal)\n"
    )
    asked: dict[str, Any] = {**HAND, "seed": 5, "players": f"random+{player}:bad"}
    told = []
    for where in ({"threads": 1}, {"cluster": two.address}):
        with pytest.raises(PlayerError) as stop:
            choose("elections", max_deals=32, **asked, **where)
        told.append(str(stop.value))
    assert told[0] == told[1]
    assert "AssertionError" in told[0]
    asked |= {"max_deals": 16}
    assert choose("elections", **asked, cluster=two.address).rows == choose("elections", **asked, threads=1).rows


def test_a_player_that_fails_where_a_comparison_has_ended(two: Processes, tmp_path: Path) -> None:
    """Its blocks are played ahead, and nobody needs them; asked for, it fails as on one machine."""
    player = tmp_path / "mine.py"
    player.write_text(
        "def bad_play(view, rules, stream):\n    assert int(stream.index) < 48\n    return int(view.legal) & -int(view.legal)\n"
    )
    options: dict[str, Any] = {"contract": "nt-most", "pairs": "NS", "seed": 2, "solved": 0, "deals": 400}
    players = ["expert", f"random+{player}:bad"]
    ended = make_contest("elections", players, sprt="0 4 0.2 0.2", **options)
    alone = run_contest(ended, out=tmp_path / "alone", threads=1)
    assert alone.decided
    run_contest(ended, out=tmp_path / "spread", cluster=two.address)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")
    told = []
    for where in ({"threads": 1}, {"cluster": two.address}):
        with pytest.raises(PlayerError) as stop:
            run_contest(make_contest("elections", players, **options), **where)  # type: ignore[arg-type]
        told.append(str(stop.value))
    assert told[0] == told[1]


def driver(processes: Processes, out: Path, deals: int) -> subprocess.Popen[str]:
    command = ["simulate", "elections", "--deals", str(deals), "--seed", "4", "--cluster", processes.address, "--out", str(out)]
    return subprocess.Popen([sys.executable, "-c", DRIVER, *command], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def parts_of(folder: Path) -> int:
    return len(part_paths(folder)) if folder.is_dir() else 0


@pytest.mark.usefixtures("small")
def test_driver_killed_interrupted_and_resumed(two: Processes, tmp_path: Path) -> None:
    out, deals = tmp_path / "run", 400_000
    for stop, status in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        with driver(two, out, deals) as process:
            assert process.stderr is not None
            while "in the middle" not in (text := process.stderr.readline()):
                assert text, "ended before it was in the middle"
            process.send_signal(stop)
            _, told = process.communicate(timeout=1800)
        assert process.returncode == status, told
        assert "Traceback" not in told
        if status == 130:
            assert f"to go on: simcore simulate elections --deals {deals} --seed 4 --cluster {two.address} --out" in told
    assert 0 < parts_of(out) < 196
    config = make_config("elections", deals=deals, seed=4)
    resumed = run_simulation(config, out=out, cluster=two.address)
    assert 0 < resumed.deals_played < deals
    run_simulation(config, out=tmp_path / "alone", threads=2)
    assert contents(out) == contents(tmp_path / "alone")


@pytest.mark.usefixtures("small", "single")
def test_a_worker_killed_one_added_late_one_of_another_version(two: Processes, tmp_path: Path) -> None:
    notes: list[str] = []
    events: list[str] = []
    config = make_config("elections", deals=300_000, seed=4)

    def progress(done: int, total: int) -> None:
        if done > 20_000 and not events:
            events.append("killed")
            two.workers.pop(0).kill()
            two.add()
            two.add(OLD + WORKER)
        while done > 150_000 and events == ["killed"]:  # so long as it takes that both have come
            clients = remote.Cluster(two.address)
            count = len(clients._client.nthreads())
            clients.close()
            if count >= 3:
                events.append("there")
            time.sleep(0.2)
        if events[1:] and not any("is refused" in note for note in notes):  # 70 parts are left: time enough to look again
            time.sleep(0.3)

    spread = run_simulation(config, out=tmp_path / "spread", cluster=two.address, note=notes.append, progress=progress)
    assert spread.deals_played == 300_000
    assert events == ["killed", "there"]
    assert any("is gone" in note for note in notes)
    two.workers.pop().kill()
    assert any("is refused: it has simcore 0.0.9 instead of" in note for note in notes)
    run_simulation(config, out=tmp_path / "alone", threads=2)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")


@pytest.mark.parametrize("verb", ["choose", "compare"])
def test_a_worker_killed_while_results_are_taken_in_order(two: Processes, verb: str) -> None:
    def progress(done: int, total: int) -> None:
        if done > total // 4 and len(two.workers) == before:
            two.workers.pop(0).kill()
            two.add()
            two.add()

    before = len(two.workers)
    if verb == "choose":
        asked: dict[str, Any] = {"hand": "QT.K96.J763.J865", "seat": "S", "seed": 5, "confidence": 0.9999999, "max_deals": 400_000}
        alone, spread = (
            choose("elections", threads=1, **asked),
            choose("elections", cluster=two.address, progress=progress, **asked),
        )
        assert spread.rows == alone.rows
        assert spread.worlds().equals(alone.worlds())
    else:
        contest = make_contest("elections", ["expert", "greedy"], contract="all", deals=60_000, seed=2, solved=0)
        spread_ = run_contest(contest, cluster=two.address, progress=progress)
        assert spread_.data() == run_contest(contest, threads=1).data()
    assert len(two.workers) == before + 1
    two.workers.pop().kill()


@pytest.mark.usefixtures("small", "single")
def test_the_only_worker_is_lost_as_its_results_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other was named to Dask for them; one that comes later does them again."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    processes, fetched = Processes(tmp_path), Cluster._fetched

    def lost(self: Cluster, tasks: list[Any]) -> dict[Any, Any]:
        if len(processes.workers) == 1 and any(task.future.status == "finished" for task in tasks):
            processes.workers[0].kill()
            processes.workers[0].wait()
            processes.add()
        return fetched(self, tasks)

    monkeypatch.setattr(Cluster, "_fetched", lost)
    config = make_config("elections", deals=40_000, seed=4)
    try:
        processes.add()
        spread = run_simulation(config, cluster=processes.address)
    finally:
        processes.close()
    assert len(processes.workers) == 2
    assert spread.summary_data() == run_simulation(config, threads=2).summary_data()


def test_no_worker_of_this_version(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    processes = Processes(tmp_path)
    try:
        processes.add(OLD + WORKER)
        with pytest.raises(RunError, match=r"no worker that can be used .* simcore 0\.0\.9 instead of"):
            run_simulation(make_config("showcase", deals=8, seed=1), cluster=processes.address)
    finally:
        processes.close()


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(cluster_module, "_ANSWER", 0.5)
    with pytest.raises(RunError, match="does not answer"):
        run_simulation(make_config("showcase", deals=8, seed=1), cluster="127.0.0.1:1")


@pytest.mark.usefixtures("small", "single")
def test_a_scheduler_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """One line; what is complete stays, and the run goes on without a cluster."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    opened = Cluster.__init__

    def soon_gives_up(self: Cluster, *args: Any, **options: Any) -> None:
        opened(self, *args, **options)
        self._client._timeout = 3.0  # for connecting anew

    monkeypatch.setattr(Cluster, "__init__", soon_gives_up)
    processes = Processes(tmp_path)
    config = make_config("elections", deals=400_000, seed=4)

    def progress(done: int, total: int) -> None:
        if done > 40_000:
            processes.scheduler.kill()

    try:
        processes.add()
        with pytest.raises(RunError, match="is lost"):
            run_simulation(config, out=tmp_path / "run", cluster=processes.address, progress=progress)
    finally:
        processes.close()
    assert capfd.readouterr().err == ""
    resumed = run_simulation(config, out=tmp_path / "run", threads=2)
    assert resumed.deals_played < 400_000 - 40_000 + 2048
    run_simulation(config, out=tmp_path / "alone", threads=2)
    assert contents(tmp_path / "run") == contents(tmp_path / "alone")


@pytest.mark.long
@pytest.mark.usefixtures("small", "single")
def test_four_workers_two_of_them_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    processes = Processes(tmp_path)
    notes: list[str] = []
    config = make_config("elections", deals=1_000_000, seed=9, players="expert", rounds=True)

    def progress(done: int, total: int) -> None:
        if done > total * (3 - len(processes.workers) + 1) // 3 and len(processes.workers) > 2:
            processes.workers.pop().kill()

    try:
        for _ in range(4):
            processes.add()
        run_simulation(config, out=tmp_path / "spread", cluster=processes.address, note=notes.append, progress=progress)
    finally:
        processes.close()
    assert len(processes.workers) == 2
    assert sum("is gone" in note for note in notes) >= 1
    run_simulation(config, out=tmp_path / "alone", threads=2)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")


@pytest.mark.long
def test_processes_of_this_machine_and_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C in a terminal reaches the workers too."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    command = [
        "simulate",
        "elections",
        "--deals",
        "30000000",
        "--seed",
        "4",
        "--cluster",
        "local:2",
        "--out",
        str(tmp_path / "run"),
    ]
    code = "import sys\nfrom cli.main import main\nmain(sys.argv[1:])\n"
    with subprocess.Popen(
        [sys.executable, "-c", code, *command], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            Processes.until(lambda: parts_of(tmp_path / "run") > 1)
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=1800)
        finally:
            process.kill()
    assert process.returncode == 130, told
    assert told.strip().splitlines()[-1].startswith("simcore: interrupted; complete parts are in")
    assert "Traceback" not in told


# ------------------------------------------------------------------ an object store


@pytest.mark.usefixtures("small")
def test_into_an_object_store(two: Processes, bucket: str, tmp_path: Path) -> None:
    config = make_config("elections", deals=10_000, **OPTIONS)
    alone = run_simulation(config, out=tmp_path / "alone", threads=1)
    place = BucketPath(f"s3://runs/one{bucket}")
    run = run_simulation(config, out=place, cluster=two.address)
    assert objects(place) == contents(tmp_path / "alone")
    assert run.table().equals(alone.table())
    again = run_simulation(config, out=str(place), threads=1)
    assert again.deals_played == 0
    # a part is lost, the manifest with it
    (place / "part-00003.parquet").unlink()
    (place / MANIFEST).unlink()
    notes: list[str] = []
    once_more = run_simulation(config, out=place, threads=1, note=notes.append)
    assert once_more.deals_played == 2048
    assert notes == ["manifest.json is missing and made anew out of the parts"]
    assert objects(place) == contents(tmp_path / "alone")
    # another config is refused, damage found and, when told so, repaired
    with pytest.raises(BadInput, match="holds another run"):
        run_simulation(make_config("elections", deals=10_000, seed=5), out=place, threads=1)
    short = tmp_path / "short"
    short.write_bytes(contents(tmp_path / "alone")["part-00002.parquet"][:-100])
    (place / "part-00002.parquet").upload(short)
    with pytest.raises(RunError, match="part-00002"):
        run_simulation(config, out=place, threads=1)
    assert run_simulation(config, out=place, threads=1, repair=True).deals_played == 2048
    aside = place / "part-00002.parquet.aside"
    assert aside.exists()
    aside.unlink()
    assert objects(place) == contents(tmp_path / "alone")
    assert run_simulation(config, out=place, threads=1, overwrite=True).deals_played == 10_000
    assert objects(place) == contents(tmp_path / "alone")


@pytest.mark.parametrize("name", ["choices that drop out", "trumps"])
def test_answers_into_an_object_store(two: Processes, bucket: str, tmp_path: Path, name: str) -> None:
    game, options = QUESTIONS[name]
    place = BucketPath(f"s3://runs/{name.replace(' ', '-')}{bucket}")
    choose(game, seed=5, out=tmp_path / "alone", threads=1, **options)
    answer = choose(game, seed=5, out=place, cluster=two.address, **options)
    assert objects(place) == contents(tmp_path / "alone")
    assert answer.data() == choose(game, seed=5, out=str(place), **options).data()


def test_comparisons_into_an_object_store(two: Processes, bucket: str, tmp_path: Path) -> None:
    contest = make_contest("elections", ["expert", "greedy"], contract="all", ruleset="tricks", deals=700, seed=2, solved=0)
    place = BucketPath(f"s3://runs/spread-contest{bucket}")
    run_contest(contest, out=tmp_path / "alone", threads=1)
    spread = run_contest(contest, out=place, cluster=two.address)
    assert objects(place) == contents(tmp_path / "alone")
    part_paths(place)[1].unlink()
    (place / MANIFEST).unlink()
    assert run_contest(contest, out=place, cluster=two.address).data() == spread.data()
    assert objects(place) == contents(tmp_path / "alone")


def test_no_such_bucket(bucket: str) -> None:
    with pytest.raises(RunError, match=r"s3://nowhere/x"):
        run_simulation(make_config("showcase", deals=8, seed=1), out=f"s3://nowhere/x{bucket}", threads=1)


def test_a_client_that_has_given_up_is_a_lost_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the client raises then; while it runs, errors stay what they are."""

    def fail(*_: Any) -> Any:
        raise RuntimeError("ConnectionPool is closed")

    cluster = object.__new__(Cluster)
    cluster.address = "tcp://127.0.0.1:1"
    monkeypatch.setattr(cluster, "_run", fail, raising=False)
    cluster._client = SimpleNamespace(status="closed")
    with pytest.raises(RunError, match=r"cluster 'tcp://127.0.0.1:1' is lost: .*ConnectionPool is closed"):
        next(cluster.run(None, iter(()), 0))  # type: ignore[arg-type]
    cluster._client.status = "running"
    with pytest.raises(RuntimeError, match="ConnectionPool"):
        next(cluster.run(None, iter(()), 0))  # type: ignore[arg-type]
