"""What a driver and a scheduler cost: a run of 10^12 deals on 1,000 make-believe workers, sped up.

    python -m benchmarks.cluster [--slots 1000] [--parts 7451] [--seconds 3.5]

The scheduler, the driver, its store and its manifest are the real ones; a worker's thread sleeps instead of playing, then returns
the line of a part.  A real part of such a run takes about 70 s, so with 3.5 s everything else must work twenty times as fast.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import dask
import distributed

from simcore.batches.cluster import Cluster, Work
from simcore.batches.config import make_config
from simcore.batches.partfile import part_name
from simcore.batches.parts import PartMaker, Plan
from simcore.batches.store import MANIFEST, Store


@dataclass(frozen=True)
class Pretended:
    """A job whose pieces take a given time."""

    seconds: float
    tally: dict[str, list[int]]

    def open(self) -> Work:
        """Return what sleeps, and makes up the lines of parts ``a`` to ``b`` - 1."""

        def work(first: int, end: int) -> list[dict[str, object]]:
            time.sleep(self.seconds * (end - first))
            return [
                {
                    "name": part_name(number),
                    "first": number << 27,
                    "deals": 1 << 27,
                    "rows": 1 << 27,
                    "bytes": 900_000_000 + number,
                    "sha256": hashlib.sha256(str(number).encode()).hexdigest(),
                    "tally": self.tally,
                }
                for number in range(first, end)
            ]

        return work


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=1000)
    parser.add_argument("--parts", type=int, default=7451)
    parser.add_argument("--seconds", type=float, default=3.5)
    options = parser.parse_args()
    config = make_config("elections", deals=10**12, seed=1, contract="random")
    assert options.parts <= Plan.of(config).count
    with PartMaker(config, 1) as maker:
        tally = {name: values.tolist() for name, values in maker.backend.new_tally().items()}
    workers = min(20, options.slots)
    dask.config.set({"distributed.worker.profile.enabled": False})  # a look at each of a thousand threads, a hundred times a second
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=options.slots // workers, processes=False, protocol="tcp", dashboard_address=None
        ) as local,
        Cluster(local.scheduler_address) as cluster,
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "run", config) as store,
    ):
        start, used = time.perf_counter(), time.process_time()
        for first, _, lines in cluster.run(Pretended(options.seconds, tally), iter(range(options.parts)), options.parts):
            store.add_lines(dict(enumerate(lines, first)))
        store.write_manifest(complete=True)
        wall, used = time.perf_counter() - start, time.process_time() - used
        least = -(-options.parts // cluster.slots) * options.seconds
        manifest = (store.folder / MANIFEST).stat().st_size
        print(f"{cluster.slots} slots, {options.parts} parts of {options.seconds} s: {wall:.1f} s, at least {least:.1f} s")
        print(f"{used:.1f} s of CPU for driver, scheduler and make-believe workers: {1e3 * used / options.parts:.2f} ms a part")
        print(f"measured cost of a task {1e3 * cluster.overhead:.2f} ms, {cluster.tasks} tasks, manifest {manifest:,} bytes")


if __name__ == "__main__":
    main()
