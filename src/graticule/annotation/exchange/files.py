"""Any file of answers or labels → a checked table, and back, by the format's name or the file's."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import polars as pl

from graticule.annotation.exchange import FORMATS
from graticule.annotation.exchange.pickles import refuse_pickle
from graticule.data.readers.rows import read_rows
from graticule.data.tables import Table
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, unknown_choice

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")


@runtime_checkable
class Format(Protocol):
    """What a module of a format offers."""

    SUFFIXES: tuple[str, ...]
    """Ends of the names of such files, where they tell the format."""
    HOLDS: str
    """Name of the table that it holds: answers or labels."""

    def read(self, path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return the checked table in a file."""
        ...

    def write(self, table: pl.DataFrame, path: Path, /, *, images: pl.DataFrame | None = None) -> Path:
        """Write a table and return the path."""
        ...


def read_checked(path: str | Path, table: Table) -> pl.DataFrame:
    """Return a table from Parquet, CSV, TSV, JSON or JSON Lines, checked against its declaration.

    Raises
    ------
    FileError
        There is no such file, it cannot be read, or it is a pickle.
    TableError
        The table breaks its declaration; every bad row is named.
    """
    place = Path(path)
    refuse_pickle(place)
    suffix = Path(place.name.lower().removesuffix(".gz")).suffix
    return validate_table(read_rows(place), table, where=str(place), first_row=2 if suffix in TEXT_SUFFIXES else 1)


def read_exchange(path: str | Path, *, name: str | None = None, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the answers (or, for ``real``, the labels) in a file.

    Parameters
    ----------
    path
        The file.
    name
        Format, in `FORMATS`; None takes it from the file's name.
    images
        The images table: for ``real``, the order of the entries.

    Raises
    ------
    ConfigError
        There is no such format, or the file's name does not tell it.
    FileError, TableError
        The file cannot be read, or holds something else.
    """
    place = Path(path)
    refuse_pickle(place)
    return find_format(place, name=name).read(place, images=images)


def write_exchange(
    table: pl.DataFrame, path: str | Path, *, name: str | None = None, images: pl.DataFrame | None = None
) -> Path:
    """Write answers (or, for ``real``, labels) in a format and return the path.

    Raises
    ------
    ConfigError
        There is no such format, or the file's name does not tell it.
    TableError
        The table breaks its declaration, or holds something that the format cannot.
    """
    place = Path(path)
    return find_format(place, name=name).write(table, place, images=images)


def find_format(path: Path, *, name: str | None) -> Format:
    """Return the format called ``name``, or the one that a file's name tells.

    Raises
    ------
    ConfigError
        There is no such format, or the file's name does not tell it.
    """
    if name is not None:
        if name not in FORMATS:
            raise unknown_choice("format", name, FORMATS)
        return cast("Format", import_module(FORMATS[name]))
    plain = path.name.lower().removesuffix(".gz")
    for module in map(import_module, FORMATS.values()):
        if plain.endswith(module.SUFFIXES):
            return cast("Format", module)
    raise ConfigError(
        f"{path}: its name does not tell the format; expected one of {', '.join(FORMATS)} with --format "
        "(label_studio and real are both .json)."
    )
