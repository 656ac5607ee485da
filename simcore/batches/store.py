"""A run's folder: parts, manifest, lock.  Nothing half-written is ever visible under its final name.

    DIR/part-00000.parquet …   complete or not there, in any order of appearance
    DIR/rounds.parquet         simulate --rounds
    DIR/manifest.json          what the run is (config, ruleset) and which parts are complete (rows, bytes, SHA-256, tallies)
    DIR/.lock                  held while a run writes; the kernel drops it with the process

In an object store (places.py) there is no lock, and no need of temporary names; whoever runs the same config twice at a time there
does the same work twice, with the same bytes.

Files appear whole, and every part tells what it is (partfile.py).  So a part whose manifest was not yet written is adopted, and a
lost manifest is made anew out of the parts.  Neither clock nor host name is stored, so the same config gives the same bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simcore.batches.beside import leftover_files
from simcore.batches.partfile import (
    PART,
    TEMPORARY,
    BadPart,
    check_part,
    first_line,
    open_parquet,
    part_name,
    part_paths,
    put_part,
    stored_schema,
    sync_folder,
    write_atomically,
)
from simcore.batches.places import BucketPath, Place, open_bucket
from simcore.errors import BadInput, RunError
from simcore.rules import Ruleset

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MANIFEST", "Store", "Work", "command_of", "read_manifest", "read_run"]

MANIFEST = "manifest.json"
_ASIDE = ".aside"
_CHECKING_THREADS = 4
#: So many parts take a while to check.
_MANY_PARTS = 200


class Work(Protocol):
    """What a folder is filled with: a simulation's config, a problem to solve, a contest."""

    @property
    def ruleset(self) -> Ruleset: ...

    @property
    def hash(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...


def read_manifest(folder: Place) -> dict[str, Any]:
    """Read a run's manifest.

    Raises:
        BadInput: there is none, or it is no manifest.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"folder {str(folder)!r} holds no {MANIFEST}; accepted: one that --out of simulate, choose, compare or solve wrote"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"file {str(path)!r} cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:  # also what Python refuses to read, as numbers of 10,000 digits
        raise BadInput(f"file {str(path)!r} is not JSON: {first_line(error)}") from None
    wanted = {"config": dict, "config_hash": str, "parts": list, "ruleset_text": str, "complete": bool}
    for key, kind in wanted.items():
        if not isinstance(manifest, dict) or not isinstance(manifest.get(key), kind):
            raise BadInput(f"file {str(path)!r} is not a run's manifest: key {key!r} is missing or not a {kind.__name__}")
    for place, part in enumerate(manifest["parts"]):
        match = PART.fullmatch(part["name"]) if isinstance(part, dict) and isinstance(part.get("name"), str) else None
        if match is None or not isinstance(part.get("sha256"), str):
            raise BadInput(f"file {str(path)!r} is not a run's manifest: its part {place} has no name or SHA-256 of a part")
    return manifest


def read_run(folder: Place) -> dict[str, Any]:
    """Return what a folder's run is: its manifest, or where that is lost the same out of its first readable part.

    Raises:
        BadInput: the folder holds no run, or its manifest is damaged.
    """
    import pyarrow as pa

    if (folder / MANIFEST).exists() or not folder.is_dir():
        return read_manifest(folder)
    for path in part_paths(folder).values():
        with contextlib.suppress(OSError, ValueError, KeyError, RecursionError, pa.ArrowException):
            with open_parquet(path) as parquet:
                metadata = parquet.metadata.metadata or {}
            config = json.loads(metadata[b"simcore:config"])
            if isinstance(config, dict):
                texts = {key: metadata[f"simcore:{key}".encode()].decode() for key in ("config_hash", "ruleset_text")}
                return {"config": config, **texts, "complete": False, "parts": []}
    return read_manifest(folder)


class Store:
    """A run's folder, opened for writing under a lock.

    Args:
        folder: made if it is not there; or a place in an object store.
        work: what the run is.
        schema: of the parts, to compare those found with; None to compare the run's hash only.
        more: further keys of plain data for the manifest, which are no part of what the run is.
        overwrite: remove what an earlier run left.
        repair: set parts aside that are damaged or not this run's, so that they are missing; otherwise they are an error.
        note: told of everything out of the ordinary, a line each.

    ``parts`` has the manifest's line of every complete part by number, ``missing(count)`` tells which are to be made.

    Raises:
        BadInput: the folder holds another run.
        RunError: it cannot be used, another process is using it, or parts are damaged.
    """

    def __init__(
        self,
        folder: Place,
        work: Work,
        *,
        schema: pa.Schema | None = None,
        more: dict[str, Any] | None = None,
        overwrite: bool = False,
        repair: bool = False,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.folder = folder
        self.parts: dict[int, dict[str, Any]] = {}
        self._work = work
        self._hash = work.hash
        self._schema = None if schema is None else stored_schema(schema)
        self._more = more or {}
        self._note = note
        self._written = 0  # parts in the manifest on disk
        self._lock = self._locked()
        try:
            with self.failures():
                if overwrite:
                    self._remove()
                self._look_round(repair)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _locked(self) -> Any:
        if isinstance(self.folder, BucketPath):
            return open_bucket(self.folder)
        try:
            new = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
            if new:
                sync_folder(self.folder.parent)
            lock = open(self.folder / ".lock", "a")  # noqa: SIM115 (kept open for the run)
        except OSError as error:
            raise RunError(f"folder {str(self.folder)!r} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise RunError(
                f"folder {str(self.folder)!r} is in use by another run; accepted: a folder of its own for each"
            ) from None
        except OSError as error:
            lock.close()
            raise RunError(f"folder {str(self.folder)!r} cannot be locked: {error.strerror}") from None
        return lock

    def _remove(self) -> None:
        for path in [self.folder / MANIFEST, *leftover_files(self.folder), *part_paths(self.folder).values()]:
            path.unlink(missing_ok=True)

    def _look_round(self, repair: bool) -> None:
        """List the complete parts; refuse, or with ``repair`` set aside, the others."""
        self.remove_leftovers()
        listed = self._listed(repair)
        paths = part_paths(self.folder)
        bad = {number: "it is missing" for number in listed if number not in paths}

        def check(number: int) -> dict[str, Any] | BadPart:
            try:
                return check_part(paths[number], number, self._hash, self._schema, listed.get(number))
            except BadPart as error:
                return error

        if len(paths) >= _MANY_PARTS:
            self._note(f"{len(paths):,} parts are compared with their checksums")
        with ThreadPoolExecutor(_CHECKING_THREADS) as pool:
            found = dict(zip(paths, pool.map(check, paths), strict=True))
        foreign = [result for result in found.values() if isinstance(result, BadPart) and result.foreign is not None]
        if foreign and len(foreign) == len(found):
            raise BadInput(self._refusal(foreign[0].foreign or {}))
        for number, result in found.items():
            if isinstance(result, BadPart):
                bad[number] = str(result)
            else:
                self.parts[number] = result
        if not bad:
            return
        told = "; ".join(f"{part_name(number)!r}: {bad[number]}" for number in sorted(bad))
        if not repair:
            raise RunError(
                f"folder {str(self.folder)!r} has parts that cannot be used: {told}; "
                "accepted: --repair, which sets these aside and computes them again, or --overwrite"
            )
        for number in sorted(bad):
            aside = self._set_aside(paths[number]) if number in paths else None
            kept = f", kept as {aside.name!r}" if aside else ""
            self._note(f"part {part_name(number)!r} is computed again: {bad[number]}{kept}")

    def _listed(self, repair: bool) -> dict[int, dict[str, Any]]:
        """Return the manifest's line of each part that it lists."""
        path = self.folder / MANIFEST
        if not path.exists():
            if part_paths(self.folder):
                self._note(f"{MANIFEST} is missing and made anew out of the parts")
            return {}
        try:
            manifest = read_manifest(self.folder)
        except BadInput as error:
            if not repair:
                raise RunError(f"{error}; accepted: --repair, which makes it anew out of the parts, or --overwrite") from None
            aside = self._set_aside(path)
            self._note(f"{MANIFEST} is made anew out of the parts: {error}; kept as {aside.name!r}")
            return {}
        if manifest["config_hash"] != self._hash:
            raise BadInput(self._refusal(manifest["config"]))
        self._written = len(manifest["parts"])
        return {int(PART.fullmatch(part["name"])[1]): part for part in manifest["parts"]}  # type: ignore[index]

    def _set_aside(self, path: Place) -> Place:
        """Rename a file so that nothing takes it for the run's; nothing is lost."""
        taken = 0
        while (aside := path.with_name(f"{path.name}{_ASIDE}{taken or ''}")).exists():
            taken += 1
        path.rename(aside)  # type: ignore[arg-type]  # both of one kind
        if isinstance(self.folder, Path):
            sync_folder(self.folder)
        return aside

    def _refusal(self, other: dict[str, Any]) -> str:
        mine = self._work.describe()
        if command_of(mine) != command_of(other):
            return (
                f"folder {str(self.folder)!r} holds what {command_of(other)!r} made, not {command_of(mine)!r}; "
                "accepted: another folder, or --overwrite"
            )
        keys = [key for key in mine if mine[key] != other.get(key)]
        keys += [key for key in other if key not in mine]
        difference = ", ".join(f"{key} is {other.get(key)!r} there and {mine.get(key)!r} here" for key in keys)
        return (
            f"folder {str(self.folder)!r} holds another run: {difference or 'its manifest is damaged'}; "
            "accepted: the same options (to resume), another folder, or --overwrite"
        )

    @contextlib.contextmanager
    def failures(self) -> Iterator[None]:
        """Turn what the file system refuses into a RunError that names the folder."""
        try:
            yield
        except OSError as error:
            raise RunError(f"writing to {str(self.folder)!r} failed: {_told(error)}") from None

    def remove_leftovers(self) -> None:
        """Remove what writers that were killed have left half-written."""
        if isinstance(self.folder, Path):
            for leftover in self.folder.glob(f".*{TEMPORARY}"):
                leftover.unlink(missing_ok=True)

    def missing(self, count: int) -> Iterator[int]:
        """Yield the numbers of the parts 0 to ``count`` - 1 that are not complete."""
        return (number for number in range(count) if number not in self.parts)

    def path(self, number: int) -> Place:
        """Return where a part lies, or will."""
        return self.folder / part_name(number)

    def add_part(self, number: int, write: Callable[[Path], object]) -> None:
        """Write a part, by a :class:`PartFile` on the path that ``write`` gets, and list it."""
        self.add_lines({number: self.put_part(number, write)})

    def put_part(self, number: int, write: Callable[[Path], object]) -> dict[str, Any]:
        """Write a part; returns its line, which is to be listed.  Any thread may."""
        with self.failures():
            return put_part(self.folder, number, self._hash, write)

    def add_lines(self, lines: dict[int, dict[str, Any]]) -> None:
        """List parts that were written elsewhere, by :func:`describe_part`.

        The manifest on disk follows when it has a sixteenth more to tell, so that many parts do not mean writing it over and over;
        what it does not list yet is adopted when the run goes on.
        """
        self.parts |= lines
        if len(self.parts) - self._written > self._written // 16:
            self.write_manifest(complete=False)

    def write_manifest(self, *, complete: bool, more: dict[str, Any] | None = None) -> None:
        """Write the manifest as things stand.

        Args:
            complete: nothing is left to do.
            more: further keys of plain data, as a result.
        """
        head = {
            "config": self._work.describe(),
            "config_hash": self._hash,
            "ruleset_text": self._work.ruleset.text,
            "complete": complete,
        }
        lines = _manifest_lines(head | self._more | (more or {}), (self.parts[number] for number in sorted(self.parts)))
        with self.failures():
            write_atomically(self.folder / MANIFEST, lambda path: _write_lines(path, lines))
        self._written = len(self.parts)

    def close(self) -> None:
        """Release the lock."""
        if not isinstance(self._lock, BucketPath):
            self._lock.close()


def command_of(described: dict[str, Any]) -> str:
    """Return the command whose work is described, by the config in a manifest."""
    return "choose" if "about" in described else str(described.get("command", "simulate"))


def _told(error: OSError) -> str:
    """Return what the file system refused, in its own words: Arrow wraps them."""
    return os.strerror(error.errno) if error.errno else first_line(error)


def _manifest_lines(head: dict[str, Any], parts: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the manifest as JSON, a line a part."""
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    yield text.removesuffix("\n}") + ',\n "parts": ['
    comma = ""
    for part in parts:
        yield comma + "\n  " + json.dumps(part, ensure_ascii=False, allow_nan=False)
        comma = ","
    yield "\n ]\n}\n" if comma else "]\n}\n"


def _write_lines(path: Path, lines: Iterator[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
