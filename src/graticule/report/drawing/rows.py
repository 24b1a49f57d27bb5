"""A plot of rows: a name, a track with marks, and the numbers in words at the end of the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graticule.report.drawing.marks import Mark
from graticule.report.drawing.scales import Axis

ROW_HEIGHT = 30.0
LINE_HEIGHT = 19.0
ROW_PADDING = 11.0
DETAILED_HEIGHT = 42.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of words at the end of a row, with the symbol that it speaks of."""

    text: str
    css: str = ""
    shape: str = ""
    detail: str = ""
    """More of it in a quieter colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a plot."""

    name: str
    marks: tuple[Mark, ...]
    lines: tuple[Line, ...] = ()
    detail: str = ""
    """A quiet line below the name."""
    css: str = ""
    tip: str = ""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the page's script can sort and choose by; written as ``data-…`` attributes."""

    def measure_height(self, *, abreast: bool) -> float:
        """Return the height in pixels."""
        n_lines = 1 if abreast else len(self.lines)
        return max(ROW_HEIGHT, LINE_HEIGHT * n_lines + ROW_PADDING, DETAILED_HEIGHT if self.detail else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendItem:
    """A mark and what it means."""

    text: str
    css: str
    kind: str = "point"
    """point, span, band or tick."""
    shape: str = "circle"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlot:
    """Rows over one axis."""

    rows: tuple[Row, ...]
    axis: Axis
    axis_title: str
    write_tick: Callable[[float], str]
    legend: tuple[LegendItem, ...] = ()
    head: tuple[str, str] = ("", "")
    """Titles of the names and of the words."""
    css: str = ""
    zero: bool = False
    """Whether to draw a line at zero."""
    abreast: bool = False
    """Whether a row's words stand beside each other, in columns, instead of below each other."""


def spread_shifts(count: int) -> tuple[float, ...]:
    """Return how far below the middle of a row each of ``count`` stacked marks is, in pixels.

    Examples
    --------
    >>> spread_shifts(1), spread_shifts(2)
    ((0.0,), (-9.5, 9.5))
    """
    return tuple((place - (count - 1) / 2) * LINE_HEIGHT for place in range(count))
