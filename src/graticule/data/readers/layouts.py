"""A source and ``--layout`` → the images that are there, by the reader that fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graticule.data.readers import LAYOUTS
from graticule.data.readers.folder import read_folder
from graticule.data.readers.imagefolder import has_metadata
from graticule.data.readers.listing import Listing
from graticule.data.readers.lists import LISTS
from graticule.data.readers.rows import is_table
from graticule.errors import FileError, unknown_choice


def list_images(source: Path, *, layout: str | None = None, exclude: frozenset[Path] = frozenset()) -> Listing:
    """Return the images of a folder, an archive, a table or a single file, before any of them is opened.

    Parameters
    ----------
    source
        What to look into.
    layout
        A pattern of folder names (``{region}/{label}``), the name of a layout or of a published list, or None: a table
        is read as one, a folder with a metadata table as an ``imagefolder``, and anything else is listed without
        columns, for what folders mean cannot be guessed.
    exclude
        Files and folders to pass over: what this very run writes.

    Raises
    ------
    ConfigError
        The layout is neither a pattern nor a known name.
    FileError
        There is no such source, or it cannot be read.
    TableError
        A table breaks the declaration of images.
    """
    if not source.exists():
        raise FileError(f"{source}: no such folder or file. Is the path relative to another folder than {Path.cwd()}?")
    chosen = layout or _choose(source)
    if "{" in chosen or "*" in chosen or "}" in chosen:
        listing = read_folder(source, pattern=chosen, exclude=exclude)
    elif chosen in LAYOUTS:
        listing = read_folder(source, exclude=exclude) if chosen == "folder" else LAYOUTS[chosen](source)
    elif chosen in LISTS:
        listing = LISTS[chosen](source)
    else:
        raise unknown_choice(
            "layout", chosen, [*LAYOUTS, *LISTS, "a pattern such as '{region}/{label}'"], where="--layout"
        )
    if not exclude:
        return listing
    kept = tuple(reject for reject in listing.rejects if (listing.base / reject.path).resolve() not in exclude)
    return replace(listing, rejects=kept)


def _choose(source: Path) -> str:
    if source.is_file() and is_table(source):
        return "table"
    return "imagefolder" if has_metadata(source) else "folder"
