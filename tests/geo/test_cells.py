from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.errors import ConfigError, GeoError
from graticule.geo.cells import find_cells, find_neighbours


def test_cells_are_numbered_from_the_south_west():
    assert find_cells([-90, -90, -89], [-180, -179, -180]).tolist() == [0, 1, 360]
    assert find_cells([90.0], [179.5]).tolist() == [180 * 360 - 1]
    assert find_cells([0.0], [180.0]).tolist() == find_cells([0.0], [-180.0]).tolist()


def test_a_point_without_a_place_has_no_cell():
    assert find_cells([None, 1.0], [1.0, float("nan")]).tolist() == [-1, -1]


def test_neighbours_wrap_at_the_antimeridian():
    west, east = find_cells([0.5, 0.5], [-179.5, 179.5]).tolist()
    assert east in find_neighbours(west)
    assert west in find_neighbours(east)
    assert len(find_neighbours(west)) == 8


def test_all_cells_at_a_pole_touch():
    south = find_neighbours(0)
    assert set(range(1, 360)) <= set(south)
    assert set(south) - set(range(360)) == {360, 361, 719}
    north = find_neighbours(180 * 360 - 1)
    assert set(range(179 * 360, 180 * 360 - 1)) <= set(north)


@given(st.integers(0, 36 * 18 - 1), st.integers(0, 36 * 18 - 1))
def test_touching_is_mutual(one, other):
    assert (other in find_neighbours(one, degrees=10.0)) == (one in find_neighbours(other, degrees=10.0))
    assert one not in find_neighbours(one, degrees=10.0)


@given(st.floats(-89.9, 89.9), st.floats(-179.9, 179.9), st.floats(-0.099, 0.099), st.floats(-0.099, 0.099))
def test_near_points_lie_in_the_same_cell_or_in_neighbours(north, east, up, right):
    one, other = find_cells([north, north + up], [east, east + right], degrees=0.1).tolist()
    assert other == one or other in find_neighbours(one, degrees=0.1)


@pytest.mark.parametrize("degrees", [0.0, -1.0, 7.0, 400.0])
def test_a_size_that_does_not_divide_the_globe_is_an_error(degrees):
    with pytest.raises(ConfigError, match="must be a multiple"):
        find_cells([0.0], [0.0], degrees=degrees)


def test_points_and_cells_out_of_range_are_errors():
    with pytest.raises(GeoError):
        find_cells([91.0], [0.0])
    with pytest.raises(ConfigError, match="does not exist"):
        find_neighbours(180 * 360)
