"""Choices for one hand: right answers where they are known, worlds against full enumeration, reproducibility, formats, errors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from oracles import check_counts, check_share, run_python
from test_cli import run

import simcore
from simcore._jit import JIT
from simcore.bits import ONE
from simcore.cards import FULL, cards_of, format_card, format_hand, parse_card, parse_hand
from simcore.choosing.elections import Worlds
from simcore.choosing.question import ElectionsQuestion, action_bounds, contract_bounds
from simcore.choosing.showcase import _check_showcases
from simcore.elections.engine import advance, apply, prepare, start_deal
from simcore.elections.play import credits_of, result_of
from simcore.elections.policies import decide
from simcore.elections.state import CALL, PLAYED, new_table, new_view
from simcore.elections.worlds import run_worlds
from simcore.errors import BadInput, NotationError, RulesError, RunError, SimcoreError
from simcore.players import EXPERT
from simcore.rng import STREAM, open_streams, seed_words
from simcore.rules import load_ruleset
from simcore.solvers import two

SPADES = "AKQJT98765432..."
HAND = "AKQJT98.AK.32.32"


def choose(**options: Any) -> simcore.Choices:
    return simcore.choose("elections", **({"hand": HAND, "seat": "S", "seed": 7, "threads": 1} | options))


def test_thirteen_trumps_take_thirteen_tricks() -> None:
    choices = choose(hand=SPADES, ruleset="tricks", max_deals=2000)
    first = choices.rows[0]
    assert choices.best() == first["choice"] == "spades-tricks"
    assert choices.decided
    assert (first["margin"], first["win"], first["credit"], first["stderr"]) == (13, 1, 13, 0)
    assert first["relative"] == first["mean"] == pytest.approx(26 / 3)
    # the side that can never win a trick by itself, in the other suits' contracts, is at a disadvantage in every one
    assert all(row["mean"] < 0 for row in choices.rows[1:])


def test_all_the_tricks_bring_all_the_minus_points() -> None:
    """Spades trump: every trick, so every club at -2 and every ten and jack."""
    rows = {row["choice"]: row for row in choose(hand=SPADES, max_deals=1000).rows}
    assert (rows["spades-clubs"]["margin"], rows["spades-clubs"]["win"]) == (-26, 0)
    assert rows["spades-clubs"]["relative"] == pytest.approx(-52 / 3)
    assert (rows["spades-honours"]["credit"], rows["spades-honours"]["win"]) == (0, 0)  # a tie is a loss (E16)
    assert [row["best"] for row in rows.values()] == [True] + [False] * (len(rows) - 1)


def test_figures_of_a_row_agree_with_its_worlds() -> None:
    """Means, standard errors and relative credit (E17) recomputed from the worlds; every row lies within its interval."""
    choices = choose(dealer="E", max_deals=900)
    worlds = choices.worlds().to_pandas()
    assert set(choices.tables) == {"contract", "call"}
    for row in choices.rows:
        mine = worlds[(worlds["table"] == row["table"]) & (worlds["choice"] == row["choice"])]
        assert len(mine) == row["deals"]
        for key in ("relative", "margin", "win", "credit"):
            assert mine[key].mean() == pytest.approx(row[key])
        assert mine["relative"].sem() == pytest.approx(row["stderr"])
        assert row["mean"] == row["relative"]
        assert row["low"] < row["mean"] < row["high"]
    forced = worlds[worlds["table"] == "contract"]
    assert np.allclose(forced["relative"], forced["margin"] * 2 / 3)  # no bonus: two thirds of the margin
    best = choices.rows[0]["choice"]
    lead = forced.pivot(index="world", columns="choice", values="relative")
    for row in [row for row in choices.rows[1:] if row["table"] == "contract"]:
        pair = lead[[best, row["choice"]]].dropna()
        assert (pair[best] - pair[row["choice"]]).mean() == pytest.approx(row["behind"])  # paired


@pytest.mark.parametrize("objective", ["relative", "margin", "win", "credit"])
@pytest.mark.parametrize("ruleset", ["elections", "variety", "elections-joint"])
def test_no_result_is_beyond_its_bounds(objective: str, ruleset: str) -> None:
    """The stopping rule rests on these bounds; the extreme hands come close to them."""
    rules = load_ruleset(ruleset)
    unit = 3 if objective == "relative" else 1
    for hand in (SPADES, "2.2.2.AKQJT98765", "KQJT.KQJ.KQJ.KQJ"):
        worlds = choose(hand=hand, dealer="E", ruleset=ruleset, objective=objective, max_deals=300).worlds().to_pandas()
        for (table, choice), part in worlds.groupby(["table", "choice"], observed=True):
            place = rules.contract_ids.index(choice) if table == "contract" else -1
            low, high = action_bounds(rules, objective) if place < 0 else contract_bounds(rules, place, objective)
            values = part[objective].astype(float) * unit
            assert low <= values.min() + 1e-9
            assert values.max() <= high + 1e-9


def test_the_same_seed_gives_the_same_answer_on_any_threads() -> None:
    one, two_threads = (choose(dealer="W", calls="N clubs, E hearts", max_deals=700, threads=n) for n in (1, 2))
    assert one == two_threads
    same = choose(hand=simcore.Hand.parse(HAND), dealer="w", calls=[("N", "clubs"), ("e", "Hearts")], max_deals=700)
    assert same == one
    assert one.worlds() == two_threads.worlds()
    assert choose(dealer="W", calls="N clubs, E hearts", max_deals=700, seed=8).rows != one.rows


def test_the_kernel_does_the_same_without_jit_and_in_a_second_process() -> None:
    """Sixteen candidates with calls heard, a seat of random players among them; one slip allowed."""
    code = """
from simcore.choosing.elections import Worlds
from simcore.choosing.question import ElectionsQuestion
question = ElectionsQuestion.of(
    hand="AKQJT98.AK.32.32", seat="S", dealer="W", calls="N no-trump, E hearts", players="greedy", player={"E": "random"}, seed=7
)
worlds = Worlds(question)
worlds._options.slips = 1
chunk = worlds.chunk(0, 16, (0, 3), question.actions)
print(len(chunk.indices), *(array.tolist() for array in (chunk.indices, chunk.hands, chunk.facts, *chunk.results)))
"""
    plain, compiled = run_python(code, env={"NUMBA_DISABLE_JIT": "1"}), run_python(code)
    assert plain == compiled
    assert 0 < int(plain.split()[0]) < 16


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_no_variable_of_the_kernel_is_a_float() -> None:
    choose(max_deals=1)
    lines = [line for one in run_worlds.overloads.values() for line in str(one.type_annotation).splitlines()]
    assert len(lines) > 100
    assert not [line for line in lines if ":: float" in line]


def test_fewer_worlds_are_the_first_of_more() -> None:
    """A larger limit changes nothing up to the smaller one (the batches' ends do not depend on it but for the last)."""
    few, many = (choose(hand="A432.KJ2.Q43.J32", max_deals=n).worlds().to_pandas()["world"].unique() for n in (512, 1100))
    assert list(many[:512]) == list(few)


def _small_question(folder: Path, source: str, calls: str, pack: int, hand: int) -> tuple[Worlds, ElectionsQuestion]:
    path = folder / "model.py"
    path.write_text(source)
    question = ElectionsQuestion.of(
        hand=SPADES, seat="N", dealer="N", lot="NS", calls=calls, players=f"greedy+{path}:model", seed=3, partner="S"
    )
    worlds = Worlds(question)
    worlds._options.pack, worlds._options.hand = np.uint64(pack), np.uint64(hand)
    return worlds, question


def _deals(pack: int, hand: int) -> Iterator[tuple[int, int, int]]:
    """Yield every way to deal the rest of a pack, two cards each to E, S, W."""
    rest = cards_of(pack & ~hand)
    for east in combinations(rest, 2):
        left = [card for card in rest if card not in east]
        for south in combinations(left, 2):
            west = [card for card in left if card not in south]
            yield sum(1 << c for c in east), sum(1 << c for c in south), sum(1 << c for c in west)


_MODEL = """
from simcore.rng import pick
SA, HA, DA = 1 << 60, 1 << 44, 1 << 28

def model_call(view, rules, stream):
    hand = int(view.hand)
    if view.seat == 1:  # E names clubs with the ace of spades, by the toss of a coin with that of hearts
        return 0b100 if hand & SA or (hand & HA and pick(stream, 2) == 0) else 1
    return 1 if not hand & DA or pick(stream, 4) == 0 else 0b1000
"""


_PACK = sum(1 << parse_card(card) for card in ["SA", "HA", "DA", "CA", "SK", "HK", "DK", "CK"])


def test_worlds_have_the_frequencies_of_full_enumeration(tmp_path: Path) -> None:
    """A pack of eight cards, two each: 90 deals.  The model calls by single cards and by chance, so every weight is known."""
    hand = 1 << parse_card("CA") | 1 << parse_card("CK")
    sa, ha, da = (1 << parse_card(card) for card in ("SA", "HA", "DA"))
    weights = {}
    for east, south, west in _deals(_PACK, hand):
        likely = 1.0 if east & sa else (0.5 if east & ha else 0.0)
        weights[east, south, west] = likely * (0.25 if south & da else 1.0)
    assert len(weights) == 90
    total = sum(weights.values())
    worlds, _ = _small_question(tmp_path, _MODEL, "E clubs, S pass", _PACK, hand)
    candidates = 40_000
    chunk = worlds.chunk(0, candidates, (), ())
    check_share(len(chunk.indices), candidates, total / len(weights))
    seen = Counter(tuple(int(mask) for mask in row[1:]) for row in chunk.hands)
    possible = [deal for deal, weight in weights.items() if weight]
    assert set(seen) <= set(possible)
    check_counts([seen[deal] for deal in possible], [weights[deal] / total for deal in possible])
    # the likelihoods matter: even frequencies over the same deals are told apart
    with pytest.raises(AssertionError):
        check_counts([seen[deal] for deal in possible])
    assert (chunk.hands[:, 0] == np.uint64(hand)).all()
    assert (chunk.facts[:, :3] == [0, 2, 2]).all()


def test_without_calls_every_deal_is_as_likely(tmp_path: Path) -> None:
    hand = 1 << parse_card("SA") | 1 << parse_card("DK")
    worlds, _ = _small_question(tmp_path, _MODEL, "", _PACK, hand)
    seen = Counter(tuple(int(mask) for mask in row[1:]) for row in worlds.chunk(0, 9000, (), ()).hands)
    deals = list(_deals(_PACK, hand))
    assert set(seen) == set(deals)
    check_counts([seen[deal] for deal in deals])


def test_what_is_left_open_is_drawn_evenly() -> None:
    worlds = choose(max_deals=600, confidence=0.9999).worlds().to_pandas().drop_duplicates("world")
    for column, kinds in (("dealer", 4), ("lots", 3), ("partner", 3)):
        counts = worlds[column].value_counts()
        assert (counts > 0).sum() == kinds
        check_counts(counts[counts > 0].to_list(), tests=3)
    fixed = choose(max_deals=50, lot="EN", partner="lot").worlds().to_pandas()
    assert set(fixed["lots"]) == {"NE"}
    assert set(fixed["partner"]) == {"W"}
    assert set(choose(max_deals=50, partner="e").worlds().to_pandas()["partner"]) == {"E"}


def _setup(hands: list[int], dealer: int, lots: int, index: int, seed: int) -> tuple[Any, Any, Any]:
    table, view, streams = new_table()[0], new_view()[0], np.zeros(4, STREAM).view(np.recarray)
    table.hands[:] = np.array(hands, np.uint64)
    table.policies[:] = EXPERT
    open_streams(streams, *seed_words(seed), np.uint64(index))
    start_deal(table, view, dealer, lots)
    return table, view, streams


def test_worlds_fit_the_calls_heard_and_calls_are_worth_what_the_engine_plays() -> None:
    """Seat by seat: the model, asked directly, makes the call heard; then own call and rest, played again by the engine alone."""
    heard = (("N", "clubs"), ("E", "hearts"))
    choices = choose(dealer="W", calls="n clubs, e hearts", max_deals=60)
    assert choices.sampling["slips"] == 0
    rules = load_ruleset("elections")
    words, record = ("pass", *rules.type_ids), rules.record[0]
    checked = 0
    for row in choices.worlds().to_pylist():
        if row["table"] != "call":
            continue
        lots = {"NE": 1, "NS": 2, "NW": 3}[row["lots"]]
        hands = [row[f"hand_{seat}"] for seat in "nesw"]
        assert hands[2] == parse_hand(HAND)
        assert sum(hands) == int(FULL)
        table, view, streams = _setup(hands, 3, lots, row["world"], 7)
        for seat, word in heard:
            assert "NESW"[table.turn] == seat
            assert prepare(record, table, view) == CALL
            call = decide(EXPERT, CALL, view, record, streams[table.turn])
            assert call == np.uint64(1 << words.index(word))
            apply(record, table, view, CALL, call)
        apply(record, table, view, CALL, ONE << np.uint64(words.index(row["choice"])))
        assert advance(record, table, view, streams) == -1
        if table.status == PLAYED:
            attackers, defenders, result = result_of(record, view)
            credits = [int(credits_of(record, view, seat, attackers, defenders, result)) for seat in range(4)]
            assert row["credit"] == credits[2]
            assert row["relative"] == pytest.approx(credits[2] - (sum(credits) - credits[2]) / 3)
        checked += 1
    assert checked >= 60 * 2


def test_own_calls_are_taken_as_they_were_made() -> None:
    """The expert would never have passed with such a hand; that says nothing about the others, who called as the model does."""
    rules = load_ruleset("elections").with_choices(pass_="turn", calls="free")
    choices = choose(dealer="E", calls="S pass, W spades, N clubs, E diamonds", ruleset=rules, max_deals=40)
    assert "call" in choices.tables
    assert choices.sampling["slips"] == 0


def test_calls_no_player_of_the_model_makes_are_slips_and_said_so() -> None:
    """expert never passes as the first to call."""
    choices = choose(dealer="W", calls="N pass, E spades", max_deals=300)
    assert choices.sampling["slips"] == 1
    assert "up to 1 of the 2 calls" in choices.warnings[0]
    assert set(choices.worlds().to_pandas()["slips"]) == {1}
    assert (choices.sampling["pilot_deals"], choices.sampling["pilot_fit_without_slips"]) == (32768, 0)
    args = ["choose", "elections", "--hand", HAND, "--seat", "S", "--dealer", "W", "--calls", "N pass, E spades", "--seed", "7"]
    text = run(*args, "--max-deals", "20", status=3).stdout
    assert "none of 32,768 pilot deals fits them; with up to 1 slip " in text


def test_the_limit_leaves_a_tie_and_says_how_close() -> None:
    choices = choose(hand="A432.KJ2.Q43.J32", max_deals=64)
    assert not choices.decided
    tied = [row for row in choices.rows if row["tied"]]
    assert tied
    assert all(row["behind_low"] <= row["behind"] <= row["behind_high"] for row in tied)
    assert all(row["behind"] >= 0 for row in tied)
    assert choices.sampling["worlds"] == 64
    assert choices.sampling["stopped"] == "limit"


def test_time_runs_out_and_the_answer_is_marked() -> None:
    choices = choose(hand="A432.KJ2.Q43.J32", max_time="0.001s", max_deals=500_000)
    assert not choices.config["reproducible"]
    assert choices.sampling["stopped"] == "time"
    assert choices.sampling["worlds"] > 0


def test_the_declarer_compares_the_contracts_of_the_type(tmp_path: Path) -> None:
    choices = choose(dealer="E", calls="S spades, W pass, N spades", max_deals=200)
    assert choices.tables == ("contract",)
    assert {row["choice"] for row in choices.rows} == {"spades-honours", "spades-clubs"}
    assert "E11" in choices.notes[0]


def test_not_this_seats_turn() -> None:
    choices = choose(dealer="W", calls="N clubs", max_deals=40)
    assert choices.tables == ("contract",)
    assert "E's turn" in choices.notes[0]
    assert choose(max_deals=10).notes == ("no calls are compared: that needs to know the dealer",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hand": "AKQ..."}, ["'AKQ...'", "3 cards", "13"]),
        ({"seat": "X"}, ["'X'", "N E S W"]),
        ({"calls": "N pass"}, ["dealer", "E3"]),
        ({"dealer": "W", "calls": "E pass"}, ["call 1", "N's turn", "E3"]),
        ({"dealer": "W", "calls": "N spades, E clubs"}, ["call 2", "'clubs'", "E4"]),
        ({"dealer": "W", "calls": "N bananas"}, ["'bananas'", "no-trump", "E4"]),
        ({"dealer": "W", "calls": "N clubs, E hearts, S pass, W pass, N clubs"}, ["call 5", "E5"]),
        ({"dealer": "W", "calls": "N pass, E clubs, S pass, W pass, N clubs"}, ["call 5", "ended"]),
        ({"dealer": "W", "calls": "N pass, E clubs, S pass, W hearts, N clubs"}, ["call 5", "E's turn", "E6"]),
        ({"dealer": "W", "calls": "N clubs, E clubs"}, ["'N clubs, E clubs'", "N names the contract", "E11"]),
        ({"dealer": "W", "calls": "N pass, E pass, S pass, W pass"}, ["nothing is played", "E9"]),
        ({"dealer": "W", "calls": ["N clubs"]}, ["'N clubs'", "seat and a call"]),
        ({"dealer": "W", "calls": "N clubs,, E hearts"}, ["''", "seat and a call"]),
        ({"dealer": "W", "calls": "N clubs E pass"}, ["'N clubs E pass'", "seat and a call"]),
        ({"lot": "NN"}, ["'NN'", "E1"]),
        ({"partner": "S"}, ["'S'", "lot, any, N, E, W"]),
        ({"objective": "points"}, ["'points'", "relative"]),
        ({"confidence": 1.0}, ["1.0", "0.95"]),
        ({"max_deals": 0}, ["0", "1,048,576"]),
        ({"max_time": "soon"}, ["'soon'", "60s"]),
        ({"players": "expertt"}, ["'expertt'", "expert"]),
        ({"ruleset": "showcase"}, ["'showcase'", "'elections'"]),
        ({"threads": 0}, ["0", "1 to 1024"]),
    ],
)
def test_bad_questions_are_refused_by_name_and_clause(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises((BadInput, NotationError, RulesError)) as error:
        choose(**options)
    for word in words:
        assert word in str(error.value)


def test_a_failing_player_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def bad_play(view, rules, stream):\n    return 0\n")
    with pytest.raises(SimcoreError, match="bad"):
        choose(players=f"expert+{tmp_path / 'bad.py'}:bad", max_deals=2)


def test_a_refused_call_is_told_in_words_with_the_worlds_cards(tmp_path: Path) -> None:
    """Nobody could look a world's number up."""
    (tmp_path / "bad.py").write_text("def bad_call(view, rules, stream):\n    return 2 if view.seat == 3 else 1\n")
    with pytest.raises(RunError) as error:
        choose(players=f"expert+{tmp_path / 'bad.py'}:bad", dealer="N", calls="E hearts", max_deals=2)
    assert "returned no-trump (0x2), which is not exactly one of the legal pass (0x1), hearts (0x8)" in str(error.value)
    assert "the world N:" in str(error.value)
    assert HAND in str(error.value)


def test_a_model_that_sees_all_hands_is_said_to() -> None:
    warnings = choose(hand=SPADES, players="oracle", ruleset="tricks", max_deals=1).warnings
    assert "'oracle' sees all hands" in warnings[0]


# --- the command line ---


def test_formats_and_exit_statuses(tmp_path: Path) -> None:
    args = ["choose", "elections", "--hand", HAND, "--seat", "S", "--dealer", "E", "--seed", "7"]
    lines = [json.loads(line) for line in run(*args, "--format", "jsonl").stdout.splitlines()]
    keys = ["choice", "objective", "mean", "stderr", "low", "high", "confidence", "deals", "best", "tied"]
    assert all(key in line for line in lines for key in keys)
    assert [line["best"] for line in lines if line["table"] == "contract"] == [True] + [False] * 7
    data = json.loads(run(*args, "--format", "json").stdout)
    assert data["rows"] == lines
    assert data["seed"] == "7"
    text = run(*args)
    assert "seed 7" in text.stdout
    assert "best: nt-most, better than every other, 95 % sure" in text.stdout
    assert "Calls of S now" in text.stdout
    plain = run(*args, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").stdout
    assert plain.isascii()
    tie = run("choose", "elections", "--hand", "A432.KJ2.Q43.J32", "--seat", "N", "--max-deals", "50", "--seed", "7", status=3)
    assert "cannot be told" in tie.stdout
    assert "points of it (95 %)" in tie.stdout
    timed = run("choose", "elections", "--hand", HAND, "--seat", "N", "--max-time", "60s", "--seed", "1")
    assert "not reproducible" in timed.stdout
    assert "not reproducible" in timed.stderr


def test_out_holds_one_row_a_world_and_choice(tmp_path: Path) -> None:
    folder = tmp_path / "answer"
    args = ["choose", "elections", "--hand", HAND, "--seat", "S", "--seed", "7", "--max-deals", "100", "--out", str(folder)]
    run(*args, status=3)
    table = pq.read_table(folder / "worlds.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"][0]["rows"] == table.num_rows == sum(row["deals"] for row in manifest["result"]["rows"])
    assert manifest["config"]["seed"] == "7"
    before = (folder / "worlds.parquet").read_bytes()
    again = run(*args, status=3)  # complete: the answer is read
    assert (folder / "worlds.parquet").read_bytes() == before
    other = [*args[:6], "--seed", "8", *args[8:]]
    refused = run(*other, status=2)
    assert "seed is '7' there and '8' here" in refused.stderr
    assert "--overwrite" in refused.stderr
    assert run(*args, "--overwrite", status=3).stdout == again.stdout
    assert (folder / "worlds.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["elections", "--hand", HAND], ["needs a seat"]),
        (["elections", "--hand", HAND, "--seat", "S", "--leader", "N"], ["--leader"]),
        (["showcase", "--hand", HAND, "--seat", "S"], ["needs a leader"]),
        (["elections", "--hand", HAND, "--seat", "S", "--seed", "x"], ["'x'", "2**128"]),
        (["bridge"], ["bridge", "elections", "showcase"]),
    ],
)
def test_bad_use_is_status_2(args: list[str], words: list[str]) -> None:
    done = run("choose", *args, status=2)
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        choose(out=tmp_path / "file" / "x")


# --- Showcase ---


def _seen(trace: dict[str, Any], magri: bool) -> tuple[list[int], list[int], int]:
    """Return hands, showcases and discards at the naming, by following a trace's cards."""
    hands = [parse_hand(trace["hands"][seat]) for seat in "NS"]
    shows, discards = [0, 0], 0
    for trick in trace["first"]:
        leader, winner = "NS".index(trick["leader"]), "NS".index(trick["winner"])
        for seat, card, source in zip((leader, 1 - leader), trick["cards"], trick["from"], strict=True):
            bit = 1 << parse_card(card)
            if source == "hand":
                hands[seat] ^= bit
            else:
                shows[seat] ^= bit
            if magri:
                discards |= bit
            else:
                shows[winner] |= bit
        if trick["taken"]:
            shows[winner] |= 1 << parse_card(trick["taken"])
        if trick["drawn"]:
            hands[1 - winner] |= 1 << parse_card(trick["drawn"])
    return hands, shows, discards


def _showcase_options(ruleset: str, index: int) -> tuple[dict[str, Any], list[int]]:
    trace = simcore.replay("showcase", ruleset=ruleset, seed=5, first=index, players="expert")[0]
    magri = ruleset == "showcase-magri"
    hands, shows, discards = _seen(trace, magri)
    seat = "NS".index(trace["namer"])
    options = {
        "ruleset": ruleset,
        "hand": format_hand(hands[seat]),
        "seat": trace["namer"],
        "leader": trace["second"][0]["leader"],
        "show": f"N:{format_hand(shows[0])} S:{format_hand(shows[1])}",
    }
    if magri:
        options["discards"] = " ".join(format_card(card) for card in cards_of(discards))
    else:
        options["turned"] = trace["turned"]
        won = Counter(trick["winner"] for trick in trace["first"])
        options["won"] = f"N:{won['N']} S:{won['S']}"
    return options, [hand | show for hand, show in zip(hands, shows, strict=True)]


@pytest.mark.parametrize("ruleset", ["showcase", "showcase-magri"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_both_holdings_follow_and_trumps_have_their_exact_values(ruleset: str, index: int) -> None:
    options, holdings = _showcase_options(ruleset, index)
    choices = simcore.choose("showcase", **options)
    assert [parse_hand(choices.config["holdings"][seat]) for seat in "NS"] == holdings
    seat, leader = options["seat"], options["leader"]
    for row in choices.rows:
        north = two.value(*holdings, row["choice"], leader)
        assert row["points"] == {"N": north, "S": 13 - north}
        assert row["mean"] == row["points"][seat]
        assert row["win"] == (1.0 if row["points"][seat] > 6 else 0.0)
        assert isinstance(row["win"], float)
        assert len(row["line"]) == 13
        played = sum(1 << parse_card(card) for trick in row["line"] for card in trick)
        assert played.bit_count() == 26
        assert not played & ~(holdings[0] | holdings[1])
    assert [row["mean"] for row in choices.rows] == sorted((row["mean"] for row in choices.rows), reverse=True)
    assert choices.best() == choices.rows[0]["choice"] == two.best_trump(*holdings, seat, leader)
    assert choices.decided
    assert choices.table().num_rows == 6


@pytest.mark.parametrize(
    ("ruleset", "change", "words"),
    [
        ("showcase", lambda o: {k: v for k, v in o.items() if k != "turned"}, ["turned", "S2"]),
        ("showcase", lambda o: o | {"turned": o["show"][2] and "SA SK"}, ["'SA SK'"]),
        ("showcase", lambda o: o | {"discards": "SA"}, ["discards", "M6"]),
        ("showcase", lambda o: o | {"won": "N:12 S:12"}, ["24", "25", "S7"]),
        ("showcase", lambda o: o | {"won": "12"}, ["N:", "'12'"]),
        ("showcase", lambda o: o | {"show": "N:... S:..."}, ["add up", "S11"]),
        ("showcase", lambda o: o | {"show": "E:..."}, ["'E:...'"]),
        ("showcase", lambda o: o | {"leader": "E"}, ["'E'", "N S"]),
        ("showcase-magri", lambda o: o | {"turned": "SA"}, ["'SA'", "M6"]),
        ("showcase-magri", lambda o: o | {"discards": "SA SK"}, ["2 discards", "26"]),
        ("showcase-magri", lambda o: o | {"hand": "..."}, ["add up", "M11"]),
    ],
)
def test_cards_that_do_not_add_up_are_refused(
    ruleset: str, change: Callable[[dict[str, Any]], dict[str, Any]], words: list[str]
) -> None:
    options, _ = _showcase_options(ruleset, 0)
    with pytest.raises(SimcoreError) as error:
        simcore.choose("showcase", **change(options))
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("left", ["", "N", "S"])
@pytest.mark.parametrize("index", [0, 1, 2, 3])
def test_a_showcase_left_out_is_refused(left: str, index: int) -> None:
    options, _ = _showcase_options("showcase", index)
    options.pop("won")
    shows = options.pop("show").split()
    with pytest.raises(BadInput, match="do not add up"):
        simcore.choose("showcase", **options, show=" ".join(show for show in shows if show[0] == left))


@pytest.mark.parametrize("turned", ["out", "last"])
def test_no_showcase_of_a_real_deal_is_refused(turned: str) -> None:
    """The rule holds in every first playout, however played."""
    rules = load_ruleset("showcase").with_choices(turned_card=turned)
    for players in ("random", "greedy", "expert"):
        for trace in simcore.replay("showcase", ruleset=rules, seed=5, first=0, deals=60, players=players):
            hands, shows, _ = _seen(trace, magri=False)
            holdings = (hands[0] | shows[0], hands[1] | shows[1])
            _check_showcases(rules, holdings, [show.bit_count() for show in shows])


def test_a_card_in_two_places_is_refused() -> None:
    options, _ = _showcase_options("showcase", 0)
    card = format_card(cards_of(parse_hand(options["hand"]))[0])
    with pytest.raises(BadInput, match=rf"{card} .* is also in the hand"):
        simcore.choose("showcase", **(options | {"turned": card}))


def test_showcase_command() -> None:
    options, _ = _showcase_options("showcase", 1)
    args = ["choose", "showcase", *(word for key, value in options.items() for word in (f"--{key}", value))]
    rows = [json.loads(line) for line in run(*args, "--format", "jsonl").stdout.splitlines()]
    assert [row["best"] for row in rows] == [True] + [False] * 5
    text = run(*args).stdout
    assert "first 4 tricks of best play" in text
    assert rows[0]["choice"] in text
