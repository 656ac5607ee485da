"""Exact search of the second playout of Showcase under all trump read as ``rank`` (S13).

Who cannot follow suit plays any card, and the higher rank wins, whatever its suit; equal ranks to the leader.  Ranks of different
suits are compared, so the strings of owners of ``two_kernel`` are not enough: a position is two masks, the leader's cards and the
follower's (bit = 16*suit + rank).  With k tricks to go, a side has no use for more than its k highest cards of a suit.

The search asks "can the leader take at least t of the k tricks?" as in ``two_kernel``, and uses *higher cards never hurt* for more
than the choice of replies: its memory keeps *proofs*, not positions.  A proof that a side, the winner, takes so many tricks rests
only on cards of his that are high enough and on cards of the loser that are low enough; so it holds for every position of the same
*shape* (cards of either side in each suit, k) in which these cards of the winner are as high or higher and these of the loser as
low or lower.  (Partition search, Ginsberg 1996; as all it rests on is of the kind "not worse than", looking up is a comparison of
numbers.)  A proof has three numbers a card, none of them more than 13, in lanes of five bits by card order:

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
from simcore.bits import borrowed, clz, ctz, popcount
from simcore.solvers.two_kernel import HEADER, NODES, table_bits

__all__ = ["RANK_WORDS", "search_rank", "solve_rank"]

#: Words of a workspace for this reading, for every 8 positions of the other table: a proof and a head.
RANK_WORDS = 9

_COUNT, _FLOOR, _SIDES = 2, 3, 4  # words of the workspace: proofs written, those of earlier deals, the two sides' cards so far
_LANE = 0x1FFF
_COLUMN = 0x0001000100010001
_LIST = 64
# scratch of a ply: up to 40 leads, then replies, then two proofs
_CHILDREN, _SO_FAR, _REFUTED = 40, 46, 52
# scratch of all, six words each: the proof of the last search; the position looked up, as the leader's and as the follower's cards
_PROOF = 16 + 13 * _LIST
_MINE = _PROOF + 6
_HIS = _MINE + 6
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

_BITS, _WIDTH, _MOST_LANES = 5, 12, 24
_ALL = (1 << _BITS * _WIDTH) - 1
_ONES = sum(1 << _BITS * lane for lane in range(_WIDTH))
_GUARD = _ONES << 4


@inlined
def _lane(cards: I64, suit: I64) -> I64:
    """Return the ranks held in a suit."""
    return (cards >> (suit << 4)) & _LANE


@inlined
def _top(ranks: I64) -> I64:
    """Return the highest rank of a suit; -1 for none."""
    return np.int64(63 - clz(np.uint64(ranks)))


@inlined
def _over(ranks: I64, rank: I64) -> I64:
    """Return those of the ranks that are above one (which may be -1)."""
    return (ranks >> (rank + 1)) << (rank + 1)


@inlined
def _folded(cards: I64) -> I64:
    """Return the ranks present in any suit."""
    two = cards | (cards >> 32)
    return (two | (two >> 16)) & _LANE


@inlined
def _below(cards: I64, card: I64) -> I64:
    """Return how many cards come before a card."""
    return popcount(np.uint64(cards & ((np.int64(1) << card) - 1)))


@inlined
def _rank_below(cards: I64, card: I64) -> I64:
    """Return how many cards of its suit are below a card."""
    return popcount(np.uint64(cards & ((np.int64(1) << card) - (np.int64(1) << (card & 48)))))


# ------------------------------------------------------------------------------------------------ proofs


@inlined
def _raise(work: Any, word: I64, lane: I64, number: I64) -> None:
    """Make a lane of a vector at least ``number``."""
    if lane >= _WIDTH:
        word += 3
        lane -= _WIDTH
    place = _BITS * lane
    if lane < _WIDTH and (work[word] >> place) & 31 < number:
        work[word] = (work[word] & ~(np.int64(31) << place)) | (number << place)


@njit
def _need(work: Any, proof: I64, winner: I64, loser: I64, card: I64, beaten: I64, strict: I64) -> None:
    """Make a proof rest on the winner's card beating the loser's; ``strict``: 1 if equal ranks of two suits would not do."""
    if card >> 4 == beaten >> 4:
        _raise(work, proof, _below(winner, card), _rank_below(loser, beaten) + 1)
    else:
        rank = card & 15
        _raise(work, proof + 1, _below(winner, card), rank + 1)
        _raise(work, proof + 2, _below(loser, beaten), 13 - rank + strict)


@inlined
def _clear(work: Any, proof: I64) -> None:
    """Make a proof rest on nothing."""
    for i in range(6):
        work[proof + i] = 0


@inlined
def _copy(work: Any, target: I64, source: I64) -> None:
    for i in range(6):
        work[target + i] = work[source + i]


@inlined
def _greater(x: I64, y: I64) -> I64:
    """Return the greater number of each lane."""
    kept = ((x | _GUARD) - y) & _GUARD
    kept -= kept >> 4
    return (x & kept) | (y & ~kept)


@inlined
def _join(work: Any, proof: I64, wide: bool) -> None:
    """Make a proof rest on what the proof of the last search rests on, too."""
    for i in range(6 if wide else 3):
        work[proof + i] = _greater(work[proof + i], work[_PROOF + i])


@inlined
def _open(work: Any, word: I64, lane: I64, wide: bool) -> None:
    """Open a lane in a vector of the proof of the last search."""
    first = work[word]
    if lane < _WIDTH:
        low = first & ((np.int64(1) << (_BITS * lane)) - 1)
        if wide:
            work[word + 3] = ((work[word + 3] << _BITS) | (first >> (_BITS * (_WIDTH - 1)))) & _ALL
        work[word] = (low | ((first ^ low) << _BITS)) & _ALL
    elif lane < _MOST_LANES:
        second = work[word + 3]
        low = second & ((np.int64(1) << (_BITS * (lane - _WIDTH))) - 1)
        work[word + 3] = (low | ((second ^ low) << _BITS)) & _ALL


@inlined
def _lanes(count: I64) -> I64:
    """Return the bits of the first lanes of a word."""
    return (np.int64(1) << (_BITS * max(np.int64(0), min(count, np.int64(_WIDTH))))) - 1


@inlined
def _winner_had(work: Any, winner: I64, card: I64, wide: bool) -> None:
    """Give a card back to the winner of the proof of the last search; ``winner``: his cards with it."""
    lane = _below(winner, card)
    _open(work, _PROOF, lane, wide)
    _open(work, _PROOF + 1, lane, wide)


@inlined
def _loser_had(work: Any, winner: I64, loser: I64, card: I64, wide: bool) -> None:
    """Give a card back to the loser, after the winner's; both holdings as they were then."""
    _open(work, _PROOF + 2, _below(loser, card), wide)
    first = _below(winner, card & 48)
    end = first + popcount(np.uint64(_lane(winner, card >> 4)))
    least = (_rank_below(loser, card) + 1) * _ONES
    beat = work[_PROOF]
    work[_PROOF] = beat + ((((beat | _GUARD) - least) & _GUARD) >> 4 & (_lanes(end) ^ _lanes(first)))
    if wide:
        beat = work[_PROOF + 3]
        work[_PROOF + 3] = beat + ((((beat | _GUARD) - least) & _GUARD) >> 4 & (_lanes(end - _WIDTH) ^ _lanes(first - _WIDTH)))


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
        own = _lane(mine, suit)
        other = _lane(his, suit)
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
    _clear(work, target)
    lane = np.int64(0)
    while own:
        card = ctz(np.uint64(own))
        own &= own - 1
        rank = card & 15
        word = target if lane < _WIDTH else target + 3
        place = _BITS * (lane if lane < _WIDTH else lane - _WIDTH)
        work[word] |= _rank_below(other, card) << place
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
def _shape(mine: I64, his: I64, k: I64) -> I64:
    """Return the number of cards of either side in each suit, and k."""
    shape = np.int64(k)
    for suit in range(4):
        shape = (shape << 8) | (popcount(np.uint64(_lane(mine, suit))) << 4) | popcount(np.uint64(_lane(his, suit)))
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
def _find(work: Any, mine: I64, his: I64, shape: I64, t: I64, wide: bool) -> I64:
    """Return where a proof stands that settles a position; 0 for none."""
    number = work[_head(work, shape)]
    oldest = max(work[_FLOOR], work[_COUNT] - (np.int64(1) << (table_bits(work) - 3)))
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
def _remember(work: Any, shape: I64, bound: I64, follower: I64) -> None:
    """Write down the proof of the last search."""
    number = work[_COUNT] + 1
    work[_COUNT] = number
    at = _proof(work, number)
    head = _head(work, shape)
    work[at] = (shape << 8) | (follower << 4) | bound
    work[at + 1] = work[head]
    work[head] = number
    _copy(work, at + 2, _PROOF)


# ------------------------------------------------------------------------------------------------ bounds without search


@njit
def _sure(mine: I64, his: I64, k: I64) -> I64:
    """Return tricks the leader can cash without losing the lead; exact for k = 1.

    If the other side leads first and he can win that trick, he still has them, that trick included: it costs one card.
    """
    total = np.int64(0)
    ranks = _folded(his)
    big = _LANE ^ ((1 << (63 - clz(np.uint64(ranks)))) - 1) if ranks else np.int64(_LANE)
    for suit in range(4):
        own = (mine >> (suit << 4)) & _LANE
        if own:
            other = (his >> (suit << 4)) & _LANE
            length = popcount(np.uint64(other))
            tops = popcount(np.uint64(own >> (64 - clz(np.uint64(other)))))
            total += tops if tops < length else length + min(tops - length, popcount(np.uint64(own & big)))
    return min(k, total)


@njit
def _prove_sure(work: Any, mine: I64, his: I64, wanted: I64) -> None:
    """Make the proof rest on what so many sure tricks, which there are, rest on."""
    ranks = _folded(his)
    big = _LANE ^ ((1 << _top(ranks)) - 1) if ranks else np.int64(_LANE)
    for suit in range(4):
        own = _lane(mine, suit)
        if wanted and own:
            other = _lane(his, suit)
            length = popcount(np.uint64(other))
            tops = _over(own, _top(other))
            count = popcount(np.uint64(tops))
            taken = min(wanted, count if count < length else length + min(count - length, popcount(np.uint64(own & big))))
            wanted -= taken
            if taken:
                # the lowest that must take a trick; of those led when the follower has run out, the lowest
                for _ in range(count - taken):
                    tops &= tops - 1
                if other:
                    _need(
                        work,
                        _PROOF,
                        mine,
                        his,
                        (suit << 4) | ctz(np.uint64(tops)),
                        (suit << 4) | _top(other),
                        np.int64(0),
                    )
                if count >= length and taken > length:
                    for _ in range(length):
                        tops &= tops - 1
                    card = (suit << 4) | ctz(np.uint64(tops))
                    for against in range(4):
                        other = _lane(his, against)
                        if other and against != suit:
                            _need(work, _PROOF, mine, his, card, (against << 4) | _top(other), np.int64(0))


@inlined
def _kept(mine: I64, his: I64) -> I64:
    """Return the follower's cards of the suits of which the leader's sure tricks leave him the highest."""
    kept = np.int64(0)
    for suit in range(4):
        other = _lane(his, suit)
        if popcount(np.uint64(_over(_lane(mine, suit), _top(other)))) < popcount(np.uint64(other)):
            kept |= other << (suit << 4)
    return kept


@inlined
def _stopped(mine: I64, his: I64, kept: I64) -> bool:
    """Tell whether the follower can take a trick as soon as the leader's sure tricks are cashed, without giving up any of his own.

    Where the leader could go on when the follower has run out of a suit, a card that the follower keeps beats all of the leader's.
    """
    best = _top(_folded(kept))
    for suit in range(4):
        own = _lane(mine, suit)
        if popcount(np.uint64(own)) > popcount(np.uint64(_lane(his, suit))) and not _lane(kept, suit) and _top(own) >= best:
            return False
    return True


@njit
def _prove_stopped(work: Any, mine: I64, his: I64, kept: I64) -> None:
    """Make the proof rest on what that rests on."""
    for suit in range(4):
        own = _lane(mine, suit)
        other = _lane(kept, suit)
        if other:
            low = own & ((1 << _top(other)) - 1)
            if low:
                _need(work, _PROOF, his, mine, (suit << 4) | _top(other), (suit << 4) | _top(low), np.int64(1))
        elif popcount(np.uint64(own)) > popcount(np.uint64(_lane(his, suit))):
            rank = _top(_folded(kept))
            card = ctz(np.uint64((kept >> rank) & _COLUMN)) + rank
            _need(work, _PROOF, his, mine, card, (suit << 4) | _top(own), np.int64(1))


@inlined
def _paired(mine: I64, his: I64, k: I64, t: I64) -> I64:
    """Return a rank r (-r) that shows that the leader takes at least t tricks (cannot take them), where all cards are played; or 0.

    A side wins only with a rank not below the other's: it loses at least one trick for each of its cards below r, less those of the
    other side below r.
    """
    less = np.int64(0)
    for rank in range(12):
        less += popcount(np.uint64((his >> rank) & _COLUMN)) - popcount(np.uint64((mine >> rank) & _COLUMN))
        if less >= t:
            return np.int64(rank + 1)
        if less < t - k:
            return np.int64(-1 - rank)
    return np.int64(0)


@njit
def _prove_paired(work: Any, winner: I64, loser: I64, rank: I64) -> None:
    """Make the proof rest on the loser's cards below a rank and on the winner's others."""
    for suit in range(4):
        low = _lane(loser, suit) & ((1 << rank) - 1)
        if low:
            _raise(work, _PROOF + 2, _below(loser, (suit << 4) | _top(low)), 14 - rank)
        high = _lane(winner, suit) >> rank
        if high:
            _raise(work, _PROOF + 1, _below(winner, (suit << 4) + rank + ctz(np.uint64(high))), rank + 1)


# ------------------------------------------------------------------------------------------------ moves


@inlined
def _insert(out: Any, base: I64, count: I64, entry: I64) -> I64:
    """Insert an entry into a falling list of ``count`` entries; return the new count."""
    place = base + count
    while place > base and out[place - 1] < entry:
        out[place] = out[place - 1]
        place -= 1
    out[place] = entry
    return count + 1


@njit
def _replies(out: Any, base: I64, his: I64, lead: I64) -> I64:
    """Write the sensible replies to a lead (low 7 bits: bit number, + 64 if it wins); return their number (1 to 6).

    Winners first, low ranks first.
    """
    suit = lead & 48
    rank = lead & 15
    held = (his >> suit) & _LANE
    count = np.int64(0)
    for step in range(0, 64, 16):
        place = (suit + step) & 48
        cards = (his >> place) & _LANE
        if cards:
            above = (cards >> (rank + 1)) << (rank + 1)
            if above:
                reply = ctz(np.uint64(above))
                count = _insert(out, base, count, ((32 - reply) << 7) | 64 | place | reply)
            reply = ctz(np.uint64(cards))
            if reply <= rank:
                count = _insert(out, base, count, ((16 - reply) << 7) | place | reply)
        if held:
            break
    return count


@njit
def _leads(out: Any, base: I64, mine: I64, his: I64) -> I64:
    """Write the leads worth trying, of cards that do equally in this trick the lowest, best guess first; return their number.

    The guess was found by trial, by changing its numbers at random: a lead that settles the question is not always a good one, one
    that does so after few positions is.
    """
    count = np.int64(0)
    ranks = _folded(his)
    for suit in range(4):
        cards = _lane(mine, suit)
        other = _lane(his, suit)
        against = other if other else ranks
        size = popcount(np.uint64(against))
        length = popcount(np.uint64(other))
        held = popcount(np.uint64(cards))
        tops = popcount(np.uint64(_over(cards, _top(other))))
        place = np.int64(0)
        last = np.int64(-1)
        while cards:
            rank = ctz(np.uint64(cards))
            cards &= cards - 1
            place += 1
            beaten = popcount(np.uint64(against & ((2 << rank) - 1)))
            if beaten == last:
                continue
            last = beaten
            above = size - beaten
            if other == 0:
                if above == 0:
                    score = 48 * held - 32 * size - 12 * rank - 32 * place
                else:
                    score = 14 * held - 12 * beaten - 40 * above + 6 * place - (112 if above == 1 else 84)
            elif above == 0:
                score = 164 - 23 * length - 9 * rank - 8 * popcount(np.uint64((ranks >> rank) >> 1))
                if place == 1:
                    score += 88
                if cards == 0:
                    score -= 16
            else:
                score = 5 * held - 17 * length - 28 * tops - 4 * above
                if place == 1:
                    score += 4
                if cards == 0:
                    score -= 11
            count = _insert(out, base, count, (score << 8) | (suit << 4) | rank)
    return count


@inlined
def _against(his: I64, lead: I64) -> I64:
    """Return the ranks a lead must beat: those of its suit, or all if the follower has none."""
    held = _lane(his, lead >> 4)
    return held if held else _folded(his)


@inlined
def _like(mine: I64, his: I64, lead: I64) -> I64:
    """Return the highest card of the suit of a lead that loses to the same cards."""
    above = _over(_against(his, lead), lead & 15)
    return (lead & 48) | _top(_lane(mine, lead >> 4) & ((1 << ctz(np.uint64(above))) - 1))


@inlined
def _need_lead(work: Any, proof: I64, mine: I64, his: I64, lead: I64) -> None:
    """Make a proof rest on a lead beating what it beats now: of these cards the lowest of each suit was tried for all."""
    below = (np.int64(2) << (lead & 15)) - 1
    if _lane(his, lead >> 4):
        low = _lane(his, lead >> 4) & below
        if low:
            _need(work, proof, mine, his, lead, (lead & 48) | _top(low), np.int64(0))
        return
    for suit in range(4):
        low = _lane(his, suit) & below
        if low:
            _need(work, proof, mine, his, lead, (suit << 4) | _top(low), np.int64(0))


@inlined
def _highest(cards: I64, k: I64) -> I64:
    """Return the k highest cards of each suit: who would play a lower one plays the lowest of these and is no worse off."""
    for suit in range(4):
        for _ in range(popcount(np.uint64(_lane(cards, suit))) - k):
            cards ^= np.int64(1) << ((suit << 4) | ctz(np.uint64(_lane(cards, suit))))
    return cards


# ------------------------------------------------------------------------------------------------ search


@njit
def _whole(work: Any, winner: I64, winner_left: I64, loser: I64, loser_left: I64) -> None:
    """Turn the proof of the last search, on the highest cards of two holdings, into one on the whole of them."""
    wide = popcount(np.uint64(winner)) > _WIDTH or popcount(np.uint64(loser)) > _WIDTH
    gone = winner ^ winner_left
    while gone:
        _winner_had(work, winner, ctz(np.uint64(gone)), wide)
        gone &= gone - 1
    gone = loser ^ loser_left
    while gone:
        _loser_had(work, winner, loser, ctz(np.uint64(gone)), wide)
        gone &= gone - 1


@njit
def _settled(work: Any, mine: I64, his: I64, k: I64, t: I64, shape: I64, wide: bool) -> I64:
    """Return what is known without a search, and write its proof: the leader's tricks; -1 if nothing settles the question."""
    if _sure(mine, his, k) >= t:
        _clear(work, _PROOF)
        _prove_sure(work, mine, his, t)
        return t
    kept = _kept(mine, his)
    if _stopped(mine, his, kept) and (t == k or _sure(his, mine, k) > k - t):
        _clear(work, _PROOF)
        if t < k:
            _prove_sure(work, his, mine, k - t + 1)
        _prove_stopped(work, mine, his, kept)
        return t - 1
    count = popcount(np.uint64(mine))
    other = popcount(np.uint64(his))
    if count == k and other == k:
        rank = _paired(mine, his, k, t)
        if rank:
            _clear(work, _PROOF)
            if rank > 0:
                _prove_paired(work, mine, his, rank)
                return t
            _prove_paired(work, his, mine, -rank)
            return t - 1
    if shape:
        at = _find(work, mine, his, shape, t, wide)
        if at:
            _copy(work, _PROOF, at + 2)
            return work[at] & 15
    return np.int64(-1)


@njit
def _search(work: Any, all_mine: I64, all_his: I64, k: I64, t: I64) -> I64:
    """Return v >= t if the leader can take v of the k tricks, else v < t such that he cannot take more than v; write the proof."""
    if t <= 0 or t > k:
        _clear(work, _PROOF)
        return np.int64(0) if t <= 0 else k
    work[NODES] += 1
    mine = _highest(all_mine, k) if popcount(np.uint64(all_mine)) > k else all_mine
    his = _highest(all_his, k) if popcount(np.uint64(all_his)) > k else all_his
    most = max(popcount(np.uint64(mine)), popcount(np.uint64(his)))
    wide = most > _WIDTH
    shape = _shape(mine, his, k) if most <= _MOST_LANES else np.int64(0)
    best = _settled(work, mine, his, k, t, shape, wide)
    if best < 0:
        ply = 16 + k * _LIST - _LIST
        so_far = ply + _SO_FAR
        refuted = ply + _REFUTED
        _clear(work, refuted)
        count = _leads(work, ply, mine, his)
        for i in range(count):
            lead = work[ply + i] & 63
            left = mine ^ (np.int64(1) << lead)
            replies = _replies(work, ply + _CHILDREN, his, lead)
            worst = k
            _clear(work, so_far)
            for j in range(replies):
                reply = work[ply + _CHILDREN + j] & 63
                wins = work[ply + _CHILDREN + j] & 64
                rest = his ^ (np.int64(1) << reply)
                if wins:
                    value = k - 1 - _search(work, rest, left, k - 1, k - t)
                else:
                    value = 1 + _search(work, left, rest, k - 1, t - 1)
                worst = min(worst, value)
                if value < t:
                    _winner_had(work, his, reply, wide)
                    _loser_had(work, his, mine, lead, wide)
                    if wins:
                        # it beats the leads left out, too, which are like this one
                        _need(work, _PROOF, his, mine, reply, _like(mine, his, lead), np.int64(1))
                    _join(work, refuted, wide)
                    break
                _winner_had(work, mine, lead, wide)
                _loser_had(work, mine, his, reply, wide)
                _join(work, so_far, wide)
            best = max(best, worst)
            if best >= t:
                _need_lead(work, so_far, mine, his, lead)
                break
        _copy(work, _PROOF, so_far if best >= t else refuted)
        if shape:
            _remember(work, shape, best, np.int64(best < t))
    if mine != all_mine or his != all_his:
        if best >= t:
            _whole(work, all_mine, mine, all_his, his)
        else:
            _whole(work, all_his, his, all_mine, mine)
    return best


@inlined
def _begin(work: Any, mine: I64, his: I64) -> None:
    """Forget the proofs of other deals: they hold, but nobody will ask for them again."""
    first = work[_SIDES]
    second = work[_SIDES + 1]
    if mine & second or his & first:
        first, second = second, first
        if mine & second or his & first:
            work[_FLOOR] = work[_COUNT]
            first = second = np.int64(0)
    work[_SIDES] = first | mine
    work[_SIDES + 1] = second | his


@njit
def search_rank(work: Any, mine: I64, his: I64, k: I64, t: I64) -> I64:
    """Return v >= t if the leader can take v of the k tricks, else v < t such that he cannot take more than v."""
    _begin(work, mine, his)
    return _search(borrowed(work), mine, his, k, t)


@inlined
def _guess(mine: I64, his: I64, k: I64) -> I64:
    """Return about how many tricks the leader takes: half, and one for each 14 ranks more in the k highest cards of all suits."""
    more = np.int64(0)
    left = k
    other_left = k
    for step in range(13):
        rank = 12 - step
        count = min(left, popcount(np.uint64((mine >> rank) & _COLUMN)))
        other_count = min(other_left, popcount(np.uint64((his >> rank) & _COLUMN)))
        left -= count
        other_left -= other_count
        more += rank * (count - other_count)
    return (7 * k + more + 7) // 14


@njit
def solve_rank(work: Any, mine: I64, his: I64, k: I64) -> I64:
    """Return the tricks, of k, that the leader takes with best play of both."""
    _begin(work, mine, his)
    low = _sure(mine, his, np.int64(k))
    high = np.int64(k)
    guess = _guess(mine, his, high)
    while low < high:
        t = max(low + 1, min(high, guess))
        value = _search(borrowed(work), mine, his, np.int64(k), t)
        if value >= t:
            low = value
            guess = value + 1
        else:
            high = value
            guess = value
    return low
