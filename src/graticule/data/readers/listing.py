"""What a layout's reader returns: the images that are there, before any of them is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.data.walk import Place, Reject, is_image_name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Listing:
    """Candidates for images, and what is known of them without opening them."""

    frame: pl.DataFrame
    """Columns image_id, path (relative to ``base``, or a URI), and what the layout says."""
    rejects: tuple[Reject, ...]
    base: Path
    notes: tuple[str, ...] = ()
    """What was assumed on the way, for the person who typed the command."""


def list_files(place: Place, names: Sequence[str], columns: dict[str, list[str | None]]) -> pl.DataFrame:
    """Return rows for files of a place: ``image_id`` is the name, ``path`` as tables write it, and the columns."""
    data: dict[str, list[str] | list[str | None]] = {
        "image_id": [name.replace("\\", "/") for name in names],
        "path": [place.path_of(name) for name in names],
        **columns,
    }
    return pl.DataFrame(data, schema=dict.fromkeys(data, pl.String()))


def reject_misfit(place: Place, name: str, reason: str) -> Reject:
    """Return the reject for a file that does not fit the layout, or is no image anyway."""
    if not is_image_name(name):
        reason = "not an image file, by its name, and outside the layout"
    return Reject(path=place.path_of(name), reason=reason)
