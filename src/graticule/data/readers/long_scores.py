"""Predictions with a row for each image and label."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions
from graticule.data.readers.origin import Origin
from graticule.data.readers.prediction_artefact import guess_kind
from graticule.errors import TableError


def read_long(frame: pl.DataFrame, *, origin: Origin) -> Predictions:
    """Return the predictions of a table with a label and a score (or a rank, best first) in each row.

    Images keep the order in which they first stand there. Where every image has every label, scores are kept in full;
    else only their order.

    Raises
    ------
    TableError
        A label is empty, a score is no finite number, or an image has a label twice.
    """
    by_score = "score" in frame.columns
    worth = (
        pl.col("score").cast(pl.Float32, strict=False) if by_score else -pl.col("rank").cast(pl.Float32, strict=False)
    )
    rows = frame.select("image_id", pl.col("label").cast(pl.String).str.strip_chars(), worth.alias("worth"))
    _check_rows(rows, origin=origin)
    labels = sorted(rows["label"].unique().to_list())
    images = rows["image_id"].unique(maintain_order=True)
    coded = (
        rows.join(pl.DataFrame({"image_id": images}).with_row_index("image"), on="image_id")
        .join(pl.DataFrame({"label": labels}).with_row_index("code"), on="label")
        .sort("image", -pl.col("worth"), "code")
        .with_columns(place=pl.int_range(pl.len()).over("image"))
    )
    image, code, place = (coded[column].to_numpy().astype(np.int64) for column in ("image", "code", "place"))
    top = np.full((len(images), min(5, int(place.max(initial=0)) + 1)), -1, dtype=np.int32)
    kept = place < top.shape[1]
    top[image[kept], place[kept]] = code[kept]
    scores: np.ndarray | None = None
    if by_score and len(rows) == len(images) * len(labels):
        scores = np.empty((len(images), len(labels)), dtype=np.float32)
        scores[image, code] = coded["worth"].to_numpy()
    return Predictions(
        model=origin.model,
        image_ids=images.to_numpy().astype(object),
        labels=tuple(labels),
        kind="labels" if scores is None else guess_kind(scores),
        top=top,
        scores=scores,
        info={},
    )


def _check_rows(rows: pl.DataFrame, *, origin: Origin) -> None:
    faults = {
        "the label is empty, expected one in every row": rows["label"].is_null() | (rows["label"] == ""),
        "the score is missing, NaN or infinite, expected a finite number": ~rows["worth"]
        .is_finite()
        .fill_null(value=False),
        "the image has this label in an earlier row, expected each once": rows.select(
            "image_id", "label"
        ).is_duplicated()
        & ~rows.select(pl.struct("image_id", "label").is_first_distinct()).to_series(),
    }
    for fault, bad in faults.items():
        found = bad.fill_null(value=True).arg_true().to_list()
        if found:
            raise TableError(f"{origin.where}: {fault}, in {origin.name_rows(found, rows['image_id'])}.")
