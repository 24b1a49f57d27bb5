"""Features that point nearly the same way: what a network takes for the same picture.

All pairs are judged, exactly, but most by a bound alone: the cosine of two vectors is at most the product of their
parts along a few principal axes plus the product of the lengths of what is left.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import polars as pl
from jaxtyping import Float32, Float64, Int64

from graticule.curation.duplicates.rule import (
    DuplicateConfig,
    Evidence,
    Links,
    join_links,
    link_equal,
    pass_on,
)
from graticule.errors import ConfigError

AXES = 31
"""Principal axes of the bound."""
AXES_FROM = 20_000
"""Images that the axes are computed from; any orthogonal axes give the right answer, good ones a quick one."""
BLOCK = 2048
MANY_OPEN = 0.005
"""Share of pairs that the bound leaves open above which all are multiplied in full."""
SLACK = 1e-5
"""Room for rounding."""


def link_near_features(evidence: Evidence, config: DuplicateConfig) -> Links:
    """Return links between images whose features have a small cosine distance (1 - cosine).

    Raises
    ------
    ConfigError
        No features were given.
    """
    if evidence.features is None:
        raise ConfigError(
            "the rule 'embedding' compares features, and none were given. Add --features FILE, as `graticule embed` "
            "writes it, or leave the rule out."
        )
    length = np.linalg.norm(evidence.features, axis=1)
    rows = np.flatnonzero(length > 0)
    unit = evidence.features[rows] / length[rows, None]
    equal = link_equal(pl.Series([row.tobytes() for row in unit], dtype=pl.Binary), evidence.rank[rows])
    chosen = np.ones(len(rows), dtype=bool)
    chosen[equal.second] = False
    places = np.flatnonzero(chosen)
    found = join_links(
        [
            Links(first=places[part.first], second=places[part.second], distance=part.distance)
            for part in _search(unit[places], config.max_cosine_distance)
        ]
    )
    links = join_links([equal, found, pass_on(found, equal)])
    return Links(first=rows[links.first], second=rows[links.second], distance=links.distance)


def measure(
    evidence: Evidence, config: DuplicateConfig, first: Int64[np.ndarray, " m"], second: Int64[np.ndarray, " m"]
) -> Float64[np.ndarray, " m"]:
    """Return the cosine distance of each pair; 1 where a vector is zero."""
    del config
    assert evidence.features is not None
    one, other = (evidence.features[rows].astype(np.float64) for rows in (first, second))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("md,md->m", one, other)
    return np.maximum(0.0, 1.0 - np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0))


def measure_cosines(first: Float32[np.ndarray, "m d"], second: Float32[np.ndarray, "m d"]) -> np.ndarray:
    """Return the cosine distance of each two vectors of length 1."""
    return np.maximum(0.0, 1.0 - np.einsum("md,md->m", first, second, dtype=np.float64))


def _search(unit: Float32[np.ndarray, "n d"], max_distance: float) -> Generator[Links]:
    bounds = _bound(unit)
    for start in range(0, len(unit), BLOCK):
        for other in range(start, len(unit), BLOCK):
            at_most = bounds[start : start + BLOCK] @ bounds[other : other + BLOCK].T
            is_open = at_most >= 1 - max_distance - SLACK
            if np.count_nonzero(is_open) > MANY_OPEN * is_open.size:
                is_open = unit[start : start + BLOCK] @ unit[other : other + BLOCK].T >= 1 - max_distance - SLACK
            first, second = np.nonzero(is_open)
            first, second = first + start, second + other
            first, second = first[first < second], second[first < second]
            for begin in range(0, len(first), BLOCK * 8):
                one, two = first[begin : begin + BLOCK * 8], second[begin : begin + BLOCK * 8]
                distance = measure_cosines(unit[one], unit[two])
                near = distance <= max_distance
                yield Links(first=one[near], second=two[near], distance=distance[near])


def _bound(unit: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n b"]:
    """Return vectors whose products are at least those of the given ones."""
    if unit.shape[1] <= AXES + 1:
        return unit
    step = max(1, len(unit) // AXES_FROM)
    some = unit[::step].astype(np.float64)
    _, axes = np.linalg.eigh(some.T @ some)
    parts = unit @ axes[:, -AXES:].astype(np.float32)
    rest = np.sqrt(np.maximum(0, 1 - np.einsum("nd,nd->n", parts, parts)))
    return np.hstack([parts, rest[:, None]]).astype(np.float32)
