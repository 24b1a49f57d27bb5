"""Filters, one after the other: what is kept, and why the rest is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import polars as pl

from graticule.curation.concepts.tags import fill_labels
from graticule.curation.filters import FILTERS
from graticule.curation.filters.filter import Evidence, Filter, FilterConfig
from graticule.curation.looks import look_at_images
from graticule.curation.selection import Selection, divide_images, no_findings
from graticule.errors import ConfigError, unknown_choice

NEEDS_LOOKS = ("readable", "uniform", "blurred", "faces")
"""Filters that open every image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Where the images' files lie, and how they are opened."""

    base: str | Path = "."
    """Folder that relative paths start from."""
    journal: str | Path | None = None
    """Folder to keep finished work in."""
    workers: int | None = None
    progress: bool = True


def filter_images(
    images: pl.DataFrame,
    filters: Sequence[str],
    *,
    config: FilterConfig | None = None,
    concepts: pl.DataFrame | None = None,
    scheme: str | None = None,
    files: Files | None = None,
) -> Selection:
    """Return the images that pass every filter, and every other one with the first reason why not.

    Parameters
    ----------
    images
        An images table.
    filters
        Names of `FILTERS`; they always run in the order of that dict, each on what the ones before it have left.
    config
        Thresholds.
    concepts
        Names of labels, as `graticule.curation.concepts.translations.read_concepts` returns them. With ``one_label``,
        images without a label get the one that their tags name.
    scheme
        The region scheme that the images were located with, if one is known.
    files
        Where the files lie; needed by filters that open them.

    Raises
    ------
    ConfigError
        There is no filter of that name, none was named, or one lacks what it needs.
    TableError
        A column that a filter looks at is missing.
    """
    settings = config or FilterConfig()
    chosen = _choose(filters)
    if concepts is not None and "one_label" in chosen:
        images = fill_labels(images, concepts)
    looks = _look(images, chosen, files or Files())
    left = images.with_row_index("__row")
    found = [no_findings().with_columns(pl.lit(None, dtype=pl.String).alias("step"))]
    for name in chosen:
        if left.is_empty():
            break
        rows = left["__row"]
        evidence = Evidence(looks=None if looks is None else looks[rows], concepts=concepts, scheme=scheme)
        findings = load_filter(name)(left.drop("__row"), evidence, settings)
        lost = rows.gather(findings["row"].cast(pl.UInt32))
        found.append(
            pl.DataFrame({"row": lost, "reason": findings["reason"]}, schema=no_findings().schema).with_columns(
                pl.lit(name).alias("step")
            )
        )
        left = left.filter(~pl.col("__row").is_in(lost.implode()))
    return divide_images(images, pl.concat(found))


def load_filter(name: str) -> Filter:
    """Return the filter of a name."""
    module, _, attribute = FILTERS[name][0].partition(":")
    return getattr(import_module(module), attribute)


def _choose(filters: Sequence[str]) -> list[str]:
    for name in filters:
        if name not in FILTERS:
            raise unknown_choice("filter", name, FILTERS)
    if not filters:
        raise ConfigError(f"no filter was named, expected one or more of: {', '.join(FILTERS)}.")
    return [name for name in FILTERS if name in filters]


def _look(images: pl.DataFrame, chosen: Sequence[str], files: Files) -> pl.DataFrame | None:
    """Return what the files look like, if any filter asks for it."""
    names = ("width", "height")
    is_sized = all(name in images.columns and images[name].null_count() == 0 for name in names)
    if not set(chosen) & set(NEEDS_LOOKS) and (is_sized or "resolution" not in chosen):
        return None
    if "path" not in images.columns:
        if not set(chosen) & set(NEEDS_LOOKS):
            return None
        raise ConfigError(
            f"the filters {', '.join(name for name in chosen if name in NEEDS_LOOKS)} open every image, but the table "
            "has no column 'path'. Leave them out, or add paths."
        )
    return look_at_images(
        images,
        base=files.base,
        faces="faces" in chosen,
        journal=files.journal,
        workers=files.workers,
        progress=files.progress,
    )
