"""The built-in players: names, policy numbers, options.

A built-in policy is a number that the kernels branch on (calling by global name keeps kernels cacheable).  Players that search are
made by a function, called from the kernels by pointer; what it does not decide, the policy number does.
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
    policy: int | None  # None: its factory decides all it knows
    what: str
    decisions: dict[str, tuple[str, ...]]
    options: dict[str, str]
    factory: str = ""  # "module:function" of (game, options), returns Decisions by kind


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
    "oracle": PlayerInfo(
        "oracle",
        EXPERT,
        "sees all hands: the ceiling to compare with.  Elections: plays every card double dummy for its own side's points, and "
        "names the contract of a type likewise; calls like expert.  Showcase: names the best trump and plays the second playout "
        "perfectly; the first playout like expert, without looking at hidden cards",
        dict(DECISIONS),
        {"max_plies": "plies after which a value is given up, and the deal with an error; 4000000000"},
        "simcore.searchers.perfect:oracle",
    ),
    "exact": PlayerInfo(
        "exact",
        None,
        "a part, as in expert+exact: names the trump of Showcase at which it takes most tricks with perfect play, and plays the "
        "second playout perfectly; it sees no hidden card, for by then each player knows them all",
        {"elections": (), "showcase": ("trump", "second")},
        {},
        "simcore.searchers.perfect:exact",
    ),
}
