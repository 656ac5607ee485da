"""What is measured: kernels, threads, writer, memory, start-up.  Every function returns plain numbers, ready for JSON."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.measure import alternate, child_cpu, child_peak_memory, cpu, wall
from benchmarks.peers import Peer
from benchmarks.reference import compiler, reference_for
from simcore.batches.backends import backend_for
from simcore.batches.config import Config, make_config
from simcore.batches.parts import CHUNK_DEALS
from simcore.batches.run import run_simulation
from simcore.deals.dealing import deal_hands

__all__ = ["against_c", "against_peers", "growth", "memory", "players", "startup", "threads", "where_time_goes", "writer"]

CARDS = {"elections": 52, "showcase": 76}


def forced(game: str, deals: int, **options: Any) -> Config:
    """Return a config of random players: Elections with a contract by lot, Showcase whole."""
    return make_config(game, seed=7, deals=deals, **({"contract": "random"} if game == "elections" else {}), **options)


def kernel(config: Config, rows: bool = False) -> Callable[[], object]:
    """Return a call that plays a config's deals in one thread, in chunks as a run does, keeping tallies (and rows) only."""
    backend = backend_for(config)
    buffers = backend.buffers(CHUNK_DEALS) if rows else None

    def play() -> object:
        tally = backend.new_tally()
        for first in range(0, config.deals, CHUNK_DEALS):
            backend.run(first, min(CHUNK_DEALS, config.deals - first), buffers, 0, tally)
        return tally

    return play


def against_c(game: str, deals: int, times: int) -> dict[str, Any]:
    """Measure a game's kernel against the C reference; the tallies are compared first."""
    if compiler() is None:
        return {"missing": "no C compiler"}
    config = forced(game, deals)
    ours, reference = kernel(config), reference_for(config)
    theirs = reference.run(0, deals)
    equal = bool((ours()["sums"][: len(theirs)] == theirs).all())  # type: ignore[index]
    found = alternate({"simcore": lambda: cpu(ours), "c": lambda: cpu(lambda: reference.run(0, deals))}, times)
    rate = {name: CARDS[game] * deals / seconds for name, seconds in found.items()}
    return {"equal_tallies": equal, "cards_per_second": rate, "ratio": found["c"] / found["simcore"]}


def against_peers(found: list[Peer], deals: int, times: int) -> list[dict[str, Any]]:
    """Measure each peer by turns with the Elections kernel, or, where it only deals, with simcore's deals."""
    play = kernel(forced("elections", deals))
    rows = []
    for peer in found:
        ours = play if peer.cards else lambda: deal_hands(7, 0, deals)
        seconds = alternate({"simcore": lambda ours=ours: cpu(ours), "peer": peer.measure}, times)  # type: ignore[misc]
        row = {"name": peer.name, "version": peer.version, "what": peer.what}
        row["deals_per_second"] = {"simcore": deals / seconds["simcore"], "peer": peer.deals / seconds["peer"]}
        row["ratio_per_deal"] = row["deals_per_second"]["simcore"] / row["deals_per_second"]["peer"]
        if peer.cards:
            row["cards_per_second"] = {"simcore": 52 * deals / seconds["simcore"], "peer": peer.cards / seconds["peer"]}
            row["ratio_per_card"] = row["cards_per_second"]["simcore"] / row["cards_per_second"]["peer"]
        rows.append(row)
    return rows


def players(names: list[str], deals: int, times: int) -> dict[str, Any]:
    """Measure other players in all seats against ``random``, forced contract."""
    calls = {name: kernel(forced("elections", deals, players=name)) for name in ["random", *names]}
    found = alternate({name: (lambda call=call: cpu(call)) for name, call in calls.items()}, times)  # type: ignore[misc]
    return {name: found["random"] / found[name] for name in names}


def threads(game: str, deals: int, times: int) -> dict[str, Any]:
    """Measure kernels only on one and on two threads, by the clock."""
    calls = [kernel(forced(game, deals)) for _ in range(2)]

    def run(count: int) -> float:
        def work() -> None:
            workers = [threading.Thread(target=calls[k]) for k in range(count)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        return wall(work)

    def core_time(count: int) -> float:
        return cpu(lambda: run(count)) / count

    found = alternate(
        {"1": lambda: run(1), "2": lambda: run(2), "core 1": lambda: core_time(1), "core 2": lambda: core_time(2)}, times
    )
    rate = {"1": deals / found["1"], "2": 2 * deals / found["2"]}
    return {
        "deals_per_second": rate,
        "ratio": rate["2"] / rate["1"],
        # what two threads would do with a core each: free of other load on the machine, blind to waiting for each other
        "ratio_by_core_time": 2 * found["core 1"] / found["core 2"],
        "load": os.getloadavg()[0],
    }


def writer(deals: int, times: int) -> dict[str, Any]:
    """Measure the Parquet writer: core time and bytes a row, and a whole run on two threads against its kernels."""
    config = forced("elections", deals)
    with tempfile.TemporaryDirectory() as folder:
        fresh = (Path(folder) / str(number) for number in count())

        def on_two(out: Path | None) -> float:
            return wall(lambda: run_simulation(config, out=out, threads=2))

        play = kernel(config, rows=True)
        found = alternate(
            {
                "run": lambda: cpu(lambda: run_simulation(config, out=next(fresh), threads=1)),
                "kernel": lambda: cpu(play),
                "two": lambda: on_two(None),
                "two_parquet": lambda: on_two(next(fresh)),
            },
            times,
        )
        size = sum(path.stat().st_size for path in (Path(folder) / "0").glob("*.parquet"))
    return {
        "microseconds_per_row": 1e6 * (found["run"] - found["kernel"]) / deals,
        "bytes_per_row": size / deals,
        "two_threads_parquet_to_kernels": found["two"] / found["two_parquet"],
        "load": os.getloadavg()[0],
    }


def where_time_goes(deals: int, times: int) -> dict[str, float]:
    """Return nanoseconds of core time a deal in each stage of a run of forced contracts, as differences of runs."""
    all_contracts = make_config("elections", seed=7, deals=deals, contract="all")
    repeat = all_contracts.rows_per_deal
    with tempfile.TemporaryDirectory() as folder:
        config = forced("elections", deals)
        calls: dict[str, Callable[[], object]] = {
            "deal": lambda: deal_hands(7, 0, deals),
            "again": kernel(all_contracts),
            "whole": kernel(config),
            "rows": kernel(config, rows=True),
            "parquet": lambda: run_simulation(config, out=Path(folder) / "run", threads=1, overwrite=True),
        }
        found = alternate({name: (lambda call=call: cpu(call)) for name, call in calls.items()}, times)  # type: ignore[misc]
    nanoseconds = {name: 1e9 * seconds / deals for name, seconds in found.items()}
    play = (nanoseconds["again"] - nanoseconds["whole"]) / (repeat - 1)
    return {
        "deal": nanoseconds["deal"],
        "lots and streams": nanoseconds["whole"] - nanoseconds["deal"] - play,
        "play and score": play,
        "rows": nanoseconds["rows"] - nanoseconds["whole"],
        "Parquet": nanoseconds["parquet"] - nanoseconds["rows"],
    }


def growth(largest: int) -> list[tuple[int, float]]:
    """Return (deals, seconds by the clock) of whole runs on all cores, tallies only, from 10,000 deals up by tens."""
    points = []
    deals = 10_000
    while deals <= largest:
        config = forced("elections", deals)
        points.append((deals, min(wall(lambda config=config: run_simulation(config)) for _ in range(3 if deals < 10**7 else 1))))  # type: ignore[misc]
        deals *= 10
    return points


def memory(largest: int) -> dict[str, int]:
    """Return the peak resident memory of a run of a million deals and of ``largest``, with tables written, in bytes."""
    found = {}
    for deals in (10**6, largest):
        with tempfile.TemporaryDirectory() as folder:
            code = (
                "from simcore.batches.run import run_simulation\nfrom simcore.batches.config import make_config\n"
                f"run_simulation(make_config('elections', seed=7, deals={deals}, contract='random'), out={folder + '/run'!r})"
            )
            found[str(deals)] = child_peak_memory(code)
    return found


def startup(times: int) -> dict[str, Any]:
    """Return CPU seconds of whole processes: help, a bare click program, a small simulation on a warm and a cold cache."""
    python = sys.executable
    bare = "import click\n@click.command()\ndef f(): pass\nf(['--help'])"
    simulate = (python, "-m", "cli.main", "simulate", "elections", "--deals", "1000", "--seed", "1", "--quiet")
    found = alternate(
        {
            "help": lambda: child_cpu(python, "-m", "cli.main", "--help"),
            "bare click": lambda: child_cpu(python, "-c", bare),
            "simulate, warm": lambda: child_cpu(*simulate),
            "import numba, pyarrow": lambda: child_cpu(python, "-c", "import numba, pyarrow"),
        },
        times,
    )
    with tempfile.TemporaryDirectory() as folder:
        found["simulate, cold"] = child_cpu(*simulate, env=os.environ | {"SIMCORE_CACHE_DIR": folder})
    return found
