from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from graticule.geo.borders import BORDER, N_COLUMNS, N_ROWS, NO_AREA, expand, load_borders, read_edges

SOURCES = files("graticule.geo").joinpath("sources")


@pytest.mark.parametrize(
    ("name", "licence", "most_kib"),
    [
        ("borders.npz", "borders.LICENSE.md", 300),
        ("outlines.json", "outlines.LICENSE.txt", 150),
        ("countries.csv", "countries.LICENSE.txt", 150),
    ],
)
def test_packaged_data_are_small_and_have_their_licence_beside_them(name, licence, most_kib):
    assert len(SOURCES.joinpath(name).read_bytes()) < most_kib * 1024
    assert "permission" in SOURCES.joinpath(licence).read_text(encoding="utf-8").lower()


def test_rings_are_closed_and_lie_on_the_globe():
    names, edges = read_edges()
    assert len(set(names)) == len(names)
    for side, most in ((edges.x, 36_000_000), (edges.y, 18_000_000)):
        assert side.min() >= 0
        assert side.max() <= most
    # As many edges leave each vertex of an area as arrive there.
    leaving = np.stack([edges.area, edges.x, edges.y])
    arriving = np.stack([edges.area, edges.next_x, edges.next_y])
    assert np.array_equal(leaving[:, np.lexsort(leaving)], arriving[:, np.lexsort(arriving)])


def test_few_cells_have_a_border_and_every_area_has_cells():
    borders = load_borders()
    assert borders.grid.shape == (N_ROWS, N_COLUMNS)
    assert 0.01 < float((borders.grid == BORDER).mean()) < 0.03
    assert borders.grid.min() == BORDER
    assert NO_AREA in borders.grid
    assert set(borders.edges.area.tolist()) == set(range(len(borders.areas)))


def test_expand_skips_empty_ranges():
    which, number = expand(np.array([3, 7, 9]), np.array([2, 0, 1]))
    assert which.tolist() == [0, 0, 2]
    assert number.tolist() == [3, 4, 9]
