"""HTML and Markdown from plain values: everything that comes from outside is escaped where it enters.

Elements are ``xml.etree.ElementTree``'s, so that no text can become markup: the serialiser escapes, not the writer's care, and no
template engine is needed.  Attributes keep their order, numbers are written to a fixed precision: the same values give the same
bytes.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import TypeAlias

__all__ = [
    "Child",
    "Element",
    "code_block",
    "figure_text",
    "interval_text",
    "markdown_table",
    "markdown_text",
    "plain",
    "tag",
    "to_html",
]

Element: TypeAlias = ET.Element
Child: TypeAlias = "str | Element | Iterable[Child] | None"

#: Not allowed in HTML, or able to turn the reading direction of what follows.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


def plain(text: str) -> str:
    """Return text without characters that have no place on a page (they become U+FFFD)."""
    return _UNPRINTABLE.sub("\ufffd", text)


def tag(name: str, /, *children: Child, **attributes: str | float | None) -> Element:
    """Return an element with text and elements in it.

    Names of attributes: ``class_`` for ``class``, ``_`` for ``-``.  None leaves an attribute, or a child, out.

    >>> to_html(tag("p", "a < b", class_="note"))
    '<p class="note">a &lt; b</p>'
    """
    element = ET.Element(name)
    for key, value in attributes.items():
        if value is not None:
            element.set(key.rstrip("_").replace("_", "-"), plain(value) if isinstance(value, str) else _short(value))
    _add(element, children)
    return element


def _add(element: Element, children: Child) -> None:
    if children is None:
        return
    if isinstance(children, ET.Element):
        element.append(children)
    elif isinstance(children, str):
        text = plain(children)
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text
    else:
        for child in children:
            _add(element, child)


def _short(value: float) -> str:
    """Return a number for an attribute, to a thousandth."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def to_html(element: Element) -> str:
    """Return an element as HTML."""
    return ET.tostring(element, encoding="unicode", method="html")


def markdown_text(text: str) -> str:
    """Return text for Markdown, on one line, without meaning as markup."""
    return _MARKDOWN.sub(r"\\\1", " ".join(plain(text).split()))


def code_block(text: str) -> str:
    """Return text as a fenced block of Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{plain(text).rstrip()}\n{fence}"


def markdown_table(header: list[str], rows: list[list[str]], left: int = 1) -> str:
    """Return a table of Markdown; the first ``left`` columns flush left.  Cells are plain text."""
    lines = [header, ["---" if i < left else "---:" for i in range(len(header))], *rows]
    shown = [row if i == 1 else [markdown_text(cell) for cell in row] for i, row in enumerate(lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in shown)


def figure_text(value: float | None, digits: int = 2, *, sign: bool = False, percent: bool = False) -> str:
    """Return a figure for people: a true minus, thousands set apart, ``–`` for None.

    >>> figure_text(-1234.5, 1), figure_text(0.5, 1, percent=True), figure_text(None)
    ('−1,234.5', '50.0 %', '–')
    """
    if value is None:
        return "–"
    text = f"{100 * value if percent else value:{'+' if sign else ''},.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("+-")  # neither +0 nor -0
    return text.replace("-", "−") + (" %" if percent else "")


def interval_text(low: float | None, high: float | None, digits: int = 2, *, sign: bool = False, percent: bool = False) -> str:
    """Return an interval for people; empty where there is none."""
    if low is None or high is None:
        return ""
    first = figure_text(low, digits, sign=sign, percent=percent).removesuffix(" %")
    return f"{first} … {figure_text(high, digits, sign=sign, percent=percent)}"
