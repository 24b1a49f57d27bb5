"""The places of an audit: which column is compared, what its regions are made of, and who gets disputed areas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from graticule.errors import GeoError

PLACES = ("region", "country")
CLUES = ("country", "latitude")
"""Columns from which a region or a country can be told."""
DEFAULT_SCHEME = "geode"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Images with the column that is compared, and what a page should say of it."""

    images: pl.DataFrame
    scheme: str = ""
    boundary_policy: str = ""
    disputed_areas: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    region_countries: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def place_images(images: pl.DataFrame, *, by: str, scheme: str | None, info: Mapping[str, Any]) -> Placed:
    """Return the images with ``by`` filled in as far as their countries or coordinates say.

    Parameters
    ----------
    images
        The images table.
    by
        Column that is compared.
    scheme
        Region scheme as typed; None takes the one that the table was located with, else `DEFAULT_SCHEME`.
    info
        What the images table says of itself; ``graticule locate`` writes scheme, policy and countries there.

    Raises
    ------
    GeoError, ConfigError
        See `graticule.data.locate.locate_images`.
    """
    if by not in PLACES:
        return Placed(images=images)
    was_located = "scheme" in info and by in images.columns
    if was_located and scheme in (None, info["scheme"]):
        return _as_located(images, info, by=by)
    if not any(name in images.columns for name in CLUES):
        countries = match_countries(images[by]) if by in images.columns else {}
        return Placed(images=images, region_countries=countries)
    from graticule.data.locate import locate_images

    located = locate_images(images, scheme=scheme or DEFAULT_SCHEME)
    return _as_located(located.images, located.info, by=by)


def _as_located(images: pl.DataFrame, info: Mapping[str, Any], *, by: str) -> Placed:
    regions = {name: tuple(codes) for name, codes in info.get("region_countries", {}).items()}
    if by == "country" or not any(regions.values()):
        regions = match_countries(images[by])
    has_countries = "country" in images.columns and images["country"].null_count() < images.height
    return Placed(
        images=images,
        scheme=str(info.get("scheme", "")) if has_countries else "",
        boundary_policy=str(info.get("policy", "")) if has_countries else "",
        disputed_areas=dict(info.get("disputed_areas", {})) if has_countries else {},
        region_countries=regions,
    )


def match_countries(names: pl.Series) -> dict[str, tuple[str, ...]]:
    """Return name → its alpha-3 code where every name is a country's; empty where any is not.

    A folder of photos sorted into ``germany`` and ``italy`` can so be drawn on a map.
    """
    from graticule.geo.countries import find_country

    found: dict[str, tuple[str, ...]] = {}
    for name in names.drop_nulls().unique().sort().to_list():
        try:
            found[str(name)] = (find_country(str(name)).alpha3,)
        except GeoError:
            return {}
    return found


def read_table_info(source: Path) -> dict[str, Any]:
    """Return what an images table says of itself; empty for tables that are not Parquet."""
    from graticule.data.store import read_info

    is_parquet = source.suffix.lower() == ".parquet" or source.is_dir()
    return read_info(source) if is_parquet and source.exists() else {}
