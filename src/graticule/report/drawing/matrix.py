"""A square of shares, label by predicted label, drawn as one path a colour: small even with thousands of cells."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from graticule.report.drawing.lettering import measure, shorten
from graticule.report.drawing.markup import clean, join, number, tag

SIDES = ((16, 26.0), (30, 21.0), (44, 17.0))
"""Up to so many labels, so many pixels a cell."""
SMALLEST_SIDE = 15.0
NAME_LIMIT = 150.0
SIZE = 12.0
EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of errors are mostly small: the steps double."""
STEPS = (0, 1, 2, 3, 5, 7, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """A cell that is not zero."""

    row: int
    column: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Shares by row and column; the diagonal is what is right and is drawn in grey."""

    names: tuple[str, ...]
    cells: tuple[MatrixCell, ...]
    row_sizes: tuple[int, ...]
    """Images of each row's label."""


def find_step(share: float) -> int:
    """Return the colour step of a share of errors: dark is much.

    Examples
    --------
    >>> find_step(0.004), find_step(0.3)
    (0, 7)
    """
    inner = EDGES[1:-1]
    return STEPS[sum(share >= edge for edge in inner)]


def draw_matrix(matrix: Matrix) -> tuple[Markup, float, float]:
    """Return a matrix as SVG, its origin at its upper left corner, and its width and height in pixels."""
    names = measure_names(matrix.names)
    side = find_side(len(matrix.names)) * len(matrix.names)
    parts = [_draw_columns(matrix.names, x=names, y=names), _draw_rows(matrix.names, width=names, y=names)]
    parts.append(tag("g", {"transform": f"translate({number(names)} {number(names)})"}, draw_cells(matrix)))
    return join(parts), names + side + 2, names + side + 2


def write_matrix_html(matrix: Matrix, *, key: str, title: str) -> Markup:
    """Return a matrix for the page: the names of its rows stay in view while its columns are scrolled."""
    names = measure_names(matrix.names)
    cell_side = find_side(len(matrix.names))
    side = cell_side * len(matrix.names)
    size = {"width": number(names), "height": number(names + side + 2)}
    rows = tag(
        "svg", {"class": "matrix-names", "aria-hidden": "true", **size}, _draw_rows(matrix.names, width=names, y=names)
    )
    facts = " ".join(f"{cell.row}.{cell.column}.{1000 * cell.share:.0f}" for cell in matrix.cells)
    body = tag(
        "svg",
        {
            "class": "matrix",
            "width": number(side + 60),
            "height": number(names + side + 2),
            "role": "img",
            "aria-label": title,
            "data-cells": facts,
            "data-sizes": " ".join(str(size) for size in matrix.row_sizes),
            "data-top": number(names),
            "data-side": number(cell_side),
            "data-names": json.dumps([clean(name) for name in matrix.names], ensure_ascii=False),
        },
        _draw_columns(matrix.names, x=0.0, y=names),
        tag("g", {"transform": f"translate(0 {number(names)})"}, draw_cells(matrix)),
    )
    inside = tag("div", {"class": "matrix-frame"}, rows, body)
    return tag(
        "div", {"class": "scroll", "tabindex": 0, "role": "region", "aria-label": title, "data-choice": key}, inside
    )


def draw_cells(matrix: Matrix) -> Markup:
    """Return the cells of a matrix, grouped by colour."""
    count = len(matrix.names)
    cell_side = find_side(count)
    side = cell_side * count
    by_step: defaultdict[str, list[MatrixCell]] = defaultdict(list)
    for cell in matrix.cells:
        name = "right" if cell.row == cell.column else f"step-{find_step(cell.share)}"
        by_step[name].append(cell)
    frame = tag("rect", {"class": "matrix-ground", "width": side, "height": side})
    lines = tag("path", {"class": "matrix-lines", "d": _draw_lines(count, side=cell_side)})
    paths = (
        tag("path", {"class": name, "d": _draw_squares(by_step[name], side=cell_side)}) for name in sorted(by_step)
    )
    return join([frame, *paths, lines])


def measure_names(names: Sequence[str]) -> float:
    """Return the room that the names of rows and columns need, in pixels."""
    return min(NAME_LIMIT, max((measure(name, size=SIZE) for name in names), default=0.0) + 10)


def find_side(count: int) -> float:
    """Return the side of a cell in pixels, for a matrix of ``count`` labels."""
    return next((side for limit, side in SIDES if count <= limit), SMALLEST_SIDE)


def _draw_squares(cells: list[MatrixCell], *, side: float) -> str:
    edge = number(side)
    return "".join(f"M{number(cell.column * side)} {number(cell.row * side)}h{edge}v{edge}h-{edge}z" for cell in cells)


def _draw_lines(count: int, *, side: float) -> str:
    whole = number(side * count)
    places = [number(side * place) for place in range(count + 1)]
    return "".join(f"M0 {place}h{whole}M{place} 0v{whole}" for place in places)


def _draw_rows(names: Sequence[str], *, width: float, y: float) -> Markup:
    return join(
        tag(
            "text",
            {"x": width - 7, "y": y + (place + 0.5) * find_side(len(names)) + 4, "class": "matrix-text end"},
            shorten(name, width=width - 8, size=SIZE),
        )
        for place, name in enumerate(names)
    )


def _draw_columns(names: Sequence[str], *, x: float, y: float) -> Markup:
    return join(
        tag(
            "text",
            {
                "class": "matrix-text",
                "transform": f"translate({number(x + (place + 0.5) * find_side(len(names)) + 4)} {number(y - 7)}) "
                "rotate(-90)",
            },
            shorten(name, width=y - 8, size=SIZE),
        )
        for place, name in enumerate(names)
    )
