"""Files that appear whole or not at all, and the parts of a run's folder among them.

A file is written under a temporary name, fsynced, renamed, and the folder fsynced.  Every part tells in its own metadata what run
it belongs to, which part it is, what its rows add up to and the SHA-256 of its data, so that it can be checked on its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from simcore.batches.places import BucketPath, Place, file_size
from simcore.errors import RunError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PART",
    "TEMPORARY",
    "BadPart",
    "PartFile",
    "check_part",
    "describe_part",
    "file_sha256",
    "first_line",
    "open_parquet",
    "part_name",
    "part_paths",
    "put_part",
    "stored_schema",
    "sync_folder",
    "write_atomically",
]

#: How names of temporary files end, and what names of parts are.
TEMPORARY = ".tmp"
PART = re.compile(r"part-(\d{5,})\.parquet")
_FACTS = "simcore:part"
_BATCH_ROWS = 1 << 16
#: What stands for the footer's SHA-256 where that is computed.
_UNSIGNED = "0" * 64
#: A Parquet file ends with the length of its footer, four bytes, and four letters.
_TAIL = 8


class BadPart(Exception):
    """A part is not what it should be; ``foreign`` where it belongs to another run."""

    def __init__(self, reason: str, foreign: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.foreign = foreign


def sync_folder(folder: Path) -> None:
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
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{TEMPORARY}")
    try:
        write(temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
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
    found = ((PART.fullmatch(path.name), path) for path in folder.iterdir())
    return dict(sorted((int(match[1]), path) for match, path in found if match and path.name == part_name(int(match[1]))))


@contextlib.contextmanager
def open_parquet(path: Place) -> Iterator[Any]:
    """Open a Parquet file for reading, also where its path cannot be written in the locale's characters: Arrow opens none such."""
    import pyarrow.parquet as pq

    with path.open("rb") as file, pq.ParquetFile(file) as parquet:
        yield parquet


class PartFile:
    """A part being written: row groups, and at the end what the part is.

    All bytes before Parquet's footer go through a digest, which the footer then holds together with the facts and a digest of the
    footer itself, so that a part can be checked on its own.

    Attributes:
        sha256: the file's, once it is closed.

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
        self._digest = self._data = hashlib.sha256()
        self.sha256 = ""
        self._file = open(path, "w+b")  # noqa: SIM115 (closed with the part)
        self._writer = pq.ParquetWriter(self, schema, **{"compression": "zstd"} | options)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._writer.close()
                self._sign()
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
        self._data = self._digest.copy()
        facts = {"number": self._number, "first": first, "deals": deals, "rows": self._rows, "tally": tally or {}, "data": data}
        self._writer.add_key_value_metadata({_FACTS: json.dumps(facts | {"check": _UNSIGNED})})

    def _sign(self) -> None:
        """Write the footer's digest into the facts that stand in it."""
        start, footer = _footer(self._file)
        signed = footer.replace(_UNSIGNED.encode(), hashlib.sha256(footer).hexdigest().encode())
        self._file.seek(start)
        self._file.write(signed)
        whole = self._data.copy()
        whole.update(signed)
        self.sha256 = whole.hexdigest()

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


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Return where a part's footer begins, and the rest of the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _TAIL, 0))
    start = max(size - _TAIL - int.from_bytes(file.read(4), "little"), 0)
    file.seek(start)
    return start, file.read()


def describe_part(path: Place, number: int, config_hash: str, sha256: str | None = None) -> dict[str, Any]:
    """Return a complete part's line of the manifest.

    Args:
        sha256: the file's, where it is known.

    Raises:
        OSError: the file is not there.
        RunError: it is no such part.
    """
    sha256 = file_sha256(path) if sha256 is None else sha256
    try:
        return _line(path, number, _facts(path, number, config_hash), sha256)
    except BadPart as bad:
        raise RunError(f"part {path.name!r} of {str(path.parent)!r}: {bad}") from None


def put_part(folder: Place, number: int, config_hash: str, write: Callable[[Path], object]) -> dict[str, Any]:
    """Have a part written, by a :class:`PartFile` on the path that ``write`` gets; it appears when it is complete.

    ``write`` may return the file's SHA-256, which then need not be computed again.

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
    told: list[object] = []
    write_atomically(folder / name, lambda path: told.append(write(path)))
    return describe_part(folder / name, number, config_hash, told[0] if isinstance(told[0], str) else None)


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
        with path.open("rb") as raw:
            footer = _footer(raw)[1]
        facts: dict[str, Any] = json.loads(metadata[_FACTS.encode()])
        other = metadata[b"simcore:config_hash"].decode()
        described = json.loads(metadata[b"simcore:config"])
    except KeyError as error:
        raise BadPart(f"it has no metadata {error}") from None
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise BadPart(f"it cannot be read: {first_line(error)}") from None
    if other != config_hash:
        raise BadPart("it belongs to another run", described if isinstance(described, dict) else {})
    if schema is not None and not found.equals(schema, check_metadata=True):
        raise BadPart("its columns or their metadata are not those of this run")
    kinds = {"number": int, "first": int, "deals": int, "rows": int, "tally": dict, "data": dict, "check": str}
    if not isinstance(facts, dict) or any(type(facts.get(key)) is not kind for key, kind in kinds.items()):
        raise BadPart(f"its metadata {_FACTS!r} is damaged")
    unsigned = footer.replace(facts["check"].encode(), _UNSIGNED.encode())
    if len(facts["check"]) != len(_UNSIGNED) or hashlib.sha256(unsigned).hexdigest() != facts["check"]:
        raise BadPart("it is damaged: the SHA-256 of its footer is not that in its metadata")
    if facts["number"] != number:
        raise BadPart(f"it is part number {facts['number']}")
    if facts["rows"] != rows:
        raise BadPart(f"it has {rows} rows and says {facts['rows']}")
    return facts


def stored_schema(schema: pa.Schema) -> pa.Schema:
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
        end = _footer(file)[0]
        file.seek(0)
        left = end
        while left > 0 and (data := file.read(min(left, 1 << 20))):
            digest.update(data)
            left -= len(data)
    if facts["data"] != {"bytes": end, "sha256": digest.hexdigest()}:
        raise BadPart("it is damaged: its SHA-256 is not that in its metadata")
    try:
        with open_parquet(path) as parquet:
            rows = sum(batch.num_rows for batch in parquet.iter_batches(batch_size=_BATCH_ROWS, use_threads=False))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadPart(f"it is damaged: {first_line(error)}") from None
    if rows != facts["rows"]:
        raise BadPart(f"it has {rows} rows and says {facts['rows']}")


def check_part(
    path: Place, number: int, config_hash: str, schema: pa.Schema | None, listed: dict[str, Any] | None
) -> dict[str, Any]:
    """Return a part's line: by the manifest's SHA-256, or where it lists none by the part's own.

    From an object store, which keeps checksums itself, a listed part is not fetched whole: size and footer are looked at.

    Raises:
        BadPart: it is not what it should be.
        FileNotFoundError: it has gone.
    """
    sha256 = None if listed is None else listed["sha256"]
    if isinstance(path, BucketPath) and listed is not None:
        line = _line(path, number, _facts(path, number, config_hash, schema), listed["sha256"])
        if line["bytes"] != listed.get("bytes"):
            raise BadPart(f"it is damaged: it has {line['bytes']} bytes, in the manifest {listed.get('bytes')}")
        return line
    found = file_sha256(path)
    if sha256 is not None and found != sha256:
        raise BadPart("it is damaged: its SHA-256 is not the manifest's")
    facts = _facts(path, number, config_hash, schema)
    if sha256 is None:
        _compare_data(path, facts)
    return _line(path, number, facts, found)


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
