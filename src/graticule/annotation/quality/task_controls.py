"""Tasks that a worker answered badly, though the worker as a whole may be good."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.check import Evidence, QualityConfig, no_findings
from graticule.annotation.quality.control_answers import judge_controls


def find_task_controls(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return the answers of a worker to a task whose controls they failed: row, reason.

    References
    ----------
    Tsipras et al. 2020, appendix B.1.2: 3,617 of 35,406 CONTAINS tasks were left out this way.
    """
    if evidence.controls is None or answers.is_empty():
        return no_findings()
    unit = ["task_id", "worker_id"]
    tasks = (
        judge_controls(answers, evidence.controls)
        .group_by(unit)
        .agg(pl.col("is_right").sum().cast(pl.Int64).alias("n_right"), pl.len().cast(pl.Int64).alias("n_controls"))
    )
    failed = tasks.filter(
        pl.col("n_controls") >= config.min_task_controls,
        pl.col("n_right") < config.min_task_accuracy * pl.col("n_controls"),
    )
    reason = pl.format(
        "right on {} of the task's {} controls; expected at least {}",
        "n_right",
        "n_controls",
        pl.lit(f"{config.min_task_accuracy:g} of them"),
    )
    return answers.join(failed.select(*unit, reason.alias("reason")), on=unit).select("row", "reason")
