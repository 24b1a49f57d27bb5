"""Any table of images, or any folder or archive with a layout → a valid images table."""

from __future__ import annotations

import logging
from pathlib import Path

import polars as pl

from graticule.data.readers.columns import clean_images, rename_columns
from graticule.data.readers.rows import is_table, read_rows
from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table

logger = logging.getLogger(__name__)

PLACES_IN_TEXT = 2
"""Line of the first row in a file with a header."""


def read_images(source: str | Path, *, layout: str | None = None) -> pl.DataFrame:
    """Return an images table with at least ``image_id``, checked against its declaration.

    Parameters
    ----------
    source
        A table (Parquet, CSV, TSV, JSON, JSON Lines), or a folder or an archive of images.
    layout
        How folders are named; see `graticule.data.readers`. Tables need none.

    Raises
    ------
    FileError
        There is no such file, or it cannot be read.
    TableError
        The table breaks the declaration of images; every bad row is named.

    Notes
    -----
    Common other names of the columns are accepted (``lat``, ``class``, ``file_name`` …) and logged. Where there is a
    path and no ``image_id``, the path is the name. Paths stay as they are written: relative to the folder of the table.
    """
    place = Path(source)
    if not is_table(place) and not _is_parquet_folder(place):
        from graticule.data.readers import list_images

        return list_images(place, layout=layout).frame
    renamed = rename_columns(read_rows(place))
    for target, given in renamed.taken.items():
        logger.info("%s: column '%s' taken as %s", place, given, target)
    first_row = 1 if place.is_dir() or place.suffix.lower() in (".parquet", ".pq") else PLACES_IN_TEXT
    where = str(place)
    if "image_id" in renamed.taken:
        where += f" (column '{renamed.taken['image_id']}' taken as image_id)"
    return validate_table(clean_images(renamed.frame), IMAGES, where=where, first_row=first_row)


def _is_parquet_folder(place: Path) -> bool:
    return place.is_dir() and any(place.glob("*.parquet"))
