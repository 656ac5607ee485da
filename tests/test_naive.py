"""The referee's own tests: random games pass, corrupted traces are refused, small endings agree with hand work."""

import copy
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import naive
import pytest
from naive import RULESETS, SEATS, ElectionsGame, Game, Ruleset, ShowcaseGame, Trace, check_trace, variant

ELECTIONS = ["elections", "elections-joint", "variety", "tricks"]
SHOWCASE = ["showcase", "showcase-magri"]
SUMS = {  # E15 and the list of rulesets
    "elections": [12, -26, 26, 26, 26, 0, 0, -26],
    "elections-joint": [-14, 52, 26, 0, -26],
    "variety": [12, 13, 26, 0, 0, 26, -13, -26],
    "tricks": [13, 13, 13, 13, 13],
}
NS_EW = [["N", "S"], ["E", "W"]]


def one_change_variants(name: str) -> Iterator[Ruleset]:
    yield RULESETS[name]
    for key, value in RULESETS[name]["choices"].items():
        for other in naive.SETTINGS.get(key, [0, 7]):
            if other != value:
                yield variant(name, **{key: other})


def finish(game: Game, rng: random.Random, passes: float = 0.3) -> Game:
    while not game.done:
        actions = game.legal()
        game.apply("pass" if actions[0] == "pass" and rng.random() < passes else rng.choice(actions))
    return game


def played(rules: Ruleset, rng: random.Random) -> Trace:
    """The trace of a random deal that was not passed out, as it comes back from JSON."""
    while True:
        trace: Trace = json.loads(json.dumps(finish(naive.random_deal(rules, rng), rng).trace("7", 5)))
        if trace.get("status", "played") == "played":
            return trace


def auction(rules: Ruleset, calls: str, dealer: str = "N", lot_pairs: Any = NS_EW) -> ElectionsGame:
    """A game after calls by whoever's turn it is: p = pass, else a type's first letter (elections, tricks)."""
    hands = {seat: [suit + rank for rank in naive.RANKS] for seat, suit in zip(SEATS, naive.SUITS, strict=True)}
    game = ElectionsGame(rules, hands, dealer, lot_pairs)
    words = {"p": "pass", "n": "no-trump", "c": "clubs", "h": "hearts", "d": "diamonds", "s": "spades"}
    for letter in calls:
        assert game.phase == "auction"
        game.apply(words[letter])
    return game


# ---- Rules as data


def test_sums_of_e15() -> None:
    for name, sums in SUMS.items():
        rules, found = RULESETS[name], []
        for contract in rules["contracts"].values():
            of_cards = sum(contract["suits"].get(card[0], 0) + contract["cards"].get(card, 0) for card in naive.PACK)
            found.append(13 * contract["trick"] + contract["most"] + of_cards)
        assert found == sums
        assert [key for _, ids in rules["types"] for key in ids] == list(rules["contracts"])


def test_choices_and_defaults() -> None:
    assert set(RULESETS["showcase-magri"]["choices"]) == {"follow_from", "tie_namer", "second_lead", "all_trump"}
    assert RULESETS["variety"]["choices"]["failure_bonus"] == 10
    assert RULESETS["elections"]["choices"]["match"] == "standing"
    with pytest.raises(ValueError, match="no choice"):
        variant("showcase", follow_from="showcase")
    with pytest.raises(ValueError, match="no choice"):
        variant("elections", tie="win")
    variant("elections", tie="draw")
    assert RULESETS["elections"]["choices"]["tie"] == "loss", "the shipped ruleset is untouched"


# ---- Random games


@pytest.mark.parametrize("name", list(RULESETS))
def test_random_games_pass(name: str) -> None:
    rng = random.Random(name)
    for rules in one_change_variants(name):
        for _ in range(6):
            game = finish(naive.random_deal(rules, rng), rng)
            trace = json.loads(json.dumps(game.trace("7", 5)))
            assert check_trace(trace, rules) == []
            if isinstance(game, ShowcaseGame):
                assert sum(trace["points"].values()) == 13
            elif game.status == "played":
                assert sum(trace["tricks_won"].values()) == 13
                total = sum(trace["side_points"].values())
                assert total == SUMS[name][list(rules["contracts"]).index(trace["contract"])]


def test_forced_contracts_pass_with_any_pairing() -> None:
    rng = random.Random(3)
    for contract in RULESETS["elections"]["contracts"]:
        for declarer, partner in itertools.permutations(SEATS, 2):
            game = finish(naive.random_deal(RULESETS["elections"], rng, (contract, declarer, partner)), rng)
            trace = game.trace()
            assert trace["forced"] is True
            assert trace["calls"] == []
            assert trace["matched"] is None
            assert check_trace(trace) == []


def test_numbers_of_tricks_and_cards_in_showcase() -> None:
    rng = random.Random(1)
    for rules, tricks in [
        (RULESETS["showcase"], 25),
        (variant("showcase", turned_card="last"), 26),
        (RULESETS["showcase-magri"], 13),
    ]:
        game = naive.random_deal(rules, rng)
        assert isinstance(game, ShowcaseGame)
        while game.phase == "first":
            game.apply(rng.choice(game.legal()))
        assert len(game.first) == tricks
        held = game.holding("N") | game.holding("S")
        expected = {25: 51, 26: 52, 13: 26}[tricks]
        assert len(held) == len(game.holding("N")) + len(game.holding("S")) == expected


# ---- The auction


def test_match_ends_the_auction_at_once() -> None:
    game = auction(RULESETS["elections"], "cc")  # E clubs, S clubs
    assert (game.phase, game.matched, game.declarer, game.partner, game.turn) == ("contract", True, "E", "S", "E")
    assert game.legal() == ["clubs-tricks", "clubs-reds"]
    game.apply("clubs-reds")
    assert (game.phase, game.turn) == ("play", "S"), "E12: left of the declarer, an attacker here"
    assert auction(variant("elections", lead="left-of-dealer"), "hh").turn == "E"


def test_rising_calls_and_final_passes() -> None:
    game = auction(RULESETS["elections"], "h")
    assert game.legal() == ["pass", "hearts", "diamonds", "spades"], "E4: hearts below diamonds"
    game = auction(RULESETS["elections"], "hpdp")  # E hearts, S out, W diamonds, N out
    assert game.turn == "E"
    game.apply("spades")
    assert game.turn == "W", "E6: S and N are out"
    game.apply("pass")
    assert (game.type, game.matched, game.declarer, game.partner) == ("spades", False, "E", "W"), "E8"


def test_last_player_names_after_three_passes() -> None:
    game = auction(RULESETS["elections"], "pppd")
    assert (game.phase, game.type, game.declarer, game.partner) == ("play", "diamonds", "N", "S")
    game = auction(variant("elections", **{"pass": "turn"}), "pppd")
    assert (game.phase, game.turn) == ("auction", "E"), "E6: passes were for a turn only"
    game = auction(variant("elections", **{"pass": "turn"}), "pppdppp")
    assert (game.phase, game.type) == ("play", "diamonds")


def test_passed_out_and_redeals() -> None:
    assert auction(RULESETS["elections"], "pppp").status == "passed-out"
    assert auction(variant("elections", passed_out="redeal"), "pppp").status == "redealt"
    assert auction(variant("elections", **{"pass": "turn"}), "pppp").status == "passed-out"
    game = auction(variant("elections", unmatched="redeal"), "dppp")
    assert (game.status, game.done, game.type) == ("redealt", True, None)
    trace = game.trace()
    assert trace["credits"] == {"N": 0, "E": 0, "S": 0, "W": 0}
    assert trace["tricks_won"] is None
    assert check_trace(trace, game.rules) == []
    del trace["tricks_won"]
    assert check_trace(trace, game.rules) == [], "absent is as good as null"
    assert check_trace(trace, RULESETS["elections"]) != []


def test_free_calls_matches_and_repeats() -> None:
    free = variant("elections", calls="free")
    game = auction(free, "chc")  # E clubs, S hearts, W clubs: hearts stood, so no match
    assert game.phase == "auction"
    assert auction(variant("elections", calls="free", match="any"), "chc").matched is True
    assert "clubs" in game.legal()
    matched = copy.copy(game)
    matched.apply("clubs")  # N matches W, whose clubs stand, not E, who named them first
    assert (matched.declarer, matched.partner, matched.matched) == ("W", "N", True)
    game.apply("pass")  # N
    assert "clubs" not in game.legal(), "E5: E has named clubs"
    game.apply("pass")  # E
    game.apply("pass")  # S
    assert (game.phase, game.declarer, game.partner, game.matched) == ("contract", "E", "W", False), "E10"


def test_declarer_of_an_unmatched_auction_named_the_type_first() -> None:
    game = auction(variant("elections", calls="free"), "hchppp")  # E hearts, S clubs, W hearts; E-W a lot pair
    assert (game.type, game.matched, game.declarer, game.partner) == ("hearts", False, "E", "W"), "E10"
    game = auction(variant("elections", calls="free"), "hchppp", lot_pairs=[["N", "W"], ["E", "S"]])
    assert (game.declarer, game.partner) == ("W", "N")


def test_no_match_with_a_player_who_passed() -> None:
    rules = variant("elections", calls="free", match="any")
    game = auction(rules, "hcsdph")  # E hearts, S clubs, W spades, N diamonds, E passes, S hearts
    assert game.phase == "auction", "E7: E is out of the auction"
    game = auction(variant("elections", calls="free", match="any", **{"pass": "turn"}), "hcsdph")
    assert (game.matched, game.declarer, game.partner) == (True, "E", "S")


# ---- Tricks and scores


def test_trick_winner() -> None:
    assert naive.trick_winner(["S2", "SA", "S3", "S4"], None) == 1
    assert naive.trick_winner(["CA", "S2", "CK", "CQ"], "S") == 1
    assert naive.trick_winner(["CA", "S2", "CK", "HA"], None) == 0
    assert naive.trick_winner(["H5", "C9", "H2", "C4"], "C", low=True) == 3
    assert naive.trick_winner(["H5", "C9", "H2", "C4"], "C", low=True, low_trump="plain") == 2
    assert naive.trick_winner(["C9", "H2", "C4", "CA"], "C", low=True, low_trump="plain") == 2


def test_following_suit() -> None:
    assert naive.legal_plays(["S2", "HA"], "S") == ["S2"]
    assert naive.legal_plays(["S2", "HA"], "D") == ["HA", "S2"]
    assert naive.second_follow(["S2", "HA", "D3"], "C", "D") == ["D3"]
    assert naive.second_follow(["S2", "HA", "D3"], "C", "all") == ["D3", "HA", "S2"]


def test_second_playout_winner() -> None:
    assert naive.leader_wins("SA", "H2", None)
    assert not naive.leader_wins("SA", "H2", "H")
    assert not naive.leader_wins("SA", "H2", "all")
    assert naive.leader_wins("SA", "HA", "all", "rank")
    assert not naive.leader_wins("SK", "HA", "all", "rank")
    assert not naive.leader_wins("SK", "SA", "all", "rank")


def test_both_signs() -> None:
    rules = variant("elections-joint", result="both-signs")
    joint = rules["contracts"]["nt-joint"]
    assert naive.has_both_signs(joint)
    assert not naive.has_both_signs(rules["contracts"]["clubs-joint"])
    # Seven tricks: more plus (12), but also more minus (14): no win to the letter; a net -2 against -12 is one.
    seven, six = naive.lines_scored(joint, 7, 6, []), naive.lines_scored(joint, 6, 7, [])
    assert naive.deal_result(rules, joint, seven, six) == "loss"
    assert naive.deal_result(rules, joint, six, seven) == "loss"
    assert naive.deal_result(RULESETS["elections-joint"], joint, seven, six) == "win"
    # The club ten gives five and takes two.
    assert naive.lines_scored(rules["contracts"]["spades-joint"], 0, 0, ["CT"]) == [-2, 5]
    draw = variant("elections-joint", tie="draw", result="both-signs")
    assert naive.deal_result(draw, joint, [4], [4]) == "loss", "anything else is a loss"
    assert naive.deal_result(draw, draw["contracts"]["clubs-joint"], [4], [4]) == "draw"


def test_failure_bonus_goes_to_defenders_of_a_lost_deal() -> None:
    rules = variant("elections", failure_bonus=10)
    hands = {"N": ["SA", "SK"], "E": ["S2", "S3"], "S": ["S4", "S5"], "W": ["S6", "S7"]}
    for declarer, partner, result in [("N", "E", "win"), ("S", "E", "loss")]:
        game = finish(ElectionsGame(rules, hands, "N", NS_EW, ("hearts-spades", declarer, partner)), random.Random(1))
        score = game.score() if isinstance(game, ElectionsGame) else {}
        assert score["result"] == result
        points = {"N": 16, "E": 16 if partner == "E" and declarer == "N" else 0, "S": 0, "W": 0}
        if result == "loss":
            points = {"N": 26, "E": 0, "S": 0, "W": 26}
        assert score["credits"] == points


def test_zero_tricks_and_zero_points_are_two_things() -> None:
    hands = {"N": ["SA", "SK"], "E": ["D2", "D3"], "S": ["C4", "C5"], "W": ["C6", "C7"]}
    game = finish(ElectionsGame(RULESETS["elections"], hands, "W", NS_EW, ("nt-fewest", "W", "E")), random.Random(1))
    assert isinstance(game, ElectionsGame)
    assert game.score()["side_points"] == {"attackers": 0, "defenders": -4}
    game = finish(ElectionsGame(RULESETS["elections"], hands, "W", NS_EW, ("nt-most", "W", "E")), random.Random(1))
    assert isinstance(game, ElectionsGame)
    assert game.score()["side_points"] == {"attackers": 0, "defenders": 12}


def test_round_totals_and_places() -> None:
    deals = [{"credits": {"N": 3, "E": 3, "S": -1, "W": 0}}, {"credits": {"N": 0, "E": 0, "S": 1, "W": 0}}]
    assert naive.round_totals(deals) == ({"N": 3, "E": 3, "S": 0, "W": 0}, {"N": 1, "E": 1, "S": 3, "W": 3})


def test_series_follow_the_dealer_of_the_round() -> None:
    deals = [{"deal": 8 + i, "dealer": SEATS[(2 + i) % 4], "lot_pairs": [["N", "W"], ["S", "E"]]} for i in range(8)]
    assert naive.check_series(deals) == []
    deals[3]["dealer"] = "S"
    assert len(naive.check_series(deals)) == 1


# ---- Showcase, first playout


def showcase_state(rules: Ruleset, hand: list[str], shown: list[str], led: str | None) -> ShowcaseGame:
    """S to play with this hand and showcase; trump or first display card is S2."""
    game = ShowcaseGame(rules, {"N": ["HA"], "S": hand}, "S2", ["D2"] * 25, "N" if led is None else "S")
    game.laid = {"N": [], "S": [{card} for card in shown]}
    if led is not None:
        game.hands["N"] = {led}
        game.apply(led)
    assert game.turn == "S"
    return game


def test_showcase_leads() -> None:
    assert showcase_state(RULESETS["showcase"], ["C3"], ["D4"], None).legal() == ["C3"]
    assert showcase_state(RULESETS["showcase"], [], ["D4"], None).legal() == ["D4"], "S3: the hand is empty"
    assert showcase_state(RULESETS["showcase-magri"], ["C3"], ["D4"], None).legal() == ["C3", "D4"]


@pytest.mark.parametrize(
    ("hand", "shown", "must", "may"),
    [
        (["H3", "C3", "S5"], ["H9", "D4"], ["H3", "H9"], ["H3", "H9"]),
        (["C3", "S5"], ["H9", "D4"], ["H9"], ["H9", "S5"]),
        (["C3", "D5"], ["H9", "S4"], ["H9"], ["C3", "D5", "H9"]),
        (["C3", "S5"], ["D4", "S9"], ["S5"], ["S5"]),
        (["C3", "D5"], ["D4", "S9"], ["C3", "D5"], ["C3", "D5"]),
    ],
)
def test_showcase_follow(hand: list[str], shown: list[str], must: list[str], may: list[str]) -> None:
    assert showcase_state(RULESETS["showcase"], hand, shown, "HK").legal() == must
    assert showcase_state(variant("showcase", showcase_follow="may"), hand, shown, "HK").legal() == may


@pytest.mark.parametrize(
    ("hand", "shown", "showcase_only", "both"),
    [
        (["H3", "C3"], ["H9", "D4"], ["H3", "H9"], ["H3", "H9"]),
        (["C3", "S5"], ["H9", "D4"], ["H9"], ["H9"]),
        (["H3", "C3"], ["D4"], ["C3", "H3"], ["H3"]),
        (["C3", "S5"], ["D4"], ["C3", "S5"], ["C3", "S5"]),
    ],
)
def test_magri_follow(hand: list[str], shown: list[str], showcase_only: list[str], both: list[str]) -> None:
    assert showcase_state(RULESETS["showcase-magri"], hand, shown, "HK").legal() == showcase_only
    either = variant("showcase-magri", follow_from="hand-and-showcase")
    assert showcase_state(either, hand, shown, "HK").legal() == both


def test_broken_tricks_do_not_count() -> None:
    game = showcase_state(RULESETS["showcase"], ["C3", "C4"], [], "HK")
    game.laid = {"N": [], "S": [{"H9", "D4"}, {"C7", "C8"}]}
    game.apply("H9")  # N's king wins: the trick H9 D4 is broken, D4 stays
    assert game.laid == {"N": [{"HK", "H9"}], "S": [{"D4"}, {"C7", "C8"}]}
    assert game.hands["S"] == {"C3", "C4", "D2"}, "S6: the loser draws"
    game.first = [game.first[0]] * 25
    game.end_first_playout()
    assert game.counts == {"N": 1, "S": 1}
    assert game.namer == "S", "S9: equal counts, N will lead"


def test_magri_value_trick_and_display() -> None:
    game = showcase_state(RULESETS["showcase-magri"], ["C3"], ["D4"], "HK")
    game.pile = ["D5", "D6", "D7"]
    game.apply("C3")
    assert game.value_tricks == {"N": 0, "S": 1}
    assert game.hands == {"N": {"D5"}, "S": set()}
    assert game.shown("S") == {"D4", "S2"}
    assert (game.display, game.pile, game.turn) == ("D6", ["D7"], "S")


# ---- Corrupted traces


def refused(trace: Trace, clause: str, rules: Ruleset | None = None) -> None:
    problems = check_trace(trace, rules)
    assert problems
    assert any(clause in problem.split(":")[0].split(", ") for problem in problems), problems


@pytest.mark.parametrize("name", ELECTIONS)
def test_elections_corruptions(name: str) -> None:
    rng = random.Random(name)
    good = played(RULESETS[name], rng)

    def bad() -> Trace:
        return copy.deepcopy(good)

    for clause, change in [
        ("E2", lambda t: t["tricks"].pop()),
        ("E2", lambda t: t["tricks"].append(t["tricks"][-1])),
        ("E13", lambda t: t["tricks"][6]["cards"].pop()),
        ("E13", lambda t: t["tricks"][6].update(cards=t["tricks"][5]["cards"])),
        ("E13", lambda t: t["tricks"].insert(1, t["tricks"].pop(8))),
        ("E14", lambda t: t["tricks"][12].update(winner=naive.left(t["tricks"][12]["winner"]))),
        ("E12", lambda t: t["tricks"][0].update(leader=naive.left(t["tricks"][0]["leader"]))),
        ("E2", lambda t: t["hands"].update(N=t["hands"]["E"])),
        ("E2", lambda t: t["hands"].update(N="AKQJT98765432...A")),
        ("formats", lambda t: t["hands"].update(N="23456789TJQKA...")),
        ("formats", lambda t: t["hands"].pop("W")),
        ("E1", lambda t: t.update(dealer="X")),
        ("E1", lambda t: t.update(lot_pairs=[["N", "S"], ["N", "W"]])),
        ("E1", lambda t: t.update(lot_pairs=[["N", "S", "E", "W"], []])),
        ("E3", lambda t: t.update(dealer=naive.left(t["dealer"]))),
        ("E8", lambda t: t["calls"].pop()),
        ("E9", lambda t: t["calls"].append([t["calls"][-1][0], "pass"])),
        ("E4", lambda t: t["calls"][0].__setitem__(1, "grand")),
        ("E9", lambda t: t.update(status="passed-out")),
        ("E11", lambda t: t.update(contract="hearts-nothing")),
        ("E10", lambda t: t.update(declarer=t["partner"])),
        ("E7", lambda t: t.update(partner=t["declarer"])),
        ("E7", lambda t: t.update(matched=not t["matched"])),
        ("E7", lambda t: t.update(matched=int(t["matched"]))),
        ("E7", lambda t: t.update(type=None)),
        ("E14", lambda t: t.update(tricks_won=None)),
        ("E14", lambda t: t["tricks_won"].pop("N")),
        ("E15", lambda t: t["side_points"].update(attackers=t["side_points"]["attackers"] + 1)),
        ("E16", lambda t: t.update(result="draw")),
        ("E17", lambda t: t["credits"].update(S=t["credits"]["S"] - 1)),
        ("E3", lambda t: t.update(forced=True)),
        ("formats", lambda t: t.update(seed=7)),
        ("formats", lambda t: t.update(game="showcase")),
        ("formats", lambda t: t.pop("tricks")),
        ("formats", lambda t: t.update(tricks=None)),
        ("formats", lambda t: t["tricks"][3].update(cards=None)),
        ("formats", lambda t: t.update(ruleset="nosuch")),
    ]:
        trace = bad()
        change(trace)
        refused(trace, clause)
    assert check_trace(good) == []


def test_revoke_is_named_with_card_and_trick() -> None:
    rng = random.Random(2)
    seen = 0
    while seen < 20:
        trace = played(RULESETS["elections"], rng)
        cards = {seat: set(naive.parse_hand(trace["hands"][seat])) for seat in SEATS}
        trick, later = trace["tricks"][0], trace["tricks"][1:]
        seat = naive.left(trick["leader"])
        others = [c for c in cards[seat] if c[0] != trick["cards"][0][0]]
        if trick["cards"][1][0] != trick["cards"][0][0] or not others:
            continue
        revoke = sorted(others)[0]  # he discards, and keeps the card that he should have played for later
        for other in later:
            other["cards"] = [trick["cards"][1] if card == revoke else card for card in other["cards"]]
        trick["cards"][1] = revoke
        problems = check_trace(trace)
        assert problems[0].startswith("E13: ")
        assert "trick 1:" in problems[0]
        assert revoke in problems[0]
        seen += 1


@pytest.mark.parametrize("name", SHOWCASE)
def test_showcase_corruptions(name: str) -> None:
    rng = random.Random(name)
    good = played(RULESETS[name], rng)
    magri = name == "showcase-magri"
    other = {"N": "S", "S": "N", "hand": "showcase", "showcase": "hand"}
    for clause, change in [
        ("M6" if magri else "S7", lambda t: t["first"].pop()),
        ("M6" if magri else "S7", lambda t: t["first"].append(t["first"][-1])),
        ("S14", lambda t: t["second"].pop()),
        ("S14", lambda t: t["second"].append(t["second"][-1])),
        ("M4" if magri else "S4", lambda t: t["first"][5].update(cards=t["first"][4]["cards"])),
        ("M4" if magri else "S4", lambda t: t["first"][5]["from"].__setitem__(1, other[t["first"][5]["from"][1]])),
        ("M5" if magri else "S5", lambda t: t["first"][-1].update(winner=other[t["first"][-1]["winner"]])),
        ("S3", lambda t: t["first"][4].update(leader=other[t["first"][4]["leader"]])),
        ("M6" if magri else "S6", lambda t: t["first"][4].update(drawn=t["first"][3]["drawn"])),
        ("M6" if magri else "S6", lambda t: t["first"][4].update(taken=t["first"][3]["drawn"])),
        ("M8" if magri else "S8", lambda t: t["counts"].update(N=t["counts"]["N"] + 1)),
        ("S9", lambda t: t.update(namer=other[t["namer"]])),
        ("S9", lambda t: t.update(trump="swords")),
        ("S10", lambda t: t["second"][0].update(leader=other[t["second"][0]["leader"]])),
        ("S12", lambda t: t["second"][5].update(cards=t["second"][4]["cards"])),
        ("S13", lambda t: t["second"][-1].update(winner=other[t["second"][-1]["winner"]])),
        ("S14", lambda t: t["points"].update(N=t["points"]["N"] + 1)),
        ("S14", lambda t: t.update(winner=other[t["winner"]])),
        ("S3", lambda t: t.update(dealer=other[t["dealer"]])),
        ("S2", lambda t: t["reserve"].pop()),
        ("S2", lambda t: t.update(turned=t["reserve"][0])),
        ("S2", lambda t: t.update(turned="XX")),
        ("S2", lambda t: t["hands"].update(E="...")),
        ("formats", lambda t: t.update(second=None)),
    ]:
        trace = copy.deepcopy(good)
        change(trace)
        refused(trace, clause)
    assert check_trace(good) == []


@pytest.mark.parametrize("name", list(RULESETS))
def test_any_single_changed_value_is_refused(name: str) -> None:
    """Replace one leaf of the trace by another value ; calls and trump aside, where another may be right."""
    rng = random.Random(name)
    trace = played(RULESETS[name], rng)
    leaves: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                if key != "calls":
                    collect(value)
            elif key not in ("seed", "deal", "ruleset", "trump"):
                leaves.append((node, key))

    collect(trace)
    for node, key in rng.sample(leaves, min(len(leaves), 80)):
        kept = node[key]
        for wrong in [None, 99, "SA", "N", "S", "pass", "hearts", True]:
            if wrong == kept and isinstance(wrong, bool) == isinstance(kept, bool):
                continue
            node[key] = wrong
            assert check_trace(trace), (key, kept, wrong)
        node[key] = kept
    assert check_trace(trace) == []


# ---- Perft


def test_perft() -> None:
    hands = {"N": ["SA", "H2"], "E": ["S3", "D2"], "S": ["C4", "C5"], "W": ["H6", "S7"]}
    game = ElectionsGame(RULESETS["elections"], hands, "W", NS_EW, ("nt-most", "W", "E"))
    assert game.turn == "N"
    # N leads SA: E and W follow with their only spade, S has two cards. N leads H2: E two, S two, W one.
    assert [naive.perft(game, depth) for depth in range(5)] == [1, 2, 3, 6, 6]
    assert naive.perft(game, 99) == 6, "the last trick is forced"
    start = naive.random_deal(RULESETS["elections"], random.Random(1))
    assert naive.perft(start, 2) == 6 + 6 + 5 + 4 + 3 + 2, "after a pass six calls, after no-trump six, ..."
    assert naive.perft(naive.random_deal(RULESETS["showcase"], random.Random(1)), 1) == 13


def test_perft_changes_nothing() -> None:
    for name in RULESETS:
        game = naive.random_deal(RULESETS[name], random.Random(4))
        before = copy.deepcopy(vars(game))
        naive.perft(game, 3 if name in SHOWCASE else 4)
        assert vars(game) == before


# ---- Endings


def test_minimax_elections_by_hand() -> None:
    tricks = RULESETS["tricks"]["contracts"]
    one = {"N": ["SA"], "E": ["S2"], "S": ["S3"], "W": ["S4"]}
    assert naive.minimax_elections(one, tricks["nt-tricks"], {"N", "S"}, "E") == 1
    assert naive.minimax_elections(one, tricks["nt-tricks"], {"E", "W"}, "E") == -1
    assert naive.minimax_elections(one, tricks["nt-tricks"], {"N", "E"}, "E", tricks_won=(3, 2), points=(3, 2)) == 2
    # A finesse: N leads towards S's ace-queen over E's king; sitting before it, E can only lose it.
    hands = {"N": ["S2", "S3"], "E": ["SK", "S4"], "S": ["SA", "SQ"], "W": ["S5", "S6"]}
    assert naive.minimax_elections(hands, tricks["nt-tricks"], {"N", "S"}, "N") == 2
    hands["E"], hands["W"] = hands["W"], hands["E"]
    assert naive.minimax_elections(hands, tricks["nt-tricks"], {"N", "S"}, "N") == 0
    # With the queen of the finesse already on the table, W wins with the king.
    table = [("N", "S2"), ("E", "S5"), ("S", "SQ")]
    rest = {"N": ["S3"], "E": ["S6"], "S": ["SA"], "W": ["SK", "S4"]}
    assert naive.minimax_elections(rest, tricks["nt-tricks"], {"N", "S"}, "N", table) == 0
    with pytest.raises(ValueError, match="do not fit"):
        naive.minimax_elections(rest, tricks["nt-tricks"], {"N", "S"}, "N")


def test_minimax_elections_payoffs_by_hand() -> None:
    contracts = RULESETS["elections"]["contracts"]
    one = {"N": ["SA"], "E": ["ST"], "S": ["HT"], "W": ["C2"]}
    assert naive.minimax_elections(one, contracts["spades-honours"], {"N", "S"}, "N") == 0  # +5 and -5
    assert naive.minimax_elections(one, contracts["hearts-spades"], {"N", "S"}, "E") == 4  # S ruffs, two spades
    assert naive.minimax_elections(one, contracts["diamonds-colours"], {"N", "S"}, "E") == -2  # N takes three black
    assert naive.minimax_elections(one, contracts["nt-most"], {"N", "S"}, "N", tricks_won=(6, 6)) == 12
    assert naive.minimax_elections(one, contracts["nt-most"], {"N", "S"}, "N", tricks_won=(4, 8)) == -12
    assert naive.minimax_elections(one, contracts["nt-most"], {"N", "S"}, "N", tricks_won=(4, 5)) == 0
    # Low clubs: the lowest club takes the reds, unless trumps are plain.
    low = {"N": ["HA"], "E": ["C9"], "S": ["C3"], "W": ["H2"]}
    assert naive.minimax_elections(low, contracts["clubs-reds"], {"N", "S"}, "N") == 2
    assert naive.minimax_elections(low, contracts["clubs-reds"], {"N", "S"}, "N", low_trump="plain") == -2


def replayed_minimax(game: ElectionsGame, attackers: set[str]) -> int:
    """The same value by playing out every line of the class-based game."""
    if game.done:
        points = game.score()["side_points"]
        return int(points["attackers"] - points["defenders"])
    values = []
    for card in game.legal():
        after = copy.copy(game)
        after.apply(card)
        values.append(replayed_minimax(after, attackers))
    return max(values) if game.turn in attackers else min(values)


def test_minimax_elections_against_the_game_itself() -> None:
    rng = random.Random(5)
    for name in ["elections", "elections-joint"]:
        for low_trump in ["beats", "plain"]:
            rules = variant(name, low_trump=low_trump)
            for contract in rules["contracts"]:
                pack = rng.sample(naive.PACK, 12)
                hands = {seat: pack[3 * i : 3 * i + 3] for i, seat in enumerate(SEATS)}
                declarer, partner = rng.sample(SEATS, 2)
                game = ElectionsGame(rules, hands, "N", NS_EW, (contract, declarer, partner))
                table: list[tuple[str, str]] = []
                leader = game.turn
                for _ in range(rng.randrange(4)):
                    card = rng.choice(game.legal())
                    table.append((game.turn, card))
                    game.apply(card)
                terms = rules["contracts"][contract]
                value = naive.minimax_elections(game.hands, terms, {declarer, partner}, leader, table, low_trump)
                assert value == replayed_minimax(game, {declarer, partner})
                remembered = naive.minimax_elections(
                    game.hands, terms, {declarer, partner}, leader, table, low_trump, remember=True
                )
                assert value == remembered


def test_minimax_showcase_by_hand() -> None:
    assert naive.minimax_showcase(["SA", "H2"], ["SK", "H3"], "no-trump", "N", 2) == 1
    assert naive.minimax_showcase(["SA", "H2"], ["SK", "HA"], "no-trump", "N", 1) == 1
    assert naive.minimax_showcase(["SA", "H2"], ["SK", "HA"], "no-trump", "S", 2) == 1
    assert naive.minimax_showcase(["SA", "SK"], ["H2", "H3"], "hearts", "N", 2) == 0
    assert naive.minimax_showcase(["SA", "SK"], ["H2", "H3"], "no-trump", "N", 2) == 2
    assert naive.minimax_showcase(["SA", "SK"], ["H2", "HA"], "all-trump", "N", 2) == 1, "each ruffs once"
    assert naive.minimax_showcase(["SA", "SK"], ["H2", "HA"], "all-trump", "N", 2, "rank") == 1
    assert naive.minimax_showcase(["SA", "SK", "SQ"], ["H2"], "clubs", "N", 1) == 1, "unequal sizes"
    with pytest.raises(ValueError, match="shorter"):
        naive.minimax_showcase(["SA", "SK", "SQ"], ["H2"], "clubs", "N", 2)
