"""What a simulation is asked to do, checked once before any work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from simcore import __version__
from simcore.cards import SEATS
from simcore.deals.conditions import parse_condition
from simcore.deals.constrained import Plan, make_plan
from simcore.deals.pbn import parse_partial_deal, read_deals
from simcore.errors import BadInput
from simcore.plugins import Decision
from simcore.rng import STREAM_VERSION, draw_seed, parse_seed
from simcore.rules import TRUMPS, Ruleset, load_ruleset
from simcore.specs import Player, parse_player

__all__ = [
    "GAME_SEATS",
    "PAIRINGS",
    "SCHEMA_VERSION",
    "Config",
    "check_text",
    "dealing_plan",
    "is_whole",
    "make_config",
    "parse_pairs",
    "seat_index",
]

SCHEMA_VERSION = 1
GAME_SEATS = {"elections": SEATS, "showcase": "NS"}
#: Names of the pairings by N's partner, as the kernels number them (partner = seat ^ pairing).
PAIRINGS = {"NE": 1, "NS": 2, "NW": 3}
_INDEX_LIMIT = 1 << 63


@dataclass(frozen=True)
class Config:
    """A complete, validated simulation: the same config gives the same rows, byte for byte."""

    game: str
    ruleset: Ruleset
    seed: int
    first: int
    deals: int
    players: tuple[Player, ...]
    contract: str | None = None  # Elections: an id, "all", "random"; None plays the auction
    pairs: str | None = None  # "lot", NS, NE, NW; None by chance
    declarer: str | None = None
    trump: str | None = None  # Showcase: a trump, "all"; None asks the namer
    dealer: str | None = None
    given: np.ndarray | None = None  # hands from a file, uint64[deals, 4]
    hands: bool = False
    rounds: bool = False
    known: str | None = None  # partial deal, PBN
    where: str | None = None  # condition

    @cached_property
    def plan(self) -> Plan | None:
        """How to deal under known cards and condition; None where there are none."""
        if self.known is None and self.where is None:
            return None
        return dealing_plan(self.game, self.known, self.where)

    @property
    def outside(self) -> list[Decision]:
        """The decisions that are made outside the kernels."""
        return [decision for player in self.players for decision in player.outside if decision is not None]

    @property
    def notes(self) -> list[str]:
        """What a user should know before the run starts."""
        # files only: a built-in player that searches takes its time for good reason
        slow = sorted({decision.player for decision in self.outside if decision.sha256 and not decision.compiled})
        notes = [f"player {player!r} is plain Python: thousands of times slower than with @njit" for player in slow]
        clocked = sorted({decision.player for decision in self.outside if decision.clocked})
        notes += [f"player {player!r} thinks by the clock: the run is not reproducible" for player in clocked]
        if any(decision.specialise for decision in self.outside):
            notes.append("compiling the kernels with the players' functions (about 15 seconds)")
        return notes

    @property
    def slow(self) -> bool:
        """Tell whether Python decides anything: then the run is cut into smaller pieces."""
        return any(not decision.compiled for decision in self.outside)

    @property
    def rows_per_deal(self) -> int:
        """How many rows a deal makes."""
        if self.contract == "all":
            return len(self.ruleset.contracts)
        return len(TRUMPS) if self.trump == "all" else 1

    def describe(self) -> dict[str, Any]:
        """Everything the rows depend on, as plain data (threads, paths and limits do not belong to it)."""
        given = None
        if self.given is not None:
            given = hashlib.sha256(np.ascontiguousarray(self.given, dtype="<u8").tobytes()).hexdigest()
        return {
            "schema_version": SCHEMA_VERSION,
            "simcore": __version__,
            "stream_version": STREAM_VERSION,
            "game": self.game,
            "ruleset": self.ruleset.name,
            "ruleset_hash": self.ruleset.hash,
            "seed": str(self.seed),
            "first": self.first,
            "deals": self.deals,
            "players": {seat: p.spec for seat, p in zip(GAME_SEATS[self.game], self.players, strict=True)},
            "player_files": {decision.player: decision.sha256 for decision in self.outside if decision.sha256},
            "reproducible": not any(decision.clocked for decision in self.outside),
            "contract": self.contract,
            "pairs": self.pairs,
            "declarer": self.declarer,
            "trump": self.trump,
            "dealer": self.dealer,
            "given_deals": given,
            "known": self.known,
            "where": self.where,
            "hands": self.hands,
            "rounds": self.rounds,
        }

    @property
    def specs(self) -> dict[str, str]:
        """The players as they were given, by seat, with how files' functions are called; empty where that says no more."""
        specs = {seat: player.given for seat, player in zip(GAME_SEATS[self.game], self.players, strict=True)}
        return specs if specs != self.describe()["players"] else {}

    @cached_property
    def hash(self) -> str:
        """SHA-256 over :meth:`describe`."""
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()


def dealing_plan(game: str, known: str | None, where: str | None) -> Plan:
    """Return how to deal under a partial PBN deal and a condition.

    Raises:
        SimcoreError: notation or condition cannot be read, or no deal satisfies them.
    """
    seats = GAME_SEATS[game]
    masks = np.zeros(len(seats), np.uint64) if known is None else parse_partial_deal(known, seats)
    condition = None if where is None else parse_condition(where, seats)
    return make_plan(masks, [13] * len(seats), condition, seats=seats)


def seat_index(seat: str, game: str, what: str) -> int:
    """Return a seat's number.

    Raises:
        BadInput: no such seat in the game.
    """
    seats = GAME_SEATS[game]
    if not isinstance(seat, str) or len(seat) != 1 or seat.upper() not in seats:
        raise BadInput(f"{what} {seat!r} is not a seat of {game}; accepted: {' '.join(seats)}")
    return seats.index(seat.upper())


def is_whole(value: Any, low: int, high: int = 1 << 63) -> bool:
    """Tell whether something is a whole number in a range; 2.5 and True are none."""
    return not isinstance(value, bool) and isinstance(value, Integral) and low <= int(value) <= high


def parse_pairs(text: str) -> str:
    """Return a pairing as ``lot``, ``NS``, ``NE`` or ``NW``.

    Raises:
        BadInput: something else.
    """
    word = text.lower() if text.lower() == "lot" else text.upper()
    if word not in ("lot", *PAIRINGS):
        raise BadInput(f"pairs {text!r} is unknown; accepted: lot, {', '.join(PAIRINGS)} (N's side)")
    return word


def check_text(name: str, value: Any) -> None:
    """Refuse an option that is no text.

    Raises:
        BadInput: it is something else.
    """
    if not isinstance(value, str):
        raise BadInput(f"{name} {value!r} is not accepted; accepted: text, as on the command line")


def _check_kinds(whole: Mapping[str, Any], text: Mapping[str, Any], flags: Mapping[str, Any] | None = None) -> None:
    """Refuse values of options, by name, that are of another kind: what a command line cannot give, but Python can."""
    for name, value in whole.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer))):
            raise BadInput(f"{name} {value!r} is not accepted; accepted: a whole number")
    for name, value in (flags or {}).items():
        if not isinstance(value, (bool, np.bool_)):
            raise BadInput(f"{name} {value!r} is not accepted; accepted: True or False")
    for name, value in text.items():
        if value is not None:
            check_text(name, value)


def _players(
    game: str, players: str, by_seat: Mapping[str, str] | Sequence[str], files: Mapping[str, Path] | None
) -> tuple[Player, ...]:
    seats = GAME_SEATS[game]
    specs = [players] * len(seats)
    if not isinstance(by_seat, Mapping):
        pairs = {}
        if not isinstance(by_seat, Sequence):
            raise BadInput(f"player {by_seat!r} is not accepted; accepted: a mapping of seats, or a list of 'SEAT=SPEC'")
        for item in [by_seat] if isinstance(by_seat, str) else by_seat:
            check_text("player", item)
            seat, equals, spec = item.partition("=")
            if not equals:
                raise BadInput(f"player {item!r} names no seat; accepted: SEAT=SPEC, as in 'N=greedy'")
            if seat in pairs:
                raise BadInput(f"player {item!r}: seat {seat!r} is given twice")
            pairs[seat] = spec
        by_seat = pairs
    for seat, spec in by_seat.items():
        check_text(f"player of seat {seat!r}:", spec)
        specs[seat_index(seat, game, "player seat")] = spec
    return tuple(parse_player(spec, game, files) for spec in specs)


def make_config(
    game: str,
    *,
    ruleset: str | Path | Ruleset | None = None,
    seed: int | str | None = None,
    first: int = 0,
    deals: int | None = None,
    players: str = "random",
    player: Mapping[str, str] | Sequence[str] = (),
    contract: str | None = None,
    pairs: str | None = None,
    declarer: str | None = None,
    trump: str | None = None,
    dealer: str | None = None,
    file: str | Path | None = None,
    hands: bool = False,
    rounds: bool = False,
    known: str | None = None,
    where: str | None = None,
    player_files: Mapping[str, Path] | None = None,
) -> Config:
    """Check and complete the options of a simulation.

    Args:
        game: ``elections`` or ``showcase``.
        ruleset: shipped name, ``.toml`` file or Ruleset; default: the game's own.
        seed: 0 to 2**128 - 1; None draws one from the operating system.
        first, deals: index range; ``deals`` defaults to 10,000, or to all deals of ``file``.
        players, player: SPEC for all seats, and for single seats (mapping or ``SEAT=SPEC`` items).
        contract, pairs, declarer: Elections without the auction; see the README.
        trump: Showcase with a trump given, or ``all``.
        dealer: the same dealer in every deal, instead of by lot.
        file: a PBN file of deals to play instead of random ones; index i is the file's deal i.
        hands: add the hands to the rows.
        rounds: make the table of full rounds (E18).
        known: a partial PBN deal: these cards are fixed, the rest is dealt uniformly.
        where: a condition on the deals (docs/conditions.md); deals are uniform among those that satisfy it.
        player_files: where players' files lie, by the names they have in ``players`` and ``player``; default: where these say.

    Raises:
        SimcoreError: naming the option, its value and what is accepted.
    """
    if game not in GAME_SEATS:
        raise BadInput(f"game {game!r} is unknown; accepted: {', '.join(GAME_SEATS)}")
    _check_kinds(
        {"first": first, "deals": deals},
        {"players": players, "known": known, "where": where},
        {"hands": hands, "rounds": rounds},
    )
    first, deals = int(first), None if deals is None else int(deals)
    if file is not None and not isinstance(file, (str, PathLike)):
        raise BadInput(f"file {file!r} is not accepted; accepted: a path")
    rules = load_ruleset(ruleset if ruleset is not None else game, game)
    if game == "showcase":
        for name, value in (("contract", contract), ("pairs", pairs), ("declarer", declarer), ("file", file)):
            if value is not None:
                raise BadInput(f"{name} {str(value)!r} does not go with showcase; accepted: with elections only")
        if rounds:
            raise BadInput("rounds do not go with showcase; accepted: with elections only")
    elif trump is not None:
        raise BadInput(f"trump {trump!r} does not go with elections; accepted: with showcase only (elections takes contract)")
    if contract is not None and contract not in ("all", "random"):
        rules.contract(contract)
    if contract is None and (pairs is not None or declarer is not None):
        name, value = ("pairs", pairs) if pairs is not None else ("declarer", declarer)
        raise BadInput(f"{name} {value!r} needs a contract; accepted: together with contract ID, all or random")
    if trump is not None and trump not in (*TRUMPS, "all"):
        raise BadInput(f"trump {trump!r} is unknown; accepted: {', '.join(TRUMPS)}, all")
    if rounds and contract == "all":
        raise BadInput("rounds do not go with contract 'all': a round is eight deals, each played once")
    given = None
    if file is not None:
        given = read_deals(file)
        if not 0 <= first < len(given):
            raise BadInput(f"first {first} is not in the file {str(file)!r}; accepted: 0 to {len(given) - 1}")
        given = given[first:]
        deals = len(given) if deals is None else deals
        if deals > len(given):
            raise BadInput(
                f"deals {deals} from index {first} is more than the file {str(file)!r} holds; accepted: up to {len(given)}"
            )
        given = given[:deals]
        for name, value in (("known", known), ("where", where)):
            if value is not None:
                raise BadInput(f"{name} {value!r} does not go with a file of deals")
    deals = 10_000 if deals is None else deals
    if deals < 1 or first < 0 or first + deals > _INDEX_LIMIT:
        raise BadInput(f"deals {deals} from index {first} are out of range; accepted: at least 1 deal, indices 0 to 2**63 - 1")
    config = Config(
        game=game,
        ruleset=rules,
        seed=draw_seed() if seed is None else parse_seed(seed),
        first=first,
        deals=deals,
        players=_players(game, players, player, player_files),
        contract=contract,
        pairs=None if pairs is None else parse_pairs(pairs),
        declarer=None if declarer is None else GAME_SEATS[game][seat_index(declarer, game, "declarer")],
        trump=trump,
        dealer=None if dealer is None else GAME_SEATS[game][seat_index(dealer, game, "dealer")],
        given=given,
        hands=bool(hands),
        rounds=bool(rounds),
        known=known,
        where=where,
    )
    if config.plan is not None and config.contract is None and rounds:
        raise BadInput("rounds do not go with known cards or a condition: a round is eight random deals")
    return config
