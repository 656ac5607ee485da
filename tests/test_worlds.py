"""The world sampler of the searching players: every world possible, all equally likely, none favoured, nothing peeked at."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from midgame import all_worlds, elections_moments, lengths, showcase_moments
from oracles import check_counts, check_share

from simcore.cards import ALL_CARDS, FULL, SUIT_MASKS
from simcore.elections import engine as elections
from simcore.elections.policies import decide
from simcore.elections.state import CALL, PLAY, new_table, new_view
from simcore.errors import BadInput
from simcore.players import EXPERT, GREEDY
from simcore.rng import SOURCE, open_source
from simcore.rules import load_ruleset
from simcore.sampling import four_worlds, two_worlds
from simcore.searchers.worlds import elections_worlds, own_source, showcase_worlds
from simcore.showcase import engine as showcase
from simcore.showcase import state as two
from simcore.showcase.play import start_deal, unseen_cards

ELECTIONS = ["elections", "elections-joint", "variety", "tricks"]
SHOWCASES = {
    "showcase": {},
    "may": {"showcase_follow": "may"},
    "last": {"turned_card": "last", "second_lead": "last-trick"},
    "magri": {},
    "hand": {"follow_from": "hand-and-showcase"},
}


def source(number: int) -> Any:
    made = np.zeros(1, SOURCE).view(np.recarray)[0]
    open_source(made, np.uint64(number), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(9))
    return made


def showcase_rules(name: str) -> Any:
    base = "showcase-magri" if name in ("magri", "hand") else "showcase"
    return load_ruleset(base).with_choices(**SHOWCASES[name])


# ------------------------------------------------------------------ Elections


@pytest.mark.parametrize("name", ELECTIONS)
def test_worlds_of_elections_replay_legally(name: str) -> None:
    """The whole history, calls and cards, is legal with the hands of a world, and leads to the same view."""
    ruleset = load_ruleset(name)
    rules = ruleset.record[0]
    for seed in range(3):
        for kind, table, view, _ in elections_moments(ruleset, seed, auction=seed == 0):
            worlds = elections_worlds(view, rules, source(seed), 3)
            assert worlds.size == worlds.effective == 3
            for hands in worlds.hands:
                assert hands[view.seat] == view.hand
                assert sum(int(hand).bit_count() for hand in hands) == sum(int(hand).bit_count() for hand in table.hands)
                again, seen = new_table()[0], new_view()[0]
                again.hands[:] = hands | view.played
                assert int(np.bitwise_or.reduce(again.hands)) == int(FULL)
                elections.start_deal(again, seen, view.dealer, view.lots)
                for call in view.calls[: view.calls_made]:
                    elections.prepare(rules, again, seen)
                    assert int(seen.legal) >> int(call) & 1
                    elections.apply(rules, again, seen, CALL, np.uint64(1 << int(call)))
                if kind == PLAY:
                    if view.forced:
                        elections.force_contract(rules, again, seen, view.contract, view.declarer, view.pairing)
                    else:
                        elections.apply(rules, again, seen, 1, np.uint64(1 << int(view.contract)))
                    for card in view.history[: 4 * view.tricks_played + view.on_table]:
                        elections.prepare(rules, again, seen)
                        assert int(seen.legal) >> int(card) & 1, "a world that contradicts a void"
                        elections.apply(rules, again, seen, PLAY, np.uint64(1 << int(card)))
                elections.prepare(rules, again, seen)
                assert (seen.seat, seen.hand, seen.legal) == (view.seat, view.hand, view.legal)
                assert (again.hands == hands).all()


def endings(wanted: int, cards: int) -> list[tuple[Any, list[tuple[int, ...]], tuple[int, ...]]]:
    """Views late in a deal with some voids shown, all their worlds, and the true one."""
    found: list[tuple[Any, list[tuple[int, ...]], tuple[int, ...]]] = []
    ruleset = load_ruleset("elections")
    for seed in range(200):
        for _, table, view, _ in elections_moments(ruleset, seed):
            if 13 - view.tricks_played == cards and len(found) < wanted:
                if 12 <= four_worlds.count_worlds(view, np.zeros(four_worlds.WAYS)) <= 120:  # checked below
                    found.append((view.copy(), all_worlds(view), tuple(int(hand) for hand in table.hands)))
                break
    assert len(found) == wanted
    return found


def test_worlds_of_endings_are_uniform_over_full_enumeration() -> None:
    """χ² over all worlds of six endings, false alarm 1e-7 in all; the true deal comes as often as any other."""
    rules = load_ruleset("elections").record[0]
    positions = endings(5, 3) + endings(1, 4)
    true_hits = expected = 0.0
    for number, (view, worlds, true) in enumerate(positions):
        ways = np.zeros(four_worlds.WAYS)
        assert round(four_worlds.count_worlds(view, ways)) == len(worlds)
        draws = 100 * len(worlds)
        sample = elections_worlds(view, rules, source(number), draws)
        counts = Counter(tuple(int(hand) for hand in hands) for hands in sample.hands)
        assert counts.keys() <= set(worlds)
        check_counts([counts[world] for world in worlds], tests=len(positions))
        assert true in worlds
        true_hits += counts[true]
        expected += draws / len(worlds)
    assert abs(true_hits - expected) < 5.4 * expected**0.5  # a normal's 1e-7


@pytest.mark.parametrize("model", [EXPERT, GREEDY])
def test_calls_heard_leave_the_worlds_that_explain_them(model: int) -> None:
    """Endings after an auction: worlds are uniform among those in which the model's players make the calls heard."""
    ruleset = load_ruleset("elections")
    rules = ruleset.record[0]

    def follow(kind: int, view: Any, rules: Any, stream: Any, rng: random.Random) -> int:
        legal = int(view.legal)
        if kind == PLAY:
            return 1 << rng.choice([bit for bit in range(64) if legal >> bit & 1])
        return int(decide(model, kind, view, rules, stream)) if legal & (legal - 1) else legal

    checked = 0
    for seed in range(400):
        if checked == 3:
            break
        for _, table, view, streams in elections_moments(ruleset, seed, auction=True, follow=follow):
            if view.tricks_played != 10:
                continue
            if four_worlds.count_worlds(view, np.zeros(four_worlds.WAYS)) > 300:
                break
            worlds = all_worlds(view)
            again, seen = new_table()[0], new_view()[0]
            fits = [w for w in worlds if explains(rules, view, w, model, again, seen, streams)]
            if not 3 <= len(fits) <= len(worlds) // 2:
                break
            assert tuple(int(hand) for hand in table.hands) in fits
            sample = elections_worlds(view, rules, source(seed), 80 * len(fits), model)
            assert sample.slips == 0
            assert sample.effective == sample.size == 80 * len(fits)
            counts = Counter(tuple(int(hand) for hand in hands) for hands in sample.hands)
            assert counts.keys() <= set(fits)
            check_counts([counts[world] for world in fits], tests=4)
            check_share(sample.size, sample.tried, len(fits) / len(worlds), tests=4)
            checked += 1
            break
    assert checked == 3


def explains(rules: Any, view: Any, world: tuple[int, ...], model: int, table: Any, seen: Any, streams: Any) -> bool:
    """Tell whether the model's players make the calls heard; the engine asks, not the sampler."""
    table.hands[:] = np.array(world, np.uint64) | view.played
    elections.start_deal(table, seen, view.dealer, view.lots)
    for call in view.calls[: view.calls_made]:
        elections.prepare(rules, table, seen)
        legal = int(seen.legal)
        made = int(decide(model, CALL, seen, rules, streams[seen.seat])) if legal & (legal - 1) else legal
        if seen.seat != view.seat and made != 1 << int(call):
            return False
        elections.apply(rules, table, seen, CALL, np.uint64(1 << int(call)))
    elections.prepare(rules, table, seen)
    legal = int(seen.legal)
    if view.declarer == view.seat or not legal & (legal - 1):
        return True
    return bool(decide(model, 1, seen, rules, streams[seen.seat]) == 1 << int(view.contract))


def test_cards_played_weigh_worlds_by_the_model() -> None:
    """Endings of experts' play: worlds in which experts would have played these cards come oftener, the more the fewer slips; slips
    are counted as the engine would ask; the sample keeps half its size."""
    ruleset = load_ruleset("elections")
    rules = ruleset.record[0]

    def follow(kind: int, view: Any, rules: Any, stream: Any, rng: random.Random) -> int:
        legal = int(view.legal)
        return int(decide(EXPERT, kind, view, rules, stream)) if legal & (legal - 1) else legal

    checked = 0
    for seed in range(300):
        for _, table, view, streams in elections_moments(ruleset, seed, follow=follow):
            if view.tricks_played != 10:
                continue
            if not 10 <= four_worlds.count_worlds(view, np.zeros(four_worlds.WAYS)) <= 100:
                break
            worlds = all_worlds(view)
            again, seen = new_table()[0], new_view()[0]
            slips = {world: play_slips(rules, view, world, again, seen, streams) for world in worlds}
            assert slips[tuple(int(hand) for hand in table.hands)] == 0, "it is what they did"
            if len(set(slips.values())) < 3:
                break
            sample = elections_worlds(view, rules, source(seed), 500, EXPERT, EXPERT)
            assert sample.size == 500
            assert 240 <= sample.effective <= 500
            counts: Counter[tuple[int, ...]] = Counter()
            for hands, weight in zip(sample.hands, sample.weights, strict=True):
                counts[tuple(int(hand) for hand in hands)] += int(weight)
            fewest = min(slips.values())
            often = [world for world in worlds if slips[world] == fewest]
            seldom = [world for world in worlds if slips[world] > fewest]
            assert sum(counts[w] for w in often) / len(often) > 2 * sum(counts[w] for w in seldom) / len(seldom)
            for world in often[:10]:
                hands = np.array(world, np.uint64)
                assert four_worlds.play_slips_of(rules, view, hands, EXPERT, again, seen, streams) == slips[world]
            checked += 1
            break
        if checked == 3:
            break
    assert checked == 3


def play_slips(rules: Any, view: Any, world: tuple[int, ...], table: Any, seen: Any, streams: Any) -> int:
    """Count the cards of others that experts would not have played; the engine asks, not the sampler."""
    table.hands[:] = np.array(world, np.uint64) | view.played
    elections.start_deal(table, seen, view.dealer, view.lots)
    elections.force_contract(rules, table, seen, view.contract, view.declarer, view.pairing)
    slips = 0
    for card in view.history[: 4 * view.tricks_played + view.on_table]:
        elections.prepare(rules, table, seen)
        legal = int(seen.legal)
        if seen.seat != view.seat and legal & (legal - 1):
            slips += int(decide(EXPERT, PLAY, seen, rules, streams[seen.seat])) != 1 << int(card)
        elections.apply(rules, table, seen, PLAY, np.uint64(1 << int(card)))
    return slips


def test_calls_that_no_model_makes_do_not_stall() -> None:
    """A random auction: no world explains it; the sample is weighed, its effective size says how good it is."""
    ruleset = load_ruleset("variety")
    rules = ruleset.record[0]
    slips = []
    for seed in range(6):
        for kind, _, view, _ in elections_moments(ruleset, seed, auction=True):
            if kind == PLAY:
                sample = elections_worlds(view, rules, source(seed), 20, EXPERT)
                assert 1 <= sample.effective <= sample.size == 20
                assert sample.tried <= 64 * 20
                assert (sample.weights > 0).all()
                slips.append(sample.slips)
                break
    assert max(slips) > 0


# ------------------------------------------------------------------ Showcase


def whole_deal(table: Any, view: Any, history: np.ndarray, stock: np.ndarray, magri: bool) -> tuple[list[int], list[int]]:
    """Complete a world by what the deciding seat knows besides: its own cards as dealt and drawn."""
    hands = [0, 0]
    hands[view.seat], hands[1 - view.seat] = int(table.dealt[view.seat]), int(history[0])
    order = [int(card) for card in stock]
    for trick in range(view.tricks_played):
        place = 1 + (2 if magri else 1) * trick
        mine = view.winners[0, trick] != view.seat
        assert mine == (history[1 + trick] < 0)
        order[place] = int(table.drawn[trick]) if mine else int(history[1 + trick])
        if magri:
            order[place + 1] = int(table.stock[place + 1])  # the next display card, open
    return hands, order


@pytest.mark.parametrize("name", SHOWCASES)
def test_worlds_of_showcase_replay_legally(name: str) -> None:
    ruleset = showcase_rules(name)
    rules = ruleset.record[0]
    magri = ruleset.style == "magri"
    steps, ways, history = np.zeros(two_worlds.STEPS, np.int64), np.zeros(two_worlds.WAYS), np.zeros(two_worlds.HISTORY, np.int64)
    stock = np.zeros(26, np.int8)
    for seed in range(4):
        for kind, table, view, _ in showcase_moments(ruleset, seed):
            if kind != two.FIRST:
                break
            total = two_worlds.count_worlds(rules, view, steps, ways)
            assert total > 0
            held = two_worlds.deal_world(view, steps, ways, total, source(seed), stock, history)
            assert int(held).bit_count() == int(table.hands[1 - view.seat]).bit_count()
            hands, order = whole_deal(table, view, history, stock, magri)
            assert hands[0] | hands[1] | sum(1 << card for card in order) == int(FULL)
            again, seen = two.new_table()[0], two.new_view()[0]
            again.hands[:], again.stock[:] = hands, order
            start_deal(rules, again, seen, view.dealer)
            for card in view.history[0, : 2 * view.tricks_played + view.on_table]:
                showcase.prepare(rules, again, seen)
                assert int(seen.legal) >> int(card) & 1, "a world in which he could have followed"
                showcase.apply(rules, again, seen, two.FIRST, np.uint64(1 << int(card)))
            showcase.prepare(rules, again, seen)
            assert (seen.seat, seen.hand, seen.legal, seen.turned, seen.display) == (
                view.seat,
                view.hand,
                view.legal,
                view.turned,
                view.display,
            )
            assert (again.hands[1 - view.seat], again.hands[view.seat]) == (held, view.hand)
            played = two.new_table()[0]
            two_worlds.seat_world(rules, view, held, stock, played, two.PLAYOUT_1)
            assert played.next == again.next
            assert (played.stock[played.next :] == again.stock[played.next :]).all()


def histories(rules: Any, view: Any, hand: int, magri: bool) -> int:
    """Count the ways the other's cards can have come to him, card by card: what suit counts must agree with."""
    him = 1 - view.seat
    cards: dict[int, float] = {card: float("inf") for card in ALL_CARDS if hand >> card & 1}  # card: trick it left the hand
    draws: list[int] = []
    missing: list[tuple[int, int]] = []  # trick, suit
    shown = 0
    trump = int(view.turned) >> 4
    for trick in range(view.tricks_played + 1):
        count = 2 if trick < view.tricks_played else int(view.on_table)
        led = int(view.history[0, 2 * trick]) >> 4
        for place in range(count):
            card = int(view.history[0, 2 * trick + place])
            if view.leaders[0, trick] ^ place == him:
                if view.source[2 * trick + place]:
                    shown &= ~(1 << card)
                    continue
                cards[card] = trick
                if place == 1 and card >> 4 != led:
                    if not magri:
                        missing.append((trick, led))
                        if card >> 4 != trump:
                            missing.append((trick, trump))
                    elif rules.follow_from == 1 and not shown & int(SUIT_MASKS[led]):
                        missing.append((trick, led))
        if count == 2:
            if view.winners[0, trick] == him:
                for card in [int(view.taken[trick])] if magri else [int(c) for c in view.history[0, 2 * trick : 2 * trick + 2]]:
                    shown |= 1 << card
            else:
                draws.append(trick)
    order = sorted(cards)

    def may(card: int, arrived: int) -> bool:
        return arrived < cards[card] and not any(s == card >> 4 and arrived < t < cards[card] for t, s in missing)

    @cache
    def count_from(number: int, used: frozenset[int]) -> int:
        if number == len(draws):
            return int(all(may(card, -1) for card in order if card not in used))
        return sum(count_from(number + 1, used | {c}) for c in order if c not in used and may(c, draws[number]))

    return count_from(0, frozenset())


@pytest.mark.parametrize("name", SHOWCASES)
def test_hands_of_showcase_come_as_often_as_counting_histories_says(name: str) -> None:
    """χ² over the suit lengths of the other's hand, against counts of every history card by card; false alarm 1e-7."""
    ruleset = showcase_rules(name)
    rules = ruleset.record[0]
    checked = 0
    for seed in range(100):
        if checked == 1:
            break
        for kind, _, view, _ in showcase_moments(ruleset, seed):
            him = 1 - view.seat
            draws = sum(view.winners[0, : view.tricks_played] != him)
            off = sum(
                view.leaders[0, t] != him and view.history[0, 2 * t] >> 4 != view.history[0, 2 * t + 1] >> 4
                for t in range(view.tricks_played)
            )
            if kind != two.FIRST or draws > 3:
                break
            if draws < 2 or off < 1 or view.tricks_played < 4:
                continue
            unseen = int(unseen_cards(view))
            steps, ways = np.zeros(two_worlds.STEPS, np.int64), np.zeros(two_worlds.WAYS)
            total = two_worlds.count_worlds(rules, view, steps, ways)
            size = int(steps[-1, 1])
            weights = {}
            for shape in product(*(range(min(size, n) + 1) for n in lengths(unseen))):
                if sum(shape) == size:
                    hand = sum(
                        1 << c for s in range(4) for c in [c for c in ALL_CARDS if unseen >> c & 1 and c >> 4 == s][: shape[s]]
                    )
                    ways_of = histories(rules, view, hand, ruleset.style == "magri")
                    weights[shape] = ways_of * np.prod([comb(n, k) for n, k in zip(lengths(unseen), shape, strict=True)])
            everything = sum(weights.values())
            sample = showcase_worlds(view, rules, source(seed), 10_000)
            counts = Counter(lengths(int(hands[him])) for hands in sample.hands)
            assert all(weights[shape] > 0 for shape in counts)
            common = [shape for shape, weight in weights.items() if 10_000 * weight / everything > 60]
            rest = everything - sum(weights[shape] for shape in common)
            figures, shares = [counts[s] for s in common], [weights[s] / everything for s in common]
            if 10_000 * rest / everything > 60:
                figures.append(10_000 - sum(figures))
                shares.append(rest / everything)
            assert len(figures) > 3
            if 10_000 * rest / everything <= 60:
                scale = sum(shares)
                shares = [share / scale for share in shares]
            check_counts(figures, shares, tests=10)
            assert total > 0
            # within a suit, each unseen card is as likely as another; so is each place of the reserve
            assert sample.stocks is not None
            for suit in SUIT_MASKS:
                cards = [card for card in ALL_CARDS if unseen & int(suit) & 1 << card]
                if len(cards) > 1:
                    held = [int(((sample.hands[:, him] >> np.uint64(card)) & np.uint64(1)).sum()) for card in cards]
                    if min(held) > 50:
                        check_exchangeable(held, sum(held) / len(held), tests=40)
            checked += 1
            break
    assert checked == 1


def check_exchangeable(counts: list[int], mean: float, tests: int) -> None:
    """Assert that cards of a suit are held equally often (each count has at most a Poisson's spread)."""
    assert max(abs(count - mean) for count in counts) < 6.5 * mean**0.5, (counts, tests)


# ------------------------------------------------------------------ both


def test_the_same_decision_meets_the_same_worlds_whatever_is_hidden() -> None:
    """Hidden cards are no argument of the sampler; the source depends on seed, deal, seat and moment alone."""
    ruleset = load_ruleset("elections")
    moments = elections_moments(ruleset, 3)
    _, table, view, streams = next(moments)
    worlds = [elections_worlds(view, ruleset.record[0], own_source(streams[view.seat], 5), 40).hands for _ in range(2)]
    assert (worlds[0] == worlds[1]).all()
    other = elections_worlds(view, ruleset.record[0], own_source(streams[view.seat], 6), 40).hands
    assert (worlds[0] != other).any()
    assert not (worlds[0] == table.hands).all(axis=1).any(), "the true deal, one of 10^16, is never there"


def test_a_view_that_cannot_be_is_refused() -> None:
    ruleset = load_ruleset("elections")
    _, _, view, _ = next(elections_moments(ruleset, 1))
    broken = view.copy()
    broken.void[(view.seat + 1) & 3] = FULL
    with pytest.raises(BadInput, match="no deal is as the view says"):
        elections_worlds(broken, ruleset.record[0], source(1), 5)
    rules = load_ruleset("showcase")
    _, _, seen, _ = next(showcase_moments(rules, 1))
    wrong = seen.copy()
    wrong.hand = np.uint64(1)
    with pytest.raises(BadInput, match="no deal is as the view says"):
        showcase_worlds(wrong, rules.record[0], source(1), 5)
