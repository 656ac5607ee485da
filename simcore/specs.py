"""SPEC strings: which player decides what.

SPEC = PART[+PART…]                      a later part takes over the decisions it knows
PART = NAME[:key=value,…] | FILE.py:NAME[:key=value,…]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from simcore.errors import BadInput
from simcore.players import DECISIONS
from simcore.plugins import Decision, load_decisions
from simcore.searchers.known import known_players

__all__ = ["Player", "parse_player"]


@dataclass(frozen=True)
class Player:
    """A seat's player: its SPEC, the policy number for each kind of decision, and those that are no kernels of ours.

    ``spec`` is what decides; ``given`` has also how a file's functions are called (limit, specialise), which changes no decision.
    """

    spec: str
    policies: tuple[int, int, int]
    outside: tuple[Decision | None, Decision | None, Decision | None] = field(default=(None, None, None), compare=False)
    given: str = field(default="", compare=False)


def _options(part: str, colon: str, text: str) -> dict[str, str]:
    """Return the options of a part, which stand behind a colon, if there is one."""
    options: dict[str, str] = {}
    for item in text.split(",") if colon else ():
        key, _, value = item.partition("=")
        if not key.strip():
            raise BadInput(f"player {part!r} has an empty option; accepted: key=value, as many as it has, with commas between")
        if key in options:
            raise BadInput(f"option {key!r} of player {part!r} is given twice")
        options[key] = value
    return options


def _made(factory: str, game: str, options: dict[str, str]) -> dict[str, Decision]:
    """Return the decisions that a searching player's function makes; its module is imported only where it is played."""
    module, _, function = factory.partition(":")
    decisions: dict[str, Decision] = getattr(import_module(module), function)(game, options)
    return decisions


def parse_player(spec: str, game: str, files: Mapping[str, Path] | None = None) -> Player:
    """Read a SPEC for a game.

    Args:
        files: where the files lie that are named in it, if not where the names say.

    Raises:
        BadInput: unknown name or option, a file that cannot be used, or some decision that no part knows.
    """
    policies: list[int | None] = [None, None, None]
    outside: list[Decision | None] = [None, None, None]
    deciding = []
    for part in spec.split("+"):
        name, colon, rest = part.strip().partition(":")
        if name.endswith(".py"):
            plugin, colon, text = rest.partition(":")
            decisions = load_decisions(name, plugin, _options(part.strip(), colon, text), game, (files or {}).get(name))
            deciding.append(f"{name}:{plugin}")
            for kind, decision in enumerate(DECISIONS[game]):
                if decision in decisions:
                    outside[kind] = decisions[decision]
                    policies[kind] = decisions[decision].address
            continue
        info = known_players().get(name)
        if info is None:
            raise BadInput(f"player {name!r} in {spec!r} is unknown; accepted: {', '.join(known_players())}, FILE.py:NAME")
        options = _options(part.strip(), colon, rest)
        for key in options:
            if key not in info.options:
                known = ", ".join(info.options) or "none"
                raise BadInput(f"option {key!r} of player {name!r} in {spec!r} is unknown; accepted: {known}")
        if not info.decisions[game]:
            raise BadInput(f"player {name!r} in {spec!r} decides nothing in {game}; accepted: a part that does")
        deciding.append(part.strip())
        made = _made(info.factory, game, options) if info.factory else {}
        for kind, decision in enumerate(DECISIONS[game]):
            if decision in made or (decision in info.decisions[game] and info.policy is not None):
                outside[kind] = made.get(decision)
                policies[kind] = made[decision].address if decision in made else info.policy
    first, second, third = policies
    if first is None or second is None or third is None:
        missing = [decision for decision, policy in zip(DECISIONS[game], policies, strict=True) if policy is None]
        raise BadInput(
            f"player {spec!r} does not know the decisions {missing}; put a whole player before it, as in 'random+{spec}'"
        )
    return Player("+".join(deciding), (first, second, third), (outside[0], outside[1], outside[2]), spec)
