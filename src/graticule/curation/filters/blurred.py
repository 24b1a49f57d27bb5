"""Images that are blurred all over, by motion or by focus."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_looks
from graticule.curation.selection import list_findings


def find_blurred(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images that are blurred: row, reason. What cannot be read is not judged."""
    looks = require_looks(evidence)
    reason = pl.format("its blur is {}, expected at most {}", pl.col("blur").round(3), pl.lit(config.max_blur))
    return list_findings(images.hstack(looks), pl.col("blur") > config.max_blur, reason)
