"""Predictions of which only the best few labels are known: columns top1, top2, … or lists, best first."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions
from graticule.data.readers.columns import normalise_name
from graticule.data.readers.origin import Origin
from graticule.errors import TableError, shown

LABEL_COLUMN = re.compile(r"(?:top|pred|prediction|predicted|label|class)_?(\d+)(?:_?(?:label|class|name|prediction))?")
SCORE_COLUMN = re.compile(
    r"(?:top|pred|prediction|predicted|label|class)_?(\d+)_?(?:score|prob|probability|confidence|conf)"
    r"|(?:top_?)?(?:score|prob|probability|confidence|conf|p)_?(\d+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedColumns:
    """Columns that hold the labels, best first, and those of their scores (none, or as many)."""

    labels: tuple[str, ...]
    scores: tuple[str, ...] = ()


def find_ranked_columns(frame: pl.DataFrame) -> RankedColumns | None:
    """Return the columns of ranked labels, or None if the table has no such form."""
    labels, scores = _numbered(frame, LABEL_COLUMN), _numbered(frame, SCORE_COLUMN)
    if "prediction" in frame.columns and 0 not in labels and 1 not in labels:
        labels[1] = "prediction"
        scores |= {1: "score"} if "score" in frame.columns else {}
    places = sorted(labels)
    if places:
        places = [place for index, place in enumerate(places) if place == places[0] + index]
    names = tuple(labels[place] for place in places)
    if not places or places[0] > 1 or all(_is_fraction(frame[name]) for name in names):
        return None  # no numbered labels, or labels with numbers for names, each with a column of scores
    kept = tuple(scores[place] for place in places) if set(places) <= set(scores) else ()
    return RankedColumns(labels=names, scores=kept)


def read_ranked(frame: pl.DataFrame, columns: RankedColumns, *, origin: Origin) -> Predictions:
    """Return the predictions that stand in ranked columns.

    Raises
    ------
    TableError
        An image has no first label, or a label twice, or a score is no finite number.
    """
    lists = frame.select(
        "image_id",
        pl.concat_list(pl.col(column).cast(pl.String).str.strip_chars() for column in columns.labels).alias(
            "top_labels"
        ),
        *_score_lists(frame, columns, origin=origin),
    )
    return rank_lists(lists, origin=origin, labels=(), info={})


def rank_lists(frame: pl.DataFrame, *, origin: Origin, labels: tuple[str, ...], info: dict[str, object]) -> Predictions:
    """Return the predictions of a table with a list of labels, best first, an image.

    Parameters
    ----------
    frame
        Columns ``image_id``, ``top_labels`` and perhaps ``top_scores``.
    origin
        The file and the model.
    labels
        All labels that the model can predict, if the file says; else those that occur, in alphabetical order.
    info
        What the file says of itself.

    Raises
    ------
    TableError
        An image has no first label, a label twice, or a label that is not among the model's.
    """
    lists = frame["top_labels"].list.eval(pl.when(pl.element() != "").then(pl.element()))
    empty = lists.list.first().is_null().fill_null(value=True).arg_true().to_list()
    if empty:
        raise TableError(
            f"{origin.where}: no prediction in {origin.name_rows(empty, frame['image_id'])}; expected a label in every "
            "row. Predict these images, or drop their rows."
        )
    flat = lists.explode(empty_as_null=False).drop_nulls()
    known = list(labels) if labels else sorted(flat.unique().to_list())
    unknown = sorted(set(flat.unique().to_list()) - set(known))
    if unknown:
        raise TableError(f"{origin.where}: the labels {shown(unknown)} are not among the {len(known)} in the metadata.")
    width = int(lists.list.len().max() or 1)  # pyright: ignore[reportArgumentType]
    codes = pl.DataFrame({"label": known}, schema={"label": pl.String}).with_row_index("code")
    top = np.full((frame.height, width), -1, dtype=np.int32)
    for place in range(width):
        column = pl.DataFrame({"label": lists.list.get(place, null_on_oob=True)})
        found = column.join(codes, on="label", how="left", maintain_order="left")["code"]
        top[:, place] = found.cast(pl.Int32).fill_null(-1).to_numpy()
    _check_repeats(top, frame["image_id"], origin=origin)
    return Predictions(
        model=origin.model,
        image_ids=frame["image_id"].to_numpy().astype(object),
        labels=tuple(known),
        kind="labels",
        top=top,
        scores=None,
        info=info,
        top_scores=_pad_scores(frame, top) if "top_scores" in frame.columns else None,
    )


def _pad_scores(frame: pl.DataFrame, top: np.ndarray) -> np.ndarray:
    """Return the scores of the best labels, NaN where there is no label."""
    scores = np.full(top.shape, np.nan, dtype=np.float32)
    for place in range(top.shape[1]):
        scores[:, place] = frame["top_scores"].list.get(place, null_on_oob=True).fill_null(float("nan")).to_numpy()
    scores[top < 0] = np.nan
    return scores


def _numbered(frame: pl.DataFrame, pattern: re.Pattern[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for column in frame.columns:
        match = pattern.fullmatch(normalise_name(column))
        if match:
            found.setdefault(int(next(group for group in match.groups() if group)), column)
    return found


def _is_fraction(values: pl.Series) -> bool:
    numbers = values.cast(pl.Float64, strict=False)
    return bool(numbers.is_not_null().all()) and bool((numbers % 1 != 0).any())


def _score_lists(frame: pl.DataFrame, columns: RankedColumns, *, origin: Origin) -> list[pl.Expr]:
    if not columns.scores:
        return []
    bad = pl.Series([False] * frame.height, dtype=pl.Boolean)
    for label, score in zip(columns.labels, columns.scores, strict=True):
        is_number = frame[score].cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
        bad |= ~is_number & (frame[label].is_not_null() | frame[score].is_not_null())
    rows = bad.arg_true().to_list()
    if rows:
        raise TableError(
            f"{origin.where}: a score that is missing, NaN or infinite in {origin.name_rows(rows, frame['image_id'])}; "
            "expected a finite number beside every label."
        )
    return [
        pl.concat_list(pl.col(column).cast(pl.Float32, strict=False) for column in columns.scores).alias("top_scores")
    ]


def _check_repeats(top: np.ndarray, image_ids: pl.Series, *, origin: Origin) -> None:
    ordered = np.sort(top, axis=1)
    bad = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)).tolist()
    if bad:
        raise TableError(
            f"{origin.where}: a label stands twice in {origin.name_rows(bad, image_ids)}; expected each label once."
        )
