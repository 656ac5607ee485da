"""The player ``expert`` of Elections: legal everywhere, looks at nothing hidden, and does what a good player does."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import naive
import numpy as np
import pytest
from oracles import ROOT
from tables import Elections, words

import simcore
from simcore.cards import SEATS, parse_card
from simcore.elections import engine, policies, state
from simcore.elections.expert_calls import hand_worth
from simcore.players import EXPERT
from simcore.rng import STREAM
from simcore.rules import CHOICES, load_ruleset, parse_ruleset
from simcore.worth import points_table

NAMES = ["elections", "elections-joint", "variety", "tricks"]
STREAM_OF_A_SEAT = np.zeros(1, STREAM).view(np.recarray)[0]

#: A designer's own game: odd payoffs in every place that the player reads.
ODD = """
game = "elections"
name = "odd"
[[types]]
id = "a"
contracts = ["queens", "mixed"]
[[types]]
id = "b"
contracts = ["nothing"]
[contracts.queens]
trump = "diamonds"
low = true
trick = -1
most_tricks = -7
cards = { CQ = 9, DQ = -4, HQ = 2, S2 = 1 }
[contracts.mixed]
trump = "none"
suits = { clubs = 3, spades = -2 }
cards = { CA = -40, H5 = 13, S9 = 100 }
[contracts.nothing]
trump = "hearts"
"""


def decision(game: Elections, policy: int = EXPERT) -> int:
    """The mask of what the player whose turn it is decides."""
    kind = engine.prepare(game.rules, game.table, game.view)
    answer = int(policies.decide(policy, int(kind), game.view, game.rules, STREAM_OF_A_SEAT))
    assert answer & int(game.view.legal)
    assert answer & (answer - 1) == 0
    return answer


def card(game: Elections) -> str:
    return next(iter(words(decision(game))))


def call(game: Elections) -> str:
    number = decision(game).bit_length() - 1
    return "pass" if number == 0 else game.ruleset.type_ids[number - 1]


def contract(game: Elections) -> str:
    return game.ruleset.contract_ids[decision(game).bit_length() - 1]


PACK = [suit + rank for suit in "CDHS" for rank in "23456789TJQKA"]


def pbn(cards: list[str]) -> str:
    return str(simcore.Hand(sum(1 << parse_card(c) for c in cards)))


def dealt(hand: str, seat: str = "N") -> list[str]:
    """Four hands, one of them given, the rest at random."""
    rest = [c for c in PACK if c not in simcore.Hand.parse(hand)]
    random.Random(1).shuffle(rest)
    hands = [pbn(rest[13 * i : 13 * i + 13]) for i in range(3)]
    hands.insert(SEATS.index(seat), hand)
    return hands


# ---- legal, and blind to what is hidden -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_ruleset_and_choice_through_the_naive_engine(name: str) -> None:
    rng = random.Random(NAMES.index(name))
    for number in range(12):
        choices: dict[str, Any] = {key: rng.choice(values) for key, values in CHOICES["elections"].items()}
        choices["failure_bonus"] = rng.choice((0, 10, -3))
        ruleset, rules = load_ruleset(name).with_choices(**choices), naive.variant(name, **choices)
        player = {seat: rng.choice(("expert", "expert", "greedy", "random")) for seat in SEATS}
        for options in ({}, {"contract": "random"}):
            for data in simcore.replay("elections", ruleset=ruleset, seed=number, deals=8, player=player, **options):
                assert not naive.check_trace(json.loads(json.dumps(data)), rules)


def test_a_designers_own_game_is_played() -> None:
    ruleset = parse_ruleset(ODD)
    table = simcore.simulate("elections", ruleset=ruleset, seed=5, deals=400, contract="all", players="expert").table()
    both = np.array(table["points_attackers"]) + np.array(table["points_defenders"])
    assert both.reshape(400, 3).tolist() == [[c.total for c in ruleset.contracts]] * 400
    a = simcore.simulate("elections", ruleset=ruleset, seed=5, deals=400, contract="all", pairs="NS", declarer="N",
                         player={"N": "expert", "S": "expert", "E": "greedy", "W": "greedy"}).table()  # fmt: skip
    margin = (np.array(a["points_attackers"]) - np.array(a["points_defenders"])).reshape(400, 3).mean(axis=0)
    assert margin[1] > 20, "hundreds of points lie in single cards"
    assert {row["status"] for row in simcore.simulate("elections", ruleset=ruleset, seed=5, deals=40).table().to_pylist()}


@pytest.mark.parametrize("name", NAMES)
def test_decisions_do_not_depend_on_hidden_cards(name: str) -> None:
    rng = random.Random(8)
    ruleset = load_ruleset(name)
    seen = 0
    for index in range(60):
        hands = simcore.deal_hands(3, index, 1)[0]
        game = Elections(ruleset)
        game.table.hands[:] = hands
        engine.start_deal(game.table, game.view, index % 4, 1 + index % 3)
        if index % 4:
            game.force(rng.choice(ruleset.contract_ids), rng.choice(SEATS), rng.choice(("NS", "NE", "NW")))
        for _ in range(rng.randrange(40)):
            if game.phase == "done":
                break
            engine.prepare(game.rules, game.table, game.view)
            kind = {"auction": state.CALL, "naming": state.CONTRACT, "playing": state.PLAY}[game.phase]
            legal = [1 << bit for bit in range(64) if int(game.view.legal) >> bit & 1]
            engine.apply(game.rules, game.table, game.view, kind, np.uint64(rng.choice(legal)))
        if game.phase == "done":
            continue
        before = decision(game)
        others = [seat for seat in range(4) if seat != game.table.turn]
        hidden = [bit for seat in others for bit in range(64) if int(game.table.hands[seat]) >> bit & 1]
        rng.shuffle(hidden)
        for seat in others:
            size = int(game.table.hands[seat]).bit_count()
            game.table.hands[seat] = np.uint64(sum(1 << bit for bit in hidden[:size]))
            game.table.dealt[seat] = np.uint64(0)
            hidden = hidden[size:]
        assert decision(game) == before
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_turning_the_table_turns_every_card(turn: int) -> None:
    for index in range(6):
        hands = simcore.deal_hands(4, index, 1)[0]
        for number, contract_id in enumerate(load_ruleset("elections").contract_ids):
            games = []
            for shift in (0, turn):
                game = Elections("elections")
                game.table.hands[:] = np.roll(hands, shift)
                engine.start_deal(game.table, game.view, shift, 2)
                game.force(contract_id, SEATS[shift], "NS")
                games.append(game)
            for _ in range(52):
                first, second = (decision(game) for game in games)
                assert first == second, (index, number)
                for game in games:
                    engine.apply(game.rules, game.table, game.view, state.PLAY, np.uint64(first))


# ---- what a good player does ----------------------------------------------------------------------------------------------------


def lead(ruleset: str, hand: str, contract_id: str, pairs: str = "NW") -> Elections:
    """N on lead against, or with, the declarer W; the other hands at random."""
    return Elections(ruleset, dealt(hand)).force(contract_id, "W", pairs)


def last(ruleset: str, hand: str, contract_id: str, trick: str, pairs: str = "NS") -> Elections:
    """N plays last to a trick of E, S and W, as declarer with the partner that ``pairs`` says."""
    cards = trick.split()
    rest = [c for c in PACK if c not in simcore.Hand.parse(hand) and c not in cards]
    others = [pbn([c, *rest[12 * i : 12 * i + 12]]) for i, c in enumerate(cards)]
    game = Elections(ruleset, [hand, *others]).force(contract_id, "N", pairs)
    for played in cards:
        engine.apply(game.rules, game.table, game.view, state.PLAY, np.uint64(1 << parse_card(played)))
    assert game.turn == "N"
    return game


def test_draws_trumps() -> None:
    assert card(lead("elections", "A2.32.K2.AKQJT98", "clubs-tricks")).startswith("C")
    assert card(lead("tricks", "AKQJT98.A2.32.K2", "spades-tricks")).startswith("S")


@pytest.mark.parametrize("suit", "DH")
def test_leads_no_ace_into_a_ruff(suit: str) -> None:
    """The same hand with either red suit, in which an opponent has shown out: its ace stays at home, the other's may go."""
    game = lead("tricks", "5432.A32.A32.432", "spades-tricks", "NS")
    game.view.void[1] = game.view.void[3] = 0x1FFF << (parse_card(suit + "2"))
    assert card(game) != suit + "A"


def test_feeds_spades_to_the_partners_winner_and_to_nobody_elses() -> None:
    hand = "98765...T9876543"
    assert card(last("elections", hand, "hearts-spades", "D6 DA D7")).startswith("S")
    assert card(last("elections", hand, "hearts-spades", "DA D6 D7")).startswith("C")
    assert card(last("elections", hand, "hearts-spades", "DA D6 D7", "NE")).startswith("S")


def test_unloads_red_tens_on_the_others_and_gives_black_ones_to_the_partner() -> None:
    hand = ".T432..T98765432"
    assert card(last("elections", hand, "spades-honours", "DA D9 D8")) == "HT"
    assert card(last("elections", hand, "spades-honours", "D9 DA D8")) == "CT"


def test_ducks_where_tricks_cost() -> None:
    assert card(last("elections", "K92.5432.543.432", "nt-fewest", "SQ S3 S4")) == "S9"
    assert card(last("elections", "AJ.5432.5432.432", "nt-fewest", "ST S3 S4")) == "SA", "taken anyway: with the highest"
    assert card(last("elections", "432.5432.543.KT2", "spades-clubs", "CQ C3 C4")) == "CT"


def test_takes_red_cards_low_and_spares_low_cards_where_the_partner_has_them() -> None:
    assert card(last("elections", "K2.543.K32.98765", "clubs-reds", "D7 D8 D9")) in ("D2", "D3")
    assert card(last("elections", "K2.543.K32.98765", "clubs-reds", "D9 D7 D8")) == "DK"


def test_takes_seven_tricks_and_no_more_where_more_tricks_pay_and_each_costs() -> None:
    for own, theirs, wanted in ((6, 5, "SK"), (7, 3, "S2"), (3, 7, "S2"), (6, 6, "SK")):
        game = last("elections-joint", "K2.5432.5432.432", "nt-joint", "SQ S3 S4")
        game.view.tricks[:] = own, theirs, 0, 0
        game.view.tricks_played = own + theirs
        assert card(game) == wanted, (own, theirs)


def test_wins_as_cheaply_as_will_do() -> None:
    assert card(last("tricks", "AK2.5432.543.432", "nt-tricks", "SQ S3 S4")) in ("SK", "SA")
    assert card(last("tricks", "AJ2.5432.543.432", "nt-tricks", "ST S3 S4")) == "SJ"
    assert card(last("tricks", "AJ2.5432.543.432", "nt-tricks", "S3 ST S4")) == "S2", "the partner has it"
    assert card(last("tricks", "32..AKQ65432.AK4", "spades-tricks", "HA H3 H4")) == "S2", "ruffs with the lowest"


# ---- calls ----------------------------------------------------------------------------------------------------------------------


def test_names_the_type_and_the_contract_of_the_hand() -> None:
    assert call(Elections("tricks", dealt("2.AKQJT98.43.432"), dealer="W")) == "hearts"
    assert call(Elections("elections", dealt("AKQJT98.AKQ2..32"), dealer="W")) == "hearts", "hearts are trump, the spades pay"
    for hand, kind, wanted in (
        ("AK2.A2.A2.AKQJT9", "clubs", "clubs-tricks"),
        ("5432.432.432.432", "clubs", "clubs-reds"),
        ("AKQ2.AKQ.AKQ.AKQ", "no-trump", "nt-most"),
        ("5432.432.432.432", "no-trump", "nt-fewest"),
    ):
        game = Elections("elections", dealt(hand), dealer="W")
        game.table.phase, game.table.turn, game.view.type = state.NAMING, 0, game.ruleset.type_ids.index(kind)
        assert contract(game) == wanted, hand


def test_matches_a_type_that_suits_and_goes_on_from_one_that_does_not() -> None:
    for kind in ("clubs", "hearts"):
        game = Elections("tricks", dealt("AK2.QJ43.K32.432"), dealer="S")
        game.call(kind)
        assert game.turn == "N"
        assert call(game) == kind, "a fair hand: the other has shown the trumps"
    game = Elections("tricks", dealt("AKQJT9876.43..32"), dealer="S").call("clubs")
    assert call(game) == "spades"


@pytest.mark.parametrize("name", NAMES)
def test_hand_worths_are_centred_and_foretell_the_margin(name: str) -> None:
    """Means over 1,600 hands within a quarter of their spread (10 standard errors) of the attackers' mean margin; margins go with
    the sides' worths."""
    ruleset = load_ruleset(name)
    rules = ruleset.record[0]
    hands = simcore.deal_hands(6, 0, 400)
    table = simcore.simulate("elections", ruleset=name, seed=6, deals=400, contract="all", pairs="NS", declarer="N",
                             players="expert").table()  # fmt: skip
    margins = (np.array(table["points_attackers"]) - np.array(table["points_defenders"])).reshape(400, -1)
    for number, contract_id in enumerate(ruleset.contract_ids):
        worths = np.array([[hand_worth(rules, number, hand) for hand in deal] for deal in hands]) / 64
        mean = points_table()[ruleset.meaning(ruleset.contracts[number])]["mean"]
        assert abs(worths.mean() - mean) < worths.std() / 4, contract_id
        if contract_id != "nt-joint":  # seven tricks and no more: next to nothing to tell from high cards
            side = worths[:, 0] + worths[:, 2] - worths[:, 1] - worths[:, 3]
            assert np.corrcoef(side, margins[:, number])[0, 1] > 0.2, contract_id


def test_takes_the_lot_partner_at_his_word() -> None:
    """Passing would leave him to another; a match nobody can take away."""
    game = Elections("elections", dealt("KQ2.K32.K32.5432"), dealer="S")  # W calls first; lots E–W and N–S
    game.view.lots = 3  # N–W
    game.call("spades")
    assert game.turn == "N"
    assert call(game) == "spades"


def test_a_contract_of_ones_own_is_judged_by_what_it_pays() -> None:
    """Not fitted: another amount a trick is another contract.  Worths go with those of the fitted one it is made like."""
    text = load_ruleset("tricks").text.replace("trick = 1", "trick = 3")
    own, known = parse_ruleset(text), load_ruleset("tricks")
    assert own.record[0].fitted.sum() == 0
    assert known.record[0].fitted.sum() == len(known.contracts)
    hands = simcore.deal_hands(6, 0, 100)[:, 0]
    for number in range(len(own.contracts)):
        a, b = ([hand_worth(rules.record[0], number, hand) for hand in hands] for rules in (own, known))
        assert np.corrcoef(a, b)[0, 1] > 0.9
    table = simcore.simulate("elections", ruleset=own, seed=6, deals=80, players="expert").table().to_pandas()
    assert (table["status"] == "played").mean() > 0.9


# ---- strength -------------------------------------------------------------------------------------------------------------------


def side_margins(ruleset: str, deals: int) -> np.ndarray:
    """Mean margin a deal of two experts over two greedys by contract, N and S against E and W, sides swapped."""
    total: Any = 0
    for experts in ("NS", "EW"):
        players = {seat: "expert" if seat in experts else "greedy" for seat in SEATS}
        table = simcore.simulate("elections", ruleset=ruleset, seed=21, deals=deals, contract="all", pairs="NS", declarer="N",
                                 player=players).table()  # fmt: skip
        margin = np.array(table["points_attackers"], np.int64) - np.array(table["points_defenders"], np.int64)
        total = total + (margin if experts == "NS" else -margin)
    return total.reshape(deals, -1).mean(axis=0) / 2


def test_beats_greedy_in_every_contract() -> None:
    """Fixed seed; the thresholds lie more than six standard errors below the measured margins (benchmarks/standing.py)."""
    assert (side_margins("elections", 1500) > [0.9, 1.6, 0.8, 1.4, 1.2, 8, 9, 1.8]).all()
    assert (side_margins("elections-joint", 1500) > [0.2, 1.7, 1.2, 8, 3]).all()
    assert (side_margins("tricks", 1500) > [0.5, 0.3, 0.3, 0.3, 0.3]).all()


@pytest.mark.parametrize(("name", "least"), [("elections", 1.2), ("elections-joint", 0.8), ("variety", 2.2), ("tricks", 0.9)])
def test_beats_greedy_in_whole_rounds(name: str, least: float) -> None:
    """Mean credit a deal over that of the greedys, 200 rounds in two seatings each of side by side and across."""
    gain = 0.0
    for experts in ("NS", "EW", "NE", "SW"):
        players = {seat: "expert" if seat in experts else "greedy" for seat in SEATS}
        table = simcore.simulate("elections", ruleset=name, seed=22, deals=1600, player=players).table()
        for seat in SEATS:
            gain += np.array(table[f"credit_{seat.lower()}"]).mean() * (1 if seat in experts else -1) / 8
    assert gain > least


_SCRIPT = """
import json, simcore
out = []
for ruleset in ("elections", "elections-joint", "variety"):
    out.append(simcore.replay("elections", ruleset=ruleset, seed=12, deals=3, players="expert"))
    out.append(simcore.replay("elections", ruleset=ruleset, seed=12, deals=1, players="expert", contract="all"))
print(json.dumps(out))
"""


def test_the_same_with_and_without_jit() -> None:
    def run(**env: str) -> str:
        done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", _SCRIPT], capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": str(ROOT)} | env)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run(NUMBA_DISABLE_JIT="1") == run()
