"""Speed of the exact four-hand solver, side by side with DDS in one run.

    python benchmarks/solver_four.py [--deals 100] [--points 200] [--hard] [--contracts ID,…] [--seconds 60] [--log FILE]

Tricks: the first ``--deals`` deals of data/dd_table_200.csv, full tables of 20 and single solves, against the DDS library in the
PyPI package ``endplay`` (skipped where it is not installed; pin the process to one core, ``taskset -c 0``, to hold DDS to one
thread).

Points: the first ``--points`` deals for every other contract, pairings and declarers in turn, one solve each; with ``--hard`` deals
made to be hard, for every contract.  A contract stops when it has used ``--seconds``.  Each solve is a line of JSON in ``--log``: a
later run with the same log goes on where this one stopped, and reports all of them.  The table is emptied before each solve;
``MB`` is the most of it that was in use after one, ``full`` how many solves filled it, ``given up`` how many ended at the
command's limit of plies.  All times are CPU seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simcore.cards import parse_hand
from simcore.rules import Ruleset, load_ruleset
from simcore.solvers import MOST_PLIES, Solver, bound_deals, solve_deals

ORACLE = Path(__file__).parent.parent / "data" / "dd_table_200.csv"
HARD = {  # voids, hands that are images of each other, hands in which no two cards touch
    "four voids": "N:.Q853.AJ962.KT74 Q853.AJ962.KT74. AJ962.KT74..Q853 KT74..Q853.AJ962",
    "four voids, turned": "N:AJ962.KT74..Q853 Q853.AJ962.KT74. .Q853.AJ962.KT74 KT74..Q853.AJ962",
    "nothing touches": "N:K95.Q84.J73.AT62 Q84.J73.AT62.K95 J73.AT62.K95.Q84 AT62.K95.Q84.J73",
    "nothing touches, turned": "N:J73.Q84.K95.AT62 Q84.J73.AT62.K95 K95.AT62.J73.Q84 AT62.K95.Q84.J73",
}
STRAINS = ["clubs-tricks", "diamonds-tricks", "hearts-tricks", "spades-tricks", "nt-tricks"]
RULESETS = ["elections", "elections-joint", "variety"]


def clock(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def report(name: str, seconds: list[float], more: str = "") -> None:
    x = np.array(seconds)
    q = np.percentile(x, [50, 95, 99])
    print(
        f"{name:33} n {len(x):4}  mean {x.mean():8.4f}  median {q[0]:8.4f}  95% {q[1]:8.4f}  99% {q[2]:8.4f}  "
        f"worst {x.max():8.4f}{more}",
        flush=True,
    )


def packed(text: str) -> np.ndarray:
    return np.array([[parse_hand(hand) for hand in text[2:].split()]], np.uint64)


def against_dds(texts: list[str], solver: Solver) -> None:
    """Time full tables and single solves of tricks, ours and DDS's deal by deal in turn."""
    tricks = load_ruleset("tricks")
    try:
        from endplay.dds import calc_dd_table, solve_board
        from endplay.dds.solve import SolveMode
        from endplay.types import Deal, Denom, Player
    except ImportError:
        calc_dd_table = None
    ours, theirs, ours_one, theirs_one = [], [], [], []
    start = solver.nodes
    for n, text in enumerate(texts):
        hands, one, declarer = packed(text), [STRAINS[n % 5]], [n % 4]
        ours.append(clock(lambda hands=hands: solve_deals(hands, tricks, solver=solver)))
        ours_one.append(
            clock(
                lambda hands=hands, one=one, declarer=declarer: solve_deals(
                    hands, tricks, contracts=one, declarers=declarer, solver=solver
                )
            )
        )
        if calc_dd_table is not None:
            deal = Deal(text)
            theirs.append(clock(lambda deal=deal: calc_dd_table(deal)))
            deal = Deal(text)
            deal.trump = [Denom.clubs, Denom.diamonds, Denom.hearts, Denom.spades, Denom.nt][n % 5]
            deal.first = [Player.east, Player.south, Player.west, Player.north][n % 4]
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


def contracts(names: list[str], wanted: list[str]) -> Iterator[tuple[Ruleset, str]]:
    """Yield the contracts of rulesets; one that pays exactly as an earlier one comes once."""
    seen = []
    for name in names:
        rules = load_ruleset(name)
        for contract in rules.contract_ids:
            pays = rules.contract(contract)
            same = (pays.trump, pays.low, pays.trick, pays.most_tricks, pays.suits, dict(pays.cards))
            if same not in seen and (not wanted or contract in wanted):
                seen.append(same)
                yield rules, contract


def timed(
    group: str, deals: dict[str, np.ndarray], names: list[str], options: argparse.Namespace, solver: Solver, done: dict[str, Any]
) -> None:
    """Solve deals in each contract of some rulesets, log each solve, and report a line a contract."""
    for rules, contract in contracts(names, options.contracts.split(",") if options.contracts else []):
        rows: list[dict[str, Any]] = []
        used = 0.0
        for n, (name, hands) in enumerate(deals.items()):
            key = f"{rules.name}/{contract}/{group}/{name}"
            if key not in done:
                if used > options.seconds:
                    continue
                before, full = solver.nodes, solver.memory["forgotten"]
                start = time.process_time()
                bounds = bound_deals(hands, rules, contracts=[contract], pairings=[1 + n % 3], declarers=[n % 4], solver=solver)
                seconds = time.process_time() - start
                used += seconds
                least, most = bounds.ravel().tolist()
                row = {"key": key, "seconds": seconds, "margin": least if least == most else None, "nodes": solver.nodes - before}
                if least != most:
                    row["between"] = [least, most]
                row["bytes"] = solver.memory["used"]
                row["full"] = solver.memory["forgotten"] > full
                done[key] = row
                if options.log:
                    with options.log.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            rows.append(done[key])
        size = max(row["bytes"] for row in rows) >> 20
        nodes = float(np.mean([row["nodes"] for row in rows])) / 1e6
        full = sum(row["full"] for row in rows)
        more = f"  nodes {nodes:8.3f} M  {size:3} MB  full {full}"
        if given_up := sum(row["margin"] is None for row in rows):
            more += f"  given up {given_up}"
        report(f"{rules.name} {contract}", [row["seconds"] for row in rows], more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--hard", action="store_true", help="also deals made to be hard, every contract")
    parser.add_argument("--contracts", default="", help="only these contracts, ids joined by commas")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    with ORACLE.open(newline="") as file:
        texts = [row["pbn"] for row in csv.DictReader(file)]
    solver = Solver(max_plies=MOST_PLIES)
    solve_deals(packed(texts[0]), load_ruleset("tricks"), contracts=["nt-tricks"], solver=solver)  # compile
    done: dict[str, Any] = {}
    if options.log and options.log.exists():
        done = {row["key"]: row for row in map(json.loads, options.log.read_text().splitlines())}
    if options.deals:
        against_dds(texts[: options.deals], solver)
    if options.points:
        timed("oracle", {str(n): packed(text) for n, text in enumerate(texts[: options.points])}, RULESETS, options, solver, done)
    if options.hard:
        timed("hard", {name: packed(text) for name, text in HARD.items()}, ["tricks", *RULESETS], options, solver, done)


if __name__ == "__main__":
    main()
