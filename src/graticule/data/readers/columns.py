"""The columns of somebody else's table → the declared names, with the names that were taken on record.

Names are compared without case, and with spaces, dashes and dots as underscores. An exact name always wins over an
alias; a column that is taken for nothing stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

from graticule.data.tables import IMAGES, Table

PATH_NAMES = (
    "file_name",
    "filename",
    "file",
    "filepath",
    "file_path",
    "image_path",
    "img_path",
    "image_file",
    "uri",
    "url",
)
ID_NAMES = ("id", "imageid", "img_id", "image_name", "img_name", "key", "uuid")

IMAGE_ALIASES: Mapping[str, tuple[str, ...]] = {
    "path": PATH_NAMES,
    "image_id": ID_NAMES,
    "label": (
        "class",
        "class_name",
        "category",
        "target",
        "ground_truth",
        "groundtruth",
        "gt",
        "true_label",
        "y_true",
        "object",
    ),
    "latitude": ("lat", "gps_latitude", "gpslatitude", "gps_lat", "decimal_latitude"),
    "longitude": ("lon", "long", "lng", "gps_longitude", "gpslongitude", "gps_lon", "gps_lng", "decimal_longitude"),
    "country": ("country_code", "country_name", "iso3", "iso_a3", "alpha3", "alpha_3", "iso2", "nation"),
    "region": ("world_region", "continent"),
    "split": ("subset", "partition"),
    "captured_at": ("taken_at", "date_taken", "datetime", "datetime_original", "captured"),
    "dataset": ("data_set", "dataset_name"),
    "source_id": ("photo_id", "flickr_id", "original_id"),
    "width": ("image_width", "img_width"),
    "height": ("image_height", "img_height"),
    "sha256": ("sha_256",),
}
"""Declared column → other names that people give it, the likeliest first."""

POSITION_NAMES = ("gps", "latlon", "lat_lon", "latlng", "lat_lng", "coordinates")
"""A latitude and a longitude in one text field."""

MISSING = ("na", "n/a", "nan", "null", "none", "-")
"""What stands for a missing number or time; in a text column only an empty field is missing (NA is Namibia)."""

SPLITS = {"training": "train", "val": "validation", "valid": "validation", "dev": "validation", "testing": "test"}
"""Other names of the splits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A table under the declared names, and declared name → the name that was found."""

    frame: pl.DataFrame
    taken: Mapping[str, str]


def rename_columns(frame: pl.DataFrame, aliases: Mapping[str, Sequence[str]] = IMAGE_ALIASES) -> Renamed:
    """Return the table with known columns under their declared names.

    Examples
    --------
    >>> rename_columns(pl.DataFrame({"Lat": [1.0], "File Name": ["a.jpg"]})).taken
    {'path': 'File Name', 'latitude': 'Lat'}
    """
    found = {normalise_name(name): name for name in reversed(frame.columns)}
    taken: dict[str, str] = {}
    for target, others in aliases.items():
        names = [*others, *(("image", "img") if target == _meaning_of_image(frame, found) else ())]
        known = [found[name] for name in (target, *names) if name in found and found[name] not in taken.values()]
        if target not in frame.columns and known:
            taken[target] = known[0]
    return Renamed(frame=frame.rename({given: target for target, given in taken.items()}), taken=taken)


def normalise_name(name: str) -> str:
    """Return a column's name in small letters, with underscores between words."""
    return re.sub(r"[\s.\-/]+", "_", name.strip().lower())


def clean_images(frame: pl.DataFrame) -> pl.DataFrame:
    """Return an images table with missing values as null, splits under their usual names and ids for rows without.

    A latitude and a longitude that stand in one column are parted; ``image_id`` is the path where there is none.
    """
    frame = _part_positions(frame).with_columns(
        pl.when(pl.col(pl.String).str.strip_chars() == "").then(None).otherwise(pl.col(pl.String)).name.keep()
    )
    numbers = [
        name
        for name, column in IMAGES.columns.items()
        if name in frame.columns
        and frame[name].dtype == pl.String
        and column.dtype not in (pl.String(), pl.List(pl.String))
    ]
    frame = frame.with_columns(
        pl.when(pl.col(name).str.strip_chars().str.to_lowercase().is_in(MISSING))
        .then(None)
        .otherwise(pl.col(name))
        .alias(name)
        for name in numbers
    )
    if "captured_at" in numbers:
        dashed = pl.col("captured_at").str.replace(r"^\s*(\d{4}):(\d{2}):(\d{2})", "$1-$2-$3")  # as EXIF writes dates
        frame = frame.with_columns(dashed)
    frame = text_from_numbers(frame, IMAGES)
    if "image_id" not in frame.columns and "path" in frame.columns:
        frame = frame.select(pl.col("path").alias("image_id"), pl.all())
    if "split" in frame.columns:
        frame = frame.with_columns(pl.col("split").str.strip_chars().str.to_lowercase().replace(SPLITS))
    if "tags" in frame.columns and frame["tags"].dtype == pl.String:
        frame = frame.with_columns(_split_tags(pl.col("tags")))
    return frame


def text_from_numbers(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Return the table with whole numbers in declared text columns written without a decimal point (5.0 → 5)."""
    names = [
        name
        for name, column in table.columns.items()
        if column.dtype == pl.String() and name in frame.columns and frame[name].dtype.is_float()
    ]
    whole = [name for name in names if bool((frame[name].drop_nulls() % 1 == 0).all())]
    return frame.with_columns(pl.col(name).cast(pl.Int64) for name in whole)


def _meaning_of_image(frame: pl.DataFrame, found: Mapping[str, str]) -> str:
    """Return whether a column called 'image' holds paths or ids; empty if there is none."""
    name = found.get("image", found.get("img"))
    if name is None:
        return ""
    values = frame[name].drop_nulls()
    first = values[0] if len(values) else ""
    if not isinstance(first, str):
        return "image_id"
    return "path" if "/" in first or PurePosixPath(first).suffix else "image_id"


def _part_positions(frame: pl.DataFrame) -> pl.DataFrame:
    if "latitude" in frame.columns or "longitude" in frame.columns:
        return frame
    for name in frame.columns:
        if normalise_name(name) in POSITION_NAMES and frame[name].dtype == pl.String:
            parts = pl.col(name).str.strip_chars(" ()[]").str.split_exact(",", 1).struct
            return frame.with_columns(
                parts.field("field_0").str.strip_chars().alias("latitude"),
                parts.field("field_1").str.strip_chars().alias("longitude"),
            )
    return frame


def _split_tags(tags: pl.Expr) -> pl.Expr:
    """Split tags at semicolons or pipes where there are any, else at commas."""
    separated = tags.str.replace_all(r"[;|]", "\x1f")
    return (
        pl.when(tags.str.contains(r"[;|]"))
        .then(separated.str.split("\x1f"))
        .otherwise(tags.str.split(","))
        .list.eval(pl.element().str.strip_chars())
        .alias("tags")
    )
