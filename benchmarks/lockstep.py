"""What lockstep gains: forced contracts of Elections by four experts, many deals at once and one by one, beside random players.

    python -m benchmarks.lockstep [CONTRACT ...]

Microseconds of processor time a deal, dealing included, by turns on one thread, medians of nine; each as a row of a table.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import Any

from simcore.batches.backends import backend_for
from simcore.batches.config import make_config

DEALS = {"random": 50_000, "engine": 5_000, "lockstep": 20_000}
ROUNDS = 9


def measured(contract: str) -> dict[str, float]:
    """Return microseconds a deal (and contract) of each way."""
    backends: dict[str, Any] = {}
    for name in DEALS:
        players = "random" if name == "random" else "expert"
        backends[name] = backend_for(make_config("elections", seed=1, deals=1_000_000, contract=contract, players=players))
    backends["engine"]._lockstep = None
    taken: dict[str, list[float]] = {name: [] for name in DEALS}
    for number in range(ROUNDS + 1):
        for name, backend in backends.items():
            tally = backend.new_tally()
            start = time.thread_time()
            backend.run(number * DEALS[name], DEALS[name], None, 0, tally)
            if number:  # the first compiles
                taken[name].append((time.thread_time() - start) / (DEALS[name] * backend.rows_per_deal) * 1e6)
    return {name: median(times) for name, times in taken.items()}


def main() -> None:
    print("| contract | `random` | `expert`, engine | `expert`, lockstep | of `random` |\n|---|---|---|---|---|")
    given = ["clubs-tricks", "spades-honours", "hearts-spades", "diamonds-colours", "nt-most", "nt-fewest", "random", "all"]
    for contract in sys.argv[1:] or given:
        t = measured(contract)
        shares = f"{t['random'] / t['lockstep']:.3f} ({t['random'] / t['engine']:.3f} before)"
        print(f"| `{contract}` | {t['random']:.3f} | {t['engine']:.2f} | {t['lockstep']:.2f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
