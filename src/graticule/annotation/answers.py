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
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown

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
    names = {
        "image_id": _list_names(rows["image_id"], images),
        "worker_id": _list_names(rows["worker_id"], workers),
        "label": _list_labels(rows["label"], labels),
    }
    codes = {column: _code(rows, column, names=known, where=where) for column, known in names.items()}
    question = _find_question(rows, codes, kind=kind)
    asked = ["worker_id", "image_id", "label"] if question != CHOICE else ["worker_id", "image_id"]
    kept = np.ones(rows.height, dtype=bool) if question != CHOICE else rows["selected"].to_numpy()
    check_repeats(rows, find_repeats(codes, asked, among=kept), asked=asked, repeats=repeats, where=where)
    order = np.flatnonzero(kept)
    order = order[np.argsort(codes["image_id"][order], kind="stable")]
    is_unsure = rows["is_unsure"].to_numpy()[order]
    return Answers(
        question=question,
        images=names["image_id"],
        workers=names["worker_id"],
        labels=names["label"],
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


def _list_names(given: pl.Series, known: Sequence[str] | None) -> pl.Series:
    names = given.unique() if known is None else pl.Series(given.name, list(known), dtype=pl.String).unique()
    return names.sort()


def _list_labels(given: pl.Series, known: Sequence[str] | None) -> pl.Series:
    if known is None:
        return given.unique().sort()
    return pl.Series(given.name, list(known), dtype=pl.String).unique(maintain_order=True)


def _code(rows: pl.DataFrame, column: str, *, names: pl.Series, where: str) -> np.ndarray:
    index = pl.DataFrame({column: names, "index": np.arange(len(names), dtype=np.int32)})
    codes = rows.select(column).join(index, on=column, how="left", maintain_order="left")["index"]
    if codes.null_count():
        unknown = rows.filter(codes.is_null()).select("row", column)
        named = [f"row {row}: {name}" for row, name in unknown.iter_rows()]
        raise TableError(
            f"{where}: {unknown.height} answers whose {column} is not among the {len(names)} that are known: "
            f"{shown(named)}. Correct them, or give the list that holds them."
        )
    return codes.to_numpy()
