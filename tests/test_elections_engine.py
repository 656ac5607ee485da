"""The Elections engine as a whole: through the naive engine, row kernel, external players, no peeking, symmetries."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import naive
import numpy as np
import pytest
from oracles import ROOT, check_counts

import simcore
from simcore import _jit
from simcore.cards import SEATS, cards_of, format_hand
from simcore.deals.shuffle import lots_of_round
from simcore.elections import auction, engine, play, policies, rows, state
from simcore.elections.engine import advance, apply, force_contract, prepare, start_deal
from simcore.elections.lanes import BLOCK, LANES, QUESTIONS, VIEWS
from simcore.elections.play import credits_of, result_of
from simcore.elections.trace import trace, verify_trace
from simcore.elections.two_at_once import DEAL_STATE
from simcore.players import EXPERT, EXTERNAL, GREEDY, PLAYERS_KNOWN, RANDOM
from simcore.rng import SOURCE, STREAM, open_streams
from simcore.rules import CHOICES, Ruleset, load_ruleset, parse_ruleset

NAMES = ["elections", "elections-joint", "variety", "tricks"]
#: What both sides' points add up to (E15).
SUMS = {
    "elections": [12, -26, 26, 26, 26, 0, 0, -26],
    "elections-joint": [-14, 52, 26, 0, -26],
    "variety": [12, 13, 26, 0, 0, 26, -13, -26],
    "tricks": [13] * 5,
}
CHOICE = CHOICES["elections"]
PLAYERS = [name for name, info in PLAYERS_KNOWN.items() if not info.factory]
BUILT_IN = (RANDOM, GREEDY, EXPERT)
COLUMN = {name: place for place, name in enumerate(rows.BYTE_COLUMNS)}
POINT = {name: place for place, name in enumerate(rows.POINT_COLUMNS)}


def record(dtype: Any) -> Any:
    return np.zeros(1, dtype).view(np.recarray)[0]


def bits(mask: int) -> list[int]:
    return [1 << bit for bit in range(64) if int(mask) >> bit & 1]


def garbage(rng: random.Random) -> tuple[Any, Any]:
    """Records with anything in them, as another deal may have left them."""
    table, view = state.new_table(), state.new_view()
    for array in (table, view):
        array.view(np.uint8)[:] = list(rng.randbytes(array.nbytes))
    return table[0], view[0]


class Deal:
    """One deal of the engine, played on with ``next`` and ``answer``."""

    def __init__(
        self,
        ruleset: str | Ruleset = "elections",
        index: int = 0,
        policies: Any = EXTERNAL,
        *,
        forced: tuple[int, int, int] | None = None,
        hands: Any = None,
        dealer: int | None = None,
        lots: int | None = None,
        records: tuple[Any, Any] | None = None,
    ) -> None:
        self.ruleset, self.index = load_ruleset(ruleset), index
        self.rules = self.ruleset.record[0]
        self.table, self.view = records or (state.new_table()[0], state.new_view()[0])
        self.table.hands[:] = simcore.deal_hands(9, index, 1)[0] if hands is None else hands
        self.table.policies[:] = policies
        self.streams = np.zeros(4, STREAM).view(np.recarray)
        open_streams(self.streams, np.uint64(9), np.uint64(0), np.uint64(index))
        start_deal(
            self.table, self.view, index % 4 if dealer is None else dealer, 1 + index % 3 if lots is None else lots
        )  # fmt: skip
        if forced is not None:
            force_contract(self.rules, self.table, self.view, *forced)

    def next(self) -> int:
        return int(advance(self.rules, self.table, self.view, self.streams))

    def answer(self, kind: int, action: int) -> None:
        assert int(self.view.legal) & action
        apply(self.rules, self.table, self.view, kind, np.uint64(action))

    def play_out(self, rng: random.Random | None = None) -> dict[str, Any]:
        """Play on to the end, external seats at random but for passing every other time; returns the trace."""
        while (kind := self.next()) >= 0:
            assert rng is not None
            passes = kind == state.CALL and rng.random() < 0.5
            self.answer(kind, 1 if passes else rng.choice(bits(self.view.legal)))
        return trace(self.ruleset, 9, self.index, self.table, self.view)


class Run:
    """One call of the row kernel: its one place in these tests."""

    def __init__(
        self,
        ruleset: str | Ruleset = "elections",
        deals: int = 50,
        first: int = 0,
        *,
        contract: int = rows.WITH_AUCTION,
        pairs: int = 0,
        declarer: int = -1,
        dealer: int = -1,
        policies: Any = RANDOM,
        given: np.ndarray | None = None,
        key: int = 77,
        two: bool = False,
        many: bool = False,
        records: tuple[Any, Any] | None = None,
    ) -> None:
        self.ruleset = load_ruleset(ruleset)
        contracts = len(self.ruleset.contracts)
        options = record(rows.OPTIONS)
        options.key0, options.contract, options.pairs, options.declarer, options.dealer = key, contract, pairs, declarer, dealer
        options.policies[:] = policies
        options.hands_given, options.want_rows = given is not None, 1
        self.table, self.view = records or (state.new_table()[0], state.new_view()[0])
        self.hands = np.zeros((deals, 4), np.uint64) if given is None else given.copy()
        count = deals * (contracts if contract == rows.ALL_CONTRACTS else 1)
        self.names = np.full((len(rows.BYTE_COLUMNS), count), -99, np.int8)
        self.points = np.full((len(rows.POINT_COLUMNS), count), -9999, np.int16)
        self.tally = np.zeros((contracts + 4, len(rows.TALLY)), np.int64)
        self.statuses = np.zeros(3, np.int64)
        if two:
            pair, sources = (np.zeros(2, dtype).view(np.recarray) for dtype in (DEAL_STATE, SOURCE))
            given_and_kept = (self.hands, self.names, self.points, 0, self.tally)
            rows.run_random(self.ruleset.record[0], options, np.uint64(first), deals, pair, sources, *given_and_kept)
            return
        if many:
            # working space may hold anything
            space = [np.zeros(1, dtype).view(np.recarray) for dtype in (BLOCK, VIEWS, QUESTIONS, DEAL_STATE)]
            for array in space:
                array.view(np.uint8)[:] = list(random.Random(deals).randbytes(array.nbytes))
            streams, lots = np.zeros(4, STREAM).view(np.recarray), np.full((deals, 4), -9, np.int8)
            working = (*(array[0] for array in space), self.table, self.view, streams, lots, record(SOURCE))
            given_and_kept = (self.hands, self.names, self.points, 0, self.tally)
            rows.run_many(self.ruleset.record[0], options, np.uint64(first), deals, EXPERT, *working, *given_and_kept)
            return
        self.written = rows.run_deals(
            rules=self.ruleset.record[0],
            options=options,
            first=np.uint64(first),
            deals=deals,
            table=self.table,
            view=self.view,
            source=record(SOURCE),
            streams=np.zeros(4, STREAM).view(np.recarray),
            hands=self.hands,
            names=self.names,
            points=self.points,
            offset=0,
            tally=self.tally,
            statuses=self.statuses,
            cluster=np.zeros((contracts + 4, 3), np.int64),
        )

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate([self.names.astype(int), self.points.astype(int)])

    def column(self, name: str) -> np.ndarray:
        return (self.names[COLUMN[name]] if name in COLUMN else self.points[POINT[name]]).astype(int)


def checked(data: dict[str, Any], rules: naive.Ruleset, ruleset: Ruleset) -> None:
    """Check a trace with the naive engine, and by bookkeeping of its own: 52 cards, 13 tricks, E15's sums."""
    problems = naive.check_trace(json.loads(json.dumps(data)), rules)
    assert not problems, (problems, data)
    if data["status"] == "played":
        played = [card for trick in data["tricks"] for card in trick["cards"]]
        held = [card for hand in data["hands"].values() for card in simcore.Hand.parse(hand)]
        assert len(played) == len(set(played)) == 52
        assert set(played) == set(held)
        assert sum(data["tricks_won"].values()) == 13
        total = dict(zip(ruleset.contract_ids, SUMS[ruleset.name], strict=True))[data["contract"]]
        assert sum(data["side_points"].values()) == total


# ---- against the naive engine ---------------------------------------------------------------------------------------------------


def combinations() -> Iterator[dict[str, str]]:
    """Return 128 of the 512 combinations of the nine choices: any five of them are seen in all 32 ways, equally often.

    The last two follow from the other seven by parity (a fractional factorial 2^(9-2) of resolution VI).
    """
    for free in itertools.product((0, 1), repeat=7):
        a, b, c, d, e, f, g = free
        levels = (*free, (a + b + c + d + e) % 2, (a + b + c + f + g) % 2)
        yield {key: values[level] for (key, values), level in zip(CHOICE.items(), levels, strict=True)}


def test_the_combinations_see_any_five_choices_in_all_ways() -> None:
    seen = list(combinations())
    assert len(seen) == 128
    for keys in itertools.combinations(CHOICE, 5):
        ways = Counter(tuple(combination[key] for key in keys) for combination in seen)
        assert ways == dict.fromkeys(itertools.product(*(CHOICE[key] for key in keys)), 4)


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_and_mixed_tables_through_the_naive_engine(name: str) -> None:
    """2,048 deals a ruleset, each value of each choice in half of them; auctions and forced contracts; all tables: random, greedy,
    players who call, name and play in different ways, and such who pass more often."""
    rng = random.Random(NAMES.index(name))
    index = 0
    endings = set()
    for choices in combinations():
        bonus = rng.choice((0, 10, -3))
        ruleset = load_ruleset(name).with_choices(failure_bonus=bonus, **choices)
        rules = naive.variant(name, failure_bonus=bonus, **choices)
        for i in range(16):
            table: Any = [RANDOM, GREEDY, None, None][i % 4]
            if table is None:
                table = [[rng.choice((RANDOM, GREEDY)) for _ in range(3)] for _ in range(4)]
            if i % 8 > 5:
                table = [[EXTERNAL, *rest] for _, *rest in table]
            forced = (rng.randrange(len(ruleset.contracts)), rng.randrange(4), rng.randint(1, 3)) if i < 6 else None
            data = Deal(ruleset, index, table, forced=forced).play_out(rng)
            checked(data, rules, ruleset)
            endings.add((data["status"], data["matched"], data["result"]))
            index += 1
    assert {status for status, _, _ in endings} == {"played", "passed-out", "redealt"}
    assert {matched for _, matched, _ in endings} == {True, False, None}
    assert {result for _, _, result in endings} >= {"win", "loss", None}


@pytest.mark.parametrize("calls", CHOICE["calls"])
@pytest.mark.parametrize("pass_", CHOICE["pass"])
@pytest.mark.parametrize("match", CHOICE["match"])
def test_every_auction_of_three_types_move_by_move(calls: str, pass_: str, match: str) -> None:
    """All auctions of up to eight calls, all values of five choices: legal calls, turn, end, partners as in the naive engine."""
    words = ("pass", "a", "b", "c")
    text = 'game = "elections"\nname = "three"\n'
    text += "".join(f'[[types]]\nid = "{word}"\ncontracts = ["{word}-1"]\n' for word in words[1:])
    text += "".join(f'[contracts.{word}-1]\ntrump = "none"\ntrick = 1\n' for word in words[1:])
    types = {word: {f"{word}-1": naive.terms(None, trick=1)} for word in words[1:]}
    hands = {seat: simcore.Hand(int(mask)) for seat, mask in zip(SEATS, simcore.deal_hands(9, 0, 1)[0], strict=True)}
    ended = 0
    for unmatched, passed_out in itertools.product(CHOICE["unmatched"], CHOICE["passed_out"]):
        choices = {"calls": calls, "pass": pass_, "match": match, "unmatched": unmatched, "passed_out": passed_out}
        ruleset = parse_ruleset(text).with_choices(**choices)
        rules = naive.elections("three", types, **choices)
        start = Deal(ruleset, dealer=3, lots=2)
        twin = naive.ElectionsGame(rules, hands, "W", [["N", "S"], ["E", "W"]])
        todo = [(start.table.copy(), start.view.copy(), twin, 0)]
        while todo:
            table, view, twin, depth = todo.pop()
            assert SEATS[table.turn] == twin.turn
            prepare(start.rules, table, view)
            assert {words[bit.bit_length() - 1] for bit in bits(view.legal)} == set(twin.legal())
            for bit in bits(view.legal):
                after, seen, other = table.copy(), view.copy(), naive.copy.copy(twin)
                apply(start.rules, after, seen, state.CALL, np.uint64(bit))
                other.apply(words[bit.bit_length() - 1])
                if after.phase == state.AUCTION:
                    assert other.phase == "auction"
                    if depth < 7:
                        todo.append((after, seen, other, depth + 1))
                    continue
                ended += 1
                if after.phase == state.DONE:
                    assert (other.phase, other.status) == ("done", ("played", "passed-out", "redealt")[after.status])
                    continue
                # the naive engine goes on to the play where the type holds one contract
                pair = (SEATS[seen.declarer], SEATS[seen.declarer ^ seen.pairing])
                assert pair == (other.declarer, other.partner)
                assert (words[seen.type + 1], bool(seen.matched), other.phase) == (other.type, other.matched, "play")
                apply(start.rules, after, seen, state.CONTRACT, auction.legal_contracts(start.rules, seen))
                assert SEATS[after.turn] == other.turn
    assert ended > 200, ended


def test_the_longest_auction_fits() -> None:
    """124 calls: three passes, forty names with two passes before each but the first, three passes."""
    types = [f"t{k}" for k in range(10)]
    text = 'game = "elections"\nname = "ten"\n[choices]\ncalls = "free"\npass = "turn"\n'
    text += "".join(f'[[types]]\nid = "{t}"\ncontracts = ["{t}-c"]\n' for t in types)
    text += "".join(f'[contracts.{t}-c]\ntrump = "none"\ntrick = 1\n' for t in types)
    ruleset = parse_ruleset(text)
    rules = naive.elections("ten", {t: {f"{t}-c": naive.terms(None, trick=1)} for t in types}, **{"calls": "free", "pass": "turn"})
    # the namers go round against the clock, so that two others pass between them; nobody names the type that stands
    names = [(seat, (k + 5 * (seat & 1)) % 10) for k in range(10) for seat in (3, 2, 1, 0)]
    calls = [(0, 0), (1, 0), (2, 0)]
    for namer, kind in names:
        while (seat := (calls[-1][0] + 1) & 3) != namer:
            calls.append((seat, 0))
        calls.append((namer, kind + 1))
    calls += [((calls[-1][0] + i) & 3, 0) for i in (1, 2, 3)]
    assert len(calls) == 124
    deal = Deal(ruleset, dealer=3, lots=1)  # N calls first
    for number, (caller, call) in enumerate(calls, 1):
        assert deal.table.phase == state.AUCTION, number
        assert deal.table.turn == caller
        prepare(deal.rules, deal.table, deal.view)
        deal.answer(state.CALL, 1 << call)
    assert deal.table.phase == state.NAMING
    assert deal.view.calls_made == 124 <= state.MAX_CALLS
    data = deal.play_out(random.Random(0))
    assert not naive.check_trace(data, rules)
    verify_trace(data, ruleset)


# ---- external players -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_external_players_are_asked_only_where_there_is_a_choice(name: str) -> None:
    rng = random.Random(4)
    kinds = set()
    for index in range(40):
        deal = Deal(name, index)
        while (kind := deal.next()) >= 0:
            kinds.add(kind)
            legal = bits(deal.view.legal)
            assert len(legal) > 1
            assert deal.view.seat == deal.table.turn
            assert deal.view.hand == deal.table.hands[deal.table.turn]
            if kind == state.PLAY:
                assert int(deal.view.legal) & ~int(deal.view.hand) == 0
            deal.answer(kind, rng.choice(legal))
        data = deal.play_out()
        checked(data, naive.RULESETS[name], deal.ruleset)
        verify_trace(data, deal.ruleset)
    two = any(len(ids) > 1 for _, ids in load_ruleset(name).types)
    assert kinds == ({state.CALL, state.CONTRACT, state.PLAY} if two else {state.CALL, state.PLAY})


@pytest.mark.parametrize("policy", [RANDOM, GREEDY])
def test_one_external_seat_and_one_external_decision(policy: int) -> None:
    rng = random.Random(5)
    asked = 0
    for seat, kind in itertools.product(range(4), range(3)):
        for index in range(6):
            deal = Deal("elections", index, policy)
            deal.table.policies[seat, kind] = EXTERNAL
            while (now := deal.next()) >= 0:
                asked += 1
                assert (now, deal.view.seat) == (kind, seat)
                deal.answer(now, rng.choice(bits(deal.view.legal)))
            checked(deal.play_out(), naive.RULESETS["elections"], deal.ruleset)
    assert asked > 200


def test_a_single_legal_call_is_made_without_asking() -> None:
    """Free calls of two types: E has named both and is left with a pass; S's next call is a choice again."""
    text = load_ruleset("tricks").with_choices(calls="free").text
    for word in ("hearts", "diamonds", "spades"):
        text = text.replace(f'[[types]]\nid = "{word}"\ncontracts = ["{word}-tricks"]\n', "")
        text = text.replace(f'[contracts.{word}-tricks]\ntrump = "{word}"\ntrick = 1\n', "")
    ruleset = parse_ruleset(text)
    assert ruleset.type_ids == ("no-trump", "clubs")
    deal = Deal(ruleset, dealer=0)
    for seat, call in ((1, 1), (2, 2), (3, 1), (0, 0), (1, 2), (2, 1), (3, 0)):  # E nt, S clubs, W nt, N out, E clubs, S nt, W out
        assert deal.next() == state.CALL
        assert deal.view.seat == seat
        deal.answer(state.CALL, 1 << call)
    deal.next()  # E has one call: a pass; that ends it, S plays no-trump with his lot partner
    assert (deal.view.calls[7], deal.view.callers[7], deal.view.calls_made) == (0, 1, 8)
    assert (deal.view.type, deal.view.matched, deal.view.standing_seat) == (0, 0, 2)
    assert deal.table.phase == state.PLAYING


@pytest.mark.parametrize("name", NAMES)
def test_the_fast_loop_for_random_cards_plays_what_the_engine_plays(name: str) -> None:
    """All seats random takes another path; decision by decision, from the same streams, the deal is the same."""
    for index in range(40):
        forced = (index % len(load_ruleset(name).contracts), index % 4, 1 + index % 3) if index % 2 else None
        fast = Deal(name, index, RANDOM, forced=forced)
        slow = Deal(name, index, RANDOM, forced=forced)
        slow.table.policies[index % 4, state.PLAY] = EXTERNAL
        while (kind := slow.next()) >= 0:
            assert kind == state.PLAY
            stream = slow.streams[slow.table.turn]
            slow.answer(kind, int(policies.decide(RANDOM, kind, slow.view, slow.rules, stream)))
        assert fast.play_out() == slow.play_out()
        if fast.table.status == state.PLAYED:
            assert list(fast.view.taken) == list(slow.view.taken)
            assert int(sum(int(mask) for mask in fast.view.taken)) == 0x1FFF1FFF1FFF1FFF


def test_the_view_keeps_account_of_the_play() -> None:
    """After every card: what was played by whom, voids shown, the trick on the table, tricks and cards taken."""
    rng = random.Random(14)
    for index in range(25):
        deal = Deal("elections", index, forced=(index % 8, index % 4, 1 + index % 3))
        played: dict[int, int] = dict.fromkeys(range(4), 0)
        table: list[int] = []
        voids: dict[int, int] = dict.fromkeys(range(4), 0)
        cards = 0
        while deal.table.phase != state.DONE:
            prepare(deal.rules, deal.table, deal.view)
            seat = int(deal.table.turn)
            card = rng.choice(bits(deal.view.legal))
            deal.answer(state.PLAY, card)
            played[seat] |= card
            lane = 0x1FFF << (card.bit_length() - 1 & 48)
            if table and not table[0] & lane:
                voids[seat] |= 0x1FFF << (table[0].bit_length() - 1 & 48)
            table = [*table, card] if len(table) < 3 else []
            cards += 1
            view = deal.view
            assert [int(mask) for mask in view.played] == list(played.values())
            assert [int(mask) for mask in view.void] == list(voids.values())
            assert [int(view.trick_cards[i]) for i in range(view.on_table)] == table
            assert int(view.trick) == sum(table)
            assert (view.tricks_played, view.on_table) == divmod(cards, 4)
            assert sum(int(tricks) for tricks in view.tricks) == cards // 4
            assert sum(int(mask).bit_count() for mask in view.taken) == cards // 4 * 4
            assert [int(deal.table.hands[s]) for s in range(4)] == [int(deal.table.dealt[s]) ^ played[s] for s in range(4)]
            assert 1 << int(view.history[cards - 1]) == card


# ---- hidden cards ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_view_does_not_change_when_hidden_cards_do(name: str) -> None:
    """Whatever reads the view cannot peek: the three unseen hands shuffled together leave every byte of it as it was."""
    rng = random.Random(6)
    kinds = []
    for index in range(80):
        deal = Deal(name, index)
        for _ in range(rng.choice((0, 1, 2, 3, 4, rng.randrange(52)))):
            if (kind := deal.next()) < 0:
                break
            deal.answer(kind, rng.choice(bits(deal.view.legal)))
        if (kind := deal.next()) < 0:
            continue
        kinds.append(kind)
        before = bytes(deal.view.tobytes())
        streams = deal.streams.copy()
        decisions = [
            int(policies.decide(policy, kind, deal.view, deal.rules, deal.streams[0])) for policy in (RANDOM, GREEDY, EXPERT)
        ]
        others = [seat for seat in range(4) if seat != deal.table.turn]
        unseen = [bit for seat in others for bit in bits(deal.table.hands[seat])]
        rng.shuffle(unseen)
        for seat in others:
            size = int(deal.table.hands[seat]).bit_count()
            deal.table.hands[seat] = np.uint64(sum(unseen[:size]))
            deal.table.dealt[seat] = np.uint64(0)
            unseen = unseen[size:]
        assert prepare(deal.rules, deal.table, deal.view) == kind
        assert bytes(deal.view.tobytes()) == before
        again = [int(policies.decide(policy, kind, deal.view, deal.rules, streams[0])) for policy in BUILT_IN]
        assert again == decisions
    assert kinds.count(state.CALL) > 8
    assert kinds.count(state.PLAY) > 20


# ---- deals are independent ------------------------------------------------------------------------------------------------------

FORMS: list[dict[str, Any]] = [
    {},
    {"policies": GREEDY},
    {"policies": [[GREEDY] * 3, [RANDOM] * 3, [GREEDY, RANDOM, RANDOM], [RANDOM, RANDOM, GREEDY]]},
    {"contract": 2, "policies": GREEDY},
    {"contract": rows.RANDOM_CONTRACT, "pairs": rows.LOT_PAIRS},
    {"contract": rows.ALL_CONTRACTS, "pairs": 3, "declarer": 1, "dealer": 2},
]


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_any_subset_in_any_order_on_any_records_gives_the_same_rows(name: str, options: dict[str, Any]) -> None:
    rng = random.Random(2)
    whole = Run(name, 40, **options)
    each = whole.written // 40
    for first, deals in ((39, 1), (0, 3), (17, 2), (5, 20), (16, 1)):
        part = Run(name, deals, first, records=garbage(rng), **options)
        assert part.written == deals * each
        assert (part.rows == whole.rows[:, first * each : (first + deals) * each]).all()
        assert (part.hands == whole.hands[first : first + deals]).all()
    assert (Run(name, 40, key=78, **options).rows != whole.rows).any()


def test_given_hands_are_played_as_the_dealt_ones_at_their_index() -> None:
    for options in FORMS:
        dealt = Run(deals=30, first=100, **options)
        again = Run(deals=30, first=100, given=dealt.hands, **options)
        assert (again.rows == dealt.rows).all()
        assert (again.tally == dealt.tally).all()
        assert (again.hands == dealt.hands).all()


def test_cards_do_not_depend_on_players_rules_or_contract() -> None:
    hands = simcore.deal_hands(77, 0, 30)
    dealers = Run(deals=30).column("dealer")
    for name in NAMES:
        for options in FORMS:
            run = Run(name, 30, **options)
            assert (run.hands == hands).all()
            if "dealer" not in options:
                assert (run.column("dealer").reshape(30, -1) == dealers[:, None]).all()


def test_changing_one_player_changes_no_cards_and_nobody_elses_choices_before_his_own() -> None:
    """Until the changed seat first decides otherwise, all others do what they did: their streams are their own."""
    later = 0
    for seat in range(4):
        for index in range(12):
            table: Any = [[RANDOM] * 3 for _ in range(4)]
            a = Deal("elections", index, table).play_out()
            table[seat] = [GREEDY] * 3
            b = Deal("elections", index, table).play_out()
            assert (a["hands"], a["dealer"], a["lot_pairs"]) == (b["hands"], b["dealer"], b["lot_pairs"])

            def moves(data: dict[str, Any]) -> list[tuple[str, str]]:
                played = [tuple(call) for call in data["calls"]] + [(data["declarer"], data["contract"])]
                for trick in data["tricks"]:
                    played += [(SEATS[(SEATS.index(trick["leader"]) + i) % 4], card) for i, card in enumerate(trick["cards"])]
                return played

            different = [x for x, y in zip(moves(a), moves(b), strict=False) if x != y]
            if different:
                assert different[0][0] == SEATS[seat]
                later += moves(a)[0] == moves(b)[0]
    assert later > 10


# ---- the row kernel -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"contract": "random"}, {"contract": "all"}])
@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("name", NAMES)
def test_rows_say_what_the_traces_say(name: str, player: str, options: dict[str, str]) -> None:
    numbers = {None: rows.WITH_AUCTION, "random": rows.RANDOM_CONTRACT, "all": rows.ALL_CONTRACTS}
    deals = 8 if "all" in options.values() else 32
    run = Run(name, deals, contract=numbers[options.get("contract")], policies=PLAYERS_KNOWN[player].policy)
    data = simcore.replay("elections", ruleset=name, seed=77, deals=deals, players=player, **options)
    assert run.written == len(data) == run.statuses.sum()
    types, contracts = run.ruleset.type_ids, run.ruleset.contract_ids

    def word(column: str, row: int, words: Any) -> Any:
        number = run.column(column)[row]
        return None if number < 0 else words[number]

    for i, deal in enumerate(data):
        assert word("dealer", i, SEATS) == deal["dealer"]
        assert word("status", i, ("played", "passed-out", "redealt")) == deal["status"]
        assert word("type", i, types) == deal["type"]
        assert word("contract", i, contracts) == deal["contract"]
        assert word("declarer", i, SEATS) == deal["declarer"]
        assert word("partner", i, SEATS) == deal["partner"]
        assert word("matched", i, (False, True)) == deal["matched"]
        assert word("result", i, ("win", "loss", "draw")) == deal["result"]
        for s, seat in enumerate(SEATS):
            letter = seat.lower()
            assert run.column(f"credit_{letter}")[i] == deal["credits"][seat]
            assert run.column(f"tricks_{letter}")[i] == (-1 if deal["tricks_won"] is None else deal["tricks_won"][seat])
            assert format_hand(run.hands[i * deals // run.written, s]) == deal["hands"][seat]
        if deal["side_points"]:
            assert run.column("points_attackers")[i] == deal["side_points"]["attackers"]
            assert run.column("points_defenders")[i] == deal["side_points"]["defenders"]


@pytest.mark.parametrize("name", NAMES)
def test_two_deals_at_a_time_are_what_the_engine_plays(name: str) -> None:
    """Forced contracts, random players: rows, hands and tallies, from odd places, of odd numbers, under every choice there is."""
    given = simcore.deal_hands(3, 0, 31)
    everyone = {key: values[1] for key, values in CHOICE.items()} | {"failure_bonus": 3}
    for ruleset in (load_ruleset(name), load_ruleset(name).with_choices(**everyone)):
        for options in (
            {"contract": rows.RANDOM_CONTRACT},
            {"contract": rows.ALL_CONTRACTS, "first": 5},
            {"contract": 1, "first": 2**63 - 32, "pairs": rows.LOT_PAIRS, "dealer": 2},
            {"contract": rows.RANDOM_CONTRACT, "first": 7, "pairs": 3, "declarer": 1, "given": given},
        ):
            for deals in (1, 2, 31):
                own = options | ({"given": given[:deals]} if "given" in options else {})
                fast, slow = Run(ruleset, deals, two=True, **own), Run(ruleset, deals, **own)
                for attribute in ("names", "points", "hands", "tally"):
                    assert (getattr(fast, attribute) == getattr(slow, attribute)).all(), (options, deals, attribute)


#: Odd cards of many kinds, in low and high contracts, more than one a suit and none; payoffs as large as they may be.
ODD = """
game = "elections"
name = "odd"
[[types]]
id = "a"
contracts = ["low", "large", "honours", "nothing"]
[contracts.low]
trump = "hearts"
low = true
trick = -3
most_tricks = -20
suits = { hearts = 2 }
cards = { HA = 7, H2 = -9, S7 = 4, C9 = -4, CA = -100 }
[contracts.large]
trump = "diamonds"
trick = 500
most_tricks = 500
suits = { hearts = 500, diamonds = -500, spades = 17 }
cards = { DA = 500, D2 = -500, S7 = 400, H9 = -499 }
[contracts.honours]
trump = "none"
cards = { SA = 4, SK = 3, SQ = 2, SJ = 1, HQ = -12, DA = 4, DK = 3, CA = 4, CK = 3, CQ = 2, CJ = 1, CT = 1, C2 = -5 }
[contracts.nothing]
trump = "clubs"
"""


@pytest.mark.parametrize("name", [*NAMES, "odd"])
def test_deals_of_experts_in_lockstep_are_what_the_engine_plays(name: str) -> None:
    """Forced contracts, expert in every seat: rows, hands and tallies, of part of a block, of a block and of more than two."""
    given = simcore.deal_hands(3, 0, 31)
    everyone = {key: values[1] for key, values in CHOICE.items()} | {"failure_bonus": 3}
    as_it_is = parse_ruleset(ODD) if name == "odd" else load_ruleset(name)
    for ruleset in (as_it_is, as_it_is.with_choices(**everyone)):
        for deals, options in (
            (1, {"contract": 1, "first": 2**63 - 32, "pairs": rows.LOT_PAIRS, "dealer": 2}),
            (31, {"contract": rows.RANDOM_CONTRACT, "first": 7, "pairs": 3, "declarer": 1, "given": given}),
            (31, {"contract": rows.ALL_CONTRACTS, "given": given}),
            (LANES, {"contract": 0, "first": 3}),
            (2 * LANES + 9, {"contract": rows.RANDOM_CONTRACT}),
            (2 * LANES + 1, {"contract": rows.ALL_CONTRACTS, "first": 5}),
        ):
            fast = Run(ruleset, deals, many=True, policies=EXPERT, **options)
            slow = Run(ruleset, deals, policies=EXPERT, **options)
            for attribute in ("names", "points", "hands", "tally"):
                assert (getattr(fast, attribute) == getattr(slow, attribute)).all(), (options, deals, attribute)


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up_in_every_deal(name: str) -> None:
    """E15, over 4,000 deals with the auction and 500 in every contract, random and greedy."""
    sums = np.array(SUMS[name])
    for policy in (RANDOM, GREEDY):
        for run in (Run(name, 2000, policies=policy), Run(name, 500, policies=policy, contract=rows.ALL_CONTRACTS)):
            played = run.column("status") == state.PLAYED
            both = run.column("points_attackers") + run.column("points_defenders")
            assert (both[played] == sums[run.column("contract")[played]]).all()
            assert sum(run.column(f"tricks_{seat}")[played] for seat in "nesw").tolist() == [13] * played.sum()
            assert all((run.column(f"credit_{seat}")[~played] == 0).all() for seat in "nesw")
            attackers = np.stack([run.column("declarer"), run.column("partner")])[:, played]
            credits = np.stack([run.column(f"credit_{seat}") for seat in "nesw"])[:, played]
            assert (np.take_along_axis(credits, attackers, 0) == run.column("points_attackers")[played]).all()
            bonus = run.ruleset.failure_bonus * (run.column("result")[played] == play.LOSS)
            assert (credits.sum(0) == 2 * (both[played] + bonus)).all()


@pytest.mark.parametrize("policy", [RANDOM, GREEDY])
@pytest.mark.parametrize("name", NAMES)
def test_all_contracts_of_a_deal_are_the_single_ones(name: str, policy: int) -> None:
    """Row c of a deal is the row of contract c alone: the same cards, declarer, partner and luck."""
    every = Run(name, 30, policies=policy, contract=rows.ALL_CONTRACTS)
    contracts = len(every.ruleset.contracts)
    assert (every.column("contract") == np.tile(np.arange(contracts), 30)).all()
    for c in range(contracts):
        alone = Run(name, 30, policies=policy, contract=c)
        assert (alone.rows == every.rows[:, c::contracts]).all()
        assert (alone.tally[c] == every.tally[c]).all()
    mixed = Run(name, 30, policies=policy, contract=rows.RANDOM_CONTRACT)
    assert (every.rows[:, contracts * np.arange(30) + mixed.column("contract")] == mixed.rows).all()


def test_options_fix_what_they_say_and_nothing_else() -> None:
    plain = Run(deals=64, contract=4)
    for seat in range(4):
        run = Run(deals=64, contract=4, declarer=seat)
        assert (run.column("declarer") == seat).all()
        assert (run.column("declarer") ^ run.column("partner") == plain.column("declarer") ^ plain.column("partner")).all()
        moved = Run(deals=64, contract=4, dealer=seat)
        assert (moved.column("dealer") == seat).all()
        assert (moved.rows[1:] == plain.rows[1:]).all(), "the dealer is nobody when the contract is given and E12 asks the declarer"
    for pairs in (1, 2, 3):
        run = Run(deals=64, contract=4, pairs=pairs)
        assert (run.column("declarer") ^ run.column("partner") == pairs).all()
        assert (run.column("declarer") == plain.column("declarer")).all()
    lot = Run(deals=64, contract=4, pairs=rows.LOT_PAIRS)
    traces = simcore.replay("elections", seed=77, deals=64)
    for i, data in enumerate(traces):
        pair = {SEATS[lot.column("declarer")[i]], SEATS[lot.column("partner")[i]]}
        assert pair in [set(pair) for pair in data["lot_pairs"]]


def test_lots_are_uniform() -> None:
    """E1 over 24,000 rounds, forced contracts over 24,000 deals: χ² with a false-alarm rate of 1e-7 over all four."""
    run = Run(deals=24_000, contract=rows.RANDOM_CONTRACT)
    pairing = run.column("declarer") ^ run.column("partner")
    check_counts(np.bincount(12 * run.column("contract") + 3 * run.column("declarer") + pairing - 1, minlength=96), tests=4)
    lots = np.zeros((4, 4), int)
    for number in range(24_000):
        dealer, partner = lots_of_round(record(SOURCE), np.uint64(5), np.uint64(0), np.uint64(number))
        lots[dealer, partner] += 1
    assert lots[:, 0].sum() == 0
    check_counts(lots[:, 1:], tests=4)


@pytest.mark.parametrize("options", [{}, {"contract": rows.ALL_CONTRACTS}, {"contract": rows.RANDOM_CONTRACT}])
def test_tallies_are_sums_over_rows(options: dict[str, int]) -> None:
    """Clusters are rounds with the auction (here from the middle of one on), else deals."""
    run = Run("elections", 200, 5, policies=GREEDY, **options)
    deals = len(run.names[0])
    contracts = len(run.ruleset.contracts)
    each = deals // 200
    cluster = (np.arange(deals) + 5) // 8 if not options else np.arange(deals) // each
    played = run.column("status") == state.PLAYED
    assert run.statuses.tolist() == [(run.column("status") == status).sum() for status in range(3)]
    columns = [(run.column("contract") == c, run.column("points_attackers")) for c in range(contracts)]
    if not options:
        columns += [(np.ones(deals, bool), run.column(f"credit_{seat}")) for seat in "nesw"]
    for row, (mine, points) in enumerate(columns):
        won = (run.column("result") == play.WIN) & (row < contracts)
        drawn = (run.column("result") == play.DRAW) & (row < contracts)
        assert played[mine].all() or row >= contracts
        n, w, p = (np.bincount(cluster[mine], values[mine].astype(float)).astype(int) for values in (mine, won, points))
        wanted = [n.sum(), w.sum(), drawn[mine].sum(), p.sum(), (n > 0).sum(), n @ n, n @ w, w @ w, n @ p, p @ p]
        assert run.tally[row].tolist() == wanted
    assert run.tally[contracts if not options else 0, 0] > 0


# ---- symmetries -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_turning_the_table_turns_the_result_and_changes_nothing_else(name: str) -> None:
    """Hands, dealer and lots moved on by one to three seats: the greedy players do the same things, one to three seats on."""
    ruleset = load_ruleset(name)
    matched = set()
    for index, turn in itertools.product(range(40), (1, 2, 3)):
        dealer, lots = index % 4, 1 + index % 3
        hands = simcore.deal_hands(31, index, 1)[0]
        forced = (index % len(ruleset.contracts), dealer, lots) if index % 4 == 3 else None
        a = Deal(name, index, GREEDY, hands=hands, dealer=dealer, lots=lots, forced=forced)
        # partners N-E become E-S, which is N-W; N-S become E-W, which is N-S
        lots = 4 - lots if turn % 2 else lots
        forced = None if forced is None else (forced[0], (dealer + turn) % 4, lots)
        b = Deal(name, index, GREEDY, hands=np.roll(hands, turn), dealer=(dealer + turn) % 4, lots=lots, forced=forced)

        def turned(node: Any, turn: int = turn) -> Any:
            if isinstance(node, dict):
                return {turned(key): turned(value) for key, value in node.items()}
            if isinstance(node, list):
                return [turned(item) for item in node]
            return SEATS[(SEATS.index(node) + turn) % 4] if isinstance(node, str) and node in tuple(SEATS) else node

        wanted, found = turned(a.play_out()), b.play_out()
        for data in (wanted, found):
            data["lot_pairs"] = {frozenset(pair) for pair in data["lot_pairs"]}
        assert found == wanted
        matched.add(found["matched"])
    assert matched == ({True, False, None} if name == "tricks" else {True, None})  # by the lots, too


@pytest.mark.parametrize("contract", ["nt-most", "nt-fewest"])
def test_scores_do_not_depend_on_which_side_is_which(contract: str) -> None:
    """The same play with attackers and defenders changed over: points and result change over with them."""
    for index in range(30):
        deal = Deal("elections", index, RANDOM, forced=(["nt-most", "nt-fewest"].index(contract), 0, 2))
        deal.play_out()
        mine = result_of(deal.rules, deal.view)
        deal.view.attackers ^= 15
        theirs = result_of(deal.rules, deal.view)
        assert (mine[0], mine[1]) == (theirs[1], theirs[0])
        assert {mine[2], theirs[2]} == {play.WIN, play.LOSS}
        for seat in range(4):
            side = 0 if int(deal.view.attackers) >> seat & 1 else 1
            assert credits_of(deal.rules, deal.view, seat, *theirs) == theirs[side]


# ---- compiled and not -----------------------------------------------------------------------------------------------------------

_SCRIPT = """
import json, simcore
from simcore.rules import load_ruleset
out = []
for ruleset in ("elections", "elections-joint", "variety", "tricks"):
    rules = load_ruleset(ruleset).with_choices(lead="left-of-dealer", low_trump="plain", result="both-signs")
    lot = {"contract": "random"}
    for options in ({}, {"players": "greedy"}, lot | {"player": {"E": "greedy"}}, lot | {"players": "expert"}):
        for given in (ruleset, rules):
            out.append(simcore.replay("elections", ruleset=given, seed=2**127 + 12, deals=3, **options))
        table = simcore.simulate("elections", ruleset=ruleset, seed=12, first=6, deals=4, hands=True, threads=1, **options)
        out.append([table.table().to_pylist(), str(table.summary_data())])
    out.append(simcore.simulate("elections", ruleset=ruleset, seed=1, deals=3, contract="all", threads=1).table().to_pylist())
print(json.dumps(out))
"""


def test_the_same_with_and_without_jit_and_in_a_second_process() -> None:
    outputs = []
    for disable in ("0", "1", "0"):
        env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": disable}
        command = [sys.executable, "-W", "error::RuntimeWarning", "-c", _SCRIPT]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0]) > 100_000


@pytest.mark.skipif(not _jit.JIT, reason="nothing is compiled")
def test_no_variable_of_a_kernel_called_from_python_is_a_float() -> None:
    """As trace.py, external players and these tests call them; test_engines.py looks at all that a simulation compiles."""
    data = Deal("elections", 1).play_out(random.Random(1))
    verify_trace(data, load_ruleset("elections"))
    Deal("elections", 2, GREEDY, forced=(0, 1, 2)).play_out()
    Run(deals=2)
    Run(deals=2, contract=0, many=True)

    def floats(kernel: Any) -> list[str]:
        lines = [line for one in kernel.overloads.values() for line in str(one.type_annotation).splitlines()]
        return [line for line in lines if ":: float" in line]

    mixed = _jit.njit(lambda mask, shift: mask / shift)
    mixed(np.uint64(1), 1)
    assert floats(mixed), "this is what a float looks like"
    seen = 0
    for module in (auction, engine, play, policies, rows):
        for name in module.__all__:
            kernel = getattr(module, name)
            if getattr(kernel, "overloads", None):
                seen += 1
                assert not floats(kernel), name
    assert seen > 8


def test_every_card_is_played_by_the_seat_that_held_it() -> None:
    """History, leaders and winners of the final records against the hands dealt: nothing is shifted for any dealer."""
    for index in range(40):
        deal = Deal("elections", index, RANDOM, forced=(index % 8, index % 4, 1 + index % 3))
        deal.play_out()
        held = [set(cards_of(deal.table.dealt[seat])) for seat in range(4)]
        leader = (int(deal.view.declarer) + 1) % 4
        for t in range(13):
            assert deal.view.leaders[t] == leader
            for i in range(4):
                held[(leader + i) % 4].remove(int(deal.view.history[4 * t + i]))
            leader = int(deal.view.winners[t])
        assert held == [set()] * 4
