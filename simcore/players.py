"""The built-in players: names, policy numbers, options.

A built-in policy is a number that the kernels branch on (calling by global name keeps kernels cacheable).  All know
every decision of both games.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DECISIONS", "EXPERT", "EXTERNAL", "GREEDY", "PLAYERS_KNOWN", "RANDOM", "REFUSED", "SPECIALISED", "PlayerInfo"]

RANDOM, GREEDY, EXPERT = 0, 1, 2
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
    "expert": PlayerInfo(
        "expert",
        EXPERT,
        "counts cards and voids, weighs every trick and card by what the contract pays and by what is still to come; calls on the "
        "estimated points of its hand, listens to the others' calls; in Showcase weighs each trick of the first playout against "
        "what a counted trick costs in the race for naming, what the two cards are worth and who will lead, and names and plays by "
        "both holdings",
        dict(DECISIONS),
        {},
    ),
}
