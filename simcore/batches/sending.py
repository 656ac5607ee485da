"""What makes configs, contests and questions picklable, so that they can be sent to other machines.

A ruleset travels as its text, a player as its SPEC and, where it comes from a file, with the file's contents: pointers into this
process mean nothing elsewhere.  The receiver reads both again and comes to the same hash.  Importing this module is enough: it
tells :mod:`copyreg`.  Only workers of the user's own cluster unpickle, never anything that reads a file.
"""

from __future__ import annotations

import copyreg
import dataclasses
import hashlib
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from simcore.batches.config import Config
from simcore.errors import BadInput, RunError
from simcore.players import DECISIONS
from simcore.plugins import Decision
from simcore.rules import Ruleset, parse_ruleset
from simcore.specs import Player, parse_player

__all__ = ["fields_only"]


def _read_ruleset(text: str, name: str) -> Ruleset:
    return parse_ruleset(text, where=f"ruleset {name!r} of the run")


def _send_ruleset(ruleset: Ruleset) -> tuple[Any, ...]:
    return _read_ruleset, (ruleset.text, ruleset.name)


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="simcore-players-")


@cache
def _unpacked(contents: bytes) -> Path:
    """Return a file of this process with the contents of a player's file."""
    path = Path(_scratch().name) / f"{hashlib.sha256(contents).hexdigest()[:16]}.py"
    path.write_bytes(contents)
    return path


def _read_player(spec: str, game: str, files: dict[str, bytes]) -> Player:
    return parse_player(spec, game, {name: _unpacked(contents) for name, contents in files.items()})


def _contents(decision: Decision) -> bytes:
    """Return the file a decision's function came from.

    Raises:
        RunError: it has changed since.
    """
    module = sys.modules[f"simcore_plugin_{decision.sha256[:16]}"]
    try:
        contents = Path(str(module.__file__)).read_bytes()
    except OSError as error:
        raise RunError(f"player file {module.__file__!r} cannot be read: {error.strerror}") from None
    if hashlib.sha256(contents).hexdigest() != decision.sha256:
        raise RunError(f"player file {module.__file__!r} was changed while it plays; accepted: starting again")
    return contents


def _send_player(player: Player) -> tuple[Any, ...]:
    outside = [decision for decision in player.outside if decision is not None]
    if not outside:
        return Player, (player.spec, player.policies, player.outside, player.given)
    game = next(game for game, kinds in DECISIONS.items() if outside[0].kind in kinds)
    files = {decision.player.rpartition(":")[0]: _contents(decision) for decision in outside if decision.sha256}
    if any(decision.kind not in DECISIONS[game] for decision in outside):
        raise BadInput(f"player {player.given!r} decides in two games")
    return _read_player, (player.given, game, files)


def fields_only(kind: type) -> None:
    """Have objects of a dataclass sent as their fields alone, without what they have worked out."""

    def reduce(value: Any) -> tuple[Any, ...]:
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return _of_fields, (kind, fields)

    copyreg.pickle(kind, reduce)


def _of_fields(kind: type, fields: dict[str, Any]) -> Any:
    return kind(**fields)


copyreg.pickle(Ruleset, _send_ruleset)
copyreg.pickle(Player, _send_player)
fields_only(Config)
