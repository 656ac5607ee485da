"""Uniform deals under known cards and a condition.

Every deal that has the known cards and satisfies the condition is equally likely.  Three steps, repeated until the last one holds:

1. A *branch* of the condition (an alternative of its "or"s) is drawn with the probability of its share of deals.
2. *Dealt directly*: the number of cards of each group (a suit, or a suit's honours of one rank) that each bounded seat gets is
   drawn from its exact distribution under the condition's bounds, then the cards themselves uniformly.  The ways are whole
   numbers counted by dynamic programming over groups, so nothing is rounded; a draw compares 128-bit integers.
3. *Tried*: the whole condition is evaluated; a deal that fails is thrown away, and so is one that an earlier branch deals too.

Since bounds are implied by their branch and every deal comes from one branch only, the result is exactly uniform, and rare lengths
or points cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, nth_card, popcount
from simcore.cards import FULL, SUIT_MASKS, format_cards
from simcore.deals.conditions import HCP, HCP_MASKS, Bounds, Condition, holds, quantity_of
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
    """What the kernel takes, as one argument: branches with known cards and counting tables, the condition's program.

    Only the first four say anything about single branches; the counting tables of all branches stand in one sequence of states.
    """

    known: np.ndarray  # uint64[branches, seats]
    sizes: np.ndarray  # int64[branches, seats] cards still to be dealt to each seat
    direct: np.ndarray  # int64[branches, seats]: the seats dealt through the tables, in their order there; then -1
    bounds: np.ndarray  # int64[branches, 2, seats, 5] lowest and highest values of what is dealt through the tables
    branch_high: np.ndarray  # uint64[branches]: upper and lower words of the running sums of the branches' deals
    branch_low: np.ndarray
    roots: np.ndarray  # int64[branches] first state
    first_group: np.ndarray  # int64[branches + 1]
    groups: np.ndarray  # uint64[groups] masks of free cards
    starts: np.ndarray  # int64[states + 1] first transition of each state
    high: np.ndarray  # uint64: upper and lower words of the running sums of ways
    low: np.ndarray
    follow: np.ndarray  # int64: state after a transition
    counts: np.ndarray  # uint64: cards to each direct seat, four bits each
    program: np.ndarray


class _TooBig(Exception):
    """The counting tables would be too large."""


@dataclass
class _Tables:
    """The counting tables of one branch; states are numbered from 0."""

    deals: int  # how many deals the branch has
    known: list[int]
    sizes: list[int]
    direct: list[int]
    bounds: np.ndarray
    groups: list[int]
    sums: list[list[int]]  # of each state the running sums of ways
    follow: list[list[int]]
    counts: list[list[int]]


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
    branches = [Bounds.free(len(sizes))] if condition is None else condition.branches
    where = "" if condition is None else f" and condition {condition.text!r}"
    found: list[_Tables] = []
    refused: list[BadInput] = []
    for bounds in branches:
        try:
            found.append(_branch([int(mask) for mask in known], sizes, bounds, pack, seats, where, _WORK // len(branches)))
        except BadInput as error:
            refused.append(error)
    if not found:
        raise refused[0]
    total = 0
    running, roots, first_group, starts = [], [], [0], [0]
    rows: dict[str, list[int]] = {"sums": [], "follow": [], "counts": []}
    for tables in found:
        total += tables.deals
        running.append(total)
        roots.append(len(starts) - 1)
        first_group.append(first_group[-1] + len(tables.groups))
        for sums, follow, counts in zip(tables.sums, tables.follow, tables.counts, strict=True):
            rows["sums"] += sums
            rows["follow"] += [state + roots[-1] for state in follow]
            rows["counts"] += counts
            starts.append(len(rows["follow"]))
    return Plan(
        np.array([tables.known for tables in found], np.uint64),
        np.array([tables.sizes for tables in found], np.int64),
        np.array([tables.direct + [-1] * (len(sizes) - len(tables.direct)) for tables in found], np.int64),
        np.array([tables.bounds for tables in found]),
        *_words(running),
        np.array(roots, np.int64),
        np.array(first_group, np.int64),
        np.array([mask for tables in found for mask in tables.groups], np.uint64),
        np.array(starts, np.int64),
        *_words(rows["sums"]),
        np.array(rows["follow"], np.int64),
        np.array(rows["counts"], np.uint64),
        np.empty((0, 3), np.int64) if condition is None else condition.program,
    )


def _words(numbers: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the upper and the lower words of 128-bit numbers."""
    return np.array([n >> 64 for n in numbers], np.uint64), np.array([n & 0xFFFFFFFFFFFFFFFF for n in numbers], np.uint64)


def _branch(fixed: list[int], sizes: list[int], bounds: Bounds, pack: int, seats: str, where: str, work: int) -> _Tables:
    """Return the counting tables of a branch; counting a feature may take ``work`` steps, else the feature is tried.

    Raises:
        BadInput: no deal has the known cards and is within the bounds.
    """
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
    for seat, sets in enumerate(bounds.without):
        for mask in sets:
            if mask & ~fixed[seat] == 0:
                raise BadInput(f"{seats[seat]} has {format_cards(mask)} and must not{where}")
    free = pack & ~taken
    left = [size - mask.bit_count() for size, mask in zip(sizes, fixed, strict=True)]
    if bounds.impossible:
        raise BadInput(f"no deal satisfies the known cards{where}")
    _check_lacked(fixed, left, bounds, free, seats, where)
    chosen: list[tuple[int, str]] = []
    tables = _count([], bounds, fixed, left, free, work)
    for feature in _features(bounds, fixed, left, free, work):
        try:
            tables = _count([*chosen, feature], bounds, fixed, left, free, work)
        except _TooBig:
            continue
        chosen.append(feature)
    if tables is None:
        raise BadInput(f"no deal satisfies the known cards{where}")
    return tables


def _check_lacked(fixed: list[int], left: list[int], bounds: Bounds, free: int, seats: str, where: str) -> None:
    """Refuse conditions under which some seats cannot get the cards, or a seat the suits and points, that they must have.

    Single cards that a seat may not hold are not dealt around, only tried; so this tells at once what no try would find.
    """
    open_to = [free & ~bounds.lacked(seat) for seat in range(len(left))]
    for chosen in range(1, 1 << len(left)):
        some = [seat for seat in range(len(left)) if chosen >> seat & 1]
        cards = 0
        for seat in some:
            cards |= open_to[seat]
        if cards.bit_count() < sum(left[seat] for seat in some):
            names = ", ".join(seats[seat] for seat in some)
            raise BadInput(f"no deal satisfies the known cards{where}: there are not enough cards that {names} may hold")
    for seat, cards in enumerate(open_to):
        most = [(fixed[seat] | cards) & int(SUIT_MASKS[suit]) for suit in range(4)]
        points, room = 0, left[seat]
        for i in (3, 2, 1, 0):
            more = min((cards & int(HCP_MASKS[i])).bit_count(), room)
            points += (i + 1) * ((fixed[seat] & int(HCP_MASKS[i])).bit_count() + more)
            room -= more
        if any(bounds.low[seat, suit] > most[suit].bit_count() for suit in range(4)) or bounds.low[seat, HCP] > points:
            raise BadInput(f"no deal satisfies the known cards{where}: {seats[seat]} may not hold enough of what it must")


def _features(bounds: Bounds, fixed: list[int], left: list[int], free: int, work: int) -> list[tuple[int, str]]:
    """Return the bounded features, (seat, "length" or "hcp"), the rarest first."""
    found = []
    unbounded = Bounds.free(len(left))
    for seat in range(len(left)):
        for name, part in (("length", slice(0, 4)), ("hcp", slice(4, 5))):
            if (bounds.low[seat, part] > unbounded.low[seat, part]).any() or (
                bounds.high[seat, part] < unbounded.high[seat, part]
            ).any():
                try:
                    first, ways_by, *_ = _layers([(seat, name)], bounds, fixed, left, free, work)
                    ways = ways_by[0].get(first, 0)
                except _TooBig:
                    ways = 1 << 200
                found.append((ways, (seat, name)))
    return [feature for _, feature in sorted(found)]


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
    features: list[tuple[int, str]], bounds: Bounds, fixed: list[int], left: list[int], free: int, limit: int
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
            if work > limit:
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


def _count(
    features: list[tuple[int, str]], bounds: Bounds, fixed: list[int], left: list[int], free: int, work: int
) -> _Tables | None:
    """Return the counting tables of some bounded features, or None where there is no way at all."""
    first, ways_by, transitions, seats, groups = _layers(features, bounds, fixed, left, free, work)
    deals = ways_by[0].get(first, 0)
    if not deals:
        return None
    rest = free.bit_count() - sum(left[seat] for seat in seats)
    for seat in set(range(len(left))).difference(seats):
        deals *= comb(rest, left[seat])
        rest -= left[seat]
    dealt = Bounds.free(len(left))
    for seat, name in features:
        part = slice(0, 4) if name == "length" else slice(4, 5)
        dealt.low[seat, part], dealt.high[seat, part] = bounds.low[seat, part], bounds.high[seat, part]
    tables = _Tables(deals, fixed, left, seats, np.array([dealt.low, dealt.high]), groups, [], [], [])
    numbers: dict[tuple[int, _State], int] = {(0, first): 0}
    order = [(0, first)]
    for number, state in order:  # grows as states are reached
        sums: list[int] = []
        follow: list[int] = []
        counts: list[int] = []
        for given, ways, after in transitions[number][state] if number < len(groups) else []:
            weight = ways * ways_by[number + 1][after]
            if not weight:
                continue
            sums.append(weight + (sums[-1] if sums else 0))
            key = (number + 1, after)
            if key not in numbers:
                numbers[key] = len(order)
                order.append(key)
            follow.append(numbers[key])
            counts.append(sum(k << 4 * i for i, k in enumerate(given)))
        tables.sums.append(sums)
        tables.follow.append(follow)
        tables.counts.append(counts)
    return tables


@njit
def _subset(source: Any, pool: U64, size: I64) -> U64:
    """Return a uniform subset of ``size`` cards."""
    chosen = ZERO
    for _ in range(size):
        card = nth_card(pool, below(source, popcount(pool)))
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
def _in_branch(plan: Any, branch: I64, hands: Any) -> Any:
    """Tell whether a deal is one of those that a branch deals."""
    for seat in range(len(hands)):
        if hands[seat] & plan.known[branch, seat] != plan.known[branch, seat]:
            return False
        for quantity in range(HCP + 1):
            value = quantity_of(hands[seat], quantity)
            if value < plan.bounds[branch, 0, seat, quantity] or value > plan.bounds[branch, 1, seat, quantity]:
                return False
    return True


@njit
def _deal_branch(hands: Any, source: Any, plan: Any, branch: I64, pack: U64) -> None:
    """Deal one deal of a branch."""
    seats = len(hands)
    rest = pack
    for seat in range(seats):
        rest &= ~plan.known[branch, seat]
        hands[seat] = plan.known[branch, seat]
    direct = 0
    while direct < seats and plan.direct[branch, direct] >= 0:
        direct += 1
    state = plan.roots[branch]
    through_tables = ZERO
    if direct > 0:
        for g in range(plan.first_group[branch], plan.first_group[branch + 1]):
            move = _transition(source, plan.starts[state], plan.starts[state + 1], plan.high, plan.low)
            state = plan.follow[move]
            pool = plan.groups[g]
            packed = plan.counts[move]
            for i in range(direct):
                cards = _subset(source, pool, np.int64(packed & _FIFTEEN))
                packed >>= _FOUR
                pool ^= cards
                rest ^= cards
                hands[plan.direct[branch, i]] |= cards
        for i in range(direct):
            through_tables |= ONE << np.uint64(plan.direct[branch, i])
    for seat in range(seats):
        if (through_tables >> np.uint64(seat)) & ONE == ZERO:
            cards = random_split(source, rest, plan.sizes[branch, seat])
            hands[seat] |= cards
            rest ^= cards


@njit
def deal_constrained(hands: Any, source: Any, plan: Any, pack: U64, tries: I64) -> I64:
    """Deal one deal into ``hands`` (uint64[seats]); returns how many deals were tried, or -1 after ``tries``."""
    for attempt in range(tries):
        branch = _transition(source, 0, len(plan.roots), plan.branch_high, plan.branch_low)
        _deal_branch(hands, source, plan, branch, pack)
        first = True
        for other in range(branch):
            if first and _in_branch(plan, other, hands):
                first = False
        if first and (len(plan.program) == 0 or holds(plan.program, hands)):
            return np.int64(attempt + 1)
    return np.int64(-1)
