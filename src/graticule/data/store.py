"""Artefacts on disk: read with validation, written atomically, with where they came from.

A file is written beside its place under a temporary name, then renamed: a reader sees the old file or the new one,
never half of one. The provenance (inputs' hashes, resolved configuration, seed, version, time) and whatever a table
needs to say of itself (a model's labels) stand in the Parquet metadata, under the keys ``graticule.provenance`` and
``graticule.info``, as JSON.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.tables import Table
from graticule.data.validate import validate_table
from graticule.errors import FileError, TableError

INFO_KEY = "graticule.info"
PROVENANCE_KEY = "graticule.provenance"
HASH_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an artefact came from."""

    command: str
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name → SHA-256 of its bytes."""
    seed: int | None = None
    version: str = ""
    created_at: str = ""


def describe_run(
    command: str,
    *,
    config: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Path] | None = None,
    seed: int | None = None,
) -> Provenance:
    """Return the provenance of what is about to be made, with its inputs hashed."""
    from graticule import __version__

    hashes = {name: hash_file(path) for name, path in (inputs or {}).items() if path.is_file()}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(
        command=command, config=config or {}, inputs=hashes, seed=seed, version=__version__, created_at=now
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASH_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def read_table(path: str | Path, table: Table) -> pl.DataFrame:
    """Return a Parquet artefact, checked against its declaration.

    Parameters
    ----------
    path
        A Parquet file, or a folder of Parquet parts.
    table
        The declaration, one of `graticule.data.tables`.

    Raises
    ------
    FileError
        There is no such file, or it is not Parquet.
    TableError
        The table breaks its declaration.
    """
    place = Path(path)
    source = _parts(place)
    try:
        frame = pl.read_parquet(source)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(
            f"{place}: not a readable Parquet file ({str(error).splitlines()[0]}). Was it copied whole?"
        ) from error
    return validate_table(frame, table, where=str(place))


def read_info(path: str | Path) -> dict[str, Any]:
    """Return what an artefact says of itself: a model's name and labels, the kind of scores, and the like."""
    return _read_json(Path(path), INFO_KEY)


def read_provenance(path: str | Path) -> dict[str, Any]:
    """Return where an artefact came from; empty for a file that Graticule did not write."""
    return _read_json(Path(path), PROVENANCE_KEY)


def write_table(
    frame: pl.DataFrame,
    path: str | Path,
    table: Table,
    *,
    info: Mapping[str, Any] | None = None,
    provenance: Provenance | None = None,
) -> Path:
    """Write an artefact as one Parquet file, atomically, and return its path.

    Raises
    ------
    TableError
        The table breaks its declaration; nothing is written.
    FileError
        The folder cannot be written to; nothing is left behind.
    """
    checked = validate_table(frame, table, where=f"{table.name} to be written to {path}")
    metadata = make_metadata(info=info, provenance=provenance)
    with replace_atomically(path) as temporary:
        checked.write_parquet(temporary, metadata=metadata)
    return Path(path)


def make_metadata(*, info: Mapping[str, Any] | None, provenance: Provenance | None) -> dict[str, str]:
    """Return the Parquet metadata of an artefact."""
    metadata = {INFO_KEY: json.dumps(dict(info or {}), ensure_ascii=False)}
    if provenance is not None:
        metadata[PROVENANCE_KEY] = json.dumps(asdict(provenance), ensure_ascii=False, default=str)
    return metadata


@contextlib.contextmanager
def replace_atomically(path: str | Path) -> Generator[Path]:
    """Give a temporary path beside ``path`` to write to; rename it into place at the end, or remove it on any error."""
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            raise IsADirectoryError(f"{place} is a folder")
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".tmp")
        os.close(handle)
    except OSError as error:
        raise FileError(f"{place}: cannot be written ({error}). Choose another place with -o.") from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(place)
    except OSError as error:
        raise FileError(
            f"{place}: writing failed ({error}). Nothing was left there; free room and run again."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> Path:
    """Write a text file in UTF-8, atomically, and return its path."""
    with replace_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def _parts(place: Path) -> list[Path]:
    if place.is_dir():
        parts = sorted(place.glob("*.parquet"))
        if not parts:
            raise FileError(f"{place}: a folder without Parquet parts; expected *.parquet files in it.")
        return parts
    if not place.is_file():
        raise FileError(f"{place}: no such file. Is the path relative to another folder than {Path.cwd()}?")
    return [place]


def _read_json(place: Path, key: str) -> dict[str, Any]:
    try:
        metadata = pl.read_parquet_metadata(_parts(place)[0])
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{place}: not a readable Parquet file ({str(error).splitlines()[0]}).") from error
    text = metadata.get(key, "{}")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise TableError(f"{place}: its metadata '{key}' is not JSON ({error}). Write the table again.") from error
    return found if isinstance(found, dict) else {}
