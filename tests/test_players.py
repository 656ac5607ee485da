"""SPEC strings of players: what is read, and what is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.errors import BadInput
from simcore.players import DECISIONS, PLAYERS_KNOWN
from simcore.specs import parse_player


def whole_players(game: str) -> list[str]:
    """Players who need no other to take a seat in a game."""
    return [name for name, info in PLAYERS_KNOWN.items() if info.decisions[game]]


GAMES = pytest.mark.parametrize("game", DECISIONS)


@pytest.mark.parametrize(("game", "name"), [(game, name) for game in DECISIONS for name in whole_players(game)])
def test_every_player_knows_every_decision(game: str, name: str) -> None:
    player = parse_player(name, game)
    assert player.spec == name
    assert player.policies == (PLAYERS_KNOWN[name].policy,) * 3
    assert len({info.policy for info in PLAYERS_KNOWN.values()}) == len(PLAYERS_KNOWN)
    assert PLAYERS_KNOWN[name].what


@GAMES
def test_a_later_part_takes_over(game: str) -> None:
    for first in whole_players(game):
        for second in whole_players(game):
            assert parse_player(f"{first}+{second}", game).policies == parse_player(second, game).policies
            assert parse_player(f" {first} + {second} ", game).policies == parse_player(second, game).policies


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
