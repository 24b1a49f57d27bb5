"""A panel of curves: a number that grows or falls with another, with its interval as a band and points on the line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.lettering import shorten
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.scales import Axis

LEFT = 46.0
TOP = 10.0
RIGHT = 14.0
BOTTOM = 42.0
WIDTH = 380.0
HEIGHT = 250.0
HEAD = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A point of a curve, with its interval (NaN where there is none) and what it says when pointed at."""

    x: float
    y: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve in one of the mark colours and shapes."""

    css: str
    shape: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """Curves over common axes.

    Parameters
    ----------
    title, detail
        Two lines above it.
    curves
        What is drawn.
    x_axis, y_axis
        Scales; with ``is_log`` the x axis holds logarithms (base 10) of the points' x.
    x_title
        What is along the bottom.
    write_x, write_y
        Texts of ticks.
    level
        A dashed line across; NaN for none.
    """

    title: str
    detail: str
    curves: tuple[Curve, ...]
    x_axis: Axis
    y_axis: Axis
    x_title: str
    write_x: Callable[[float], str]
    write_y: Callable[[float], str]
    is_log: bool = False
    level: float = math.nan

    def x(self, value: float) -> float:
        """Return where a number is across, in pixels."""
        placed = self.x_axis.place(math.log10(value) if self.is_log else value)
        return LEFT + placed * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return where a number is down, in pixels."""
        return TOP + (1 - self.y_axis.place(value)) * (HEIGHT - TOP - BOTTOM)


def draw_panel(panel: LinePanel) -> Markup:
    """Return a panel as SVG, `WIDTH` by `HEIGHT`, its origin at its upper left corner."""
    parts = [_draw_frame(panel)]
    if math.isfinite(panel.level):
        y = panel.y(panel.level)
        parts.append(tag("line", {"class": "diagonal", "x1": LEFT, "x2": WIDTH - RIGHT, "y1": y, "y2": y}))
    for curve in panel.curves:
        known = [point for point in curve.points if math.isfinite(point.y)]
        banded = [point for point in known if math.isfinite(point.low) and math.isfinite(point.high)]
        if len(banded) > 1:
            upper = [f"{number(panel.x(point.x))} {number(panel.y(point.high))}" for point in banded]
            lower = [f"{number(panel.x(point.x))} {number(panel.y(point.low))}" for point in reversed(banded)]
            shape = {"class": curve.css, "d": f"M{'L'.join([*upper, *lower])}z", "fill-opacity": 0.14}
            parts.append(tag("path", {**shape, "stroke-width": 0}))
        line = "L".join(f"{number(panel.x(point.x))} {number(panel.y(point.y))}" for point in known)
        if len(known) > 1:
            parts.append(tag("path", {"class": curve.css, "d": f"M{line}", "fill-opacity": 0, "stroke-width": 1.75}))
        for point in known:
            facts = {"href": f"#shape-{curve.shape}", "class": curve.css, "x": panel.x(point.x), "y": panel.y(point.y)}
            parts.append(tag("use", {**facts, "data-value": f"{point.y:.6g}"}, tag("title", {}, point.tip)))
    return join(parts)


def write_panel_html(panel: LinePanel) -> Markup:
    """Return a panel as a card of a page."""
    size = {"viewBox": f"0 0 {number(WIDTH)} {number(HEIGHT)}", "class": "reliability"}
    named = f"{panel.title}: {panel.detail}" if panel.detail else panel.title
    drawing = tag("svg", {**size, "role": "img", "aria-label": named}, draw_panel(panel))
    heading = tag("h4", {}, tag("bdi", {}, panel.title), tag("span", {"class": "quiet"}, " " + panel.detail))
    return tag("section", {"class": "card small"}, heading, drawing)


def draw_panels(panels: tuple[LinePanel, ...], *, columns: int, gap: float) -> tuple[Markup, float]:
    """Return panels with their headings in columns as SVG for a file, and the height."""
    parts: list[Markup] = []
    for place, panel in enumerate(panels):
        across, down = (place % columns) * (WIDTH + gap), (place // columns) * (HEIGHT + HEAD + 12)
        name = tag(
            "text", {"class": "card-title", "x": 0, "y": 14}, shorten(panel.title, width=WIDTH, size=14.0, bold=True)
        )
        below = tag("text", {"class": "detail-text", "x": 0, "y": 31}, shorten(panel.detail, width=WIDTH, size=12.0))
        body = tag("g", {"transform": f"translate(0 {number(HEAD)})"}, draw_panel(panel))
        parts.append(tag("g", {"transform": f"translate({number(across)} {number(down)})"}, name, below, body))
    return join(parts), math.ceil(len(panels) / columns) * (HEIGHT + HEAD + 12)


def _draw_frame(panel: LinePanel) -> Markup:
    parts: list[Markup] = []
    bottom = panel.y(panel.y_axis.low)
    for tick in panel.y_axis.ticks:
        y = panel.y(tick)
        parts.append(tag("line", {"class": "grid", "x1": LEFT, "x2": WIDTH - RIGHT, "y1": y, "y2": y}))
        parts.append(tag("text", {"class": "tick-text end", "x": LEFT - 6, "y": y + 4}, panel.write_y(tick)))
    for tick in panel.x_axis.ticks:
        x = panel.x(10**tick if panel.is_log else tick)
        parts.append(tag("line", {"class": "grid", "x1": x, "x2": x, "y1": TOP, "y2": bottom}))
        shown = panel.write_x(10**tick if panel.is_log else tick)
        parts.append(tag("text", {"class": "tick-text middle", "x": x, "y": bottom + 16}, shown))
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(tag("text", {"class": "tick-text middle", "x": middle, "y": bottom + 34}, panel.x_title))
    return join(parts)
