"""Answers sent sooner than anyone could have looked."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import TIMES
from graticule.annotation.quality.check import Evidence, QualityConfig, no_findings
from graticule.errors import TableError, shown


def find_too_fast(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return every row of a worker's answer to a task that took too little time: row, reason.

    Time runs from the first ``assigned_at`` to the last ``answered_at`` of the worker's rows in the task, and is
    compared with the median over all such answers of its kind. Without both times nothing can be said.

    Raises
    ------
    TableError
        An answer was sent before its task was assigned.
    """
    del evidence
    if not set(TIMES) <= set(answers.columns):
        return no_findings()
    early = answers.filter(pl.col("answered_at") < pl.col("assigned_at"))
    if not early.is_empty():
        rows = [
            f"row {row + 1}: assigned {start}, answered {end}"
            for row, start, end in early.select("row", *TIMES).iter_rows()
        ]
        raise TableError(
            f"answers: {early.height} answers were sent before their task was assigned: {shown(rows)}. "
            "Were the two columns swapped, or are they in different time zones?"
        )
    unit = ["kind", "task_id", "worker_id"]
    spans = answers.group_by(unit).agg(
        ((pl.col("answered_at").max() - pl.col("assigned_at").min()).dt.total_milliseconds() / 1000).alias("elapsed_s")
    )
    usual = config.min_elapsed_share * pl.col("elapsed_s").median().over("kind")
    limits = spans.with_columns(pl.max_horizontal(usual, pl.lit(config.min_elapsed_s)).alias("limit_s"))
    fast = limits.filter(pl.col("elapsed_s") < pl.col("limit_s"))
    reason = pl.format(
        "answered in {} s; expected at least {} s", pl.col("elapsed_s").round(1), pl.col("limit_s").round(1)
    )
    return answers.join(fast, on=unit, how="inner").select("row", reason.alias("reason"))
