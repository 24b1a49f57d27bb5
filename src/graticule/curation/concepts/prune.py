"""Pruning by hand: labels to drop, and variants to merge (stool, footstool, bench → chair)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from graticule.curation.selection import Selection, divide_images
from graticule.data.readers.columns import normalise_name
from graticule.data.readers.rows import read_rows
from graticule.errors import TableError, shown

STEP = "prune"
VARIANT, MERGED = "label", "into"


def read_drops(source: str | Path) -> tuple[str, ...]:
    """Return the labels of a table's column ``label``, in order.

    Raises
    ------
    FileError
        The file cannot be read.
    TableError
        There is no such column.
    """
    place = Path(source)
    rows = _read(place, VARIANT, expected="a column 'label' with the labels to drop")
    return tuple(rows[VARIANT].drop_nulls().unique(maintain_order=True).to_list())


def read_merges(source: str | Path) -> dict[str, str]:
    """Return variant → the label that it is merged into, from a table with the columns ``label`` and ``into``.

    Raises
    ------
    FileError
        The file cannot be read.
    TableError
        A column is missing, or a variant goes into two labels.
    """
    place = Path(source)
    rows = _read(place, VARIANT, MERGED, expected="the columns 'label' (a variant) and 'into' (what it becomes)")
    pairs = rows.select(VARIANT, MERGED).drop_nulls().unique(maintain_order=True)
    torn = pairs.filter(pl.col(VARIANT).is_duplicated())[VARIANT].unique().sort().to_list()
    if torn:
        raise TableError(f"{place}: {shown(torn)} goes into more than one label, expected one for each variant.")
    merges = dict(pairs.iter_rows())
    chained = sorted(merged for merged in set(merges.values()) if merged in merges and merges[merged] != merged)
    if chained:
        raise TableError(
            f"{place}: {shown(chained)} is merged into another label itself; name the last one for every variant."
        )
    return merges


def prune_labels(
    images: pl.DataFrame, *, drops: Sequence[str] = (), merges: Mapping[str, str] | None = None
) -> Selection:
    """Return the images without the labels to drop, variants under their common label.

    Raises
    ------
    TableError
        There is no column of labels, or a label to drop or merge has no image.

    Notes
    -----
    Labels are dropped first, by the names that the images have, then merged.
    """
    if "label" not in images.columns:
        raise TableError(f"images: no column 'label'; the columns are {shown(images.columns, limit=12)}.")
    merges = merges or {}
    known = set(images["label"].cast(pl.String).drop_nulls().unique().to_list())
    strange = sorted({*drops, *merges} - known)
    if strange:
        raise TableError(
            f"labels to drop or merge: {shown(strange)} has no image; expected labels of the images, such as "
            f"{shown(sorted(known))}. Is it spelled as in the table?"
        )
    label = pl.col("label").cast(pl.String)
    findings = (
        images.with_row_index("row")
        .filter(label.is_in(list(drops)))
        .select("row", pl.format("'{}' is dropped by hand", label).alias("reason"), pl.lit(STEP).alias("step"))
    )
    selection = divide_images(images, findings)
    kept = selection.kept.with_columns(label.replace(merges).alias("label")) if merges else selection.kept
    notes: list[str] = []
    if drops:
        notes.append(f"{len(drops)} labels are dropped by hand.")
    if merges:
        notes.append(f"{len(merges)} labels become {len(set(merges.values()))}.")
    return Selection(kept=kept, rejects=selection.rejects, notes=tuple(notes))


def _read(place: Path, *names: str, expected: str) -> pl.DataFrame:
    rows = read_rows(place)
    rows = rows.rename({name: normalise_name(name) for name in rows.columns})
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise TableError(
            f"{place}: no column {shown(missing)}; the columns are {shown(rows.columns, limit=12)}. "
            f"Expected {expected}."
        )
    return rows.with_columns(pl.col(names).cast(pl.String).str.strip_chars())
