"""What every rule of near-duplicates takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Float32, Float64, Int64

from graticule.curation.duplicates.hashes import TURNS
from graticule.errors import ConfigError, TableError, shown, unknown_choice

HISTOGRAM_LIMIT = 2**0.5
MAX_BITS = 16
"""Differing bits beyond which hashes of photos that have nothing to do with each other are met by the thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateConfig:
    """Thresholds of the rules. Those of GeoNet's rule were not published; all were chosen on our own photos."""

    max_bits: int = 9
    """perceptual: bits of 63 in which the hashes of two pictures may differ (ours; see docs/duplicates.md)."""
    min_correlation: float = 0.92
    """perceptual: correlation that the small pictures behind two hashes must have (ours; see docs/duplicates.md)."""
    turns: str = "turned"
    """perceptual: none, turned (by quarters) or all (mirrored too)."""
    crops: bool = True
    """perceptual: whether to look for crops that lost a twentieth of each side."""
    max_pixel_distance: float = 0.06
    """geonet: Euclidean distance of two 32 × 32 × 3 pictures, as a share of the largest possible (ours)."""
    max_histogram_distance: float = 0.15
    """geonet: Euclidean distance of their histograms (16 bins a channel, the mean over channels), 0 to √2 (ours)."""
    cell_degrees: float = 1.0
    """geonet: width of a cell (GeoNet, appendix E)."""
    edge_km: float = 10.0
    """geonet: photos in different cells are compared if they were taken as near as this (ours)."""
    max_cosine_distance: float = 0.1
    """embedding: 1 - cosine of two feature vectors (ours)."""

    def __post_init__(self) -> None:
        if self.turns not in TURNS:
            raise unknown_choice("kind of turns", self.turns, TURNS)
        limits = {
            "max_bits": (0, MAX_BITS),
            "min_correlation": (-1, 1),
            "max_pixel_distance": (0, 1),
            "max_histogram_distance": (0, HISTOGRAM_LIMIT),
            "edge_km": (0, 1000),
            "max_cosine_distance": (0, 2),
        }
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected {low} to {high:.4g}.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What is known of the images, in their order; None where no rule asked for it or it was not given."""

    images: pl.DataFrame
    rank: Int64[np.ndarray, " n"]
    """Each image's place in the order of preference, from 0: of two alike the one with the smaller number is kept."""
    signatures: pl.DataFrame | None = None
    """What the files hold, as `graticule.curation.duplicates.signatures` measures it."""
    features: Float32[np.ndarray, "n d"] | None = None
    base: str | Path = "."
    """Folder that the images' paths start from."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """Pairs of images that a rule holds to be near-duplicates: row numbers, and how far apart they are."""

    first: Int64[np.ndarray, " m"]
    second: Int64[np.ndarray, " m"]
    distance: Float64[np.ndarray, " m"]


Rule: TypeAlias = Callable[[Evidence, DuplicateConfig], Links]
"""Evidence and thresholds → links. Where many images are equal, each need be linked only to the first by rank."""


def no_links() -> Links:
    """Return no links."""
    return Links(first=np.empty(0, np.int64), second=np.empty(0, np.int64), distance=np.empty(0))


def join_links(parts: list[Links]) -> Links:
    """Return all links, each pair once with its smallest distance, in the order of the rows."""
    first = np.concatenate([part.first for part in parts] or [np.empty(0, np.int64)])
    second = np.concatenate([part.second for part in parts] or [np.empty(0, np.int64)])
    distance = np.concatenate([part.distance for part in parts] or [np.empty(0)])
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((distance, high, low))
    low, high, distance = low[order], high[order], distance[order]
    is_first = np.ones(len(low), dtype=bool)
    is_first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    is_first &= low != high
    return Links(first=low[is_first], second=high[is_first], distance=distance[is_first])


def link_equal(keys: pl.Series, rank: Int64[np.ndarray, " n"]) -> Links:
    """Return links at distance 0 between images with the same key, each to the first of them; null links nothing."""
    table = pl.DataFrame({"key": keys, "rank": rank}).with_row_index("row").drop_nulls("key")
    first = pl.col("row").sort_by("rank").first().over("key")
    pairs = table.with_columns(first.alias("first")).filter(pl.col("row") != pl.col("first"))
    rows = pairs["row"].to_numpy().astype(np.int64)
    return Links(first=pairs["first"].to_numpy().astype(np.int64), second=rows, distance=np.zeros(len(rows)))


def pass_on(links: Links, equal: Links) -> Links:
    """Return the links of those that equal a linked image: what the first of them is near, they all are."""
    heirs = pl.DataFrame({"first": equal.first, "heir": equal.second})
    table = pl.DataFrame({"a": links.first, "b": links.second, "distance": links.distance})
    both = pl.concat([table, table.select(pl.col("b").alias("a"), pl.col("a").alias("b"), "distance")])
    passed = both.join(heirs, left_on="a", right_on="first", how="inner")
    return Links(
        first=passed["heir"].to_numpy().astype(np.int64),
        second=passed["b"].to_numpy().astype(np.int64),
        distance=passed["distance"].to_numpy().astype(np.float64),
    )


def require_columns(images: pl.DataFrame, *names: str, rule: str, remedy: str) -> None:
    """Raise where a rule's columns are missing.

    Raises
    ------
    TableError
        A column is not there.
    """
    missing = [name for name in names if name not in images.columns]
    if missing:
        raise TableError(
            f"images: no column {shown(missing)}, which the rule '{rule}' looks at; the columns are "
            f"{shown(images.columns, limit=12)}. {remedy}"
        )


def require_signatures(evidence: Evidence) -> pl.DataFrame:
    """Return what the files hold; it was measured, for the rule is among those that open them."""
    assert evidence.signatures is not None
    return evidence.signatures
