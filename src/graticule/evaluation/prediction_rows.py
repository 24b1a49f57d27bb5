"""Which prediction belongs to which image: a join by name that says what both sides look like when it finds nothing."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.data.predictions import Predictions
from graticule.errors import TableError, shown

EXAMPLES = 3


def find_positions(images: pl.DataFrame, predictions: Predictions) -> Int[np.ndarray, " n"]:
    """Return the row of each image's prediction, shape ``(n,)``; -1 where there is none.

    Parameters
    ----------
    images
        The images table, with ``image_id`` and perhaps ``path``.
    predictions
        A model's predictions.

    Raises
    ------
    TableError
        Two predictions name the same image, or no prediction names any image of the table.
    """
    given = _as_names(predictions)
    if len(given) == images.height and images["image_id"].equals(given):
        return np.arange(images.height, dtype=np.int32)
    repeated = given.filter(given.is_duplicated() & ~given.is_first_distinct())
    if len(repeated):
        raise TableError(
            f"predictions of {predictions.model}: the images {shown(repeated.to_list())} stand in more than one row, "
            "expected one prediction an image. Drop the repeated rows."
        )
    positions = _join(images["image_id"], given)
    if not (positions >= 0).any() and "path" in images.columns:
        positions = _join(_plain_path(images["path"]), _plain_path(given))
    if not (positions >= 0).any():
        raise _no_overlap(images, given, predictions.model)
    return positions


def _as_names(predictions: Predictions) -> pl.Series:
    try:
        return pl.Series("name", predictions.image_ids.tolist(), dtype=pl.String, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise TableError(
            f"predictions of {predictions.model}: an image_id is no text ({str(error).splitlines()[0]}), expected the "
            "images' names as text. Convert them with str()."
        ) from error


def _join(names: pl.Series, given: pl.Series) -> Int[np.ndarray, " n"]:
    right = pl.DataFrame({"name": given, "position": np.arange(len(given), dtype=np.int32)}).unique(
        "name", keep="first", maintain_order=True
    )
    left = pl.DataFrame({"name": names})
    joined = left.join(right, on="name", how="left", maintain_order="left")
    return joined["position"].fill_null(-1).to_numpy()


def _plain_path(paths: pl.Series) -> pl.Series:
    return paths.str.replace_all("\\", "/", literal=True).str.strip_prefix("./")


def _no_overlap(images: pl.DataFrame, given: pl.Series, model: str) -> TableError:
    ours, theirs = images["image_id"], given
    remedy = "Name the images alike in both tables."
    if _last_parts(theirs) & _last_parts(ours):
        remedy = "Their file names agree: write the same folders in front of them in both tables."
    elif {PurePosixPath(name).stem for name in _last_parts(theirs)} & {
        PurePosixPath(name).stem for name in _last_parts(ours)
    }:
        remedy = "They agree but for folders and endings: write both alike in both tables."
    return TableError(
        f"predictions of {model}: none of their {len(theirs):,} images is among the {len(ours):,} of the images table; "
        f"the predictions name {shown(theirs.head(EXAMPLES).to_list())}, the images table has "
        f"{shown(ours.head(EXAMPLES).to_list())}, expected the same names. {remedy}"
    )


def _last_parts(names: pl.Series) -> set[str]:
    return set(_plain_path(names.drop_nulls()).str.split("/").list.last().to_list())
