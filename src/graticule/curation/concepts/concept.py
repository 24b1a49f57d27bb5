"""What every heuristic takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Bool, Float32, Float64, Int64

from graticule.errors import ConfigError, TableError, shown, unknown_choice
from graticule.models.feature_scaling import find_scaling

READINGS = {
    "within_clusters": "regions mixed in each cluster, the median over clusters; kept below the threshold",
    "within_regions": "clusters mixed in each region, the median over regions; kept from the threshold on",
}
"""What may be meant by the Gini impurity of GeoDE's appendix A; see `graticule.curation.concepts.cluster_gini`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptConfig:
    """Settings of the heuristics."""

    least_share: float = 0.2
    """Labels whose count lies below this quantile of the labels' counts are not judged (GeoDE, appendix A)."""
    unseen_ratio: float = 0.8
    """leave_one_out: a label is kept below this ratio (GeoDE, appendix A)."""
    region_accuracy: float = 0.5
    """region_svm: a label is kept above this accuracy (GeoDE, appendix A)."""
    gini: float = 0.5
    """cluster_gini: the threshold (GeoDE, appendix A)."""
    reading: str = "within_clusters"
    """cluster_gini: one of `READINGS`."""
    n_clusters: int | None = None
    """cluster_gini: clusters a label; None takes as many as it has regions (the paper does not say)."""
    inverse_penalty: float = 1.0
    """region_svm: C, for features whose mean squared length is 1 (ours)."""
    ridge: float = 3e-4
    """leave_one_out: penalty of the squared weights, as a share of the images (ours)."""
    n_folds: int = 5
    n_bootstraps: int = 200
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise unknown_choice("reading", self.reading, READINGS, where="--reading")
        for name in ("least_share", "region_accuracy", "gini", "confidence"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected a share from 0 to 1.")
        if self.n_folds < 2 or self.n_bootstraps < 1 or (self.n_clusters is not None and self.n_clusters < 2):
            raise ConfigError(
                f"n_folds is {self.n_folds}, n_bootstraps {self.n_bootstraps} and n_clusters {self.n_clusters}; "
                "expected at least 2 folds, 1 draw and 2 clusters."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionFeatures:
    """Features of images with their label and region.

    Parameters
    ----------
    features
        Centred, and scaled so that the mean squared length of a row is 1; shape ``(n, d)``.
    label, region
        Indices into ``labels`` and ``regions``, shape ``(n,)``.
    """

    features: Float32[np.ndarray, "n d"]
    label: Int64[np.ndarray, " n"]
    region: Int64[np.ndarray, " n"]
    labels: tuple[str, ...]
    regions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConceptScores:
    """What a heuristic says of ``k`` labels.

    Parameters
    ----------
    value
        The score, shape ``(k,)``; NaN where it cannot be computed.
    low, high
        Ends of its interval.
    n
        Images that it rests on; 0 where undefined.
    difference
        The score turned so that larger means that regions look more different; for ranking.
    is_kept
        Whether the heuristic keeps the label.
    detail
        A few words a label: the region that stands out, or what chance would give.
    """

    value: Float64[np.ndarray, " k"]
    low: Float64[np.ndarray, " k"]
    high: Float64[np.ndarray, " k"]
    n: Int64[np.ndarray, " k"]
    difference: Float64[np.ndarray, " k"]
    is_kept: Bool[np.ndarray, " k"]
    detail: tuple[str, ...]


Heuristic: TypeAlias = Callable[[RegionFeatures, ConceptConfig], ConceptScores]
"""Features of labelled images and settings → a score for each label."""


def join_features(images: pl.DataFrame, vectors: pl.DataFrame, *, by: str = "region") -> RegionFeatures:
    """Return the features of the images that have a label and a region.

    Parameters
    ----------
    images
        An images table.
    vectors
        A `FEATURES` table; images without features are passed over.
    by
        Column that names the regions.

    Raises
    ------
    TableError
        A column is missing, a feature is not finite, or there are fewer than two regions or labels with features.
    """
    missing = [name for name in ("label", by) if name not in images.columns]
    if missing:
        raise TableError(
            f"images: no column {shown(missing)}; the columns are {shown(images.columns, limit=12)}. Labels and "
            "regions are needed to see which labels differ; add regions with `graticule locate`."
        )
    known = (
        images.select("image_id", pl.col("label").cast(pl.String), pl.col(by).cast(pl.String).alias("region"))
        .drop_nulls()
        .join(vectors.select("image_id", "features"), on="image_id", how="inner", maintain_order="left")
        .sort("image_id")
    )
    labels, regions = known["label"].unique().sort().to_list(), known["region"].unique().sort().to_list()
    if len(regions) < 2 or len(labels) < 1:
        raise TableError(
            f"images: {len(labels)} labels in {len(regions)} values of '{by}' have features, expected at least one in "
            "two. Do the features belong to these images?"
        )
    features = known["features"].to_numpy().astype(np.float32)
    if not np.isfinite(features).all():
        n_bad = int((~np.isfinite(features)).any(axis=1).sum())
        raise TableError(f"features: {n_bad} rows hold NaN or infinity, expected finite numbers. Extract them again.")
    return RegionFeatures(
        features=find_scaling(features, "overall").apply(features),
        label=_number(known["label"], labels),
        region=_number(known["region"], regions),
        labels=tuple(labels),
        regions=tuple(regions),
    )


def _number(values: pl.Series, names: list[str]) -> Int64[np.ndarray, " n"]:
    return values.replace_strict({name: place for place, name in enumerate(names)}, return_dtype=pl.Int64).to_numpy()
