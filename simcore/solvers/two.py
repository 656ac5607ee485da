"""Exact values of the second playout of Showcase (S9-S14): two holdings face up, any trump, any point of the play.

Holdings are masks of cards (bit = 16*suit + rank; :class:`simcore.cards.Hand` is accepted too) and may be of unequal size, as
after the default first playout; cards left over are not used.  The value of a position is the number of tricks one side takes of
those to go when both play perfectly.

>>> from simcore.cards import Hand
>>> north, south = Hand.parse("AQ..."), Hand.parse("KJ...")
>>> value(north, south, "spades", "N"), value(north, south, "spades", "S")
(1, 2)
>>> [(card.card, card.tricks) for card in card_values(north, south, "spades", "N")]
[('SQ', 1), ('SA', 1)]
>>> line(north, south, "spades", "S")
['SJ', 'SQ', 'SA', 'SK']

``table`` is the card the side to reply finds on the table; it no longer belongs to the holding of the side that led it.
Every function takes a ``work`` space; without one it uses that of the calling thread.  What a work space remembers changes the
time of a later answer and its node count, never the answer.  Inside kernels use :mod:`simcore.solvers.two_play`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore._jit import I64, njit
from simcore.bits import ZERO
from simcore.cards import FULL, Hand, format_card, format_cards, format_hand, parse_card
from simcore.errors import BadInput
from simcore.rules import TRUMPS
from simcore.solvers import two_play
from simcore.solvers.two_kernel import HEADER, NODES
from simcore.solvers.two_proofs import RANK_WORDS

__all__ = [
    "CardValue",
    "all_trumps",
    "all_trumps_batch",
    "best_card",
    "best_trump",
    "card_values",
    "line",
    "node_count",
    "own_workspace",
    "tricks_to_go",
    "value",
    "values_batch",
    "workspace",
]

Work = npt.NDArray[np.int64]
Holding = int | np.integer[Any] | Hand

_SEATS = "NS"
_READINGS = ("ruff", "rank")
_MOST_TRICKS = 13
#: Default size of a workspace: 2**18 positions and an eighth as many proofs for the reading ``rank``, 6.6 MB (touched as needed).
TABLE_BITS = 18


class CardValue(NamedTuple):
    """A legal card and the tricks, of those to go, its side takes after it; ``best``: no card takes more."""

    card: str
    tricks: int
    best: bool


_local = threading.local()


def workspace(bits: int = TABLE_BITS) -> Work:
    """Make a workspace: counters, scratch and a table of 2**bits positions (int64, 25 bytes a position).  One a thread.

    Raises:
        BadInput: bits is not in 4 … 28.
    """
    if not 4 <= bits <= 28:
        raise BadInput(f"table bits {bits!r}; accepted: 4 to 28")
    work = np.zeros(HEADER + ((16 + RANK_WORDS) << (bits - 3)), dtype=np.int64)
    work[1] = bits
    return work


def node_count(work: Work) -> int:
    """Return how many positions were searched with a workspace since it was made."""
    return int(work[NODES])


def own_workspace() -> Work:
    """Return the calling thread's own workspace, made at first use."""
    if not hasattr(_local, "work"):
        _local.work = workspace()
    return _local.work  # type: ignore[no-any-return]


def _own(work: Work | None) -> Work:
    return own_workspace() if work is None else work


def _mask(holding: Holding, name: str) -> np.uint64:
    number = holding.mask if isinstance(holding, Hand) else int(holding)
    if number < 0 or number & ~int(FULL):
        raise BadInput(f"holding of {name}: mask {number!r} has bits that are no cards")
    return np.uint64(number)


def _choice(word: str | int, accepted: Sequence[str], what: str) -> int:
    if isinstance(word, str) and word in accepted:
        return accepted.index(word)
    if isinstance(word, int | np.integer) and not isinstance(word, bool) and 0 <= word < len(accepted):
        return int(word)
    raise BadInput(f"{what} {word!r}; accepted: {', '.join(accepted)}")


def _card(card: str | int | None) -> np.uint64:
    if card is None:
        return ZERO
    number = parse_card(card) if isinstance(card, str) else int(card)
    if not 0 <= number < 64 or not int(FULL) >> number & 1:
        raise BadInput(f"table {card!r} is not a card; accepted: a card as in 'SA', or its bit number")
    return np.uint64(1 << number)


class _Position(NamedTuple):
    mine: np.uint64  # of the side to play
    his: np.uint64
    table: np.uint64
    tricks: int
    play: int  # seat to play


def _position(hand_n: Holding, hand_s: Holding, leader: str | int, tricks: int | None, table: str | int | None) -> _Position:
    hands = _mask(hand_n, "N"), _mask(hand_s, "S")
    on_table = _card(table)
    lead = _choice(leader, _SEATS, "leader")
    twice = int(hands[0] & hands[1]) | int((hands[0] | hands[1]) & on_table)
    if twice:
        shown = f" and {format_cards(int(on_table))} on the table" if on_table else ""
        where = f"{format_hand(int(hands[0]))!r}, {format_hand(int(hands[1]))!r}{shown}"
        raise BadInput(f"cards {format_hand(twice)!r} stand twice in {where}; accepted: a card once")
    sizes = [int(hand).bit_count() for hand in hands]
    sizes[lead] += int(on_table != ZERO)
    most = min(*sizes, _MOST_TRICKS)
    if tricks is None:
        tricks = most
    if isinstance(tricks, bool) or not isinstance(tricks, int | np.integer) or not 0 <= tricks <= most:
        raise BadInput(f"tricks {tricks!r} to go with {sizes[0]} and {sizes[1]} cards; accepted: 0 to {most}")
    if on_table != ZERO and tricks == 0:
        raise BadInput(f"tricks {tricks!r} to go with {table!r} on the table; accepted: 1 to {most}")
    play = lead if on_table == ZERO else 1 - lead
    return _Position(hands[play], hands[1 - play], on_table, int(tricks), play)


def tricks_to_go(
    hand_n: Holding, hand_s: Holding, leader: str | int, tricks: int | None = None, table: str | int | None = None
) -> int:
    """Return how many tricks are to go, after checking a position; arguments and errors as for :func:`value`."""
    return _position(hand_n, hand_s, leader, tricks, table).tricks


def value(
    hand_n: Holding,
    hand_s: Holding,
    trump: str | int,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    table: str | int | None = None,
    work: Work | None = None,
) -> int:
    """Return the tricks N takes of those to go, both playing perfectly.

    Args:
        hand_n, hand_s: the holdings, without cards played.
        trump: a name of ``TRUMPS`` or its number 0 … 5.
        leader: "N" or "S": who leads, or led the card on the table, to the current trick.
        tricks: tricks to go, with that of the card on the table; by default as many as the smaller holding allows, at most 13.
        all_trump: "ruff" or "rank" (S13); matters only when all is trump.
        table: the card already led, which the other side must now reply to.
        work: a workspace.

    Raises:
        BadInput: overlapping holdings, more tricks than cards, an unknown trump, leader, reading or card.
    """
    suit, rank = _choice(trump, TRUMPS, "trump"), _choice(all_trump, _READINGS, "all_trump") == 1
    at = _position(hand_n, hand_s, leader, tricks, table)
    own = int(two_play.side_to_play_value(_own(work), at.mine, at.his, at.table, np.int64(at.tricks), np.int64(suit), rank))
    return own if at.play == 0 else at.tricks - own


def all_trumps(
    hand_n: Holding,
    hand_s: Holding,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    work: Work | None = None,
) -> npt.NDArray[np.int8]:
    """Return the tricks of N at each of the six trumps, int8[6] in the order of ``TRUMPS``; see :func:`value`."""
    rank = _choice(all_trump, _READINGS, "all_trump") == 1
    at = _position(hand_n, hand_s, leader, tricks, None)
    out = np.zeros(6, dtype=np.int8)
    two_play.trump_values(_own(work), out, at.mine, at.his, True, np.int64(at.tricks), rank)
    return out if at.play == 0 else (at.tricks - out).astype(np.int8)


def best_trump(
    hand_n: Holding,
    hand_s: Holding,
    namer: str | int,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    work: Work | None = None,
) -> str:
    """Return the first trump, in the order of ``TRUMPS``, at which the namer takes most tricks (S9)."""
    rank = _choice(all_trump, _READINGS, "all_trump") == 1
    seat = _choice(namer, _SEATS, "namer")
    at = _position(hand_n, hand_s, leader, tricks, None)
    mine, his = (at.mine, at.his) if seat == at.play else (at.his, at.mine)
    return TRUMPS[int(two_play.best_trump(_own(work), mine, his, seat == at.play, np.int64(at.tricks), rank))]


def card_values(
    hand_n: Holding,
    hand_s: Holding,
    trump: str | int,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    table: str | int | None = None,
    work: Work | None = None,
) -> list[CardValue]:
    """Return every legal card of the side to play and what it is worth to that side, in card order (clubs first, low first).

    Equal cards are all listed.  With no tricks to go the list is empty.  Arguments and errors as for :func:`value`.
    """
    suit, rank = _choice(trump, TRUMPS, "trump"), _choice(all_trump, _READINGS, "all_trump") == 1
    at = _position(hand_n, hand_s, leader, tricks, table)
    out = np.empty(64, dtype=np.int8)
    best = two_play.card_values(_own(work), out, at.mine, at.his, at.table, np.int64(at.tricks), np.int64(suit), rank)
    return [CardValue(format_card(int(c)), int(out[c]), bool(out[c] == best)) for c in np.flatnonzero(out >= 0)]


def best_card(
    hand_n: Holding,
    hand_s: Holding,
    trump: str | int,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    table: str | int | None = None,
    work: Work | None = None,
) -> str | None:
    """Return the first best card of the side to play, in card order; None with no tricks to go.  See :func:`value`."""
    suit, rank = _choice(trump, TRUMPS, "trump"), _choice(all_trump, _READINGS, "all_trump") == 1
    at = _position(hand_n, hand_s, leader, tricks, table)
    card = int(two_play.best_card(_own(work), at.mine, at.his, at.table, np.int64(at.tricks), np.int64(suit), rank))
    return format_card(card.bit_length() - 1) if card else None


def line(
    hand_n: Holding,
    hand_s: Holding,
    trump: str | int,
    leader: str | int,
    tricks: int | None = None,
    all_trump: str = "ruff",
    *,
    table: str | int | None = None,
    work: Work | None = None,
) -> list[str]:
    """Return one line of best play to the end, card by card (without the card on the table); arguments as for :func:`value`."""
    suit, rank = np.int64(_choice(trump, TRUMPS, "trump")), _choice(all_trump, _READINGS, "all_trump") == 1
    mine, his, led, k, _ = _position(hand_n, hand_s, leader, tricks, table)
    own = _own(work)
    cards: list[str] = []
    while k > 0:
        card = np.uint64(two_play.best_card(own, mine, his, led, np.int64(k), suit, rank))
        cards.append(format_card(int(card).bit_length() - 1))
        mine &= ~card
        if led == ZERO:
            led, mine, his = card, his, mine
        else:
            if not two_play.wins_trick(led, card, suit, rank):
                mine, his = his, mine
            led, k = ZERO, k - 1
    return cards


@njit
def _solve_rows(
    work: Any,
    out: Any,
    hands_n: Any,
    hands_s: Any,
    trumps: Any,
    leaders: Any,
    tricks: Any,
    rank: bool,
    start: I64,
    stop: I64,
) -> None:
    for i in range(start, stop):
        k = np.int64(tricks[i])
        if leaders[i] == 0:
            out[i] = two_play.side_to_play_value(work, hands_n[i], hands_s[i], ZERO, k, np.int64(trumps[i]), rank)
        else:
            out[i] = k - two_play.side_to_play_value(work, hands_s[i], hands_n[i], ZERO, k, np.int64(trumps[i]), rank)


@njit
def _solve_six(
    work: Any, out: Any, hands_n: Any, hands_s: Any, leaders: Any, tricks: Any, rank: bool, start: I64, stop: I64
) -> None:
    for i in range(start, stop):
        k = np.int64(tricks[i])
        two_play.trump_values(work, out[i], hands_n[i], hands_s[i], leaders[i] == 0, k, rank)


def _column(data: npt.ArrayLike, name: str, size: int, accepted: int | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return a column of ``size`` integers in 0 … accepted (a bound, or one a row)."""
    column = np.asarray(data)
    if column.dtype.kind not in "iu":
        raise BadInput(f"{name}: dtype {str(column.dtype)!r}; accepted: integers")
    if column.shape not in ((), (size,)):
        raise BadInput(f"{name}: shape {column.shape!r}; accepted: one number or {size}")
    column = np.ascontiguousarray(np.broadcast_to(column, size), dtype=np.int64)
    bad = np.flatnonzero((column < 0) | (column > accepted))
    if bad.size:
        row = int(bad[0])
        most = accepted if isinstance(accepted, int) else int(accepted[row])
        raise BadInput(f"{name} {int(column[row])!r} in row {row}; accepted: 0 to {most}")
    return column


def _holdings(
    hands_n: npt.ArrayLike, hands_s: npt.ArrayLike
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    masks = []
    for data, name in ((hands_n, "N"), (hands_s, "S")):
        array = np.asarray(data)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            found = f"{str(array.dtype)!r} of {array.ndim} dimension(s)"
            raise BadInput(f"holdings of {name}: {found}; accepted: integers of one dimension")
        masks.append(np.ascontiguousarray(array, dtype=np.uint64))
    north, south = masks
    if north.shape != south.shape:
        raise BadInput(f"{north.size!r} holdings of N, {south.size!r} of S; accepted: as many")
    bad = np.flatnonzero(((north | south) & ~FULL) | (north & south))
    if bad.size:
        row = int(bad[0])
        found = f"{int(north[row])!r} and {int(south[row])!r} in row {row}"
        raise BadInput(f"holdings {found} share a card or have bits that are no cards; accepted: disjoint sets of cards")
    most = np.minimum(np.minimum(np.bitwise_count(north), np.bitwise_count(south)), _MOST_TRICKS).astype(np.int64)
    return north, south, most


def _in_threads(kernel: Any, threads: int, size: int, work: Work | None, *arguments: Any) -> None:
    """Run ``kernel(work, *arguments, start, stop)`` over rows in chunks, each thread with a workspace of its own."""
    if threads < 1:
        raise BadInput(f"threads {threads!r}; accepted: 1 or more")
    if threads == 1:
        kernel(_own(work), *arguments, np.int64(0), np.int64(size))
        return
    if work is not None:
        raise BadInput(f"threads {threads!r} with one workspace; accepted: one thread, or no workspace")
    chunk = max(1, min(256, -(-size // (4 * threads))))
    with ThreadPoolExecutor(threads) as pool:
        for job in [
            pool.submit(lambda a, b: kernel(_own(None), *arguments, np.int64(a), np.int64(b)), at, min(at + chunk, size))
            for at in range(0, size, chunk)
        ]:
            job.result()


def values_batch(
    hands_n: npt.ArrayLike,
    hands_s: npt.ArrayLike,
    trumps: npt.ArrayLike,
    leaders: npt.ArrayLike,
    tricks: npt.ArrayLike | None = None,
    all_trump: str = "ruff",
    *,
    threads: int = 1,
    work: Work | None = None,
) -> npt.NDArray[np.int8]:
    """Return the tricks of N of many positions, int8[n].

    Args:
        hands_n, hands_s: masks, uint64[n].
        trumps: 0 … 5, one or n.
        leaders: 0 for N, 1 for S, one or n.
        tricks: tricks to go, one or n; by default as many as the smaller holding allows, at most 13.
        all_trump: "ruff" or "rank".
        threads: threads to use; the kernel does not hold the interpreter lock.
        work: a workspace, with one thread.

    Raises:
        BadInput: as for :func:`value`, naming the first bad row, or arrays of unequal length.
    """
    rank = _choice(all_trump, _READINGS, "all_trump") == 1
    north, south, most = _holdings(hands_n, hands_s)
    size = north.size
    suits, seats = _column(trumps, "trump", size, 5), _column(leaders, "leader", size, 1)
    to_go = most if tricks is None else _column(tricks, "tricks", size, most)
    out = np.zeros(size, dtype=np.int8)
    _in_threads(_solve_rows, threads, size, work, out, north, south, suits, seats, to_go, rank)
    return out


def all_trumps_batch(
    hands_n: npt.ArrayLike,
    hands_s: npt.ArrayLike,
    leaders: npt.ArrayLike,
    tricks: npt.ArrayLike | None = None,
    all_trump: str = "ruff",
    *,
    threads: int = 1,
    work: Work | None = None,
) -> npt.NDArray[np.int8]:
    """Return the tricks of N at each of the six trumps, int8[n, 6]; arguments as for :func:`values_batch`."""
    rank = _choice(all_trump, _READINGS, "all_trump") == 1
    north, south, most = _holdings(hands_n, hands_s)
    size = north.size
    seats = _column(leaders, "leader", size, 1)
    to_go = most if tricks is None else _column(tricks, "tricks", size, most)
    out = np.zeros((size, 6), dtype=np.int8)
    _in_threads(_solve_six, threads, size, work, out, north, south, seats, to_go, rank)
    return out
