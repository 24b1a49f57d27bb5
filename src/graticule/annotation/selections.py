"""How often workers selected each label of each image."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import prepare_answers


def measure_selections(answers: pl.DataFrame) -> pl.DataFrame:
    """Return image_id, label, selection_frequency and n_workers, by image and label.

    Parameters
    ----------
    answers
        An `ANSWERS` table. A worker's repeated answers to one question count as one, selected if any of them is. Where
        no row is unselected, the table lists only what was selected, and whoever answered the task was asked.

    Raises
    ------
    TableError
        The answers are empty or break their declaration.

    Examples
    --------
    >>> answers = pl.DataFrame({"task_id": ["t"] * 3, "worker_id": ["a", "b", "c"], "image_id": ["i"] * 3,
    ...                         "label": ["x"] * 3, "selected": [True, False, True]})
    >>> measure_selections(answers).rows()
    [('i', 'x', 0.6666666666666666, 3)]
    """
    prepared = prepare_answers(answers)
    question = ["image_id", "label"]
    by_worker = prepared.group_by(*question, "worker_id").agg(pl.col("selected").any())
    counts = by_worker.group_by(question).agg(pl.col("selected").sum().cast(pl.Int64), pl.len().alias("asked"))
    if prepared["selected"].all():
        asked = prepared.with_columns(pl.col("worker_id").n_unique().over("task_id").alias("asked"))
        counts = counts.drop("asked").join(asked.group_by(question).agg(pl.col("asked").max()), on=question)
    return counts.select(
        pl.col(question).cast(pl.String),
        (pl.col("selected") / pl.col("asked")).alias("selection_frequency"),
        pl.col("asked").cast(pl.Int64).alias("n_workers"),
    ).sort(question)
