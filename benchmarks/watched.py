"""A cluster whose workers keep a record of when they calculated, for benchmarks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from simcore.batches.cluster import Cluster, Job, Work

__all__ = ["Mark", "Watched"]


class Mark(NamedTuple):
    """A task: the process that did it, its time of day and CPU time before and after."""

    process: int
    first: int
    end: int
    start: float
    stop: float
    cpu_start: float
    cpu_stop: float


@dataclass(frozen=True)
class _Timed:
    job: Job

    def open(self) -> Work:
        """Return the job's work, with a mark beside each result."""
        work = self.job.open()

        def timed(first: int, end: int, *asked: Any) -> tuple[Mark, Any]:
            start, cpu = time.perf_counter(), time.process_time()
            result = work(first, end, *asked)
            return Mark(os.getpid(), first, end, start, time.perf_counter(), cpu, time.process_time()), result

        return timed


class Watched(Cluster):
    """A cluster with the marks of all tasks whose results were taken."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.marks: list[Mark] = []

    def run(self, job: Job, *args: Any, **options: Any) -> Iterator[tuple[int, int, Any]]:
        """See :meth:`Cluster.run`."""
        for first, end, (mark, result) in (results := super().run(_Timed(job), *args, **options)):
            self.marks.append(mark)
            try:
                yield first, end, result
            except GeneratorExit:
                results.close()  # type: ignore[attr-defined]
                raise
