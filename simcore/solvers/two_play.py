"""The second playout of Showcase played perfectly: kernels on holdings, for callers inside other kernels.

Common arguments:
    work    workspace of :func:`simcore.solvers.two.workspace`, int64[:]; one a thread
    mine, his   masks of cards (bit = 16*suit + rank) of the side to play and of the other side, without played cards
    table   the card on the table as a one-bit mask: ``his`` lead, to which ``mine`` replies; zero: ``mine`` leads
    k       tricks to go (0 … 13), that of the card on the table included; neither holding may be too small for them
    trump   0 … 5: clubs, diamonds, hearts, spades, no trump, all trump
    rank    all trump (5) is read as ``rank`` (S13), else as ``ruff``

Nothing is checked here.  Values do not depend on what the table already holds, nor do best cards: ties go by the card order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ZERO, ctz, lowest_bit
from simcore.solvers.two_kernel import KIND_ALL, KIND_NONE, KIND_TRUMP, pack, search, solve
from simcore.solvers.two_rank import search_rank, solve_rank

__all__ = ["best_card", "best_trump", "card_values", "legal_cards", "side_to_play_value", "trump_values", "wins_trick"]

_SUIT = np.uint64(0x1FFF)
_SUIT_BITS = np.uint64(48)
_RANK_BITS = np.uint64(15)


@njit
def legal_cards(hand: U64, lead: U64, trump: I64) -> U64:
    """Return the cards of a holding that may be played to a lead (S12); any card to no lead (zero)."""
    if lead == ZERO:
        return hand
    held = hand & (_SUIT << (np.uint64(ctz(lead)) & _SUIT_BITS))
    if held != ZERO:
        return held
    if trump < 4:
        held = hand & (_SUIT << np.uint64(trump << 4))
        if held != ZERO:
            return held
    return hand


@njit
def wins_trick(lead: U64, reply: U64, trump: I64, rank: bool) -> bool:
    """Tell whether the reply (a one-bit mask) to a lead wins the trick (S13)."""
    first = ctz(lead)
    second = ctz(reply)
    if first >> 4 == second >> 4:
        return second > first  # type: ignore[no-any-return]
    if trump == 5:
        return not rank or (second & 15) > (first & 15)
    return trump == second >> 4  # type: ignore[no-any-return]


@njit
def _kind(trump: I64) -> I64:
    if trump < 4:
        return np.int64(KIND_TRUMP)
    return np.int64(KIND_NONE) if trump == 4 else np.int64(KIND_ALL)


@njit
def _leader_value(work: Any, lead: U64, follow: U64, k: I64, trump: I64, rank: bool) -> I64:
    """Return the tricks of k the side to lead takes."""
    if k <= 0:
        return np.int64(0)
    if trump == 5 and rank:
        return np.int64(solve_rank(work, np.int64(lead), np.int64(follow), np.int64(k)))
    return solve(work, pack(lead, follow, np.int64(trump)), np.int64(k), _kind(np.int64(trump)))


@njit
def _leader_takes(work: Any, lead: U64, follow: U64, k: I64, trump: I64, rank: bool, t: I64) -> bool:
    """Tell whether the side to lead can take at least t of k tricks."""
    if t <= 0:
        return True
    if t > k:
        return False
    if trump == 5 and rank:
        return bool(search_rank(work, np.int64(lead), np.int64(follow), np.int64(k), np.int64(t)) >= t)
    return bool(search(work, pack(lead, follow, np.int64(trump)), np.int64(k), _kind(np.int64(trump)), np.int64(t)) >= t)


@njit
def _sensible(hand: U64, lead: U64, trump: I64, rank: bool) -> U64:
    """Return the legal replies one of which is best: in each suit the lowest that wins, and the lowest if it loses."""
    legal = legal_cards(hand, lead, trump)
    chosen = ZERO
    for suit in range(4):
        cards = legal & (_SUIT << np.uint64(suit << 4))
        first = True
        while cards != ZERO:
            card = lowest_bit(cards)
            cards ^= card
            wins = wins_trick(lead, card, trump, rank)
            if first or wins:
                chosen |= card
            if wins:
                break
            first = False
    return chosen


@njit
def _trick_value(work: Any, lead: U64, follow: U64, card: U64, reply: U64, k: I64, trump: I64, rank: bool) -> I64:
    """Return the leader's tricks of k once card and reply are played from his and the follower's holding."""
    if wins_trick(card, reply, trump, rank):
        return k - 1 - _leader_value(work, follow & ~reply, lead & ~card, k - 1, trump, rank)
    return 1 + _leader_value(work, lead & ~card, follow & ~reply, k - 1, trump, rank)


@njit
def _trick_takes(
    work: Any,
    lead: U64,
    follow: U64,
    card: U64,
    reply: U64,
    k: I64,
    trump: I64,
    rank: bool,
    t: I64,
) -> bool:
    """Tell whether the leader takes at least t of k tricks once card and reply are played."""
    if wins_trick(card, reply, trump, rank):
        return not _leader_takes(work, follow & ~reply, lead & ~card, k - 1, trump, rank, k - t)
    return _leader_takes(work, lead & ~card, follow & ~reply, k - 1, trump, rank, t - 1)


@njit
def side_to_play_value(work: Any, mine: U64, his: U64, table: U64, k: I64, trump: I64, rank: bool) -> I64:
    """Return the tricks, of k, that the side to play takes with best play of both."""
    if table == ZERO or k <= 0:
        return _leader_value(work, mine, his, k, trump, rank)
    best = np.int64(-1)
    replies = _sensible(mine, table, trump, rank)
    while replies != ZERO:
        reply = lowest_bit(replies)
        replies ^= reply
        if best < 0 or not _trick_takes(work, his, mine, table, reply, k, trump, rank, k - best):
            best = k - _trick_value(work, his, mine, table, reply, k, trump, rank)
    return best


@njit
def card_values(work: Any, out: Any, mine: U64, his: U64, table: U64, k: I64, trump: I64, rank: bool) -> I64:
    """Write the tricks of the side to play after each card into ``out`` (int8[64], by bit number), -1 where illegal.

    Returns the best value.  Equal cards are all listed.
    """
    out[:] = -1
    best = np.int64(-1)
    legal = legal_cards(mine, table, trump)
    while legal != ZERO and k > 0:
        card = lowest_bit(legal)
        legal ^= card
        if table != ZERO:
            value = k - _trick_value(work, his, mine, table, card, k, trump, rank)
        else:
            value = np.int64(k)
            replies = _sensible(his, card, trump, rank)
            while replies != ZERO:
                reply = lowest_bit(replies)
                replies ^= reply
                if value == k or not _trick_takes(work, mine, his, card, reply, k, trump, rank, value):
                    value = min(value, _trick_value(work, mine, his, card, reply, k, trump, rank))
        out[ctz(card)] = value
        best = max(best, value)
    return best


@njit
def best_card(work: Any, mine: U64, his: U64, table: U64, k: I64, trump: I64, rank: bool) -> U64:
    """Return the first best card of the side to play, in card order (clubs first, low first), as a mask; zero if k is zero."""
    if k <= 0:
        return ZERO
    legal = legal_cards(mine, table, trump)
    if legal == lowest_bit(legal):
        return legal
    best = side_to_play_value(work, mine, his, table, k, trump, rank)
    while legal != ZERO:
        card = lowest_bit(legal)
        legal ^= card
        if table != ZERO:
            good = not _trick_takes(work, his, mine, table, card, k, trump, rank, k - best + 1)
        else:
            good = True
            replies = _sensible(his, card, trump, rank)
            while good and replies != ZERO:
                reply = lowest_bit(replies)
                replies ^= reply
                good = _trick_takes(work, mine, his, card, reply, k, trump, rank, best)
        if good:
            return card
    return ZERO  # not reached: some card has the value of the position


@njit
def trump_values(work: Any, out: Any, mine: U64, his: U64, leads: bool, k: I64, rank: bool) -> None:
    """Write my tricks of k at each of the six trumps into ``out`` (any integer array of 6); ``leads``: I lead, else he does."""
    for trump in range(6):
        if leads:
            out[trump] = _leader_value(work, mine, his, k, np.int64(trump), rank)
        else:
            out[trump] = k - _leader_value(work, his, mine, k, np.int64(trump), rank)


@njit
def best_trump(work: Any, mine: U64, his: U64, leads: bool, k: I64, rank: bool) -> I64:
    """Return the first trump (0 … 5) at which I take most tricks: what the namer names (S9)."""
    best = np.int64(-1)
    named = np.int64(0)
    for trump in range(6):
        if leads:
            if best >= 0 and not _leader_takes(work, mine, his, k, np.int64(trump), rank, best + 1):
                continue
            value = _leader_value(work, mine, his, k, np.int64(trump), rank)
        else:
            if best >= 0 and _leader_takes(work, his, mine, k, np.int64(trump), rank, k - best):
                continue
            value = k - _leader_value(work, his, mine, k, np.int64(trump), rank)
        if value > best:
            best = value
            named = np.int64(trump)
    return named
