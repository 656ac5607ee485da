"""Many deals of Elections in one kernel: one row a deal and contract, and tallies for the summary.

A row is two small vectors, int8 names and counts and int16 points, written column by column so that Arrow takes them as they are.
Names are numbers: seats N E S W, types and contracts in the ruleset's order; -1 stands for null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ZERO
from simcore.deals.shuffle import deal_four, lots_of_round
from simcore.elections.engine import advance, force_contract, forced_by_lot, start_deal
from simcore.elections.play import DRAW, WIN, credits_of, result_of
from simcore.elections.state import PLAYED
from simcore.players import REFUSED
from simcore.rng import open_streams

__all__ = [
    "ALL_CONTRACTS",
    "BYTE_COLUMNS",
    "OPTIONS",
    "POINT_COLUMNS",
    "RANDOM_CONTRACT",
    "TALLY",
    "WITH_AUCTION",
    "run_deals",
]

BYTE_COLUMNS = (
    "dealer",
    "status",
    "type",
    "contract",
    "declarer",
    "partner",
    "matched",
    "tricks_n",
    "tricks_e",
    "tricks_s",
    "tricks_w",
    "result",
)
POINT_COLUMNS = ("points_attackers", "points_defenders", "credit_n", "credit_e", "credit_s", "credit_w")

# Values of OPTIONS.contract besides a contract's number.
WITH_AUCTION, ALL_CONTRACTS, RANDOM_CONTRACT = -1, -2, -3
LOT_PAIRS = 4  # value of OPTIONS.pairs: the lot pairs are partners

OPTIONS = np.dtype(
    [
        ("key0", "u8"),
        ("key1", "u8"),
        ("contract", "i8"),
        ("pairs", "i8"),  # 0 by lot in each deal, 1 … 3 a pairing, 4 the lot pairs
        ("declarer", "i8"),  # -1 by lot
        ("dealer", "i8"),  # -1 as E1
        ("policies", "i8", (4, 3)),
        ("hands_given", "i8"),  # the hands are in the hands array already
        ("want_rows", "i8"),
    ],
    align=True,
)

#: Sums for the summary, one row a contract and then one a seat (its credits, with the auction only).
#: A cluster is a round where the auction is played (its deals share dealer and lots),
#: else a deal; from the sums of products a ratio's standard error follows (stats.ratio_estimate).
TALLY = (
    "deals",
    "wins",
    "draws",
    "points",
    "clusters",
    "deals_deals",
    "deals_wins",
    "wins_wins",
    "deals_points",
    "points_points",
)
_THREE = np.uint64(3)
_SEVEN = np.uint64(7)


@njit
def _flush(tally: Any, cluster: Any) -> None:
    """Add the products of a finished cluster's sums to the tally."""
    for c in range(len(cluster)):
        n = cluster[c, 0]
        if n > 0:
            w = cluster[c, 1]
            p = cluster[c, 2]
            tally[c, 4] += 1
            tally[c, 5] += n * n
            tally[c, 6] += n * w
            tally[c, 7] += w * w
            tally[c, 8] += n * p
            tally[c, 9] += p * p
            cluster[c, 0] = 0
            cluster[c, 1] = 0
            cluster[c, 2] = 0


@njit
def _count(tally: Any, cluster: Any, contract: I64, result: I64, attackers: I64) -> None:
    """Count one played deal."""
    win = np.int64(result == WIN)
    tally[contract, 0] += 1
    tally[contract, 1] += win
    tally[contract, 2] += np.int64(result == DRAW)
    tally[contract, 3] += attackers
    cluster[contract, 0] += 1
    cluster[contract, 1] += win
    cluster[contract, 2] += attackers


@njit
def run_deals(
    rules: Any,
    options: Any,
    first: U64,
    deals: I64,
    table: Any,
    view: Any,
    source: Any,
    streams: Any,
    hands: Any,
    names: Any,
    points: Any,
    offset: I64,
    tally: Any,
    statuses: Any,
    cluster: Any,
) -> I64:
    """Play ``deals`` deals from index ``first`` on; returns the number of rows written, or REFUSED for an illegal action
    (``table``, ``view`` and ``streams`` then tell which).

    Args:
        hands: uint64[deals, 4], filled with the deals (or read, with ``options.hands_given``); of length 0 if nobody wants them.
        offset: the row to begin with.
        names, points: int8[len(BYTE_COLUMNS), …], int16[len(POINT_COLUMNS), …]; not touched without ``want_rows``.
        tally: int64[contracts + 4, len(TALLY)], added to.
        statuses: int64[3], added to: deals played, passed out, redealt.
        cluster: int64[contracts + 4, 3] of zeros, working space.
    """
    auction = options.contract == WITH_AUCTION
    contracts = np.int64(rules.contracts)
    repeat = contracts if options.contract == ALL_CONTRACTS else np.int64(1)
    for seat in range(4):
        for kind in range(3):
            table.policies[seat, kind] = options.policies[seat, kind]
    row = offset
    first_dealer = np.int64(0)
    lots = np.int64(0)
    for i in range(deals):
        index = first + np.uint64(i)
        if i == 0 or index & _SEVEN == ZERO:
            first_dealer, lots = lots_of_round(source, options.key0, options.key1, index >> _THREE)
        dealer = (first_dealer + np.int64(index & _SEVEN)) & 3
        if options.dealer >= 0:
            dealer = options.dealer
        if options.hands_given == 1:
            for seat in range(4):
                table.hands[seat] = hands[i, seat]
        else:
            deal_four(table.hands, source, options.key0, options.key1, index)
            if len(hands) > 0:
                for seat in range(4):
                    hands[i, seat] = table.hands[seat]
        declarer = np.int64(-1)
        pairing = np.int64(0)
        contract = np.int64(0)
        if not auction:
            declarer, pairing, contract = forced_by_lot(source, options.key0, options.key1, index, contracts)
            if options.declarer >= 0:
                declarer = options.declarer
            if options.pairs == LOT_PAIRS:
                pairing = lots
            elif options.pairs > 0:
                pairing = options.pairs
            if options.contract >= 0:
                contract = options.contract
        for again in range(repeat):
            if again > 0:
                for seat in range(4):
                    table.hands[seat] = table.dealt[seat]
            open_streams(streams, options.key0, options.key1, index)
            start_deal(table, view, dealer, lots)
            if not auction:
                force_contract(rules, table, view, again if repeat > 1 else contract, declarer, pairing)
            if advance(rules, table, view, streams) == REFUSED:
                return np.int64(REFUSED)
            statuses[table.status] += 1
            played = table.status == PLAYED
            attackers = np.int64(0)
            defenders = np.int64(0)
            result = np.int64(-1)
            if played:
                attackers, defenders, result = result_of(rules, view)
                _count(tally, cluster, view.contract, result, attackers)
            if auction:
                for seat in range(4):
                    credit = credits_of(rules, view, seat, attackers, defenders, result) if played else np.int64(0)
                    _count(tally, cluster, contracts + seat, np.int64(-1), credit)
            if options.want_rows == 1:
                _write_row(rules, table, view, row, names, points, attackers, defenders, result)
            row += 1
        if not auction or index & _SEVEN == _SEVEN:
            _flush(tally, cluster)
    _flush(tally, cluster)
    return row - offset


@njit
def _write_row(
    rules: Any,
    table: Any,
    view: Any,
    row: I64,
    names: Any,
    points: Any,
    attackers: I64,
    defenders: I64,
    result: I64,
) -> None:
    """Write one deal's row."""
    names[0, row] = view.dealer
    names[1, row] = table.status
    if table.status != PLAYED:
        for column in range(2, len(names)):
            names[column, row] = -1
        for column in range(len(points)):
            points[column, row] = 0
        return
    names[2, row] = view.type
    names[3, row] = view.contract
    names[4, row] = view.declarer
    names[5, row] = view.declarer ^ view.pairing
    names[6, row] = -1 if view.forced == 1 else view.matched
    for seat in range(4):
        names[7 + seat, row] = view.tricks[seat]
        points[2 + seat, row] = credits_of(rules, view, seat, attackers, defenders, result)
    names[11, row] = result
    points[0, row] = attackers
    points[1, row] = defenders
