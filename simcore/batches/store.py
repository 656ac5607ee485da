"""A run's folder: parts, manifest, lock.  Nothing half-written is ever visible under its final name.

    DIR/part-00000.parquet …   complete or not there, in any order of appearance
    DIR/rounds.parquet         simulate --rounds
    DIR/manifest.json          what the run is (config, ruleset) and which parts are complete (rows, bytes, SHA-256, tallies)
    DIR/.lock                  held while a run writes; the kernel drops it with the process

In an object store (places.py) there is no lock, and no need of temporary names; whoever runs the same config twice at a time there
does the same work twice, with the same bytes.

A file is written under a temporary name, fsynced, renamed, and the folder fsynced.  Neither clock nor host name is stored, so the
same config gives the same bytes.

Every part tells in its own metadata what run it belongs to, which part it is, what its rows add up to and the SHA-256 of its data.
So a part whose manifest was not yet written is adopted, and a lost manifest is made anew out of the parts.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simcore.batches.beside import leftover_files
from simcore.batches.places import BucketPath, Place, file_size, open_bucket
from simcore.errors import BadInput, RunError
from simcore.rules import Ruleset

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "MANIFEST",
    "PartFile",
    "Store",
    "Work",
    "describe_part",
    "file_sha256",
    "open_parquet",
    "part_name",
    "part_paths",
    "put_part",
    "read_manifest",
    "read_run",
    "write_atomically",
]

MANIFEST = "manifest.json"
_FACTS = "simcore:part"
_TEMPORARY = ".tmp"
_ASIDE = ".aside"
_PART = re.compile(r"part-(\d{5,})\.parquet")
_BATCH_ROWS = 1 << 16
_CHECKING_THREADS = 4
#: So many parts take a while to check.
_MANY_PARTS = 200
#: A Parquet file ends with the length of its footer, four bytes, and four letters.
_TAIL = 8


class Work(Protocol):
    """What a folder is filled with: a simulation's config, a problem to solve, a contest."""

    @property
    def ruleset(self) -> Ruleset: ...

    @property
    def hash(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...


class _Bad(Exception):
    """A part is not what it should be; ``foreign`` where it belongs to another run."""

    def __init__(self, reason: str, foreign: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.foreign = foreign


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Place, write: Callable[[Path], object]) -> None:
    """Call ``write`` with a temporary path in the same folder, then make the file durable and rename it into place.

    For an object store the temporary path is on this machine.
    """
    if isinstance(path, BucketPath):
        with tempfile.TemporaryDirectory(prefix="simcore-") as scratch:
            local = Path(scratch) / path.name
            write(local)
            path.upload(local)
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{_TEMPORARY}")
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


def file_sha256(path: Place) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def part_name(number: int) -> str:
    """Return the file name of a part."""
    return f"part-{number:05d}.parquet"


def part_paths(folder: Place) -> dict[int, Place]:
    """Return the parts that are in a folder by number, in order."""
    found = ((_PART.fullmatch(path.name), path) for path in folder.iterdir())
    return dict(sorted((int(match[1]), path) for match, path in found if match and path.name == part_name(int(match[1]))))


@contextlib.contextmanager
def open_parquet(path: Place) -> Iterator[Any]:
    """Open a Parquet file for reading, also where its path cannot be written in the locale's characters: Arrow opens none such."""
    import pyarrow.parquet as pq

    with path.open("rb") as file, pq.ParquetFile(file) as parquet:
        yield parquet


class PartFile:
    """A part being written: row groups, and at the end what the part is.

    All bytes before Parquet's footer go through a digest, which the footer then holds together with the facts, so that a part can
    be checked on its own.

    Args:
        path: the temporary path that ``write`` got, see :meth:`Store.add_part`.
        number: of the part; no other part of the run has it.
        schema: with the metadata ``simcore:config``, ``simcore:config_hash`` and ``simcore:ruleset_text``.
        options: of pyarrow's ParquetWriter.
    """

    def __init__(self, path: Path, number: int, schema: pa.Schema, **options: Any) -> None:
        import pyarrow.parquet as pq

        self._number = number
        self._rows = 0
        self._digest = hashlib.sha256()
        self._file = open(path, "wb")  # noqa: SIM115 (closed with the part)
        self._writer = pq.ParquetWriter(self, schema, compression="zstd", **options)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._writer.close()
            else:  # nobody wants it; a full disk must not have a say again
                with contextlib.suppress(OSError):
                    self._writer.close()
        finally:
            self._file.close()
            del self._writer  # it refers to this object, in machine code where no collector of garbage sees it

    def write_table(self, table: pa.Table, **options: Any) -> None:
        """Write rows; see ParquetWriter."""
        self._writer.write_table(table, **options)
        self._rows += table.num_rows

    def finish(self, *, first: int, deals: int, tally: dict[str, Any] | None = None) -> None:
        """Say what the part is, after the last row.

        Args:
            first, deals: the index range.
            tally: what the rows add up to, plain data.
        """
        data = {"bytes": self._file.tell(), "sha256": self._digest.hexdigest()}
        facts = {"number": self._number, "first": first, "deals": deals, "rows": self._rows, "tally": tally or {}, "data": data}
        self._writer.add_key_value_metadata({_FACTS: json.dumps(facts | {"check": _check(facts)})})

    # What pyarrow calls of a file.

    closed = False

    def write(self, data: bytes) -> int:
        """Write bytes, and take note of them."""
        self._digest.update(data)
        return self._file.write(data)

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def flush(self) -> None:
        """Hand over what is buffered."""
        self._file.flush()


def _check(facts: dict[str, Any]) -> str:
    """Return a digest of a part's facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def describe_part(path: Place, number: int, config_hash: str) -> dict[str, Any]:
    """Return a complete part's line of the manifest.

    Raises:
        OSError: the file is not there.
        RunError: it is no such part.
    """
    sha256 = file_sha256(path)
    try:
        return _line(path, number, _facts(path, number, config_hash), sha256)
    except _Bad as bad:
        raise RunError(f"part {path.name!r} of {str(path.parent)!r}: {bad}") from None


def put_part(folder: Place, number: int, config_hash: str, write: Callable[[Path], object]) -> dict[str, Any]:
    """Have a part written, by a :class:`PartFile` on the path that ``write`` gets; it appears when it is complete.

    For an object store it is written here first, and checked, then put there.

    Returns:
        Its line of the manifest.

    Raises:
        OSError: the file system refuses.
        RunError: what was written is no such part.
    """
    name = part_name(number)
    if isinstance(folder, BucketPath):
        with tempfile.TemporaryDirectory(prefix="simcore-") as scratch:
            line = put_part(Path(scratch), number, config_hash, write)
            (folder / name).upload(Path(scratch) / name)
        return line
    write_atomically(folder / name, write)
    return describe_part(folder / name, number, config_hash)


def _line(path: Place, number: int, facts: dict[str, Any], sha256: str) -> dict[str, Any]:
    index_range = {key: facts[key] for key in ("first", "deals", "rows")}
    return {"name": part_name(number)} | index_range | {"bytes": file_size(path), "sha256": sha256, "tally": facts["tally"]}


def _facts(path: Place, number: int, config_hash: str, schema: pa.Schema | None = None) -> dict[str, Any]:
    """Return what a part says it is, after comparing it with what it should be; FileNotFoundError where it has gone."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            metadata, found = file.metadata.metadata or {}, file.schema_arrow
            rows = file.metadata.num_rows
        facts: dict[str, Any] = json.loads(metadata[_FACTS.encode()])
        other = metadata[b"simcore:config_hash"].decode()
        described = json.loads(metadata[b"simcore:config"])
    except KeyError as error:
        raise _Bad(f"it has no metadata {error}") from None
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise _Bad(f"it cannot be read: {_first_line(error)}") from None
    if other != config_hash:
        raise _Bad("it belongs to another run", described if isinstance(described, dict) else {})
    if schema is not None and not found.equals(schema, check_metadata=True):
        raise _Bad("its columns or their metadata are not those of this run")
    kinds = {"number": int, "first": int, "deals": int, "rows": int, "tally": dict, "data": dict}
    check = facts.pop("check", None) if isinstance(facts, dict) else None
    if check is None or check != _check(facts) or any(type(facts.get(key)) is not kind for key, kind in kinds.items()):
        raise _Bad(f"its metadata {_FACTS!r} is damaged")
    if facts["number"] != number:
        raise _Bad(f"it is part number {facts['number']}")
    if facts["rows"] != rows:
        raise _Bad(f"it has {rows} rows and says {facts['rows']}")
    return facts


def _stored(schema: pa.Schema) -> pa.Schema:
    """Return a schema as it comes back from a Parquet file, which names the fields of nested types in its own way."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def _compare_data(path: Place, facts: dict[str, Any]) -> None:
    """Compare what stands before a part's footer with the digest in it, and read it all."""
    import pyarrow as pa

    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(-_TAIL, os.SEEK_END)
        end = file.tell() - int.from_bytes(file.read(4), "little")
        file.seek(0)
        left = end
        while left > 0 and (data := file.read(min(left, 1 << 20))):
            digest.update(data)
            left -= len(data)
    if facts["data"] != {"bytes": end, "sha256": digest.hexdigest()}:
        raise _Bad("it is damaged: its SHA-256 is not that in its metadata")
    try:
        with open_parquet(path) as parquet:
            rows = sum(batch.num_rows for batch in parquet.iter_batches(batch_size=_BATCH_ROWS, use_threads=False))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _Bad(f"it is damaged: {_first_line(error)}") from None
    if rows != facts["rows"]:
        raise _Bad(f"it has {rows} rows and says {facts['rows']}")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


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
        raise BadInput(f"file {str(path)!r} is not JSON: {_first_line(error)}") from None
    wanted = {"config": dict, "config_hash": str, "parts": list, "ruleset_text": str, "complete": bool}
    for key, kind in wanted.items():
        if not isinstance(manifest, dict) or not isinstance(manifest.get(key), kind):
            raise BadInput(f"file {str(path)!r} is not a run's manifest: key {key!r} is missing or not a {kind.__name__}")
    for place, part in enumerate(manifest["parts"]):
        match = _PART.fullmatch(part["name"]) if isinstance(part, dict) and isinstance(part.get("name"), str) else None
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
        self._schema = None if schema is None else _stored(schema)
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
                _sync_folder(self.folder.parent)
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

        def check(number: int) -> dict[str, Any] | _Bad:
            try:
                return self._checked(paths[number], number, listed.get(number))
            except _Bad as error:
                return error

        if len(paths) >= _MANY_PARTS:
            self._note(f"{len(paths):,} parts are compared with their checksums")
        with ThreadPoolExecutor(_CHECKING_THREADS) as pool:
            found = dict(zip(paths, pool.map(check, paths), strict=True))
        foreign = [result for result in found.values() if isinstance(result, _Bad) and result.foreign is not None]
        if foreign and len(foreign) == len(found):
            raise BadInput(self._refusal(foreign[0].foreign or {}))
        for number, result in found.items():
            if isinstance(result, _Bad):
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
        return {int(_PART.fullmatch(part["name"])[1]): part for part in manifest["parts"]}  # type: ignore[index]

    def _set_aside(self, path: Place) -> Place:
        """Rename a file so that nothing takes it for the run's; nothing is lost."""
        taken = 0
        while (aside := path.with_name(f"{path.name}{_ASIDE}{taken or ''}")).exists():
            taken += 1
        path.rename(aside)  # type: ignore[arg-type]  # both of one kind
        if isinstance(self.folder, Path):
            _sync_folder(self.folder)
        return aside

    def _checked(self, path: Place, number: int, listed: dict[str, Any] | None) -> dict[str, Any]:
        """Return a part's line: by the manifest's SHA-256, or where it lists none by the part's own.

        From an object store, which keeps checksums itself, a listed part is not fetched whole: size and footer are looked at.
        """
        sha256 = None if listed is None else listed["sha256"]
        if isinstance(path, BucketPath) and listed is not None:
            line = _line(path, number, _facts(path, number, self._hash, self._schema), listed["sha256"])
            if line["bytes"] != listed.get("bytes"):
                raise _Bad(f"it is damaged: it has {line['bytes']} bytes, in the manifest {listed.get('bytes')}")
            return line
        found = file_sha256(path)
        if sha256 is not None and found != sha256:
            raise _Bad("it is damaged: its SHA-256 is not the manifest's")
        facts = _facts(path, number, self._hash, self._schema)
        if sha256 is None:
            _compare_data(path, facts)
        return _line(path, number, facts, found)

    def _refusal(self, other: dict[str, Any]) -> str:
        mine = self._work.describe()
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
            for leftover in self.folder.glob(f".*{_TEMPORARY}"):
                leftover.unlink(missing_ok=True)

    def missing(self, count: int) -> Iterator[int]:
        """Yield the numbers of the parts 0 to ``count`` - 1 that are not complete."""
        return (number for number in range(count) if number not in self.parts)

    def path(self, number: int) -> Place:
        """Return where a part lies, or will."""
        return self.folder / part_name(number)

    def add_part(self, number: int, write: Callable[[Path], object]) -> None:
        """Write a part, by a :class:`PartFile` on the path that ``write`` gets, and list it."""
        with self.failures():
            self.add_lines({number: put_part(self.folder, number, self._hash, write)})

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


def _told(error: OSError) -> str:
    """Return what the file system refused, in its own words: Arrow wraps them."""
    return os.strerror(error.errno) if error.errno else _first_line(error)


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
