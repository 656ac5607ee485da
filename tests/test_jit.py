"""The kernel cache: fresh after any change of a source, shared by processes, dispensable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numba
import pytest
from oracles import ROOT, run_python

from simcore import _jit

#: A kernel whose callee and whose callee's constant stand in another file, bits.py; 0.2 s to compile.
KERNEL = """
import numpy as np
from simcore import _jit
from simcore.tricks import trick_winner
assert _jit.JIT == hasattr(trick_winner, "overloads")
print(trick_winner(np.uint64(0b1011), np.uint64(0x1FFF), np.uint64(0), False), _jit.cache_is_cold())
"""
FACTS = "from simcore import _jit; print(_jit.fingerprint(), _jit.cache_directory(), _jit.cache_is_cold())"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package whose sources a test may change."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "simcore", root / "simcore", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def cached(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file of a cache with its size and time of writing."""
    files = [path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")]
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def test_a_second_process_compiles_nothing_and_a_change_elsewhere_compiles_afresh(copy: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    env = {"SIMCORE_CACHE_DIR": str(cache)}
    assert run_python(KERNEL, copy, env).split() == ["8", "False"]
    before = cached(cache)
    assert any(name.endswith(".nbc") for name in before)
    assert run_python(KERNEL, copy, env).split() == ["8", "False"]
    assert cached(cache) == before, "the second process wrote nothing: it found every kernel"

    # a callee's constant in another file: the highest card is now the one below the highest bit
    original = (copy / "simcore" / "bits.py").read_text()
    change(copy / "simcore" / "bits.py", "_TOP = np.uint64(1 << 63)", "_TOP = np.uint64(1 << 62)")
    assert run_python(KERNEL, copy, env).split() == ["4", "False"]
    assert run_python(KERNEL, copy, env | {"NUMBA_DISABLE_JIT": "1"}).split()[0] == "4"
    assert before.items() < cached(cache).items()

    # a callee's code
    (copy / "simcore" / "bits.py").write_text(original)
    change(copy / "simcore" / "bits.py", "return _TOP >> np.uint64(clz(x))", "return x & (ZERO - x)")
    assert run_python(KERNEL, copy, env).split() == ["1", "False"]

    # and back: the old machine code is right again, and still there
    (copy / "simcore" / "bits.py").write_text(original)
    between = cached(cache)
    assert run_python(KERNEL, copy, env).split() == ["8", "False"]
    assert cached(cache) == between


def test_two_processes_at_once_on_a_cold_cache(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT), "SIMCORE_CACHE_DIR": str(tmp_path / "cache")}
    running = [
        subprocess.Popen([sys.executable, "-c", KERNEL], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in running:
        out, errors = process.communicate(timeout=1800)
        assert (process.returncode, out.split()) == (0, ["8", "False"]), errors


def test_an_unwritable_cache_directory_is_done_without(tmp_path: Path) -> None:
    """A file where the directory should be: unwritable for every user, also for root."""
    (tmp_path / "file").write_text("")
    env = {"SIMCORE_CACHE_DIR": str(tmp_path / "file" / "cache")}
    assert run_python(KERNEL, env=env).split() == ["8", "True"]
    assert run_python(FACTS, env=env).split()[1:] == ["None", "True"]


def test_where_the_cache_is_kept(tmp_path: Path) -> None:
    """SIMCORE_CACHE_DIR, else NUMBA_CACHE_DIR, else the user's cache directory, else a temporary one."""
    a, b, c, d = (tmp_path / name for name in "abcd")
    empty = {"SIMCORE_CACHE_DIR": "", "NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "", "TMPDIR": str(tmp_path)}
    full = {"SIMCORE_CACHE_DIR": str(a), "NUMBA_CACHE_DIR": str(b), "XDG_CACHE_HOME": str(c), "HOME": str(d)}
    code = (
        "import os\nfrom pathlib import Path\nfrom simcore import _jit\n"
        "for name, value in eval(os.environ['STEPS']):\n"
        "    os.environ[name] = value\n"
        "    _jit.cache_directory.cache_clear()\n"
        "    print(_jit.cache_directory().parent)\n"
    )
    steps = [("_", ""), *((name, "") for name in full)]
    found = run_python(code, env=empty | full | {"STEPS": repr(steps)}).split()
    assert found[:2] == [str(a), str(b)]
    assert found[2:4] == [str(c / "simcore"), str(d / ".cache" / "simcore")]
    assert Path(found[4]).parent == tmp_path
    assert Path(found[4]).name.startswith("simcore-cache-")
    owner_only = [path for base in (a, b) for path in base.iterdir()]
    assert [path.stat().st_mode & 0o777 for path in owner_only] == [0o700, 0o700]


def test_a_directory_of_somebody_else_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is machine code: where another user owns the directory, nothing is loaded from it."""
    monkeypatch.setenv("SIMCORE_CACHE_DIR", str(tmp_path))
    directory = _jit.cache_directory.__wrapped__
    assert directory() == tmp_path / _jit.fingerprint()
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert directory() is None


def test_the_fingerprint_depends_on_kernel_sources_and_nothing_above_them(copy: Path) -> None:
    root = copy / "simcore"
    code = (
        "import os\nfrom pathlib import Path\nfrom simcore import _jit\n"
        "seen = [_jit.fingerprint()]\n"
        "def note():\n    _jit.fingerprint.cache_clear()\n    seen.append(_jit.fingerprint())\n"
        "root = Path(_jit.__file__).parent\n"
        "for name in eval(os.environ['FILES']):\n"
        "    path = root / name\n    path.write_text((path.read_text() if path.exists() else '') + '# changed\\n')\n    note()\n"
        "os.environ.clear()\nnote()\n"
        "(root / 'cards.py').rename(root / 'cards2.py')\nnote()\n"
        "print(*seen)\n"
    )
    kernels = ["rng.py", "_jit.py", "deals/shuffle.py", "elections/play.py", "a_new_file.py"]
    above = ["batches/run.py", "choosing/race.py", "searchers/__init__.py"]
    assert all((root / name).exists() for name in [*kernels[:-1], *above])
    seen = run_python(code, copy, {"FILES": repr(kernels + above)}).split()
    assert len(seen) == 1 + 5 + 3 + 1 + 1
    changed = [a != b for a, b in pairwise(seen)]
    assert changed == [True] * 5 + [False] * 3 + [False, True]
    layered = code.replace("fingerprint()", "fingerprint('sampling')").replace(
        "(root / 'cards.py').rename(root / 'cards2.py')\nnote()\n", ""
    )
    seen = run_python(layered, copy, {"FILES": repr(["rng.py", "sampling/unseen.py", "searchers/perfect.py"])}).split()
    assert [a != b for a, b in pairwise(seen)][:3] == [True, True, False], "kernels of the searching players have their own"
    assert all(len(fingerprint) == 16 and set(fingerprint) <= set("0123456789abcdef") for fingerprint in seen)


def test_without_jit_kernels_are_plain_functions_that_wrap_in_silence() -> None:
    code = """
import numpy as np
from simcore import _jit, rng
from simcore.bits import lowest_bit
assert not _jit.JIT and not _jit.cache_is_cold() and not hasattr(lowest_bit, "overloads")
print(lowest_bit(np.uint64(12)), *rng.philox(*[np.uint64(2**64 - 1)] * 6))
"""
    compiled = code.replace("not _jit.JIT and not _jit.cache_is_cold() and not hasattr", "_jit.JIT and hasattr")
    assert run_python(code, env={"NUMBA_DISABLE_JIT": "1"}) == run_python(compiled)


def test_a_run_does_not_import_linear_algebra_and_kernels_that_need_it_still_can() -> None:
    code = """
import sys
import numba, numpy as np
from simcore import _jit
from simcore.bits import lowest_bit
lowest_bit(np.uint64(12))
before = "scipy.linalg" in sys.modules

@numba.njit
def corner(a):
    return (a @ a)[0, 0]

print(before, corner(2 * np.eye(2)))
"""
    assert run_python(code).split() == ["False", "4.0"]


@pytest.mark.skipif(not _jit.JIT, reason="nothing is compiled")
def test_time_spent_compiling_is_told() -> None:
    kernel = numba.njit(lambda x: x + 1)
    with _jit.compiler_watched() as seconds:
        assert seconds() == 0
        kernel(1)
        spent = seconds()
        assert spent > 0
        kernel(2)
        assert seconds() == spent
