"""Uniform deals under known cards and a condition.

Every deal that has the known cards and satisfies the condition is equally likely.  Two steps, repeated until the condition holds:

1. *Dealt directly*: the number of cards of each group (a suit, or a suit's honours of one rank) that each bounded seat gets is
   drawn from its exact distribution under the condition's bounds, then the cards themselves uniformly.  The ways are whole
   numbers counted by dynamic programming over groups, so nothing is rounded; a draw compares 128-bit integers.
2. *Tried*: the whole condition is evaluated; a deal that fails is thrown away.

Since bounds are implied by the condition, the result is exactly uniform, and rare lengths or points cost nothing.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ZERO, nth_set_bit, popcount
from simcore.cards import FULL, SUIT_MASKS, format_cards
from simcore.deals.conditions import HCP, HCP_MASKS, Bounds, Condition, holds
from simcore.deals.shuffle import random_split
from simcore.errors import BadInput
from simcore.rng import below, next_word

__all__ = ["MAX_TRIES", "Plan", "deal_constrained", "make_plan"]

#: Deals tried for one index before the condition is given up as impossible or hopeless.
MAX_TRIES = 20_000_000
_WORK = 400_000  # steps of counting (about a second); a feature that needs more is tried instead
_FOUR = np.uint64(4)
_FIFTEEN = np.uint64(15)


class Plan(NamedTuple):
    """What the kernel takes, as one argument: known cards, counting tables, the condition's program."""

    known: np.ndarray  # uint64[seats]
    sizes: np.ndarray  # int64[seats] cards still to be dealt to each seat
    direct: np.ndarray  # int64: the seats dealt through the tables, in their order there
    groups: np.ndarray  # uint64[groups] masks of free cards
    starts: np.ndarray  # int64[states + 1] first transition of each state
    high: np.ndarray  # uint64: upper and lower words of the running sums of ways
    low: np.ndarray
    follow: np.ndarray  # int64: state after a transition
    counts: np.ndarray  # uint64: cards to each direct seat, four bits each
    program: np.ndarray


class _TooBig(Exception):
    """The counting tables would be too large."""


def make_plan(
    known: np.ndarray, sizes: list[int], condition: Condition | None, *, pack: int = int(FULL), seats: str = "NESW"
) -> Plan:
    """Work out how to deal.

    Args:
        known: uint64[seats] masks of cards that are fixed.
        sizes: cards of each seat in all; the seats may take fewer than the pack (the rest is left over).
        condition: what must hold, or None.
        pack: the cards there are.

    Raises:
        BadInput: nothing satisfies the known cards and the condition's bounds.
    """
    fixed = [int(mask) for mask in known]
    bounds = Bounds.free(len(sizes)) if condition is None else condition.bounds
    where = "" if condition is None else f" and condition {condition.text!r}"
    for seat, held in enumerate(bounds.held):
        for other, mask in enumerate(fixed):
            if other != seat and mask & held:
                raise BadInput(f"{format_cards(mask & held)} cannot be held by {seats[seat]}: {seats[other]} has it{where}")
        fixed[seat] |= held
    taken = 0
    for seat, mask in enumerate(fixed):
        if mask & taken:
            raise BadInput(f"{format_cards(mask & taken)} would be held by two seats{where}")
        if mask.bit_count() > sizes[seat]:
            raise BadInput(f"{seats[seat]} would hold {mask.bit_count()} cards; accepted: up to {sizes[seat]}{where}")
        taken |= mask
    free = pack & ~taken
    left = [size - mask.bit_count() for size, mask in zip(sizes, fixed, strict=True)]
    features = _features(bounds, fixed, left, free)
    chosen: list[tuple[int, str]] = []
    tables = _count([], bounds, fixed, left, free)
    for feature in features:
        try:
            tables = _count([*chosen, feature], bounds, fixed, left, free)
        except _TooBig:
            continue
        chosen.append(feature)
    if tables is None:
        raise BadInput(f"no deal satisfies the known cards{where}")
    direct, groups, starts, high, low, follow, counts = tables
    program = np.empty((0, 3), np.int64) if condition is None else condition.program
    return Plan(np.array(fixed, np.uint64), np.array(left, np.int64), direct, groups, starts, high, low, follow, counts, program)


def _features(bounds: Bounds, fixed: list[int], left: list[int], free: int) -> list[tuple[int, str]]:
    """Return the bounded features, (seat, "length" or "hcp"), the rarest first."""
    found = []
    unbounded = Bounds.free(len(left))
    for seat in range(len(left)):
        for name, part in (("length", slice(0, 4)), ("hcp", slice(4, 5))):
            if (bounds.low[seat, part] > unbounded.low[seat, part]).any() or (
                bounds.high[seat, part] < unbounded.high[seat, part]
            ).any():
                try:
                    ways = _ways([(seat, name)], bounds, fixed, left, free)
                except _TooBig:
                    ways = 1 << 200
                found.append((ways, (seat, name)))
    return [feature for _, feature in sorted(found)]


def _ways(features: list[tuple[int, str]], bounds: Bounds, fixed: list[int], left: list[int], free: int) -> int:
    layers = _layers(features, bounds, fixed, left, free)
    return layers[1][0].get(layers[0], 0)


def _groups(features: list[tuple[int, str]], bounds: Bounds, free: int) -> list[tuple[int, int, int]]:
    """Cut the free cards into groups the features cannot tell apart inside: (suit class, points, mask), class by class.

    Suits without a bound for any seat form one class (-1).
    """
    seats = [seat for seat, name in features if name == "length"]
    bounded = [s for s in range(4) if any(bounds.low[i, s] > 0 or bounds.high[i, s] < 13 for i in seats)]
    classes = [(s, int(SUIT_MASKS[s])) for s in bounded] + [(-1, sum(int(SUIT_MASKS[s]) for s in range(4) if s not in bounded))]
    ranks = [(0, int(FULL))]
    if any(name == "hcp" for _, name in features):
        honours = [(i + 1, int(HCP_MASKS[i])) for i in range(4)]
        ranks = [*reversed(honours), (0, int(FULL) & ~sum(mask for _, mask in honours))]
    return [(c, points, free & suit & rank) for c, suit in classes for points, rank in ranks if free & suit & rank]


_State = tuple[tuple[int, int, int], ...]  # of each direct seat: cards still to come, length of the current class, points


def _layers(
    features: list[tuple[int, str]], bounds: Bounds, fixed: list[int], left: list[int], free: int
) -> tuple[_State, list[dict[_State, int]], list[dict[_State, list[tuple[tuple[int, ...], int, _State]]]], list[int], list[int]]:
    """Count ways: returns the first state, ways of each state by group, the transitions, the direct seats, the groups' masks."""
    seats = sorted({seat for seat, _ in features})
    lengths = {seat for seat, name in features if name == "length"}
    points = {seat for seat, name in features if name == "hcp"}
    groups = _groups(features, bounds, free)
    classes = [c for c, _, _ in groups]
    others = sum(left) - sum(left[seat] for seat in seats)
    spare = free.bit_count() - sum(left)  # cards that no seat gets
    held_points = {seat: sum((i + 1) * (fixed[seat] & int(HCP_MASKS[i])).bit_count() for i in range(4)) for seat in seats}

    def start_of(c: int, seat: int) -> int:
        return (fixed[seat] & int(SUIT_MASKS[c])).bit_count() if c >= 0 and seat in lengths else 0

    first: _State = tuple((left[s], start_of(classes[0], s) if classes else 0, held_points[s] if s in points else 0) for s in seats)
    transitions: list[dict[_State, list[tuple[tuple[int, ...], int, _State]]]] = []
    states = {first}
    work = 0
    rest = free.bit_count()
    for number, (c, value, mask) in enumerate(groups):
        count = mask.bit_count()
        rest -= count
        ends = number + 1 == len(groups) or classes[number + 1] != c
        layer: dict[_State, list[tuple[tuple[int, ...], int, _State]]] = {}
        last = number + 1 == len(groups)
        for state in states:
            # seat by seat: (cards given, ways, cards of the group left, state after), dropping what breaks a bound at once
            partial: list[tuple[tuple[int, ...], int, int, _State]] = [((), 1, count, ())]
            for seat, (cards, length, hcp) in zip(seats, state, strict=True):
                longer = []
                for given, ways, open_, after in partial:
                    work += open_ + 1
                    for k in range(min(open_, cards) + 1):
                        total = length + k if c >= 0 and seat in lengths else 0
                        points_now = hcp + k * value if seat in points else 0
                        if points_now > bounds.high[seat, HCP] or (total > bounds.high[seat, c] and c >= 0 and seat in lengths):
                            break
                        if cards - k > rest or (last and seat in points and points_now < bounds.low[seat, HCP]):
                            continue
                        if ends and c >= 0 and seat in lengths and total < bounds.low[seat, c]:
                            continue
                        if ends:
                            total = 0 if last else start_of(classes[number + 1], seat)
                        longer.append(((*given, k), ways * comb(open_, k), open_ - k, (*after, (cards - k, total, points_now))))
                partial = longer
            if work > _WORK:
                raise _TooBig
            # the other seats must be able to take what is left
            options = [
                (given, ways, after)
                for given, ways, _, after in partial
                if rest - sum(cards for cards, _, _ in after) <= others + spare
            ]
            layer[state] = options
        transitions.append(layer)
        states = {after for options in layer.values() for _, _, after in options}
    fits = all(
        bounds.low[s, c] <= (fixed[s] & int(SUIT_MASKS[c])).bit_count() <= bounds.high[s, c]
        for s in lengths
        for c in range(4)
        if c not in classes
    )
    ways_by: list[dict[_State, int]] = [{state: int(fits and all(cards == 0 for cards, _, _ in state)) for state in states}]
    for layer in reversed(transitions):
        behind = ways_by[0]
        ways_by.insert(0, {s: sum(w * behind[after] for _, w, after in options) for s, options in layer.items()})
    return first, ways_by, transitions, seats, [mask for _, _, mask in groups]


def _count(features: list[tuple[int, str]], bounds: Bounds, fixed: list[int], left: list[int], free: int) -> Any:
    """Return the counting tables as arrays, or None where there is no way at all."""
    if bounds.impossible:
        return None
    first, ways_by, transitions, seats, groups = _layers(features, bounds, fixed, left, free)
    if not ways_by[0].get(first, 0):
        return None
    numbers: dict[tuple[int, _State], int] = {(0, first): 0}
    order = [(0, first)]
    starts, high, low, follow, counts = [0], [], [], [], []
    for number, state in order:  # grows as states are reached
        if number < len(groups):
            total = 0
            for given, ways, after in transitions[number][state]:
                weight = ways * ways_by[number + 1][after]
                if not weight:
                    continue
                total += weight
                key = (number + 1, after)
                if key not in numbers:
                    numbers[key] = len(order)
                    order.append(key)
                high.append(total >> 64)
                low.append(total & 0xFFFFFFFFFFFFFFFF)
                follow.append(numbers[key])
                counts.append(sum(k << 4 * i for i, k in enumerate(given)))
        starts.append(len(follow))
    words = [np.array(column, np.uint64) for column in (high, low)]
    return (
        np.array(seats, np.int64),
        np.array(groups, np.uint64),
        np.array(starts, np.int64),
        *words,
        np.array(follow, np.int64),
        np.array(counts, np.uint64),
    )


@njit
def _subset(source: Any, pool: U64, size: I64) -> U64:
    """Return a uniform subset of ``size`` cards."""
    chosen = ZERO
    for _ in range(size):
        card = nth_set_bit(pool, below(source, popcount(pool)))
        pool ^= card
        chosen |= card
    return chosen


@njit
def _mask_below(word: U64) -> U64:
    """Return the smallest 2^k - 1 that is at least ``word``."""
    word |= word >> np.uint64(1)
    word |= word >> np.uint64(2)
    word |= word >> np.uint64(4)
    word |= word >> np.uint64(8)
    word |= word >> np.uint64(16)
    return word | (word >> np.uint64(32))


@njit
def _transition(source: Any, start: I64, end: I64, high: Any, low: Any) -> I64:
    """Draw a transition of a state, each with the probability of its ways: uniform below the last running sum, by rejection."""
    if end - start == 1:
        return start
    top = high[end - 1]
    bottom = low[end - 1]
    mask_top = _mask_below(top)
    mask_bottom = _mask_below(bottom) if top == ZERO else ~ZERO
    while True:
        upper = next_word(source) & mask_top if top != ZERO else ZERO
        lower = next_word(source) & mask_bottom
        if upper < top or (upper == top and lower < bottom):
            break
    place = start
    while upper > high[place] or (upper == high[place] and lower >= low[place]):
        place += 1
    return place


@njit
def deal_constrained(hands: Any, source: Any, plan: Any, pack: U64, tries: I64) -> I64:
    """Deal one deal into ``hands`` (uint64[seats]); returns how many deals were tried, or -1 after ``tries``."""
    seats = len(hands)
    free = pack
    for seat in range(seats):
        free &= ~plan.known[seat]
    for attempt in range(tries):
        for seat in range(seats):
            hands[seat] = plan.known[seat]
        rest = free
        state = np.int64(0)
        for g in range(len(plan.groups)):
            if len(plan.direct) == 0:
                break
            move = _transition(source, plan.starts[state], plan.starts[state + 1], plan.high, plan.low)
            state = plan.follow[move]
            pool = plan.groups[g]
            packed = plan.counts[move]
            for i in range(len(plan.direct)):
                cards = _subset(source, pool, np.int64(packed & _FIFTEEN))
                packed >>= _FOUR
                pool ^= cards
                rest ^= cards
                hands[plan.direct[i]] |= cards
        for seat in range(seats):
            through_tables = False
            for i in range(len(plan.direct)):
                if plan.direct[i] == seat:
                    through_tables = True
            if not through_tables:
                cards = random_split(source, rest, plan.sizes[seat])
                hands[seat] |= cards
                rest ^= cards
        if len(plan.program) == 0 or holds(plan.program, hands):
            return attempt + 1
    return np.int64(-1)
