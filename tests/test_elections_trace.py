"""Traces of Elections: their form, refusals of foreign ones, diagrams."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import naive
import pytest
from tables import SEATS, Elections

import simcore
from simcore.elections.trace import render, trace, verify_trace
from simcore.errors import TraceError
from simcore.rules import Ruleset, load_ruleset

Trace = dict[str, Any]
HEAD = ["game", "ruleset", "seed", "deal", "dealer", "lot_pairs", "hands", "forced", "calls", "status"]
KEYS = [*HEAD, "type", "contract", "declarer", "partner", "matched", "tricks", "tricks_won", "side_points", "result", "credits"]
RANKS = "AKQJT98765432"


def one_suit_each() -> Trace:
    """A trace written by hand: each player holds a suit; E's hearts are trumps and take everything."""
    return {
        "game": "elections",
        "ruleset": "elections",
        "seed": "0",
        "deal": 3,
        "dealer": "W",
        "lot_pairs": [["N", "W"], ["E", "S"]],
        "hands": {"N": f"{RANKS}...", "E": f".{RANKS}..", "S": f"..{RANKS}.", "W": f"...{RANKS}"},
        "forced": False,
        "calls": [["N", "no-trump"], ["E", "clubs"], ["S", "hearts"], ["W", "pass"], ["N", "hearts"]],
        "status": "played",
        "type": "hearts",
        "contract": "hearts-spades",
        "declarer": "S",
        "partner": "N",
        "matched": True,
        "tricks": [{"leader": "W", "cards": ["CA", "SA", "HA", "DA"], "winner": "E"}]
        + [{"leader": "E", "cards": [f"H{r}", f"D{r}", f"C{r}", f"S{r}"], "winner": "E"} for r in RANKS[1:]],
        "tricks_won": {"N": 0, "E": 13, "S": 0, "W": 0},
        "side_points": {"attackers": 0, "defenders": 26},
        "result": "loss",
        "credits": {"N": 0, "E": 26, "S": 0, "W": 26},
    }


def spoil(data: Trace, path: tuple[Any, ...], value: object) -> Trace:
    """Return a copy with one place changed; ``...`` takes it out."""
    broken: Trace = copy.deepcopy(data)
    node: Any = broken
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return broken


def refused(data: object, message: str, ruleset: str | Ruleset = "elections") -> None:
    with pytest.raises(TraceError, match=message):
        verify_trace(data, load_ruleset(ruleset))


def find(condition: Callable[[Trace], bool], ruleset: str | Ruleset = "elections", **options: Any) -> Trace:
    """Return the first deal of a seed that is as wanted."""
    for first in range(0, 2000, 50):
        for data in simcore.replay("elections", ruleset=ruleset, seed=23, first=first, deals=50, **options):
            if condition(data):
                return data
    raise AssertionError("no such deal")


# ---- the form -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"contract": "random"}, {"players": "greedy"}])
@pytest.mark.parametrize("name", ["elections", "elections-joint", "variety", "tricks"])
def test_form(name: str, options: dict[str, str]) -> None:
    ruleset = load_ruleset(name)
    for data in simcore.replay("elections", ruleset=name, seed=2**128 - 1, first=16, deals=40, **options):
        assert list(data) == KEYS
        assert (data["game"], data["ruleset"], data["seed"]) == ("elections", name, str(2**128 - 1))
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["lot_pairs"][0][0] == "N"
        assert data["forced"] is ("contract" in options)
        if data["forced"]:
            assert data["calls"] == []
            assert data["matched"] is None
        for seat, call in data["calls"]:
            assert seat in SEATS
            assert call in ("pass", *ruleset.type_ids)
        if data["status"] == "played":
            assert data["type"] == ruleset.contract(data["contract"]).type
            assert [list(trick) for trick in data["tricks"]] == [["leader", "cards", "winner"]] * 13
        verify_trace(data, ruleset)


@pytest.mark.parametrize(("status", "ruleset"), [("passed-out", "elections"), ("redealt", "variety")])
def test_without_a_contract_all_that_follows_is_null(status: str, ruleset: str) -> None:
    data = find(lambda data: data["status"] == status, ruleset)
    assert list(data) == KEYS
    nulls = ("type", "contract", "declarer", "partner", "matched", "tricks_won", "side_points", "result")
    assert all(data[key] is None for key in nulls)
    assert data["tricks"] == []
    assert data["credits"] == dict.fromkeys(SEATS, 0)
    verify_trace(data, load_ruleset(ruleset))
    for key in nulls:
        refused(spoil(data, (key,), 0), f"'{key}'", ruleset)
    refused(data | {"status": "played"}, r"'status' is 'played', but it must be .*E9", ruleset)
    tricks = one_suit_each()["tricks"]
    refused(data | {"tricks": tricks}, "tricks of a deal without a contract", ruleset)


@pytest.mark.parametrize("dealer", SEATS)
def test_a_deal_played_by_hand_for_all_four_dealers(dealer: str) -> None:
    """The two seats left of the dealer match on hearts; the trace of the final records is what was played."""
    table = Elections(dealer=dealer, lots="NW").call("hearts", "hearts").name("hearts-spades")
    played = []
    while table.phase == "playing":
        card = min(table.legal())
        played.append(f"{table.turn}{card}")
        table.play(card)
    data = trace(table.ruleset, 12, 34, table.table, table.view)
    first, second, third = (SEATS[(SEATS.index(dealer) + i) % 4] for i in range(1, 4))
    assert (data["seed"], data["deal"], data["dealer"]) == ("12", 34, dealer)
    assert data["lot_pairs"] == [["N", "W"], ["E", "S"]]
    assert list(data["hands"].items()) == list(zip(SEATS, Elections.HANDS, strict=True))
    assert data["calls"] == [[first, "hearts"], [second, "hearts"]]
    assert (data["declarer"], data["partner"], data["tricks"][0]["leader"]) == (first, second, second)
    order = []
    for trick in data["tricks"]:
        order += [f"{SEATS[(SEATS.index(trick['leader']) + i) % 4]}{card}" for i, card in enumerate(trick["cards"])]
    assert order == played
    assert data["credits"][first] == data["credits"][second] == data["side_points"]["attackers"]
    assert data["credits"][third] == data["credits"][dealer] == data["side_points"]["defenders"]
    verify_trace(data, table.ruleset)
    assert not naive.check_trace(data)


# ---- foreign traces -------------------------------------------------------------------------------------------------------------


def test_a_trace_written_by_hand_is_accepted() -> None:
    data = one_suit_each()
    assert not naive.check_trace(data)
    verify_trace(data, load_ruleset("elections"))
    verify_trace(data | {"comment": "further keys are ignored"}, load_ruleset("elections"))


def test_lot_pairs_in_any_order() -> None:
    unmatched = find(lambda data: data["matched"] is False)
    ruleset = load_ruleset("elections")
    right = {frozenset(pair) for pair in unmatched["lot_pairs"]}
    for order in itertools.permutations(SEATS):
        pairs = [list(order[:2]), list(order[2:])]
        verify_trace(one_suit_each() | {"lot_pairs": pairs}, ruleset)  # they matter only where nobody matched
        if {frozenset(pair) for pair in pairs} == right:
            verify_trace(unmatched | {"lot_pairs": pairs}, ruleset)
        else:
            refused(unmatched | {"lot_pairs": pairs}, "E8|E10|E12")


def test_cards_and_hands_in_any_accepted_notation() -> None:
    data = one_suit_each()
    names = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
    for trick in data["tricks"]:
        trick["cards"] = [names[card[0]] + card[1].replace("T", "10").lower() for card in trick["cards"]]
    data["hands"] = {seat: hand.replace("T", "10").replace("..", ".-.") for seat, hand in data["hands"].items()}
    data["hands"]["E"] = ".2345678910jqka.."
    verify_trace(data, load_ruleset("elections"))
    assert render(data) == render(one_suit_each())


def test_a_revoke_is_refused_by_card_trick_and_clause() -> None:
    """In every trick of real deals where somebody followed suit and could have thrown another card: swap in a later card of his."""
    done = 0
    for data in simcore.replay("elections", seed=4, deals=30, players="greedy"):
        if data["status"] != "played":
            continue
        by_seat: dict[str, list[tuple[int, int, str]]] = {seat: [] for seat in SEATS}
        for t, trick in enumerate(data["tricks"]):
            for i, card in enumerate(trick["cards"]):
                by_seat[SEATS[(SEATS.index(trick["leader"]) + i) % 4]].append((t, i, card))
        for seat, plays in by_seat.items():
            for t, i, card in plays:
                led = data["tricks"][t]["cards"][0]
                later = [other for when, _, other in plays if when > t and other[0] != led[0]]
                if i > 0 and card[0] == led[0] and later:
                    done += 1
                    broken = spoil(data, ("tricks", t, "cards", i), later[0])
                    message = rf"^deal {data['deal']}: trick {t + 1}: {seat} plays {later[0]} but holds \w+s, the suit led \(E13"
                    refused(broken, message)
    assert done > 200


HAND = one_suit_each()
SPADES = HAND["hands"]["N"]
CASES: list[tuple[tuple[Any, ...], object, str]] = [
    (("game",), "bridge", "deal 3: key 'game' is 'bridge'"),
    (("ruleset",), "variety", "deal 3: key 'ruleset' is 'variety'"),
    (("seed",), 7, "deal 3: key 'seed' is 7"),
    (("seed",), "-1", "'seed'"),
    (("seed",), str(2**128), "'seed'"),
    (("seed",), "٣", "'seed'"),
    (("deal",), -1, "'deal' is -1"),
    (("deal",), 2**64, "'deal'"),
    (("deal",), True, "'deal' is True"),
    (("dealer",), "X", "deal 3: key 'dealer' is 'X'"),
    (("dealer",), "N", r"deal 3: call 1: 'N' calls, but it is E's turn \(E3"),
    (("lot_pairs",), [["N", "S"], ["N", "W"]], "deal 3: lot pairs .*E1"),
    (("lot_pairs",), [["N"], ["E", "S", "W"]], "lot pairs .*E1"),
    (("lot_pairs",), [["N", "E", "S", "W"]], "lot pairs .*E1"),
    (("hands", "N"), SPADES[:-4] + "...", "deal 3: E2: hand of N: .*12 cards"),
    (("hands", "N"), SPADES[:-3] + ".A..", "E2: hand of N: .*14 cards"),
    (("hands", "N"), "AA" + SPADES[2:], "E2: hand of N: .*SA stands twice"),
    (("hands", "E"), "AKQJT98765432...", "E2: SA of E is held by another seat"),
    (("hands", "E"), ".AKQJT9876543..2", "E2: C2 of W is held by another"),
    (("hands", "W"), ..., "hands of .*E2"),
    (("forced",), 0, "'forced' is 0"),
    (("forced",), True, "calls in a forced deal"),
    (("calls", 2, 0), "W", r"call 3: 'W' calls, but it is S's turn \(E3, E6\)"),
    (("calls", 2, 1), "no-trump", r"call 3: S calls 'no-trump', which is not legal \(E4"),
    (("calls", 4, 1), "no-trump", r"call 5: N calls 'no-trump', which is not legal \(E5"),
    (("calls", 1, 1), "spade", "call 2: E calls 'spade'; accepted: pass, no-trump"),
    (("calls", 1), ["E"], "call 2: "),
    (("calls",), HAND["calls"][:-1], r"the auction stops at N's turn before it has ended \(E7"),
    (("calls",), [*HAND["calls"], ["E", "pass"]], r"call 6: 'pass' by 'E' comes after the auction has ended \(E7"),
    (("calls",), [], "the auction stops at N's turn"),
    (("contract",), "clubs-tricks", r"contract 'clubs-tricks' does not belong to type 'hearts' \(E11\)"),
    (("contract",), "hearts", "key 'contract' is 'hearts'"),
    (("tricks", 0, "leader"), "E", r"trick 1: leader is 'E', but W leads \(E12: left of the declarer"),
    (("tricks", 4, "leader"), "W", r"trick 5: leader is 'W', but E leads \(E12: the winner of the trick before"),
    (
        ("tricks", 3, "cards", 2),
        "C5",
        r"trick 10: W plays C5, which he has played before \(E13\)",
    ),
    (("tricks", 3, "cards", 2), "H5", r"trick 4: W plays H5, which he does not hold \(E13\)"),
    (("tricks", 3, "cards", 2), "CA", r"trick 4: W plays CA, which he has played before \(E13\)"),
    (("tricks", 3, "cards", 2), "1C", "trick 4: '1C' is not a card"),
    (("tricks", 3, "cards"), ["HJ", "DJ", "CJ"], "trick 4: 'cards' is .*a list of 4 cards"),
    (("tricks", 5, "winner"), "S", r"trick 6: winner is 'S', but E takes it \(E14\)"),
    (("tricks", 12, "winner"), "S", r"trick 13: winner is 'S', but E takes it \(E14\)"),
    (("tricks",), HAND["tricks"][:-1], r"only 12 of 13 tricks are played \(E2\)"),
    (("tricks",), HAND["tricks"] + HAND["tricks"][:1], r"trick 14: all 13 tricks have been played \(E2\)"),
    (("tricks",), [], "only 0 of 13 tricks"),
    (("status",), "redealt", r"'status' is 'redealt', but it must be 'played' \(E8, E9\)"),
    (("type",), "spades", r"'type' is 'spades', but it must be 'hearts' \(E7, E8\)"),
    (("declarer",), "N", r"'declarer' is 'N', but it must be 'S' \(E10\)"),
    (("partner",), "E", r"'partner' is 'E', but it must be 'N' \(E7, E8\)"),
    (("matched",), False, r"'matched' is False, but it must be True"),
    (("matched",), 1, r"'matched' is 1, but it must be True"),
    (("tricks_won", "E"), 12, r"'tricks_won' is .*\(E14\)"),
    (("tricks_won", "N"), False, r"'tricks_won' is .*\(E14\)"),
    (("side_points", "defenders"), 25, r"'side_points' is .*\(E15\)"),
    (("result",), "win", r"'result' is 'win', but it must be 'loss' \(E16\)"),
    (("credits", "W"), 0, r"'credits' is .*\(E17\)"),
    (("credits", "W"), 26.0, r"'credits' is .*\(E17\)"),
]


@pytest.mark.parametrize(("path", "value", "message"), CASES)
def test_refusals_name_deal_trick_card_and_clause(path: tuple[Any, ...], value: object, message: str) -> None:
    broken = spoil(HAND, path, value)
    refused(broken, message)
    if path not in (("ruleset",), ("seed",), ("deal",), ("credits", "W")):
        assert naive.check_trace(broken, naive.RULESETS["elections"])


def test_refusals_of_forced_deals() -> None:
    data = HAND | {"forced": True, "calls": [], "matched": None}
    verify_trace(data, load_ruleset("elections"))
    refused(data | {"matched": False}, "'matched'")
    refused(data | {"partner": "S"}, "declarer and partner are both S.*E7")
    refused(data | {"declarer": "E", "partner": "W"}, "trick 1: leader is 'W', but S leads .*E12")
    refused(data | {"contract": "all"}, "'contract' is 'all'")
    refused(data | {"status": "passed-out", "contract": None}, "'contract' is None")


def test_the_leader_is_named_by_the_rule_in_force() -> None:
    ruleset = load_ruleset("elections").with_choices(lead="left-of-dealer")
    data = simcore.replay("elections", ruleset=ruleset, seed=3, contract="nt-most")[0]
    wrong = SEATS[(SEATS.index(data["tricks"][0]["leader"]) + 1) % 4]
    refused(spoil(data, ("tricks", 0, "leader"), wrong), "E12: left of the dealer", ruleset)


def test_the_same_type_twice_is_refused_by_its_clause() -> None:
    """E5 beside E4: with free calls only the first can be broken."""
    ruleset = load_ruleset("elections").with_choices(calls="free")
    calls = [["N", "hearts"], ["E", "clubs"], ["S", "spades"], ["W", "diamonds"], ["N", "hearts"]]
    refused(HAND | {"calls": calls}, r"call 5: N calls 'hearts', which is not legal \(E5", ruleset)


RUBBISH: list[Any] = [
    ...,
    None,
    0,
    5,
    13,
    -1,
    1e300,
    float("nan"),
    10**6000,
    True,
    "",
    "x",
    "x" * 5000,
    "N",
    "E",
    "SA",
    "C2",
    "♠A",
    "pass",
    "clubs",
    "\ud800\x1b[2J",
    [],
    {},
    [[]],
    ["N", "S"],
    ["N"] * 500,
    {"a": 1},
    {"N": None},
    {1: 2, "N": 3},
    b"N",
    ("N", "pass"),
    {"N"},
]
DEEP: list[Any] = []
for _ in range(50_000):
    DEEP = [DEEP]


def paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path] * bool(path) + [found for key, value in inner for found in paths(value, (*path, key))]


@pytest.mark.parametrize(("name", "options"), [("elections", {}), ("variety", {}), ("elections-joint", {"contract": "random"})])
def test_whatever_is_spoilt_is_refused_with_a_trace_error_and_nothing_else(name: str, options: dict[str, str]) -> None:
    """What the naive engine refuses, ours does; any other exception fails the test by itself."""
    rng = random.Random(8)
    ruleset = load_ruleset(name)
    refusals = []
    for data in simcore.replay("elections", ruleset=name, seed=17, deals=8, **options):
        every = paths(data)
        for path in every if data["status"] != "played" else [(key,) for key in KEYS] + rng.sample(every, 80):
            broken = spoil(data, path, rng.choice(RUBBISH))
            if broken == data:
                continue
            if path in (("deal",), ("seed",)):
                bad = False  # the naive engine shows such values as they are, and cannot show all
            else:
                bad = bool(naive.check_trace(broken, naive.RULESETS[name]))
            try:
                verify_trace(broken, ruleset)
            except TraceError as error:
                refusals.append(str(error))
            else:
                assert not bad, (path, broken)
                # what may be otherwise: an index or seed, how a card is written, whose lots they were
                assert path[0] in ("deal", "seed", "lot_pairs", "tricks", "calls", "hands"), path
    assert len(refusals) > 250
    for text in refusals:
        assert text.startswith(("deal ", "trace: "))
        assert len(text) < 300, "one line that a person reads"
        assert text.isprintable()


def test_things_that_are_no_traces() -> None:
    for thing in (None, 5, 10**6000, "x", b"{}", [], {}, [{}], True, float("inf"), HAND["tricks"], DEEP):
        refused(thing, "^trace: |^a trace is ")
    for key in KEYS:
        refused(HAND | {key: DEEP}, "deal|trace")
    refused(HAND | {"tricks": [DEEP] * 13}, "trick 1: list too large to show")
    refused(HAND | {"deal": -(10**6000)}, "int too large to show")
    missing = [key for key in KEYS if key not in ("deal", "game")]
    for key in missing:
        refused(spoil(HAND, (key,), ...), rf"^deal 3: key '{key}' is|^deal 3: hands")


def test_a_trace_of_another_ruleset_is_refused() -> None:
    refused(HAND, "key 'ruleset' is 'elections'; accepted: variety", "variety")


# ---- the same deal under other names --------------------------------------------------------------------------------------------

#: Permutations of the suits C D H S that leave a contract of `elections` as it is.
SYMMETRIES = {
    "nt-most": ["CDHS", "SHDC", "DHSC"],
    "nt-fewest": ["SCDH", "HDCS"],
    "clubs-tricks": ["CSDH", "CHDS"],
    "clubs-reds": ["CHDS"],
    "hearts-spades": ["DCHS"],
    "spades-honours": ["CHDS"],
    "spades-clubs": ["CHDS"],
}


@pytest.mark.parametrize("contract", SYMMETRIES)
def test_suits_that_the_contract_does_not_tell_apart_may_be_renamed(contract: str) -> None:
    for order in SYMMETRIES[contract]:
        to = dict(zip("CDHS", order, strict=True))
        back = {new: old for old, new in to.items()}
        for data in simcore.replay("elections", seed=6, deals=8, contract=contract, players="greedy"):
            other = copy.deepcopy(data)
            for trick in other["tricks"]:
                trick["cards"] = [to[card[0]] + card[1] for card in trick["cards"]]
            for seat, hand in data["hands"].items():
                held = dict(zip("SHDC", hand.split("."), strict=True))
                other["hands"][seat] = ".".join(held[back[suit]] for suit in "SHDC")
            verify_trace(other, load_ruleset("elections"))
            assert not naive.check_trace(other)


@pytest.mark.parametrize("name", ["elections", "variety"])
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_deal_with_the_table_turned_is_right_too(name: str, turn: int) -> None:
    """No rule knows one seat from another."""

    def turned(node: Any) -> Any:
        if isinstance(node, dict):
            return {turned(key): turned(value) for key, value in node.items()}
        if isinstance(node, list):
            return [turned(item) for item in node]
        return SEATS[(SEATS.index(node) + turn) % 4] if isinstance(node, str) and node in tuple(SEATS) else node

    for data in simcore.replay("elections", ruleset=name, seed=9, deals=30):
        verify_trace(turned(data), load_ruleset(name))
        assert not naive.check_trace(turned(data))


# ---- diagrams -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"contract": "random"}, {"players": "greedy"}])
@pytest.mark.parametrize("name", ["elections", "elections-joint", "variety", "tricks"])
def test_diagrams_fit_every_terminal(name: str, options: dict[str, str]) -> None:
    for data in simcore.replay("elections", ruleset=name, seed=7, deals=20, **options):
        plain = render(data, symbols=False, colour=False)
        assert plain.isascii()
        assert plain.replace("\n", "").isprintable()
        assert max(map(len, plain.splitlines())) <= 100
        assert not any(line != line.rstrip() for line in plain.splitlines())
        with_symbols = render(data, symbols=True, colour=False)
        assert set("♠♥♦♣") <= set(with_symbols)
        coloured = render(data, symbols=True, colour=True)
        assert "\033[31m♥\033[0m" in coloured
        assert "\033[31m♠" not in coloured
        for code in ("\033[31m", "\033[1m", "\033[0m"):
            coloured = coloured.replace(code, "")
        assert coloured == with_symbols


def test_a_ruleset_in_another_script_on_an_ascii_terminal() -> None:
    ruleset = simcore.rules.parse_ruleset(load_ruleset("elections").text.replace('name = "elections"', 'name = "выборы"'))
    data = simcore.replay("elections", ruleset=ruleset, seed=7)[0]
    assert "выборы" in render(data)
    assert render(data, symbols=False).isascii()


def test_a_diagram_says_everything() -> None:
    text = render(HAND, symbols=False)
    lines = text.splitlines()
    assert lines[0] == "Elections (elections), seed 0, deal 3"
    for hand in ("S A K Q J 10 9 8 7 6 5 4 3 2", "H A K Q J 10 9 8 7 6 5 4 3 2", "D A K", "C A K"):
        assert hand in text
    assert [line.split() for line in lines if "dealer" in line] == [["West,", "dealer", "+---N---+", "East"]]
    assert "Dealer West; lot pairs N-W and E-S" in text
    auction = lines.index(next(line for line in lines if line.split() == list("NESW")))
    assert [line.split() for line in lines[auction + 1 : auction + 3]] == [["no-trump", "clubs", "hearts", "pass"], ["hearts"]]
    assert "hearts-spades by South with North, partners by matching" in text
    assert "hearts trump: +2 a spade" in text
    table = next(i for i, line in enumerate(lines) if line.startswith("trick"))
    assert lines[table + 1].split() == ["att", "def", "att", "def"]
    assert lines[table + 2].split() == ["1", "SA", "HA*", "DA", ">CA", "0", ":", "1"]
    assert lines[table + 3].split() == ["2", "SK", ">HK*", "DK", "CK", "0", ":", "2"]
    assert lines[table + 14].split() == ["13", "S2", ">H2*", "D2", "C2", "0", ":", "13"]
    assert "Attackers +0, defenders +26: the attackers lose" in text
    assert [line.split() for line in lines if line.startswith(("Tricks", "Credits"))] == [
        ["Tricks", "N", "0", "E", "13", "S", "0", "W", "0"],
        ["Credits", "N", "+0", "E", "+26", "S", "+0", "W", "+26"],
    ]


def test_the_auction_stands_under_the_seats_that_called() -> None:
    """Also where players are out: each call below its seat, a new line when the turn has come round."""
    for name in ("elections", "variety"):
        for data in simcore.replay("elections", ruleset=name, seed=11, deals=40):
            lines = render(data, symbols=False).splitlines()
            top = next(i for i, line in enumerate(lines) if sorted(line.split()) == sorted(SEATS))
            columns = {seat: lines[top].index(seat) for seat in SEATS}
            assert lines[top].split()[3] == data["dealer"]
            found = []
            for line in lines[top + 1 : lines.index("", top)]:
                for at, seat in sorted((at, seat) for seat, at in columns.items()):
                    if line[at : at + 1].strip():
                        found.append([seat, line[at:].split()[0]])
            assert found == data["calls"]


def test_other_endings_in_diagrams() -> None:
    assert render(find(lambda data: data["status"] == "passed-out")).endswith("All four pass; nobody scores")
    redealt = find(lambda data: data["status"] == "redealt" and any(call != "pass" for _, call in data["calls"]), "variety")
    assert render(redealt).endswith("No two agree: the deal is thrown in; nobody scores")
    by_lot = find(lambda data: data["matched"] is False)
    assert "partners by lot" in render(by_lot)
    forced = simcore.replay("elections", seed=1, contract="nt-most")[0]
    assert "No auction: the contract was given" in render(forced)
    assert "no trump: +12 for more tricks" in render(forced)
    ruleset = load_ruleset("elections").with_choices(tie="draw")
    draw = find(lambda data: data["result"] == "draw", ruleset, contract="diamonds-colours", players="greedy")
    assert "a draw" in render(draw)


def test_what_a_contract_pays_is_said_only_where_it_is_known() -> None:
    other = simcore.rules.parse_ruleset(load_ruleset("elections").text.replace("spades = 2", "spades = 5"))
    data = simcore.replay("elections", ruleset=other, seed=1, contract="hearts-spades")[0]
    assert "+2 a spade" not in render(data), "a designer's file that bears a shipped name"
    assert "+2 a spade" in render(simcore.replay("elections", seed=1, contract="hearts-spades")[0])
