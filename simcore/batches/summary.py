"""The summary of a simulation: figures with standard errors and intervals, out of integer tallies."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore.batches.config import Config
from simcore.cards import SEATS
from simcore.rules import TRUMPS
from simcore.stats import Estimate, mean_estimate, ratio_estimate, wilson

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
        return head | _summarise_showcase(config, tally["sums"], confidence)
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


def _summarise_showcase(config: Config, sums: np.ndarray, confidence: float) -> dict[str, Any]:
    """Return Showcase's rows, one a trump, and who wins over all of them; the unit of statistics is the deal."""
    rows = []
    for number, trump in enumerate(TRUMPS):
        deals, wins, points, squares = (int(value) for value in sums[number][:4])
        mean = mean_estimate(deals, points, squares)
        low, high = wilson(mean_estimate(deals, wins, wins), confidence)
        if deals or config.trump is None:
            rows.append(
                {
                    "trump": trump,
                    "deals": deals,
                    "share": deals / int(sums[:, 0].sum()),
                    "namer_wins": wins / deals if deals else None,
                    "win_low": low,
                    "win_high": high,
                    "mean_namer": mean.value,
                    "stderr": mean.stderr,
                    "units": mean.units,
                }
            )
    data: dict[str, Any] = {"unit": "deal", "rows": rows}
    if config.trump != "all":  # with all trumps the rows are not independent deals
        deals = int(sums[:, 0].sum())
        data["wins"] = []
        for place, who in ((4, "N"), (5, "elder"), (6, "leader"), (1, "namer")):
            wins = int(sums[:, place].sum())
            low, high = wilson(mean_estimate(deals, wins, wins), confidence)
            data["wins"].append({"who": who, "share": wins / deals, "low": low, "high": high, "deals": deals})
        data["count_ties"] = int(sums[:, 7].sum())
    return data
