"""Exact four-hand (double-dummy) solver of Elections: any contract, pairing, leader and position with all cards seen.

:func:`solve_position` answers for one position; :func:`solve_deals` for arrays of deals, contracts, pairings and declarers.  Both
run on a :class:`Solver`, which owns the memory of a thread; its kernels release the GIL, so Python threads with a solver each run
side by side.  Both sides maximise their own points minus the other side's; since both sides' points have a fixed sum (E15), the
margin gives the points.

Files: ``four_state`` (layout), ``four_bits``, ``four_table``, ``four_slabs`` and ``four_blocks`` (memory), ``four_compare`` (what a
result rests on), ``four_bounds`` and ``four_extremes`` (what is known without a search: sure tricks, points still out),
``four_order`` and ``four_order_points`` (which card first), ``four_search`` (the search), ``four_root`` (contracts and drivers),
``four_input`` (what is accepted).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcore.errors import BadInput
from simcore.rules import Contract, Ruleset
from simcore.solvers.four_blocks import BLOCK, BLOCKS, FORGOTTEN, SHAPES, SLOTS, USED
from simcore.solvers.four_input import PAIRINGS, check_counts, checked_hands, checked_position, pairing_of, seat_of
from simcore.solvers.four_root import NO_GUESS, TERMS, card_value, set_up, solve, solve_batch
from simcore.solvers.four_state import NODES, STOP, U_WORDS, V_WORDS
from simcore.solvers.four_table import forget

__all__ = [
    "MOST_PLIES",
    "PAIRINGS",
    "PLIES_ACCEPTED",
    "GaveUp",
    "Solution",
    "Solver",
    "bound_deals",
    "check_position",
    "contract_terms",
    "is_plies",
    "own_solver",
    "points_of",
    "solve_deals",
    "solve_position",
]

#: Plies after which a solve gives up by default: nine times what the hardest of 200 random deals took, about ten minutes.
MOST_PLIES = 4_000_000_000


#: What is accepted as a number of plies.
PLIES_ACCEPTED = f"a whole number from 1 to {1 << 62}"


def is_plies(number: object) -> bool:
    """Tell whether something can be a limit of plies."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool) and bool(1 <= number <= 1 << 62)


class GaveUp(Exception):
    """A solve has used up its plies; the attackers' margin, points won before included, is ``least`` to ``most``.

    Both are the same where the margin is known, and the plies went into cards, a line, or who ties.
    """

    def __init__(self, least: int, most: int) -> None:
        super().__init__(f"gave up: attackers' points minus defenders' lie between {least} and {most}")
        self.least, self.most = least, most


@dataclass(frozen=True)
class Solution:
    """What both sides get with perfect play, all hands seen."""

    margin: int  #: attackers' points minus defenders', points already won included
    attackers: int
    defenders: int
    attackers_tricks: int | None  #: None where the value does not determine it
    cards: dict[int, int]  #: every legal card (bit number) and the margin after it; empty unless asked for
    line: tuple[tuple[int, int], ...]  #: (seat, card) of one best line of play; empty unless asked for
    nodes: int  #: plies entered by the search


def contract_terms(contract: Contract, *, low_plain: bool = False) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a contract as the kernels read it, int64[72] (see ``four_root``); ``low_plain``: ``low_trump = "plain"`` (E14)."""
    terms = np.zeros(TERMS, np.int64)
    terms[0] = -1 if contract.trump is None else contract.trump
    terms[1], terms[2], terms[3], terms[4] = contract.low, low_plain, contract.trick, contract.most_tricks
    for card, (plus, minus) in contract.card_signs.items():
        terms[8 + card] = plus + minus
    return terms


class Solver:
    """The memory of one thread: a table of results and the state of a search.

    Args:
        megabytes: bound on the table of results, at least 1.  When it is full, half of it is forgotten; results do not change.
        max_plies: plies after which a solve gives up and raises :class:`GaveUp`; None: never.  It counts for each value that is
            asked for: that of the position, and that after each card.
    """

    def __init__(self, megabytes: int = 256, max_plies: int | None = None) -> None:
        if not 1 <= megabytes <= 512:
            raise BadInput(f"megabytes is {megabytes!r}; accepted: 1 to 512")
        if max_plies is not None and not is_plies(max_plies):
            raise BadInput(f"max_plies is {max_plies!r}; accepted: {PLIES_ACCEPTED}, or None for no limit")
        blocks = (megabytes << 20) // (8 * BLOCK + 48)  # and up to one and a half shapes a block, of 32 bytes
        shapes = 1 << max(10, blocks.bit_length() - 1)
        self._u = np.zeros(U_WORDS, np.uint64)
        self._v = np.zeros(V_WORDS, np.int64)
        self._keys = np.zeros((shapes, 4), np.uint64)
        words = np.zeros(BLOCK * blocks + 64 + 8, np.uint64)  # lists are read past their end
        self._patterns = words[(-words.ctypes.data >> 3) & 7 :][: BLOCK * blocks + 64]  # blocks are whole cache lines
        self._used = np.zeros(SLOTS + shapes, np.int64)
        self._used[BLOCKS] = 1
        self._hints = np.zeros(1 << 20, np.uint16)
        self._memory = (self._u, self._v, self._keys, self._patterns, self._used, self._hints)
        self._tag: tuple[bytes, int, int] | None = None
        self.max_plies = max_plies

    @property
    def nodes(self) -> int:
        """Plies entered since the solver was made."""
        return int(self._v[NODES])

    @property
    def memory(self) -> dict[str, int]:
        """Bytes held, bytes of the table in use, shapes, words of patterns, and how often the table was full and half forgotten."""
        return {
            "bytes": sum(array.nbytes for array in self._memory),
            "shapes": int(self._used[SHAPES]),
            "words": int(self._used[USED]),
            "used": 8 * BLOCK * int(self._used[BLOCKS] - 1) + 32 * int(self._used[SHAPES]),
            "forgotten": int(self._used[FORGOTTEN]),
        }

    def lend(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the arrays for a kernel that does the solver's work itself (``four_root``); it leaves them as it likes."""
        self._tag = None
        self._v[STOP] = 0
        return self._memory

    @contextmanager
    def limited(self, max_plies: int | None) -> Iterator[Solver]:
        """Have another ``max_plies`` for a while; with none left a solve gets one ply."""
        before, self.max_plies = self.max_plies, max_plies
        try:
            yield self
        finally:
            self.max_plies = before

    def forget(self) -> None:
        """Empty the table, as if the solver were new."""
        forget(self._keys, self._used)
        self._hints[:] = 0
        self._tag = None

    def _solve(self) -> tuple[int, int, int]:
        """Return the least and the most that the margin of N's side can be in the position placed, and the value to guess."""
        self._set_stop()
        least, most, guess = (int(value) for value in solve(*self._memory, NO_GUESS))
        return least, most, guess

    def _set_stop(self) -> None:
        self._v[STOP] = 0 if self.max_plies is None else self._v[NODES] + max(self.max_plies, 1)

    def _place(
        self,
        hands: np.ndarray[Any, np.dtype[np.uint64]],
        terms: np.ndarray[Any, np.dtype[np.int64]],
        pairing: int,
        leader: int,
        table: Sequence[int],
        tricks: tuple[int, int],
    ) -> None:
        total = sum(tricks) + (sum(int(hand).bit_count() for hand in hands) + len(table)) // 4
        tag = (terms.tobytes(), pairing, total)
        if tag != self._tag:
            self.forget()
            self._tag = tag
        cards = np.zeros(3, np.int64)
        cards[: len(table)] = table
        set_up(self._u, self._v, hands, terms, pairing, leader, cards, len(table), *tricks)

    def position(
        self,
        hands: Sequence[int] | np.ndarray[Any, np.dtype[np.uint64]],
        contract: Contract,
        *,
        pairing: int | str = 2,
        declarer: int | str = 0,
        leader: int | str | None = None,
        table: Sequence[int] = (),
        low_plain: bool = False,
        tricks: tuple[int, int] = (0, 0),
        points: tuple[int, int] = (0, 0),
        cards: bool = False,
        line: bool = False,
        keep: bool = False,
    ) -> Solution:
        """Solve one position; see :func:`solve_position`.

        ``keep``: the position is of the same deal as the one before, so that what the table holds still serves.
        """
        held = checked_hands(hands)
        pairing = pairing_of(pairing)
        declarer = seat_of(declarer, "declarer")
        leader = (declarer + 1) & 3 if leader is None else seat_of(leader, "leader")
        table = checked_position(held, leader, table)
        check_counts(held, tricks, points)
        terms = contract_terms(contract, low_plain=low_plain)
        north_attacks = declarer in (0, pairing)
        sign = 1 if north_attacks else -1
        before = tricks if north_attacks else (tricks[1], tricks[0])
        start = self.nodes
        if not keep:
            self.forget()
        self._place(held, terms, pairing, leader, table, before)
        least, most, guess = self._solve()
        margin = sign * least
        left = (sum(int(hand).bit_count() for hand in held) + len(table)) // 4
        all_tricks = left + sum(tricks)
        # a bonus decided before the root, and points won before it, come on top
        own, other = points
        decided = 0
        if contract.most_tricks:
            if 2 * tricks[0] > all_tricks:
                decided = contract.most_tricks
            elif 2 * tricks[1] > all_tricks:
                decided = -contract.most_tricks
        known = own - other + decided
        if least != most:
            raise GaveUp(min(sign * least, sign * most) + known, max(sign * least, sign * most) + known)
        answers: dict[int, int] = {}
        best: tuple[tuple[int, int], ...] = ()
        needs_line = contract.most_tricks != 0 and all_tricks % 2 == 0
        try:
            if cards:
                answers = {
                    card: value + known for card, value in self._cards(held, terms, pairing, leader, table, before, sign, guess)
                }
            if line or needs_line:
                best = self._line(held, terms, pairing, leader, table, before, sign, margin)
        except GaveUp:
            raise GaveUp(margin + known, margin + known) from None
        # both sides' points from the root on have a fixed sum, but for a bonus that nobody gets
        live = 0
        for hand in held:
            live |= int(hand)
        for card in table:
            live |= 1 << card
        rest = contract.trick * left + sum(int(terms[8 + card]) for card in range(64) if live >> card & 1)
        if (
            contract.most_tricks
            and not decided
            and not (needs_line and self._tied(best, terms, leader, table, pairing, tricks, north_attacks))
        ):
            rest += contract.most_tricks
        rest += abs(decided) if contract.most_tricks > 0 else -abs(decided)
        gained = margin + decided
        attackers = (rest + gained) // 2
        return Solution(
            margin=gained + own - other,
            attackers=attackers + own,
            defenders=rest - attackers + other,
            attackers_tricks=_tricks_of(contract, terms, gained, left, tricks),
            cards=answers,
            line=best if line else (),
            nodes=self.nodes - start,
        )

    def best_card(
        self,
        hands: Sequence[int] | np.ndarray[Any, np.dtype[np.uint64]],
        contract: Contract,
        *,
        pairing: int,
        leader: int,
        table: Sequence[int] = (),
        low_plain: bool = False,
        tricks: tuple[int, int] = (0, 0),
        keep: bool = False,
    ) -> int:
        """Return the seat to play's first card, in card order, that keeps the value.

        ``tricks`` are those of N's side and of the other.  Other arguments as for :meth:`position`; nothing is checked.  Raises
        :class:`GaveUp` where ``max_plies`` are used up, with bounds that are of no use.
        """
        held = np.array(hands, np.uint64)
        terms = contract_terms(contract, low_plain=low_plain)
        if not keep:
            self.forget()
        self._place(held, terms, pairing, leader, table, tricks)
        margin, most, guess = self._solve()
        if margin != most:
            raise GaveUp(margin, most)
        return next(card for card, value in self._cards(held, terms, pairing, leader, table, tricks, 1, guess) if value == margin)

    def _cards(
        self,
        held: np.ndarray[Any, np.dtype[np.uint64]],
        terms: np.ndarray[Any, np.dtype[np.int64]],
        pairing: int,
        leader: int,
        table: Sequence[int],
        tricks: tuple[int, int],
        sign: int,
        guess: int,
    ) -> Iterable[tuple[int, int]]:
        """Yield every legal card and its margin; a run of equal cards is searched once.  ``guess``: the position's value."""
        seat = (leader + len(table)) & 3
        live = int(held[0] | held[1] | held[2] | held[3])
        for card in table:
            live |= 1 << card
        previous: tuple[int, int] | None = None  # the last card searched and its value
        for card in _legal(int(held[seat]), table):
            if previous is not None and previous[0] >> 4 == card >> 4 and terms[8 + previous[0]] == terms[8 + card]:
                between = live & ((1 << card) - (2 << previous[0]))
                if between == 0:
                    previous = (card, previous[1])
                    yield previous
                    continue
            self._place(held, terms, pairing, leader, table, tricks)
            self._set_stop()
            turned = card if not terms[1] else (card & 48) + 12 - (card & 15)
            least, most = (sign * int(value) for value in card_value(*self._memory, turned, guess))
            if least != most:
                raise GaveUp(min(least, most), max(least, most))
            previous = (card, least)
            yield previous

    def _line(
        self,
        held: np.ndarray[Any, np.dtype[np.uint64]],
        terms: np.ndarray[Any, np.dtype[np.int64]],
        pairing: int,
        leader: int,
        table: Sequence[int],
        tricks: tuple[int, int],
        sign: int,
        margin: int,
    ) -> tuple[tuple[int, int], ...]:
        """Return one best line: at every turn the first card that keeps the value."""
        held = held.copy()
        on_table = list(table)
        won, lost = tricks
        line: list[tuple[int, int]] = []
        goal = margin
        total = won + lost + (sum(int(hand).bit_count() for hand in held) + len(table)) // 4
        while held.any():
            seat = (leader + len(on_table)) & 3
            answers = self._cards(held, terms, pairing, leader, on_table, (won, lost), sign, int(NO_GUESS))
            card = next(card for card, value in answers if value == goal)
            line.append((seat, card))
            held[seat] ^= np.uint64(1 << card)
            on_table.append(card)
            if len(on_table) == 4:
                winner = (leader + _winner_of(on_table, terms)) & 3
                north = winner in (0, pairing)
                gain = int(terms[3]) + sum(int(terms[8 + card]) for card in on_table)
                was = _bonus(int(terms[4]), won, lost, total)
                won, lost = won + north, lost + (not north)
                gain = (gain if north else -gain) + _bonus(int(terms[4]), won, lost, total) - was
                goal -= sign * gain
                leader, on_table = winner, []
        return tuple(line)

    def _tied(
        self,
        line: Sequence[tuple[int, int]],
        terms: np.ndarray[Any, np.dtype[np.int64]],
        leader: int,
        table: Sequence[int],
        pairing: int,
        tricks: tuple[int, int],
        north_attacks: bool,
    ) -> bool:
        own, other = tricks
        played = [*table, *(card for _, card in line)]
        for n in range(0, len(played), 4):
            leader = (leader + _winner_of(played[n : n + 4], terms)) & 3
            if (leader in (0, pairing)) == north_attacks:
                own += 1
            else:
                other += 1
        return own == other


def solve_position(
    hands: Sequence[int] | np.ndarray[Any, np.dtype[np.uint64]],
    contract: Contract,
    *,
    pairing: int | str = 2,
    declarer: int | str = 0,
    leader: int | str | None = None,
    table: Sequence[int] = (),
    low_plain: bool = False,
    tricks: tuple[int, int] = (0, 0),
    points: tuple[int, int] = (0, 0),
    cards: bool = False,
    line: bool = False,
    solver: Solver | None = None,
) -> Solution:
    """Solve one position exactly, all hands seen.

    Args:
        hands: four masks, N E S W, of the cards still held (bit = 16 * suit + rank), 0 to 13 each.
        contract: what pays, of any ruleset.
        pairing: who is N's partner: 1 or ``"NE"``, 2 or ``"NS"``, 3 or ``"NW"``.
        declarer: seat (0 … 3 or a letter) whose side are the attackers.
        leader: seat that leads, or led the cards in ``table``; left of the declarer where not given (E12).
        table: cards already on the table, the leader's first, no longer in ``hands``; 0 to 3.
        low_plain: in a low contract trumps are ordinary cards (E14, ``low_trump = "plain"``).
        tricks: attackers' and defenders' tricks taken before; they count for the bonus for more tricks.
        points: attackers' and defenders' points won before, without a bonus; added to the answer.
        cards: also give the margin after every legal card.
        line: also give one best line of play.
        solver: memory to use; by default one of this thread's own.

    Raises:
        BadInput: hands that share a card, are uneven, or do not fit the cards on the table.
        GaveUp: the solver's ``max_plies`` are used up.
    """
    solver = own_solver() if solver is None else solver
    return solver.position(
        hands,
        contract,
        pairing=pairing,
        declarer=declarer,
        leader=leader,
        table=table,
        low_plain=low_plain,
        tricks=tricks,
        points=points,
        cards=cards,
        line=line,
    )


def solve_deals(
    hands: np.ndarray[Any, np.dtype[np.uint64]],
    ruleset: Ruleset,
    *,
    contracts: Sequence[str] | None = None,
    pairings: Sequence[int] = (2,),
    declarers: Sequence[int] = (0, 1, 2, 3),
    dealers: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    solver: Solver | None = None,
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the attackers' margin of whole deals (or of endings of equal length), all hands seen.

    Args:
        hands: uint64[n, 4], masks of N E S W.
        ruleset: the rules of Elections; its choices ``low_trump`` and ``lead`` count.
        contracts: contract ids; all of the ruleset by default.
        pairings: 1 … 3, see :func:`solve_position`.
        declarers: seats 0 … 3.
        dealers: int64[n], needed where ``lead = "left-of-dealer"``.
        solver: memory to use; by default one of this thread's own.

    Returns:
        int32[n, contracts, pairings, declarers], attackers' points minus defenders'.

    Raises:
        BadInput: a deal whose hands overlap or are uneven, or an argument out of range.
        GaveUp: the solver's ``max_plies`` are used up; :func:`bound_deals` returns what is known then.
    """
    bounds = bound_deals(
        hands, ruleset, contracts=contracts, pairings=pairings, declarers=declarers, dealers=dealers, solver=solver
    )
    for least, most in bounds.reshape(-1, 2).tolist():
        if least != most:
            raise GaveUp(least, most)
    return np.ascontiguousarray(bounds[..., 0])


def bound_deals(
    hands: np.ndarray[Any, np.dtype[np.uint64]],
    ruleset: Ruleset,
    *,
    contracts: Sequence[str] | None = None,
    pairings: Sequence[int] = (2,),
    declarers: Sequence[int] = (0, 1, 2, 3),
    dealers: np.ndarray[Any, np.dtype[np.int64]] | None = None,
    solver: Solver | None = None,
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the least and the most that attackers' margins can be: the same, unless the solver's ``max_plies`` were used up.

    Arguments and errors as for :func:`solve_deals`.  Returns int32[n, contracts, pairings, declarers, 2].
    """
    if ruleset.game != "elections":
        raise BadInput(f"ruleset {ruleset.name!r} is for {ruleset.game!r}; accepted: a ruleset of elections")
    deals = np.ascontiguousarray(hands, dtype=np.uint64)
    if deals.ndim != 2 or deals.shape[1] != 4:
        raise BadInput(f"hands have the shape {deals.shape!r}; accepted: (n, 4)")
    for number, deal in enumerate(deals):
        try:
            checked_position(checked_hands(deal), 0, ())
        except BadInput as error:
            raise BadInput(f"deal {number}: {error}") from None
    ids = ruleset.contract_ids if contracts is None else contracts
    plain = ruleset.choices["low_trump"] == "plain"
    if len(ids) == 0:
        raise BadInput("contracts is empty; accepted: at least one contract id")
    terms = np.stack([contract_terms(ruleset.contract(name), low_plain=plain) for name in ids])
    partners = np.array([pairing_of(pairing) for pairing in pairings], np.int64)
    callers = np.array([seat_of(declarer, "declarer") for declarer in declarers], np.int64)
    leads = np.full(len(deals), -1, np.int64)
    if ruleset.choices["lead"] == "left-of-dealer":
        if dealers is None or np.shape(dealers) != (len(deals),):
            raise BadInput(
                "dealers are missing; accepted: one seat a deal, since this ruleset lets the player left of the dealer lead"
            )
        leads = (np.asarray(dealers, np.int64) + 1) & 3
    out = np.zeros((len(deals), len(ids), len(partners), len(callers), 2), np.int32)
    solver = own_solver() if solver is None else solver
    solver._tag = None
    solve_batch(*solver._memory, deals, terms, partners, callers, leads, np.int64(solver.max_plies or 0), out)
    return out


def check_position(
    hands: Sequence[int] | np.ndarray[Any, np.dtype[np.uint64]], leader: int | str = 0, table: Sequence[int] = ()
) -> None:
    """Refuse hands that cannot be solved, as :func:`solve_position` does."""
    checked_position(checked_hands(hands), seat_of(leader, "leader"), table)


def points_of(contract: Contract, margin: int) -> tuple[int, int, int | None]:
    """Return attackers' points, defenders' points and attackers' tricks (None where the margin does not determine them) of a whole
    deal of 13 tricks from the attackers' margin."""
    attackers = (contract.total + margin) // 2
    return attackers, contract.total - attackers, _tricks_of(contract, contract_terms(contract), margin, 13, (0, 0))


_thread = threading.local()


def own_solver() -> Solver:
    """Return the calling thread's own solver, made at first use."""
    if not hasattr(_thread, "solver"):
        _thread.solver = Solver()
    solver: Solver = _thread.solver
    return solver


def _legal(hand: int, table: Sequence[int]) -> list[int]:
    """Return the legal cards of a hand, low bits first (E13)."""
    if table:
        hand = hand & 0x1FFF << 16 * (table[0] >> 4) or hand
    return [card for card in range(64) if hand >> card & 1]


def _winner_of(cards: Sequence[int], terms: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """Return which card of a full trick wins it (E14)."""
    trump, low, plain = int(terms[0]), bool(terms[1]), bool(terms[2])
    suit = cards[0] >> 4
    if any(card >> 4 == trump for card in cards) and not (low and plain):
        suit = trump
    return cards.index((min if low else max)(card for card in cards if card >> 4 == suit))


def _bonus(most: int, won: int, lost: int, total: int) -> int:
    """Return the bonus for more tricks as far as it is decided, for the side with ``won``."""
    return most * ((2 * won > total) - (2 * lost > total))


def _tricks_of(
    contract: Contract, terms: np.ndarray[Any, np.dtype[np.int64]], margin: int, left: int, tricks: tuple[int, int]
) -> int | None:
    """Return the attackers' tricks, those before included, if only one number of tricks gives this margin."""
    if terms[8:].any():
        return None
    total = left + sum(tricks)
    fits = [
        won
        for won in range(left + 1)
        if contract.trick * (2 * won - left) + _bonus(contract.most_tricks, tricks[0] + won, tricks[1] + left - won, total)
        == margin
    ]
    return fits[0] + tricks[0] if len(fits) == 1 else None
