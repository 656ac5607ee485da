"""How much perfect information flatters a contract: the table shipped with the package, made by benchmarks/double_dummy_bias.py.

Double dummy lets both sides see all cards.  What that does to a contract's margin is measured on random deals: the attackers' exact
margin less the margin that four experts play, for a declarer by chance and for the declarer whose hand looks best.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from simcore.rules import Ruleset

__all__ = ["TABLE", "bias_of"]

TABLE = Path(__file__).with_name("double_dummy_bias.json")


@cache
def _table() -> dict[str, dict[str, Any]]:
    contracts: dict[str, dict[str, Any]] = json.loads(TABLE.read_text("utf-8"))["contracts"]
    return contracts


def bias_of(ruleset: Ruleset, contract_id: str) -> dict[str, Any] | None:
    """Return the measured bias of a contract: keys deals, bias, bias_stderr, bias_best_hand, bias_best_hand_stderr, exact_sd,
    expert_sd, correlation, same_winner; None for a contract that was not measured (a designer's own)."""
    found = _table().get(ruleset.meaning(ruleset.contract(contract_id)))
    return None if found is None else {key: value for key, value in found.items() if key != "id"}
