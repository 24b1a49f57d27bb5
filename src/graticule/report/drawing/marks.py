"""What a row of a plot can hold: spans, ticks and points, at values of its axis.

A mark is drawn by one function for both uses: on the page its place is a percentage of a track that flows with the
screen (so text keeps its size on a phone), in a file it is a number of pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.markup import number, tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A bar from ``low`` to ``high``: an interval where thin, a band or a box where thick."""

    low: float
    high: float
    css: str
    thickness: float = 2.0
    shift: float = 0.0
    """Pixels below the middle of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A short upright line at a value."""

    at: float
    css: str
    height: float = 14.0
    shift: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A shape at a value."""

    at: float
    css: str
    shape: str = "circle"
    shift: float = 0.0
    tip: str = ""
    """What the point says when it is pointed at."""


Mark = Span | Tick | Point


def draw_mark(mark: Mark, *, place: Callable[[float], str], middle: float) -> Markup:
    """Return a mark as SVG; nothing where its value is not known.

    Parameters
    ----------
    mark
        What to draw.
    place
        Gives the x coordinate of a value, as SVG writes it.
    middle
        The y coordinate of the row's middle, in pixels.
    """
    y = middle + mark.shift
    match mark:
        case Span():
            return _draw_span(mark, place=place, y=y)
        case Tick():
            if not math.isfinite(mark.at):
                return Markup("")
            x = place(mark.at)
            ends = {"x1": x, "x2": x, "y1": y - mark.height / 2, "y2": y + mark.height / 2}
            return tag("line", {"class": mark.css, **ends})
        case Point():
            if not math.isfinite(mark.at):
                return Markup("")
            title = (tag("title", {}, mark.tip),) if mark.tip else ()
            facts = {"href": f"#shape-{mark.shape}", "class": mark.css, "x": place(mark.at), "y": y}
            return tag("use", {**facts, "data-value": f"{mark.at:.6g}"}, *title)


def _draw_span(mark: Span, *, place: Callable[[float], str], y: float) -> Markup:
    if not (math.isfinite(mark.low) and math.isfinite(mark.high)):
        return Markup("")
    half = mark.thickness / 2
    if mark.thickness <= 3:
        ends = {"x1": place(mark.low), "x2": place(mark.high), "y1": y, "y2": y}
        return tag("line", {"class": mark.css, "stroke-width": mark.thickness, **ends})
    start, end = place(mark.low), place(mark.high)
    unit = "%" if start.endswith("%") else ""
    width = number(float(end.rstrip("%")) - float(start.rstrip("%"))) + unit
    return tag("rect", {"class": mark.css, "x": start, "width": width, "y": y - half, "height": mark.thickness})
