"""Many deals of Showcase in one kernel: one row a deal (and trump), and tallies for the summary."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, borrowed
from simcore.deals.shuffle import deal_two
from simcore.players import REFUSED
from simcore.rng import open_streams
from simcore.showcase.engine import advance, apply
from simcore.showcase.play import start_deal
from simcore.showcase.state import DONE, NAMING, TRUMP
from simcore.showcase.two_at_once import play_first_two, play_second_two

__all__ = ["ALL_TRUMPS", "BYTE_COLUMNS", "NAMER_NAMES", "OPTIONS", "TALLY", "run_deals", "run_random"]

BYTE_COLUMNS = (
    "dealer",
    "turned",
    "won_n",
    "won_s",
    "count_n",
    "count_s",
    "namer",
    "trump",
    "leader",
    "points_n",
    "points_s",
    "winner",
)

# Values of OPTIONS.trump besides a trump's number.
NAMER_NAMES, ALL_TRUMPS = -1, -2

OPTIONS = np.dtype(
    [
        ("key0", "u8"),
        ("key1", "u8"),
        ("trump", "i8"),
        ("dealer", "i8"),  # -1 by lot
        ("policies", "i8", (2, 3)),
        ("hands_given", "i8"),  # hands and reserves are in their arrays already
        ("want_rows", "i8"),
    ],
    align=True,
)

#: Sums over deals, one row a trump (deals are independent: squares suffice for standard errors).
TALLY = (
    "deals",
    "namer_wins",
    "points",
    "points_points",
    "n_wins",
    "elder_wins",
    "leader_wins",
    "count_ties",
    "won_n",
    "won_s",
    "count_n",
    "count_s",
)


@njit
def run_deals(
    rules: Any,
    options: Any,
    first: U64,
    deals: I64,
    tables: Any,
    views: Any,
    source: Any,
    streams: Any,
    saved_streams: Any,
    hands: Any,
    reserves: Any,
    names: Any,
    offset: I64,
    tally: Any,
) -> I64:
    """Play ``deals`` deals from index ``first`` on; returns the number of rows written, or REFUSED for an illegal action
    (the first table and view and ``streams`` then tell which).

    Args:
        tables, views: two-row arrays: the deal, and its copy at the naming where every trump is played in turn; at the end the
            first rows show the last deal.
        streams, saved_streams: STREAM[2] each, likewise.
        hands: uint64[deals, 2], filled with the hands (or read, with ``options.hands_given``); of length 0 if nobody wants them.
        reserves: int8[deals, 26] with given hands: the cards not dealt, the turned card first; else of length 0.  The dealer by
            lot does not depend on what is given.
        names: int8[len(BYTE_COLUMNS), …], not touched without ``want_rows``.
        offset: the row to begin with.
        tally: int64[6, len(TALLY)], added to.
    """
    tables, views, streams, saved_streams = borrowed(tables), borrowed(views), borrowed(streams), borrowed(saved_streams)
    hands, reserves, names, tally = borrowed(hands), borrowed(reserves), borrowed(names), borrowed(tally)
    table = tables[0]
    view = views[0]
    repeat = np.int64(6) if options.trump == ALL_TRUMPS else np.int64(1)
    for seat in range(2):
        for kind in range(3):
            table.policies[seat, kind] = options.policies[seat, kind]
    row = offset
    for i in range(deals):
        index = first + np.uint64(i)
        dealer = deal_two(table.hands, table.stock, source, options.key0, options.key1, index)
        if options.dealer >= 0:
            dealer = options.dealer
        _keep_or_read(options, i, hands, reserves, table)
        open_streams(streams, options.key0, options.key1, index)
        start_deal(rules, table, view, dealer)
        if advance(rules, table, view, streams, NAMING) == REFUSED:
            return np.int64(REFUSED)
        if repeat > 1:
            tables[1] = tables[0]
            views[1] = views[0]
            saved_streams[0] = streams[0]
            saved_streams[1] = streams[1]
        for again in range(repeat):
            if again > 0:
                tables[0] = tables[1]
                views[0] = views[1]
                streams[0] = saved_streams[0]
                streams[1] = saved_streams[1]
            if options.trump != NAMER_NAMES:
                apply(rules, table, view, TRUMP, ONE << np.uint64(again if repeat > 1 else options.trump))
            if advance(rules, table, view, streams, DONE) == REFUSED:
                return np.int64(REFUSED)
            _count(view, tally)
            if options.want_rows == 1:
                _write_row(view, row, names)
            row += 1
    return row - offset


@inlined
def _keep_or_read(options: Any, place: I64, hands: Any, reserves: Any, target: Any) -> None:
    """Keep a deal's hands in row ``place`` of ``hands`` if that is wanted, or replace the deal by what is given there."""
    if options.hands_given == 1:
        for card in range(26):
            target.stock[card] = reserves[place, card]
        target.hands[0] = hands[place, 0]
        target.hands[1] = hands[place, 1]
    elif len(hands) > 0:
        hands[place, 0] = target.hands[0]
        hands[place, 1] = target.hands[1]


@njit
def _copy_streams(origin: Any, target: Any) -> None:
    for side in range(2):
        for seat in range(2):
            target[side, seat] = origin[side, seat]


@njit
def run_random(
    rules: Any,
    options: Any,
    first: U64,
    deals: I64,
    pair: Any,
    source: Any,
    streams: Any,
    saved_streams: Any,
    hands: Any,
    reserves: Any,
    names: Any,
    offset: I64,
    tally: Any,
) -> None:
    """Do what :func:`run_deals` does where both seats play random cards, two deals at a time; not for Magri.

    The last of an odd number is played twice, and counted once.

    Args:
        pair: DEAL_STATE[4]: two deals, and their copies at the naming.
        streams, saved_streams: STREAM[2 deals, 2 seats] each, likewise; the rest as in :func:`run_deals`.
    """
    hands, reserves, names, tally = borrowed(hands), borrowed(reserves), borrowed(names), borrowed(tally)
    streams, saved_streams = borrowed(streams), borrowed(saved_streams)
    repeat = np.int64(6) if options.trump == ALL_TRUMPS else np.int64(1)
    a = pair[0]
    b = pair[1]
    for begin in range(0, deals, 2):
        for side in range(2):
            place = min(begin + side, deals - 1)
            index = first + np.uint64(place)
            deal = pair[side]
            deal.dealer = deal_two(deal.hands, deal.stock, source, options.key0, options.key1, index)
            if options.dealer >= 0:
                deal.dealer = options.dealer
            _keep_or_read(options, place, hands, reserves, deal)
            open_streams(streams[side], options.key0, options.key1, index)
        play_first_two(rules, a, b, streams)
        if repeat > 1:
            pair[2] = a
            pair[3] = b
            _copy_streams(streams, saved_streams)
        for again in range(repeat):
            if again > 0:
                pair[0] = pair[2]
                pair[1] = pair[3]
                _copy_streams(saved_streams, streams)
            play_second_two(rules, a, b, streams, again if repeat > 1 else options.trump)
            for side in range(min(2, deals - begin)):
                _count(pair[side], tally)
                if options.want_rows == 1:
                    _write_row(pair[side], offset + (begin + side) * repeat + again, names)


@inlined
def _count(view: Any, tally: Any) -> None:
    """Count one deal, out of its view (or a finished DEAL_STATE, which has the same fields)."""
    winner = np.int64(view.points[1] > view.points[0])
    points = view.points[view.namer]
    t = view.named
    tally[t, 0] += 1
    tally[t, 1] += np.int64(winner == view.namer)
    tally[t, 2] += points
    tally[t, 3] += points * points
    tally[t, 4] += 1 - winner
    tally[t, 5] += np.int64(winner != view.dealer)
    tally[t, 6] += np.int64(winner == view.second_leader)
    tally[t, 7] += np.int64(view.count[0] == view.count[1])
    for seat in range(2):
        tally[t, 8 + seat] += view.won[seat]
        tally[t, 10 + seat] += view.count[seat]


@njit
def _write_row(view: Any, row: I64, names: Any) -> None:
    """Write one deal's row; the turned card is numbered without the gaps between suits."""
    names[0, row] = view.dealer
    names[1, row] = 13 * (view.turned >> 4) + (view.turned & 15)
    names[2, row] = view.won[0]
    names[3, row] = view.won[1]
    names[4, row] = view.count[0]
    names[5, row] = view.count[1]
    names[6, row] = view.namer
    names[7, row] = view.named
    names[8, row] = view.second_leader
    names[9, row] = view.points[0]
    names[10, row] = view.points[1]
    names[11, row] = np.int64(view.points[1] > view.points[0])
