"""The grid and its rays against a plain loop over every edge of every ring."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.geo.borders import BORDER, CELL_UNITS, UNITS_PER_DEGREE, load_borders, read_edges
from graticule.geo.countries_at import find_areas

N_POINTS = 1500


def find_slowly(latitude, longitude):
    """Return the first area whose edges a ray to the west crosses an odd number of times; -1 for none."""
    names, edges = read_edges()
    answers = []
    for north, east in zip(latitude.tolist(), longitude.tolist(), strict=True):
        y, x = north * UNITS_PER_DEGREE + 9_000_000, east * UNITS_PER_DEGREE + 18_000_000
        passed = np.nonzero((edges.y <= y) != (edges.next_y <= y))[0]
        x1, y1, x2, y2 = (side[passed] for side in (edges.x, edges.y, edges.next_x, edges.next_y))
        west = x1 + (y - y1) * ((x2 - x1) / (y2 - y1)) <= x
        crossings = np.bincount(edges.area[passed][west], minlength=len(names))
        inside = np.nonzero(crossings % 2)[0]
        answers.append(int(inside[0]) if len(inside) else -1)
    return answers


def points_on_the_globe(rng):
    return np.degrees(np.arcsin(rng.uniform(-1, 1, N_POINTS))), rng.uniform(-180, 180, N_POINTS)


def points_in_border_cells(rng):
    rows, columns = np.nonzero(load_borders().grid == BORDER)
    pick = rng.integers(len(rows), size=N_POINTS)
    north = (rows[pick] + rng.random(N_POINTS)) * CELL_UNITS / UNITS_PER_DEGREE - 90
    east = (columns[pick] + rng.random(N_POINTS)) * CELL_UNITS / UNITS_PER_DEGREE - 180
    return north, east


def points_on_vertices(rng):
    _, edges = read_edges()
    pick = rng.integers(len(edges.x), size=N_POINTS)
    return edges.y[pick] / UNITS_PER_DEGREE - 90, np.minimum(edges.x[pick] / UNITS_PER_DEGREE, 359.99999) - 180


def points_on_the_lattice(rng):
    """Whole tenths of degrees: the corners of cells."""
    return rng.integers(-900, 901, N_POINTS) / 10, rng.integers(-1800, 1800, N_POINTS) / 10


@pytest.mark.parametrize(
    "draw", [points_on_the_globe, points_in_border_cells, points_on_vertices, points_on_the_lattice]
)
def test_fast_answers_equal_those_of_a_plain_loop(draw):
    latitude, longitude = draw(np.random.default_rng(11))
    fast, slow = find_areas(latitude, longitude).tolist(), find_slowly(latitude, longitude)
    wrong = [(n, e, f, s) for n, e, f, s in zip(latitude, longitude, fast, slow, strict=True) if f != s]
    assert wrong == []
    assert len(set(slow)) > 30


def test_areas_do_not_overlap():
    """No point has two areas, but for slivers of centimetres where coordinates were rounded."""
    names, edges = read_edges()
    rng = np.random.default_rng(3)
    latitude, longitude = points_in_border_cells(rng)
    double = 0
    for north, east in zip(latitude[:500].tolist(), longitude[:500].tolist(), strict=True):
        y, x = north * UNITS_PER_DEGREE + 9_000_000, east * UNITS_PER_DEGREE + 18_000_000
        passed = np.nonzero((edges.y <= y) != (edges.next_y <= y))[0]
        x1, y1, x2, y2 = (side[passed] for side in (edges.x, edges.y, edges.next_x, edges.next_y))
        west = x1 + (y - y1) * ((x2 - x1) / (y2 - y1)) <= x
        double += int((np.bincount(edges.area[passed][west], minlength=len(names)) % 2).sum() > 1)
    assert double == 0
