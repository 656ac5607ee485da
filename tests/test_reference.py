"""Random deals of both games against the same simulation in plain C: tallies equal to the last deal."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from benchmarks import reference
from simcore._jit import HAS_BMI2
from simcore.batches.backends import backend_for
from simcore.batches.config import make_config

pytestmark = pytest.mark.skipif(reference.compiler() is None, reason="no C compiler (gcc, or what CC names)")

DEALS = 20_001  # odd: the last deal has no partner to be played beside


def compare(game: str, seed: int, first: int = 0, fast_pdep: bool | None = None, **options: Any) -> np.ndarray:
    """Assert that C and simcore count the same; returns the tally."""
    config = make_config(game, seed=seed, **options)
    backend = backend_for(config)
    tally = backend.new_tally()
    backend.run(first, DEALS, None, 0, tally)
    c_code = reference.reference_for(config, **({} if fast_pdep is None else {"fast_pdep": fast_pdep}))
    theirs = c_code.run(first, DEALS)
    mine = tally["sums"]
    assert (mine[: len(theirs)] == theirs).all()
    assert not mine[len(theirs) :].any()
    assert theirs[:, 0].sum() == DEALS
    return theirs


@pytest.mark.parametrize("seed", [0, 7, 2**128 - 1])
def test_elections_random_contracts(seed: int) -> None:
    tally = compare("elections", seed, first=2**40 + 3, contract="random")
    assert (tally[:, 0] > 0).all()


@pytest.mark.parametrize("contract", ["nt-most", "clubs-reds", "diamonds-colours", "spades-honours"])
def test_elections_one_contract(contract: str) -> None:
    """``clubs-reds`` is a low contract."""
    compare("elections", 11, contract=contract)


@pytest.mark.parametrize("ruleset", ["elections-joint", "variety", "tricks"])
def test_elections_other_rulesets(ruleset: str) -> None:
    compare("elections", 12, ruleset=ruleset, contract="random", pairs="NS", declarer="W")


def test_elections_choices_of_low_trumps_and_ties() -> None:
    from simcore.rules import load_ruleset

    rules = load_ruleset("elections").with_choices(low_trump="plain", tie="draw")
    tally = compare("elections", 13, ruleset=rules, contract="random")
    assert tally[:, 2].any(), "there are draws"


@pytest.mark.parametrize("seed", [0, 7, 2**128 - 1])
def test_showcase(seed: int) -> None:
    tally = compare("showcase", seed, first=2**40 + 3)
    assert (tally[:, 0] > 0).all()


@pytest.mark.parametrize("trump", ["hearts", "no-trump", "all-trump"])
def test_showcase_one_trump(trump: str) -> None:
    compare("showcase", 14, trump=trump)


@pytest.mark.parametrize("fast_pdep", [False, True])
def test_both_ways_to_select_a_card(fast_pdep: bool) -> None:
    if fast_pdep and not (HAS_BMI2 or os.environ.get("SIMCORE_PORTABLE") == "1"):
        pytest.skip("this CPU has no pdep")
    for game, options in (("elections", {"contract": "random"}), ("showcase", {})):
        compare(game, 15, fast_pdep=fast_pdep, **options)


def test_what_the_reference_does_not_know_is_refused() -> None:
    for game, options in (
        ("elections", {}),
        ("elections", {"contract": "all"}),
        ("elections", {"contract": "random", "players": "greedy"}),
        ("elections", {"contract": "random", "pairs": "lot"}),
        ("showcase", {"trump": "all"}),
        ("showcase", {"ruleset": "showcase-magri"}),
        ("showcase", {"where": "N.hcp > 10"}),
    ):
        with pytest.raises(ValueError, match="the reference"):
            reference.reference_for(make_config(game, seed=1, **options))
