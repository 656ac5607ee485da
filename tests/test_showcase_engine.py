"""The Showcase engine as a whole: through the naive engine, row kernel, given deals, external players, traces, no peeking."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

import simcore
from simcore.cards import ALL_CARDS, format_hand, parse_card, parse_hand
from simcore.errors import TraceError
from simcore.players import EXTERNAL, GREEDY, PLAYERS_KNOWN, RANDOM
from simcore.rng import SOURCE, STREAM, open_streams
from simcore.rules import CHOICES, TRUMPS, Ruleset, load_ruleset
from simcore.showcase import rows, state
from simcore.showcase.engine import advance, apply, prepare
from simcore.showcase.play import start_deal
from simcore.showcase.trace import render, trace, verify_trace
from simcore.showcase.two_at_once import DEAL_STATE

ROOT = Path(__file__).parent.parent
STYLES = {"showcase": "showcase", "showcase-magri": "magri"}
PLAYERS = [name for name, info in PLAYERS_KNOWN.items() if not info.factory]
COLUMN = {name: place for place, name in enumerate(rows.BYTE_COLUMNS)}


def record(dtype: Any) -> Any:
    return np.zeros(1, dtype).view(np.recarray)[0]


def variants(name: str) -> list[tuple[Ruleset, naive.Ruleset]]:
    """Return every combination of the choices of a ruleset, for both engines."""
    choices = CHOICES[STYLES[name]]
    picks = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    return [(load_ruleset(name).with_choices(**pick), naive.variant(name, **pick)) for pick in picks]


class Run:
    """One call of the row kernel."""

    def __init__(
        self,
        ruleset: str | Ruleset = "showcase",
        deals: int = 50,
        first: int = 0,
        *,
        trump: int = rows.NAMER_NAMES,
        policies: Any = RANDOM,
        dealer: int = -1,
        given: tuple[np.ndarray, np.ndarray] | None = None,
        key: int = 77,
        two: bool = False,
        records: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        options = record(rows.OPTIONS)
        options.key0, options.trump, options.dealer, options.want_rows = key, trump, dealer, 1
        options.policies[:] = policies
        options.hands_given = given is not None
        self.tables, self.views = records or (np.zeros(2, state.TABLE).view(np.recarray), np.zeros(2, state.VIEW).view(np.recarray))
        self.hands, reserves = given or (np.zeros((deals, 2), np.uint64), np.zeros((deals, 26), np.int8))
        self.rows = np.full((len(rows.BYTE_COLUMNS), deals * (6 if trump == rows.ALL_TRUMPS else 1)), -99, np.int8)
        self.tally = np.zeros((len(TRUMPS), len(rows.TALLY)), np.int64)
        if two:
            pair, streams = np.zeros(4, DEAL_STATE).view(np.recarray), np.zeros((2, 2, 2), STREAM).view(np.recarray)
            rows.run_random(
                load_ruleset(ruleset).record[0],
                options,
                np.uint64(first),
                deals,
                pair,
                record(SOURCE),
                streams[0],
                streams[1],
                self.hands,
                reserves,
                self.rows,
                0,
                self.tally,
            )
            return
        streams = np.zeros((2, 2), STREAM).view(np.recarray)
        self.written = rows.run_deals(
            load_ruleset(ruleset).record[0],
            options,
            np.uint64(first),
            deals,
            self.tables,
            self.views,
            record(SOURCE),
            streams[0],
            streams[1],
            hands=self.hands,
            names=self.rows,
            offset=0,
            tally=self.tally,
            reserves=reserves,
        )

    def column(self, name: str) -> np.ndarray:
        return self.rows[COLUMN[name]].astype(int)


def checked(traces: list[dict[str, Any]], rules: naive.Ruleset, ruleset: Ruleset) -> None:
    for data in traces:
        problems = naive.check_trace(json.loads(json.dumps(data)), rules)
        assert not problems, (problems, data)
        verify_trace(data, ruleset)


# ---- against the naive engine ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("name", STYLES)
def test_every_combination_of_choices_through_the_naive_engine(name: str, player: str) -> None:
    """Of each combination of choices a few deals; 2,000 of each shipped ruleset and player are in test_engines.py."""
    every = variants(name)
    share = -(-600 // len(every))
    for number, (ruleset, rules) in enumerate(every):
        checked(simcore.replay("showcase", ruleset=ruleset, seed=500 + number, deals=share, players=player), rules, ruleset)


@pytest.mark.parametrize("name", STYLES)
def test_mixed_players_forced_and_all_trumps_through_the_naive_engine(name: str) -> None:
    for number, (ruleset, rules) in enumerate(variants(name)):
        for options in ({"player": {"N": "greedy"}}, {"player": {"S": "greedy"}, "dealer": "N"}, {"trump": TRUMPS[number % 6]}):
            checked(simcore.replay("showcase", ruleset=ruleset, seed=number, deals=8, **options), rules, ruleset)


def test_two_deals_at_a_time_are_what_the_engine_plays() -> None:
    """Random players, every combination of choices: rows, hands and tallies, of odd and even numbers of deals, dealt and given."""
    given = simcore.deal_showcase(3, 0, 9)[:2]
    for ruleset, _ in variants("showcase"):
        for deals, options in (
            (9, {"first": 2**40 + 1}),
            (4, {"trump": 2, "dealer": 1}),
            (9, {"trump": rows.ALL_TRUMPS, "given": given}),
        ):
            fast, slow = Run(ruleset, deals, two=True, **options), Run(ruleset, deals, **options)
            for attribute in ("rows", "hands", "tally"):
                assert (getattr(fast, attribute) == getattr(slow, attribute)).all(), (ruleset.choices, options, attribute)


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("name", STYLES)
def test_cards_are_conserved(name: str, player: str) -> None:
    """All 52 cards are accounted for and the holdings are 13 + w, by bookkeeping of the trace alone."""
    for ruleset, _ in variants(name):
        for data in simcore.replay("showcase", ruleset=ruleset, seed=41, deals=6, players=player):
            holding = {seat: set(simcore.Hand.parse(data["hands"][seat])) for seat in "NS"}
            out: set[str] = set()
            for trick in data["first"]:
                other = {"N": "S", "S": "N"}
                for seat, card in zip((trick["leader"], other[trick["leader"]]), trick["cards"], strict=True):
                    holding[seat].remove(card)
                gained = set(trick["cards"]) if trick["taken"] is None else {trick["taken"]}
                out |= set() if trick["taken"] is None else set(trick["cards"])
                holding[trick["winner"]] |= gained
                holding[other[trick["winner"]]].add(trick["drawn"])
            if ruleset.choices.get("turned_card") == "out":
                out.add(data["turned"])
            assert len(holding["N"]) + len(holding["S"]) + len(out) == len(holding["N"] | holding["S"] | out) == 52
            for seat in "NS":
                won = sum(trick["winner"] == seat for trick in data["first"])
                assert len(holding[seat]) == (13 if name == "showcase-magri" else 13 + won)
            for trick in data["second"]:
                assert set(trick["cards"]) <= holding["N"] | holding["S"]


# ---- the row kernel -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [RANDOM, GREEDY])
@pytest.mark.parametrize("name", STYLES)
def test_rows_say_what_the_traces_say(name: str, policy: int) -> None:
    run = Run(name, 60, policies=policy)
    data = simcore.replay("showcase", ruleset=name, seed=77, deals=60, players=PLAYERS[policy])
    assert run.written == 60
    for i, deal in enumerate(data):
        seats = [deal["dealer"], deal["namer"], deal["second"][0]["leader"], deal["winner"]]
        assert ["NS"[run.column(name)[i]] for name in ("dealer", "namer", "leader", "winner")] == seats
        assert TRUMPS[run.column("trump")[i]] == deal["trump"]
        for s, seat in enumerate("NS"):
            letter = seat.lower()
            assert run.column(f"won_{letter}")[i] == sum(trick["winner"] == seat for trick in deal["first"])
            assert run.column(f"count_{letter}")[i] == deal["counts"][seat]
            assert run.column(f"points_{letter}")[i] == deal["points"][seat]
            assert format_hand(run.hands[i, s]) == deal["hands"][seat]


@pytest.mark.parametrize("name", STYLES)
def test_any_subset_in_any_order_gives_the_same_rows(name: str) -> None:
    """Also on records that another deal, of another style, has used: nothing leaks from deal to deal."""
    whole = Run(name, 40)
    used = Run("showcase" if name == "showcase-magri" else "showcase-magri", 3, key=5)
    for i in (39, 0, 17, 16):
        part = Run(name, 1, first=i, records=(used.tables, used.views))
        assert (part.rows[:, 0] == whole.rows[:, i]).all()
    assert (Run(name, 40, key=78).rows != whole.rows).any()


@pytest.mark.parametrize("policy", [RANDOM, GREEDY])
@pytest.mark.parametrize("name", STYLES)
def test_all_trumps_from_one_first_playout(name: str, policy: int) -> None:
    """Row t of a deal is the row of trump t alone; everything up to the naming is the same in all six."""
    every = Run(name, 40, trump=rows.ALL_TRUMPS, policies=policy)
    assert every.written == 240
    for t in range(6):
        alone = Run(name, 40, trump=t, policies=policy)
        assert (alone.rows == every.rows[:, t::6]).all()
        assert (alone.tally[t] == every.tally[t]).all()
    until_naming = every.rows[:7].reshape(7, 40, 6)
    assert (until_naming == until_naming[:, :, :1]).all()
    assert (every.column("trump") == np.tile(np.arange(6), 40)).all()
    if policy == GREEDY:
        named = Run(name, 40, policies=policy)
        assert (every.rows[:, 6 * np.arange(40) + named.column("trump")] == named.rows).all()


@pytest.mark.parametrize("trump", [rows.NAMER_NAMES, rows.ALL_TRUMPS, 3])
def test_given_deals(trump: int) -> None:
    """The deals of indices 100 … played again as given deals, at their own indices: the same rows; at others, the same cards."""
    dealt = Run(deals=30, first=100, trump=trump)
    hands, reserves, _ = simcore.deal_showcase(77, 100, 30)
    assert (hands == dealt.hands).all()
    given = (hands, reserves)
    again = Run(deals=30, first=100, trump=trump, given=given)
    assert (again.rows == dealt.rows).all()
    assert (again.tally == dealt.tally).all()
    moved = Run(deals=30, first=5000, trump=trump, given=given)
    assert (moved.hands == dealt.hands).all()
    assert (moved.column("turned") == dealt.column("turned")).all()
    assert (moved.rows != dealt.rows).any(), "the players' choices and the dealer's lot belong to the index"


def test_the_cards_do_not_depend_on_players_dealer_or_trump() -> None:
    plain = Run(deals=30)
    hands, reserves, dealers = simcore.deal_showcase(77, 0, 30)
    for run in (plain, Run(deals=30, policies=GREEDY), Run("showcase-magri", 30, dealer=1), Run(deals=30, trump=rows.ALL_TRUMPS)):
        assert (run.hands == hands).all()
        assert (run.column("turned")[:: len(run.rows[0]) // 30] == plain.column("turned")).all()
    for i, deal in enumerate(simcore.replay("showcase", seed=77, deals=30)):
        assert list(reserves[i]) == [parse_card(card) for card in [deal["turned"], *deal["reserve"]]]
    assert (plain.column("dealer") == dealers).all()


@pytest.mark.parametrize("name", STYLES)
def test_tallies_are_sums_over_rows(name: str) -> None:
    run = Run(name, 400)
    ns = np.array([run.column("points_n"), run.column("points_s")])
    namer, leader, dealer, winner = (run.column(name) for name in ("namer", "leader", "dealer", "winner"))
    points = np.take_along_axis(ns, namer[None], 0)[0]
    wanted = {
        "deals": np.ones(400, int),
        "namer_wins": winner == namer,
        "points": points,
        "points_points": points**2,
        "n_wins": winner == 0,
        "elder_wins": winner != dealer,
        "leader_wins": winner == leader,
        "count_ties": run.column("count_n") == run.column("count_s"),
        "won_n": run.column("won_n"),
        "won_s": run.column("won_s"),
        "count_n": run.column("count_n"),
        "count_s": run.column("count_s"),
    }
    assert tuple(wanted) == rows.TALLY
    for t in range(6):
        assert run.tally[t].tolist() == [int(values[run.column("trump") == t].sum()) for values in wanted.values()]
    assert run.tally[:, 0].sum() == 400
    assert (ns.sum(0) == 13).all()


@pytest.mark.parametrize("name", STYLES)
def test_swapping_the_seats_swaps_the_result(name: str) -> None:
    """The greedy players look at nothing but the cards: N's hand with S's, the dealer too, and every row turns over."""
    reserves = simcore.deal_showcase(77, 0, 60)[1]
    for dealer in (0, 1):
        a = Run(name, 60, policies=GREEDY, dealer=dealer)
        b = Run(name, 60, policies=GREEDY, dealer=1 - dealer, given=(a.hands[:, ::-1].copy(), reserves))
        for pair in (("won_n", "won_s"), ("count_n", "count_s"), ("points_n", "points_s")):
            for mine, theirs in (pair, pair[::-1]):
                assert (a.column(mine) == b.column(theirs)).all()
        for seat in ("dealer", "namer", "leader", "winner"):
            assert (a.column(seat) == 1 - b.column(seat)).all()
        assert (a.column("trump") == b.column("trump")).all()


# ---- the greedy player ---------------------------------------------------------------------------------------------------------


def cost(card: str, trump: str | None) -> int:
    return naive.RANK_OF[card] + (13 if card[0] == trump else 0)


@pytest.mark.parametrize("name", STYLES)
def test_greedy_names_its_longest_suit_and_takes_as_cheaply_as_possible(name: str) -> None:
    """Every naming and every card of the second playout, worked out again with the naive engine's words."""
    for ruleset, rules in variants(name):
        for data in simcore.replay("showcase", ruleset=ruleset, seed=61, deals=5, players="greedy"):
            game = naive.ShowcaseGame(
                rules,
                {seat: naive.parse_hand(pbn) for seat, pbn in data["hands"].items()},
                data["turned"],
                data["reserve"],
                data["dealer"],
            )
            for card in [card for trick in data["first"] for card in trick["cards"]]:
                game.apply(card)
            longest = max(len(naive.of_suit(game.holding(game.turn), suit)) for suit in naive.SUITS)
            assert len(naive.of_suit(game.holding(game.turn), naive.TRUMPS[data["trump"]])) == longest
            game.apply(data["trump"])
            trump = naive.TRUMPS[data["trump"]]
            for lead, reply in (trick["cards"] for trick in data["second"]):
                side = [card for card in game.legal() if card[0] != trump] or game.legal()
                assert naive.RANK_OF[lead] == max(naive.RANK_OF[card] for card in side)
                game.apply(lead)
                takers = [card for card in game.legal() if not naive.leader_wins(lead, card, trump, rules["choices"]["all_trump"])]
                assert cost(reply, trump) == min(cost(card, trump) for card in takers or game.legal())
                assert not takers or reply in takers
                game.apply(reply)


# ---- external players, no peeking -----------------------------------------------------------------------------------------------


class Table:
    """A deal played from outside, decision by decision."""

    def __init__(self, name: str | Ruleset, index: int, policies: Any = EXTERNAL) -> None:
        self.ruleset = load_ruleset(name)
        self.rules = self.ruleset.record[0]
        self.table, self.view = state.new_table()[0], state.new_view()[0]
        hands, reserves, dealers = simcore.deal_showcase(9, index, 1)
        self.table.hands[:], self.table.stock[:] = hands[0], reserves[0]
        self.table.policies[:] = policies
        self.streams = np.zeros(2, STREAM).view(np.recarray)
        open_streams(self.streams, np.uint64(9), np.uint64(0), np.uint64(index))
        start_deal(self.rules, self.table, self.view, int(dealers[0]))

    def next(self) -> int:
        return int(advance(self.rules, self.table, self.view, self.streams, state.DONE))

    def answer(self, kind: int, action: int) -> None:
        apply(self.rules, self.table, self.view, kind, np.uint64(action))


def bits(mask: int) -> list[int]:
    return [1 << bit for bit in range(64) if int(mask) >> bit & 1]


@pytest.mark.parametrize("name", STYLES)
def test_external_players_are_asked_only_where_there_is_a_choice(name: str) -> None:
    rng = random.Random(4)
    kinds = set()
    for index in range(30):
        deal = Table(name, index)
        while (kind := deal.next()) >= 0:
            kinds.add(kind)
            legal = bits(deal.view.legal)
            assert len(legal) > 1
            assert deal.view.seat == deal.table.turn
            assert deal.view.hand == deal.table.hands[deal.table.turn]
            deal.answer(kind, rng.choice(legal))
        data = trace(deal.ruleset, 9, index, deal.table, deal.view)
        checked([data], naive.RULESETS[name], deal.ruleset)
    assert kinds == {state.FIRST, state.TRUMP, state.SECOND}


@pytest.mark.parametrize("name", STYLES)
def test_one_external_seat_and_one_external_decision(name: str) -> None:
    rng = random.Random(5)
    for seat, kind in itertools.product(range(2), range(3)):
        for index in range(6):
            deal = Table(name, index, RANDOM)
            deal.table.policies[seat, kind] = EXTERNAL
            while (asked := deal.next()) >= 0:
                assert (asked, deal.view.seat) == (kind, seat)
                deal.answer(asked, rng.choice(bits(deal.view.legal)))
            checked([trace(deal.ruleset, 9, index, deal.table, deal.view)], naive.RULESETS[name], deal.ruleset)


@pytest.mark.parametrize("name", STYLES)
def test_the_view_does_not_change_when_hidden_cards_do(name: str) -> None:
    """Whatever reads the view cannot peek: hidden hand and reserve shuffled together leave every byte of it as it was."""
    rng = random.Random(6)
    worked_out = 0
    for index in range(60):
        deal = Table(name, index)
        for _ in range(rng.randrange(75)):
            if (kind := deal.next()) < 0:
                break
            deal.answer(kind, rng.choice(bits(deal.view.legal)))
        if (kind := deal.next()) < 0:
            continue
        before = bytes(deal.view.tobytes())
        other = 1 - int(deal.table.turn)
        if kind == state.FIRST:
            unseen = bits(deal.table.hands[other])
            start, display = int(deal.table.next), int(deal.view.display)
            assert display < 0 or display not in deal.table.stock[start:].tolist()
            unseen += [1 << int(card) for card in deal.table.stock[start:]]
            rng.shuffle(unseen)
            held = int(deal.table.hands[other]).bit_count()
            deal.table.hands[other] = np.uint64(sum(unseen[:held]))
            deal.table.stock[start:] = [bit.bit_length() - 1 for bit in unseen[held:]]
        else:
            worked_out += 1
            assert deal.view.other == deal.table.hands[other], "the reserve is empty: the other holding follows from what was seen"
            deal.table.hands[other] = np.uint64(0)
        deal.table.dealt[other] = np.uint64(0)
        deal.table.drawn[:] = 0
        assert prepare(deal.rules, deal.table, deal.view) == kind
        assert bytes(deal.view.tobytes()) == before
    assert worked_out > 8


@pytest.mark.parametrize("name", STYLES)
def test_the_other_holding_can_be_worked_out_under_every_combination_of_choices(name: str) -> None:
    rng = random.Random(9)
    for number, (ruleset, _) in enumerate(variants(name)):
        deal = Table(ruleset, number)
        asked = 0
        while (kind := deal.next()) >= 0:
            if kind != state.FIRST:
                asked += 1
                assert deal.view.other == deal.table.hands[1 - int(deal.table.turn)], ruleset.choices
            deal.answer(kind, rng.choice(bits(deal.view.legal)))
        assert asked > 5


def test_the_other_holding_is_not_shown_before_the_naming() -> None:
    deal = Table("showcase", 3)
    while (kind := deal.next()) == state.FIRST:
        assert deal.view.other == 0
        deal.answer(kind, bits(deal.view.legal)[0])
    assert deal.view.other != 0


# ---- traces ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STYLES)
def test_format_of_a_trace(name: str) -> None:
    data = simcore.replay("showcase", ruleset=name, seed=2**128 - 1, first=5)[0]
    head = ["game", "ruleset", "seed", "deal", "dealer", "hands", "turned", "reserve"]
    assert list(data) == [*head, "first", "counts", "namer", "trump", "second", "points", "winner"]
    assert list(data["first"][0]) == ["leader", "cards", "from", "winner", "drawn", "taken"]
    assert list(data["second"][0]) == ["leader", "cards", "winner"]
    assert (data["game"], data["ruleset"], data["seed"], data["deal"]) == ("showcase", name, str(2**128 - 1), 5)
    assert len(data["reserve"]) == 25
    assert all((trick["taken"] is None) == (name == "showcase") for trick in data["first"])
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize("name", STYLES)
def test_relabelled_traces_are_right_too(name: str) -> None:
    """N called S, or suits renamed throughout: no rule knows one seat or suit from another."""
    rng = random.Random(7)
    ruleset = load_ruleset(name)
    for data in simcore.replay("showcase", ruleset=name, seed=12, deals=20):
        suits = dict(zip("CDHS", rng.sample("CDHS", 4), strict=True))
        swap = rng.random() < 0.5
        names = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
        trumps = {names[old]: names[new] for old, new in suits.items()}

        def seat(word: str, swap: bool = swap) -> str:
            return {"N": "S", "S": "N"}[word] if swap else word

        def card(word: str, suits: dict[str, str] = suits) -> str:
            return suits[word[0]] + word[1]

        def hand(pbn: str, suits: dict[str, str] = suits) -> str:
            held = dict(zip("SHDC", pbn.split("."), strict=True))
            back = {new: old for old, new in suits.items()}
            return ".".join(held[back[suit]] for suit in "SHDC")

        def trick(old: dict[str, Any], seat: Any = seat, card: Any = card) -> dict[str, Any]:
            new = old | {"leader": seat(old["leader"]), "winner": seat(old["winner"]), "cards": [card(c) for c in old["cards"]]}
            return new | {key: old[key] and card(old[key]) for key in ("drawn", "taken") if key in old}

        other = data | {key: seat(data[key]) for key in ("dealer", "namer", "winner")}
        other["hands"] = {seat(s): hand(pbn) for s, pbn in data["hands"].items()}
        other |= {key: {seat(s): value for s, value in data[key].items()} for key in ("counts", "points")}
        other |= {key: [trick(old) for old in data[key]] for key in ("first", "second")}
        other |= {"turned": card(data["turned"]), "reserve": [card(c) for c in data["reserve"]]}
        other["trump"] = trumps.get(data["trump"], data["trump"])
        checked([other], naive.RULESETS[name], ruleset)


def spoil(data: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    broken: dict[str, Any] = json.loads(json.dumps(data))
    node: Any = broken
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return broken


def paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path] * bool(path) + [found for key, value in inner for found in paths(value, (*path, key))]


RUBBISH = [
    ...,
    None,
    5,
    0,
    "x",
    "",
    [],
    {},
    [[]],
    {"a": 1},
    True,
    -1,
    1e300,
    "SA",
    ["N", "S"],
    "N",
    "S",
    "C2",
    "hand",
    "showcase",
    13,
]


@pytest.mark.parametrize("name", STYLES)
def test_whatever_is_spoilt_is_refused_with_a_trace_error_and_nothing_else(name: str) -> None:
    """What the naive engine refuses, ours does; any other exception fails the test by itself."""
    rng = random.Random(8)
    ruleset = load_ruleset(name)
    refusals = []
    for data in simcore.replay("showcase", ruleset=name, seed=17, deals=12):
        verify_trace(data, ruleset)
        every = paths(data)
        for path in rng.sample(every, 150):
            broken = spoil(data, path, rng.choice(RUBBISH))
            bad = bool(naive.check_trace(broken, naive.RULESETS[name]))
            try:
                verify_trace(broken, ruleset)
            except TraceError as error:
                refusals.append(str(error))
            else:
                assert not bad, (path, broken)
    assert len(refusals) > 1500
    assert max(map(len, refusals)) < 400, "one line that a person reads"
    for thing in (None, 5, "x", [], {}, [{}], True):
        with pytest.raises(TraceError):
            verify_trace(thing, ruleset)


def other_card(data: dict[str, Any], seat: str, legal: bool) -> str:
    """Return a card of a seat's first hand that may, or may not, be played to the first trick instead."""
    held = list(simcore.Hand.parse(data["hands"][seat]))
    led, played = data["first"][0]["cards"]
    follows = {card for card in held if card[0] == led[0]}
    assert follows
    return next(card for card in held if (card in follows) == legal and card != played)


def can_revoke(data: dict[str, Any]) -> bool:
    led, played = data["first"][0]["cards"]
    return led[0] == played[0]


@pytest.mark.parametrize("name", STYLES)
def test_refusals_name_deal_trick_card_and_clause(name: str) -> None:
    magri = name == "showcase-magri"
    choices = {"follow_from": "hand-and-showcase"} if magri else {}
    ruleset = load_ruleset(name).with_choices(**choices)
    data = next(d for d in simcore.replay("showcase", ruleset=ruleset, seed=30, deals=30) if can_revoke(d))
    where = rf"deal {data['deal']}: first playout, trick "
    leader = data["first"][0]["leader"]
    follower = "S" if leader == "N" else "N"
    revoke = other_card(data, follower, legal=False)
    foreign = data["reserve"][-1]
    spare = next(c for c in ("C2", "C3", "C4") if c not in (data["first"][3]["drawn"], data["first"][3]["taken"]))
    swapped = {"hand": "showcase", "showcase": "hand"}
    cases: list[tuple[tuple[Any, ...], object, str]] = [
        (("first", 0, "cards", 1), revoke, rf"{where}1: {follower} may not play {revoke} .*{'M4' if magri else 'S4'}"),
        (("first", 0, "cards", 0), foreign, rf"{where}1: {leader} plays {foreign}, .*{'M3' if magri else 'S3'}"),
        (("first", 0, "leader"), follower, rf"{where}1: leader is '{follower}'"),
        (
            ("first", 2, "winner"),
            {"N": "S", "S": "N"}[data["first"][2]["winner"]],
            rf"{where}3: winner .*{'M5' if magri else 'S5'}",
        ),
        (("first", 3, "drawn"), spare, rf"{where}4: drawn .*{spare}.*{'M6' if magri else 'S6'}"),
        (("first", 3, "taken"), spare, rf"{where}4: taken .*{spare}.*{'M6' if magri else 'S6'}"),
        (("first", 4, "from", 0), swapped[data["first"][4]["from"][0]], rf"{where}5: {data['first'][4]['cards'][0]} .*[MS]3"),
        (("first", 4, "from", 1), swapped[data["first"][4]["from"][1]], rf"{where}5: {data['first'][4]['cards'][1]} .*[MS]4"),
        (("first",), data["first"][:-1], r"first playout stops after \d+ tricks .*" + ("M6" if magri else "S7")),
        (("first",), data["first"] + data["first"][:1], r"trick \d+: .*over .*" + ("M6" if magri else "S7")),
        (("counts", "N"), data["counts"]["N"] + 1, "counts.*" + ("M8" if magri else "S8")),
        (("namer",), {"N": "S", "S": "N"}[data["namer"]], "namer.*S9"),
        (("trump",), "stars", "'stars'.*S9"),
        (("second", 0, "leader"), {"N": "S", "S": "N"}[data["second"][0]["leader"]], "second playout, trick 1: .*S10"),
        (("second", 1, "cards", 0), data["second"][0]["cards"][0], "second playout, trick 2: .*S11"),
        (("second", 2, "winner"), {"N": "S", "S": "N"}[data["second"][2]["winner"]], "second playout, trick 3: winner .*S13"),
        (("second",), data["second"][:-1], "12 tricks.*S14"),
        (("points", "N"), data["points"]["N"] + 1, "points.*S14"),
        (("winner",), {"N": "S", "S": "N"}[data["winner"]], "winner.*S14"),
        (("reserve",), data["reserve"][:-1], "S2: .*24 cards"),
        (("reserve", 0), data["turned"], "S2: .*twice"),
    ]
    for path, value, message in cases:
        broken = spoil(data, path, value)
        assert naive.check_trace(broken, naive.variant(name, **choices)), path
        with pytest.raises(TraceError, match=message):
            verify_trace(broken, ruleset)


def test_a_revoke_in_the_second_playout_is_refused() -> None:
    ruleset = load_ruleset("showcase")
    done = 0
    for data in simcore.replay("showcase", seed=31, deals=40):
        lead, reply = data["second"][0]["cards"]
        follower = "S" if data["second"][0]["leader"] == "N" else "N"
        later = [t["cards"][t["leader"] != follower] for t in data["second"][1:]]
        off_suit = [card for card in later if card[0] != lead[0]]
        if reply[0] == lead[0] and off_suit:
            done += 1
            with pytest.raises(TraceError, match=rf"second playout, trick 1: {follower} plays {off_suit[0]} .*S12"):
                verify_trace(spoil(data, ("second", 0, "cards", 1), off_suit[0]), ruleset)
    assert done > 10


def test_a_trace_of_another_ruleset_is_refused() -> None:
    data = simcore.replay("showcase", seed=1)[0]
    with pytest.raises(TraceError, match="showcase-magri"):
        verify_trace(data, load_ruleset("showcase-magri"))


@pytest.mark.parametrize("name", STYLES)
def test_diagrams(name: str) -> None:
    for data in simcore.replay("showcase", ruleset=name, seed=7, deals=25):
        plain = render(data, symbols=False, colour=False)
        assert plain.isascii()
        assert "\033" not in plain
        assert max(map(len, plain.splitlines())) <= 100
        assert "♠" in render(data, symbols=True, colour=False)
        assert "\033[31m" in render(data, symbols=True, colour=True)
        for seat, word in (("N", "North"), ("S", "South")):
            block = plain.split(f"{word}'s showcase\n")[1].split("\n\n")[0]
            cards = set(block.replace("left over:", " ").replace("empty", " ").split())
            assert cards == shown_at_the_end(data)[seat]
            if name == "showcase":
                whole = block.split("left over:")[0].replace("empty", " ").split()
                assert len(whole) == 2 * data["counts"][seat]
        foreign = json.loads(json.dumps(data).replace("H", "h"))
        foreign["hands"] = data["hands"]
        verify_trace(foreign, load_ruleset(name))
        assert render(foreign, symbols=False, colour=False) == plain, "a card written in another way is the same card"


def shown_at_the_end(data: dict[str, Any]) -> dict[str, set[str]]:
    shown: dict[str, set[str]] = {"N": set(), "S": set()}
    for trick in data["first"]:
        for cards in shown.values():
            cards -= set(trick["cards"])
        shown[trick["winner"]] |= {trick["taken"]} if trick["taken"] else set(trick["cards"])
    return shown


# ---- with and without JIT -------------------------------------------------------------------------------------------------------

_SCRIPT = """
import json, simcore
print(json.dumps([
    [simcore.replay("showcase", ruleset=ruleset, seed=12, deals=8, players=players),
     simcore.simulate("showcase", ruleset=ruleset, seed=12, deals=8, players=players, trump="all", hands=True).table().to_pylist()]
    for ruleset in ("showcase", "showcase-magri") for players in ("random", "greedy")]))
"""


def test_the_same_with_and_without_jit() -> None:
    outputs = []
    for disable in ("0", "1"):
        env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": disable}
        command = [sys.executable, "-c", _SCRIPT]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10000


def test_a_deal_needs_every_card_once() -> None:
    hands, reserves, _ = simcore.deal_showcase(1, 0, 200)
    for two, reserve in zip(hands, reserves, strict=True):
        cards = [card for card in ALL_CARDS if (int(two[0]) | int(two[1])) >> card & 1] + reserve.tolist()
        assert sorted(cards) == list(ALL_CARDS)
        assert [int(hand).bit_count() for hand in two] == [13, 13]
        assert parse_hand(format_hand(int(two[0]))) == int(two[0])
