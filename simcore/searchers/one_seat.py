"""Showcase as one seat sees it: a trace with ``-`` for what the seat cannot know, and what each of its choices is worth.

The seat is the one whose hand is given.  In the first playout worlds are sampled and played out; from the naming on both holdings
follow from what lies open, and values are exact.

    {"game": "showcase", "ruleset": "showcase", "dealer": "N", "hands": {"N": "-", "S": "AKQ.T98.75.65432"}, "turned": "H7",
     "first": [{"leader": "N", "cards": ["SJ", "SA"], "from": ["hand", "hand"], "winner": "S", "drawn": "-", "taken": null},
               {"leader": "S", "cards": ["C6"], "from": ["hand"]}]}

That is the format of a whole trace, cut off at the seat's turn: a trick may be short of its last card, ``drawn`` is ``-`` where the
other drew, ``seed``, ``deal``, ``reserve`` and what comes later may be missing.  Under Magri's rules ``display`` names the card on
display now (M6).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simcore.cards import FULL, SUIT_NAMES, format_card, format_cards, parse_hand
from simcore.errors import BadInput, NotationError
from simcore.rng import STREAM, open_streams, parse_seed, seed_words
from simcore.rules import TRUMPS, Ruleset, load_ruleset
from simcore.searchers.perfect import exact_value
from simcore.searchers.sampling import showcase_plan, value_showcase
from simcore.searchers.valuing import Valuation
from simcore.showcase.engine import other_holding, prepare
from simcore.showcase.play import apply_first, apply_second, apply_trump, legal_first, legal_second, start_deal
from simcore.showcase.state import FIRST, NAMING, PLAYOUT_1, PLAYOUT_2, SECOND, new_table, new_view
from simcore.tracing import Reader, shown

__all__ = ["OneSeat", "read_one_seat", "value_choices"]

_SEATS = "NS"
_KINDS = ("first", "trump", "second")
#: Stands for a card that the seat does not know: a bit of no card.
_UNKNOWN = 15


@dataclass(frozen=True)
class OneSeat:
    """What one seat sees at its turn."""

    ruleset: Ruleset
    seat: str
    kind: str  # "first", "trump" or "second": what it decides
    view: Any  # a prepared VIEW record


def read_one_seat(data: object, ruleset: str | Path | Ruleset | None = None) -> OneSeat:
    """Read a one-seat view, checking every card that the rules can judge.

    Args:
        ruleset: by default the one that the data name.

    Raises:
        SimcoreError: something is missing or illegal (with trick, card and clause), or the seat whose hand is known is not to play.
    """
    if isinstance(data, dict):
        data = {"seed": "0", "deal": 0} | {key: value for key, value in data.items() if value is not None}
    reader = Reader(data, "showcase")
    name = reader.data.get("ruleset", "showcase")
    if ruleset is None and not isinstance(name, str):
        reader.bad(f"key 'ruleset' is {shown(name)}; accepted: a name")
    rules = load_ruleset(name if ruleset is None else ruleset, "showcase")
    return _Replay(reader, rules).finished()


def value_choices(
    seen: OneSeat,
    *,
    worlds: int = 1000,
    player: str = "expert",
    end: str = "expert",
    objective: str = "points",
    seed: int | str = 0,
) -> Valuation:
    """Return what each choice of a seat is worth: tricks of the second playout, or with ``objective="win"`` the chance to win.

    Args:
        worlds: how many to sample in the first playout.
        player: built-in player that plays worlds out.
        end: how the second playout ends them: played by ``expert`` (the player), or ``exact``.
        seed: the answer is a function of it; it plays no part from the naming on, where values are exact (``stderr`` 0).

    Raises:
        SimcoreError: an option is not accepted, or no deal is as the seat sees it.
    """
    plan = showcase_plan({"worlds": str(worlds), "player": player, "end": end, "objective": objective})
    rules, view = seen.ruleset.record[0], seen.view
    if seen.kind == "first":
        streams = np.zeros(2, STREAM).view(np.recarray)
        open_streams(streams, *seed_words(parse_seed(seed)), np.uint64(0))
        return value_showcase(view, rules, streams[view.seat], quick=False, plan=plan)
    return exact_value(view, rules, None, kind=seen.kind, win=plan.win)


class _Replay:
    """A one-seat view being played through the rules."""

    def __init__(self, reader: Reader, ruleset: Ruleset) -> None:
        self._reader, self._ruleset = reader, ruleset
        self._rules = ruleset.record[0]
        self._magri = ruleset.style == "magri"
        self._table, self._view = new_table()[0], new_view()[0]
        self._me = self._read_hands()
        self._held = 13  # cards in the other hand
        tricks = reader.items("first") if "first" in reader.data else []
        self._read_stock(tricks)
        start_deal(self._rules, self._table, self._view, _SEATS.index(reader.seat("dealer", _SEATS)))
        for number, trick in enumerate(tricks, 1):
            self._first_trick(trick, number, last=number == len(tricks))
        self._second()

    def _read_hands(self) -> int:
        hands = self._reader.data.get("hands")
        if not isinstance(hands, dict) or hands.keys() != set(_SEATS):
            self._reader.bad(f"hands are {shown(hands)}; accepted: one of each of {' '.join(_SEATS)}, '-' for the other's (S2)")
        known = [seat for seat in _SEATS if hands[seat] != "-"]
        if len(known) != 1 or not isinstance(hands[known[0]], str):
            self._reader.bad(f"hands are {shown(hands)}; accepted: the seat's own as dealt, and '-' for the other's")
        try:
            mask = parse_hand(hands[known[0]], size=13)
        except NotationError as error:
            self._reader.bad(f"S2: hand of {known[0]}: {error}")
        self._table.hands[_SEATS.index(known[0])] = mask
        return _SEATS.index(known[0])

    def _card(self, value: object, where: str) -> int:
        """Return a card's number, or _UNKNOWN."""
        return _UNKNOWN if value in ("-", None) else self._reader.card(value, where)

    def _read_stock(self, tricks: list[Any]) -> None:
        """Put what is known of the reserve in its place: own draws, display cards."""
        stock = self._table.stock
        stock[:] = _UNKNOWN
        stock[0] = self._reader.card(self._reader.data.get("turned"), "key 'turned'")
        for number, trick in enumerate(tricks):
            if not isinstance(trick, dict) or number > 25:
                self._reader.bad(f"first playout, trick {number + 1}: {shown(trick)}; accepted: at most 26 objects")
            place = (2 if self._magri else 1) * number + 1
            if place < 26:
                stock[place] = self._card(trick.get("drawn"), f"first playout, trick {number + 1}, drawn")
            if self._magri and number and place < 27 and trick.get("taken") is not None:
                stock[place - 1] = self._card(trick["taken"], f"first playout, trick {number + 1}, taken")
        done = sum(len(trick.get("cards") or ()) == 2 for trick in tricks)
        if self._magri and 0 < done < 13:
            shown_now = self._card(self._reader.data.get("display"), "key 'display'")
            if shown_now == _UNKNOWN:
                self._reader.bad("key 'display' is missing; accepted: the card on display now (M6)")
            stock[2 * done] = shown_now

    def _first_trick(self, trick: Any, number: int, *, last: bool) -> None:
        reader, view, table = self._reader, self._view, self._table
        where = f"first playout, trick {number}"
        if table.phase != PLAYOUT_1:
            reader.bad(f"{where}: the reserve is empty, the playout is over ({'M6' if self._magri else 'S7'})")
        for card in self._cards(trick, where, last):
            self._play_first(card, where, trick)
        if view.on_table:
            return
        winner = int(view.winners[0, number - 1])
        if trick.get("winner", _SEATS[winner]) != _SEATS[winner]:
            reader.bad(
                f"{where}: winner is {shown(trick['winner'])}, but {_SEATS[winner]} takes it ({'M5' if self._magri else 'S5'})"
            )
        if winner == self._me:
            self._held += 1
            table.hands[1 - self._me] = 0
        elif view.turned_to != self._me and not int(table.hands[self._me]) & int(FULL) & (1 << int(table.drawn[number - 1])):
            reader.bad(f"{where}: what {_SEATS[self._me]} drew is missing; accepted: the card, which the seat knows")
        if self._magri and view.taken[number - 1] == _UNKNOWN:
            reader.bad(f"{where}: 'taken' is missing; accepted: the display card that {_SEATS[winner]} took (M6)")

    def _cards(self, trick: Any, where: str, last: bool) -> list[int]:
        cards = trick.get("cards")
        if last and isinstance(cards, list) and len(cards) < 2:
            return [self._reader.card(card, where) for card in cards]
        return self._reader.cards(trick, "cards", where, 2)

    def _out(self) -> int:
        """Return the cards that lie open or are out of play."""
        view = self._view
        cards = int(view.show[0]) | int(view.show[1]) | int(view.discards) | int(view.lead)
        if view.turned_to < 0 and not self._magri:
            cards |= 1 << int(view.turned)
        return cards | (1 << int(view.display) if view.display >= 0 else 0)

    def _play_first(self, card: int, where: str, trick: Any) -> None:
        reader, view, table = self._reader, self._view, self._table
        seat = int(table.turn)
        clause = ("M3" if self._magri else "S3") if view.on_table == 0 else ("M4" if self._magri else "S4")
        if view.on_table == 0 and trick.get("leader") != _SEATS[seat]:
            reader.bad(f"{where}: leader is {shown(trick.get('leader'))}, but {_SEATS[seat]} leads ({clause})")
        bit = 1 << card
        mine = seat == self._me
        from_show = bool(int(view.show[seat]) & bit)
        hand = int(table.hands[self._me]) if mine else (0 if from_show else bit)
        if mine and not (hand | int(view.show[seat])) & bit:
            reader.bad(
                f"{where}: {_SEATS[seat]} plays {format_card(card)}, which is neither in his hand nor in his showcase ({clause})"
            )
        if not mine and not from_show and (int(table.hands[self._me]) | self._out()) & bit:
            reader.bad(f"{where}: {_SEATS[seat]} plays {format_card(card)}, which is not in his hand: it lies elsewhere ({clause})")
        may = int(legal_first(self._rules, view, np.uint64(hand), view.show[seat]))
        led_from_show = not mine and from_show and view.on_table == 0 and not self._magri and self._held > 0  # S3
        if not may & bit or led_from_show:
            reader.bad(f"{where}: {_SEATS[seat]} may not play {format_card(card)} here ({clause})")
        given = trick.get("from")
        source = "showcase" if from_show else "hand"
        if isinstance(given, list) and len(given) > view.on_table and given[int(view.on_table)] != source:
            said = shown(given[int(view.on_table)])
            reader.bad(f"{where}: {format_card(card)} is said to come from {said}, but it lies in the {source} ({clause})")
        self._held -= not mine and not from_show
        apply_first(self._rules, table, view, np.uint64(bit))
        table.hands[1 - self._me] = 0

    def _second(self) -> None:
        """Name the trump and play the tricks of the second playout, as far as they are given."""
        reader, view, table = self._reader, self._view, self._table
        if table.phase != NAMING:
            return
        table.hands[1 - self._me] = other_holding(self._rules, view, table.hands[self._me])
        trump = reader.data.get("trump")
        if trump is None:
            return
        if trump not in TRUMPS:
            reader.bad(f"key 'trump' is {shown(trump)}; accepted: {', '.join(TRUMPS)} (S9)")
        apply_trump(table, view, TRUMPS.index(trump))
        tricks = reader.items("second") if "second" in reader.data else []
        for number, trick in enumerate(tricks, 1):
            where = f"second playout, trick {number}"
            if table.phase != PLAYOUT_2 or not isinstance(trick, dict):
                reader.bad(f"{where}: {shown(trick)}; accepted: at most 13 objects (S14)")
            for card in self._cards(trick, where, number == len(tricks)):
                seat = int(table.turn)
                if view.on_table == 0 and trick.get("leader") != _SEATS[seat]:
                    reader.bad(f"{where}: leader is {shown(trick.get('leader'))}, but {_SEATS[seat]} leads (S10)")
                if not int(legal_second(view, table.hands[seat])) >> card & 1:
                    suit = "" if view.on_table == 0 else f" on {SUIT_NAMES[int(view.suit).bit_length() - 1 >> 4]}"
                    reader.bad(f"{where}: {_SEATS[seat]} may not play {format_card(card)}{suit} (S11, S12)")
                apply_second(self._rules, table, view, np.uint64(1 << card))

    def finished(self) -> OneSeat:
        """Return what the seat sees now."""
        table, view = self._table, self._view
        me = _SEATS[self._me]
        if table.phase not in (PLAYOUT_1, NAMING, PLAYOUT_2):
            raise BadInput("the deal is over; accepted: a view at the turn of the seat whose hand is known")
        if table.turn != self._me:
            raise BadInput(f"it is {_SEATS[table.turn]}'s turn; accepted: a view at the turn of {me}, whose hand is known")
        twice = int(table.hands[self._me]) & self._out() & ~int(view.show[self._me]) if table.phase == PLAYOUT_1 else 0
        if twice or int(table.hands[self._me]) & ~int(FULL):
            raise BadInput(f"{format_cards(twice)} of {me}'s hand lies elsewhere too; accepted: every card once")
        kind = int(prepare(self._rules, table, view))
        assert kind in (FIRST, 1, SECOND)
        return OneSeat(self._ruleset, me, _KINDS[kind], view)
