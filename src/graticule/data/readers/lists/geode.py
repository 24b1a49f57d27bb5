"""GeoDE's list of files: ``Africa/South_Africa/South_Africa_plate_of_food_51681.jpg``, a line each."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.readers.listing import Listing
from graticule.data.readers.lists.lines import read_lines
from graticule.data.walk import Reject
from graticule.errors import TableError

EXAMPLE = "Africa/South_Africa/South_Africa_plate_of_food_51681.jpg"


def read_geode(source: Path) -> Listing:
    """Return the images of GeoDE that a list names, with region, country and label.

    Parameters
    ----------
    source
        The list; paths are relative to the data set's folder ``images``.

    Raises
    ------
    FileError
        The list cannot be read.
    TableError
        No line of it is a path of GeoDE's.
    """
    rows: list[tuple[str, str, str, str]] = []
    rejects: list[Reject] = []
    seen: set[str] = set()
    for number, line in read_lines(source):
        path = line.removeprefix("./").removeprefix("images/")
        parts = path.split("/")
        label = _find_label(parts) if len(parts) == 3 else ""
        if not label:
            rejects.append(Reject(path=line, reason=f"line {number}: not a path of GeoDE's, as {EXAMPLE}"))
        elif path in seen:
            rejects.append(Reject(path=line, reason=f"line {number}: named before"))
        else:
            seen.add(path)
            rows.append((path, label, parts[0], parts[1].replace("_", " ")))
    if not rows:
        raise TableError(
            f"{source}: no line is a path of GeoDE's; expected lines as {EXAMPLE}. Is it another data set's list?"
        )
    frame = pl.DataFrame(rows, schema=["path", "label", "region", "country"], orient="row").select(
        pl.col("path").alias("image_id"), pl.all(), pl.lit("GeoDE").alias("dataset")
    )
    return Listing(frame=frame, rejects=tuple(rejects), base=source.parent)


def _find_label(parts: list[str]) -> str:
    """Return the label in a file's name, which starts with the country and ends with a number."""
    stem = parts[2].rpartition(".")[0]
    rest = stem.removeprefix(f"{parts[1]}_")
    label, _, number = rest.rpartition("_")
    return label if rest != stem and number.isdigit() else ""
