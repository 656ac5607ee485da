"""Who does the work of an answer, in numbered pieces: threads, or a cluster's workers.

    piece    some worlds, a hand, a deal: what it comes to depends on its number and on the choices asked for alone
    batch    the pieces that the stopping rule looks at next; results are taken in order
    line     pieces from a number on; a cluster's workers are given those of later batches while earlier ones are judged

What was done ahead for choices that have dropped out since is cut down to those still asked for, so that an answer is the same
function of its question and seed whoever works.  What is under way when an answer ends was done in vain: at most two tasks for a
worker's thread (simcore.batches.cluster).  A failure counts when its piece is asked for, never ahead.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from typing import Any, Protocol

from simcore.batches.cluster import Cluster, Work
from simcore.errors import SimcoreError

__all__ = ["Line", "Pieces", "Stretch", "Workers"]

Told = Callable[[list[Any]], object]


class Pieces(Protocol):
    """Work in numbered pieces; picklable."""

    def piece(self, number: int, choices: Any) -> Any:
        """Do a piece."""
        ...

    def narrowed(self, result: Any, choices: Any, wanted: Any) -> Any:
        """Return what the piece would have come to with fewer choices."""
        ...

    def wait(self, future: Future[Any]) -> Any:
        """Return a result; raises if a player takes too long."""
        ...


def _nobody(found: list[Any]) -> None:
    """Tell nobody."""


class Line(Protocol):
    """Pieces whose results are taken in order."""

    def take(
        self, numbers: Sequence[int], choices: Any = (), *, deadline: float = math.inf, told: Told = _nobody, least: int = 1
    ) -> list[Any]:
        """Return the results of pieces, in order, as far as the time goes.

        Args:
            numbers: rising, and higher than those taken before.
            choices: what is asked for, all of it part of what was asked for before.
            deadline: by ``time.monotonic``; told: called with the results so far after each one.
            least: so many are waited for in any case.
        """
        ...


class Workers:
    """Threads, or a cluster's workers, for one line at a time."""

    def __init__(self, threads: int, cluster: Cluster | None) -> None:
        self._cluster = cluster
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
        self._line: _FromCluster | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()

    def line(self, pieces: Pieces, most: int, *, together: int = 1) -> Line:
        """Return the line of these pieces, ending the one before.

        Args:
            most: how many of them there are; none from here on is done ahead.
            together: how many make a cluster's task before it is known how long one takes.
        """
        self._end()
        if self._cluster is None:
            return _FromThreads(pieces, self._pool)
        self._line = _FromCluster(pieces, self._cluster, most, together)
        return self._line


class _FromThreads:
    def __init__(self, pieces: Pieces, pool: ThreadPoolExecutor) -> None:
        self._pieces, self._pool = pieces, pool

    def take(
        self, numbers: Sequence[int], choices: Any = (), *, deadline: float = math.inf, told: Told = _nobody, least: int = 1
    ) -> list[Any]:
        futures = [self._pool.submit(self._pieces.piece, number, choices) for number in numbers]
        found: list[Any] = []
        try:
            for future in futures:
                if len(found) >= least and deadline < math.inf:
                    left = deadline - time.monotonic()
                    if left <= 0 or wait_for([future], left).not_done:
                        break
                found.append(self._pieces.wait(future))
                told(found)
        finally:
            for future in futures:
                future.cancel()
        return found


@dataclass(frozen=True)
class _Failed:
    """Why a piece, and those after it in its task, came to nothing."""

    number: int
    error: SimcoreError


@dataclass(frozen=True)
class _Job:
    """Pieces as a cluster's job: its results tell which choices they are for."""

    pieces: Pieces

    def open(self) -> Work:
        """Return what does pieces ``a`` to ``b`` - 1."""
        pool = ThreadPoolExecutor(1, thread_name_prefix="simcore")  # so that it can be watched that no player takes too long

        def work(first: int, end: int, choices: Any) -> tuple[Any, list[Any]]:
            results: list[Any] = []
            for number in range(first, end):
                try:
                    results.append(self.pieces.wait(pool.submit(self.pieces.piece, number, choices)))
                except SimcoreError as error:
                    results += [_Failed(number, error)] * (end - number)
                    break
            return choices, results

        return work


class _FromCluster:
    def __init__(self, pieces: Pieces, cluster: Cluster, most: int, together: int) -> None:
        self._pieces, self._cluster, self._most, self._together = pieces, cluster, most, together
        self._choices: Any = ()
        self._results: Iterator[tuple[int, int, Any]] | None = None
        self._ready: deque[tuple[int, Any, Any]] = deque()  # number, choices, result
        self._late: Callable[[], bool] = lambda: False

    def close(self) -> None:
        """Take back what is not done."""
        close = getattr(self._results, "close", None)
        if close is not None:
            close()
        self._results = None
        self._ready.clear()

    def _start(self, number: int, last: int) -> None:
        self.close()
        end = max(self._most, last + 1)
        self._results = self._cluster.run(
            _Job(self._pieces),
            iter(range(number, end)),
            end - number,
            ordered=True,
            asked=lambda: self._choices,
            until=lambda: self._late(),
            together=self._together,
        )

    def take(
        self, numbers: Sequence[int], choices: Any = (), *, deadline: float = math.inf, told: Told = _nobody, least: int = 1
    ) -> list[Any]:
        self._choices = choices
        found: list[Any] = []
        self._late = lambda: len(found) >= least and time.monotonic() >= deadline
        for number in numbers:
            if self._late() or not self._reach(number, numbers[-1]):
                break
            _, had, result = self._ready.popleft()
            found.append(result if had == choices else self._pieces.narrowed(result, had, choices))
            told(found)
        return found

    def _reach(self, number: int, last: int) -> bool:
        """Have a piece's result stand first; returns False if the time is up before.

        Raises:
            SimcoreError: the piece failed, asked for these choices.
        """
        while True:
            while self._ready and self._ready[0][0] < number:
                self._ready.popleft()
            if self._ready and self._ready[0][0] == number:
                _, had, result = self._ready[0]
                if not isinstance(result, _Failed):
                    return True
                if result.number == number and had == self._choices:
                    raise result.error
                self._start(number, last)  # what failed is not asked for
            elif self._ready or self._results is None:
                self._start(number, last)
            assert self._results is not None
            try:
                first, _, (choices, results) = next(self._results)
            except StopIteration:
                self._results = None
                if self._late():
                    return False
            else:
                self._ready += [(first + place, choices, result) for place, result in enumerate(results)]


class Stretch:
    """What ranges of worlds come to, cut anywhere, out of pieces of a fixed size.

    Args:
        size: worlds a piece.
        cut: returns what a piece, of which a number tells the first world, came to in worlds ``a`` to ``b`` - 1.
    """

    def __init__(self, line: Line, pieces: Pieces, size: int, cut: Callable[[Any, int, int, int], Any]) -> None:
        self._line, self._pieces, self._size, self._cut = line, pieces, size, cut
        self._last: tuple[int, Any, Any] | None = None  # the last piece: its end may be asked for next

    def take(
        self,
        first: int,
        end: int,
        choices: Any = (),
        *,
        deadline: float = math.inf,
        told: Callable[[int], object] = lambda end: None,
    ) -> list[Any]:
        """Return what worlds ``first`` to ``end`` - 1 came to, in some pieces, as far as the time goes.

        Args:
            told: called with the end of what there is so far.
        """
        size = self._size
        start = first // size
        numbers = range(start, -(-end // size))
        found: list[Any] = []
        if self._last is not None and self._last[0] == start:
            _, had, result = self._last
            found.append(result if had == choices else self._pieces.narrowed(result, had, choices))

        def tell(more: list[Any]) -> None:
            told(min((start + len(found) + len(more)) * size, end))

        found += self._line.take(numbers[len(found) :], choices, deadline=deadline, told=tell, least=1 - len(found))
        self._last = (start + len(found) - 1, choices, found[-1])
        return [
            self._cut(result, number * size, max(first, number * size), min(end, (number + 1) * size))
            for number, result in enumerate(found, start)
        ]
