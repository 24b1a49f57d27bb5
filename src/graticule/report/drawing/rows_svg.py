"""A plot of rows as SVG of a fixed width, for files."""

from __future__ import annotations

from itertools import accumulate

from markupsafe import Markup

from graticule.report.drawing.legend import draw_legend
from graticule.report.drawing.lettering import measure, shorten
from graticule.report.drawing.marks import draw_mark
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LINE_HEIGHT, Line, Row, RowPlot
from graticule.report.drawing.sheet import SHEET_WIDTH

NAME_LIMIT = 220.0
LINE_LIMIT = 330.0
GAP = 18.0
SIZE = 13.0
DETAIL_SIZE = 12.0
KEY_SPACE = 17.0


def draw_rows(plot: RowPlot, *, width: float = SHEET_WIDTH) -> tuple[Markup, float]:
    """Return a plot of rows as SVG, its origin at its upper left corner, and its height in pixels."""
    limit = min(NAME_LIMIT, width * 0.36)
    names = min(limit, max((_measure_name(row) for row in plot.rows), default=0.0))
    columns = _measure_columns(plot)
    left, right = names + GAP, width - sum(columns) - GAP
    legend, top = draw_legend(plot.legend, x=0.0, y=0.0, width=width)
    heights = [row.measure_height(abreast=plot.abreast) for row in plot.rows]
    top += 22
    bottom = top + sum(heights)
    parts = [legend, _draw_grid(plot, left=left, right=right, top=top, bottom=bottom)]

    def place(value: float) -> str:
        return number(left + plot.axis.place(value) * (right - left))

    if plot.zero:
        ends = {"x1": place(0.0), "x2": place(0.0), "y1": top, "y2": bottom}
        parts.append(tag("line", {"class": "zero", **ends}))
    for row, end, height in zip(plot.rows, accumulate(heights, initial=top), heights, strict=False):
        middle = end + height / 2
        parts.append(_draw_name(row, middle=middle, width=names))
        parts.extend(draw_mark(mark, place=place, middle=middle) for mark in row.marks)
        parts.extend(_draw_words(row, x=right + GAP, middle=middle, columns=columns, abreast=plot.abreast))
    group = {"class": plot.css or None}
    if not plot.axis_title:
        return tag("g", group, join(parts)), bottom + 8
    title = tag("text", {"class": "tick-text middle", "x": (left + right) / 2, "y": bottom + 20}, plot.axis_title)
    return tag("g", group, join([*parts, title])), bottom + 28


def _draw_grid(plot: RowPlot, *, left: float, right: float, top: float, bottom: float) -> Markup:
    parts: list[Markup] = []
    for tick in plot.axis.ticks:
        x = left + plot.axis.place(tick) * (right - left)
        parts.append(tag("line", {"class": "grid", "x1": x, "x2": x, "y1": top, "y2": bottom}))
        parts.append(tag("text", {"class": "tick-text middle", "x": x, "y": top - 8}, plot.write_tick(tick)))
    return join(parts)


def _draw_name(row: Row, *, middle: float, width: float) -> Markup:
    shift = -4.0 if row.detail else 4.5
    place = {"class": f"name-text {row.css}".strip(), "x": 0, "y": middle + shift}
    name = tag("text", place, shorten(row.name, width=width, size=SIZE, bold=True))
    if not row.detail:
        return name
    place = {"class": "detail-text", "x": 0, "y": middle + 13}
    return name + tag("text", place, shorten(row.detail, width=width, size=DETAIL_SIZE))


def _draw_words(row: Row, *, x: float, middle: float, columns: list[float], abreast: bool) -> list[Markup]:
    parts: list[Markup] = []
    for place, line in enumerate(row.lines):
        start = x + (sum(columns[:place]) if abreast else 0)
        width = columns[place] if abreast else columns[0]
        y = middle + (0 if abreast else (place - (len(row.lines) - 1) / 2) * LINE_HEIGHT)
        if line.shape:
            parts.append(tag("use", {"href": f"#shape-{line.shape}", "class": line.css, "x": start + 6, "y": y}))
            start, width = start + KEY_SPACE, width - KEY_SPACE
        detail = tag("tspan", {"class": "detail-text", "dx": 5}, line.detail) if line.detail else Markup("")
        text = shorten(line.text, width=width, size=SIZE)
        css = "words-text" if line.shape or not line.css else f"words-text {line.css}"
        parts.append(tag("text", {"class": css, "x": start, "y": y + 4.5}, text, detail))
    return parts


def _measure_columns(plot: RowPlot) -> list[float]:
    """Return the widths of the columns of words: one, or one a line where they stand abreast."""
    count = max((len(row.lines) for row in plot.rows), default=0)
    widths = [
        max((_measure_line(row.lines[place]) for row in plot.rows if place < len(row.lines)), default=0.0)
        for place in range(count)
    ]
    limited = [min(LINE_LIMIT, width) for width in widths]
    return limited if plot.abreast else [max(limited, default=0.0)]


def _measure_name(row: Row) -> float:
    return max(measure(row.name, size=SIZE, bold=True), measure(row.detail, size=DETAIL_SIZE)) + 4


def _measure_line(line: Line) -> float:
    detail = measure(line.detail, size=DETAIL_SIZE) + 5 if line.detail else 0.0
    return measure(line.text, size=SIZE, bold=True) + detail + (KEY_SPACE if line.shape else 0.0) + 10
