"""Predictions with a numeric column for each label."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions
from graticule.data.readers.best_labels import find_best_labels
from graticule.data.readers.columns import IMAGE_ALIASES, normalise_name
from graticule.data.readers.origin import Origin
from graticule.data.readers.prediction_artefact import check_finite, guess_kind
from graticule.data.tables import IMAGES

NOT_LABELS = (
    frozenset(IMAGES.columns)
    | {name for names in IMAGE_ALIASES.values() for name in names}
    | {"index", "unnamed:_0", "model", "score", "rank", "correct", "loss"}
)
"""Columns with numbers that are no scores of a label."""


def find_score_columns(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the columns that hold a label's scores: all that are numbers and have no other known meaning."""
    return tuple(name for name in frame.columns if normalise_name(name) not in NOT_LABELS and _is_numeric(frame[name]))


def read_wide(frame: pl.DataFrame, columns: tuple[str, ...], *, origin: Origin) -> Predictions:
    """Return the predictions that stand in a column for each label; the labels are the columns' names.

    Raises
    ------
    TableError
        A score is missing or no finite number.
    """
    scores = np.ascontiguousarray(
        frame.select(pl.col(columns).cast(pl.Float32, strict=False).fill_null(float("nan"))).to_numpy()
    )
    image_ids = frame["image_id"].to_numpy().astype(object)
    check_finite(scores, image_ids, origin=origin)
    return Predictions(
        model=origin.model,
        image_ids=image_ids,
        labels=tuple(column.strip() for column in columns),
        kind=guess_kind(scores),
        top=find_best_labels(scores),
        scores=scores,
        info={},
    )


def _is_numeric(values: pl.Series) -> bool:
    """Return whether a column is one of numbers; text counts if its first thousand values are numbers or missing."""
    if values.dtype.is_numeric():
        return True
    if values.dtype != pl.String:
        return False
    head = values.drop_nulls()[:1000]
    return len(head) > 0 and bool(head.str.strip_chars().cast(pl.Float64, strict=False).is_not_null().all())
