"""Choices for one hand of Elections: contracts as declarer, and the calls at the table, by rollouts in common worlds.

Batches have fixed ends, each a quarter more worlds than the last; after each the races (race.py) drop what is beaten.  Which worlds
a batch holds depends on the seed and on what was seen before, never on threads or the clock, so the answer is a function of the
seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.backends import GameBackend
from simcore.batches.config import PAIRINGS
from simcore.batches.run import available_threads
from simcore.cards import FULL, SEATS
from simcore.choosing.question import OBJECTIVES, ElectionsQuestion, action_bounds, contract_bounds
from simcore.choosing.race import Race
from simcore.choosing.result import Choices
from simcore.deals.pbn import format_deal
from simcore.elections.state import new_table, new_view
from simcore.elections.worlds import ASKED, BY_LOT, RESULTS, run_worlds
from simcore.errors import BadInput, RunError
from simcore.rng import SOURCE, STREAM

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["answer_elections"]

_FIRST_BATCH = 512
#: Candidates a thread takes at a time; changes no result.
_CHUNK = 256
_CHUNK_SLOW = 8
#: Where calls were heard: candidates of a batch, and in all.
_BATCH_CANDIDATES = 1 << 18
_MOST_CANDIDATES = 1 << 24
#: A pilot finds out how many calls the model cannot explain: candidates, from a number no run reaches; worlds it must find.
_PILOT_FIRST = 1 << 40
_PILOT_CANDIDATES = 1 << 15
_PILOT_CANDIDATES_SLOW = 1 << 8
_PILOT_WORLDS = 8
_POOR_ACCEPTANCE = 0.001
_FEW_WORLDS = 400


@dataclass(frozen=True)
class _Chunk:
    """Worlds found and what the choices played came to in them."""

    candidates: int
    indices: np.ndarray
    hands: np.ndarray
    facts: np.ndarray
    results: tuple[np.ndarray, np.ndarray]  # of contracts and actions, int32[worlds, choices, len(RESULTS)]

    def first(self, worlds: int) -> _Chunk:
        """Return the first worlds only."""
        cut = slice(0, worlds)
        results = (self.results[0][cut], self.results[1][cut])
        return _Chunk(self.candidates, self.indices[cut], self.hands[cut], self.facts[cut], results)


class _Worlds(GameBackend):
    """The kernel with a question's options."""

    def __init__(self, question: ElectionsQuestion) -> None:
        super().__init__(question.config, ASKED, run_worlds)
        asked = self._options
        asked.pack, asked.seat, asked.hand = FULL, question.seat, np.uint64(question.hand)
        asked.lots = question.lots
        partner = question.partner
        asked.pairing = {"any": 0, "lot": BY_LOT}.get(partner, (question.seat ^ SEATS.index(partner)) if partner in SEATS else 0)
        words = ("pass", *question.config.ruleset.type_ids)
        asked.calls_made = len(question.calls)
        asked.calls[: len(question.calls)] = [words.index(word) for _, word in question.calls]

    def _deal_name(self, table: Any) -> str:
        """A world has no index that a user could look up: show its cards."""
        return f"the world {format_deal(table.dealt)}"

    def listen(self, pool: ThreadPoolExecutor) -> tuple[int, float]:
        """Allow the fewest slips that let enough deals fit the calls heard; returns how many, and the share of deals that fit."""
        size = _CHUNK_SLOW if self._config.slow else _CHUNK
        candidates = _PILOT_CANDIDATES_SLOW if self._config.slow else _PILOT_CANDIDATES
        while True:
            starts = range(_PILOT_FIRST, _PILOT_FIRST + candidates, size)
            futures = [pool.submit(self.chunk, first, size, (), ()) for first in starts]
            worlds = sum(len(self.wait(future).indices) for future in futures)
            if worlds >= _PILOT_WORLDS or self._options.slips == self._options.calls_made:
                return int(self._options.slips), max(worlds, 1) / candidates
            self._options.slips += 1

    def chunk(self, first: int, candidates: int, contracts: Sequence[int], actions: Sequence[int]) -> _Chunk:
        """Test candidates and play the choices in those that are worlds."""
        indices, hands = np.empty(candidates, np.uint64), np.zeros((candidates, 4), np.uint64)
        facts = np.empty((candidates, 4), np.int8)
        results = tuple(np.empty((candidates, len(c), len(RESULTS)), np.int32) for c in (contracts, actions))
        table, view, streams = new_table()[0], new_view()[0], np.zeros(4, STREAM).view(np.recarray)
        source = np.zeros(1, SOURCE).view(np.recarray)[0]
        numbers = (np.array(contracts, np.int64), np.array(actions, np.int64))
        arguments = (self._options, np.uint64(first), candidates, *numbers, table, view, source, streams, indices, hands, facts)
        found = self._run_kernel(table, view, streams, *arguments, *results)
        return _Chunk(candidates, indices, hands, facts, (results[0], results[1])).first(found)


@dataclass
class _Contest:
    """A table of choices: the race, and the sums of everything that is shown beside."""

    table: str
    numbers: tuple[int, ...]  # as the kernel takes them
    names: tuple[str, ...]
    race: Race
    column: int
    sums: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.numbers), len(RESULTS)), np.int64)

    def playing(self) -> list[int]:
        """Return the choices still played."""
        return [] if self.race.decided and self.race.worlds else [self.numbers[i] for i in self.race.active]

    def add(self, results: np.ndarray, played: list[int]) -> None:
        """Add results int32[worlds, choices played, len(RESULTS)]."""
        if not played:
            return
        places = [self.numbers.index(number) for number in played]
        self.sums[places] += results.sum(0, dtype=np.int64)
        self.race.add(results[:, :, self.column])

    def rows(self, objective: str, confidence: float) -> list[dict[str, Any]]:
        """Return the table's rows, the best choice first."""
        unit = OBJECTIVES[objective]
        rows = []
        for place in self.race.standings():
            means = dict(zip(RESULTS, (self.sums[place.choice] / max(place.n, 1)).tolist(), strict=True))
            rows.append(
                {
                    "table": self.table,
                    "choice": self.names[place.choice],
                    "objective": objective,
                    "mean": place.mean / unit,
                    "stderr": None if place.stderr is None else place.stderr / unit,
                    "low": place.low / unit,
                    "high": place.high / unit,
                    "confidence": confidence,
                    "deals": place.n,
                    "best": place.best,
                    "tied": place.tied,
                    "behind": place.lead / unit,
                    "behind_low": place.lead_low / unit,
                    "behind_high": place.lead_high / unit,
                    "relative": means["relative3"] / 3,
                    "margin": means["margin"],
                    "win": means["win"],
                    "credit": means["credit"],
                }
            )
        return rows


def _contests(question: ElectionsQuestion) -> tuple[_Contest, _Contest]:
    """Return the contest of contracts and that of actions; either may be without choices."""
    ruleset = question.config.ruleset
    column = list(OBJECTIVES).index(question.objective)
    contracts = [contract_bounds(ruleset, contract, question.objective) for contract in question.contracts]
    words = ("pass", *ruleset.type_ids) if question.action_table == "call" else ruleset.contract_ids
    if question.action_table == "call":
        actions = [action_bounds(ruleset, question.objective)] * len(question.actions)
    else:
        actions = [contract_bounds(ruleset, contract, question.objective) for contract in question.actions]
    return (
        _Contest(
            "contract",
            question.contracts,
            tuple(ruleset.contract_ids[contract] for contract in question.contracts),
            Race([low for low, _ in contracts], [high for _, high in contracts], question.confidence),
            column,
        ),
        _Contest(
            question.action_table,
            question.actions,
            tuple(words[action] for action in question.actions),
            Race([low for low, _ in actions], [high for _, high in actions], question.confidence),
            column,
        ),
    )


def answer_elections(
    question: ElectionsQuestion, *, threads: int | None = None, progress: Callable[[int, int], None] | None = None
) -> Choices:
    """Compare the choices of a question.

    Args:
        threads: default all cores; changes nothing in the answer.
        progress: called with (worlds so far, most worlds).

    Raises:
        RunError: no world is consistent with the calls heard, or a player failed.
    """
    threads = available_threads() if threads is None else threads
    if threads < 1:
        raise BadInput(f"threads {threads} is out of range; accepted: 1 or more")
    start = time.monotonic()
    deadline = math.inf if question.max_time is None else start + question.max_time
    worlds = _Worlds(question)
    contests = _contests(question)
    kept: list[tuple[_Chunk, tuple[list[int], list[int]]]] = []
    found, accepted, tested, late = 0, 0, 0, False
    pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
    try:
        slips, share = worlds.listen(pool) if question.calls else (0, 1.0)
        while not late and found < question.max_deals and tested < _MOST_CANDIDATES:
            playing = (contests[0].playing(), contests[1].playing())
            if not any(playing):
                break
            chunks, late = _batch(question, worlds, pool, playing, found, tested, share, deadline)
            tested += sum(chunk.candidates for chunk in chunks)
            batch = _merge(chunks)
            accepted += len(batch.indices)
            batch = batch.first(question.max_deals - found)
            found += len(batch.indices)
            for contest, results, played in zip(contests, batch.results, playing, strict=True):
                contest.add(results, played)
            kept.append((batch, playing))
            if progress is not None:
                progress(found, question.max_deals)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if found == 0:
        raise RunError(f"none of {tested:,} deals fits the calls heard; accepted: more time, or another model (--players)")
    rows = [row for contest in contests if contest.numbers for row in contest.rows(question.objective, question.confidence)]
    sampling = {
        "worlds": found,
        "tested": tested,
        # of all candidates tested: the last batch may have held more worlds than were wanted
        "acceptance": accepted / tested,
        "effective_worlds": found,
        "slips": slips,
        "stopped": "time" if late else ("limit" if any(row["tied"] for row in rows) else "decided"),
    }
    return Choices(
        config=question.describe(),
        rows=rows,
        sampling=sampling,
        notes=question.notes,
        warnings=_warnings(question, sampling),
        seconds=time.monotonic() - start,
        threads=threads,
        _worlds=lambda: _world_table(question, kept, contests),
    )


def _batch(
    question: ElectionsQuestion,
    worlds: _Worlds,
    pool: ThreadPoolExecutor,
    playing: tuple[list[int], list[int]],
    found: int,
    tested: int,
    share: float,
    deadline: float,
) -> tuple[list[_Chunk], bool]:
    """Return the next batch's chunks in order, and whether the time ran out (then it is a shorter one).

    Args:
        share: of deals that fit the calls heard.
    """
    worlds_wanted = min(max(_FIRST_BATCH, found // 4), question.max_deals - found)
    wanted = min(math.ceil(worlds_wanted / share), _BATCH_CANDIDATES, _MOST_CANDIDATES - tested)
    size = _CHUNK_SLOW if question.config.slow else _CHUNK
    edges = [*range(tested, tested + wanted, size), tested + wanted]
    futures = [pool.submit(worlds.chunk, a, b - a, *playing) for a, b in pairwise(edges)]
    chunks: list[_Chunk] = []
    for future in futures:
        chunks.append(worlds.wait(future))
        if time.monotonic() >= deadline and len(chunks) < len(futures):
            for other in futures:
                other.cancel()
            return chunks, True
    return chunks, time.monotonic() >= deadline


def _merge(chunks: list[_Chunk]) -> _Chunk:
    """Return chunks as one."""
    return _Chunk(
        sum(chunk.candidates for chunk in chunks),
        np.concatenate([chunk.indices for chunk in chunks]),
        np.concatenate([chunk.hands for chunk in chunks]),
        np.concatenate([chunk.facts for chunk in chunks]),
        (
            np.concatenate([chunk.results[0] for chunk in chunks]),
            np.concatenate([chunk.results[1] for chunk in chunks]),
        ),
    )


def _warnings(question: ElectionsQuestion, sampling: dict[str, Any]) -> tuple[str, ...]:
    """Return what makes the answer doubtful."""
    found = []
    peeping = sorted({decision.player for decision in question.config.outside if decision.peeks})
    if peeping:
        found.append(f"player {', '.join(map(repr, peeping))} sees all hands: these are values for play that no table can reach")
    if sampling["slips"]:
        found.append(
            f"the players of the model hardly call like that: up to {sampling['slips']} of the {len(question.calls)} calls heard "
            "may be another than theirs in a world"
        )
    if sampling["acceptance"] < _POOR_ACCEPTANCE:
        found.append(f"only {100 * sampling['acceptance']:.2g} % of deals fit the calls heard")
    if sampling["worlds"] < min(_FEW_WORLDS, question.max_deals):
        found.append(f"only {sampling['worlds']} worlds were found: figures are rough")
    return tuple(found)


def _world_table(
    question: ElectionsQuestion, kept: list[tuple[_Chunk, tuple[list[int], list[int]]]], contests: tuple[_Contest, _Contest]
) -> pa.Table:
    """Return one row a world and choice played in it."""
    import pyarrow as pa

    tables = []
    pairs = {number: word for word, number in PAIRINGS.items()}
    for chunk, playing in kept:
        for place, (contest, played) in enumerate(zip(contests, playing, strict=True)):
            count, choices = len(chunk.indices), len(played)
            if not count * choices:
                continue

            def words(values: np.ndarray, names: Sequence[str], repeat: int = choices) -> pa.Array:
                indices = pa.array(np.repeat(values.astype(np.int8), repeat))
                return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))

            flat = chunk.results[place].reshape(count * choices, len(RESULTS))
            chosen = np.tile(np.array([contest.numbers.index(number) for number in played]), count)
            partner = np.where(place == 0, question.seat ^ chunk.facts[:, 2], -1)
            partners = pa.array(np.repeat(partner, choices).astype(np.int8), mask=np.repeat(partner < 0, choices))
            columns = {
                "world": pa.array(np.repeat(chunk.indices, choices)),
                "table": words(np.zeros(count), [contest.table]),
                "choice": words(chosen, contest.names, 1),
                "dealer": words(chunk.facts[:, 0], tuple(SEATS)),
                "slips": pa.array(np.repeat(chunk.facts[:, 3], choices)),
                "lots": words(chunk.facts[:, 1], ["", *(pairs[i] for i in (1, 2, 3))]),
                "partner": pa.DictionaryArray.from_arrays(partners, pa.array(list(SEATS), pa.string())),
                **{f"hand_{s.lower()}": pa.array(np.repeat(chunk.hands[:, i], choices)) for i, s in enumerate(SEATS)},
                "relative": pa.array(flat[:, 0] / 3),
                "margin": pa.array(flat[:, 1]),
                "win": pa.array(flat[:, 2] == 1),
                "credit": pa.array(flat[:, 3]),
            }
            tables.append(pa.table(columns))
    return pa.concat_tables(tables).unify_dictionaries()
