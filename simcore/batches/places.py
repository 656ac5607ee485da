"""Where a run may lie: a folder, or a prefix of an object store as ``s3://bucket/runs/one``.

``BucketPath`` is the part of ``pathlib.Path`` that a run's folder needs, over pyarrow's file systems.  An object appears whole or
not at all, which is what renaming does in a folder; there is nothing like a lock.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from simcore.errors import BadInput, RunError

__all__ = ["BucketPath", "Place", "check_folder", "file_size", "is_bucket", "place_of"]

_SCHEMES = ("s3", "gs")
#: Bytes handed on at a time.
_PIECE = 1 << 24


class BucketPath:
    """A place in an object store: ``s3://bucket/key`` or ``gs://bucket/key``, options behind ``?`` as pyarrow knows them.

    Credentials come from the environment (AWS_ACCESS_KEY_ID and so on, or the machine's role), never from the address.

    Raises:
        BadInput: no such address.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        if parts.username or parts.password:
            raise BadInput(
                f"address '{parts.scheme}://…@{parts.hostname}{parts.path}' holds credentials, which others would see; "
                "accepted: credentials in the environment, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        if parts.scheme not in _SCHEMES or not parts.netloc or parts.fragment:
            raise BadInput(f"address {uri!r} is not one of an object store; accepted: s3://BUCKET/PREFIX or gs://BUCKET/PREFIX")
        self._scheme, self._bucket, self._query = parts.scheme, parts.netloc, parts.query
        self._key = re.sub("/+", "/", parts.path).strip("/")

    def _at(self, key: str) -> BucketPath:
        return BucketPath(f"{self._scheme}://{self._bucket}/{key}" + (f"?{self._query}" if self._query else ""))

    def __str__(self) -> str:
        return f"{self._scheme}://{self._bucket}/{self._key}" + (f"?{self._query}" if self._query else "")

    def __repr__(self) -> str:
        return f"BucketPath({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return BucketPath, (str(self),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BucketPath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> BucketPath:
        child = self._at(f"{self._key}/{name}" if self._key else name)
        child.__dict__["_system"] = self._system
        return child

    @property
    def name(self) -> str:
        """The last word of the key."""
        return self._key.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot on."""
        return Path(self.name).suffix

    @property
    def parent(self) -> BucketPath:
        """The place above."""
        return self._at(self._key.rpartition("/")[0])

    def with_name(self, name: str) -> BucketPath:
        """Return the place beside this one with another name."""
        return self.parent / name

    @cached_property
    def _system(self) -> Any:
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem

        try:
            system, _ = FileSystem.from_uri(str(self))
        except (OSError, ValueError, ArrowException) as error:
            options = ", ".join(key for key, _ in parse_qsl(self._query))
            raise BadInput(f"address {str(self)!r} cannot be used{f' with {options}' if options else ''}: {error}") from None
        return system

    @property
    def _path(self) -> str:
        return f"{self._bucket}/{self._key}".rstrip("/")

    def _info(self) -> Any:
        return self._system.get_file_info(self._path)

    def exists(self) -> bool:
        """Tell whether there is an object here."""
        return bool(self._info().is_file)

    def is_dir(self) -> bool:
        """Tell whether anything lies below."""
        from pyarrow.fs import FileType

        return bool(self._info().type == FileType.Directory)

    def size(self) -> int:
        """Return the object's bytes."""
        return int(self._info().size)

    def iterdir(self) -> Iterator[BucketPath]:
        """Yield the objects below, but not what lies deeper."""
        from pyarrow.fs import FileSelector

        for info in self._system.get_file_info(FileSelector(self._path, allow_not_found=True)):
            if info.is_file:
                yield self / info.base_name

    def open(self, mode: str = "rb") -> Any:
        """Open the object for reading; it can be read at any place."""
        assert mode == "rb"
        return self._system.open_input_file(self._path)

    def read_bytes(self) -> bytes:
        """Return the object's bytes."""
        with self.open() as file:
            return bytes(file.read())

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the object's text."""
        return self.read_bytes().decode(encoding)

    def upload(self, source: Path) -> None:
        """Put a file here; it appears when all of it is there.

        Raises:
            OSError: the store refuses; nothing is left here.
        """
        size = source.stat().st_size
        try:
            with open(source, "rb") as file, self._system.open_output_stream(self._path) as stream:
                while data := file.read(_PIECE):
                    stream.write(data)
            if (stored := self.size()) != size:
                raise OSError(f"{str(self)!r} has {stored} bytes after {size} were written")
        except BaseException:  # closing the stream may have made an object of what came so far
            with contextlib.suppress(OSError):
                self.unlink()
            raise

    def rename(self, target: BucketPath) -> None:
        """Move the object."""
        self._system.move(self._path, target._path)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the object."""
        try:
            self._system.delete_file(self._path)
        except FileNotFoundError:
            if not missing_ok:
                raise


Place: TypeAlias = Path | BucketPath


def is_bucket(text: str) -> bool:
    """Tell whether a text is meant as an address rather than as a path."""
    return re.match("[a-zA-Z][a-zA-Z0-9+.-]+://", text) is not None


def place_of(folder: str | Path | BucketPath) -> Place:
    """Return a folder, or a place in an object store, by its name.

    Raises:
        BadInput: an address that is not one of an object store, or no name at all.
    """
    if isinstance(folder, str) and (is_bucket(folder) or folder.startswith(tuple(f"{scheme}:" for scheme in _SCHEMES))):
        return BucketPath(folder)
    if not isinstance(folder, (str, PathLike, BucketPath)):
        raise BadInput(f"folder {folder!r} is not accepted; accepted: a path")
    if folder == "":  # which is where one stands, and hardly meant
        raise BadInput("folder '' has no name; accepted: a folder, '.' for this one")
    return folder if isinstance(folder, BucketPath) else Path(folder)


def check_folder(folder: str | Path | None) -> None:
    """Refuse an address where only a folder will do.

    Raises:
        BadInput: it is an address, or no path at all.
    """
    if folder is not None:
        place_of(folder)
    if folder is not None and is_bucket(str(folder)):
        raise BadInput(f"out {str(folder)!r} is an address; accepted: a folder")


def file_size(path: Place) -> int:
    """Return a file's bytes."""
    return path.size() if isinstance(path, BucketPath) else path.stat().st_size


def open_bucket(folder: BucketPath) -> BucketPath:
    """Return the place after looking whether it can be reached.

    Raises:
        RunError: it cannot.
    """
    try:
        next(folder.iterdir(), None)
    except OSError as error:
        raise RunError(f"{str(folder)!r} cannot be reached: {str(error).splitlines()[0][:300]}") from None
    return folder
