"""A deal played step by step, with a person in one seat: the same deal, players and random streams as ``simulate`` has.

The engine runs until the person's seat must decide (``EXTERNAL``); the session says what may be done, takes the answer, goes on.
Whatever it shows is in the seat's view; hidden cards stay in the table, for the engine and for the trace at the end.  Undo goes
back to the person's decision before: the whole state is copied at each, streams too, so that others would decide alike again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from simcore.batches.backends import GameBackend, backend_for
from simcore.batches.config import GAME_SEATS, PAIRINGS, Config, seat_index
from simcore.cards import SUIT_NAMES, format_card, parse_card
from simcore.errors import BadInput, NotationError
from simcore.players import DECISIONS, EXTERNAL
from simcore.rng import STREAM, open_streams, seed_words
from simcore.rules import TRUMPS
from simcore.specs import Player, parse_player

__all__ = ["Session", "check_seat"]

_State = tuple[np.ndarray, np.ndarray, np.ndarray]


def check_seat(config: Config, me: str) -> int:
    """Return the number of the person's seat.

    Raises:
        BadInput: no such seat, or several deals.
    """
    for name, value in (("contract", config.contract), ("trump", config.trump)):
        if value == "all":
            raise BadInput(f"{name} 'all' is not one deal; accepted: a single one")
    return seat_index(me, config.game, "seat")


class Session:
    """A deal in progress.

    Args:
        config: one deal with the others' players; what it says of the person's seat is not used.
        me: the person's seat.

    ``kind`` is what the person must decide (``call``, ``contract``, ``play``, ``first``, ``trump``, ``second``), None once the deal
    is over; ``view`` what the seat sees; ``legal`` the names of its legal actions: calls, ids, trumps, cards.

    Raises:
        SimcoreError: no such seat, several deals; while playing also a player's failure.
    """

    def __init__(self, config: Config, me: str) -> None:
        self.me = check_seat(config, me)
        players = [_as_pointers(player) for player in config.players]
        players[self.me] = Player("you", (EXTERNAL, EXTERNAL, EXTERNAL))
        self.config = replace(config, players=tuple(players))
        self.kind: str | None = None
        self.legal: list[str] = []
        self._game = _Elections(self.config) if config.game == "elections" else _Showcase(self.config)
        self._undo: list[_State] = []
        self._go_on()

    @property
    def view(self) -> Any:
        """What the person's seat sees."""
        return self._game.view[0]

    @property
    def decisions(self) -> int:
        """How many decisions of the person could be taken back."""
        return len(self._undo) - (self.kind is not None)

    def act(self, name: str) -> None:
        """Take the person's decision and go on to the next.

        Raises:
            BadInput: it is no action, or not a legal one; says why.
        """
        self._game.apply(self._bit(name))
        self._go_on()

    def undo(self) -> bool:
        """Go back to the person's decision before this one; returns whether there is one."""
        if self.decisions == 0:
            return False
        if self.kind is not None:
            self._undo.pop()
        self._game.restore(self._undo.pop())
        self._go_on()
        return True

    def trace(self) -> dict[str, Any]:
        """Return the trace of the finished deal."""
        module = import_module(f"simcore.{self.config.game}.trace")
        game = self._game
        trace: dict[str, Any] = module.trace(self.config.ruleset, self.config.seed, self.config.first, game.table[0], game.view[0])
        return trace

    def _go_on(self) -> None:
        kind = self._game.advance()
        if kind < 0:
            self.kind, self.legal = None, []
            return
        self._undo.append(self._game.saved())
        self.kind = DECISIONS[self.config.game][kind]
        mask = int(self.view.legal)
        self.legal = [self._name(bit) for bit in range(64) if mask >> bit & 1]

    def _name(self, bit: int) -> str:
        words = self._words()
        return format_card(bit) if words is None else words[bit]

    def _words(self) -> tuple[str, ...] | None:
        """Return the names of actions that are no cards."""
        if self.kind == "call":
            return ("pass", *self.config.ruleset.type_ids)
        if self.kind == "contract":
            return self.config.ruleset.contract_ids
        return TRUMPS if self.kind == "trump" else None

    def _bit(self, name: str) -> int:
        """Return an action as a mask."""
        accepted = f"accepted: {' '.join(self.legal)}"
        words = self._words()
        if words is not None:
            found = [word for word in self.legal if word == name.lower()] or [w for w in self.legal if w.startswith(name.lower())]
            if len(found) != 1:
                raise BadInput(f"{name!r} is not what can be said here; {accepted}")
            return 1 << words.index(found[0])
        try:
            card = format_card(parse_card(name))
        except NotationError:
            # a rank alone, where only one such card is legal
            ranks = [word for word in self.legal if word[1] == name.upper().replace("10", "T")]
            if len(ranks) != 1:
                raise BadInput(f"{name!r} is not a card; {accepted}") from None
            card = ranks[0]
        if card not in self.legal:
            raise BadInput(f"{card} cannot be played: {self._why_not(card)}; {accepted}")
        return 1 << parse_card(card)

    def _why_not(self, card: str) -> str:
        bit, view = 1 << parse_card(card), self.view
        held = int(view.hand) | (int(view.show[view.seat]) if self.kind == "first" else 0)
        if not held & bit:
            return "you do not hold it"
        if view.on_table and int(view.suit) & int(view.legal):
            suit = SUIT_NAMES[(int(view.suit).bit_length() - 1) >> 4]
            return f"{suit} are led and must be followed" + (" (E13)" if self.kind == "play" else " (S4, S12)")
        return "the rules do not allow it here"


def _as_pointers(player: Player) -> Player:
    """Return a player whose compiled functions are called by pointer: one deal is not worth compiling kernels for."""
    decisions = [None if d is None else replace(d, specialise=False) for d in player.outside]
    return replace(player, outside=(decisions[0], decisions[1], decisions[2]))


class _Game(GameBackend):
    """A deal of either game with its engine."""

    table: np.ndarray
    view: np.ndarray

    def __init__(self, config: Config, engine: Any, state: Any, options: np.dtype[Any]) -> None:
        super().__init__(config, options, engine.advance)
        self._engine = engine
        self.table, self.view = state.new_table(), state.new_view()
        seats = GAME_SEATS[config.game]
        self._streams = np.zeros(len(seats), STREAM).view(np.recarray)
        self.table[0].policies[:] = self._options.policies
        # who plays does not change the deal: any whole players show it
        anyone = (parse_player("random", config.game),) * len(seats)
        self._start(backend_for(replace(config, players=anyone)).trace(config.first))
        open_streams(self._streams, *seed_words(config.seed), np.uint64(config.first))

    def _start(self, trace: dict[str, Any]) -> None:
        """Lay out the deal that a trace shows."""
        raise NotImplementedError

    def _limits(self) -> tuple[int, ...]:
        """Return what else the engine is told: how far to go."""
        return ()

    def saved(self) -> _State:
        """Return a copy of everything."""
        return self.table.copy(), self.view.copy(), self._streams.copy()

    def restore(self, state: _State) -> None:
        """Go back to a copy."""
        self.table[:], self.view[:], self._streams[:] = state

    def apply(self, bit: int) -> None:
        """Carry out the person's decision."""
        self._engine.apply(self._rules, self.table[0], self.view[0], int(self.table[0].phase), np.uint64(bit))

    def advance(self) -> int:
        """Run until the person must decide; returns the kind of decision, -1 once the deal is over."""
        if not self._config.outside:
            return self._run()
        pool = ThreadPoolExecutor(1, thread_name_prefix="simcore")  # a thread of its own, so that limits and Ctrl-C work
        future = pool.submit(self._run)
        pool.shutdown(wait=False)
        return int(self.wait(future))

    def _run(self) -> int:
        table, view, streams = self.table[0], self.view[0], self._streams
        return self._run_kernel(self._kernel, table, view, streams, table, view, streams, *self._limits())


class _Elections(_Game):
    def __init__(self, config: Config) -> None:
        from simcore.elections import engine, rows, state

        super().__init__(config, engine, state, rows.OPTIONS)

    def _start(self, trace: dict[str, Any]) -> None:
        seats = GAME_SEATS["elections"]
        table, view = self.table[0], self.view[0]
        table.hands[:] = _masks(trace)
        partner = trace["lot_pairs"][0][1]  # N's
        self._engine.start_deal(table, view, seats.index(trace["dealer"]), seats.index(partner))
        if trace["forced"]:
            declarer = seats.index(trace["declarer"])
            pairing = declarer ^ seats.index(trace["partner"])
            assert pairing in PAIRINGS.values()
            contract = self._config.ruleset.contract_ids.index(trace["contract"])
            self._engine.force_contract(self._rules, table, view, contract, declarer, pairing)


class _Showcase(_Game):
    def __init__(self, config: Config) -> None:
        from simcore.showcase import engine, rows, state

        self._naming, self._done = state.NAMING, state.DONE
        super().__init__(config, engine, state, rows.OPTIONS)

    def _start(self, trace: dict[str, Any]) -> None:
        table, view = self.table[0], self.view[0]
        table.hands[:] = _masks(trace)
        table.stock[:] = [parse_card(card) for card in (trace["turned"], *trace["reserve"])]
        self._engine.start_deal(self._rules, table, view, GAME_SEATS["showcase"].index(trace["dealer"]))

    def _limits(self) -> tuple[int, ...]:
        forced = self._config.trump is not None and self.table[0].phase <= self._naming
        return (self._naming if forced else self._done,)

    def _run(self) -> int:
        kind = super()._run()
        if kind < 0 and self._config.trump is not None and self.table[0].phase == self._naming:
            self.apply(1 << TRUMPS.index(self._config.trump))
            kind = super()._run()
        return kind


def _masks(trace: dict[str, Any]) -> list[int]:
    from simcore.cards import parse_hand

    return [parse_hand(hand) for hand in trace["hands"].values()]
