"""Time of the exact solver of Showcase's second playout, one thread: ``python benchmarks/solver_two.py [deals]``.

For each kind of deal and trump: milliseconds of processor time a deal (mean, median, 95th and 99th percentile, worst) and positions
searched (mean, worst), a deal solved with what earlier deals left in the table.  Then six trumps in one call, the namer's choice, a
game played by ``best_card``, and two threads against one.

Kinds: holdings at S11 after first playouts of the player ``expert``, in ``showcase-magri`` (13 cards against 13; to reach: a mean
of 0.5 ms a trump) and in ``showcase`` (51 cards in all, 13 tricks played; to reach: 20 ms); and nasty ones, made so that neither
side has long runs of sure tricks: every suit of alternating owners with a few cards exchanged.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np

from simcore import replay
from simcore._jit import cpu_name
from simcore.cards import parse_hand
from simcore.rules import TRUMPS
from simcore.showcase.trace import holdings
from simcore.solvers import two


def mask(cards: list[int]) -> int:
    return sum(1 << card for card in cards)


def played(ruleset: str, count: int) -> list[tuple[int, int]]:
    """Return both holdings after first playouts of experts."""
    deals = []
    for trace in replay("showcase", ruleset=ruleset, seed=1, deals=count, players="expert"):
        north, south = (parse_hand(hand) for hand in holdings(trace).values())
        deals.append((north, south))
    return deals


def nasty(rng: random.Random) -> tuple[int, int]:
    hands = [[], []]  # type: list[list[int]]
    for suit in range(4):
        first = rng.randrange(2)
        for rank in range(13):
            hands[(rank + first) & 1].append(16 * suit + rank)
    for hand in hands:
        rng.shuffle(hand)
    for i in range(rng.randrange(5)):
        hands[0][i], hands[1][i] = hands[1][i], hands[0][i]
    return mask(hands[0][:26]), mask(hands[1][:26])


def report(label: str, deals: list[tuple[int, int]], trump: int, reading: str = "ruff") -> None:
    work = two.workspace()
    two.value(*deals[0], trump, "N", 13, reading, work=work)
    times, nodes = [], []
    for number, (north, south) in enumerate(deals):
        before, start = two.node_count(work), time.thread_time()
        two.value(north, south, trump, "NS"[number & 1], 13, reading, work=work)
        times.append(1000 * (time.thread_time() - start))
        nodes.append(two.node_count(work) - before)
    print(
        f"{label:8} {TRUMPS[trump]:9} {reading:5} mean {np.mean(times):7.3f}  median {np.median(times):7.3f}  "
        f"p95 {np.percentile(times, 95):7.2f}  p99 {np.percentile(times, 99):7.2f}  worst {max(times):7.2f} ms   "
        f"positions mean {np.mean(nodes):8.0f}  worst {max(nodes):8}"
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rng = random.Random(1)
    print(f"{cpu_name()}, {count} deals (showcase and nasty: {count // 5})")
    kinds = {
        "magri": played("showcase-magri", count),
        "showcase": played("showcase", count // 5),
        "nasty": [nasty(rng) for _ in range(count // 5)],
    }
    for label, deals in kinds.items():
        for trump in range(6):
            report(label, deals, trump)
        report(label, deals, 5, "rank")
    for label in ("magri", "showcase"):
        north, south = (np.array([deal[side] for deal in kinds[label]], dtype=np.uint64) for side in (0, 1))
        for reading in ("ruff", "rank"):
            two.all_trumps_batch(north[:1], south[:1], 0, all_trump=reading, work=two.workspace())  # load the kernels
            took = []
            for threads in (1, 2):
                start = time.perf_counter()
                fresh = two.workspace() if threads == 1 else None  # threads of a pool start with tables of their own
                two.all_trumps_batch(north, south, 0, all_trump=reading, threads=threads, work=fresh)
                took.append(time.perf_counter() - start)
            ms = 1000 * took[0] / north.size
            print(f"{label:8} six trumps, {reading}: {ms:.3f} ms a deal; two threads {took[0] / took[1]:.2f} times as fast")
        for name, call in (
            ("the namer's choice", lambda n, s, work: two.best_trump(n, s, "S", "N", work=work)),
            ("26 cards played", lambda n, s, work: two.line(n, s, "hearts", "N", work=work)),
        ):
            work = two.workspace()
            call(*kinds[label][0], work)
            start = time.perf_counter()
            for north_hand, south_hand in kinds[label]:
                call(north_hand, south_hand, work)
            print(f"{label:8} {name}: {1000 * (time.perf_counter() - start) / len(kinds[label]):.3f} ms a deal")


if __name__ == "__main__":
    main()
