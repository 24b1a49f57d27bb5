"""CLASSIFY answers whose main label is not among the labels that they select."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import CLASSIFY
from graticule.annotation.quality.check import Evidence, QualityConfig


def find_main_not_selected(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return every row of the answers that contradict themselves: row, reason.

    References
    ----------
    Tsipras et al. 2020, appendix B.1.2.
    """
    del evidence, config
    unit = ["task_id", "worker_id", "image_id"]
    contradicts = (pl.col("kind") == CLASSIFY) & pl.col("is_main") & ~pl.col("selected")
    wrong = pl.col("label").filter(contradicts).first().over(unit)
    reason = pl.format("the main label '{}' is not among the selected ones", wrong)
    return answers.select("row", reason.alias("reason")).drop_nulls()
