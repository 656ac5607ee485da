"""Files beside a run's parts: which of them are a run's, and which are somebody's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcore.batches.places import Place

__all__ = ["PAGES", "TABLES", "is_page", "leftover_files"]

#: What a run leaves beside parts and manifest, whatever command it is of.
TABLES = ("rounds.parquet", "worlds.parquet", "cards.parquet", "result.json", "timings.json")
#: Reports, where they are ours.
PAGES = ("report.html", "report.md")
#: What made a page stands in the head of one form and in the last line of the other.
_MADE_HTML, _MADE_MARKDOWN = b'<meta name="generator" content="simcore ', re.compile(rb"\n\nsimcore \d\S*\n\Z")


def is_page(path: Place) -> bool:
    """Tell whether a file is a report that simcore wrote."""
    with path.open("rb") as file:
        text = file.read()
    return _MADE_HTML in text[:1000] or _MADE_MARKDOWN.search(text[-100:]) is not None


def leftover_files(folder: Place) -> Iterator[Place]:
    """Yield what an earlier run may have left that --overwrite removes; never anything that is not a run's."""
    yield from (folder / name for name in TABLES)
    for name in PAGES:
        path = folder / name
        if path.exists() and not path.is_dir() and is_page(path):
            yield path
