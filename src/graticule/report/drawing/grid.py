"""A grid of coloured cells: rows by columns, with a number in each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.legend import draw_step_legend, write_key_notes, write_step_legend
from graticule.report.drawing.lettering import measure, shorten
from graticule.report.drawing.markup import join, tag
from graticule.report.drawing.scales import Bins
from graticule.report.drawing.sheet import SHEET_WIDTH

CELL_HEIGHT = 24.0
HEAD_SIZE = 12.0
NAME_WIDTH = 190.0
FITTING_COLUMNS = 9
"""Columns that a wide page shows without scrolling sideways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell: its value, and what the page's script shows and sorts by."""

    value: float
    text: str
    thin: bool
    facts: str
    """Low, high, n and the shrunken value, as the script reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """A row: its name, its cells, and the plain numbers behind them."""

    name: str
    cells: tuple[Cell, ...]
    sums: tuple[str, ...]
    """Plain columns after the cells."""
    keys: tuple[float, ...]
    """What to sort the plain columns by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A grid of cells over one colour scale."""

    rows: tuple[GridRow, ...]
    columns: tuple[str, ...]
    column_keys: tuple[str, ...]
    """What the page's script calls the columns."""
    sums: tuple[str, ...]
    """Titles of the plain columns."""
    corner: str
    """Title of the column of names."""
    bins: Bins
    write_edge: Callable[[float], str]
    legend_title: str
    thin_text: str


def write_grid_html(grid: Grid, *, title: str) -> Markup:
    """Return a grid as an HTML table, which is its own table of numbers."""
    notes = write_key_notes([("thin", grid.thin_text), ("empty", "no images")])
    legend = write_step_legend(grid.bins, write_edge=grid.write_edge, title=grid.legend_title, notes=notes)
    heads = [_write_head(grid.corner, key="name")]
    heads += [
        _write_head(name, key=str(place), column=key)
        for place, (name, key) in enumerate(zip(grid.columns, grid.column_keys, strict=True))
    ]
    heads += [_write_head(name, key=str(place + len(grid.columns))) for place, name in enumerate(grid.sums)]
    table = tag(
        "table",
        {"class": "heat", "data-bins": " ".join(f"{edge:.6g}" for edge in grid.bins.edges)},
        tag("caption", {"class": "unseen"}, title),
        tag("thead", {}, tag("tr", {}, join(heads))),
        tag("tbody", {}, join(_write_grid_row(row, bins=grid.bins) for row in grid.rows)),
    )
    return legend + tag(
        "div",
        {
            "class": "scroll heat-frame" + (" fits" if len(grid.columns) <= FITTING_COLUMNS else ""),
            "tabindex": 0,
            "role": "region",
            "aria-label": title,
        },
        table,
    )


def _write_head(name: str, *, key: str, column: str | None = None) -> Markup:
    return tag(
        "th", {"scope": "col", "data-sort": key, "data-column": column}, tag("bdi", {"class": "head-text"}, name)
    )


def _write_grid_row(row: GridRow, *, bins: Bins) -> Markup:
    cells = [
        tag(
            "td",
            {"class": _style_cell(cell, bins=bins), "data-v": _short(cell.value), "data-f": cell.facts},
            tag("span", {}, cell.text) if cell.thin else cell.text,
        )
        for cell in row.cells
    ]
    sums = [
        tag("td", {"class": "sum", "data-v": _short(key)}, text) for text, key in zip(row.sums, row.keys, strict=True)
    ]
    name = tag("th", {"scope": "row"}, tag("bdi", {"title": row.name}, row.name))
    return tag("tr", {}, name, *cells, *sums)


def draw_grid(grid: Grid, *, width: float = SHEET_WIDTH) -> tuple[Markup, float]:
    """Return a grid as SVG, its origin at its upper left corner, and its height in pixels."""
    names = min(NAME_WIDTH, max((measure(row.name, size=13.0) for row in grid.rows), default=0.0) + 12)
    sums = 70.0 * len(grid.sums)
    cell_width = min(110.0, (width - names - sums) / max(1, len(grid.columns)))
    heads = [_wrap(name, width=cell_width - 6) for name in grid.columns]
    steep = any(not lines for lines in heads)
    head_height = 96.0 if steep else 8.0 + 16.0 * max(map(len, heads), default=1)
    legend_x = measure(grid.legend_title, size=13.0) + 24
    legend, legend_width = draw_step_legend(grid.bins, x=legend_x, y=0.0, write_edge=grid.write_edge)
    parts = [tag("text", {"x": 0, "y": 11, "class": "detail-text"}, grid.legend_title), legend]
    key_x = legend_x + legend_width + 40
    parts += _draw_key(grid.thin_text, x=key_x)
    top = 40 + head_height
    for place, (name, lines) in enumerate(zip(grid.columns, heads, strict=True)):
        x = names + (place + 0.5) * cell_width
        parts.append(_draw_steep_head(name, x=x, y=top - 8) if steep else _draw_head(lines, x=x, y=top - 8))
    sums_x = names + cell_width * len(grid.columns)
    for place, name in enumerate(grid.sums):
        place_x = sums_x + 70.0 * (place + 1) - 4
        parts.append(tag("text", {"x": place_x, "y": top - 8, "class": "detail-text end"}, name))
    for place, row in enumerate(grid.rows):
        y = top + place * CELL_HEIGHT
        parts.append(
            tag("text", {"x": 0, "y": y + 16, "class": "words-text"}, shorten(row.name, width=names - 10, size=13.0))
        )
        parts += [
            _draw_cell(cell, bins=grid.bins, x=names + column * cell_width, y=y, width=cell_width)
            for column, cell in enumerate(row.cells)
        ]
        parts += [
            tag("text", {"x": sums_x + 70.0 * (column + 1) - 4, "y": y + 16, "class": "words-text end"}, text)
            for column, text in enumerate(row.sums)
        ]
    return join(parts), top + CELL_HEIGHT * len(grid.rows) + 4


def _draw_key(text: str, *, x: float) -> list[Markup]:
    box = {"x": x, "y": 0, "width": 24, "height": 12}
    return [
        tag("rect", {**box, "class": "swatch paper-fill"}),
        tag("rect", {**box, "class": "hatched"}),
        tag("text", {"x": x + 31, "y": 11, "class": "detail-text"}, text),
    ]


def _wrap(name: str, *, width: float) -> list[str]:
    """Return a column's name in one or two lines that fit, or no line where it does not fit."""
    if measure(name, size=HEAD_SIZE) <= width:
        return [name]
    words = name.split(" ")
    for place in range(len(words) - 1, 0, -1):
        lines = [" ".join(words[:place]), " ".join(words[place:])]
        if all(measure(line, size=HEAD_SIZE) <= width for line in lines):
            return lines
    return []


def _draw_head(lines: list[str], *, x: float, y: float) -> Markup:
    return join(
        tag("text", {"x": x, "y": y - 16.0 * (len(lines) - 1 - place), "class": "detail-text middle"}, line)
        for place, line in enumerate(lines)
    )


def _draw_steep_head(name: str, *, x: float, y: float) -> Markup:
    turn = f"translate({x:.1f} {y:.1f}) rotate(-45)"
    return tag("text", {"class": "detail-text", "transform": turn}, shorten(name, width=118.0, size=HEAD_SIZE))


def _draw_cell(cell: Cell, *, bins: Bins, x: float, y: float, width: float) -> Markup:
    box = {"x": x + 0.5, "y": y + 0.5, "width": width - 1, "height": CELL_HEIGHT - 1}
    if not math.isfinite(cell.value):
        return tag("rect", {**box, "class": "cell-empty"})
    step = bins.step(bins.find(cell.value))
    parts = [tag("rect", {**box, "class": f"step-{step}"})]
    if cell.thin:
        parts.append(tag("rect", {**box, "class": "hatched"}))
    css = f"on-step-{step} middle tabular" + (" halo-" + str(step) if cell.thin else "")
    parts.append(tag("text", {"x": x + width / 2, "y": y + 16, "class": css}, cell.text))
    return join(parts)


def _style_cell(cell: Cell, *, bins: Bins) -> str:
    if not math.isfinite(cell.value):
        return "empty"
    return f"step-{bins.step(bins.find(cell.value))}" + (" thin" if cell.thin else "")


def _short(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""
