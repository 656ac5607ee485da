"""The Showcase player ``expert``: what a good human does, in integers, one pass over a few masks a decision.

First playout.  Each legal card gets a score, in thousandths of a trick of the second playout: what the two cards are worth to
whoever gets them, what the loser's draw is worth, the lead of the second playout where this trick decides it (S10), and the price
of a counted trick (S8, M8): the smaller count names (S9), which is worth far more than the cards won (S11).  The price is high
where the counts are close and few tricks are left.  A lead is weighed with the chance that the other can beat it, by the cards
unseen, and cares to.

Naming and second playout.  Both holdings are open, so ``balance`` estimates how many tricks one takes more than the other out of
lengths, masters, the four top cards of each suit and voids.  The trump named is the one with the best balance; a card is chosen
by looking one trick ahead, each sensible lead against its best reply, to the balance of what is left.

How the weights were set.  HOLDING: least squares on exact values (``simcore.solvers.two``) of 65,000 positions a ruleset, out of
the second playouts of 5,000 deals with some random cards among best play.  FIRST_WEIGHTS: random search over a few hundred
variants, on the same deals with seats swapped, for the sum of the margins over itself, earlier weights, ``greedy`` and ``random``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount
from simcore.showcase.state import ALL_TRUMP, FIRST, NO_TRUMP, TRUMP
from simcore.tricks import led_suit, trick_winner

__all__ = ["balance", "expert_action"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_FIFTEEN = np.uint64(15)
_FAR = np.int64(1 << 40)

# What tells two holdings apart, in thousandths of a trick: length, masters, the suit's first to fourth card, a void of the other's,
# and for each card of the suit where the other is void: running (he has no trump), ruffed (he has).  Last, once: being on lead.
# Rows: side suits with a trump, suits without a trump, suits with all trump, the trump suit.  First table: holdings without a card
# to spare, as after M11; second table: with cards to spare (S11).
HOLDING = np.array(
    [
        [
            [-584, -165, 1915, 959, 632, 328, -1293, 372, 214, 275],
            [0, 392, 1275, 616, 476, 230, -1515, 153, 0, 921],
            [0, -21, 1267, 518, 288, 91, -1178, 0, 120, -221],
            [584, -86, 1527, 766, 462, 315, -776, -357, 0, 0],
        ],
        [
            [-159, -41, 1014, 542, 305, 181, -834, 35, 88, 668],
            [126, 283, 572, 190, 124, 93, -2452, 502, 0, 2823],
            [-149, -48, 1379, 792, 540, 264, -1836, 0, 33, -83],
            [296, 136, 1492, 870, 507, 245, -2859, 231, 0, 0],
        ],
    ],
    np.int64,
)

# Places in a row of FIRST_WEIGHTS: 0 … 12 what a card of that rank is worth, then
#   LONG    more for each card of its suit beyond three
#   MEAN    an unknown card drawn
#   LEAD    the trick that decides who leads the second playout
#   DUCK    chance, of 256, that he does not beat what he could
#   SHOWN   playing out of the showcase rather than of the hand (showcase)
#   BREAK   how much of the price breaking an own counted trick saves, of 256 (showcase)
#   FORCE   how much of the price a lead gains, of 256, in a suit his showcase holds (showcase: he may have to break a trick) or
#           lacks (magri: he may win it off suit)
#   SPENT   how much of its worth a card loses when played, of 256 (magri: it is discarded)
#   NAME, SPREAD    see ``prices``
_LONG, _MEAN, _LEAD, _DUCK, _SHOWN, _BREAK, _FORCE, _SPENT, _NAME, _SPREAD = range(13, 23)

# Rows: the default first playout, Magri's.
FIRST_WEIGHTS = np.array(
    [
        [0, 0, 0, 0, 0, 0, 8, 22, 36, 61, 187, 500, 628, 18, 213, 55, 18, 46, 567, -129, 0, 5914, 1986],
        [0, 0, 0, 0, 0, 0, 20, 50, 100, 278, 400, 600, 800, 10, 162, 45, 56, 0, 0, 84, 171, 4713, 529],
    ],
    np.int64,
)


def prices(name: int, spread: int) -> npt.NDArray[np.int64]:
    """Return int64[27, 64], what one counted trick more costs, by tricks to go and twice the distance from equal counts.

    The right to name is worth ``name``; how the counts will still drift apart is taken as normal, with a standard deviation of
    ``spread`` thousandths times the root of the tricks to go.  A trick moves the difference of the counts by two at most (the
    winner's grows, the loser breaks one of his): where the distance is out of reach, counted tricks cost nothing.
    """
    togo = np.arange(27)[:, None]
    distance = np.arange(64)
    deviation = 2e-3 * spread * np.sqrt(togo + 0.5)
    density = np.exp(-0.5 * (distance / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    table: npt.NDArray[np.int64] = np.where(distance <= 4 * togo, np.rint(2 * name * density), 0).astype(np.int64)
    return table


PRICES = np.array([prices(int(row[_NAME]), int(row[_SPREAD])) for row in FIRST_WEIGHTS])


@njit
def expert_action(kind: I64, view: Any, rules: Any) -> U64:
    """Return the expert's decision."""
    if kind == FIRST:
        return first_card(view, rules, FIRST_WEIGHTS[rules.magri], PRICES[rules.magri])
    if kind == TRUMP:
        return name_trump(view)
    return second_card(view, rules)


# ---- first playout --------------------------------------------------------------------------------------------------------------


@njit
def first_card(view: Any, rules: Any, weights: Any, prices: Any) -> U64:
    """Choose a card of the first playout.

    Args:
        weights: a row of FIRST_WEIGHTS.
        prices: int64[27, 64], see :func:`prices`.
    """
    me = view.seat
    magri = rules.magri == 1
    own = view.hand | view.show[me]
    togo = 13 - view.tricks_played if magri else view.reserve
    price = prices[togo, min(_distance(view, rules), 63)]
    # what taking the trick is worth apart from the two cards in it: the other draws, I may lead later (S10), my count grows
    take = -weights[_MEAN]
    if (togo == 1) if magri or rules.second_lead == 1 else (view.tricks_played == 12):
        take += weights[_LEAD]
    if magri:
        take += _worth(ONE << np.uint64(view.display), own, weights)
    else:
        take -= price
    unseen = _unseen(view, own)
    stays = _stays(view, rules, unseen)
    best = ZERO
    best_score = -_FAR
    rest = view.legal
    while rest != ZERO:
        card = lowest_bit(rest)
        rest ^= card
        value = _worth(card, own, weights)
        score = np.int64(0)
        if magri:
            score -= value * weights[_SPENT] >> 8
        elif card & view.show[me] != ZERO:
            score += weights[_SHOWN]
            if (ONE << np.uint64(view.lies_in[ctz(card)])) & view.broken == ZERO:
                score += price * weights[_BREAK] >> 8
        if view.on_table == 0:
            suit = led_suit(card)
            wins = _wins(card, suit, view, unseen, stays, weights)
            if magri:
                score += (2 * wins - 256) * take >> 8
                if view.show[1 - me] & suit == ZERO:
                    score += weights[_FORCE] * price >> 8
            else:
                score += (wins * take - (256 - wins) * (take + 2 * value)) >> 8
                if view.show[1 - me] & suit != ZERO:
                    score += weights[_FORCE] * price >> 8
        elif magri:
            if card & view.suit == ZERO:
                score += take - price
            elif card > view.lead:
                score += take
            else:
                score -= take
        elif trick_winner(view.lead | card, view.suit, view.trump, False) == card:
            score += take + 2 * _worth(view.lead, own, weights)
        else:
            score -= take + 2 * value
        if score > best_score:
            best_score = score
            best = card
    return best


@njit
def _distance(view: Any, rules: Any) -> I64:
    """Return twice how far the counts are from deciding who names (S9); the second lead, once known, decides between equal ones."""
    me = view.seat
    if rules.magri == 1:
        return abs(2 * (view.value[me] - view.value[1 - me]))
    ahead = 2 * (popcount(view.owned[me] & ~view.broken) - popcount(view.owned[1 - me] & ~view.broken))
    if view.middle >= 0 and rules.second_lead == 0:
        ahead += 1 if (view.middle == me) == (rules.tie_namer == 0) else -1
    return abs(ahead)


@njit
def _unseen(view: Any, own: U64) -> U64:
    """Return the cards that are in the other hand or the reserve, for all I know."""
    seen = own | view.show[1 - view.seat] | view.discards | view.lead
    if view.display >= 0:
        seen |= ONE << np.uint64(view.display)
    elif view.turned_to != view.seat:
        seen |= ONE << np.uint64(view.turned)
    return _FULL & ~seen


@njit
def _stays(view: Any, rules: Any, unseen: U64) -> I64:
    """Return the chance, of 256, that an unseen card lies in the reserve."""
    cards = popcount(unseen)
    if cards == 0:
        return np.int64(0)
    # with turned_card = "last" one card of the reserve is seen
    face_down = view.reserve - (1 if rules.magri == 0 and rules.turned_card == 1 else 0)
    return 256 * max(np.int64(0), face_down) // cards


@njit
def _wins(card: U64, suit: U64, view: Any, unseen: U64, stays: I64, weights: Any) -> I64:
    """Return the chance, of 256, that a lead takes the trick: he cannot beat it, or does not care to."""
    higher = suit & ~((card << ONE) - ONE)
    safe = np.int64(0)
    if view.show[1 - view.seat] & higher == ZERO:
        safe = np.int64(256)
        cards = popcount(unseen & higher)
        while cards > 0:
            safe = safe * stays >> 8
            cards -= 1
    return safe + ((256 - safe) * weights[_DUCK] >> 8)


@njit
def _worth(card: U64, own: U64, weights: Any) -> I64:
    """Return what holding a card in the second playout is worth: its rank, and more in a long suit."""
    rank = np.uint64(ctz(card)) & _FIFTEEN
    return weights[rank] + weights[_LONG] * max(np.int64(0), popcount(own & led_suit(card)) - 3)


# ---- naming and second playout -------------------------------------------------------------------------------------------------


@njit
def balance(leads: U64, other: U64, trump: U64, all_trump: I64, togo: I64) -> I64:
    """Return how many tricks more (in thousandths) the holding on lead is likely to take of those to go than the other one."""
    if togo == 0:
        return np.int64(0)
    spare = np.int64(popcount(leads) + popcount(other) > 2 * togo)
    kind = 2 if all_trump == 1 else (0 if trump != ZERO else 1)
    table = HOLDING[spare]
    leads_ruffs = leads & trump != ZERO
    other_ruffs = other & trump != ZERO
    total = table[kind, 9]
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        mine = leads & lane
        his = other & lane
        if mine | his == ZERO:
            continue
        weights = table[3] if lane == trump else table[kind]
        side = lane != trump
        total += _suit_balance(weights, mine, his, togo, side and leads_ruffs, side and other_ruffs)
    return total


@njit
def _suit_balance(weights: Any, mine: U64, his: U64, togo: I64, ruffs: bool, is_ruffed: bool) -> I64:
    """Return one suit's part of the balance; ``ruffs``, ``is_ruffed``: I could ruff it, he could."""
    length = min(popcount(mine), togo)
    his_length = min(popcount(his), togo)
    total = weights[0] * (length - his_length)
    rest = mine | his
    place = 2
    while rest != ZERO and place < 6:
        top = highest_bit(rest)
        rest ^= top
        total += weights[place] if top & mine != ZERO else -weights[place]
        place += 1
    if his == ZERO:
        total += weights[6] + length * (weights[1] - weights[8] if is_ruffed else weights[1] + weights[7])
    elif mine == ZERO:
        total -= weights[6] + his_length * (weights[1] - weights[8] if ruffs else weights[1] + weights[7])
    elif mine > his:
        total += weights[1] * popcount(mine & ~(highest_bit(his) - ONE))
    else:
        total -= weights[1] * popcount(his & ~(highest_bit(mine) - ONE))
    return total


@njit
def name_trump(view: Any) -> U64:
    """Name the trump at which the two holdings promise most tricks (S9)."""
    best = np.int64(0)
    best_value = -_FAR
    for number in range(6):
        trump = _LANE << np.uint64(16 * number) if number < NO_TRUMP else ZERO
        all_trump = np.int64(number == ALL_TRUMP)
        if view.second_leader == view.seat:
            value = balance(view.hand, view.other, trump, all_trump, np.int64(13))
        else:
            value = -balance(view.other, view.hand, trump, all_trump, np.int64(13))
        if value > best_value:
            best_value = value
            best = np.int64(number)
    return ONE << np.uint64(best)


@njit
def second_card(view: Any, rules: Any) -> U64:
    """Choose a card of the second playout: one trick looked ahead, both holdings open, then the balance of what is left."""
    togo = 13 - view.tricks_played
    rank = rules.all_trump == 1
    if view.on_table == 1:
        return _reply(view.other, view.hand, view.lead, view.trump, view.all_trump, rank, togo)[0]
    return _lead(view.hand, view.other, view.trump, view.all_trump, rank, togo)


@njit
def _takers(cards: U64, lane: U64, lead: U64, suit: U64, trump: U64, all_trump: I64, rank: bool) -> U64:
    """Return those of a follower's cards of one suit (``lane``) that take the trick (S13)."""
    if lane == suit:
        return cards & ~(lead - ONE)
    if all_trump == 1:
        if not rank:
            return cards
        # the lead's rank, carried over to the other suit
        at_most = (((lead // (suit & (ZERO - suit))) << ONE) - ONE) * (lane & (ZERO - lane))
        return cards & ~at_most
    return cards & trump


@njit
def _reply_value(leads: U64, other: U64, card: U64, takes: bool, trump: U64, all_trump: I64, togo: I64) -> I64:
    """Return what a reply is worth to the follower, who holds ``other``."""
    if takes:
        return 1000 + balance(other ^ card, leads, trump, all_trump, togo - 1)
    return -1000 - balance(leads, other ^ card, trump, all_trump, togo - 1)


@njit
def _reply(leads: U64, other: U64, lead: U64, trump: U64, all_trump: I64, rank: bool, togo: I64) -> Any:
    """Return the follower's best card and its worth to him: of each suit he may play, the lowest card and the lowest that takes."""
    suit = led_suit(lead)
    legal = other & suit
    if legal == ZERO:
        trumps = other & trump
        legal = trumps if trumps != ZERO else other
    best = ZERO
    best_value = -_FAR
    while legal != ZERO:
        card = lowest_bit(legal)
        lane = led_suit(card)
        cards = legal & lane
        legal ^= cards
        takers = _takers(cards, lane, lead, suit, trump, all_trump, rank)
        value = _reply_value(leads, other, card, card & takers != ZERO, trump, all_trump, togo)
        if value > best_value:
            best_value = value
            best = card
        if takers != ZERO and card & takers == ZERO:
            card = lowest_bit(takers)
            value = _reply_value(leads, other, card, True, trump, all_trump, togo)
            if value > best_value:
                best_value = value
                best = card
    return best, best_value


@njit
def _lead(leads: U64, other: U64, trump: U64, all_trump: I64, rank: bool, togo: I64) -> U64:
    """Return the best lead against the best reply: of each suit the lowest card, and the lowest winner or else the highest."""
    best = ZERO
    best_value = -_FAR
    rest = leads
    while rest != ZERO:
        low = lowest_bit(rest)
        lane = led_suit(low)
        mine = rest & lane
        rest ^= mine
        his = other & lane
        high = low
        if his != ZERO:
            high = lowest_bit(mine & ~(highest_bit(his) - ONE)) if mine > his else highest_bit(mine)
        value = -_reply(leads ^ low, other, low, trump, all_trump, rank, togo)[1]
        if value > best_value:
            best_value = value
            best = low
        if high != low:
            value = -_reply(leads ^ high, other, high, trump, all_trump, rank, togo)[1]
            if value > best_value:
                best_value = value
                best = high
    return best
