from __future__ import annotations

import re

import numpy as np
import pytest

from graticule.geo.countries import load_countries
from graticule.geo.countries_at import find_countries
from graticule.geo.policies import load_policy
from graticule.geo.projection import CANVAS_HEIGHT, CANVAS_WIDTH, project_points
from graticule.geo.shapes import load_shapes


@pytest.fixture(scope="module")
def shapes():
    return load_shapes()


def corners(path):
    """Return the corners of every ring of a path."""
    rings = []
    for ring in path.split("M")[1:]:
        start, _, steps = ring.rstrip("z").partition("l")
        first = np.array([float(v) for v in start.split()])
        moves = np.array([float(v) for v in steps.replace("-", " -").split()]).reshape(-1, 2)
        rings.append(np.vstack([first, first + np.cumsum(moves, axis=0)]))
    return rings


def inside(path, x, y):
    """Return whether a point lies in a path, by counting crossings."""
    odd = False
    for ring in corners(path):
        for (x1, y1), (x2, y2) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            if (y1 <= y) != (y2 <= y) and x1 + (y - y1) * (x2 - x1) / (y2 - y1) <= x:
                odd = not odd
    return odd


def test_every_country_is_drawn_or_has_a_place_for_a_marker(shapes):
    assert set(shapes.countries) == set(load_countries())
    for code, shape in shapes.countries.items():
        assert 0 <= shape.x <= shapes.width, code
        assert 0 <= shape.y <= shapes.height, code
        assert shape.path or shape.is_small, code


def test_paths_are_plain_and_stay_on_the_canvas(shapes):
    for code, shape in shapes.countries.items():
        assert re.fullmatch(r"(M\d+ \d+l[-\d ]+z)*", shape.path), code
        for ring in corners(shape.path):
            assert ring.min() >= -1, code
            assert ring[:, 0].max() <= CANVAS_WIDTH + 1, code
            assert ring[:, 1].max() <= CANVAS_HEIGHT + 1, code


@pytest.mark.parametrize("code", ["SGP", "MLT", "LIE", "MDV", "TUV", "VAT", "BHR", "LUX", "MCO"])
def test_small_states_need_a_marker(shapes, code):
    assert shapes.countries[code].is_small


@pytest.mark.parametrize("code", ["RUS", "USA", "LSO", "FJI", "CYP", "GUF", "ATA", "ESH", "XKX", "TWN", "SJM"])
def test_larger_ones_are_drawn(shapes, code):
    assert not shapes.countries[code].is_small


PLACES = {
    "Brasília": (-15.8, -47.9), "Delhi": (28.6, 77.2), "Chicago": (41.9, -88.2), "Alaska": (65, -152),
    "Moscow": (55.8, 37.6), "Chukotka": (66.5, -173), "Yakutsk": (62, 129.7), "Nairobi": (-1.3, 36.8),
    "Alice Springs": (-23.7, 133.9), "Antarctica": (-80, 60), "Cayenne": (4.2, -53), "Nuuk": (70, -40),
}  # fmt: skip


@pytest.mark.parametrize(("latitude", "longitude"), PLACES.values(), ids=PLACES)
def test_a_place_is_drawn_inside_its_own_country_only(shapes, latitude, longitude):
    (code,) = find_countries(latitude, longitude)
    x, y = project_points(latitude, longitude)
    holders = [name for name, shape in shapes.countries.items() if inside(shape.path, float(x[0]), float(y[0]))]
    assert holders == [code]


def test_the_map_follows_the_policy():
    x, y = (float(v[0]) for v in project_points(45.3, 34.4))
    assert inside(load_shapes("de-facto").countries["RUS"].path, x, y)
    other = load_shapes("united-nations").countries
    assert inside(other["UKR"].path, x, y)
    assert not inside(other["RUS"].path, x, y)
    assert "TWN" not in other


def test_the_edge_and_the_net_of_the_map_are_drawn(shapes):
    assert shapes.outline.startswith("M")
    assert shapes.outline.endswith("z")
    assert shapes.graticule.count("M") == 16


def test_equal_areas_stay_equal():
    """A degree square projects to an area proportional to that on the sphere, everywhere."""
    ratios = []
    for south in (-80, -45, 0, 30, 60, 85):
        for west in (-170, -60, 0, 120):
            x, y = project_points([south, south, south + 1, south + 1], [west, west + 1, west + 1, west])
            drawn = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
            ratios.append(drawn / (np.sin(np.radians(south + 1)) - np.sin(np.radians(south))))
    assert max(ratios) / min(ratios) == pytest.approx(1.0, abs=0.01)


def test_the_projection_has_its_published_proportions():
    """The map is 2.05 times as wide as high, and the poles are lines 0.59 times as long as the equator."""
    left, _ = project_points([0.0, 90.0], [-180.0, -180.0])
    right, _ = project_points([0.0, 90.0], [180.0, 180.0])
    width = right - left
    assert width[0] / CANVAS_HEIGHT == pytest.approx(2.05, abs=0.005)
    assert width[1] / width[0] == pytest.approx(0.59, abs=0.005)


def test_a_policy_is_followed_from_its_assignments_alone():
    policy = load_policy("united-nations")
    assert load_shapes(assignments=policy.assignments) == load_shapes("united-nations")
    assert load_shapes("united-nations", assignments=load_policy("de-facto").assignments) == load_shapes()
