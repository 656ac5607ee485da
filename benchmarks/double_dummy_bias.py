"""How much perfect information flatters each contract: exact values against ``expert`` play, on random deals.

    python -m benchmarks.double_dummy_bias --log FILE [--seconds 300] [--deals 400] [--contract ID]    # solve
    python -m benchmarks.double_dummy_bias --log FILE --write                     # into the table that is shipped

Deal i of the seed is solved for all four declarers; partners are N-E, N-S, N-W in turn.  The same 4 n contracts are played by
four experts.  *Bias* is the mean of the attackers' exact margin less the margin that experts play, points of the contract.  Since
a hand is not asked at random, but where its contract looks good, there is a second figure: of the four declarers of a deal only
the one whose hand ``expert`` thinks best.  Standard errors are over deals.  The log has one line a deal, so that solving goes on
where it was stopped, over several sittings; slow contracts simply have fewer deals.  Writing keeps the rows of the shipped table
that rest on more deals than the log has: once ``expert`` has changed, remove the table first.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simcore
from simcore.choosing.bias import TABLE
from simcore.elections.expert_calls import hand_worth
from simcore.rules import SHIPPED, Ruleset, load_ruleset
from simcore.solvers import solve_deals

SEED = 20261130
PAIRS = ("NE", "NS", "NW")


def contracts() -> Iterator[tuple[Ruleset, str, str]]:
    """Yield every contract of the shipped rulesets once: ruleset, id, key."""
    seen = set()
    for name in SHIPPED:
        rules = load_ruleset(name)
        for contract in rules.contracts if rules.game == "elections" else ():
            key = rules.meaning(contract)
            if key not in seen:
                seen.add(key)
                yield rules, contract.id, key


def read(log: Path) -> dict[str, dict[int, list[int]]]:
    """Return the exact margins in a log, by contract and deal."""
    found: dict[str, dict[int, list[int]]] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        row = json.loads(line)
        found.setdefault(row["contract"], {})[row["deal"]] = row["margins"]
    return found


def solve(log: Path, *, seconds: float, deals: int, only: str | None) -> None:
    """Solve on, at most so many seconds and deals a contract."""
    done = read(log)
    hands = simcore.deal_hands(SEED, 0, deals)
    for rules, name, key in contracts():
        if only not in (None, name):
            continue
        start = time.process_time()
        with log.open("a") as file:
            for deal in range(len(done.get(key, {})), deals):
                if time.process_time() - start > seconds:
                    break
                margins = solve_deals(hands[deal][None], rules, contracts=[name], pairings=[deal % 3 + 1]).ravel().tolist()
                file.write(json.dumps({"contract": key, "deal": deal, "margins": margins}) + "\n")
                file.flush()
                print(name, deal, f"{time.process_time() - start:.1f} s", flush=True)


def played(rules: Ruleset, name: str, deals: int) -> np.ndarray:
    """Return the attackers' margins when experts play, [deals, declarers]."""
    margins = np.zeros((deals, 4), np.int64)
    for declarer in range(4):
        for place, pairs in enumerate(PAIRS):
            options = {"ruleset": rules, "seed": SEED, "deals": deals, "players": "expert", "contract": name}
            table = simcore.simulate("elections", pairs=pairs, declarer="NESW"[declarer], threads=1, **options).table()
            points = [table[f"points_{side}"].to_numpy().astype(np.int64) for side in ("attackers", "defenders")]
            margins[place::3, declarer] = (points[0] - points[1])[place::3]
    return margins


def figures(exact: np.ndarray, expert: np.ndarray, best: np.ndarray) -> dict[str, Any]:
    """Return a contract's row: margins [deals, declarers], and which declarer has the best hand."""
    difference = exact - expert
    rows = np.arange(len(exact))

    def mean(values: np.ndarray) -> list[float]:
        return [round(float(values.mean()), 3), round(float(values.std(ddof=1)) / math.sqrt(len(values)), 3)]

    good = mean(difference[rows, best])
    average = mean(difference.mean(1))
    return {
        "deals": len(exact),
        "bias": average[0],
        "bias_stderr": average[1],
        "bias_best_hand": good[0],
        "bias_best_hand_stderr": good[1],
        "exact_sd": round(float(exact.std()), 2),
        "expert_sd": round(float(expert.std()), 2),
        "correlation": round(float(np.corrcoef(exact.ravel(), expert.ravel())[0, 1]), 3),
        "same_winner": round(float(((exact > 0) == (expert > 0)).mean()), 3),
    }


def main() -> None:
    """Solve, or write the table."""
    parser = argparse.ArgumentParser(description="Double-dummy bias of each contract.")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300.0, help="of processor time a contract")
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--contract")
    parser.add_argument("--write", action="store_true", help="make the table out of the log")
    options = parser.parse_args()
    if not options.write:
        solve(options.log, seconds=options.seconds, deals=options.deals, only=options.contract)
        return
    done = read(options.log)
    shipped = json.loads(TABLE.read_text())["contracts"] if TABLE.exists() else {}
    rows: dict[str, Any] = {}
    for rules, name, key in contracts():
        margins = done.get(key, {})
        count = len(margins)
        if count < max(2, shipped.get(key, {}).get("deals", 0)):
            rows |= {key: shipped[key]} if key in shipped else {}
            continue
        hands = simcore.deal_hands(SEED, 0, count)
        number = rules.contract_ids.index(name)
        worths = [[hand_worth(rules.record[0], number, hand) for hand in deal] for deal in hands]
        exact = np.array([margins[deal] for deal in range(count)])
        rows[key] = {"id": name} | figures(exact, played(rules, name, count), np.argmax(worths, 1))
    data = {
        "what": "attackers' margin in points: exact (double dummy) less played by four experts; benchmarks/double_dummy_bias.py",
        "simcore": simcore.__version__,
        "seed": str(SEED),
        "contracts": rows,
    }
    TABLE.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    for row in rows.values():
        print(row)


if __name__ == "__main__":
    main()
