"""What players from a file cost: the built-in ones by pointer and compiled in, against themselves, on the same deals.

    python -m benchmarks.plugin_cost [--deals 60000] [--repeat 7] [--specialise]

Every player in all seats.  Prints microseconds a deal, and how many more a player by pointer takes (with --specialise one that is
compiled in, too): medians of CPU time, measured in turn.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import alternate, cpu
from simcore.batches.backends import Backend, backend_for
from simcore.batches.config import make_config

PLAYERS = """
import numpy as np
from numba import njit

from simcore.bits import nth_set_bit, popcount
from simcore.elections import expert, expert_many, lanes, policies
from simcore.rng import pick
from simcore.showcase import expert as showcase_expert
from simcore.showcase import policies as showcase_policies


@njit
def random_play(view, rules, stream):
    return nth_set_bit(view.legal, pick(stream, popcount(view.legal)))


random_first = random_second = random_play


@njit
def greedy_play(view, rules, stream):
    return policies.greedy_play(view, rules)


@njit
def greedy_first(view, rules, stream):
    return showcase_policies.greedy_play(view, rules, 0)


@njit
def greedy_second(view, rules, stream):
    return showcase_policies.greedy_play(view, rules, 2)


@njit
def expert_play(view, rules, stream):
    return expert.expert_play(view, rules)


@njit
def expert_play_many(views, rules):
    expert_many.expert_many(views, rules, np.empty(1, lanes.QUESTIONS)[0])


@njit
def expert_first(view, rules, stream):
    return showcase_expert.expert_action(0, view, rules)


@njit
def expert_second(view, rules, stream):
    return showcase_expert.expert_action(2, view, rules)
"""

#: Name, game and options of what is played.
PLAYED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("elections, forced contract", "elections", {"contract": "random"}),
    ("elections, auction", "elections", {}),
    ("showcase", "showcase", {}),
    ("showcase-magri", "showcase", {"ruleset": "showcase-magri"}),
)


def run(backend: Backend, deals: int) -> Callable[[], float]:
    """Return a call that plays deals and returns its CPU seconds."""
    return lambda: cpu(lambda: backend.run(0, deals, None, 0, backend.new_tally()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=60_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--specialise", action="store_true", help="compiled in, too: some seconds each")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        deals = arguments.deals
        path = Path(folder) / "player.py"
        path.write_text(PLAYERS)
        for what, game, options in PLAYED:
            for name in ("random", "greedy", "expert"):
                specs = {"built in": name, "pointer": f"{name}+{path}:{name}"}
                if arguments.specialise:
                    specs["specialise=1"] = f"{specs['pointer']}:specialise=1"
                configs = {way: make_config(game, seed=1, deals=deals, players=spec, **options) for way, spec in specs.items()}
                calls = {way: run(backend_for(config), deals) for way, config in configs.items()}
                found = {way: 1e6 * seconds / deals for way, seconds in alternate(calls, arguments.repeat).items()}
                base = found.pop("built in")
                more = ", ".join(f"{way} {taken - base:+.2f} more" for way, taken in found.items())
                print(f"{what}: {name} takes {base:.2f} µs a deal, by {more}", flush=True)


if __name__ == "__main__":
    main()
