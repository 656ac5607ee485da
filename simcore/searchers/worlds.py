"""Worlds for a decision: deals that the deciding seat cannot tell from the real one, drawn from a stream of the seat's own.

What is drawn depends on the view and on (seed, index, seat) only, so that the same decision meets the same worlds in any run,
thread or process, and a change of hidden cards changes nothing.  The sampling itself is in ``four_worlds`` and ``two_worlds``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcore.cards import FULL
from simcore.elections.state import new_table, new_view
from simcore.errors import BadInput
from simcore.rng import SEARCH, SOURCE, STREAM, next_word, open_source
from simcore.sampling import four_worlds, two_worlds
from simcore.sampling.unseen import chance

__all__ = ["MODELS", "Worlds", "elections_worlds", "own_source", "showcase_worlds"]

#: Player models that calls may be judged by, and their policy numbers.
MODELS = {"none": four_worlds.NO_MODEL, "expert": 2, "greedy": 1}
#: Worlds tried for each that is wanted, before calls that none of them explains are taken as slips.
_TRIES = 64
#: Where cards played are judged: worlds tried, unless four times as many as are wanted are more.
_JUDGED = 2000
#: A card that the model would not have played weighs at least this, and as much more as leaves the sample half its size.
_PLAY_SLIP = 0.05

_local = threading.local()


@dataclass(frozen=True)
class Worlds:
    """Worlds for one decision, and how good a sample they are."""

    hands: np.ndarray  # uint64[n, seats], the cards now held; Showcase: the other's hand may be any, the own is as seen
    weights: np.ndarray  # int64[n], how often each stands in the sample
    stocks: np.ndarray | None = None  # Showcase: int8[n, 26], the reserve
    tried: int = 0
    effective: float = 0.0  # Kish's effective size of the sample
    slips: int = 0  # fewest calls that the model would not have made in a world

    @property
    def size(self) -> int:
        """How many worlds the sample counts, repeated ones each time."""
        return int(self.weights.sum())


@dataclass(frozen=True)
class _Space:
    """Working space of a thread."""

    source: Any
    table: Any
    view: Any
    streams: Any
    ways: np.ndarray
    history_ways: np.ndarray
    steps: np.ndarray


def _space() -> _Space:
    if not hasattr(_local, "space"):
        _local.space = _Space(
            np.zeros(1, SOURCE).view(np.recarray)[0],
            new_table()[0],
            new_view()[0],
            np.zeros(4, STREAM).view(np.recarray),
            np.zeros(four_worlds.WAYS),
            np.zeros(two_worlds.WAYS),
            np.zeros(two_worlds.STEPS, np.int64),
        )
    space: _Space = _local.space
    return space


def own_source(stream: Any, moment: int) -> Any:
    """Return a random Source that only this decision uses: of a seat's stream and the ``moment`` of the decision in the deal."""
    source = _space().source
    number = np.uint64(4 * moment + int(stream.lane))
    open_source(source, stream.key0, stream.key1, stream.index, number, SEARCH)
    return source


def elections_worlds(
    view: Any,
    rules: Any,
    source: Any,
    wanted: int,
    model: int = four_worlds.NO_MODEL,
    play_model: int = four_worlds.NO_MODEL,
) -> Worlds:
    """Return worlds of Elections for the deciding seat of a view.

    Args:
        view, rules: records, as a player gets them.
        source: a Source, drawn from.
        wanted: how many.
        model: policy number of the built-in player by which calls heard are judged, or NO_MODEL.
        play_model: the same for the cards that the others have played.

    Raises:
        BadInput: the view contradicts itself: no deal is like that.
    """
    space = _space()
    most = wanted if model == four_worlds.NO_MODEL or view.forced or view.calls_made == 0 else _TRIES * wanted
    judged = play_model != four_worlds.NO_MODEL and view.contract >= 0 and view.tricks_played + view.on_table > 0
    if judged:
        most = max(4 * wanted, _JUDGED)
    hands, slips, play_slips = np.zeros((most, 4), np.uint64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    key = np.uint64(next_word(source))
    work = (space.ways, source, space.table, space.view, space.streams)
    tried, kept = four_worlds.sample_worlds(rules, view, model, wanted, most, key, *work, hands, slips, play_model, play_slips)
    if tried == 0:
        raise BadInput("no deal is as the view says: cards played, voids and sizes of hands contradict one another")
    hands, slips, play_slips = hands[:kept], slips[:kept], play_slips[:kept]
    if not judged and kept == wanted and slips.min() == slips.max():
        return Worlds(hands, np.ones(kept, np.int64), None, int(tried), float(kept), int(slips.min()))
    weights = four_worlds.SLIP ** (slips - slips.min())
    if judged:
        weights = _tempered(weights, play_slips - play_slips.min(), wanted / 2)
    effective = _effective(weights)
    # systematic resampling: each world as often as its weight says, up or down to a whole number (Kitagawa 1996)
    edges = np.cumsum(weights) * (wanted / weights.sum())
    edges[-1] = wanted
    counts = np.diff(np.ceil(edges - chance(source)).astype(np.int64), prepend=0)
    chosen = np.flatnonzero(counts)
    return Worlds(hands[chosen], counts[chosen], None, int(tried), min(effective, float(wanted)), int(slips.min()))


def _effective(weights: np.ndarray) -> float:
    """Return Kish's effective size of a weighed sample."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _tempered(weights: np.ndarray, slips: np.ndarray, wanted: float) -> np.ndarray:
    """Return weights times a factor to the power of slips: the least factor that leaves an effective size, from _PLAY_SLIP to 1."""
    low, high = _PLAY_SLIP, 1.0
    if _effective(weights * low**slips) >= wanted:
        return weights * low**slips
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if _effective(weights * middle**slips) >= wanted else (middle, high)
    return weights * high**slips


def showcase_worlds(view: Any, rules: Any, source: Any, wanted: int) -> Worlds:
    """Return worlds of Showcase's first playout for the deciding seat of a view; arguments as for :func:`elections_worlds`."""
    space = _space()
    total = two_worlds.count_worlds(rules, view, space.steps, space.history_ways)
    if total <= 0.0:
        raise BadInput("no deal is as the view says: cards played, suits not followed and sizes of hands contradict one another")
    hands, stocks = np.zeros((wanted, 2), np.uint64), np.zeros((wanted, 26), np.int8)
    two_worlds.deal_worlds(view, space.steps, space.history_ways, total, source, hands, stocks)
    assert not (hands & ~FULL).any()
    return Worlds(hands, np.ones(wanted, np.int64), stocks, wanted, float(wanted), 0)
