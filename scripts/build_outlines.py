"""Make ``src/graticule/geo/sources/outlines.json``: countries drawn small, for the map of a report.

The outlines are Natural Earth's 1:50m (public domain; packaged in world-atlas, ISC licence), projected and simplified
to about a pixel of a map 2000 pixels wide. Each piece of land belongs to the area that `graticule.geo.countries_at`
finds there, so that the map follows the same policy on disputed places as the look-up. Every area also has a point for
a marker, since the smallest are too small to be seen. Run after ``build_borders.py``; needs ``npm`` and ``shapely``::

    python scripts/build_outlines.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from build_borders import WESTERN_SAHARA_NORTH, all_land, mend
from npm_packages import WORLD_ATLAS, fetch_package, join_arcs, polygons_of, read_topology
from shapely.geometry import LineString, Polygon, box
from shapely.geometry.base import BaseGeometry

from graticule.geo.borders import EAST_UNITS, NORTH_UNITS, UNITS_PER_DEGREE, load_borders, read_edges
from graticule.geo.countries_at import find_areas
from graticule.geo.projection import project_points

SOURCES = Path(__file__).parents[1] / "src" / "graticule" / "geo" / "sources"
TOLERANCE = 1.2
"""Pixels squared, of shapely's coverage_simplify."""

SMALLEST = 1.5
"""Pieces of land of fewer square pixels are left out, unless they are the largest of their country."""

WEST_OF_THE_BERM = "western_sahara_west_of_the_berm"


def main() -> None:
    """Fetch the source, draw the areas, and write them."""
    with tempfile.TemporaryDirectory() as folder:
        atlas = fetch_package(WORLD_ATLAS, folder=Path(folder))
        countries = read_topology(atlas / "countries-50m.json")
        land = all_land(read_topology(atlas / "land-10m.json"))
        licence = (atlas / "LICENSE").read_text(encoding="utf-8")
    pieces = land_pieces(countries)
    names = name_pieces(pieces)
    drawn = shapely.coverage_simplify([project(piece) for piece in pieces], TOLERANCE)
    by_area: dict[str, list[Polygon]] = {}
    for name, piece in zip(names, drawn, strict=True):
        by_area.setdefault(name, []).append(piece)
    areas = {name: draw_area(by_area[name]) for name in sorted(by_area) if name}
    for name in load_borders().areas:
        if name not in areas:
            x, y = project_points(*place_of(name, land))
            areas[name] = {"path": "", "x": round(float(x[0]), 1), "y": round(float(y[0]), 1)}
    path = SOURCES / "outlines.json"
    lines = [f"{json.dumps(name)}: {json.dumps(areas[name], separators=(',', ':'))}" for name in sorted(areas)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    (SOURCES / "outlines.LICENSE.txt").write_text(licence, encoding="utf-8")
    print(f"{path}: {len(areas)} areas, {path.stat().st_size / 1024:.0f} KiB")


def land_pieces(countries: dict[str, Any]) -> list[Polygon]:
    """Return every piece of land of every country, cut at the antimeridian and at Western Sahara's northern border."""
    pieces: list[Polygon] = []
    for geometry in countries["objects"]["countries"]["geometries"]:
        for numbers in polygons_of(geometry):
            # A line around the pole stands as Antarctica's first ring.
            rings = [join_arcs(countries["arcs"], part) for part in numbers]
            rings = [ring for ring in rings if len(ring) > 3 and max(y for _, y in ring) > -89]
            if rings:
                pieces += cut_piece(mend(Polygon(rings[0], rings[1:])), morocco=geometry.get("id") == "504")
    return pieces


def cut_piece(piece: BaseGeometry, *, morocco: bool) -> list[Polygon]:
    """Return a piece of land in parts that each lie within one copy of the world."""
    parts: list[BaseGeometry] = []
    for shift in (-360, 0, 360):
        moved = shapely.affinity.translate(piece, shift)
        if moved.bounds[2] > -180 and moved.bounds[0] < 180:
            parts.append(moved if shift == 0 and within(moved) else moved.intersection(box(-180, -90, 180, 90)))
    if morocco:
        south = box(-20, 20, 0, WESTERN_SAHARA_NORTH)
        parts = [cut for part in parts for cut in (part.difference(south), part.intersection(south))]
    return [part for whole in parts for part in shapely.get_parts(whole) if isinstance(part, Polygon) and part.area > 0]


def within(piece: BaseGeometry) -> bool:
    """Return whether a piece does not pass the antimeridian."""
    return piece.bounds[0] >= -180 and piece.bounds[2] <= 180


def name_pieces(pieces: list[Polygon]) -> list[str]:
    """Return the area that a point inside each piece lies in; empty for reefs that no area holds."""
    middles = [piece.representative_point() for piece in pieces]
    areas = [*load_borders().areas, ""]
    return [areas[number] for number in find_areas([m.y for m in middles], [m.x for m in middles])]


def project(piece: Polygon) -> Polygon:
    """Return a piece on the canvas, its long edges bent as the projection bends them."""

    def place(points: np.ndarray) -> np.ndarray:
        x, y = project_points(points[:, 1], points[:, 0])
        return np.stack([x, y], axis=1).round(6)

    return shapely.transform(shapely.segmentize(piece, 2.0), place)


def draw_area(pieces: list[Polygon]) -> dict[str, Any]:
    """Return an area as an SVG path in whole pixels, and the point where its marker goes."""
    pieces = sorted(pieces, key=lambda piece: -piece.area)
    kept = [piece for number, piece in enumerate(pieces) if number == 0 or piece.area >= SMALLEST]
    path = "".join(draw_ring(ring.coords) for piece in kept for ring in (piece.exterior, *piece.interiors))
    middle = shapely.maximum_inscribed_circle(pieces[0], tolerance=0.5) if pieces[0].area > 4 else pieces[0].centroid
    x, y = middle.coords[0] if isinstance(middle, LineString) else (middle.x, middle.y)
    return {"path": path, "x": round(x, 1), "y": round(y, 1)}


def draw_ring(coordinates: Any) -> str:
    """Return a ring as steps in whole pixels; empty when it shrinks to fewer than three corners."""
    points = np.rint(np.asarray(coordinates)[:-1]).astype(int)
    points = points[np.any(points != np.roll(points, 1, axis=0), axis=1)]
    if len(points) < 3:
        return ""
    steps = "".join(f"{x}{'' if y < 0 else ' '}{y} " for x, y in np.diff(points, axis=0).tolist())
    return f"M{points[0][0]} {points[0][1]}l{steps.strip()}z".replace(" -", "-")


def place_of(area: str, land: np.ndarray) -> tuple[list[float], list[float]]:
    """Return latitude and longitude of a point of the area, on land where Natural Earth has some."""
    shapes = area_shapes(area)
    near = [part for shape in shapes for part in land if part.intersects(shape)]
    on_land = [cut for shape in shapes for part in near if (cut := part.intersection(shape)).area > 0]
    best = max(on_land or shapes, key=lambda shape: shape.area).representative_point()
    return [best.y], [best.x]


def area_shapes(area: str) -> list[Polygon]:
    """Return the packaged rings of an area, in degrees."""
    names, edges = read_edges()
    own = edges.take(edges.area == names.index(area))
    breaks = np.nonzero((own.x[1:] != own.next_x[:-1]) | (own.y[1:] != own.next_y[:-1]))[0] + 1
    rings = np.split(np.stack([own.x - EAST_UNITS / 2, own.y - NORTH_UNITS / 2], axis=1) / UNITS_PER_DEGREE, breaks)
    return [mend(Polygon(ring)) for ring in rings if len(ring) > 3]


if __name__ == "__main__":
    main()
