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


def _share(config: Config, deals: int, squares: int, played: int) -> Estimate:
    """Return a contract's share of the deals played, where the players or chance decide it.

    Args:
        deals: of the contract; squares: the sum of their squares over rounds.

    A round plays eight deals, which is taken as fixed: where deals are passed out the standard error is a little too large, and
    so it is where the run cuts a round.
    """
    if config.contract == "random":
        return mean_estimate(played, deals, deals)
    rounds = (config.first + config.deals - 1) // 8 - config.first // 8 + 1
    a_round = mean_estimate(rounds, deals, squares)
    stderr = a_round.stderr * rounds / played if played and a_round.stderr is not None else None
    return Estimate(deals / played if played else None, stderr, rounds, played)


def summarise(config: Config, tally: dict[str, np.ndarray], confidence: float = 0.95) -> dict[str, Any]:
    """Return the summary as plain data: what was run, and ``rows``, one a contract or trump.

    In each row of Elections: deals, share of the deals (with an interval where it is not given), the attackers' wins with an
    interval, the attackers' mean points with standard error, the defenders' mean (their sum is fixed, so its standard error is the
    same).  The unit of statistics is the round where the auction is played, else the deal.
    """
    described = config.describe()
    head = {key: described[key] for key in ("game", "ruleset", "seed", "first", "deals", "players")}
    head["confidence"] = confidence
    if config.plan is not None:
        tries = int(tally["tries"][0])
        head |= {
            "known": config.known,
            "where": config.where,
            "tried": tries,
            "acceptance": config.deals / tries if tries else None,
        }
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
        decided = config.contract in (None, "random")
        share_low, share_high = wilson(_share(config, deals, int(row[5]), played), confidence) if decided else (None, None)
        rows.append(
            {
                "contract": contract.id,
                "deals": deals,
                "share": deals / played if played else None,
                "share_low": share_low,
                "share_high": share_high,
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
    total = int(sums[:, 0].sum())
    for number, trump in enumerate(TRUMPS):
        deals, wins, points, squares = (int(value) for value in sums[number][:4])
        mean = mean_estimate(deals, points, squares)
        low, high = wilson(mean_estimate(deals, wins, wins), confidence)
        share_low, share_high = wilson(mean_estimate(total, deals, deals), confidence) if config.trump is None else (None, None)
        if deals or config.trump is None:
            rows.append(
                {
                    "trump": trump,
                    "deals": deals,
                    "share": deals / total,
                    "share_low": share_low,
                    "share_high": share_high,
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
