"""The shapes that stand for regions and models, so that colour is never alone."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.markup import join, tag
from graticule.report.drawing.palette import N_MARKS

MAP_SCALE = 2.2
"""How much coarser the map's hatching is drawn, for the map is shown at about half its size."""

SHAPES: dict[str, str] = {
    "circle": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "square": "M-4.4-4.4h8.8v8.8h-8.8z",
    "triangle": "M0-5.6L5.6 4.4H-5.6z",
    "diamond": "M0-6L6 0L0 6L-6 0z",
    "wedge": "M0 5.6L5.6-4.4H-5.6z",
    "cross": "M-2-5.4h4v3.4h3.4v4h-3.4v3.4h-4v-3.4h-3.4v-4h3.4z",
}
"""Shape → path around (0, 0), about 11 pixels wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A shape in one of the mark colours."""

    shape: str
    colour: int

    @property
    def css(self) -> str:
        """Return the class that colours it."""
        return f"mark-{self.colour}"


def pick_symbol(position: int) -> Symbol:
    """Return the symbol of the region or model at a place in its list.

    The first six differ in colour and in shape; the next ones combine the six colours and shapes anew.

    Examples
    --------
    >>> pick_symbol(0), pick_symbol(6)
    (Symbol(shape='circle', colour=0), Symbol(shape='square', colour=0))
    """
    shapes = list(SHAPES)
    turn = position // N_MARKS
    return Symbol(shape=shapes[(position + turn) % len(shapes)], colour=position % N_MARKS)


def define_symbols() -> Markup:
    """Return the definitions that ``<use href="#shape-…">`` refers to."""
    return tag("defs", {}, join(tag("path", {"id": f"shape-{name}", "d": path}) for name, path in SHAPES.items()))


def define_hatch() -> Markup:
    """Return the patterns of slanting lines that mark what is too thin to judge; the wide one is for the map."""
    stroke = tag("path", {"d": "M-1 1l2-2M0 6l6-6M5 7l2-2", "class": "hatch-line"})
    box = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
    fine = tag("pattern", {"id": "hatch", **box}, stroke)
    wide = tag("pattern", {"id": "hatch-wide", **box, "patternTransform": f"scale({MAP_SCALE})"}, stroke)
    return tag("defs", {}, fine, wide)
