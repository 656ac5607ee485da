"""simcore: fast, honest simulation of the trick-taking card games Elections and Showcase."""

from __future__ import annotations

__version__ = "0.1.0"
