"""Showcase at any point, from what one seat sees: what each legal card of the first playout is worth, by worlds and rollouts; from
the naming on each trump or card, exactly.

Worlds are uniform over the deals that the seat cannot tell from the real one (``simcore.sampling.two_worlds``); all cards are
played in the same ones, and the deal is played out by a built-in player, the second playout if asked perfectly.  Cards that are
equal in the seat's eyes are tried once.  Batches have fixed ends; a race (race.py) ends it when one card is shown to be the best.
"""

from __future__ import annotations

import json
import math
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore import __version__
from simcore.batches.run import check_threads
from simcore.cards import format_card, format_hand
from simcore.choosing.kept import Kept
from simcore.choosing.pieces import Workers
from simcore.choosing.question import check_limits
from simcore.choosing.race import Race
from simcore.choosing.result import Choices
from simcore.errors import BadInput
from simcore.rng import STREAM, STREAM_VERSION, draw_seed, next_word, open_streams, parse_seed, seed_words
from simcore.rules import TRUMPS, Ruleset
from simcore.sampling import two_rollouts
from simcore.searchers.one_seat import OneSeat, read_one_seat, value_choices
from simcore.searchers.sampling import ROLLOUT_PLAYERS, distinct_first, own_space
from simcore.searchers.worlds import own_source, showcase_worlds
from simcore.solvers import two

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["CARD", "ViewQuestion", "answer_view", "parse_view"]

#: The table of cards.
CARD = "card"
MAX_WORLDS = 10_000
OBJECTIVES = ("points", "win")
ENDS = ("expert", "exact")
_TRICKS = 13
_FIRST_BATCH, _CHUNK = 128, 32


def parse_view(text: str) -> Any:
    """Read the JSON of a one-seat view: one object, as ``simcore.searchers.one_seat`` describes it.

    Raises:
        BadInput: not JSON, or nothing.
    """
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError(f"it begins {text.strip()[:20]!r}")
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"the view is not one JSON object: {error}; accepted: a trace with '-' for what the seat cannot know"
        ) from None
    return data


@dataclass(frozen=True)
class ViewQuestion:
    """A checked question: the same gives the same answer, but where it is limited by time."""

    seen: OneSeat
    shown: Any  # the view as it was given
    player: str
    end: str
    objective: str
    confidence: float
    most: int
    seconds: float | None
    seed: int

    @classmethod
    def of(
        cls,
        *,
        view: str | Mapping[str, Any],
        ruleset: str | Path | Ruleset | None = None,
        players: str = "expert",
        end: str = "expert",
        objective: str = "points",
        confidence: float = 0.95,
        max_deals: int | None = None,
        max_time: float | str | None = None,
        seed: int | str | None = None,
    ) -> ViewQuestion:
        """Check and complete a question.

        Args:
            view: what the seat sees, JSON text or plain data.
            ruleset: by default the one that the view names.
            players: the built-in player that plays worlds out.
            end: who plays their second playout: ``expert`` (the player), or ``exact``.
            objective: ``points`` (tricks of the second playout) or ``win``.
            max_deals: most worlds, 10,000 by default.

        Raises:
            SimcoreError: naming the option, its value and what is accepted; or trick, card and clause of the view.
        """
        shown = parse_view(view) if isinstance(view, str) else dict(view)
        for name, value, accepted in (
            ("players", players, tuple(ROLLOUT_PLAYERS)),
            ("end", end, ENDS),
            ("objective", objective, OBJECTIVES),
        ):
            if value not in accepted:
                raise BadInput(f"{name} {value!r} does not go with a view; accepted: {', '.join(accepted)}")
        most = MAX_WORLDS if max_deals is None else max_deals
        seconds = check_limits(confidence, most, max_time)
        number = draw_seed() if seed is None else parse_seed(seed)
        return cls(read_one_seat(shown, ruleset), shown, players, end, objective, confidence, most, seconds, number)

    def describe(self) -> dict[str, Any]:
        """Everything the answer depends on, as plain data."""
        sampled = self.seen.kind == "first"
        return {
            "simcore": __version__,
            "stream_version": STREAM_VERSION,
            "game": "showcase",
            "method": "rollout" if sampled else "exact",
            "about": "view",
            "decision": self.seen.kind,
            "ruleset": self.seen.ruleset.name,
            "ruleset_hash": self.seen.ruleset.hash,
            "seed": str(self.seed),
            "seat": self.seen.seat,
            "hand": format_hand(int(self.seen.view.hand)),
            "view": self.shown,
            "players": dict.fromkeys("NS", self.player),
            "end": self.end,
            "objective": self.objective,
            "confidence": self.confidence if sampled else 1.0,
            "max_deals": self.most,
            "max_time": self.seconds,
            "reproducible": self.seconds is None or not sampled,
        }


def answer_view(
    question: ViewQuestion,
    *,
    kept: Kept = Kept(),  # noqa: B008 (keeps nothing)
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: Cluster | None = None,
) -> Choices:
    """Value the choices of a seat.

    Args:
        kept: work done before.
        threads: default all cores; changes nothing in the answer.
        cluster: whose workers play, instead of threads.
        progress: called with (worlds so far, most worlds).

    Raises:
        SimcoreError: no deal is as the seat sees it.
    """
    threads = check_threads(threads)
    start = time.monotonic()
    if question.seen.kind != "first":
        rows = _exact_rows(question)
        return Choices(config=question.describe(), rows=rows, seconds=time.monotonic() - start)
    deadline = math.inf if question.seconds is None else start + question.seconds
    stands = distinct_first(question.seen.view)
    actions = sorted(set(stands.values()))
    race = Race([0] * len(actions), [1 if question.objective == "win" else _TRICKS] * len(actions), question.confidence)
    batches: list[tuple[int, list[int], np.ndarray]] = []
    done, late = 0, False
    pieces = _Pieces(question, tuple(actions), tuple(_edges(question.most)))
    with Workers(threads, cluster) as workers:
        line = workers.line(pieces, len(pieces.edges))

        def play(first: int, end: int, playing: list[int]) -> dict[str, np.ndarray]:
            nonlocal late
            numbers = range(*(bisect_left(pieces.edges, (edge, 0)) for edge in (first, end)))

            def told(found: list[np.ndarray]) -> None:
                if progress is not None:
                    progress(first + sum(map(len, found)), question.most)

            found = line.take(numbers, tuple(playing), deadline=deadline, told=told)
            late = time.monotonic() >= deadline
            return {"points": np.concatenate(found)}

        while not late and done < question.most and not (race.decided and done):
            wanted = _batch(done, question.most)
            playing = list(race.active)
            what = f"worlds {done} to {done + wanted}"
            points = kept.recall(what, partial(play, done, done + wanted, playing), lambda: not late)["points"]
            race.add((points > _TRICKS // 2).astype(np.int64) if question.objective == "win" else points.astype(np.int64))
            batches.append((done, playing, points))
            done += len(points)
    rows = _rows(question, race, actions, stands, batches)
    tied = any(row["tied"] for row in rows)
    return Choices(
        config=question.describe(),
        rows=rows,
        sampling={
            "worlds": done,
            "effective_worlds": done,
            "stopped": "time" if late else ("limit" if tied else "decided"),
        },
        seconds=time.monotonic() - start,
        threads=threads,
        _worlds=lambda: _world_table(actions, batches),
    )


def _batch(done: int, most: int) -> int:
    """Return how many worlds the next batch has."""
    return min(max(_FIRST_BATCH, done // 4), most - done)


def _edges(most: int) -> Iterator[tuple[int, int]]:
    """Yield (first world, worlds) of each piece; which worlds it holds hangs on that."""
    done = 0
    while done < most:
        end = done + _batch(done, most)
        for first in range(done, end, _CHUNK):
            yield first, min(_CHUNK, end - first)
        done = end


@dataclass(frozen=True)
class _Pieces:
    """Worlds as pieces of work."""

    question: ViewQuestion
    actions: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]

    def piece(self, number: int, playing: tuple[int, ...]) -> np.ndarray:
        """Play the cards in some worlds."""
        return _chunk(self.question, *self.edges[number], [self.actions[i] for i in playing])

    def narrowed(self, points: np.ndarray, had: tuple[int, ...], wanted: tuple[int, ...]) -> np.ndarray:
        """Return the points of fewer cards."""
        return points[:, [had.index(card) for card in wanted]]

    def wait(self, future: Future[Any]) -> Any:
        """Return a result."""
        return future.result()


def _chunk(question: ViewQuestion, first: int, count: int, actions: list[int]) -> np.ndarray:
    """Sample worlds ``first`` … and play every card in them; returns the seat's tricks, int32[worlds, actions]."""
    rules, view = question.seen.ruleset.record[0], question.seen.view
    streams = np.zeros(2, STREAM).view(np.recarray)
    open_streams(streams, *seed_words(question.seed), np.uint64(first))
    source = own_source(streams[view.seat], 2 * int(view.tricks_played) + int(view.on_table))
    worlds = showcase_worlds(view, rules, source, count)
    points = np.empty((count, len(actions)), np.int32)
    key, work, numbers = np.uint64(next_word(source)), two.own_workspace(), np.array(actions, np.int64)
    policy, exact = ROLLOUT_PLAYERS[question.player], question.end == "exact"
    assert worlds.stocks is not None
    two_rollouts.play_out(rules, view, worlds.hands, worlds.stocks, numbers, policy, exact, key, work, *own_space().two, points)
    return points


def _rows(
    question: ViewQuestion,
    race: Race,
    actions: list[int],
    stands: dict[int, int],
    batches: list[tuple[int, list[int], np.ndarray]],
) -> list[dict[str, Any]]:
    """Return a row a legal card, the best first; equal cards stand together."""
    rows = []
    for place in race.standings():
        choice = place.choice
        tricks = np.concatenate([points[:, playing.index(choice)] for _, playing, points in batches if choice in playing])
        alike = sorted(card for card, tried in stands.items() if tried == actions[choice])  # the one tried is the lowest
        for card in alike:
            rows.append(
                {
                    "table": CARD,
                    "choice": format_card(card),
                    "objective": question.objective,
                    "mean": place.mean,
                    "stderr": place.stderr,
                    "low": place.low,
                    "high": place.high,
                    "confidence": question.confidence,
                    "deals": place.n,
                    "best": place.best,
                    "tied": place.tied,
                    "behind": place.lead,
                    "behind_low": place.lead_low,
                    "behind_high": place.lead_high,
                    "from": "showcase" if int(question.seen.view.show[question.seen.view.seat]) >> card & 1 else "hand",
                    "equal_to": None if card == alike[0] else format_card(alike[0]),
                    "tricks": float(tricks.mean()),
                    "win": float((tricks > _TRICKS // 2).mean()),
                }
            )
    return rows


def _exact_rows(question: ViewQuestion) -> list[dict[str, Any]]:
    """Return a row a trump or card, with exact values; the best first."""
    trump = question.seen.kind == "trump"
    valuation, chances = (value_choices(question.seen, objective=objective) for objective in OBJECTIVES)
    wins = {choice.action: choice.mean for choice in chances.choices}
    shown = valuation if question.objective == "points" else chances
    tricks = {choice.action: choice.mean for choice in valuation.choices}
    top = max(choice.mean for choice in shown.choices)
    rows: list[dict[str, Any]] = []
    for choice in sorted(shown.choices, key=lambda c: (-c.mean, -tricks[c.action], c.action != valuation.best, c.action)):
        rows.append(
            {
                "table": "trump" if trump else CARD,
                "choice": TRUMPS[choice.action] if trump else format_card(choice.action),
                "objective": question.objective,
                "mean": choice.mean,
                "stderr": 0.0,
                "low": choice.mean,
                "high": choice.mean,
                "confidence": 1.0,
                "deals": 1,
                "best": not rows,
                "tied": bool(rows) and choice.mean == top,
                "behind": top - choice.mean,
                "behind_low": top - choice.mean,
                "behind_high": top - choice.mean,
                "tricks": tricks[choice.action],
                "win": wins[choice.action],
            }
        )
    return rows


def _world_table(actions: list[int], batches: list[tuple[int, list[int], np.ndarray]]) -> pa.Table:
    """Return one row a world and card tried in it."""
    import pyarrow as pa

    names = pa.array([format_card(card) for card in actions])
    tables = []
    for first, playing, points in batches:
        world = np.repeat(np.arange(first, first + len(points), dtype=np.uint64), len(playing))
        chosen = pa.array(np.tile(np.array(playing, np.int8), len(points)))
        tables.append(
            pa.table(
                {
                    "world": pa.array(world),
                    "choice": pa.DictionaryArray.from_arrays(chosen, names),
                    "tricks": pa.array(points.reshape(-1).astype(np.int8)),
                }
            )
        )
    return pa.concat_tables(tables)
