"""Whatever stands in a file or an option: a clean error of simcore's own, or it is read.  'make fuzz' tries far more of it."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.batches.config import make_config
from simcore.batches.partfile import part_name
from simcore.batches.parts import PartMaker, write_part
from simcore.batches.replaying import check_traces, config_of_run, replay
from simcore.batches.rounds import rounds_of
from simcore.batches.run import run_simulation
from simcore.batches.store import MANIFEST, Store
from simcore.batches.tables import hands_to_pbn
from simcore.cards import SEATS, parse_card, parse_hand
from simcore.deals.conditions import parse_condition
from simcore.deals.pbn import parse_deal, parse_partial_deal, read_deals
from simcore.errors import SimcoreError
from simcore.rules import SHIPPED, load_ruleset, parse_ruleset
from simcore.specs import parse_player

DEAL = "N:J32.T2.J97.J9842 QT954.AQ7.QT6.65 A876.KJ654.83.Q7 K.983.AK542.AKT3"
FILE = f'% PBN 2.1\n[Event "x"]\n[Deal "{DEAL}"]\n{{ a comment }}\n[Deal "S:{DEAL[2:]}"]\n; another\n{DEAL}\n'
CONDITION = "N.hcp >= 15 and (N.spades >= 5 or not S.balanced) and N.hearts + E.hearts == 7 and W has SA"
PLAYER = "greedy+expert+random"
SHIPPED_TEXTS = [load_ruleset(name).text for name in SHIPPED]

#: Characters that mean something somewhere, and some that never should.
LETTERS = st.text(st.sampled_from("AKQJT98765432.NESW:- shdc[]\"'{};%()=<>!+,#\n\t\x00\u2660\ufeff\U0001f0a1é0x_"), max_size=6)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([-1, 0, 2**31, 2**63, 2**64, 10**400]),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(-3, 60) | st.text(max_size=3), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
    st.sampled_from(["N", "SA", "clubs", "elections", "../../etc/passwd", "__import__('os')"]),
)


def reads(read: Callable[[], object]) -> None:
    """Either it is read, or the error is simcore's."""
    with contextlib.suppress(SimcoreError):
        read()


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """A good text with a few pieces cut out, put in or doubled; or no good text at all."""
    text = draw(st.sampled_from(texts) | st.text(max_size=60))
    for _ in range(draw(st.integers(1, 4))):
        a, b = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        b = min(b, a + draw(st.integers(0, 12)))
        text = text[:a] + draw(LETTERS | st.just(text[a:b] * 2) | st.just("")) + text[b:]
    return text


@st.composite
def altered(draw: st.DrawFn, documents: list[Any]) -> Any:
    """A good document with a few values replaced, taken away or put in, anywhere."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        at = document
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(at[key], dict | list) and at[key] and draw(st.integers(0, 4)):
                at = at[key]
                continue
            what = draw(st.sampled_from(["replace", "replace", "delete", "more"]))
            if what == "replace":
                at[key] = draw(ANYTHING)
            elif what == "delete":
                del at[key]
            elif isinstance(at, dict):
                at[draw(st.text(max_size=4))] = draw(ANYTHING)
            else:
                at.insert(key, draw(ANYTHING))
            break
    return document


# ------------------------------------------------------------------ text


@given(damaged([DEAL, "N:- - - -", "N:AK... QJ...", "N:AKQ.T98.75.65432 - - -"]))
def test_deals_and_hands(text: str) -> None:
    for seats in (SEATS, "NS"):
        reads(lambda seats=seats: parse_deal(text, seats, size=None))  # type: ignore[misc]
        reads(lambda seats=seats: parse_partial_deal(text, seats))  # type: ignore[misc]
    reads(lambda: parse_hand(text))
    reads(lambda: parse_card(text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=damaged([FILE]).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=80))
def test_files_of_deals(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "deals.pbn"
    path.write_bytes(data)
    reads(lambda: read_deals(path))


@given(damaged([CONDITION, "N.spades >= 7", "hcp(N) > 3", "not N.hearts in 3..5"]))
def test_conditions(text: str) -> None:
    reads(lambda: parse_condition(text, SEATS))
    reads(lambda: make_config("showcase", where=text, seed=1))


@settings(max_examples=max(15, settings.default.max_examples // 10))
@given(st.integers(1, 4000), st.sampled_from(["(", "not ", "N.hcp > 3 and ", "-", "N.hcp + "]))
def test_conditions_without_end(depth: int, word: str) -> None:
    reads(lambda: parse_condition(word * depth + "N.hcp > 3" + ")" * depth * (word == "("), SEATS))


@given(
    damaged([PLAYER, "greedy+my.py:ducker:limit=3", "random:depth=3", "tests/test_fuzz.py:nobody", "/dev/null:x", ".:x", "x.py"])
)
def test_players(text: str) -> None:
    for game in ("elections", "showcase"):
        reads(lambda game=game: parse_player(text, game))  # type: ignore[misc]


@given(damaged(SHIPPED_TEXTS))
def test_rulesets_as_text(text: str) -> None:
    reads(lambda: parse_ruleset(text, where="fuzz"))


def toml(value: Any) -> str:
    """Return a value as TOML wherever TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value) if isinstance(value, int | float) else json.dumps("" if value is None else value)


@given(st.data())
def test_rulesets_as_values(data: st.DataObject) -> None:
    import tomllib

    document = data.draw(altered([tomllib.loads(text) for text in SHIPPED_TEXTS]))
    reads(lambda: parse_ruleset("\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in document.items()), where="fuzz"))


# ------------------------------------------------------------------ traces


TRACES = [
    *replay("elections", seed=7, first=5, deals=2, players="greedy"),
    *replay("elections", seed=7, contract="clubs-reds"),
    *replay("showcase", seed=7, first=5),
    *replay("showcase", seed=7, ruleset="showcase-magri"),
]


@given(altered(TRACES))
def test_traces_as_values(trace: Any) -> None:
    reads(lambda: list(check_traces(iter([json.dumps(trace)]), "fuzz")))


@given(damaged([json.dumps(trace) for trace in TRACES]))
def test_traces_as_text(line: str) -> None:
    reads(lambda: list(check_traces(iter([line]), "fuzz")))


# ------------------------------------------------------------------ a run's folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fuzz") / "run"
    config = make_config("elections", seed=3, deals=64, player={"E": "greedy"}, hands=True)
    run_simulation(config, out=place, threads=1)
    return place


@given(data=st.data())
def test_manifests(data: st.DataObject, folder: Path) -> None:
    good = (folder / MANIFEST).read_text()
    try:
        text = data.draw(altered([json.loads(good)]).map(json.dumps) | damaged([good]))
        (folder / MANIFEST).write_bytes(text.encode("utf-8", "surrogatepass"))
        reads(lambda: config_of_run(folder))
        reads(lambda: Store(folder, make_config("elections", seed=3, deals=64, player={"E": "greedy"}, hands=True)).close())
    finally:
        (folder / MANIFEST).write_text(good)


@given(data=st.data())
def test_damaged_parts(data: st.DataObject, folder: Path) -> None:
    """Cut off, overwritten or written into: found, or not a byte of the table is another."""
    config = make_config("elections", seed=3, deals=64, player={"E": "greedy"}, hands=True)
    path, manifest = folder / part_name(0), (folder / MANIFEST).read_bytes()
    good = path.read_bytes()
    table = pq.read_table(path)
    try:
        (folder / MANIFEST).unlink()
        a = data.draw(st.integers(0, len(good)))
        cut = data.draw(st.integers(0, len(good) - a))
        path.write_bytes(good[:a] + data.draw(st.binary(max_size=20)) + good[a + cut :])
        with PartMaker(config, 1) as maker:
            try:
                Store(folder, config, schema=maker.schema).close()
            except SimcoreError:
                return
        assert pq.read_table(path).equals(table, check_metadata=True)
    finally:
        path.write_bytes(good)
        (folder / MANIFEST).write_bytes(manifest)


COLUMNS = st.sampled_from(["deal", "credit_n", "credit_e", "credit_s", "credit_w", "hand_n", "hand_e", "hand_s", "hand_w", "x"])
ARRAYS = st.sampled_from(
    [
        pa.array([3, 1, 2], pa.uint64()),
        pa.array([None, 1, 2], pa.int16()),
        pa.array([0.5, float("nan"), 2]),
        pa.array(["SA", "", None]),
        pa.array([[1], [], None]),
        pa.array([True, None, False]),
        pa.array([2**63, 2**64 - 1, 0], pa.uint64()),
        pa.array([None, None, None]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
    ]
)
TABLES = st.dictionaries(COLUMNS, ARRAYS, max_size=9).map(pa.table)


@given(TABLES)
def test_tables_of_a_wrong_shape(table: pa.Table) -> None:
    reads(lambda: rounds_of(table))
    reads(lambda: hands_to_pbn(table))


METADATA = st.fixed_dictionaries(
    {},
    optional={
        "simcore:part": st.sampled_from(["", "{}", "[]", "17", '{"number": 0}', "[" * 3000, '{"number": 1e999}', "\x00"]),
        "simcore:config": st.sampled_from(["{}", "[]", "null", "no JSON"]),
        "simcore:config_hash": st.sampled_from(["", "0" * 64, "é"]),
        "simcore:ruleset_text": st.text(max_size=4),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(table=TABLES, metadata=METADATA, own=st.booleans())
def test_parts_of_a_wrong_shape(table: pa.Table, metadata: dict[str, str], own: bool, tmp_path: Path) -> None:
    config = make_config("elections", seed=3, deals=64)
    if own:
        metadata = metadata | {"simcore:config_hash": config.hash, "simcore:config": json.dumps(config.describe())}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / part_name(0))
    with pytest.raises(SimcoreError):
        Store(tmp_path, config)
    reads(lambda: config_of_run(tmp_path))


def test_a_part_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / part_name(0)).mkdir()
    with pytest.raises(SimcoreError):
        Store(tmp_path, make_config("elections", seed=3, deals=64))
    (tmp_path / part_name(0)).rmdir()
    (tmp_path / part_name(0)).symlink_to(tmp_path / "nowhere")
    with pytest.raises(SimcoreError):
        Store(tmp_path, make_config("elections", seed=3, deals=64))
    (tmp_path / part_name(0)).unlink()
    assert write_part(make_config("elections", seed=3, deals=64), 0, tmp_path)["rows"] == 64


# ------------------------------------------------------------------ nothing in data is run


def test_nothing_evaluates_or_unpickles() -> None:
    """What is read is parsed by grammars of our own, tomllib and json; only players' files and generated kernels are code.

    What goes to the workers of the user's own cluster is pickled (Dask does so with all its messages), and read by nobody else.
    """
    root = Path(__file__).parent.parent
    messages = {root / "simcore" / place for place in ("batches/cluster.py", "batches/sending.py", "choosing/sending.py")}
    word = re.compile(r"(?<![\w.])(eval|exec|__import__|literal_eval)\(|\b(pickle|marshal|yaml|shelve|allow_pickle)\b")
    lines = {
        f"{path.relative_to(root)}: {line.strip()}"
        for folder in ("simcore", "cli")
        for path in set((root / folder).rglob("*.py")) - messages
        for line in path.read_text("utf-8").splitlines()
        if word.search(line)
    }
    assert lines == set()
