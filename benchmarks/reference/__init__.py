"""The same simulations in plain C: yardstick of simcore's kernels, and an independent check of them.

``reference_for(config)`` gives an object whose ``run(first, deals)`` returns the tally that simcore's backend sums up for the same
config, to the last deal.  The C files are built with ``gcc -O3 -march=native`` into a temporary folder.  They know what the
benchmarks need: random players; Elections with a forced contract, the lead at declarer's left and results by net points; Showcase
under its default ruleset, the trump given or named by the namer.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from simcore._jit import FAST_PDEP, cpu_name
from simcore.batches.config import PAIRINGS, Config
from simcore.cards import SEATS
from simcore.rng import seed_words
from simcore.rules import TRUMPS

__all__ = ["Reference", "compiler", "reference_for"]

_HERE = Path(__file__).parent
_FLAGS = ("-O3", "-march=native", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
_GROUPS = 52

_CONTRACT = np.dtype(
    [("trump", "u8"), *((name, "i8") for name in ("low", "trick", "most", "groups"))]
    + [("cards", "u8", (_GROUPS,)), ("points", "i8", (_GROUPS,))]
)
_ELECTIONS = np.dtype(
    [("key0", "u8"), ("key1", "u8")] + [(name, "i8") for name in ("contract", "declarer", "pairing", "contracts", "tie_is_draw")]
)
_SHOWCASE = np.dtype([("key0", "u8"), ("key1", "u8"), ("trump", "i8")])


def compiler() -> str | None:
    """Return the C compiler's path, or None."""
    return shutil.which(os.environ.get("CC", "gcc"))


@cache
def library(game: str, fast_pdep: bool = FAST_PDEP) -> ctypes.CDLL:
    """Build a game's C file, unless that is done already, and load it.

    Raises:
        RuntimeError: there is no C compiler, or it failed.
    """
    cc = compiler()
    if cc is None:
        raise RuntimeError("no C compiler: install gcc, or set CC")
    flags = [*_FLAGS, *(["-DFAST_PDEP"] if fast_pdep else [])]
    version = subprocess.run([cc, "--version"], capture_output=True, text=True, check=True).stdout
    parts = [version, cpu_name(), *flags, *((_HERE / name).read_text() for name in ("streams.h", f"{game}.c"))]
    name = f"{game}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}.so"
    folder = Path(tempfile.gettempdir()) / f"simcore-reference-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to another user; set TMPDIR")
    target = folder / name
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            built = Path(scratch) / name
            done = subprocess.run([cc, *flags, "-o", str(built), str(_HERE / f"{game}.c")], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{cc} failed:\n{done.stderr}")
            built.replace(target)
    return ctypes.CDLL(str(target))


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Reference:
    """A game's C kernel with its options."""

    def __init__(self, function: object, inputs: list[np.ndarray], shape: tuple[int, int]) -> None:
        self._function = function
        self._inputs = inputs
        self._shape = shape

    def run(self, first: int, deals: int) -> np.ndarray:
        """Play deals from an index on; returns int64[contracts, 10] or int64[6, 12], as the games' TALLY."""
        tally = np.zeros(self._shape, np.int64)
        self._function(*map(_address, self._inputs), ctypes.c_uint64(first), ctypes.c_int64(deals), _address(tally))  # type: ignore[operator]
        return tally


def reference_for(config: Config, fast_pdep: bool = FAST_PDEP) -> Reference:
    """Return the C kernel for a config.

    Raises:
        ValueError: the C code does not know such a simulation.
        RuntimeError: it cannot be built.
    """
    record = config.ruleset.record[0]
    beyond = [config.dealer, config.known, config.where]
    if (
        any(any(player.policies) for player in config.players)
        or config.given is not None
        or any(value is not None for value in beyond)
    ):
        raise ValueError("the reference plays random players and random deals only")
    key0, key1 = seed_words(config.seed)
    if config.game == "showcase":
        choices = config.ruleset.choices
        if config.trump == "all" or record.magri or any(record[name.replace("-", "_")] for name in choices):
            raise ValueError("the reference knows Showcase's default ruleset, one trump a deal")
        trump = -1 if config.trump is None else TRUMPS.index(config.trump)
        return Reference(library("showcase", fast_pdep).showcase_random, [np.array([(key0, key1, trump)], _SHOWCASE)], (6, 12))
    if config.contract in (None, "all") or config.pairs == "lot" or record.lead or record.result:
        raise ValueError("the reference knows one forced contract a deal, the lead at declarer's left, results by net points")
    count = len(config.ruleset.contracts)
    contracts = np.zeros(count, _CONTRACT)
    for c in range(count):
        row = contracts[c]
        row["trump"] = 0 if record.low_trump and record.low[c] else record.trump[c]
        for name in ("low", "trick", "most", "groups"):
            row[name] = record[name][c]
        used = int(record.groups[c])
        row["cards"][:used] = record.group_cards[c, :used]
        row["points"][:used] = record.group_plus[c, :used] + record.group_minus[c, :used]
    contract = -1 if config.contract == "random" else config.ruleset.contract_ids.index(str(config.contract))
    declarer = -1 if config.declarer is None else SEATS.index(config.declarer)
    pairing = -1 if config.pairs is None else PAIRINGS[config.pairs]
    options = np.array([(key0, key1, contract, declarer, pairing, count, record.tie)], _ELECTIONS)
    return Reference(library("elections", fast_pdep).elections_random, [contracts, options], (count, 10))
