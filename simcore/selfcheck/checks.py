"""simcore checked on the machine it runs on: does what was compiled here play by the rules, and does what is written here last?

Each check is a function that returns what it has looked at, in words, and raises where something is wrong.  Seeds are fixed, so
that a check that has passed once passes always, unless machine, compiler or libraries do something else.  What the kernels do is
judged by :mod:`simcore.selfcheck.plain`, a second engine that shares no code with them.
"""

from __future__ import annotations

import itertools
import json
import math
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from simcore import __version__
from simcore._jit import HAS_BMI2, cache_directory, cpu_name
from simcore.batches.config import Config, make_config
from simcore.batches.partfile import part_paths
from simcore.batches.replaying import replay_config
from simcore.batches.run import available_threads, run_simulation
from simcore.batches.solving import solve
from simcore.deals.dealing import deal_hands, deal_showcase
from simcore.errors import RunError
from simcore.selfcheck import plain

__all__ = ["Verdict", "machine", "run_checks"]

_SEED = 20261130
#: A deviation of so many standard deviations would happen once in 10^8 times by chance; with a fixed seed it is no chance.
_LIMIT = 5.7
_LONG = 25
_PLAYERS = ("random", "greedy", "expert")


class Wrong(Exception):
    """A check has found something."""


@dataclass(frozen=True)
class Verdict:
    """How a check ended: ``detail`` says what was looked at, or what is wrong."""

    name: str
    passed: bool
    detail: str
    seconds: float


def machine() -> dict[str, Any]:
    """Return what the checks run on."""
    cache = cache_directory()
    libraries = {name: version(name) for name in ("numba", "numpy", "pyarrow")}
    return {
        "simcore": __version__,
        "python": platform.python_version(),
        **libraries,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "bmi2": HAS_BMI2,
        "threads": available_threads(),
        "cache": str(cache) if cache else None,
    }


def run_checks(*, long: bool = False, folder: Path | None = None) -> Iterator[Verdict]:
    """Run all checks; yields each verdict as it is reached.

    Args:
        long: look at twenty-five times as much.
        folder: where files are written for a while; by default the system's folder for temporary ones.

    Raises:
        RunError: it cannot be written.
    """
    size = _LONG if long else 1
    try:
        made = tempfile.TemporaryDirectory(prefix="simcore-selfcheck-", dir=folder)
    except OSError as error:
        raise RunError(f"folder {str(folder or tempfile.tempdir)!r} cannot be written: {error.strerror}") from None
    with made as temporary:
        place = Path(temporary)
        checks: list[tuple[str, Callable[[], str]]] = [
            ("Elections against a plain engine", lambda: _games("elections", 12 * size)),
            ("Showcase against a plain engine", lambda: _games("showcase", 24 * size)),
            ("rows against traces", lambda: _rows(200 * size)),
            ("shuffles", lambda: _shuffles(100_000 * size)),
            ("solvers against stored values", lambda: _stored(1 if not long else None)),
            ("solvers against exhaustive search", lambda: _endings(3 * size)),
            ("same bytes for one and all threads", lambda: _threads(place)),
            ("write, kill, resume", lambda: _killed(place, 1 if not long else 10)),
        ]
        for name, check in checks:
            start = time.perf_counter()
            try:
                passed, detail = True, check()
            except Exception as error:  # whatever it is: it is what the check is for
                passed, detail = False, str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
            yield Verdict(name, passed, detail, time.perf_counter() - start)


def _same(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, and should be {wanted!r}")


# ---- Rules -----------------------------------------------------------------------------------------------------------


def _games(game: str, deals: int) -> str:
    """Replay deals of every ruleset and player move by move in the plain engine."""
    checked = 0
    names = [name for name, rules in plain.RULESETS.items() if rules["game"] == game]
    for name, players in itertools.product(names, _PLAYERS):
        free = make_config(game, ruleset=name, seed=_SEED, deals=deals, players=players)
        everything: dict[str, Any] = {"contract": "all"} if game == "elections" else {"trump": "all"}
        for config in (free, replace(free, deals=max(deals // 4, 1), **everything)):
            for trace in replay_config(config):
                problems = plain.check_trace(json.loads(json.dumps(trace)))  # as a reader gets it
                if problems:
                    raise Wrong(f"ruleset {name!r}, players {players!r}, seed {_SEED}, deal {trace['deal']}: {problems[0]}")
                checked += 1
    return f"{checked:,} deals, {len(names)} rulesets, players {', '.join(_PLAYERS)}: every move, trick and point"


def _rows(deals: int) -> str:
    """Compare the tables' kernels, those for random play apart, with the traces."""
    checked = 0
    runs: list[tuple[str, dict[str, Any]]] = [
        ("elections", {"contract": "random"}),
        ("elections", {"players": "expert"}),
        ("showcase", {}),
        ("showcase", {"ruleset": "showcase-magri", "players": "greedy"}),
    ]
    for game, options in runs:
        config = make_config(game, seed=_SEED, deals=deals, **options)
        table = run_simulation(config, keep_rows=True).table().to_pylist()
        for row, trace in zip(table, replay_config(replace(config, deals=max(deals // 4, 1))), strict=False):
            where = f"{game}, {options}, deal {row['deal']}"
            _same(where, {key: row[key] for key in _facts(trace)}, _facts(trace))
            checked += 1
    return f"{checked:,} rows"


def _facts(trace: dict[str, Any]) -> dict[str, Any]:
    """Return what a row says, out of a trace."""
    if trace["game"] == "showcase":
        facts = {key: trace[key] for key in ("deal", "dealer", "namer", "trump", "winner")}
        facts |= {f"count_{seat.lower()}": count for seat, count in trace["counts"].items()}
        return facts | {f"points_{seat.lower()}": points for seat, points in trace["points"].items()}
    facts = {
        key: trace[key] for key in ("deal", "dealer", "status", "type", "contract", "declarer", "partner", "matched", "result")
    }
    facts |= {f"credit_{seat.lower()}": credit for seat, credit in trace["credits"].items()}
    for seat, won in (trace["tricks_won"] or {}).items():
        facts[f"tricks_{seat.lower()}"] = won
    for side, points in (trace["side_points"] or {}).items():
        facts[f"points_{side}"] = points
    return facts


# ---- Chance ----------------------------------------------------------------------------------------------------------


def _shuffles(deals: int) -> str:
    """Look at how often cards, pairs of cards and suit lengths come, against exact probabilities."""
    hands = deal_hands(_SEED, 0, deals)
    bits = np.uint64(1) << np.array([16 * suit + rank for suit in range(4) for rank in range(13)], np.uint64)
    seat_of = np.zeros((deals, 52), np.int8)
    for seat in range(4):
        seat_of[(hands[:, seat, None] & bits) != 0] = seat
    union = hands[:, 0] | hands[:, 1] | hands[:, 2] | hands[:, 3]
    if (union != bits.sum()).any() or (hands.sum(axis=1) != bits.sum()).any():
        raise Wrong("a deal does not hold the 52 cards")
    worst: dict[str, float] = {}
    counts = np.stack([(seat_of == seat).sum(axis=0) for seat in range(4)])
    # thirteen cards each tie the counts together: the statistic is that of 51 x 3 free ones, 52/51 times as large
    worst["card by seat"] = _score(_chi2(counts, np.full((4, 52), deals / 4)) * 51 / 52, 51 * 3)
    pairs = np.stack([np.bincount(4 * seat_of[:, i] + seat_of[:, i + 26], minlength=16) for i in range(26)])
    together = np.array([deals * (12 if a == b else 13) / 51 / 4 for a in range(4) for b in range(4)])
    worst["pairs of cards"] = _score(_chi2(pairs, together), 26 * 15)
    spades = np.array([int(x).bit_count() for x in range(1 << 13)])[(hands[:, 0] >> np.uint64(48)).astype(np.int64)]
    lengths = np.bincount(np.minimum(spades, 8), minlength=9)
    shares = [math.comb(13, n) * math.comb(39, 13 - n) / math.comb(52, 13) for n in range(14)]
    worst["length of a suit"] = _score(_chi2(lengths, deals * np.array([*shares[:8], sum(shares[8:])])), 8)
    turned = np.bincount(deal_showcase(_SEED, 0, deals)[1][:, 0].astype(np.int64), minlength=64)
    turned = turned[[16 * suit + rank for suit in range(4) for rank in range(13)]]
    worst["card turned up"] = _score(_chi2(turned, np.full(52, deals / 52)), 51)
    for what, score in worst.items():
        if abs(score) > _LIMIT:
            raise Wrong(f"{what}: {score:.1f} standard deviations from chance in {deals:,} deals")
    most = max(abs(score) for score in worst.values())
    return f"{deals:,} deals of each game: {', '.join(worst)}; none more than {most:.1f} standard deviations from chance"


def _chi2(found: Any, wanted: Any) -> float:
    return float(((np.asarray(found, float) - wanted) ** 2 / wanted).sum())


def _score(chi2: float, freedom: int) -> float:
    """Return a chi-squared value as a normal one (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * freedom)
    return float(((chi2 / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))


# ---- Solvers ---------------------------------------------------------------------------------------------------------


def _stored(deals: int | None) -> str:
    """Solve whole deals whose values another program has found (Elections), or this one on another machine (Showcase)."""
    stored = json.loads(resources.files("simcore.selfcheck").joinpath("values.json").read_text("utf-8"))
    values = 0
    strains = {"C": "clubs-tricks", "D": "diamonds-tricks", "H": "hearts-tricks", "S": "spades-tricks", "NT": "nt-tricks"}
    for deal in stored["double_dummy"][:deals]:
        rows = solve(deal["pbn"], ruleset="tricks", threads=available_threads())
        found = {(row["declarer"], row["contract"]): row["attackers_tricks"] for row in rows}
        for seat, strain in itertools.product("NESW", strains):
            _same(f"{deal['pbn']}, {strain} by {seat}", found[seat, strains[strain]], deal[f"{seat}_{strain}"])
            values += 1
    for deal in stored["second_playout"]:
        for row in solve(deal["pbn"], ruleset=deal["ruleset"]):
            wanted = deal["north"][row["leader"]][row["trump"]]
            _same(f"{deal['pbn']}, {row['trump']}, {row['leader']} leads", row["points"]["N"], wanted)
            values += 1
    return f"{values:,} values of whole deals"


def _endings(count: int) -> str:
    """Solve endings and compare with a search without memory or pruning."""
    rng = random.Random(_SEED)
    values = 0
    for contract, terms in plain.RULESETS["elections"]["contracts"].items():
        for _ in range(count):
            cards = rng.sample(plain.PACK, 12)
            hands = {seat: cards[3 * i : 3 * i + 3] for i, seat in enumerate(plain.SEATS)}
            pbn = "N:" + " ".join(plain.format_hand(hands[seat]) for seat in plain.SEATS)
            declarer = rng.choice(plain.SEATS)
            (row,) = solve(pbn, contract=contract, declarer=declarer, pairs="NS")
            attackers = ("N", "S") if declarer in "NS" else ("E", "W")
            wanted = plain.minimax_elections(hands, terms, attackers, plain.left(declarer))
            _same(f"{pbn}, {contract} by {declarer}", row["attackers"] - row["defenders"], wanted)
            values += 1
    for trump in plain.TRUMPS:
        for _ in range(2 * count):
            cards = rng.sample(plain.PACK, 11)
            north, south = cards[:5], cards[5:]
            pbn = f"N:{plain.format_hand(north)} {plain.format_hand(south)}"
            (row,) = solve(pbn, trump=trump, leader="N", tricks=4)
            _same(f"{pbn}, {trump}", row["points"]["N"], plain.minimax_showcase(north, south, trump, "N", 4))
            values += 1
    return f"{values:,} endings, every contract and trump"


# ---- Files -----------------------------------------------------------------------------------------------------------

_DEALS = 1_200_000  # two parts


def _config() -> Config:
    return make_config("elections", seed=_SEED, deals=_DEALS, contract="random")


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def _threads(place: Path) -> str:
    """Write a run with one thread, and with all threads and two writers."""
    threads = max(2, available_threads())
    run_simulation(_config(), out=place / "one", threads=1)
    run_simulation(_config(), out=place / "all", threads=threads, writers=2)
    one, many = _contents(place / "one"), _contents(place / "all")
    shutil.rmtree(place / "all")
    different = sorted(name for name in one.keys() | many.keys() if one.get(name) != many.get(name))
    if different:
        raise Wrong(f"{', '.join(different)} of {_DEALS:,} deals differ between 1 and {threads} threads")
    return f"{_DEALS:,} deals, {sum(map(len, one.values())) / 1e6:.1f} MB, 1 and {threads} threads"


def _killed(place: Path, times: int) -> str:
    """Kill a run -9 in the middle, go on with it, and compare with the one that was not."""
    code = (
        "import sys\nfrom simcore.selfcheck import checks\nfrom simcore.batches.run import run_simulation\n"
        "run_simulation(checks._config(), out=sys.argv[1], threads=1)\n"
    )
    killed = 0
    for attempt in range(times):
        folder = place / f"killed-{attempt}"
        process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            deadline = time.monotonic() + 600
            while process.poll() is None and not (folder.is_dir() and part_paths(folder)):
                if time.monotonic() > deadline:
                    raise Wrong("no part was written in ten minutes")
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            errors = process.communicate()[1]
        finally:
            process.kill()
        if process.returncode == -signal.SIGKILL:
            killed += 1
        elif process.returncode:
            raise Wrong(f"the run failed: {errors.decode(errors='replace').strip()[-300:]}")
        result = run_simulation(_config(), out=folder)
        if _contents(folder) != _contents(place / "one"):
            raise Wrong(f"a run killed and resumed in {str(folder)!r} differs from one that was not")
        shutil.rmtree(folder)
    if not killed:
        return "the machine was too fast to kill the run in the middle; its bytes are right"
    return f"killed {killed} time(s), {result.deals_played:,} of {_DEALS:,} deals played after it, the same bytes"
