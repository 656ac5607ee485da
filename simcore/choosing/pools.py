"""Who does the work of an answer: threads, or a cluster's workers behind the same calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from simcore.batches.cluster import Cluster, Work
from simcore.batches.run import available_threads
from simcore.errors import BadInput

__all__ = ["in_order", "pool_of", "threads_or_all"]

T = TypeVar("T")


def pool_of(threads: int, cluster: Cluster | None) -> Executor:
    """Return threads, or what looks like them and has a cluster's workers behind it."""
    return ThreadPoolExecutor(threads, thread_name_prefix="simcore") if cluster is None else _Pool(cluster)


def threads_or_all(threads: int | None) -> int:
    """Return how many threads are asked for, all cores by default.

    Raises:
        BadInput: none.
    """
    threads = available_threads() if threads is None else threads
    if threads < 1:
        raise BadInput(f"threads {threads} is out of range; accepted: 1 or more")
    return threads


def in_order(
    futures: Sequence[Future[T]], wait: Callable[[Future[T]], T], deadline: float, told: Callable[[list[T]], object]
) -> list[T]:
    """Return the results of calls in order, as far as the time goes: at least the first.

    Args:
        wait: returns a call's result.
        deadline: by ``time.monotonic``; calls not asked for by then are taken back.
        told: called with the results so far after each one.
    """
    found: list[T] = []
    for future in futures:
        found.append(wait(future))
        told(found)
        if time.monotonic() >= deadline:
            break
    for future in futures:
        future.cancel()
    return found


@dataclass(frozen=True)
class _Calls:
    """A batch of calls: the job whose pieces they are."""

    calls: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]

    def open(self) -> Work:
        """Return what makes calls ``a`` to ``b`` - 1."""
        pool = ThreadPoolExecutor(1, thread_name_prefix="simcore")

        def call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            backends = [thing for thing in (getattr(function, "__self__", None), *args) if hasattr(thing, "wait")]
            if not backends:
                return function(*args)
            return backends[0].wait(pool.submit(function, *args))  # it watches that no player takes too long

        def work(first: int, end: int) -> list[Any]:
            return [call(*self.calls[number]) for number in range(first, end)]

        return work


class _Call(Future[Any]):
    """A call that is made at the latest when its result is asked for."""

    def __init__(self, pool: _Pool) -> None:
        super().__init__()
        self._pool = pool

    def result(self, timeout: float | None = None) -> Any:
        """Return the result; see :class:`concurrent.futures.Future`.

        Raises:
            TimeoutError: it took longer; other calls may have been made meanwhile.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.done():
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError
            self._pool.advance()
        return super().result(0)


class _Pool(Executor):
    """Collects calls until the first result is asked for, then has them all made by a cluster, in order."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._collected: list[tuple[_Call, Callable[..., Any], tuple[Any, ...]]] = []
        self._given: list[_Call] = []
        self._results: Iterator[tuple[int, int, list[Any]]] | None = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Collect a call."""
        call = _Call(self)
        self._collected.append((call, function, args))
        return call

    def advance(self) -> None:
        """Take the next results."""
        if all(call.done() for call in self._given):
            self._end()
        if self._results is None:
            wanted = [item for item in self._collected if not item[0].cancelled()]
            self._collected = []
            self._given = [call for call, _, _ in wanted]
            job = _Calls(tuple((function, args) for _, function, args in wanted))
            self._results = self._cluster.run(job, iter(range(len(wanted))), len(wanted), ordered=True)
        first, end, results = next(self._results)
        for call, result in zip(self._given[first:end], results, strict=True):
            if not call.cancelled():
                call.set_result(result)

    def _end(self) -> None:
        close = getattr(self._results, "close", None)
        if close is not None:
            close()
        self._results, self._given = None, []

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take back what is not done."""
        self._end()
