"""Hugging Face's ``imagefolder``: folders by split and label, or a ``metadata`` table that names its files.

``train/dog/1.png`` and ``dog/1.png`` give split and label; where a folder holds a ``metadata.csv``, ``metadata.jsonl``
or ``metadata.parquet`` with a column ``file_name``, its rows are the images of that folder, and the other columns are
theirs.
"""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath

import polars as pl

from graticule.data.readers.columns import SPLITS, clean_images, rename_columns
from graticule.data.readers.delimited import read_delimited
from graticule.data.readers.json_rows import read_json_rows
from graticule.data.readers.listing import Listing, list_files, reject_misfit
from graticule.data.walk import Place, Reject, open_place
from graticule.errors import TableError, shown

METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
SPLIT_NAMES = frozenset({"train", "validation", "test", *SPLITS})


def read_imagefolder(source: Path, *, exclude: frozenset[Path] = frozenset()) -> Listing:
    """Return the images of an ``imagefolder``.

    Raises
    ------
    FileError
        There is no such folder, or the archive is damaged.
    TableError
        A metadata table cannot be read, or has no column ``file_name``.
    """
    place = open_place(source, exclude=exclude)
    tables = [name for name in place.files if PurePosixPath(name).name in METADATA]
    if tables:
        return _list_by_metadata(place, tables)
    names: list[str] = []
    rejects = list(place.rejects)
    splits: list[str | None] = []
    labels: list[str | None] = []
    for name in place.files:
        parts = name.replace("\\", "/").split("/")[:-1]
        split = _split_of(name)
        label = parts[1:] if split else parts
        if len(label) != 1:
            rejects.append(reject_misfit(place, name, "not in a folder of a label, as an imagefolder has them"))
            continue
        names.append(name)
        splits.append(split)
        labels.append(label[0])
    frame = list_files(place, names, {"label": labels, "split": splits})
    return Listing(frame=frame, rejects=tuple(rejects), base=place.base)


def has_metadata(source: Path) -> bool:
    """Return whether a folder holds a metadata table at its top or in the folder of a split."""
    if not source.is_dir():
        return False
    folders = [source, *(folder for folder in source.iterdir() if folder.name.lower() in SPLIT_NAMES)]
    return any((folder / name).is_file() for folder in folders for name in METADATA)


def _split_of(name: str) -> str | None:
    first, slash, _ = name.replace("\\", "/").partition("/")
    return SPLITS.get(first.lower(), first.lower()) if slash and first.lower() in SPLIT_NAMES else None


def _list_by_metadata(place: Place, tables: list[str]) -> Listing:
    rejects = list(place.rejects)
    frames: list[pl.DataFrame] = []
    notes: list[str] = []
    files = set(place.files)
    named: set[str] = set()
    for table in tables:
        folder = PurePosixPath(table.replace("\\", "/")).parent
        rows = _read_metadata(place, table)
        names = [str(folder / str(name)) for name in rows["file_name"].to_list()]
        there = [name in files and name not in named for name in names]
        rejects += [
            Reject(path=name, reason=f"named in {table}, and {'named before' if name in files else 'no such file'}")
            for name, is_there in zip(names, there, strict=True)
            if not is_there
        ]
        kept = [name for name, is_there in zip(names, there, strict=True) if is_there]
        renamed = rename_columns(rows.drop("file_name").filter(pl.Series(there, dtype=pl.Boolean)))
        notes += [f"{table}: column '{given}' taken as {target}" for target, given in renamed.taken.items()]
        listed = list_files(
            place, kept, {} if "split" in renamed.frame.columns else {"split": [_split_of(n) for n in kept]}
        )
        frames.append(pl.concat([listed, renamed.frame.drop("image_id", "path", strict=False)], how="horizontal"))
        named.update(kept)
    for name in place.files:
        if name not in named and name not in tables:
            rejects.append(reject_misfit(place, name, "not named in a metadata table"))
    rejects += [Reject(path=place.path_of(table), reason="the metadata table, not an image") for table in tables]
    frame = clean_images(pl.concat(frames, how="diagonal_relaxed"))
    return Listing(frame=frame, rejects=tuple(rejects), base=place.base, notes=tuple(notes))


def _read_metadata(place: Place, table: str) -> pl.DataFrame:
    data = place.read(table)
    if table.endswith(".csv"):
        rows = read_delimited(data, where=table)
    elif table.endswith(".jsonl"):
        rows = read_json_rows(data, where=table)
    else:
        try:
            rows = pl.read_parquet(io.BytesIO(data))
        except pl.exceptions.PolarsError as error:
            raise TableError(f"{table}: not a readable Parquet file ({error}). Was it copied whole?") from error
    if "file_name" not in rows.columns:
        raise TableError(f"{table}: no column 'file_name'; the columns are {shown(rows.columns, limit=12)}.")
    return rows
