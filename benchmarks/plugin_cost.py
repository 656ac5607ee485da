"""What a player from a file costs: ``greedy`` by pointer and compiled in, against ``greedy`` itself, on the same deals.

    python benchmarks/plugin_cost.py [--deals 100000] [--repeat 7]

Prints microseconds a deal more than the built-in player takes (medians of CPU time, measured in turn), for each way.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from simcore.batches.backends import backend_for
from simcore.batches.config import make_config

PLAYER = """
from numba import njit
from simcore.elections.policies import greedy_play
from simcore.showcase.policies import greedy_play as greedy_card


@njit
def mine_play(view, rules, stream):
    return greedy_play(view, rules)


@njit
def mine_first(view, rules, stream):
    return greedy_card(view, rules, 0)


@njit
def mine_second(view, rules, stream):
    return greedy_card(view, rules, 2)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "player.py"
        path.write_text(PLAYER)
        for game, options in (("elections", {"contract": "clubs-tricks"}), ("showcase", {})):
            specs = {"built in": "greedy", "pointer": f"greedy+{path}:mine", "specialise=1": f"greedy+{path}:mine:specialise=1"}
            backends = {
                name: backend_for(make_config(game, seed=1, deals=arguments.deals, players=spec, **options))
                for name, spec in specs.items()
            }
            seconds: dict[str, list[float]] = {name: [] for name in specs}
            for turn in range(arguments.repeat + 1):
                for name, backend in backends.items():
                    start = time.thread_time()
                    backend.run(0, arguments.deals, None, 0, backend.new_tally())
                    if turn:  # the first turn compiles
                        seconds[name].append(time.thread_time() - start)
            base = statistics.median(seconds["built in"])
            print(f"{game}: greedy takes {base / arguments.deals * 1e6:.2f} µs a deal")
            for name in ("pointer", "specialise=1"):
                more = [
                    (mine - theirs) / arguments.deals * 1e6 for mine, theirs in zip(seconds[name], seconds["built in"], strict=True)
                ]
                print(f"    {name}: {statistics.median(more):+.2f} µs more")


if __name__ == "__main__":
    main()
