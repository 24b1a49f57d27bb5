"""Labels as ReaL-style JSON: a list with an entry an image, each a list of the labels that are right for it.

The i-th entry (from 0) is the i+1-th image of ImageNet's validation set, ``ILSVRC2012_val_00000001.JPEG`` and so on; an
empty entry means that no label is right. Other data sets count their images in the order of a list of names.

References
----------
Beyer, Hénaff, Kolesnikov, Zhai and van den Oord 2020, "Are we done with ImageNet?".
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.store import write_text
from graticule.data.tables import LABELS
from graticule.data.validate import validate_table
from graticule.errors import FileError, TableError, shown

SUFFIXES = ()
HOLDS = "labels"
IMAGENET_NAME = "ILSVRC2012_val_{:08d}.JPEG"
IMAGENET_PATTERN = re.compile(r"ILSVRC2012_val_(\d{8})(\.JPEG)?")


def read(path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the labels in a ReaL file; its entries are the images in the order of their table, or ImageNet's."""
    return read_real(path, image_ids=None if images is None else images["image_id"].to_list())


def write(labels: pl.DataFrame, path: Path, *, images: pl.DataFrame | None = None) -> Path:
    """Write labels as a ReaL file, in the order of the images table or of ImageNet's names, and return the path."""
    return write_real(labels, path, image_ids=None if images is None else images["image_id"].to_list())


def read_real(path: str | Path, *, image_ids: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the labels in a ReaL file: image_id, label (as text), and no row where an image has none.

    Parameters
    ----------
    path
        The file.
    image_ids
        The images in the file's order; None names them as ImageNet does.

    Raises
    ------
    FileError
        There is no such file.
    TableError
        It is not a list of lists, or not as long as ``image_ids``.
    """
    place = Path(path)
    entries = _read_entries(place)
    names = image_ids or [IMAGENET_NAME.format(number + 1) for number in range(len(entries))]
    if len(names) != len(entries):
        raise TableError(
            f"{place}: {len(entries)} entries for {len(names)} images; expected one entry an image, in their order."
        )
    rows = [(name, str(label)) for name, labels in zip(names, entries, strict=True) for label in labels]
    frame = pl.DataFrame(rows, schema={"image_id": pl.String, "label": pl.String}, orient="row")
    return validate_table(frame, LABELS, where=str(place))


def write_real(labels: pl.DataFrame, path: str | Path, *, image_ids: Sequence[str] | None = None) -> Path:
    """Write accepted labels as a ReaL file and return its path.

    Parameters
    ----------
    labels
        A `LABELS` table; every row is a label that is right.
    path
        Where to write.
    image_ids
        The images in the order of the entries; None takes their numbers from ImageNet's names, and goes on to the
        highest number there is.

    Raises
    ------
    TableError
        The labels break their declaration, or name an image that has no place in the order.
    """
    checked = validate_table(labels, LABELS, where="labels")
    places = _places(checked["image_id"].unique(maintain_order=True).to_list(), image_ids=image_ids)
    as_numbers = checked["label"].str.contains(r"^(0|[1-9]\d*)$").all()
    entries: list[list[int | str]] = [[] for _ in range(len(image_ids) if image_ids else max(places.values()) + 1)]
    for image_id, label in checked.select("image_id", "label").iter_rows():
        entries[places[image_id]].append(int(label) if as_numbers else label)
    return write_text(json.dumps(entries, ensure_ascii=False), path)


def _read_entries(place: Path) -> list[list[Any]]:
    try:
        entries = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{place}: cannot be read ({error}).") from error
    except ValueError as error:
        raise TableError(f"{place}: not JSON ({error}); expected a list of lists of labels.") from error
    if not isinstance(entries, list):
        raise TableError(f"{place}: not a list; expected a list with a list of labels for each image.")
    odd = [
        f"entry {number}: {entry!r}"[:60]
        for number, entry in enumerate(entries)
        if not isinstance(entry, list) or not all(isinstance(label, int | str) for label in entry)
    ]
    if odd:
        raise TableError(f"{place}: {len(odd)} entries are not lists of labels: {shown(odd)}.")
    return entries


def _places(names: list[str], *, image_ids: Sequence[str] | None) -> dict[str, int]:
    if image_ids:
        order = {name: place for place, name in enumerate(image_ids)}
        unknown = [name for name in names if name not in order]
        if unknown:
            raise TableError(f"labels: {len(unknown)} images are not in the list of images: {shown(unknown)}.")
        return order
    found = {name: IMAGENET_PATTERN.fullmatch(name) for name in names}
    odd = [name for name, match in found.items() if match is None]
    if odd:
        raise TableError(
            f"labels: {len(odd)} images are not named as ImageNet's validation images are: {shown(odd)}. Give the "
            "images in the order of the entries, with --images."
        )
    return {name: int(match.group(1)) - 1 for name, match in found.items() if match}
