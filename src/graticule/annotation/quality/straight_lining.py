"""Workers who give the same answer whatever they are shown."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import CONTAINS
from graticule.annotation.quality.binomial import bound_share
from graticule.annotation.quality.check import Evidence, QualityConfig, no_findings

MIN_OTHERS = 2
"""The others on a question have a majority if there are at least two of them."""


def find_straight_lining(answers: pl.DataFrame, evidence: Evidence, config: QualityConfig) -> pl.DataFrame:
    """Return all CONTAINS answers of workers who answer without looking: row, reason.

    Always the same answer is no proof: a careful worker may have been shown nothing but negatives. So the worker's
    answers are held against the questions where most of the others gave the *other* answer; whoever agrees there
    surely less often than ``max_straight_agreement`` (upper end of an exact interval) is left out. With the defaults
    that takes six such questions, all missed.
    """
    del evidence
    contains = answers.filter(pl.col("kind") == CONTAINS)
    if contains["selected"].n_unique() < 2:
        return no_findings()
    question = ["image_id", "label"]
    others = pl.len().over(question) - 1
    others_selected = pl.col("selected").sum().over(question).cast(pl.Int64) - pl.col("selected").cast(pl.Int64)
    majority = (
        pl.when((others >= MIN_OTHERS) & (2 * others_selected > others))
        .then(pl.lit(value=True))
        .when((others >= MIN_OTHERS) & (2 * others_selected < others))
        .then(pl.lit(value=False))
    )
    usual = pl.col("selected").mean().over("worker_id") >= 0.5
    judged = contains.with_columns(majority.alias("majority"), usual.alias("usual"))
    is_contrary = (pl.col("majority") != pl.col("usual")).fill_null(value=False)
    workers = judged.group_by("worker_id").agg(
        pl.len().alias("n"),
        pl.col("usual").first(),
        (pl.col("selected") == pl.col("usual")).mean().alias("same"),
        is_contrary.sum().cast(pl.Int64).alias("contrary"),
        (is_contrary & (pl.col("selected") == pl.col("majority"))).sum().cast(pl.Int64).alias("agreed"),
    )
    _, high = bound_share(workers["agreed"].to_numpy(), workers["contrary"].to_numpy(), confidence=config.confidence)
    straight = workers.filter(
        (pl.col("same") >= config.min_same_share) & (pl.Series(high) < config.max_straight_agreement)
    )
    answer = pl.when("usual").then(pl.lit("yes")).otherwise(pl.lit("no"))
    reason = pl.format(
        "the worker answers {} to {} of {} questions, and agrees with {} of the {} majorities of the other answer",
        answer,
        (pl.col("same") * pl.col("n")).round().cast(pl.Int64),
        "n",
        "agreed",
        "contrary",
    )
    return contains.join(straight.select("worker_id", reason.alias("reason")), on="worker_id").select("row", "reason")
