"""Images of labels that have too few in some region. GeoNet asked for 20 in each."""

from __future__ import annotations

import polars as pl

from graticule.curation.balance import count_cells
from graticule.curation.filters.filter import Evidence, FilterConfig, require_columns
from graticule.curation.selection import list_findings


def find_rare(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images of rare labels, and those without a label or a region: row, reason."""
    del evidence
    require_columns(
        images,
        "label",
        config.by,
        needed_for="min_images",
        remedy="Name another column with --by, or add regions with `graticule locate`.",
    )
    rows = images.select(
        pl.col(config.by).cast(pl.String).alias("region"), pl.col("label").cast(pl.String).alias("label")
    )
    thinnest = (
        count_cells(rows)
        .sort("n", "region")
        .group_by("label", maintain_order=True)
        .first()
        .select(pl.col("label").alias("__label"), pl.col("region").alias("__place"), pl.col("n").alias("__n"))
    )
    judged = images.with_columns(rows["label"].alias("__label"), rows["region"].alias("__own")).join(
        thinnest, on="__label", how="left", maintain_order="left"
    )
    few = pl.format(
        "'{}' has {} images in {}, expected at least {} in every {}",
        "__label",
        "__n",
        "__place",
        pl.lit(config.min_images),
        pl.lit(config.by),
    )
    reason = (
        pl.when(pl.col("__label").is_null())
        .then(pl.lit("no label"))
        .when(pl.col("__own").is_null())
        .then(pl.lit(f"no {config.by}"))
        .otherwise(few)
    )
    is_lost = pl.col("__label").is_null() | pl.col("__own").is_null()
    return list_findings(judged, is_lost | (pl.col("__n") < config.min_images), reason)
