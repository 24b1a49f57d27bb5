"""An images table that goes to another folder: its relative paths are written anew."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graticule.data.sources import move_base


def move_paths(images: pl.DataFrame, old: Path, new: Path) -> pl.DataFrame:
    """Return the images with paths relative to ``new`` that name what they named relative to ``old``."""
    if "path" not in images.columns or old.resolve() == new.resolve():
        return images
    paths = [None if path is None else move_base(path, old, new) for path in images["path"].to_list()]
    return images.with_columns(pl.Series("path", paths, dtype=pl.String))
