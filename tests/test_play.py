"""A person at the table: the same deal as a simulation, undo, nothing shown that is hidden, answers from a pipe."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import simcore
from cli.main import main
from simcore.batches.config import make_config
from simcore.batches.replaying import verify
from simcore.batches.sessions import Session
from simcore.errors import BadInput, PlayerError

GAMES: list[tuple[str, str, dict[str, Any]]] = [
    ("elections", "S", {}),
    ("elections", "W", {"ruleset": "variety"}),
    ("elections", "N", {"ruleset": "tricks", "contract": "clubs-tricks", "pairs": "NE", "dealer": "W"}),
    ("elections", "E", {"known": "N:AKQ... - - -", "contract": "random"}),
    ("showcase", "N", {}),
    ("showcase", "S", {"ruleset": "showcase-magri"}),
    ("showcase", "S", {"trump": "all-trump"}),
]


def session(game: str, me: str, first: int = 0, others: str = "greedy", **options: Any) -> Session:
    return Session(make_config(game, seed=7, first=first, deals=1, players=others, **options), me)


def answers(trace: dict[str, Any], me: str) -> dict[str, list[str]]:
    """Return all that a seat did in a deal, by kind of decision, forced actions too."""
    seats = "NESW" if trace["game"] == "elections" else "NS"

    def cards(tricks: list[dict[str, Any]]) -> list[str]:
        return [
            card
            for trick in tricks
            for i, card in enumerate(trick["cards"])
            if seats[(seats.index(trick["leader"]) + i) % len(seats)] == me
        ]

    if trace["game"] == "elections":
        calls = [call for seat, call in trace["calls"] if seat == me]
        return {"call": calls, "contract": [trace["contract"]], "play": cards(trace["tricks"])}
    return {"first": cards(trace["first"]), "trump": [trace["trump"]], "second": cards(trace["second"])}


@pytest.mark.parametrize(("game", "me", "options"), GAMES)
def test_who_plays_like_a_player_gets_that_players_deal(game: str, me: str, options: dict[str, Any]) -> None:
    for first in range(3):
        players = {"players": "random", "player": {me: "greedy"}}
        wanted = simcore.replay(game, seed=7, first=first, **players, **options)[0]
        table = session(game, me, first, others="random", **options)
        mine = answers(wanted, me)
        while table.kind is not None:
            if table.kind in ("first", "second", "play"):
                table.act(mine[table.kind][int(table.view.tricks_played)])
            else:  # calls that were forced were not asked for
                while mine[table.kind][0] not in table.legal:
                    mine[table.kind].pop(0)
                table.act(mine[table.kind].pop(0))
        assert table.trace() == wanted


@pytest.mark.parametrize(("game", "me", "options"), GAMES)
def test_traces_keep_the_rules_and_undo_forgets(game: str, me: str, options: dict[str, Any]) -> None:
    plain, wavering = session(game, me, 5, **options), session(game, me, 5, **options)
    assert not wavering.undo()
    step = 0
    while plain.kind is not None:
        assert (plain.kind, plain.legal, plain.decisions) == (wavering.kind, wavering.legal, wavering.decisions)
        choice = plain.legal[step % len(plain.legal)]
        if step % 3 == 0:  # something else first, then back
            wavering.act(wavering.legal[-1 - step % len(wavering.legal)])
            assert wavering.undo()
        plain.act(choice)
        wavering.act(choice)
        step += 1
    assert wavering.trace() == plain.trace()
    verify(plain.trace())
    for _ in range(step):
        assert wavering.undo()
    assert wavering.decisions == 0
    assert not wavering.undo()


def test_bad_answers_say_why() -> None:
    table = session("elections", "S", 3, contract="hearts-spades", dealer="N", declarer="E", pairs="NE")
    held = table.legal[0]
    while table.kind is not None and len(table.legal) == len(simcore.Hand(int(table.view.hand))):
        table.act(held)
        held = table.legal[0]
    illegal = next(card for card in map(str, _cards(int(table.view.hand))) if card not in table.legal)
    for text, says in (
        (illegal, "must be followed (E13)"),
        ("ZZ", "is not a card"),
        ("", "is not a card"),
        ("pass", "is not a card"),
    ):
        with pytest.raises(BadInput, match="accepted") as error:
            table.act(text)
        assert says in str(error.value)
    foreign = next(card for card in map(str, _cards(~int(table.view.hand) & 0x1FFF1FFF1FFF1FFF)))
    with pytest.raises(BadInput, match="do not hold"):
        table.act(foreign)
    for bad in ({"contract": "all"}, {}):
        with pytest.raises(BadInput):
            session("elections", "S" if bad else "X", **bad)
    with pytest.raises(BadInput, match="trump 'all'"):
        session("showcase", "S", trump="all")


def _cards(mask: int) -> list[str]:
    from simcore.cards import format_card

    return [format_card(bit) for bit in range(64) if mask >> bit & 1]


def test_a_failing_player_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def bad_play(view, rules, stream):\n    raise ValueError('no idea')\n")

    def play() -> None:
        table = session("elections", "S", others=f"greedy+{path}:bad", contract="nt-most")
        while table.kind is not None:
            table.act(table.legal[0])

    with pytest.raises(PlayerError, match="no idea"):
        play()


# The command


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stdin: Any, *args: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.stdin", stdin if not isinstance(stdin, str) else io.StringIO(stdin))
    monkeypatch.setattr("sys.argv", ["simcore", *args])
    with pytest.raises(SystemExit) as stop:
        main(list(args))
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.mark.parametrize(("game", "me", "options"), [GAMES[0], GAMES[1], GAMES[4], GAMES[5]])
def test_a_deal_from_a_pipe(
    game: str, me: str, options: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = session(game, me, 1, others="expert", **options)
    lines = ["help", "undo", "nonsense", "", "show"]
    while table.kind is not None:
        lines.append(table.legal[-1])
        table.act(table.legal[-1])
    path = tmp_path / "deal.jsonl"
    args = ["play", game, "--me", me.lower(), "--seed", "7", "--first", "1", "--save", str(path)]
    args += [word for key, value in options.items() for word in (f"--{key}", value)]
    for times in (1, 2):
        status, out, err = run(capsys, monkeypatch, "\n".join(lines) + "\n", *args)
        assert status == 0, err
        traces = [json.loads(line) for line in path.read_text().splitlines()]
        assert traces == [table.trace()] * times
    assert "There is nothing to take back." in out
    assert "'nonsense' is not" in out
    assert "Traceback" not in err
    status, out, _ = run(capsys, monkeypatch, "", "replay", "--trace", str(path))
    assert status == 0


def test_only_what_the_seat_may_see_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first card only the own hand's cards are on the screen."""
    deal = simcore.deal_hands(7, 2, 1)[0]
    args = ("play", "elections", "--me", "S", "--seed", "7", "--first", "2", "--contract", "nt-most", "--declarer", "E")
    status, out, _ = run(capsys, monkeypatch, "quit\n", *args, "--save", str(tmp_path / "x"))
    assert status == 130
    shown = out.split("your hand:")[1].splitlines()[0].replace("[", "").replace("]", "").replace("10", "T").split()
    cards, suit = set(), ""
    for word in shown:
        if word in "♠♥♦♣SHDC":
            suit = {"♠": "S", "♥": "H", "♦": "D", "♣": "C"}.get(word, word)
        else:
            cards.add(suit + word)
    assert cards == set(_cards(int(deal[2])))
    assert not (tmp_path / "x").exists()


class _Interrupting(io.StringIO):
    def readline(self, size: int | None = -1, /) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize("stdin", ["", "pass\n", "quit\n", _Interrupting()])
def test_leaving_is_clean(stdin: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, monkeypatch, stdin, "play", "elections", "--me", "S")
    assert status == 130
    last = err.strip().splitlines()[-1]
    assert last.startswith("simcore: the deal was left; to play it again: simcore play elections --me S --seed ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "status", "says"),
    [
        (["elections", "--me", "X"], 2, "seat 'X'"),
        (["showcase", "--me", "E"], 2, "seat 'E'"),
        (["elections", "--me", "S", "--player", "S=greedy"], 2, "your own seat"),
        (["elections", "--me", "S", "--others", "nobody"], 2, "'nobody'"),
        (["elections", "--me", "S", "--contract", "all"], 2, "'all' is not one deal"),
        (["elections", "--me", "S", "--save", "/nowhere/x"], 1, "'/nowhere/x' cannot be written"),
    ],
)
def test_bad_use(
    args: list[str], status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _, err = run(capsys, monkeypatch, "", "play", *args)
    assert found == status
    assert says in err
