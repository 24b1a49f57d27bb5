"""Images that do not say where they were taken."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_columns
from graticule.curation.selection import list_findings


def find_unlocated(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images without coordinates, or at 0° N 0° E, where cameras without a fix put them: row, reason."""
    del evidence, config
    require_columns(
        images,
        "latitude",
        "longitude",
        needed_for="location",
        remedy="`graticule scan` reads them from EXIF; or leave the filter out.",
    )
    north, east = pl.col("latitude"), pl.col("longitude")
    is_missing = north.is_null() | east.is_null()
    reason = (
        pl.when(north.is_null() & east.is_null())
        .then(pl.lit("no latitude and longitude"))
        .when(is_missing)
        .then(pl.lit("a latitude or a longitude only"))
        .otherwise(pl.lit("at 0° N 0° E, where cameras without a fix put photos"))
    )
    return list_findings(images, is_missing | ((north == 0) & (east == 0)), reason)
