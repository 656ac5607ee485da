"""Showcase as one seat sees it: read back from a trace with what it cannot know left out, and its choices valued."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from midgame import showcase_moments
from test_worlds import SHOWCASES, showcase_rules

from simcore.cards import format_card, format_hand
from simcore.errors import SimcoreError
from simcore.rules import TRUMPS
from simcore.searchers.one_seat import read_one_seat, value_choices
from simcore.showcase import state as two
from simcore.solvers import two as solver


def one_seat(ruleset: Any, table: Any, view: Any) -> dict[str, Any]:
    """Write what the deciding seat sees, in the words of a trace."""
    me = int(view.seat)
    first = []
    playout = int(view.playout) - 1
    done = [int(view.won[0] + view.won[1]), int(view.tricks_played) if playout else 0]
    for t in range(done[0] + (view.on_table if not playout else 0)):
        whole = t < done[0]
        trick: dict[str, Any] = {
            "leader": "NS"[view.leaders[0, t]],
            "cards": [format_card(int(card)) for card in view.history[0, 2 * t : 2 * t + (2 if whole else 1)]],
            "from": [("hand", "showcase")[view.source[2 * t + i]] for i in range(2 if whole else 1)],
        }
        if whole:
            drawn = format_card(int(table.drawn[t])) if view.winners[0, t] != me else "-"
            taken = None if view.taken[t] < 0 else format_card(int(view.taken[t]))
            trick |= {"winner": "NS"[view.winners[0, t]], "drawn": drawn, "taken": taken}
        first.append(trick)
    hands = {"NS"[me]: format_hand(table.dealt[me]), "NS"[1 - me]: "-"}
    turned = format_card(int(view.turned))
    data: dict[str, Any] = {
        "game": "showcase", "ruleset": ruleset.name, "dealer": "NS"[view.dealer], "hands": hands, "turned": turned, "first": first
    }  # fmt: skip
    if view.display >= 0:
        data["display"] = format_card(int(view.display))
    if playout:
        data["trump"] = TRUMPS[view.named]
        data["second"] = [
            {
                "leader": "NS"[view.leaders[1, t]],
                "cards": [format_card(int(card)) for card in view.history[1, 2 * t : 2 * t + (2 if t < done[1] else 1)]],
            }
            for t in range(done[1] + view.on_table)
        ]
    return data


#: What a view says of now; the rest is the past, or stale.
FIELDS = ("seat", "hand", "legal", "other", "dealer", "turned", "turned_to", "display", "reserve", "playout", "leader", "suit",
          "trump", "tricks_played", "on_table", "lead", "all_trump", "broken", "discards", "middle", "namer", "named",
          "second_leader")  # fmt: skip
ARRAYS = ("show", "owned", "won", "value", "count", "points")


@pytest.mark.parametrize("name", SHOWCASES)
def test_a_view_is_read_back_as_it_was(name: str) -> None:
    ruleset = showcase_rules(name)
    for seed in range(3):
        for kind, table, view, _ in showcase_moments(ruleset, seed):
            seen = read_one_seat(one_seat(ruleset, table, view), ruleset)
            assert (seen.seat, seen.kind) == ("NS"[view.seat], ("first", "trump", "second")[kind])
            for field in FIELDS:
                assert seen.view[field] == view[field], field
            for field in ARRAYS:
                assert (seen.view[field] == view[field]).all(), field
            cards = 2 * view.tricks_played + view.on_table
            assert (seen.view.history[int(view.playout) - 1, :cards] == view.history[int(view.playout) - 1, :cards]).all()


def some_views(name: str, kind: int, count: int) -> list[tuple[Any, dict[str, Any], Any]]:
    ruleset = showcase_rules(name)
    found = []
    for seed in range(count):
        moments = [(table.copy(), view.copy()) for k, table, view, _ in showcase_moments(ruleset, seed) if k == kind]
        table, view = moments[len(moments) // 2]
        found.append((ruleset, one_seat(ruleset, table, view), view))
    return found


def test_values_of_the_first_playout() -> None:
    for ruleset, data, view in some_views("showcase", two.FIRST, 2) + some_views("hand", two.FIRST, 2):
        seen = read_one_seat(data, ruleset)
        found = value_choices(seen, worlds=60, seed=3)
        assert [1 << choice.action for choice in found.choices] == [1 << b for b in range(64) if int(view.legal) >> b & 1]
        assert found.worlds == found.effective == 60
        assert all(choice.stderr is not None and 0 < choice.stderr < 2 and 0 <= choice.mean <= 13 for choice in found.choices)
        assert found == value_choices(read_one_seat(data, ruleset), worlds=60, seed="3")
        assert found != value_choices(seen, worlds=60, seed=4)
        exact = value_choices(seen, worlds=2, end="exact")
        assert {choice.action for choice in exact.choices} == {choice.action for choice in found.choices}


def test_values_from_the_naming_on_are_exact() -> None:
    for kind in (two.TRUMP, two.SECOND):
        for ruleset, data, view in some_views("last", kind, 2):
            seen = read_one_seat(data, ruleset)
            found = value_choices(seen)
            assert (found.method, found.choices[0].stderr) == ("exact", 0.0)
            hands = [int(view.hand), int(view.other)] if view.seat == 0 else [int(view.other), int(view.hand)]
            if kind == two.TRUMP:
                tricks = solver.all_trumps(hands[0], hands[1], int(view.second_leader))
                assert [choice.mean for choice in found.choices] == [int(n) if view.seat == 0 else 13 - int(n) for n in tricks]
            else:
                led = int(view.lead).bit_length() - 1 if view.on_table else None
                to_go = 13 - int(view.tricks_played)
                values = solver.card_values(hands[0], hands[1], int(view.named), int(view.leader), to_go, table=led)
                before = int(view.points[view.seat])
                assert {format_card(c.action): c.mean - before for c in found.choices} == {v.card: v.tricks for v in values}
            assert {c.mean for c in value_choices(seen, objective="win").choices} <= {0.0, 1.0}


def test_mistakes_are_named() -> None:
    _, data, _ = some_views("showcase", two.FIRST, 1)[0]

    def refused(change: Any, message: str) -> None:
        wrong = copy.deepcopy(data)
        change(wrong)
        with pytest.raises(SimcoreError, match=message):
            value_choices(read_one_seat(wrong), worlds=2)

    me = next(seat for seat, hand in data["hands"].items() if hand != "-")
    mine = next(t for t, trick in enumerate(data["first"]) if trick.get("winner", me) != me)
    refused(lambda d: d["hands"].update(N="-", S="-"), "accepted: the seat's own as dealt, and '-' for the other's")
    refused(lambda d: d["first"].pop(), "turn|leader")
    refused(lambda d: d["first"][mine].update(drawn="-"), f"what {me} drew is missing")
    refused(lambda d: d["first"][0].update(winner="W"), "trick 1: winner is 'W'")
    refused(lambda d: d["first"][0]["cards"].__setitem__(0, d["first"][1]["cards"][0]), "trick")
    refused(lambda d: d.update(turned="X9"), "key 'turned'")
    refused(lambda d: d.update(first=[7]), "trick 1: 7; accepted")
    refused(lambda d: d.update(game="elections"), "accepted: 'showcase'")
    with pytest.raises(SimcoreError, match="a trace is list"):
        read_one_seat([])
    with pytest.raises(SimcoreError, match="worlds '0'"):
        value_choices(read_one_seat(data), worlds=0)
