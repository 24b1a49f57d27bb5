"""What every filter of images takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from graticule.errors import ConfigError, TableError, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterConfig:
    """Thresholds of the filters."""

    min_long_side: int = 640
    """resolution: pixels of the longer side (GeoDE's instructions, figure 2)."""
    min_short_side: int = 480
    """resolution: pixels of the shorter side (GeoDE's instructions, figure 2)."""
    max_flat_share: float = 0.98
    """uniform: a picture of which a larger share is one colour is left out (ours)."""
    max_blur: float = 0.6
    """blurred: a picture whose blur, from 0 to 1, is larger is left out (ours; see docs/curation.md)."""
    max_face: float = 0.5
    """faces: a picture that shows a face with this certainty or more is left out (ours; see docs/curation.md)."""
    regions: tuple[str, ...] = ()
    """in_region: regions that count; empty takes all."""
    scheme: str | None = None
    """in_region: region scheme to compare coordinates with; None takes that which the table was located with."""
    native_share: float = 0.95
    """native_label: a label is native where one region has this share of it, were all regions equally large (ours)."""
    min_images: int = 20
    """min_images: of a label in every region (GeoNet, section 3.2)."""
    by: str = "region"
    """native_label, min_images: the column whose values are compared."""

    def __post_init__(self) -> None:
        for name in ("max_flat_share", "max_blur", "max_face", "native_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected a share from 0 to 1.")
        for name in ("min_long_side", "min_short_side", "min_images"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected at least 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known besides the table of images; None where it was not needed or not given."""

    looks: pl.DataFrame | None = None
    """What each file looks like, in the order of the images, as `graticule.curation.looks` measures it."""
    concepts: pl.DataFrame | None = None
    """Names of labels, as `graticule.curation.concepts.translations` reads them: label, language, name, folded."""
    scheme: str | None = None
    """The region scheme that the table says it was located with."""


Filter: TypeAlias = Callable[[pl.DataFrame, Evidence, FilterConfig], pl.DataFrame]
"""Images, evidence and thresholds → the images to leave out: ``row`` (from 0) and ``reason``."""


def require_columns(images: pl.DataFrame, *names: str, needed_for: str, remedy: str) -> None:
    """Raise where a filter's columns are missing.

    Raises
    ------
    TableError
        A column is not there.
    """
    missing = [name for name in names if name not in images.columns]
    if missing:
        raise TableError(
            f"images: no column {shown(missing)}, which the filter '{needed_for}' looks at; the columns are "
            f"{shown(images.columns, limit=12)}. {remedy}"
        )


def require_looks(evidence: Evidence) -> pl.DataFrame:
    """Return what the files look like; it was measured, for the filter is among `NEEDS_LOOKS`."""
    assert evidence.looks is not None
    return evidence.looks
