"""A reliability diagram: how often a model is right against how sure it says it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.lettering import shorten
from graticule.report.drawing.markup import join, number, tag

SIDE = 132.0
LEFT = 34.0
TOP = 8.0
BOTTOM = 34.0
WIDTH = LEFT + SIDE + 10
HEIGHT = TOP + SIDE + BOTTOM
SMALLEST_RADIUS = 2.0
RADIUS_RANGE = 3.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Images of about one confidence."""

    confidence: float
    accuracy: float
    low: float
    high: float
    n: int
    thin: bool
    tip: str


def draw_reliability(bins: tuple[Bin, ...]) -> Markup:
    """Return the diagram as SVG, `WIDTH` by `HEIGHT` pixels, its origin at its upper left corner."""
    largest = max((cell.n for cell in bins), default=1)
    parts = [_draw_frame(), tag("path", {"class": "diagonal", "d": f"M{_x(0.0)} {_y(0.0)}L{_x(1.0)} {_y(1.0)}"})]
    for cell in bins:
        if cell.n == 0 or not (math.isfinite(cell.accuracy) and math.isfinite(cell.confidence)):
            continue
        css = "mark-thin" if cell.thin else "mark-0"
        x = _x(cell.confidence)
        if math.isfinite(cell.low) and math.isfinite(cell.high):
            ends = {"x1": x, "x2": x, "y1": _y(cell.low), "y2": _y(cell.high)}
            parts.append(tag("line", {"class": f"{css} interval", "stroke-width": 1.25, **ends}))
        radius = SMALLEST_RADIUS + RADIUS_RANGE * math.sqrt(cell.n / largest)
        dot = {"class": f"{css} dot", "cx": x, "cy": _y(cell.accuracy), "r": radius}
        parts.append(tag("circle", {**dot, "data-value": f"{cell.accuracy:.6g}"}, tag("title", {}, cell.tip)))
    return join(parts)


def write_reliability_html(bins: tuple[Bin, ...], *, title: str, detail: str) -> Markup:
    """Return the diagram as a card of a page."""
    size = {"viewBox": f"0 0 {number(WIDTH)} {number(HEIGHT)}", "class": "reliability"}
    drawing = tag("svg", {**size, "role": "img", "aria-label": f"{title}: {detail}"}, draw_reliability(bins))
    heading = tag("h4", {}, tag("bdi", {}, title), tag("span", {"class": "quiet"}, " " + detail))
    return tag("section", {"class": "card small"}, heading, drawing)


def draw_reliability_card(bins: tuple[Bin, ...], *, title: str, detail: str) -> Markup:
    """Return the diagram with its heading as SVG for a file."""
    name = tag("text", {"class": "card-title", "x": LEFT, "y": 14}, shorten(title, width=SIDE, size=14.0, bold=True))
    below = tag("text", {"class": "detail-text", "x": LEFT, "y": 31}, detail)
    return name + below + tag("g", {"transform": "translate(0 38)"}, draw_reliability(bins))


def _draw_frame() -> Markup:
    parts: list[Markup] = []
    for tick in (0.0, 0.5, 1.0):
        parts.append(tag("line", {"class": "grid", "x1": _x(tick), "x2": _x(tick), "y1": _y(0.0), "y2": _y(1.0)}))
        parts.append(tag("line", {"class": "grid", "x1": _x(0.0), "x2": _x(1.0), "y1": _y(tick), "y2": _y(tick)}))
        label = f"{100 * tick:.0f}%"
        parts.append(tag("text", {"class": "tick-text middle", "x": _x(tick), "y": _y(0.0) + 15}, label))
        parts.append(tag("text", {"class": "tick-text end", "x": LEFT - 5, "y": _y(tick) + 4}, label))
    middle = {"class": "tick-text middle", "x": _x(0.5), "y": _y(0.0) + 30}
    return join([*parts, tag("text", middle, "confidence")])


def _x(value: float) -> float:
    return LEFT + min(1.0, max(0.0, value)) * SIDE


def _y(value: float) -> float:
    return TOP + (1 - min(1.0, max(0.0, value))) * SIDE
