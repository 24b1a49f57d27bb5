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
    times = [pl.col("answered_at")] if "answered_at" in answers.columns else []
    ordered = _mark_controls(answers, evidence).sort(*times, "row", nulls_last=True)
    first_row = pl.col("row").first()
    first_task = pl.col("task_id").first()
    within = first_row.over("task_id", "worker_id", "image_id", "label")
    by_image = ["kind", "worker_id", "image_id"]
    label = pl.when(pl.col("kind") == CLASSIFY).then(pl.lit("")).otherwise("label")
    across = first_task.over(*by_image, label)
    judged = ordered.with_columns(within.alias("first_row"), across.alias("first_task"))
    is_repeated = pl.col("row") != pl.col("first_row")
    is_elsewhere = (pl.col("task_id") != pl.col("first_task")) & ~pl.col("is_control")
    reason = (
        pl.when(is_repeated)
        .then(pl.format("the worker answered the same question in row {}", pl.col("first_row") + 1))
        .when(is_elsewhere)
        .then(pl.format("the worker answered the same question in task {}", "first_task"))
    )
    return judged.select("row", reason.alias("reason")).drop_nulls()


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
