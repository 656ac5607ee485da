"""Reading a finished result: what is in a folder, checked before it is shown; tables read a piece at a time.

A folder is told by the ``kind`` in its manifest; simulations, the oldest, have none.  Nothing in it is believed: files are named
plainly, have the size and SHA-256 of the manifest, and the columns their kind has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from simcore.batches.partfile import file_sha256, open_parquet
from simcore.batches.places import Place, place_of
from simcore.batches.store import MANIFEST
from simcore.errors import BadInput, RunError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KINDS", "Result", "open_result"]

#: Kinds of results, and the command that writes them.
KINDS = {
    "simulate": "simcore simulate --out",
    "choose": "simcore choose --out",
    "balance": "simcore rulesets balance --out",
    "compare": "simcore compare --out",
}
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class Result:
    """A folder that a command wrote: its manifest, whole, and the names of its tables."""

    folder: Place
    kind: str
    manifest: dict[str, Any]

    @property
    def config(self) -> dict[str, Any]:
        """Everything the result depends on."""
        config: dict[str, Any] = self.manifest["config"]
        return config

    def batches(self, name: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield a Parquet file's rows, a bounded number at a time.

        Raises:
            RunError: the file is missing or damaged.
            BadInput: it lacks a column.
        """
        import pyarrow as pa

        path = self.folder / name
        try:
            with open_parquet(path) as file:
                missing = [column for column in columns if column not in file.schema_arrow.names]
                if missing:
                    raise BadInput(f"file {str(path)!r} has no column {missing[0]!r}: it is not of a result of kind {self.kind!r}")
                yield from file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns))
        except (OSError, pa.ArrowException) as error:
            raise RunError(f"file {str(path)!r} cannot be read: {error}") from None

    def counts(self, files: Sequence[str], by: str, value: str) -> dict[str, dict[int, int]]:
        """Count how often each whole number stands in column ``value``, for each word in column ``by``; nulls are left out."""
        found: dict[str, dict[int, int]] = {}
        for name in files:
            for batch in self.batches(name, list(dict.fromkeys((by, value)))):
                for word, numbers in _by_word(batch, by, value):
                    counts = found.setdefault(word, {})
                    for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
                        counts[int(number)] = counts.get(int(number), 0) + int(count)
        return found

    def damaged(self, what: str) -> NoReturn:
        """Say what is wrong with the folder.

        Raises:
            BadInput: always.
        """
        raise BadInput(f"folder {str(self.folder)!r} is damaged: {what}")


def _by_word(batch: pa.RecordBatch, by: str, value: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each word of a column with the other column's numbers beside it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = batch.column(by)
    if not pa.types.is_dictionary(words.type):
        words = pc.dictionary_encode(words)
    numbers = batch.column(value)
    if pa.types.is_boolean(numbers.type) or pa.types.is_floating(numbers.type):
        numbers = numbers.cast(pa.int32())
    present = np.asarray(pc.and_(pc.is_valid(words), pc.is_valid(numbers)))
    places = np.asarray(words.indices.fill_null(-1))[present]
    values = np.asarray(numbers.fill_null(0))[present]
    for place, word in enumerate(words.dictionary.to_pylist()):
        chosen = values[places == place]
        if len(chosen):
            yield str(word), chosen


def open_result(folder: str | Place) -> Result:
    """Read and check a result's folder.

    Raises:
        BadInput: it is no folder, holds no result, or one of a kind that has no report.
        RunError: a file is missing or damaged.
    """
    folder = place_of(folder)
    path = folder / MANIFEST
    accepted = "accepted: a folder written by " + ", ".join(f"'{command}'" for command in KINDS.values())
    if not folder.is_dir():
        raise BadInput(
            f"folder {str(folder)!r} does not exist; {accepted}" if not folder.exists() else f"{str(folder)!r} is no folder"
        )
    try:
        manifest = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise BadInput(f"folder {str(folder)!r} holds no {MANIFEST}; {accepted}") from None
    except OSError as error:
        raise BadInput(f"file {str(path)!r} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"file {str(path)!r} is not JSON: {error or type(error).__name__}") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("config"), dict):
        raise BadInput(f"file {str(path)!r} is not a result's manifest: key 'config' is missing or no object; {accepted}")
    kind = manifest.get("kind", manifest["config"].get("command", "simulate"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput(f"folder {str(folder)!r} holds a result of kind {kind!r}; {accepted}")
    # simulations are reported as far as they came; of others there is nothing to say before the end, where their kind is written
    if manifest.get("complete") is False and (kind != "simulate" or "rounds" not in manifest["config"]):
        raise BadInput(f"folder {str(folder)!r} is not finished; accepted: the same command again, which goes on where it stopped")
    result = Result(folder, kind, manifest)
    _check_files(result)
    return result


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _check_files(result: Result) -> None:
    """Check that the files the manifest names are there, and unchanged."""
    lists = {"simulate": ("parts",), "compare": ("parts", "files")}.get(result.kind, ("files",))
    files = [result.manifest.get(key) for key in lists]
    if not all(isinstance(entries, list) for entries in files):
        result.damaged(f"its {MANIFEST} lists no files")
    for entry in (entry for entries in files for entry in entries or ()):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or not isinstance(entry.get("sha256"), str):
            result.damaged(f"its {MANIFEST} lists a file without name or SHA-256: {str(entry)[:80]!r}")
        name = entry["name"]
        if Path(name).name != name or name in ("", ".", "..") or not name.isprintable():
            result.damaged(f"its {MANIFEST} names a file outside the folder: {name!r}")
        path = result.folder / name
        try:
            same = file_sha256(path) == entry["sha256"]
        except OSError as error:
            raise RunError(f"file {str(path)!r} cannot be read: {error.strerror or error}") from None
        if not same:
            raise RunError(f"file {str(path)!r} is damaged: its SHA-256 is not the manifest's")
