"""Images that are one colour nearly everywhere: a lens cap, a placeholder, a burnt-out sky."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_looks
from graticule.curation.selection import list_findings


def find_uniform(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images that are flat: row, reason. What cannot be read is not judged."""
    looks = require_looks(evidence)
    share = (100 * pl.col("flat_share")).round(1)
    reason = pl.format("{} % of it is one colour, expected at most {} %", share, pl.lit(100 * config.max_flat_share))
    return list_findings(images.hstack(looks), pl.col("flat_share") > config.max_flat_share, reason)
