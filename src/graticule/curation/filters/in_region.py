"""Images in no region, in one that is not wanted, or whose coordinates lie in another region than the table says."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_columns
from graticule.curation.selection import list_findings
from graticule.data.locate import locate_images
from graticule.errors import ConfigError, shown


def find_outside(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images that do not lie in a region that counts: row, reason.

    Where a scheme is known (``scheme`` of the config, or that which the table was located with) coordinates are looked
    up, and an image whose coordinates lie in another region than its row says is left out.

    Raises
    ------
    ConfigError
        A region that shall count has no image.
    TableError
        There is no column of regions.
    """
    require_columns(images, "region", needed_for="in_region", remedy="`graticule locate` adds regions.")
    regions = images["region"].cast(pl.String)
    known = set(regions.drop_nulls().unique().to_list())
    strange = [name for name in config.regions if name not in known]
    if strange:
        raise ConfigError(f"regions: {shown(strange)} has no image; those that are there: {shown(sorted(known))}.")
    judged = images.with_columns(regions.alias("__region"), _look_up(images, config.scheme or evidence.scheme))
    is_unwanted = ~pl.col("__region").is_in(list(config.regions) or sorted(known))
    is_elsewhere = pl.col("__place") != pl.col("__region")
    reason = (
        pl.when(pl.col("__region").is_null())
        .then(pl.lit("in no region"))
        .when(is_unwanted)
        .then(pl.format("in {}, which is not wanted", "__region"))
        .otherwise(pl.format("its coordinates lie in {}, its row says {}", "__place", "__region"))
    )
    return list_findings(judged, pl.col("__region").is_null() | is_unwanted | is_elsewhere, reason)


def _look_up(images: pl.DataFrame, scheme: str | None) -> pl.Series:
    """Return the region that each image's coordinates lie in; null where that cannot be told."""
    nothing = pl.Series("__place", [None] * images.height, dtype=pl.String)
    if scheme is None or not {"latitude", "longitude"} <= set(images.columns):
        return nothing
    places = images.select("latitude", "longitude").with_columns(image_id=pl.int_range(pl.len()).cast(pl.String))
    return locate_images(places, scheme=scheme).images["region"].alias("__place")
