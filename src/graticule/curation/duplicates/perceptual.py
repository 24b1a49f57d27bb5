"""The same picture: recompressed, resized, brighter, turned by quarters, or a little cropped.

Two pictures are linked if their hashes differ in few bits, as they are or after one of them was turned or cropped, and
if the small pictures behind the hashes correlate as well. The hash finds, quickly and exactly; the correlation throws
out what shares a hash by chance, such as two horizons.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float32, Float64, Int64, UInt8, UInt64

from graticule.curation.duplicates.hamming import HammingIndex
from graticule.curation.duplicates.hashes import (
    CROPS,
    SIDE,
    TURNS,
    count_differences,
    crop_greys,
    hash_greys,
    turn_greys,
    turn_hashes,
)
from graticule.curation.duplicates.rule import (
    DuplicateConfig,
    Evidence,
    Links,
    join_links,
    link_equal,
    pass_on,
    require_signatures,
)

LEAST_CONTRAST = 2.0
"""Standard deviation, in levels of 255, below which a picture is too flat for its waves to mean anything."""
POOLED = 16
"""Greys a side that are correlated."""
CHECKED_AT_ONCE = 1 << 14
INVERSE = (0, 1, 2, 3, 4, 6, 5, 7)
"""What undoes each turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What is done to the first of two pictures before it is compared with the second."""

    turn: int = 0
    crop: int | None = None


def link_alike(evidence: Evidence, config: DuplicateConfig) -> Links:
    """Return links between pictures that look alike; the distance is the number of bits of 63 that differ.

    Notes
    -----
    Pictures whose signatures are equal are each linked to the first of them, and only the first is compared with
    others; what it is linked to, they all are. A picture of one colour is linked to none: two
    white walls are no copies.
    """
    signatures = require_signatures(evidence)
    greys, rows = unpack_greys(signatures)
    has_contrast = measure_contrast(greys) >= LEAST_CONTRAST
    greys, rows = greys[has_contrast], rows[has_contrast]
    equal = link_equal(signatures["greys"].gather(rows), evidence.rank[rows])
    is_first = np.ones(len(rows), dtype=bool)
    is_first[equal.second] = False
    equal = Links(first=rows[equal.first], second=rows[equal.second], distance=equal.distance)
    greys, rows = greys[is_first], rows[is_first]
    found = [
        Links(first=rows[part.first], second=rows[part.second], distance=part.distance)
        for version in list_versions(config)
        for part in _link_version(greys, version, config)
    ]
    links = join_links(found)
    return join_links([equal, links, pass_on(links, equal)])


def measure(
    evidence: Evidence, config: DuplicateConfig, first: Int64[np.ndarray, " m"], second: Int64[np.ndarray, " m"]
) -> Float64[np.ndarray, " m"]:
    """Return in how many bits the hashes of each pair differ."""
    held = require_signatures(evidence)["greys"]
    return measure_bits(_unpack(held.gather(first)), _unpack(held.gather(second)), config).astype(np.float64)


def list_versions(config: DuplicateConfig) -> list[Version]:
    """Return the versions to look for. Of two turns that undo each other one is enough: each picture is asked."""
    turns = [turn for turn in TURNS[config.turns] if turn <= INVERSE[turn]]
    crops = range(len(CROPS)) if config.crops else ()
    return [*(Version(turn=turn) for turn in turns), *(Version(crop=crop) for crop in crops)]


def unpack_greys(signatures: pl.DataFrame) -> tuple[UInt8[np.ndarray, "m 32 32"], Int64[np.ndarray, " m"]]:
    """Return the greys of the pictures that could be read, and their rows."""
    rows = np.flatnonzero(signatures["greys"].is_not_null().to_numpy())
    return _unpack(signatures["greys"].drop_nulls()), rows


def measure_contrast(greys: UInt8[np.ndarray, "n 32 32"]) -> Float64[np.ndarray, " n"]:
    """Return the standard deviation of each picture's greys."""
    parts = [greys[start : start + CHECKED_AT_ONCE] for start in range(0, len(greys), CHECKED_AT_ONCE)]
    return np.concatenate([part.std(axis=(1, 2), dtype=np.float64) for part in parts] or [np.empty(0)])


def measure_bits(
    first: UInt8[np.ndarray, "m 32 32"], second: UInt8[np.ndarray, "m 32 32"], config: DuplicateConfig
) -> Int64[np.ndarray, " m"]:
    """Return in how many bits the hashes of pictures differ, in the version in which they differ least."""
    plain = hash_greys(first), hash_greys(second)
    least = np.full(len(first), 64, dtype=np.int64)
    for turn in TURNS[config.turns]:
        least = np.minimum(least, count_differences(turn_hashes(plain[0], turn), plain[1]))
    for crop in range(len(CROPS)) if config.crops else ():
        least = np.minimum(least, count_differences(hash_greys(first, crop=crop), plain[1]))
        least = np.minimum(least, count_differences(plain[0], hash_greys(second, crop=crop)))
    return least


def _link_version(greys: UInt8[np.ndarray, "n 32 32"], version: Version, config: DuplicateConfig) -> Generator[Links]:
    """Yield the links between pictures in one version and pictures as they are."""
    targets = hash_all(greys)
    queries = turn_hashes(targets, version.turn) if version.crop is None else hash_all(greys, crop=version.crop)
    is_symmetric = version.crop is None and INVERSE[version.turn] == version.turn
    for found in HammingIndex(targets, max_distance=config.max_bits).search(queries):
        wanted = found.query < found.target if is_symmetric else found.query != found.target
        first, second, distance = found.query[wanted], found.target[wanted], found.distance[wanted]
        for start in range(0, len(first), CHECKED_AT_ONCE):
            part = slice(start, start + CHECKED_AT_ONCE)
            alike = correlate(greys[first[part]], greys[second[part]], version) >= config.min_correlation
            yield Links(
                first=first[part][alike], second=second[part][alike], distance=distance[part][alike].astype(np.float64)
            )


def _unpack(held: pl.Series) -> UInt8[np.ndarray, "m 32 32"]:
    return np.frombuffer(b"".join(held), dtype=np.uint8).reshape(-1, SIDE, SIDE)


def hash_all(greys: UInt8[np.ndarray, "n 32 32"], *, crop: int | None = None) -> UInt64[np.ndarray, " n"]:
    """Return every picture's hash, a few thousand at a time."""
    starts = range(0, len(greys), CHECKED_AT_ONCE)
    parts = [hash_greys(greys[start : start + CHECKED_AT_ONCE], crop=crop) for start in starts]
    return np.concatenate(parts or [np.empty(0, dtype=np.uint64)])


def correlate(
    first: UInt8[np.ndarray, "m 32 32"], second: UInt8[np.ndarray, "m 32 32"], version: Version
) -> Float32[np.ndarray, " m"]:
    """Return the correlation of each two pictures, 16 × 16 of them, the first in a version."""
    one = _pool(crop_greys(turn_greys(first, version.turn), version.crop))
    other = _pool(second.astype(np.float32))
    return np.einsum("mi,mi->m", one, other)


def _pool(pictures: Float32[np.ndarray, "m 32 32"]) -> Float32[np.ndarray, "m 256"]:
    """Return pictures of 16 × 16, with mean 0 and length 1."""
    step = SIDE // POOLED
    pooled = pictures.reshape(len(pictures), POOLED, step, POOLED, step).mean(axis=(2, 4))
    pooled = pooled.reshape(len(pictures), POOLED * POOLED)
    pooled = pooled - pooled.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("mi,mi->m", pooled, pooled))
    return pooled / np.maximum(length, 1e-6)[:, None]
