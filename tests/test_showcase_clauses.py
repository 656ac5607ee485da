"""Hand-worked positions for every clause of Showcase, each fails when its clause is broken; every choice under both values."""

from __future__ import annotations

import numpy as np
import pytest

import simcore
from simcore.cards import ALL_CARDS, cards_of, format_card, parse_card, parse_cards
from simcore.rules import TRUMPS, load_ruleset
from simcore.showcase import state
from simcore.showcase.engine import apply, other_holding, prepare
from simcore.showcase.play import legal_first, legal_second, second_takes, start_deal

# Thirteen cards a hand, so that each test need only know the few cards it names; spades and hearts split, diamonds D2 turned up.
NORTH = "SA SK SQ HA HK HQ C2 C3 C4 C5 D3 D4 D5"
SOUTH = "S2 S3 S4 S5 H2 H3 H4 CA CK CQ D6 D7 D8"


def mask(text: str) -> np.uint64:
    return np.uint64(parse_cards(text))


def words(cards: int) -> set[str]:
    return {format_card(card) for card in cards_of(int(cards))}


def said(text: str) -> set[str]:
    return set(text.split())


class Deal:
    """A deal on the table.  The reserve begins with the cards named and goes on with whatever is left."""

    def __init__(
        self,
        north: str = NORTH,
        south: str = SOUTH,
        turned: str = "D2",
        reserve: str = "",
        dealer: str = "S",
        ruleset: str = "showcase",
        **choices: str,
    ) -> None:
        self.ruleset = load_ruleset(ruleset).with_choices(**choices)
        self.rules = self.ruleset.record[0]
        self.table, self.view = state.new_table()[0], state.new_view()[0]
        hands = [parse_cards(north), parse_cards(south)]
        first = [parse_card(word) for word in [turned, *reserve.split()]]
        stock = first + [card for card in ALL_CARDS if card not in first and not (hands[0] | hands[1]) >> card & 1]
        assert len(set(stock)) == len(stock) == 26
        self.table.hands[:] = hands
        self.table.stock[:] = stock
        start_deal(self.rules, self.table, self.view, "NS".index(dealer))

    def legal(self) -> set[str]:
        prepare(self.rules, self.table, self.view)
        return words(self.view.legal)

    def play(self, text: str) -> Deal:
        for card in text.split():
            assert card in self.legal(), f"{self.turn} may not play {card}, only {self.legal()}"
            kind = state.FIRST if self.table.phase == state.PLAYOUT_1 else state.SECOND
            apply(self.rules, self.table, self.view, kind, mask(card))
        return self

    def last_trick(self, text: str) -> Deal:
        """Play a trick after which the reserve is empty."""
        self.view.reserve = 1
        self.play(text)
        assert self.table.phase == state.NAMING
        return self

    def name(self, trump: str) -> Deal:
        apply(self.rules, self.table, self.view, state.TRUMP, np.uint64(1 << TRUMPS.index(trump)))
        return self

    def until(self, phase: int) -> Deal:
        while self.table.phase != phase:
            self.play(min(self.legal(), key=parse_card))
        return self

    @property
    def turn(self) -> str:
        return "NS"[self.table.turn]

    def hand(self, seat: str) -> set[str]:
        return words(self.table.hands["NS".index(seat)])

    def show(self, seat: str) -> set[str]:
        return words(self.view.show["NS".index(seat)])

    @property
    def counts(self) -> list[int]:
        return [int(count) for count in self.view.count]

    @property
    def namer(self) -> str:
        return "NS"[self.view.namer]


def magri(**choices: str) -> Deal:
    return Deal(ruleset="showcase-magri", **choices)


def follow(rules: object, hand: str, show: str, led: str, trump: str) -> set[str]:
    """Return what may follow a card led out of a hand and a showcase; ``trump`` is a card of the suit, or empty."""
    view = state.new_view()[0]
    view.on_table = 1
    view.suit = np.uint64(0x1FFF << (parse_card(led) & 48))
    view.trump = np.uint64(0x1FFF << (parse_card(trump) & 48) if trump else 0)
    return words(legal_first(rules, view, mask(hand), mask(show)))


# ---- the text as written --------------------------------------------------------------------------------------------------------


def test_s1_the_dealer_is_a_function_of_seed_and_index_or_as_asked() -> None:
    dealers = [trace["dealer"] for trace in simcore.replay("showcase", seed=3, deals=400)]
    assert 120 < dealers.count("N") < 280, "by lot: outside with probability below 1e-14"
    assert dealers == [trace["dealer"] for trace in simcore.replay("showcase", seed=3, deals=400, players="greedy", trump="hearts")]
    assert dealers[150:160] == [trace["dealer"] for trace in simcore.replay("showcase", seed=3, first=150, deals=10)]
    for asked in "NS":
        traces = simcore.replay("showcase", seed=3, deals=20, dealer=asked)
        assert {trace["dealer"] for trace in traces} == {asked}
    plain = simcore.replay("showcase", seed=3, deals=20)
    assert [trace["hands"] for trace in plain] == [trace["hands"] for trace in traces], "asking for a dealer changes no card"


def test_s2_thirteen_each_and_the_suit_of_the_turned_card_is_trump() -> None:
    for trace in simcore.replay("showcase", seed=3, deals=50):
        hands = [words(simcore.Hand.parse(trace["hands"][seat]).mask) for seat in "NS"]
        assert [len(hand) for hand in hands] == [13, 13]
        assert len(trace["reserve"]) == 25
        assert len(hands[0] | hands[1] | {trace["turned"]} | set(trace["reserve"])) == 52
    for card, trump in (("C6", 0), ("D2", 1), ("H5", 2), ("S6", 3)):
        assert int(Deal(turned=card).view.trump) == 0x1FFF << 16 * trump


def test_s2_turned_card_out() -> None:
    deal = Deal(turned_card="out").until(state.NAMING)
    assert "D2" not in deal.hand("N") | deal.hand("S")
    assert len(deal.hand("N") | deal.hand("S")) == 51
    assert deal.view.turned_to == -1


def test_s2_turned_card_last_is_drawn_by_the_last_loser() -> None:
    deal = Deal(turned_card="last").until(state.NAMING)
    loser = 1 - int(deal.view.winners[0, 25])
    assert "D2" in deal.hand("NS"[loser])
    assert len(deal.hand("N") | deal.hand("S")) == 52
    assert deal.view.turned_to == loser
    trace = simcore.replay("showcase", seed=2, ruleset=deal.ruleset)[0]
    assert trace["first"][25]["drawn"] == trace["turned"]
    assert trace["turned"] not in [trick["drawn"] for trick in trace["first"][:25]]


def test_s3_the_elder_leads_first_and_then_the_winner() -> None:
    assert Deal(dealer="N").turn == "S"
    assert Deal(dealer="S").turn == "N"
    assert Deal().play("SA S2").turn == "N", "the leader wins"
    assert Deal().play("C2 CA").turn == "S", "the follower wins"
    assert Deal().play("C2 CA CK C3").turn == "S"


def test_s3_the_showcase_leads_only_from_an_empty_hand() -> None:
    deal = Deal().play("SA S2")
    assert deal.show("N") == {"SA", "S2"}
    assert deal.legal() == deal.hand("N")
    deal.table.hands[0] = mask("H5")
    assert deal.legal() == {"H5"}, "one card in hand: it leads"
    deal.table.hands[0] = np.uint64(0)
    assert deal.legal() == {"SA", "S2"}, "none: any card of the showcase"


# Spades are trump and hearts led: hand, showcase, what may follow under "must", under "may".
S4 = [
    ("H2 H3 C4 S5", "", "H2 H3", "H2 H3"),
    ("H2 C4 S5", "H9 D9", "H2 H9", "H2 H9"),  # from both
    ("C4 D5 S5", "H9 D9", "H9", "H9 S5"),  # only in the showcase: obliges under "must"
    ("C4 D5", "H9 D9", "H9", "H9 C4 D5"),
    ("C4 S5 S6", "D9", "S5 S6", "S5 S6"),  # a trump from the hand
    ("C4 D5", "SA D9", "C4 D5", "C4 D5"),  # a trump only in the showcase: no duty, and it may not be played
    ("S5 C4", "SA", "S5", "S5"),  # nor beside a trump in hand
    ("C4", "", "C4", "C4"),
]


@pytest.mark.parametrize(("hand", "show", "must", "may"), S4)
def test_s4_following(hand: str, show: str, must: str, may: str) -> None:
    for choice, wanted in (("must", must), ("may", may)):
        rules = load_ruleset("showcase").with_choices(showcase_follow=choice).record[0]
        assert follow(rules, hand, show, "HK", "S2") == said(wanted), choice


def test_s4_when_trumps_are_led_trumps_of_the_showcase_follow() -> None:
    rules = load_ruleset("showcase").record[0]
    assert follow(rules, "C4 D5", "S9", "SK", "S2") == {"S9"}
    assert follow(rules, "C4 S5", "S9", "SK", "S2") == {"S5", "S9"}


@pytest.mark.parametrize(
    ("turned", "south", "trick", "winner"),
    [
        ("D2", "S2", "SQ S2", "N"),
        ("D2", "CA", "C5 CA", "S"),
        ("S6", "S2", "D5 S2", "S"),  # the two of trumps takes a five
        ("H5", "CA", "S9 CA", "N"),  # an off-suit ace takes nothing
        ("D2", "D6", "D5 D6", "S"),  # trump upon trump: the higher
        ("D2", "D3", "D5 D3", "N"),
    ],
)
def test_s5_higher_of_the_suit_led_or_a_trump(turned: str, south: str, trick: str, winner: str) -> None:
    deal = Deal(turned=turned)
    lead = trick.split()[0]
    deal.table.hands[:] = mask(lead), mask(south)
    assert deal.play(trick).turn == winner


def test_s6_both_cards_to_the_winners_showcase_and_a_card_to_the_loser() -> None:
    deal = Deal(reserve="H9 H8").play("SA S2")
    assert (deal.show("N"), deal.show("S")) == ({"SA", "S2"}, set())
    assert deal.hand("S") == (said(SOUTH) - {"S2"}) | {"H9"}
    assert deal.hand("N") == said(NORTH) - {"SA"}
    deal.play("C2 CA")
    assert (deal.show("N"), deal.show("S")) == ({"SA", "S2"}, {"C2", "CA"})
    assert deal.hand("N") == (said(NORTH) - {"SA", "C2"}) | {"H8"}, "the leader lost: he draws"
    assert deal.view.reserve == 23


@pytest.mark.parametrize(("choice", "tricks"), [("out", 25), ("last", 26)])
def test_s7_stops_when_the_reserve_is_empty(choice: str, tricks: int) -> None:
    deal = Deal(turned_card=choice)
    assert deal.view.reserve == tricks
    for number in range(1, tricks + 1):
        assert deal.table.phase == state.PLAYOUT_1
        deal.play(min(deal.legal(), key=parse_card)).play(min(deal.legal(), key=parse_card))
        assert deal.view.reserve == tricks - number
    assert deal.table.phase == state.NAMING


# N takes SA S3, S takes C2 CA; then S leads S4 and N follows with S3 out of his showcase and loses it.
BROKEN_BY_ONE = "SA S3 C2 CA S4 S3"


def test_s8_whole_tricks_count() -> None:
    assert Deal().play("SA S3").last_trick("SK S2").counts == [2, 0]
    assert Deal().play("SA S3").last_trick("C2 CA").counts == [1, 1]


def test_s8_a_trick_broken_by_one_card_does_not_count_and_the_other_stays_playable() -> None:
    deal = Deal().play(BROKEN_BY_ONE[:-6]).last_trick("S4 S3")
    assert deal.counts == [0, 2]
    assert deal.show("N") == {"SA"}
    deal = Deal().play(BROKEN_BY_ONE).play("S5")
    assert deal.legal() == {"SK", "SQ", "SA"}, "SA, left over from the broken trick, still follows"


def test_s8_a_trick_broken_by_both_cards() -> None:
    deal = Deal().play(BROKEN_BY_ONE).last_trick("S5 SA")
    assert deal.counts == [1, 2], "the second card of the broken trick wins a new one, which counts"
    assert deal.show("N") == {"S5", "SA"}


def test_s8_a_broken_trick_stays_broken_when_its_card_comes_back() -> None:
    """N wins SA S3, plays SA out of it and takes it back in a new trick: one whole trick, not two."""
    deal = Deal().play("SA S3 C2 CA").last_trick("S4 SA")
    assert deal.counts == [1, 1]
    assert deal.show("N") == {"SA", "S3", "S4"}


def test_s9_the_smaller_count_names_one_of_six() -> None:
    for choice in ("non-leader", "leader"):
        deal = Deal(tie_namer=choice, second_lead="last-trick").last_trick("SA S2")
        assert deal.counts == [1, 0]
        assert (deal.namer, deal.turn) == ("S", "S")
        deal = Deal(tie_namer=choice, second_lead="last-trick").last_trick("C2 CA")
        assert deal.namer == "N"
    assert prepare(deal.rules, deal.table, deal.view) == state.TRUMP
    assert int(deal.view.legal) == 0b111111
    assert TRUMPS == ("clubs", "diamonds", "hearts", "spades", "no-trump", "all-trump")


@pytest.mark.parametrize(("choice", "namers"), [("non-leader", "NS"), ("leader", "SN")])
def test_s9_equal_counts(choice: str, namers: str) -> None:
    deals = [
        Deal(tie_namer=choice, second_lead="last-trick").play("SA S2").last_trick("C2 CA"),  # S leads
        Deal(tie_namer=choice, second_lead="last-trick").play("C2 CA").last_trick("S3 SA"),  # N leads
    ]
    assert [deal.counts for deal in deals] == [[1, 1], [1, 1]]
    assert [deal.namer for deal in deals] == list(namers)


@pytest.mark.parametrize("choice", ["trick-13", "last-trick"])
def test_s10_who_leads_the_second_playout(choice: str) -> None:
    """N takes twelve tricks, S the thirteenth, N the last: the choice decides, neither the 12th nor the 14th does."""
    deal = Deal(second_lead=choice)
    for number in range(12):
        deal.table.hands[:] = mask("SA"), mask("S2")
        deal.view.show[:] = 0
        deal.play("SA S2")
        assert deal.view.tricks_played == number + 1
    deal.view.show[:] = 0
    deal.table.hands[:] = mask("C2 SA"), mask("CA S2")
    deal.play("C2 CA")
    deal.table.hands[:] = mask("SA"), mask("S2 S3")
    deal.play("S2 SA")
    deal.view.show[:] = 0
    deal.table.hands[:] = mask("SK"), mask("S3")
    deal.last_trick("SK S3").name("hearts")
    assert deal.turn == ("S" if choice == "trick-13" else "N")


def test_s10_then_the_winner_of_a_trick_leads() -> None:
    deal = second("SA C2 H5", "S2 CA H6", "no-trump")
    assert deal.play("SA S2").turn == "N"
    assert deal.play("C2 CA").turn == "S"
    assert deal.play("H6 H5").turn == "S"


def second(north: str, south: str, trump: str, **choices: str) -> Deal:
    """Put two holdings on the table, N to lead the second playout."""
    deal = Deal(**choices).until(state.NAMING)
    deal.table.hands[:] = mask(north), mask(south)
    deal.view.second_leader = 0
    return deal.name(trump)


def test_s11_hand_and_showcase_are_one_holding_of_13_plus_w() -> None:
    deal = Deal().play("SA S2").last_trick("SK S3")
    assert deal.hand("N") == said(NORTH) | {"S2", "S3"}, "the hand he had with both tricks he won"
    deal = Deal().until(state.NAMING)
    for place, seat in enumerate("NS"):
        assert len(deal.hand(seat)) == 13 + int(deal.view.won[place])
        assert deal.show(seat) < deal.hand(seat)
    other = "S" if deal.turn == "N" else "N"
    assert words(other_holding(deal.rules, deal.view, deal.table.hands["NS".index(deal.turn)])) == deal.hand(other)
    deal.name("hearts")
    assert deal.legal() == deal.hand(deal.turn), "any card of it may be led"
    held = {seat: len(deal.hand(seat)) for seat in "NS"}
    deal.until(state.DONE)
    assert {seat: len(deal.hand(seat)) + 13 for seat in "NS"} == held, "nothing is drawn, cards left over are not used"


@pytest.mark.parametrize(
    ("holding", "trump", "legal"),
    [
        ("S2 S9 H3 C4", "hearts", "S2 S9"),  # follow
        ("H3 H4 C4", "hearts", "H3 H4"),  # else trump
        ("H3 C4 D5", "spades", "H3 C4 D5"),  # else anything
        ("H3 C4 D5", "no-trump", "H3 C4 D5"),
        ("H3 C4 D5", "all-trump", "H3 C4 D5"),
        ("S2 H3", "all-trump", "S2"),
    ],
)
def test_s12_follow_else_trump_else_any_card(holding: str, trump: str, legal: str) -> None:
    deal = second("SK", holding, trump).play("SK")
    assert deal.legal() == said(legal)
    assert words(legal_second(deal.view, mask(holding))) == said(legal)


@pytest.mark.parametrize(
    ("trump", "lead", "reply", "ruff", "rank"),
    [
        ("hearts", "SK", "SA", True, True),
        ("hearts", "SK", "SQ", False, False),
        ("hearts", "SA", "H2", True, True),  # a trump
        ("hearts", "SA", "CA", False, False),
        ("hearts", "H2", "SA", False, False),
        ("no-trump", "S2", "CA", False, False),  # an off-suit card never wins
        ("no-trump", "S2", "S3", True, True),
        ("all-trump", "SK", "SQ", False, False),  # following: the higher card
        ("all-trump", "SK", "SA", True, True),
        ("all-trump", "SA", "C2", True, False),  # off suit: always, or the higher rank
        ("all-trump", "S2", "CA", True, True),
        ("all-trump", "CK", "SK", True, False),  # equal ranks to the leader, whichever suit is higher
        ("all-trump", "SK", "CK", True, False),
    ],
)
def test_s13_winner_with_all_trump_in_both_readings(trump: str, lead: str, reply: str, ruff: bool, rank: bool) -> None:
    for choice, takes in (("ruff", ruff), ("rank", rank)):
        deal = second(lead, reply, trump, all_trump=choice).play(lead)
        assert bool(second_takes(deal.rules, deal.view, mask(reply))) == takes
        assert deal.play(reply).turn == ("S" if takes else "N")
        assert deal.view.points.tolist() == [int(not takes), int(takes)]


def test_s14_thirteen_tricks_a_point_each_more_points_win() -> None:
    """N has thirteen winners in a row, or S has; no other number of tricks ends the deal."""
    spades, clubs = "SA SK SQ SJ ST S9 S8 S7 S6 S5 S4 S3 S2", "CA CK CQ CJ CT C9 C8 C7 C6 C5 C4 C3 C2"
    for trump, points in (("spades", [13, 0]), ("clubs", [0, 13])):
        deal = second(spades, clubs, trump)
        for number in range(13):
            assert deal.table.phase == state.PLAYOUT_2
            assert int(deal.view.points.sum()) == number
            deal.play(max(deal.legal(), key=parse_card)).play(max(deal.legal(), key=parse_card))
        assert deal.table.phase == state.DONE
        assert deal.view.points.tolist() == points
    for trace in simcore.replay("showcase", seed=8, deals=60):
        won = [trick["winner"] for trick in trace["second"]]
        assert len(won) == 13
        assert trace["points"] == {seat: won.count(seat) for seat in "NS"}
        assert trace["winner"] == max("NS", key=won.count)


# ---- the author's first playout -------------------------------------------------------------------------------------------------


def test_m2_no_trump_and_a_display_card() -> None:
    deal = magri()
    assert int(deal.view.trump) == 0
    assert format_card(int(deal.view.display)) == "D2"
    rules = deal.rules
    assert follow(rules, "C4 D5 S9", "", "HK", "") == {"C4", "D5", "S9"}, "the suit of the display card obliges nobody"


def test_m3_a_leader_leads_from_hand_or_showcase() -> None:
    deal = magri().play("SA S2")
    assert deal.show("N") == {"D2"}
    assert deal.legal() == deal.hand("N") | {"D2"}
    deal.play("D2")
    assert deal.show("N") == set()


# Hearts led: hand, showcase, what may follow with follow_from "showcase", with "hand-and-showcase".
M4 = [
    ("H2 C4 S5", "H9 D9", "H2 H9", "H2 H9"),  # the showcase holds the suit: from showcase or hand
    ("C4 S5", "H9 D9", "H9", "H9"),
    ("H2 H3 C4", "D9", "H2 H3 C4", "H2 H3"),  # only the hidden hand does
    ("C4 S5", "D9", "C4 S5", "C4 S5"),  # off suit: a card of the hand, never of the showcase
    ("C4", "", "C4", "C4"),
]


@pytest.mark.parametrize(("hand", "show", "showcase", "both"), M4)
def test_m4_following(hand: str, show: str, showcase: str, both: str) -> None:
    for choice, wanted in (("showcase", showcase), ("hand-and-showcase", both)):
        rules = load_ruleset("showcase-magri").with_choices(follow_from=choice).record[0]
        assert follow(rules, hand, show, "HK", "") == said(wanted), choice


@pytest.mark.parametrize(
    ("trick", "winner", "value"),
    [
        ("SK S2", "N", [0, 0]),  # followed: the higher card, no value
        ("C2 CA", "S", [0, 0]),
        ("SA C2", "S", [0, 1]),  # not followed: the follower, a value trick
        ("SA D6", "S", [0, 1]),
        ("C2 SA", "S", [0, 1]),
    ],
)
def test_m5_value_tricks(trick: str, winner: str, value: list[int]) -> None:
    lead, reply = trick.split()
    deal = magri()
    deal.table.hands[:] = mask(lead), mask(reply)
    assert deal.play(trick).turn == winner
    assert deal.view.value.tolist() == value


def test_m6_discards_display_card_draw_next_display_card() -> None:
    deal = Deal(ruleset="showcase-magri", reserve="H9 H8 C9 C8").play("SA S2")
    assert words(deal.view.discards) == {"SA", "S2"}
    assert (deal.show("N"), deal.show("S")) == ({"D2"}, set()), "the winner takes the display card"
    assert deal.hand("S") == (said(SOUTH) - {"S2"}) | {"H9"}, "the loser draws"
    assert format_card(int(deal.view.display)) == "H8", "the card after it is displayed"
    deal.play("C2 CA")
    assert deal.show("S") == {"H8"}
    assert "C9" in deal.hand("N")
    assert words(deal.view.discards) == {"SA", "S2", "C2", "CA"}
    deal = magri()
    for _ in range(12):
        deal.play(min(deal.legal(), key=parse_card)).play(min(deal.legal(), key=parse_card))
    assert deal.table.phase == state.PLAYOUT_1
    assert deal.view.reserve == 1
    assert deal.view.display >= 0
    deal.play(min(deal.legal(), key=parse_card)).play(min(deal.legal(), key=parse_card))
    assert deal.table.phase == state.NAMING
    assert deal.view.display == -1, "the last trick turns no card up"
    assert words(deal.view.discards | deal.table.hands[0] | deal.table.hands[1]) == {format_card(card) for card in ALL_CARDS}


def test_m8_the_count_is_the_number_of_value_tricks_won() -> None:
    deal = magri().play("SA CQ")  # S does not follow: a value trick
    assert deal.turn == "S"
    deal.last_trick("CA C2")
    assert deal.counts == [0, 1]
    assert deal.namer == "N"
    deal = magri().last_trick("SA S2")
    assert deal.counts == [0, 0], "a trick won by following counts nothing"


def test_m11_thirteen_cards_each_all_played() -> None:
    deal = magri().until(state.NAMING)
    assert [len(deal.hand(seat)) for seat in "NS"] == [13, 13]
    assert deal.view.second_leader == deal.view.winners[0, 12], "trick 13 is the last trick"
    deal.name("spades").until(state.DONE)
    assert [len(deal.hand(seat)) for seat in "NS"] == [0, 0]
    last = magri(second_lead="last-trick").ruleset
    for usual, other in zip(
        simcore.replay("showcase", ruleset="showcase-magri", seed=6, deals=40),
        simcore.replay("showcase", ruleset=last, seed=6, deals=40),
        strict=True,
    ):
        assert usual == other, "in this style both settings of second_lead name the same trick"
