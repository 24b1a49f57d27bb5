"""The images table as codes: each image's region and label as a number, and why some cannot be scored."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown

NONE = -1
UNKNOWN = -2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedImages:
    """The ``n`` rows of an images table.

    Parameters
    ----------
    table
        The table, checked, with ``image_id``.
    regions, labels
        Names of the regions and labels that occur.
    region, label
        Code of each image's region and label, shape ``(n,)``; -1 where it has none, -2 for a label that no model knows.
    """

    table: pl.DataFrame
    regions: tuple[str, ...]
    labels: tuple[str, ...]
    region: Int[np.ndarray, " n"]
    label: Int[np.ndarray, " n"]


def code_images(
    images: pl.DataFrame, *, by: str, regions: Sequence[str] = (), known_labels: Collection[str] | None = None
) -> CodedImages:
    """Return the images with their regions and labels as codes.

    Parameters
    ----------
    images
        The images table; ``image_id`` is taken from ``path`` where it is missing.
    by
        Column whose values are the regions.
    regions
        Regions in the order wanted; those without images are kept, others follow in alphabetical order.
    known_labels
        Labels that any model can predict, composed; others are coded as unknown. None takes every label as known.

    Raises
    ------
    TableError
        The table is empty, breaks its declaration, or has no column ``label`` or ``by``.

    Notes
    -----
    Names are stripped of spaces around them and brought to Unicode's composed form (NFC), so that a folder's name on
    macOS equals the same name typed elsewhere. An empty name is none.
    """
    table = images
    if "image_id" not in table.columns and "path" in table.columns:
        table = table.with_columns(image_id=pl.col("path"))
    table = validate_table(table, IMAGES, where="images")
    if table.is_empty():
        raise TableError("images: the table has no rows, expected one for each image. Was the right file given?")
    _require(table, "label", "the audit compares predictions with it. Add the labels, or scan with a --layout")
    _require(table, by, f"it was to be compared by '{by}'. Run `graticule locate`, or name another column with --by")
    region, region_names = _code(table[by], first=regions)
    label, label_names = _code(table["label"], known=known_labels)
    if not (region >= 0).any():
        raise TableError(
            f"images: column '{by}' is empty in all {table.height:,} rows, expected a name in each. Run `graticule "
            "locate`, or name another column with --by."
        )
    return CodedImages(table=table, regions=region_names, labels=label_names, region=region, label=label)


def compose(name: str) -> str:
    """Return a name without spaces around it, in Unicode's composed form."""
    return unicodedata.normalize("NFC", name.strip())


def _require(table: pl.DataFrame, column: str, why: str) -> None:
    if column not in table.columns:
        raise TableError(f"images: no column '{column}'; the columns are {shown(table.columns, limit=12)}, and {why}.")
    if table.schema[column].is_nested():
        raise TableError(f"images: column '{column}' is {table.schema[column]}, expected one name a row.")


def _code(
    names: pl.Series, *, first: Sequence[str] = (), known: Collection[str] | None = None
) -> tuple[Int[np.ndarray, " n"], tuple[str, ...]]:
    """Return a code for each row and the names of the codes: those asked for first, then the others sorted."""
    given = names.cast(pl.String).alias("given")
    composed = {name: compose(name) for name in given.drop_nulls().unique().to_list()}
    wanted = dict.fromkeys(name for name in map(compose, first) if name)
    others = {name for name in composed.values() if name and (known is None or name in known)}
    listed = (*wanted, *sorted(others - set(wanted)))
    places = {"": NONE, **{name: place for place, name in enumerate(listed)}}
    codes = pl.DataFrame(
        {"given": list(composed), "code": [places.get(name, UNKNOWN) for name in composed.values()]},
        schema={"given": pl.String, "code": pl.Int32},
    )
    joined = given.to_frame().join(codes, on="given", how="left", maintain_order="left")
    return joined["code"].fill_null(NONE).to_numpy(), listed
