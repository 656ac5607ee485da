"""The errors simcore raises on purpose.

Messages are lower case, name the offending value with ``!r`` and where it stood, and say what would be accepted.
"""

from __future__ import annotations

__all__ = ["BadInput", "NotationError", "PlayerError", "PlayerStuck", "RulesError", "RunError", "SimcoreError", "TraceError"]


class SimcoreError(ValueError):
    """Base of every error simcore raises on purpose."""


class BadInput(SimcoreError):
    """An argument or option has a value that is not accepted."""


class NotationError(SimcoreError):
    """A card, hand, deal or file of deals cannot be read."""


class RulesError(SimcoreError):
    """A ruleset file breaks the schema."""


class TraceError(SimcoreError):
    """A deal trace breaks the rules or the format."""


class RunError(SimcoreError):
    """Work that was well asked for has failed (output directory, disk, interrupted part)."""


class PlayerError(RunError):
    """A player returned an illegal action, raised, or did not answer."""


class PlayerStuck(PlayerError):
    """A player did not answer in time: a thread of this process is still in it, so that only ending the process stops it."""
