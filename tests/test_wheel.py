"""The wheel, installed elsewhere, runs a simulation outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_wheel_runs_outside_the_checkout(tmp_path: Path) -> None:
    source = tmp_path / "source"
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listing.stdout.splitlines():  # a copy, so that building leaves nothing in the checkout
        if name.startswith(("simcore/", "cli/")) or "/" not in name:
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True, text=True)
    (wheel,) = tmp_path.glob("simcore-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"simcore/py.typed", "simcore/reports/page.css", "simcore/selfcheck/values.json"} <= set(names)
    assert {f"simcore/rulesets/{n}.toml" for n in ("elections", "elections-joint", "variety", "tricks", "showcase")} <= set(names)
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "data"))]
    site = tmp_path / "site"
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)], check=True, capture_output=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONPATH": str(site)}
    script = "import simcore, sys; print(simcore.__file__); from cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, "simulate", "elections", "--deals", "1000", "--seed", "3", "--out", "tables"],
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site))
    assert "1,000 deals" in done.stdout
    assert (elsewhere / "tables" / "part-00000.parquet").is_file()
    assert (elsewhere / "tables" / "manifest.json").is_file()
