"""CLASSIFY tasks: one image, its candidate labels; "which objects are there, and which is the main one?"."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.annotation.controls import check_controls
from graticule.annotation.distance import Distance
from graticule.annotation.glossary import Glossary
from graticule.annotation.tasks.task import TaskConfig, Tasks, check_candidates, finish_tasks, no_labels

DOMINANT = "its given label is clearly dominant"


def build_classify_tasks(
    candidates: pl.DataFrame,
    *,
    controls: pl.DataFrame | None,
    glossary: Glossary,
    distance: Distance,
    config: TaskConfig,
    seed: int,
) -> Tasks:
    """Return one task an image, its candidate labels in random order.

    Parameters
    ----------
    candidates
        A `CANDIDATES` table, pruned; with selection frequencies, images that are settled are skipped.
    controls
        Images of known answer among them (image_id, label, selected), or None.
    glossary
        What is shown of each label.
    distance
        Not used by this kind.
    config
        Overlap, and when an image is settled.
    seed
        Fixes the order of the labels.

    Notes
    -----
    An image is skipped where its given label is clearly dominant: at least ``dominant_frequency`` of the workers
    selected it (half: the paper's threshold for keeping a label) and no other label was selected by more than
    ``weak_frequency`` of them (an eighth: the paper's threshold for a weak label, one worker of nine). The paper skips
    such images too and does not print its thresholds. An image with fewer than two candidates is skipped as well.
    """
    del distance
    checked = check_candidates(candidates)
    reasons = _settled(checked, config=config)
    asked = checked.join(reasons, on="image_id", how="anti", maintain_order="left")
    images = asked.select(pl.col("image_id").unique().sort()).with_row_index("number")
    keys = np.random.default_rng(seed % 2**32).random(asked.height)
    known = (
        pl.DataFrame(schema={"image_id": pl.String, "label": pl.String, "selected": pl.Boolean})
        if controls is None
        else check_controls(controls, where="controls").join(asked, on="image_id", how="semi")
    )
    rows = (
        asked.select("image_id", "label", pl.Series("key", keys))
        .with_columns((pl.col("key").rank("ordinal").over("image_id") - 1).cast(pl.Int64).alias("position"))
        .join(images, on="image_id", how="left")
        .with_columns(
            pl.format("classify-{}", pl.col("number").cast(pl.String).str.zfill(6)).alias("task_id"),
            pl.col("image_id").is_in(known["image_id"].unique().to_list()).alias("is_control"),
        )
    )
    tasks = finish_tasks(
        rows.select("task_id", "image_id", "label", "position", "is_control"),
        kind="classify",
        n_workers=config.n_workers,
        descriptions=glossary.describe(asked["label"].unique().to_list()),
    )
    skipped = reasons.select(pl.col("image_id").alias("path"), pl.lit(None, dtype=pl.String).alias("label"), "reason")
    return Tasks(
        tasks=tasks,
        controls=known.sort("image_id", "label"),
        skipped=skipped,
        settled=_list_settled(checked, reasons),
        n_one_sided=0,
    )


def _list_settled(candidates: pl.DataFrame, reasons: pl.DataFrame) -> pl.DataFrame:
    """Return the given labels of the images whose given label is clearly dominant, as labels that people accept."""
    dominant = candidates.filter("is_given").join(reasons.filter(reason=DOMINANT), on="image_id", how="semi")
    if dominant.is_empty():
        return no_labels()
    n_workers = pl.col("n_workers") if "n_workers" in dominant.columns else pl.lit(None, dtype=pl.Int64)
    return dominant.select(
        "image_id",
        "label",
        "selection_frequency",
        pl.lit(0, dtype=pl.Int64).alias("object"),
        pl.lit(value=True).alias("is_main"),
        n_workers.alias("n_workers"),
    )


def _settled(candidates: pl.DataFrame, *, config: TaskConfig) -> pl.DataFrame:
    """Return the images that need no CLASSIFY task, and why: image_id, reason."""
    has_frequencies = "selection_frequency" in candidates.columns
    frequency = pl.col("selection_frequency").fill_null(0.0) if has_frequencies else pl.lit(0.0)
    summary = (
        candidates.with_columns(frequency.alias("frequency"))
        .group_by("image_id")
        .agg(
            pl.len().alias("n_labels"),
            pl.col("frequency").filter("is_given").max().fill_null(0.0).alias("given"),
            pl.col("frequency").filter(~pl.col("is_given")).max().fill_null(0.0).alias("other"),
        )
    )
    is_dominant = (
        pl.lit(value=has_frequencies)
        & (pl.col("given") >= config.dominant_frequency)
        & (pl.col("other") <= config.weak_frequency)
    )
    reason = (
        pl.when(is_dominant)
        .then(pl.lit(DOMINANT))
        .when(pl.col("n_labels") < 2)
        .then(pl.lit("it has a single candidate label"))
    )
    return summary.select("image_id", reason.alias("reason")).drop_nulls().sort("image_id")
