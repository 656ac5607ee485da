"""Shared by all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, and no clock: a loaded machine is no failure.
_NO_CLOCK: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("simcore", derandomize=True, **_NO_CLOCK)
# Other examples every time, and many (make fuzz).
settings.register_profile("fuzz", max_examples=int(os.environ.get("SIMCORE_FUZZ_EXAMPLES", "5000")), **_NO_CLOCK)
settings.load_profile("fuzz" if "SIMCORE_FUZZ_EXAMPLES" in os.environ else "simcore")

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so would the programs whose Ctrl-C is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An S3 server with a bucket ``runs``: what its addresses end with."""
    from stores import served

    with served() as options:
        yield options


@pytest.fixture(autouse=True)
def keep_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command called in the tests' own process does not end it, even if a thread of it is late on a loaded machine.  Nor is a
    player of a file too slow there, whose first decision may have to compile."""
    monkeypatch.setattr("cli.main._end", sys.exit)
    monkeypatch.setattr("simcore.plugins.DEFAULT_LIMIT", 600.0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write golden files anew")


@pytest.fixture
def regen(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regen"))
