"""YFCC100M's dump: 25 columns between tabs, without a header, texts encoded as in addresses.

Read line by line: a part of it has ten million lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import unquote_plus

import polars as pl

from graticule.data.readers.listing import Listing
from graticule.data.readers.lists.lines import open_list
from graticule.data.walk import Reject
from graticule.errors import TableError

N_COLUMNS = 25
IDENTIFIER, TAKEN, TITLE, TAGS, LONGITUDE, LATITUDE, ACCURACY, ADDRESS, LICENCE, MARKER = (
    1, 5, 8, 10, 12, 13, 14, 16, 17, 24,
)  # fmt: skip
"""Columns from 0, after the data set's description: Thomee et al. 2016, "YFCC100M: the new data in multimedia"."""
PHOTO = "0"
BATCH = 200_000
SCHEMA = {
    "image_id": pl.String(),
    "path": pl.String(),
    "dataset": pl.String(),
    "latitude": pl.Float64(),
    "longitude": pl.Float64(),
    "captured_at": pl.String(),
    "tags": pl.List(pl.String()),
    "source_id": pl.String(),
    "title": pl.String(),
    "position_accuracy": pl.Int64(),
    "license": pl.String(),
}


def read_yfcc100m(source: Path) -> Listing:
    """Return the photos of a dump, with place, tags and licence; videos are rejects.

    Parameters
    ----------
    source
        The dump or a part of it, plain or packed (``.bz2``, ``.gz``). ``path`` is the photo's address,
        ``position_accuracy`` Flickr's, 1 (the world) to 16 (a street).

    Raises
    ------
    FileError
        The dump cannot be read.
    TableError
        No line has the dump's 25 columns.
    """
    frames: list[pl.DataFrame] = []
    rejects: list[Reject] = []
    with open_list(source) as stream:
        lines = enumerate(stream, start=1)
        while batch := list(islice(lines, BATCH)):
            frames.append(pl.DataFrame(list(_read_batch(batch, rejects)), schema=SCHEMA, orient="row"))
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
    if frame.is_empty():
        raise TableError(
            f"{source}: no line has the dump's {N_COLUMNS} columns of a photo between tabs. Is it another table, "
            "or one with a header? Read that with --layout table."
        )
    is_again = ~frame["image_id"].is_first_distinct()
    rejects += [Reject(path=name, reason="named before") for name in frame.filter(is_again)["image_id"].to_list()]
    taken = pl.col("captured_at").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_zone="UTC")
    return Listing(frame=frame.filter(~is_again).with_columns(taken), rejects=tuple(rejects), base=source.parent)


def _read_batch(lines: list[tuple[int, bytes]], rejects: list[Reject]) -> Iterator[tuple[object, ...]]:
    for number, line in lines:
        cells = line.decode("utf-8", "replace").rstrip("\r\n").split("\t")
        if len(cells) != N_COLUMNS:
            if line.strip():
                rejects.append(
                    Reject(path=f"line {number}", reason=f"{len(cells)} columns between tabs, expected {N_COLUMNS}")
                )
        elif cells[MARKER] != PHOTO:
            rejects.append(Reject(path=cells[IDENTIFIER], reason=f"line {number}: a video"))
        elif not cells[IDENTIFIER] or not cells[ADDRESS]:
            rejects.append(Reject(path=cells[IDENTIFIER], reason=f"line {number}: no identifier or no address"))
        else:
            yield _read_photo(cells)


def _read_photo(cells: list[str]) -> tuple[object, ...]:
    latitude, longitude = _read_number(cells[LATITUDE], 90.0), _read_number(cells[LONGITUDE], 180.0)
    if latitude is None or longitude is None:
        latitude = longitude = None
    accuracy = _read_number(cells[ACCURACY], 16.0)
    return (
        cells[IDENTIFIER],
        cells[ADDRESS],
        "YFCC100M",
        latitude,
        longitude,
        cells[TAKEN],
        [unquote_plus(tag) for tag in cells[TAGS].split(",") if tag],
        cells[IDENTIFIER],
        unquote_plus(cells[TITLE]) or None,
        None if accuracy is None else int(accuracy),
        cells[LICENCE] or None,
    )


def _read_number(text: str, most: float) -> float | None:
    """Return the number that a text is, if it lies between ``-most`` and ``most``."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) <= most else None
