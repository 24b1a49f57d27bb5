"""Dollar Street's table: a photo's address, country, income and topics, the topics as a list in text."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.readers.listing import Listing
from graticule.data.readers.rows import read_rows
from graticule.data.walk import Reject
from graticule.errors import TableError, shown

NEEDED = ("country", "url", "region", "label")
NOTE = "latitude and longitude are the middle of the country, not where a photo was taken"


def read_dollar_street(source: Path) -> Listing:
    """Return the images of Dollar Street's ``metadata.csv``.

    Parameters
    ----------
    source
        The table. ``path`` is the photo's address; ``label`` is its topic where it has a single one, and ``tags`` are
        all of them; ``income`` (US dollars a month) and what else there is stays as it is.

    Raises
    ------
    FileError
        The table cannot be read.
    TableError
        A column is missing.
    """
    rows = read_rows(source)
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing:
        raise TableError(
            f"{source}: no column '{missing[0]}'; the columns are {shown(rows.columns, limit=12)}. "
            "Is it Dollar Street's metadata.csv?"
        )
    rows = rows.drop("", strict=False)
    topics = pl.col("label").str.extract_all(r"'([^']*)'|\"([^\"]*)\"").list.eval(pl.element().str.strip_chars("'\""))
    frame = rows.with_columns(tags=topics).with_columns(
        label=pl.when(pl.col("tags").list.len() == 1).then(pl.col("tags").list.first()),
        image_id=pl.col("url").str.extract(r"/image/([^/]+)/"),
    )
    frame = frame.rename({"url": "path", "lat": "latitude", "lng": "longitude"}, strict=False).with_columns(
        pl.col(pl.String).replace("", None), pl.lit("Dollar Street").alias("dataset")
    )
    frame = frame.with_columns(pl.coalesce("image_id", "path").alias("image_id"), source_id=pl.col("image_id"))
    numbers = [name for name in ("latitude", "longitude", "income") if name in frame.columns]
    frame = frame.with_columns(pl.col(name).cast(pl.Float64, strict=False) for name in numbers)
    is_again = frame["image_id"].is_first_distinct().not_() | frame["path"].is_null()
    again = frame.filter(is_again)["path"].to_list()
    return Listing(
        frame=frame.filter(~is_again),
        rejects=tuple(Reject(path=path or "", reason="no address, or named before") for path in again),
        base=source.parent,
        notes=(NOTE,),
    )
