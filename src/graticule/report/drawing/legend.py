"""Legends: what each mark means, in words beside the mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from graticule.report.drawing.lettering import measure
from graticule.report.drawing.markup import join, number, tag
from graticule.report.drawing.rows import LegendItem
from graticule.report.drawing.scales import Bins

KEY_WIDTH = 22.0
TEXT_SIZE = 13.0
SWATCH_WIDTH = 58.0
SWATCH_HEIGHT = 12.0
FEW_STEPS = 5


def write_legend(items: Sequence[LegendItem]) -> Markup:
    """Return a legend as HTML."""
    if not items:
        return Markup("")
    entries = (
        tag(
            "li",
            {},
            tag(
                "svg",
                {"class": "key", "width": KEY_WIDTH, "height": 14, "aria-hidden": "true"},
                draw_key(item, x=KEY_WIDTH / 2, y=7.0),
            ),
            tag("bdi", {}, item.text),
        )
        for item in items
    )
    return tag("ul", {"class": "legend"}, join(entries))


def draw_key(item: LegendItem, *, x: float, y: float) -> Markup:
    """Return the sample of a mark, around a point."""
    if item.kind == "point":
        return tag("use", {"href": f"#shape-{item.shape}", "class": item.css, "x": x, "y": y})
    if item.kind == "tick":
        return tag("line", {"class": item.css, "x1": x, "x2": x, "y1": y - 6, "y2": y + 6})
    if item.kind == "span":
        return tag("line", {"class": item.css, "stroke-width": 2, "x1": x - 10, "x2": x + 10, "y1": y, "y2": y})
    return tag("rect", {"class": item.css, "x": x - 10, "y": y - 5, "width": 20, "height": 10})


def draw_legend(items: Sequence[LegendItem], *, x: float, y: float, width: float) -> tuple[Markup, float]:
    """Return a legend as SVG, wrapped to a width, and its height in pixels."""
    parts: list[Markup] = []
    left, top = x, y
    for item in items:
        needed = KEY_WIDTH + 6 + measure(item.text, size=TEXT_SIZE) + 20
        if left > x and left + needed > x + width:
            left, top = x, top + 22
        parts.append(draw_key(item, x=left + KEY_WIDTH / 2, y=top + 9))
        parts.append(tag("text", {"x": left + KEY_WIDTH + 6, "y": top + 13.5}, item.text))
        left += needed
    return join(parts), (top - y + 26 if items else 0.0)


def draw_step_legend(bins: Bins, *, x: float, y: float, write_edge: Callable[[float], str]) -> tuple[Markup, float]:
    """Return the legend of a colour scale as SVG, low to high, and its width in pixels."""
    parts: list[Markup] = []
    width = min(SWATCH_WIDTH, 420 / bins.count)
    for position in range(bins.count):
        place = {"x": x + position * width, "y": y, "width": width, "height": SWATCH_HEIGHT}
        parts.append(tag("rect", {"class": f"step-{bins.step(position)} swatch", **place}))
    for position, edge in enumerate(bins.edges):
        parts.append(
            tag(
                "text",
                {"x": x + position * width, "y": y + SWATCH_HEIGHT + 15, "class": "tick-text middle"},
                write_edge(edge),
            )
        )
    return join(parts), width * bins.count


def write_step_legend(bins: Bins, *, write_edge: Callable[[float], str], title: str, notes: Sequence[Markup]) -> Markup:
    """Return the legend of a colour scale as HTML, as wide as there is room, with what else can stand in a cell."""
    share = 100 / bins.count
    parts: list[Markup] = []
    for position in range(bins.count):
        box = {"x": f"{number(position * share)}%", "y": 2, "width": f"{number(share)}%", "height": SWATCH_HEIGHT}
        parts.append(tag("rect", {"class": f"step-{bins.step(position)} swatch", **box}))
    for position, edge in enumerate(bins.edges):
        css = "minor" if position % 2 else None
        place = {"x": f"{number(position * share)}%", "y": SWATCH_HEIGHT + 17, "class": css}
        parts.append(tag("text", place, write_edge(edge)))
    low, high = write_edge(bins.edges[0]), write_edge(bins.edges[-1])
    facts = {"role": "img", "aria-label": f"{title}: strongest colour {low}, faintest {high}", "height": 34}
    size = "steps few-steps" if bins.count <= FEW_STEPS else "steps"
    scale = tag("svg", {"class": size, "width": "100%", **facts}, join(parts))
    return tag("div", {"class": "step-legend"}, tag("span", {}, title), scale, *notes)


def write_key_notes(notes: Sequence[tuple[str, str]]) -> list[Markup]:
    """Return what else a cell can look like, each as a class of the style sheet and its meaning."""
    return [
        tag("span", {"class": "key-note"}, tag("span", {"class": f"key-cell {css}"}), tag("span", {}, text))
        for css, text in notes
    ]
