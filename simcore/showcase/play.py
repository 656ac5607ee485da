"""The rules of Showcase as kernels: both first playouts (S3–S8, M3–M8), naming (S9), the second playout (S10–S14)."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, popcount
from simcore.showcase.state import ALL_TRUMP, DONE, NAMING, NO_TRUMP, PLAYOUT_1, PLAYOUT_2
from simcore.tricks import led_suit, trick_winner

__all__ = [
    "apply_first",
    "apply_second",
    "apply_trump",
    "first_leads",
    "first_replies",
    "lead_first",
    "lead_second",
    "legal_first",
    "legal_second",
    "reply_first",
    "reply_second",
    "second_takes",
    "start_deal",
    "unseen_cards",
]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)


@njit
def start_deal(rules: Any, table: Any, view: Any, dealer: I64) -> None:
    """Reset everything to the first lead; ``table.hands`` and ``table.stock`` hold the deal."""
    for seat in range(2):
        table.dealt[seat] = table.hands[seat]
        view.show[seat] = ZERO
        view.owned[seat] = ZERO
        view.played[seat] = ZERO
        view.won[seat] = 0
        view.value[seat] = 0
        view.count[seat] = 0
        view.points[seat] = 0
    table.next = 1
    table.phase = PLAYOUT_1
    table.turn = 1 - dealer  # S3: the elder leads
    view.dealer = dealer
    view.turned = np.int64(table.stock[0])
    view.turned_to = -1
    view.display = view.turned if rules.magri == 1 else np.int64(-1)
    view.reserve = 26 if rules.magri == 0 and rules.turned_card == 1 else 25
    view.playout = 1
    view.leader = 1 - dealer
    view.tricks_played = 0
    view.on_table = 0
    view.lead = ZERO
    view.suit = ZERO
    view.trump = ZERO if rules.magri == 1 else led_suit(ONE << np.uint64(view.turned))  # S2, M2
    view.all_trump = 0
    view.broken = ZERO
    view.whole = ZERO
    view.discards = ZERO
    view.middle = -1
    view.namer = -1
    view.named = -1
    view.second_leader = -1


@inlined
def first_follows(rules: Any, hand: U64, show: U64, suit: U64, trump: U64) -> U64:
    """Return the cards that may follow in the first playout (S4)."""
    # selections, not branches: which one applies is a coin toss to the branch predictor
    held = hand & suit
    shown = show & suit
    trumps = hand & trump
    off_suit = trumps if trumps != ZERO else hand
    followers = held | shown
    if rules.showcase_follow == 1:
        without = shown | off_suit
        return followers if held != ZERO else without
    return followers if followers != ZERO else off_suit


@inlined
def first_leads(rules: Any, hand: U64, show: U64) -> U64:
    """Return the cards that may be led in the first playout."""
    if rules.magri == 1:  # M3
        return hand | show
    return hand if hand != ZERO else show  # S3


@inlined
def first_replies(rules: Any, hand: U64, show: U64, suit: U64, trump: U64) -> U64:
    """Return the cards that may be played to a suit led in the first playout."""
    if rules.magri == 1:  # M4
        held = hand & suit
        free = held if rules.follow_from == 1 and held != ZERO else hand
        return (hand | show) & suit if show & suit != ZERO else free
    return first_follows(rules, hand, show, suit, trump)


@njit
def legal_first(rules: Any, view: Any, hand: U64, show: U64) -> U64:
    """Return the cards a seat may play in the first playout, from hand and showcase together."""
    if view.on_table == 0:
        return first_leads(rules, hand, show)
    return first_replies(rules, hand, show, view.suit, view.trump)


@njit
def unseen_cards(view: Any) -> U64:
    """Return the cards that the deciding seat has not seen: those in the other hand and those face down in the reserve."""
    seen = view.hand | view.show[0] | view.show[1] | view.discards | view.lead
    if view.display >= 0:
        seen |= ONE << np.uint64(view.display)
    elif view.turned_to != view.seat:
        seen |= ONE << np.uint64(view.turned)
    return _FULL & ~seen


@inlined
def _take_out(table: Any, view: Any, seat: I64, place: I64, card: U64) -> None:
    """Take a card of the first playout out of hand or showcase, whichever holds it."""
    bit = np.uint64(ctz(card))
    from_show = np.uint64((view.show[seat] & card) != ZERO)
    view.history[0, place] = np.int8(bit)
    view.source[place] = np.int8(from_show)
    view.played[seat] |= card
    # one of the two holds the card: taking it from both needs no branch
    view.show[seat] &= ~card
    table.hands[seat] &= ~card
    view.broken |= from_show << np.uint64(view.lies_in[bit])  # S8
    if card & view.whole != ZERO:
        trick = 2 * np.uint64(view.lies_in[bit])
        view.whole &= ~((ONE << np.uint64(view.history[0, trick])) | (ONE << np.uint64(view.history[0, trick + ONE])))


@inlined
def lead_first(table: Any, view: Any, seat: I64, card: U64) -> None:
    """Lead a card of the first playout."""
    number = view.tricks_played
    _take_out(table, view, seat, 2 * number, card)
    view.leaders[0, number] = np.int8(seat)
    view.lead = card
    view.suit = led_suit(card)
    view.on_table = 1
    table.turn = 1 - seat


@inlined
def reply_first(rules: Any, table: Any, view: Any, seat: I64, card: U64) -> None:
    """Play the second card of a trick of the first playout: the trick is settled (S5–S7, M5–M6)."""
    number = view.tricks_played
    _take_out(table, view, seat, 2 * number + 1, card)
    followed = (card & view.suit) != ZERO
    if rules.magri == 1:
        takes = not followed or card > view.lead  # M5
    else:
        takes = trick_winner(view.lead | card, view.suit, view.trump, False) == card  # S5
    winner = (seat ^ np.int64(not takes)) & 1  # known not to be negative: no wrap-around to be computed
    view.winners[0, number] = np.int8(winner)
    view.won[winner] += 1
    if number == 12:
        view.middle = winner
    if rules.magri == 1:
        _settle_magri(table, view, winner, view.lead | card, not followed)
    else:
        _settle(table, view, winner, view.lead, card)
    view.leader = winner
    table.turn = winner
    view.on_table = 0
    view.lead = ZERO
    view.suit = ZERO
    view.tricks_played = number + 1
    if view.reserve == 0:
        _end_first(rules, table, view)


@njit
def apply_first(rules: Any, table: Any, view: Any, card: U64) -> None:
    """Play a card of the first playout; after the second the trick is settled."""
    if view.on_table == 0:
        lead_first(table, view, table.turn, card)
    else:
        reply_first(rules, table, view, table.turn, card)


@inlined
def _settle(table: Any, view: Any, winner: I64, lead: U64, card: U64) -> None:
    """S6: the winner lays the trick open, the loser draws."""
    number = view.tricks_played
    view.show[winner] |= lead | card
    view.whole |= lead | card
    view.lies_in[np.uint64(ctz(lead))] = np.int8(number)
    view.lies_in[np.uint64(ctz(card))] = np.int8(number)
    view.owned[winner] |= ONE << np.uint64(number)
    place = table.next
    if place == 26:  # turned_card = "last"
        place = np.int64(0)
        view.turned_to = winner ^ 1
    drawn = table.stock[place]
    table.next += 1
    table.hands[winner ^ 1] |= ONE << np.uint64(drawn)
    table.drawn[number] = drawn
    view.taken[number] = np.int8(-1)
    view.reserve -= 1


@inlined
def _settle_magri(table: Any, view: Any, winner: I64, trick: U64, value: bool) -> None:
    """M6: the trick is discarded, the winner takes the display card, the loser draws, the next card is turned up."""
    number = view.tricks_played
    if value:
        view.value[winner] += 1
    view.discards |= trick
    display = np.uint64(view.display)
    view.show[winner] |= ONE << display
    view.lies_in[view.display] = np.int8(number)
    view.taken[number] = np.int8(view.display)
    drawn = table.stock[table.next]
    table.hands[winner ^ 1] |= ONE << np.uint64(drawn)
    table.drawn[number] = drawn
    view.reserve -= 1
    view.display = -1
    if view.reserve > 0:
        view.display = np.int64(table.stock[table.next + 1])
        view.reserve -= 1
    table.next += 2


@inlined
def namer_of(rules: Any, count_n: I64, count_s: I64, second_leader: I64) -> I64:
    """Return who names the trump (S9)."""
    if count_n == count_s:
        return second_leader if rules.tie_namer == 1 else 1 - second_leader
    return np.int64(count_s < count_n)


@inlined
def trump_mask(trump: I64) -> U64:
    """Return the mask of the suit that is trump, zero for no trump and all trump."""
    return _LANE << np.uint64(16 * trump) if trump < NO_TRUMP else ZERO


@njit
def _end_first(rules: Any, table: Any, view: Any) -> None:
    """S8–S10: counts, second leader, namer; hand and showcase become one holding (S11)."""
    for seat in range(2):
        view.count[seat] = view.value[seat] if rules.magri == 1 else popcount(view.owned[seat] & ~view.broken)
        table.hands[seat] |= view.show[seat]
    view.second_leader = view.leader if rules.second_lead == 1 else view.middle
    view.namer = namer_of(rules, view.count[0], view.count[1], view.second_leader)
    table.phase = NAMING
    table.turn = view.namer


@njit
def apply_trump(table: Any, view: Any, trump: I64) -> None:
    """Name a trump (its number) and start the second playout."""
    view.named = trump
    view.trump = trump_mask(trump)
    view.all_trump = np.int64(trump == ALL_TRUMP)
    view.playout = 2
    view.tricks_played = 0
    view.played[0] = ZERO
    view.played[1] = ZERO
    view.leader = view.second_leader
    table.phase = PLAYOUT_2
    table.turn = view.leader


@inlined
def second_follows(holding: U64, suit: U64, trump: U64) -> U64:
    """Return the cards that may follow in the second playout (S12)."""
    held = holding & suit
    trumps = holding & trump
    off_suit = trumps if trumps != ZERO else holding
    return held if held != ZERO else off_suit


@njit
def legal_second(view: Any, holding: U64) -> U64:
    """Return the cards a seat may play in the second playout (S12)."""
    if view.on_table == 0:
        return holding
    return second_follows(holding, view.suit, view.trump)


@inlined
def second_beats(rules: Any, all_trump: Any, lead: U64, card: U64, suit: U64, trump: U64) -> Any:
    """Tell whether the follower's card takes the trick from the lead (S13)."""
    higher = trick_winner(lead | card, suit, trump, False) == card
    if rules.all_trump == 0:
        return higher | (all_trump & (card & suit == ZERO))
    if all_trump and card & suit == ZERO:
        return np.uint64(ctz(card)) & _FIFTEEN > np.uint64(ctz(lead)) & _FIFTEEN
    return higher


@njit
def second_takes(rules: Any, view: Any, card: U64) -> Any:
    """Tell whether the follower's card takes the trick on the table (S13)."""
    return second_beats(rules, view.all_trump == 1, view.lead, card, view.suit, view.trump)


@inlined
def _take_from_holding(table: Any, view: Any, seat: I64, place: I64, card: U64) -> None:
    """Take a card of the second playout out of the holding."""
    table.hands[seat] ^= card
    view.show[seat] &= ~card
    view.played[seat] |= card
    view.history[1, place] = np.int8(ctz(card))


@inlined
def lead_second(table: Any, view: Any, seat: I64, card: U64) -> None:
    """Lead a card of the second playout."""
    number = view.tricks_played
    _take_from_holding(table, view, seat, 2 * number, card)
    view.leaders[1, number] = np.int8(seat)
    view.lead = card
    view.suit = led_suit(card)
    view.on_table = 1
    table.turn = 1 - seat


@inlined
def reply_second(rules: Any, table: Any, view: Any, seat: I64, card: U64) -> None:
    """Play the second card of a trick of the second playout."""
    number = view.tricks_played
    _take_from_holding(table, view, seat, 2 * number + 1, card)
    winner = (seat ^ np.int64(not second_takes(rules, view, card))) & 1
    view.winners[1, number] = np.int8(winner)
    view.points[winner] += 1
    view.leader = winner
    table.turn = winner
    view.on_table = 0
    view.lead = ZERO
    view.suit = ZERO
    view.tricks_played = number + 1
    if number == 12:  # S14
        table.phase = DONE


@njit
def apply_second(rules: Any, table: Any, view: Any, card: U64) -> None:
    """Play a card of the second playout."""
    if view.on_table == 0:
        lead_second(table, view, table.turn, card)
    else:
        reply_second(rules, table, view, table.turn, card)
