"""A run's folder: what is adopted, what is refused, what --repair does, and what the manifest costs."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import simcore
from simcore.batches import partfile as partfile_module
from simcore.batches import parts as parts_module
from simcore.batches.config import Config, make_config
from simcore.batches.partfile import describe_part, part_name, part_paths
from simcore.batches.parts import PartMaker, Plan, write_part
from simcore.batches.replaying import config_of_run
from simcore.batches.run import run_simulation
from simcore.batches.store import MANIFEST, Store, read_manifest, read_run
from simcore.errors import BadInput, RunError

SEED = 31


@pytest.fixture(scope="module")
def run_of_five(tmp_path_factory: pytest.TempPathFactory) -> tuple[Config, Path]:
    """A finished run of five parts of 512 rows, to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        _cut_small(patch)
        config = make_config("elections", seed=SEED, deals=2400, contract="nt-most", rounds=False)
        folder = tmp_path_factory.mktemp("store") / "run"
        run_simulation(config, out=folder, threads=1)
    return config, folder


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_small(monkeypatch)


def _cut_small(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(parts_module, "PART_ROWS", 1 << 9)
    patch.setattr(parts_module, "GROUP_ROWS", 1 << 7)


@pytest.fixture
def case(run_of_five: tuple[Config, Path], tmp_path: Path) -> tuple[Config, Path, dict[str, bytes]]:
    config, folder = run_of_five
    shutil.copytree(folder, tmp_path / "run")
    return config, tmp_path / "run", contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock" and ".aside" not in path.name}


def flip(path: Path, place: float, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 1 << bit
    path.write_bytes(data)


Case = tuple[Config, Path, dict[str, bytes]]


def test_a_lost_manifest_is_made_anew_out_of_the_parts(case: Case) -> None:
    config, folder, whole = case
    (folder / MANIFEST).unlink()
    notes: list[str] = []
    result = run_simulation(config, out=folder, note=notes.append)
    assert result.deals_played == 0
    assert contents(folder) == whole
    assert notes == ["manifest.json is missing and made anew out of the parts"]


def test_any_missing_part_is_made_when_nothing_lists_it(case: Case) -> None:
    config, folder, whole = case
    (folder / MANIFEST).unlink()
    for number in (0, 3):
        (folder / part_name(number)).unlink()
    assert run_simulation(config, out=folder, threads=2, writers=2).deals_played == 1024
    assert contents(folder) == whole


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("place", [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999999])
def test_a_damaged_part_is_named_and_made_anew_only_by_repair(case: Case, place: float, listed: bool) -> None:
    config, folder, whole = case
    flip(folder / part_name(2), place)
    if not listed:
        (folder / MANIFEST).unlink()
    before = contents(folder)
    with pytest.raises(RunError, match=r"'part-00002.parquet': its? .*accepted: --repair"):
        run_simulation(config, out=folder)
    assert contents(folder) == before
    notes: list[str] = []
    result = run_simulation(config, out=folder, repair=True, note=notes.append)
    assert result.deals_played == 512
    assert contents(folder) == whole
    assert "part 'part-00002.parquet' is computed again" in notes[-1]
    assert (folder / "part-00002.parquet.aside").read_bytes() == before["part-00002.parquet"]


def test_every_flipped_byte_of_an_unlisted_part_is_found(case: Case) -> None:
    """What is not found is of the footer, and changes nothing that is read."""
    config, folder, _ = case
    with PartMaker(config, 1) as maker:
        schema = maker.schema
    (folder / MANIFEST).unlink()
    path = folder / part_name(1)
    good = path.read_bytes()
    table = pq.read_table(path)
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    missed: list[int] = []
    for place in range(0, len(good), len(good) // 150):
        path.write_bytes(good)
        flip(path, place / len(good), bit=3)
        try:
            Store(folder, config, schema=schema).close()
        except RunError:
            continue
        assert place > footer
        missed.append(place)
        assert pq.read_table(path).equals(table, check_metadata=True)
    assert len(missed) < 60


def test_several_bad_parts_are_all_named(case: Case) -> None:
    config, folder, whole = case
    flip(folder / part_name(0), 0.5)
    (folder / part_name(4)).unlink()
    shutil.copy(folder / part_name(1), folder / part_name(3))
    with pytest.raises(RunError) as caught:
        run_simulation(config, out=folder)
    for words in (
        "'part-00000.parquet': it is damaged",
        "'part-00003.parquet': it is damaged",
        "'part-00004.parquet': it is missing",
    ):
        assert words in str(caught.value)
    run_simulation(config, out=folder, repair=True)
    assert contents(folder) == whole


def test_a_part_of_the_same_run_under_another_number_is_refused(case: Case) -> None:
    config, folder, whole = case
    (folder / MANIFEST).unlink()
    shutil.copy(folder / part_name(1), folder / part_name(7))
    with pytest.raises(RunError, match=r"'part-00007.parquet': it is part number 1"):
        run_simulation(config, out=folder)
    run_simulation(config, out=folder, repair=True)
    assert contents(folder) == whole
    assert (folder / "part-00007.parquet.aside").exists()


def test_a_foreign_part_is_refused_and_kept_aside(case: Case, tmp_path: Path) -> None:
    config, folder, whole = case
    other = make_config("elections", seed=SEED + 1, deals=2400, contract="nt-most")
    (tmp_path / "other").mkdir()
    write_part(other, 2, tmp_path / "other")
    shutil.copy(tmp_path / "other" / part_name(2), folder / part_name(2))
    for name in (MANIFEST, None):
        if name:
            (folder / name).unlink()
        with pytest.raises(RunError, match=r"'part-00002.parquet': it (belongs to another run|is damaged)"):
            run_simulation(config, out=folder)
    run_simulation(config, out=folder, repair=True)
    assert contents(folder) == whole
    assert (folder / "part-00002.parquet.aside").read_bytes() == (tmp_path / "other" / part_name(2)).read_bytes()


def test_a_folder_of_another_run_without_manifest_shows_the_difference(case: Case) -> None:
    config, folder, _ = case
    (folder / MANIFEST).unlink()
    other = make_config("elections", seed=SEED + 1, deals=2400, contract="nt-most")
    before = contents(folder)
    for repair in (False, True):
        with pytest.raises(BadInput, match=f"another run: seed is '{SEED}' there and '{SEED + 1}' here"):
            run_simulation(other, out=folder, repair=repair)
    assert contents(folder) == before
    assert config_of_run(folder, first=7) == config_of_run(folder, first=7)
    assert read_run(folder)["config"] == config.describe()
    assert simcore.replay("elections", seed=SEED, first=7, contract="nt-most")


def test_a_damaged_manifest_needs_repair(case: Case) -> None:
    config, folder, whole = case
    (folder / MANIFEST).write_bytes(whole[MANIFEST][:300])
    with pytest.raises(RunError, match=r"is not JSON.*--repair"):
        run_simulation(config, out=folder)
    run_simulation(config, out=folder, repair=True)
    assert contents(folder) == whole


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["parts"].append(17),
        lambda m: m["parts"][0].update(name="../../etc/passwd"),
        lambda m: m["parts"][0].update(sha256=None),
        lambda m: m.update(config=[]),
        lambda m: m.update(parts={}),
        lambda m: m.pop("complete"),
    ],
)
def test_a_manifest_of_a_wrong_shape_is_one_clear_line(case: Case, change: Any) -> None:
    config, folder, whole = case
    manifest = json.loads(whole[MANIFEST])
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="is not a run's manifest"):
        read_manifest(folder)
    with pytest.raises(RunError, match="--repair"):
        run_simulation(config, out=folder)


def test_overwrite_removes_a_run_and_nothing_else(case: Case) -> None:
    _, folder, whole = case
    (folder / "mine.parquet").write_bytes(b"data of somebody")
    (folder / "part-1.parquet").write_bytes(b"not a part's name")
    other = make_config("elections", seed=1, deals=600, contract="nt-most")
    run_simulation(other, out=folder, overwrite=True)
    assert sorted(part_paths(folder)) == [0, 1]
    assert (folder / "mine.parquet").read_bytes() == b"data of somebody"
    assert (folder / "part-1.parquet").exists()
    assert contents(folder) != whole


def test_parts_written_elsewhere_in_any_order_make_the_same_folder(case: Case, tmp_path: Path) -> None:
    """What a distributed run does: numbers are given out, lines come back, the store lists them."""
    config, _, whole = case
    with Store(tmp_path / "cluster", config) as store:
        for number in (4, 0, 2, 3, 1):
            store.add_lines({number: write_part(config, number, store.folder)})
        assert list(store.missing(Plan.of(config).count)) == []
        store.write_manifest(complete=True)
    assert contents(tmp_path / "cluster") == whole


def test_the_plan_covers_every_index_once_and_grows_its_parts() -> None:
    for first, deals in ((0, 1), (5, 5003), (2**63 - 999, 999), (3, 10**7)):
        plan = Plan.of(make_config("elections", seed=1, first=first, deals=deals))
        edges = [plan.part(number) for number in range(plan.count)]
        assert edges[0][0] == first
        assert edges[-1][1] == first + deals
        assert all(a[1] == b[0] and a[1] % 8 == 0 for a, b in pairwise(edges))
        groups = [group for number in range(min(plan.count, 9)) for group in plan.groups(number)]
        assert groups[0][0] == first
        assert all(a[1] == b[0] for a, b in pairwise(groups))


def test_huge_runs_have_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    counts = {}
    for deals in (10**9, 10**10, 10**12):
        plan = Plan.of(make_config("elections", seed=1, deals=deals, contract="nt-most"))
        counts[deals] = (plan.count, plan.per_part)
    assert counts == {10**9: (954, 1 << 20), 10**10: (9537, 1 << 20), 10**12: (7451, 1 << 27)}
    plan = Plan.of(make_config("elections", seed=1, deals=10**12, contract="all"))
    assert plan.count == 59605
    assert Plan.of(make_config("elections", seed=1, first=0, deals=2**63 - 1)).part(10**9)[1] < 2**63


def test_the_manifest_is_not_written_over_and_over(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand parts mean some tens of manifests, whose sizes add up to a small multiple of the last one's."""
    config, _, whole = case
    line = json.loads(whole[MANIFEST])["parts"][0]
    written = []
    original = Store.write_manifest
    monkeypatch.setattr(Store, "write_manifest", lambda self, **kw: written.append(len(self.parts)) or original(self, **kw))
    with Store(tmp_path / "many", config) as store:
        for number in range(1000):
            store.add_lines({number: line | {"name": part_name(number)}})
    assert len(written) < 90
    assert sum(written) < 20 * 1000
    assert written[-1] > 900


def test_a_part_that_goes_while_it_is_described_is_gone_and_not_unreadable(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    config, folder, _ = case
    path = folder / part_name(2)

    def hash_and_lose(path: Path) -> str:
        path.unlink()
        return "0" * 64

    monkeypatch.setattr(partfile_module, "file_sha256", hash_and_lose)
    with pytest.raises(FileNotFoundError):
        describe_part(path, 2, config.hash)
