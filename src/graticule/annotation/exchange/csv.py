"""Answers as CSV: a row an answer, the columns of the answers table; times as ISO 8601 in UTC."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.readers.rows import read_rows
from graticule.data.store import replace_atomically
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table
from graticule.errors import TableError, shown

SUFFIXES = (".csv", ".tsv", ".tab")
HOLDS = "answers"
FIRST_ROW = 2
ISO_FORMAT = "%Y-%m-%dT%H:%M:%S%.6fZ"


def read(path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the answers in a CSV or TSV file (compressed or not), checked."""
    del images
    return validate_table(read_rows(path), ANSWERS, where=str(path), first_row=FIRST_ROW)


def write(answers: pl.DataFrame, path: Path, *, images: pl.DataFrame | None = None) -> Path:
    """Write answers as CSV and return the path.

    Raises
    ------
    TableError
        A column holds lists, which CSV cannot.
    """
    del images
    checked = validate_table(answers, ANSWERS, where="answers")
    nested = [name for name, dtype in checked.schema.items() if dtype.is_nested()]
    if nested:
        raise TableError(f"answers: the columns {shown(nested)} hold lists, which CSV cannot. Export as json_lines.")
    with replace_atomically(path) as temporary:
        checked.write_csv(temporary, datetime_format=ISO_FORMAT)
    return path
