"""Strength of the built-in players as numbers: the same deals, sides swapped.

    python benchmarks/strength.py [--deals 20000] [--seed 1] [--json FILE]

One player over another, as a mean difference a deal with its 99 % interval, for ``expert`` over ``greedy`` and over ``random`` and
``greedy`` over ``random``.  A Markdown table goes to standard output; with ``--json`` the figures also to a file.

- Every contract of a ruleset of Elections, without the auction: N is declarer with each of the three partners in turn, one player
  on the attackers' seats and the other on the defenders', then exchanged.  Difference: own side's points less the other's, mean
  over the deal's six playings; the deal is the unit of statistics.
- Whole rounds of Elections with the auction: two against two in all six seatings.  Difference: mean credit a deal of the one
  player's seats less the other's; the round is the unit.
- Showcase: both seatings.  Difference: own points less the other's; the deal is the unit.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simcore
from simcore.cards import SEATS
from simcore.players import PLAYERS_KNOWN
from simcore.stats import mean_estimate

MATCHES = [("expert", "greedy"), ("expert", "random"), ("greedy", "random")]
ELECTIONS = ["elections"]
ROUNDS = ["elections", "elections-joint", "variety", "tricks"]
SHOWCASE = ["showcase", "showcase-magri"]
#: Seats of N's side in each pairing, as numbers.
SIDES = {"NE": (0, 1), "NS": (0, 2), "NW": (0, 3)}

Row = dict[str, Any]


def row(what: str, match: tuple[str, str], unit: str, sums: np.ndarray, scale: int) -> Row:
    """Return a row from each unit's integer sum of differences over ``scale`` playings."""
    estimate = mean_estimate(len(sums), int(sums.sum()), int((sums.astype(object) ** 2).sum()))
    low, high = (None if end is None else end / scale for end in estimate.interval(0.99))
    value = None if estimate.value is None else estimate.value / scale
    return {"what": what, "player": match[0], "over": match[1], "difference": value, "low": low, "high": high,
            "unit": unit, "units": len(sums)}  # fmt: skip


def columns(table: Any, *names: str) -> list[np.ndarray]:
    return [table.column(name).to_numpy().astype(np.int64) for name in names]


def contracts(ruleset: str, match: tuple[str, str], deals: int, seed: int) -> Iterator[Row]:
    """Yield a row a contract."""
    ids = simcore.load_ruleset(ruleset).contract_ids
    total = np.zeros(deals * len(ids), np.int64)
    for (pairs, side), swapped in itertools.product(SIDES.items(), (0, 1)):
        players = {seat: match[(place not in side) ^ swapped] for place, seat in enumerate(SEATS)}
        table = simcore.simulate(
            "elections", ruleset=ruleset, seed=seed, deals=deals, player=players, contract="all", pairs=pairs, declarer="N"
        ).table()
        attackers, defenders = columns(table, "points_attackers", "points_defenders")
        total += (defenders - attackers) if swapped else (attackers - defenders)
    for number, contract in enumerate(ids):
        yield row(f"{ruleset}: {contract}", match, "deal", total[number :: len(ids)], 6)


def rounds(ruleset: str, match: tuple[str, str], deals: int, seed: int) -> Row:
    """Return the row of whole rounds."""
    total = np.zeros(deals // 8, np.int64)
    for pair in itertools.combinations(SEATS, 2):
        players = {seat: match[seat not in pair] for seat in SEATS}
        table = simcore.simulate("elections", ruleset=ruleset, seed=seed, deals=deals // 8 * 8, player=players).table()
        for seat, credit in zip(SEATS, columns(table, *(f"credit_{seat.lower()}" for seat in SEATS)), strict=True):
            total += credit.reshape(-1, 8).sum(axis=1) * (1 if seat in pair else -1)
    # six seatings, eight deals, two seats a player
    return row(f"{ruleset}: rounds", match, "round", total, 6 * 8 * 2)


def showcase(ruleset: str, match: tuple[str, str], deals: int, seed: int) -> Row:
    """Return the row of a Showcase ruleset."""
    total = np.zeros(deals, np.int64)
    for swapped in (0, 1):
        players = {"N": match[swapped], "S": match[1 - swapped]}
        table = simcore.simulate("showcase", ruleset=ruleset, seed=seed, deals=deals, player=players).table()
        north, south = columns(table, "points_n", "points_s")
        total += (south - north) if swapped else (north - south)
    return row(f"{ruleset}: points", match, "deal", total, 2)


def all_rows(deals: int, seed: int) -> Iterator[Row]:
    """Yield every row that the players know how to play."""

    def matches(game: str) -> list[tuple[str, str]]:
        return [match for match in MATCHES if all(PLAYERS_KNOWN[name].decisions[game] for name in match)]

    for match in matches("elections"):
        for ruleset in ELECTIONS:
            yield from contracts(ruleset, match, deals, seed)
        for ruleset in ROUNDS:
            yield rounds(ruleset, match, deals, seed)
    for match in matches("showcase"):
        for ruleset in SHOWCASE:
            yield showcase(ruleset, match, deals, seed)


def markdown(rows: list[Row]) -> str:
    """Return the rows as a Markdown table: what is played down, who plays whom across."""
    figures = {(r["what"], r["player"], r["over"]): f"{r['difference']:+.2f} ± {(r['high'] - r['low']) / 2:.2f}" for r in rows}
    lines = ["| | " + " | ".join(f"{a} over {b}" for a, b in MATCHES) + " |", "|---" * (len(MATCHES) + 1) + "|"]
    lines += [
        f"| {what} | " + " | ".join(figures.get((what, *match), "") for match in MATCHES) + " |"
        for what in dict.fromkeys(r["what"] for r in rows)
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=20_000, help="deals a row; each is played in all seatings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    if options.deals < 16:
        parser.error("--deals must be at least 16, two rounds")
    rows = list(all_rows(options.deals, options.seed))
    print(f"{options.deals} deals, seed {options.seed}; mean difference a deal ± half its 99 % interval\n")
    print(markdown(rows))
    if options.json:
        data = {"simcore": simcore.__version__, "deals": options.deals, "seed": str(options.seed), "confidence": 0.99, "rows": rows}
        options.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
