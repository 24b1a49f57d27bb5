"""People's answers in memory, the one form that aggregation and agreement work on: names once, integers for the rest.

Three questions can have been asked. CONTAINS asks for each image and label whether the label holds. CLASSIFY asks for
every label that holds, one an object, and which of them names the main object. A *choice* is what is left when workers
name one label an image: the usual crowd-sourced data set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Int32

from graticule.annotation.answer_checks import check_main, check_repeats, find_kind, find_repeats
from graticule.annotation.name_codes import code_names
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table
from graticule.errors import TableError

CHOICE, CONTAINS, CLASSIFY = "choice", "contains", "classify"
QUESTIONS = (CHOICE, CONTAINS, CLASSIFY)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """``a`` answers, in the order of images, and within an image in the order in which they were given.

    Parameters
    ----------
    question
        One of `QUESTIONS`.
    images, workers, labels
        Names. Images and workers are sorted; labels too, unless their order was given.
    image, worker, label
        Indices into the names, shape ``(a,)``.
    selected
        Whether the worker selected the label, shape ``(a,)``; a label that is not there was not selected.
    is_unsure
        Whether the worker could not tell ("maybe"), shape ``(a,)``; ``selected`` is then false. None if nobody was.
    is_main
        Whether the label names the main object, shape ``(a,)``; None where the question was another.
    is_control
        Whether the right answer is known to whoever asked, shape ``(a,)``.
    """

    question: str
    images: pl.Series
    workers: pl.Series
    labels: pl.Series
    image: Int32[np.ndarray, " a"]
    worker: Int32[np.ndarray, " a"]
    label: Int32[np.ndarray, " a"]
    selected: Bool[np.ndarray, " a"]
    is_unsure: Bool[np.ndarray, " a"] | None = None
    is_main: Bool[np.ndarray, " a"] | None = None
    is_control: Bool[np.ndarray, " a"] | None = None

    def __len__(self) -> int:
        return len(self.image)


def code_answers(
    table: pl.DataFrame,
    *,
    images: Sequence[str] | None = None,
    workers: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    repeats: str = "error",
    where: str = "answers",
) -> Answers:
    """Return the answers of a table, coded.

    Parameters
    ----------
    table
        An `ANSWERS` table. ``selected`` is true where it is missing or null. A column ``is_unsure``, where there is
        one, marks the answers of workers who could not tell. In a CONTAINS table without any unselected row, whoever
        answered a task was asked all that anyone selected in it.
    images, workers, labels
        All the names there are, in any order (that of ``labels`` breaks ties later on); None takes those in the table.
        Images without an answer and workers who gave none are allowed.
    repeats
        What a worker's second answer to a question is: ``error``, unless it is a control in another task, or ``keep``,
        which counts every one.
    where
        The file that the table came from, for messages.

    Raises
    ------
    TableError
        The table is empty or breaks its declaration, mixes kinds of question, names images, workers or labels that are
        not in the lists, repeats answers, or names as main a label that is not selected.

    Examples
    --------
    >>> table = pl.DataFrame({"task_id": ["t"] * 3, "worker_id": ["v", "w", "u"], "image_id": ["a", "a", "b"],
    ...                       "label": ["dog", "cat", "dog"]})
    >>> answers = code_answers(table)
    >>> answers.question, answers.labels.to_list(), answers.label.tolist()
    ('choice', ['cat', 'dog'], [1, 0, 1])
    """
    rows = _prepare(validate_table(table, ANSWERS, where=where), where=where)
    kind = find_kind(rows, where=where)
    check_main(rows, where=where)
    if kind == CONTAINS and not (~rows["selected"] | rows["is_unsure"]).any():
        rows = _list_unselected(rows)
    given = {"image_id": images, "worker_id": workers, "label": labels}
    coded = {
        column: code_names(rows, column, known=known, is_sorted=column != "label", where=where)
        for column, known in given.items()
    }
    codes = {column: found.codes for column, found in coded.items()}
    question = _find_question(rows, codes, kind=kind)
    asked = ["worker_id", "image_id", "label"] if question != CHOICE else ["worker_id", "image_id"]
    kept = np.ones(rows.height, dtype=bool) if question != CHOICE else rows["selected"].to_numpy()
    check_repeats(rows, find_repeats(codes, asked, among=kept), asked=asked, repeats=repeats, where=where)
    order = _order(codes["image_id"], kept)
    is_unsure = rows["is_unsure"].to_numpy()[order]
    return Answers(
        question=question,
        images=coded["image_id"].names,
        workers=coded["worker_id"].names,
        labels=coded["label"].names,
        image=codes["image_id"][order],
        worker=codes["worker_id"][order],
        label=codes["label"][order],
        selected=rows["selected"].to_numpy()[order] & ~is_unsure,
        is_unsure=is_unsure if is_unsure.any() else None,
        is_main=rows["is_main"].to_numpy()[order] if question == CLASSIFY else None,
        is_control=rows["is_control"].to_numpy()[order],
    )


def _prepare(table: pl.DataFrame, *, where: str) -> pl.DataFrame:
    if table.is_empty():
        raise TableError(f"{where}: the table is empty; expected a row an answer.")

    def flag(name: str, *, default: bool) -> pl.Expr:
        given = pl.col(name).cast(pl.Boolean) if name in table.columns else pl.lit(None, dtype=pl.Boolean)
        return given.fill_null(value=default).alias(name)

    prepared = table.with_row_index("row", offset=1).with_columns(
        pl.col("kind") if "kind" in table.columns else pl.lit(None, dtype=pl.String).alias("kind"),
        flag("selected", default=True),
        flag("is_unsure", default=False),
        flag("is_main", default=False),
        flag("is_control", default=False),
        (pl.col("object").is_not_null() if "object" in table.columns else pl.lit(value=False)).alias("has_object"),
    )
    in_time = prepared.sort("answered_at", maintain_order=True) if "answered_at" in table.columns else prepared
    return in_time.select(
        *("row", "kind", "task_id", "worker_id", "image_id", "label"),
        *("selected", "is_unsure", "is_main", "is_control", "has_object"),
    )


def _find_question(rows: pl.DataFrame, codes: dict[str, np.ndarray], *, kind: str) -> str:
    if kind == CONTAINS:
        return CONTAINS
    if rows["is_main"].any() or rows["has_object"].any():
        return CLASSIFY
    selected = rows["selected"].to_numpy()
    repeated = rows.filter(pl.Series(find_repeats(codes, ["worker_id", "image_id"], among=selected)))
    several = repeated.select(pl.struct("task_id", "worker_id", "image_id").is_duplicated().any()).item()
    return CLASSIFY if several else CHOICE


def _order(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return the rows that are kept by image, and as they stand within one."""
    rows = np.flatnonzero(kept)
    key = image[rows] * np.int64(len(image)) + rows
    key.sort()
    return key % len(image)


def _list_unselected(rows: pl.DataFrame) -> pl.DataFrame:
    """Add what the workers of a task were asked there and did not select."""
    asked = rows.select("task_id", "image_id", "label").unique()
    workers = rows.select("task_id", "worker_id").unique()
    every = workers.join(asked, on="task_id")
    missing = every.join(rows, on=["task_id", "worker_id", "image_id", "label"], how="anti").with_columns(
        *(pl.lit(value=False).alias(name) for name in ("selected", "is_unsure", "is_main", "is_control", "has_object")),
        pl.lit(CONTAINS).alias("kind"),
        pl.lit(0, dtype=rows.schema["row"]).alias("row"),
    )
    return pl.concat([rows, missing.select(rows.columns)])
