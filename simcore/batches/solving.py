"""Solving deals exactly, all hands seen: what is asked, checked once; rows in order from a pool of threads, in flat memory.

A row is plain data as docs/formats.md has it: Elections one a deal, contract, pairing and declarer, Showcase one a deal, trump and
leader.  Every thread has a solver of its own, and threads change no row.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from simcore import __version__
from simcore.batches.config import GAME_SEATS, PAIRINGS, SCHEMA_VERSION, seat_index
from simcore.batches.run import check_threads
from simcore.cards import SEATS, format_card, parse_cards
from simcore.deals.pbn import Deal, iter_deals, parse_deal
from simcore.errors import BadInput, NotationError
from simcore.rules import TRUMPS, Ruleset, load_ruleset
from simcore.solvers import MOST_PLIES, PLIES_ACCEPTED, GaveUp, bound_deals, check_position, is_plies, own_solver, points_of, two

__all__ = ["Problem", "make_problem", "solve", "solve_rows"]

Row = dict[str, Any]

#: Deals a thread takes at a time.
_BLOCK = {"elections": 1, "showcase": 32}
_WHOLE = 13


@dataclass(frozen=True)
class Problem:
    """Checked deals and questions: the same problem gives the same rows, byte for byte."""

    ruleset: Ruleset
    count: int  # deals
    digest: str  # SHA-256 over their masks
    given: np.ndarray | None  # uint64[deals, seats], or else
    file: Path | None  # a PBN file of them
    contracts: tuple[str, ...] = ()  # Elections
    pairs: tuple[str, ...] = ()
    declarers: tuple[str, ...] = ()
    trumps: tuple[str, ...] = ()  # Showcase
    leaders: tuple[str | None, ...] = (None,)  # Elections: None as the rules say
    table: tuple[int, ...] = ()
    tricks: int | None = None  # Showcase: tricks to go
    cards: bool = False
    line: bool = False
    max_plies: int | None = None  # Elections

    @property
    def game(self) -> str:
        """The game of the ruleset."""
        return self.ruleset.game

    @property
    def rows_per_deal(self) -> int:
        """How many rows a deal makes."""
        if self.game == "elections":
            return len(self.contracts) * len(self.pairs) * len(self.declarers)
        return len(self.trumps) * len(self.leaders)

    def describe(self) -> dict[str, Any]:
        """Everything the rows depend on, as plain data."""
        return {
            "schema_version": SCHEMA_VERSION,
            "simcore": __version__,
            "command": "solve",
            "game": self.game,
            "ruleset": self.ruleset.name,
            "ruleset_hash": self.ruleset.hash,
            "deals": self.count,
            "given_deals": self.digest,
            "contracts": list(self.contracts),
            "pairs": list(self.pairs),
            "declarers": list(self.declarers),
            "trumps": list(self.trumps),
            "leaders": list(self.leaders),
            "table": [format_card(card) for card in self.table],
            "tricks": self.tricks,
            "cards": self.cards,
            "line": self.line,
            "max_plies": self.max_plies,
        }

    @property
    def hash(self) -> str:
        """SHA-256 over :meth:`describe`."""
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()

    def deals(self, first: int = 0) -> Iterator[np.ndarray]:
        """Yield the masks of the deals from index ``first`` on."""
        every: Iterable[np.ndarray]
        if self.given is not None:
            every = self.given
        else:
            assert self.file is not None
            every = iter_deals(self.file, GAME_SEATS[self.game], size=None)
        return islice(iter(every), first, None)


def _cards_in_order(text: str, what: str) -> tuple[int, ...]:
    """Return cards in the order they are written, as bit numbers."""
    cards = []
    for word in text.replace(",", " ").split():
        try:
            cards.append(parse_cards(word).bit_length() - 1)
        except NotationError as error:
            raise BadInput(f"{what} {text!r}: {error}") from None
    return tuple(cards)


def _masks(deal: Any, seats: str, what: str) -> np.ndarray:
    """Return deals given as PBN, as a Deal or as masks: uint64[n, seats]."""
    if isinstance(deal, str):
        return parse_deal(deal, seats, size=None)[None]
    if isinstance(deal, Deal):
        return deal.masks[None]
    masks = np.asarray(deal)
    if masks.ndim == 1:
        masks = masks[None]
    if masks.ndim != 2 or masks.shape[1] != len(seats) or masks.dtype.kind not in "iu":
        raise BadInput(
            f"{what} has shape {np.shape(deal)!r} and type {masks.dtype}; "
            f"accepted: PBN, or whole numbers of shape (deals, {len(seats)}), masks of {' '.join(seats)}"
        )
    return np.ascontiguousarray(masks, np.uint64)


def _one_of(value: str | None, accepted: Sequence[str], what: str, default: str = "all") -> tuple[str, ...]:
    """Return the values asked for: one, or all."""
    word = default if value is None else value
    if word == "all":
        return tuple(accepted)
    if word not in accepted:
        raise BadInput(f"{what} {word!r} is unknown; accepted: {', '.join(accepted)}, all")
    return (word,)


def _check_deal(problem: Problem, number: int, masks: np.ndarray) -> None:
    """Refuse a deal that cannot be solved."""
    try:
        if problem.game == "elections":
            check_position(masks, _leader(problem, problem.declarers[0]), problem.table)
            if not masks.any():
                raise BadInput("hands are empty; accepted: 1 to 13 cards each")
        else:
            table = problem.table[0] if problem.table else None
            two.tricks_to_go(int(masks[0]), int(masks[1]), problem.leaders[0] or "N", problem.tricks, table)
    except BadInput as error:
        raise BadInput(f"deal {number}: {error}") from None


def _leader(problem: Problem, declarer: str) -> str:
    """Return who leads, or led the cards on the table (E12)."""
    given = problem.leaders[0]
    return SEATS[(SEATS.index(declarer) + 1) % 4] if given is None else given


def make_problem(
    deal: Any = None,
    *,
    file: str | Path | None = None,
    game: str | None = None,
    ruleset: str | Path | Ruleset | None = None,
    contract: str | None = None,
    pairs: str | None = None,
    declarer: str | None = None,
    trump: str | None = None,
    leader: str | None = None,
    tricks: int | None = None,
    table: str = "",
    cards: bool = False,
    line: bool = False,
    max_plies: int | None = MOST_PLIES,
) -> Problem:
    """Check and complete what is to be solved.

    Args:
        deal: PBN (``N:…``, four hands for Elections, two for Showcase), a Deal, or masks, uint64[seats] or uint64[deals, seats].
        file: a PBN file instead.
        game: by default that of the ruleset, else by the number of hands.
        ruleset: shipped name, ``.toml`` file or Ruleset; default: the game's own.
        contract, pairs, declarer: Elections: an id, N's side, a seat, or ``all``; by default all contracts, NS, all declarers.
        trump: Showcase: a trump, or ``all``, the default.
        leader: who leads; Showcase: by default both in turn; Elections: by default as the rules say (E12), and with a leader alone
            the declarer is the seat before him.
        tricks: Showcase: tricks to go; by default as many as the smaller holding allows, at most 13.
        table: cards already on the table, in order of play.
        cards: also the value of every card that the seat to play may play.
        line: also one line of best play.
        max_plies: Elections: plies after which a value is given up, one or more; None: never.

    Raises:
        SimcoreError: naming the value, where it stands and what is accepted.
    """
    if max_plies is not None and not is_plies(max_plies):
        raise BadInput(f"max_plies is {max_plies!r}; accepted: {PLIES_ACCEPTED}, or None for no limit")
    rules, game = _rules(deal, game, ruleset)
    seats = GAME_SEATS[game]
    others: dict[str, Any] = {"contract": contract, "pairs": pairs, "declarer": declarer}
    if game == "elections":
        others = {"trump": trump, "tricks": tricks}
    for name, value in others.items():
        if value is not None:
            raise BadInput(f"{name} {value!r} does not go with {game}")
    if (deal is None) == (file is None):
        raise BadInput("deal and file: accepted: one of the two")
    on_table = _cards_in_order(table, "table")
    leads = None if leader is None or (leader == "all" and game == "showcase") else seats[seat_index(leader, game, "leader")]
    questions: dict[str, Any]
    if game == "elections":
        if declarer is None and leads is not None and rules.choices["lead"] == "left-of-declarer":
            declarer = SEATS[(SEATS.index(leads) + 3) % 4]
        if leads is None and rules.choices["lead"] == "left-of-dealer":
            raise BadInput(
                f"leader is not given, and by ruleset {rules.name!r} the player left of the dealer leads (E12); accepted: N E S W"
            )
        if contract not in (None, "all"):
            rules.contract(str(contract))
        declarer = declarer.upper() if declarer not in (None, "all") else declarer
        questions = {
            "contracts": _one_of(contract, rules.contract_ids, "contract"),
            "pairs": _one_of(pairs if pairs in (None, "all") else str(pairs).upper(), ("NS", "NE", "NW"), "pairs", "NS"),
            "declarers": _one_of(declarer, tuple(SEATS), "declarer"),
            "leaders": (leads,),
        }
    else:
        questions = {
            "trumps": _one_of(trump, TRUMPS, "trump"),
            "leaders": tuple(seats) if leads is None else (leads,),
            "tricks": tricks,
        }
        if len(on_table) > 1:
            raise BadInput(f"table {table!r} has {len(on_table)} cards; accepted: one")
    if on_table and leads is None:
        raise BadInput(f"table {table!r} needs the leader, who played its first card; accepted: leader as well")
    given = None if file is not None else _masks(deal, seats, "deal")
    if game == "elections":
        questions["max_plies"] = max_plies
    elif max_plies not in (None, MOST_PLIES):
        raise BadInput(f"max_plies {max_plies!r} does not go with showcase")
    draft = Problem(rules, 0, "", given, None if file is None else Path(file), table=on_table, cards=cards, line=line, **questions)
    digest = hashlib.sha256()
    count = 0
    for masks in draft.deals():
        _check_deal(draft, count, masks)
        digest.update(np.ascontiguousarray(masks, "<u8").tobytes())
        count += 1
    if not count:
        raise BadInput("deal: an array of no deals; accepted: at least one")
    return replace(draft, count=count, digest=digest.hexdigest())


def _rules(deal: Any, game: str | None, ruleset: str | Path | Ruleset | None) -> tuple[Ruleset, str]:
    if game is not None and game not in GAME_SEATS:
        raise BadInput(f"game {game!r} is unknown; accepted: {', '.join(GAME_SEATS)}")
    if game is None and ruleset is None:
        if isinstance(deal, str):
            hands = len(deal.partition(":")[2].split())
        else:
            hands = 4 if deal is None or isinstance(deal, Deal) else (np.shape(deal) or (4,))[-1]
        game = "showcase" if hands == 2 else "elections"
    rules = load_ruleset(ruleset or str(game), game)
    return rules, rules.game


def _terms(problem: Problem) -> Iterator[tuple[str, str]]:
    for contract in problem.contracts:
        for pairs in problem.pairs:
            yield contract, pairs


def _undecided(problem: Problem, least: int, most: int) -> Row:
    """Return what a row says whose value was given up: no values, and what the margin lies between."""
    row: Row = {"attackers": None, "defenders": None, "attackers_tricks": None}
    if problem.cards:
        row["cards"] = None
    if problem.line:
        row["line"] = None
    return row | {"margin_least": least, "margin_most": most}


def _elections_rows(problem: Problem, number: int, masks: np.ndarray, stop: threading.Event) -> list[Row]:
    """Return the rows of one deal."""
    rows: list[Row] = []
    rules = problem.ruleset
    plain = rules.choices["low_trump"] == "plain"
    solver = own_solver()  # of a thread of the pool, so nobody else meets the limit
    solver.max_plies = problem.max_plies
    whole = int(masks[0]).bit_count() == _WHOLE and not (problem.table or problem.cards or problem.line)
    for name, pairs in _terms(problem):
        if stop.is_set():
            return rows
        contract, pairing = rules.contract(name), PAIRINGS[pairs]
        bounds: list[list[int]] = []
        if whole and problem.leaders[0] is None:  # one table for all declarers
            seats = [SEATS.index(declarer) for declarer in problem.declarers]
            found = bound_deals(masks[None], rules, contracts=[name], pairings=[pairing], declarers=seats, solver=solver)
            bounds = found.reshape(-1, 2).tolist()
        for place, declarer in enumerate(problem.declarers):
            leader = _leader(problem, declarer)
            row = {"deal": number, "contract": name, "pairs": pairs, "declarer": declarer, "leader": leader}
            rows.append(row)
            if bounds:
                least, most = bounds[place]
                if least != most:
                    row |= _undecided(problem, least, most)
                    continue
                attackers, defenders, won = points_of(contract, least)
            else:
                try:
                    solution = solver.position(
                        masks,
                        contract,
                        pairing=pairing,
                        declarer=declarer,
                        leader=leader,
                        table=problem.table,
                        low_plain=plain,
                        cards=problem.cards,
                        line=problem.line,
                        keep=place > 0,
                    )
                except GaveUp as known:
                    row |= _undecided(problem, known.least, known.most)
                    continue
                attackers, defenders, won = solution.attackers, solution.defenders, solution.attackers_tricks
            row |= {"attackers": attackers, "defenders": defenders, "attackers_tricks": won}
            if problem.cards:
                row["cards"] = {format_card(card): solution.cards[card] for card in sorted(solution.cards, reverse=True)}
            if problem.line:
                row["line"] = [format_card(card) for _, card in solution.line]
    return rows


def _showcase_rows(problem: Problem, first: int, deals: Sequence[np.ndarray], stop: threading.Event) -> list[Row]:
    """Return the rows of some deals."""
    rows: list[Row] = []
    reading = problem.ruleset.choices["all_trump"]
    table = problem.table[0] if problem.table else None
    for number, masks in enumerate(deals, first):
        north, south = (int(mask) for mask in masks)
        for trump in problem.trumps:
            if stop.is_set():
                return rows
            for leader in problem.leaders:
                assert leader is not None
                position = (north, south, trump, leader, problem.tricks, reading)
                won = two.value(*position, table=table)
                lost = two.tricks_to_go(north, south, leader, problem.tricks, table) - won
                row: Row = {"deal": number, "trump": trump, "leader": leader, "points": {"N": won, "S": lost}}
                if problem.cards:
                    row["cards"] = {card.card: card.tricks for card in reversed(two.card_values(*position, table=table))}
                if problem.line:
                    row["line"] = two.line(*position, table=table)
                rows.append(row)
    return rows


def _block_rows(problem: Problem, first: int, deals: list[np.ndarray], stop: threading.Event) -> list[Row]:
    """Return the rows of some deals, or fewer once ``stop`` is set."""
    if problem.game == "showcase":
        return _showcase_rows(problem, first, deals, stop)
    return [row for number, masks in enumerate(deals, first) for row in _elections_rows(problem, number, masks, stop)]


def solve_rows(problem: Problem, *, first: int = 0, threads: int = 1) -> Iterator[list[Row]]:
    """Yield the rows of the deals from index ``first`` on, in order, some deals at a time.

    Deals are read as they are needed, at most a few blocks a thread ahead.
    """
    source = problem.deals(first)
    size = _BLOCK[problem.game]
    stop = threading.Event()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="simcore")
    waiting: deque[Future[list[Row]]] = deque()
    try:
        while True:
            while len(waiting) < 4 * threads and (block := list(islice(source, size))):
                waiting.append(pool.submit(_block_rows, problem, first, block, stop))
                first += len(block)
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def solve(deal: Any, *, threads: int = 1, progress: Callable[[int, int], None] | None = None, **options: Any) -> list[Row]:
    """Solve deals exactly, all hands seen.

    Args:
        deal: PBN of four hands (Elections) or two (Showcase's second playout), a Deal, or masks: uint64[seats], or an array
            uint64[deals, seats] for many.
        threads: with a solver each; changes no result.
        progress: called with (deals done, deals in all).
        options: as :func:`make_problem`: ruleset, contract, pairs, declarer, leader, trump, tricks, table, cards, line, max_plies.

    Returns:
        One object a deal, contract, pairing and declarer, or a deal, trump and leader, as in docs/formats.md.

    Raises:
        SimcoreError: a deal that cannot be, or an option that is not accepted.

    >>> solve("N:AK... QJ... T9... 87...", contract="nt-fewest", leader="N")[0]["defenders"]
    -4
    >>> solve("N:AQ... KJ...", trump="spades", leader="S")[0]["points"]
    {'N': 2, 'S': 0}
    """
    threads = check_threads(threads)
    problem = make_problem(deal, **options)
    rows: list[Row] = []
    for block in solve_rows(problem, threads=threads):
        rows += block
        if progress is not None:
            progress(len(rows) // problem.rows_per_deal, problem.count)
    return rows
