"""The memory of the search of all trump read as ``rank`` (``two_rank``): proofs, and what single comparisons add to them.

A proof that a side, the winner, takes so many tricks rests only on cards of his that are high enough and on cards of the loser that
are low enough; as higher cards never hurt, it holds for every position of the same *shape* (cards of either side in each suit, k)
in which these cards of the winner are as high or higher and these of the loser as low or lower.  (Partition search, Ginsberg 1996;
as all it rests on is of the kind "not worse than", looking up is a comparison of numbers.)  A proof has three numbers a card, none
of them more than 13, in lanes of five bits by card order:

    beat    of the winner's card: how many of the loser's cards of its suit it must beat
    high    of the winner's card: its rank + 1 must be no less, where it is compared with other suits
    low     of the loser's card: 13 - its rank must be no less, where it is compared with other suits

Zero asks for nothing.  Twelve lanes fill a word; holdings of 13 to 24 cards have second words, larger ones (only just below the
root) are not remembered.  A proof takes eight words of the workspace:

    word 0  | shape, from bit 8 | winner: 0 leader, 1 follower (bit 4) | bound on the leader's tricks (bits 3 to 0) |
    word 1  number of the next older proof in the chain
    word 2  beat, high, low; second words of the three

Proofs are numbered from 1 on and written round a ring, new ones over the oldest.  A table of heads, by a hash of the shape, has the
number of the latest proof; a chain ends at a number that has been overwritten, or that is older than the deal: where a call names
cards that change hands, what was remembered is forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, inlined, njit
from simcore.bits import clz, ctz, popcount
from simcore.solvers.two_kernel import HEADER, table_bits

__all__ = [
    "CHILDREN",
    "COLUMN",
    "COUNT",
    "FLOOR",
    "LANE",
    "LIST",
    "MOST_LANES",
    "PROOF",
    "RANK_WORDS",
    "REFUTED",
    "SIDES",
    "SO_FAR",
    "WIDTH",
    "clear_proof",
    "copy_proof",
    "find_proof",
    "folded",
    "join_proof",
    "lift",
    "loser_had",
    "need",
    "number_below",
    "ranks_in",
    "remember_proof",
    "shape_of",
    "those_above",
    "top_of",
    "winner_had",
]

#: Words of a workspace for this reading, for every 8 positions of the other table: a proof and a head.
RANK_WORDS = 9

COUNT, FLOOR, SIDES = 2, 3, 4  # words of the workspace: proofs written, those of earlier deals, the two sides' cards so far
LANE = 0x1FFF
COLUMN = 0x0001000100010001
LIST = 64
# scratch of a ply: up to 40 leads, then replies, then two proofs
CHILDREN, SO_FAR, REFUTED = 40, 46, 52
# scratch of all, six words each: the proof of the last search; the position looked up, as the leader's and as the follower's cards
PROOF = 16 + 13 * LIST
_MINE = PROOF + 6
_HIS = _MINE + 6
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

_BITS, WIDTH, MOST_LANES = 5, 12, 24
_ALL = (1 << _BITS * WIDTH) - 1
_ONES = sum(1 << _BITS * lane for lane in range(WIDTH))
_GUARD = _ONES << 4


@inlined
def ranks_in(cards: I64, suit: I64) -> I64:
    """Return the ranks held in a suit."""
    return (cards >> (suit << 4)) & LANE


@inlined
def top_of(ranks: I64) -> I64:
    """Return the highest rank of a suit; -1 for none."""
    return np.int64(63 - clz(np.uint64(ranks)))


@inlined
def those_above(ranks: I64, rank: I64) -> I64:
    """Return those of the ranks that are above one (which may be -1)."""
    return (ranks >> (rank + 1)) << (rank + 1)


@inlined
def folded(cards: I64) -> I64:
    """Return the ranks present in any suit."""
    two = cards | (cards >> 32)
    return (two | (two >> 16)) & LANE


@inlined
def number_below(cards: I64, card: I64) -> I64:
    """Return how many cards come before a card."""
    return popcount(np.uint64(cards & ((np.int64(1) << card) - 1)))


@inlined
def suit_below(cards: I64, card: I64) -> I64:
    """Return how many cards of its suit are below a card."""
    return popcount(np.uint64(cards & ((np.int64(1) << card) - (np.int64(1) << (card & 48)))))


@inlined
def lift(work: Any, word: I64, lane: I64, number: I64) -> None:
    """Make a lane of a vector at least ``number``."""
    if lane >= WIDTH:
        word += 3
        lane -= WIDTH
    place = _BITS * lane
    if lane < WIDTH and (work[word] >> place) & 31 < number:
        work[word] = (work[word] & ~(np.int64(31) << place)) | (number << place)


@njit
def need(work: Any, proof: I64, winner: I64, loser: I64, card: I64, beaten: I64, strict: I64) -> None:
    """Make a proof rest on the winner's card beating the loser's; ``strict``: 1 if equal ranks of two suits would not do."""
    if card >> 4 == beaten >> 4:
        lift(work, proof, number_below(winner, card), suit_below(loser, beaten) + 1)
    else:
        rank = card & 15
        lift(work, proof + 1, number_below(winner, card), rank + 1)
        lift(work, proof + 2, number_below(loser, beaten), 13 - rank + strict)


@inlined
def clear_proof(work: Any, proof: I64) -> None:
    """Make a proof rest on nothing."""
    for i in range(6):
        work[proof + i] = 0


@inlined
def copy_proof(work: Any, target: I64, source: I64) -> None:
    for i in range(6):
        work[target + i] = work[source + i]


@inlined
def _greater(x: I64, y: I64) -> I64:
    """Return the greater number of each lane."""
    kept = ((x | _GUARD) - y) & _GUARD
    kept -= kept >> 4
    return (x & kept) | (y & ~kept)


@inlined
def join_proof(work: Any, proof: I64, wide: bool) -> None:
    """Make a proof rest on what the proof of the last search rests on, too."""
    for i in range(6 if wide else 3):
        work[proof + i] = _greater(work[proof + i], work[PROOF + i])


@inlined
def _open(work: Any, word: I64, lane: I64, wide: bool) -> None:
    """Open a lane in a vector of the proof of the last search."""
    first = work[word]
    if lane < WIDTH:
        low = first & ((np.int64(1) << (_BITS * lane)) - 1)
        if wide:
            work[word + 3] = ((work[word + 3] << _BITS) | (first >> (_BITS * (WIDTH - 1)))) & _ALL
        work[word] = (low | ((first ^ low) << _BITS)) & _ALL
    elif lane < MOST_LANES:
        second = work[word + 3]
        low = second & ((np.int64(1) << (_BITS * (lane - WIDTH))) - 1)
        work[word + 3] = (low | ((second ^ low) << _BITS)) & _ALL


@inlined
def _lanes(count: I64) -> I64:
    """Return the bits of the first lanes of a word."""
    return (np.int64(1) << (_BITS * max(np.int64(0), min(count, np.int64(WIDTH))))) - 1


@inlined
def winner_had(work: Any, winner: I64, card: I64, wide: bool) -> None:
    """Give a card back to the winner of the proof of the last search; ``winner``: his cards with it."""
    lane = number_below(winner, card)
    _open(work, PROOF, lane, wide)
    _open(work, PROOF + 1, lane, wide)


@inlined
def loser_had(work: Any, winner: I64, loser: I64, card: I64, wide: bool) -> None:
    """Give a card back to the loser, after the winner's; both holdings as they were then."""
    _open(work, PROOF + 2, number_below(loser, card), wide)
    first = number_below(winner, card & 48)
    end = first + popcount(np.uint64(ranks_in(winner, card >> 4)))
    least = (suit_below(loser, card) + 1) * _ONES
    beat = work[PROOF]
    work[PROOF] = beat + ((((beat | _GUARD) - least) & _GUARD) >> 4 & (_lanes(end) ^ _lanes(first)))
    if wide:
        beat = work[PROOF + 3]
        work[PROOF + 3] = beat + ((((beat | _GUARD) - least) & _GUARD) >> 4 & (_lanes(end - WIDTH) ^ _lanes(first - WIDTH)))


def _high_lanes() -> np.ndarray:
    """Return for each holding of a suit the rank + 1 of its cards, in lanes (of the first twelve cards): int64[8192]."""
    holdings = np.arange(1 << 13, dtype=np.int64)
    lanes = np.zeros_like(holdings)
    for rank in range(12, -1, -1):
        held = (holdings >> rank) & 1 == 1
        lanes = np.where(held, ((lanes << _BITS) | (rank + 1)) & _ALL, lanes)
    return lanes


_HIGH: Any = _high_lanes()


@inlined
def _list_narrow(work: Any, mine: I64, his: I64) -> None:
    """Write for each card how many of the other side's it beats in its suit, its rank + 1, and 13 - its rank, as in a proof."""
    beat = np.int64(0)
    high = np.int64(0)
    other_beat = np.int64(0)
    other_high = np.int64(0)
    place = np.int64(0)
    other_place = np.int64(0)
    for suit in range(4):
        own = ranks_in(mine, suit)
        other = ranks_in(his, suit)
        high |= _HIGH[own] << place
        other_high |= _HIGH[other] << other_place
        end = place + _BITS * popcount(np.uint64(own))
        other_end = other_place + _BITS * popcount(np.uint64(other))
        if own:
            # each of the other side's cards is one more that the cards above it beat
            at = other_place
            while other:
                below = popcount(np.uint64(own & (other ^ (other - 1))))
                other &= other - 1
                other_beat |= below << at
                at += _BITS
                beat += (_ONES << (place + _BITS * below)) & ((np.int64(1) << end) - 1)
        place = end
        other_place = other_end
    work[_MINE] = beat
    work[_MINE + 1] = high
    work[_MINE + 2] = 14 * (((np.int64(1) << place) - 1) & _ONES) - high
    work[_HIS] = other_beat
    work[_HIS + 1] = other_high
    work[_HIS + 2] = 14 * (((np.int64(1) << other_place) - 1) & _ONES) - other_high


@njit
def _list_wide(work: Any, target: I64, own: I64, other: I64) -> None:
    """Do the same for one side, of up to 24 cards."""
    clear_proof(work, target)
    lane = np.int64(0)
    while own:
        card = ctz(np.uint64(own))
        own &= own - 1
        rank = card & 15
        word = target if lane < WIDTH else target + 3
        place = _BITS * (lane if lane < WIDTH else lane - WIDTH)
        work[word] |= suit_below(other, card) << place
        work[word + 1] |= (rank + 1) << place
        work[word + 2] |= (13 - rank) << place
        lane += 1


@inlined
def _fits(work: Any, proof: I64, winner: I64, loser: I64, wide: bool) -> bool:
    """Tell whether a position, as listed, has what a proof rests on."""
    good = (work[winner] | _GUARD) - work[proof]
    good &= (work[winner + 1] | _GUARD) - work[proof + 1]
    good &= (work[loser + 2] | _GUARD) - work[proof + 2]
    if wide:
        good &= (work[winner + 3] | _GUARD) - work[proof + 3]
        good &= (work[winner + 4] | _GUARD) - work[proof + 4]
        good &= (work[loser + 5] | _GUARD) - work[proof + 5]
    return good & _GUARD == _GUARD  # type: ignore[no-any-return]


@inlined
def shape_of(mine: I64, his: I64, k: I64) -> I64:
    """Return the number of cards of either side in each suit, and k."""
    shape = np.int64(k)
    for suit in range(4):
        shape = (shape << 8) | (popcount(np.uint64(ranks_in(mine, suit))) << 4) | popcount(np.uint64(ranks_in(his, suit)))
    return shape


@inlined
def _head(work: Any, shape: I64) -> I64:
    """Return where the number of the latest proof of a shape stands."""
    bits = table_bits(work)
    place = np.int64((np.uint64(shape) * _MULTIPLIER) >> np.uint64(67 - bits))
    return HEADER + (np.int64(2) << bits) + (np.int64(1) << bits) + place


@inlined
def _proof(work: Any, number: I64) -> I64:
    """Return where the proof of a number stands, or stood."""
    bits = table_bits(work)
    return HEADER + (np.int64(2) << bits) + (((number - 1) & ((np.int64(1) << (bits - 3)) - 1)) << 3)


@inlined
def find_proof(work: Any, mine: I64, his: I64, shape: I64, t: I64, wide: bool) -> I64:
    """Return where a proof stands that settles a position; 0 for none."""
    number = work[_head(work, shape)]
    oldest = max(work[FLOOR], work[COUNT] - (np.int64(1) << (table_bits(work) - 3)))
    if number > oldest:
        if wide:
            _list_wide(work, _MINE, mine, his)
            _list_wide(work, _HIS, his, mine)
        else:
            _list_narrow(work, mine, his)
    while number > oldest:
        at = _proof(work, number)
        word = work[at]
        if word >> 8 == shape:
            if word & 16:
                if word & 15 < t and _fits(work, at + 2, _HIS, _MINE, wide):
                    return at
            elif word & 15 >= t and _fits(work, at + 2, _MINE, _HIS, wide):
                return at
        number = work[at + 1]
    return np.int64(0)


@inlined
def remember_proof(work: Any, shape: I64, bound: I64, follower: I64) -> None:
    """Write down the proof of the last search."""
    number = work[COUNT] + 1
    work[COUNT] = number
    at = _proof(work, number)
    head = _head(work, shape)
    work[at] = (shape << 8) | (follower << 4) | bound
    work[at + 1] = work[head]
    work[head] = number
    copy_proof(work, at + 2, PROOF)
