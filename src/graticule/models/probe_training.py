"""Which images a probe is trained on: those that a query picks, that have a label, and that have features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.data.query import describe_no_match, select_rows
from graticule.errors import ConfigError, TableError, shown, unknown_choice

BLOCK_ROWS = 8192


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingImages:
    """The images that a probe is trained on, sorted by their names.

    Parameters
    ----------
    image_ids
        Their names.
    positions
        Their rows in the features table, shape ``(n,)``.
    labels
        The labels that they have, in alphabetical order: those that the probe can predict.
    targets
        Indices of their labels, shape ``(n,)``.
    groups
        Indices of their groups, shape ``(n,)``; None if each is its own.
    n_without_label
        Images that the query picks and that have no label.
    n_without_features
        Images that the query picks, with a label, and that have no features.
    """

    image_ids: tuple[str, ...]
    positions: Int[np.ndarray, " n"]
    labels: tuple[str, ...]
    targets: Int[np.ndarray, " n"]
    groups: Int[np.ndarray, " n"] | None
    n_without_label: int
    n_without_features: int


def pick_training_images(
    features: pl.DataFrame, images: pl.DataFrame, *, train: str, group: str | None, where: str = "--train"
) -> TrainingImages:
    """Return the training images.

    Parameters
    ----------
    features
        A features table.
    images
        An images table with the columns that ``train`` and ``group`` name.
    train
        A query (`graticule.data.query`).
    group
        A column; images that share a value stay in one fold, and an image without a value is on its own.
    where
        The option that holds the query, for messages.

    Raises
    ------
    ConfigError
        The query cannot be read or picks nothing, or there is no such column.
    TableError
        No picked image has a label or features, or they all have the same label.
    """
    if "label" not in images.columns:
        raise TableError(
            f"images: no column 'label' to train on; the columns are {shown(images.columns, limit=12)}. "
            "Scan again with --layout, or add the labels to the table."
        )
    if group is not None and group not in images.columns:
        raise unknown_choice("column", group, images.columns, where="--group")
    picked = select_rows(images, train, where=where)
    if picked.is_empty():
        raise ConfigError(
            f"{where}: no image of {images.height} matches {train!r}; expected some to train on. "
            f"{describe_no_match(images, train, where=where) or 'Each value exists, and no image has them all.'}"
        )
    labelled = picked.drop_nulls("label")
    rows = features.select("image_id").with_row_index("position")
    found = labelled.join(rows, on="image_id", how="inner", maintain_order="left").sort("image_id")
    if found.is_empty():
        _refuse_unmatched(features, labelled, train=train, n_picked=picked.height, where=where)
    labels, targets = np.unique(found["label"].cast(pl.String).to_numpy().astype(str), return_inverse=True)
    if len(labels) < 2:
        raise TableError(
            f"{where}: all {found.height} images that match {train!r} have the label {str(labels[0])!r}; expected at "
            "least two labels to tell apart. Train on more images."
        )
    return TrainingImages(
        image_ids=tuple(found["image_id"]),
        positions=found["position"].to_numpy().astype(np.int64),
        labels=tuple(labels.tolist()),
        targets=targets.astype(np.int64),
        groups=_number_groups(found, group),
        n_without_label=picked.height - labelled.height,
        n_without_features=labelled.height - found.height,
    )


def read_features(features: pl.DataFrame) -> Float[np.ndarray, "n d"]:
    """Return the vectors of a features table, checked to be finite.

    Raises
    ------
    TableError
        A vector holds NaN or infinity, or there are none; every bad row is counted and the first are named.
    """
    width = getattr(features["features"].dtype, "size", 0)
    if not features.height or not width:
        raise TableError(f"features: {features.height} vectors of {width} numbers; expected some. Embed images first.")
    vectors = features["features"].to_numpy().reshape(features.height, width)
    bad = np.zeros(len(vectors), dtype=bool)
    for start in range(0, len(vectors), BLOCK_ROWS):
        bad[start : start + BLOCK_ROWS] = ~np.isfinite(vectors[start : start + BLOCK_ROWS]).all(axis=1)
    rows = np.flatnonzero(bad)
    if len(rows):
        names = shown(f"{features['image_id'][int(row)]} (row {row + 1})" for row in rows)
        raise TableError(
            f"features: NaN or infinity in the vectors of {names}; {len(rows)} of {len(vectors)} rows, expected finite "
            "numbers. Embed these images again (with --precision float32 if it was a lower one), or drop their rows."
        )
    return vectors


def _number_groups(found: pl.DataFrame, group: str | None) -> Int[np.ndarray, " n"] | None:
    if group is None:
        return None
    values = found[group]
    ranks = values.rank("dense").cast(pl.Int64)
    own = pl.int_range(found.height, eager=True) + found.height
    return ranks.zip_with(ranks.is_not_null(), own).to_numpy()


def _refuse_unmatched(features: pl.DataFrame, labelled: pl.DataFrame, *, train: str, n_picked: int, where: str) -> None:
    if labelled.is_empty():
        raise TableError(
            f"{where}: none of the {n_picked} images that match {train!r} has a label; expected labels to train on. "
            "Fill the column 'label', or pick other images."
        )
    raise TableError(
        f"features: none of the {labelled.height} images that match {train!r} is among them. Their names are "
        f"{shown(labelled['image_id'], limit=2)}; the features have {shown(features['image_id'], limit=2)}. "
        "Embed this images table, or give the one that was embedded with --images."
    )
