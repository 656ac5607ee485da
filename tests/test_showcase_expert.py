"""The Showcase player ``expert``: strength, no peeking, what it looks at, the same when seats or suits are renamed."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from test_showcase_engine import STYLES, Run, Table, bits, checked, variants

import simcore
from simcore.cards import Hand, format_card, parse_card
from simcore.players import EXPERT, GREEDY, RANDOM
from simcore.rng import STREAM
from simcore.rules import TRUMPS, load_ruleset
from simcore.showcase import expert, state
from simcore.showcase.engine import prepare
from simcore.showcase.expert import balance, second_trick
from simcore.showcase.play import legal_first, legal_second, unseen_cards
from simcore.showcase.policies import decide
from simcore.solvers import two

ROOT = Path(__file__).parent.parent
SUITS = "CDHS"
LANES = {suit: np.uint64(0x1FFF << (16 * place)) for place, suit in enumerate(SUITS)}


def mask(cards: str) -> np.uint64:
    return np.uint64(sum(1 << parse_card(card) for card in cards.split()))


def decision(kind: int, view: Any, ruleset: Any) -> str:
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    action = int(decide(np.int64(EXPERT), np.int64(kind), view, ruleset.record[0], stream))
    assert action & int(view.legal) == action != 0
    assert action & (action - 1) == 0
    number = action.bit_length() - 1
    return TRUMPS[number] if kind == state.TRUMP else format_card(number)


# ---- legality and strength ------------------------------------------------------------------------------------------------------


# Alone the expert is played through the naive engine in test_showcase_engine.py, in every combination of choices.
@pytest.mark.parametrize("name", STYLES)
def test_mixed_players_and_forced_trumps_through_the_naive_engine(name: str) -> None:
    every = variants(name)
    for number, (ruleset, rules) in enumerate(every):
        for options in (
            {"players": "expert"},
            {"player": {"NS"[number % 2]: "expert"}},
            {"players": "expert", "trump": "all-trump"},
        ):
            checked(simcore.replay("showcase", ruleset=ruleset, seed=70 + number, deals=2, **options), rules, ruleset)


@pytest.mark.parametrize("name", STYLES)
def test_two_experts_play_what_each_decides_card_by_card(name: str) -> None:
    """Every combination of choices: the engine's own loops leave the deal as the engine does that asks for every card."""
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    for ruleset, _ in variants(name):
        for index in range(40):
            whole, single = Table(ruleset, index, EXPERT), Table(ruleset, index)
            if index % 4 == 0:  # another start than the first lead
                for _ in range(index):
                    kind = single.next()
                    while prepare(whole.rules, whole.table, whole.view) != kind or len(bits(whole.view.legal)) == 1:
                        whole.answer(state.SECOND if whole.table.phase == state.PLAYOUT_2 else state.FIRST, whole.view.legal)
                    for deal in (whole, single):
                        deal.answer(kind, bits(single.view.legal)[0])
            assert whole.next() == -1
            while (kind := single.next()) >= 0:
                single.answer(kind, decide(np.int64(EXPERT), np.int64(kind), single.view, single.rules, stream))
            for field in state.VIEW.names:
                if field not in ("seat", "hand", "legal", "other"):  # of the last decision asked for
                    assert np.array_equal(whole.view[field], single.view[field]), field
            for field in ("hands", "drawn", "phase", "turn", "next"):
                assert np.array_equal(whole.table[field], single.table[field]), field


def margin(name: str, other: int, deals: int, policies: tuple[int, int, int] = (EXPERT,) * 3) -> tuple[float, float]:
    """Return the mean of own less other points with each seat in turn on the same deals, and its standard error."""
    a = Run(name, deals, policies=[policies, [other] * 3], key=123)
    b = Run(name, deals, policies=[[other] * 3, policies], key=123)
    more = (a.column("points_n") - a.column("points_s") + b.column("points_s") - b.column("points_n")) / 2
    return float(more.mean()), float(more.std(ddof=1) / deals**0.5)


@pytest.mark.parametrize("other", [RANDOM, GREEDY])
@pytest.mark.parametrize("name", STYLES)
def test_stronger_than_greedy_and_random(name: str, other: int) -> None:
    """Measured: 7.8 to 10.3 points more than the other; the bar stands more than ten standard errors lower."""
    mean, error = margin(name, other, 1500)
    assert error < 0.15
    assert mean > 6


@pytest.mark.parametrize("name", STYLES)
def test_each_part_adds_strength(name: str) -> None:
    """A greedy player with the expert's first playout, or its naming and second playout, is better than a greedy player."""
    for part, bar in (((EXPERT, GREEDY, GREEDY), 1.0), ((GREEDY, EXPERT, EXPERT), 0.8)):
        mean, error = margin(name, GREEDY, 1500, part)
        assert mean - 5 * error > bar, part


# ---- no peeking, renaming -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STYLES)
def test_hidden_cards_do_not_change_the_decision(name: str) -> None:
    """The other hand and the reserve shuffled together, with all that the table holds besides: the same action."""
    rng = random.Random(8)
    differ = 0
    for index in range(80):
        deal = Table(name, index)
        for _ in range(rng.randrange(50)):
            kind = deal.next()
            if kind == state.FIRST:
                deal.answer(kind, rng.choice(bits(deal.view.legal)))
        if deal.next() != state.FIRST:
            continue
        chosen = decision(state.FIRST, deal.view, deal.ruleset)
        other = 1 - int(deal.table.turn)
        start = int(deal.table.next)
        unseen = bits(deal.table.hands[other]) + [1 << int(card) for card in deal.table.stock[start:]]
        rng.shuffle(unseen)
        held = int(deal.table.hands[other]).bit_count()
        differ += sum(unseen[:held]) != int(deal.table.hands[other])
        deal.table.hands[other] = np.uint64(sum(unseen[:held]))
        deal.table.stock[start:] = [bit.bit_length() - 1 for bit in unseen[held:]]
        assert deal.next() == state.FIRST
        assert decision(state.FIRST, deal.view, deal.ruleset) == chosen
    assert differ > 30


@pytest.mark.parametrize("name", STYLES)
def test_swapping_the_seats_swaps_the_result(name: str) -> None:
    reserves = simcore.deal_showcase(77, 0, 60)[1]
    for dealer in (0, 1):
        a = Run(name, 60, policies=EXPERT, dealer=dealer)
        b = Run(name, 60, policies=EXPERT, dealer=1 - dealer, given=(a.hands[:, ::-1].copy(), reserves))
        for pair in (("won_n", "won_s"), ("count_n", "count_s"), ("points_n", "points_s")):
            for mine, theirs in (pair, pair[::-1]):
                assert (a.column(mine) == b.column(theirs)).all()
        assert (a.column("trump") == b.column("trump")).all()
        assert (a.column("namer") == 1 - b.column("namer")).all()


def renamed(holding: int, order: tuple[int, ...]) -> np.uint64:
    return np.uint64(sum((holding >> 16 * suit & 0x1FFF) << 16 * order[suit] for suit in range(4)))


def test_renaming_the_suits_does_not_change_the_balance() -> None:
    hands = simcore.deal_showcase(5, 0, 20)[0]
    for (mine, his), order in zip(hands.tolist(), itertools.permutations(range(4)), strict=False):
        for trump in range(4):
            plain, other = (LANES[SUITS[suit]] for suit in (trump, order[trump]))
            assert balance(np.uint64(mine), np.uint64(his), plain, 0, 13) == balance(
                renamed(mine, order), renamed(his, order), other, 0, 13
            )


# ---- first playout --------------------------------------------------------------------------------------------------------------


def first(
    hand: str,
    *,
    lead: str = "",
    trump: str = "C",
    tricks: int = 20,
    mine: str = "",
    his: str = "",
    broken: str = "",
    display: str = "",
    values: tuple[int, int] = (0, 0),
    name: str = "showcase",
    **choices: str,
) -> str:
    """Return N's card: tricks lie in the showcases as pairs of cards in the order given, ``broken`` the tricks no longer whole."""
    ruleset = load_ruleset(name).with_choices(**choices)
    view = state.new_view()[0]
    view.seat, view.hand, view.tricks_played, view.turned_to, view.middle = 0, mask(hand), tricks, -1, -1
    view.show[:] = mask(mine), mask(his)
    for seat, cards in enumerate((mine, his)):
        for place, card in enumerate(cards.split()):
            trick = 13 * seat + place // 2
            view.lies_in[parse_card(card)] = trick
            view.owned[seat] |= np.uint64(1 << trick)
            if card in broken.split():
                view.broken |= np.uint64(1 << trick)
            elif name != "showcase-magri" and not set(cards.split()[place // 2 * 2 : place // 2 * 2 + 2]) & set(broken.split()):
                view.whole |= np.uint64(1 << parse_card(card))
    view.trump = np.uint64(0) if name == "showcase-magri" else LANES[trump]
    view.turned, view.display = parse_card("C2"), parse_card(display) if display else -1
    view.value[:] = values
    view.reserve = 25 - 2 * tricks if name == "showcase-magri" else 25 - tricks
    if lead:
        view.on_table, view.lead, view.suit = 1, mask(lead), LANES[lead[0]]
    view.legal = legal_first(ruleset.record[0], view, view.hand, view.show[0])
    return decision(state.FIRST, view, ruleset)


def test_the_last_trick_decides_who_names() -> None:
    """S8, S9: with equal counts the last trick is not taken, though it could be; where the name is lost or safe anyway, it is."""
    close = {"mine": "D2 D3 D4 D5", "his": "C3 C4 C5 C6"}
    assert first("H2 HA", lead="HK", tricks=24, **close) == "H2"
    assert first("H2 HA", lead="HK", tricks=24, mine=close["mine"] + " S4 S5", his="") == "HA"
    far = "C3 C4 C5 C6 C7 C8 C9 CT CJ CQ S2 S3 S4 S5 S6 S7"
    assert first("H2 HA", lead="HK", tricks=24, mine="", his=far) == "HA"


def test_a_counted_trick_is_broken_where_the_name_is_at_stake() -> None:
    """S8: to a trick lost either way goes the card out of an own counted trick, not the same rank's neighbour in hand."""
    assert first("H4 S2 S3", lead="HK", tricks=24, mine="H5 D5", his="C3 C4") == "H5"
    assert first("H5 S2 S3", lead="HK", tricks=24, mine="H4 D5", his="C3 C4") == "H4"


def test_a_trump_takes_the_trick_of_an_ace() -> None:
    """S4 with ``"may"``, S5: he who need not follow from his showcase ruffs where the trick is worth taking, else lets it go."""
    his = "C4 C5 C6 C7 C8 C9 CT CJ CQ CK D4 D5 D6 D7 S5 S6 S7 S8"
    assert first("C3 S4", lead="HA", tricks=12, mine="H2 D2", his=his, showcase_follow="may") == "C3"
    assert first("C3 S4", lead="H4", tricks=12, mine="H2 D2", his=his, showcase_follow="may") == "H2"


def test_value_tricks_are_left_to_the_other() -> None:
    """M5, M8: with equal counts the last trick is followed, not won off suit; the reading that obliges only the showcase."""
    assert first("D2 S9", lead="D5", name="showcase-magri", tricks=12, display="H9") == "D2"
    assert first("D2 S9", lead="D5", name="showcase-magri", tricks=12, display="HA", values=(5, 0)) == "S9"


def test_the_display_card_is_worth_a_trick_without_value() -> None:
    """M6: an ace on display is taken with the card that wins, a two is left to the other."""
    assert first("D2 DJ S3", lead="D9", name="showcase-magri", tricks=6, display="HA") == "DJ"
    assert first("D2 DJ S3", lead="D9", name="showcase-magri", tricks=6, display="H2") == "D2"


# ---- balance, in plain words ----------------------------------------------------------------------------------------------------


def plain_balance(leads: int, other: int, trump: int, togo: int) -> int:
    """Return the balance by the meaning of the columns of HOLDING, card by card."""
    if togo == 0:
        return 0
    table = expert.HOLDING[int(leads.bit_count() + other.bit_count() > 2 * togo)].tolist()
    kind = {state.NO_TRUMP: 1, state.ALL_TRUMP: 2}.get(trump, 0)
    holdings = [[[rank for rank in range(13) if cards >> 16 * suit + rank & 1] for suit in range(4)] for cards in (leads, other)]
    total = table[kind][9]
    for suit in range(4):
        weights = table[3 if suit == trump else kind]
        suits = [holdings[side][suit] for side in (0, 1)]
        owners = [1 if rank in suits[0] else -1 for rank in sorted(suits[0] + suits[1], reverse=True)]
        for weight, owner in zip(weights[2:6], owners, strict=False):
            total += weight * owner
        for side, sign in ((0, 1), (1, -1)):
            length = min(len(suits[side]), togo)
            total += sign * weights[0] * length
            if not suits[side]:
                continue
            if suits[1 - side]:
                top = max(suits[1 - side])
                total += sign * weights[1] * sum(rank > top for rank in suits[side])
            else:
                ruffed = trump < state.NO_TRUMP and trump != suit and holdings[1 - side][trump]
                total += sign * (weights[6] + length * (weights[1] - weights[8] if ruffed else weights[1] + weights[7]))
    return int(total)


def test_the_balance_is_the_sum_of_what_its_weights_stand_for() -> None:
    """Holdings of all sizes, with voids and long runs, every trump, with and without cards to spare."""
    rng = random.Random(3)
    for _ in range(3000):
        cards = rng.sample(bits(0x1FFF1FFF1FFF1FFF), rng.randrange(53))
        lean = [rng.choice((0.5, 0.5, 0.1, 0.9, 0, 1)) for _ in range(4)]
        leads = sum(card for card in cards if rng.random() < lean[card.bit_length() // 16])
        other = sum(cards) - leads
        togo = rng.randrange(14)
        for trump in range(6):
            lane = LANES[SUITS[trump]] if trump < state.NO_TRUMP else np.uint64(0)
            found = balance(np.uint64(leads), np.uint64(other), lane, int(trump == state.ALL_TRUMP), togo)
            assert found == plain_balance(leads, other, trump, togo)


# ---- decisions, in plain words --------------------------------------------------------------------------------------------------


def plain_first(view: Any, rules: Any) -> int:
    """Return the card of the first playout with the highest score, of equal ones the lowest: every legal card is scored."""
    weights = expert.FIRST_WEIGHTS[int(rules.magri)].tolist()
    mean, lead, duck, shown, breaks, forces, spent = weights[14:21]
    me, magri = int(view.seat), rules.magri == 1
    legal, hand, show = int(view.legal), int(view.hand), [int(view.show[0]), int(view.show[1])]
    own, mine, his = hand | show[me], show[me], show[1 - me]

    def lane(card: int) -> int:
        return 0x1FFF << 16 * (card.bit_length() // 16)

    def worth(card: int) -> int:
        return int(weights[(card.bit_length() - 1) % 16] + weights[13] * max(0, (own & lane(card)).bit_count() - 3))

    broken = int(view.broken)
    whole = [int(view.owned[seat] & ~view.broken).bit_count() for seat in (me, 1 - me)]
    ahead = 2 * (int(view.value[me] - view.value[1 - me]) if magri else whole[0] - whole[1])
    if not magri and view.middle >= 0 and rules.second_lead == 0:
        ahead += 1 if (view.middle == me) == (rules.tie_namer == 0) else -1
    togo = 13 - int(view.tricks_played) if magri else int(view.reserve)
    price = int(expert.PRICES[int(rules.magri), togo, min(abs(ahead), 63)])
    take = -mean + (worth(1 << int(view.display)) if magri else -price)
    if (togo == 1) if magri or rules.second_lead == 1 else view.tricks_played == 12:
        take += lead
    led, suit = int(view.lead), int(view.suit)
    unseen = int(unseen_cards(view))
    face_down = int(view.reserve) - (1 if not magri and rules.turned_card == 1 else 0)
    stays = 256 * max(0, face_down) // max(unseen.bit_count(), 1)
    scores = []
    for card in bits(legal):
        value = worth(card)
        if magri:
            score = -(value * spent >> 8)
        else:
            counted = card & mine and not broken >> int(view.lies_in[card.bit_length() - 1]) & 1
            score = (shown if card & mine else 0) + (price * breaks >> 8 if counted else 0)
        if led:
            takes = card > led if card & suit else magri or bool(card & int(view.trump))
            if magri:
                score += take - price if not card & suit else take if takes else -take
            else:
                score += take + 2 * worth(led) if takes else -take - 2 * value
        else:
            better = lane(card) & -card
            safe = 256
            for _ in range((unseen & better).bit_count()):
                safe = safe * stays >> 8
            safe = 0 if his & better else safe
            wins = safe + ((256 - safe) * duck >> 8)
            score += price * forces >> 8 if magri == (not his & lane(card)) else 0
            score += (2 * wins - 256) * take >> 8 if magri else (wins * take - (256 - wins) * (take + 2 * value)) >> 8
        scores.append((score, -card))
    return -max(scores)[1]


def plain_trick(leads: int, other: int, trump: int, rank: bool, togo: int) -> tuple[int, int]:
    """Return lead and reply of one trick looked ahead: the balance of all that is left, after each lead and each reply."""
    lanes = [0x1FFF << 16 * suit for suit in range(4)]
    trumps = other & lanes[trump] if trump < state.NO_TRUMP else 0
    best = []
    for lane in lanes:
        mine, his = bits(leads & lane), bits(other & lane)
        winners = [card for card in mine if his and card > his[-1]]
        for lead in {*mine[:1], *winners[:1], *(mine[-1:] if his and not winners else [])}:
            answers = []
            legal = other & lane or trumps or other
            for suit in lanes:
                untried = {True, False}
                for reply in bits(legal & suit):
                    higher = (reply.bit_length() - 1) % 16 > (lead.bit_length() - 1) % 16
                    if reply & lane:
                        takes = reply > lead
                    else:
                        takes = bool(reply & trumps) or (trump == state.ALL_TRUMP and (higher or not rank))
                    if takes in untried:  # the lowest, and the lowest that takes
                        untried -= {takes, False}
                        left = leads ^ lead, other ^ reply
                        value = (
                            -1000 - plain_balance(*left[::-1], trump, togo) if takes else 1000 + plain_balance(*left, trump, togo)
                        )
                        answers.append((value, reply))
            value, reply = min(answers)
            best.append((value, -lead, reply))
    _, lead, reply = max(best)
    return -lead, reply


@pytest.mark.parametrize("name", STYLES)
def test_decisions_are_what_the_scores_in_plain_words_say(name: str) -> None:
    """Every combination of choices, positions out of random and of the expert's play, and random holdings."""
    rng = random.Random(6)
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    seen = 0
    for ruleset, _ in variants(name):
        rules = ruleset.record[0]
        for index in range(4):
            deal = Table(ruleset, index)
            while deal.next() == state.FIRST:
                legal = bits(deal.view.legal)
                chosen = int(decide(np.int64(EXPERT), np.int64(state.FIRST), deal.view, rules, stream))
                assert chosen == plain_first(deal.view, rules)
                deal.answer(state.FIRST, chosen if index % 2 else rng.choice(legal))
            leads, other = (int(hand) for hand in deal.table.hands)
            for togo in range(12, -1, -1):
                for trump in {rng.randrange(6), state.ALL_TRUMP, rng.randrange(4)}:
                    lane = LANES[SUITS[trump]] if trump < state.NO_TRUMP else np.uint64(0)
                    found = second_trick(
                        np.uint64(leads), np.uint64(other), lane, int(trump == state.ALL_TRUMP), rules.all_trump == 1, togo
                    )
                    assert tuple(map(int, found)) == plain_trick(leads, other, trump, rules.all_trump == 1, togo)
                    seen += 1
                leads, other = other ^ rng.choice(bits(other)), leads ^ rng.choice(bits(leads))
    assert seen > 2000


# ---- naming ---------------------------------------------------------------------------------------------------------------------


def named(mine: str, his: str, *, leads: bool = True) -> str:
    view = state.new_view()[0]
    view.hand, view.other = np.uint64(Hand.parse(mine).mask), np.uint64(Hand.parse(his).mask)
    view.seat, view.second_leader, view.legal = 0, 0 if leads else 1, np.uint64(63)
    return decision(state.TRUMP, view, load_ruleset("showcase"))


def test_names_by_both_holdings() -> None:
    """Length and masters of one holding against the other; renaming spades and hearts renames the trump."""
    assert named("AKQJ9.32.32.32", "T8.AKQ4.AKQ4.AK4") == "spades"
    mine, his = "T9876.J9875.32.2", "AKQJ.2.AKQ9.AKQ9"
    assert named(mine, his) == "hearts"
    assert named("J9875.T9876.32.2", "2.AKQJ.AKQ9.AKQ9") == "spades"


@pytest.mark.parametrize("name", STYLES)
def test_names_almost_the_best_trump(name: str) -> None:
    """Against exact values (greedy players' holdings): less than a quarter of a trick lost on average, almost never two."""
    lost = []
    for index in range(60):
        deal = Table(name, index, [[GREEDY, 99, GREEDY]] * 2)
        assert deal.next() == state.TRUMP
        hands = [int(hand) for hand in deal.table.hands]
        values = two.all_trumps(hands[0], hands[1], "NS"[int(deal.view.second_leader)])
        if deal.table.turn == 1:
            values = 13 - values
        lost.append(int(values.max() - values[TRUMPS.index(decision(state.TRUMP, deal.view, deal.ruleset))]))
    assert sum(lost) < 15
    assert sum(tricks > 1 for tricks in lost) <= 2


# ---- second playout -------------------------------------------------------------------------------------------------------------


def second(mine: str, his: str, trump: str = "no-trump", *, lead: str = "", togo: int = 0, **choices: str) -> str:
    """Return the card of the side to play; ``lead`` is on the table and no longer in ``his``."""
    ruleset = load_ruleset("showcase").with_choices(**choices)
    view = state.new_view()[0]
    view.hand, view.other = np.uint64(Hand.parse(mine).mask), np.uint64(Hand.parse(his).mask)
    number = TRUMPS.index(trump)
    view.trump = LANES[SUITS[number]] if number < state.NO_TRUMP else np.uint64(0)
    view.all_trump = int(number == state.ALL_TRUMP)
    view.tricks_played = 13 - (togo or int(view.hand).bit_count())
    if lead:
        view.on_table, view.lead, view.suit = 1, mask(lead), LANES[lead[0]]
    view.legal = legal_second(view, view.hand)
    return decision(state.SECOND, view, ruleset)


def test_takes_as_cheaply_as_possible() -> None:
    assert second("AQ2...32", "43...A", lead="SJ") == "SQ"
    assert second("432.2..", "A..K.5", "spades", lead="DA") == "S2", "ruffs low"


def test_cashes_a_master_before_the_lead_is_lost() -> None:
    """One trick to go: the master; two: the master first or last, never the loser that gives both away."""
    assert second("2.A..", "3.K..", togo=1) == "HA"
    assert second("2...A", "AK...", togo=1) == "CA"
    assert second("A2...", ".A2..", togo=2) in ("SA", "S2")


def test_draws_the_trump_before_the_side_suit() -> None:
    """Two diamonds would be ruffed: the ace of trumps first."""
    assert second("A..AK.", "2.32..", "spades") == "SA"


def test_a_card_to_spare_is_thrown_away_not_a_master() -> None:
    """S11: three cards, two tricks to go: on a lost trick goes the two, not a winner."""
    assert second("A.A.2.", "K.K..", lead="CA", togo=2, trump="no-trump") == "D2"


def test_all_trump_in_both_readings() -> None:
    """S13: by ruff any card off suit takes the trick; by rank only a higher one, and the cheapest of those is enough."""
    assert second(".2.K9.", "Q.A..", "all-trump", lead="S8", all_trump="ruff") == "H2"
    assert second(".2.K9.", "Q.A..", "all-trump", lead="S8", all_trump="rank") == "D9"


@pytest.mark.parametrize("side", [0, 1])
def test_loses_little_against_exact_play(side: int) -> None:
    """Thirteen tricks against a perfect opponent at the six trumps: a fraction of a trick a deal lost on average."""
    rules = load_ruleset("showcase-magri")
    lost = 0
    deals = simcore.deal_showcase(31, 0, 24)[0]
    for number, hands in enumerate(deals.tolist()):
        trump = number % 6
        exact = two.value(hands[0], hands[1], trump, "N")
        lost += abs(exact - playout(rules, hands, trump, side))
    assert lost < 0.9 * len(deals)


def playout(rules: Any, hands: list[int], trump: int, side: int) -> int:
    """Return N's tricks with N on lead, the expert in seat ``side`` and a perfect player in the other."""
    view = state.new_view()[0]
    held, leader, points = list(hands), 0, 0
    number = trump
    view.trump = LANES[SUITS[number]] if number < state.NO_TRUMP else np.uint64(0)
    view.all_trump = int(number == state.ALL_TRUMP)
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    for togo in range(13, 0, -1):
        led = 0
        for seat in (leader, 1 - leader):
            if seat == side:
                view.hand, view.other, view.tricks_played = np.uint64(held[seat]), np.uint64(held[1 - seat]), 13 - togo
                view.on_table, view.lead = int(led != 0), np.uint64(led)
                view.suit = LANES[SUITS[(led.bit_length() - 1) // 16]] if led else np.uint64(0)
                view.legal = legal_second(view, view.hand)
                card = int(decide(np.int64(EXPERT), np.int64(state.SECOND), view, rules.record[0], stream))
            else:
                table = led.bit_length() - 1 if led else None
                best = two.best_card(held[0], held[1], trump, "NS"[leader], togo, table=table)
                assert best is not None
                card = 1 << parse_card(best)
            held[seat] ^= card
            if not led:
                led = card
        cards = [format_card(one.bit_length() - 1) for one in (led, card)]
        if not naive.leader_wins(*cards, naive.TRUMPS[TRUMPS[trump]], "ruff"):
            leader = 1 - leader
        points += leader == 0
    return points


def test_prices_are_the_same_on_every_machine() -> None:
    """They are rounded from floats, whose last digits differ between machines: none may be near a half."""
    for row in expert.FIRST_WEIGHTS:
        togo, distance = np.arange(27)[:, None], np.arange(64)
        deviation = 2e-3 * row[expert._SPREAD] * np.sqrt(togo + 0.5)
        exact = 2 * row[expert._NAME] * np.exp(-0.5 * (distance / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
        assert (np.abs(exact % 1 - 0.5) > 1e-6).all()
        assert (
            expert.prices(int(row[expert._NAME]), int(row[expert._SPREAD])) == np.where(distance <= 4 * togo, np.rint(exact), 0)
        ).all()


# ---- with and without JIT -------------------------------------------------------------------------------------------------------

_SCRIPT = """
import json, simcore
print(json.dumps([simcore.replay("showcase", ruleset=ruleset, seed=12, deals=3, players="expert")
                  for ruleset in ("showcase", "showcase-magri")]))
"""


def test_the_same_with_and_without_jit() -> None:
    outputs = []
    for disable in ("0", "1"):
        env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": disable}
        done = subprocess.run([sys.executable, "-c", _SCRIPT], env=env, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000
