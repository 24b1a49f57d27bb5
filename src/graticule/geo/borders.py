"""The borders that ship with Graticule, and the grid in which points are looked up.

The packaged file holds rings of vertices in whole numbers of 0.00001 degree. From them a grid of 0.1 degree is made at
first use: a cell that no border passes through has one answer, and only points in the others are compared with edges.
``scripts/build_borders.py`` makes the file from country-coder (ISC licence, beside it).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Bool, Float64, Int16, Int32, Int64

UNITS_PER_DEGREE = 100_000
CELL_UNITS = 10_000
N_ROWS = 1800
N_COLUMNS = 3600
EAST_UNITS = 360 * UNITS_PER_DEGREE
NORTH_UNITS = 180 * UNITS_PER_DEGREE
NO_AREA = -1
BORDER = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Pieces of rings, in units east of 180° W and north of the south pole."""

    x: Float64[np.ndarray, " e"]
    y: Float64[np.ndarray, " e"]
    next_x: Float64[np.ndarray, " e"]
    next_y: Float64[np.ndarray, " e"]
    area: Int16[np.ndarray, " e"]

    def take(self, which: Int64[np.ndarray, " m"] | Bool[np.ndarray, " e"]) -> Edges:
        """Return the chosen edges."""
        return Edges(
            x=self.x[which],
            y=self.y[which],
            next_x=self.next_x[which],
            next_y=self.next_y[which],
            area=self.area[which],
        )

    def cross(self, y: Float64[np.ndarray, " e"]) -> Float64[np.ndarray, " e"]:
        """Return where each edge has the northing ``y``; for edges that are not level."""
        return self.x + (y - self.y) * ((self.next_x - self.x) / (self.next_y - self.y))

    def spans(self, y: Float64[np.ndarray, " e"]) -> Bool[np.ndarray, " e"]:
        """Return which edges pass the northing ``y``, the southern end counted and the northern not."""
        return (np.minimum(self.y, self.next_y) <= y) & (y < np.maximum(self.y, self.next_y))


@dataclass(frozen=True, slots=True, kw_only=True)
class Borders:
    """Areas, the grid, and the edges of each row of the grid."""

    areas: tuple[str, ...]
    """Alpha-3 codes, and the names of disputed places."""
    grid: Int16[np.ndarray, "rows columns"]
    """Number of the area that fills the cell, `NO_AREA`, or `BORDER`."""
    row_start: Int64[np.ndarray, " rows_and_end"]
    """Where each row's edges begin in ``edges``."""
    edges: Edges


@cache
def load_borders() -> Borders:
    """Return the packaged borders, ready for look-ups; made once (about 0.1 s)."""
    areas, edges = read_edges()
    sloping = edges.take(edges.y != edges.next_y)
    edge, row = _rows_of(sloping)
    order = np.argsort(row, kind="stable")
    row_start = np.searchsorted(row[order], np.arange(N_ROWS + 1)).astype(np.int64)
    grid = _fill(sloping.take(edge), row)
    _mark(grid, edges)
    return Borders(areas=areas, grid=grid, row_start=row_start, edges=sloping.take(edge[order]))


def read_edges() -> tuple[tuple[str, ...], Edges]:
    """Return the names of the areas and the edges of their rings, as packaged."""
    source = files("graticule.geo").joinpath("sources", "borders.npz")
    with source.open("rb") as file, np.load(file) as packed:
        areas = tuple(json.loads(packed["areas"].tobytes()))
        length: Int32[np.ndarray, " r"] = packed["ring_length"]
        ring_area: Int16[np.ndarray, " r"] = packed["ring_area"]
        x = _positions(packed["step_x"], length) + EAST_UNITS // 2
        y = _positions(packed["step_y"], length) + NORTH_UNITS // 2
    inside = np.ones(len(x), dtype=bool)
    inside[np.cumsum(length) - 1] = False
    (first,) = np.nonzero(inside)
    return areas, Edges(
        x=x[first],
        y=y[first],
        next_x=x[first + 1],
        next_y=y[first + 1],
        area=np.repeat(ring_area, length)[first],
    )


def _positions(steps: Int32[np.ndarray, " v"], length: Int32[np.ndarray, " r"]) -> Float64[np.ndarray, " v"]:
    # Each ring's first step starts from zero, so what the rings before it summed up to is taken off.
    total = np.cumsum(steps, dtype=np.int64)
    ends = np.cumsum(length)
    before = np.concatenate([[0], total[ends[:-1] - 1]])
    return (total - np.repeat(before, length)).astype(np.float64)


def _rows_of(edges: Edges) -> tuple[Int64[np.ndarray, " p"], Int64[np.ndarray, " p"]]:
    """Return pairs of an edge and a row of the grid that it touches."""
    low = np.floor(np.minimum(edges.y, edges.next_y) / CELL_UNITS).astype(np.int64)
    high = np.floor(np.maximum(edges.y, edges.next_y) / CELL_UNITS).astype(np.int64)
    return expand(low, np.minimum(high, N_ROWS - 1) - low + 1)


def expand(
    start: Int64[np.ndarray, " m"], length: Int64[np.ndarray, " m"]
) -> tuple[Int64[np.ndarray, " p"], Int64[np.ndarray, " p"]]:
    """Return, for every number of the ranges ``start … start + length - 1``, its range and the number.

    Examples
    --------
    >>> expand(np.array([5, 9]), np.array([2, 1]))
    (array([0, 0, 1]), array([5, 6, 9]))
    """
    which = np.repeat(np.arange(len(start)), length)
    before = np.cumsum(length) - length
    return which, start[which] + np.arange(len(which)) - before[which]


def _fill(edges: Edges, row: Int64[np.ndarray, " p"]) -> Int16[np.ndarray, "rows columns"]:
    """Return the area at every cell's centre, from where the borders cross the middle of each row."""
    middle = (row + 0.5) * CELL_UNITS
    spanning = edges.spans(middle)
    edges, row, middle = edges.take(spanning), row[spanning], middle[spanning]
    x = edges.cross(middle)
    order = np.lexsort((x, edges.area, row))
    column = np.ceil(x[order] / CELL_UNITS - 0.5).astype(np.int64)
    west, east = column[0::2], column[1::2]
    stretch, cell = expand(row[order][0::2] * N_COLUMNS + west, east - west)
    grid = np.full(N_ROWS * N_COLUMNS, NO_AREA, dtype=np.int16)
    grid[cell] = edges.area[order][0::2][stretch]
    return grid.reshape(N_ROWS, N_COLUMNS)


def _mark(grid: Int16[np.ndarray, "rows columns"], edges: Edges) -> None:
    """Mark, in place, every cell that an edge passes through."""
    edge, row = _rows_of(edges)
    edges = edges.take(edge)
    level = edges.y == edges.next_y
    rise = np.where(level, 1.0, edges.next_y - edges.y)
    slope = np.where(level, 0.0, (edges.next_x - edges.x) / rise)
    ends = [
        np.where(level, end_x, edges.x + (np.clip(end_y, row * CELL_UNITS, (row + 1) * CELL_UNITS) - edges.y) * slope)
        for end_x, end_y in ((edges.x, edges.y), (edges.next_x, edges.next_y))
    ]
    west = np.floor((np.minimum(*ends) - 1.0) / CELL_UNITS).clip(0, N_COLUMNS - 1).astype(np.int64)
    east = np.floor((np.maximum(*ends) + 1.0) / CELL_UNITS).clip(0, N_COLUMNS - 1).astype(np.int64)
    _, cell = expand(row * N_COLUMNS + west, east - west + 1)
    grid.reshape(-1)[cell] = BORDER
