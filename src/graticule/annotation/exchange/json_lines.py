"""Answers as JSON Lines: an object an answer, with the columns of the answers table; times as ISO 8601 in UTC."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.annotation.exchange.csv import ISO_FORMAT
from graticule.data.readers.rows import read_rows
from graticule.data.store import replace_atomically
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table

SUFFIXES = (".jsonl", ".ndjson")
HOLDS = "answers"


def read(path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the answers in a JSON Lines file (compressed or not), checked."""
    del images
    return validate_table(read_rows(path), ANSWERS, where=str(path))


def write(answers: pl.DataFrame, path: Path, *, images: pl.DataFrame | None = None) -> Path:
    """Write answers as JSON Lines and return the path."""
    del images
    checked = validate_table(answers, ANSWERS, where="answers")
    times = [name for name, dtype in checked.schema.items() if isinstance(dtype, pl.Datetime)]
    with replace_atomically(path) as temporary:
        checked.with_columns(pl.col(times).dt.strftime(ISO_FORMAT)).write_ndjson(temporary)
    return path
