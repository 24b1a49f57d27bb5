"""Images of labels that belong to one region, as a Bengal tiger does: regions cannot be compared on them."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_columns
from graticule.curation.selection import list_findings


def find_native(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images of labels that are native to one region: row, reason.

    A label's share of each region's images is taken first, so that a large region does not look like everything's
    home; the label is native where one region has ``native_share`` of the sum of these shares. Images without label or
    region do not count and stay.
    """
    del evidence
    require_columns(
        images,
        "label",
        config.by,
        needed_for="native_label",
        remedy="Name another column with --by, or add regions with `graticule locate`.",
    )
    places = images.select(
        pl.col("label").cast(pl.String).alias("__label"), pl.col(config.by).cast(pl.String).alias("__place")
    ).drop_nulls()
    if places["__place"].n_unique() < 2:
        return list_findings(images, pl.lit(value=False), pl.lit(""))
    shares = (
        places.group_by("__label", "__place")
        .agg(pl.len().alias("n"))
        .with_columns((pl.col("n") / pl.col("n").sum().over("__place")).alias("rate"))
        .with_columns((pl.col("rate") / pl.col("rate").sum().over("__label")).alias("__share"))
    )
    homes = (
        shares.sort("__share", "__place", descending=[True, False])
        .group_by("__label", maintain_order=True)
        .first()
        .filter(pl.col("__share") >= config.native_share)
        .select("__label", pl.col("__place").alias("__home"), "__share")
    )
    judged = images.with_columns(pl.col("label").cast(pl.String).alias("__label")).join(
        homes, on="__label", how="left", maintain_order="left"
    )
    share = (100 * pl.col("__share")).round(1)
    reason = pl.format("'{}' is native to {}, which has {} % of it", "__label", "__home", share)
    return list_findings(judged, pl.col("__home").is_not_null(), reason)
