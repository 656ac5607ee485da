"""Contracts of Elections on average over random hands: how often each is the best a hand has, what it is worth then and by chance,
and what the seats are worth.

Hand i of a seed is the hand of seat i mod 4 in the seed's deal i.  It is asked as in elections.py, on worlds of its own, in three
stages: all contracts in ``_LOOK`` worlds; those within three standard errors (paired) of the best in ``_CLOSER`` more; the one with
the highest mean is the hand's *best*.  What it is worth is measured in ``_WORTH`` fresh worlds, so that its worth is not the
luck it was chosen by.  A hand is the unit of statistics.  Batches of hands have fixed ends; a race (race.py) over "is the best"
ends it when one contract is the best most often.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.run import check_threads
from simcore.cards import SEATS
from simcore.choosing.elections import Worlds
from simcore.choosing.kept import Kept
from simcore.choosing.pieces import Workers
from simcore.choosing.question import OBJECTIVES, ElectionsQuestion
from simcore.choosing.race import Race, RunningMean
from simcore.choosing.result import Choices
from simcore.deals.dealing import deal_hands
from simcore.elections.worlds import RESULTS
from simcore.stats import Estimate, mean_estimate, ratio_estimate
from simcore.worth import points_table

if TYPE_CHECKING:
    import pyarrow as pa

    from simcore.batches.cluster import Cluster

__all__ = ["BEST", "POSITION", "average_elections"]

#: The tables: how often each contract is a hand's best; what the places at the table are worth.
BEST, POSITION = "best-for-a-hand", "position"
#: Where the declarer's partner sits, by steps clockwise.
PARTNERS = ("left", "opposite", "right")

_LOOK, _CLOSER, _WORTH = 128, 256, 128
_LOOK_SLOW, _CLOSER_SLOW, _WORTH_SLOW = 16, 16, 8
_FIRST_BATCH, _FIRST_BATCH_SLOW = 256, 16
#: Hand i has the candidates from i · 2^16 on.
_HAND_SHIFT = 16


@dataclass(frozen=True)
class _HandResult:
    """What the contracts came to for one hand; whole numbers as in RESULTS."""

    hand: int
    seat: int
    best: int
    close: bool  # the best two are within two standard errors
    worth: int  # Σ objective of the best, in _WORTH worlds
    sums: np.ndarray  # int64[contracts] Σ objective in _LOOK worlds
    margins: np.ndarray  # int64[contracts, 3] Σ attackers' margin by place of the partner
    leads: np.ndarray  # int64[contracts] Σ margin of the leader's side
    places: np.ndarray  # int64[3] worlds by place of the partner


class _Sizes:
    def __init__(self, slow: bool) -> None:
        self.look, self.closer, self.worth = (_LOOK_SLOW, _CLOSER_SLOW, _WORTH_SLOW) if slow else (_LOOK, _CLOSER, _WORTH)
        self.first = _FIRST_BATCH_SLOW if slow else _FIRST_BATCH


def _ask(question: ElectionsQuestion, worlds: Worlds, sizes: _Sizes, number: int) -> _HandResult:
    """Ask about hand ``number``."""
    seat = number % 4
    hand = int(deal_hands(question.config.seed, number, 1)[0, seat])
    column, first = list(OBJECTIVES).index(question.objective), number << _HAND_SHIFT
    look = worlds.chunk(first, sizes.look, question.contracts, (), held=(seat, hand))
    values = look.results[0][:, :, column].astype(np.int64)
    sums = values.sum(0)
    top = int(sums.argmax())
    lead = values[:, [top]] - values
    spread = lead.std(0) / math.sqrt(sizes.look)
    near = [c for c in range(len(sums)) if lead[:, c].mean() <= 3 * spread[c]]
    best, close = top, False
    if len(near) > 1:
        numbers = tuple(question.contracts[c] for c in near)
        more = worlds.chunk(first + sizes.look, sizes.closer, numbers, (), held=(seat, hand))
        both = np.concatenate([values[:, near], more.results[0][:, :, column].astype(np.int64)])
        order = np.argsort(-both.sum(0), kind="stable")
        best = near[int(order[0])]
        gap = both[:, order[0]] - both[:, order[1]]
        close = bool(gap.mean() < 2 * gap.std() / math.sqrt(len(gap)))
    after = first + sizes.look + sizes.closer
    worth = worlds.chunk(after, sizes.worth, (question.contracts[best],), (), held=(seat, hand))
    margins = look.results[0][:, :, RESULTS.index("margin")].astype(np.int64)
    steps = ((seat ^ look.facts[:, 2]) - seat) & 3
    by_dealer = question.config.ruleset.choices["lead"] == "left-of-dealer"
    leader = (look.facts[:, 0] + 1 if by_dealer else np.full(sizes.look, seat + 1)) & 3
    leads = (leader == seat) | (leader == seat ^ look.facts[:, 2])
    return _HandResult(
        hand,
        seat,
        best,
        close,
        int(worth.results[0][:, 0, column].sum()),
        sums,
        np.stack([margins[steps == step].sum(0) for step in (1, 2, 3)], 1),
        np.where(leads[:, None], margins, -margins).sum(0),
        np.array([(steps == step).sum() for step in (1, 2, 3)], np.int64),
    )


@dataclass(frozen=True)
class _Hands:
    """Hands as pieces of work."""

    question: ElectionsQuestion
    worlds: Worlds
    sizes: _Sizes

    def piece(self, number: int, _: object) -> _HandResult:
        """Ask about a hand."""
        return _ask(self.question, self.worlds, self.sizes, number)

    def narrowed(self, result: _HandResult, *_: object) -> _HandResult:
        """Return the result: all contracts are always asked for."""
        return result

    def wait(self, future: Future[Any]) -> Any:
        """Return a result."""
        return self.worlds.wait(future)


_SCALARS = {"hand": np.uint64, "seat": np.int64, "best": np.int64, "close": np.bool_, "worth": np.int64}
_ARRAYS = ("sums", "margins", "leads", "places")


def _packed(results: list[_HandResult]) -> dict[str, np.ndarray]:
    """Return results as arrays, to be kept."""
    scalars: dict[str, np.ndarray] = {
        name: np.array([getattr(result, name) for result in results], kind) for name, kind in _SCALARS.items()
    }
    return scalars | {name: np.stack([getattr(result, name) for result in results]) for name in _ARRAYS}


def _unpacked(arrays: dict[str, np.ndarray]) -> list[_HandResult]:
    """Return the results that arrays hold."""
    return [
        _HandResult(**{name: arrays[name][i].item() for name in _SCALARS}, **{name: arrays[name][i] for name in _ARRAYS})
        for i in range(len(arrays["hand"]))
    ]


def average_elections(
    question: ElectionsQuestion,
    *,
    kept: Kept = Kept(),  # noqa: B008 (keeps nothing)
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: Cluster | None = None,
) -> Choices:
    """Compare contracts over random hands.

    Args:
        question: without a hand; ``max_deals`` is the most hands.
        kept: work done before.
        threads: default all cores; changes nothing in the answer.
        cluster: whose workers play, instead of threads.
        progress: called with (hands so far, most hands).
    """
    threads = check_threads(threads)
    start = time.monotonic()
    deadline = math.inf if question.max_time is None else start + question.max_time
    sizes = _Sizes(question.config.slow)
    worlds = Worlds(question)
    count = len(question.contracts)
    race = Race([0] * count, [1] * count, question.confidence)
    shares = [RunningMean(0, 1) for _ in range(count)]
    done: list[_HandResult] = []
    late = False
    with Workers(threads, cluster) as workers:
        line = workers.line(_Hands(question, worlds, sizes), question.max_deals)

        def ask(first: int, end: int) -> dict[str, np.ndarray]:
            nonlocal late

            def told(found: list[_HandResult]) -> None:
                if progress is not None:
                    progress(first + len(found), question.max_deals)

            found = line.take(range(first, end), deadline=deadline, told=told)
            late = time.monotonic() >= deadline
            return _packed(found)

        while not late and len(done) < question.max_deals and not (race.decided and done):
            wanted = min(max(sizes.first, len(done) // 4), question.max_deals - len(done))
            what = f"hands {len(done)} to {len(done) + wanted}"
            batch = _unpacked(kept.recall(what, partial(ask, len(done), len(done) + wanted), lambda: not late))
            hits = np.zeros((len(batch), count), np.int64)
            hits[np.arange(len(batch)), [result.best for result in batch]] = 1
            race.add(hits[:, race.active])
            for share, values in zip(shares, hits.T, strict=True):
                share.add(values)
            done += batch
    rows = _best_rows(question, race, shares, done, sizes) + _position_rows(question, done)
    value = mean_estimate(len(done), *_sums([result.worth for result in done]))
    unit = OBJECTIVES[question.objective] * sizes.worth
    tied = any(row["tied"] for row in rows if row["table"] == BEST)
    return Choices(
        config=question.describe(),
        rows=rows,
        sampling={
            "hands": len(done),
            "worlds_a_hand": {"all": sizes.look, "close": sizes.closer, "worth": sizes.worth},
            "close": sum(result.close for result in done) / len(done),
            "worth_of_choosing": None if value.value is None else value.value / unit,
            "worth_of_choosing_stderr": None if value.stderr is None else value.stderr / unit,
            "stopped": "time" if late else ("limit" if tied else "decided"),
        },
        hand_points=_hand_points(question),
        notes=question.notes,
        seconds=time.monotonic() - start,
        threads=threads,
        _worlds=lambda: _hand_table(question, done, sizes),
    )


def _hand_points(question: ElectionsQuestion) -> list[dict[str, Any]]:
    """Return what makes a hand good, from the shipped table: points to add up for the margin to expect (worth.py)."""
    rules, table = question.config.ruleset, points_table()
    found = []
    for number in question.contracts:
        contract = rules.contracts[number]
        row = table.get(rules.meaning(contract))
        if row is not None:
            found.append({"choice": contract.id, "deals": row["deals"], "full_r2_hand": row["r2_hand"]} | row["points"])
    return found


def _sums(values: list[int]) -> tuple[int, int]:
    return sum(values), sum(value * value for value in values)


def _scaled(estimate: Estimate, unit: float) -> tuple[float | None, float | None]:
    value, stderr = estimate.value, estimate.stderr
    return None if value is None else value / unit, None if stderr is None else stderr / unit


def _best_rows(
    question: ElectionsQuestion, race: Race, shares: list[RunningMean], done: list[_HandResult], sizes: _Sizes
) -> list[dict[str, Any]]:
    """Return a row a contract: how often it is the best, what it is worth then, and by chance; the most frequent first."""
    rules, unit = question.config.ruleset, OBJECTIVES[question.objective]
    standing = {place.choice: place for place in race.standings()}
    rows = []
    for c in sorted(standing, key=lambda c: (not standing[c].best, not standing[c].tied, -shares[c].mean, c)):
        place, share = standing[c], shares[c]
        low, high = share.bounds(1 - question.confidence)
        chosen = [result.worth for result in done if result.best == c]
        then = _scaled(mean_estimate(len(chosen), *_sums(chosen)), unit * sizes.worth)
        chance = _scaled(mean_estimate(len(done), *_sums([int(result.sums[c]) for result in done])), unit * sizes.look)
        rows.append(
            {
                "table": BEST,
                "choice": rules.contract_ids[question.contracts[c]],
                "objective": "best",
                "mean": share.mean,
                "stderr": math.sqrt(share.mean * (1 - share.mean) / (len(done) - 1)) if len(done) > 1 else None,
                "low": low,
                "high": high,
                "confidence": question.confidence,
                "deals": len(done),
                "best": place.best,
                "tied": place.tied,
                "behind": place.lead,
                "behind_low": place.lead_low,
                "behind_high": place.lead_high,
                "worth_then": then[0],
                "worth_then_stderr": then[1],
                "worth_by_chance": chance[0],
                "worth_by_chance_stderr": chance[1],
                "worth_in": question.objective,
            }
        )
    return rows


def _position_rows(question: ElectionsQuestion, done: list[_HandResult]) -> list[dict[str, Any]]:
    """Return a row a contract: the margin of the leader's side, and the attackers' by where the partner sits."""
    rows = []
    for c, number in enumerate(question.contracts):
        n = np.array([result.places for result in done])
        y = np.array([result.margins[c] for result in done])
        leads, worlds = np.array([result.leads[c] for result in done]), n.sum(1)
        leader = ratio_estimate(len(done), *_products(worlds, leads))
        row: dict[str, Any] = {
            "table": POSITION,
            "choice": question.config.ruleset.contract_ids[number],
            "objective": "margin",
            "mean": leader.value,
            "stderr": leader.stderr,
            "low": leader.interval(question.confidence)[0],
            "high": leader.interval(question.confidence)[1],
            "confidence": question.confidence,
            "deals": len(done),
            "best": False,
            "tied": False,
        }
        for place, name in enumerate(PARTNERS):
            has = n[:, place] > 0
            there = ratio_estimate(int(has.sum()), *_products(n[:, place], y[:, place]))
            row |= {f"partner_{name}": there.value, f"partner_{name}_stderr": there.stderr}
        rows.append(row)
    return rows


def _products(n: np.ndarray, y: np.ndarray) -> tuple[int, int, int, int, int]:
    return int(n.sum()), int(y.sum()), int((n * n).sum()), int((n * y).sum()), int((y * y).sum())


def _hand_table(question: ElectionsQuestion, done: list[_HandResult], sizes: _Sizes) -> pa.Table:
    """Return one row a hand and contract."""
    import pyarrow as pa

    rules, unit = question.config.ruleset, OBJECTIVES[question.objective]
    count = len(question.contracts)
    names = pa.array([rules.contract_ids[number] for number in question.contracts])
    columns = {
        "number": pa.array(np.repeat(np.arange(len(done), dtype=np.uint64), count)),
        "seat": pa.DictionaryArray.from_arrays(
            pa.array(np.repeat(np.array([result.seat for result in done], np.int8), count)), pa.array(list(SEATS))
        ),
        "hand": pa.array(np.repeat(np.array([result.hand for result in done], np.uint64), count)),
        "choice": pa.DictionaryArray.from_arrays(pa.array(np.tile(np.arange(count, dtype=np.int8), len(done))), names),
        "worlds": pa.array(np.full(count * len(done), sizes.look, np.int32)),
        "mean": pa.array(np.concatenate([result.sums for result in done]) / (unit * sizes.look)),
        "best": pa.array(np.tile(np.arange(count), len(done)) == np.repeat([result.best for result in done], count)),
        "close": pa.array(np.repeat([result.close for result in done], count)),
        "worth": pa.array(
            np.repeat([result.worth for result in done], count) / (unit * sizes.worth),
            mask=np.tile(np.arange(count), len(done)) != np.repeat([result.best for result in done], count),
        ),
    }
    return pa.table(columns)
