"""Known cards and conditions: the language, and that what is dealt is uniform."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import simcore
from simcore._jit import njit
from simcore.batches.config import dealing_plan, make_config
from simcore.batches.run import run_simulation
from simcore.cards import parse_card, parse_cards
from simcore.deals.conditions import holds, parse_condition
from simcore.deals.constrained import deal_constrained, make_plan
from simcore.deals.dealing import deal_conditioned
from simcore.errors import BadInput, SimcoreError
from simcore.rng import SOURCE, open_source, seed_words

ROOT = Path(__file__).parent.parent
SUITS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}


def _value(hand: list[str], quantity: str) -> int:
    """A plain twin: hands are lists of words."""
    if quantity == "hcp":
        return sum({"A": 4, "K": 3, "Q": 2, "J": 1}.get(card[1], 0) for card in hand)
    return sum(card[0] == SUITS[quantity] for card in hand)


def _hands(masks: np.ndarray) -> list[list[str]]:
    return [list(simcore.Hand(int(mask))) for mask in masks]


SEATS = "NESW"
terms = st.tuples(st.sampled_from(SEATS), st.sampled_from(["hcp", *SUITS]))
comparisons = st.tuples(
    st.lists(st.tuples(st.sampled_from("+-"), terms), min_size=1, max_size=3),
    st.sampled_from(["<", "<=", "=", "==", "!=", ">=", ">"]),
    st.integers(0, 14),
)
has = st.tuples(st.just("has"), st.sampled_from(SEATS), st.lists(st.sampled_from(["SA", "H2", "DT", "CK"]), min_size=1, max_size=2))
shape = st.tuples(st.just("shape"), st.sampled_from(SEATS), st.sampled_from(["4333", "5-3-3-2", "54xx", "4432", "x-x-4-x"]))
trees = st.recursive(
    st.one_of(comparisons, has, shape),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner), st.tuples(st.just("and"), inner, inner), st.tuples(st.just("or"), inner, inner)
    ),
    max_leaves=6,
)


def _text(tree: tuple) -> str:
    if tree[0] == "has":
        return f"{tree[1]} has {' '.join(tree[2])}"
    if tree[0] == "shape":
        return f"{tree[1]}.shape = {tree[2]}"
    if tree[0] == "not":
        return f"not ({_text(tree[1])})"
    if tree[0] in ("and", "or"):
        return f"({_text(tree[1])}) {tree[0]} ({_text(tree[2])})"
    words = " ".join(f"{sign} {seat}.{quantity}" for sign, (seat, quantity) in tree[0]).removeprefix("+ ")
    return f"{words} {tree[1]} {tree[2]}"


def _truth(tree: tuple, hands: list[list[str]]) -> bool:
    if tree[0] == "has":
        return all(card in hands[SEATS.index(tree[1])] for card in tree[2])
    if tree[0] == "shape":
        lengths = [_value(hands[SEATS.index(tree[1])], suit) for suit in ("spades", "hearts", "diamonds", "clubs")]
        parts = tree[2].split("-") if "-" in tree[2] else list(tree[2])
        orders = [parts] if "-" in tree[2] else itertools.permutations(parts)
        return any(all(p in ("x", str(n)) for p, n in zip(order, lengths, strict=True)) for order in orders)
    if tree[0] == "not":
        return not _truth(tree[1], hands)
    if tree[0] == "and":
        return _truth(tree[1], hands) and _truth(tree[2], hands)
    if tree[0] == "or":
        return _truth(tree[1], hands) or _truth(tree[2], hands)
    total = sum((1 if sign == "+" else -1) * _value(hands[SEATS.index(seat)], quantity) for sign, (seat, quantity) in tree[0])
    relation = {"=": "=="}.get(tree[1], tree[1])
    return bool(eval(f"{total} {relation} {tree[2]}"))


@given(tree=trees)
@settings(max_examples=150, deadline=None)
def test_a_condition_means_what_it_says_and_its_bounds_are_necessary(tree: tuple) -> None:
    condition = parse_condition(_text(tree), SEATS)
    for masks in simcore.deal_hands(17, 0, 25):
        hands = _hands(masks)
        truth = _truth(tree, hands)
        assert bool(holds(condition.program, masks)) == truth
        if truth:
            values = np.array([[_value(hand, quantity) for quantity in (*SUITS, "hcp")] for hand in hands])
            assert any(
                (bounds.low <= values).all()
                and (bounds.high >= values).all()
                and all(int(mask) & held == held for mask, held in zip(masks, bounds.held, strict=True))
                for bounds in condition.branches
            )


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("N.spads > 3", 3, "'spads'"),
        ("N.hcp >", 8, "seat"),
        ("(N.hcp > 3", 11, "')'"),
        ("N.shape = 533", 11, "'533'"),
        ("N.shape = 5-5-5-5", 11, "20 cards"),
        ("X.hcp > 3", 1, "'X'"),
        ("N.hcp > 3 xor", 11, "'xor'"),
        ("N has", 6, "card"),
        ("N has S1", 7, "'S1'"),
        ("N.hcp ~ 3", 7, "'~'"),
        ("N.hcp > 3 and", 14, "seat"),
        ("N.hcp > 99999", 9, "99999"),
        ("N hcp > 3", 3, "'.'"),
        ("", 1, "empty"),
    ],
)
def test_mistakes_point_at_the_character(text: str, place: int, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_condition(text, SEATS)
    message = str(caught.value)
    assert f"at character {place}\n" in message
    assert message.splitlines()[2].index("^") == place - 1 + 2
    assert words in message


WORDS = ["N", ".", "hcp", ">", "3", "and", "or", "not", "(", ")", "has", "SA", "shape", "=", "5332", "+", "-", "♠A", "10"]


@given(text=st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS)).map(" ".join)))
@settings(max_examples=200, deadline=None)
def test_junk_gives_clean_errors(text: str) -> None:
    with contextlib.suppress(SimcoreError):
        parse_condition(text, SEATS)


def test_deep_nesting_is_refused() -> None:
    for text in ("(" * 5000 + "N.hcp > 3" + ")" * 5000, "not " * 900 + "N.hcp > 3"):
        try:
            parse_condition(text, SEATS)
        except BadInput:
            continue


# ---- uniformity -----------------------------------------------------------------------------------------------------------------


@njit
def _sample(hands, source, k0, k1, pack, plan):  # type: ignore[no-untyped-def]
    tried = 0
    for i in range(len(hands)):
        open_source(source, k0, k1, np.uint64(i), np.uint64(0), np.uint64(0))
        tried += deal_constrained(hands[i], source, plan, pack, 1000000)
    return tried


PACK = "SA SK HA HQ DJ D2 C3 C2"
CONDITIONS = [
    ("N.spades >= 1", "", 4),
    ("N.hcp >= 5", "", 4),
    ("N.hcp >= 4 and N.hearts = 1", "", 4),
    ("N.spades = 1 and S.spades = 1 and W.hearts <= 1", "", 4),
    ("N.hcp >= 3 and E.hcp >= 3", "", 4),
    ("N.spades >= 1 or E.clubs = 2", "", 4),
    ("not (N.hcp < 4 or S.diamonds = 2)", "", 4),
    ("N has SA and E.hcp <= 3 and W.clubs >= 1", "", 4),
    ("N.hcp >= 4", "DJ", 4),
    ("N.spades + S.spades >= 2", "HA", 4),
    ("N.hcp >= 4 and S.clubs >= 1", "", 2),
    ("N.hcp + S.hcp >= 9", "C2", 2),
    ("N.spades = 2 or N.hcp >= 5 or E.clubs = 2", "", 4),
    ("N has SA or N.spades >= 1 or S has SA", "", 4),
    ("(N.spades = 2 or N.hearts = 2) and (S.clubs >= 1 or S.hcp >= 1)", "", 4),
    ("N.spades = 0 or S.clubs = 2 or N has SA", "DJ", 4),
    ("N.hcp >= 5 or S.hcp >= 5", "", 2),
]


@pytest.mark.parametrize(("text", "known", "seats"), CONDITIONS)
def test_uniform_against_full_enumeration_on_a_small_pack(text: str, known: str, seats: int) -> None:
    """Two cards a seat out of eight: every deal that satisfies the condition comes equally often (χ², false alarm 1e-7)."""
    names = SEATS if seats == 4 else "NS"
    cards = PACK.split()
    condition = parse_condition(text, names)
    wanted: dict[tuple[int, ...], int] = {}

    def complete(rest: list[str], hands: list[int]) -> None:
        if len(hands) == seats:
            masks = np.array(hands, np.uint64)
            if holds(condition.program, masks) and hands[0] & parse_cards(known) == parse_cards(known):
                wanted[tuple(hands)] = 0
            return
        for pair in itertools.combinations(rest, 2):
            complete([c for c in rest if c not in pair], [*hands, parse_cards(" ".join(pair))])

    complete(cards, [])
    fixed = np.zeros(seats, np.uint64)
    fixed[0] = parse_cards(known)
    pack = parse_cards(PACK)
    plan = make_plan(fixed, [2] * seats, condition, pack=pack, seats=names)
    count = max(60 * len(wanted), 20000)
    hands = np.zeros((count, seats), np.uint64)
    source = np.zeros(1, SOURCE).view(np.recarray)[0]
    _sample(hands, source, *seed_words(len(text)), np.uint64(pack), plan)
    for row in hands.tolist():
        wanted[tuple(row)] += 1
    counts = np.array(list(wanted.values()))
    expected = count / len(wanted)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-7, len(wanted) - 1)


def test_against_exact_hypergeometric_probabilities() -> None:
    """Spade lengths under N.spades >= 5, and the acceptance of a condition that must be tried (false alarm 1e-7)."""
    plan = dealing_plan("elections", None, "N.spades >= 5")
    hands, _, tries = deal_conditioned(9, 0, 40000, plan)
    assert (tries == 1).all()
    ways = {n: comb(13, n) * comb(39, 13 - n) for n in range(5, 14)}
    lengths = np.array([(int(m) >> 48).bit_count() for m in hands[:, 0]])
    merged = [(n,) for n in range(5, 9)] + [tuple(range(9, 14))]
    observed = np.array([np.isin(lengths, group).sum() for group in merged])
    expected = np.array([float(Fraction(sum(ways[n] for n in group), sum(ways.values()))) for group in merged]) * len(hands)
    assert ((observed - expected) ** 2 / expected).sum() < chi2.isf(1e-7, len(merged) - 1)
    _, _, tries = deal_conditioned(9, 0, 20000, dealing_plan("elections", None, "N.spades + S.spades >= 9"))
    exact = sum(comb(26, 13 - k) * comb(26, k) for k in range(5)) / comb(52, 13)  # E–W have at most four
    rate = 20000 / tries.sum()
    assert abs(rate - exact) < 5.4 * exact / np.sqrt(20000)


def test_points_are_uniform_over_hands_too() -> None:
    """N.hcp >= 20 dealt directly has the same distribution of points as deals picked out of unconditioned ones."""
    direct = deal_conditioned(3, 0, 20000, dealing_plan("elections", None, "N.hcp >= 20"))[0][:, 0]
    tried = simcore.deal_hands(4, 0, 1_500_000)[:, 0]
    condition = parse_condition("N.hcp >= 20", SEATS)
    masks = np.array([m for m in tried if holds(condition.program, np.array([m, 0, 0, 0], np.uint64))])

    def points(hands: np.ndarray) -> np.ndarray:
        return np.bincount(np.minimum([_value(list(simcore.Hand(int(m))), "hcp") for m in hands], 25), minlength=26)[20:]

    a, b = points(direct), points(masks)
    total = a + b
    expected = np.array([total * a.sum() / total.sum(), total * b.sum() / total.sum()])
    assert ((np.array([a, b]) - expected) ** 2 / expected).sum() < chi2.isf(1e-7, 5)


def test_known_cards_and_conditions_everywhere(tmp_path: Path) -> None:
    known, where = "N:AKQ.T98.75.65432 - - KJT987...", "E.hcp >= 12"
    options = {"seed": 8, "known": "N:AK...  - - QJ...", "where": "E.hcp >= 12 and not S.shape = 4333"}
    rows = simcore.simulate("elections", deals=300, contract="all", hands=True, **options).table().to_pylist()
    assert all(row["hand_n"] & parse_cards("SA SK") == parse_cards("SA SK") for row in rows)
    assert all(_value(list(simcore.Hand(row["hand_e"])), "hcp") >= 12 for row in rows)
    trace = simcore.replay("elections", first=17, contract="nt-most", **options)[0]
    assert simcore.Hand.parse(trace["hands"]["N"]).mask == rows[17 * 8]["hand_n"]
    data = simcore.simulate("elections", deals=300, **options).summary_data()
    assert 0 < data["acceptance"] <= 1
    folders = []
    for threads, chunk in ((1, 8192), (2, 64)):
        config = make_config("elections", deals=3000, **options)
        run_simulation(config, out=tmp_path / str(threads), threads=threads, chunk=chunk)
        folders.append({p.name: p.read_bytes() for p in (tmp_path / str(threads)).iterdir()})
    assert folders[0] == folders[1]
    showcase = (
        simcore.simulate("showcase", seed=8, deals=200, hands=True, known="S:AKQ... -", where="N.spades >= 3").table().to_pylist()
    )
    assert all(row["hand_s"] & parse_cards("SA SK SQ") == parse_cards("SA SK SQ") for row in showcase)
    assert all((row["hand_n"] >> 48).bit_count() >= 3 for row in showcase)
    import naive

    for game, extra in (("elections", {"known": None, "where": where}), ("showcase", {"known": "S:AKQ... -"})):
        for one in simcore.replay(game, seed=2, deals=100, **extra):
            assert not naive.check_trace(json.loads(json.dumps(one)))
    command = [sys.executable, "-m", "cli.main", "deal", "--known", known.replace("543", "432"), "--where", where, "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "stands twice" in done.stderr or "held by another" in done.stderr


@pytest.mark.parametrize(
    ("known", "where", "words"),
    [
        (None, "N.spades >= 8 and S.spades >= 6", "no deal satisfies"),
        (None, "N.spades > 13", "no deal satisfies"),
        (None, "N.shape != xxxx", "no deal satisfies"),
        (None, "N.shape = xxxx and not N.shape = xxxx", "no deal satisfies"),
        ("N:A... - - -", "S has SA", "SA"),
        ("N:AKQJT98765432... - - -", "N.hearts = 1", "no deal satisfies"),
        (None, "N has SA and E has SA", "SA"),
        (None, "N.hcp + E.hcp > 41", "tries"),
    ],
)
def test_nothing_satisfies(known: str | None, where: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=words):
        deal_conditioned(1, 0, 1, dealing_plan("elections", known, where), max_tries=100_000)


def test_rare_conditions_are_dealt_directly() -> None:
    for where in (
        "N.hcp = 37",
        "N.spades = 13",
        "N.shape = 13-0-0-0",
        "N.spades >= 7 and E.hearts >= 7",
        "N has SA SK SQ SJ ST S9 S8 S7",
        "N.spades >= 10 or S.hearts >= 10 or E.hcp >= 30",
        "N.shape = 7-6-0-0, 8-5-0-0 and (E.hcp >= 20 or W.hcp >= 20)",
        "N.spades >= 12 or N.shape = 13-0-0-0",
        "not N.shape = xxxx or N.hcp > 35",
        "N.shape = xxxx and N has A♠",
    ):
        tries = deal_conditioned(1, 0, 200, dealing_plan("elections", None, where))[2]
        assert tries.mean() < 2, where


def test_branches_come_with_their_shares() -> None:
    """Of two rare alternatives that exclude each other each comes as often as it has deals (false alarm 1e-7)."""
    hands = deal_conditioned(3, 0, 20000, dealing_plan("elections", None, "N.spades = 9 or N.hearts = 10"))[0]
    nine, ten = comb(13, 9) * comb(39, 4), comb(13, 10) * comb(39, 3)
    share = nine / (nine + ten)
    spades = int((np.bitwise_count(hands[:, 0] >> np.uint64(48)) == 9).sum())
    assert abs(spades - 20000 * share) < 5.4 * np.sqrt(20000 * share * (1 - share))


def test_too_many_branches_are_dealt_by_what_they_share() -> None:
    text = " and ".join(f"({seat}.spades != 3 or {seat}.hearts != 3 or {seat}.hcp = 10)" for seat in "NESW")
    condition = parse_condition(text, SEATS)
    assert 1 <= len(condition.branches) <= 64
    hands = deal_conditioned(3, 0, 50, dealing_plan("elections", None, text))[0]
    assert all(holds(condition.program, masks) for masks in hands)


def test_unseen_cards_are_uniform_given_known_ones() -> None:
    """Each unknown card is equally likely at each seat's open places (false alarm 1e-7)."""
    hands = deal_conditioned(5, 0, 30000, dealing_plan("elections", "N:AKQJT98765... - - -", None))[0]
    card = parse_card("H2")
    where = [(hands[:, s] >> np.uint64(card) & np.uint64(1)).sum() for s in range(4)]
    expected = np.array([3, 13, 13, 13]) / 42 * 30000
    assert ((np.array(where) - expected) ** 2 / expected).sum() < chi2.isf(1e-7, 3)


@pytest.mark.parametrize(
    ("known", "where", "words"),
    [
        (None, "N has SA and not N has SA", ["N has SA and must not"]),
        (None, "N has SA SK and not (N has SA)", ["N has SA and must not"]),
        ("N:AK... - - -", "not (N has SA SK)", ["N has SA SK and must not"]),
        (None, "not N has SA and not E has SA and not S has SA and not W has SA", ["not enough cards", "N, E, S, W"]),
        (None, "not N has SA and not E has SA and not W has SA and E.spades > 12", ["no deal"]),
        (None, "N.spades = 5 and N.spades != 5", ["no deal satisfies"]),
        (None, "N.hcp != 4 and 4 <= N.hcp <= 4", ["no deal satisfies"]),
        (None, "N.spades + E.hearts > 26", ["no deal satisfies"]),
        (None, "N.spades + E.spades != E.spades + N.spades", ["no deal satisfies"]),
        (None, "N.spades >= 12 and not N has SA and not N has SK", ["N may not hold enough"]),
        (None, "N.hcp >= 35 and not N has SA", ["N may not hold enough"]),
    ],
)
def test_contradictions_are_refused_at_once(known: str | None, where: str, words: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        dealing_plan("elections", known, where)
    for word in words:
        assert word in str(error.value)


def test_cards_nobody_need_hold_and_values_left_out_are_dealt() -> None:
    """The reserve of Showcase may hold a card that neither hand does; a hole in the values is tried around, not widened."""
    hands, _, _ = deal_conditioned(1, 0, 50, dealing_plan("showcase", None, "not N has SA and not S has SA"))
    assert not (hands & np.uint64(1 << parse_card("SA"))).any()
    hands, _, _ = deal_conditioned(1, 0, 300, dealing_plan("elections", None, "3 <= N.spades <= 5 and N.spades != 4"))
    assert {(int(hand) >> 48).bit_count() for hand in hands[:, 0]} == {3, 5}


def test_a_missing_value_is_not_called_a_seat() -> None:
    with pytest.raises(BadInput, match=r"a number or a seat's length or points .* character 11"):
        dealing_plan("elections", None, "N.spades >")
