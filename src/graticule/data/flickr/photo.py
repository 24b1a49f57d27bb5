"""A photo as Flickr's search describes it → a row of an images table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

EXTRAS = "description,license,date_taken,date_upload,owner_name,geo,tags,url_l,url_c,url_z,url_m,url_o"
"""What a search is asked to say of each photo."""
SIZES = ("l", "c", "z", "m", "o")
"""Pictures of a photo, the first that exists is taken: 1024, 800, 640 and 500 pixels, then the original."""
PAGE = "https://www.flickr.com/photos"

COLUMNS = {
    "image_id": pl.String(),
    "path": pl.String(),
    "dataset": pl.String(),
    "latitude": pl.Float64(),
    "longitude": pl.Float64(),
    "captured_at": pl.String(),
    "width": pl.Int64(),
    "height": pl.Int64(),
    "tags": pl.List(pl.String()),
    "source_id": pl.String(),
    "title": pl.String(),
    "owner": pl.String(),
    "owner_name": pl.String(),
    "license": pl.String(),
    "position_accuracy": pl.Int64(),
    "page": pl.String(),
}


def read_photo(photo: object) -> dict[str, Any] | None:
    """Return what is kept of a photo, in the columns of `COLUMNS`; None where it has no id.

    Notes
    -----
    ``license`` is Flickr's number; ``path`` is None where Flickr gives no address of a picture.
    """
    if not isinstance(photo, Mapping):
        return None
    said: Mapping[str, Any] = photo
    identifier = str(said.get("id") or "")
    if not identifier.isdigit():
        return None
    size = next((size for size in SIZES if _text(said.get(f"url_{size}"))), None)
    latitude, longitude, accuracy = read_position(said)
    owner = _text(said.get("owner"))
    is_dated = str(said.get("datetakenunknown", "0")) in ("0", "False")
    return {
        "image_id": identifier,
        "path": None if size is None else _text(said.get(f"url_{size}")),
        "dataset": "Flickr",
        "latitude": latitude,
        "longitude": longitude,
        "captured_at": _text(said.get("datetaken")) if is_dated else None,
        "width": None if size is None else _count(said.get(f"width_{size}")),
        "height": None if size is None else _count(said.get(f"height_{size}")),
        "tags": str(said.get("tags") or "").split(),
        "source_id": identifier,
        "title": _text(said.get("title")),
        "owner": owner,
        "owner_name": _text(said.get("ownername")),
        "license": _text(said.get("license")),
        "position_accuracy": accuracy,
        "page": None if owner is None else f"{PAGE}/{owner}/{identifier}",
    }


def read_position(said: Mapping[str, Any]) -> tuple[float | None, float | None, int | None]:
    """Return latitude, longitude and accuracy (1, the world, to 16, a street); None where there is no position."""
    latitude, longitude = _degrees(said.get("latitude"), 90), _degrees(said.get("longitude"), 180)
    accuracy = _count(said.get("accuracy"))
    if latitude is None or longitude is None or (latitude == 0 and longitude == 0):
        return None, None, None
    return latitude, longitude, accuracy


def _text(value: object) -> str | None:
    if isinstance(value, Mapping):  # titles and descriptions may come wrapped
        value = value.get("_content")
    text = str(value).strip() if isinstance(value, (str, int)) else ""
    return text or None


def _count(value: object) -> int | None:
    try:
        number = int(str(value))
    except ValueError:
        return None
    return number if number > 0 else None


def _degrees(value: object, most: float) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= most else None
