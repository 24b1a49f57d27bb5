"""A figure as an SVG file of its own: title, drawing, and the light colours written into it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from markupsafe import Markup

from graticule.report.drawing.lettering import shorten
from graticule.report.drawing.markup import number, tag
from graticule.report.drawing.palette import resolve_colours
from graticule.report.drawing.symbols import define_hatch, define_symbols

TEMPLATES = Path(__file__).parents[1] / "templates"
MARGIN = 24.0
HEAD_HEIGHT = 58.0
SHEET_WIDTH = 960.0


def write_sheet(body: Markup, *, title: str, subtitle: str, width: float, height: float) -> str:
    """Return an SVG document around a drawing.

    Parameters
    ----------
    body
        The drawing, its origin at its upper left corner.
    title, subtitle
        Two lines above it; the title is also the document's accessible name.
    width, height
        Size of the drawing in pixels.
    """
    full_width = width + 2 * MARGIN
    full_height = height + HEAD_HEIGHT + 2 * MARGIN
    size = {"width": number(full_width), "height": number(full_height)}
    box = f"0 0 {number(full_width)} {number(full_height)}"
    document = tag(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", **size, "viewBox": box, "class": "sheet", "role": "img"},
        tag("title", {}, title),
        tag("style", {}, Markup(_read_style())),
        define_symbols(),
        define_hatch(),
        tag("rect", {"class": "sheet-paper", **size}),
        tag(
            "text",
            {"x": MARGIN, "y": MARGIN + 17, "class": "sheet-title"},
            shorten(title, width=width, size=19.0, bold=True),
        ),
        tag(
            "text",
            {"x": MARGIN, "y": MARGIN + 39, "class": "sheet-subtitle"},
            shorten(subtitle, width=width, size=13.0),
        ),
        tag("g", {"transform": f"translate({number(MARGIN)} {number(MARGIN + HEAD_HEIGHT)})"}, body),
    )
    return str(document)


@cache
def _read_style() -> str:
    """Return the figures' style sheet with light colours; it holds no character that XML would mind."""
    shared = (TEMPLATES / "figures.css").read_text(encoding="utf-8")
    alone = (TEMPLATES / "sheet.css").read_text(encoding="utf-8")
    return resolve_colours(alone + shared)
