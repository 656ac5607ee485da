"""Fitted worths of hands: the kernel adds up what the model says, the shipped table is whole, the script fits what is there."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

import simcore
from benchmarks import hand_points
from simcore.cards import format_hand
from simcore.elections.expert_calls import hand_worth
from simcore.rules import Contract, load_ruleset
from simcore.worth import model_of, points_table, suit_classes

RULESETS = ("elections", "elections-joint", "variety", "tricks")


@pytest.mark.parametrize("name", RULESETS)
def test_every_shipped_contract_is_fitted_and_the_kernel_adds_it_up(name: str) -> None:
    rules = load_ruleset(name)
    hands = simcore.deal_hands(4, 0, 20).ravel()
    for number, contract in enumerate(rules.contracts):
        row = points_table()[rules.meaning(contract)]
        model = model_of(rules.meaning(contract), contract)
        assert model is not None
        # by hand: base, each card, each length
        classes = suit_classes(contract)
        for hand, margin in zip(hands[:6], model.margins(hands[:6]), strict=True):
            total = row["base"]
            for suit, holding in zip((3, 2, 1, 0), format_hand(int(hand)).split("."), strict=True):
                total += row["lengths"][classes[suit]][len(holding)]
                total += sum(row["cards"][classes[suit]]["23456789TJQKA".index(letter)] for letter in holding)
            assert margin == pytest.approx(total)
        worths = np.array([hand_worth(rules.record[0], number, hand) for hand in hands]) / 64
        assert np.abs(worths - model.margins(hands)).max() <= 18 / 128  # eighteen numbers, each rounded to a 64th
        assert model.spread == pytest.approx(worths.std(), rel=0.3)
        points = row["points"]
        assert 1 <= len(points["add"]) <= 12
        assert points["r2_deal"] <= row["r2_deal"] + 0.001 < row["r2_hand"]
        # ten groups in order of the prediction: margins follow, at the ends of the least linear contracts within three points
        predicted, actual, _, _ = (np.array(column) for column in zip(*points["calibration"], strict=True))
        assert (np.diff(predicted) >= 0).all()
        assert np.corrcoef(predicted, actual)[0, 1] > 0.9
        assert np.abs(actual - predicted).max() < 3


def test_a_contract_that_pays_otherwise_is_not_fitted() -> None:
    rules = load_ruleset("elections")
    own = Contract("own", "own", 3, False, trick=7)
    assert model_of(rules.meaning(own), own) is None
    assert suit_classes(own) == (0, 0, 0, 1)
    honours = Contract("own", "own", None, False, cards=MappingProxyType({48 + 12: 1}))
    assert suit_classes(honours) == (0, 0, 0, 1)
    assert rules.with_choices(lead="left-of-dealer").record[0].fitted.sum() == 0


def test_the_script_finds_what_is_there() -> None:
    """Hands whose margin is three a spade ace, two a card of hearts, minus four: points say so, and explain everything."""
    contract = Contract("own", "own", 3, False, trick=1, suits=(0, 0, 1, 0))
    classes = suit_classes(contract)
    held = hand_points.held_cards(simcore.deal_hands(2, 0, 4000)[:, 0])
    margins = 3.0 * held[:, 3, 12] + 2.0 * held[:, 2].sum(1) - 4
    features, simple = hand_points.simple_features(held, contract, classes)
    sums = hand_points.Sums.of(simple, margins)
    chosen = hand_points.choose_features(sums, 1.0)
    base, numbers = hand_points.rounded(sums, chosen, 0.1)
    words = hand_points.in_words(features, chosen, numbers)
    assert sorted(word for word, _ in words) == ["each ace of spades (trumps)", "each card of hearts"]
    assert sorted(numbers) == pytest.approx([2, 3], abs=0.11)  # a little ridge
    assert base == pytest.approx(-4, abs=0.11)
    assert sums.r2(chosen, base, numbers) > 0.99
    full = hand_points.full_features(held, classes)
    everything = list(range(full.shape[1]))
    sums = hand_points.Sums.of(full, margins)
    assert sums.r2(everything, *sums.fit(everything)) > 0.999


def test_the_noise_of_means_is_taken_out_of_r2() -> None:
    generator = np.random.default_rng(5)
    truth = generator.normal(0, 3, 20000)
    noise = np.full(20000, 4.0)
    means = truth + generator.normal(0, 2, 20000)
    assert hand_points.r2_of_hands(truth, means, noise) == pytest.approx(1, abs=0.02)
    assert hand_points.r2_of_hands(0 * truth, means, noise) == pytest.approx(0, abs=0.02)
