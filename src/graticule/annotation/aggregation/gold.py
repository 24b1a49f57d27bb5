"""Right answers that are known beforehand (controls), which an aggregator takes as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Int32

from graticule.annotation.answers import CONTAINS, Answers
from graticule.annotation.controls import check_controls
from graticule.errors import TableError, shown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gold:
    """``g`` right answers: whether a label holds (CONTAINS), or which label is the right one of an image.

    Parameters
    ----------
    image, label
        Indices into the names of the answers, shape ``(g,)``.
    holds
        Whether the label is right, shape ``(g,)``; always true where one label an image is chosen.
    """

    image: Int32[np.ndarray, " g"]
    label: Int32[np.ndarray, " g"]
    holds: Bool[np.ndarray, " g"]

    def __len__(self) -> int:
        return len(self.image)

    def take(self, rows: Bool[np.ndarray, " g"]) -> Gold:
        """Return the right answers of some rows."""
        return Gold(image=self.image[rows], label=self.label[rows], holds=self.holds[rows])


def code_gold(table: pl.DataFrame, answers: Answers, *, where: str = "gold") -> Gold:
    """Return the right answers, coded as the answers are; those on images that nobody answered are left out.

    Parameters
    ----------
    table
        image_id, label and, optionally, ``selected`` (whether the label is right; true where the column is missing).
        Where the question is which label is right, rows that are not selected are left out.
    answers
        What people answered.
    where
        The file that the table came from, for messages.

    Raises
    ------
    TableError
        The table is empty or breaks its declaration, gives an image two right labels, names a label that does not
        exist, or lacks the right answer of an answer that is marked as a control.
    """
    checked = check_controls(table, where=where).with_row_index("row", offset=1)
    coded = checked.join(_index(answers.images, "image_id"), on="image_id", how="inner", maintain_order="left")
    if answers.question != CONTAINS:
        coded = coded.filter("selected")
        _check_one_label(coded, where=where)
    coded = coded.join(_index(answers.labels, "label"), on="label", how="left", maintain_order="left")
    _check_labels(coded, answers, where=where)
    gold = Gold(
        image=coded["image_id_index"].to_numpy(),
        label=coded["label_index"].to_numpy(),
        holds=coded["selected"].to_numpy(),
    )
    _check_controls_are_known(gold, answers, where=where)
    return gold


def _index(names: pl.Series, column: str) -> pl.DataFrame:
    return pl.DataFrame({column: names, f"{column}_index": np.arange(len(names), dtype=np.int32)})


def _check_one_label(coded: pl.DataFrame, *, where: str) -> None:
    twice = coded.filter(pl.col("image_id").is_duplicated())
    if not twice.is_empty():
        rows = [
            f"row {row}: {image} is {label}" for row, image, label in twice.select("row", "image_id", "label").rows()
        ]
        raise TableError(
            f"{where}: {twice.height} rows give an image a second right label: {shown(rows)}; expected one label an "
            "image, as the workers were to choose one. Keep the right one."
        )


def _check_labels(coded: pl.DataFrame, answers: Answers, *, where: str) -> None:
    unknown = coded.filter(pl.col("label_index").is_null())
    if not unknown.is_empty():
        rows = [f"row {row}: {label}" for row, label in unknown.select("row", "label").rows()]
        raise TableError(
            f"{where}: {unknown.height} labels that no answer names: {shown(rows)}; the labels are "
            f"{shown(answers.labels.to_list(), limit=12)}. Correct them, or give the answers' list of labels."
        )


def _check_controls_are_known(gold: Gold, answers: Answers, *, where: str) -> None:
    if answers.is_control is None or not answers.is_control.any():
        return
    rows = np.flatnonzero(answers.is_control)
    known = np.zeros(len(answers.images), dtype=bool)
    known[gold.image] = True
    names = answers.images.gather(np.unique(answers.image[rows][~known[answers.image[rows]]]).astype(np.int64))
    if answers.question == CONTAINS:
        k = len(answers.labels)
        pairs = answers.image[rows].astype(np.int64) * k + answers.label[rows]
        missing = np.setdiff1d(pairs, gold.image.astype(np.int64) * k + gold.label)
        images, labels = answers.images.gather(missing // k), answers.labels.gather(missing % k)
        names = pl.Series([f"{image} / {label}" for image, label in zip(images, labels, strict=True)], dtype=pl.String)
    if len(names):
        raise TableError(
            f"{where}: {len(names)} controls without a right answer: {shown(names.to_list())}; expected a row for "
            "every question that is marked as a control. Add them, or clear is_control."
        )
