"""How a deal's play was told: who was behind, how often the lead changed, when the winner was settled.

The score after each trick is what both sides would have if play stopped there.  Of deals with a winner:

* *comeback*: the side that wins was behind after some trick.
* *drama* (Browne, *Automatic Generation and Evaluation of Recombination Games*, PhD thesis, QUT 2008; Browne and Maire,
  "Evolutionary Game Design", IEEE TCIAIG 2, 2010; the idea is Thompson's, "Defining the Abstract", 2000): over the tricks after
  which the winner is behind, the mean of the square root of how far, as a share of all points at stake; 0 where he never is.
  Browne takes an evaluation of the position; here it is the score.
* *lead changes* (the same source, as a number): how often another side is ahead than was before; level scores are passed over.
* *settled*: after how many tricks nothing that is still to come can change the winner (a bound by arithmetic: every card and trick
  left goes to the other side).  13: not before the last trick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simcore.cards import parse_card
from simcore.rules import Contract, Ruleset

__all__ = ["DRAMA_SCALE", "Story", "story_of"]

#: Drama is counted in whole millionths, so that sums are exact.
DRAMA_SCALE = 1_000_000
_TRICKS = 13


@dataclass(frozen=True)
class Story:
    """One deal's play: margins after each trick, seen from the side that won."""

    comeback: bool
    drama: int  # in units of 1 / DRAMA_SCALE
    changes: int
    settled: int

    @classmethod
    def of(cls, margins: Sequence[int], stake: int, settled: int) -> Story:
        """Tell a deal: ``margins`` of the winner after each trick, points ``stake`` in all."""
        behind = [-margin for margin in margins if margin < 0]
        drama = sum(math.sqrt(min(1.0, b / stake)) for b in behind) / len(behind) if behind else 0.0
        ahead = [margin > 0 for margin in margins if margin]
        changes = sum(a != b for a, b in pairwise(ahead))
        return cls(bool(behind), round(DRAMA_SCALE * drama), changes, settled)


def story_of(trace: dict[str, Any], ruleset: Ruleset) -> Story | None:
    """Return the story of a trace; None where nobody won."""
    if trace["game"] == "showcase":
        return _showcase(trace)
    if trace["status"] != "played" or trace["result"] == "draw":
        return None
    return _elections(trace, ruleset)


def _showcase(trace: dict[str, Any]) -> Story:
    winner, won, margins, settled = trace["winner"], 0, [], _TRICKS
    for number, trick in enumerate(trace["second"], 1):
        won += trick["winner"] == winner
        margins.append(2 * won - number)
        if won == _TRICKS // 2 + 1 and settled == _TRICKS:
            settled = number
    return Story.of(margins, _TRICKS, settled)


def _elections(trace: dict[str, Any], ruleset: Ruleset) -> Story:
    contract = ruleset.contract(trace["contract"])
    attackers = (trace["declarer"], trace["partner"])
    worth = {card: plus + minus for card, (plus, minus) in contract.card_signs.items()}
    # all that is still to come, counted whatever its sign
    rest = _TRICKS * abs(contract.trick) + sum(abs(points) for points in worth.values())
    stake = rest + abs(contract.most_tricks) or 1
    sign = 1 if trace["result"] == "win" else -1
    margin, lead, margins, settled = 0, 0, [], 0
    for number, trick in enumerate(trace["tricks"], 1):
        cards = [worth.get(parse_card(card), 0) for card in trick["cards"]]
        side = 1 if trick["winner"] in attackers else -1
        margin += side * (contract.trick + sum(cards))
        lead += side
        rest -= abs(contract.trick) + sum(map(abs, cards))
        margins.append(sign * (margin + contract.most_tricks * ((lead > 0) - (lead < 0))))
        if _open(contract, ruleset, sign, margin, rest, lead, _TRICKS - number):
            settled = number + 1
    return Story.of(margins, stake, max(1, min(settled, _TRICKS)))


def _open(contract: Contract, ruleset: Ruleset, sign: int, margin: int, rest: int, lead: int, left: int) -> bool:
    """Tell whether the side that won (``sign`` 1: the attackers) could still have failed to win."""
    if contract.two_signs and ruleset.choices["result"] == "both-signs":
        return left > 0  # plus and minus points are judged apart: not followed
    swings = {contract.most_tricks * s for s in (-1, 1) if s * lead + left > 0}
    worst = sign * margin - rest + min(sign * swing for swing in swings)
    # equal points: nobody wins, or the defenders do (E16)
    return worst < 0 or (worst == 0 and not (sign < 0 and ruleset.choices["tie"] == "loss"))
