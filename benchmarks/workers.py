"""What the workers of a cluster do beside calculating: simulate, compare and choose on processes of this machine.

    python -m benchmarks.workers [--workers 2] [--worlds 60000] [--rounds 3] [simulate] [parts] [compare] [blocks] [choose]

Every worker writes down when a task began and ended, by the clock that all processes share and by its own CPU time.  Between its
first task (which loads the kernels) and its last whose result was used, what is not inside a task is what scheduling costs:
waiting, messages, taking work and handing it back.  What a worker that has done its last task waits for the others' is told
by itself.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from benchmarks.watched import Mark, Watched
from simcore.batches.config import make_config
from simcore.batches.parts import PartMaker
from simcore.batches.remote import sums_on, write_missing_on
from simcore.batches.store import Store
from simcore.choosing import sending  # noqa: F401 (questions can be sent)
from simcore.choosing.elections import answer_elections
from simcore.choosing.question import ElectionsQuestion
from simcore.contests.contest import make_contest
from simcore.contests.playing import play_contest, rows_schema

#: Hands whose best contracts lie close together, so that no race ends early.
HANDS = ("QT.K96.J763.J865", "KJ74.Q86.A876.AJ", "QJ86.QT53.T8.T43")


def outside(marks: list[Mark]) -> dict[str, float]:
    """Return shares of time and of CPU that workers spent outside tasks, seconds of a task and between two, the share of time that
    they waited at the end."""
    by_process: dict[int, list[Mark]] = defaultdict(list)
    for mark in sorted(marks, key=lambda mark: mark.start):
        by_process[mark.process].append(mark)
    span = busy = cpu = cpu_busy = late = 0.0
    end = max(mark.stop for mark in marks)
    gaps: list[float] = []
    for own in by_process.values():
        span += own[-1].stop - own[0].stop
        late += end - own[-1].stop
        busy += sum(mark.stop - mark.start for mark in own[1:])
        cpu += own[-1].cpu_stop - own[0].cpu_stop
        cpu_busy += sum(mark.cpu_stop - mark.cpu_start for mark in own[1:])
        gaps += [after.start - before.stop for before, after in pairwise(own)]
    shares = {"time": 1 - busy / span, "cpu": 1 - cpu_busy / cpu, "end": late / (span + late)}
    return shares | {"task": busy / max(len(gaps), 1), "gap": statistics.median(gaps)}


def simulate(cluster: Watched, number: int) -> str:
    """Play deals without tables."""
    config = make_config("elections", deals=30_000_000, seed=number, contract="random")
    with PartMaker(config, 1) as maker:
        sums_on(cluster, config, maker.backend.new_tally(), lambda deals: None)
    return f"{config.deals:,} deals without tables"


def parts(cluster: Watched, number: int) -> str:
    """Play deals into parts."""
    config = make_config("elections", deals=16 << 20, seed=number, contract="random")
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "run", config) as store:
        write_missing_on(cluster, config, store, lambda deals: None)
    return f"{config.deals:,} deals into parts"


def compare(cluster: Watched, number: int, *, out: bool = False) -> str:
    """Compare two players, keeping the rows or writing them into a folder."""
    contest = make_contest("elections", ["expert", "greedy"], contract="all", deals=100_000, seed=number, solved=0)
    if out:
        with (
            tempfile.TemporaryDirectory() as folder,
            Store(Path(folder) / "run", contest, schema=rows_schema(contest)) as store,
        ):
            play_contest(contest, threads=1, store=store, cluster=cluster)
    else:
        kept: list[object] = []
        play_contest(contest, threads=1, keep=kept.append, cluster=cluster)
    return f"{contest.base.deals:,} deals, {len(contest.cells)} contracts{' into a folder' if out else ''}"


def choose(cluster: Watched, number: int, worlds: int) -> str:
    """Choose a contract."""
    hand = HANDS[number % len(HANDS)]
    question = ElectionsQuestion.of(hand=hand, seat="S", max_deals=worlds, confidence=0.999999, seed=number)
    choices = answer_elections(question, cluster=cluster)
    return f"{hand}, {choices.sampling['worlds']:,} worlds ({choices.sampling['stopped']})"


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["simulate", "parts", "compare", "blocks", "choose"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worlds", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    verbs: dict[str, Callable[[Watched, int], str]] = {
        "simulate": simulate,
        "parts": parts,
        "compare": compare,
        "blocks": partial(compare, out=True),
        "choose": partial(choose, worlds=options.worlds),
    }
    with Watched(f"local:{options.workers}") as cluster:
        for name in options.what:
            found = []
            for number in range(options.rounds):
                cluster.marks.clear()
                given, calculated = cluster.tasks, cluster.busy
                start, used = time.perf_counter(), time.process_time()
                done = verbs[name](cluster, number)
                wall, used = time.perf_counter() - start, time.process_time() - used
                calculated = cluster.busy - calculated
                found.append(outside(cluster.marks))
                shares = {key: f"{100 * found[-1][key]:.2f} %" for key in ("time", "cpu", "end")}
                print(
                    f"{name}: {done}, {wall:.2f} s, {cluster.tasks - given} tasks given out, {len(cluster.marks)} used, "
                    f"{found[-1]['task']:.3f} s each, {1e3 * found[-1]['gap']:.2f} ms between two (median); outside tasks "
                    f"{shares['time']} of the workers' time, {shares['cpu']} of their CPU, at the end {shares['end']}; "
                    f"driver and scheduler {used:.2f} s of CPU, {1e3 * used / len(cluster.marks):.1f} ms a task",
                    flush=True,
                )
            median = statistics.median(each["time"] for each in found)
            print(f"{name}: median {100 * median:.2f} % of the time; load {os.getloadavg()[0]:.1f}", flush=True)
        print(f"a task without work costs {1e3 * cluster.overhead:.2f} ms")


if __name__ == "__main__":
    main()
