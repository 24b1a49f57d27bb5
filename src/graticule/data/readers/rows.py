"""Any file of rows (CSV, TSV, JSON, JSON Lines, Parquet, compressed or not) → a table as written."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import polars as pl

from graticule.data.readers.delimited import read_delimited
from graticule.data.readers.json_rows import read_json_rows
from graticule.data.sources import read_head
from graticule.errors import FileError

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
MAX_TEXT_BYTES = 1 << 33
"""Tables of text are read up to here; compressed ones that grow beyond are refused."""


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table that can be read."""
    return _suffix(path) in DELIMITED + JSON + PARQUET


def read_rows(path: Path) -> pl.DataFrame:
    """Return a file's rows: text columns for CSV and TSV, typed ones for JSON and Parquet.

    Raises
    ------
    FileError
        There is no such file, it cannot be read, or its name is not that of a table.
    TableError
        The text in it is no table.
    """
    suffix = _suffix(path)
    if path.is_dir() or suffix in PARQUET:
        return _read_parquet(path)
    if suffix not in DELIMITED + JSON:
        known = ", ".join(DELIMITED + JSON + PARQUET)
        raise FileError(f"{path}: not the name of a table; expected one that ends in {known}, or one of them with .gz.")
    data = read_head(path, MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise FileError(f"{path}: more than {MAX_TEXT_BYTES} bytes of text. Write it as Parquet, or in parts.")
    if path.suffix.lower() == ".gz":
        data = _decompress(data, path)
    return read_delimited(data, where=str(path)) if suffix in DELIMITED else read_json_rows(data, where=str(path))


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _read_parquet(path: Path) -> pl.DataFrame:
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not parts:
        raise FileError(f"{path}: a folder without Parquet parts; expected *.parquet files in it.")
    if not parts[0].is_file():
        raise FileError(f"{path}: no such file. Is the path relative to another folder than {Path.cwd()}?")
    try:
        return pl.read_parquet(parts)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(
            f"{path}: not a readable Parquet file ({str(error).splitlines()[0]}). Was it copied whole?"
        ) from error


def _decompress(data: bytes, path: Path) -> bytes:
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path}: not a readable gzip file ({error}). Was it copied whole?") from error
    if len(plain) > MAX_TEXT_BYTES:
        raise FileError(f"{path}: more than {MAX_TEXT_BYTES} bytes of text. Unpack it, and read it in parts.")
    return plain
