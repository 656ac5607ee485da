"""The README's code blocks run, in a folder of their own, as a newcomer would run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip()
    for kind, block in BLOCKS
    if kind == "console"
    for line in block.splitlines()
    if line.startswith("simcore ")
]


def _run(argv: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=1800)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(Path(__file__).parent.parent / "docs/examples/ducker.py", folder / "my_player.py")
    return folder


def test_commands_then_python_blocks(folder: Path) -> None:
    """Every simcore line in order, then every Python block; the run that the blocks read is made by the line before them."""
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        words = shlex.split(command)
        target = None
        if ">" in words:
            target = folder / words[words.index(">") + 1]
            words = words[: words.index(">")]
        done = _run([sys.executable, "-m", "cli.main", *words[1:]], folder)
        # nobody is there to play: the game ends with its input
        assert done.returncode == (130 if words[1] == "play" else 0), (command, done.stderr)
        if target is not None:
            target.write_text(done.stdout)
    pythons = [block for kind, block in BLOCKS if kind == "python"]
    assert len(pythons) == 2
    assert len(pythons[0].strip().splitlines()) <= 12
    for block in pythons:
        done = _run([sys.executable, "-W", "ignore", "-c", block], folder)
        assert done.returncode == 0, done.stderr
        assert "nan" not in done.stdout.lower()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of Dask's against pandas
def test_the_tables_of_a_large_run_are_read_as_its_manual_says(tmp_path: Path) -> None:
    """DuckDB, Polars and Dask agree with the run's own summary; a folder in the place of the object store."""
    import ast

    import duckdb

    import simcore

    run = simcore.simulate("elections", deals=4000, seed=1, contract="random", rounds=True, out=tmp_path / "run")
    expected = {row["contract"]: row["mean_attackers"] for row in run.summary().to_pylist()}
    text = (Path(__file__).parent.parent / "docs/scale.md").read_text("utf-8")
    blocks = re.findall(r"```\n(.*?)```", text.split("## Reading the tables")[1], re.DOTALL)
    sql, *programs = [block.replace("s3://bucket", str(tmp_path)) for block in blocks]
    rows = duckdb.sql(shlex.split(sql)[2]).fetchall()
    found = [{contract: mean for contract, _, mean in rows}]
    assert sum(count for _, count, _ in rows) == 4000
    for program in programs:
        if "dask" in program:
            pytest.importorskip("dask.dataframe", reason="needs the extra 'cluster'")
        lines = ast.parse(program).body
        assert isinstance(lines[-1], ast.Expr)
        names: dict[str, object] = {"Client": lambda address: None}
        steps = [line for line in lines[:-1] if "Client" not in ast.unparse(line) or "import" not in ast.unparse(line)]
        exec(compile(ast.Module(steps, []), "scale.md", "exec"), names)
        value = eval(compile(ast.Expression(lines[-1].value), "scale.md", "eval"), names)
        found.append(dict(value.rows()) if hasattr(value, "rows") else dict(value))
    assert len(found) == 3
    for means in found:
        assert means == pytest.approx(expected)
