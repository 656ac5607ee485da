"""A card table for hand-worked examples: words in, words out, the engine's own rule kernels in between."""

from __future__ import annotations

import numpy as np

from simcore.cards import ALL_CARDS, cards_of, format_card, parse_card, parse_hand
from simcore.elections import engine as elections
from simcore.elections import state as elections_state
from simcore.elections.play import credits_of, result_of
from simcore.rules import TRUMPS, Ruleset, load_ruleset
from simcore.showcase import engine as showcase
from simcore.showcase import play as showcase_play
from simcore.showcase import state as showcase_state

SEATS = "NESW"
LOTS = {"NE": 1, "NS": 2, "NW": 3}


def rules_of(name: str | Ruleset, **choices: object) -> Ruleset:
    ruleset = load_ruleset(name)
    return ruleset.with_choices(**choices) if choices else ruleset


def words(mask: int) -> set[str]:
    return {format_card(card) for card in cards_of(int(mask))}


class Elections:
    """One deal of Elections.  ``hands`` are four PBN hands N E S W; without them a fixed deal."""

    HANDS = ("AKQ2.432.432.432", "JT9.AKQJ.T98.T98", "876.T98.AKQJ.765", "543.765.765.AKQJ")

    def __init__(self, ruleset: str | Ruleset = "elections", hands=HANDS, dealer="N", lots="NS", **choices: object) -> None:
        self.ruleset = rules_of(ruleset, **choices)
        self.rules = self.ruleset.record[0]
        self.table, self.view = elections_state.new_table()[0], elections_state.new_view()[0]
        self.table.hands[:] = [parse_hand(hand, size=13) for hand in hands]
        elections.start_deal(self.table, self.view, SEATS.index(dealer), LOTS[lots])

    @property
    def turn(self) -> str:
        return SEATS[self.table.turn]

    @property
    def phase(self) -> str:
        return ("auction", "naming", "playing", "done")[self.table.phase]

    @property
    def status(self) -> str:
        return ("played", "passed-out", "redealt")[self.table.status]

    def _prepare(self) -> int:
        return int(elections.prepare(self.rules, self.table, self.view))

    def legal(self) -> set[str]:
        kind = self._prepare()
        mask = int(self.view.legal)
        if kind == elections_state.PLAY:
            return words(mask)
        names = ("pass", *self.ruleset.type_ids) if kind == elections_state.CALL else self.ruleset.contract_ids
        return {name for bit, name in enumerate(names) if mask >> bit & 1}

    def call(self, *calls: str) -> Elections:
        for call in calls:
            assert self.phase == "auction", f"the auction is over before {call}"
            assert call in self.legal(), f"{call} is not legal: {self.legal()}"
            bit = np.uint64(1 << ("pass", *self.ruleset.type_ids).index(call))
            elections.apply(self.rules, self.table, self.view, elections_state.CALL, bit)
        return self

    def name(self, contract: str) -> Elections:
        assert self.phase == "naming"
        assert contract in self.legal()
        bit = np.uint64(1 << self.ruleset.contract_ids.index(contract))
        elections.apply(self.rules, self.table, self.view, elections_state.CONTRACT, bit)
        return self

    def force(self, contract: str, declarer: str = "N", pairs: str = "NS") -> Elections:
        number = self.ruleset.contract_ids.index(contract)
        elections.force_contract(self.rules, self.table, self.view, number, SEATS.index(declarer), LOTS[pairs])
        return self

    def play(self, cards: str) -> Elections:
        for card in cards.split():
            assert self.phase == "playing"
            assert format_card(parse_card(card)) in self.legal(), f"{self.turn} may not play {card}: {self.legal()}"
            bit = np.uint64(1 << parse_card(card))
            elections.apply(self.rules, self.table, self.view, elections_state.PLAY, bit)
        return self

    def attackers(self) -> set[str]:
        return {seat for i, seat in enumerate(SEATS) if int(self.view.attackers) >> i & 1}

    def declarer(self) -> str:
        return SEATS[self.view.declarer]

    def give(
        self, contract: str, tricks: dict[str, list[str]], attackers: str = "NS", **choices: object
    ) -> tuple[int, int, str, list[int]]:
        """Score a finished deal in which each seat took these tricks (each a text of four cards); the rest is nobody's matter."""
        self.force(contract, attackers[0], "".join(sorted(attackers, key="NESW".index)) if "N" in attackers else "NS")
        self.view.attackers = sum(1 << SEATS.index(seat) for seat in attackers)
        for seat, taken in tricks.items():
            number = SEATS.index(seat)
            self.view.tricks[number] = len(taken)
            self.view.taken[number] = sum(1 << parse_card(card) for trick in taken for card in trick.split())
        attackers_points, defenders_points, result = result_of(self.rules, self.view)
        credits = [int(credits_of(self.rules, self.view, seat, attackers_points, defenders_points, result)) for seat in range(4)]
        return int(attackers_points), int(defenders_points), ("win", "loss", "draw")[result], credits


def deal_tricks(counts: dict[str, int]) -> dict[str, list[str]]:
    """Return 13 tricks of four cards each, dealt out of the sorted pack in numbers by seat."""
    pack = [format_card(card) for card in ALL_CARDS]
    tricks = [" ".join(pack[i::13]) for i in range(13)]  # each trick: one card of a rank in each suit
    result: dict[str, list[str]] = {}
    for seat, count in counts.items():
        result[seat], tricks = tricks[:count], tricks[count:]
    assert not tricks
    return result


class Showcase:
    """One deal of Showcase: two PBN hands N S, the turned card, the reserve in order (25 cards; the missing ones are filled in)."""

    def __init__(self, north: str, south: str, turned: str, reserve: str = "", dealer="N", ruleset="showcase", **choices) -> None:
        self.ruleset = rules_of(ruleset, **choices)
        self.rules = self.ruleset.record[0]
        self.table, self.view = showcase_state.new_table()[0], showcase_state.new_view()[0]
        hands = [parse_hand(north, size=13), parse_hand(south, size=13)]
        first = [parse_card(turned), *(parse_card(card) for card in reserve.split())]
        rest = [c for c in ALL_CARDS if c not in first and not (hands[0] | hands[1]) >> c & 1]
        stock = first + rest
        assert len(set(stock)) == 26
        self.table.hands[:] = hands
        self.table.stock[:] = stock
        showcase_play.start_deal(self.rules, self.table, self.view, "NS".index(dealer))

    @property
    def turn(self) -> str:
        return "NS"[self.table.turn]

    @property
    def phase(self) -> str:
        return ("first", "naming", "second", "done")[self.table.phase]

    def hand(self, seat: str) -> set[str]:
        return words(self.table.hands["NS".index(seat)])

    def show(self, seat: str) -> set[str]:
        return words(self.view.show["NS".index(seat)])

    def legal(self) -> set[str]:
        kind = int(showcase.prepare(self.rules, self.table, self.view))
        if kind == showcase_state.TRUMP:
            return {name for bit, name in enumerate(TRUMPS) if int(self.view.legal) >> bit & 1}
        return words(self.view.legal)

    def play(self, cards: str) -> Showcase:
        for card in cards.split():
            assert card in self.legal(), f"{self.turn} may not play {card}: {self.legal()}"
            kind = showcase_state.FIRST if self.phase == "first" else showcase_state.SECOND
            showcase.apply(self.rules, self.table, self.view, kind, np.uint64(1 << parse_card(card)))
        return self

    def name(self, trump: str) -> Showcase:
        assert trump in self.legal()
        showcase.apply(self.rules, self.table, self.view, showcase_state.TRUMP, np.uint64(1 << TRUMPS.index(trump)))
        return self

    def play_out(self, until: str) -> Showcase:
        """Play the lowest legal card until a phase is reached."""
        while self.phase != until:
            legal = self.legal()
            self.play(min(legal, key=parse_card))
        return self

    def count(self, seat: str) -> int:
        """Tricks of which both cards still lie in the showcase (S8)."""
        place = "NS".index(seat)
        if self.phase == "first":
            return int(int(self.view.owned[place]) & ~int(self.view.broken)).bit_count()
        return int(self.view.count[place])
