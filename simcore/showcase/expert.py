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

from simcore._jit import I64, U64, inlined, njit
from simcore.bits import ONE, ZERO, ctz, highest_bit, lowest_bit, popcount
from simcore.showcase.state import ALL_TRUMP, FIRST, NO_TRUMP, TRUMP
from simcore.tricks import led_suit

__all__ = ["balance", "expert_action"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_THREE, _FOUR, _FIFTEEN = (np.uint64(x) for x in (3, 4, 15))
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


def powers() -> npt.NDArray[np.int64]:
    """Return the chance, of 256, that n cards all lie in the reserve, where each does with chance s of 256: entry 16 s + n."""
    table = np.zeros((257, 16), np.int64)
    table[:, 0] = 256
    for n in range(15):
        table[:, n + 1] = table[:, n] * np.arange(257) >> 8
    return table.reshape(-1)


PRICES = np.array([prices(int(row[_NAME]), int(row[_SPREAD])) for row in FIRST_WEIGHTS])
POWERS = powers()


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
    if view.on_table == 0:
        return _first_lead(view, own, magri, weights, price, take, _unseen(view, own), rules)
    return _first_reply(view, own, magri, weights, price, take)


@inlined
def _spent(view: Any, own: U64, card: U64, magri: bool, weights: Any, price: I64, value: I64) -> I64:
    """Return what playing a card brings whoever takes the trick: its loss, a card of the showcase, a counted trick broken (S8)."""
    if magri:
        return -(value * weights[_SPENT] >> 8)
    if card & view.show[view.seat] == ZERO:
        return np.int64(0)
    broken = (ONE << np.uint64(view.lies_in[np.uint64(ctz(card))])) & view.broken != ZERO
    return weights[_SHOWN] + (np.int64(0) if broken else price * weights[_BREAK] >> 8)


@inlined
def _first_lead(view: Any, own: U64, magri: bool, weights: Any, price: I64, take: I64, unseen: U64, rules: Any) -> U64:
    """Choose a lead, weighed with the chance, of 256, that it takes the trick: he cannot beat it, or does not care to."""
    stays = np.uint64(16 * _stays(view, rules, unseen))
    theirs = view.show[1 - view.seat]
    shows = view.show[view.seat] if not magri else ZERO
    best = ZERO
    best_score = -_FAR
    suits = view.legal
    while suits != ZERO:
        lane = led_suit(lowest_bit(suits))
        rest = suits & lane
        suits ^= rest
        out = unseen & lane
        shown = theirs & lane
        long = _long(own, lane, weights)
        force = weights[_FORCE] * price >> 8 if magri == (shown == ZERO) else np.int64(0)
        while rest != ZERO:
            card = lowest_bit(rest)
            rest ^= card
            if card & shows == ZERO:
                # of the cards of the hand that the same cards beat the lowest will do
                between = (out | shown) & ~(card - ONE)
                rest &= shows | ~(lowest_bit(between) - ONE)
            value = weights[np.uint64(ctz(card)) & _FIFTEEN] + long
            safe = np.int64(0) if shown > card else POWERS[stays + np.uint64(popcount(out & ~(card - ONE)))]
            wins = safe + ((256 - safe) * weights[_DUCK] >> 8)
            score = _spent(view, own, card, magri, weights, price, value) + force
            if magri:
                score += (2 * wins - 256) * take >> 8
            else:
                score += (wins * take - (256 - wins) * (take + 2 * value)) >> 8
            if score > best_score:
                best_score = score
                best = card
    return best


@inlined
def _first_reply(view: Any, own: U64, magri: bool, weights: Any, price: I64, take: I64) -> U64:
    """Choose a reply: whether it takes the trick is known (S5, M4)."""
    won = take + 2 * _worth(view.lead, own, weights)
    shows = view.show[view.seat] if not magri else ZERO
    best = ZERO
    best_score = -_FAR
    suits = view.legal
    while suits != ZERO:
        lane = led_suit(lowest_bit(suits))
        rest = suits & lane
        suits ^= rest
        long = _long(own, lane, weights)
        while rest != ZERO:
            card = lowest_bit(rest)
            rest ^= card
            takes = (lane == view.suit and card > view.lead) or (magri and lane != view.suit)
            if card & shows == ZERO:
                # of the cards of the hand that take the trick, and of those that do not, the lowest will do
                rest &= shows if takes or lane != view.suit else shows | ~(view.lead - ONE)
            value = weights[np.uint64(ctz(card)) & _FIFTEEN] + long
            score = _spent(view, own, card, magri, weights, price, value)
            if magri:
                score += take - price if lane != view.suit else (take if takes else -take)
            else:
                score += won if takes else -(take + 2 * value)
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


@inlined
def _long(own: U64, lane: U64, weights: Any) -> I64:
    """Return what each card of a long suit is worth more."""
    return weights[_LONG] * max(np.int64(0), popcount(own & lane) - 3)


@njit
def _worth(card: U64, own: U64, weights: Any) -> I64:
    """Return what holding a card in the second playout is worth: its rank, and more in a long suit."""
    rank = np.uint64(ctz(card)) & _FIFTEEN
    return weights[rank] + _long(own, led_suit(card), weights)


# ---- naming and second playout -------------------------------------------------------------------------------------------------


@njit
def balance(leads: U64, other: U64, trump: U64, all_trump: I64, togo: I64) -> I64:
    """Return how many tricks more (in thousandths) the holding on lead is likely to take of those to go than the other one."""
    if togo == 0:
        return np.int64(0)
    table = _table(leads, other, togo)
    kind = _kind(trump, all_trump)
    return table[kind, 9] + _suits_balance(table, kind, leads, other, trump, togo, _FULL)


@inlined
def _table(leads: U64, other: U64, togo: I64) -> Any:
    """Return the table of HOLDING for so many cards."""
    return HOLDING[np.uint64(popcount(leads) + popcount(other) > 2 * togo)]


@inlined
def _kind(trump: U64, all_trump: I64) -> U64:
    """Return the row of side suits."""
    return np.uint64(2 if all_trump == 1 else (0 if trump != ZERO else 1))


@njit
def _suits_balance(table: Any, kind: U64, leads: U64, other: U64, trump: U64, togo: I64, suits: U64) -> I64:
    """Return some suits' part of the balance, but for what the lead is worth: the other holding's is the same with a minus."""
    total = np.int64(0)
    rest = (leads | other) & suits
    while rest != ZERO:
        lane = led_suit(lowest_bit(rest))
        rest &= ~lane
        total += _suit_balance(table, kind, leads, other, trump, togo, lane)
    return total


@inlined
def _owner(top: U64, mine: U64, his: U64) -> I64:
    """Return 1 for my card, -1 for his, 0 for neither's."""
    return np.int64(top & mine != ZERO) - np.int64(top & his != ZERO)


@inlined
def _suit_balance(table: Any, kind: U64, leads: U64, other: U64, trump: U64, togo: I64, lane: U64) -> I64:
    """Return one suit's part of the balance.  Straight on: whose card is the next one is a coin toss to a branch predictor."""
    shift = np.uint64(ctz(lane))
    mine = (leads & lane) >> shift << _FOUR
    his = (other & lane) >> shift << _FOUR
    weights = table[_THREE if lane == trump else kind]
    length = min(popcount(mine), togo)
    his_length = min(popcount(his), togo)
    total = weights[0] * (length - his_length)
    # the four top cards; bits below the suit stand for those that are not there
    rest = mine | his | _FIFTEEN
    top = highest_bit(rest)
    total += weights[2] * _owner(top, mine, his)
    rest ^= top
    top = highest_bit(rest)
    total += weights[3] * _owner(top, mine, his)
    rest ^= top
    top = highest_bit(rest)
    total += weights[4] * _owner(top, mine, his)
    rest ^= top
    top = highest_bit(rest)
    total += weights[5] * _owner(top, mine, his)
    # masters; all cards are where the other has none of the suit: they run, unless he can ruff
    sign = np.int64(mine > his) - np.int64(mine < his)
    longer = mine if mine > his else his
    shorter = mine if mine < his else his
    ruffed = lane != trump and (leads if mine < his else other) & trump != ZERO
    running = weights[6] + (length + his_length) * (weights[1] - weights[8] if ruffed else weights[1] + weights[7])
    masters = weights[1] * popcount(longer & ~(highest_bit(shorter | ONE) - ONE))
    return total + sign * (running if shorter == ZERO else masters)


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


@inlined
def _single(cards: U64) -> Any:
    """Tell whether a mask holds exactly one card."""
    return cards != ZERO and cards & (cards - ONE) == ZERO


@njit
def second_card(view: Any, rules: Any) -> U64:
    """Choose a card of the second playout: one trick looked ahead, both holdings open, then the balance of what is left.

    A trick changes the balance of its suits only, so that of the others is left out, unless a last trump may be played: then any
    suit's may change.
    """
    rank = rules.all_trump == 1
    togo = 12 - view.tricks_played
    kind = _kind(view.trump, view.all_trump)
    if view.on_table == 1:
        table = _table(view.other, view.hand ^ lowest_bit(view.hand), togo)
        rest = np.int64(0)
        if _single(view.hand & view.trump):
            rest = _suits_balance(table, kind, view.other, view.hand, view.trump, togo, ~view.suit)
        return _reply(table, kind, view.other, view.hand, view.lead, view.trump, view.all_trump, rank, togo, rest)[0]
    return _lead(kind, view.hand, view.other, view.trump, view.all_trump, rank, togo)


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


@inlined
def _left(table: Any, kind: U64, leads: U64, other: U64, card: U64, trump: U64, togo: I64, lane: U64, rest: I64) -> I64:
    """Return the balance, seen by who led, of what is left after a reply of suit ``lane``; ``rest`` is the other suits' part."""
    left = other ^ card
    if togo == 0:
        return np.int64(0)
    if card == other & trump:
        return _suits_balance(table, kind, leads, left, trump, togo, _FULL)  # his last trump: no suit is ruffed any more
    if (leads | left) & lane == ZERO:
        return rest
    return rest + _suit_balance(table, kind, leads, left, trump, togo, lane)


@njit
def _reply(
    table: Any, kind: U64, leads: U64, other: U64, lead: U64, trump: U64, all_trump: I64, rank: bool, togo: I64, rest: I64
) -> Any:
    """Return the follower's best card and its worth to him: of each suit he may play, the lowest card and the lowest that takes.

    Args:
        leads, other: the holdings without the card led.
        togo: tricks to go after this one.
        rest: the balance of all suits but the one led (with a constant of the caller's added).
    """
    suit = led_suit(lead)
    legal = other & suit
    if legal == ZERO:
        trumps = other & trump
        legal = trumps if trumps != ZERO else other
        if leads & suit != ZERO:
            rest += _suit_balance(table, kind, leads, other, trump, togo, suit)
    # a trick, and the lead of the next one
    stake = 1000 + (table[kind, 9] if togo > 0 else np.int64(0))
    best = ZERO
    best_value = -_FAR
    while legal != ZERO:
        card = lowest_bit(legal)
        lane = led_suit(card)
        cards = legal & lane
        legal ^= cards
        takers = _takers(cards, lane, lead, suit, trump, all_trump, rank)
        others = rest
        if lane != suit:
            others -= _suit_balance(table, kind, leads, other, trump, togo, lane)
        takes = card & takers != ZERO
        value = (stake if takes else -stake) - _left(table, kind, leads, other, card, trump, togo, lane, others)
        if value > best_value:
            best_value = value
            best = card
        if takers != ZERO and not takes:
            card = lowest_bit(takers)
            value = stake - _left(table, kind, leads, other, card, trump, togo, lane, others)
            if value > best_value:
                best_value = value
                best = card
    return best, best_value


@inlined
def _lead_value(
    table: Any,
    kind: U64,
    leads: U64,
    other: U64,
    card: U64,
    trump: U64,
    all_trump: I64,
    rank: bool,
    togo: I64,
    lane: U64,
    rest: I64,
) -> I64:
    """Return what a lead is worth against the best reply."""
    left = leads ^ card
    if card == leads & trump:
        rest = _suits_balance(table, kind, left, other, trump, togo, ~lane)  # my last trump
    return -_reply(table, kind, left, other, card, trump, all_trump, rank, togo, rest)[1]


@njit
def _lead(kind: U64, leads: U64, other: U64, trump: U64, all_trump: I64, rank: bool, togo: I64) -> U64:
    """Return the best lead against the best reply: of each suit the lowest card, and the lowest winner or else the highest."""
    table = _table(leads ^ lowest_bit(leads), other ^ lowest_bit(other), togo)
    total = np.int64(0)
    if _single(leads & trump) or _single(other & trump):
        total = _suits_balance(table, kind, leads, other, trump, togo, _FULL)
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
        others = total - _suit_balance(table, kind, leads, other, trump, togo, lane)
        value = _lead_value(table, kind, leads, other, low, trump, all_trump, rank, togo, lane, others)
        if value > best_value:
            best_value = value
            best = low
        if high != low:
            value = _lead_value(table, kind, leads, other, high, trump, all_trump, rank, togo, lane, others)
            if value > best_value:
                best_value = value
                best = high
    return best
