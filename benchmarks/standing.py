"""The standing comparison: every built-in player in both games and all rulesets, by ``simcore.compare``.

    python -m benchmarks.standing --work DIR [--deals 20000] [--slow-deals 16] [--seed 1]

Mean differences a deal with their 99 % intervals, in every contract of Elections, in whole rounds of every ruleset, and in
Showcase: compiled players against each other, players that search over ``greedy`` on fewer deals, rounds only with
``--slow-rounds``.  Every comparison is a folder in ``--work``, so a run that was stopped goes on; the report is
benchmarks/players/standing.md, and the README shows both its tables.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import simcore
from simcore.batches.config import GAME_SEATS
from simcore.contests.contest import make_contest
from simcore.contests.result import Comparison
from simcore.contests.verb import run_contest
from simcore.players import DECISIONS
from simcore.rules import SHIPPED, load_ruleset
from simcore.searchers.known import known_players
from simcore.specs import parse_player

CONFIDENCE = 0.99
BASE = "greedy"
REPORT = Path(__file__).parent / "players" / "standing.md"
#: What is played: contracts one by one in the default ruleset only, the others hold the same kinds of contract.
CONTRACTS = ("elections",)

Row = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """One comparison."""

    what: str
    game: str
    players: tuple[str, ...]
    ruleset: str
    contract: str | None
    deals: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.what} {' '.join(self.players)}".lower()).strip("-")


def standing_players(game: str) -> tuple[list[str], list[str]]:
    """Return the built-in players of a game as SPECs, compiled ones and those that search; parts stand on ``expert``."""
    fast, slow = [], []
    for name, info in known_players().items():
        if not info.decisions[game]:
            continue
        spec = name if set(info.decisions[game]) == set(DECISIONS[game]) else f"expert+{name}"
        searches = any(decision is not None for decision in parse_player(spec, game).outside)
        (slow if searches else fast).append(spec)
    return fast[::-1], slow  # the strongest first


def all_work(options: argparse.Namespace) -> list[Work]:
    """Return every comparison, those of compiled players first."""
    quick, long = [], []
    for game in GAME_SEATS:
        fast, slow = standing_players(game)
        if options.players:
            fast, slow = ([spec for spec in specs if spec in (BASE, *options.players)] for specs in (fast, slow))
        for ruleset in (name for name in SHIPPED if load_ruleset(name).game == game):
            whole = f"{ruleset}: rounds" if game == "elections" else f"{ruleset}: points"
            forced = load_ruleset(ruleset).contract_ids if ruleset in CONTRACTS else ()
            slow_deals = 8 * options.slow_rounds if game == "elections" else options.slow_showcase
            units = [(f"{ruleset}: {contract}", contract, options.deals, options.slow_deals) for contract in forced]
            for what, contract, deals, few in [*units, (whole, None, options.deals // 8 * 8, slow_deals)]:
                quick.append(Work(what, game, tuple(fast), ruleset, contract, deals))
                long += [Work(what, game, (spec, BASE), ruleset, contract, few) for spec in slow if few]
    return quick + long


def compared(work: Any, options: argparse.Namespace, sprt: str | None = None) -> Comparison:
    """Return a comparison, played now or before."""
    contest = make_contest(
        work.game,
        work.players,
        ruleset=work.ruleset,
        contract=work.contract,
        deals=work.deals,
        seed=options.seed,
        confidence=CONFIDENCE,
        sprt=sprt,
        solved=0,
    )
    return run_contest(contest, out=options.work / work.name, threads=options.threads)


def played(work: Work, options: argparse.Namespace) -> list[Row]:
    """Return a comparison's rows."""
    result = compared(work, options)
    return [{"what": work.what, "command": result.command} | row for row in result.rows]


def over(rows: list[Row], what: str, player: str, base: str = BASE) -> Row | None:
    """Return the figures of one player over another, turned round if need be."""
    for row in rows:
        if row["what"] != what:
            continue
        if (row["a"], row["b"]) == (player, base):
            return row
        if (row["b"], row["a"]) == (player, base):
            return row | {"mean": -row["mean"], "low": -row["high"], "high": -row["low"]}
    return None


def players_in(rows: list[Row]) -> list[str]:
    """Return everyone who plays."""
    return list(dict.fromkeys(name for row in rows for name in (row["a"], row["b"])))


def cell(row: Row | None) -> str:
    """Return a figure with half its interval."""
    return "" if row is None else f"{row['mean']:+.2f} ± {(row['high'] - row['low']) / 2:.2f}".replace("-", "−")


def table(rows: list[Row], pairs: list[tuple[str, str]]) -> list[str]:
    """Return a Markdown table: what is played down, pairs of players across."""
    lines = ["| | " + " | ".join(f"{player} over {base}" for player, base in pairs) + " |", "|---" + "|---:" * len(pairs) + "|"]
    for what in dict.fromkeys(row["what"] for row in rows):
        figures = [cell(over(rows, what, player, base)) for player, base in pairs]
        if any(figures):
            lines.append(f"| {what} | " + " | ".join(figures) + " |")
    return lines


def compiled_pairs(rows: list[Row]) -> list[tuple[str, str]]:
    """Return the pairs of compiled players."""
    compiled = {player for game in GAME_SEATS for player in standing_players(game)[0]}
    return list(combinations([player for player in players_in(rows) if player in compiled], 2))


def searching_pairs(rows: list[Row]) -> list[tuple[str, str]]:
    """Return the players that search, each over the one they are measured by."""
    compiled = {player for pair in compiled_pairs(rows) for player in pair}
    return [(player, BASE) for player in players_in(rows) if player not in compiled]


def _absent(rows: list[Row]) -> list[str]:
    """Say who is not in the run."""
    left = []
    for game in GAME_SEATS:
        there = players_in([row for row in rows if row["what"].startswith(game)])
        left += [f"`{player}` in {game}" for specs in standing_players(game) for player in specs if player not in there]
    return [f"Not in this run: {', '.join(left)}.", ""] if left else []


def report(rows: list[Row], options: argparse.Namespace) -> str:
    """Return the report."""
    pairs = compiled_pairs(rows)
    searching = searching_pairs(rows)
    lines = [
        "# The standing comparison of players",
        "",
        f"Mean difference a deal ± half its 99 % interval, seed {options.seed}, simcore {simcore.__version__}, by "
        "`python -m benchmarks.standing`. Contracts: the side's points less the other's, in all six seatings, attackers and "
        "defenders pooled. Rounds: with the auction, two against two in all six seatings, mean credit. Showcase: tricks of the "
        "second playout less the other's. The unit of statistics is the deal (the round) with all its seatings.",
        "",
        f"Compiled players, on {options.deals:,} deals:",
        "",
        *table(rows, pairs),
        "",
    ]
    if searching:
        few = {options.slow_deals: "of each contract", options.slow_showcase: "of Showcase", 8 * options.slow_rounds: "of rounds"}
        told = ", ".join(f"{deals:,} {what}" for deals, what in few.items() if deals)
        lines += [f"Players that search, on fewer deals ({told}), since they take thousands of times longer:", ""]
        lines += [*table(rows, searching), ""]
    lines += _absent(rows)
    lines += ["## Every comparison", "", "`chance`: that the first is better; `wins`: its share of wins in percent.", ""]
    lines += [
        "| | first | second | difference | 99 % interval | units | wins | chance | verdict |",
        "|---|---|---|---:|---|---:|---:|---:|---|",
    ]
    for row in rows:
        verdict = {"a": row["a"], "b": row["b"], "open": "open"}[row["verdict"]]
        chance = "> 99.99" if row["chance"] > 0.9999 else "< 0.01" if row["chance"] < 0.0001 else f"{100 * row['chance']:.2f}"
        lines.append(
            f"| {row['what']} | {row['a']} | {row['b']} | {row['mean']:+.3f} | {row['low']:+.3f} … {row['high']:+.3f} | "
            f"{row['units']:,} | {100 * row['win_share']:.1f} | {chance} | {verdict} |"
        )
    commands = list(dict.fromkeys(row["command"] for row in rows))
    return "\n".join([*lines, "", "Made by these commands:", "", "```console", *commands, "```", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for the comparisons")
    parser.add_argument("--deals", type=int, default=20_000, help="deals of compiled players; each in all seatings")
    parser.add_argument("--slow-deals", type=int, default=16, help="deals of players that search")
    parser.add_argument("--slow-showcase", type=int, default=200, help="deals of Showcase of players that search")
    parser.add_argument("--slow-rounds", type=int, default=0, help="rounds of players that search")
    parser.add_argument("--players", nargs="*", help="only these, by SPEC")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--report", type=Path, default=REPORT)
    options = parser.parse_args()
    rows: list[Row] = []
    for work in all_work(options):
        print(f"{work.what}: {', '.join(work.players)}, {work.deals:,} deals", file=sys.stderr, flush=True)
        rows += played(work, options)
    options.report.write_text(report(rows, options), "utf-8")
    keys = (
        "what",
        "a",
        "b",
        "mean",
        "stderr",
        "low",
        "high",
        "confidence",
        "deals",
        "unit",
        "units",
        "win_share",
        "chance",
        "verdict",
    )
    data = {"simcore": simcore.__version__, "seed": str(options.seed), "rows": [{key: row[key] for key in keys} for row in rows]}
    options.report.with_suffix(".json").write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", "utf-8")
    print("\n".join(table(rows, compiled_pairs(rows))))


if __name__ == "__main__":
    main()
