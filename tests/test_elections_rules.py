"""Hand-worked examples for every clause of Elections; the fixed deal of tables.Elections unless a test needs its own.

N AKQ2.432.432.432   E JT9.AKQJ.T98.T98   S 876.T98.AKQJ.765   W 543.765.765.AKQJ
"""

from __future__ import annotations

import itertools

import pytest
from tables import SEATS, Elections, deal_tricks, words

import simcore
from simcore.cards import ALL_CARDS, RANKS, format_card
from simcore.rules import load_ruleset


def words_of(text: str) -> set[str]:
    return set(text.split())


def test_e1_round_dealers_and_lot_pairs() -> None:
    """The dealer of deal i sits i mod 8 seats from the first; lot pairs belong to the round and come out all three ways."""
    traces = simcore.replay("elections", seed=3, first=0, deals=400, ruleset="elections")
    pairings = set()
    for start in range(0, 400, 8):
        eight = traces[start : start + 8]
        first = SEATS.index(eight[0]["dealer"])
        assert [t["dealer"] for t in eight] == [SEATS[(first + i) % 4] for i in range(8)]
        assert all(t["lot_pairs"] == eight[0]["lot_pairs"] for t in eight)
        pairings.add(eight[0]["lot_pairs"][0][1])
    assert pairings == set("ESW")
    # many deals in one go, beginning in the middle of a round, say the same
    rows = simcore.simulate("elections", seed=3, first=5, deals=40).table().to_pylist()
    assert [row["dealer"] for row in rows] == [trace["dealer"] for trace in traces[5:45]]
    for row, trace in zip(rows, traces[5:], strict=False):
        assert (row["declarer"], row["partner"], row["matched"]) == (trace["declarer"], trace["partner"], trace["matched"])


def test_e2_thirteen_cards_each_and_one_shuffle_an_index() -> None:
    for trace in simcore.replay("elections", seed=3, deals=20):
        hands = [simcore.Hand.parse(hand) for hand in trace["hands"].values()]
        assert [len(hand) for hand in hands] == [13] * 4
        assert sum(hand.mask for hand in hands) == 0x1FFF1FFF1FFF1FFF
    assert simcore.replay("elections", seed=3, first=9)[0]["hands"] == simcore.replay("elections", seed=3, deals=10)[9]["hands"]


@pytest.mark.parametrize("dealer", SEATS)
def test_e3_left_of_the_dealer_calls_first_and_calls_go_round(dealer: str) -> None:
    table = Elections(dealer=dealer)
    for i in range(1, 4):
        assert table.turn == SEATS[(SEATS.index(dealer) + i) % 4]
        table.call("pass")


def test_e3_as_many_rounds_as_needed() -> None:
    """Three rounds of calls, with passes."""
    table = Elections().call("no-trump", "clubs", "pass", "hearts")  # E S W N
    assert table.turn == "E"
    table.call("diamonds", "pass", "spades")  # E S; W is out; N
    assert table.turn == "E"
    table.call("spades")
    assert table.phase == "naming"
    assert table.attackers() == {"N", "E"}


def test_e3_three_rounds_of_calls() -> None:
    """Every seat calls three times before two agree; the seats out are passed over."""
    table = Elections("variety")
    table.call("nt-most", "clubs-tricks", "hearts-spades", "diamonds-colours")  # E S W N
    table.call("spades-honours", "pass", "clubs-reds", "pass")
    assert (table.turn, table.phase) == ("E", "auction")
    table.call("spades-clubs", "nt-fewest", "pass", "clubs-reds")  # N names what W named
    assert table.attackers() == {"W", "N"}
    assert table.view.calls_made == 12


def test_e4_calls_rise() -> None:
    table = Elections().call("hearts")
    assert table.legal() == {"pass", "hearts", "diamonds", "spades"}, "hearts are below diamonds; equal is allowed"
    assert Elections().legal() == {"pass", "no-trump", "clubs", "hearts", "diamonds", "spades"}
    free = Elections(calls="free").call("hearts")
    assert free.legal() == {"pass", "no-trump", "clubs", "hearts", "diamonds", "spades"}
    assert free.call("no-trump").turn == "W"
    rising = ("no-trump", "clubs", "hearts", "diamonds", "spades")
    for low, high in itertools.combinations(rising, 2):
        assert high in Elections().call(low).legal()
        assert low not in Elections().call(high).legal()
        assert low in Elections(calls="free").call(high).legal()


def test_e5_a_type_is_never_named_twice_by_a_player() -> None:
    table = Elections("variety").call("nt-most", "clubs-tricks", "hearts-spades", "clubs-reds")
    assert table.turn == "E"
    assert "nt-most" not in table.legal()
    assert {"clubs-tricks", "hearts-spades", "clubs-reds", "nt-fewest", "pass"} <= table.legal()
    # standing only: E's own type is no longer standing, another may name it without a match, E may not
    table = Elections(calls="free", match="standing").call("hearts", "spades", "hearts", "clubs")
    assert table.phase == "auction"
    assert table.turn == "E"
    assert "hearts" not in table.legal()


def test_e6_a_pass_is_final() -> None:
    table = Elections().call("pass", "clubs", "hearts", "diamonds")  # E S W N
    assert table.turn == "S", "E has passed and is skipped"
    two = Elections().call("pass", "pass", "hearts", "diamonds")
    assert two.turn == "W", "two in a row are skipped"
    three = Elections().call("no-trump", "pass", "pass", "clubs")
    assert three.turn == "E"
    assert three.call("hearts").turn == "N", "and the two between E and N"
    turn = Elections(pass_="turn").call("pass", "clubs", "hearts", "diamonds")
    assert turn.turn == "E"
    assert "spades" in turn.legal()


def test_e7_a_match_ends_the_auction_at_once() -> None:
    table = Elections().call("clubs", "clubs")
    assert table.phase == "naming"
    assert table.attackers() == {"E", "S"}, "a match by a neighbour: partners side by side"
    table = Elections().call("clubs", "hearts", "hearts")
    assert table.attackers() == {"S", "W"}
    table = Elections().call("clubs", "pass", "clubs")
    assert table.attackers() == {"E", "W"}
    assert table.view.matched == 1
    assert table.turn == "E", "N does not call any more"


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(1, 4))
def test_e7_any_two_seats_may_match(first: int, second: int) -> None:
    """Whatever their seats; the other two are the defenders, and the lots have no say."""
    start = SEATS[first - 1]  # so that the namer calls first
    for lots in ("NE", "NS", "NW"):
        table = Elections(dealer=start, lots=lots).call("diamonds", *["pass"] * (second - 1), "diamonds")
        assert table.attackers() == {SEATS[first], SEATS[(first + second) % 4]}
        assert table.declarer() == SEATS[first]
        assert table.view.matched == 1


def test_e7_match_standing_or_any() -> None:
    calls = ("clubs", "hearts", "clubs")
    standing = Elections(calls="free", match="standing").call(*calls)
    assert standing.phase == "auction"
    assert standing.view.standing == 1, "clubs stand again, now W's"
    matched = Elections(calls="free", match="any").call(*calls)
    assert matched.attackers() == {"E", "W"}
    assert matched.legal() == {"clubs-tricks", "clubs-reds"}, "played is what they agree on, not what stood before"
    assert matched.turn == "E"


def test_e7_no_match_with_a_player_who_has_passed_out() -> None:
    table = Elections(calls="free", match="any").call("clubs", "hearts", "spades", "diamonds", "pass")  # E passes
    table.call("clubs")  # S names E's type
    assert table.phase == "auction"
    table.call("clubs")  # W matches S, who is still in
    assert table.attackers() == {"S", "W"}
    turn = Elections(calls="free", match="any", pass_="turn").call("clubs", "hearts", "spades", "diamonds", "pass", "clubs")
    assert turn.attackers() == {"E", "S"}, "a pass for one turn leaves him in the auction"


@pytest.mark.parametrize(("lots", "partner"), [("NE", "W"), ("NS", "N"), ("NW", "E")])
def test_e8_unmatched_the_lot_partner_plays(lots: str, partner: str) -> None:
    table = Elections(lots=lots).call("pass", "hearts", "pass", "pass")  # S alone
    assert table.phase == "naming"
    assert table.declarer() == "S"
    assert table.attackers() == {"S", partner}
    assert table.view.matched == 0
    assert table.ruleset.type_ids[table.view.type] == "hearts"


def test_e8_three_passes_then_a_name_end_the_auction_at_once() -> None:
    table = Elections().call("pass", "pass", "pass", "clubs")
    assert table.phase == "naming"
    assert table.declarer() == "N"


def test_e8_pass_for_a_turn_ends_after_three_in_a_row() -> None:
    table = Elections(pass_="turn").call("clubs", "pass", "pass", "hearts", "pass", "pass")
    assert table.phase == "auction"
    assert table.call("pass").phase == "naming"
    assert table.declarer() == "N"


def test_e8_redeal() -> None:
    table = Elections(unmatched="redeal").call("pass", "hearts", "pass", "pass")
    assert (table.phase, table.status) == ("done", "redealt")
    turn = Elections(unmatched="redeal", pass_="turn").call("hearts", "pass", "pass", "pass")
    assert (turn.phase, turn.status) == ("done", "redealt")
    matched = Elections(unmatched="redeal").call("pass", "hearts", "pass", "hearts")
    assert matched.phase == "naming", "a match is played"


@pytest.mark.parametrize(("choice", "status"), [("counts", "passed-out"), ("redeal", "redealt")])
@pytest.mark.parametrize("pass_", ["final", "turn"])
def test_e9_passed_out(choice: str, status: str, pass_: str) -> None:
    table = Elections(passed_out=choice, pass_=pass_).call("pass", "pass", "pass")
    assert table.phase == "auction", "the fourth may still name a type"
    table.call("pass")
    assert (table.phase, table.status) == ("done", status)
    traces = simcore.replay("elections", seed=1, deals=3000, ruleset=table.ruleset)
    ended = [trace for trace in traces if trace["status"] == status]
    assert ended
    for trace in ended:
        assert trace["credits"] == dict.fromkeys(SEATS, 0)
        assert trace["contract"] is None
        assert trace["tricks"] == []
        following = traces[trace["deal"] + 1 :][:1]
        if following and trace["deal"] % 8 != 7:  # the next index follows with the next dealer
            assert SEATS.index(following[0]["dealer"]) == (SEATS.index(trace["dealer"]) + 1) % 4


def test_e10_declarer_named_the_final_type_first() -> None:
    assert Elections().call("clubs", "pass", "clubs").declarer() == "E"
    # unmatched, free calls: N names clubs after E, nobody else goes on; by lot E is N's partner and named clubs first
    table = Elections(calls="free", lots="NE").call("clubs", "hearts", "spades", "clubs", "pass", "pass", "pass")
    assert table.phase == "naming"
    assert table.declarer() == "E"
    assert table.attackers() == {"E", "N"}
    assert table.view.matched == 0
    table = Elections(calls="free", lots="NS").call("clubs", "hearts", "spades", "clubs", "pass", "pass", "pass")
    assert table.declarer() == "N"
    # matched with any: of the two it is the one who was first to name what they play, also if the other called before him
    table = Elections(calls="free", match="any").call("hearts", "clubs", "spades", "pass", "clubs")
    assert (table.declarer(), table.attackers()) == ("S", {"S", "E"})
    # a third who named it before them has nothing to do with it
    table = Elections(calls="free").call("clubs", "hearts", "clubs", "pass", "spades", "pass", "hearts")
    assert table.phase == "auction"
    table.call("hearts")
    assert (table.declarer(), table.attackers()) == ("W", {"W", "E"}), "S was first to name hearts, but is a defender"


def test_e11_the_declarer_names_the_contract_of_the_type() -> None:
    table = Elections().call("clubs", "pass", "clubs")
    assert table.turn == "E"
    assert table.legal() == {"clubs-tricks", "clubs-reds"}
    assert table.name("clubs-reds").view.low == 1
    one = Elections().call("hearts", "hearts")
    assert one.legal() == {"hearts-spades"}


def test_e11_each_contract_of_each_type_can_be_named() -> None:
    for name in SUMS:
        ruleset = load_ruleset(name)
        for type_id, contracts in ruleset.types:
            table = Elections(name).call(type_id, type_id)
            assert (table.turn, table.phase) == ("E", "naming"), "after the auction and before the first lead"
            assert table.legal() == set(contracts)
            for contract in contracts:
                named = Elections(name).call(type_id, type_id).name(contract)
                assert (named.phase, named.turn) == ("playing", "S")
                assert named.ruleset.contract_ids[named.view.contract] == contract


def test_e12_left_of_the_declarer_leads_even_an_attacker() -> None:
    table = Elections().call("clubs", "clubs").name("clubs-tricks")  # E declares, S is his partner and sits left of him
    assert table.turn == "S"
    assert "S" in table.attackers()
    for declarer in SEATS:
        assert Elections().force("nt-most", declarer).turn == SEATS[(SEATS.index(declarer) + 1) % 4]
        assert Elections(dealer="W", lead="left-of-dealer").force("nt-most", declarer).turn == "N"


def test_e12_the_winner_of_a_trick_leads_to_the_next() -> None:
    """No trump: N leads S2, E takes it, E leads; four spades then four hearts are two tricks to E."""
    hands = ("A765.432.432.432", "K43.AKQJ.T98.T98", "QJT.T98.AKQJ.765", "982.765.765.AKQJ")
    table = Elections(hands=hands).force("nt-most", "W").play("S5 SK ST S2")
    assert table.turn == "E"
    table.play("HA H8 H5 H2")
    assert table.turn == "E"
    assert table.view.tricks.tolist() == [0, 2, 0, 0]


def test_e13_follow_suit_if_able_else_anything() -> None:
    hands = ("AKQ2.432.432.432", "JT9.AKQJ.T98765.", "876.T98.AKQJ.765", "543.765..AKQJT98")
    table = Elections(hands=hands).force("clubs-tricks", "W")
    table.play("C2")
    assert table.legal() == {"SJ", "ST", "S9", "HA", "HK", "HQ", "HJ", "DT", "D9", "D8", "D7", "D6", "D5"}, "void: no duty"
    table.play("HJ")
    assert table.legal() == {"C7", "C6", "C5"}
    table.play("C5 CA")
    assert table.turn == "W"


def test_e13_no_duty_to_trump_or_to_beat() -> None:
    """E is void in the suit led and holds trumps; W could beat or not as he likes."""
    hands = ("AKQ2.432.432.432", "JT9.AKQJ.T98765.", "876.T98.AKQJ.765", "543.765..AKQJT98")
    table = Elections(hands=hands).force("spades-honours", "W").play("C2")
    assert table.legal() == words_of("SJ ST S9 HA HK HQ HJ DT D9 D8 D7 D6 D5")
    table.play("DT C5")
    assert table.legal() == {"CA", "CK", "CQ", "CJ", "CT", "C9", "C8"}
    # W leads a trump, who has none may play anything; who has one must play it, also the last one
    hands = ("AKQJT98765432...", ".AKQ.AKQJT98765.", "..432.AKQJT98765", ".JT98765432..432")
    table = Elections(hands=hands).force("clubs-tricks", "S").play("C4")
    assert len(table.legal()) == 13
    table.play("S2 HA")
    assert table.legal() == words_of("CA CK CQ CJ CT C9 C8 C7 C6 C5")
    for suit in "SHDC":  # a leader may lead what he likes
        assert any(card[0] == suit for card in Elections().force("nt-most", "W").legal())


def test_e14_highest_trump_else_highest_of_the_suit_led() -> None:
    hands = ("A432.AKQ.432.432", "KQJ.JT98.AKQ.KQJ", "T98.765.JT9.AT98", "765.432.8765.765")
    # N leads HA: everyone follows; the ace takes it
    table = Elections(hands=hands).force("spades-honours", "W").play("HA HJ H5 H2")
    assert table.turn == "N"
    # a low trump beats the ace of the suit led
    hands = ("A432.AKQJ.432.43", "KQJ.T98.AKQ.KQJ2", "T98..JT98765.A98", "765.765432..T765")
    table = Elections(hands=hands).force("spades-honours", "W").play("HA H8 S8 H2")
    assert table.turn == "S"
    # no trump: an ace off suit takes nothing
    table = Elections(hands=hands).force("nt-most", "W").play("HA H8 CA H2")
    assert table.turn == "N"
    # the higher of two trumps
    table = Elections(hands=hands).force("spades-honours", "N").play("CQ CA C5 C3")
    assert table.turn == "S"


def test_e14_low_contract_ranks_are_turned_round() -> None:
    hands = ("A432.AKQJ.432.43", "KQJ.T98.AKQ.KQJ2", "T98..JT98765.A98", "765.765432..T765")
    # clubs-reds: no trump in the trick: the lowest card of the suit led
    table = Elections(hands=hands).force("clubs-reds", "W").play("SA SJ S8 S5")
    assert table.turn == "W"
    # with trumps in the trick: the lowest trump, not the lowest card of the suit led
    table = Elections(hands=hands).force("clubs-reds", "N").play("DA DJ C7 D2")
    assert table.turn == "W"
    table = Elections(hands=hands).force("clubs-reds", "W").play("HA H8 C9 H2")
    assert table.turn == "S"
    # low_trump = "plain": trumps are ordinary cards
    table = Elections(hands=hands, low_trump="plain").force("clubs-reds", "W").play("HA H8 C9 H2")
    assert table.turn == "W"
    table = Elections(hands=hands, low_trump="plain").force("clubs-tricks", "W").play("HA H8 C9 H2")
    assert table.turn == "S", "the choice is for low contracts only"


RUFFS = ("KQ.KQJ.KQJ.A5432", "A98765432.432.2.", "JT.A765.A876.JT9", ".T98.T9543.KQ876")
TWO_RUFFS = ("KQJ.AKQJT98.AK.A", "AT9..QJT98.K9542", "876..7654.QJT873", "5432.765432.32.6")


@pytest.mark.parametrize(
    ("hands", "contract", "choice", "trick", "winner"),
    [
        (RUFFS, "spades-clubs", "beats", "CA S2 C9 C6", "E"),  # the two of trumps on an ace
        (RUFFS, "nt-most", "beats", "CA SA C9 C6", "N"),  # an ace off suit
        (RUFFS, "hearts-spades", "beats", "CA SA C9 C6", "N"),
        (RUFFS, "hearts-spades", "beats", "CA H2 C9 C6", "E"),
        (RUFFS, "nt-fewest", "beats", "C5 SA CJ CQ", "W"),  # the highest of the suit, whoever played it
        (TWO_RUFFS, "clubs-tricks", "beats", "HA C9 C8 H2", "E"),  # the higher of two trumps
        (TWO_RUFFS, "clubs-tricks", "beats", "HA C2 C3 H7", "S"),
        (TWO_RUFFS, "clubs-tricks", "plain", "HA C9 C8 H2", "E"),  # the choice is for low contracts only
        (TWO_RUFFS, "clubs-tricks", "beats", "CA CK CQ C6", "N"),
        # low: without a trump the lowest of the suit led
        (TWO_RUFFS, "clubs-reds", "beats", "SK SA S6 S5", "W"),
        (TWO_RUFFS, "clubs-reds", "beats", "SJ S9 S7 S5", "W"),
        (TWO_RUFFS, "clubs-reds", "beats", "DA DQ D4 D3", "W"),
        # low, trumps: the lowest of them, also where a lower card of the suit led is there
        (TWO_RUFFS, "clubs-reds", "beats", "CA CK CQ C6", "W"),
        (TWO_RUFFS, "clubs-reds", "beats", "HA C9 C8 H2", "S"),
        (TWO_RUFFS, "clubs-reds", "beats", "H8 C9 CJ H7", "E"),
        (TWO_RUFFS, "clubs-reds", "beats", "HA CK S6 H2", "E"),
        (TWO_RUFFS, "clubs-reds", "beats", "HA SA D4 H2", "W"),  # nobody ruffs; cards off suit win nothing
        # low, plain: trumps are cards like others
        (TWO_RUFFS, "clubs-reds", "plain", "HA C9 C8 H2", "W"),
        (TWO_RUFFS, "clubs-reds", "plain", "H8 C2 C3 H7", "W"),
        (TWO_RUFFS, "clubs-reds", "plain", "CA CK CQ C6", "W"),
    ],
)
def test_e14_winners(hands: tuple[str, ...], contract: str, choice: str, trick: str, winner: str) -> None:
    table = Elections(hands=hands, low_trump=choice).force(contract, "W")
    assert table.play(trick).turn == winner
    assert int(table.view.tricks.sum()) == int(table.view.tricks[SEATS.index(winner)]) == 1
    assert words(table.view.taken[SEATS.index(winner)]) == words_of(trick)


def test_hands_of_the_examples_are_packs() -> None:
    for hands in (RUFFS, TWO_RUFFS, Elections.HANDS):
        assert sorted(card for hand in hands for card in simcore.Hand.parse(hand)) == sorted(words(2**64 - 1))


SUMS = {
    "elections": [12, -26, 26, 26, 26, 0, 0, -26],
    "elections-joint": [-14, 52, 26, 0, -26],
    "variety": [12, 13, 26, 0, 0, 26, -13, -26],
    "tricks": [13] * 5,
}


@pytest.mark.parametrize("name", SUMS)
def test_e15_both_sides_points_add_up_in_every_deal(name: str) -> None:
    table = simcore.simulate("elections", ruleset=name, seed=2, deals=300, contract="all", players="greedy").table()
    ids = load_ruleset(name).contract_ids
    assert [contract.total for contract in load_ruleset(name).contracts] == SUMS[name]
    for row in table.to_pylist():
        assert row["points_attackers"] + row["points_defenders"] == SUMS[name][ids.index(row["contract"])]


@pytest.mark.parametrize(
    ("contract", "points"),
    [
        # N+S took 6 tricks of one card of each suit and rank (ranks 2–5 N, 9 T S: E 6–8, W J–A)
        ("nt-most", (0, 12)),
        ("nt-fewest", (-12, -14)),
        ("clubs-tricks", (12, 14)),
        ("clubs-reds", (12, 14)),
        ("hearts-spades", (12, 14)),
        ("diamonds-colours", (0, 0)),
        ("spades-honours", (0, 0)),
        ("spades-clubs", (-12, -14)),
    ],
)
def test_e15_points_of_each_contract(contract: str, points: tuple[int, int]) -> None:
    attackers, defenders, _, _ = Elections().give(contract, deal_tricks({"N": 4, "E": 3, "S": 2, "W": 4}))
    assert (attackers, defenders) == points


def test_e15_points_by_card() -> None:
    """Two tricks by hand: N took ST SJ HT C2, E the rest."""
    rest = [f"S{r} H{r} D{r} C{r}" for r in "3456789QK"] + ["HJ DT DJ CT", "S2 H2 D2 CJ", "SA HA DA CA"]
    tricks = {"N": ["ST SJ HT C2"], "E": rest, "S": [], "W": []}
    assert Elections().give("spades-honours", tricks)[:2] == (5 + 5 - 5, 5 + 5 - 5 - 5 - 5)
    assert Elections().give("hearts-spades", tricks)[:2] == (4, 22)
    assert Elections().give("diamonds-colours", tricks)[:2] == (1 - 3, 2)
    assert Elections().give("spades-clubs", tricks)[:2] == (-2, -24)
    assert Elections("elections-joint").give("spades-joint", tricks)[:2] == (5 - 2, -5 - 24)
    assert Elections("elections-joint").give("nt-joint", tricks)[:2] == (-2, -24 + 12)
    assert Elections("elections-joint").give("clubs-joint", tricks)[:2] == (2 + 1, 24 + 25)
    assert Elections("variety").give("clubs-tricks", tricks)[:2] == (1, 12)
    assert Elections("tricks").give("hearts-tricks", tricks)[:2] == (1, 12)


def test_e15_no_tricks_and_no_points_are_different_things() -> None:
    none = {"N": [], "E": deal_tricks({"E": 13})["E"], "S": [], "W": []}
    assert Elections().give("nt-fewest", none)[:2] == (0, -26)
    assert Elections().give("nt-most", none)[:2] == (0, 12)
    assert Elections("elections-joint").give("nt-joint", none)[:2] == (0, -14)
    # six tricks without a spade are no points, but tricks
    spades = [f"S{r} H{r} D{r} C{r}" for r in "2345678"]
    others = ["S9 ST SJ SQ", "SK SA H9 HT", *(f"H{r} D{r} C{r} D{o}" for r, o in (("J", "9"), ("Q", "T"), ("K", "9"), ("A", "T")))]
    tricks = {"N": [], "E": [*spades, others[0], others[1]], "S": others[2:], "W": []}
    attackers, defenders, result, _ = Elections().give("hearts-spades", tricks)
    assert (attackers, defenders, result) == (0, 26, "loss")


def test_e16_result() -> None:
    give = Elections().give
    assert give("clubs-tricks", deal_tricks({"N": 4, "E": 3, "S": 3, "W": 3}))[2] == "win"
    assert Elections().give("clubs-tricks", deal_tricks({"N": 3, "E": 3, "S": 3, "W": 4}))[2] == "loss"
    assert Elections().give("nt-fewest", deal_tricks({"N": 3, "E": 3, "S": 3, "W": 4}))[2] == "win", "fewer minus points win"


@pytest.mark.parametrize(("choice", "result"), [("loss", "loss"), ("draw", "draw")])
def test_e16_ties(choice: str, result: str) -> None:
    """Every contract that can tie: clubs-reds 13–13, diamonds-colours 0–0, spades-honours 0–0."""
    halves = deal_tricks({"N": 6, "E": 7})
    # N: ranks 2–7 of each suit; two more red cards make it 13: change one trick with E
    reds = {
        "N": [*halves["N"][:5], "S7 C7 H7 H8"],
        "E": ["S8 C8 D7 D8", *halves["E"][1:]],
        "S": [],
        "W": [],
    }
    assert Elections(tie=choice).give("clubs-reds", reds)[:3] == (12, 14, "loss")
    reds["N"][5], reds["E"][0] = "S7 D7 H7 H8", "S8 C8 C7 D8"
    assert Elections(tie=choice).give("clubs-reds", reds)[:3] == (13, 13, result)
    whole = {"S": [], "W": [], **halves}
    assert Elections(tie=choice).give("diamonds-colours", whole)[:3] == (0, 0, result)
    assert Elections(tie=choice).give("spades-honours", whole)[:3] == (0, 0, result)
    for contract in ("nt-most", "nt-fewest", "clubs-tricks"):  # 13 tricks never tie
        attackers, defenders, _, _ = Elections().give(contract, whole)
        assert attackers != defenders


def tricks_of(*cards: str, tricks: int) -> dict[str, list[str]]:
    """N took these cards in so many tricks, E the rest of the pack in the others."""
    mine = words_of(" ".join(cards))
    rest = sorted(words(2**64 - 1) - mine)

    def parts(held: list[str], count: int) -> list[str]:
        return [" ".join(held[i::count]) for i in range(count)]

    return {"N": parts(sorted(mine), tricks), "E": parts(rest, 13 - tricks), "S": [], "W": []}


@pytest.mark.parametrize(("choice", "result"), [("loss", "loss"), ("draw", "draw")])
def test_e16_ties_of_joint_contracts(choice: str, result: str) -> None:
    """clubs-joint: 6 tricks and 14 reds against 7 and 12; spades-joint: 4 clubs and one red honour against 9 clubs and +5."""
    joint = Elections("elections-joint", tie=choice)
    reds = " ".join(f"{suit}{rank}" for suit in "HD" for rank in "2345678")
    blacks = "S2 S3 S4 S5 S6 C2 C3 C4 C5 C6"
    assert joint.give("clubs-joint", tricks_of(reds, blacks, tricks=6))[:3] == (26, 26, result)
    joint = Elections("elections-joint", tie=choice)
    assert joint.give("spades-joint", tricks_of("C2 C3 C4 C5 HT S2 S3 S4", tricks=2))[:3] == (-13, -13, result)
    for tricks in range(14):  # nt-joint: 12 − 2t against 2t − 26 never tie
        joint = Elections("elections-joint", tie=choice)
        attackers, defenders, said, _ = joint.give("nt-joint", deal_tricks({"N": tricks, "E": 13 - tricks}))
        assert attackers + defenders == -14
        assert said == ("win" if attackers > defenders else "loss")


def test_e16_both_signs_where_more_tricks_bring_both() -> None:
    """nt-joint to the letter: who has the twelve plus points has more minus points as well: no attackers ever win."""
    for tricks in range(14):
        joint = Elections("elections-joint", result="both-signs", tie="draw")
        assert joint.give("nt-joint", deal_tricks({"N": tricks, "E": 13 - tricks}))[2] == "loss"


def with_the_rest(own: str) -> dict[str, list[str]]:
    """All tricks of a deal: N takes these cards, E all others."""
    cards = own.split()
    rest = [card for card in (format_card(card) for card in ALL_CARDS) if card not in cards]
    return {"S": [], "W": []} | {
        seat: [" ".join(taken[i : i + 4]) for i in range(0, len(taken), 4)] for seat, taken in (("N", cards), ("E", rest))
    }


def test_e16_both_signs() -> None:
    """diamonds-colours: N took 5 reds and 3 blacks, net +2 against −2, but fewer plus points than the other side."""
    tricks = [f"S{r} H{r} D{r} C{r}" for r in "23456789TJQK"]
    mixed = {"N": ["HA DA H2 S2", "D2 C2 H3 S3"], "E": [*tricks[2:], "SA CA D3 C3"], "S": [], "W": []}
    assert Elections().give("diamonds-colours", mixed)[:3] == (2, -2, "win")
    assert Elections(result="both-signs").give("diamonds-colours", mixed)[2] == "loss"
    assert Elections(result="both-signs", tie="draw").give("diamonds-colours", mixed)[2] == "loss"
    # more plus and fewer minus points
    halves = deal_tricks({"N": 8, "E": 5})
    better = {"N": [*halves["N"][:7], "H9 D9 HT DT"], "E": ["S9 C9 ST CT", *halves["E"][1:]], "S": [], "W": []}
    assert Elections().give("diamonds-colours", better)[:3] == (4, -4, "win")
    assert Elections(result="both-signs").give("diamonds-colours", better)[2] == "loss", "more minus points as well"
    equal = with_the_rest("ST SJ CT HT DT S2 S3 S4")
    assert Elections().give("spades-honours", equal)[:3] == (5, -5, "win")
    assert Elections(result="both-signs").give("spades-honours", equal)[2] == "loss", "more plus, but no fewer minus points"
    assert Elections(result="both-signs").give("spades-honours", with_the_rest("ST SJ CT S2"))[2] == "win"
    # a contract of one sign goes by the net, ties by the tie choice
    assert Elections(result="both-signs").give("clubs-tricks", deal_tricks({"N": 7, "E": 6}))[2] == "win"
    # joined lines keep their signs: CT is +5 and −2
    joint = with_the_rest("CT ST SJ S2")
    assert Elections("elections-joint").give("spades-joint", joint)[:3] == (13, -39, "win")
    assert Elections("elections-joint", result="both-signs").give("spades-joint", joint)[2] == "win"
    joint = with_the_rest(" ".join(f"C{rank}" for rank in RANKS) + " ST S2 S3")
    assert Elections("elections-joint").give("spades-joint", joint)[:3] == (-11, -15, "win")
    assert Elections("elections-joint", result="both-signs").give("spades-joint", joint)[2] == "loss", "more minus points"


def test_e17_credit_is_the_sides_points() -> None:
    tricks = deal_tricks({"N": 4, "E": 3, "S": 2, "W": 4})
    assert Elections().give("clubs-tricks", tricks)[3] == [12, 14, 12, 14]
    assert Elections().give("clubs-tricks", tricks, attackers="NE")[3] == [14, 14, 12, 12]


def test_e17_failure_bonus() -> None:
    lost = deal_tricks({"N": 4, "E": 3, "S": 2, "W": 4})
    assert Elections(failure_bonus=7).give("clubs-tricks", lost)[3] == [12, 21, 12, 21]
    assert Elections("variety").give("clubs-tricks", lost)[3] == [6, 17, 6, 17]
    won = deal_tricks({"N": 4, "E": 3, "S": 4, "W": 2})
    assert Elections("variety").give("clubs-tricks", won)[3] == [8, 5, 8, 5]
    tie = deal_tricks({"N": 6, "E": 7})
    assert Elections("variety").give("diamonds-colours", tie)[3] == [0, 10, 0, 10], "a tie is a loss"
    assert Elections("variety", tie="draw").give("diamonds-colours", tie)[3] == [0, 0, 0, 0]


def test_e18_players_add_up_credits_over_eight_deals() -> None:
    result = simcore.simulate("elections", seed=5, deals=800, rounds=True, ruleset="variety")
    rows = result.table().to_pylist()
    places = [{row[f"place_{seat}"] for seat in "nesw"} for row in result.rounds().to_pylist()]
    assert len(places) == 100
    assert all(min(place) == 1 for place in places)
    assert any(len(place) < 4 for place in places), "equal totals share a place"
    for row in result.rounds().to_pylist():
        eight = rows[8 * row["round"] : 8 * row["round"] + 8]
        totals = [sum(deal[f"credit_{seat}"] for deal in eight) for seat in "nesw"]
        assert [row[f"total_{seat}"] for seat in "nesw"] == totals
        assert [row[f"place_{seat}"] for seat in "nesw"] == [1 + sum(other > mine for other in totals) for mine in totals]
    assert any(deal["status"] == "redealt" for deal in rows), "redealt deals are among the eight"


@pytest.mark.parametrize("dealer", SEATS)
def test_e12_seats_do_not_shift_with_the_dealer(dealer: str) -> None:
    table = Elections(dealer=dealer).force("nt-most", "W").play("S2 SJ S8 S5")
    assert table.turn == "E"
    assert int(table.view.taken[1]).bit_count() == 4


def test_e15_the_last_trick_is_credited() -> None:
    """A whole deal by hand: N–S take spades and diamonds, E–W hearts and clubs; the 13th trick counts."""
    hands = ("AKQJT98765432...", ".AKQJT98765432..", "..AKQJT98765432.", "...AKQJT98765432")
    table = Elections(hands=hands).force("hearts-spades", "W")
    assert table.turn == "N"
    for _ in range(13):
        table.play(f"{max(table.legal(), key=lambda c: '23456789TJQKA'.index(c[1]))}")
        for _ in range(3):
            table.play(min(table.legal(), key=lambda c: "23456789TJQKA".index(c[1])))
    assert table.phase == "done"
    assert int(sum(table.view.tricks)) == 13
    assert bin(int(sum(int(t) for t in table.view.taken))).count("1") == 52
