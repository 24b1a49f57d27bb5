"""A subset in which labels weigh alike in every region, so that what remains between regions is not the labels' shares.

GeoNet's balanced version (section 4.1) keeps 200 to 300 images of each label and drops labels that have fewer; equal
counts are the same with both ends at one number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.curation.hashing import hash_names
from graticule.curation.selection import Selection, divide_images
from graticule.errors import ConfigError, TableError, shown

STEP = "balance"
SMALLEST = "smallest"


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceConfig:
    """How many images each label is to have in each region."""

    low: int = 200
    """A label with fewer in any region is dropped in all of them (GeoNet, section 4.1)."""
    high: int = 300
    """Of more, so many are drawn (GeoNet, section 4.1)."""
    is_smallest: bool = False
    """Whether every cell gets as many as the smallest of those that reach ``low``; ``high`` then is not looked at."""
    by: str = "region"
    stratify: str = "label"
    key: str = "image_id"
    """Column that names an image to the draw."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.low < 1 or (self.high < self.low and not self.is_smallest):
            raise ConfigError(
                f"low is {self.low} and high is {self.high}, expected 1 ≤ low ≤ high: the fewest and the most images "
                "of a label in a region."
            )


def balance_images(images: pl.DataFrame, *, config: BalanceConfig | None = None) -> Selection:
    """Return a subset with between ``low`` and ``high`` images of each label in every region.

    Raises
    ------
    TableError
        A column is missing, or no label has enough images in every region.

    Notes
    -----
    The images of a cell are ordered by a hash of their names, and the first are drawn: a smaller subset lies in a
    larger one of the same seed.
    """
    settings = config or BalanceConfig()
    for name in (settings.by, settings.stratify, settings.key):
        if name not in images.columns:
            raise TableError(
                f"images: no column '{name}' to balance by; the columns are {shown(images.columns, limit=12)}. Name "
                "another, or add regions with `graticule locate`."
            )
    rows = images.select(
        pl.col(settings.by).cast(pl.String).alias("region"), pl.col(settings.stratify).cast(pl.String).alias("label")
    ).with_row_index("row")
    counts = count_cells(rows)
    least = counts.group_by("label").agg(
        pl.col("n").min().alias("least"), pl.col("region").sort_by("n", "region").first()
    )
    kept_labels = least.filter(pl.col("least") >= settings.low)
    if kept_labels.is_empty():
        best = least.sort("least", "label", descending=[True, False]).row(0) if least.height else ("–", 0, "–")
        raise TableError(
            f"images: no label has {settings.low} images in every {settings.by}; the best is '{best[0]}' with "
            f"{best[1]} in {best[2]}. Ask for fewer with --low."
        )
    smallest = kept_labels["least"].min()
    most = int(str(smallest)) if settings.is_smallest else settings.high
    findings = _find(images, rows, least, most=most, config=settings)
    n_dropped = least.height - kept_labels.height
    notes = (
        f"{kept_labels.height} of {least.height} labels have {settings.low} images or more in every {settings.by}"
        + (f"; {n_dropped} are dropped." if n_dropped else "."),
        *((f"Every label has {most} images in every {settings.by}.",) if settings.is_smallest else ()),
    )
    return divide_images(images, findings.with_columns(pl.lit(STEP).alias("step")), notes=notes)


def count_cells(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the images of each label in each region, cells without any included: region, label, n."""
    known = rows.drop_nulls(["region", "label"])
    everything = known.select("region").unique().join(known.select("label").unique(), how="cross")
    counts = known.group_by("region", "label").agg(pl.len().cast(pl.Int64).alias("n"))
    return everything.join(counts, on=["region", "label"], how="left").with_columns(pl.col("n").fill_null(0))


def rank_in_cells(rows: pl.DataFrame, names: pl.Series, *, purpose: str, seed: int) -> pl.DataFrame:
    """Return the rows with ``rank``: each row's place, from 0, among those of its region and label, by a hash."""
    number = hash_names(names.cast(pl.String).fill_null("").to_list(), purpose=purpose, seed=seed)
    return rows.with_columns(pl.Series("__number", number.astype(np.uint64))).with_columns(
        (pl.col("__number").rank("ordinal").over("region", "label") - 1).alias("rank")
    ).drop("__number")  # fmt: skip


def _find(
    images: pl.DataFrame, rows: pl.DataFrame, least: pl.DataFrame, *, most: int, config: BalanceConfig
) -> pl.DataFrame:
    ranked = rank_in_cells(rows, images[config.key], purpose=STEP, seed=config.seed).join(
        least.rename({"region": "thin"}), on="label", how="left", maintain_order="left"
    )
    cut = pl.format("'{}' has more images in {} than the {} that are drawn", "label", "region", pl.lit(most))
    dropped = pl.format(
        "'{}' has {} images in {}, expected at least {} in every {}",
        "label",
        "least",
        "thin",
        pl.lit(config.low),
        pl.lit(config.by),
    )
    reason = (
        pl.when(pl.col("region").is_null())
        .then(pl.lit(f"no {config.by}"))
        .when(pl.col("label").is_null())
        .then(pl.lit(f"no {config.stratify}"))
        .when(pl.col("least") < config.low)
        .then(dropped)
        .when(pl.col("rank") >= most)
        .then(cut)
    )
    return ranked.select("row", reason.alias("reason")).drop_nulls("reason")
