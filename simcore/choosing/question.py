"""A question about one hand of Elections, checked once before any work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from simcore import __version__
from simcore.batches.config import GAME_SEATS, PAIRINGS, Config, is_whole, make_config, seat_index
from simcore.cards import SEATS, Hand, format_hand, parse_hand
from simcore.elections.auction import legal_calls, legal_contracts
from simcore.elections.engine import start_deal
from simcore.elections.state import AUCTION, NAMING, new_table, new_view
from simcore.elections.trace import make_calls
from simcore.elections.worlds import BY_LOT
from simcore.errors import BadInput
from simcore.rng import STREAM_VERSION
from simcore.rules import Ruleset
from simcore.solvers import MOST_PLIES, PLIES_ACCEPTED, is_plies

__all__ = [
    "MAX_DEALS",
    "MAX_SOLVED",
    "METHODS",
    "OBJECTIVES",
    "ElectionsQuestion",
    "action_bounds",
    "contract_bounds",
    "parse_calls",
    "parse_seconds",
]

#: What may be asked for, in the order of the kernels' RESULTS, with the divisor of these whole numbers.
OBJECTIVES = {"relative": 3, "margin": 1, "win": 1, "credit": 1}
MAX_DEALS = 100_000
#: Hands asked about on average, by default.
MAX_HANDS = 4000
#: Worlds solved exactly, by default.
MAX_SOLVED = 200
METHODS = ("rollout", "double-dummy", "both")
_MOST_DEALS = 1 << 20


@dataclass(frozen=True)
class ElectionsQuestion:
    """A checked question: who holds what, what was heard, and what may be done now; or, without a hand, about hands on average."""

    config: Config
    seat: int  # -1 without a hand
    hand: int  # 0 without a hand
    lots: int  # 0 unknown, else as the kernels number pairings
    calls: tuple[tuple[str, str], ...]
    partner: str
    objective: str
    confidence: float
    max_deals: int
    max_time: float | None
    contracts: tuple[int, ...]  # contracts to compare as declarer
    actions: tuple[int, ...]  # what the seat may do now: calls, or contracts to name
    action_table: str
    found: int  # pairing found by the auction, BY_LOT where the lots decide, 0 while it is open
    method: str
    max_solved: int
    max_plies: int | None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        *,
        hand: str | Hand | None = None,
        seat: str | None = None,
        dealer: str | None = None,
        lot: str | None = None,
        calls: str | Sequence[tuple[str, str]] | None = None,
        partner: str = "any",
        ruleset: str | Path | Ruleset | None = None,
        players: str = "expert",
        player: Mapping[str, str] | Sequence[str] = (),
        objective: str = "relative",
        confidence: float = 0.95,
        method: str = "rollout",
        max_deals: int | None = None,
        max_solved: int | None = None,
        max_plies: int | None = MOST_PLIES,
        max_time: float | str | None = None,
        seed: int | str | None = None,
    ) -> ElectionsQuestion:
        """Check a question.

        Args:
            hand: 13 cards, PBN or a Hand; None asks about random hands (average.py), and seat, dealer, lot, calls, a partner's
                seat and exact values do not go with that.
            seat: who holds them.
            dealer: needed with calls, and to ask what to call.
            lot: the lot pair of some seat, as NS or SW (E1); None: any, drawn in each world.
            calls: what was called so far, as ``E pass, S clubs`` or pairs.
            partner: of the contracts compared: a seat, ``lot`` or ``any`` (drawn in each world).
            players, player: the model of all seats, and of single ones, as in ``simulate``.
            objective: ``relative`` (credit, E17), ``margin``, ``win`` or ``credit``.
            confidence: of never calling a choice the best that is not.
            method: ``rollout``, ``double-dummy`` (exact values of the contracts, all hands seen) or ``both``.
            max_deals: most worlds to draw, by default 100,000; with ``double-dummy`` to solve, 200; without a hand hands, 4,000.
            max_solved: most worlds to solve with ``both``, 200 by default.
            max_plies: of exact values: plies after which a contract in a world is given up, and solving ended; None: never.
            max_time: seconds, also as ``60s`` or ``2m``; makes the answer depend on the machine.
            seed: as in ``simulate``.

        Raises:
            SimcoreError: naming the option, its value and what is accepted.
        """
        config = make_config("elections", ruleset=ruleset, seed=seed, deals=1, players=players, player=player, dealer=dealer)
        if hand is None:
            for name, given in (("seat", seat), ("dealer", dealer), ("lot", lot), ("calls", calls), ("max solved", max_solved)):
                if given is not None:
                    raise BadInput(f"{name} {given!r} needs a hand; accepted: together with one, as in 'AKQ.T98.75.65432'")
            if partner not in ("any", "lot"):
                raise BadInput(f"partner {partner!r} needs a hand; accepted: any, lot")
            if method != "rollout":
                raise BadInput(f"method {method!r} needs a hand; accepted: rollout")
        elif seat is None:
            raise BadInput(f"hand {str(hand)!r} needs a seat; accepted: N E S W")
        me = -1 if seat is None else seat_index(seat, "elections", "seat")
        heard = parse_calls(calls)
        if heard and config.dealer is None:
            raise BadInput(f"calls {calls!r} need a dealer (E3); accepted: together with dealer N, E, S or W")
        if objective not in tuple(OBJECTIVES):
            raise BadInput(f"objective {objective!r} is unknown; accepted: {', '.join(OBJECTIVES)}")
        if method not in METHODS:
            raise BadInput(f"method {method!r} is unknown; accepted: {', '.join(METHODS)}")
        seconds = check_limits(confidence, max_deals, max_time)
        check_limits(confidence, max_solved, None, "max solved")
        if method == "rollout" and max_solved is not None:
            raise BadInput(f"max solved {max_solved!r} does not go with method 'rollout'; accepted: with double-dummy or both")
        if max_plies is not None and not is_plies(max_plies):
            raise BadInput(f"max plies {max_plies!r} is out of range; accepted: {PLIES_ACCEPTED}, or None for no limit")
        if method == "rollout":
            if max_plies != MOST_PLIES:
                raise BadInput(f"max plies {max_plies!r} does not go with method 'rollout'; accepted: with double-dummy or both")
            max_plies = None
        signs = [contract.id for contract in config.ruleset.contracts if contract.two_signs]
        if method != "rollout" and signs and config.ruleset.choices["result"] == "both-signs":
            raise BadInput(
                f"method {method!r} does not go with result 'both-signs' of ruleset {config.ruleset.name!r}: whether {signs[0]} is "
                "won does not follow from its exact margin (E16); accepted: method rollout"
            )
        contracts, actions, table, found, notes = _what_now(config, me, heard)
        if method == "double-dummy" and table == "call":
            actions, table = (), ""
            notes = (*notes, "no calls are compared: that needs rollouts (method rollout or both)")
        if max_solved is None:
            max_solved = max_deals if method == "double-dummy" and max_deals is not None else MAX_SOLVED
        if max_deals is None:
            max_deals = MAX_DEALS if hand is not None else MAX_HANDS
        return cls(
            config=config,
            seat=me,
            hand=0 if hand is None else parse_hand(str(hand), size=13),
            lots=0 if lot is None else _parse_lot(lot),
            calls=heard,
            partner=_parse_partner(partner, me),
            objective=objective,
            confidence=float(confidence),
            max_deals=int(max_deals),
            max_time=seconds,
            contracts=contracts,
            actions=actions,
            action_table=table,
            found=found,
            method=method,
            max_solved=int(max_solved),
            max_plies=max_plies,
            notes=notes,
        )

    def describe(self) -> dict[str, Any]:
        """Everything the answer depends on, as plain data."""
        config = self.config
        return {
            "simcore": __version__,
            "stream_version": STREAM_VERSION,
            "game": config.game,
            "method": self.method,
            "ruleset": config.ruleset.name,
            "ruleset_hash": config.ruleset.hash,
            "seed": str(config.seed),
            "about": "hand" if self.hand else "average",
            "hand": format_hand(self.hand) if self.hand else None,
            "seat": SEATS[self.seat] if self.hand else None,
            "dealer": config.dealer,
            "lot": None if self.lots == 0 else _pairing_word(self.lots),
            "calls": [list(call) for call in self.calls],
            "partner": self.partner,
            "players": {seat: p.spec for seat, p in zip(GAME_SEATS["elections"], config.players, strict=True)},
            "player_files": {decision.player: decision.sha256 for decision in config.outside if decision.sha256},
            "objective": self.objective,
            "confidence": self.confidence,
            "max_deals": self.max_deals,
            "max_solved": None if self.method == "rollout" else self.max_solved,
            "max_plies": "none" if self.method != "rollout" and self.max_plies is None else self.max_plies,
            "max_time": self.max_time,
            "reproducible": self.max_time is None,
        }


def check_limits(confidence: Any, most: int | None, max_time: float | str | None, what: str = "max deals") -> float | None:
    """Refuse what no sampling can keep to; returns the most seconds.

    Raises:
        BadInput: naming the option, its value and what is accepted.
    """
    if not isinstance(confidence, int | float) or not 0.5 <= confidence < 1:
        raise BadInput(f"confidence {confidence!r} is out of range; accepted: 0.5 up to less than 1, as in 0.95")
    if most is not None and not is_whole(most, 1, _MOST_DEALS):
        raise BadInput(f"{what} {most!r} is out of range; accepted: a whole number, 1 to {_MOST_DEALS:,}")
    return None if max_time is None else parse_seconds(max_time)


def parse_calls(calls: str | Sequence[tuple[str, str]] | None) -> tuple[tuple[str, str], ...]:
    """Read calls: ``E pass, S clubs``.

    Raises:
        BadInput: something that is not a seat and a word.

    >>> parse_calls("e pass, S clubs")
    (('E', 'pass'), ('S', 'clubs'))
    """
    if calls is None:
        return ()
    items: Any = calls
    if not isinstance(items, Sequence):
        raise BadInput(f"calls {calls!r} are no seats and calls; accepted: as in 'E pass, S clubs'")
    if isinstance(calls, str):
        items = [item.split() for item in calls.split(",")] if calls.strip() else []
    heard = []
    for words in items:
        pair = isinstance(words, Sequence) and not isinstance(words, str)
        if not pair or len(words) != 2 or str(words[0]).upper() not in tuple(SEATS):
            shown = " ".join(map(str, words)) if pair else str(words)
            raise BadInput(f"call {shown!r} in {calls!r} is not a seat and a call; accepted: as in 'E pass, S clubs'")
        heard.append((str(words[0]).upper(), str(words[1]).lower()))
    return tuple(heard)


def parse_seconds(text: float | str) -> float:
    """Read a time: seconds, or a number with ``s``, ``m`` or ``h``.

    Raises:
        BadInput: something else, or not more than nothing.

    >>> parse_seconds("60s"), parse_seconds("1.5m"), parse_seconds(10)
    (60.0, 90.0, 10.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([smh]?)", str(text).strip())
    seconds = float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]] if found else 0.0
    if not 0 < seconds <= 1e7:
        raise BadInput(f"time {text!r} is not accepted; accepted: seconds, more than 0, as in '60s' or '2m'")
    return seconds


def _parse_lot(text: str) -> int:
    """Return a lot pair as the kernels number pairings."""
    word = str(text).upper()
    if len(word) != 2 or word[0] == word[1] or not set(word) <= set(SEATS):
        raise BadInput(f"lot pair {text!r} is not two seats; accepted: as in NS or SW (E1)")
    return SEATS.index(word[0]) ^ SEATS.index(word[1])


def _pairing_word(pairing: int) -> str:
    return next(word for word, number in PAIRINGS.items() if number == pairing)


def _parse_partner(text: str, seat: int) -> str:
    word = str(text).lower() if str(text).lower() in ("lot", "any") else str(text).upper()
    if word in ("lot", "any") or (word in tuple(SEATS) and word != SEATS[seat]):
        return word
    raise BadInput(f"partner {text!r} is not accepted; accepted: lot, any, {', '.join(s for s in SEATS if s != SEATS[seat])}")


def _what_now(
    config: Config, seat: int, calls: tuple[tuple[str, str], ...]
) -> tuple[tuple[int, ...], tuple[int, ...], str, int, tuple[str, ...]]:
    """Return the contracts to compare, the actions of the seat, the name of their table, the pairing found, and notes.

    Raises:
        BadInput: a call is not legal, or the seat has nothing left to choose.
    """
    everything = tuple(range(len(config.ruleset.contracts)))
    if config.dealer is None:
        return everything, (), "", 0, ("no calls are compared: that needs to know the dealer",) if seat >= 0 else ()
    rules = config.ruleset.record[0]
    table, view = new_table()[0], new_view()[0]
    start_deal(table, view, SEATS.index(config.dealer), 1)

    def bad(text: str) -> NoReturn:
        raise BadInput(text)

    make_calls(config.ruleset, table, view, calls, bad)
    turn = SEATS[table.turn]
    if table.phase == AUCTION:
        if table.turn == seat:
            return everything, _bits(legal_calls(rules, view, seat)), "call", 0, ()
        return everything, (), "", 0, (f"no calls are compared: it is {turn}'s turn",)
    if table.phase == NAMING and table.turn == seat:
        note = f"the auction is over: {turn} names the contract (E11)"
        found = int(view.pairing) if view.matched else BY_LOT
        return (), _bits(legal_contracts(rules, view)), "contract", found, (note,)
    why = f"{turn} names the contract (E11)" if table.phase == NAMING else "nothing is played (E8, E9)"
    said = ", ".join(" ".join(call) for call in calls)
    raise BadInput(f"after the calls {said!r} {SEATS[seat]} has no choice: {why}; accepted: calls up to {SEATS[seat]}'s turn")


def _bits(mask: Any) -> tuple[int, ...]:
    return tuple(bit for bit in range(64) if int(mask) >> bit & 1)


def contract_bounds(ruleset: Ruleset, contract: int, objective: str) -> tuple[int, int]:
    """Return the bounds of a declarer's whole-number result (RESULTS) in a contract."""
    if objective == "win":
        return 0, 1
    terms = ruleset.contracts[contract]
    cards = list(terms.card_signs.values())
    highest = max(13 * terms.trick, 0) + max(terms.most_tricks, 0) + sum(plus for plus, _ in cards)
    lowest = min(13 * terms.trick, 0) + min(terms.most_tricks, 0) + sum(minus for _, minus in cards)
    if objective == "credit":
        return lowest, highest
    if objective == "margin":
        return lowest - highest, highest - lowest
    bonus = 2 * ruleset.failure_bonus
    return 2 * (lowest - highest) - max(bonus, 0), 2 * (highest - lowest) - min(bonus, 0)


def action_bounds(ruleset: Ruleset, objective: str) -> tuple[int, int]:
    """Return bounds of a call's result: any contract, either side, or nothing played."""
    if objective == "win":
        return 0, 1
    pairs = [contract_bounds(ruleset, contract, objective) for contract in range(len(ruleset.contracts))]
    low, high = min(0, *(pair[0] for pair in pairs)), max(0, *(pair[1] for pair in pairs))
    bonus = abs(ruleset.failure_bonus) * (0 if objective == "margin" else 1)
    if objective == "relative":  # a defender's is an attacker's turned round
        return min(low, -high), max(high, -low)
    return low - bonus, high + bonus
