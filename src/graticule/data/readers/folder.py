"""Folders (or an archive) whose names say what is in them, by a pattern; without one, only the files are listed."""

from __future__ import annotations

from pathlib import Path

from graticule.data.readers.listing import Listing, list_files, reject_misfit
from graticule.data.readers.pattern import compile_pattern
from graticule.data.walk import open_place


def read_folder(source: Path, *, pattern: str = "", exclude: frozenset[Path] = frozenset()) -> Listing:
    """Return the files of a folder, an archive, or a single file, with the columns that their paths fill.

    Parameters
    ----------
    source
        A folder, an archive or a file.
    pattern
        Folder names such as ``{region}/{label}``; empty fills no columns. Files that do not fit are rejects.
    exclude
        Files and folders to pass over.

    Raises
    ------
    FileError
        There is no such folder, or the archive is damaged.
    ConfigError
        The pattern is not one.
    """
    compiled = compile_pattern(pattern) if pattern else None
    place = open_place(source, exclude=exclude)
    rejects = list(place.rejects)
    names: list[str] = []
    columns: dict[str, list[str | None]] = {column: [] for column in (compiled.columns if compiled else ())}
    for name in place.files:
        values = compiled.match(name) if compiled else {}
        if values is None:
            rejects.append(reject_misfit(place, name, f"does not fit the layout '{pattern}'"))
            continue
        names.append(name)
        for column, listed in columns.items():
            listed.append(values[column])
    return Listing(frame=list_files(place, names, columns), rejects=tuple(rejects), base=place.base)
