"""The players that search, and all built-in ones by name: what ``simcore players`` shows of them, without importing them."""

from __future__ import annotations

from types import MappingProxyType

from simcore.players import DECISIONS, EXPERT, PLAYERS_KNOWN, PlayerInfo

__all__ = ["known_players"]

_COMMON = {
    "player": "who plays worlds out: expert, greedy, random; expert",
    "calls": "who the calls heard are judged by: expert, greedy, none; expert",
    "plays": "Elections: who the cards played are judged by: expert, greedy, none; expert",
    "objective": "points, or win: the chance to win the deal; points",
    "time": "seconds a decision, in place of a number: the run is then not reproducible",
}

_SEARCHING = MappingProxyType(
    {
        "rollout": PlayerInfo(
            "rollout",
            None,
            "samples worlds that its seat could be in, plays each out with a built-in player after every choice, and takes the "
            "best mean: calls, contract and cards of Elections, and Showcase's first playout; names the trump and plays the second "
            "playout like exact",
            dict(DECISIONS),
            {
                "worlds": "how many a decision, 100",
                "decides": "calls (and contract, trump), cards, or all; all",
                "end": "Showcase: rollouts end in a second playout by expert or exact; expert",
            }
            | _COMMON,
            "simcore.searchers.sampling:rollout",
        ),
        "pimc": PlayerInfo(
            "pimc",
            EXPERT,
            "perfect information Monte Carlo.  Elections: samples worlds that its seat could be in, solves each exactly from a "
            "trick on and plays it out before, and plays the card with the best mean; calls like expert.  Showcase: names the "
            "trump and plays the second playout like exact, the first like expert",
            dict(DECISIONS),
            {
                "worlds": "worlds solved for a card, 20",
                "exact_from": "first trick whose worlds are solved, 1 to 14; 6",
                "rollouts": "worlds played out for a card before that, 100",
                "max_plies": "plies after which the middle of what a card can be worth in a world is taken; 100000000",
            }
            | _COMMON,
            "simcore.searchers.sampling:pimc",
        ),
        "ismcts": PlayerInfo(
            "ismcts",
            None,
            "information set Monte Carlo tree search, single observer (Cowling, Powley, Whitehouse 2012): grows one tree over "
            "worlds that its seat could be in, and takes the action tried most: calls, contract and cards of Elections, and "
            "Showcase's first playout; names the trump and plays the second playout like exact",
            dict(DECISIONS),
            {"iterations": "of the tree, a decision, 1000", "explore": "how much what is little tried is sought, 0.7"} | _COMMON,
            "simcore.searchers.tree:ismcts",
        ),
    }
)


def known_players() -> dict[str, PlayerInfo]:
    """Return every built-in player by name."""
    return PLAYERS_KNOWN | _SEARCHING
