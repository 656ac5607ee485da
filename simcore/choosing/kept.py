"""What an answer has worked out so far, kept in its folder: batch by batch as parts of a run, so that an interrupted one goes on.

An answer is a function of its question and seed, so its n-th piece of work is the same whenever it is asked for: what is there is
read, what is not is worked out and kept.  The parts hold arrays as bytes; when the answer is complete it takes their place.

Where time is limited, a batch that it cut short is not kept, and the pieces may come in another order when the answer is gone on
with: they are then told by what they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.batches.partfile import PartFile, file_sha256, open_parquet, part_paths, write_atomically
from simcore.batches.places import Place, file_size
from simcore.batches.store import MANIFEST, Store, read_manifest
from simcore.choosing.result import Choices
from simcore.errors import RunError
from simcore.rules import Ruleset

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ChoiceWork", "Kept", "KeptInFolder"]

_WORLDS = "worlds.parquet"
Arrays = dict[str, np.ndarray]


class Kept:
    """Keeps nothing: every piece of work is done when it is asked for."""

    def recall(self, what: str, make: Callable[[], Arrays], whole: Callable[[], bool] = lambda: True) -> Arrays:
        """Return a piece of work: arrays by name.

        Args:
            what: tells which; the same question asks for the same pieces in the same order, but where time is limited.
            make: does it; whole: tells whether all of it was done.
        """
        return make()


@dataclass(frozen=True)
class ChoiceWork:
    """What a folder's answer is an answer to."""

    described: dict[str, Any]
    ruleset: Ruleset

    @cached_property
    def hash(self) -> str:
        """SHA-256 over :meth:`describe`."""
        return hashlib.sha256(json.dumps(self.described, sort_keys=True).encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """Everything the answer depends on, as plain data."""
        return self.described

    @cached_property
    def schema(self) -> pa.Schema:
        """Of a part: an array a row."""
        import pyarrow as pa

        fields = [("name", pa.string()), ("type", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())]
        metadata = {
            "simcore:config": json.dumps(self.described, sort_keys=True),
            "simcore:config_hash": self.hash,
            "simcore:ruleset_text": self.ruleset.text,
        }
        return pa.schema([pa.field(*field, nullable=False) for field in fields], metadata=metadata)


class KeptInFolder(Kept):
    """Keeps work in a folder, under its lock; see :class:`simcore.batches.store.Store`."""

    def __init__(self, folder: Place, work: ChoiceWork, *, overwrite: bool, repair: bool, note: Callable[[str], object]) -> None:
        self._work = work
        self._next = 0
        self._store = Store(folder, work, schema=work.schema, overwrite=overwrite, repair=repair, note=note)

    def __enter__(self) -> KeptInFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def recall(self, what: str, make: Callable[[], Arrays], whole: Callable[[], bool] = lambda: True) -> Arrays:
        """Return a piece of work: read if it is in the folder, else done and kept if it is whole."""
        number = self._number(what)
        path = self._store.path(number)
        if number in self._store.parts:
            if self._store.parts[number]["tally"] != {"what": what}:
                raise RunError(f"part {path.name!r} of {str(path.parent)!r} is of other work; accepted: --overwrite")
            with contextlib.suppress(FileNotFoundError):  # another driver was ready first, in an object store
                return _read(path)
        arrays = make()
        if whole():
            self._store.add_part(number, partial(self._write, number=number, what=what, arrays=arrays))
        return arrays

    def _number(self, what: str) -> int:
        """Return the number of a piece of work: the next one, where the clock has no say."""
        parts = self._store.parts
        if not self._work.described["reproducible"]:
            known = (number for number, part in parts.items() if part["tally"] == {"what": what})
            return next(known, max(parts, default=-1) + 1)
        self._next += 1
        return self._next - 1

    def _write(self, path: Path, number: int, what: str, arrays: Arrays) -> None:
        import pyarrow as pa

        rows = [
            {"name": name, "type": array.dtype.str, "shape": list(array.shape), "data": np.ascontiguousarray(array).tobytes()}
            for name, array in arrays.items()
        ]
        with PartFile(path, number, self._work.schema) as part:
            part.write_table(pa.Table.from_pylist(rows, schema=self._work.schema))
            part.finish(first=number, deals=0, tally={"what": what})

    def finished(self) -> Choices | None:
        """Return the answer if it is complete."""
        folder = self._store.folder
        if not (folder / MANIFEST).exists():
            return None
        manifest = read_manifest(folder)
        result = manifest.get("result")
        if not manifest["complete"] or not isinstance(result, dict) or not (folder / _WORLDS).exists():
            return None
        if [file_sha256(folder / _WORLDS)] != [file.get("sha256") for file in manifest.get("files", ()) if isinstance(file, dict)]:
            raise RunError(
                f"file {_WORLDS!r} of {str(folder)!r} is damaged: its SHA-256 is not the manifest's; accepted: --overwrite"
            )
        self._tidy()
        try:
            return Choices(
                config=self._work.described,
                rows=result["rows"],
                sampling=result["sampling"],
                comparison=result.get("comparison", {}),
                hand_points=result.get("hand_points", []),
                notes=tuple(result["notes"]),
                warnings=tuple(result["warnings"]),
                _worlds=partial(_worlds, folder),
            )
        except (KeyError, TypeError) as error:
            raise RunError(f"the result in {str(folder)!r} is damaged: {error!r}; accepted: --overwrite") from None

    def finish(self, choices: Choices) -> None:
        """Put the answer in the place of the work that led to it."""
        import pyarrow.parquet as pq

        table = choices.worlds().replace_schema_metadata({"simcore:config": json.dumps(choices.config, sort_keys=True)})
        path = self._store.folder / _WORLDS

        def write(temporary: Path) -> None:
            with open(temporary, "wb") as file:
                pq.write_table(table, file, compression="zstd")

        with self._store.failures():
            write_atomically(path, write)
            files = [{"name": _WORLDS, "rows": table.num_rows, "bytes": file_size(path), "sha256": file_sha256(path)}]
        self._store.parts.clear()
        self._store.write_manifest(complete=True, more={"kind": "choose", "files": files, "result": choices.data()})
        self._tidy()

    def _tidy(self) -> None:
        with self._store.failures():
            for part in part_paths(self._store.folder).values():
                part.unlink(missing_ok=True)


def _read(path: Place) -> Arrays:
    with open_parquet(path) as parquet:
        rows = parquet.read().to_pylist()
    return {row["name"]: np.frombuffer(row["data"], np.dtype(row["type"])).reshape(row["shape"]).copy() for row in rows}


def _worlds(folder: Place) -> pa.Table:
    with open_parquet(folder / _WORLDS) as parquet:
        return parquet.read().replace_schema_metadata(None)
