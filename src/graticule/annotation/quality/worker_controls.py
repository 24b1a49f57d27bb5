"""Workers who are surely below the wanted accuracy on controls."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import as_categories
from graticule.annotation.quality.binomial import bound_share
from graticule.annotation.quality.check import Evidence, QualityConfig, no_findings
from graticule.annotation.quality.control_answers import judge_controls


def find_worker_controls(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return all answers of workers whose accuracy on controls is too low: row, reason.

    A worker is left out only if the whole interval of their accuracy lies below ``min_worker_accuracy``: with the
    defaults nobody is by three controls, even if all are wrong.
    """
    if evidence.controls is None:
        return no_findings()
    workers = measure_workers(answers, evidence.controls, confidence=config.confidence)
    poor = workers.filter(pl.col("high") < config.min_worker_accuracy)
    reason = pl.format(
        "the worker was right on {} of {} controls, at most {} with {} confidence; expected {}",
        "n_right",
        "n_controls",
        pl.col("high").round(3),
        pl.lit(f"{config.confidence:g}"),
        pl.lit(f"{config.min_worker_accuracy:g}"),
    )
    return answers.join(poor.select(as_categories("worker_id"), reason.alias("reason")), on="worker_id").select(
        "row", "reason"
    )


def measure_workers(answers: pl.DataFrame, controls: pl.DataFrame, *, confidence: float) -> pl.DataFrame:
    """Return each worker's accuracy on controls: worker_id, n_right, n_controls, accuracy, low, high.

    Parameters
    ----------
    answers
        Prepared answers.
    controls
        Checked controls.
    confidence
        Of the exact interval (Clopper-Pearson).
    """
    judged = judge_controls(answers, controls)
    workers = (
        judged.with_columns(pl.col("worker_id").cast(pl.String))
        .group_by("worker_id")
        .agg(pl.col("is_right").sum().cast(pl.Int64).alias("n_right"), pl.len().cast(pl.Int64).alias("n_controls"))
        .sort("worker_id")
    )
    low, high = bound_share(workers["n_right"].to_numpy(), workers["n_controls"].to_numpy(), confidence=confidence)
    return workers.with_columns(
        (pl.col("n_right") / pl.col("n_controls")).alias("accuracy"), pl.Series("low", low), pl.Series("high", high)
    )
