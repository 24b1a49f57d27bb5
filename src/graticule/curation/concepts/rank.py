"""All heuristics together: a table of labels by how different they look, and the images of those that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import polars as pl
from jaxtyping import Float64

from graticule.curation.concepts import HEURISTICS
from graticule.curation.concepts.concept import ConceptConfig, ConceptScores, Heuristic, RegionFeatures, join_features
from graticule.curation.selection import Selection, divide_images
from graticule.errors import TableError, unknown_choice

STEP = "concepts"
KEEPS = {
    "any": "labels that any heuristic keeps, as GeoDE",
    "majority": "labels that more than half of the heuristics keep",
    "all": "labels that every heuristic keeps",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConceptRanking:
    """Labels by how different they look around the world."""

    table: pl.DataFrame
    """label, n_images, rank, is_kept, why; then, for each heuristic, its name, and with _low, _high, _kept, _detail
    after it: score, interval, verdict, and a few words. Ordered by rank: the mean of the ranks of all heuristics."""
    selection: Selection
    """The images of the labels that are kept, and the others with reasons."""


def rank_concepts(
    images: pl.DataFrame,
    vectors: pl.DataFrame,
    *,
    heuristics: Sequence[str] | None = None,
    keep: str = "any",
    by: str = "region",
    config: ConceptConfig | None = None,
) -> ConceptRanking:
    """Return the labels in the order of how different they look in different regions.

    Parameters
    ----------
    images
        An images table with labels and regions.
    vectors
        A `FEATURES` table of these images, of any model.
    heuristics
        Names of `HEURISTICS`; None runs all.
    keep
        One of `KEEPS`.
    by
        Column that names the regions.
    config
        Thresholds and settings.

    Raises
    ------
    ConfigError
        There is no such heuristic or way to keep.
    TableError
        As `graticule.curation.concepts.concept.join_features`, or every label is too rare.
    """
    settings = config or ConceptConfig()
    chosen = _choose(heuristics, keep)
    data = join_features(images, vectors, by=by)
    counts = np.bincount(data.label, minlength=len(data.labels))
    is_judged = counts >= np.quantile(counts, settings.least_share)
    judged = _take_labels(data, np.flatnonzero(is_judged))
    scores = {name: load_heuristic(name)(judged, settings) for name in chosen}
    table = _tabulate(data, counts, is_judged, judged, scores, keep=keep, least_share=settings.least_share)
    return ConceptRanking(table=table, selection=_select(images, table))


def load_heuristic(name: str) -> Heuristic:
    """Return the heuristic of a name."""
    module, _, attribute = HEURISTICS[name][0].partition(":")
    return getattr(import_module(module), attribute)


def _choose(heuristics: Sequence[str] | None, keep: str) -> list[str]:
    for name in heuristics or ():
        if name not in HEURISTICS:
            raise unknown_choice("heuristic", name, HEURISTICS)
    if keep not in KEEPS:
        raise unknown_choice("way to keep labels", keep, KEEPS, where="--keep")
    return [name for name in HEURISTICS if not heuristics or name in heuristics]


def _take_labels(data: RegionFeatures, places: np.ndarray) -> RegionFeatures:
    if len(places) == len(data.labels):
        return data
    rows = np.flatnonzero(np.isin(data.label, places))
    regions, region = np.unique(data.region[rows], return_inverse=True)
    if len(regions) < 2:
        raise TableError("images: the labels that are common enough lie in one region only, expected at least two.")
    return RegionFeatures(
        features=data.features[rows],
        label=np.searchsorted(places, data.label[rows]),
        region=region.astype(np.int64),
        labels=tuple(data.labels[place] for place in places),
        regions=tuple(data.regions[place] for place in regions),
    )


def _tabulate(
    data: RegionFeatures,
    counts: np.ndarray,
    is_judged: np.ndarray,
    judged: RegionFeatures,
    scores: dict[str, ConceptScores],
    *,
    keep: str,
    least_share: float,
) -> pl.DataFrame:
    votes = np.stack([found.is_kept for found in scores.values()]).sum(axis=0)
    needed = {"any": 1, "majority": len(scores) // 2 + 1, "all": len(scores)}[keep]
    ranks = np.stack([_rank(found.difference) for found in scores.values()])
    columns: dict[str, object] = {
        "label": list(judged.labels),
        "mean_rank": np.nanmean(np.where(np.isnan(ranks).all(axis=0), np.inf, ranks), axis=0),
        "is_kept": votes >= needed,
        "why": [
            ", ".join(name for name, found in scores.items() if found.is_kept[place]) or "no heuristic"
            for place in range(len(judged.labels))
        ],
    }
    for name, found in scores.items():
        columns |= {
            name: found.value,
            f"{name}_low": found.low,
            f"{name}_high": found.high,
            f"{name}_kept": found.is_kept,
            f"{name}_detail": list(found.detail),
        }
    everything = pl.DataFrame({"label": list(data.labels), "n_images": counts.astype(np.int64)})
    rare = f"among the rarest {least_share:.0%} of the labels"
    table = (
        everything.join(pl.DataFrame(columns), on="label", how="left", maintain_order="left")
        .with_columns(pl.col("is_kept").fill_null(value=False), pl.col("why").fill_null(rare))
        .sort("mean_rank", "label", nulls_last=True)
    )
    rank = pl.when(pl.col("mean_rank").is_not_null()).then(pl.int_range(1, pl.len() + 1)).alias("rank")
    return table.select("label", "n_images", rank, pl.exclude("label", "n_images", "mean_rank"))


def _rank(difference: Float64[np.ndarray, " k"]) -> Float64[np.ndarray, " k"]:
    """Return places from 1, the most different first; NaN where unknown."""
    from scipy.stats import rankdata

    return rankdata(-difference, nan_policy="omit")


def _select(images: pl.DataFrame, table: pl.DataFrame) -> Selection:
    judged = images.with_columns(pl.col("label").cast(pl.String).alias("__label")).join(
        table.select(pl.col("label").alias("__label"), "is_kept", pl.col("why").alias("__why")),
        on="__label",
        how="left",
        maintain_order="left",
    )
    reason = (
        pl.when(pl.col("__label").is_null())
        .then(pl.lit("no label"))
        .when(pl.col("is_kept").is_null())
        .then(pl.format("no image of '{}' has a region and features", "__label"))
        .when(pl.col("__why").str.starts_with("among"))
        .then(pl.format("'{}' is {}", "__label", "__why"))
        .when(~pl.col("is_kept"))
        .then(pl.format("'{}' does not look different enough; kept by {}", "__label", "__why"))
    )
    findings = judged.with_row_index("row").select("row", reason.alias("reason")).drop_nulls("reason")
    n_kept = int(table["is_kept"].sum())
    notes = (f"{n_kept} of {table.height} labels are kept.",)
    return divide_images(images, findings.with_columns(pl.lit(STEP).alias("step")), notes=notes)
