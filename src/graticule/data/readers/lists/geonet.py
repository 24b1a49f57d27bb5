"""GeoNet's and GeoUniDA's lists: ``asia/test/abbey/31881698393.jpg 0``, a photo and its label's number a line.

The list of coordinates (``….jpg 40.91 -73.91``) has a latitude and a longitude in the number's place. GeoNet's JSON
files hold ``categories`` and ``annotations``, and the photos in ``images`` or ``metadata``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.readers.listing import Listing
from graticule.data.readers.lists.lines import open_list, read_lines
from graticule.data.walk import Reject
from graticule.errors import TableError

EXAMPLE = "asia/test/abbey/31881698393.jpg 0"
SPLITS = ("train", "test")
LARGEST_INDEX = 2**63 - 1
COLUMNS = {
    "image_id": pl.String(),
    "path": pl.String(),
    "label": pl.String(),
    "label_index": pl.Int64(),
    "dataset": pl.String(),
    "split": pl.String(),
    "region": pl.String(),
    "latitude": pl.Float64(),
    "longitude": pl.Float64(),
    "source_id": pl.String(),
}


def read_geonet(source: Path) -> Listing:
    """Return the images that a list of GeoNet's or GeoUniDA's names, with what their paths say.

    Parameters
    ----------
    source
        The list, as text or JSON, packed or not; paths are relative to the data set's folder. In GeoUniDA's test list
        of the target, ``label_index`` is 200 for all labels of the target alone; ``label`` is the folder's name.

    Raises
    ------
    FileError
        The list cannot be read.
    TableError
        No line of it is one of GeoNet's, or the JSON lacks one of its parts.
    """
    if source.name.lower().removesuffix(".gz").endswith(".json"):
        return _read_json(source)
    rows: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    seen: set[str] = set()
    for number, line in read_lines(source):
        path, *numbers = line.split()
        said = _read_numbers(numbers)
        if said is None or path.count("/") < 2:
            rejects.append(Reject(path=path, reason=f"line {number}: not a line of GeoNet's, as {EXAMPLE}"))
        elif path in seen:
            rejects.append(Reject(path=path, reason=f"line {number}: named before"))
        else:
            seen.add(path)
            rows.append({**_read_path(path), **said})
    if not rows:
        raise TableError(
            f"{source}: no line is one of GeoNet's; expected a path and a label's number, as {EXAMPLE}. "
            "Is it another data set's list?"
        )
    return _list(rows, rejects, source)


def _read_numbers(numbers: list[str]) -> dict[str, float | int] | None:
    """Return the label's number, or the coordinates; None where they are neither."""
    try:
        if len(numbers) == 1:
            index = int(numbers[0])
            return {"label_index": index} if abs(index) <= LARGEST_INDEX else None
        latitude, longitude = map(float, numbers)
    except ValueError:
        return None
    is_place = abs(latitude) <= 90 and abs(longitude) <= 180 and math.isfinite(latitude) and math.isfinite(longitude)
    return {"latitude": latitude, "longitude": longitude} if is_place else None


def _read_path(path: str) -> dict[str, str | None]:
    """Return what a path says: region and split are its first two folders, the label the last one."""
    parts = path.split("/")
    is_split = len(parts) > 3 and parts[1] in SPLITS
    name = parts[-1].rpartition(".")[0]
    return {
        "image_id": path,
        "path": path,
        "label": parts[-2],
        "region": parts[0] if is_split else None,
        "split": parts[1] if is_split else None,
        "source_id": name if name.isdigit() else None,
        "dataset": "GeoNet",
    }


def _read_json(source: Path) -> Listing:
    with open_list(source) as stream:
        try:
            content = json.loads(stream.read())
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise TableError(f"{source}: not readable JSON ({error}). Was it copied whole?") from error
    images = content.get("images", content.get("metadata")) if isinstance(content, dict) else None
    if not isinstance(images, list) or not isinstance(content.get("annotations"), list):
        raise TableError(
            f"{source}: not GeoNet's JSON; expected an object with the lists 'annotations' and 'images' (or "
            "'metadata'). Is it another data set's file?"
        )
    names = _by_name(content.get("categories"), "category_id", "id")
    said = _by_name(content["annotations"], "image_id", "id")
    rows: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    seen: set[str] = set()
    for number, image in enumerate(images, start=1):
        path = image.get("filename", image.get("file_name")) if isinstance(image, dict) else None
        if not isinstance(path, str) or path.count("/") < 1 or path in seen:
            reason = "named before" if isinstance(path, str) and path in seen else "no file name"
            rejects.append(Reject(path=str(path), reason=f"image {number}: {reason}"))
            continue
        seen.add(path)
        entry = said.get(str(image.get("id", image.get("image_id"))), {})
        index = entry.get("category", entry.get("category_id"))
        row = _read_path(path) | (_read_numbers([str(index)]) or {})
        row["label"] = _name_of(names.get(str(index), {})) or row["label"]
        place = _read_numbers([str(image.get("latitude")), str(image.get("longitude"))])
        rows.append(row | (place or {}))
    if not rows:
        raise TableError(f"{source}: no image has a file name. Is it another data set's file?")
    return _list(rows, rejects, source)


def _by_name(entries: object, *keys: str) -> dict[str, dict[str, Any]]:
    """Return the entries by the first of the keys that they have; what is no entry is passed over."""
    listed: list[Any] = entries if isinstance(entries, list) else []
    return {str(entry.get(keys[0], entry.get(keys[1]))): entry for entry in listed if isinstance(entry, dict)}


def _name_of(entry: dict[str, Any]) -> str | None:
    name = entry.get("category_name", entry.get("name"))
    return name if isinstance(name, str) else None


def _list(rows: list[dict[str, Any]], rejects: list[Reject], source: Path) -> Listing:
    frame = pl.DataFrame(rows, schema=COLUMNS)
    empty = [name for name in COLUMNS if frame[name].null_count() == frame.height]
    return Listing(frame=frame.drop(empty), rejects=tuple(rejects), base=source.parent)
