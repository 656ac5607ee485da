"""The verb ``report``: a finished result as one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from simcore.batches.beside import is_page
from simcore.batches.partfile import write_atomically
from simcore.batches.places import Place, place_of
from simcore.errors import BadInput, RunError, SimcoreError
from simcore.reports.blocks import Page
from simcore.reports.of_balance import balance_page
from simcore.reports.of_choice import choice_page
from simcore.reports.of_comparison import comparison_page
from simcore.reports.of_simulation import simulation_page
from simcore.reports.results import Result, open_result

__all__ = ["Report", "report"]

_PAGES: dict[str, Callable[[Result], Page]] = {
    "simulate": simulation_page,
    "choose": choice_page,
    "balance": balance_page,
    "compare": comparison_page,
}
_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


@dataclass(frozen=True)
class Report:
    """A result as a page, in both forms; ``files`` are those written."""

    kind: str
    title: str
    html: str = field(repr=False)
    markdown: str = field(repr=False)
    files: tuple[Place, ...] = ()


def report(folder: str | Place, *, out: str | Place | Sequence[str | Place] = (), overwrite: bool = False) -> Report:
    """Turn a finished result into one self-contained HTML page and Markdown.

    Args:
        folder: what ``simulate``, ``choose`` or another command wrote with ``out``, also into an object store.
        out: files to write, ``.html`` or ``.md``.
        overwrite: replace files that are no reports (reports are replaced anyway).

    Returns:
        A Report with ``.html`` and ``.markdown``; the same result gives the same bytes.

    Raises:
        BadInput: the folder holds no result, or one that cannot be read; a file to write is of another form or in the way.
        RunError: a table is missing or damaged, or a file cannot be written.
    """
    files = [place_of(path) for path in (out if isinstance(out, Sequence) and not isinstance(out, str) else [out])]
    for path in files:
        _check_target(path, overwrite=overwrite)
    result = open_result(folder)
    try:
        page = _PAGES[result.kind](result)
        made = Report(result.kind, page.title, page.html(), page.markdown(), tuple(files))
    except SimcoreError:
        raise
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise BadInput(f"folder {str(folder)!r} is damaged, or of another version of simcore: {error!r}") from None
    for path in files:
        text = made.html if _FORMS[path.suffix.lower()] == "html" else made.markdown
        try:
            write_atomically(path, lambda temporary, text=text: temporary.write_bytes(text.encode()))  # type: ignore[misc]
        except OSError as error:
            raise RunError(f"file {str(path)!r} cannot be written: {error.strerror or error}") from None
    return made


def _check_target(path: Place, *, overwrite: bool) -> None:
    """Check a file to write before any work.

    Raises:
        BadInput: its name ends in something else, or another file is in the way.
        RunError: it cannot be read to see what it is.
    """
    if path.suffix.lower() not in _FORMS:
        raise BadInput(f"file {str(path)!r} has no form known; accepted: names ending in {', '.join(_FORMS)}")
    if overwrite:
        return
    try:
        known = not path.exists() or is_page(path)
    except OSError as error:
        told = error.strerror or str(error).splitlines()[0]
        raise RunError(f"file {str(path)!r}, which may be in the way, cannot be read: {told}") from None
    if not known:
        raise BadInput(f"file {str(path)!r} is in the way and no report of simcore; accepted: another name, or --overwrite")
