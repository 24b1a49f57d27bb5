"""Any table of predictions → `Predictions`: an artefact with scores, or plain rows in one of four common forms.

| form | a row is | columns |
|---|---|---|
| artefact | an image | image_id, scores (list) or top_labels (list); what the labels are stands in the metadata |
| top-1 | an image | image_id or path, prediction; confidence if known |
| top-k | an image | image_id or path, top1, top2, …; score1, score2, … if known |
| wide | an image | image_id or path, and a numeric column for each label |
| long | an image × a label | image_id or path, label, score (or rank) |
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from graticule.data.predictions import Predictions
from graticule.data.readers.columns import ID_NAMES, PATH_NAMES, rename_columns
from graticule.data.readers.long_scores import read_long
from graticule.data.readers.origin import Origin, find_first_row
from graticule.data.readers.prediction_artefact import read_artefact
from graticule.data.readers.rows import read_rows
from graticule.data.readers.top_labels import RankedColumns, find_ranked_columns, read_ranked
from graticule.data.readers.wide_scores import find_score_columns, read_wide
from graticule.errors import TableError, shown

ALIASES = {
    "image_id": (*ID_NAMES, "path", *PATH_NAMES, "image", "img"),
    "prediction": (
        *("predicted", "predicted_label", "predicted_class", "pred", "pred_label", "pred_class", "prediction_label"),
        *("top1", "top_1", "top1_label", "y_pred"),
    ),
    "score": ("confidence", "probability", "prob", "conf", "top1_score", "top1_confidence", "pred_score"),
    "label": ("class", "class_name", "category"),
    "rank": ("position",),
}

FORMS = (
    "expected one of: image_id + prediction (+ confidence); image_id + top1, top2, … (+ score1, score2, …); image_id + "
    "a numeric column for each label; several rows an image with image_id + label + score. See docs/data.md."
)


def read_predictions(source: str | Path, *, model: str | None = None, name: str | None = None) -> Predictions:
    """Return one model's predictions, whatever form they were written in.

    Parameters
    ----------
    source
        A Parquet artefact, or a CSV, TSV, JSON Lines or Parquet file in one of the forms above.
    model
        Which model's rows to take, where the table has a column ``model``.
    name
        The model's name on pages; by default what the file says, or else the file's name.

    Raises
    ------
    FileError
        There is no such file, or it cannot be read.
    TableError
        The form cannot be told, an image stands there twice, a score is no finite number, or scores and labels do not
        fit together; every bad row is named.
    """
    place = Path(source)
    frame = _pick_model(read_rows(place), model=model, where=str(place))
    found = _read_form(frame, place)
    return found if name is None else replace(found, model=name)


def _read_form(given: pl.DataFrame, place: Path) -> Predictions:
    if given.is_empty():
        raise TableError(f"{place}: no rows, expected a prediction for each image. Was the file written to its end?")
    origin = Origin(where=str(place), first_row=find_first_row(place), model=_name_in(given, place))
    if "scores" in given.columns or "top_labels" in given.columns:
        return read_artefact(given, place=place, origin=origin)
    frame = rename_columns(given, ALIASES).frame
    if "image_id" not in frame.columns:
        raise TableError(
            f"{place}: no column 'image_id' or 'path'; the columns are {shown(given.columns, limit=12)}; {FORMS}"
        )
    frame = frame.with_columns(pl.col("image_id").cast(pl.String).str.strip_chars())
    _check_ids(frame, origin)
    if frame["image_id"].n_unique() < frame.height:
        return _read_repeated(frame, origin)
    ranked = find_ranked_columns(frame)
    columns = find_score_columns(frame)
    if len(columns) > 1 and (ranked is None or _are_labels(columns, frame, ranked)):
        return read_wide(frame, columns, origin=origin)
    if ranked is None and "label" in frame.columns and "prediction" not in frame.columns:
        _check_not_images(given, origin)
        frame = frame.rename({"label": "prediction"})
        ranked = find_ranked_columns(frame)
    if ranked is not None:
        return read_ranked(frame, ranked, origin=origin)
    raise TableError(f"{place}: no predictions in the columns {shown(given.columns, limit=12)}; {FORMS}")


def _read_repeated(frame: pl.DataFrame, origin: Origin) -> Predictions:
    """Read rows in which an image stands several times: a label and a score each, or a mistake."""
    label = "prediction" if "prediction" in frame.columns else "label"
    if label in frame.columns and ("score" in frame.columns or "rank" in frame.columns):
        return read_long(frame.with_columns(pl.col(label).alias("label")), origin=origin)
    again = (~frame["image_id"].is_first_distinct()).arg_true().to_list()
    raise TableError(
        f"{origin.where}: the image stands in an earlier row too, in {origin.name_rows(again, frame['image_id'])}; "
        "expected a row an image. Drop the repeated rows, or give every row a label and a score."
    )


def _are_labels(columns: tuple[str, ...], frame: pl.DataFrame, ranked: RankedColumns) -> bool:
    """Return whether columns of numbers are named after the labels that the same rows predict."""
    predicted = frame[ranked.labels[0]].cast(pl.String).unique().drop_nulls().to_list()
    return bool(predicted) and set(predicted) <= {column.strip() for column in columns}


def _check_not_images(given: pl.DataFrame, origin: Origin) -> None:
    """Raise if what was given is a table of images, whose labels are the truth, not predictions."""
    signs = [name for name in ("region", "country", "latitude", "split", "sha256") if name in given.columns]
    if signs:
        raise TableError(
            f"{origin.where}: 'label' beside {shown(signs)} looks like a table of images, whose labels are the truth; "
            "expected predictions. If they are predictions, rename the column to 'prediction'."
        )


def _pick_model(frame: pl.DataFrame, *, model: str | None, where: str) -> pl.DataFrame:
    if "model" not in frame.columns:
        return frame
    names = frame["model"].cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
    if model is not None:
        if model not in names:
            raise TableError(f"{where}: no rows of model '{model}'; the models are {shown(names)}.")
        return frame.filter(pl.col("model").cast(pl.String) == model)
    if len(names) > 1:
        raise TableError(f"{where}: rows of {len(names)} models, {shown(names)}; expected one. Name the one to take.")
    return frame


def _name_in(frame: pl.DataFrame, place: Path) -> str:
    if "model" in frame.columns and frame.height and frame["model"][0] is not None:
        return str(frame["model"][0])
    return place.name.removesuffix(".gz").rsplit(".", 1)[0]


def _check_ids(frame: pl.DataFrame, origin: Origin) -> None:
    empty = (frame["image_id"].is_null() | (frame["image_id"] == "").fill_null(value=True)).arg_true()
    if len(empty):
        rows = (empty + origin.first_row).to_list()
        raise TableError(f"{origin.where}: image_id is empty in rows {shown(rows)}; expected a name in every row.")
