"""CLASSIFY answers that break the task's rules, so that nobody can say what was meant."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import CLASSIFY
from graticule.annotation.quality.check import Evidence, QualityConfig, no_findings


def find_invalid(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return the rows of CLASSIFY answers that are no answers: row, reason.

    An answer (a worker's labels of one image) is invalid if it selects nothing; if answers of this table name main
    labels and it names none, or more than one; if two of its labels are for the same object; or if it holds a label
    that the task did not offer (where the tasks are given).
    """
    del config
    classify = answers.filter(pl.col("kind") == CLASSIFY)
    if classify.is_empty():
        return no_findings()
    unit = ["task_id", "worker_id", "image_id"]
    names_main = bool(classify["is_main"].any())
    judged = _mark_offered(classify, evidence).with_columns(
        pl.col("selected").sum().over(unit).alias("n_selected"),
        pl.col("is_main").sum().over(unit).alias("n_main"),
        pl.col("object").filter("selected").drop_nulls().is_duplicated().any().over(unit).alias("has_shared_object"),
        (~pl.col("is_offered")).any().over(unit).alias("has_unoffered"),
    )
    reason = (
        pl.when(pl.col("n_selected") == 0)
        .then(pl.lit("the answer selects no label"))
        .when("has_unoffered")
        .then(pl.lit("the answer holds a label that its task did not offer"))
        .when(pl.lit(value=names_main) & (pl.col("n_main") == 0))
        .then(pl.lit("the answer names no main label"))
        .when(pl.col("n_main") > 1)
        .then(pl.format("the answer names {} main labels; expected one", "n_main"))
        .when("has_shared_object")
        .then(pl.lit("the answer names one object with two labels"))
    )
    return judged.select("row", reason.alias("reason")).drop_nulls()


def _mark_offered(classify: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    if evidence.tasks is None:
        return classify.with_columns(pl.lit(value=True).alias("is_offered"))
    offered = evidence.tasks.select("task_id", "image_id", "label", pl.lit(value=True).alias("is_offered"))
    joined = classify.join(offered, on=["task_id", "image_id", "label"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("is_offered").fill_null(value=False))
