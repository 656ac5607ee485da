"""Naming in Showcase on average: what it is worth to name at all (S9), each trump, and the lead that the 13th trick gives (S10).

The first playout is played by the players given, the second solved exactly: every trump, with either seat on lead.  Deal i of a
seed is that of ``simulate``.  Values are tricks of the second playout.  A deal is the unit of statistics; batches have fixed ends,
and a race (race.py) over "is the best trump", ties shared, ends it when one trump is the best most often.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore import __version__
from simcore.batches.backends import ShowcaseBackend
from simcore.batches.config import GAME_SEATS, Config, make_config
from simcore.batches.run import check_threads
from simcore.choosing.kept import Kept
from simcore.choosing.pieces import Stretch, Workers
from simcore.choosing.question import MAX_HANDS, check_limits
from simcore.choosing.race import Race, RunningMean
from simcore.choosing.result import Choices
from simcore.rng import STREAM_VERSION
from simcore.rules import TRUMPS, Ruleset
from simcore.solvers import two

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["BEST_TRUMP", "WORTHS", "ShowcaseAverage", "average_showcase"]

#: The tables: how often each trump is the best; what naming and leading are worth.
BEST_TRUMP, WORTHS = "best-trump", "worth"
_TRICKS = 13
_SHARES = 60  # a best trump's share in this unit: divisible by 1 … 6
_FIRST_BATCH, _CHUNK = 256, 32

#: What is measured, in the order of ``_worths``: words for people, and bounds.
WHAT = {
    "namer": ("tricks of the namer, with his best trump", 0, _TRICKS),
    "naming": ("tricks more than if the other named his best trump", 0, _TRICKS),
    "naming-win": ("chance to win more than if the other named", 0, 1),
    "lead": ("tricks more for the winner of trick 13 (S10) if he leads than if the other does", -_TRICKS, _TRICKS),
    "lead-namer": ("the same where he is the namer", -_TRICKS, _TRICKS),
    "lead-other": ("the same where the other names", -_TRICKS, _TRICKS),
}


def _worths(tricks: np.ndarray, actual: np.ndarray, middle: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is measured, an array of whole numbers each.

    Args:
        tricks: the namer's, int64[deals, 2, 6]: the other leads, he leads; by trump.
        actual: whether the namer leads by the rules; middle: whether he won trick 13.
    """
    deals = np.arange(len(tricks))
    now = tricks[deals, actual]
    best, worst = now.max(1), now.min(1)
    top = tricks.max(2)
    # of the winner of trick 13: a namer's gain by leading, or what the other leading costs the namer
    lead = top[:, 1] - top[:, 0]
    return {
        "namer": best,
        "naming": best - worst,
        "naming-win": (best > _TRICKS // 2).astype(np.int64) - (worst > _TRICKS // 2),
        "lead": lead,
        "lead-namer": lead[middle == 1],
        "lead-other": lead[middle == 0],
    }


class Deals(ShowcaseBackend):
    """First playouts, and the values of what follows."""

    @property
    def config(self) -> Config:
        """What is played."""
        return self._config

    def chunk(self, first: int, deals: int) -> np.ndarray:
        """Return int64[deals, 16]: namer, whether he leads by the rules, whether he won trick 13, the turned card; then his tricks
        if the other leads and if he leads, by trump."""
        rows = np.zeros((deals, 16), np.int64)
        holdings = np.zeros((deals, 2), np.uint64)
        for i in range(deals):
            state = self._play(first + i, 1, None, 0, self.new_tally(), show=True)
            assert state is not None
            table, view = state
            holdings[i] = [int(table.hands[seat]) | int(view.played[seat]) for seat in range(2)]
            namer = int(view.namer)
            winner = int(view.winners[0, _TRICKS - 1])
            rows[i, :4] = namer, view.second_leader == namer, winner == namer, view.turned
        reading = self._config.ruleset.choices["all_trump"]
        for lead in (0, 1):
            leaders = np.where(lead == 1, rows[:, 0], 1 - rows[:, 0])
            values = two.all_trumps_batch(holdings[:, 0], holdings[:, 1], leaders, all_trump=reading, work=two.own_workspace())
            north = np.asarray(values, np.int64)
            rows[:, 4 + 6 * lead : 10 + 6 * lead] = np.where(rows[:, :1] == 0, north, _TRICKS - north)
        return rows


@dataclass(frozen=True)
class _Pieces:
    """Deals as pieces of work, ``_CHUNK`` each."""

    deals: Deals
    most: int

    def piece(self, number: int, _: object) -> np.ndarray:
        """Play some deals."""
        return self.deals.chunk(number * _CHUNK, min(_CHUNK, self.most - number * _CHUNK))

    def narrowed(self, rows: np.ndarray, *_: object) -> np.ndarray:
        """Return the rows: all trumps are always asked for."""
        return rows

    def wait(self, future: Future[Any]) -> Any:
        """Return a result."""
        return self.deals.wait(future)


@dataclass(frozen=True)
class ShowcaseAverage:
    """A checked question: the same gives the same answer, but where it is limited by time."""

    config: Config
    confidence: float
    most: int
    seconds: float | None

    @classmethod
    def of(
        cls,
        *,
        ruleset: str | Path | Ruleset | None = None,
        players: str = "expert",
        player: Mapping[str, str] | Sequence[str] = (),
        confidence: float = 0.95,
        max_deals: int | None = None,
        max_time: float | str | None = None,
        seed: int | str | None = None,
    ) -> ShowcaseAverage:
        """Check and complete a question.

        Args:
            players, player: who plays the first playout, as in ``simulate``.
            max_deals: 4,000 by default.

        Raises:
            SimcoreError: naming the option, its value and what is accepted.
        """
        most = MAX_HANDS if max_deals is None else max_deals
        seconds = check_limits(confidence, most, max_time)
        # a trump given: the second playout is solved, not played, and its players are asked for as little as there is
        config = make_config("showcase", ruleset=ruleset, seed=seed, deals=1, players=players, player=player, trump="no-trump")
        return cls(config, confidence, most, seconds)

    def describe(self) -> dict[str, Any]:
        """Everything the answer depends on, as plain data."""
        return _describe(self.config, self.confidence, self.most, self.seconds)


def average_showcase(
    question: ShowcaseAverage,
    *,
    kept: Kept = Kept(),  # noqa: B008 (keeps nothing)
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: Cluster | None = None,
) -> Choices:
    """Compare the trumps over random deals.

    Args:
        kept: work done before.
        threads: default all cores; changes nothing in the answer.
        cluster: whose workers play, instead of threads.
        progress: called with (deals so far, most deals).

    Raises:
        SimcoreError: a player failed.
    """
    config, confidence, most, seconds = question.config, question.confidence, question.most, question.seconds
    threads = check_threads(threads)
    start = time.monotonic()
    deadline = math.inf if seconds is None else start + seconds
    race = Race([0] * 6, [_SHARES] * 6, confidence)
    shares = [RunningMean(0, _SHARES) for _ in TRUMPS]
    parts: list[np.ndarray] = []
    done, late = 0, False
    pieces = _Pieces(Deals(config), most)
    with Workers(threads, cluster) as workers:
        line = workers.line(pieces, -(-most // _CHUNK))
        stretch = Stretch(line, pieces, _CHUNK, lambda rows, start, a, b: rows[a - start : b - start])

        def play(first: int, end: int) -> dict[str, np.ndarray]:
            nonlocal late

            def told(end: int) -> None:
                if progress is not None:
                    progress(end, most)

            found = stretch.take(first, end, deadline=deadline, told=told)
            late = time.monotonic() >= deadline
            return {"rows": np.concatenate(found)}

        while not late and done < most and not (race.decided and done):
            wanted = min(max(_FIRST_BATCH, done // 4), most - done)
            batch = kept.recall(f"deals {done} to {done + wanted}", partial(play, done, done + wanted), lambda: not late)["rows"]
            now = batch[np.arange(len(batch))[:, None], 4 + 6 * batch[:, 1:2] + np.arange(6)]
            best = now == now.max(1, keepdims=True)
            hits = best * (_SHARES // best.sum(1, keepdims=True))
            race.add(hits[:, race.active])
            for share, values in zip(shares, hits.T, strict=True):
                share.add(values)
            parts.append(batch)
            done += len(batch)
    data = np.concatenate(parts)
    rows = _trump_rows(data, race, shares, confidence) + _worth_rows(data, confidence)
    tied = any(row["tied"] for row in rows)
    return Choices(
        config=question.describe(),
        rows=rows,
        sampling={"deals": done, "stopped": "time" if late else ("limit" if tied else "decided")},
        seconds=time.monotonic() - start,
        threads=threads,
        _worlds=lambda: _deal_table(data),
    )


def _describe(config: Config, confidence: float, most: int, seconds: float | None) -> dict[str, Any]:
    return {
        "simcore": __version__,
        "stream_version": STREAM_VERSION,
        "game": "showcase",
        "method": "exact after rollout",
        "about": "average",
        "ruleset": config.ruleset.name,
        "ruleset_hash": config.ruleset.hash,
        "seed": str(config.seed),
        "players": {seat: p.spec for seat, p in zip(GAME_SEATS["showcase"], config.players, strict=True)},
        "player_files": {decision.player: decision.sha256 for decision in config.outside if decision.sha256},
        "confidence": confidence,
        "max_deals": most,
        "max_time": seconds,
        "reproducible": seconds is None,
    }


def _mean(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return the mean and its standard error."""
    if not len(values):
        return None, None
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None


def _trump_rows(data: np.ndarray, race: Race, shares: list[RunningMean], confidence: float) -> list[dict[str, Any]]:
    """Return a row a trump: how often it is the best, and what it brings the namer; the most frequent first."""
    now = data[np.arange(len(data))[:, None], 4 + 6 * data[:, 1:2] + np.arange(6)]
    best = now == now.max(1, keepdims=True)
    standing = {place.choice: place for place in race.standings()}
    rows = []
    for t in sorted(standing, key=lambda t: (not standing[t].best, not standing[t].tied, -shares[t].mean, t)):
        place = standing[t]
        low, high = shares[t].bounds(1 - confidence)
        share = best[:, t] / best.sum(1)
        tricks, won = _mean(now[:, t]), _mean((now[:, t] > _TRICKS // 2).astype(np.int64))
        rows.append(
            {
                "table": BEST_TRUMP,
                "choice": TRUMPS[t],
                "objective": "best",
                "mean": shares[t].mean / _SHARES,
                "stderr": _mean(share)[1],
                "low": low / _SHARES,
                "high": high / _SHARES,
                "confidence": confidence,
                "deals": len(data),
                "best": place.best,
                "tied": place.tied,
                "behind": place.lead / _SHARES,
                "behind_low": place.lead_low / _SHARES,
                "behind_high": place.lead_high / _SHARES,
                "alone": float((best[:, t] & (best.sum(1) == 1)).mean()),
                "as_good": float(best[:, t].mean()),
                "tricks": tricks[0],
                "tricks_stderr": tricks[1],
                "win": won[0],
            }
        )
    return rows


def _worth_rows(data: np.ndarray, confidence: float) -> list[dict[str, Any]]:
    """Return a row for naming, leading and their parts; intervals hold at every look."""
    tricks = data[:, 4:].reshape(-1, 2, 6)
    rows = []
    for name, values in _worths(tricks, data[:, 1], data[:, 2]).items():
        mean, stderr = _mean(values)
        what, *limits = WHAT[name]
        bounded = RunningMean(*limits)
        for at in range(0, len(values), _FIRST_BATCH):  # piece by piece: each has the mean before it as guess
            bounded.add(values[at : at + _FIRST_BATCH])
        low, high = bounded.bounds(1 - confidence)
        rows.append(
            {
                "table": WORTHS,
                "choice": name,
                "what": what,
                "objective": "win" if name == "naming-win" else "tricks",
                "mean": mean,
                "stderr": stderr,
                "low": low,
                "high": high,
                "confidence": confidence,
                "deals": len(values),
                "best": False,
                "tied": False,
            }
        )
    return rows


def _deal_table(data: np.ndarray) -> pa.Table:
    """Return one row a deal and trump."""
    import pyarrow as pa

    count = len(TRUMPS)

    def seats(values: np.ndarray) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(np.repeat(values.astype(np.int8), count)), pa.array(["N", "S"]))

    namer = data[:, 0]
    trumps = pa.array(np.tile(np.arange(count, dtype=np.int8), len(data)))
    return pa.table(
        {
            "deal": pa.array(np.repeat(np.arange(len(data), dtype=np.uint64), count)),
            "namer": seats(namer),
            "leader": seats(np.where(data[:, 1] == 1, namer, 1 - namer)),
            "trick_13": seats(np.where(data[:, 2] == 1, namer, 1 - namer)),
            "choice": pa.DictionaryArray.from_arrays(trumps, pa.array(TRUMPS)),
            "tricks_leading": pa.array(data[:, 10:].reshape(-1).astype(np.int8)),
            "tricks_following": pa.array(data[:, 4:10].reshape(-1).astype(np.int8)),
        }
    )
