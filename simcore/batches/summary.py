"""The summary of a simulation: figures with standard errors and intervals, out of integer tallies."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore.batches.config import Config
from simcore.cards import SEATS
from simcore.stats import Estimate, ratio_estimate, wilson

__all__ = ["summarise"]


def _estimate(row: np.ndarray, what: str) -> Estimate:
    """Return wins or points a deal from one row of Elections' sums (see rows.TALLY)."""
    deals, wins, _draws, points, clusters, nn, nw, ww, np_, pp = (int(value) for value in row)
    if what == "wins":
        return ratio_estimate(clusters, deals, wins, nn, nw, ww)
    return ratio_estimate(clusters, deals, points, nn, np_, pp)


def summarise(config: Config, tally: dict[str, np.ndarray], confidence: float = 0.95) -> dict[str, Any]:
    """Return the summary as plain data: what was run, and ``rows``, one a contract or trump.

    In each row of Elections: deals, share of the deals, the attackers' wins with an interval, the attackers' mean points with
    standard error, the defenders' mean (their sum is fixed, so its standard error is the same).  The unit of statistics is the
    round where the auction is played, else the deal.
    """
    described = config.describe()
    head = {key: described[key] for key in ("game", "ruleset", "seed", "first", "deals", "players")}
    head["confidence"] = confidence
    if config.game == "showcase":
        from simcore.batches.showcase_summary import summarise_showcase

        return head | summarise_showcase(config, tally, confidence)
    sums, statuses = tally["sums"], tally["statuses"]
    played, passed_out, redealt = (int(value) for value in statuses)
    rows = []
    for number, contract in enumerate(config.ruleset.contracts):
        row = sums[number]
        deals = int(row[0])
        wins, points = _estimate(row, "wins"), _estimate(row, "points")
        low, high = wilson(wins, confidence)
        rows.append(
            {
                "contract": contract.id,
                "deals": deals,
                "share": deals / played if played else None,
                "attackers_win": wins.value,
                "win_low": low,
                "win_high": high,
                "draws": int(row[2]) / deals if deals else None,
                "mean_attackers": points.value,
                "mean_defenders": None if points.value is None else contract.total - points.value,
                "stderr": points.stderr,
                "units": points.units,
            }
        )
    data = head | {
        "unit": "round" if config.contract is None else "deal",
        "played": played,
        "passed_out": passed_out,
        "redealt": redealt,
        "rows": [row for row in rows if row["deals"] or config.contract is None or row["contract"] == config.contract],
    }
    if config.contract is None:
        data["seats"] = []
        for number, seat in enumerate(SEATS):
            credit = _estimate(sums[len(config.ruleset.contracts) + number], "points")
            data["seats"].append(
                {"seat": seat, "player": config.players[number].spec, "mean_credit": credit.value, "stderr": credit.stderr}
            )
    return data
