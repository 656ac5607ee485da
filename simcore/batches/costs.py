"""What each card of a played deal cost against perfect play, all hands seen.

Every position of the play is solved, the last first, since what is remembered of later positions serves the earlier ones.  A card's
cost is the value before it less the value after it, to the side that played it: points in Elections (every contract's sum is
fixed, so what one side loses the other gains), tricks in the second playout of Showcase.

A deal of Elections that is too hard is judged as far as its plies go: earlier positions are the harder ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simcore.cards import SEATS, parse_card, parse_hand
from simcore.rules import Ruleset
from simcore.solvers import MOST_PLIES, GaveUp, own_solver, two

__all__ = ["add_costs"]


def add_costs(
    trace: dict[str, Any], ruleset: Ruleset, *, from_trick: int = 1, max_plies: int | None = MOST_PLIES
) -> dict[str, Any]:
    """Return a trace that keeps the rules with ``cost`` in each trick, and ``double_dummy``, the value before the first card.

    Args:
        from_trick: the first trick to judge (in Showcase of the second playout): the earlier, the longer it takes.  From a later
            one than the first, tricks before it have no ``cost``, and the trace no ``double_dummy``.
        max_plies: of Elections, for all positions of the deal together; None: no limit.  Costs, and ``double_dummy``, that are
            not known when they are used up are None.
    """
    if trace["game"] == "showcase":
        return _showcase(trace, ruleset, from_trick)
    return _elections(trace, ruleset, from_trick, max_plies) if trace["tricks"] else trace


def _marked(tricks: list[dict[str, Any]], values: Sequence[int | None], signs: list[int]) -> list[dict[str, Any]]:
    """Return tricks with costs, out of the values before each card and at the end; ``signs``: 1 for cards of the side counted.

    Where there are fewer values than cards, they are the last cards'.  A cost next to an unknown value is None.
    """
    costs = [
        None if before is None or after is None else sign * (before - after)
        for before, after, sign in zip(values, values[1:], signs, strict=False)
    ]
    size = len(tricks[0]["cards"])
    before = len(tricks) - len(costs) // size
    marked = [trick | {"cost": costs[size * t : size * (t + 1)]} for t, trick in enumerate(tricks[before:])]
    return [*tricks[:before], *marked]


def _elections(trace: dict[str, Any], ruleset: Ruleset, from_trick: int, max_plies: int | None) -> dict[str, Any]:
    declarer, partner = SEATS.index(trace["declarer"]), SEATS.index(trace["partner"])
    attackers = (declarer, partner)
    contract = ruleset.contract(trace["contract"])
    hands = [0, 0, 0, 0]
    points: list[int | None] = [trace["side_points"]["attackers"]]  # what attackers end with, the last position first
    signs: list[int] = []
    solver = own_solver()
    solver.forget()
    begun = solver.nodes
    worth = {card: plus + minus for card, (plus, minus) in contract.card_signs.items()}
    gains = []  # of each trick: which side won it, 0 the attackers, and its points
    for trick in trace["tricks"]:
        side = int(SEATS.index(trick["winner"]) not in attackers)
        gains.append((side, contract.trick + sum(worth.get(parse_card(card), 0) for card in trick["cards"])))
    won = [sum(winner == side for winner, _ in gains) for side in (0, 1)]
    before = [sum(gain for winner, gain in gains if winner == side) for side in (0, 1)]
    judged = slice(from_trick - 1, None)
    for trick, (side, gain) in zip(reversed(trace["tricks"][judged]), reversed(gains[judged]), strict=True):
        leader = SEATS.index(trick["leader"])
        cards = [parse_card(card) for card in trick["cards"]]
        before[side] -= gain
        won[side] -= 1
        for place in (3, 2, 1, 0):
            seat = (leader + place) & 3
            hands[seat] |= 1 << cards[place]
            signs.insert(0, 1 if seat in attackers else -1)
            if points[0] is None:
                points.insert(0, None)
                continue
            left = None if max_plies is None else max_plies - (solver.nodes - begun)
            with solver.limited(left):
                try:
                    solution = solver.position(
                        hands,
                        contract,
                        pairing=declarer ^ partner,
                        declarer=declarer,
                        leader=leader,
                        table=cards[:place],
                        low_plain=ruleset.choices["low_trump"] == "plain",
                        tricks=(won[0], won[1]),
                        points=(before[0], before[1]),
                        keep=True,
                    )
                except GaveUp:
                    points.insert(0, None)
                else:
                    points.insert(0, solution.attackers)
    value = None if points[0] is None else {"attackers": points[0], "defenders": contract.total - points[0]}
    marked = trace | {"tricks": _marked(trace["tricks"], points, signs)}
    return marked | ({"double_dummy": value} if from_trick == 1 else {})


def _showcase(trace: dict[str, Any], ruleset: Ruleset, from_trick: int) -> dict[str, Any]:
    from simcore.showcase.trace import holdings

    hands = [parse_hand(held) for held in holdings(trace).values()]
    for trick in trace["second"]:
        start = "NS".index(trick["leader"])
        for place, card in enumerate(trick["cards"]):
            hands[(start + place) % 2] ^= 1 << parse_card(card)
    won = trace["points"]["N"]
    values = [won]  # what N ends with
    signs: list[int] = []
    for number, trick in enumerate(reversed(trace["second"][from_trick - 1 :]), 1):
        start = "NS".index(trick["leader"])
        won -= trick["winner"] == "N"
        for place in (1, 0):
            seat = (start + place) % 2
            hands[seat] |= 1 << parse_card(trick["cards"][place])
            signs.insert(0, 1 if seat == 0 else -1)
            table = trick["cards"][0] if place else None
            rest = two.value(hands[0], hands[1], trace["trump"], start, number, ruleset.choices["all_trump"], table=table)
            values.insert(0, won + rest)
    value = {"N": values[0], "S": 13 - values[0]}
    marked = trace | {"second": _marked(trace["second"], values, signs)}
    return marked | ({"double_dummy": value} if from_trick == 1 else {})
