"""A question about a ruleset's balance, checked once before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simcore import __version__
from simcore.batches.config import GAME_SEATS, Config, make_config
from simcore.errors import BadInput
from simcore.rng import STREAM_VERSION
from simcore.rules import Ruleset

__all__ = ["DEALS", "TRACED", "BalanceQuestion", "forced", "ruleset_names"]

DEALS = 20_000
TRACED = 2_000
_ROUND = 8
_MOST_DEALS = 1 << 32


def forced(config: Config, name: str) -> Config:
    """Return a config in which a contract (or trump) is forced, or each with ``all``."""
    return replace(config, contract=name) if config.game == "elections" else replace(config, trump=name)


def ruleset_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of one or two rulesets out of :meth:`BalanceQuestion.describe`, told apart where they have the same."""
    names = [str(config[key]) for key in ("ruleset", "against") if config[key] is not None]
    return tuple(f"{name} ({place})" for place, name in enumerate(names, 1)) if len(names) != len(set(names)) else tuple(names)


@dataclass(frozen=True)
class BalanceQuestion:
    """One ruleset, or two on the same deals: ``configs`` play them as they are, auction or naming included."""

    configs: tuple[Config, ...]
    traced: int
    confidence: float

    @classmethod
    def of(
        cls,
        game: str,
        *,
        ruleset: str | Path | Ruleset | None = None,
        against: str | Path | Ruleset | None = None,
        deals: int = DEALS,
        traced: int = TRACED,
        players: str = "expert",
        player: Mapping[str, str] | Sequence[str] = (),
        seed: int | str | None = None,
        confidence: float = 0.95,
    ) -> BalanceQuestion:
        """Check a question.

        Args:
            game: ``elections`` or ``showcase``.
            ruleset: a shipped name, a ``.toml`` file or a Ruleset; default: the game's own.
            against: another to set beside it, on the same deals.
            deals: how many deals; of Elections whole rounds, so a multiple of eight.
            traced: of how many of them the course of play is followed, for the figures of drama.
            players, player: the players of all seats, and of single ones, as in ``simulate``.
            seed: as in ``simulate``.
            confidence: of every interval.

        Raises:
            SimcoreError: naming the option, its value and what is accepted.
        """
        first = make_config(game, ruleset=ruleset, seed=seed, deals=deals, players=players, player=player)
        configs = [first]
        if against is not None:
            configs.append(make_config(game, ruleset=against, seed=first.seed, deals=deals, players=players, player=player))
        if not _ROUND <= deals <= _MOST_DEALS or (game == "elections" and deals % _ROUND):
            what = "whole rounds, a multiple of 8, " if game == "elections" else ""
            raise BadInput(f"deals {deals!r} is out of range; accepted: {what}{_ROUND} to {_MOST_DEALS:,}")
        if not 0 <= traced:
            raise BadInput(f"traced {traced!r} is out of range; accepted: 0 or more")
        if not 0.5 <= confidence < 1:
            raise BadInput(f"confidence {confidence!r} is out of range; accepted: 0.5 up to less than 1, as in 0.95")
        return cls(tuple(configs), min(int(traced), deals) // _ROUND * _ROUND, float(confidence))

    @property
    def game(self) -> str:
        """The game."""
        return self.configs[0].game

    @property
    def deals(self) -> int:
        """How many deals."""
        return self.configs[0].deals

    def every(self) -> tuple[Config, ...]:
        """Return the configs that play every contract, or trump, in each deal."""
        return tuple(forced(config, "all") for config in self.configs)

    def describe(self) -> dict[str, Any]:
        """Everything the answer depends on, as plain data."""
        first, *others = self.configs
        return {
            "simcore": __version__,
            "stream_version": STREAM_VERSION,
            "game": self.game,
            "ruleset": first.ruleset.name,
            "ruleset_hash": first.ruleset.hash,
            "against": others[0].ruleset.name if others else None,
            "against_hash": others[0].ruleset.hash if others else None,
            "seed": str(first.seed),
            "deals": self.deals,
            "traced": self.traced,
            "players": {seat: player.spec for seat, player in zip(GAME_SEATS[self.game], first.players, strict=True)},
            "player_files": {decision.player: decision.sha256 for decision in first.outside if decision.sha256},
            "confidence": self.confidence,
        }
