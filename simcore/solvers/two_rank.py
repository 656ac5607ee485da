"""Exact search of the second playout of Showcase under all trump read as ``rank`` (S13).

Who cannot follow suit plays any card, and the higher rank wins, whatever its suit; equal ranks to the leader.  Ranks of different
suits are compared, so the strings of owners of ``two_kernel`` are not enough: a position is two masks, the leader's cards and the
follower's (bit = 16*suit + rank).  With k tricks to go, a side has no use for more than its k highest cards of a suit.

The search asks "can the leader take at least t of the k tricks?" as in ``two_kernel``, and uses *higher cards never hurt* for more
than the choice of replies: its memory keeps *proofs*, not positions (``two_proofs``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, inlined, njit
from simcore.bits import borrowed, clz, ctz, popcount
from simcore.solvers.two_kernel import NODES
from simcore.solvers.two_proofs import (
    CHILDREN,
    COLUMN,
    COUNT,
    FLOOR,
    LANE,
    LIST,
    MOST_LANES,
    PROOF,
    REFUTED,
    SIDES,
    SO_FAR,
    WIDTH,
    clear_proof,
    copy_proof,
    find_proof,
    folded,
    join_proof,
    lift,
    loser_had,
    need,
    number_below,
    ranks_in,
    remember_proof,
    shape_of,
    those_above,
    top_of,
    winner_had,
)

__all__ = ["search_rank", "solve_rank"]


# ------------------------------------------------------------------------------------------------ bounds without search


@njit
def _sure(mine: I64, his: I64, k: I64) -> I64:
    """Return tricks the leader can cash without losing the lead; exact for k = 1.

    If the other side leads first and he can win that trick, he still has them, that trick included: it costs one card.
    """
    total = np.int64(0)
    ranks = folded(his)
    big = LANE ^ ((1 << (63 - clz(np.uint64(ranks)))) - 1) if ranks else np.int64(LANE)
    for suit in range(4):
        own = (mine >> (suit << 4)) & LANE
        if own:
            other = (his >> (suit << 4)) & LANE
            length = popcount(np.uint64(other))
            tops = popcount(np.uint64(own >> (64 - clz(np.uint64(other)))))
            total += tops if tops < length else length + min(tops - length, popcount(np.uint64(own & big)))
    return min(k, total)


@njit
def _prove_sure(work: Any, mine: I64, his: I64, wanted: I64) -> None:
    """Make the proof rest on what so many sure tricks, which there are, rest on."""
    ranks = folded(his)
    big = LANE ^ ((1 << top_of(ranks)) - 1) if ranks else np.int64(LANE)
    for suit in range(4):
        own = ranks_in(mine, suit)
        if wanted and own:
            other = ranks_in(his, suit)
            length = popcount(np.uint64(other))
            tops = those_above(own, top_of(other))
            count = popcount(np.uint64(tops))
            taken = min(wanted, count if count < length else length + min(count - length, popcount(np.uint64(own & big))))
            wanted -= taken
            if taken:
                # the lowest that must take a trick; of those led when the follower has run out, the lowest
                for _ in range(count - taken):
                    tops &= tops - 1
                if other:
                    need(
                        work,
                        PROOF,
                        mine,
                        his,
                        (suit << 4) | ctz(np.uint64(tops)),
                        (suit << 4) | top_of(other),
                        np.int64(0),
                    )
                if count >= length and taken > length:
                    for _ in range(length):
                        tops &= tops - 1
                    card = (suit << 4) | ctz(np.uint64(tops))
                    for against in range(4):
                        other = ranks_in(his, against)
                        if other and against != suit:
                            need(work, PROOF, mine, his, card, (against << 4) | top_of(other), np.int64(0))


@inlined
def _kept(mine: I64, his: I64) -> I64:
    """Return the follower's cards of the suits of which the leader's sure tricks leave him the highest."""
    kept = np.int64(0)
    for suit in range(4):
        other = ranks_in(his, suit)
        if popcount(np.uint64(those_above(ranks_in(mine, suit), top_of(other)))) < popcount(np.uint64(other)):
            kept |= other << (suit << 4)
    return kept


@inlined
def _stopped(mine: I64, his: I64, kept: I64) -> bool:
    """Tell whether the follower can take a trick as soon as the leader's sure tricks are cashed, without giving up any of his own.

    Where the leader could go on when the follower has run out of a suit, a card that the follower keeps beats all of the leader's.
    """
    best = top_of(folded(kept))
    for suit in range(4):
        own = ranks_in(mine, suit)
        if popcount(np.uint64(own)) > popcount(np.uint64(ranks_in(his, suit))) and not ranks_in(kept, suit) and top_of(own) >= best:
            return False
    return True


@njit
def _prove_stopped(work: Any, mine: I64, his: I64, kept: I64) -> None:
    """Make the proof rest on what that rests on."""
    for suit in range(4):
        own = ranks_in(mine, suit)
        other = ranks_in(kept, suit)
        if other:
            low = own & ((1 << top_of(other)) - 1)
            if low:
                need(work, PROOF, his, mine, (suit << 4) | top_of(other), (suit << 4) | top_of(low), np.int64(1))
        elif popcount(np.uint64(own)) > popcount(np.uint64(ranks_in(his, suit))):
            rank = top_of(folded(kept))
            card = ctz(np.uint64((kept >> rank) & COLUMN)) + rank
            need(work, PROOF, his, mine, card, (suit << 4) | top_of(own), np.int64(1))


@inlined
def _paired(mine: I64, his: I64, k: I64, t: I64) -> I64:
    """Return a rank r (-r) that shows that the leader takes at least t tricks (cannot take them), where all cards are played; or 0.

    A side wins only with a rank not below the other's: it loses at least one trick for each of its cards below r, less those of the
    other side below r.
    """
    less = np.int64(0)
    for rank in range(12):
        less += popcount(np.uint64((his >> rank) & COLUMN)) - popcount(np.uint64((mine >> rank) & COLUMN))
        if less >= t:
            return np.int64(rank + 1)
        if less < t - k:
            return np.int64(-1 - rank)
    return np.int64(0)


@njit
def _prove_paired(work: Any, winner: I64, loser: I64, rank: I64) -> None:
    """Make the proof rest on the loser's cards below a rank and on the winner's others."""
    for suit in range(4):
        low = ranks_in(loser, suit) & ((1 << rank) - 1)
        if low:
            lift(work, PROOF + 2, number_below(loser, (suit << 4) | top_of(low)), 14 - rank)
        high = ranks_in(winner, suit) >> rank
        if high:
            lift(work, PROOF + 1, number_below(winner, (suit << 4) + rank + ctz(np.uint64(high))), rank + 1)


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
    held = (his >> suit) & LANE
    count = np.int64(0)
    for step in range(0, 64, 16):
        place = (suit + step) & 48
        cards = (his >> place) & LANE
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
    ranks = folded(his)
    for suit in range(4):
        cards = ranks_in(mine, suit)
        other = ranks_in(his, suit)
        against = other if other else ranks
        size = popcount(np.uint64(against))
        length = popcount(np.uint64(other))
        held = popcount(np.uint64(cards))
        tops = popcount(np.uint64(those_above(cards, top_of(other))))
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
    held = ranks_in(his, lead >> 4)
    return held if held else folded(his)


@inlined
def _like(mine: I64, his: I64, lead: I64) -> I64:
    """Return the highest card of the suit of a lead that loses to the same cards."""
    above = those_above(_against(his, lead), lead & 15)
    return (lead & 48) | top_of(ranks_in(mine, lead >> 4) & ((1 << ctz(np.uint64(above))) - 1))


@inlined
def _need_lead(work: Any, proof: I64, mine: I64, his: I64, lead: I64) -> None:
    """Make a proof rest on a lead beating what it beats now: of these cards the lowest of each suit was tried for all."""
    below = (np.int64(2) << (lead & 15)) - 1
    if ranks_in(his, lead >> 4):
        low = ranks_in(his, lead >> 4) & below
        if low:
            need(work, proof, mine, his, lead, (lead & 48) | top_of(low), np.int64(0))
        return
    for suit in range(4):
        low = ranks_in(his, suit) & below
        if low:
            need(work, proof, mine, his, lead, (suit << 4) | top_of(low), np.int64(0))


@inlined
def _highest(cards: I64, k: I64) -> I64:
    """Return the k highest cards of each suit: who would play a lower one plays the lowest of these and is no worse off."""
    for suit in range(4):
        for _ in range(popcount(np.uint64(ranks_in(cards, suit))) - k):
            cards ^= np.int64(1) << ((suit << 4) | ctz(np.uint64(ranks_in(cards, suit))))
    return cards


# ------------------------------------------------------------------------------------------------ search


@njit
def _whole(work: Any, winner: I64, winner_left: I64, loser: I64, loser_left: I64) -> None:
    """Turn the proof of the last search, on the highest cards of two holdings, into one on the whole of them."""
    wide = popcount(np.uint64(winner)) > WIDTH or popcount(np.uint64(loser)) > WIDTH
    gone = winner ^ winner_left
    while gone:
        winner_had(work, winner, ctz(np.uint64(gone)), wide)
        gone &= gone - 1
    gone = loser ^ loser_left
    while gone:
        loser_had(work, winner, loser, ctz(np.uint64(gone)), wide)
        gone &= gone - 1


@njit
def _settled(work: Any, mine: I64, his: I64, k: I64, t: I64, shape: I64, wide: bool) -> I64:
    """Return what is known without a search, and write its proof: the leader's tricks; -1 if nothing settles the question."""
    if _sure(mine, his, k) >= t:
        clear_proof(work, PROOF)
        _prove_sure(work, mine, his, t)
        return t
    kept = _kept(mine, his)
    if _stopped(mine, his, kept) and (t == k or _sure(his, mine, k) > k - t):
        clear_proof(work, PROOF)
        if t < k:
            _prove_sure(work, his, mine, k - t + 1)
        _prove_stopped(work, mine, his, kept)
        return t - 1
    count = popcount(np.uint64(mine))
    other = popcount(np.uint64(his))
    if count == k and other == k:
        rank = _paired(mine, his, k, t)
        if rank:
            clear_proof(work, PROOF)
            if rank > 0:
                _prove_paired(work, mine, his, rank)
                return t
            _prove_paired(work, his, mine, -rank)
            return t - 1
    if shape:
        at = find_proof(work, mine, his, shape, t, wide)
        if at:
            copy_proof(work, PROOF, at + 2)
            return work[at] & 15
    return np.int64(-1)


@njit
def _search(work: Any, all_mine: I64, all_his: I64, k: I64, t: I64) -> I64:
    """Return v >= t if the leader can take v of the k tricks, else v < t such that he cannot take more than v; write the proof."""
    if t <= 0 or t > k:
        clear_proof(work, PROOF)
        return np.int64(0) if t <= 0 else k
    work[NODES] += 1
    mine = _highest(all_mine, k) if popcount(np.uint64(all_mine)) > k else all_mine
    his = _highest(all_his, k) if popcount(np.uint64(all_his)) > k else all_his
    most = max(popcount(np.uint64(mine)), popcount(np.uint64(his)))
    wide = most > WIDTH
    shape = shape_of(mine, his, k) if most <= MOST_LANES else np.int64(0)
    best = _settled(work, mine, his, k, t, shape, wide)
    if best < 0:
        ply = 16 + k * LIST - LIST
        so_far = ply + SO_FAR
        refuted = ply + REFUTED
        clear_proof(work, refuted)
        count = _leads(work, ply, mine, his)
        for i in range(count):
            lead = work[ply + i] & 63
            left = mine ^ (np.int64(1) << lead)
            replies = _replies(work, ply + CHILDREN, his, lead)
            worst = k
            clear_proof(work, so_far)
            for j in range(replies):
                reply = work[ply + CHILDREN + j] & 63
                wins = work[ply + CHILDREN + j] & 64
                rest = his ^ (np.int64(1) << reply)
                if wins:
                    value = k - 1 - _search(work, rest, left, k - 1, k - t)
                else:
                    value = 1 + _search(work, left, rest, k - 1, t - 1)
                worst = min(worst, value)
                if value < t:
                    winner_had(work, his, reply, wide)
                    loser_had(work, his, mine, lead, wide)
                    if wins:
                        # it beats the leads left out, too, which are like this one
                        need(work, PROOF, his, mine, reply, _like(mine, his, lead), np.int64(1))
                    join_proof(work, refuted, wide)
                    break
                winner_had(work, mine, lead, wide)
                loser_had(work, mine, his, reply, wide)
                join_proof(work, so_far, wide)
            best = max(best, worst)
            if best >= t:
                _need_lead(work, so_far, mine, his, lead)
                break
        copy_proof(work, PROOF, so_far if best >= t else refuted)
        if shape:
            remember_proof(work, shape, best, np.int64(best < t))
    if mine != all_mine or his != all_his:
        if best >= t:
            _whole(work, all_mine, mine, all_his, his)
        else:
            _whole(work, all_his, his, all_mine, mine)
    return best


@inlined
def _begin(work: Any, mine: I64, his: I64) -> None:
    """Forget the proofs of other deals: they hold, but nobody will ask for them again."""
    first = work[SIDES]
    second = work[SIDES + 1]
    if mine & second or his & first:
        first, second = second, first
        if mine & second or his & first:
            work[FLOOR] = work[COUNT]
            first = second = np.int64(0)
    work[SIDES] = first | mine
    work[SIDES + 1] = second | his


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
        count = min(left, popcount(np.uint64((mine >> rank) & COLUMN)))
        other_count = min(other_left, popcount(np.uint64((his >> rank) & COLUMN)))
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
