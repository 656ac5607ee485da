"""Worlds for one hand: deals that its seat cannot tell from the real one, and what each of its choices comes to in them.

*Candidate* number i of a seed deals the other three hands uniformly, and draws what the asker left open: dealer, lots, partner.
It is a *world* if the other seats' players, asked for their calls in it, make exactly the calls heard (own calls are taken as they
were made).  So worlds are drawn by rejection: independent, each with the probability the player model gives it.  Where no deal
fits, the asker may allow some *slips*: calls heard that the model's player would not have made there.  Every choice is played in
the same worlds with the same random streams, so that differences between choices are paired.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, popcount
from simcore.deals.shuffle import random_split
from simcore.elections.engine import advance, apply, force_contract, start_deal
from simcore.elections.play import LOSS, WIN, credits_of, result_of
from simcore.elections.state import AUCTION, CALL, CONTRACT, MAX_CALLS, NAMING, PLAYED
from simcore.players import EXTERNAL, REFUSED
from simcore.rng import WORLDS, below, open_source, open_streams

__all__ = ["ASKED", "BY_LOT", "RESULTS", "deal_world", "run_worlds", "score_world"]

BY_LOT = 4  # value of ASKED.pairing: the lot pairs are partners

ASKED = np.dtype(
    [
        ("key0", "u8"),
        ("key1", "u8"),
        ("pack", "u8"),  # mask of all cards dealt, the same number to each seat
        ("seat", "i8"),
        ("hand", "u8"),
        ("dealer", "i8"),  # -1: drawn in each candidate
        ("lots", "i8"),  # 0: drawn, 1 … 3 a pairing
        ("pairing", "i8"),  # partners of a contract given: 0 drawn, 1 … 3 a pairing, 4 the lot pairs
        ("calls_made", "i8"),
        ("calls", "i1", (MAX_CALLS,)),  # calls heard: 0 pass, 1 + t type t
        ("slips", "i8"),  # how many of them may differ from the model's
        ("policies", "i8", (4, 3)),
    ],
    align=True,
)

#: What a choice comes to in a world, for the seat that asks.  Nothing played: all zero.
RESULTS = (
    "relative3",  # three times the relative credit (E17)
    "margin",  # own side's points less the other's
    "win",  # own side wins
    "credit",
)


@njit
def deal_world(asked: Any, source: Any, index: U64, hands: Any) -> tuple[I64, I64, I64]:
    """Deal candidate ``index`` into ``hands`` (uint64[4]); returns dealer, lots and pairing, each drawn whatever is used."""
    open_source(source, asked.key0, asked.key1, index, ZERO, WORLDS)
    rest = asked.pack & ~asked.hand
    size = popcount(asked.hand)
    hands[asked.seat] = asked.hand
    for step in range(1, 4):
        cards = random_split(source, rest, size) if step < 3 else rest
        hands[(asked.seat + step) & 3] = cards
        rest ^= cards
    dealer = below(source, 4)
    lots = below(source, 3) + 1
    pairing = below(source, 3) + 1
    if asked.dealer >= 0:
        dealer = asked.dealer
    if asked.lots > 0:
        lots = asked.lots
    if asked.pairing == BY_LOT:
        pairing = lots
    elif asked.pairing > 0:
        pairing = asked.pairing
    return dealer, lots, pairing


@njit
def _seat_players(asked: Any, table: Any) -> None:
    """Seat the player model."""
    for seat in range(4):
        for kind in range(3):
            table.policies[seat, kind] = asked.policies[seat, kind]


@njit
def _seat_one(asked: Any, table: Any, caller: I64) -> None:
    """Seat the player model for one seat's calls only, so that the engine stops before the next decision."""
    for seat in range(4):
        for kind in range(3):
            table.policies[seat, kind] = EXTERNAL
    table.policies[caller, CALL] = asked.policies[caller, CALL]


@njit
def _restart(asked: Any, index: U64, hands: Any, dealer: I64, lots: I64, table: Any, view: Any, streams: Any) -> None:
    """Set a world up for its auction."""
    for seat in range(4):
        table.hands[seat] = hands[seat]
    open_streams(streams, asked.key0, asked.key1, index)
    start_deal(table, view, dealer, lots)


@njit
def score_world(rules: Any, table: Any, view: Any, seat: I64, row: Any) -> None:
    """Write RESULTS of a finished deal."""
    for column in range(len(row)):
        row[column] = 0
    if table.status != PLAYED:
        return
    attackers, defenders, result = result_of(rules, view)
    everyone = np.int64(0)
    for other in range(4):
        everyone += credits_of(rules, view, other, attackers, defenders, result)
    credit = credits_of(rules, view, seat, attackers, defenders, result)
    attacks = (view.attackers >> seat) & 1
    row[0] = 4 * credit - everyone
    row[1] = attackers - defenders if attacks == 1 else defenders - attackers
    row[2] = np.int64(result == (WIN if attacks == 1 else LOSS))
    row[3] = credit


@njit
def run_worlds(
    rules: Any,
    asked: Any,
    first: U64,
    candidates: I64,
    contracts: Any,
    actions: Any,
    table: Any,
    view: Any,
    source: Any,
    streams: Any,
    indices: Any,
    hands: Any,
    facts: Any,
    by_contract: Any,
    by_action: Any,
) -> I64:
    """Find the worlds among candidates ``first`` to ``first + candidates - 1`` and play every choice in each; returns how many
    worlds there are, or REFUSED for an illegal action (``table``, ``view`` and ``streams`` then tell which).

    Args:
        contracts: int64, contracts to play as declarer, without an auction.
        actions: int64, bit numbers of what the seat may do now, after the calls heard: calls, or contracts where it must name one.
        indices: uint64[candidates], written: the worlds' candidate numbers.
        hands: uint64[candidates, 4], written.
        facts: int8[candidates, 4], written: dealer, lots, pairing, number of slips.
        by_contract, by_action: int32[candidates, choices, len(RESULTS)], written.
    """
    found = np.int64(0)
    for i in range(candidates):
        index = first + np.uint64(i)
        dealer, lots, pairing = deal_world(asked, source, index, hands[found])
        as_heard = True
        slips = ZERO  # bit n: call n is a slip
        # step -1 only listens, which is enough where nothing is to be done now
        for step in range(-1 if asked.calls_made > 0 else 0, len(actions)):
            _restart(asked, index, hands[found], dealer, lots, table, view, streams)
            heard = np.int64(0)
            while heard < asked.calls_made:  # hold the auction up to the calls heard
                if table.turn == asked.seat or (slips >> np.uint64(heard)) & ONE == ONE:
                    apply(rules, table, view, CALL, ONE << np.uint64(asked.calls[heard]))
                else:
                    _seat_one(asked, table, table.turn)
                    if advance(rules, table, view, streams) == REFUSED:
                        return np.int64(REFUSED)
                while heard < min(view.calls_made, asked.calls_made) and view.calls[heard] == asked.calls[heard]:
                    heard += 1
                if heard < min(view.calls_made, asked.calls_made):  # another call than the one heard
                    if popcount(slips) >= asked.slips or heard > 63:
                        as_heard = False
                        break
                    slips |= ONE << np.uint64(heard)
                    _restart(asked, index, hands[found], dealer, lots, table, view, streams)
                    heard = np.int64(0)
            if not as_heard:
                break
            if step < 0:
                continue
            # a single legal action may have been taken without asking
            if table.phase == NAMING:
                apply(rules, table, view, CONTRACT, ONE << np.uint64(actions[step]))
            elif table.phase == AUCTION and view.calls_made == asked.calls_made:
                apply(rules, table, view, CALL, ONE << np.uint64(actions[step]))
            _seat_players(asked, table)
            if advance(rules, table, view, streams) == REFUSED:
                return np.int64(REFUSED)
            score_world(rules, table, view, asked.seat, by_action[found, step])
        if not as_heard:
            continue
        for c in range(len(contracts)):
            _restart(asked, index, hands[found], dealer, lots, table, view, streams)
            _seat_players(asked, table)
            force_contract(rules, table, view, contracts[c], asked.seat, pairing)
            if advance(rules, table, view, streams) == REFUSED:
                return np.int64(REFUSED)
            score_world(rules, table, view, asked.seat, by_contract[found, c])
        indices[found] = index
        facts[found, 0] = dealer
        facts[found, 1] = lots
        facts[found, 2] = pairing
        facts[found, 3] = popcount(slips)
        found += 1
    return found
