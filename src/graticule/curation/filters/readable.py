"""Images whose file is missing or cannot be decoded."""

from __future__ import annotations

import polars as pl

from graticule.curation.filters.filter import Evidence, FilterConfig, require_looks
from graticule.curation.selection import list_findings


def find_unreadable(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images that cannot be read, with what is wrong: row, reason."""
    del config
    looks = require_looks(evidence)
    return list_findings(images.hstack(looks), pl.col("trouble").is_not_null(), pl.col("trouble"))
