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

__all__ = ["balance", "expert_action", "first_lead", "first_reply", "second_trick"]

_FULL = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANE = np.uint64(0x1FFF)
_THREE, _FIFTEEN = np.uint64(3), np.uint64(15)
_GUARD = np.uint64(0x8000800080008000)
_TWOS = np.uint64(0x0001000100010001)
_ABOVE = np.uint64(0x2000)  # the bit above a suit's cards
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


def prices(name: int, spread: int) -> npt.NDArray[np.int16]:
    """Return int16[27, 64], what one counted trick more costs, by tricks to go and twice the distance from equal counts.

    The right to name is worth ``name``; how the counts will still drift apart is taken as normal, with a standard deviation of
    ``spread`` thousandths times the root of the tricks to go.  A trick moves the difference of the counts by two at most (the
    winner's grows, the loser breaks one of his): where the distance is out of reach, counted tricks cost nothing.
    """
    togo = np.arange(27)[:, None]
    distance = np.arange(64)
    deviation = 2e-3 * spread * np.sqrt(togo + 0.5)
    density = np.exp(-0.5 * (distance / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    table: npt.NDArray[np.int16] = np.where(distance <= 4 * togo, np.rint(2 * name * density), 0).astype(np.int16)
    return table


def stays() -> npt.NDArray[np.int16]:
    """Return int16[27, 53], sixteen times the chance, of 256, that an unseen card lies face down in the reserve: by the number of
    those that do and of those unseen."""
    face_down, unseen = np.arange(27)[:, None], np.arange(53)
    table: npt.NDArray[np.int16] = (256 * face_down // np.maximum(unseen, 1) * (unseen > 0) * 16).astype(np.int16)
    return table


def chances(duck: int) -> npt.NDArray[np.int16]:
    """Return the chance, of 256, that a lead takes the trick: entry 16 s + n, where n cards beat it, each of which lies in the
    reserve with chance s of 256; n = 15 stands for one that does not.  With chance ``duck`` he does not beat what he could."""
    table = np.zeros((257, 16), np.int64)
    table[:, 0] = 256
    for n in range(14):
        table[:, n + 1] = table[:, n] * np.arange(257) >> 8
    table[:, 15] = 0
    chance: npt.NDArray[np.int16] = (table + ((256 - table) * duck >> 8)).reshape(-1).astype(np.int16)
    return chance


PRICES = np.array([prices(int(row[_NAME]), int(row[_SPREAD])) for row in FIRST_WEIGHTS])
STAYS = stays()
CHANCES = np.array([chances(int(row[_DUCK])) for row in FIRST_WEIGHTS])


@njit
def expert_action(kind: I64, view: Any, rules: Any) -> U64:
    """Return the expert's decision."""
    if kind == FIRST:
        return first_card(view, rules)
    if kind == TRUMP:
        return name_trump(view)
    return second_card(view, rules)


# ---- first playout --------------------------------------------------------------------------------------------------------------


@njit
def first_card(view: Any, rules: Any) -> U64:
    """Choose a card of the first playout."""
    return first_lead(view, rules) if view.on_table == 0 else first_reply(view, rules)


@inlined
def _stakes(view: Any, rules: Any, weights: Any, own: U64) -> tuple[I64, I64]:
    """Return the price of a counted trick, and what taking the trick is worth apart from the two cards in it: the other draws, I
    may lead later (S10), my count grows."""
    magri = rules.magri == 1
    togo = 13 - view.tricks_played if magri else view.reserve
    price = np.int64(PRICES[np.uint64(rules.magri), np.uint64(togo), np.uint64(min(_distance(view, rules), 63))])
    take = -weights[_MEAN]
    if (togo == 1) if magri or rules.second_lead == 1 else (view.tricks_played == 12):
        take += weights[_LEAD]
    return price, take + (_worth(ONE << np.uint64(view.display), own, weights) if magri else -price)


@inlined
def _lowest(cards: U64) -> U64:
    """Return the lowest card of each suit."""
    return cards & (_GUARD - cards)


@inlined
def _lowest_of_runs(cards: U64, others: U64) -> U64:
    """Return the lowest of each run of cards: of cards of a suit between which none of the others lies."""
    gaps = _FULL & ~(cards | others)
    # a run begins above another card or at the bottom: the carry finds its lowest card across the gaps
    starts = (others << ONE) | _TWOS
    return ((starts & ~gaps) | (((starts & gaps) + gaps) & ~gaps)) & cards


@inlined
def _ranked(score: I64, card: U64) -> I64:
    """Return score and card in one number: the best is the highest score, of equal ones the lowest card."""
    return (score << 6) - ctz(card)


@inlined
def _card_of(ranked: I64) -> U64:
    return ONE << np.uint64(-ranked & 63)


@njit
def first_lead(view: Any, rules: Any) -> U64:
    """Choose a lead, weighed with the chance, of 256, that it takes the trick: he cannot beat it, or does not care to."""
    magri = rules.magri == 1
    style = np.uint64(rules.magri)
    weights = FIRST_WEIGHTS[style]
    me = view.seat & 1  # known not to be negative: no wrap-around to be computed
    theirs = view.show[me ^ 1]
    shows = view.legal & view.show[me] if not magri else ZERO
    own = view.hand | view.show[me]
    price, take = _stakes(view, rules, weights, own)
    unseen = unseen_cards(view)
    hand = view.legal & ~shows
    # of cards that the same cards beat the lowest will do
    choices = shows | _lowest_of_runs(hand, unseen | theirs)
    # with turned_card = "last" one card of the reserve is seen
    face_down = view.reserve - (1 if not magri and rules.turned_card == 1 else 0)
    stays = np.uint64(STAYS[np.uint64(max(face_down, np.int64(0))), np.uint64(popcount(unseen))])
    force = weights[_FORCE] * price >> 8
    breaks = price * weights[_BREAK] >> 8
    best = -_FAR
    while choices != ZERO:
        card = lowest_bit(choices)
        choices ^= card
        lane = led_suit(card)
        above = lane & ~(card - ONE)
        value = weights[np.uint64(ctz(card)) & _FIFTEEN] + _long(own, lane, weights)
        chance = np.int64(CHANCES[style, stays + np.uint64(15 if theirs & above != ZERO else popcount(unseen & above))])
        score = force if magri == (theirs & lane == ZERO) else np.int64(0)
        if magri:
            score += ((2 * chance - 256) * take >> 8) - (value * weights[_SPENT] >> 8)
        else:
            score += (chance * take - (256 - chance) * (take + 2 * value)) >> 8
            if card & shows != ZERO:
                score += weights[_SHOWN] + (breaks if card & view.whole != ZERO else np.int64(0))
        best = max(best, _ranked(score, card))
    return _card_of(best)


@inlined
def _weighed(best: I64, cards: U64, score: I64, loss: I64, long: I64, weights: Any) -> I64:
    """Return the better of ``best`` and the lowest of some cards of a suit: ``score`` less ``loss``, of 256, of its value."""
    card = lowest_bit(cards)
    value = weights[np.uint64(ctz(card)) & _FIFTEEN] + long
    return max(best, _ranked(score - (value * loss >> 8), card) if cards != ZERO else -_FAR)


@njit
def first_reply(view: Any, rules: Any) -> U64:
    """Choose a reply: whether it takes the trick is known (S5, M4).

    Of the cards that take it, and of those that do not, the lowest will do: of the hand, of whole tricks and of broken ones.
    """
    magri = rules.magri == 1
    weights = FIRST_WEIGHTS[np.uint64(rules.magri)]
    me = view.seat & 1
    shows = view.legal & view.show[me] if not magri else ZERO
    own = view.hand | view.show[me]
    price, take = _stakes(view, rules, weights, own)
    hand = view.legal & ~shows
    suit = view.suit
    above = suit & ~(view.lead - ONE)
    below = suit & (view.lead - ONE)
    long = _long(own, suit, weights)
    # a card lost counts twice, once for each side; with Magri it is discarded whoever takes it
    loss = weights[_SPENT] if magri else np.int64(512)
    taken = weights[_SPENT] if magri else np.int64(0)
    won = take if magri else take + 2 * (weights[np.uint64(ctz(view.lead)) & _FIFTEEN] + long)
    best = _weighed(-_FAR, hand & below, -take, loss, long, weights)
    best = _weighed(best, hand & above, won, taken, long, weights)
    if shows != ZERO:
        whole = shows & view.whole
        shown = weights[_SHOWN]
        broken = shown + (price * weights[_BREAK] >> 8)
        best = _weighed(best, whole & below, broken - take, loss, long, weights)
        best = _weighed(best, whole & above, broken + won, taken, long, weights)
        best = _weighed(best, shows & ~whole & below, shown - take, loss, long, weights)
        best = _weighed(best, shows & ~whole & above, shown + won, taken, long, weights)
    others = _lowest(hand & ~suit)
    # off suit they are all trumps, or none is (S4)
    ruffs = others & view.trump != ZERO
    off_suit = won if ruffs else take - price if magri else -take
    while others != ZERO:
        card = lowest_bit(others)
        others ^= card
        best = _weighed(best, card, off_suit, taken if ruffs else loss, _long(own, led_suit(card), weights), weights)
    return _card_of(best)


@inlined
def _distance(view: Any, rules: Any) -> I64:
    """Return twice how far the counts are from deciding who names (S9); the second lead, once known, decides between equal ones."""
    me = view.seat & 1
    if rules.magri == 1:
        return abs(2 * (view.value[me] - view.value[me ^ 1]))
    ahead = 2 * (popcount(view.owned[me] & ~view.broken) - popcount(view.owned[me ^ 1] & ~view.broken))
    if view.middle >= 0 and rules.second_lead == 0:
        ahead += 1 if (view.middle == me) == (rules.tie_namer == 0) else -1
    return abs(ahead)


@inlined
def _long(own: U64, lane: U64, weights: Any) -> I64:
    """Return what each card of a long suit is worth more."""
    return weights[_LONG] * max(np.int64(0), popcount(own & lane) - 3)


@inlined
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
def _number(mine: U64, cards: U64) -> U64:
    """Return the number under which TOPS knows a suit of which these cards are left; others in ``mine`` do not count."""
    return gather_suit(mine | _ABOVE, cards | _ABOVE)


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
    return tops[_number(mine, mine | his)] + _lengths(weights, popcount(mine), popcount(his), togo, ruffs, his_ruffs)


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
        mine, his: the suit's cards, in the low 13 bits.
        stake: a trick, and the lead of the next one.
    """
    cards = (mine | his) & ~lead
    low = lowest_bit(his)
    value = (stake if low < lead else -stake) + tops[_number(mine, cards ^ low)]
    takers = his & ~(lead - ONE)
    taker = lowest_bit(takers) if takers != ZERO else low
    taken = tops[_number(mine, cards ^ taker)] - stake
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
            reply, value = _follow(tops[row], mine, his, card, stake)
            # the lowest winner or else the highest card, without a branch: whose the highest card is is a toss-up
            high = lowest_bit((mine & ~(highest_bit(his) - ONE)) | highest_bit(mine))
            high_reply, high_value = _follow(tops[row], mine, his, high, stake)
            if high_value > value:
                card = high
                reply = high_reply
                value = high_value
            reply <<= shift
            count = popcount(mine)
            his_count = popcount(his)
            # of the suit's balance: a length shrinks if it is not beyond the tricks to go; the last card leaves a void
            value += table[row, 0] * (np.int64(his_count <= togo) - np.int64(count <= togo)) - tops[row, _number(mine, mine | his)]
            if his_count == 1:
                value += min(count - 1, togo) * _runs(table[row], his_ruffs and not trumps)
            if count == 1:
                value -= min(his_count - 1, togo) * _runs(table[row], ruffs and not trumps)
            if trumps and his_count == 1:
                value += _freed(table[0], leads, other, trump, togo)
        if trumps and card == mine:
            value -= _freed(table[0], other, left, trump, togo)
        if value > best_value:
            best_value = value
            best = card << shift
            best_reply = reply
    return best, best_reply
