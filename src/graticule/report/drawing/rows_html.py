"""A plot of rows as HTML: it flows with the screen, and its text keeps its size and can be read aloud."""

from __future__ import annotations

from markupsafe import Markup

from graticule.report.drawing.legend import write_legend
from graticule.report.drawing.marks import draw_mark
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import Line, Row, RowPlot
from graticule.report.drawing.scales import Axis

AXIS_HEIGHT = 22


def write_rows_html(plot: RowPlot) -> Markup:
    """Return a plot of rows as HTML."""
    rows = join(_write_row(row, plot) for row in plot.rows)
    divisions = max(1, len(plot.axis.ticks) - 1)
    return join(
        [
            write_legend(plot.legend),
            tag(
                "div",
                {"class": f"rows grid-{divisions} {'abreast ' if plot.abreast else ''}{plot.css}".strip()},
                _write_head(plot),
                tag("ul", {"class": "row-list"}, rows),
                _write_foot(plot),
            ),
        ]
    )


def _write_head(plot: RowPlot) -> Markup:
    name, words = plot.head
    return tag(
        "div",
        {"class": "row row-head", "aria-hidden": "true"},
        tag("span", {"class": "row-name"}, name),
        _write_axis(plot),
        tag("span", {"class": "row-words"}, words),
    )


def _write_foot(plot: RowPlot) -> Markup:
    if not plot.axis_title:
        return Markup("")
    return tag(
        "div",
        {"class": "row row-foot", "aria-hidden": "true"},
        tag("span", {"class": "row-name"}),
        tag("span", {"class": "axis-title"}, plot.axis_title),
        tag("span", {"class": "row-words"}),
    )


def _write_axis(plot: RowPlot) -> Markup:
    axis = plot.axis
    last = len(axis.ticks) - 1
    texts = join(
        tag(
            "text",
            {"x": _percent_along(axis, tick), "y": 15, "class": "minor" if (last - place) % 2 else None},
            plot.write_tick(tick),
        )
        for place, tick in enumerate(axis.ticks)
    )
    return tag("svg", {"class": "track axis", "height": AXIS_HEIGHT, "width": "100%"}, texts)


def _write_row(row: Row, plot: RowPlot) -> Markup:
    height = row.measure_height(abreast=plot.abreast)
    marks = [draw_mark(mark, place=lambda v: _percent_along(plot.axis, v), middle=height / 2) for mark in row.marks]
    if plot.zero:
        x = _percent_along(plot.axis, 0.0)
        marks.insert(0, tag("line", {"class": "zero", "x1": x, "x2": x, "y1": 0, "y2": "100%"}))
    detail = tag("span", {"class": "row-detail"}, row.detail) if row.detail else Markup("")
    return tag(
        "li",
        {
            "class": f"row {row.css}".strip(),
            "data-tip": row.tip or None,
            **{f"data-{key}": value for key, value in row.keys.items()},
        },
        tag("span", {"class": "row-name"}, tag("bdi", {"class": "row-title", "title": row.name}, row.name), detail),
        tag("svg", {"class": "track", "height": number(height), "width": "100%", "aria-hidden": "true"}, join(marks)),
        tag("span", {"class": "row-words"}, join(_write_line(line) for line in row.lines)),
    )


def _write_line(line: Line) -> Markup:
    symbol = Markup("")
    if line.shape:
        shape = tag("use", {"href": f"#shape-{line.shape}", "x": 6, "y": 6, "class": line.css})
        symbol = tag("svg", {"class": "key", "width": 12, "height": 12, "aria-hidden": "true"}, shape)
    detail = tag("span", {"class": "quiet"}, " " + line.detail) if line.detail else Markup("")
    return tag("span", {"class": "row-line"}, symbol, tag("bdi", {}, line.text), detail)


def _percent_along(axis: Axis, value: float) -> str:
    return number(100 * axis.place(value)) + "%"
