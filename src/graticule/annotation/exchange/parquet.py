"""Answers as Parquet, the form in which Graticule keeps them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.readers.rows import read_rows
from graticule.data.store import write_table
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table

SUFFIXES = (".parquet", ".pq")
HOLDS = "answers"


def read(path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the answers in a Parquet file, checked."""
    del images
    return validate_table(read_rows(path), ANSWERS, where=str(path))


def write(answers: pl.DataFrame, path: Path, *, images: pl.DataFrame | None = None) -> Path:
    """Write answers as one Parquet file and return its path."""
    del images
    return write_table(answers, path, ANSWERS)
