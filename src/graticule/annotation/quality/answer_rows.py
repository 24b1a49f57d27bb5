"""Answers as the checks see them: every row numbered, of a known kind, and with the defaults filled in.

Unlike the aggregation, the checks take answers that contradict each other: finding those is what they are for.
"""

from __future__ import annotations

import polars as pl

from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown

CONTAINS, CLASSIFY = "contains", "classify"
NAMES = ("task_id", "worker_id", "image_id", "label")
PREPARED = ("row", "kind", "task_id", "worker_id", "image_id", "label", "selected", "is_main", "is_control", "object")
TIMES = ("assigned_at", "answered_at")


def as_categories(*names: str) -> pl.Expr:
    """Return columns of names as categories: a number a row instead of a text, so that joins and copies are small."""
    return pl.col(*names).cast(pl.Categorical)


def prepare_answers(answers: pl.DataFrame, *, where: str = "answers") -> pl.DataFrame:
    """Return the answers with the columns of `PREPARED` and, where they are known, of `TIMES`; names are categories.

    Without a kind, answers are CLASSIFY if they name a main label or an object, or if none of them is unselected
    (so that the table lists what was chosen, and nothing else); they are CONTAINS otherwise.

    Raises
    ------
    TableError
        The table is empty or breaks its declaration, or a kind is neither contains nor classify.
    """
    checked = validate_table(answers, ANSWERS, where=where)
    if checked.is_empty():
        raise TableError(f"{where}: the table is empty; expected a row an answer.")
    columns = set(checked.columns)

    def column(name: str, default: object) -> pl.Expr:
        dtype = ANSWERS.columns[name].dtype
        given = pl.col(name) if name in columns else pl.lit(None, dtype=dtype)
        return given.fill_null(pl.lit(default, dtype=dtype)) if default is not None else given

    chosen = column("selected", default=True).all()
    is_classify = column("is_main", default=False) | column("object", None).is_not_null() | chosen
    prepared = checked.with_row_index("row").select(
        "row",
        column("kind", None).alias("kind"),
        *("task_id", "worker_id", "image_id", "label"),
        column("selected", default=True).alias("selected"),
        column("is_main", default=False).alias("is_main"),
        column("is_control", default=False).alias("is_control"),
        column("object", None).alias("object"),
        *(name for name in TIMES if name in columns),
        is_classify.alias("is_classify"),
    )
    inferred = pl.when(pl.col("is_classify").any().over("task_id")).then(pl.lit(CLASSIFY)).otherwise(pl.lit(CONTAINS))
    prepared = prepared.with_columns(pl.col("kind").fill_null(inferred), as_categories(*NAMES)).drop("is_classify")
    odd = prepared.filter(~pl.col("kind").is_in([CONTAINS, CLASSIFY]))
    if not odd.is_empty():
        rows = [f"row {row + 1}: {kind!r}" for row, kind in odd.select("row", "kind").iter_rows()]
        raise TableError(
            f"{where}: {odd.height} answers of an unknown kind ({shown(rows)}); expected contains or classify."
        )
    return prepared
