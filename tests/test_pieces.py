"""Pieces of work taken in order: the same from threads and from workers that are given later ones ahead."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
import pytest

from simcore.choosing.elections import Candidates, Worlds
from simcore.choosing.pieces import Stretch, Workers
from simcore.choosing.question import ElectionsQuestion
from simcore.errors import PlayerError

Choices = tuple[int, ...]


@dataclass(frozen=True)
class Tens:
    """Piece n with choices c is 10·n + c each; ``bad`` fails wherever choice 2 is asked for."""

    bad: int = -1
    slow: int = -1
    go: Event = field(default_factory=Event)  # the slow one waits for it
    done: list[tuple[int, Choices]] = field(default_factory=list)

    def piece(self, number: int, choices: Choices) -> list[int]:
        self.done.append((number, choices))
        if number == self.slow:
            self.go.wait()
        if number == self.bad and 2 in choices:
            raise PlayerError(f"piece {number} fails")
        return [10 * number + choice for choice in choices]

    def narrowed(self, result: list[int], had: Choices, wanted: Choices) -> list[int]:
        return [result[had.index(choice)] for choice in wanted]

    def wait(self, future: Future[Any]) -> Any:
        return future.result()


class Ahead:
    """Stands for a cluster: tasks of one to four pieces, up to five of them ahead, done when they are given out."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self.started = 0

    def run(
        self,
        job: Any,
        numbers: Iterator[int],
        count: int,
        *,
        ordered: bool,
        asked: Callable[[], Any],
        until: Callable[[], bool],
        together: int,
    ) -> Iterator[tuple[int, int, Any]]:
        assert ordered
        self.started += 1
        work, left, tasks = job.open(), deque(numbers), deque[tuple[int, int, Any]]()
        assert len(left) == count
        while True:
            while left and len(tasks) < 5:
                some = [left.popleft() for _ in range(min(self._random.randint(1, 4), len(left)))]
                tasks.append((some[0], some[-1] + 1, work(some[0], some[-1] + 1, asked())))
            if not tasks or until():
                return
            yield tasks.popleft()


def both(pieces: Tens, cluster: Ahead, most: int) -> Iterator[Any]:
    with Workers(2, None) as threads, Workers(1, cluster) as ahead:  # type: ignore[arg-type]
        for workers in (threads, ahead):
            yield workers.line(pieces, most)


@pytest.mark.parametrize("seed", range(20))
def test_results_are_those_of_their_numbers_and_choices(seed: int) -> None:
    rng = random.Random(seed)
    batches, first, choices = [], 0, (0, 1, 2, 3)
    while first < 60:
        end = first + rng.randint(1, 9)
        batches.append((range(first, end), choices))
        first = end + rng.choice((0, 0, 0, 5))  # work kept from an earlier run is not asked for
        choices = tuple(choice for choice in choices if rng.random() < 0.9) or choices
    pieces = Tens()
    for line in both(pieces, Ahead(seed), rng.choice((40, 60, 100))):
        for numbers, asked in batches:
            told: list[int] = []
            found = line.take(numbers, asked, told=lambda results, told=told: told.append(len(results)))  # type: ignore[misc]
            assert found == [[10 * number + choice for choice in asked] for number in numbers]
            assert told == list(range(1, len(numbers) + 1))


def test_little_is_done_twice_or_in_vain() -> None:
    pieces, cluster = Tens(), Ahead()
    with Workers(1, cluster) as workers:  # type: ignore[arg-type]
        line = workers.line(pieces, 1000)
        for first in range(0, 50, 5):
            line.take(range(first, first + 5), (1, 2) if first < 20 else (2,))
    numbers = [number for number, _ in pieces.done]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) < 50 + 24
    assert cluster.started == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_failure_counts_when_it_is_asked_for(seed: int) -> None:
    pieces = Tens(bad=10)
    for line in both(pieces, Ahead(seed), 100):
        line.take(range(9), (1, 2))
        with pytest.raises(PlayerError, match="piece 10 fails"):
            line.take(range(9, 12), (1, 2))
    for line in both(pieces, Ahead(seed), 100):
        line.take(range(9), (1, 2))
        assert line.take(range(9, 12), (1,)) == [[91], [101], [111]]
    for line in both(pieces, Ahead(seed), 100):
        assert line.take(range(9), (1, 2))[-1] == [81, 82]
        assert line.take(range(11, 12), (1, 2)) == [[111, 112]]


def test_time_runs_out() -> None:
    for line in both(Tens(), Ahead(), 100):
        assert line.take(range(5), (1,), deadline=0.0) == [[1]]
    for line in both(Tens(), Ahead(), 100):
        assert line.take(range(5), (1,), deadline=0.0, least=0) == []
    slow = Tens(slow=3)
    with Workers(1, None) as threads:
        line = threads.line(slow, 100)
        try:
            assert line.take(range(9), (1,), deadline=time.monotonic() + 2) == [[1], [11], [21]]
        finally:
            slow.go.set()
        assert line.take([], (1,), deadline=math.inf) == []


@pytest.mark.parametrize("seed", range(10))
def test_ranges_are_cut_anywhere(seed: int) -> None:
    """Pieces of seven worlds of which every third is found, choices dropping out on the way."""

    @dataclass(frozen=True)
    class Sevens(Tens):
        def piece(self, number: int, choices: Choices) -> Any:
            self.done.append((number, choices))
            return np.array([[world, *choices] for world in range(7 * number, 7 * number + 7) if world % 3 == 0])

        def narrowed(self, result: Any, had: Choices, wanted: Choices) -> Any:
            return result[:, [0, *(1 + had.index(choice) for choice in wanted)]]

    rng = random.Random(seed)
    pieces, cluster = Sevens(), Ahead(seed)
    for line in both(pieces, cluster, 100):
        pieces.done.clear()
        stretch = Stretch(line, pieces, 7, lambda rows, _, a, b: rows[(rows[:, 0] >= a) & (rows[:, 0] < b)])
        first, choices = 0, (4, 5, 6)
        for _ in range(8):
            end = first + rng.randint(1, 30)
            told: list[int] = []
            found = np.concatenate(stretch.take(first, end, choices, told=told.append))
            assert found.tolist() == [[world, *choices] for world in range(first, end) if world % 3 == 0]
            assert not told or told[-1] == end
            first = end
            choices = choices[: rng.choice((3, 3, 2))] if len(choices) == 3 else choices
        numbers = [number for number, _ in pieces.done]
        assert len(numbers) == len(set(numbers)), "no piece is done twice"


def test_worlds_do_not_hang_on_where_they_are_cut_nor_on_what_else_is_played() -> None:
    question = ElectionsQuestion.of(hand="AQJ94.KJ8.Q2.T64", seat="S", dealer="S", players="greedy", seed=3)
    pieces = Candidates(Worlds(question), 700)
    everything = (tuple(question.contracts), tuple(question.actions))
    few = (everything[0][1::3], everything[1][:1])
    assert pieces.piece(2, everything).candidates == 700 - 512
    whole = pieces.worlds.chunk(0, 700, *few)
    found = [pieces.narrowed(pieces.piece(number, everything), everything, few) for number in range(3)]
    cut = [found[0].between(0, 100), found[0].between(100, 256), found[1], found[2]]
    assert sum(chunk.candidates for chunk in cut) == 700
    for name in ("indices", "hands", "facts"):
        assert np.array_equal(np.concatenate([getattr(chunk, name) for chunk in cut]), getattr(whole, name))
    for which in range(2):
        assert np.array_equal(np.concatenate([chunk.results[which] for chunk in cut]), whole.results[which])
    assert len(whole.indices) > 20
