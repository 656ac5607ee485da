"""The built-in players: names, policy numbers, options.

A built-in policy is a number that the kernels branch on (calling by global name keeps kernels cacheable).  ``random`` and
``greedy`` know every decision of both games.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DECISIONS", "EXTERNAL", "GREEDY", "PLAYERS_KNOWN", "RANDOM", "REFUSED", "SPECIALISED", "PlayerInfo"]

RANDOM, GREEDY = 0, 1
#: The caller of the engine decides.
EXTERNAL = 99
#: From here on: functions compiled into a copy of the kernels.  Numbers far above are addresses of functions (pointers.py).
SPECIALISED = 100
#: What an engine returns when a player's action was not legal.
REFUSED = -2

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
