"""Shared by all tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time, and no clock: a loaded machine is no failure.
settings.register_profile("simcore", derandomize=True, deadline=None)
settings.load_profile("simcore")

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so would the programs whose Ctrl-C is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write golden files anew")


@pytest.fixture
def regen(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regen"))
