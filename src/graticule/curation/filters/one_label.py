"""Images whose tags name no label or several: GeoNet kept those that match exactly one."""

from __future__ import annotations

import polars as pl

from graticule.curation.concepts.tags import match_tags
from graticule.curation.filters.filter import Evidence, FilterConfig, require_columns
from graticule.curation.selection import list_findings
from graticule.errors import ConfigError


def find_ambiguous(images: pl.DataFrame, evidence: Evidence, config: FilterConfig) -> pl.DataFrame:
    """Return the images whose tags do not name exactly one label, or another than their own: row, reason.

    Raises
    ------
    ConfigError
        No table of concepts was given.
    TableError
        There are no tags.
    """
    del config
    if evidence.concepts is None:
        raise ConfigError(
            "the filter 'one_label' needs to know what tags mean; expected --concepts FILE, a table with the column "
            "label and one a language. `graticule curate concepts --help` shows one."
        )
    require_columns(images, "tags", needed_for="one_label", remedy="Leave the filter out where images have no tags.")
    matches = match_tags(images["tags"], evidence.concepts).group_by("row").agg(pl.col("label").sort().alias("__found"))
    label = pl.col("label").cast(pl.String) if "label" in images.columns else pl.lit(None, dtype=pl.String)
    judged = (
        images.with_row_index("__number")
        .join(matches, left_on="__number", right_on="row", how="left", maintain_order="left")
        .drop("__number")
    )
    n_found = pl.col("__found").list.len().fill_null(0)
    named = pl.col("__found").list.join(", ")
    is_other = (n_found == 1) & (pl.col("__found").list.first() != label)
    reason = (
        pl.when(n_found == 0)
        .then(pl.lit("its tags name no label"))
        .when(n_found > 1)
        .then(pl.format("its tags name {} labels: {}", n_found, named))
        .otherwise(pl.format("its tags name '{}', its label is '{}'", named, label))
    )
    return list_findings(judged, (n_found != 1) | is_other, reason)
