"""Deals stopped in the middle, and all worlds of an ending written out: what the tests of the searching players start from."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from simcore.cards import ALL_CARDS, SUIT_MASKS, cards_of
from simcore.elections import engine as elections
from simcore.elections.state import DONE as ELECTIONS_DONE
from simcore.elections.state import new_table as new_elections_table
from simcore.elections.state import new_view as new_elections_view
from simcore.rng import STREAM, open_streams
from simcore.rules import Ruleset
from simcore.showcase import engine as showcase
from simcore.showcase.play import start_deal
from simcore.showcase.state import DONE as SHOWCASE_DONE
from simcore.showcase.state import new_table as new_showcase_table
from simcore.showcase.state import new_view as new_showcase_view

Moment = tuple[int, Any, Any, Any]  # kind of decision, table, view (prepared), streams


def one_of(legal: Any, rng: random.Random) -> np.uint64:
    return np.uint64(1 << rng.choice([bit for bit in range(64) if int(legal) >> bit & 1]))


def _streams(seats: int, seed: int) -> Any:
    streams = np.zeros(seats, STREAM).view(np.recarray)
    open_streams(streams, np.uint64(seed), np.uint64(0), np.uint64(0))
    return streams


def elections_moments(ruleset: Ruleset, seed: int, *, auction: bool = False, follow: Any = None) -> Iterator[Moment]:
    """Yield every decision of a deal with a choice, in a random contract or with the auction; cards are random or ``follow``'s."""
    rng = random.Random(seed)
    rules, table, view = ruleset.record[0], new_elections_table()[0], new_elections_view()[0]
    cards = rng.sample(ALL_CARDS, 52)
    table.hands[:] = [sum(1 << card for card in cards[13 * seat : 13 * seat + 13]) for seat in range(4)]
    streams = _streams(4, seed)
    elections.start_deal(table, view, rng.randrange(4), rng.randrange(1, 4))
    if not auction:
        elections.force_contract(rules, table, view, rng.randrange(len(ruleset.contracts)), rng.randrange(4), rng.randrange(1, 4))
    while table.phase != ELECTIONS_DONE:
        kind = int(elections.prepare(rules, table, view))
        legal = int(view.legal)
        if legal & (legal - 1):
            yield kind, table, view, streams
        action = one_of(legal, rng) if follow is None else np.uint64(follow(kind, view, rules, streams[view.seat], rng))
        elections.apply(rules, table, view, kind, action)


def showcase_moments(ruleset: Ruleset, seed: int) -> Iterator[Moment]:
    """Yield every decision with a choice of a deal of random cards."""
    rng = random.Random(seed)
    rules, table, view = ruleset.record[0], new_showcase_table()[0], new_showcase_view()[0]
    cards = rng.sample(ALL_CARDS, 52)
    table.hands[:] = [sum(1 << card for card in cards[13 * seat : 13 * seat + 13]) for seat in range(2)]
    table.stock[:] = cards[26:]
    streams = _streams(2, seed)
    start_deal(rules, table, view, rng.randrange(2))
    while table.phase != SHOWCASE_DONE:
        kind = int(showcase.prepare(rules, table, view))
        legal = int(view.legal)
        if legal & (legal - 1):
            yield kind, table, view, streams
        showcase.apply(rules, table, view, kind, one_of(legal, rng))


def all_worlds(view: Any) -> list[tuple[int, ...]]:
    """Return every way the unseen cards of an Elections view can lie: hands of N E S W, by trying each."""
    seats = [seat for seat in range(4) if seat != view.seat]
    played = [int(cards) for cards in view.played]
    unseen = cards_of(sum(1 << card for card in ALL_CARDS) & ~(int(view.hand) | sum(played)))
    sizes = [13 - played[seat].bit_count() for seat in seats]
    worlds = []
    for first in combinations(unseen, sizes[0]):
        rest = [card for card in unseen if card not in first]
        for second in combinations(rest, sizes[1]):
            hands = [0, 0, 0, 0]
            hands[view.seat] = int(view.hand)
            hands[seats[0]], hands[seats[1]] = (sum(1 << card for card in part) for part in (first, second))
            hands[seats[2]] = sum(1 << card for card in rest if card not in second)
            if not any(hands[seat] & int(view.void[seat]) for seat in seats):
                worlds.append(tuple(hands))
    return worlds


def lengths(mask: int) -> tuple[int, ...]:
    return tuple((int(mask) & int(suit)).bit_count() for suit in SUIT_MASKS)
