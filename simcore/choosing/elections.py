"""Choices for one hand of Elections: contracts as declarer, and the calls at the table, by rollouts in common worlds; contracts by
exact values too, if asked (exactly.py).

Batches have fixed ends, each a quarter more worlds than the last; after each the races (race.py) drop what is beaten.  Which worlds
a batch holds depends on the seed and on what was seen before, never on threads or the clock, so the answer is a function of the
seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcore.batches.backends import GameBackend
from simcore.batches.config import PAIRINGS
from simcore.batches.run import check_threads
from simcore.cards import FULL, SEATS
from simcore.choosing.contest import Chunk, Contest, Playing, contests_of
from simcore.choosing.exactly import Solved, compare, solve_worlds
from simcore.choosing.kept import Kept
from simcore.choosing.pieces import Stretch, Workers
from simcore.choosing.question import ElectionsQuestion
from simcore.choosing.result import DOUBLE_DUMMY, Choices
from simcore.deals.pbn import format_deal
from simcore.elections.state import new_table, new_view
from simcore.elections.worlds import ASKED, BY_LOT, RESULTS, run_worlds
from simcore.errors import RunError
from simcore.rng import SOURCE, STREAM

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["Worlds", "answer_elections"]

_FIRST_BATCH = 512
#: Candidates of a piece of work; changes no result.
_CHUNK = 256
_CHUNK_SLOW = 8
#: Pieces of a cluster's first tasks: longer than it takes until the driver has seen them and gives out more.
_TOGETHER = 4
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


class Pilot(NamedTuple):
    """How deals fit the calls heard, found out before any is used."""

    slips: int  # allowed from here on: calls heard that may be another than the model's
    deals: int
    fit: int  # of them, with these slips
    fit_without_slips: int

    @property
    def share(self) -> float:
        """The share of deals that fit, never nothing."""
        return max(self.fit, 1) / self.deals


class Worlds(GameBackend):
    """The kernel with a question's options."""

    def __init__(self, question: ElectionsQuestion) -> None:
        super().__init__(question.config, ASKED, run_worlds)
        self.question = question
        asked = self._options
        asked.pack, asked.seat, asked.hand = FULL, question.seat, np.uint64(question.hand)
        asked.lots = question.lots
        partner = question.partner
        asked.pairing = {"any": 0, "lot": BY_LOT}.get(partner, (question.seat ^ SEATS.index(partner)) if partner in SEATS else 0)
        words = ("pass", *question.config.ruleset.type_ids)
        asked.calls_made = len(question.calls)
        asked.calls[: len(question.calls)] = [words.index(word) for _, word in question.calls]

    @property
    def slips(self) -> int:
        """How many of the calls heard may be another than the model's."""
        return int(self._options.slips)

    @slips.setter
    def slips(self, slips: int) -> None:
        self._options.slips = slips

    def _deal_name(self, table: Any) -> str:
        """A world has no index that a user could look up: show its cards."""
        return f"the world {format_deal(table.dealt)}"

    def hear(self, kept: Kept, workers: Workers) -> Pilot:
        """Return what :meth:`listen` returns, listening only where that was not kept."""
        found = kept.recall("calls heard by pilot deals", lambda: {"pilot": np.array(self.listen(workers), np.int64)})
        pilot = Pilot(*found["pilot"].tolist())
        self._options.slips = pilot.slips
        return pilot

    def listen(self, workers: Workers) -> Pilot:
        """Allow the fewest slips that let enough deals fit the calls heard."""
        candidates = _PILOT_CANDIDATES_SLOW if self._config.slow else _PILOT_CANDIDATES
        plain: int | None = None
        while True:
            pieces = Candidates(self, candidates, _PILOT_FIRST)
            count = candidates // pieces.size
            line = workers.line(pieces, count, together=pieces.together)
            worlds = sum(len(chunk.indices) for chunk in line.take(range(count), ((), ())))
            plain = worlds if plain is None else plain
            if worlds >= _PILOT_WORLDS or self._options.slips == self._options.calls_made:
                return Pilot(int(self._options.slips), candidates, worlds, plain)
            self._options.slips += 1

    def chunk(
        self,
        first: int,
        candidates: int,
        contracts: Sequence[int],
        actions: Sequence[int],
        *,
        held: tuple[int, int] | None = None,
    ) -> Chunk:
        """Test candidates and play the choices in those that are worlds; ``held``: another seat and hand than the question's."""
        options = self._options
        if held is not None:
            options = options.copy()
            options.seat, options.hand = held[0], np.uint64(held[1])
        indices, hands = np.empty(candidates, np.uint64), np.zeros((candidates, 4), np.uint64)
        facts = np.empty((candidates, 4), np.int8)
        results = tuple(np.empty((candidates, len(c), len(RESULTS)), np.int32) for c in (contracts, actions))
        table, view, streams = new_table()[0], new_view()[0], np.zeros(4, STREAM).view(np.recarray)
        source = np.zeros(1, SOURCE).view(np.recarray)[0]
        numbers = (np.array(contracts, np.int64), np.array(actions, np.int64))
        arguments = (options, np.uint64(first), candidates, *numbers, table, view, source, streams, indices, hands, facts)
        found = self._run_kernel(self._kernel, table, view, streams, *arguments, *results)
        return Chunk(candidates, indices, hands, facts, (results[0], results[1])).first(found)


@dataclass(frozen=True)
class Candidates:
    """Candidates as pieces of work: tested, and the choices played in those that are worlds."""

    worlds: Worlds
    most: int = _MOST_CANDIDATES
    first: int = 0  # added to their numbers

    @property
    def size(self) -> int:
        """Candidates of a piece."""
        return _CHUNK_SLOW if self.worlds.question.config.slow else _CHUNK

    @property
    def together(self) -> int:
        """Pieces of a cluster's first tasks."""
        return 1 if self.worlds.question.config.slow else _TOGETHER

    def piece(self, number: int, playing: Playing) -> Chunk:
        """Do a piece; see :class:`simcore.choosing.pieces.Pieces`."""
        start = number * self.size
        return self.worlds.chunk(self.first + start, min(self.size, self.most - start), *playing)

    def narrowed(self, chunk: Chunk, had: Playing, wanted: Playing) -> Chunk:
        """Return the results of fewer choices."""
        return chunk.of_choices(had, wanted)

    def wait(self, future: Future[Any]) -> Any:
        """Return a result."""
        return self.worlds.wait(future)


@dataclass
class _Drawn:
    """Worlds drawn so far, with what the choices played came to in them."""

    kept: list[tuple[Chunk, tuple[list[int], list[int]]]] = field(default_factory=list)
    found: int = 0
    accepted: int = 0
    tested: int = 0
    pilot: Pilot = field(default_factory=lambda: Pilot(slips=0, deals=1, fit=1, fit_without_slips=1))
    late: bool = False

    @property
    def slips(self) -> int:
        """How many of the calls heard may be another than the model's."""
        return self.pilot.slips


def answer_elections(
    question: ElectionsQuestion,
    *,
    kept: Kept = Kept(),  # noqa: B008 (keeps nothing)
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: Cluster | None = None,
) -> Choices:
    """Compare the choices of a question.

    Args:
        kept: work done before.
        threads: default all cores; changes nothing in the answer.
        cluster: whose workers play, instead of threads.
        progress: called with (worlds so far, most worlds); by ``both`` first for rollouts, then for the worlds solved.

    Raises:
        RunError: no world is consistent with the calls heard, a player failed, or the time is too short to solve one world.
    """
    threads = check_threads(threads)
    start = time.monotonic()
    seconds = math.inf if question.max_time is None else question.max_time
    worlds = Worlds(question)
    contests = contests_of(question)
    solved: Solved | None = None
    with Workers(threads, cluster) as workers:
        # of the time for both methods, half for rollouts
        rolling = start + (seconds / 2 if question.method == "both" else seconds)
        drawn = _draw(question, worlds, workers, contests, kept, deadline=rolling, progress=progress)
        if question.method != "rollout":
            given = _merge([chunk.bare() for chunk, _ in drawn.kept]).first(question.max_solved)
            solved = solve_worlds(question, given, workers, kept, deadline=start + seconds, progress=progress)
    if solved is not None and solved.worlds == 0 and question.method == "double-dummy":
        if solved.given_up:
            raise RunError(f"{_given_up(question, solved)}; accepted: more --max-plies, or method rollout")
        raise RunError("no world was solved in the time given; accepted: a longer --max-time, or method rollout")
    shown = [] if question.method == "double-dummy" else [contest for contest in contests if contest.numbers]
    if solved is not None and solved.worlds:
        shown.insert(0, solved.contest)
    rows = [row for contest in shown for row in contest.rows(question.objective, question.confidence)]
    comparison: dict[str, Any] = {}
    if solved is not None and solved.worlds and question.method == "both":
        place = 0 if question.contracts else 1
        batches = [(chunk.indices, chunk.results[place], playing[place]) for chunk, playing in drawn.kept]
        comparison = compare(question, solved, contests[place], batches)
    late = drawn.late or (solved is not None and solved.late)
    undecided = any(row["tied"] for row in rows if row["table"] != DOUBLE_DUMMY or question.method == "double-dummy")
    worlds_used = solved.worlds if solved is not None and question.method == "double-dummy" else drawn.found
    sampling = {
        "worlds": worlds_used,
        "tested": drawn.tested,
        # of all candidates tested: the last batch may have held more worlds than were wanted
        "acceptance": drawn.accepted / drawn.tested,
        "effective_worlds": worlds_used,
        "slips": drawn.slips,
        "stopped": _stopped(question, solved, late=late, undecided=undecided),
    }
    if question.calls:
        sampling |= {"pilot_deals": drawn.pilot.deals, "pilot_fit_without_slips": drawn.pilot.fit_without_slips}
    if solved is not None:
        sampling |= {"solved_worlds": solved.worlds, "solves": solved.solves}
    return Choices(
        config=question.describe(),
        rows=rows,
        sampling=sampling,
        comparison=comparison,
        notes=question.notes,
        warnings=_warnings(question, drawn, solved),
        seconds=time.monotonic() - start,
        solving_seconds=0.0 if solved is None else solved.seconds,
        threads=threads,
        _worlds=lambda: _world_table(question, drawn.kept if question.method != "double-dummy" else [], contests, solved),
    )


def _stopped(question: ElectionsQuestion, solved: Solved | None, *, late: bool, undecided: bool) -> str:
    """Return why sampling stopped."""
    if question.method == "double-dummy" and solved is not None and solved.given_up:
        return "plies"
    return "time" if late else ("limit" if undecided else "decided")


def _given_up(question: ElectionsQuestion, solved: Solved) -> str:
    """Say which world was given up, and what is known of it."""
    known = solved.given_up
    assert known is not None
    contract = question.config.ruleset.contract_ids[known.choice]
    return (
        f"{contract} was given up in world {known.world} after {question.max_plies:,} plies (attackers' points minus defenders' "
        f"lie between {known.least:+d} and {known.most:+d})"
    )


def _draw(
    question: ElectionsQuestion,
    worlds: Worlds,
    workers: Workers,
    contests: tuple[Contest, Contest],
    kept: Kept,
    *,
    deadline: float,
    progress: Callable[[int, int], None] | None,
) -> _Drawn:
    """Draw worlds and play the choices in them until every race is decided; for exact values only, draw what may be solved.

    Raises:
        RunError: no world is consistent with the calls heard, or a player failed.
    """
    drawn = _Drawn()
    silent = question.method == "double-dummy"
    limit = question.max_solved if silent else question.max_deals
    if question.calls:
        drawn.pilot = worlds.hear(kept, workers)
    most = min(_MOST_CANDIDATES, math.ceil(limit / drawn.pilot.share))
    pieces = Candidates(worlds, _MOST_CANDIDATES if question.calls else most)
    line = workers.line(pieces, -(-most // pieces.size), together=pieces.together)
    stretch = Stretch(line, pieces, pieces.size, lambda chunk, _, a, b: chunk.between(a, b))

    def draw(playing: tuple[list[int], list[int]]) -> dict[str, np.ndarray]:
        worlds_wanted = min(max(_FIRST_BATCH, drawn.found // 4), limit - drawn.found)
        wanted = min(math.ceil(worlds_wanted / drawn.pilot.share), _BATCH_CANDIDATES, _MOST_CANDIDATES - drawn.tested)
        asked = (tuple(playing[0]), tuple(playing[1]))
        chunks = stretch.take(drawn.tested, drawn.tested + wanted, asked, deadline=deadline)
        drawn.late = time.monotonic() >= deadline
        return _packed(_merge(chunks))

    while not drawn.late and drawn.found < limit and drawn.tested < _MOST_CANDIDATES:
        playing: tuple[list[int], list[int]] = ([], []) if silent else (contests[0].playing(), contests[1].playing())
        if not any(playing) and not silent:
            break
        what = f"worlds from {drawn.tested}, choices {playing}"
        batch = _unpacked(kept.recall(what, partial(draw, playing), lambda: not drawn.late))
        drawn.tested += batch.candidates
        drawn.accepted += len(batch.indices)
        batch = batch.first(limit - drawn.found)
        drawn.found += len(batch.indices)
        for contest, results, played in zip(contests, batch.results, playing, strict=True):
            contest.add(results, played)
        drawn.kept.append((batch, playing))
        if progress is not None and not silent:
            progress(drawn.found, limit)
    if drawn.found == 0:
        raise RunError(f"none of {drawn.tested:,} deals fits the calls heard; accepted: more time, or another model (--players)")
    return drawn


def _merge(chunks: list[Chunk]) -> Chunk:
    """Return chunks as one."""
    return Chunk(
        sum(chunk.candidates for chunk in chunks),
        np.concatenate([chunk.indices for chunk in chunks]),
        np.concatenate([chunk.hands for chunk in chunks]),
        np.concatenate([chunk.facts for chunk in chunks]),
        (
            np.concatenate([chunk.results[0] for chunk in chunks]),
            np.concatenate([chunk.results[1] for chunk in chunks]),
        ),
    )


def _packed(chunk: Chunk) -> dict[str, np.ndarray]:
    """Return a chunk as arrays, to be kept."""
    return {
        "candidates": np.array([chunk.candidates]),
        "indices": chunk.indices,
        "hands": chunk.hands,
        "facts": chunk.facts,
        "contracts": chunk.results[0],
        "actions": chunk.results[1],
    }


def _unpacked(arrays: dict[str, np.ndarray]) -> Chunk:
    """Return the chunk that arrays hold."""
    results = (arrays["contracts"], arrays["actions"])
    return Chunk(int(arrays["candidates"][0]), arrays["indices"], arrays["hands"], arrays["facts"], results)


def _warnings(question: ElectionsQuestion, drawn: _Drawn, solved: Solved | None) -> tuple[str, ...]:
    """Return what makes the answer doubtful."""
    found = []
    peeping = sorted({decision.player for decision in question.config.outside if decision.peeks})
    if peeping:
        found.append(f"player {', '.join(map(repr, peeping))} sees all hands: these are values for play that no table can reach")
    if drawn.slips:
        found.append(
            f"the players of the model hardly call like that: up to {drawn.slips} of the {len(question.calls)} calls heard "
            "may be another than theirs in a world"
        )
    if drawn.accepted / drawn.tested < _POOR_ACCEPTANCE:
        slack = f" with up to {drawn.slips} slips" if drawn.slips else ""
        found.append(f"only {100 * drawn.accepted / drawn.tested:.2g} % of deals fit the calls heard{slack}")
    if solved is not None and solved.given_up:
        found.append(f"{_given_up(question, solved)}, and solving ended there; --max-plies allows more")
    elif solved is not None and solved.worlds == 0:
        found.append("no world was solved in the time given: there are no exact values to compare with")
    exact = question.method == "double-dummy" and solved is not None
    count = solved.worlds if exact and solved is not None else drawn.found
    if count < min(_FEW_WORLDS, question.max_solved if exact else question.max_deals):
        found.append(f"only {count} worlds were {'solved' if exact else 'found'}: figures are rough")
    return tuple(found)


def _world_table(
    question: ElectionsQuestion,
    kept: list[tuple[Chunk, tuple[list[int], list[int]]]],
    contests: tuple[Contest, Contest],
    solved: Solved | None,
) -> pa.Table:
    """Return one row a world and choice tried in it, exact values first."""
    import pyarrow as pa

    # contest, worlds, results, choices played, whether the pairing was given or drawn for contracts
    parts: list[tuple[Contest, Chunk, np.ndarray, list[int], bool]] = []
    if solved is not None:
        forced = bool(question.contracts)
        parts += [(solved.contest, chunk, chunk.results[0], played, forced) for chunk, played in solved.batches]
    for chunk, playing in kept:
        parts += [(contests[i], chunk, chunk.results[i], playing[i], i == 0) for i in range(2)]
    return pa.concat_tables(
        [_part_table(question, *part) for part in parts if len(part[1].indices) and part[3]]
    ).unify_dictionaries()


def _part_table(
    question: ElectionsQuestion, contest: Contest, chunk: Chunk, results: np.ndarray, played: list[int], forced: bool
) -> pa.Table:
    """Return the rows of one batch and contest."""
    import pyarrow as pa

    count, choices = len(chunk.indices), len(played)

    def words(values: np.ndarray, names: Sequence[str], repeat: int = choices) -> pa.Array:
        indices = pa.array(np.repeat(values.astype(np.int8), repeat))
        return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))

    pairs = {number: word for word, number in PAIRINGS.items()}
    flat = results.reshape(count * choices, len(RESULTS))
    chosen = np.tile(np.array([contest.numbers.index(number) for number in played]), count)
    partner = np.where(forced, question.seat ^ chunk.facts[:, 2], -1)
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
    return pa.table(columns)
