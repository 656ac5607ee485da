"""Plots as inline SVG: bars with intervals, histograms, calibration, curves with bounds.

Why our own: a page has to follow the reader's light or dark theme and the width of a phone, and be the same bytes every time; a
plotting library draws pictures of one size in one set of colours.  Positions along the page are written in percent, so a plot
grows with its column while its text keeps its size; colours are variables of page.css.  Every plot says its figures in text too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simcore.reports.blocks import Block
from simcore.reports.markup import Child, Element, figure_text, interval_text, markdown_table, markdown_text, tag

__all__ = ["Bar", "Bars", "Calibration", "CalibrationPoint", "Curve", "Grid", "Histogram", "Line", "Span", "Stack", "ticks"]

#: More bins than this are joined.
_MOST_BINS = 60
#: More points of a line than this are thinned; extremes stay.
_MOST_POINTS = 600
_SYMBOLS = {"best": "★", "tied": "="}


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from below ``low`` to above ``high``, at most ``most`` steps.

    >>> ticks(-2.6, 9.1)
    [-5.0, 0.0, 5.0, 10.0]
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def _tick_text(value: float, percent: bool = False) -> str:
    shown = 100 * value if percent else value
    return f"{shown:,.10g}".replace("-", "−")


def _percent(value: float, low: float, high: float) -> str:
    """Return where a value lies between two others, as a share of the way."""
    share = (value - low) / ((high - low) or 1.0)
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


@dataclass(frozen=True)
class Span:
    """A figure with its interval; None where it cannot be told."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: one figure, or one of each series.  ``mark`` is ``best``, ``tied`` or empty."""

    label: str
    spans: Sequence[Span]
    mark: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """Horizontal bars with intervals, one row a choice.

    With ``dots`` figures are dots, not bars: for what has no meaningful zero (a share of wins lies about 50 %, ``reference``).
    ``series`` names the figures of a row where there are several (two rulesets side by side).
    """

    bars: Sequence[Bar]
    caption: str = ""
    digits: int = 1
    sign: bool = False
    percent: bool = False
    dots: bool = False
    reference: float | None = None
    series: Sequence[str] = ()
    foot: str = ""

    def _axis(self) -> list[float]:
        numbers = [x for bar in self.bars for span in bar.spans for x in (span.value, span.low, span.high) if x is not None]
        if not self.dots:
            numbers.append(0.0)
        if self.reference is not None:
            numbers.append(self.reference)
        return ticks(min(numbers), max(numbers)) if numbers else [0.0, 1.0]

    def html(self) -> Element:
        axis = self._axis()
        low, high = axis[0], axis[-1]
        rows = [self._row(bar, axis) for bar in self.bars]
        labels = [
            tag("text", _tick_text(tick, self.percent), x=_percent(tick, low, high), y=12, class_=self._anchor(i, len(axis)))
            for i, tick in enumerate(axis)
        ]
        foot = tag(
            "div", tag("span"), tag("svg", labels, class_="plot", height=16, aria_hidden="true"), tag("span"), class_="bar axis"
        )
        return tag(
            "figure",
            self.caption and tag("figcaption", self.caption, " (%)" if self.percent else None),
            _legend(self.series),
            rows,
            foot,
            self.foot and tag("p", self.foot, class_="small"),
            class_="bars",
        )

    @staticmethod
    def _anchor(place: int, count: int) -> str:
        return "tick first" if place == 0 else "tick last" if place == count - 1 else "tick"

    def _row(self, bar: Bar, axis: Sequence[float]) -> Element:
        low, high = axis[0], axis[-1]
        count = len(bar.spans)
        size = 26 if count == 1 else 16 * count + 6
        drawn: list[Child] = [_upright(tick, low, high, size, "grid") for tick in axis]
        origin = 0.0 if not self.dots else self.reference
        if origin is not None:
            drawn.append(_upright(origin, low, high, size, "zero"))
        for place, span in enumerate(bar.spans):
            middle = size * (2 * place + 1) / (2 * count) if count == 1 else 3 + 16 * place + 8
            drawn.append(self._mark(span, middle, low, high, f"s{place + 1} {bar.mark}".strip()))
        values = [
            tag("span", tag("b", self._figure(span)), " ", tag("small", self._interval(span)), class_=f"v{place + 1}")
            for place, span in enumerate(bar.spans)
        ]
        label = [_symbol(bar.mark), bar.label, bar.note and tag("small", " " + bar.note)]
        return tag(
            "div",
            tag("span", label, class_="label"),
            tag("svg", drawn, class_="plot", height=size, aria_hidden="true"),
            tag("span", values, class_="value"),
            class_=f"bar {bar.mark}".strip(),
        )

    def _mark(self, span: Span, y: float, low: float, high: float, kind: str) -> Child:
        if span.value is None:
            return None
        drawn: list[Child] = []
        if not self.dots:
            start, end = sorted((0.0, span.value))
            width = 100 * (end - start) / ((high - low) or 1.0)
            drawn.append(
                tag("rect", x=_percent(start, low, high), y=y - 6, width=f"{width:.2f}%", height=12, rx=2, class_=f"fill {kind}")
            )
        if span.low is not None and span.high is not None:
            a, b = _percent(span.low, low, high), _percent(span.high, low, high)
            name = f"whisker {kind}" if self.dots else "whisker"
            drawn.append(tag("line", x1=a, x2=b, y1=y, y2=y, class_=name))
            drawn += [tag("line", x1=x, x2=x, y1=y - 3, y2=y + 3, class_=name) for x in (a, b)]
        if self.dots:
            drawn.append(tag("circle", cx=_percent(span.value, low, high), cy=y, r=4.5, class_=f"fill {kind}"))
        return drawn

    def _figure(self, span: Span) -> str:
        return figure_text(span.value, self.digits, sign=self.sign, percent=self.percent)

    def _interval(self, span: Span) -> str:
        return interval_text(span.low, span.high, self.digits, sign=self.sign, percent=self.percent)

    def markdown(self) -> str:
        names = list(self.series) or ["value"]
        header = ["", *(head for name in names for head in (name, "interval"))]
        rows = []
        for bar in self.bars:
            label = " ".join(part for part in (_SYMBOLS.get(bar.mark, ""), bar.label, bar.note) if part)
            rows.append([label, *(text for span in bar.spans for text in (self._figure(span), self._interval(span)))])
        return _with_caption(self.caption, markdown_table(header, rows), self.foot)


def _symbol(mark: str) -> Child:
    return (
        tag("span", _SYMBOLS[mark] + " ", class_="mark", title={"best": "best", "tied": "cannot be told from the best"}[mark])
        if mark
        else None
    )


def _legend(series: Sequence[str]) -> Child:
    if len(series) < 2:
        return None
    return tag("p", [tag("span", tag("i", class_=f"key s{i + 1}"), name) for i, name in enumerate(series)], class_="legend")


def _upright(x: float, low: float, high: float, height: float, kind: str) -> Element:
    place = _percent(x, low, high)
    return tag("line", x1=place, x2=place, y1=0, y2=height, class_=kind)


def _level(y: float, kind: str) -> Element:
    return tag("line", x1="0%", x2="100%", y1=y, y2=y, class_=kind)


def _with_caption(caption: str, table: str, foot: str = "") -> str:
    parts = [caption and f"**{markdown_text(caption)}**", table, markdown_text(foot)]
    return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Histogram:
    """How often each whole number came up: ``counts`` by value.

    ``threshold`` draws a line (as where winning begins) with ``threshold_label``; ``mean`` a second one.
    """

    counts: Mapping[int, int]
    caption: str = ""
    label: str = ""
    mean: float | None = None
    threshold: float | None = None
    threshold_label: str = ""
    height: int = 110

    def _bins(self) -> tuple[int, bool, list[tuple[int, int]]]:
        """Return the step between bins, whether a bin joins several values, and (first value, count) of each bin."""
        seen = sorted(value for value, count in self.counts.items() if count)
        if not seen:
            return 1, False, []
        one = step = math.gcd(*(value - seen[0] for value in seen)) or 1
        while (seen[-1] - seen[0]) // step >= _MOST_BINS:
            step *= 2
        bins = dict.fromkeys(range(seen[0], seen[-1] + 1, step), 0)
        for value in seen:
            bins[seen[0] + (value - seen[0]) // step * step] += self.counts[value]
        return step, step > one, list(bins.items())

    @staticmethod
    def _name(value: int, step: int, joined: bool) -> str:
        return (f"{value} to {value + step - 1}" if joined else f"{value}").replace("-", "−")

    def html(self) -> Element:
        step, joined, bins = self._bins()
        total = sum(count for _, count in bins)
        if not total:
            return tag(
                "figure",
                self.caption and tag("figcaption", self.caption),
                tag("p", "no values", class_="small"),
                class_="histogram",
            )
        shift = -0.5 if joined else -step / 2  # a bin of one value lies around it
        low, high = bins[0][0] + shift, bins[-1][0] + shift + step
        top = max(count for _, count in bins) / total
        scale = ticks(0, top, 3)
        height = self.height

        def y(share: float) -> float:
            return height * (1 - share / scale[-1])

        drawn: list[Child] = [_level(y(tick), "grid" if tick else "zero") for tick in scale]
        drawn += [tag("text", _tick_text(tick, True) + " %", x="0%", dx=-5, y=y(tick) + 3.5, class_="tick last") for tick in scale]
        for value, count in bins:
            if count:
                # a hair of paper between neighbours, whatever the width; few bars are kept slim
                slim = 0.88 if len(bins) > 4 else 0.5
                left, width = _percent(value + shift + (1 - slim) / 2 * step, low, high), 100 * slim * step / (high - low)
                share = count / total
                tip = tag("title", f"{self._name(value, step, joined)}: {figure_text(share, 1, percent=True)} ({count:,})")
                drawn.append(
                    tag("rect", tip, x=left, y=y(share), width=f"{width:.2f}%", height=height - y(share), class_="fill s1")
                )
        drawn += [
            tag("text", _tick_text(tick), x=_percent(tick, low, high), y=height + 14, class_="tick") for tick in self._labels(bins)
        ]
        if self.threshold is not None:
            drawn.append(_upright(self.threshold, low, high, height, "threshold"))
        if self.mean is not None:
            drawn.append(
                tag(
                    "path",
                    d="M-4,-9 L4,-9 L0,-2 Z",
                    class_="mean",
                    style=f"transform:translate({_percent(self.mean, low, high)},0)",
                )
            )
        what = [self.label]
        if self.mean is not None:
            what.append(f"▼ mean {figure_text(self.mean, 2)}")
        if self.threshold is not None and self.threshold_label:
            what.append(f"┆ {self.threshold_label}")
        said = ", ".join(part for part in what if part)
        plot = tag("svg", drawn, class_="plot framed", height=height, role="img", aria_label=f"{self.caption}: {said}".strip(": "))
        return tag(
            "figure",
            self.caption and tag("figcaption", self.caption),
            tag("div", plot, class_="frame"),
            said and tag("p", said, class_="small"),
            class_="histogram",
        )

    @staticmethod
    def _labels(bins: Sequence[tuple[int, int]]) -> list[int]:
        if len(bins) <= 5:
            return [value for value, _ in bins]
        first, last = bins[0][0], bins[-1][0]
        inner = [int(t) for t in ticks(first, last, 6) if float(t).is_integer() and first <= t <= last]
        return inner if len(inner) > 1 else sorted({first, last})

    def markdown(self) -> str:
        step, joined, bins = self._bins()
        total = sum(count for _, count in bins) or 1
        top = max((count for _, count in bins), default=1) or 1
        rows = [
            [self._name(value, step, joined), figure_text(count / total, 2, percent=True), "█" * round(20 * count / top)]
            for value, count in bins
        ]
        what = [self.caption, self.mean is not None and f"mean {figure_text(self.mean, 2)}"]
        caption = ", ".join(part for part in what if part)
        return _with_caption(caption, markdown_table([self.label or "value", "share", ""], rows))


@dataclass(frozen=True)
class Grid:
    """Small plots side by side, as many as the width allows."""

    blocks: Sequence[Block]

    def html(self) -> Element:
        return tag("div", [block.html() for block in self.blocks], class_="small-multiples")

    def markdown(self) -> str:
        return "\n\n".join(block.markdown() for block in self.blocks)


@dataclass(frozen=True)
class Stack:
    """Blocks one below the other that stay together, as in a cell of a Grid."""

    blocks: Sequence[Block]

    def html(self) -> Element:
        return tag("div", [block.html() for block in self.blocks], class_="stack")

    def markdown(self) -> str:
        return "\n\n".join(block.markdown() for block in self.blocks)


@dataclass(frozen=True)
class CalibrationPoint:
    """What was foretold and what came of it, over ``n`` cases."""

    foretold: float
    seen: Span
    n: int


@dataclass(frozen=True)
class Calibration:
    """What was foretold against what was seen: on the diagonal where the forecast is right."""

    points: Sequence[CalibrationPoint]
    caption: str = ""
    across: str = "foretold"
    up: str = "seen"
    digits: int = 1
    percent: bool = False
    foot: str = ""
    height: int = 260

    def html(self) -> Element:
        numbers = [x for p in self.points for x in (p.foretold, p.seen.value, p.seen.low, p.seen.high) if x is not None]
        scale = ticks(min(numbers), max(numbers), 5) if numbers else [0.0, 1.0]
        low, high, size = scale[0], scale[-1], self.height

        def y(value: float) -> float:
            return size * (1 - (value - low) / (high - low))

        drawn: list[Child] = []
        for tick in scale:
            drawn += [_level(y(tick), "grid"), _upright(tick, low, high, size, "grid")]
            drawn.append(tag("text", _tick_text(tick, self.percent), x="0%", dx=-5, y=y(tick) + 3.5, class_="tick last"))
            drawn.append(tag("text", _tick_text(tick, self.percent), x=_percent(tick, low, high), y=size + 15, class_="tick"))
        drawn.append(tag("line", x1="0%", y1="100%", x2="100%", y2="0%", class_="diagonal"))
        for point in self.points:
            if point.seen.value is None:
                continue
            x = _percent(point.foretold, low, high)
            if point.seen.low is not None and point.seen.high is not None:
                drawn.append(tag("line", x1=x, x2=x, y1=y(point.seen.low), y2=y(point.seen.high), class_="whisker s1"))
            tip = tag(
                "title", f"{self.across} {self._text(point.foretold)}, {self.up} {self._text(point.seen.value)} (n {point.n:,})"
            )
            drawn.append(tag("circle", tip, cx=x, cy=y(point.seen.value), r=4.5, class_="fill s1"))
        label = f"{self.caption}: {self.up} against {self.across}".strip(": ")
        plot = tag("svg", drawn, class_="plot framed square", height=size, role="img", aria_label=label)
        unit = " (%)" if self.percent else ""
        return tag(
            "figure",
            self.caption and tag("figcaption", self.caption),
            tag("p", f"↑ {self.up}{unit}", class_="small axis-title"),
            tag("div", plot, class_="frame"),
            tag("p", f"→ {self.across}{unit}", class_="small axis-title"),
            self.foot and tag("p", self.foot, class_="small"),
            class_="calibration",
        )

    def _text(self, value: float | None) -> str:
        return figure_text(value, self.digits, percent=self.percent)

    def markdown(self) -> str:
        rows = [
            [
                self._text(p.foretold),
                self._text(p.seen.value),
                interval_text(p.seen.low, p.seen.high, self.digits, percent=self.percent),
                f"{p.n:,}",
            ]
            for p in self.points
        ]
        return _with_caption(self.caption, markdown_table([self.across, self.up, "interval", "n"], rows, 0), self.foot)


@dataclass(frozen=True)
class Line:
    """A line through points in order of x; ``low`` and ``high`` are its bounds where it has any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Curve:
    """Lines over a common axis with level bounds, as of a sequential test: ``bounds`` are (level, what it means)."""

    lines: Sequence[Line]
    caption: str = ""
    across: str = ""
    up: str = ""
    bounds: Sequence[tuple[float, str]] = ()
    digits: int = 2
    percent: bool = False
    foot: str = ""
    height: int = 220

    def html(self) -> Element:
        xs = [x for line in self.lines for x in line.x]
        ys = [y for line in self.lines for y in (*line.y, *line.low, *line.high)] + [level for level, _ in self.bounds]
        if not xs:
            return tag(
                "figure", self.caption and tag("figcaption", self.caption), tag("p", "no values", class_="small"), class_="curve"
            )
        across, up = ticks(min(xs), max(xs), 5), ticks(min(ys), max(ys), 5)
        left, right, low, high = min(xs), max(xs), up[0], up[-1]
        if left == right:
            left, right = left - 0.5, right + 0.5
        size = self.height

        def y(value: float) -> float:
            return size * (1 - (value - low) / (high - low))

        drawn: list[Child] = []
        for tick in up:
            drawn.append(_level(y(tick), "zero" if tick == 0 else "grid"))
            drawn.append(tag("text", _tick_text(tick, self.percent), x="0%", dx=-5, y=y(tick) + 3.5, class_="tick last"))
        drawn += [
            tag("text", _tick_text(tick), x=_percent(tick, left, right), y=size + 15, class_="tick")
            for tick in across
            if left <= tick <= right
        ]
        for level, meaning in self.bounds:
            drawn.append(_level(y(level), "threshold"))
            below = y(level) > 16
            drawn.append(tag("text", meaning, x="100%", dx=-4, y=y(level) + (-5 if below else 13), class_="tick last strong"))
        shapes: list[Child] = []
        for place, line in enumerate(self.lines):
            kind = f"s{place % 4 + 1}"
            if line.low and line.high:
                there, back = _path(line.x, line.low, left, right, low, high), _path(line.x, line.high, left, right, low, high)
                shapes.append(tag("path", d="M" + " L".join(there + back[::-1]) + " Z", class_=f"band {kind}"))
            shapes.append(tag("path", d="M" + " L".join(_path(line.x, line.y, left, right, low, high)), class_=f"line {kind}"))
        view = tag("svg", shapes, viewBox="0 0 1000 1000", preserveAspectRatio="none", width="100%", height=size)
        label = f"{self.caption}: {self.up} over {self.across}".strip(": ")
        plot = tag("svg", drawn, view, class_="plot framed", height=size, role="img", aria_label=label)
        unit = " (%)" if self.percent else ""
        return tag(
            "figure",
            self.caption and tag("figcaption", self.caption),
            _legend([line.name for line in self.lines]),
            self.up and tag("p", f"↑ {self.up}{unit}", class_="small axis-title"),
            tag("div", plot, class_="frame"),
            self.across and tag("p", f"→ {self.across}", class_="small axis-title"),
            self.foot and tag("p", self.foot, class_="small"),
            class_="curve",
        )

    def markdown(self) -> str:
        names = [line.name for line in self.lines]
        rows = []
        for line in self.lines:
            keep = sorted({round(i * (len(line.x) - 1) / 10) for i in range(11)}) if line.x else []
            for i in keep:
                interval = (
                    interval_text(line.low[i], line.high[i], self.digits, percent=self.percent) if line.low and line.high else ""
                )
                row = [_tick_text(line.x[i]), figure_text(line.y[i], self.digits, percent=self.percent), interval]
                rows.append([line.name, *row] if len(names) > 1 else row)
        header = [self.across or "x", self.up or "y", "interval"]
        table = markdown_table(["line", *header] if len(names) > 1 else header, rows)
        bounds = "; ".join(
            f"{meaning} at {figure_text(level, self.digits, percent=self.percent)}" for level, meaning in self.bounds
        )
        return _with_caption(self.caption, table, " ".join(part for part in (bounds and f"Bounds: {bounds}.", self.foot) if part))


def _path(x: Sequence[float], y: Sequence[float], left: float, right: float, low: float, high: float) -> list[str]:
    """Return points of a line in a box of 1000 by 1000; of very many, each stretch's lowest and highest stay."""
    keep: Sequence[int] = range(len(x))
    if len(x) > _MOST_POINTS:
        stretch = len(x) / (_MOST_POINTS // 2)
        chosen = {0, len(x) - 1}
        for i in range(_MOST_POINTS // 2):
            part = range(round(i * stretch), min(round((i + 1) * stretch), len(x)))
            if part:
                chosen |= {min(part, key=y.__getitem__), max(part, key=y.__getitem__)}
        keep = sorted(chosen)
    return [f"{1000 * (x[i] - left) / (right - left):.1f},{1000 * (1 - (y[i] - low) / (high - low)):.1f}" for i in keep]
