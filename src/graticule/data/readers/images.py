"""Any table of images, or any folder or archive with a layout → a valid images table."""

from __future__ import annotations

import logging
from pathlib import Path

import polars as pl

from graticule.data.readers.layouts import list_images
from graticule.data.readers.rows import is_table
from graticule.data.readers.table import read_image_rows
from graticule.data.tables import IMAGES
from graticule.data.validate import validate_table
from graticule.data.walk import is_image_name

logger = logging.getLogger(__name__)


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
    if is_table(place) or (place.is_dir() and any(place.glob("*.parquet"))):
        listing = read_image_rows(place)
    else:
        listing = list_images(place, layout=layout)
    for note in listing.notes:
        logger.info("%s", note)
    if "path" not in listing.frame.columns or is_table(place):
        return listing.frame
    images = [is_image_name(path.split("::")[0]) for path in listing.frame["path"].fill_null("").to_list()]
    return validate_table(listing.frame.filter(pl.Series(images, dtype=pl.Boolean)), IMAGES, where=str(place))
