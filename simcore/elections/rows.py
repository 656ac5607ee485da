"""Many deals of Elections in one kernel: one row a deal and contract, and tallies for the summary.

A row is two small vectors, int8 names and counts and int16 points, written column by column so that Arrow takes them as they are.
Names are numbers: seats N E S W, types and contracts in the ruleset's order; -1 stands for null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ZERO, borrowed, either, popcount
from simcore.deals.shuffle import deal_four, lots_of_round
from simcore.elections.engine import advance, force_contract, forced_by_lot, start_deal
from simcore.elections.lanes import LANES
from simcore.elections.many_at_once import play_many, put_down
from simcore.elections.play import DRAW, LOSS, WIN, credits_of, result_from, result_of
from simcore.elections.state import PLAYED, PLAYING
from simcore.elections.two_at_once import play_two
from simcore.players import REFUSED
from simcore.rng import DEAL, PLAYERS, open_source, open_streams, philox

__all__ = [
    "ALL_CONTRACTS",
    "BYTE_COLUMNS",
    "OPTIONS",
    "POINT_COLUMNS",
    "RANDOM_CONTRACT",
    "TALLY",
    "WITH_AUCTION",
    "run_deals",
    "run_many",
    "run_random",
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
#: Null where a deal is passed out or dealt again.
NULL_IF_NOT_PLAYED = (*BYTE_COLUMNS[2:], *POINT_COLUMNS[:2])

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


@inlined
def _count_alone(tally: Any, contract: I64, result: I64, attackers: I64) -> None:
    """Count one played deal that is a cluster of its own: ``_count`` and ``_flush`` in one."""
    win = np.int64(result == WIN)
    tally[contract, 0] += 1
    tally[contract, 1] += win
    tally[contract, 2] += np.int64(result == DRAW)
    tally[contract, 3] += attackers
    tally[contract, 4] += 1
    tally[contract, 5] += 1
    tally[contract, 6] += win
    tally[contract, 7] += win
    tally[contract, 8] += attackers
    tally[contract, 9] += attackers * attackers


@inlined
def _hands_of(options: Any, source: Any, place: I64, hands: Any) -> tuple[U64, U64, U64, U64]:
    """Return the hands of a deal: dealt (the source stands at its start), and kept in row ``place`` of ``hands`` if that is wanted,
    or read from there.
    """
    if options.hands_given == 1:
        return hands[place, 0], hands[place, 1], hands[place, 2], hands[place, 3]
    n, e, s, w = deal_four(source)
    if len(hands) > 0:
        hands[place, 0], hands[place, 1], hands[place, 2], hands[place, 3] = n, e, s, w
    return n, e, s, w


@inlined
def _forced(options: Any, source: Any, index: U64, contracts: I64, lots: I64) -> tuple[I64, I64, I64]:
    """Return declarer, pairing and contract of a deal without auction: by lot unless they are given."""
    declarer, pairing, contract = forced_by_lot(source, options.key0, options.key1, index, contracts)
    if options.declarer >= 0:
        declarer = np.int64(options.declarer)
    if options.pairs == LOT_PAIRS:
        pairing = lots
    elif options.pairs > 0:
        pairing = np.int64(options.pairs)
    if options.contract >= 0:
        contract = np.int64(options.contract)
    return declarer, pairing, contract


@inlined
def _lots(options: Any, source: Any, index: U64, first_dealer: I64, lots: I64) -> tuple[I64, I64]:
    """Return first dealer and lot pairing of a deal's round, drawn anew where a round begins."""
    if index & _SEVEN == ZERO:
        return lots_of_round(source, options.key0, options.key1, index >> _THREE)
    return first_dealer, lots


@inlined
def _dealer(options: Any, index: U64, first_dealer: I64) -> I64:
    """Return a deal's dealer (E1), unless he is given."""
    return np.int64(options.dealer) if options.dealer >= 0 else (first_dealer + np.int64(index & _SEVEN)) & 3


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
        table, view: working space; at the end they show the last deal.
        hands: uint64[deals, 4], filled with the deals (or read, with ``options.hands_given``); of length 0 if nobody wants them.
        offset: the row to begin with.
        names, points: int8[len(BYTE_COLUMNS), …], int16[len(POINT_COLUMNS), …]; not touched without ``want_rows``.
        tally: int64[contracts + 4, len(TALLY)], added to.
        statuses: int64[3], added to: deals played, passed out, redealt.
        cluster: int64[contracts + 4, 3] of zeros, working space.
    """
    streams, hands, names, points = borrowed(streams), borrowed(hands), borrowed(names), borrowed(points)
    tally, cluster = borrowed(tally), borrowed(cluster)
    auction = options.contract == WITH_AUCTION
    contracts = np.int64(rules.contracts)
    repeat = contracts if options.contract == ALL_CONTRACTS else np.int64(1)
    for seat in range(4):
        for kind in range(3):
            table.policies[seat, kind] = options.policies[seat, kind]
    row = offset
    first_dealer, lots = lots_of_round(source, options.key0, options.key1, first >> _THREE)
    for i in range(deals):
        index = first + np.uint64(i)
        first_dealer, lots = _lots(options, source, index, first_dealer, lots)
        dealer = _dealer(options, index, first_dealer)
        open_source(source, options.key0, options.key1, index, ZERO, DEAL)
        table.hands[0], table.hands[1], table.hands[2], table.hands[3] = _hands_of(options, source, i, hands)
        declarer = np.int64(-1)
        pairing = np.int64(0)
        contract = np.int64(0)
        if not auction:
            declarer, pairing, contract = _forced(options, source, index, contracts, lots)
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
                if auction:
                    _count(tally, cluster, view.contract, result, attackers)
                else:
                    _count_alone(tally, view.contract, result, attackers)
            if auction:
                for seat in range(4):
                    credit = credits_of(rules, view, seat, attackers, defenders, result) if played else np.int64(0)
                    _count(tally, cluster, contracts + seat, np.int64(-1), credit)
            if options.want_rows == 1:
                _write_row(rules, table.status, view, row, names, points, attackers, defenders, result)
            row += 1
        if auction and index & _SEVEN == _SEVEN:
            _flush(tally, cluster)
    if auction:
        _flush(tally, cluster)
    return row - offset


@njit
def run_random(
    rules: Any,
    options: Any,
    first: U64,
    deals: I64,
    pair: Any,
    sources: Any,
    hands: Any,
    names: Any,
    points: Any,
    offset: I64,
    tally: Any,
) -> None:
    """Do what :func:`run_deals` does where the contract is forced and every seat plays random cards, two deals at a time.

    The last of an odd number is played twice, and counted once.

    Args:
        pair, sources: DEAL_STATE[2] and SOURCE[2], working space; the rest as in :func:`run_deals`.
    """
    hands, names, points, tally = borrowed(hands), borrowed(names), borrowed(points), borrowed(tally)
    contracts = np.int64(rules.contracts)
    repeat = contracts if options.contract == ALL_CONTRACTS else np.int64(1)
    first_dealer, lots = lots_of_round(sources[0], options.key0, options.key1, first >> _THREE)
    for begin in range(0, deals, 2):
        for side in range(2):
            place = min(begin + side, deals - 1)
            index = first + np.uint64(place)
            deal = pair[side]
            source = sources[side]
            first_dealer, lots = _lots(options, source, index, first_dealer, lots)
            deal.dealer = _dealer(options, index, first_dealer)
            deal.declarer, deal.pairing, deal.contract = _forced(options, source, index, contracts, lots)
            deal.words[0], deal.words[1], deal.words[2], deal.words[3] = philox(
                options.key0, options.key1, index, ZERO, PLAYERS, ZERO
            )
            open_source(source, options.key0, options.key1, index, ZERO, DEAL)
        # all blocks come first: what follows stalls on branches that nobody can predict, and the second deal's blocks would wait
        for side in range(2):
            place = min(begin + side, deals - 1)
            deal = pair[side]
            deal.dealt[0], deal.dealt[1], deal.dealt[2], deal.dealt[3] = _hands_of(options, sources[side], place, hands)
        for again in range(repeat):
            if repeat > 1:
                pair[0].contract = again
                pair[1].contract = again
            play_two(rules, pair[0], pair[1])
            for side in range(min(2, deals - begin)):
                _settle(rules, options, pair[side], offset + (begin + side) * repeat + again, names, points, tally)


@njit
def run_many(
    rules: Any,
    options: Any,
    first: U64,
    deals: I64,
    player: I64,
    block: Any,
    views: Any,
    questions: Any,
    deal: Any,
    table: Any,
    view: Any,
    streams: Any,
    lots: Any,
    source: Any,
    hands: Any,
    names: Any,
    points: Any,
    offset: I64,
    tally: Any,
) -> I64:
    """Do what :func:`run_deals` does where the contract is forced and one player holds all seats: many deals in lockstep.

    Deals of contracts by lot are played contract by contract.

    Args:
        player: EXPERT, or the address of a function that plays many deals at once (plugins.py).
        block, views, questions, deal: BLOCK, VIEWS, QUESTIONS and DEAL_STATE, working space.
        table, view, streams: for an illegal card, tell which, as in :func:`run_deals`.
        lots: int8[deals, 4], working space: dealer, declarer, pairing and contract of each deal; the rest as in :func:`run_deals`.
    """
    contracts = np.int64(rules.contracts)
    by_lot = options.contract == RANDOM_CONTRACT
    table.phase = PLAYING
    first_dealer, lot_pairing = lots_of_round(source, options.key0, options.key1, first >> _THREE)
    for place in range(deals):
        index = first + np.uint64(place)
        first_dealer, lot_pairing = _lots(options, source, index, first_dealer, lot_pairing)
        declarer, pairing, contract = _forced(options, source, index, contracts, lot_pairing)
        lots[place, 0] = _dealer(options, index, first_dealer)
        lots[place, 1] = declarer
        lots[place, 2] = pairing
        lots[place, 3] = contract
    for contract in range(contracts if by_lot else np.int64(1)):
        lane = np.int64(0)
        for place in range(deals + 1):
            if place < deals:
                if by_lot and lots[place, 3] != contract:
                    continue
                open_source(source, options.key0, options.key1, first + np.uint64(place), ZERO, DEAL)
                n, e, s, w = _hands_of(options, source, place, hands)
                block.dealt[0, lane], block.dealt[1, lane], block.dealt[2, lane], block.dealt[3, lane] = n, e, s, w
                block.dealer[lane] = lots[place, 0]
                block.declarer[lane] = lots[place, 1]
                block.pairing[lane] = lots[place, 2]
                block.place[lane] = place
                lane += 1
            if lane == LANES or (place == deals and lane > 0):
                for seat in range(4):
                    streams[seat].index = first + np.uint64(block.place[0])
                refused = _play_block(
                    rules, options, player, block, views, questions, lane, deal, table, view, lots, offset, names, points, tally
                )
                if refused >= 0:
                    table.turn = views.seat[refused]
                    table.refused = views.card[refused]
                    view.legal = views.legal[refused]
                    streams[table.turn].index = first + np.uint64(block.place[refused])
                    return np.int64(REFUSED)
                lane = np.int64(0)
    return deals


@njit
def _play_block(
    rules: Any,
    options: Any,
    player: I64,
    block: Any,
    views: Any,
    questions: Any,
    deals: I64,
    deal: Any,
    table: Any,
    view: Any,
    lots: Any,
    offset: I64,
    names: Any,
    points: Any,
    tally: Any,
) -> I64:
    """Play the deals of a block, in their one contract or in all, and write and count them; returns as ``play_many``."""
    every = options.contract == ALL_CONTRACTS
    repeat = np.int64(rules.contracts) if every else np.int64(1)
    for again in range(repeat):
        contract = again if every else np.int64(lots[block.place[0], 3])
        refused = play_many(rules, block, views, questions, deals, np.uint64(contract), player, table, view)
        if refused >= 0:
            return refused
        for lane in range(deals):
            put_down(block, lane, contract, deal)
            _settle(rules, options, deal, offset + block.place[lane] * repeat + again, names, points, tally)
    return np.int64(-1)


@inlined
def _settle(rules: Any, options: Any, deal: Any, row: I64, names: Any, points: Any, tally: Any) -> None:
    """Count a finished deal (DEAL_STATE), and write its row if that is wanted."""
    cards = deal.taken[deal.declarer] | deal.taken[deal.declarer ^ deal.pairing]
    attackers, defenders, result = result_from(rules, deal.contract, cards, popcount(cards) >> 2)
    _count_alone(tally, deal.contract, result, attackers)
    if options.want_rows == 1:
        _write_forced(rules, deal, row, names, points, attackers, defenders, result)


@inlined
def _write_forced(rules: Any, deal: Any, row: I64, names: Any, points: Any, attackers: I64, defenders: I64, result: I64) -> None:
    """Write the row of a deal with a forced contract."""
    declarer = deal.declarer
    partner = declarer ^ deal.pairing
    names[0, row] = deal.dealer
    names[1, row] = PLAYED
    names[2, row] = rules.contract_type[deal.contract]
    names[3, row] = deal.contract
    names[4, row] = declarer
    names[5, row] = partner
    names[6, row] = -1
    names[11, row] = result
    points[0, row] = attackers
    points[1, row] = defenders
    others = defenders + either(result == LOSS, rules.failure_bonus, 0)
    for seat in range(4):
        names[7 + seat, row] = popcount(deal.taken[seat]) >> 2
        points[2 + seat, row] = either(seat == declarer or seat == partner, attackers, others)


@njit
def _write_row(
    rules: Any,
    status: I64,
    view: Any,
    row: I64,
    names: Any,
    points: Any,
    attackers: I64,
    defenders: I64,
    result: I64,
) -> None:
    """Write one deal's row out of its view."""
    names[0, row] = view.dealer
    names[1, row] = status
    if status != PLAYED:
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
