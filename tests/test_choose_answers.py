"""What every answer of ``choose`` has in common: a table, a best choice, errors that name what is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_choose import _showcase_options
from test_one_seat import some_views

import simcore
from cli.output import interrupted
from simcore.errors import SimcoreError
from simcore.showcase import state

HAND = {"hand": "AKQJT98.AK.32.32", "seat": "S", "seed": 7, "threads": 1, "max_deals": 8, "players": "greedy"}


def _asked(about: str) -> simcore.Choices:
    if about == "hand":
        return simcore.choose("elections", **HAND, dealer="E")
    if about == "naming":
        return simcore.choose("showcase", **_showcase_options("showcase", 0)[0])
    if about in ("view", "exact view"):
        _, data, _ = some_views("showcase", state.FIRST if about == "view" else state.TRUMP, 1)[0]
        return simcore.choose("showcase", view=data, seed=1, threads=1, max_deals=8)
    return simcore.choose(about, seed=1, threads=1, max_deals=8, players="greedy")


@pytest.mark.parametrize("about", ["hand", "elections", "showcase", "naming", "view", "exact view"])
def test_every_answer_is_a_table(about: str) -> None:
    """A row a choice with all its figures; what another table's rows have is null."""
    choices = _asked(about)
    rows = choices.table().to_pylist()
    assert len(rows) == len(choices.rows)
    for row, given in zip(rows, choices.rows, strict=True):
        assert set(given) <= set(row)
        assert all(row[name] is None for name in set(row) - set(given))
        assert (row["table"], row["choice"], row["mean"]) == (given["table"], given["choice"], given["mean"])


def test_the_best_of_an_unknown_table_is_refused() -> None:
    choices = _asked("hand")
    assert choices.best("call") == choices.best()
    with pytest.raises(SimcoreError, match=r"'foo' has no best choice; accepted: contract, call"):
        choices.best("foo")
    with pytest.raises(SimcoreError, match="accepted: best-for-a-hand"):
        _asked("elections").best("position")


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({"seat": 2}, "N E S W"),
        ({"confidence": "x"}, "0.95"),
        ({"max_deals": "x"}, "whole number"),
        ({"max_deals": 2.5}, "whole number"),
        ({"dealer": "N", "calls": 5}, "E pass, S clubs"),
        ({"dealer": "N", "calls": [5]}, "E pass, S clubs"),
        ({"partner": 3}, "lot, any"),
        ({"lot": 3}, "NS or SW"),
        ({"method": []}, "rollout"),
        ({"objective": []}, "relative"),
        ({"hand": 5}, "accepted"),
        ({"dealer": 5}, "N E S W"),
        ({"threads": "x"}, "1 to 1024"),
    ],
)
def test_what_is_no_text_or_number_is_refused(options: dict[str, Any], accepted: str) -> None:
    with pytest.raises(SimcoreError, match=accepted):
        simcore.choose("elections", **HAND | options)


@pytest.mark.parametrize("name", ["hand", "seat", "leader", "show", "turned", "won"])
def test_a_number_in_place_of_text_is_refused_in_showcase(name: str) -> None:
    with pytest.raises(SimcoreError, match="accepted"):
        simcore.choose("showcase", **_showcase_options("showcase", 0)[0] | {name: 3})


def test_ctrl_c_says_what_was_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert interrupted(tmp_path / "none") == 130
    assert "nothing was saved; to run again: simcore" in capsys.readouterr().err
    interrupted(tmp_path)
    assert "nothing was saved" in capsys.readouterr().err
    (tmp_path / "manifest.json").write_text("{}")
    interrupted(tmp_path)
    assert f"complete parts are in {str(tmp_path)!r}; to go on: simcore" in capsys.readouterr().err
