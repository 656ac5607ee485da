"""Players from files: by pointer, compiled in, in plain Python; everything they can do wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simcore
from simcore.batches.config import make_config
from simcore.batches.replaying import config_of_run, replay_config, verify
from simcore.elections import state as elections_state
from simcore.elections.lanes import VIEWS
from simcore.errors import BadInput, PlayerError, PlayerStuck
from simcore.showcase import state as showcase_state
from tests import naive

ROOT = Path(__file__).parent.parent
DUCKER = f"{ROOT / 'docs/examples/ducker.py'}:ducker"
LOWLY = f"{ROOT / 'docs/examples/lowly.py'}:lowly"
HOARDER = f"{ROOT / 'docs/examples/hoarder.py'}:hoarder"

SAME = '''
"""The built-in players once more, as plug-ins."""
from numba import njit
import numpy as np
import simcore.elections.policies as elections
from simcore.elections.expert import expert_play as decide_one
from simcore.elections.expert_many import expert_many
from simcore.elections.lanes import QUESTIONS
import simcore.showcase.policies as showcase
from simcore.bits import nth_set_bit, popcount
from simcore.players import GREEDY, RANDOM


@njit
def greedy_call(view, rules, stream):
    return elections.decide(GREEDY, 0, view, rules, stream)


@njit
def greedy_contract(view, rules, stream):
    return elections.decide(GREEDY, 1, view, rules, stream)


@njit
def greedy_play(view, rules, stream):
    return elections.decide(GREEDY, 2, view, rules, stream)


@njit
def expert_play(view, rules, stream):
    return decide_one(view, rules)


@njit
def expert_play_many(views, rules):
    expert_many(views, rules, np.empty(1, QUESTIONS)[0])


@njit
def alone_play(view, rules, stream):
    return decide_one(view, rules)


@njit
def chance_call(view, rules, stream):
    return elections.decide(RANDOM, 0, view, rules, stream)


@njit
def chance_contract(view, rules, stream):
    return elections.decide(RANDOM, 1, view, rules, stream)


@njit
def chance_play(view, rules, stream):
    return elections.decide(RANDOM, 2, view, rules, stream)


@njit
def chance_first(view, rules, stream):
    return showcase.decide(RANDOM, 0, view, rules, stream)


@njit
def chance_trump(view, rules, stream):
    return showcase.decide(RANDOM, 1, view, rules, stream)


@njit
def chance_second(view, rules, stream):
    return showcase.decide(RANDOM, 2, view, rules, stream)
'''

SLOW = """
from simcore.rng import pick


def chance(view, stream):
    legal = int(view.legal)
    bits = [bit for bit in range(64) if legal >> bit & 1]
    return 1 << bits[pick(stream, len(bits))]


def chance_call(view, rules, stream):
    return chance(view, stream)


def chance_contract(view, rules, stream):
    return chance(view, stream)


def chance_play(view, rules, stream):
    return chance(view, stream)


def chance_first(view, rules, stream):
    return chance(view, stream)


def chance_trump(view, rules, stream):
    return chance(view, stream)


def chance_second(view, rules, stream):
    return chance(view, stream)
"""

FAULTY = """
import sys
import time

import numpy as np
from numba import njit
from simcore.bits import lowest_bit


@njit
def many_play(view, rules, stream):
    return lowest_bit(view.legal)


manyraiser_play = manyhanger_play = plain_play = many_play


@njit
def many_play_many(views, rules):
    for i in range(views.count):
        views.card[i] = lowest_bit(views.legal[i])
    if views.tricks_played == 3 and views.place == 2:
        views.card[70] = lowest_bit(views.unseen[70])


@njit
def manyraiser_play_many(views, rules):
    many_play_many(views, rules)
    if views.tricks_played == 2:
        raise ValueError("what now")


@njit
def manyhanger_play_many(views, rules):
    many_play_many(views, rules)
    number = np.uint64(1)
    while views.tricks_played == 3 and number != np.uint64(0):
        number += np.uint64(2)


def plain_play_many(views, rules):
    pass


@njit
def lonely_play_many(views, rules):
    pass


@njit
def untypedmany_play(view, rules, stream):
    return lowest_bit(view.legal)


@njit
def untypedmany_play_many(views, rules):
    views.card[0] = views.no_such_field


@njit
def stranger_play(view, rules, stream):
    return np.uint64(1 << 13) if view.tricks_played == 3 else lowest_bit(view.legal)


@njit
def revoker_play(view, rules, stream):
    return lowest_bit(view.hand)


@njit
def greedier_play(view, rules, stream):
    return view.legal


@njit
def none_play(view, rules, stream):
    return 0


@njit
def raiser_play(view, rules, stream):
    if view.tricks_played == 3:
        raise ValueError("what now")
    return lowest_bit(view.legal)


@njit
def hanger_play(view, rules, stream):
    number = np.uint64(1)
    while view.tricks_played == 3 and number != np.uint64(0):
        number += np.uint64(2)
    return lowest_bit(view.legal)


def lowest(view):
    return int(view.legal) & -int(view.legal)


def slowraiser_play(view, rules, stream):
    return lowest(view) if view.tricks_played != 3 else [][0]


def text_play(view, rules, stream):
    return "SA"


def floating_play(view, rules, stream):
    return float(lowest(view))


def negative_play(view, rules, stream):
    return -1


def huge_play(view, rules, stream):
    return 1 << 64


def writer_play(view, rules, stream):
    view.legal = 1
    return lowest(view)


def exiter_play(view, rules, stream):
    raise SystemExit(0)


def slowhanger_play(view, rules, stream):
    while view.tricks_played == 3:
        pass
    return lowest(view)


def slowhanger_call(view, rules, stream):
    while True:
        pass


def telling_play(view, rules, stream):
    while view.tricks_played == 3:
        print("hanging", file=sys.stderr, flush=True)
        time.sleep(1000)
    return lowest(view)


@njit
def untyped_play(view, rules, stream):
    return view.no_such_field


@njit
def textual_play(view, rules, stream):
    return "SA"


@njit
def fraction_play(view, rules, stream):
    return 1.5


@njit
def narrow_play(view):
    return view.legal


def strange_first(view, rules, stream):
    return 1 << 13


def strange_trump(view, rules, stream):
    return 64
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("players")
    for name, text in {
        "same": SAME,
        "slow": SLOW,
        "faulty": FAULTY,
        "broken": "x = 1\ny = 1 / 0\n",
        "syntax": "x = (\n",
        "leaver": "import sys\nsys.exit(0)\n",
    }.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def _rows(game: str, players: str, deals: int = 400, **options: object) -> list[dict[str, object]]:
    return simcore.simulate(game, deals=deals, seed=5, players=players, threads=1, **options).table().to_pylist()


# ------------------------------------------------------------------ the same as the player inside


@pytest.mark.parametrize("name", ["greedy", "chance"])
def test_by_pointer_elections_plays_as_the_built_in_player(files: Path, name: str) -> None:
    inside = "greedy" if name == "greedy" else "random"
    assert _rows("elections", f"{files / 'same.py'}:{name}") == _rows("elections", inside)
    assert _rows("elections", f"{files / 'same.py'}:{name}", contract="all") == _rows("elections", inside, contract="all")


@pytest.mark.parametrize("ruleset", ["elections", "elections-joint", "tricks"])
def test_many_deals_at_once_are_played_as_one_by_one(files: Path, ruleset: str) -> None:
    """``expert`` with and without ``expert_play_many``, and inside."""
    for contract in ("all", "random", simcore.load_ruleset(ruleset).contract_ids[0]):
        inside, many, alone = (
            _rows("elections", spec, contract=contract, ruleset=ruleset)
            for spec in ("expert", f"greedy+{files / 'same.py'}:expert", f"greedy+{files / 'same.py'}:alone")
        )
        assert many == alone == inside


def test_the_example_plays_many_deals_as_one_by_one() -> None:
    """Blocks that are full and one that is not, against traces, which are played one by one."""
    options = {"seed": 5, "contract": "all", "players": f"greedy+{LOWLY}"}
    rows = simcore.simulate("elections", deals=300, threads=1, **options).table().to_pylist()
    traces = simcore.replay("elections", first=250, deals=50, **options)
    assert [row["points_attackers"] for row in rows[8 * 250 :]] == [trace["side_points"]["attackers"] for trace in traces]
    assert [row["tricks_w"] for row in rows[8 * 250 :]] == [trace["tricks_won"]["W"] for trace in traces]


def test_by_pointer_showcase_plays_as_the_built_in_player(files: Path) -> None:
    assert _rows("showcase", f"{files / 'same.py'}:chance") == _rows("showcase", "random")
    assert _rows("showcase", f"{files / 'same.py'}:chance", trump="all") == _rows("showcase", "random", trump="all")


@pytest.mark.parametrize("game", ["elections", "showcase"])
def test_plain_python_plays_as_the_built_in_player(files: Path, game: str) -> None:
    assert _rows(game, f"{files / 'slow.py'}:chance", deals=24) == _rows(game, "random", deals=24)


def test_compiled_in_plays_as_the_built_in_player(files: Path) -> None:
    """Two players' functions in one copy of the kernels."""
    spec = f"{files / 'same.py'}:"
    options = {"N": f"{spec}greedy:specialise=1", "E": f"{spec}chance:specialise=1", "S": f"{spec}chance", "W": "greedy"}
    inside = {"N": "greedy", "E": "random", "S": "random", "W": "greedy"}
    assert _rows("elections", "random", player=options) == _rows("elections", "random", player=inside)


def test_one_part_of_a_player(files: Path) -> None:
    spec = f"greedy+{files / 'faulty.py'}:stranger"
    assert _rows("elections", f"{spec}+greedy") == _rows("elections", "greedy"), "a later part takes over again"
    with pytest.raises(BadInput, match=re.escape("does not know the decisions ['call', 'contract']")):
        make_config("elections", players=f"{files / 'faulty.py'}:stranger")


def test_threads_and_chunks_change_nothing(tmp_path: Path) -> None:
    for threads in (1, 2):
        simcore.simulate("showcase", deals=48, seed=3, players=f"greedy+{HOARDER}", threads=threads, out=tmp_path / str(threads))
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).glob("part*")} for name in "12")
    assert first == second
    assert first


# ------------------------------------------------------------------ the examples of the manual


@pytest.mark.parametrize(("game", "spec"), [("elections", DUCKER), ("elections", LOWLY), ("showcase", HOARDER)])
def test_examples_play_by_the_rules(game: str, spec: str) -> None:
    config = make_config(game, seed=11, deals=12, players=f"greedy+{spec}")
    for trace in replay_config(config):
        assert naive.check_trace(trace) == []
        verify(trace)


def test_ducker_ducks() -> None:
    """On the same deals the file's player takes fewer tricks than a random one, far beyond chance."""
    plain, ducking = (
        simcore.simulate("elections", deals=2000, seed=1, contract="nt-fewest", player={"N": spec}).table()
        for spec in ("random", f"random+{DUCKER}")
    )
    difference = np.asarray(plain["tricks_n"]).astype(int) - np.asarray(ducking["tricks_n"]).astype(int)
    assert difference.mean() > 8 * difference.std() / np.sqrt(len(difference))


def test_the_manual_names_every_field() -> None:
    text = (ROOT / "docs/plugins.md").read_text("utf-8")
    elections, rest = text.split("## What a Showcase player gets")
    showcase, many = rest.split("## Many deals at once")
    for part, view in ((elections, elections_state.VIEW), (showcase, showcase_state.VIEW), (many, VIEWS)):
        cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
        table = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
        wanted = set(view.names)
        assert wanted - table == set()
        assert {name for name in table if not name.startswith("NAME_")} - wanted == set()
    for command in re.findall(r"^simcore .*$", text, re.MULTILINE):
        line = [sys.executable, "-m", "cli.main", *command.split()[1:], "--deals", "8"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True)
        assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ what goes wrong while playing


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stranger", ["returned 0x2000, which is not exactly one of the legal", "trick 4, card "]),
        ("revoker", ["which is not exactly one of the legal", "decision 'play'"]),
        ("greedier", ["which is not exactly one of the legal"]),
        ("none", ["returned 0x0, which is not exactly one of the legal"]),
        ("raiser", ["raised ValueError: what now", "trick 4, card "]),
        ("slowraiser", ["raised IndexError: list index out of range", "trick 4, card "]),
        ("text", ["raised TypeError: 'str' object cannot be interpreted as an integer"]),
        ("floating", ["raised TypeError: 'float' object cannot be interpreted as an integer"]),
        ("negative", ["raised ValueError: returned -1, which is no mask of 64 bits"]),
        ("huge", ["raised ValueError: returned 18446744073709551616"]),
        ("writer", ["raised ValueError: assignment destination is read-only"]),
        ("exiter", ["raised SystemExit: 0"]),
        ("raiser:specialise=1", ["raised ValueError: what now", "trick 4, card "]),
    ],
)
def test_a_bad_answer_ends_the_run(files: Path, tmp_path: Path, name: str, words: list[str]) -> None:
    spec = f"greedy+{files / 'faulty.py'}:{name}"
    with pytest.raises(PlayerError) as caught:
        simcore.simulate("elections", deals=100, seed=1, first=1000, player={"S": spec}, contract="nt-most", out=tmp_path / "run")
    message = str(caught.value)
    place = re.search(r"deal (\d+), seat S, decision 'play', trick (\d+), card (\d)$", message)
    assert place is not None, message
    assert 1000 <= int(place[1]) < 1100
    for word in [f"faulty.py:{name.partition(':')[0]}'", *words]:
        assert word in message
    assert not list((tmp_path / "run").glob("part-*"))
    # the deal named is the one: replayed alone it fails alike, the deals before it do not
    options = {"seed": 1, "player": {"S": spec}, "contract": "nt-most"}
    if not name.endswith("specialise=1"):
        with pytest.raises(PlayerError, match=re.escape(message)):
            simcore.replay("elections", first=int(place[1]), **options)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("many", [r"which is not exactly one of the legal [CDHS2-9TJQKA ]+: deal 1070, seat [NESW], ", "trick 4, card 3$"]),
        ("manyraiser", ["raised ValueError: what now: deal 1000, seat [NESW], ", "trick 3, card 1$"]),
        ("manyhanger:limit=1.5", ["has not answered for 1.5 s: deal 1000, seat [NESW], ", "trick 4, card 1"]),
    ],
)
def test_a_bad_answer_in_many_deals_ends_the_run(files: Path, name: str, words: list[str]) -> None:
    spec = f"greedy+{files / 'faulty.py'}:{name}"
    line = [sys.executable, "-m", "cli.main", "simulate", "elections", "--first", "1000", "--deals", "100", "--seed", "1"]
    done = subprocess.run(
        [*line, "--contract", "nt-most", "--players", spec], cwd=ROOT, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 1, done.stderr
    for word in words:
        assert re.search(word, done.stderr.strip()), done.stderr
    assert "Traceback" not in done.stderr


def test_bad_answers_in_showcase(files: Path) -> None:
    for name, place in (("strange_first", "decision 'first', trick 1"), ("strange_trump", "decision 'trump'")):
        spec = f"greedy+{files / 'faulty.py'}:strange"
        player = {"N": spec, "S": spec} if name == "strange_first" else {"N": f"{spec}+{files / 'slow.py'}:chance", "S": spec}
        with pytest.raises(PlayerError, match="which is not exactly one of the legal") as caught:
            simcore.replay("showcase", seed=1, player=player)
        assert "deal 0, seat " in str(caught.value)
        if name == "strange_first":
            assert place in str(caught.value)


@pytest.mark.parametrize("name", ["hanger", "slowhanger"])
def test_no_answer_ends_the_program(files: Path, tmp_path: Path, name: str) -> None:
    """In a process of its own, as the thread cannot be stopped; the deals before are on disk, and the status is 1."""
    spec = f"greedy+{files / 'faulty.py'}:{name}:limit=1.5"
    for command in (
        ["simulate", "elections", "--deals", "100", "--out", str(tmp_path / name)],
        ["replay", "elections", "--deals", "20"],
    ):
        line = [sys.executable, "-m", "cli.main", *command, "--seed", "1", "--contract", "nt-most", "--player", f"E={spec}"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 1, done.stderr
        assert re.search(
            f"faulty.py:{name}' has not answered for 1.5 s: deal 1?[0-9], seat E, decision 'play', trick 4", done.stderr
        )
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["simulate", "elections", "--deals", "100"], ["replay", "elections", "--deals", "20"]])
def test_ctrl_c_ends_a_player_that_hangs(files: Path, command: list[str]) -> None:
    """Long before the player's limit; nothing is waited for."""
    spec = f"greedy+{files / 'faulty.py'}:telling:limit=3000"
    line = [sys.executable, "-m", "cli.main", *command, "--seed", "1", "--contract", "nt-most", "--player", f"E={spec}"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "hanging" not in (text := process.stderr.readline()):
            assert text, "ended before it hung"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=1800)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors


def test_no_answer_is_an_error_in_python(files: Path) -> None:
    code = (
        "import os, simcore\n"
        "from simcore.errors import PlayerStuck\n"
        f"spec = 'greedy+{files / 'faulty.py'}:slowhanger:limit=1.5'\n"
        "try:\n    simcore.simulate('elections', deals=64, seed=1, player={'E': spec})\n"
        "except PlayerStuck as error:\n    print(error, flush=True)\n    os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert "has not answered for 1.5 s: deal " in done.stdout
    assert "seat E, decision 'call'" in done.stdout
    assert issubclass(PlayerStuck, PlayerError)


# ------------------------------------------------------------------ what is refused before the start


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nowhere.py:x", ["player file 'nowhere.py' cannot be read: No such file or directory"]),
        ("{}/broken.py:x", ["broken.py', line 2: ZeroDivisionError: division by zero"]),
        ("{}/syntax.py:x", ["syntax.py', line 1: SyntaxError"]),
        (
            "{}/same.py:greedi",
            ["none of the functions greedi_call, greedi_contract, greedi_play", "it has: alone, chance, expert, greedy"],
        ),
        ("{}/same.py", ["none of the functions _call, _contract, _play"]),
        ("{}/broken.py/x.py:y", ["cannot be read: Not a directory"]),
        ("{}/same.py:greedy:speed=9", ["option 'speed' of player", "accepted: specialise, limit"]),
        ("{}/same.py:greedy:specialise=2", ["specialise '2' of player", "accepted: 0, 1"]),
        ("{}/same.py:greedy:limit=0", ["limit '0' of player", "accepted: seconds, more than 0, up to 86400"]),
        ("{}/same.py:greedy:limit=nan", ["limit 'nan' of player"]),
        ("{}/same.py:greedy:limit=1,limit=2", ["option 'limit' of player", "given twice"]),
        ("{}/slow.py:chance:specialise=1", ["needs @njit functions; chance_call is plain Python"]),
        ("greedy+{}/faulty.py:untyped", ["numba cannot compile untyped_play(view, rules, stream)", "no_such_field"]),
        ("greedy+{}/faulty.py:textual", ["numba cannot compile textual_play(view, rules, stream)"]),
        (
            "greedy+{}/faulty.py:fraction",
            ["numba cannot compile fraction_play(view, rules, stream): TypeError: it returns float64"],
        ),
        ("greedy+{}/faulty.py:narrow", ["numba cannot compile narrow_play(view, rules, stream)"]),
        ("greedy+{}/faulty.py:plain", ["plain_play_many needs plain_play beside it, both @njit functions"]),
        ("greedy+{}/faulty.py:untypedmany", ["numba cannot compile untypedmany_play_many(views, rules)", "no_such_field"]),
        ("greedy+{}/faulty.py:lonely", ["none of the functions lonely_call, lonely_contract, lonely_play"]),
        ("{}/leaver.py:x", ["leaver.py', line 2: SystemExit: 0"]),
        ("greedi", ["player 'greedi'", "FILE.py:NAME"]),
    ],
)
def test_bad_files_are_refused(files: Path, spec: str, words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        make_config("elections", players=spec.format(files))
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_run_knows_its_players_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SLOW)
    options = {"deals": 16, "seed": 2, "players": f"{file}:chance", "contract": "nt-most", "out": tmp_path / "run"}
    simcore.simulate("elections", **options)
    played = json.loads((tmp_path / "run" / "manifest.json").read_text())["config"]["player_files"]
    assert [len(digest) for digest in played.values()] == [64]
    assert config_of_run(tmp_path / "run").deals == 16
    file.write_text(SLOW + "# changed\n")
    with pytest.raises(BadInput, match="has other contents now in"):
        config_of_run(tmp_path / "run")
    with pytest.raises(BadInput, match="player_files"):
        simcore.simulate("elections", **options)


def test_the_command_says_what_is_slow(files: Path) -> None:
    line = [sys.executable, "-m", "cli.main", "simulate", "elections", "--deals", "8", "--players", f"{files / 'slow.py'}:chance"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert "slow.py:chance' is plain Python: thousands of times slower" in done.stderr


def test_without_jit_pointers_work_alike(files: Path) -> None:
    code = (
        f"import simcore\nspec = '{files / 'slow.py'}:chance'\n"
        "print(simcore.simulate('elections', deals=2, seed=5, players=spec, threads=1).table().to_pylist())\n"
    )
    env = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env=env, timeout=1800)
    assert done.stdout.strip() == str(_rows("elections", "random", deals=2)), done.stderr
