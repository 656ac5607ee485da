"""Side by side: A and B by turns in one run, medians and ratios, in CPU seconds (a loaded machine stretches the wall clock)."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

__all__ = ["ROOT", "Call", "alternate", "child_cpu", "child_peak_memory", "cpu"]

ROOT = Path(__file__).resolve().parent.parent
Call = Callable[[], object]


def cpu(call: Call) -> float:
    """Return the CPU seconds that a call takes in this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


def wall(call: Call) -> float:
    """Return the seconds that a call takes by the clock."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def child_cpu(*command: str, env: Mapping[str, str] | None = None, stdin: str | None = None) -> float:
    """Return the CPU seconds (user and system) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, input=stdin, text=True, capture_output=True, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def child_peak_memory(code: str) -> int:
    """Return the peak resident memory, in bytes, of Python code in a process of its own."""
    # not ru_maxrss: a child inherits its parent's
    tail = "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True, cwd=ROOT)
    return 1024 * int(done.stdout.split()[-1])


def alternate(calls: Mapping[str, Callable[[], float]], times: int) -> dict[str, float]:
    """Take measurements by turns, one unmeasured turn first; returns each one's median seconds."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(times + 1):
        for name, measure in calls.items():
            seconds = measure()
            if turn:
                found[name].append(seconds)
    return {name: median(seconds) for name, seconds in found.items()}
