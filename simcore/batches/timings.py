"""What players in Python took for their decisions: a file of its own beside a run's parts, since it is never the same twice."""

from __future__ import annotations

import json

from simcore.batches.config import GAME_SEATS, Config
from simcore.batches.partfile import write_atomically
from simcore.batches.store import Store

__all__ = ["TIMINGS", "write_timings"]

TIMINGS = "timings.json"


def write_timings(config: Config, store: Store) -> None:
    """Write how many decisions each seat's players made in this process, and in what time; nothing where no Python decides."""
    rows = []
    for seat, player in zip(GAME_SEATS[config.game], config.players, strict=True):
        for decision in player.outside:
            spent = [] if decision is None else list(decision.spent.values())
            if decision is not None and spent:
                count, seconds = sum(n for n, _ in spent), sum(each for _, each in spent)
                rows.append({"seat": seat, "player": player.spec, "decision": decision.kind, "count": count, "seconds": seconds})
    if rows:
        text = json.dumps(rows, indent=1) + "\n"
        with store.failures():
            write_atomically(store.folder / TIMINGS, lambda path: path.write_text(text, "utf-8"))
