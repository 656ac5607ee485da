"""Other programs that play or deal cards, each as a call that does a known amount of work.

All are optional (``pip install simcore[bench]``; ``dealer`` is Debian's package of that name); who is not there is left out.  Games
differ in length, so a peer says how many cards and how many deals a call plays.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.measure import child_cpu, cpu

__all__ = ["Peer", "peers"]


@dataclass(frozen=True)
class Peer:
    """A program to compare with."""

    name: str
    version: str
    what: str
    cards: float  # cards played in a call; 0 where cards are only dealt
    deals: float
    measure: Callable[[], float]  # returns the CPU seconds of a call


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _bridge_at_the_lead(pyspiel: Any, rng: random.Random) -> tuple[Any, Any]:
    """Deal a bridge hand at random and bid 1NT, passed out: the state before the first lead."""
    game = pyspiel.load_game("bridge(use_double_dummy_result=false)")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    for call in ("1NT", "Pass", "Pass", "Pass"):
        names = {state.action_to_string(state.current_player(), action): action for action in state.legal_actions()}
        state.apply_action(names[call])
    return game, state


def _spades_at_the_lead(pyspiel: Any, rng: random.Random) -> tuple[Any, Any]:
    game = pyspiel.load_game("spades")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    for _ in range(4):
        state.apply_action(state.legal_actions()[1])
    return game, state


def _open_spiel(quick: bool) -> list[Peer]:
    import pyspiel

    rng = random.Random(1)
    found = []
    rollouts = 2_000 if quick else 20_000
    loops = 20 if quick else 200
    for name, start in (("bridge", _bridge_at_the_lead), ("spades", _spades_at_the_lead)):
        game, state = start(pyspiel, rng)
        # one simulation of the tree search evaluates the position by that many random playouts, all in C++
        bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(rollouts, 1), 1.0, 1, 100, False, 1, False)

        def in_cpp(bot: Any = bot, state: Any = state) -> float:
            return cpu(lambda: bot.mcts_search(state))

        def in_python(start: Any = start) -> float:
            def play() -> None:
                for _ in range(loops):
                    _, state = start(pyspiel, rng)
                    while not state.is_terminal():
                        state.apply_action(rng.choice(state.legal_actions()))

            return cpu(play)

        release = _version("open-spiel")
        what = f"{name}: random playouts in C++ (RandomRolloutEvaluator), cards dealt already"
        found.append(Peer(f"OpenSpiel {name}, C++", release, what, 52 * rollouts, rollouts, in_cpp))
        what = f"{name}: Python loop over state.legal_actions, deal included"
        found.append(Peer(f"OpenSpiel {name}, Python", release, what, 52 * loops, loops, in_python))
    return found


def _colver(quick: bool) -> list[Peer]:
    import colver

    rollouts = 20_000 if quick else 200_000
    env = colver.Env.deal(dealer=0, seed=1)
    env.set_contract(0, 80, 0, 0)
    env.set_phase_playing()
    what = "belote: random playouts, compiled, 32 cards, dealt already"
    return [Peer("colver", _version("colver"), what, 32 * rollouts, rollouts, lambda: cpu(lambda: env.rollout(rollouts)))]


def _rlcard(quick: bool) -> list[Peer]:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("bridge", config={"seed": 1})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])
    loops = 3 if quick else 20
    what = "bridge: random agents in Python, random auction included"
    return [
        Peer("RLCard bridge", _version("rlcard"), what, 52 * loops, loops, lambda: cpu(lambda: [env.run() for _ in range(loops)]))
    ]


def _endplay(quick: bool) -> list[Peer]:
    from endplay.dealer import generate_deals

    deals = 500 if quick else 5_000
    what = "bridge deals, not played"
    return [Peer("endplay", _version("endplay"), what, 0, deals, lambda: cpu(lambda: list(generate_deals(produce=deals))))]


def _dealer(quick: bool) -> list[Peer]:
    path = shutil.which("dealer", path="/usr/games:/usr/bin:/usr/local/bin")
    if path is None:
        raise ImportError("dealer is not installed")
    deals = 200_000 if quick else 1_000_000
    script = f'generate {deals}\nproduce {deals}\ncondition 1\naction average "hcp" hcp(north)\n'
    what = "bridge deals, not played: all averaged"
    return [Peer("dealer", "Debian", what, 0, deals, lambda: child_cpu(path, "-s", "1", stdin=script))]


def peers(quick: bool) -> tuple[list[Peer], dict[str, str]]:
    """Return the peers found, and why the others are missing."""
    found: list[Peer] = []
    missing: dict[str, str] = {}
    for make in (_open_spiel, _colver, _rlcard, _endplay, _dealer):
        try:
            found += make(quick)
        except ImportError as error:
            missing[make.__name__.strip("_")] = str(error)
    return found, missing
