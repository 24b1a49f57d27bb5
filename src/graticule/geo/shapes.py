"""Outlines of countries for a map of the world, already projected (Equal Earth) and simplified.

``scripts/build_outlines.py`` makes them from Natural Earth's 1:50m map (public domain; as packaged in world-atlas, ISC
licence, beside the file), cut up as the look-up of points is, so that map and numbers follow the same policy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from graticule.geo.policies import AREAS, Policy, load_policy
from graticule.geo.projection import CANVAS_HEIGHT, CANVAS_WIDTH, project_points

SMALL_PIXELS = 6.0
"""A country whose drawing is narrower and lower than this needs a marker to be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountryShape:
    """How a country is drawn."""

    path: str
    """SVG path data; empty for a country that is too small to be drawn."""
    x: float
    y: float
    """Where a marker or a number goes, inside the country's largest part."""
    is_small: bool
    """Whether the drawing is too small to be seen, so that a marker is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldShapes:
    """A map of the world."""

    width: int
    height: int
    """Size of the canvas: ``viewBox="0 0 width height"``."""
    countries: Mapping[str, CountryShape]
    """Alpha-3 code → drawing."""
    unassigned: str
    """SVG path data of land that the policy gives to no country."""
    outline: str
    """SVG path data of the edge of the map."""
    graticule: str
    """SVG path data of meridians and parallels every 30 degrees."""


def load_shapes(
    policy: str | Policy = "de-facto", *, assignments: Mapping[str, str | None] | None = None
) -> WorldShapes:
    """Return the outlines of all countries, disputed places drawn with the country that the policy names.

    Parameters
    ----------
    policy
        The policy, or its name.
    assignments
        `graticule.geo.policies.Policy.assignments` of another policy, which is then followed instead.

    Examples
    --------
    >>> shapes = load_shapes()
    >>> shapes.width, shapes.height, shapes.countries["FRA"].path[:1], shapes.countries["SGP"].is_small
    (2000, 974, 'M', True)
    """
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    if assignments:
        countries_of = {code: country for code, country in assignments.items() if code not in AREAS}
        areas_of = {**chosen.areas, **{area: assignments[area] for area in AREAS if area in assignments}}
        chosen = replace(chosen, areas=areas_of, countries=countries_of)
    parts: dict[str | None, list[tuple[str, Mapping[str, Any]]]] = {}
    for area, drawing in _read_outlines().items():
        parts.setdefault(chosen.country_of(area), []).append((area, drawing))
    countries = {code: _join(code, areas) for code, areas in parts.items() if code is not None}
    return WorldShapes(
        width=CANVAS_WIDTH,
        height=CANVAS_HEIGHT,
        countries=dict(sorted(countries.items())),
        unassigned="".join(drawing["path"] for _, drawing in parts.get(None, [])),
        outline=_draw_lines([np.r_[-90:91:2.0, 90:-91:-2.0]], [np.r_[np.full(91, 180.0), np.full(91, -180.0)]]) + "z",
        graticule=_draw_graticule(),
    )


def _join(code: str, areas: list[tuple[str, Mapping[str, Any]]]) -> CountryShape:
    path = "".join(drawing["path"] for _, drawing in areas)
    own = next((drawing for area, drawing in areas if area == code), areas[0][1])
    return CountryShape(path=path, x=own["x"], y=own["y"], is_small=_extent(path) < SMALL_PIXELS)


def _extent(path: str) -> float:
    """Return the larger of the width and the height of the largest ring of a path of relative steps."""
    largest = 0.0
    for ring in path.split("M")[1:]:
        steps = ring.partition("l")[2].rstrip("z").replace("-", " -").split()
        corners = np.cumsum(np.array(steps, dtype=float).reshape(-1, 2), axis=0)
        largest = max(largest, float(np.ptp(np.vstack([[0.0, 0.0], corners]), axis=0).max()))
    return largest


def _draw_graticule() -> str:
    meridians = [np.r_[-90:91:2.0] for _ in range(-150, 151, 30)]
    parallels = [np.full(2, float(north)) for north in range(-60, 61, 30)]
    east = [np.full(91, float(east)) for east in range(-150, 151, 30)] + [np.array([-180.0, 180.0])] * len(parallels)
    return _draw_lines([*meridians, *parallels], east)


def _draw_lines(latitudes: list[np.ndarray], longitudes: list[np.ndarray]) -> str:
    drawn: list[str] = []
    for latitude, longitude in zip(latitudes, longitudes, strict=True):
        x, y = project_points(latitude, longitude)
        drawn.append("M" + "L".join(f"{a:.0f} {b:.0f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    return "".join(drawn)


@cache
def _read_outlines() -> dict[str, Any]:
    return json.loads(files("graticule.geo").joinpath("sources", "outlines.json").read_text(encoding="utf-8"))
