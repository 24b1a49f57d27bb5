"""Images with too few pixels. GeoDE asked for 640 × 480 at least."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig
from graticule.curation.selection import list_findings


def find_small(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images that are too small, either way up: row, reason.

    The size is that of the columns ``width`` and ``height``, or where they say nothing, of the file. An image of
    unknown size is left out.
    """
    sized = _add_sizes(images, evidence)
    longer, shorter = pl.max_horizontal("__width", "__height"), pl.min_horizontal("__width", "__height")
    is_known = pl.col("__width").is_not_null() & pl.col("__height").is_not_null()
    is_small = (longer < config.min_long_side) | (shorter < config.min_short_side)
    small = pl.format(
        "{} × {} pixels, expected at least {} × {}",
        "__width",
        "__height",
        pl.lit(config.min_long_side),
        pl.lit(config.min_short_side),
    )
    reason = pl.when(is_known).then(small).otherwise(pl.lit("its size is not known"))
    return list_findings(sized, ~is_known | is_small, reason)


def _add_sizes(images: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    looks = evidence.looks
    nothing = pl.lit(None, dtype=pl.Int64)
    sizes: list[pl.Expr | pl.Series] = []
    for name in ("width", "height"):
        own = pl.col(name).cast(pl.Int64) if name in images.columns else nothing
        seen = nothing if looks is None else pl.lit(looks[f"seen_{name}"])
        sizes.append(pl.coalesce(own, seen).alias(f"__{name}"))
    return images.with_columns(sizes)
