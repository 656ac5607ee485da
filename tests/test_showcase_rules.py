"""Hand-worked examples for every clause of Showcase, in both styles."""

from __future__ import annotations

import pytest
from tables import Showcase

import simcore

# N and S hold these unless a test needs others; the reserve's first card is turned up.
NORTH = "AKQ.AKQ.AKQJ.AKQ"
SOUTH = "432.432.5432.432"


def small(turned: str = "S5", reserve: str = "", **options) -> Showcase:
    return Showcase(NORTH, SOUTH, turned, reserve, **options)


def test_s1_dealer_by_lot_or_as_asked() -> None:
    dealers = [trace["dealer"] for trace in simcore.replay("showcase", seed=1, deals=60)]
    assert {dealers.count("N"), dealers.count("S")} != {60, 0}
    assert dealers == [trace["dealer"] for trace in simcore.replay("showcase", seed=1, deals=60, players="greedy")]
    assert {trace["dealer"] for trace in simcore.replay("showcase", seed=1, deals=60, dealer="S")} == {"S"}


def test_s2_deal_and_turned_card() -> None:
    trace = simcore.replay("showcase", seed=5)[0]
    pack = [*simcore.Hand.parse(trace["hands"]["N"]), *simcore.Hand.parse(trace["hands"]["S"]), trace["turned"], *trace["reserve"]]
    assert len(set(pack)) == len(pack) == 52
    # its suit is trump: S leads a heart, N is ... a trump of the turned card's suit takes a trick
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "S5", dealer="N").play("H6")
    assert game.play("SQ").turn == "N"
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "H7", dealer="N").play("H6")
    assert game.play("SQ").turn == "S", "hearts are trump: nothing beats them but a heart"


@pytest.mark.parametrize(("choice", "tricks", "cards"), [("out", 25, 51), ("last", 26, 52)])
def test_s2_turned_card_out_or_last(choice: str, tricks: int, cards: int) -> None:
    game = small(turned_card=choice).play_out("naming")
    assert int(sum(game.view.won)) == tricks  # S7
    holdings = game.hand("N") | game.hand("S")
    assert len(holdings) == cards
    assert ("S5" in holdings) == (choice == "last")
    trace = simcore.replay("showcase", seed=2, ruleset=game.ruleset)[0]
    assert len(trace["first"]) == tricks
    if choice == "last":
        assert trace["first"][-1]["drawn"] == trace["turned"]


def test_s3_the_elder_leads_then_the_winner() -> None:
    assert small(dealer="N").turn == "S"
    game = small(dealer="S")
    assert game.turn == "N"
    assert game.play("SA S2").turn == "N"
    assert game.play("SK S3").turn == "N"
    assert small(dealer="N").play("H2 HA").turn == "N"


def test_s3_a_showcase_card_never_leads_while_the_hand_has_cards() -> None:
    game = small(dealer="S").play("SA S2")
    assert game.show("N") == {"SA", "S2"}
    assert game.legal() == game.hand("N")
    assert not game.legal() & game.show("N")


def test_s3_with_an_empty_hand_the_showcase_leads() -> None:
    """N wins thirteen tricks in a row, never draws, and has only his showcase left to lead."""
    game = small(dealer="S", reserve="H5 D6 C5 H6 D7 C6 H7 D8 C7 H8 D9 C8 H9")
    for card in ["SA", "SK", "SQ", "HA", "HK", "HQ", "DA", "DK", "DQ", "DJ", "CA", "CK", "CQ"]:
        assert game.turn == "N"
        game.play(card)
        game.play(min(game.legal()))
    assert game.turn == "N"
    assert game.hand("N") == set()
    assert game.legal() == game.show("N")
    assert len(game.legal()) == 26


def test_s4_follow_from_hand_or_showcase() -> None:
    """N has taken a spade trick; S leads a spade later: N may follow from hand and from the showcase, nothing else."""
    game = Showcase("KQ2.AKQ.AKQJ.AKQ", "A43.432.5432.432", "D9", dealer="S").play("SK SA")
    assert game.turn == "S"
    game = Showcase("KQ2.AKQ.AKQJ.AKQ", "J43.432.5432.432", "D9", reserve="SA", dealer="S").play("SK S3")  # S draws SA
    assert game.show("N") == {"SK", "S3"}
    game.play("HQ H2 CQ C2")
    game = Showcase("KQ2.KQ2.AKQJ.AKQ", "J43.A43.5432.432", "D9", reserve="S5", dealer="S").play("SK S3 H2 HA")
    assert game.turn == "S"
    assert game.play("S4").legal() == {"SQ", "S2", "SK", "S3"}


def test_s4_no_card_of_the_suit_a_trump_from_the_hand_else_anything() -> None:
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "S5", dealer="N").play("H6")
    assert game.legal() == {"SA", "SK", "SQ"}
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "H7", dealer="N").play("H6")
    assert game.legal() == game.hand("N")


def test_s4_a_trump_only_in_the_showcase_is_no_duty_and_never_played_off_suit() -> None:
    """N's only trumps lie in his showcase; on a suit he has not he plays any card of his hand, and no showcase card."""
    game = Showcase("A..AKQJT9.AKQJT9", "432.65432.5432.5", "S5", reserve="H8 H9 HT D6", dealer="S").play("SA S2")
    game.play("CT C5")  # N leads on; S draws hearts
    game.play("DA D2")
    assert {"SA", "S2"} <= game.show("N")
    game.play("C9")
    assert game.legal() == {"S4", "S3"}
    game.play("S3")  # S must trump; N draws D6
    assert game.turn == "S"
    game.play("H6")
    assert game.legal() == game.hand("N")
    assert not game.legal() & game.show("N")


def test_s4_showcase_follow_may() -> None:
    """With no card of the suit in hand the showcase does not oblige; with one it does, from both."""
    deal = ("A..AKQJT9.AKQJT9", "K32.65432.5432.5", "H7")
    for choice, legal in (("must", {"SA", "S2"}), ("may", None)):
        game = Showcase(*deal, reserve="C2 C3", dealer="S", showcase_follow=choice).play("SA S2 CT C5")  # S draws C2, C3
        game.play("C9")
        game.play(min(game.legal()))
        while game.turn != "S":
            game.play(min(game.legal()))
            game.play(max(game.legal(), key=lambda card: "23456789TJQKA".index(card[1])))
        if "SK" not in game.hand("S"):
            pytest.fail("S was to keep the king of spades")
        shown = {card for card in game.show("N") if card[0] == "S"}
        held = {card for card in game.hand("N") if card[0] == "S"}
        assert shown == {"SA", "S2"}
        game.play("SK")
        trumps = {card for card in game.hand("N") if card[0] == "H"}
        if held:
            assert game.legal() == held | shown
        elif legal:
            assert game.legal() == legal
        else:
            assert game.legal() == shown | (trumps or game.hand("N"))


def test_s5_higher_card_of_the_suit_or_a_trump() -> None:
    assert small(dealer="N").play("H2 HA").turn == "N"
    assert small(dealer="S").play("HQ H4").turn == "N"
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "S5", dealer="N").play("H6 SQ")
    assert game.turn == "N"
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "H7", dealer="N").play("H6 DA")
    assert game.turn == "S", "an off-suit ace takes nothing"


def test_s6_the_winner_shows_both_cards_the_loser_draws() -> None:
    game = small(dealer="S", reserve="H9 H8").play("SA S2")
    assert game.show("N") == {"SA", "S2"}
    assert game.show("S") == set()
    assert "H9" in game.hand("S")
    assert len(game.hand("S")) == 13
    assert len(game.hand("N")) == 12
    game.play("SK S3")
    assert "H8" in game.hand("S")


def test_s7_stops_when_the_reserve_is_empty() -> None:
    game = small().play_out("naming")
    assert game.view.reserve == 0
    assert len(simcore.replay("showcase", seed=3)[0]["first"]) == 25


def test_s8_a_trick_broken_by_one_card_and_by_both() -> None:
    """N shows three tricks; a card played from one breaks it, its other card stays and stays playable."""
    game = Showcase("KQ2.KQ2.AKQJ.AKQ", "J43.A43.5432.432", "D9", reserve="S5 S6", dealer="S").play("SK S3 SQ S4 H2 HA")
    assert game.count("N") == 2
    assert game.count("S") == 1
    game.play("S5 SK")  # S leads a spade, N takes it with SK out of his first trick
    assert game.show("N") == {"S3", "SQ", "S4", "S5", "SK"}
    assert game.count("N") == 2, "one whole old trick, one broken, one new"
    game.play("C2") if game.turn == "S" else game.play("HK H3")
    assert game.turn == "N"
    game.play("CA C2 HQ H4" if "HQ" in game.hand("N") else "CA C2")
    before = game.count("N")
    # S must get the lead to make N follow once more from the broken trick
    game.play("DJ D2")
    assert game.count("N") == before + 1


def test_s8_both_cards_of_a_trick_played() -> None:
    game = Showcase("KQ2.KQ2.AKQJ.AKQ", "J43.A43.5432.432", "D9", reserve="S5 S6", dealer="S").play("SK S3 H2 HA")
    game.play("S5 S3") if "S5" in game.hand("S") else None  # N follows with the low card of his trick: S5 takes it
    assert game.turn == "S"
    assert game.count("N") == 0
    assert game.show("N") == {"SK"}
    game.play("SJ SK")  # and with the other: it wins and is a new trick
    assert game.count("N") == 1
    assert game.show("N") == {"SK", "SJ"}
    assert game.count("S") == 2


def test_s9_the_smaller_count_names() -> None:
    for trace in simcore.replay("showcase", seed=4, deals=300):
        counts = trace["counts"]
        if counts["N"] != counts["S"]:
            assert trace["namer"] == min(counts, key=counts.get)
        else:
            assert trace["namer"] != trace["second"][0]["leader"]


def test_s9_equal_counts() -> None:
    ties = 0
    leader_names = small(tie_namer="leader").ruleset
    for trace in simcore.replay("showcase", seed=4, deals=300, ruleset=leader_names):
        if trace["counts"]["N"] == trace["counts"]["S"]:
            ties += 1
            assert trace["namer"] == trace["second"][0]["leader"]
    assert ties > 5
    game = small().play_out("naming")
    assert game.legal() == {"clubs", "diamonds", "hearts", "spades", "no-trump", "all-trump"}


def test_s10_who_leads_the_second_playout() -> None:
    different = 0
    last = small(second_lead="last-trick").ruleset
    for first, other in zip(
        simcore.replay("showcase", seed=6, deals=100), simcore.replay("showcase", seed=6, deals=100, ruleset=last), strict=True
    ):
        assert first["second"][0]["leader"] == first["first"][12]["winner"]
        assert other["second"][0]["leader"] == other["first"][24]["winner"]
        different += first["first"][12]["winner"] != first["first"][24]["winner"]
    assert different > 10
    for trace in simcore.replay("showcase", seed=6, deals=20):
        for before, after in zip(trace["second"], trace["second"][1:], strict=False):
            assert after["leader"] == before["winner"]


def test_s11_hand_and_showcase_are_one_holding_of_13_plus_w() -> None:
    game = small().play_out("naming")
    for i, seat in enumerate("NS"):
        assert len(game.hand(seat)) == 13 + int(game.view.won[i])
        assert game.show(seat) <= game.hand(seat)
    game.name("no-trump")
    assert game.legal() == game.hand(game.turn), "any card of the holding may be led"
    game.play_out("done")
    assert len(game.hand("N")) == int(game.view.won[0]), "cards left over are not used"


def _second(north: str, south: str, trump: str, leader: str = "N", **choices) -> Showcase:
    """Put two holdings on the table at the start of a second playout."""
    from simcore.cards import parse_hand

    game = small(**choices).play_out("naming")
    game.table.hands[:] = [parse_hand(north), parse_hand(south)]
    game.view.second_leader = "NS".index(leader)
    return game.name(trump)


HOLD_N = "AKQJT9.AKQJ.432."
HOLD_S = "..AKQJT9.AKQJT98"


def test_s12_follow_else_trump_else_anything() -> None:
    game = _second("AKQJT9.AKQJ.432.", "87.65.AKQJT9.AKQ", "hearts").play("SA")
    assert game.legal() == {"S8", "S7"}
    game = _second("AKQJT9.AKQJ.432.", ".65.AKQJT9.AKQJT", "hearts").play("SA")
    assert game.legal() == {"H6", "H5"}, "he must trump"
    game = _second(HOLD_N, HOLD_S, "hearts").play("SA")
    assert game.legal() == game.hand("S")
    game = _second("AKQJT9.AKQJ.432.", ".65.AKQJT9.AKQJT", "no-trump").play("SA")
    assert game.legal() == game.hand("S")


def test_s13_winner() -> None:
    assert _second("AKQJT9.AKQJ.432.", ".65.AKQJT9.AKQJT", "hearts").play("SA H5").turn == "S"
    assert _second("AKQJT9.AKQJ.432.", "87.65.AKQJT9.AKQ", "hearts").play("S9 S8").turn == "N"
    assert _second(HOLD_N, HOLD_S, "no-trump").play("S9 CA").turn == "N", "with no trump an off-suit card never wins"
    assert _second("432.AKQJ.A32.AKQ", "87.65.KQJT9.JT98", "no-trump").play("S4 S7").turn == "S"


def test_s13_all_trump_in_both_readings() -> None:
    for choice, winner in (("ruff", "S"), ("rank", "N")):
        assert _second(HOLD_N, HOLD_S, "all-trump", all_trump=choice).play("SA C8").turn == winner
        assert _second(HOLD_N, HOLD_S, "all-trump", all_trump=choice).play("S9 CT").turn == "S", "the higher rank"
    assert _second(HOLD_N, HOLD_S, "all-trump", all_trump="rank").play("ST CT").turn == "N", "equal ranks to the leader"
    assert _second("432.AKQJ.A32.AKQ", "87.65.KQJT9.JT98", "all-trump").play("S4 S7").turn == "S"
    game = _second("432.AKQJ.A32.AKQ", "87.65.KQJT9.JT98", "all-trump").play("S4")
    assert game.legal() == {"S8", "S7"}, "he must follow suit with all trump too"


def test_s14_thirteen_tricks_one_point_each() -> None:
    for trace in simcore.replay("showcase", seed=8, deals=50):
        assert len(trace["second"]) == 13
        won = [trick["winner"] for trick in trace["second"]]
        assert trace["points"] == {"N": won.count("N"), "S": won.count("S")}
        assert trace["winner"] == max(trace["points"], key=trace["points"].get)


MAGRI = ("AKQ.AKQ.AKQJ.AKQ", "432.432.5432.432", "S5")


def test_m2_no_trump_and_a_display_card() -> None:
    game = Showcase("AKQ..AKQJT9.AKQJ", "432.65432.5432.5", "S5", dealer="N", ruleset="showcase-magri")
    assert int(game.view.trump) == 0
    trace = simcore.replay("showcase", ruleset="showcase-magri", seed=1)[0]
    assert trace["first"][0]["taken"] == trace["turned"]


def test_m3_any_card_of_hand_or_showcase_may_be_led() -> None:
    game = Showcase(*MAGRI, reserve="H9 H8", dealer="S", ruleset="showcase-magri").play("SA S2")
    assert game.show("N") == {"S5"}
    assert game.legal() == game.hand("N") | {"S5"}
    game.play("S5")
    assert game.show("N") == set()


@pytest.mark.parametrize("follow_from", ["showcase", "hand-and-showcase"])
def test_m4_following(follow_from: str) -> None:
    game = Showcase(*MAGRI, reserve="H9 S6", dealer="S", ruleset="showcase-magri", follow_from=follow_from).play("HA")
    spades = {"S4", "S3", "S2"}
    hearts = {"H4", "H3", "H2"}
    wanted = game.hand("S") if follow_from == "showcase" else hearts
    assert game.legal() == wanted, "the showcase holds no heart: the hidden hand obliges only in the second reading"
    assert spades <= game.hand("S")
    game.play("H2")  # N takes S5, S draws H9, S6 is displayed
    game.play("DJ")
    game.play("S4" if follow_from == "showcase" else "D5")
    if follow_from == "showcase":
        assert game.turn == "S"
        assert game.show("S") == {"S6"}
        game.play("C4")
        game.play("CA")
        game.play("SA")
        assert game.legal() == {"S6", "S3", "S2"}, "the showcase holds the suit led: he follows, from showcase or hand"


def test_m5_following_valueless_not_following_wins_a_value_trick() -> None:
    game = Showcase(*MAGRI, dealer="S", ruleset="showcase-magri").play("HA H2")
    assert game.turn == "N"
    assert game.view.value.tolist() == [0, 0]
    game = Showcase(*MAGRI, dealer="S", ruleset="showcase-magri").play("HA C2")
    assert game.turn == "S"
    assert game.view.value.tolist() == [0, 1]
    assert Showcase(*MAGRI, dealer="N", ruleset="showcase-magri").play("H2 HQ").turn == "N", "the higher card"


def test_m6_discards_display_and_draws() -> None:
    game = Showcase(*MAGRI, reserve="H9 H8 C9 C8", dealer="S", ruleset="showcase-magri").play("SA S2")
    assert game.show("N") == {"S5"}, "the winner takes the display card"
    assert "H9" in game.hand("S"), "the loser draws the next card, unseen"
    assert int(game.view.discards).bit_count() == 2
    game.play("SK S3")
    assert game.show("N") == {"S5", "H8"}, "the card after it was the next display card"
    assert "C9" in game.hand("S")
    game = Showcase(*MAGRI, ruleset="showcase-magri").play_out("naming")
    assert game.view.reserve == 0
    assert int(sum(game.view.won)) == 13, "13 tricks use up the reserve"


def test_m8_a_count_is_the_number_of_value_tricks() -> None:
    for trace in simcore.replay("showcase", ruleset="showcase-magri", seed=3, deals=50):
        value = dict.fromkeys("NS", 0)
        for trick in trace["first"]:
            if trick["cards"][0][0] != trick["cards"][1][0]:
                value[trick["winner"]] += 1
        assert trace["counts"] == value


def test_m11_thirteen_cards_each_all_played() -> None:
    game = Showcase(*MAGRI, ruleset="showcase-magri").play_out("naming")
    assert len(game.hand("N")) == len(game.hand("S")) == 13
    assert int(game.view.second_leader) == int(game.view.middle)
    game.name("spades").play_out("done")
    assert game.hand("N") == game.hand("S") == set()
