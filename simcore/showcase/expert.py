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
from simcore.bits import ONE, ZERO, ctz, gather_suit, highest_bit, lowest_bit, popcount
from simcore.showcase.play import unseen_cards
from simcore.showcase.state import ALL_TRUMP, FIRST, NO_TRUMP, TRUMP
from simcore.tricks import led_suit

__all__ = ["balance", "expert_action", "second_trick"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_THREE, _FIFTEEN = np.uint64(3), np.uint64(15)
_FAR = np.int64(1 << 40)

# What tells two holdings apart, in thousandths of a trick: length, masters, the suit's first to fourth card, a void of the other's,
# and for each card of the suit where the other is void: running (he has no trump), ruffed (he has).  Last, once: being on lead.
# Rows: side suits with a trump, suits without a trump, suits with all trump, the trump suit.  First table: holdings without a card
# to spare, as after M11; second table: with cards to spare (S11); third table: no trick to go.
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
        [[0] * 10] * 4,
    ],
    np.int64,
)


def top_cards() -> npt.NDArray[np.int16]:
    """Return int16[3, 4, 16384], the part of a suit's balance that the order of its cards makes out, for each row of HOLDING: the
    four top cards, and masters or a void.

    A suit with n cards, mine and his, is number 2**n + p, where bit n - 1 of p says whether the highest is mine, and so on.
    """
    number = np.arange(1 << 14)
    cards = np.frexp(number)[1] - 1
    cards[0] = 0
    mine = np.zeros((13, len(number)), bool)  # by place from the top
    for place in range(13):
        mine[place] = (number >> np.maximum(cards - 1 - place, 0)) & 1
    there = np.arange(13)[:, None] < cards
    owner = np.where(there, 2 * mine - 1, 0)
    masters = (np.logical_and.accumulate(mine == mine[0], axis=0) & there).sum(axis=0)
    weights = HOLDING[:, :, :, None]
    total = weights[:, :, 2:6] * owner[:4]
    total = total.sum(axis=2) + owner[0] * np.where(masters == cards, weights[:, :, 6], weights[:, :, 1] * masters)
    table: npt.NDArray[np.int16] = total.astype(np.int16)
    return table


TOPS = top_cards()

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
        return _first_lead(view, own, magri, weights, price, take, unseen_cards(view), rules)
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
    part = _part(leads, other, togo)
    kind = _kind(trump, all_trump)
    table = HOLDING[part]
    tops = TOPS[part]
    total = table[kind, 9]
    for suit in range(4):
        shift = np.uint64(16 * suit)
        row = _THREE if (trump >> shift) & ONE != ZERO else kind
        side = row != _THREE
        total += _suit_balance(
            table[row],
            tops[row],
            (leads >> shift) & _LANE,
            (other >> shift) & _LANE,
            togo,
            side and leads & trump != ZERO,
            side and other & trump != ZERO,
        )
    return total


@inlined
def _part(leads: U64, other: U64, togo: I64) -> U64:
    """Return which tables of HOLDING and TOPS are meant for so many cards."""
    return np.uint64(2) if togo == 0 else np.uint64(popcount(leads) + popcount(other) > 2 * togo)


@inlined
def _kind(trump: U64, all_trump: I64) -> U64:
    """Return the row of side suits."""
    return np.uint64(2 if all_trump == 1 else (0 if trump != ZERO else 1))


@inlined
def _pattern(mine: U64, his: U64) -> U64:
    """Return the number under which TOPS knows the two holdings of a suit."""
    cards = mine | his
    return (ONE << np.uint64(popcount(cards))) | gather_suit(mine, cards)


@inlined
def _runs(weights: Any, ruffed: bool) -> I64:
    """Return what a card is worth in a suit that the other is void of."""
    return weights[1] - weights[8] if ruffed else weights[1] + weights[7]


@inlined
def _lengths(weights: Any, mine: I64, his: I64, togo: I64, ruffs: bool, his_ruffs: bool) -> I64:
    """Return the part of one suit's balance that numbers of cards make out."""
    length = min(mine, togo)
    his_length = min(his, togo)
    total = weights[0] * (length - his_length)
    total += length * _runs(weights, his_ruffs) if his == 0 else np.int64(0)
    total -= his_length * _runs(weights, ruffs) if mine == 0 else np.int64(0)
    return total


@inlined
def _suit_balance(weights: Any, tops: Any, mine: U64, his: U64, togo: I64, ruffs: bool, his_ruffs: bool) -> I64:
    """Return one suit's part of the balance, but for what the lead is worth: the other holding's is the same with a minus.

    Args:
        weights, tops: the suit's row of HOLDING and of TOPS.
        mine, his: the cards, in the low 13 bits.
        ruffs, his_ruffs: I (he) could ruff the suit.
    """
    return tops[_pattern(mine, his)] + _lengths(weights, popcount(mine), popcount(his), togo, ruffs, his_ruffs)


@inlined
def _freed(weights: Any, holding: U64, other: U64, trump: U64, togo: I64) -> I64:
    """Return what a holding gains in side suits when the other one's last trump goes: none is ruffed any more."""
    cards = np.int64(0)
    for suit in range(4):
        lane = _LANE << np.uint64(16 * suit)
        if (other | trump) & lane == ZERO:
            cards += min(popcount(holding & lane), togo)
    return cards * (weights[7] + weights[8])


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
    """Choose a card of the second playout: one trick looked ahead, both holdings open, then the balance of what is left.

    Where both seats play like this, the engine takes both cards of a trick out of ``second_trick``.
    """
    rank = rules.all_trump == 1
    togo = 12 - view.tricks_played
    if view.on_table == 0:
        return second_trick(view.hand, view.other, view.trump, view.all_trump, rank, togo)[0]
    kind = _kind(view.trump, view.all_trump)
    part = _part(view.other, view.hand ^ lowest_bit(view.hand), togo)
    if view.hand & view.suit == ZERO:
        return _off_suit(HOLDING[part], TOPS[part], kind, view.other, view.hand, view.lead, view.trump, view.all_trump, rank, togo)[
            0
        ]
    shift = np.uint64(ctz(view.suit))
    row = _THREE if view.suit == view.trump else kind
    stake = 1000 + HOLDING[part, kind, 9]
    mine = (view.other >> shift) & _LANE
    his = (view.hand >> shift) & _LANE
    return _follow(TOPS[part, row], mine, his, view.lead >> shift, stake)[0] << shift


@inlined
def _follow(tops: Any, mine: U64, his: U64, lead: U64, stake: I64) -> tuple[U64, I64]:
    """Return the follower's best card of the suit led, the lowest or the lowest that takes, and what it leaves to who led: the
    trick and the suit's entry of TOPS.

    Args:
        tops: the suit's row of TOPS.
        mine, his: the suit's cards without the lead, in the low 13 bits.
        stake: a trick, and the lead of the next one.
    """
    low = lowest_bit(his)
    value = (stake if low < lead else -stake) + tops[_pattern(mine, his ^ low)]
    takers = his & ~(lead - ONE)
    taker = lowest_bit(takers) if takers != ZERO else low
    taken = tops[_pattern(mine, his ^ taker)] - stake
    takes = takers != ZERO and taken < value
    return (taker if takes else low), (taken if takes else value)


@inlined
def _takers(cards: U64, lead: U64, suit: U64, lane: U64, all_trump: I64, rank: bool) -> U64:
    """Return those of a follower's cards of one suit (``lane``) that take a trick off suit, without trumps among them (S13)."""
    if all_trump == 0:
        return ZERO
    if not rank:
        return cards
    # the lead's rank, carried over to the other suit
    return cards & ~((((lead // (suit & (ZERO - suit))) << ONE) - ONE) * (lane & (ZERO - lane)))


@njit
def _off_suit(
    table: Any, tops: Any, kind: U64, leads: U64, other: U64, lead: U64, trump: U64, all_trump: I64, rank: bool, togo: I64
) -> tuple[U64, I64]:
    """Return the best card of a follower void of the suit led and what it changes for who led: the trick and the balance.

    Of trumps the lowest, else of each suit the lowest card and the lowest that takes.
    """
    stake = 1000 + table[kind, 9]
    trumps = other & trump
    if trumps != ZERO:
        card = lowest_bit(trumps)
        shift = np.uint64(ctz(trump))
        mine = (leads >> shift) & _LANE
        his = trumps >> shift
        value = _suit_balance(table[3], tops[3], mine, his ^ lowest_bit(his), togo, False, False)
        value -= stake + _suit_balance(table[3], tops[3], mine, his, togo, False, False)
        if card == trumps:
            value += _freed(table[0], leads, other, trump, togo)
        return card, value
    best = ZERO
    best_value = _FAR
    suit = led_suit(lead)
    ruffs = leads & trump != ZERO
    for number in range(4):
        shift = np.uint64(16 * number)
        his = (other >> shift) & _LANE
        if his == ZERO:
            continue
        mine = (leads >> shift) & _LANE
        before = _suit_balance(table[kind], tops[kind], mine, his, togo, ruffs, False)
        takers = _takers(his << shift, lead, suit, _LANE << shift, all_trump, rank) >> shift
        low = lowest_bit(his)
        value = _suit_balance(table[kind], tops[kind], mine, his ^ low, togo, ruffs, False) - before
        value += -stake if low & takers != ZERO else stake
        if value < best_value:
            best_value = value
            best = low << shift
        if takers != ZERO and low & takers == ZERO:
            low = lowest_bit(takers)
            value = _suit_balance(table[kind], tops[kind], mine, his ^ low, togo, ruffs, False) - before - stake
            if value < best_value:
                best_value = value
                best = low << shift
    return best, best_value


@njit
def second_trick(leads: U64, other: U64, trump: U64, all_trump: I64, rank: bool, togo: I64) -> tuple[U64, U64]:
    """Return the best lead against the best reply, and that reply.

    Of each suit the lowest card is tried, and the lowest winner or else the highest.  What a lead is worth is told by what the
    trick changes: its suit's balance (and another's, off suit), that of all side suits with a last trump.

    Args:
        rank: all trump is read as ``rank`` (S13).
        togo: tricks to go after this one.
    """
    part = _part(leads ^ lowest_bit(leads), other ^ lowest_bit(other), togo)
    table = HOLDING[part]
    tops = TOPS[part]
    kind = _kind(trump, all_trump)
    stake = 1000 + table[kind, 9]
    ruffs = leads & trump != ZERO
    his_ruffs = other & trump != ZERO
    best = ZERO
    best_reply = ZERO
    best_value = -_FAR
    for suit in range(4):
        shift = np.uint64(16 * suit)
        mine = (leads >> shift) & _LANE
        if mine == ZERO:
            continue
        his = (other >> shift) & _LANE
        trumps = (trump >> shift) & ONE != ZERO
        row = _THREE if trumps else kind
        card = lowest_bit(mine)
        left = leads ^ (card << shift)
        if his == ZERO:
            reply, value = _off_suit(table, tops, kind, left, other, card << shift, trump, all_trump, rank, togo)
            value += _suit_balance(table[row], tops[row], mine ^ card, ZERO, togo, False, his_ruffs and not trumps)
            value -= _suit_balance(table[row], tops[row], mine, ZERO, togo, False, his_ruffs and not trumps)
        else:
            reply, value = _follow(tops[row], mine ^ card, his, card, stake)
            high = lowest_bit(mine & ~(highest_bit(his) - ONE)) if mine > his else highest_bit(mine)
            high_reply, high_value = _follow(tops[row], mine ^ high, his, high, stake)
            if high_value > value:
                card = high
                reply = high_reply
                value = high_value
            reply <<= shift
            count = popcount(mine)
            his_count = popcount(his)
            value += _lengths(table[row], count - 1, his_count - 1, togo, ruffs and not trumps, his_ruffs and not trumps)
            value -= _lengths(table[row], count, his_count, togo, False, False) + tops[row, _pattern(mine, his)]
            if trumps and his_count == 1:
                value += _freed(table[0], leads, other, trump, togo)
        if trumps and card == mine:
            value -= _freed(table[0], other, left, trump, togo)
        if value > best_value:
            best_value = value
            best = card << shift
            best_reply = reply
    return best, best_reply
