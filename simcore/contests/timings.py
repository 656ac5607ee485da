"""How long each player takes for a decision, for a file beside the comparison: nothing of the clock enters the tables.

Players in Python are watched while they play; compiled ones play deals apart: a clock in the kernels would cost more than they do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from simcore._jit import cpu_name
from simcore.batches.backends import backend_for
from simcore.contests.contest import Contest

__all__ = ["time_players"]

#: Deals are doubled until they take this long.
_SECONDS = 0.2
_MOST_DEALS = 1 << 20
#: Decisions are counted in so many deals.
_COUNTED = 8


def _decisions(contest: Contest, trace: dict[str, Any]) -> int:
    """Return how many calls, namings and cards a deal took, forced ones too."""
    if contest.game == "showcase":
        return sum(len(trick["cards"]) for trick in trace["first"] + trace["second"]) + (not contest.contracts[0])
    cards = sum(len(trick["cards"]) for trick in trace["tricks"])
    several = any(len(ids) > 1 and name == trace["type"] for name, ids in contest.ruleset.types)
    return len(trace["calls"]) + cards + (several and contest.auction)


def time_players(contest: Contest, note: Callable[[str], object] = lambda text: None) -> dict[str, Any]:
    """Play deals with each player in every seat, on one thread; returns plain data."""
    rows: list[dict[str, Any]] = []
    for player in contest.players:
        asked = [(decision.kind, spent) for decision in player.outside if decision is not None for spent in decision.spent.values()]
        if asked:  # a player in Python was watched while he played
            for kind in dict.fromkeys(kind for kind, _ in asked):
                made = sum(count for named, (count, _) in asked if named == kind)
                mean = sum(seconds for named, (_, seconds) in asked if named == kind) / made
                rows.append({"player": player.spec, "decision": kind, "seconds_a_decision": mean, "decisions": made})
                note(f"time a decision: {player.spec}, {kind} {_shown(mean)}")
            continue
        config = contest.config(contest.cells[0], contest.seatings[0])
        backend = backend_for(replace(config, players=(player,) * len(config.players)))
        most = config.deals if config.given is not None else _MOST_DEALS
        pool = ThreadPoolExecutor(1, thread_name_prefix="simcore")
        try:
            deals, seconds = 1, 0.0
            backend.wait(pool.submit(backend.run, config.first, 1, None, 0, backend.new_tally()))  # it may load and compile
            while True:
                start = time.perf_counter()
                task = pool.submit(backend.run, config.first, deals, None, 0, backend.new_tally())
                backend.wait(task)
                seconds = time.perf_counter() - start
                if seconds >= _SECONDS or deals >= most:
                    break
                deals = min(2 * deals, most)
            counted = min(deals, _COUNTED)
            made = sum(_decisions(contest, backend.trace(config.first + i)) for i in range(counted))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        each = seconds / deals / (made / counted) if made else None
        rows.append(
            {"player": player.spec, "decision": "any", "seconds_a_decision": each, "decisions": round(deals * made / counted)}
        )
        note(f"time a decision: {player.spec} {_shown(each)}")
    what = "players in Python: their decisions in this process; others: whole deals on one thread, forced decisions count too"
    return {"cpu": cpu_name(), "what": what, "rows": rows}


def _shown(seconds: float | None) -> str:
    """Return a time for people."""
    if seconds is None:
        return "-"
    return f"{1e6 * seconds:.2g} µs" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"
