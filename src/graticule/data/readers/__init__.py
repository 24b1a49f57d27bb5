"""One file per layout that images come in; the names are those of ``--layout``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graticule.data.readers.croissant import read_croissant
from graticule.data.readers.folder import read_folder
from graticule.data.readers.imagefolder import read_imagefolder
from graticule.data.readers.listing import Listing
from graticule.data.readers.table import read_table_listing
from graticule.data.readers.webdataset import read_webdataset

LAYOUTS: dict[str, Callable[[Path], Listing]] = {
    "croissant": read_croissant,
    "folder": read_folder,
    "imagefolder": read_imagefolder,
    "table": read_table_listing,
    "webdataset": read_webdataset,
}
"""Layout → its reader: a source → what is there, unopened."""
