"""The blocks of a page: escaped, the same bytes every time, readable in a browser at every width and in both themes."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import CHROMIUM, look
from hypothesis import given
from hypothesis import strategies as st

from simcore.reports.blocks import (
    Cell,
    Column,
    Command,
    Facts,
    Fold,
    Hand,
    Matrix,
    MatrixCell,
    Note,
    Page,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
)
from simcore.reports.charts import Bar, Bars, Calibration, CalibrationPoint, Curve, Grid, Histogram, Line, Span, ticks
from simcore.reports.markup import code_block, figure_text, interval_text, markdown_table, tag, to_html

EVIL = "<script>alert(1)</script>\"'&|`*_[x](y)\n\x00\x1b\u202e\ud800"


def page_of(text: str) -> Page:
    """Return a page that has every block, with ``text`` wherever there is text."""
    bars = [
        Bar(text + "long-name-of-a-contract", [Span(6.5, 4.7, 8.4)], "best", text),
        Bar("nt-most", [Span(5.9, 4.4, 7.1)], "tied"),
        Bar("none", [Span(None)]),
        Bar("minus", [Span(-3.2, -4.4, -2.0)]),
    ]
    pair = [Bar("nt-most", [Span(0.52, 0.51, 0.53), Span(0.55, 0.54, 0.56)]), Bar("x", [Span(0.48), Span(None)])]
    shape = {2 * i: round(1e4 * math.exp(-((i - 5) ** 2) / 6)) for i in range(14)}
    xs = [float(x) for x in range(0, 9000, 3)]
    names = [text, "greedy", "expert", "pimc:worlds=20,exact_from=5"]
    cells = [[None if i == j else MatrixCell(f"{i - j:+}", text, (i - j) / 3) for j in range(4)] for i in range(4)]
    blocks = [
        Hand("AKQJT98.AK.32.", text),
        Tiles([Tile(text, text, text), Tile("Worlds", "4,812"), Tile("Win", "74.6 %", "70.1 … 78.2 %")]),
        Note(text, "warning"),
        Section(
            text,
            [
                Text(text),
                Bars(bars, text, sign=True, foot=text),
                Bars(pair, text, dots=True, percent=True, reference=0.5, series=(text, "b")),
            ],
        ),
        Table(
            [Column(text, True, text), *[Column(f"figure {i}") for i in range(9)]],
            [[text, *[Cell("+12.34", text)] * 9]],
            text,
            text,
            [0],
        ),
        Grid([Histogram(shape, text, text, 9.7, 13, text), Histogram(dict.fromkeys(range(-400, 400), 3), text), Histogram({})]),
        Calibration(
            [CalibrationPoint(x / 10, Span(x / 10, x / 10 - 0.1, x / 10 + 0.1), 200) for x in range(1, 10)],
            text,
            text,
            text,
            foot=text,
        ),
        Curve([Line(text, xs, [math.sin(x) for x in xs]), Line("b", [1.0], [2.0], [1.0], [3.0])], text, text, text, [(3.0, text)]),
        Matrix(names, cells, text, text),
        Command("simcore simulate elections --seed " + "9" * 39, text),
        Facts([(text, text), ("seed", "9" * 39)]),
        Fold(text, [Command(text)]),
    ]
    return Page(text, text, blocks)


class _Checker(HTMLParser):
    """Which tags open and close, and what text there is."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_everything_is_escaped() -> None:
    text = page_of(EVIL).html()
    text.encode("utf-8")  # no surrogates left
    checker = _Checker()
    checker.feed(text)
    assert checker.open == []
    assert "script" not in checker.tags
    assert not {name for name in checker.attributes if name.startswith("on")}
    assert "<script>alert(1)</script>" in checker.text
    assert not re.search("[\x00\x1b\u202e]", text)
    for word in ("http:", "https:", "url(", "@import", "src="):
        assert word not in text
    markdown = page_of(EVIL).markdown()
    markdown.encode("utf-8")
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$", "", markdown)
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\[x", outside)


@given(st.text(max_size=30))
def test_any_text_leaves_the_structure_alone(text: str) -> None:
    shown = to_html(tag("td", text, title=text))
    checker = _Checker()
    checker.feed(shown)
    assert checker.tags == {"td"}
    assert checker.attributes == {"title"}
    table = markdown_table(["a", "b"], [[text, text]])
    assert len(table.splitlines()) == 3
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", table.splitlines()[2])) == 3
    block = code_block(text)
    fence = block.split("\n")[0]
    assert block.endswith(f"\n{fence}")
    assert fence not in block[len(fence) : -len(fence)]


def test_same_values_same_bytes_in_every_process() -> None:
    script = (
        "from test_pages import page_of; import hashlib; p = page_of('x')\n"
        "print(hashlib.sha256((p.html() + p.markdown()).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(seen) == 1


def test_figures() -> None:
    assert figure_text(-0.001, 2) == "0.00"
    assert figure_text(0.0, 2, sign=True) == "0.00"
    assert figure_text(-1234.56, 1) == "−1,234.6"
    assert figure_text(0.12345, 1, percent=True) == "12.3 %"
    assert interval_text(0.1, 0.2, 0, percent=True) == "10 … 20 %"
    assert interval_text(None, 0.2) == ""
    assert to_html(tag("line", x=-0.0001, y=1 / 3, width=100)) == '<line x="0" y="0.333" width="100"></line>'


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (-3, 7), (1e-9, 2e-9), (-5e6, 1e9), (0.34, 0.36), (7, 7)])
def test_ticks_enclose(low: float, high: float) -> None:
    found = ticks(low, high)
    assert found[0] <= low
    assert found[-1] >= high
    assert 2 <= len(found) <= 12
    assert found == sorted(set(found))


def test_bars_lie_where_their_figures_are() -> None:
    chart = Bars([Bar("a", [Span(5.0, 4.0, 6.0)]), Bar("b", [Span(-5.0, -6.0, -4.0)])]).html()
    first, second = list(chart.iter("rect"))
    axis = ticks(-6, 6)
    middle = 100 * -axis[0] / (axis[-1] - axis[0])
    assert float(first.get("x", "").rstrip("%")) == pytest.approx(middle, abs=0.01)
    width = 100 * 5 / (axis[-1] - axis[0])
    assert float(first.get("width", "").rstrip("%")) == pytest.approx(width, abs=0.01)
    assert float(second.get("x", "").rstrip("%")) == pytest.approx(middle - width, abs=0.01)


def test_histogram_keeps_every_count() -> None:
    for counts in ({-3: 1, 4: 2}, dict.fromkeys(range(-500, 501), 2), {0: 5}, dict.fromkeys(range(0, 2000, 10), 1)):
        chart = Histogram(counts)
        titles = [title.text or "" for title in chart.html().iter("title")]
        assert sum(int(re.search(r"\(([\d,]+)\)", title)[1].replace(",", "")) for title in titles) == sum(counts.values())
        assert len(titles) <= 60


def test_curve_keeps_its_extremes() -> None:
    xs = [float(i) for i in range(100_000)]
    ys = [0.0] * 100_000
    ys[54_321] = 7.0
    (path,) = list(Curve([Line("a", xs, ys)]).html().iter("path"))
    points = [tuple(map(float, point.split(","))) for point in path.get("d", "")[1:].split(" L")]
    assert len(points) <= 700
    low, high = ticks(0, 7, 5)[0], ticks(0, 7, 5)[-1]
    assert min(y for _, y in points) == pytest.approx(1000 * (1 - (7 - low) / (high - low)), abs=0.1)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: pages are not looked at in a browser")
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser_at_a_phones_width(tmp_path: Path, dark: bool) -> None:
    pages = [page_of("plain words").html(), page_of("x" * 90).html(), page_of("<b>&" * 9).html()]
    facts, said = look(pages, tmp_path, dark=dark)
    assert said == []
    assert len(facts) == 3
    for fact in facts:
        assert fact["width"] == 390, fact
        assert fact["out"] == [], fact
        assert fact["plots"]
        shades = [int(shade) for shade in re.findall(r"\d+", str(fact["background"]))[:3]]
        assert (max(shades) < 80) if dark else (min(shades) > 200)


def test_elements_only_come_from_the_serialiser() -> None:
    assert to_html(tag("p", ["a", tag("b", "x"), "c", None, ["d"]])) == "<p>a<b>x</b>cd</p>"
    assert isinstance(tag("p"), ET.Element)
