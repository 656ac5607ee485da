"""The verb ``balance``: what a ruleset makes of the game, and what a changed one changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import backend_for
from simcore.batches.config import Config
from simcore.batches.places import check_folder
from simcore.batches.run import check_threads, run_simulation
from simcore.batches.single import fresh_folder, write_manifest
from simcore.designing.drama import Story, story_of
from simcore.designing.question import BalanceQuestion, forced
from simcore.designing.sums import Sums, confidence_of_each
from simcore.designing.tables import TABLES, Counts, count_every, count_played, count_stories, entries
from simcore.rules import TRUMPS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Balance", "balance"]

#: Deals played at a time; changes no result, since sums are exact.
_BLOCK = 1 << 13
_BLOCK_SLOW = 1 << 6
#: The course of play is followed in this share of the deals traced where every contract is played in turn.
_SHARE_EVERY = 4
_ROUND = 8

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Balance:
    """A finished report: a row a figure."""

    config: dict[str, Any]
    rows: list[dict[str, Any]]
    seconds: float = field(default=0.0, compare=False)

    @property
    def seed(self) -> int:
        """The seed used."""
        return int(self.config["seed"])

    def figure(self, table: str, entry: str, figure: str) -> dict[str, Any]:
        """Return one row.

        Raises:
            KeyError: there is no such figure.
        """
        for row in self.rows:
            if (row["table"], row["entry"], row["figure"]) == (table, entry, figure):
                return row
        raise KeyError((table, entry, figure))

    def table(self) -> pa.Table:
        """Return a pyarrow Table, one row a figure; the other ruleset's in columns ``against_…``."""
        import pyarrow as pa

        flat = []
        for row in self.rows:
            other = row.get("against") or {}
            flat.append(
                {key: value for key, value in row.items() if key != "against"} | {f"against_{k}": v for k, v in other.items()}
            )
        keys = dict.fromkeys(key for row in flat for key in row)
        return pa.table({key: [row.get(key) for row in flat] for key in keys})

    def data(self) -> dict[str, Any]:
        """Return everything as plain data (JSON-ready)."""
        return self.config | {"rows": self.rows}


def balance(
    game: str,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    begun: Callable[[], object] = lambda: None,
    **options: Any,
) -> Balance:
    """Report a ruleset's balance; with ``against`` also what another changes, on the same deals.

    Args:
        game: ``elections`` or ``showcase``.
        out: a folder for the figures and a manifest; ``simcore.report`` makes a page of it.
        overwrite: replace the result that is in ``out``.
        threads: default all cores; changes no figure.
        progress: called with (steps done, steps in all).
        begun: called once, when all is checked and the work begins.
        options: as :meth:`simcore.designing.question.BalanceQuestion.of`: ruleset, against, deals, traced, players, player, seed,
            confidence.

    Returns:
        A Balance with ``.rows``, ``.table()`` and ``.figure(table, entry, figure)``.

    Raises:
        SimcoreError: an option is not accepted, a player failed, or the folder cannot be written.
        Interrupted: Ctrl-C.
    """
    threads = check_threads(threads)
    question = BalanceQuestion.of(game, **options)
    if out is not None:
        check_folder(out)
        fresh_folder(Path(out), overwrite=overwrite)
    begun()
    found = answer(question, threads=threads, progress=progress)
    if out is not None:
        _write(found, question, Path(out))
    return found


def answer(question: BalanceQuestion, *, threads: int | None = None, progress: Progress | None = None) -> Balance:
    """Answer a checked question; see :func:`balance`."""
    start = time.monotonic()
    threads = check_threads(threads)
    sums: dict[tuple[str, str], tuple[Sums, tuple[int, ...]]] = {}
    steps = _Steps(question, progress)
    block = _BLOCK_SLOW if question.configs[0].slow else _BLOCK
    for counter, configs in ((count_played, question.configs), (count_every, question.every())):
        for first in range(0, question.deals, block):
            deals = min(block, question.deals - first)
            counted: list[Counts] = []
            for config in configs:
                done = run_simulation(replace(config, first=first, deals=deals), threads=threads, keep_rows=True)
                counted.append(counter(question.game, done.table(), config.ruleset))
                steps.add(deals)
            _add(sums, counted)
    _add(sums, [_drama(question, config, steps) for config in question.configs])
    return Balance(question.describe(), _rows(question, sums), time.monotonic() - start)


class _Steps:
    """How far the work has come, in deals."""

    def __init__(self, question: BalanceQuestion, progress: Progress | None) -> None:
        choices = [len(config.ruleset.contracts) or len(TRUMPS) for config in question.configs]
        self._each = _traced_every(question)
        self._all = 2 * question.deals * len(question.configs) + sum(question.traced + self._each * n for n in choices)
        self._done = 0
        self._progress = progress

    def add(self, deals: int) -> None:
        """Say that so many more are done."""
        self._done += deals
        if self._progress is not None:
            self._progress(self._done, self._all)


def _traced_every(question: BalanceQuestion) -> int:
    return question.traced // _SHARE_EVERY // _ROUND * _ROUND


def _drama(question: BalanceQuestion, config: Config, steps: _Steps) -> Counts:
    """Follow the course of play: as it is played, and of each contract (or trump) forced."""
    stories = partial(_stories, steps=steps)
    counts: Counts = {}
    unit = _ROUND if question.game == "elections" else 1
    if question.traced:
        counts["drama", ""] = count_stories(stories(config, question.traced), unit)
    each = _traced_every(question)
    names = config.ruleset.contract_ids if question.game == "elections" else TRUMPS
    for name in names if each else ():
        counts["drama", name] = count_stories(stories(forced(config, name), each), 1)
    return counts


def _stories(config: Config, deals: int, steps: _Steps) -> list[Story | None]:
    backend = backend_for(config)
    found = []
    for index in range(deals):
        found.append(story_of(backend.trace(index), config.ruleset))
        steps.add(1)
    return found


def _add(sums: dict[tuple[str, str], tuple[Sums, tuple[int, ...]]], counted: list[Counts]) -> None:
    """Add units; what only one ruleset has is counted for it alone."""
    for key in dict.fromkeys(key for counts in counted for key in counts):
        there = tuple(place for place, counts in enumerate(counted) if key in counts)
        if key not in sums:
            sums[key] = (Sums(TABLES[key[0]][1], len(there)), there)
        columns: list[np.ndarray] = [counted[place][key] for place in there]
        sums[key][0].add(*columns)


_NOTHING = dict.fromkeys(("value", "stderr", "low", "high"))


def _rows(question: BalanceQuestion, sums: dict[tuple[str, str], tuple[Sums, tuple[int, ...]]]) -> list[dict[str, Any]]:
    """Return a row for every figure of every entry, in the order of the tables."""
    order = list(dict.fromkeys(key for config in question.configs for key in entries(question.game, config.ruleset)))
    tables = list(dict.fromkeys(table for table, _ in order))
    order.sort(key=lambda key: tables.index(key[0]))
    both = [key for key in order if key in sums and len(sums[key][1]) == 2]
    alone = confidence_of_each(question.confidence, sum(len(TABLES[table][0]) for table, _ in both))
    rows = []
    for table, entry in order:
        if (table, entry) not in sums:
            continue
        found, there = sums[table, entry]
        for figure in TABLES[table][0]:
            row = figure.row(found, question.confidence, alone)
            if len(question.configs) == 2 and len(there) == 1:
                row = _one_sided(row, second=there == (1,))
            rows.append({"table": table, "entry": entry, **row})
    return rows


def _one_sided(row: dict[str, Any], *, second: bool) -> dict[str, Any]:
    """Return the row of a figure that only one of two rulesets has."""
    side = {key: row[key] for key in ("value", "stderr", "low", "high", "n", "units")}
    none = _NOTHING | {"n": 0, "units": 0}
    differences = dict.fromkeys(("difference", "difference_stderr", "difference_low", "difference_high", "differs"))
    return row | (none if second else side) | {"against": side if second else none} | differences


def _write(found: Balance, question: BalanceQuestion, folder: Path) -> None:
    texts = [config.ruleset.text for config in question.configs]
    manifest = {
        "kind": "balance",
        "config": found.config,
        "ruleset_text": texts[0],
        "against_text": texts[1] if len(texts) == 2 else None,
        "complete": True,
        "files": [],
        "rows": found.rows,
    }
    write_manifest(folder, manifest)
