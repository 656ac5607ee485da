"""simcore replay --explain: what a player saw and thought, in words and as data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_solve import Call, run  # noqa: F401 (a fixture)

import simcore
from simcore.batches.replaying import render, verify
from simcore.errors import PlayerError, SimcoreError

SPEC = "rollout:worlds=5"


def test_a_seats_own_player_is_told_as_it_decided() -> None:
    """Every choice of the searching seat is the one it says is best; what it saw is its own hand as it went."""
    (trace,) = simcore.replay("elections", seed=4, players="expert", player={"S": SPEC}, explain="S")
    assert verify(trace)
    assert {one["seat"] for one in trace["explain"]} == {"S"}
    assert {one["decision"] for one in trace["explain"]} >= {"call", "play"}
    for one in trace["explain"]:
        assert one["chosen"] == one["best"] == one["choices"][0]["choice"]
        assert one["player"] == SPEC
        assert (one["worlds"], one["method"]) == (5, "rollout")
        assert all(choice["stderr"] is not None and choice["behind"] >= 0 for choice in one["choices"])
        if one["decision"] == "play":
            held = one["saw"]["hand"]
            assert len(held.replace(".", "")) == 14 - one["trick"]
            assert one["chosen"][1] in held.split(".")["SHDC".index(one["chosen"][0])]
    json.dumps(trace, allow_nan=False)


@pytest.mark.parametrize("spec", ["expert", "greedy", "pimc:worlds=2,rollouts=2", "ismcts:iterations=20", "expert+oracle"])
def test_any_player_is_asked_in_every_seat(spec: str) -> None:
    for game, options in (("elections", {"contract": "clubs-reds"}), ("showcase", {})):
        given: dict[str, Any] = {"seed": 2, "players": "expert", **options}
        if spec == "expert+oracle" and game == "elections":
            continue  # a whole deal double dummy takes seconds
        (trace,) = simcore.replay(game, explain=spec, **given)
        assert {one["seat"] for one in trace["explain"]} == set("NESW" if game == "elections" else "NS")
        for one in trace["explain"]:
            assert one["best"] == one["choices"][0]["choice"]
            assert len({choice["choice"] for choice in one["choices"]}) == len(one["choices"]) >= 2
            assert one["chosen"] in {choice["choice"] for choice in one["choices"]}
            if spec == "expert":
                assert one["chosen"] == one["best"]  # it played
        plain = simcore.replay(game, **given)[0]
        assert {key: value for key, value in trace.items() if key != "explain"} == plain
        text = render(trace, symbols=False)
        assert text.startswith(render(plain, symbols=False))
        assert f"asked {spec}" in text


def test_on_the_command_line(run: Call, tmp_path: Path) -> None:  # noqa: F811
    play = ("replay", "elections", "--seed", "4", "--contract", "nt-most", "--players", "expert", "--quiet")
    text = run(*play, "--explain", "E=pimc:worlds=2,rollouts=3").stdout
    assert "East, trick 1, card" in text
    assert "saw   hand " in text
    assert "asked pimc:worlds=2,rollouts=3: points more than the other side, rollout of 3 worlds" in text
    assert "<- played" in text
    line = run(*play, "--format", "jsonl", "--explain", "expert").stdout
    told = json.loads(line)["explain"]
    assert [one["seat"] for one in told]
    file = tmp_path / "one.jsonl"
    file.write_text(line)
    again = run("replay", "--trace", str(file), "--format", "jsonl", "--quiet").stdout
    assert "explain" not in json.loads(again), "what a trace says of thoughts is not believed"
    other = run("replay", "--trace", str(file), "--explain", "N=greedy", "--format", "jsonl", "--quiet").stdout
    assert {one["player"] for one in json.loads(other)["explain"]} == {"greedy"}
    assert "accepted: N E S W" in run(*play, "--explain", "X=pimc", status=2).stderr
    assert "is unknown" in run(*play, "--explain", "nobody", status=2).stderr
    assert "does not say who played" in run("replay", "--trace", str(file), "--explain", "N", status=2).stderr


def test_a_part_is_not_asked_for_what_it_does_not_know() -> None:
    with pytest.raises(SimcoreError, match="does not know the decisions"):
        simcore.replay("showcase", seed=1, explain="exact")


#: One of them sleeps until there is a file ``awake`` beside it.
WILD = """
import pathlib, time
def raises_play(view, rules, stream):
    raise RuntimeError("boom")
def none_play(view, rules, stream):
    return None
def sleeps_play(view, rules, stream):
    while not pathlib.Path(__file__).with_name("awake").exists():
        time.sleep(0.02)
def all_play(view, rules, stream):
    return int(view.legal)
def zero_play(view, rules, stream):
    return 0
def big_play(view, rules, stream):
    return 1 << 70
def writes_play(view, rules, stream):
    view.legal = 1
    return 1
def good_play(view, rules, stream):
    return int(view.legal) & -int(view.legal)
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("raises", "raised RuntimeError: boom"),
        ("none", "raised TypeError"),
        ("sleeps:limit=0.1", "has not answered for 0.1 s"),
        ("all", "not exactly one of the legal"),
        ("zero", "not exactly one of the legal"),
        ("big", "no mask of 64 bits"),
        ("writes", "raised"),
    ],
)
def test_a_players_file_is_asked_with_checks(name: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "wild.py"
    file.write_text(WILD)
    given: dict[str, Any] = {"seed": 4, "first": 3, "contract": "nt-most", "players": "greedy"}
    with pytest.raises(PlayerError, match=re.escape(says)) as failed:
        simcore.replay("elections", explain=f"E=greedy+{file}:{name}", **given)
    (tmp_path / "awake").touch()
    assert "deal 3, seat E, decision 'play', trick " in str(failed.value)
    assert "\n" not in str(failed.value)
    (trace,) = simcore.replay("elections", explain=f"E=greedy+{file}:good", **given)
    assert trace["explain"]
