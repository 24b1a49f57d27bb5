"""Point → country, offline: which country's land or waters a latitude and a longitude lie in.

A point at sea gets a country when it lies within about 50 km of that country's land; farther out, at the north pole and
at 0° N 0° E there is none. Where borders are disputed a policy (`graticule.geo.policies`) decides, and says so.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int16, Int64

from graticule.geo.borders import (
    BORDER,
    CELL_UNITS,
    EAST_UNITS,
    N_COLUMNS,
    N_ROWS,
    NO_AREA,
    NORTH_UNITS,
    UNITS_PER_DEGREE,
    Borders,
    expand,
    load_borders,
)
from graticule.geo.points import Degrees, check_points
from graticule.geo.policies import Policy, load_policy

PAIRS_AT_ONCE = 2_000_000
"""Comparisons of a point with an edge that are held in memory together."""


def find_countries(latitude: Degrees, longitude: Degrees, *, policy: str | Policy = "de-facto") -> np.ndarray:
    """Return the country of each point as an ISO 3166-1 alpha-3 code, or None.

    Parameters
    ----------
    latitude
        Degrees north, -90 to 90; NaN or None where there is no place.
    longitude
        Degrees east, -180 to 180.
    policy
        Who gets the disputed places: the name of a policy, or one that was loaded.

    Returns
    -------
    An array of objects, as long as the points.

    Raises
    ------
    GeoError
        Latitudes and longitudes differ in number, are no numbers, or lie outside their range.

    Examples
    --------
    >>> find_countries([48.86, 1.35, 0.0, None], [2.35, 103.82, 0.0, 8.0])
    array(['FRA', 'SGP', None, None], dtype=object)
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    areas = find_areas(latitude, longitude)
    answers = np.array([*(chosen.country_of(area) for area in load_borders().areas), None], dtype=object)
    return answers[areas]


def find_areas(latitude: Degrees, longitude: Degrees) -> Int16[np.ndarray, " n"]:
    """Return the number of the area in ``load_borders().areas`` that each point lies in; -1 for none."""
    north, east = check_points(latitude, longitude)
    borders = load_borders()
    known = ~(np.isnan(north) | np.isnan(east))
    y = np.where(known, north, 0.0) * UNITS_PER_DEGREE + NORTH_UNITS / 2
    x = np.where(known, east, 0.0) * UNITS_PER_DEGREE + EAST_UNITS / 2
    x = np.where(x >= EAST_UNITS, x - EAST_UNITS, x)
    row = np.minimum(y * (1 / CELL_UNITS), N_ROWS - 1).astype(np.int64)
    column = np.minimum(x * (1 / CELL_UNITS), N_COLUMNS - 1).astype(np.int64)
    areas = borders.grid.reshape(-1)[row * N_COLUMNS + column]
    areas[~known] = NO_AREA
    (near,) = np.nonzero(areas == BORDER)
    if len(near):
        areas[near] = _compare_with_edges(borders, x=x[near], y=y[near], row=row[near])
    return areas


def _compare_with_edges(
    borders: Borders, *, x: Float64[np.ndarray, " m"], y: Float64[np.ndarray, " m"], row: Int64[np.ndarray, " m"]
) -> Int16[np.ndarray, " m"]:
    """Return the area of points whose cell a border passes through."""
    n_edges = borders.row_start[row + 1] - borders.row_start[row]
    ends = np.cumsum(n_edges)
    n_blocks = int(ends[-1] // PAIRS_AT_ONCE) + 1
    cuts = np.searchsorted(ends, np.arange(1, n_blocks) * PAIRS_AT_ONCE)
    blocks = np.split(np.arange(len(x)), cuts)
    return np.concatenate([_cast_rays(borders, x=x[block], y=y[block], row=row[block]) for block in blocks])


def _cast_rays(
    borders: Borders, *, x: Float64[np.ndarray, " m"], y: Float64[np.ndarray, " m"], row: Int64[np.ndarray, " m"]
) -> Int16[np.ndarray, " m"]:
    """Return the area whose border a ray to the west crosses an odd number of times."""
    n_areas = len(borders.areas)
    start = borders.row_start[row]
    point, edge = expand(start, borders.row_start[row + 1] - start)
    edges = borders.edges
    passed = (np.minimum(edges.y[edge], edges.next_y[edge]) <= y[point]) & (
        y[point] < np.maximum(edges.y[edge], edges.next_y[edge])
    )
    point, edge = point[passed], edge[passed]
    crossed = edges.take(edge).cross(y[point]) <= x[point]
    pair, count = np.unique(point[crossed] * n_areas + edges.area[edge[crossed]], return_counts=True)
    inside = pair[count % 2 == 1]
    areas = np.full(len(x), NO_AREA, dtype=np.int16)
    # Where two areas overlap by a hair, the first of them is the answer: later writes come from smaller numbers.
    areas[inside[::-1] // n_areas] = inside[::-1] % n_areas
    return areas
