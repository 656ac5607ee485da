"""What is compared, checked once before any work: players, deals, and who sits where.

A *seating* names the player of each seat by a letter, in the order of the seats (N E S W, or N S).  Every pair of players plays
every deal in every seating, so that luck of the cards and of the seat falls on both alike:

    Elections, contract forced   AABB BBAA   N and E are partners      declarer by lot, one a deal
                                 ABAB BABA   N and S
                                 ABBA BAAB   N and W
    Elections, auction           the same six: every way to seat two of each; sides are found by the auction
    Showcase                     AB BA

A seat's random stream depends on seed, deal and seat alone, so that in all seatings everyone draws the same numbers.  What is
independent is a *unit*, the deal with all its seatings, and where there is an auction the round (eight deals share lots, E1).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from simcore.batches.config import GAME_SEATS, Config, check_text, is_whole, make_config, parse_pairs
from simcore.contests.sequential import Sprt, parse_sprt
from simcore.errors import BadInput
from simcore.rules import TRUMPS, Contract, Ruleset
from simcore.specs import Player, parse_player

__all__ = ["Cell", "Contest", "make_contest"]

#: Seatings by the side of N.
_SEATINGS = {"NE": ("AABB", "BBAA"), "NS": ("ABAB", "BABA"), "NW": ("ABBA", "BAAB")}
_TWO_SEATS = ("AB", "BA")
_ROUND = 8
#: Deals by default, and where a sequential test ends the work.
DEALS, SPRT_DEALS = 1000, 10_000
MOST_PLAYERS = 20


@dataclass(frozen=True)
class Cell:
    """A pair of players (by number) and a contract or trump: what is played and judged by itself."""

    a: int
    b: int
    contract: str | None


@dataclass(frozen=True)
class Contest:
    """A checked comparison: the same contest gives the same rows, byte for byte.

    ``base`` says which deals; its players are those of the first seating and mean nothing.
    """

    base: Config
    players: tuple[Player, ...]
    contracts: tuple[str | None, ...]
    seatings: tuple[str, ...]
    confidence: float
    sprt: Sprt | None
    solved: int  # deals of each cell whose cards are judged by exact solving
    solve_from: int  # from this trick on
    given: Mapping[str, str] = field(default_factory=dict, compare=False)  # ruleset and file as they were named

    @property
    def game(self) -> str:
        """The game."""
        return self.base.game

    @property
    def ruleset(self) -> Ruleset:
        """The ruleset."""
        return self.base.ruleset

    @property
    def auction(self) -> bool:
        """Whether the players call; the unit is then the round."""
        return self.game == "elections" and self.contracts == (None,)

    @property
    def unit(self) -> str:
        """What is independent."""
        return "round" if self.auction else "deal"

    @property
    def deals_per_unit(self) -> int:
        """How many deals a unit has."""
        return _ROUND if self.auction else 1

    @property
    def units(self) -> int:
        """How many units there are at most."""
        return self.base.deals // self.deals_per_unit

    @property
    def scale(self) -> int:
        """What a unit's sum of differences is divided by to be a mean difference a deal.

        A playing's difference is the points of one side less the other's; with the auction the credits of two seats less those of
        the other two.
        """
        return len(self.seatings) * self.deals_per_unit * (2 if self.auction else 1)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Everything that is played: pairs in the order the players were named, contracts in the ruleset's."""
        pairs = combinations(range(len(self.players)), 2)
        return tuple(Cell(a, b, contract) for a, b in pairs for contract in self.contracts)

    @property
    def slow(self) -> bool:
        """Tell whether Python decides anything: then the work is cut into smaller pieces."""
        return any(not d.compiled for player in self.players for d in player.outside if d is not None)

    @property
    def notes(self) -> list[str]:
        """What a user should know before the work starts."""
        return list(dict.fromkeys(note for player in self.players for note in self._same(player).notes))

    def _same(self, player: Player) -> Config:
        """Return the config with one player in every seat."""
        return replace(self.base, players=(player,) * len(GAME_SEATS[self.game]))

    def config(self, cell: Cell, seating: str) -> Config:
        """Return the simulation that plays a cell in a seating."""
        who = {"A": self.players[cell.a], "B": self.players[cell.b]}
        config = replace(self.base, players=tuple(who[letter] for letter in seating))
        if self.game == "showcase":
            return replace(config, trump=cell.contract)
        if cell.contract is None:
            return config
        return replace(config, contract=cell.contract, pairs=self.pairs_of(seating))

    def bound(self, contract: str | None) -> int:
        """Return the largest difference a playing can have."""
        if self.game == "showcase":
            return 13
        played = [self.ruleset.contract(contract)] if contract is not None else list(self.ruleset.contracts)
        most = max(_margin_bound(terms) for terms in played)
        return 2 * (most + abs(self.ruleset.failure_bonus)) if self.auction else most

    def command(self) -> list[str]:
        """Return the words of the command that makes this comparison again."""
        words = ["simcore", "compare", self.game, *(_given(player) for player in self.players), *self._deal_options()]
        words += ["--deals", str(self.base.deals), "--first", str(self.base.first), "--seed", str(self.base.seed)]
        if self.contracts != (None,):
            what = "--trump" if self.game == "showcase" else "--contract"
            words += [what, str(self.contracts[0]) if len(self.contracts) == 1 else "all"]
        if len(self.seatings) == 2 and self.game == "elections":
            words += ["--pairs", self.pairs_of(self.seatings[0])]
        words += ["--confidence", _exact(self.confidence)]
        if self.sprt is not None:
            words += ["--sprt", " ".join(_exact(value) for value in self.sprt.describe().values())]
        return [*words, "--solved", str(self.solved), "--solve-from", str(self.solve_from)]

    @property
    def as_named(self) -> dict[str, Any]:
        """How players, ruleset and file were named, where that says more than :meth:`describe`: for the folder's manifest."""
        specs = [_given(player) for player in self.players]
        named: dict[str, Any] = {} if specs == [player.spec for player in self.players] else {"specs": specs}
        given = {key: value for key, value in self.given.items() if (key, value) != ("ruleset", self.ruleset.name)}
        return named | ({"given": given} if given else {})

    def replay_command(self, cell: Cell, seating: str, deal: int) -> list[str]:
        """Return the words of the command that shows one playing."""
        words = ["simcore", "replay", self.game, *self._deal_options(), "--seed", str(self.base.seed), "--first", str(deal)]
        config = self.config(cell, seating)
        for name in ("contract", "pairs", "trump"):
            value = getattr(config, name)
            words += [] if value is None else [f"--{name}", str(value)]
        seats = zip(GAME_SEATS[self.game], config.players, strict=True)
        return [*words, *(word for seat, player in seats for word in ("--player", f"{seat}={_given(player)}"))]

    def _deal_options(self) -> list[str]:
        """Return the options that say which deals these are, but for seed and indices."""
        base = self.base
        values = {"ruleset": self.given.get("ruleset", base.ruleset.name), "file": self.given.get("file")}
        values |= {name: getattr(base, name) for name in ("declarer", "dealer", "known", "where")}
        return [word for name, value in values.items() if value is not None for word in (f"--{name}", str(value))]

    @staticmethod
    def pairs_of(seating: str) -> str:
        """Return N's side in a seating of Elections."""
        return next(name for name, seatings in _SEATINGS.items() if seating in seatings)

    def describe(self) -> dict[str, Any]:
        """Everything the rows depend on, as plain data (threads and paths do not belong to it)."""
        base = self.base.describe()
        for key in ("players", "player_files", "contract", "pairs", "trump", "hands", "rounds"):
            del base[key]
        outside = [d for player in self.players for d in player.outside if d is not None]
        return base | {
            "command": "compare",
            "players": [player.spec for player in self.players],
            "player_files": {d.player: d.sha256 for d in outside if d.sha256},
            "reproducible": not any(d.clocked for d in outside),
            "contracts": list(self.contracts),
            "seatings": list(self.seatings),
            "confidence": self.confidence,
            "sprt": None if self.sprt is None else self.sprt.describe(),
            "solved": self.solved,
            "solve_from": self.solve_from,
        }

    @property
    def hash(self) -> str:
        """SHA-256 over :meth:`describe`."""
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()


def _margin_bound(terms: Contract) -> int:
    """Return the most by which one side's points can be above the other's."""
    cards = list(terms.card_signs.values())
    highest = max(13 * terms.trick, 0) + max(terms.most_tricks, 0) + sum(plus for plus, _ in cards)
    lowest = min(13 * terms.trick, 0) + min(terms.most_tricks, 0) + sum(minus for _, minus in cards)
    return highest - lowest


def _contracts(game: str, rules: Ruleset, contract: str | None, trump: str | None) -> tuple[str | None, ...]:
    """Return what is forced."""
    if game == "showcase":
        if contract is not None:
            raise BadInput(f"contract {contract!r} does not go with showcase; accepted: trump T or all")
        if trump is not None and trump not in (*TRUMPS, "all"):
            raise BadInput(f"trump {trump!r} is unknown; accepted: {', '.join(TRUMPS)}, all")
        return TRUMPS if trump == "all" else (trump,)
    if trump is not None:
        raise BadInput(f"trump {trump!r} does not go with elections; accepted: contract ID, all or auction")
    if contract is None or contract == "auction":
        return (None,)
    if contract == "all":
        return rules.contract_ids
    if contract not in rules.contract_ids:
        raise BadInput(f"contract {contract!r} is unknown; accepted: {', '.join(rules.contract_ids)}, all, auction")
    return (contract,)


def _seatings(game: str, contracts: tuple[str | None, ...], pairs: str | None) -> tuple[str, ...]:
    """Return who sits where."""
    if game == "showcase":
        if pairs is not None:
            raise BadInput(f"pairs {pairs!r} do not go with showcase; accepted: with elections and a contract")
        return _TWO_SEATS
    if pairs is None or pairs == "all":
        return tuple(seating for both in _SEATINGS.values() for seating in both)
    name = parse_pairs(pairs) if pairs != "lot" else "lot"
    if name == "lot" or contracts == (None,):
        where = "with a contract" if name != "lot" else "here, since lots pair other seats in every round"
        raise BadInput(f"pairs {pairs!r} are accepted {'only ' if name != 'lot' else 'not '}{where}; accepted: NE, NS, NW, all")
    return _SEATINGS[name]


def _players(specs: Sequence[str], game: str, files: Mapping[str, Path] | None = None) -> tuple[Player, ...]:
    if not 2 <= len(specs) <= MOST_PLAYERS:
        raise BadInput(f"{len(specs)} player(s) named; accepted: 2 to {MOST_PLAYERS}")
    players = tuple(parse_player(spec, game, files) for spec in specs)
    names = [player.spec for player in players]  # without how files' functions are called: that changes no decision
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"player {name!r} is named twice; against itself every difference is 0; accepted: different players")
    return players


def _exact(value: float) -> str:
    """Return a number so that it is read back as the same one."""
    return repr(float(value)).removesuffix(".0")


def _given(player: Player) -> str:
    """Return a player as he was named."""
    return player.given or player.spec


def _named(value: object) -> bool:
    return isinstance(value, (str, Path))


def make_contest(
    game: str,
    players: Sequence[str],
    *,
    contract: str | None = None,
    pairs: str | None = None,
    trump: str | None = None,
    deals: int | None = None,
    sprt: str | Sequence[float] | None = None,
    confidence: float = 0.95,
    solved: int | None = None,
    solve_from: int | None = None,
    ruleset: str | Path | Ruleset | None = None,
    seed: int | str | None = None,
    first: int = 0,
    player_files: Mapping[str, Path] | None = None,
    **options: Any,
) -> Contest:
    """Check and complete the options of a comparison; see :func:`simcore.contests.verb.compare`.

    ``player_files``: where players' files lie, by the names they have in ``players``; default: where these say.

    Raises:
        SimcoreError: naming the option, its value and what is accepted.
    """
    if game not in GAME_SEATS:
        raise BadInput(f"game {game!r} is unknown; accepted: {', '.join(GAME_SEATS)}")
    whole = deals is None and options.get("file") is None
    count = (DEALS if sprt is None else SPRT_DEALS) if whole else deals
    auction = game == "elections" and contract in (None, "auction")
    if not auction and options.get("declarer") is not None:
        options["contract"] = "random"  # each cell has its own
    base = make_config(game, ruleset=ruleset, seed=seed, first=first, deals=count, **options)
    contracts = _contracts(game, base.ruleset, contract, trump)
    seatings = _seatings(game, contracts, pairs)
    for name, value in (("first", base.first), ("deals", base.deals)):
        if auction and value % _ROUND:
            nearest = value + _ROUND - value % _ROUND
            raise BadInput(f"{name} {value} cuts a round: with the auction the unit is eight deals; accepted: as {nearest}")
    if not 0.5 <= confidence <= 0.999999 or not math.isfinite(confidence):
        raise BadInput(f"confidence {confidence!r} is out of range; accepted: 0.5 to 0.999999, as in 0.95")
    for player in players:
        check_text("player", player)
    contestants = _players(list(players), game, player_files)
    if sprt is not None and len(contestants) > 2:
        raise BadInput(f"sprt {sprt!r} goes with two players; there are {len(contestants)}; accepted: without sprt, or two players")
    # a card of Elections takes longer to judge the more are still out: whole deals only where asked
    solved = 10 if solved is None else solved
    solve_from = (1 if game == "showcase" else 4) if solve_from is None else solve_from
    if not is_whole(solved, 0, 1 << 128):
        raise BadInput(f"solved deals {solved!r} are out of range; accepted: 0 or more")
    if not is_whole(solve_from, 1, 13):
        raise BadInput(f"trick {solve_from!r} to solve from is out of range; accepted: 1 to 13")
    return Contest(
        base=base,
        players=contestants,
        contracts=contracts,
        seatings=seatings,
        confidence=float(confidence),
        sprt=None if sprt is None else parse_sprt(sprt),
        solved=min(int(solved), base.deals),
        solve_from=int(solve_from),
        given={key: str(value) for key, value in (("ruleset", ruleset), ("file", options.get("file"))) if _named(value)},
    )
