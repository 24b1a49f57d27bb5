"""Label sets that two regions share and that each has alone, for adaptation where labels may be missing.

GeoUniDA (GeoNet, section 3.3) takes the 200 labels with most images in each of two regions. Those in both are shared,
the others are private to their region, so what is private is what the places really lack, not a choice of somebody's.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graticule.curation.selection import Selection, divide_images
from graticule.errors import ConfigError, TableError, shown

STEP = "universal"
SHARED, SOURCE_PRIVATE, TARGET_PRIVATE = "shared", "source_private", "target_private"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalConfig:
    """Which labels are taken."""

    source: str
    """The region that labels are known in."""
    target: str
    """The region that a model is adapted to."""
    top: int = 200
    """Labels of each region, those with most images (GeoNet, section 3.3)."""
    by: str = "region"
    unknown_in: tuple[str, ...] = ("test",)
    """Splits in which all labels private to the target get one index: what a model can at best call unknown."""

    def __post_init__(self) -> None:
        if self.top < 1 or self.source == self.target:
            raise ConfigError(
                f"source {self.source!r}, target {self.target!r} and top {self.top}, expected two different regions "
                "and at least one label."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UniversalLabels:
    """Images of two regions with the index of their label, and the labels."""

    selection: Selection
    """The kept images have two more columns: label_index, and label_kind (shared, source_private, target_private)."""
    labels: pl.DataFrame
    """label, kind, index, n_source, n_target: images in each region."""
    unknown_index: int
    """Index of the target's private labels in ``unknown_in``: the number of labels of the source."""

    def list_labels(self, kind: str) -> tuple[str, ...]:
        """Return the labels of a kind in the order of their indices."""
        return tuple(self.labels.filter(pl.col("kind") == kind).sort("index")["label"].to_list())


def find_universal_labels(images: pl.DataFrame, *, config: UniversalConfig) -> UniversalLabels:
    """Return the images of the labels that count most in two regions, with shared and private labels told apart.

    Raises
    ------
    TableError
        A column is missing, or a region has no image with a label.

    Notes
    -----
    Shared labels come first, then those private to the source, then those private to the target, each in alphabetical
    order, as in GeoUniDA's lists. Of labels with equally many images the alphabetically first are taken.
    """
    _check(images, config)
    counts = _count(images, config)
    tops = {
        name: set(_sort(counts, name).head(config.top).filter(pl.col(name) > 0)["label"])
        for name in ("n_source", "n_target")
    }
    in_source, in_target = pl.col("label").is_in(tops["n_source"]), pl.col("label").is_in(tops["n_target"])
    kinds = pl.Enum([SHARED, SOURCE_PRIVATE, TARGET_PRIVATE])
    kind = (
        pl.when(in_source & in_target)
        .then(pl.lit(SHARED))
        .when(in_source)
        .then(pl.lit(SOURCE_PRIVATE))
        .when(in_target)
        .then(pl.lit(TARGET_PRIVATE))
    )
    labels = (
        counts.with_columns(kind.cast(kinds).alias("kind"))
        .drop_nulls("kind")
        .sort("kind", "label")
        .with_row_index("index")
        .select("label", pl.col("kind").cast(pl.String), pl.col("index").cast(pl.Int64), "n_source", "n_target")
    )
    unknown_index = len(tops["n_source"])
    return UniversalLabels(
        selection=_select(images, labels, config, unknown_index), labels=labels, unknown_index=unknown_index
    )


def _check(images: pl.DataFrame, config: UniversalConfig) -> None:
    for name in (config.by, "label"):
        if name not in images.columns:
            raise TableError(
                f"images: no column '{name}'; the columns are {shown(images.columns, limit=12)}. Name another with "
                "--by, or add regions with `graticule locate`."
            )
    labelled = images.filter(pl.col("label").is_not_null())
    known = labelled[config.by].cast(pl.String).drop_nulls().unique().sort().to_list()
    missing = [name for name in (config.source, config.target) if name not in known]
    if missing:
        raise TableError(
            f"images: no labelled image whose {config.by} is {shown(missing)}; those that are there: "
            f"{shown(known, limit=12)}."
        )


def _count(images: pl.DataFrame, config: UniversalConfig) -> pl.DataFrame:
    """Return the images of each label in both regions: label, n_source, n_target."""
    place = pl.col(config.by).cast(pl.String)
    return (
        images.select(place.alias("place"), pl.col("label").cast(pl.String))
        .drop_nulls("label")
        .group_by("label")
        .agg(
            (pl.col("place") == config.source).sum().cast(pl.Int64).alias("n_source"),
            (pl.col("place") == config.target).sum().cast(pl.Int64).alias("n_target"),
        )
    )


def _sort(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    return counts.sort(name, "label", descending=[True, False])


def _select(images: pl.DataFrame, labels: pl.DataFrame, config: UniversalConfig, unknown_index: int) -> Selection:
    known = labels.select(
        pl.col("label").alias("__label"), pl.col("kind").alias("label_kind"), pl.col("index").alias("label_index")
    )
    place = pl.col(config.by).cast(pl.String)
    joined = images.drop("label_kind", "label_index", strict=False).join(
        known, left_on=pl.col("label").cast(pl.String), right_on="__label", how="left", maintain_order="left"
    )
    joined = joined.drop("__label", strict=False)
    is_unknown = (place == config.target) & (pl.col("label_kind") == TARGET_PRIVATE)
    is_unknown &= pl.col("split").is_in(config.unknown_in) if "split" in images.columns else pl.lit(value=False)
    indexed = joined.with_columns(
        pl.when(is_unknown.fill_null(value=False))
        .then(pl.lit(unknown_index, dtype=pl.Int64))
        .otherwise("label_index")
        .alias("label_index")
    )
    elsewhere = pl.format("'{}' is a label of the other region only", "label")
    is_elsewhere = ((pl.col("label_kind") == SOURCE_PRIVATE) & (place == config.target)) | (
        (pl.col("label_kind") == TARGET_PRIVATE) & (place == config.source)
    )
    reason = (
        pl.when(~place.is_in([config.source, config.target]).fill_null(value=False))
        .then(pl.format("{} is neither {} nor {}", pl.lit(config.by), pl.lit(config.source), pl.lit(config.target)))
        .when(pl.col("label").is_null())
        .then(pl.lit("no label"))
        .when(pl.col("label_kind").is_null())
        .then(pl.format("'{}' is not among the top {} labels of either region", "label", pl.lit(config.top)))
        .when(is_elsewhere)
        .then(elsewhere)
    )
    findings = indexed.with_row_index("row").select("row", reason.alias("reason")).drop_nulls("reason")
    sizes = labels["kind"].value_counts()
    n_of = {str(kind): int(n) for kind, n in sizes.iter_rows()}
    notes = (
        f"{n_of.get(SHARED, 0)} labels are shared, {n_of.get(SOURCE_PRIVATE, 0)} private to {config.source}, "
        f"{n_of.get(TARGET_PRIVATE, 0)} private to {config.target}.",
        f"Index {unknown_index} stands for all labels private to {config.target} in: {', '.join(config.unknown_in)}."
        if "split" in images.columns
        else "The images have no splits, so no label is called unknown; split them first.",
    )
    return divide_images(indexed, findings.with_columns(pl.lit(STEP).alias("step")), notes=notes)
