"""Images that show a face, so that nobody can be known again without having agreed."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_looks
from graticule.curation.selection import list_findings


def find_faces(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images with a face: row, reason. What cannot be read is not judged; see `graticule.curation.faces`."""
    looks = require_looks(evidence)
    reason = pl.format(
        "it seems to show a face: score {}, expected below {}", pl.col("face").round(2), pl.lit(config.max_face)
    )
    return list_findings(images.hstack(looks), pl.col("face") >= config.max_face, reason)
