"""What a page is made of: text, facts, tables and a matrix.  Plots are in charts.py.

A block knows two forms of itself: ``html()`` and ``markdown()``.  Blocks hold plain text; they escape it (markup.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Protocol

from simcore import __version__
from simcore.reports.markup import Child, Element, code_block, markdown_table, markdown_text, tag, to_html

__all__ = [
    "Block",
    "Cell",
    "Column",
    "Command",
    "Facts",
    "Fold",
    "Hand",
    "Matrix",
    "MatrixCell",
    "Note",
    "Page",
    "Section",
    "Table",
    "Text",
    "Tile",
    "Tiles",
]

#: The page may load and run nothing, whatever is in it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SUITS = (("♠", "spades", False), ("♥", "hearts", True), ("♦", "diamonds", True), ("♣", "clubs", False))


class Block(Protocol):
    """A part of a page."""

    def html(self) -> Element:
        """Return it as an element."""
        ...

    def markdown(self) -> str:
        """Return it as Markdown, without an empty line at its end."""
        ...


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    small: bool = False

    def html(self) -> Element:
        return tag("p", self.text, class_="small" if self.small else None)

    def markdown(self) -> str:
        return markdown_text(self.text)


@dataclass(frozen=True)
class Note:
    """A paragraph that is not to be overlooked: ``kind`` is ``note`` or ``warning``."""

    text: str
    kind: str = "note"

    def html(self) -> Element:
        return tag("p", tag("strong", self.kind.capitalize() + ": "), self.text, class_=f"note {self.kind}", role="note")

    def markdown(self) -> str:
        return f"> **{self.kind.capitalize()}:** {markdown_text(self.text)}"


@dataclass(frozen=True)
class Command:
    """A line to type, or a text to keep as it is."""

    text: str
    label: str = ""

    def html(self) -> Element:
        return tag("div", self.label and tag("p", self.label), tag("pre", tag("code", self.text), tabindex="0"), class_="command")

    def markdown(self) -> str:
        return (markdown_text(self.label) + "\n\n" if self.label else "") + code_block(self.text)


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for: seed, versions, options."""

    items: Sequence[tuple[str, str]]

    def html(self) -> Element:
        return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in self.items], class_="facts")

    def markdown(self) -> str:
        return "\n".join(f"- {markdown_text(name)}: {markdown_text(value)}" for name, value in self.items)


@dataclass(frozen=True)
class Tile:
    """A figure that stands for the whole: what it is, its value, its interval or unit."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Tiles:
    """A few figures before everything else."""

    tiles: Sequence[Tile]

    def html(self) -> Element:
        return tag(
            "dl",
            [
                tag("div", tag("dt", tile.label), tag("dd", tag("b", tile.value), tile.note and tag("span", tile.note)))
                for tile in self.tiles
            ],
            class_="tiles",
        )

    def markdown(self) -> str:
        return "\n".join(
            f"- {markdown_text(tile.label)}: **{markdown_text(tile.value)}**"
            + (f" ({markdown_text(tile.note)})" if tile.note else "")
            for tile in self.tiles
        )


@dataclass(frozen=True)
class Hand:
    """Cards in one hand, in the notation of PBN (``AKQ.T98.75.65432``), shown by suits."""

    pbn: str
    label: str = ""

    def html(self) -> Element:
        suits = self.pbn.split(".")
        shown = [
            tag(
                "span",
                tag("b", symbol + "\ufe0e", class_="red" if red else None, aria_label=name),
                " " + (ranks.replace("T", "10") or "–"),
            )
            for (symbol, name, red), ranks in zip(_SUITS, suits, strict=False)
        ]
        return tag("p", self.label and tag("span", self.label, class_="who"), shown or self.pbn, class_="hand")

    def markdown(self) -> str:
        suits = zip(_SUITS, self.pbn.split("."), strict=False)
        cards = " ".join(f"{symbol}{ranks.replace('T', '10') or '–'}" for (symbol, _, _), ranks in suits)
        return markdown_text(f"{self.label} {cards}")


@dataclass(frozen=True)
class Column:
    """A column of a table; ``hint`` explains its head to who points at it."""

    title: str
    left: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell with something in small print behind its text."""

    text: str
    small: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.small}".strip()


def _framed(table: Element, caption: str, foot: str) -> Element:
    """Return a table that scrolls by itself where it is wider than the page; what is said about it stays."""
    scroll = tag("div", table, class_="scroll", tabindex="0")
    return tag("figure", caption and tag("figcaption", caption), scroll, foot and tag("p", foot, class_="small"), class_="table")


@dataclass(frozen=True)
class Table:
    """A table; ``caption`` says what it shows, ``foot`` what the columns mean.

    Args:
        marked: numbers of the rows to bring out.
        stacked: small print stands below its figure, so that many columns find room.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Cell]]
    caption: str = ""
    foot: str = ""
    marked: Sequence[int] = ()
    stacked: bool = False

    def html(self) -> Element:
        head = [
            tag("th", column.title, class_="left" if column.left else None, scope="col", title=column.hint or None)
            for column in self.columns
        ]
        body = [
            tag("tr", [self._cell(i, cell) for i, cell in enumerate(row)], class_="marked" if number in self.marked else None)
            for number, row in enumerate(self.rows)
        ]
        table = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="stacked" if self.stacked else None)
        return _framed(table, self.caption, self.foot)

    def _cell(self, place: int, cell: str | Cell) -> Element:
        content: Child = cell if isinstance(cell, str) else [cell.text, cell.small and tag("small", " " + cell.small)]
        attributes = {"class_": "left" if self.columns[place].left else None}
        return tag("th", content, scope="row", **attributes) if place == 0 else tag("td", content, **attributes)

    def markdown(self) -> str:
        left = next((i for i, column in enumerate(self.columns) if not column.left), len(self.columns))
        rows = [[str(cell) for cell in row] for row in self.rows]
        table = markdown_table([column.title for column in self.columns], rows, left)
        parts = [self.caption and f"**{markdown_text(self.caption)}**", table, markdown_text(self.foot)]
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class MatrixCell:
    """A figure between two: ``weight`` from −1 to 1 colours it (in favour of the row, or of the column)."""

    text: str
    small: str = ""
    weight: float = 0.0


@dataclass(frozen=True)
class Matrix:
    """Everyone against everyone: ``cells[i][j]`` is row i against column j, None where there is nothing to say."""

    names: Sequence[str]
    cells: Sequence[Sequence[MatrixCell | None]]
    caption: str = ""
    foot: str = ""

    def html(self) -> Element:
        head = tag("tr", tag("td"), [tag("th", name, scope="col") for name in self.names])
        body = [
            tag("tr", tag("th", name, scope="row"), [self._cell(cell) for cell in row])
            for name, row in zip(self.names, self.cells, strict=True)
        ]
        return _framed(tag("table", tag("thead", head), tag("tbody", body), class_="matrix"), self.caption, self.foot)

    @staticmethod
    def _cell(cell: MatrixCell | None) -> Element:
        if cell is None:
            return tag("td", "·", class_="none")
        weight = max(-1.0, min(1.0, cell.weight))
        style = f"--w:{round(100 * abs(weight))}%"
        return tag("td", cell.text, cell.small and tag("small", cell.small), class_="minus" if weight < 0 else "plus", style=style)

    def markdown(self) -> str:
        rows = [
            [name, *("·" if cell is None else f"{cell.text} {cell.small}".strip() for cell in row)]
            for name, row in zip(self.names, self.cells, strict=True)
        ]
        parts = [
            self.caption and f"**{markdown_text(self.caption)}**",
            markdown_table(["", *self.names], rows),
            markdown_text(self.foot),
        ]
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown when asked for; printed and in Markdown they are always there."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> Element:
        return tag("details", tag("summary", self.title), [block.html() for block in self.blocks])

    def markdown(self) -> str:
        return "\n\n".join([f"**{markdown_text(self.title)}**", *(block.markdown() for block in self.blocks)])


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> Element:
        return tag("section", tag("h2", self.title), [block.html() for block in self.blocks])

    def markdown(self) -> str:
        return "\n\n".join([f"## {markdown_text(self.title)}", *(block.markdown() for block in self.blocks)])


@cache
def _style() -> str:
    return (resources.files("simcore.reports") / "page.css").read_text("utf-8")


@dataclass(frozen=True)
class Page:
    """A whole page: ``title``, one sentence below it, blocks (most of them sections)."""

    title: str
    lead: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """Return the page as one HTML document that needs nothing else."""
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="generator", content=f"simcore {__version__}"),
            tag("meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY}),
            tag("title", self.title),
            tag("style", _style()),
        )
        body = tag(
            "body",
            tag(
                "main",
                tag("header", tag("h1", self.title), tag("p", self.lead, class_="lead")),
                [block.html() for block in self.blocks],
                tag("footer", f"simcore {__version__}"),
            ),
        )
        return "<!DOCTYPE html>\n" + to_html(tag("html", head, "\n", body, lang="en")) + "\n"

    def markdown(self) -> str:
        """Return the page as Markdown."""
        parts = [f"# {markdown_text(self.title)}", markdown_text(self.lead), *(block.markdown() for block in self.blocks)]
        return "\n\n".join(part for part in [*parts, f"simcore {__version__}"] if part) + "\n"
