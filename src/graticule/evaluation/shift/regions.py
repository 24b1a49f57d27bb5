"""Images of two regions, as queries pick them, joined to what a model predicted for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from graticule.data.predictions import Predictions
from graticule.data.query import describe_no_match, select_rows
from graticule.errors import ConfigError, TableError, shown, unknown_choice
from graticule.evaluation.coded_images import compose
from graticule.evaluation.prediction_rows import find_positions
from graticule.evaluation.shift.outcomes import Outcomes

TOP = 5
LONGEST_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoRegions:
    """Which images are compared.

    Parameters
    ----------
    source, target
        Queries over the columns of the images table (`graticule.data.query`).
    group
        Column whose values name what an image shows; images that share one are drawn together.
    """

    source: str
    target: str
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joined:
    """The images of both regions that a model was scored on.

    Parameters
    ----------
    source, target
        Names of the regions.
    model
        Name of the model.
    images
        Their rows of the images table, source first.
    outcomes
        Labels, sides and whether the model was right.
    is_right_top5
        Whether the label is among the best five; None where they are not known.
    scores
        Probabilities of the outcomes' labels, or rows of one 1 where only the best is known; shape ``(n, k)``.
    predicted
        The best label of each image.
    notes
        What was left out and why.
    """

    source: str
    target: str
    model: str
    images: pl.DataFrame
    outcomes: Outcomes
    is_right_top5: Bool[np.ndarray, " n"] | None
    scores: Float[np.ndarray, "n k"]
    predicted: tuple[str, ...]
    notes: tuple[str, ...]


def join_regions(images: pl.DataFrame, predictions: Predictions, *, regions: TwoRegions) -> Joined:
    """Return the images of both regions with a model's predictions.

    Raises
    ------
    ConfigError
        A query cannot be read or picks nothing, an image is in both regions, or there is no such column.
    TableError
        The images have no labels, or none of a side has a prediction.
    """
    if "label" not in images.columns:
        raise TableError(
            f"images: no column 'label'; the columns are {shown(images.columns, limit=12)}. Scan with a --layout, or "
            "add "
            "the labels to the table."
        )
    if regions.group is not None and regions.group not in images.columns:
        raise unknown_choice("column", regions.group, images.columns, where="--group")
    sides = [
        _select(images, query, where=where)
        for query, where in ((regions.source, "--source"), (regions.target, "--target"))
    ]
    both = sides[0].join(sides[1], on="image_id", how="semi")
    if both.height:
        raise ConfigError(
            f"--source and --target: {both.height} images are in both, {shown(both['image_id'].to_list(), limit=3)}; "
            "expected each in one. Write queries that exclude each other."
        )
    names = [_name(side, query) for side, query in zip(sides, (regions.source, regions.target), strict=True)]
    picked = pl.concat([side.with_columns(pl.lit(place == 1).alias("__is_target")) for place, side in enumerate(sides)])
    labelled = picked.filter(pl.col("label").cast(pl.String).str.strip_chars().str.len_bytes() > 0)
    positions = find_positions(labelled, predictions)
    known = (positions >= 0) & (predictions.top[np.maximum(positions, 0), 0] >= 0)
    kept = labelled.filter(pl.Series(known))
    for place, side in enumerate(("source", "target")):
        if not (kept["__is_target"] == bool(place)).any():
            raise TableError(
                f"predictions of {predictions.model}: none of the {sides[place].height} images of the {side} has a "
                "label "
                "and a prediction; expected some. Give the predictions that were made of this images table."
            )
    return _join(kept, predictions, positions[known], names=names, regions=regions, n_picked=picked.height)


def _join(
    kept: pl.DataFrame,
    predictions: Predictions,
    positions: Int[np.ndarray, " n"],
    *,
    names: list[str],
    regions: TwoRegions,
    n_picked: int,
) -> Joined:
    given = [compose(label) for label in kept["label"].cast(pl.String).to_list()]
    spaces = [compose(label) for label in predictions.labels]
    labels = tuple(sorted(set(given)))
    code = {label: place for place, label in enumerate(labels)}
    label = np.array([code[name] for name in given], dtype=np.int64)
    column = {name: place for place, name in reversed(list(enumerate(spaces)))}
    own = np.array([column.get(name, -2) for name in labels], dtype=np.int64)[label]
    top = predictions.top[positions]
    unknown = sorted(set(labels) - set(spaces))
    notes: list[str] = []
    if n_picked > len(given):
        notes.append(f"{n_picked - len(given)} images have no label or no prediction and were left out.")
    if unknown:
        notes.append(
            f"{len(unknown)} labels are none of the model's, so that it is never right there: "
            f"{shown(unknown, limit=3)}."
        )
    groups = np.arange(len(given))
    if regions.group is not None:
        values = kept[regions.group]
        ranks = values.rank("dense").cast(pl.Int64)
        groups = ranks.zip_with(ranks.is_not_null(), pl.int_range(kept.height, eager=True) + kept.height).to_numpy()
    return Joined(
        source=names[0],
        target=names[1],
        model=predictions.model,
        images=kept.drop("__is_target"),
        outcomes=Outcomes(
            labels=labels,
            label=label,
            is_target=kept["__is_target"].to_numpy(),
            is_right=top[:, 0] == own,
            groups=groups.astype(np.int64),
        ),
        is_right_top5=(top[:, :TOP] == own[:, None]).any(axis=1) if top.shape[1] >= min(TOP, len(spaces)) else None,
        scores=_read_scores(predictions, positions, [column.get(name, -1) for name in labels], top[:, 0]),
        predicted=tuple(predictions.labels[place] for place in top[:, 0].tolist()),
        notes=tuple(notes),
    )


def _read_scores(
    predictions: Predictions, positions: Int[np.ndarray, " n"], columns: list[int], best: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "n k"]:
    """Return probabilities over the labels that occur; a row sums to 1, or to 0 where the best is none of them."""
    places = np.array(columns)
    if predictions.scores is None or predictions.kind not in ("probabilities", "logits"):
        return (best[:, None] == np.where(places < 0, -9, places)[None, :]).astype(np.float64)
    scores = predictions.scores[positions].astype(np.float64)
    if predictions.kind == "logits":
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    chosen = np.where(places[None, :] >= 0, scores[:, np.maximum(places, 0)], 0.0)
    return chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1e-12)


def _select(images: pl.DataFrame, query: str, *, where: str) -> pl.DataFrame:
    picked = select_rows(images, query, where=where)
    if picked.is_empty():
        raise ConfigError(
            f"{where}: no image of {images.height} matches {query!r}; expected some. "
            f"{describe_no_match(images, query, where=where) or 'Each value exists, and no image has them all.'}"
        )
    return picked


def _name(side: pl.DataFrame, query: str) -> str:
    """Return what a region is called: its one value of a usual column, else the query."""
    for column in ("region", "country", "dataset"):
        if column in side.columns and f"{column} ==" in " ".join(query.split()) and side[column].n_unique() == 1:
            return str(side[column][0])
    return query if len(query) <= LONGEST_NAME else query[: LONGEST_NAME - 1] + "…"
