"""simcore: fast, honest simulation of the trick-taking card games Elections and Showcase.

>>> import simcore
>>> result = simcore.simulate("elections", deals=800, seed=7)
>>> result.table().num_rows
800

The names below are loaded when first used, so that ``import simcore`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Balance": "simcore.designing.verb",
    "Choices": "simcore.choosing.result",
    "Comparison": "simcore.contests.result",
    "Deal": "simcore.deals.pbn",
    "Hand": "simcore.cards",
    "Ruleset": "simcore.rules",
    "SimcoreError": "simcore.errors",
    "Simulation": "simcore.batches.run",
    "balance": "simcore.designing.verb",
    "choose": "simcore.choosing.verb",
    "compare": "simcore.contests.verb",
    "deal_hands": "simcore.deals.dealing",
    "deal_showcase": "simcore.deals.dealing",
    "hands_to_pbn": "simcore.batches.tables",
    "load_ruleset": "simcore.rules",
    "report": "simcore.reports.verb",
    "replay": "simcore.batches.replaying",
    "render": "simcore.batches.replaying",
    "simulate": "simcore.batches.run",
    "solve": "simcore.batches.solving",
    "solve_table": "simcore.batches.solved",
}

__all__ = [
    "Balance",
    "Choices",
    "Comparison",
    "Deal",
    "Hand",
    "Ruleset",
    "SimcoreError",
    "Simulation",
    "__version__",
    "balance",
    "choose",
    "compare",
    "deal_hands",
    "deal_showcase",
    "hands_to_pbn",
    "load_ruleset",
    "render",
    "replay",
    "report",
    "simulate",
    "solve",
    "solve_table",
]

if TYPE_CHECKING:
    from simcore.batches.replaying import render, replay
    from simcore.batches.run import Simulation, simulate
    from simcore.batches.solved import solve_table
    from simcore.batches.solving import solve
    from simcore.batches.tables import hands_to_pbn
    from simcore.cards import Hand
    from simcore.choosing.result import Choices
    from simcore.choosing.verb import choose
    from simcore.contests.result import Comparison
    from simcore.contests.verb import compare
    from simcore.deals.dealing import deal_hands, deal_showcase
    from simcore.deals.pbn import Deal
    from simcore.designing.verb import Balance, balance
    from simcore.errors import SimcoreError
    from simcore.reports.verb import report
    from simcore.rules import Ruleset, load_ruleset


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
