"""Make ``src/graticule/geo/sources/borders.npz``: the polygons that `graticule.geo.countries_at` looks points up in.

The borders are those of country-coder (ISC licence): they are drawn for looking points up, follow land borders to about
a hundred metres and pass generously offshore, so that no beach or pier is lost. Three things are done to them:

1. The parts of a country are joined (England and Scotland to GBR) and the places whose country is disputed are kept
   apart as areas of their own, which a policy (`graticule.geo.policies`) gives to a country.
2. The waters are cut at about 50 km from the nearest land of Natural Earth 1:10m (public domain), because
   country-coder's reach hundreds of kilometres out to sea.
3. Where two polygons overlap by a little, the smaller one keeps the strip.

Needs ``npm`` (to fetch the sources) and ``pip install shapely``::

    python scripts/build_borders.py
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from npm_packages import COUNTRY_CODER, WORLD_ATLAS, fetch_package, join_arcs, polygons_of, read_topology
from shapely.geometry import MultiPolygon, Polygon, box, shape
from shapely.geometry.base import BaseGeometry

SOURCES = Path(__file__).parents[1] / "src" / "graticule" / "geo" / "sources"
UNITS_PER_DEGREE = 100_000
WATERS_KM = 50.0
KM_PER_DEGREE = 111.195
BAND_DEGREES = 2.5
LAND_TOLERANCE = 0.01
WATERS_TOLERANCE = 0.03
ATOLLS_LAND_SHARE = 0.0005
"""Natural Earth lacks many atolls. Where so little of a polygon is land (Micronesia, the Marshall Islands) its waters
are kept whole."""

EXCEPTIONAL = {
    "ASC": "SHN", "TAA": "SHN", "CPT": "FRA", "CRQ": "GGY", "DGA": "IOT", "FXX": "FRA",
}  # fmt: skip
"""Codes that ISO 3166 reserves exceptionally → the country whose code covers the place."""

DISPUTED = {
    "Crimea": "crimea",
    "Northern Cyprus": "northern_cyprus",
    "Bir Tawil": "bir_tawil",
    "Akrotiri": "akrotiri_and_dhekelia",
    "Dhekelia": "akrotiri_and_dhekelia",
}
"""Features of country-coder that become areas of their own."""

WESTERN_SAHARA_NORTH = 27.0 + 2.0 / 3.0
"""The border between Morocco and Western Sahara is the parallel 27°40' N."""

GOLAN_FOOT = [
    (35.69, 33.40), (35.69, 33.25), (35.672, 33.17), (35.66, 33.11), (35.645, 33.03), (35.635, 32.98), (35.625, 32.89),
    (35.665, 32.86), (35.655, 32.82), (35.655, 32.75), (35.65, 32.70), (35.655, 32.60), (36.2, 32.60), (36.2, 33.40),
]  # fmt: skip
"""A line of ours along the foot of the Golan Heights, within about 2 km of the line of 1949, closed to the east."""

NEARLY_180 = 179.98
"""Chukotka's eastern part starts at 179.984° W and 179.999° W, Fiji's western part ends at 179.99999° E."""

JERUSALEM = box(35.15, 31.70, 35.32, 31.88)


def main() -> None:
    """Fetch the sources, make the areas, and write them."""
    with tempfile.TemporaryDirectory() as folder:
        coder = fetch_package(COUNTRY_CODER, folder=Path(folder))
        atlas = fetch_package(WORLD_ATLAS, folder=Path(folder))
        features = json.loads((coder / "src/data/borders.json").read_text(encoding="utf-8"))["features"]
        countries = read_topology(atlas / "countries-10m.json")
        land = all_land(read_topology(atlas / "land-10m.json"))
        licence = (coder / "LICENSE.md").read_text(encoding="utf-8")
    areas = split_disputed(join_features(features), palestine=country_shape(countries, "275"))
    areas = cut_waters(remove_overlaps(areas), land=land)
    write_borders(areas)
    (SOURCES / "borders.LICENSE.md").write_text(licence, encoding="utf-8")


def join_features(features: list[dict[str, Any]]) -> dict[str, BaseGeometry]:
    """Return country-coder's polygons joined by area: an alpha-3 code, or a name in `DISPUTED`."""
    alpha3 = {f["properties"]["iso1A2"]: f["properties"].get("iso1A3") for f in features if "iso1A2" in f["properties"]}
    parts: dict[str, list[BaseGeometry]] = {}
    for feature in features:
        if feature["geometry"] is not None:
            name = area_of(feature["properties"], alpha3)
            parts.setdefault(name, []).append(shapely.transform(shape(feature["geometry"]), close_antimeridian))
    return {name: shapely.union_all(shapes) for name, shapes in sorted(parts.items())}


def close_antimeridian(points: np.ndarray) -> np.ndarray:
    """Return points with those that stop a few hundred metres short of the antimeridian moved onto it."""
    east = np.where(np.abs(points[:, 0]) >= NEARLY_180, np.sign(points[:, 0]) * 180.0, points[:, 0])
    return np.stack([east, points[:, 1]], axis=1)


def area_of(properties: dict[str, Any], alpha3: dict[str, str]) -> str:
    """Return the area that a feature belongs to."""
    if properties.get("nameEn") in DISPUTED:
        return DISPUTED[properties["nameEn"]]
    own = properties.get("iso1A3")
    if own:
        return EXCEPTIONAL.get(own, own)
    territory = [code for code in properties.get("groups", []) if alpha3.get(code) not in (None, "EUE")]
    return alpha3[territory[0]] if territory else alpha3[properties["country"]]


def split_disputed(areas: dict[str, BaseGeometry], *, palestine: BaseGeometry) -> dict[str, BaseGeometry]:
    """Return the areas with the disputed places that country-coder does not draw cut out of their neighbours."""
    cuts = {
        "western_sahara_west_of_the_berm": ("MAR", box(-20, 20, -8.6, WESTERN_SAHARA_NORTH)),
        "golan_heights": ("ISR", Polygon(GOLAN_FOOT)),
        "east_jerusalem": ("ISR", palestine.intersection(JERUSALEM)),
    }
    result = dict(areas)
    for name, (country, cut) in cuts.items():
        result[name] = result[country].intersection(cut)
        result[country] = result[country].difference(cut)
        assert result[name].area > 0, name
    return result


def remove_overlaps(areas: dict[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Return the areas without overlaps: what two share stays with the smaller one."""
    names = sorted(areas, key=lambda name: areas[name].area)
    tree = shapely.STRtree([areas[name] for name in names])
    result = dict(areas)
    for number, name in enumerate(names):
        for other in sorted(tree.query(result[name])):
            if other < number and areas[names[other]].intersection(areas[name]).area > 0:
                result[name] = result[name].difference(areas[names[other]])
    return result


def all_land(atlas: dict[str, Any]) -> np.ndarray:
    """Return Natural Earth's land masses, simplified to about a kilometre, with copies beyond the antimeridian."""
    shapes: list[BaseGeometry] = []
    for geometry in atlas["objects"]["land"]["geometries"]:
        for polygon in polygons_of(geometry):
            rings = [ring for numbers in polygon if len(ring := join_arcs(atlas["arcs"], numbers)) > 3]
            if rings:
                shapes.append(mend(Polygon(rings[0], rings[1:])))
    parts = [mend(part.simplify(LAND_TOLERANCE)) if part.area > 1e-3 else part for part in shapes]
    beyond = [
        shapely.affinity.translate(part, shift)
        for part in parts
        for shift, near in ((360, part.bounds[0] < -178), (-360, part.bounds[2] > 178))
        if near
    ]
    return np.array([*parts, *beyond])


def mend(shapes: Any) -> Any:
    """Return polygons whose rings may cross themselves as valid ones, with everything inside a ring kept."""
    return shapely.make_valid(shapes, method="structure", keep_collapsed=False)


def country_shape(countries: dict[str, Any], numeric: str) -> BaseGeometry:
    """Return a country of Natural Earth by its ISO numeric code."""
    polygons = [
        Polygon(join_arcs(countries["arcs"], polygon[0]))
        for geometry in countries["objects"]["countries"]["geometries"]
        if geometry.get("id") == numeric
        for polygon in polygons_of(geometry)
    ]
    return shapely.union_all(polygons).buffer(0)


def cut_waters(areas: dict[str, BaseGeometry], *, land: np.ndarray) -> dict[str, BaseGeometry]:
    """Return the areas without what lies farther than `WATERS_KM` from land."""
    tree = shapely.STRtree(land)
    bands = [widen_band(land, tree, south) for south in np.arange(-90.0, 90.0, BAND_DEGREES)]
    # Simplifying must not nibble at the edges of the map, so the bands pass the antimeridian and Antarctica is added.
    waters = shapely.union_all([shapely.union_all(bands).simplify(WATERS_TOLERANCE), box(-181, -91, 181, -85)])
    result: dict[str, BaseGeometry] = {}
    for name, area in areas.items():
        pieces: list[BaseGeometry] = []
        for piece in getattr(area, "geoms", [area]):
            near = shapely.clip_by_rect(land[tree.query(piece)], *piece.bounds)
            # Where little of a polygon is land, count it exactly; Canada need not be.
            share = shapely.area(near).sum() / piece.area
            if share < 10 * ATOLLS_LAND_SHARE:
                share = shapely.area(shapely.intersection(mend(near), piece)).sum() / piece.area
            if share < ATOLLS_LAND_SHARE:
                print(f"{name}: waters kept whole, {piece.area:.1f} square degrees")
            pieces.append(piece if share < ATOLLS_LAND_SHARE else piece.intersection(waters))
        result[name] = shapely.union_all(pieces)
    return result


def widen_band(land: np.ndarray, tree: shapely.STRtree, south: float) -> BaseGeometry:
    """Return what lies within `WATERS_KM` of land in a band of latitude, in degrees stretched to be equal there."""
    north = south + BAND_DEGREES
    reach = WATERS_KM / KM_PER_DEGREE
    stretch = max(math.cos(math.radians(south + BAND_DEGREES / 2)), 0.02)
    frame = box(-190, south - reach, 190, north + reach)
    near = mend(shapely.clip_by_rect(land[tree.query(frame)], *frame.bounds))
    stretched = shapely.transform(near, lambda points: points * [stretch, 1.0])
    widened = shapely.union_all(shapely.buffer(stretched, reach, quad_segs=4))
    back = shapely.transform(widened, lambda points: points / [stretch, 1.0])
    return back.intersection(box(-181, south, 181, north))


def write_borders(areas: dict[str, BaseGeometry]) -> None:
    """Write the areas' rings as whole numbers of 0.00001 degree, each vertex as its step from the one before."""
    names = sorted(areas, key=lambda name: (not name.isupper(), name))
    ring_areas: list[int] = []
    lengths: list[int] = []
    steps: list[np.ndarray] = []
    for number, name in enumerate(names):
        polygons = MultiPolygon([g for g in getattr(areas[name], "geoms", [areas[name]]) if isinstance(g, Polygon)])
        for polygon in polygons.geoms:
            for ring in (polygon.exterior, *polygon.interiors):
                points = np.rint(np.asarray(ring.coords) * UNITS_PER_DEGREE).astype(np.int64)
                points = points[np.r_[True, np.any(np.diff(points, axis=0) != 0, axis=1)]]
                if len(points) > 3:
                    ring_areas.append(number)
                    lengths.append(len(points))
                    steps.append(np.diff(points, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)))
    every = np.concatenate(steps).astype(np.int32)
    path = SOURCES / "borders.npz"
    np.savez_compressed(
        path,
        areas=np.frombuffer(json.dumps(names).encode(), dtype=np.uint8),
        ring_area=np.array(ring_areas, dtype=np.int16),
        ring_length=np.array(lengths, dtype=np.int32),
        step_x=every[:, 0].copy(),
        step_y=every[:, 1].copy(),
    )
    print(
        f"{path}: {len(names)} areas, {len(lengths)} rings, {len(every)} vertices, {path.stat().st_size / 1024:.0f} KiB"
    )


if __name__ == "__main__":
    main()
