"""Players by name: SPEC strings, policy numbers, options.

    SPEC = NAME[:key=value,…][+NAME…]        a later part takes over the decisions it knows

A built-in policy is a number that the kernels branch on (calling by global name keeps kernels cacheable).  ``random`` and
``greedy`` know every decision of both games.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.errors import BadInput

__all__ = ["DECISIONS", "EXTERNAL", "GREEDY", "PLAYERS_KNOWN", "RANDOM", "Player", "PlayerInfo", "parse_player"]

RANDOM, GREEDY, EXTERNAL = 0, 1, 99

#: The kinds of decision of each game, in the order of the kernels' numbers.
DECISIONS = {"elections": ("call", "contract", "play"), "showcase": ("first", "trump", "second")}


@dataclass(frozen=True)
class PlayerInfo:
    """A built-in player: what ``simcore players`` shows."""

    name: str
    policy: int
    what: str
    decisions: dict[str, tuple[str, ...]]
    options: dict[str, str]


PLAYERS_KNOWN = {
    "random": PlayerInfo(
        "random", RANDOM, "uniform over legal actions, from a random stream of the seat's own", dict(DECISIONS), {}
    ),
    "greedy": PlayerInfo(
        "greedy",
        GREEDY,
        "looks at the trick on the table only: takes it as cheaply as possible when it is worth points, else gets rid of the "
        "worst card; calls the type whose contract its own cards score best in; names its longest suit",
        dict(DECISIONS),
        {},
    ),
}


@dataclass(frozen=True)
class Player:
    """A seat's player: its SPEC, and the policy number for each kind of decision."""

    spec: str
    policies: tuple[int, int, int]


def parse_player(spec: str, game: str) -> Player:
    """Read a SPEC for a game.

    Raises:
        BadInput: unknown name or option, or some decision that no part knows.
    """
    policies: list[int | None] = [None, None, None]
    for part in spec.split("+"):
        name, _, options = part.strip().partition(":")
        info = PLAYERS_KNOWN.get(name)
        if info is None:
            raise BadInput(f"player {name!r} in {spec!r} is unknown; accepted: {', '.join(PLAYERS_KNOWN)}")
        for option in filter(None, options.split(",")):
            key = option.partition("=")[0]
            if key not in info.options:
                known = ", ".join(info.options) or "none"
                raise BadInput(f"option {key!r} of player {name!r} in {spec!r} is unknown; accepted: {known}")
        for kind, decision in enumerate(DECISIONS[game]):
            if decision in info.decisions[game]:
                policies[kind] = info.policy
    first, second, third = policies
    if first is None or second is None or third is None:
        missing = [decision for decision, policy in zip(DECISIONS[game], policies, strict=True) if policy is None]
        raise BadInput(
            f"player {spec!r} does not know the decisions {missing}; put a whole player before it, as in 'random+{spec}'"
        )
    return Player(spec, (first, second, third))
