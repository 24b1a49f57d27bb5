"""A table (CSV, TSV, JSON, JSON Lines, Parquet) that names image files, with whatever else it says of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.readers.columns import clean_images, rename_columns
from graticule.data.readers.listing import Listing
from graticule.data.readers.origin import find_first_row
from graticule.data.readers.rows import read_rows
from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table
from graticule.data.walk import Reject
from graticule.errors import TableError, shown


def read_image_rows(source: Path) -> Listing:
    """Return the rows of a table of images, checked, under the declared names.

    Raises
    ------
    FileError
        There is no such file, or it cannot be read.
    TableError
        The table breaks the declaration of images; every bad row is named.
    """
    renamed = rename_columns(read_rows(source))
    notes = tuple(f"{source.name}: column '{given}' taken as {target}" for target, given in renamed.taken.items())
    where = str(source)
    if "image_id" in renamed.taken:
        where += f" (column '{renamed.taken['image_id']}' taken as image_id)"
    frame = validate_table(clean_images(renamed.frame), IMAGES, where=where, first_row=find_first_row(source))
    base = source if source.is_dir() else source.parent
    return Listing(frame=frame, rejects=(), base=base, notes=notes)


def read_table_listing(source: Path) -> Listing:
    """Return the images that a table names; rows without a path are rejects.

    Raises
    ------
    FileError
        There is no such file, or it cannot be read.
    TableError
        The table breaks the declaration of images, or has no column with paths.
    """
    listing = read_image_rows(source)
    if "path" not in listing.frame.columns:
        raise TableError(
            f"{source}: no column 'path' that names the image files; the columns are "
            f"{shown(listing.frame.columns, limit=12)}. Rename the column that holds them to 'path'."
        )
    empty = listing.frame.filter(pl.col("path").is_null())["image_id"].to_list()
    return Listing(
        frame=listing.frame.filter(pl.col("path").is_not_null()),
        rejects=tuple(Reject(path=image_id, reason=f"no path in its row of {source.name}") for image_id in empty),
        base=listing.base,
        notes=listing.notes,
    )
