"""How far players come towards perfect play, and whether those that search beat ``expert``, by ``simcore.compare``.

    python -m benchmarks.ladder --work DIR [--deals 200] [--gap-deals 100] [--slow-deals 24] [--only TEXT]

Duels end by a sequential test, after ``--deals`` deals at most (rounds: thrice that).  Shares of a gap are taken on the
first deals, the same for all: ``expert`` closes (expert over greedy) / (oracle over greedy) of the gap from greedy to oracle,
``pimc`` (pimc over expert) / (oracle over expert) of the one from expert to oracle, each played head to head in all seatings, with
more worlds than by default.
Every comparison is a folder in ``--work``, so a run that was stopped goes on; ``--only`` plays those alone whose names hold a text,
and writes nothing.  The report is benchmarks/players/ladder.md; what is to be said of targets that were not reached stands in
ladder-notes.md beside it, written by hand.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import simcore
from benchmarks.standing import cell, compared
from simcore.rules import load_ruleset

REPORT = Path(__file__).parent / "players" / "ladder.md"
RULESET = "elections"
#: Chances of error of the sequential test, and the gain it looks for: points a deal; credit a deal; tricks.
ERRORS = "0.01 0.01"
GAIN = {"contract": 1.0, "rounds": 0.25, "showcase": 0.25}
#: Shares of a gap that are asked for.
EXPERT_SHARE, PIMC_SHARE = 0.3, 0.5
#: ``pimc`` with time to think, about three times the default's.
THOROUGH = "pimc:worlds=60,exact_from=5,rollouts=300"
#: Share of a gap that a player closes: a pair's difference by another's.
SHARES = {
    "expert": (("expert", "greedy"), ("oracle", "greedy")),
    "pimc": ((THOROUGH, "expert"), ("oracle", "expert")),
}
#: Contracts that take ``oracle`` many seconds a deal.
SLOW = ("spades-honours", "nt-fewest")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Duel:
    """Two players, in one contract, in rounds or in Showcase; ``sprt`` where a sequential test ends it."""

    players: tuple[str, str]
    ruleset: str
    contract: str | None
    deals: int
    sprt: str | None

    @property
    def what(self) -> str:
        """What is played."""
        return self.contract or (f"{self.ruleset}: rounds" if self.game == "elections" else self.ruleset)

    @property
    def game(self) -> str:
        """The game of the ruleset."""
        return str(load_ruleset(self.ruleset).game)

    @property
    def name(self) -> str:
        """The name of its folder."""
        kind = "gap" if self.sprt is None else "duel"
        return re.sub(r"[^a-z0-9]+", "-", f"{kind} {self.ruleset} {self.what} {' '.join(self.players)}".lower()).strip("-")


def duels(deals: int) -> Iterator[Duel]:
    """Yield the comparisons with a sequential test."""

    def duel(a: str, b: str, ruleset: str, contract: str | None, kind: str, most: int) -> Duel:
        return Duel((a, b), ruleset, contract, most, f"0 {GAIN[kind]} {ERRORS}")

    contracts = load_ruleset(RULESET).contract_ids
    for a, b in (("pimc", "expert"), ("ismcts", "expert"), ("ismcts", "pimc")):
        yield from (duel(a, b, RULESET, contract, "contract", deals) for contract in contracts)
    yield duel("expert+rollout:decides=calls", "expert", RULESET, None, "rounds", 8 * 3 * deals)
    for ruleset in ("showcase", "showcase-magri"):
        pairs = [(a, "expert+exact") for a in ("rollout", "rollout:player=greedy", "ismcts")]
        for a, b in (*pairs, ("ismcts", "rollout")):
            yield duel(a, b, ruleset, None, "showcase", deals)


def gaps(deals: int, slow: int) -> Iterator[Duel]:
    """Yield the comparisons of fixed size, a contract at a time."""
    for contract in load_ruleset(RULESET).contract_ids:
        for players in dict.fromkeys(pair for both in SHARES.values() for pair in both):
            yield Duel(players, RULESET, contract, slow if contract in SLOW else deals, None)


def play(duel: Duel, options: argparse.Namespace) -> tuple[dict[str, Any], Floats]:
    """Play a comparison, or read one that was played: its row, and the differences a deal."""
    print(f"{duel.name}, {duel.deals:,} deals", file=sys.stderr, flush=True)
    result = compared(duel, options, duel.sprt)
    keys = ("a", "b", "mean", "stderr", "low", "high", "units", "win_share", "verdict", "sprt")
    row = {"what": duel.what, **{key: result.rows[0][key] for key in keys if key in result.rows[0]}, "command": result.command}
    return row, result.cells[0].sums["difference"] / result.contest.scale


def share(part: Floats, whole: Floats) -> tuple[float, float]:
    """Return the ratio of two means over the same deals, and its standard error by the jackknife."""
    n = len(part)
    ratios = (part.sum() - part) / (whole.sum() - whole)
    spread = (n - 1) / n * float(((ratios - ratios.mean()) ** 2).sum())
    return float(part.sum() / whole.sum()), math.sqrt(spread)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Play everything, or read what was played; returns the figures."""
    duelled = [play(duel, options)[0] for duel in duels(options.deals)]
    found: dict[str, dict[tuple[str, str], tuple[dict[str, Any], Floats]]] = {}
    for gap in gaps(options.gap_deals, options.slow_deals):
        found.setdefault(gap.what, {})[gap.players] = play(gap, options)
    shares: dict[str, dict[str, Any]] = {}
    for contract, pairs in found.items():
        shares[contract] = {"deals": len(pairs["oracle", "greedy"][1])}
        for player, (part, whole) in SHARES.items():
            value, stderr = share(pairs[part][1], pairs[whole][1])
            shares[contract] |= {player: value, f"{player}_stderr": stderr}
    return {
        "simcore": simcore.__version__,
        "seed": str(options.seed),
        "most_deals": options.deals,
        "shares": shares,
        "gaps": [row for pairs in found.values() for row, _ in pairs.values()],
        "duels": duelled,
    }


def _percent(shares: dict[str, Any], player: str) -> str:
    return f"{100 * shares[player]:.0f} ± {100 * shares[f'{player}_stderr']:.0f} %".replace("-", "−")


def gap_table(data: dict[str, Any]) -> list[str]:
    """Return the lines of the table of gaps."""
    rows = {(row["what"], row["a"], row["b"]): row for row in data["gaps"]}
    lines = [
        "| | deals | oracle over greedy | expert over greedy | share of expert | oracle over expert | pimc over expert "
        "| share of pimc |",
        "|---" + "|---:" * 7 + "|",
    ]
    for contract, shares in data["shares"].items():
        figures = [str(shares["deals"])]
        for player, (part, whole) in SHARES.items():
            figures += [cell(rows[contract, *whole]), cell(rows[contract, *part]), _percent(shares, player)]
        lines.append(f"| {contract} | " + " | ".join(figures) + " |")
    return lines


def duel_table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of the table of duels."""
    lines = [
        "| | first | second | difference | 99 % interval | units | wins % | the test accepts | better, by the interval |",
        "|---|---|---|---:|---|---:|---:|---|---|",
    ]
    for row in rows:
        test = row["sprt"]
        accepted = {"H0": f"{test['d0']:g}", "H1": f"{test['d1']:g}", None: "none"}[test["accepted"]]
        better = row["a"] if row["low"] > 0 else row["b"] if row["high"] < 0 else "open"
        lines.append(
            f"| {row['what']} | {row['a']} | {row['b']} | {row['mean']:+.3f} | {row['low']:+.2f} … {row['high']:+.2f} | "
            f"{row['units']:,} | {100 * row['win_share']:.1f} | {accepted} | {better} |"
        )
    return lines


def verdicts(data: dict[str, Any]) -> list[str]:
    """Return what was asked for and what came of it, a line each."""

    def better(a: str, b: str) -> dict[str, bool]:
        return {row["what"]: row["verdict"] == "a" for row in data["duels"] if (row["a"], row["b"]) == (a, b)}

    def line(asked: str, reached: dict[str, bool], needed: int) -> str:
        missed = [name for name, there in reached.items() if not there]
        told = f"{len(reached) - len(missed)} of {len(reached)}" + (f", not in {', '.join(missed)}" if missed else "")
        return f"- {asked}: **{'reached' if len(reached) - len(missed) >= needed else 'not reached'}** ({told})."

    expert = {name: row["expert"] >= EXPERT_SHARE for name, row in data["shares"].items()}
    pimc = {name: row["pimc"] >= PIMC_SHARE for name, row in data["shares"].items()}
    ahead = better("pimc", "expert")
    calls, cards = better("expert+rollout:decides=calls", "expert"), better("rollout", "expert+exact")
    return [
        line(f"`expert` closes at least {EXPERT_SHARE:.0%} of the gap from `greedy` to `oracle` in six contracts", expert, 6),
        line("`pimc` is better than `expert` in every contract", ahead, len(ahead)),
        line(f"`pimc` closes at least {PIMC_SHARE:.0%} of the gap from `expert` to `oracle` in most contracts", pimc, 5),
        line("`rollout` is better than `expert` at calling, in whole rounds", calls, len(calls)),
        line("`rollout` is better than `expert` in Showcase's first playout (`exact` after it for both)", cards, len(cards)),
    ]


def markdown(data: dict[str, Any]) -> str:
    """Return the report."""
    notes = REPORT.with_name("ladder-notes.md").read_text("utf-8")
    commands = list(dict.fromkeys(row["command"] for row in data["duels"] + data["gaps"]))
    lines = [
        "# How far players come towards perfect play",
        "",
        f"Seed {data['seed']}, simcore {data['simcore']}, by `python -m benchmarks.ladder`. The unit of statistics is the deal "
        "(the round) with all its seatings. Contracts: the side's points less the other's, attackers and defenders pooled; rounds: "
        "mean credit; Showcase: tricks of the second playout less the other's. `oracle` sees all hands.",
        "",
        "## What was asked",
        "",
        *verdicts(data),
        "",
        notes.strip(),
        "",
        "## Shares of the gap to perfect play",
        "",
        "Mean difference a deal ± half its 99 % interval, a contract's deals the same for all; shares with their standard error "
        "(jackknife over deals). A share is a ratio of two differences played head to head: expert over greedy by oracle over "
        "greedy, pimc over expert by oracle over expert; pimc is "
        f"`{THOROUGH}` here.",
        "",
        *gap_table(data),
        "",
        "## Duels",
        "",
        f"Each ends by a sequential test of 0 against {GAIN['contract']:g} point a deal (rounds: {GAIN['rounds']:g} credit; "
        f"Showcase: {GAIN['showcase']:g} tricks), chances of error {ERRORS.split()[0]}, after {data['most_deals']} deals "
        f"({3 * data['most_deals']} rounds) at most. Intervals hold wherever it stops.",
        "",
        *duel_table(data["duels"]),
        "",
        "Made by these commands:",
        "",
        "```console",
        *commands,
        "```",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Play what is left, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--work", type=Path, help="folder for the comparisons; without one the report is written anew from its figures"
    )
    parser.add_argument("--deals", type=int, default=200, help="most deals of a duel")
    parser.add_argument("--gap-deals", type=int, default=100, help="deals of the gaps to perfect play")
    parser.add_argument("--slow-deals", type=int, default=24, help="the same for contracts that are slow to solve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--only", help="play those alone whose folder's name holds this text, and write no report")
    options = parser.parse_args()
    figures = REPORT.with_suffix(".json")
    if options.work is None:
        data = json.loads(figures.read_text("utf-8"))
    elif options.only is not None:
        for duel in [*duels(options.deals), *gaps(options.gap_deals, options.slow_deals)]:
            if options.only in duel.name:
                print(json.dumps(play(duel, options)[0]), flush=True)
        return
    else:
        data = measure(options)
        figures.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", "utf-8")
    REPORT.write_text(markdown(data), "utf-8")
    print("\n".join(verdicts(data)))


if __name__ == "__main__":
    main()
