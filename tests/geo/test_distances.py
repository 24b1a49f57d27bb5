from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.geo.distances import EARTH_RADIUS_KM, measure_distances_km

latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)


def test_known_distances():
    """Great circles on the mean sphere; Paris to New York, Sydney to Santiago, over the antimeridian."""
    found = measure_distances_km(
        [48.8566, -33.8688, 0.0], [2.3522, 151.2093, 179.5], to_latitude=[40.7128, -33.4489, 0.0],
        to_longitude=[-74.006, -70.6693, -179.5],
    )  # fmt: skip
    assert found == pytest.approx([5837, 11340, 111.195], rel=1e-3)


def test_quarter_and_half_of_the_globe():
    assert measure_distances_km(0, 0, to_latitude=90, to_longitude=0) == pytest.approx(math.pi / 2 * EARTH_RADIUS_KM)
    assert measure_distances_km(90, 0, to_latitude=-90, to_longitude=77) == pytest.approx(math.pi * EARTH_RADIUS_KM)


def test_shapes_are_broadcast_and_nan_stays():
    assert measure_distances_km(np.zeros((3, 1)), 0.0, to_latitude=np.zeros(4), to_longitude=1.0).shape == (3, 4)
    assert math.isnan(measure_distances_km(np.nan, 0.0, to_latitude=0.0, to_longitude=0.0))


@given(latitudes, longitudes, latitudes, longitudes)
def test_a_distance_is_symmetric_and_equals_the_angle_between_vectors(north, east, to_north, to_east):
    there = float(measure_distances_km(north, east, to_latitude=to_north, to_longitude=to_east))
    back = float(measure_distances_km(to_north, to_east, to_latitude=north, to_longitude=east))
    assert there == pytest.approx(back, abs=1e-6)
    a, b, c, d = map(math.radians, (north, east, to_north, to_east))
    one = np.array([math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)])
    other = np.array([math.cos(c) * math.cos(d), math.cos(c) * math.sin(d), math.sin(c)])
    angle = math.atan2(float(np.linalg.norm(np.cross(one, other))), float(one @ other))
    assert there == pytest.approx(angle * EARTH_RADIUS_KM, abs=1e-3)
