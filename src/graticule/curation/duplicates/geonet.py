"""GeoNet's rule: photos of one place whose colours and small pictures are near each other.

Photos are of one place if they lie in the same cell of one degree, or in different cells but within a few kilometres:
two photos of a square that a cell's edge cuts are not missed. No cell's photos are all compared with each other; a few
numbers whose distance is never larger than the pictures' own say which to compare.

References
----------
Kalluri, Xu and Chandraker (2023), GeoNet, appendix E.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache

import numpy as np
import polars as pl
from jaxtyping import Bool, Float32, Float64, Int64, UInt8

from graticule.curation.duplicates.hashes import SIDE
from graticule.curation.duplicates.rule import (
    DuplicateConfig,
    Evidence,
    Links,
    join_links,
    link_equal,
    pass_on,
    require_columns,
    require_signatures,
)
from graticule.geo.cells import NO_CELL, find_cells
from graticule.geo.distances import EARTH_RADIUS_KM, measure_distances_km

BINS = 16
"""Bins of each channel's histogram."""
CHECKED_AT_ONCE = 2048
SLACK = 1 + 1e-5
"""Room for rounding where a smaller distance decides what to compare."""
LIGHT_WAVES = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0))
"""Waves of the lightness that are compared first; of the two colour differences the mean alone."""


def link_same_scene(evidence: Evidence, config: DuplicateConfig) -> Links:
    """Return links between photos of one place that look alike; the distance is that of their 32 × 32 × 3 pictures.

    Notes
    -----
    A distance of 0 is the same picture, one of 1 black against white. Photos without coordinates are compared with
    none.

    Raises
    ------
    TableError
        The table has no coordinates.
    """
    require_columns(
        evidence.images,
        "latitude",
        "longitude",
        rule="geonet",
        remedy="Choose other --rules, or add coordinates with `graticule scan`.",
    )
    north, east = (evidence.images[name].fill_null(float("nan")).to_numpy() for name in ("latitude", "longitude"))
    cells = find_cells(north, east, degrees=config.cell_degrees)
    held = require_signatures(evidence)["colours"]
    rows = np.flatnonzero((cells != NO_CELL) & held.is_not_null().to_numpy())
    scenes = Scenes(colours=_unpack(held.gather(rows)), cells=cells[rows], north=north[rows], east=east[rows])
    keys = [f"{cell} ".encode() + picture for cell, picture in zip(scenes.cells, held.gather(rows), strict=True)]
    equal = link_equal(pl.Series(keys, dtype=pl.Binary), evidence.rank[rows])
    is_first = np.ones(len(rows), dtype=bool)
    is_first[equal.second] = False
    found = join_links([*_link_in_cells(scenes, is_first, config), *_link_over_edges(scenes, config)])
    links = join_links([equal, found, pass_on(found, equal)])
    return Links(first=rows[links.first], second=rows[links.second], distance=links.distance)


def measure(
    evidence: Evidence, config: DuplicateConfig, first: Int64[np.ndarray, " m"], second: Int64[np.ndarray, " m"]
) -> Float64[np.ndarray, " m"]:
    """Return the distance of each pair's small pictures."""
    del config
    held = require_signatures(evidence)["colours"]
    return measure_pictures(_unpack(held.gather(first)), _unpack(held.gather(second)))


class Scenes:
    """Photos with places: their pictures, and a few numbers of each that are never farther apart than these."""

    def __init__(
        self,
        *,
        colours: UInt8[np.ndarray, "n 32 32 3"],
        cells: Int64[np.ndarray, " n"],
        north: Float64[np.ndarray, " n"],
        east: Float64[np.ndarray, " n"],
    ) -> None:
        self.colours, self.cells, self.north, self.east = colours, cells, north, east
        self.bounds = project(colours)


def project(colours: UInt8[np.ndarray, "n 32 32 3"]) -> Float32[np.ndarray, "n b"]:
    """Return a few numbers of each picture; their Euclidean distance is at most `measure_pictures`."""
    flat = colours.reshape(len(colours), SIDE * SIDE * 3)
    starts = range(0, len(flat), CHECKED_AT_ONCE)
    parts = [flat[start : start + CHECKED_AT_ONCE].astype(np.float32) @ _projection() for start in starts]
    return np.concatenate(parts or [np.empty((0, _projection().shape[1]), dtype=np.float32)])


def measure_pictures(
    first: UInt8[np.ndarray, "m 32 32 3"], second: UInt8[np.ndarray, "m 32 32 3"]
) -> Float64[np.ndarray, " m"]:
    """Return the Euclidean distance of pictures, as a share of that between black and white."""
    apart = (first.astype(np.float32) - second).reshape(len(first), SIDE * SIDE * 3)
    return np.sqrt(np.einsum("mi,mi->m", apart, apart) / max(1, apart.shape[1])).astype(np.float64) / 255


def measure_histograms(
    first: UInt8[np.ndarray, "m 32 32 3"], second: UInt8[np.ndarray, "m 32 32 3"]
) -> Float64[np.ndarray, " m"]:
    """Return the Euclidean distance of the pictures' histograms, the mean over the three channels."""
    return np.linalg.norm(_count_levels(first) - _count_levels(second), axis=2).mean(axis=1)


def _link_in_cells(scenes: Scenes, chosen: Bool[np.ndarray, " n"], config: DuplicateConfig) -> Generator[Links]:
    from scipy.spatial import KDTree

    places = np.flatnonzero(chosen)
    places = places[np.argsort(scenes.cells[places], kind="stable")]
    cuts = np.flatnonzero(np.diff(scenes.cells[places])) + 1
    for members in np.split(places, cuts):
        if len(members) < 2:
            continue
        points = scenes.bounds[members]
        tree = KDTree(points)
        for start in range(0, len(members), CHECKED_AT_ONCE):
            block = KDTree(points[start : start + CHECKED_AT_ONCE])
            near = block.sparse_distance_matrix(tree, config.max_pixel_distance * SLACK, output_type="ndarray")
            first, second = members[near["i"] + start], members[near["j"]]
            yield from _check(scenes, first[first < second], second[first < second], config)


def _link_over_edges(scenes: Scenes, config: DuplicateConfig) -> Generator[Links]:
    """Yield links between photos in different cells that were taken near each other."""
    from scipy.spatial import KDTree

    if config.edge_km <= 0 or config.max_pixel_distance <= 0:
        return
    members = np.flatnonzero(find_near_edges(scenes.north, scenes.east, config))
    # Where each coordinate is within 1, colours and places may be within their limits.
    points = np.hstack(
        [
            scenes.bounds[members] / (config.max_pixel_distance * SLACK),
            _place_on_sphere(scenes.north[members], scenes.east[members]) / (config.edge_km * SLACK),
        ]
    )
    tree = KDTree(points)
    for start in range(0, len(members), CHECKED_AT_ONCE):
        block = KDTree(points[start : start + CHECKED_AT_ONCE])
        near = block.sparse_distance_matrix(tree, 1.0, p=np.inf, output_type="ndarray")
        first, second = members[near["i"] + start], members[near["j"]]
        wanted = (first < second) & (scenes.cells[first] != scenes.cells[second])
        first, second = first[wanted], second[wanted]
        km = measure_distances_km(
            scenes.north[first],
            scenes.east[first],
            to_latitude=scenes.north[second],
            to_longitude=scenes.east[second],
        )
        yield from _check(scenes, first[km <= config.edge_km], second[km <= config.edge_km], config)


def find_near_edges(
    north: Float64[np.ndarray, " n"], east: Float64[np.ndarray, " n"], config: DuplicateConfig
) -> Bool[np.ndarray, " n"]:
    """Return which places are within the limit of their cell's edge, and so possibly of a place in another cell."""
    up, right = (north + 90) % config.cell_degrees, (east + 180) % config.cell_degrees
    to_parallel = np.radians(np.minimum(up, config.cell_degrees - up))
    turn = np.radians(np.minimum(right, config.cell_degrees - right))
    to_meridian = np.arcsin(np.clip(np.abs(np.sin(turn)) * np.cos(np.radians(north)), 0, 1))
    return EARTH_RADIUS_KM * np.minimum(to_parallel, to_meridian) <= config.edge_km * SLACK


def _check(
    scenes: Scenes, first: Int64[np.ndarray, " m"], second: Int64[np.ndarray, " m"], config: DuplicateConfig
) -> Generator[Links]:
    """Yield those of the pairs that are near in pixels and in histograms."""
    for start in range(0, len(first), CHECKED_AT_ONCE):
        one, other = first[start : start + CHECKED_AT_ONCE], second[start : start + CHECKED_AT_ONCE]
        distance = measure_pictures(scenes.colours[one], scenes.colours[other])
        near = np.flatnonzero(distance <= config.max_pixel_distance)
        one, other, distance = one[near], other[near], distance[near]
        alike = measure_histograms(scenes.colours[one], scenes.colours[other]) <= config.max_histogram_distance
        yield Links(first=one[alike], second=other[alike], distance=distance[alike])


def _unpack(held: pl.Series) -> UInt8[np.ndarray, "m 32 32 3"]:
    return np.frombuffer(b"".join(held), dtype=np.uint8).reshape(-1, SIDE, SIDE, 3)


def _count_levels(colours: UInt8[np.ndarray, "m 32 32 3"]) -> Float64[np.ndarray, "m 3 16"]:
    levels = (colours.reshape(len(colours), SIDE * SIDE, 3) // (256 // BINS)).astype(np.int64)
    keys = levels + BINS * np.arange(3) + 3 * BINS * np.arange(len(colours))[:, None, None]
    counts = np.bincount(keys.ravel(), minlength=len(colours) * 3 * BINS)
    return counts.reshape(len(colours), 3, BINS) / (SIDE * SIDE)


@cache
def _projection() -> Float32[np.ndarray, "3072 b"]:
    """Return orthonormal columns (cosine waves of lightness, two colour differences), scaled as distances are."""
    place = (np.arange(SIDE) + 0.5) / SIDE
    waves = [np.cos(np.pi * number * place) for number in range(3)]
    waves = [wave / np.linalg.norm(wave) for wave in waves]
    light, red_green, blue = np.array([1, 1, 1]) / 3**0.5, np.array([1, -1, 0]) / 2**0.5, np.array([1, 1, -2]) / 6**0.5
    columns = [np.einsum("u,v,c->uvc", waves[u], waves[v], light) for u, v in LIGHT_WAVES]
    columns += [np.einsum("u,v,c->uvc", waves[0], waves[0], colour) for colour in (red_green, blue)]
    scale = 255 * (SIDE * SIDE * 3) ** 0.5
    return (np.stack([column.ravel() for column in columns], axis=1) / scale).astype(np.float32)


def _place_on_sphere(north: Float64[np.ndarray, " n"], east: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, "n 3"]:
    """Return places in space, in kilometres; a straight line between two is never longer than the way on the ground."""
    up, right = np.radians(north), np.radians(east)
    return EARTH_RADIUS_KM * np.stack([np.cos(up) * np.cos(right), np.cos(up) * np.sin(right), np.sin(up)], axis=1)
