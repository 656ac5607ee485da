"""simcore selfcheck: it passes here, and what is wrong does not pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.main import main
from simcore.batches import parts
from simcore.selfcheck import checks, plain
from simcore.selfcheck.checks import Verdict, Wrong


def test_everything_is_right_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["selfcheck", "--format", "json", "--dir", str(tmp_path), "--quiet"])
    data = json.loads(capsys.readouterr().out)
    assert [check["detail"] for check in data["checks"] if not check["passed"]] == []
    assert data["passed"]
    assert not stop.value.code
    assert len(data["checks"]) == 8
    assert data["machine"]["threads"] >= 1
    assert not list(tmp_path.iterdir())


def test_a_failure_is_readable_and_status_1(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = [Verdict("rules", True, "12 deals", 0.1), Verdict("chance", False, "card by seat: 9.1 standard deviations", 0.2)]
    monkeypatch.setattr(checks, "run_checks", lambda **_: iter(verdicts))
    with pytest.raises(SystemExit) as stop:
        main(["selfcheck"])
    assert stop.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "ok      rules: 12 deals (0.1 s)",
        "FAILED  chance: card by seat: 9.1 standard deviations (0.2 s)",
        "1 of 2 checks FAILED: do not trust results of this installation",
    ]


def test_another_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plain.RULESETS["elections"]["contracts"]["nt-most"], "most", 13)
    with pytest.raises(Wrong, match="E15: side_points"):
        checks._games("elections", 4)
    with pytest.raises(Wrong, match="nt-most by"):
        checks._endings(2)


def test_a_biased_shuffle_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One deal in twenty with its first two seats' hands exchanged where North has the ace of spades."""
    real = checks.deal_hands

    def biased(seed: int, first: int, deals: int) -> np.ndarray:
        hands = real(seed, first, deals)
        ace = hands[:, 0] >> np.uint64(60) & np.uint64(1) == 1
        ace[np.arange(deals) % 20 > 0] = False
        hands[ace, :2] = hands[ace, 1::-1]
        return hands

    checks._shuffles(100_000)
    monkeypatch.setattr(checks, "deal_hands", biased)
    with pytest.raises(Wrong, match=r"card by seat|pairs of cards"):
        checks._shuffles(300_000)


def test_a_wrong_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = checks.solve

    def wrong(deal: Any, **options: Any) -> list[dict[str, Any]]:
        rows = real(deal, **options)
        if options.get("ruleset") == "showcase-magri":
            rows[0]["points"]["N"] += 1
        return rows

    monkeypatch.setattr(checks, "solve", wrong)
    with pytest.raises(Wrong, match=r"leads: \d+, and should be"):
        checks._stored(0)


def test_other_bytes_and_a_run_that_fails_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = checks.run_simulation

    def damaged(config: Any, *, out: Path, **options: Any) -> Any:
        result = real(config, out=out, **options)
        if out.name == "all":
            with open(out / "part-00001.parquet", "ab") as file:
                file.write(b"!")
        return result

    monkeypatch.setattr(checks, "_DEALS", 5000)
    monkeypatch.setattr(parts, "PART_ROWS", 1 << 11)
    monkeypatch.setattr(parts, "GROUP_ROWS", 1 << 9)
    monkeypatch.setattr(checks, "run_simulation", damaged)
    with pytest.raises(Wrong, match=r"^part-00001.parquet of 5,000 deals differ between 1 and \d+ threads"):
        checks._threads(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(checks.sys, "executable", "/bin/false")
    with pytest.raises(Wrong, match="the run failed"):
        checks._killed(tmp_path, 1)


def test_a_folder_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["selfcheck", "--dir", "/proc", "--quiet"])
    assert stop.value.code == 1
    assert "folder '/proc' cannot be written" in capsys.readouterr().err
