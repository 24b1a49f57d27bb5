"""Answers to a question that the same worker has answered before: the first stands."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import CLASSIFY
from graticule.annotation.quality.check import Evidence, QualityConfig


def find_duplicates(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return second answers of a worker to a question: row, reason.

    Within a task a question is an image and a label. In another task the same image and label (CONTAINS) or the same
    image (CLASSIFY) is the same question again, unless it is a control, which may come twice. First is what was sent
    first, and where times are unknown what stands first.
    """
    del config
    marked = _mark_controls(answers, evidence)
    if "answered_at" in answers.columns:
        marked = marked.sort("answered_at", "row", nulls_last=True)
    is_classify = pl.col("kind") == CLASSIFY
    judged = marked.select(
        "row",
        "task_id",
        "is_control",
        pl.col("row").first().over("task_id", "worker_id", "image_id", "label").alias("first_row"),
        pl.col("task_id")
        .first()
        .over("kind", "worker_id", "image_id", pl.when(~is_classify).then(pl.col("label").to_physical()))
        .alias("first_task"),
    )
    is_repeated = pl.col("row") != pl.col("first_row")
    is_elsewhere = (pl.col("task_id") != pl.col("first_task")) & ~pl.col("is_control")
    place = (
        pl.when(is_repeated)
        .then(pl.format("row {}", pl.col("first_row") + 1))
        .otherwise(pl.format("task {}", "first_task"))
    )
    reason = pl.format("the worker answered the same question in {}", place)
    return judged.filter(is_repeated | is_elsewhere).select("row", reason.alias("reason"))


def _mark_controls(answers: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    if evidence.controls is None:
        return answers
    known = evidence.controls.select("image_id", "label", pl.lit(value=True).alias("known"))
    pairs = answers.join(known, on=["image_id", "label"], how="left", maintain_order="left")
    images = known.select("image_id").unique().with_columns(pl.lit(value=True).alias("known_image"))
    both = pairs.join(images, on="image_id", how="left", maintain_order="left")
    is_known = pl.col("known").fill_null(value=False) | (
        pl.col("known_image").fill_null(value=False) & (pl.col("kind") == CLASSIFY)
    )
    return both.with_columns(pl.col("is_control") | is_known).drop("known", "known_image")
