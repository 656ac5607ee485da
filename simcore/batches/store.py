"""A run's directory: parts, manifest, lock.  Nothing half-written is ever visible under its final name.

    DIR/part-00000.parquet …   a fixed number of rows each, whatever the threads and chunks
    DIR/rounds.parquet         with --rounds
    DIR/manifest.json          what the run is (config, ruleset) and which parts are complete (rows, bytes, SHA-256, tallies)

A file is written under a temporary name, fsynced, renamed, and the folder fsynced.  Neither clock nor host name is stored, so the
same config gives the same bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from simcore.errors import BadInput, RunError
from simcore.rules import Ruleset

__all__ = ["MANIFEST", "Store", "read_manifest", "write_atomically"]

MANIFEST = "manifest.json"
_TEMPORARY = ".tmp"


class Work(Protocol):
    """What a folder is filled with: a simulation's config, or a problem to solve."""

    @property
    def ruleset(self) -> Ruleset: ...

    @property
    def hash(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` with a temporary path in the same folder, then make the file durable and rename it into place."""
    temporary = path.with_name(f".{path.name}{_TEMPORARY}")
    try:
        write(temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a run's manifest.

    Raises:
        BadInput: there is none, or it is no manifest.
    """
    path = Path(folder) / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"folder {str(folder)!r} holds no {MANIFEST}; accepted: a folder that 'simcore simulate --out' wrote"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"file {str(path)!r} cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"file {str(path)!r} is not JSON: {error}") from None
    wanted = {"config": dict, "config_hash": str, "parts": list, "ruleset_text": str, "complete": bool}
    for key, kind in wanted.items():
        if not isinstance(manifest, dict) or not isinstance(manifest.get(key), kind):
            raise BadInput(f"file {str(path)!r} is not a run's manifest: key {key!r} is missing or not a {kind.__name__}")
    return manifest


class Store:
    """A run's directory, opened for writing under a lock."""

    def __init__(self, folder: Path, config: Work, *, overwrite: bool = False) -> None:
        self.folder = folder
        self._config = config
        self.parts: list[dict[str, Any]] = []
        self._open(overwrite)

    def _open(self, overwrite: bool) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / ".lock", "a")  # noqa: SIM115 (kept open for the run: the kernel drops the lock with it)
        except OSError as error:
            raise RunError(f"folder {str(self.folder)!r} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise RunError(
                f"folder {str(self.folder)!r} is in use by another run; accepted: a folder of its own for each"
            ) from None
        try:
            self._look_round(overwrite)
        except BaseException:
            self.close()
            raise

    def _look_round(self, overwrite: bool) -> None:
        if overwrite:
            for path in [p for p in self.folder.iterdir() if p.name == MANIFEST or p.suffix == ".parquet"]:
                path.unlink()
        elif (self.folder / MANIFEST).exists():
            manifest = read_manifest(self.folder)
            if manifest["config_hash"] != self._config.hash:
                raise BadInput(
                    f"folder {str(self.folder)!r} holds another run: {self._difference(manifest['config'])}; "
                    "accepted: the same options (to resume), another folder, or --overwrite"
                )
            self._check_parts(manifest["parts"])
        self.adopt_parts()
        for leftover in self.folder.glob(f".*{_TEMPORARY}"):
            leftover.unlink()

    def _difference(self, other: dict[str, Any]) -> str:
        mine = self._config.describe()
        keys = [key for key in mine if mine[key] != other.get(key)]
        return ", ".join(f"{key} is {other.get(key)!r} there and {mine[key]!r} here" for key in keys) or "its manifest is damaged"

    def _check_parts(self, parts: list[dict[str, Any]]) -> None:
        for number, part in enumerate(parts):
            path = self.folder / self.part_name(number)
            if part.get("name") != path.name or not path.is_file():
                raise RunError(f"part {path.name!r} of {str(self.folder)!r} is missing; accepted: --overwrite to start anew")
            if file_sha256(path) != part.get("sha256"):
                raise RunError(f"part {path.name!r} of {str(self.folder)!r} is damaged: its SHA-256 is not the manifest's")
        self.parts = parts

    @staticmethod
    def part_name(number: int) -> str:
        """Return the file name of a part."""
        return f"part-{number:05d}.parquet"

    @contextlib.contextmanager
    def failures(self) -> Iterator[None]:
        """Turn what the file system refuses into a RunError that names the folder."""
        try:
            yield
        except OSError as error:
            raise RunError(f"writing to {str(self.folder)!r} failed: {error.strerror or error}") from None

    def add_part(self, write: Callable[[Path], object]) -> None:
        """Write the next part, then the manifest that names it."""
        path = self.folder / self.part_name(len(self.parts))
        with self.failures():
            write_atomically(path, write)
            self.adopt_parts()
            self.write_manifest(complete=False)

    def adopt_parts(self) -> None:
        """List complete parts that are not listed yet, by the facts in their own metadata: the one just written, or one that was
        written when the run was stopped before its manifest."""
        import pyarrow.parquet as pq

        while (path := self.folder / self.part_name(len(self.parts))).is_file():
            try:
                metadata = pq.read_metadata(path).metadata or {}
                facts = json.loads(metadata[b"simcore:part"])
                known = metadata[b"simcore:config_hash"].decode() == self._config.hash
            except (OSError, ValueError, KeyError) as error:
                raise RunError(f"part {path.name!r} of {str(self.folder)!r} is damaged: {error}") from None
            if not known:
                raise BadInput(f"part {path.name!r} of {str(self.folder)!r} belongs to another run; accepted: --overwrite")
            size = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
            self.parts.append(
                {"name": path.name} | {key: facts[key] for key in ("first", "deals", "rows")} | size | {"tally": facts["tally"]}
            )

    def write_manifest(self, *, complete: bool) -> None:
        """Write the manifest as things stand."""
        manifest = {
            "config": self._config.describe(),
            "config_hash": self._config.hash,
            "ruleset_text": self._config.ruleset.text,
            "complete": complete,
            "parts": self.parts,
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        with self.failures():
            write_atomically(self.folder / MANIFEST, lambda path: path.write_bytes(text.encode()))

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()
