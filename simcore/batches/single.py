"""Results that are written once, when they are finished: a folder with a manifest, and files beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simcore.batches.partfile import write_atomically
from simcore.batches.store import MANIFEST
from simcore.errors import BadInput, RunError

__all__ = ["fresh_folder", "write_manifest"]


def fresh_folder(folder: Path, *, overwrite: bool, files: Sequence[str] = ()) -> None:
    """Make a folder for a result, before any work; ``files`` are those of such a result beside its manifest.

    Raises:
        BadInput: it holds a result already.
        RunError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = [name for name in (MANIFEST, *files) if (folder / name).exists()]
        if taken and not overwrite:
            raise BadInput(f"folder {str(folder)!r} holds a result ({taken[0]}); accepted: another folder, or --overwrite")
        for name in taken:
            (folder / name).unlink()
    except OSError as error:
        raise RunError(f"folder {str(folder)!r} cannot be written: {error.strerror}") from None


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a result's manifest, the last of its files.

    Raises:
        RunError: it cannot be written.
    """
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        write_atomically(folder / MANIFEST, lambda temporary: temporary.write_bytes(text.encode()))
    except OSError as error:
        raise RunError(f"writing to {str(folder)!r} failed: {error.strerror or error}") from None
