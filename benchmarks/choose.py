"""How fast `simcore choose` answers: contract tables of random hands, and its kernel against simulate's.

    python benchmarks/choose.py [--hands 40] [--seed 99]

The first table has worlds, processor time and wall-clock time of each hand, quickest first.  Then the microseconds of processor
time that one deal by ``expert`` takes in a contract table and in ``simulate --contract all``, by turns on one thread, medians of
seven.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import simcore
from simcore.batches.backends import backend_for
from simcore.batches.config import make_config
from simcore.cards import format_hand
from simcore.choosing.elections import Worlds
from simcore.choosing.question import ElectionsQuestion

WORLDS = 2000
CONTRACTS = 8


def answers(hands: int, seed: int) -> list[tuple[float, float, int, bool]]:
    """Return processor seconds, wall-clock seconds, worlds and whether it was decided, a tuple a hand."""
    found = []
    for deal in simcore.deal_hands(seed, 0, hands):
        hand = format_hand(int(deal[2]))
        if not found:  # compile, and start the threads once
            simcore.choose("elections", hand=hand, seat="S", seed=seed, max_deals=10)
        cpu, wall = time.process_time(), time.perf_counter()
        choices = simcore.choose("elections", hand=hand, seat="S", seed=seed)
        found.append((time.process_time() - cpu, time.perf_counter() - wall, choices.sampling["worlds"], choices.decided))
    return sorted(found)


def kernels(seed: int) -> tuple[float, float]:
    """Return microseconds a deal: contract table, simulate."""
    worlds = Worlds(ElectionsQuestion.of(hand="A432.KJ2.Q43.J32", seat="S", seed=seed))
    rows = backend_for(make_config("elections", seed=seed, deals=WORLDS, contract="all", players="expert", declarer="S"))
    runs: tuple[Callable[[], object], ...] = (
        lambda: worlds.chunk(0, WORLDS, tuple(range(CONTRACTS)), ()),
        lambda: rows.run(0, WORLDS, None, 0, rows.new_tally()),
    )
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(8):
        for run, taken in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            if number:  # the first compiles
                taken.append(time.process_time() - start)
    table, simulate = (1e6 * median(taken) / (WORLDS * CONTRACTS) for taken in times)
    return table, simulate


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How fast simcore choose answers.")
    parser.add_argument("--hands", type=int, default=40)
    parser.add_argument("--seed", type=int, default=99)
    options = parser.parse_args()
    print("| processor s | wall s | worlds | decided |\n|---|---|---|---|")
    for cpu, wall, count, decided in answers(options.hands, options.seed):
        print(f"| {cpu:.2f} | {wall:.2f} | {count:,} | {'yes' if decided else 'no'} |")
    table, simulate = kernels(options.seed)
    print(f"\nexpert: {table:.1f} µs a deal in a contract table, {simulate:.1f} in simulate: {table / simulate:.2f}")


if __name__ == "__main__":
    main()
