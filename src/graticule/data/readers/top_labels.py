"""Predictions of which only the best few labels are known: columns top1, top2, … or lists, best first."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions
from graticule.data.readers.columns import normalise_name
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
    if "prediction" in frame.columns:
        first = min(labels, default=2)
        if first != 2 or "prediction" in labels.values():
            labels = {}
        ranked = ("prediction", *(labels[place] for place in sorted(labels)))
        given = ("score",) if "score" in frame.columns else ()
        rest = tuple(scores[place] for place in sorted(scores) if place > 1)
        kept = (*given, *rest) if len(given) + len(rest) == len(ranked) else given if len(ranked) == 1 else ()
        return RankedColumns(labels=ranked, scores=kept)
    places = sorted(labels)
    if len(places) < 2 or places != list(range(places[0], places[0] + len(places))) or places[0] > 1:
        return None
    if all(_is_fraction(frame[labels[place]]) for place in places):
        return None  # numbered labels, each with a column of scores
    kept = tuple(scores[place] for place in places) if set(places) <= set(scores) else ()
    return RankedColumns(labels=tuple(labels[place] for place in places), scores=kept)


def read_ranked(frame: pl.DataFrame, columns: RankedColumns, *, where: str, name: str) -> Predictions:
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
        *_score_lists(frame, columns, where=where),
    )
    return rank_lists(lists, where=where, name=name, labels=(), info={})


def rank_lists(
    frame: pl.DataFrame, *, where: str, name: str, labels: tuple[str, ...], info: dict[str, object]
) -> Predictions:
    """Return the predictions of a table with a list of labels, best first, an image.

    Parameters
    ----------
    frame
        Columns ``image_id``, ``top_labels`` and perhaps ``top_scores``.
    where
        The file, for messages.
    name
        The model.
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
    empty = (lists.list.first().is_null()).fill_null(value=True).arg_true()
    if len(empty):
        rows = [frame["image_id"][row] for row in empty.to_list()]
        raise TableError(
            f"{where}: no prediction for {len(rows)} images, {shown(rows)}; expected a label in every row."
        )
    flat = lists.explode(empty_as_null=False).drop_nulls()
    known = list(labels) if labels else sorted(flat.unique().to_list())
    unknown = sorted(set(flat.unique().to_list()) - set(known))
    if unknown:
        raise TableError(f"{where}: the labels {shown(unknown)} are not among the {len(known)} in the metadata.")
    width = int(lists.list.len().max() or 1)  # pyright: ignore[reportArgumentType]
    codes = pl.DataFrame({"label": known}, schema={"label": pl.String}).with_row_index("code")
    top = np.full((frame.height, width), -1, dtype=np.int32)
    for place in range(width):
        column = pl.DataFrame({"label": lists.list.get(place, null_on_oob=True)})
        found = column.join(codes, on="label", how="left", maintain_order="left")["code"]
        top[:, place] = found.cast(pl.Int32).fill_null(-1).to_numpy()
    _check_repeats(top, frame["image_id"], where=where)
    return Predictions(
        model=name,
        image_ids=frame["image_id"].to_numpy().astype(object),
        labels=tuple(known),
        kind="labels",
        top=top,
        scores=None,
        info=info,
    )


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


def _score_lists(frame: pl.DataFrame, columns: RankedColumns, *, where: str) -> list[pl.Expr]:
    if not columns.scores:
        return []
    wrong = [
        f"{column} in row {row + 1}"
        for column in columns.scores
        for row in (~frame[column].cast(pl.Float64, strict=False).is_finite()).fill_null(value=True).arg_true()[:5]
    ]
    if wrong:
        raise TableError(f"{where}: no finite number in {shown(wrong)}; expected a score beside every label.")
    return [pl.concat_list(pl.col(column).cast(pl.Float32) for column in columns.scores).alias("top_scores")]


def _check_repeats(top: np.ndarray, image_ids: pl.Series, *, where: str) -> None:
    ordered = np.sort(top, axis=1)
    bad = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    if len(bad):
        names = [image_ids[int(row)] for row in bad]
        raise TableError(f"{where}: a label stands twice for {len(bad)} images, {shown(names)}; expected each once.")
