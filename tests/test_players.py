"""SPEC strings of players: what is read, and what is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.errors import BadInput
from simcore.players import DECISIONS, EXTERNAL, PLAYERS_KNOWN, RANDOM
from simcore.specs import parse_player

GAMES = pytest.mark.parametrize("game", DECISIONS)


KERNELS = [name for name, info in PLAYERS_KNOWN.items() if not info.factory]


@GAMES
@pytest.mark.parametrize("name", PLAYERS_KNOWN)
def test_players_know_the_decisions_they_say(game: str, name: str) -> None:
    info = PLAYERS_KNOWN[name]
    assert info.what
    assert set(info.decisions[game]) <= set(DECISIONS[game])
    if not info.decisions[game]:
        return
    player = parse_player(f"random+{name}", game)
    for kind, decision in enumerate(DECISIONS[game]):
        made = player.outside[kind]
        if decision not in info.decisions[game]:
            assert (player.policies[kind], made) == (RANDOM, None)
        elif made is None:
            assert player.policies[kind] == info.policy
        else:
            assert info.factory
            assert player.policies[kind] == made.address > EXTERNAL
            assert made.limit is None
    assert info.factory or player.outside == (None, None, None)


@GAMES
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_players_know_every_decision(game: str, name: str) -> None:
    assert parse_player(name, game).policies == (PLAYERS_KNOWN[name].policy,) * 3
    assert len({PLAYERS_KNOWN[name].policy for name in KERNELS}) == len(KERNELS)


@GAMES
def test_a_later_part_takes_over(game: str) -> None:
    for first in KERNELS:
        for second in KERNELS:
            assert parse_player(f"{first}+{second}", game).policies == parse_player(second, game).policies
            assert parse_player(f" {first} + {second} ", game).policies == parse_player(second, game).policies
    assert parse_player("oracle+greedy", game).outside == (None, None, None)


def test_a_part_is_no_player() -> None:
    with pytest.raises(BadInput, match=r"player 'exact' does not know the decisions \['first'\]"):
        parse_player("exact", "showcase")
    with pytest.raises(BadInput, match=r"player 'exact' in 'greedy\+exact' decides nothing in elections"):
        parse_player("greedy+exact", "elections")


@GAMES
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", ["player ''", "accepted: random, greedy"]),
        ("Random", ["player 'Random' in 'Random' is unknown", "accepted: random, greedy"]),
        ("random+", ["player '' in 'random+' is unknown"]),
        ("+random", ["player '' in '+random' is unknown"]),
        ("random++greedy", ["player '' in 'random++greedy'"]),
        ("random:x=1", ["option 'x' of player 'random' in 'random:x=1' is unknown", "accepted: none"]),
        ("greedy:worlds", ["option 'worlds' of player 'greedy'"]),
        ("random greedy", ["player 'random greedy'"]),
    ],
)
def test_unknown_names_and_options_are_refused(game: str, spec: str, words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        parse_player(spec, game)
    for word in words:
        assert word in str(caught.value)


@given(st.text(max_size=12) | st.text(alphabet="random+greedy:,= ", max_size=24), st.sampled_from(list(DECISIONS)))
def test_any_text_is_a_player_or_bad_input(spec: str, game: str) -> None:
    try:
        player = parse_player(spec, game)
    except BadInput:
        return
    assert all(isinstance(policy, int) for policy in player.policies)
