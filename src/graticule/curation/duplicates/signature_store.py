"""Signatures kept from run to run: only files that are new, or that changed since, are read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from graticule.curation.duplicates.signatures import SIGNATURE, Reading, read_signatures
from graticule.data.sources import is_uri
from graticule.data.store import replace_atomically
from graticule.errors import FileError

FORM = 1
"""Changes when signatures are made in another way; older ones are then made anew."""
STATE = {"file": pl.String(), "n_bytes": pl.Int64(), "modified_ns": pl.Int64()}
STORED = {"form": pl.Int64(), "has_colours": pl.Boolean(), **STATE, **SIGNATURE}


def recall_signatures(paths: Sequence[str | None], *, reading: Reading) -> pl.DataFrame:
    """Return what each file holds, in the order of the paths, reading only what the store does not know.

    Notes
    -----
    A file is known by its place, its length and the time of its last change. Files in archives or on the network, and
    those that could not be read, are read anew each time.

    Raises
    ------
    FileError
        The store is no file of signatures.
    """
    if reading.store is None or not reading.pictures:
        return read_signatures(paths, reading=reading)
    place = Path(reading.store)
    stored = _read_store(place)
    usable = stored.filter((pl.col("form") == FORM) & (pl.col("has_colours") == reading.colours))
    states = pl.DataFrame([_state(path, Path(reading.base)) for path in paths], schema=STATE, orient="row")
    numbered = states.with_row_index("row")
    known = numbered.join(usable.select(*STATE, *SIGNATURE), on=list(STATE), how="inner")
    others = numbered.join(known.select("row"), on="row", how="anti", maintain_order="left")["row"]
    read = read_signatures([paths[row] for row in others], reading=reading)
    found = pl.concat([known.select("row", *SIGNATURE), read.select(others.alias("row"), *SIGNATURE)]).sort("row")
    fresh = pl.concat([states[others], read], how="horizontal").filter(
        pl.col("file").is_not_null() & pl.col("trouble").is_null()
    )
    if fresh.height:
        added = fresh.select(
            pl.lit(FORM, pl.Int64).alias("form"), pl.lit(reading.colours).alias("has_colours"), pl.all()
        )
        older = stored.join(added, on=["file", "has_colours"], how="anti")
        with replace_atomically(place) as temporary:
            pl.concat([older, added.select(list(STORED))]).write_parquet(temporary)
    return found.drop("row")


def _read_store(place: Path) -> pl.DataFrame:
    if not place.exists():
        return pl.DataFrame(schema=STORED)
    try:
        stored = pl.read_parquet(place)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(f"{place}: no file of signatures ({str(error).splitlines()[0]}). Remove it.") from error
    if stored.schema != pl.Schema(STORED):
        raise FileError(
            f"{place}: no file of signatures; its columns are {', '.join(stored.columns)}. Name another file with "
            "--signatures, or remove this one."
        )
    return stored


def _state(path: str | None, base: Path) -> tuple[str | None, int | None, int | None]:
    if path is None or is_uri(path):
        return None, None, None
    file = Path(base, path)
    try:
        facts = file.stat()
    except OSError:
        return None, None, None
    return str(file.resolve()), facts.st_size, facts.st_mtime_ns
