"""One interface to both games' row kernels: options into a record, buffers, a chunk of deals, Arrow columns out of buffers."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from simcore._jit import WIDE_VECTORS
from simcore.batches.config import GAME_SEATS, PAIRINGS, Config
from simcore.cards import ALL_CARDS, SEATS, format_card
from simcore.deals.dealing import deal_conditioned
from simcore.players import EXPERT, RANDOM, REFUSED, SPECIALISED
from simcore.plugins import Decision, failure, specialise, stuck
from simcore.rng import SOURCE, STREAM, seed_words
from simcore.rules import TRUMPS

__all__ = ["Backend", "Buffers", "Column", "GameBackend", "Stopped", "Tally", "backend_for"]

#: Integer sums, by name; merged by adding.
Tally = dict[str, np.ndarray]


#: Seconds between looks at whether a run is being given up.
_LOOK = 0.5


class Stopped(Exception):
    """The run is being given up; what this thread was at is not wanted any more."""


#: Words of a column of cards, clubs first, low cards first.
_CARD_WORDS = tuple(format_card(card) for card in ALL_CARDS)


@dataclass(frozen=True)
class Column:
    """A column of the table: where it lies in the buffers, and its names if its numbers stand for words."""

    name: str
    buffer: str  # "names", "points" or "hands"
    place: int
    words: tuple[str, ...] | None = None
    boolean: bool = False
    nullable: bool = True
    dense: bool = False  # packed to the bits it needs, it is hardly worth compressing


@dataclass
class Buffers:
    """Rows as the kernels write them."""

    names: np.ndarray  # int8[columns, rows]
    points: np.ndarray  # int16[columns, rows]
    hands: np.ndarray  # uint64[deals, seats], without rows where nobody wants them


class Backend(Protocol):
    """A game's row kernel with its options."""

    columns: tuple[Column, ...]
    rows_per_deal: int

    def buffers(self, deals: int) -> Buffers:
        """Return empty buffers for a number of deals."""
        ...

    def new_tally(self) -> Tally:
        """Return zeros."""
        ...

    def run(self, first: int, deals: int, buffers: Buffers | None, place: int, tally: Tally) -> None:
        """Play deals from index ``first`` on into the buffers, beginning with the buffers' deal number ``place``."""
        ...

    def trace(self, index: int) -> dict[str, Any]:
        """Play one deal and return its trace."""
        ...

    def wait(self, future: Future[Any], stop: threading.Event | None = None) -> Any:
        """Return a future's result, or raise PlayerStuck, or Stopped once ``stop`` is set."""
        ...


@lru_cache(64)
def _specialised(kernel: Any, functions: tuple[Any, ...]) -> Any:
    """Compile a kernel for players' functions, once for however many backends."""
    return specialise(kernel, functions)


def _record(dtype: np.dtype[Any]) -> Any:
    return np.zeros(1, dtype).view(np.recarray)[0]


class GameBackend:
    """What backends share: options, players from outside the kernels, playing and tracing.

    Args:
        options: the dtype of the kernel's options; it has key0, key1, dealer and policies.
        kernel: takes the ruleset's record first, and returns REFUSED for an illegal action.
    """

    columns: tuple[Column, ...] = ()

    def __init__(self, config: Config, options: np.dtype[Any], kernel: Any) -> None:
        self._config = config
        self._rules = config.ruleset.record[0]
        self.rows_per_deal = config.rows_per_deal
        record = _record(options)
        record.key0, record.key1 = seed_words(config.seed)
        record.dealer = -1 if config.dealer is None else GAME_SEATS[config.game].index(config.dealer)
        self._kernel = kernel
        functions: list[Any] = []
        for seat, player in enumerate(config.players):
            for kind, policy in enumerate(player.policies):
                decision = player.outside[kind]
                record.policies[seat, kind] = policy
                if decision is not None and decision.specialise:
                    if decision.function not in functions:
                        functions.append(decision.function)
                    record.policies[seat, kind] = SPECIALISED + functions.index(decision.function)
        if functions:
            self._kernel = _specialised(kernel, tuple(functions))
        self._options = record
        limits = [decision.limit for decision in config.outside if decision.limit is not None]
        self._poll = min(0.5, min(limits) / 4) if limits else None
        # what each thread is playing, and since when it has been waiting for which decision
        self._playing: dict[int, tuple[Any, Any, Any]] = {}
        self._waiting: dict[int, tuple[int, int, float]] = {}

    def new_tally(self) -> Tally:
        """Return zeros."""
        return {} if self._config.plan is None else {"tries": np.zeros(1, np.int64)}

    def run(self, first: int, deals: int, buffers: Buffers | None, place: int, tally: Tally) -> None:
        """Play deals from index ``first`` on into the buffers, beginning with the buffers' deal number ``place``."""
        self._play(first, deals, buffers, place, tally)

    def trace(self, index: int) -> dict[str, Any]:
        """Play one deal and return its trace."""
        game = import_module(f"simcore.{self._config.game}.trace")
        play = partial(self._play, index, 1, None, 0, self.new_tally(), show=True)
        if self._config.outside:  # a thread of its own, so that limits and Ctrl-C work while a player is asked
            pool = ThreadPoolExecutor(1)
            future = pool.submit(play)
            pool.shutdown(wait=False)
            state = self.wait(future)
        else:
            state = play()
        table, view = state
        result: dict[str, Any] = game.trace(self._config.ruleset, self._config.seed, index, table, view)
        return result

    def wait(self, future: Future[Any], stop: threading.Event | None = None) -> Any:
        """Return a future's result; watches that no player takes longer for a decision than its limit.

        Raises:
            PlayerStuck: one did.
            Stopped: ``stop`` was set meanwhile.
        """
        poll = self._poll if stop is None else min(self._poll or _LOOK, _LOOK)
        while True:
            try:
                return future.result(poll)
            except TimeoutError:
                if stop is not None and stop.is_set():
                    raise Stopped from None
                self._look_for_stuck()
            except CancelledError:  # by who set it
                raise Stopped from None

    def _deciding(self, table: Any) -> Decision | None:
        """Return the decision a table waits for, if it is made outside the kernels; phases are numbered as kinds of decision."""
        decision: Decision | None = self._config.players[table.turn].outside[table.phase]
        return decision

    def _look_for_stuck(self) -> None:
        now = time.monotonic()
        for thread, (table, view, streams) in list(self._playing.items()):
            mark = (id(table), int(table.asked))
            if not table.asking or self._waiting.get(thread, (0, 0, 0.0))[:2] != mark:
                self._waiting[thread] = (*mark, now)
                continue
            decision = self._deciding(table)
            waited = now - self._waiting[thread][2]
            if decision is not None and decision.limit is not None and waited > decision.limit:
                raise stuck(self._config.game, decision, table, view, streams[table.turn], self._deal_name(table))

    def _run_kernel(self, kernel: Any, table: Any, view: Any, streams: Any, *arguments: Any, views: Any = None) -> int:
        """Run a kernel and return its count; a player's failure becomes a PlayerError.

        Args:
            views: where it plays many deals at once, what the player is shown.
        """
        thread = threading.get_ident()
        self._playing[thread] = (table, view, streams)
        try:
            count = int(kernel(self._rules, *arguments))
        except Exception as error:
            decision = self._deciding(table)
            if decision is None or not decision.specialise or not table.asking:
                raise
            decision.errors[thread] = error
            count = REFUSED
        finally:
            del self._playing[thread]
        if count == REFUSED:
            decision = self._deciding(table)
            assert decision is not None
            words = self._words(decision.kind)
            name = self._deal_name(table)
            raise failure(self._config.game, decision, table, view, self._rules, streams, words=words, deal=name, views=views)
        return count

    def _words(self, kind: str) -> tuple[str, ...]:
        """Return what the bits of an action stand for, where they are no cards."""
        rules = self._config.ruleset
        return {"call": ("pass", *rules.type_ids), "contract": rules.contract_ids, "trump": TRUMPS}.get(kind, ())

    def _deal_name(self, table: Any) -> str:
        """Name the deal being played, for errors; by default its index does."""
        return ""

    def _conditioned(self, first: int, deals: int, tally: Tally) -> tuple[np.ndarray, np.ndarray]:
        """Deal under the config's plan; returns hands and reserves."""
        assert self._config.plan is not None
        hands, reserves, tries = deal_conditioned(self._config.seed, first, deals, self._config.plan)
        tally["tries"] += tries.sum()
        return hands, reserves

    def _play(
        self, first: int, deals: int, buffers: Buffers | None, place: int, tally: Tally, show: bool = False
    ) -> tuple[Any, Any] | None:
        """Play deals; returns the last deal's final state, if it is to be shown."""
        raise NotImplementedError


class ElectionsBackend(GameBackend):
    """Elections: with the auction, one contract, a random one, or all."""

    def __init__(self, config: Config) -> None:
        from simcore.elections import rows

        super().__init__(config, rows.OPTIONS, rows.run_deals)
        self._rows = rows
        options = self._options
        special = {None: rows.WITH_AUCTION, "all": rows.ALL_CONTRACTS, "random": rows.RANDOM_CONTRACT}
        options.contract = (
            special[config.contract] if config.contract in special else config.ruleset.contract_ids.index(str(config.contract))
        )
        options.pairs = 0 if config.pairs is None else (rows.LOT_PAIRS if config.pairs == "lot" else PAIRINGS[config.pairs])
        options.declarer = -1 if config.declarer is None else SEATS.index(config.declarer)
        options.hands_given = config.given is not None or config.plan is not None
        # a forced contract between random players: nobody is asked for anything but random cards
        self._random = config.contract is not None and all(player.policies[2] == RANDOM for player in config.players)
        self._lockstep = self._plays_many()
        words: dict[str, tuple[str, ...]] = {
            "dealer": tuple(SEATS),
            "status": ("played", "passed-out", "redealt"),
            "type": config.ruleset.type_ids,
            "contract": config.ruleset.contract_ids,
            "declarer": tuple(SEATS),
            "partner": tuple(SEATS),
            "result": ("win", "loss", "draw"),
        }
        mixed = config.contract in (None, "random")
        dense = ("status", "type", "contract", "declarer", "partner", "matched", *rows.POINT_COLUMNS) if mixed else ()
        # a forced contract is always played, and nobody matches
        may_be_null = ("matched",) if config.contract is not None else rows.NULL_IF_NOT_PLAYED
        columns = [
            Column(name, "names", i, words.get(name), name == "matched", name in may_be_null, name in dense)
            for i, name in enumerate(rows.BYTE_COLUMNS)
        ]
        points = [
            Column(name, "points", i, nullable=name in may_be_null, dense=name in dense)
            for i, name in enumerate(rows.POINT_COLUMNS)
        ]
        columns = columns[:-1] + points[:2] + columns[-1:] + points[2:]
        if config.hands:
            columns += [Column(f"hand_{seat.lower()}", "hands", i, nullable=False) for i, seat in enumerate(SEATS)]
        self.columns = tuple(columns)

    def _plays_many(self) -> int | None:
        """Return the player of a forced contract that holds all seats and plays many deals in lockstep, as its kernel wants it."""
        if self._config.contract is None:
            return None
        players = {player.policies[2]: player.outside[2] for player in self._config.players}
        if len(players) > 1:
            return None
        policy, decision = players.popitem()
        if policy == EXPERT:
            return EXPERT if WIDE_VECTORS else None
        return None if decision is None or decision.specialise else decision.many_address

    def buffers(self, deals: int) -> Buffers:
        count = deals * self.rows_per_deal
        return Buffers(
            np.empty((len(self._rows.BYTE_COLUMNS), count), np.int8),
            np.empty((len(self._rows.POINT_COLUMNS), count), np.int16),
            np.empty((deals if self._config.hands else 0, 4), np.uint64),
        )

    def new_tally(self) -> Tally:
        contracts = len(self._config.ruleset.contracts)
        sums = np.zeros((contracts + 4, len(self._rows.TALLY)), np.int64)
        return {"sums": sums, "statuses": np.zeros(3, np.int64)} | super().new_tally()

    def _play(
        self, first: int, deals: int, buffers: Buffers | None, place: int, tally: Tally, show: bool = False
    ) -> tuple[Any, Any] | None:
        from simcore.elections.state import new_table, new_view

        config = self._config
        options = self._options.copy()
        options.want_rows = buffers is not None
        hands = np.empty((0, 4), np.uint64) if buffers is None else buffers.hands[place : place + deals]
        given = None if config.given is None else config.given[first - config.first : first - config.first + deals]
        if config.plan is not None:
            given = self._conditioned(first, deals, tally)[0]
        if given is not None:
            if len(hands):
                hands[:] = given
            hands = np.ascontiguousarray(given)
        names = np.empty((len(self._rows.BYTE_COLUMNS), 0), np.int8) if buffers is None else buffers.names
        points = np.empty((len(self._rows.POINT_COLUMNS), 0), np.int16) if buffers is None else buffers.points
        row = place * self.rows_per_deal
        if self._random and not show:
            from simcore.elections.two_at_once import DEAL_STATE

            pair = np.zeros(2, DEAL_STATE).view(np.recarray)
            self._rows.run_random(
                self._rules,
                options,
                np.uint64(first),
                deals,
                pair,
                np.zeros(2, SOURCE).view(np.recarray),
                hands,
                names,
                points,
                row,
                tally["sums"],
            )
            tally["statuses"][0] += deals * self.rows_per_deal  # all played
            return None
        table, view = new_table()[0], new_view()[0]
        streams = np.zeros(4, STREAM).view(np.recarray)
        if self._lockstep is not None and not show:
            from simcore.elections.lanes import BLOCK, QUESTIONS, VIEWS
            from simcore.elections.two_at_once import DEAL_STATE

            views = _record(VIEWS)
            self._run_kernel(
                self._rows.run_many,
                table,
                view,
                streams,
                options,
                np.uint64(first),
                deals,
                self._lockstep,
                _record(BLOCK),
                views,
                _record(QUESTIONS),
                _record(DEAL_STATE),
                table,
                view,
                streams,
                np.empty((deals, 4), np.int8),
                _record(SOURCE),
                hands,
                names,
                points,
                row,
                tally["sums"],
                views=views,
            )
            tally["statuses"][0] += deals * self.rows_per_deal  # all played
            return None
        self._run_kernel(
            self._kernel,
            table,
            view,
            streams,
            options,
            np.uint64(first),
            deals,
            table,
            view,
            _record(SOURCE),
            streams,
            hands,
            names,
            points,
            row,
            tally["sums"],
            tally["statuses"],
            np.zeros((len(tally["sums"]), 3), np.int64),
        )
        return table, view


class ShowcaseBackend(GameBackend):
    """Showcase: the namer's trump, a given one, or all six."""

    def __init__(self, config: Config) -> None:
        from simcore.showcase import rows

        super().__init__(config, rows.OPTIONS, rows.run_deals)
        self._rows = rows
        options = self._options
        special = {None: rows.NAMER_NAMES, "all": rows.ALL_TRUMPS}
        options.trump = special[config.trump] if config.trump in special else TRUMPS.index(str(config.trump))
        seats = GAME_SEATS["showcase"]
        everyone_random = all(policy == RANDOM for player in config.players for policy in player.policies)
        self._random = everyone_random and not self._rules.magri
        words = dict.fromkeys(("dealer", "namer", "leader", "winner"), tuple(seats)) | {"trump": TRUMPS, "turned": _CARD_WORDS}
        columns = [Column(name, "names", i, words.get(name), nullable=False) for i, name in enumerate(rows.BYTE_COLUMNS)]
        if config.hands:
            columns += [Column(f"hand_{seat.lower()}", "hands", i, nullable=False) for i, seat in enumerate(seats)]
        self.columns = tuple(columns)

    def buffers(self, deals: int) -> Buffers:
        count = deals * self.rows_per_deal
        hands = np.empty((deals if self._config.hands else 0, 2), np.uint64)
        return Buffers(np.empty((len(self._rows.BYTE_COLUMNS), count), np.int8), np.empty((0, count), np.int16), hands)

    def new_tally(self) -> Tally:
        return {"sums": np.zeros((len(TRUMPS), len(self._rows.TALLY)), np.int64)} | super().new_tally()

    def _play(
        self, first: int, deals: int, buffers: Buffers | None, place: int, tally: Tally, show: bool = False
    ) -> tuple[Any, Any] | None:
        from simcore.showcase.state import TABLE, VIEW

        options = self._options.copy()
        options.want_rows = buffers is not None
        hands = np.empty((0, 2), np.uint64) if buffers is None else buffers.hands[place : place + deals]
        reserves = np.empty((0, 26), np.int8)
        if self._config.plan is not None:
            options.hands_given = 1
            given, reserves = self._conditioned(first, deals, tally)
            if len(hands):
                hands[:] = given
            hands = given
        names = np.empty((len(self._rows.BYTE_COLUMNS), 0), np.int8) if buffers is None else buffers.names
        row = place * self.rows_per_deal
        if self._random and not show:
            from simcore.showcase.two_at_once import DEAL_STATE

            pair = np.zeros(4, DEAL_STATE).view(np.recarray)
            streams = np.zeros((2, 2, 2), STREAM).view(np.recarray)
            self._rows.run_random(
                self._rules,
                options,
                np.uint64(first),
                deals,
                pair,
                _record(SOURCE),
                streams[0],
                streams[1],
                hands,
                reserves,
                names,
                row,
                tally["sums"],
            )
            return None
        tables, views = np.zeros(2, TABLE).view(np.recarray), np.zeros(2, VIEW).view(np.recarray)
        streams = np.zeros((2, 2), STREAM).view(np.recarray)
        self._run_kernel(
            self._kernel,
            tables[0],
            views[0],
            streams[0],
            options,
            np.uint64(first),
            deals,
            tables,
            views,
            _record(SOURCE),
            streams[0],
            streams[1],
            hands,
            reserves,
            names,
            row,
            tally["sums"],
        )
        return tables[0], views[0]


def backend_for(config: Config) -> Backend:
    """Return the game's backend for a config."""
    if config.game == "elections":
        return ElectionsBackend(config)
    return ShowcaseBackend(config)
