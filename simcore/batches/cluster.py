"""Work on many machines: numbered pieces of a job are given to the workers of a Dask cluster, and what they come to is
handed back.

    job      picklable; ``open()`` gives, on a worker, the function that does pieces ``a`` to ``b`` - 1, and returns its results
    task     some consecutive pieces: so many that giving out a task costs six thousandths of its calculation
    driver   this process: gives out tasks, two a worker's thread ahead, and holds the folder's lock and manifest

Dask does the rest: connections, who does what, tasks of a lost worker done again by another, SLURM, Kubernetes and clouds
(docs/scale.md).  Before a worker gets anything it says what its simcore is; one with another version, other sources or another
pyarrow (which writes other bytes) gets nothing.  Workers may come and go at any time.

Messages are pickles: a cluster is one's own machines, in one's own network or with Dask's TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.metadata
import logging
import pickle
import queue
import re
import signal
import statistics
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Protocol

from simcore import __version__
from simcore.errors import BadInput, RunError, SimcoreError

__all__ = ["Cluster", "Job", "Work", "parse_address"]

#: What a range of pieces comes to on a worker; given (first, end), and what is asked where that changes in the course of a job.
Work = Callable[..., Any]

#: Giving out a task may cost this share of its calculation; towards the end, where others wait for the last ones, this.
_SHARE = 0.006
_LAST_SHARE = 0.02
#: A task longer than this would be a loss when a worker goes.
_LONGEST_TASK = 30.0
#: The scheduler shall be busy at most half the time, however many workers there are.
_BUSY = 0.5
_AHEAD = 2
#: Tasks a worker's thread, under way or done and waiting for their turn where results are taken in order.
_MOST_KEPT = 6
_TRIALS, _TRIED = 12, 3
#: Seconds between looks for workers that came or went, and until a cluster must have one.
_LOOK = 1.0
_PATIENCE = 60.0
_ANSWER = 30.0
_KEPT_JOBS = 4
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "ucxx")


class Job(Protocol):
    """Something that can be done in numbered pieces."""

    def open(self) -> Work: ...


def parse_address(address: str) -> int | str:
    """Return how many local workers ``local:N`` means, or the scheduler's address.

    Raises:
        BadInput: neither.
    """
    kind, _, rest = address.partition(":")
    if kind == "local":
        if not re.fullmatch(r"[0-9]{1,4}", rest) or not 1 <= int(rest) <= 1024:
            raise BadInput(f"cluster {address!r} names no number of workers; accepted: local:N with N from 1 to 1024")
        return int(rest)
    match = re.fullmatch(r"(?:([a-z]+)://)?(\[[0-9a-fA-F:.]+\]|[^\s/:]+):([0-9]{1,5})", address)
    if match is None or not 1 <= int(match[3]) <= 65535 or match[1] not in (None, *_SCHEMES):
        raise BadInput(
            f"cluster {address!r} is no address; accepted: local:N, or a Dask scheduler's as HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT"
        )
    return address


# ------------------------------------------------------------------ on a worker


@cache
def _sources() -> str:
    """Return a digest of all sources of the package: what decides what a piece comes to, whatever its version is called."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".toml", ".json"):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _identity() -> dict[str, str]:
    """Return what must be the same on driver and workers."""
    return {"simcore": __version__, "sources": _sources(), "pyarrow": importlib.metadata.version("pyarrow")}


_jobs: dict[str, bytes] = {}
_opened: dict[str, Work] = {}
_opening = threading.Lock()


def _accept(key: str, job: bytes) -> dict[str, str]:
    """Take a job, to be opened with its first task; returns what this worker is."""
    while len(_jobs) >= _KEPT_JOBS and key not in _jobs:
        oldest = next(iter(_jobs))
        del _jobs[oldest]
        _opened.pop(oldest, None)
    _jobs[key] = job
    return _identity()


@dataclass(frozen=True)
class _Unknown:
    """A worker was started anew at the same address and has lost its jobs."""


def _do(key: str, first: int, end: int, *asked: Any) -> tuple[Any, float]:
    """Do some pieces of a job; returns what they come to, and the seconds it took but for opening the job."""
    with _opening:
        if key not in _opened:
            if key not in _jobs:
                return _Unknown(), 0.0
            job: Job = pickle.loads(_jobs[key])
            _opened[key] = job.open()
        work = _opened[key]
    start = time.perf_counter()
    result = work(first, end, *asked)
    return result, time.perf_counter() - start


def _nothing(number: int) -> int:
    """Do nothing, to see what a task costs."""
    return number


# ------------------------------------------------------------------ the driver


def _one(number: int) -> int:
    """Return the size of a piece where all are alike."""
    return 1


@dataclass(eq=False)
class _Task:
    first: int
    end: int
    asked: tuple[Any, ...]
    size: int
    workers: frozenset[str] = frozenset()
    future: Any = None
    result: Any = None
    done: bool = False


class Sizes:
    """How many pieces make a task: seconds a piece as measured, seconds that a task costs as measured.

    Where pieces are of different sizes, a piece here is a unit of that size.

    Args:
        overhead: seconds that giving out a task costs.
        together: so many pieces make a task before anything is known.
    """

    def __init__(self, overhead: float, together: int = 1) -> None:
        self.overhead = overhead
        self._together = together
        self.piece: float | None = None

    def seen(self, pieces: int, seconds: float) -> None:
        """Take note of a task that was done."""
        new = seconds / pieces
        # a first task loads what it needs, and a race goes faster when choices drop out
        self.piece = new if self.piece is None or new < self.piece / 2 else 0.7 * self.piece + 0.3 * new

    def wanted(self, slots: int) -> float:
        """Return how long a task should be, in seconds: what it costs is little, and the scheduler keeps up with all workers."""
        return min(_LONGEST_TASK, self.overhead * max(1 / _SHARE, slots / _BUSY))

    def pieces(self, slots: int, left: int) -> int:
        """Return how many pieces the next task should have: fewer towards the end so that all workers end together, but never so
        few that giving it out costs more than its share then."""
        if not self.piece:
            return self._together
        enough = int(self.overhead / _LAST_SHARE / self.piece) + 1
        return min(int(self.wanted(slots) / self.piece) + 1, max(left // (2 * slots), enough))


@contextlib.contextmanager
def _deaf_children() -> Iterator[None]:
    """Have processes started here, and by threads started here, not hear Ctrl-C: a terminal sends it to all, and only the driver is
    to answer.  One that comes meanwhile is heard afterwards."""
    resource_tracker.ensure_running()  # else the thread that starts the first process unblocks it again
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


class Cluster:
    """A cluster's workers, ready for jobs.

    Args:
        address: ``local:N`` for N processes of this machine, or a Dask scheduler's address.
        note: told of workers that are refused or lost, a line each.

    Raises:
        BadInput: the address.
        RunError: Dask is not installed, nobody answers there, or no worker is of this version.
    """

    def __init__(self, address: str, *, note: Callable[[str], object] = lambda text: None) -> None:
        where = parse_address(address)
        try:
            import distributed
        except ImportError as error:
            raise RunError(f"cluster {address!r} needs Dask ({error}); accepted: after pip install 'simcore[cluster]'") from None
        self.address = address
        self._note = note
        self._jobs = 0
        self._slots: dict[str, int] = {}  # threads of the workers that may be given tasks
        self._refused: dict[str, str] = {}
        self._looked = 0.0
        self._key, self._job = "", b""
        self.overhead = 0.0  # seconds that giving out a task costs, measured
        self.tasks = 0
        self.busy = 0.0  # seconds that workers calculated
        self._local: Any = None
        for logger in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        warnings.filterwarnings("ignore", module="distributed")
        try:
            if isinstance(where, int):
                with _deaf_children():
                    self._local = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                        n_workers=where,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                        memory_limit=0,
                    )
            self._client: Any = distributed.Client(  # type: ignore[no-untyped-call]
                where if self._local is None else self._local, timeout=_ANSWER, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            self._close_local()
            raise RunError(f"cluster {address!r} does not answer: {_told(error)}") from None
        except BaseException:
            self._close_local()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _close_local(self) -> None:
        if self._local is not None:
            with contextlib.suppress(Exception):
                self._local.close(timeout=5)

    def close(self) -> None:
        """Let go; local workers are ended."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        self._close_local()

    @property
    def slots(self) -> int:
        """How many tasks run at a time."""
        return sum(self._slots.values())

    def _look(self) -> None:
        """Find workers that came and went; those new are given the job and must be of this version."""
        self._looked = time.monotonic()
        now: dict[str, int] = self._client.nthreads()
        for gone in self._slots.keys() - now.keys():
            del self._slots[gone]
            self._note(f"worker {gone} is gone; others do its work")
        new = [worker for worker in now if worker not in self._slots and worker not in self._refused]
        if not new:
            return
        mine = _identity()
        answers = self._client.run(_accept, self._key, self._job, workers=new, on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, dict):
                other = [f"{name} {answer.get(name)} instead of {mine[name]}" for name in mine if answer.get(name) != mine[name]]
                why = "it has " + ", ".join(other) if other else ""
            elif isinstance(answer, OSError):  # gone again: no answer is no version
                continue
            else:
                why = f"it has no such simcore ({_told(answer)})"
            if why:
                self._refused[worker] = why
                self._note(f"worker {worker} is refused: {why}")
            else:
                self._slots[worker] = now[worker]

    def _ready(self) -> None:
        """Wait until there is a worker.

        Raises:
            RunError: there is none, or none of this version.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._look()
            except OSError as error:
                raise self._lost(error) from None
            if self._slots:
                return
            if self._refused and self._refused.keys() >= self._client.nthreads().keys():
                told = "; ".join(f"{worker}: {why}" for worker, why in list(self._refused.items())[:3])
                raise RunError(f"cluster {self.address!r} has no worker that can be used ({told}); accepted: this simcore there")
            if time.monotonic() > deadline:
                raise RunError(f"cluster {self.address!r} has no workers; accepted: one within {_PATIENCE:.0f} s")
            time.sleep(0.1)

    def _measure(self) -> float:
        """Return the seconds that giving out a task and taking its result costs, where many are under way.

        The median of some trials: what else such a machine does takes its time too.
        """
        workers = list(self._slots)
        self._client.gather(self._client.map(_nothing, range(len(workers)), workers=workers, pure=False))  # connections
        found = []
        for _ in range(_TRIED):
            start = time.perf_counter()
            self._client.gather([self._client.submit(_nothing, i, workers=workers, pure=False) for i in range(_TRIALS)])
            found.append((time.perf_counter() - start) / _TRIALS)
        return statistics.median(found)

    def run(
        self,
        job: Job,
        numbers: Iterator[int],
        count: int,
        *,
        ordered: bool = False,
        asked: Callable[[], Any] | None = None,
        until: Callable[[], bool] = lambda: False,
        size: Callable[[int], int] = _one,
        together: int = 1,
    ) -> Iterator[tuple[int, int, Any]]:
        """Have pieces of a job done; yields (first, end, what they came to) as tasks end.

        Args:
            numbers: of the pieces, rising; count: how many at most, or where they are of different sizes the sum of these.
            ordered: yield in the order of the numbers.
            asked: returns what the job's work gets besides, when a task is given out.
            until: looked at several times a second; ends it whatever is done.
            size: of a piece by its number, compared with the others.
            together: how many pieces make a task before it is known how long one takes.

        Raises:
            RunError: a piece failed, there are no workers any more, or the scheduler is lost.
            Exception: what the job raised on a worker.
        """
        try:
            yield from self._run(job, numbers, count, ordered, asked, until, size, together)
        except SimcoreError:
            raise
        except Exception as error:
            if self._client.status == "running":
                raise
            raise self._lost(error) from None

    def _lost(self, error: BaseException) -> RunError:
        return RunError(f"cluster {self.address!r} is lost: {_told(error)}")

    def _run(
        self,
        job: Job,
        numbers: Iterator[int],
        count: int,
        ordered: bool,
        asked: Callable[[], Any] | None,
        until: Callable[[], bool],
        size: Callable[[int], int],
        together: int,
    ) -> Iterator[tuple[int, int, Any]]:
        self._job = pickle.dumps(job)
        self._key = hashlib.sha256(self._job).hexdigest()
        self._slots.clear()
        self._ready()
        if not self.overhead:
            self.overhead = self._measure()
        sizes = Sizes(self.overhead, together)
        source = _Ahead(numbers, size)
        ended: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        tasks: deque[_Task] = deque()  # given out and not yet yielded
        given = 0
        try:
            while True:
                while (
                    len(tasks) < _MOST_KEPT * self.slots
                    and sum(not task.done for task in tasks) < _AHEAD * self.slots
                    and (piece := source.take(sizes.pieces(self.slots, count - given)))
                ):
                    task = _Task(*piece, () if asked is None else (asked(),), sum(map(size, range(*piece))))
                    given += task.size
                    tasks.append(task)
                    self._submit(task, ended)
                if not tasks or until():
                    return
                done = self._ended(ended, wait=not (ordered and tasks[0].done))
                results = self._fetched(done)
                for task in done:
                    if self._finished(task, results, sizes):
                        task.done = True
                    else:
                        self._submit(task, ended)
                if time.monotonic() - self._looked > _LOOK:
                    self._ready()
                    for task in tasks:  # all who might have done it are gone
                        if not task.done and self._orphaned(task):
                            task.future.cancel()
                            self._submit(task, ended)
                if ordered and tasks[0].done:  # one only: while it is looked at, workers take up what they have, and want more
                    task = tasks.popleft()
                    yield task.first, task.end, task.result
                for task in () if ordered else [task for task in done if task.done]:
                    tasks.remove(task)
                    yield task.first, task.end, task.result
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel([task.future for task in tasks if not task.done], force=True)

    def _submit(self, task: _Task, ended: queue.SimpleQueue[_Task]) -> None:
        task.workers = frozenset(self._slots)
        self.tasks += 1
        name = f"simcore-{self._key[:8]}-{task.first}-{self._jobs}"
        self._jobs += 1
        future = self._client.submit(
            _do, self._key, task.first, task.end, *task.asked, workers=list(self._slots), key=name, pure=False
        )
        task.future = future

        def tell(_: Any) -> None:
            if task.future is future:
                ended.put(task)

        future.add_done_callback(tell)

    def _ended(self, ended: queue.SimpleQueue[_Task], *, wait: bool) -> list[_Task]:
        """Return tasks that have ended, at will after waiting for one a moment; Ctrl-C is answered meanwhile."""
        found = []
        with contextlib.suppress(queue.Empty):
            if wait:
                found.append(ended.get(timeout=0.2))
            while True:
                found.append(ended.get_nowait())
        return [task for task in dict.fromkeys(found) if not task.done]

    def _fetched(self, tasks: list[_Task]) -> dict[_Task, Any]:
        """Return the results of those tasks that have one, fetched together: one by one costs three times as much.

        Dask would wait for ever for one that was lost with all who may do it again.
        """
        good = [task for task in tasks if task.future.status == "finished"]
        if not good:
            return {}
        fetching = asyncio.run_coroutine_threadsafe(
            self._client.gather([task.future for task in good], asynchronous=True), self._client.loop.asyncio_loop
        )
        while not wait_for([fetching], _LOOK).done:
            self._ready()
            for task in good:
                if self._orphaned(task):
                    task.future.cancel()
        try:
            return dict(zip(good, fetching.result(), strict=True))
        except Exception:  # one of them was lost meanwhile: each is looked at by itself
            return {}

    def _orphaned(self, task: _Task) -> bool:
        """Tell whether all workers are gone that a task was given to."""
        return not task.workers & self._slots.keys()

    def _finished(self, task: _Task, results: dict[_Task, Any], sizes: Sizes) -> bool:
        """Take a task's result; returns whether there is one, otherwise the task is to be given out again."""
        import distributed
        from distributed.comm.core import CommClosedError

        future = task.future
        if future.status in ("cancelled", "lost"):
            return False
        try:
            result, seconds = results[task] if task in results else future.result(timeout=60)
        except distributed.KilledWorker:
            raise RunError(f"pieces {task.first} to {task.end - 1} ended the process of every worker that tried them") from None
        except (CancelledError, TimeoutError, CommClosedError):
            return False
        except (SimcoreError, OSError) as error:
            raise error from None
        except Exception as error:
            raise RunError(f"a worker failed: {_told(error)}") from None
        if isinstance(result, _Unknown):
            self._slots.clear()
            self._ready()
            return False
        self.busy += seconds
        sizes.seen(task.size, seconds)
        task.result, task.future = result, None
        return True


class _Ahead:
    """Rising numbers, taken as ranges."""

    def __init__(self, numbers: Iterator[int], size: Callable[[int], int] = _one) -> None:
        self._numbers = numbers
        self._size = size
        self._next = next(numbers, None)

    def take(self, most: int) -> tuple[int, int] | None:
        """Return the next range of consecutive numbers, at least one, of at most so many or that size in all; None at the end."""
        if self._next is None:
            return None
        first = end = self._next
        size = 0
        while self._next == end and (end == first or size + self._size(end) <= most):
            size += self._size(end)
            end += 1
            self._next = next(self._numbers, None)
        return first, end


def _told(error: BaseException) -> str:
    """Return an exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
