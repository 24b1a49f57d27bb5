"""Which answers to controls are right."""

from __future__ import annotations

import polars as pl

from graticule.annotation.quality.answer_rows import CLASSIFY, CONTAINS
from graticule.errors import TableError, shown


def judge_controls(answers: pl.DataFrame, controls: pl.DataFrame) -> pl.DataFrame:
    """Return a row a control that a worker answered: kind, task_id, worker_id, image_id, is_right.

    Parameters
    ----------
    answers
        Prepared answers.
    controls
        Checked controls: image_id, label, selected (the right answer).

    Notes
    -----
    A CONTAINS answer is right if it equals the control's. A CLASSIFY answer is right if its main label (where it
    names none, every label that it selects) is among the image's right labels; where only wrong labels of the image
    are known, if it is none of them.
    """
    columns = ["kind", "task_id", "worker_id", "image_id"]
    contains, classify = _join_truth(answers, controls)
    return pl.concat(
        [
            contains.drop_nulls("truth").select(*columns, (pl.col("selected") == pl.col("truth")).alias("is_right")),
            _judge_classify(classify.drop_nulls("has_right"), columns=columns),
        ]
    )


def require_truth(answers: pl.DataFrame, controls: pl.DataFrame) -> None:
    """Raise if an answer is marked as one to a control and its right answer is not known.

    Raises
    ------
    TableError
        There is such an answer, or no control was answered at all.
    """
    contains, classify = _join_truth(answers, controls)
    unknown = pl.concat(
        [
            contains.filter(pl.col("truth").is_null(), "is_control").select("row", "image_id", "label"),
            classify.filter(pl.col("has_right").is_null(), "is_control").select("row", "image_id", "label"),
        ]
    ).sort("row")
    if not unknown.is_empty():
        listed = [f"row {row + 1}: {image_id} / {label}" for row, image_id, label in unknown.iter_rows()]
        raise TableError(
            f"answers: {unknown.height} answers to controls without a right answer: {shown(listed)}. Add the right "
            "answers to the table of controls, or set is_control to false in these rows."
        )
    if contains["truth"].null_count() == contains.height and classify["has_right"].null_count() == classify.height:
        raise TableError(
            "controls: none of them was answered; they name images and labels such as "
            f"{shown(controls.select('image_id', 'label').head(2).rows())}, the answers "
            f"{shown(answers.select('image_id', 'label').head(2).rows())}. Use the same names."
        )


def _join_truth(answers: pl.DataFrame, controls: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    truth = controls.rename({"selected": "truth"})
    known = pl.col("image_id").is_in(truth["image_id"].unique().implode())
    joined = answers.filter(known | pl.col("is_control")).join(truth, on=["image_id", "label"], how="left")
    images = truth.group_by("image_id").agg(pl.col("truth").any().alias("has_right"))
    classify = joined.filter(pl.col("kind") == CLASSIFY).join(images, on="image_id", how="left")
    return joined.filter(pl.col("kind") == CONTAINS), classify


def _judge_classify(classify: pl.DataFrame, *, columns: list[str]) -> pl.DataFrame:
    has_main = pl.col("is_main").any().over(columns)
    named = classify.filter(pl.when(has_main).then("is_main").otherwise("selected"))
    is_right = (
        pl.when("has_right")
        .then(pl.col("truth").fill_null(value=False))
        .otherwise(pl.col("truth").fill_null(value=True))
    )
    return named.group_by(columns).agg(is_right.all().alias("is_right"))
