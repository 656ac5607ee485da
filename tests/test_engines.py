"""Every ruleset × player replayed move by move through the naive engine; properties every game must satisfy."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.cards import SUIT_MASKS
from simcore.elections import engine as elections
from simcore.elections import policies as elections_policies
from simcore.elections import state as elections_state
from simcore.players import DECISIONS, EXTERNAL, PLAYERS_KNOWN
from simcore.pointers import ask_player
from simcore.rng import STREAM
from simcore.rules import CHOICES, SHIPPED, load_ruleset
from simcore.showcase import engine as showcase
from simcore.showcase import play as showcase_play
from simcore.showcase import policies as showcase_policies
from simcore.showcase import state as showcase_state
from simcore.specs import parse_player

ROOT = Path(__file__).parent.parent
ELECTIONS = [name for name in SHIPPED if load_ruleset(name).game == "elections"]
SHOWCASE = [name for name in SHIPPED if load_ruleset(name).game == "showcase"]
PLAYERS = [name for name, info in PLAYERS_KNOWN.items() if not info.factory]
#: Every player as a whole one, but ``oracle``, which sees all hands by design, in Elections.
BLIND = {
    game: [
        name if info.decisions[game] == decisions else f"greedy+{name}"
        for name, info in PLAYERS_KNOWN.items()
        if info.decisions[game] and name != "random" and (name, game) != ("oracle", "elections")
    ]
    for game, decisions in DECISIONS.items()
}


def _check(traces: list[dict], rules: dict | None = None) -> None:
    for trace in traces:
        problems = naive.check_trace(json.loads(json.dumps(trace)), rules)
        assert not problems, (problems, trace)


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("ruleset", SHIPPED)
def test_every_ruleset_and_player_through_the_naive_engine(ruleset: str, player: str) -> None:
    """2,000 deals each; in Elections 1,200 with the auction and 800 with forced contracts."""
    game = load_ruleset(ruleset).game
    if game == "elections":
        _check(simcore.replay(game, ruleset=ruleset, seed=101, deals=1200, players=player))
        _check(simcore.replay(game, ruleset=ruleset, seed=102, deals=800, players=player, contract="random"))
    else:
        _check(simcore.replay(game, ruleset=ruleset, seed=103, deals=2000, players=player))


@pytest.mark.parametrize("player", ["oracle", "random+exact"])
@pytest.mark.parametrize("ruleset", SHOWCASE)
def test_searching_players_through_the_naive_engine(ruleset: str, player: str) -> None:
    _check(simcore.replay("showcase", ruleset=ruleset, seed=104, deals=40, players=player))


def test_mixed_tables_through_the_naive_engine() -> None:
    for ruleset in ELECTIONS:
        _check(simcore.replay("elections", ruleset=ruleset, seed=7, deals=300, player={"N": "greedy", "W": "greedy"}))
    for ruleset in SHOWCASE:
        _check(simcore.replay("showcase", ruleset=ruleset, seed=7, deals=300, player={"S": "greedy"}))


def _variants(style: str) -> list[tuple[str, str]]:
    return [(key, value) for key, values in CHOICES[style].items() for value in values[1:]]


@pytest.mark.parametrize(("key", "value"), _variants("elections"))
@pytest.mark.parametrize("base", ["elections", "elections-joint"])
def test_every_choice_of_elections_through_the_naive_engine(base: str, key: str, value: str) -> None:
    rules = naive.variant(base, **{key: value})
    for players in PLAYERS:
        ruleset = load_ruleset(base).with_choices(**{key: value})
        _check(simcore.replay("elections", ruleset=ruleset, seed=5, deals=150, players=players), rules)


def test_random_combinations_of_choices_through_the_naive_engine() -> None:
    rng = random.Random(20)
    for _ in range(40):
        base = rng.choice(SHIPPED)
        style = load_ruleset(base).style
        choices: dict = {key: rng.choice(values) for key, values in CHOICES[style].items()}
        if style == "elections":
            choices["failure_bonus"] = rng.choice([0, 10, -3])
        ruleset = load_ruleset(base).with_choices(**choices)
        _check(simcore.replay(ruleset.game, ruleset=ruleset, seed=9, deals=60), naive.variant(base, **choices))


@pytest.mark.parametrize(("style", "base"), [("showcase", "showcase"), ("magri", "showcase-magri")])
def test_every_choice_of_showcase_through_the_naive_engine(style: str, base: str) -> None:
    for key, value in _variants(style):
        for players in PLAYERS:
            ruleset = load_ruleset(base).with_choices(**{key: value})
            traces = simcore.replay("showcase", ruleset=ruleset, seed=5, deals=150, players=players)
            _check(traces, naive.variant(base, **{key: value}))
            for trace in simcore.replay("showcase", ruleset=ruleset, seed=5, deals=5, trump="all"):
                assert not naive.check_trace(trace, naive.variant(base, **{key: value}))


def test_own_verifier_agrees_and_refuses_what_the_naive_engine_refuses() -> None:
    """Change one thing in a trace: whatever breaks the rules for the naive engine breaks them for ours."""
    from simcore.batches.replaying import verify

    rng = random.Random(3)
    refused = 0
    for game, ruleset in (
        ("elections", "elections"),
        ("elections", "variety"),
        ("showcase", "showcase"),
        ("showcase", "showcase-magri"),
    ):
        for trace in simcore.replay(game, ruleset=ruleset, seed=31, deals=60):
            verify(trace)
            for _ in range(6):
                broken = json.loads(json.dumps(trace))
                _break(broken, rng)
                bad = bool(naive.check_trace(broken))
                if bad:
                    refused += 1
                    with pytest.raises(simcore.SimcoreError, match=r"deal|trace|ruleset"):
                        verify(broken)
                else:
                    verify(broken)
    assert refused > 900


def _break(trace: dict, rng: random.Random) -> None:
    """Change one random leaf of a trace (not the index, the seed or the names)."""
    path: list = [key for key in trace if key not in ("deal", "seed", "game", "ruleset")]
    node: object = trace
    key: object = rng.choice(path)
    while isinstance(node[key], dict | list) and node[key]:  # type: ignore[index]
        node = node[key]  # type: ignore[index]
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
    old = node[key]  # type: ignore[index]
    others = {"str": ["N", "S", "SA", "H2", "pass", "clubs", "win", "loss", "hand"], "int": [0, 1, 13, -4], "bool": [not old]}
    choices = [value for value in others.get(type(old).__name__, ["N", 5]) if value != old]
    node[key] = rng.choice(choices)  # type: ignore[index]


def test_rubbish_traces_are_refused_without_a_traceback() -> None:
    from simcore.batches.replaying import verify

    rng = random.Random(8)
    rubbish = [None, 5, "x", [], {}, [[]], {"a": 1}, True, -1, 1e300, "SA", ["N", "S"]]
    for game in ("elections", "showcase"):
        good = simcore.replay(game, seed=1)[0]
        for key in good:
            for value in rubbish:
                broken = good | {key: value}
                if json.dumps(value) == json.dumps(good[key]) or (key == "deal" and value == 5):
                    continue
                with pytest.raises(simcore.SimcoreError):
                    verify(broken)
            missing = {k: v for k, v in good.items() if k != key}
            with pytest.raises(simcore.SimcoreError):
                verify(missing)
        for _ in range(300):
            broken = json.loads(json.dumps(good))
            node: object = broken
            for _ in range(rng.randint(1, 4)):
                keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
                if not keys:
                    break
                key = rng.choice(keys)
                if rng.random() < 0.3 or not isinstance(node[key], dict | list):
                    node[key] = rng.choice(rubbish)
                    break
                node = node[key]
            try:
                verify(broken)
            except simcore.SimcoreError:
                continue
            assert broken.keys() == good.keys()


# ---- no peeking -----------------------------------------------------------------------------------------------------------------


def _decision(spec: str, game: str, kind: int, rules: Any, table: Any, view: Any) -> int:
    """Ask a player as the engine does."""
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    player = parse_player(spec, game)
    if player.outside[kind] is not None:
        return int(ask_player(player.policies[kind], view.legal, view, rules, stream, table))
    policies = elections_policies if game == "elections" else showcase_policies
    return int(policies.decide(player.policies[kind], kind, view, rules, stream))


def _elections_positions(deal: int, player: int, ruleset: str, moves: int) -> tuple | None:
    """Play ``moves`` random decisions of a deal and stop at the next one with a choice."""
    rules = load_ruleset(ruleset).record[0]
    table, view = elections_state.new_table()[0], elections_state.new_view()[0]
    table.hands[:] = simcore.deal_hands(55, deal, 1)[0]
    elections.start_deal(table, view, deal % 4, 1 + deal % 3)
    table.policies[:] = EXTERNAL
    rng = random.Random(deal)
    streams = np.zeros(4, STREAM).view(np.recarray)
    for _ in range(moves):
        kind = elections.advance(rules, table, view, streams)
        if kind < 0:
            return None
        actions = [bit for bit in range(64) if int(view.legal) >> bit & 1]
        elections.apply(rules, table, view, kind, np.uint64(1 << rng.choice(actions)))
    kind = elections.advance(rules, table, view, streams)
    return None if kind < 0 else (rules, table, view, kind, rng)


@pytest.mark.parametrize("player", BLIND["elections"])
@given(deal=st.integers(0, 10**6), moves=st.integers(0, 50))
@settings(max_examples=120, deadline=None)
def test_elections_decisions_do_not_depend_on_unseen_cards(player: str, deal: int, moves: int) -> None:
    position = _elections_positions(deal, 0, random.Random(deal).choice(ELECTIONS), moves)
    if position is None:
        return
    rules, table, view, kind, rng = position
    before = _decision(player, "elections", kind, rules, table, view)
    seat = int(table.turn)
    others = [s for s in range(4) if s != seat]
    unseen = [bit for bit in range(64) if sum(int(table.hands[s]) for s in others) >> bit & 1]
    rng.shuffle(unseen)
    for s in others:  # deal the unseen cards anew, whatever the voids: a player that looks would notice
        count = int(table.hands[s]).bit_count()
        table.hands[s] = np.uint64(sum(1 << bit for bit in unseen[:count]))
        table.dealt[s] = table.hands[s]
        unseen = unseen[count:]
    assert elections.prepare(rules, table, view) == kind
    assert _decision(player, "elections", kind, rules, table, view) == before
    assert int(before) & int(view.legal)


@pytest.mark.parametrize("player", BLIND["showcase"])
@given(deal=st.integers(0, 10**6), moves=st.integers(0, 74), magri=st.booleans())
@settings(max_examples=120, deadline=None)
def test_showcase_decisions_do_not_depend_on_unseen_cards(player: str, deal: int, moves: int, magri: bool) -> None:
    rules = load_ruleset("showcase-magri" if magri else "showcase").record[0]
    table, view = showcase_state.new_table()[0], showcase_state.new_view()[0]
    hands, reserve, dealers = simcore.deal_showcase(55, deal, 1)
    table.hands[:], table.stock[:] = hands[0], reserve[0]
    showcase_play.start_deal(rules, table, view, int(dealers[0]))
    table.policies[:] = EXTERNAL
    rng = random.Random(deal)
    streams = np.zeros(2, STREAM).view(np.recarray)
    for _ in range(moves):
        kind = showcase.advance(rules, table, view, streams, showcase_state.DONE)
        if kind < 0:
            return
        actions = [bit for bit in range(64) if int(view.legal) >> bit & 1]
        showcase.apply(rules, table, view, kind, np.uint64(1 << rng.choice(actions)))
    kind = showcase.advance(rules, table, view, streams, showcase_state.DONE)
    if kind < 0:
        return
    before = _decision(player, "showcase", kind, rules, table, view)
    if kind == showcase_state.FIRST:
        other = 1 - int(table.turn)
        hidden = [bit for bit in range(64) if int(table.hands[other]) >> bit & 1]
        start = int(table.next)
        hidden += [int(card) for card in table.stock[start:]]
        rng.shuffle(hidden)
        count = int(table.hands[other]).bit_count()
        table.hands[other] = np.uint64(sum(1 << bit for bit in hidden[:count]))
        table.stock[start:] = hidden[count:]
    else:
        assert int(view.other) == int(table.hands[1 - int(table.turn)]), "by now the other holding can be worked out"
        table.hands[1 - int(table.turn)] = np.uint64(0)
    assert showcase.prepare(rules, table, view) == kind
    assert _decision(player, "showcase", kind, rules, table, view) == before


def test_views_hold_no_hidden_field() -> None:
    """What is hidden lives in TABLE; a view has the deciding seat's hand and no other."""
    hidden = {"hands", "dealt", "stock", "drawn", "next", "policies"}
    assert not hidden & set(elections_state.VIEW.names or ())
    assert not hidden & set(showcase_state.VIEW.names or ())


# ---- symmetries -----------------------------------------------------------------------------------------------------------------


def _play_elections(hands: list[int], dealer: int, pairing: int, contract: str | None, policy: int = 1) -> dict:
    from simcore.elections.trace import trace

    ruleset = load_ruleset("elections")
    rules = ruleset.record[0]
    table, view = elections_state.new_table()[0], elections_state.new_view()[0]
    table.hands[:] = hands
    table.policies[:] = policy
    elections.start_deal(table, view, dealer, pairing)
    if contract is not None:
        elections.force_contract(rules, table, view, ruleset.contract_ids.index(contract), dealer, pairing)
    assert elections.advance(rules, table, view, np.zeros(4, STREAM).view(np.recarray)) == -1
    return trace(ruleset, 0, 0, table, view)


@given(
    deal=st.integers(0, 10**6), turn=st.integers(1, 3), contract=st.sampled_from([None, *load_ruleset("elections").contract_ids])
)
@settings(max_examples=80, deadline=None)
def test_relabelling_the_seats_permutes_results_and_changes_nothing_else(deal: int, turn: int, contract: str | None) -> None:
    hands = [int(mask) for mask in simcore.deal_hands(1, deal, 1)[0]]
    turned = [hands[(seat - turn) % 4] for seat in range(4)]
    pairing = 1 + deal % 3
    # partners NE and SW become ES and WN when the table is turned by one seat
    turned_pairing = pairing if turn % 2 == 0 or pairing == 2 else 4 - pairing
    a = _play_elections(hands, deal % 4, pairing, contract)
    b = _play_elections(turned, (deal + turn) % 4, turned_pairing, contract)
    shift = {seat: "NESW"[("NESW".index(seat) + turn) % 4] for seat in "NESW"}

    def relabel(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {shift.get(k, k): relabel(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [relabel(v, key) for v in value]
        return shift.get(value, value) if isinstance(value, str) and len(value) == 1 else value

    wanted = relabel(a)
    for key in ("dealer", "calls", "declarer", "partner", "contract", "tricks", "tricks_won", "side_points", "credits", "result"):
        assert b[key] == wanted[key], key  # type: ignore[index]


def _swap_suits(mask: int, a: int, b: int) -> int:
    lane_a, lane_b = mask >> 16 * a & 0x1FFF, mask >> 16 * b & 0x1FFF
    return mask & ~int(SUIT_MASKS[a]) & ~int(SUIT_MASKS[b]) | lane_a << 16 * b | lane_b << 16 * a


def test_relabelling_suits_that_the_contract_does_not_tell_apart() -> None:
    """Double relabelling through the naive rules: winners do not depend on which of two like suits is which."""
    from simcore.tricks import trick_winner

    rng = random.Random(1)
    for _ in range(500):
        cards = rng.sample([16 * s + r for s in range(4) for r in range(13)], 4)
        trick = sum(1 << c for c in cards)
        led = cards[0] >> 4
        for low in (False, True):
            best = int(trick_winner(np.uint64(trick), SUIT_MASKS[led], SUIT_MASKS[0], low))
            if led == 0:
                continue
            swapped = _swap_suits(trick, 1, 2)
            led_swapped = {1: 2, 2: 1}.get(led, led)
            other = int(trick_winner(np.uint64(swapped), SUIT_MASKS[led_swapped], SUIT_MASKS[0], low))
            assert _swap_suits(best, 1, 2) == other


def test_cards_are_conserved_and_a_legal_play_always_exists() -> None:
    for trace in simcore.replay("elections", seed=77, deals=300):
        played = [card for trick in trace["tricks"] for card in trick["cards"]]
        if trace["status"] == "played":
            assert len(set(played)) == 52
            assert sum(trace["tricks_won"].values()) == 13


# ---- with and without JIT -------------------------------------------------------------------------------------------------------

_SCRIPT = """
import json, simcore
out = []
for game, rulesets in (("elections", ["elections", "variety"]), ("showcase", ["showcase", "showcase-magri"])):
    for ruleset in rulesets:
        for players in ("random", "greedy"):
            out.append(simcore.replay(game, ruleset=ruleset, seed=12, deals=6, players=players))
            table = simcore.simulate(game, ruleset=ruleset, seed=12, deals=6, players=players, hands=True, threads=1).table()
            out.append(table.to_pylist())
print(json.dumps(out))
"""


def _run(**env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", _SCRIPT],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_without_jit_without_bmi2_and_in_a_second_process_give_the_same() -> None:
    here = _run()
    assert _run(NUMBA_DISABLE_JIT="1") == here
    assert _run() == here, "a second process with a warm cache"


@pytest.mark.long
def test_portable_bit_selection_gives_the_same() -> None:
    assert _run(SIMCORE_PORTABLE="1") == _run()


_TYPES = """
import sys, types, simcore
for game in ("elections", "showcase"):
    for players in ("random", "greedy"):
        simcore.simulate(game, seed=1, deals=3, players=players, threads=1)
simcore.simulate("elections", seed=1, deals=3, contract="nt-most", players="expert", threads=1)
bad, seen = [], 0
for name, module in sorted(sys.modules.items()):
    if not name.startswith("simcore."):
        continue
    for attribute in dir(module):
        for overload in getattr(getattr(module, attribute), "overloads", {}).values():
            seen += 1
            variables = {v: str(t) for v, t in overload.type_annotation.typemap.items()}
            bad += [f"{name}.{attribute}: {v} is {t}" for v, t in variables.items() if "float" in t]
print(seen, bad)
assert seen >= 2 and not bad
"""


def test_no_uint64_became_a_float(tmp_path: Path) -> None:
    """numba makes float64 of uint64 next to int64: no variable of the kernels may have that type.  On a cold cache, which also
    shows that compiling from nothing works."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "SIMCORE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _TYPES], env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
