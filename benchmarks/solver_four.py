"""Speed of the exact four-hand solver, side by side with DDS in one run.

    python benchmarks/solver_four.py [--deals 100] [--points 0] [--seconds 60]

Tricks: the first deals of data/dd_table_200.csv, full tables of 20 and single solves, against the DDS library in the PyPI package
``endplay`` (skipped where it is not installed; pin the process to one core, ``taskset -c 0``, to hold DDS to one thread).
Points: with ``--points N``, N deals for every other contract, pairings, declarers in turn; a contract stops when it has
used ``--seconds``.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simcore.cards import parse_hand
from simcore.rules import load_ruleset
from simcore.solvers import Solver, solve_deals

ORACLE = Path(__file__).parent.parent / "data" / "dd_table_200.csv"
HARD = {
    "four voids": "N:.Q853.AJ962.KT74 Q853.AJ962.KT74. AJ962.KT74..Q853 KT74..Q853.AJ962",
    "four voids, turned": "N:AJ962.KT74..Q853 Q853.AJ962.KT74. .Q853.AJ962.KT74 KT74..Q853.AJ962",
}


def clock(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def report(name: str, seconds: list[float]) -> None:
    x = np.array(seconds)
    q = np.percentile(x, [50, 95, 99])
    print(
        f"{name:33} n {len(x):4}  mean {x.mean():8.4f}  median {q[0]:8.4f}  95% {q[1]:8.4f}  99% {q[2]:8.4f}  worst {x.max():8.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--hard", action="store_true", help="also deals made to be hard")
    options = parser.parse_args()
    with ORACLE.open(newline="") as file:
        texts = [row["pbn"] for row in csv.DictReader(file)]
    deals = np.array([[parse_hand(hand) for hand in text[2:].split()] for text in texts], np.uint64)
    tricks = load_ruleset("tricks")
    solver = Solver()
    solve_deals(deals[:1], tricks, contracts=["nt-tricks"], solver=solver)  # compile
    try:
        from endplay.dds import calc_dd_table, solve_board
        from endplay.dds.solve import SolveMode
        from endplay.types import Deal, Denom, Player
    except ImportError:
        calc_dd_table = None
    ours, theirs, ours_one, theirs_one = [], [], [], []
    strains = ["clubs-tricks", "diamonds-tricks", "hearts-tricks", "spades-tricks", "nt-tricks"]
    start = solver.nodes
    for n in range(options.deals):
        ours.append(clock(lambda n=n: solve_deals(deals[n : n + 1], tricks, solver=solver)))
        one, declarer = strains[n % 5], n % 4
        ours_one.append(
            clock(
                lambda n=n, one=one, declarer=declarer: solve_deals(
                    deals[n : n + 1], tricks, contracts=[one], declarers=[declarer], solver=solver
                )
            )
        )
        if calc_dd_table is not None:
            deal = Deal(texts[n])
            theirs.append(clock(lambda deal=deal: calc_dd_table(deal)))
            deal = Deal(texts[n])
            deal.trump = [Denom.clubs, Denom.diamonds, Denom.hearts, Denom.spades, Denom.nt][n % 5]
            deal.first = [Player.east, Player.south, Player.west, Player.north][declarer]
            theirs_one.append(clock(lambda deal=deal: solve_board(deal, SolveMode.OptimalOne)))
    report("table of 20, simcore", ours)
    report("one type and leader, simcore", ours_one)
    print(f"plies entered: {solver.nodes - start}; memory {solver.memory['bytes'] >> 20} MB")
    if theirs:
        report("table of 20, DDS", theirs)
        report("one type and leader, DDS", theirs_one)
        for name, a, b in (("table of 20", ours, theirs), ("one solve", ours_one, theirs_one)):
            print(
                f"{name}: simcore / DDS: ratio of medians {np.median(a) / np.median(b):.2f}, of sums {sum(a) / sum(b):.2f}, "
                f"median of ratios {np.median(np.array(a) / np.array(b)):.2f}"
            )
    if options.hard:
        for name, text in HARD.items():
            hard = np.array([[parse_hand(hand) for hand in text[2:].split()]], np.uint64)
            for strain in strains:
                report(
                    f"{name}, {strain}",
                    [clock(lambda hard=hard, strain=strain: solve_deals(hard, tricks, contracts=[strain], solver=solver))],
                )
            print("   ", solver.memory)
    if options.points:
        for name in ("elections", "elections-joint", "variety"):
            rules = load_ruleset(name)
            for contract in rules.contract_ids:
                seconds: list[float] = []
                for n in range(options.points):
                    seconds.append(
                        clock(
                            lambda n=n, rules=rules, contract=contract: solve_deals(
                                deals[n : n + 1],
                                rules,
                                contracts=[contract],
                                pairings=[1 + n % 3],
                                declarers=[n % 4],
                                solver=solver,
                            )
                        )
                    )
                    if sum(seconds) > options.seconds:
                        break
                report(f"{name} {contract}", seconds)


if __name__ == "__main__":
    main()
