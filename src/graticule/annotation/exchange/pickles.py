"""Pickles: recognised, never opened, and the way around them."""

from __future__ import annotations

from pathlib import Path

from graticule.errors import FileError

SUFFIXES = (".pkl", ".pickle", ".pck", ".p", ".dill", ".joblib")
FIRST_BYTES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
"""How pickles of protocols 2 to 5 begin."""
ZIPPED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def refuse_pickle(path: Path) -> None:
    """Raise if a file is a pickle, by its name or by its first bytes.

    Raises
    ------
    FileError
        It is one; the message says how to convert it.
    """
    name = path.name.lower()
    for suffix in ZIPPED_SUFFIXES:
        name = name.removesuffix(suffix)
    if not name.endswith(SUFFIXES) and not _begins_like_one(path):
        return
    raise FileError(
        f"{path}: a pickle, and opening one runs whatever code is in it, so Graticule never does; expected CSV, JSON "
        "Lines, Parquet or Label Studio JSON. If you trust who made it, convert it with the library that made it: "
        f"python -c \"import pandas; pandas.read_pickle('{path.name}').to_parquet('{path.stem}.parquet')\""
    )


def _begins_like_one(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) in FIRST_BYTES
