"""The searching players: values right, decisions a function of what the seat sees and of the seed, legal everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from midgame import elections_moments, showcase_moments
from oracles import run_python

import simcore
from simcore.bits import ONE
from simcore.cards import cards_of
from simcore.elections import engine
from simcore.elections.play import credits_of, result_of
from simcore.elections.state import PLAY, new_table, new_view
from simcore.errors import SimcoreError
from simcore.players import EXPERT
from simcore.rng import STREAM
from simcore.rules import load_ruleset
from simcore.sampling.four_worlds import WAYS, count_worlds, unseen_cards
from simcore.sampling.tree import thinned
from simcore.searchers.sampling import pimc, rollout
from simcore.searchers.valuing import distinct_cards
from simcore.searchers.worlds import elections_worlds, own_source, showcase_worlds
from simcore.showcase import engine as showcase
from simcore.showcase import state as two
from simcore.solvers import own_solver, solve_position
from simcore.solvers import two as solver
from simcore.specs import parse_player

RULESETS = ["elections", "elections-joint", "variety", "tricks"]


def value_of(game: str, kind: str, spec: str, view: Any, rules: Any, stream: Any) -> Any:
    decision = next(d for d in parse_player(spec, game).outside if d is not None and d.kind == kind)
    assert decision.value is not None
    return decision.value(view, rules, stream)


# ------------------------------------------------------------------ Elections


@pytest.mark.parametrize("name", RULESETS)
def test_exact_values_are_the_solvers(name: str) -> None:
    """The mean of a card is the mean of what the solver says of the sampled worlds, points so far and bonus included."""
    ruleset = load_ruleset(name)
    rules = ruleset.record[0]
    for seed in range(4):
        for _, _, view, streams in elections_moments(ruleset, seed):
            if view.tricks_played < 9:
                continue
            stream = streams[view.seat]
            found = value_of("elections", "play", "pimc:worlds=6,exact_from=10,plays=none", view, rules, stream)
            assert found.method == "exact"
            assert [choice.action for choice in found.choices] == cards_of(int(view.legal))
            worlds = elections_worlds(view, rules, own_source(stream, 1024 + 4 * int(view.tricks_played) + int(view.on_table)), 6)
            contract = ruleset.contracts[view.contract]
            attacks = bool(int(view.attackers) >> int(view.seat) & 1)
            attackers = [s for s in range(4) if int(view.attackers) >> s & 1]
            tricks = [sum(int(view.tricks[s]) for s in range(4) if (s in attackers) == side) for side in (True, False)]
            points = [0, 0]
            for seat in range(4):
                gained = contract.trick * int(view.tricks[seat])
                gained += sum(sum(contract.card_signs.get(card, (0, 0))) for card in cards_of(int(view.taken[seat])))
                points[seat not in attackers] += gained
            means = dict.fromkeys(cards_of(int(view.legal)), 0.0)
            for hands in worlds.hands:
                solution = solve_position(
                    hands,
                    contract,
                    pairing=int(view.pairing),
                    declarer=int(view.declarer),
                    leader=int(view.leader),
                    table=[int(card).bit_length() - 1 for card in view.trick_cards[: view.on_table]],
                    low_plain=bool(rules.low_trump),
                    tricks=(tricks[0], tricks[1]),
                    points=(points[0], points[1]),
                    cards=True,
                )
                for card, margin in solution.cards.items():
                    loss = margin < 0 or (margin == 0 and rules.tie == 0)  # E16
                    means[card] += ((margin if attacks else -margin) + (-1 if attacks else 1) * ruleset.failure_bonus * loss) / 6
            for choice in found.choices:
                assert choice.mean == pytest.approx(means[choice.action]), (contract.id, choice)
            assert found.best == max(means, key=lambda card: round(means[card], 6))


@pytest.mark.parametrize("name", RULESETS)
def test_rollouts_are_what_the_players_would_do(name: str) -> None:
    """Each action's mean is that of the deals played on from it, asked decision by decision; from the auction on too."""
    ruleset = load_ruleset(name)
    rules = ruleset.record[0]
    kinds = ("call", "contract", "play")
    for seed in range(3):
        moments = elections_moments(ruleset, seed, auction=True)
        for kind, _, view, streams in [m for n, m in enumerate(snapshots(moments)) if n % 9 == seed]:
            stream = streams[view.seat]
            found = value_of("elections", kinds[kind], "rollout:worlds=3,calls=none,plays=none", view, rules, stream)
            moment = 1024 + 4 * int(view.tricks_played) + int(view.on_table) if kind == PLAY else int(view.calls_made) + 512 * kind
            worlds = elections_worlds(view, rules, own_source(stream, moment), 3)
            for choice in found.choices:
                relative = [finish(rules, view, hands, kind, choice.action) for hands in worlds.hands]
                expected = sum(relative) / 3 / (3 if kind == 0 else 2)
                if kind != PLAY:  # equal cards share the value of the lowest
                    assert choice.mean == pytest.approx(expected)
                elif choice.action == found.best:
                    assert choice.mean == pytest.approx(expected)
                    assert choice.behind == 0


def snapshots(moments: Any) -> Any:
    for kind, table, view, streams in moments:
        yield kind, table.copy(), view.copy(), streams


def finish(rules: Any, seen: Any, hands: Any, kind: int, action: int) -> int:
    table, views = new_table()[0], new_view()
    views[0] = seen
    view = views[0]
    table.hands[:] = hands
    table.dealt[:] = hands | seen.played
    table.phase, table.turn = kind, seen.seat
    table.policies[:] = EXPERT
    engine.apply(rules, table, view, kind, ONE << np.uint64(action))
    assert engine.advance(rules, table, view, np.zeros(4, STREAM).view(np.recarray)) == -1
    if table.status:
        return 0
    score = result_of(rules, view)
    credits = [credits_of(rules, view, seat, *score) for seat in range(4)]
    return 4 * credits[seen.seat] - sum(credits)


def test_choices_of_standing_are_told() -> None:
    ruleset = load_ruleset("elections")
    for kind, _, view, streams in elections_moments(ruleset, 5):
        found = value_of(
            "elections", "play", "rollout:worlds=30,objective=win,plays=none", view, ruleset.record[0], streams[view.seat]
        )
        assert found.unit == "chance to win"
        assert found.effective == found.worlds == 30
        best = next(choice for choice in found.choices if choice.action == found.best)
        assert best.behind == 0 == best.behind_stderr
        assert all(0 <= choice.mean <= 1 and choice.mean <= best.mean and choice.behind >= 0 for choice in found.choices)
        if kind == PLAY and view.tricks_played == 4:
            break


@pytest.mark.parametrize(
    "spec", ["pimc:worlds=4,rollouts=4,exact_from=9", "rollout:worlds=4", "rollout:worlds=2,player=random", "ismcts:iterations=30"]
)
@pytest.mark.parametrize("game", ["elections", "showcase"])
def test_same_seed_same_rows_whatever_the_threads(game: str, spec: str) -> None:
    options: dict[str, Any] = {"seed": 5, "deals": 4, "players": "expert", "player": {"N": spec}}
    tables = [simcore.simulate(game, threads=threads, **options).table() for threads in (1, 3)]
    assert tables[0].equals(tables[1])
    trace = simcore.replay(game, first=3, seed=5, players="expert", player={"N": spec})[0]
    row = tables[0].slice(3, 1).to_pylist()[0]
    if game == "elections":
        assert [row[f"credit_{seat.lower()}"] for seat in "NESW"] == list(trace["credits"].values())
    else:
        assert [row["points_n"], row["points_s"]] == list(trace["points"].values())


@pytest.mark.parametrize("name", [*RULESETS, "showcase", "showcase-magri"])
def test_they_play_every_ruleset(name: str) -> None:
    """Whole deals in every contract; an illegal card would end the run."""
    game = load_ruleset(name).game
    every = {"contract": "all"} if game == "elections" else {}
    for spec in (
        "pimc:worlds=2,rollouts=3,exact_from=8",
        "rollout:worlds=3,plays=none",
        "rollout:worlds=2,objective=win,plays=none",
        "ismcts:iterations=9,player=greedy,plays=none",
    ):
        options: dict[str, Any] = {"ruleset": name, "seed": 8, "players": spec}
        table = simcore.simulate(game, deals=1, **every, **options).table()
        assert table.num_rows == max(len(load_ruleset(name).contracts), 1)
    if game == "elections":
        simcore.simulate(game, deals=4, ruleset=name, seed=3, player={"N": "rollout:worlds=3", "E": "pimc:worlds=2,rollouts=2"})


def test_hidden_cards_change_no_decision() -> None:
    """The opening lead against three dealings of the other 39 cards, and Showcase's first card against other hands."""
    rng = np.random.default_rng(1)
    for spec in ("pimc:worlds=5,rollouts=10", "pimc:worlds=3,exact_from=10", "rollout:worlds=10", "ismcts:iterations=60"):
        leads = set()
        for _ in range(3):
            known = "N:- AK54.QT3.J9.8765 - -"
            trace = simcore.replay(
                "elections", seed=3, known=known, where=f"N.spades >= {rng.integers(0, 2)}", contract="nt-fewest", declarer="N",
                pairs="NS", players="expert", player={"E": spec},
            )[0]  # fmt: skip
            leads.add(trace["tricks"][0]["cards"][0])
        assert len(leads) == 1
    ruleset = load_ruleset("showcase")
    for number, (kind, table, view, streams) in enumerate(showcase_moments(ruleset, 4)):
        if kind != two.FIRST or number > 12:
            break
        before = value_of("showcase", "first", "rollout:worlds=4", view, ruleset.record[0], streams[view.seat])
        hidden = cards_of(int(table.hands[1 - view.seat])) + [int(card) for card in table.stock[table.next :]]
        rng.shuffle(hidden)
        size = int(table.hands[1 - view.seat]).bit_count()
        table.hands[1 - view.seat] = sum(1 << card for card in hidden[:size])
        table.stock[table.next :] = hidden[size:]
        assert value_of("showcase", "first", "rollout:worlds=4", view, ruleset.record[0], streams[view.seat]) == before
        break  # the deal goes on with other cards than the sampler may think: one look is enough


# ------------------------------------------------------------------ Showcase


def test_rollouts_of_showcase_end_as_asked() -> None:
    """A card's mean late in the first playout: the worlds played on to the naming by the engine, then solved, or played out."""
    ruleset = load_ruleset("showcase")
    rules = ruleset.record[0]
    checked = 0
    for seed in range(4):
        for kind, _, view, streams in snapshots(showcase_moments(ruleset, seed)):
            if kind != two.FIRST or view.reserve > 3 or checked > 5:
                continue
            checked += 1
            for end in ("exact", "expert"):
                found = value_of("showcase", "first", f"rollout:worlds=2,end={end}", view, rules, streams[view.seat])
                assert found.unit == "tricks of the second playout"
                worlds = showcase_worlds(
                    view, rules, own_source(streams[view.seat], 2 * int(view.tricks_played) + int(view.on_table)), 2
                )
                best = next(choice for choice in found.choices if choice.action == found.best)
                expected = [played_on(rules, view, worlds, w, best.action, end) for w in range(2)]
                assert best.mean == sum(expected) / 2
    assert checked > 5


def played_on(rules: Any, seen: Any, worlds: Any, number: int, card: int, end: str) -> int:
    table, views = two.new_table()[0], two.new_view()
    views[0] = seen
    view, me = views[0], int(seen.seat)
    table.hands[:] = worlds.hands[number]
    table.stock[:] = worlds.stocks[number]
    table.next = 1 + seen.tricks_played
    table.phase, table.turn = two.PLAYOUT_1, me
    table.policies[:] = EXPERT
    streams = np.zeros(2, STREAM).view(np.recarray)
    showcase.apply(rules, table, view, two.FIRST, ONE << np.uint64(card))
    assert showcase.advance(rules, table, view, streams, two.NAMING if end == "exact" else two.DONE) == -1
    if end == "expert":
        return int(view.points[me])
    tricks = [int(n) for n in solver.all_trumps(int(table.hands[0]), int(table.hands[1]), int(view.second_leader))]
    best = max(tricks) if view.namer == 0 else min(tricks)
    return best if me == 0 else 13 - best


def test_trump_and_second_playout_are_exact() -> None:
    options: dict[str, Any] = {"seed": 2, "deals": 4, "players": "expert"}
    exact = simcore.simulate("showcase", player={"S": "expert+exact"}, **options).table()
    assert simcore.simulate("showcase", player={"S": "pimc"}, **options).table().equals(exact)


# ------------------------------------------------------------------ ismcts


def test_a_tree_finds_the_best_card_where_nothing_is_hidden() -> None:
    """Endings that only one deal fits: the tree ends at a card that is best with perfect play, and says about what it brings."""
    rules = load_ruleset("elections")
    checked = 0
    for seed in range(120):
        for _, _, view, streams in elections_moments(rules, seed):
            if view.tricks_played < 10 or count_worlds(view, np.zeros(WAYS)) != 1:
                continue
            exact = value_of("elections", "play", "pimc:worlds=1,exact_from=1", view, rules.record[0], streams[view.seat])
            tree = value_of("elections", "play", "ismcts:iterations=4000", view, rules.record[0], streams[view.seat])
            means = {choice.action: choice.mean for choice in exact.choices}
            assert means[tree.best] == max(means.values()), (seed, exact, tree)
            best = next(choice for choice in tree.choices if choice.action == tree.best)
            assert best.mean == pytest.approx(means[tree.best], abs=1.5)
            assert sum({c.action: c.visits or 0 for c in tree.choices if c.action in _apart(view, rules)}.values()) == 4000
            checked += 1
        if checked >= 8:
            break
    assert checked >= 8


def _apart(view: Any, rules: Any) -> set[int]:
    others = int(unseen_cards(view)) | int(view.trick)
    return set(distinct_cards(int(view.legal), others, rules.record[0].card_points[view.contract]).values())


def test_equal_cards_are_found_by_kernel_and_python_alike() -> None:
    for seed in range(10):
        for name in ("elections", "variety"):
            rules = load_ruleset(name)
            for _, _, view, _ in elections_moments(rules, seed):
                others = np.uint64(int(unseen_cards(view)) | int(view.trick))
                kept = int(thinned(view.legal, others, rules.record[0].card_points[view.contract]))
                assert set(cards_of(kept)) == _apart(view, rules)


def test_a_world_that_is_too_hard_counts_with_the_middle_of_what_it_can_be() -> None:
    """With fewer plies than a card takes, a value inside what can still be had; with enough, the solver's."""
    ruleset = load_ruleset("tricks")  # a point a trick
    seen = set()
    for kind, _, view, streams in elections_moments(ruleset, 2):
        if kind != PLAY or view.tricks_played < 4 or int(view.legal).bit_count() < 2:
            continue
        low, free, high = (
            value_of("elections", "play", f"pimc:worlds=4,exact_from=1{more}", view, ruleset.record[0], streams[view.seat])
            for more in (",max_plies=1", "", ",max_plies=99999999999")
        )
        assert free == high
        own = int(view.tricks[view.seat]) + int(view.tricks[int(view.seat) ^ int(view.pairing)])
        ahead, left = 2 * own - int(view.tricks_played), 13 - int(view.tricks_played)
        assert all(abs(choice.mean - ahead) <= left for choice in low.choices)
        seen.add(low.choices == free.choices)
    assert seen == {True, False}


def test_a_limit_that_is_reached_does_not_depend_on_what_was_solved_before() -> None:
    """Whatever the threads, and alone as in the middle of a run."""
    spec = "pimc:worlds=4,exact_from=4,max_plies=1000,rollouts=2,plays=none"
    asked: dict[str, Any] = {"seed": 9, "players": spec}
    rows = [simcore.simulate("elections", deals=16, threads=threads, **asked).table().to_pylist() for threads in (1, 2)]
    assert rows[0] == rows[1]
    for n in (5, 6, 7, 8, 14):
        (trace,) = simcore.replay("elections", first=n, **asked)
        if trace["tricks"]:
            assert trace["side_points"]["attackers"] == rows[0][n]["points_attackers"]


def test_kernels_without_jit_give_the_same() -> None:
    code = """
import sys; sys.path.insert(0, "tests")
from midgame import elections_moments, showcase_moments
from simcore.rules import load_ruleset
from simcore.specs import parse_player
def told(game, ruleset, moments, spec, skip):
    kind, _, view, streams = [next(moments) for _ in range(skip)][-1]
    value = parse_player(spec, game).outside[kind].value(view, ruleset.record[0], streams[view.seat])
    print(value.best, [(c.action, round(c.mean, 9), c.visits) for c in value.choices])
rules = load_ruleset("elections")
for spec in ("rollout:worlds=2", "ismcts:iterations=12", "pimc:worlds=1,exact_from=1"):
    told("elections", rules, elections_moments(rules, 4), spec, 28)
rules = load_ruleset("showcase")
for spec in ("rollout:worlds=1", "ismcts:iterations=8"):
    told("showcase", rules, showcase_moments(rules, 4), spec, 3)
"""
    compiled = run_python(code)
    assert len(compiled.splitlines()) == 5
    assert run_python(code, env={"NUMBA_DISABLE_JIT": "1"}) == compiled


# ------------------------------------------------------------------ SPECs, manifest, timings


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", "worlds '0' of player 'pimc' is not accepted; accepted: a whole number, 1 to 100000"),
        ("pimc:worlds=٣", "worlds '٣' of player 'pimc' is not accepted"),
        ("pimc:exact_from=15", "exact_from '15' of player 'pimc' is not accepted; accepted: a whole number, 1 to 14"),
        ("pimc:max_plies=none", "max_plies 'none' of player 'pimc' is not accepted; accepted: a whole number, 1 to 99999999999"),
        ("rollout:player=oracle", "player 'oracle' of player 'rollout' is not accepted; accepted: expert, greedy, random"),
        ("rollout:objective=tricks", "objective 'tricks' of player 'rollout' is not accepted; accepted: points, win"),
        ("rollout:time=nan", "time 'nan' of player 'rollout' is not accepted; accepted: a number, 0.001 to 86400"),
        ("ismcts:explore=-1", "explore '-1' of player 'ismcts' is not accepted; accepted: a number, 0 to 100"),
        ("pimc:plays=random", "plays 'random' of player 'pimc' is not accepted; accepted: expert, greedy, none"),
        ("ismcts:worlds=3", "option 'worlds' of player 'ismcts' in 'ismcts:worlds=3' is unknown; accepted: iterations, explore"),
        ("rollout:depth=3", "option 'depth' of player 'rollout' in 'rollout:depth=3' is unknown; accepted: worlds"),
        ("rollout:decides=calls", "does not know the decisions"),
    ],
)
def test_options_are_checked(spec: str, message: str) -> None:
    with pytest.raises(SimcoreError) as error:
        parse_player(spec, "elections")
    assert message in str(error.value)


def test_parts_decide_what_they_know() -> None:
    both = parse_player("pimc+rollout:decides=calls", "elections")
    assert [decision.player if decision else "" for decision in both.outside] == ["rollout", "rollout", "pimc"]
    cards = parse_player("greedy+rollout:decides=cards", "elections")
    assert [decision.player if decision else "" for decision in cards.outside] == ["", "", "rollout"]
    assert cards.policies[:2] == (1, 1)


def test_a_time_limit_is_noted_and_timings_stand_apart(tmp_path: Path) -> None:
    for name, spec, reproducible in (("a", "pimc:worlds=2,rollouts=2", True), ("b", "pimc:time=0.002", False)):
        simcore.simulate(
            "elections", deals=2, seed=1, contract="clubs-tricks", players="greedy", player={"N": spec}, out=tmp_path / name
        )
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        assert manifest["config"]["reproducible"] is reproducible
        (row,) = json.loads((tmp_path / name / "timings.json").read_text())
        assert (row["seat"], row["player"], row["decision"]) == ("N", spec, "play")
        assert row["count"] > 10
        assert row["seconds"] > 0
    assert pimc("elections", {"time": "1"})["play"].clocked
    assert not rollout("elections", {})["call"].clocked
    assert own_solver().lend()[0] is own_solver().lend()[0]
