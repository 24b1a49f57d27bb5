"""Where each image was taken: its country, from names or from coordinates, and its region, from a scheme.

A country that the table names is kept, in ISO 3166-1 alpha-3; one that it lacks is looked up from latitude and
longitude. The region follows from the country. What does not agree is counted, never corrected in silence, and an image
without a place stays in the table with an empty region. Two more columns say for each image where its country and its
region came from, so that a later run with another scheme or policy redoes its own work and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from graticule.errors import GeoError
from graticule.geo.countries import find_codes
from graticule.geo.countries_at import find_countries
from graticule.geo.policies import Policy, load_policy
from graticule.geo.schemes import Scheme, load_scheme

TABLE, COORDINATES, SCHEME = "table", "coordinates", "scheme"
"""Where a country or a region came from: values of the columns ``country_from`` and ``region_from``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateCounts:
    """How the places of a table's images were found."""

    n_images: int
    n_named: int
    """Images whose country is the one that the table names."""
    n_from_gps: int
    """Images whose country was looked up from coordinates, now or by an earlier run."""
    n_at_sea: int
    """Images with coordinates in no country: at sea, at the north pole or in Bir Tawil."""
    n_null_island: int
    """Images at 0° N 0° E, where cameras without a fix put them; the coordinates are not used."""
    n_half: int
    """Images with a latitude or a longitude only."""
    n_without_place: int
    """Images with neither country nor region in the end."""
    n_country_conflicts: int
    """Images whose coordinates lie in another country than the table names; the name is kept unless overwritten."""
    n_regions_kept: int
    """Images whose region the table gave and that kept it."""
    n_region_conflicts: int
    """Images whose region in the table is not the scheme's for their country."""
    n_unassigned: int
    """Images whose country belongs to no region."""
    n_extended: int
    """Images from countries that the scheme's source does not cover and that were added to the nearest region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateResult:
    """An images table with countries and regions, and how they were found."""

    images: pl.DataFrame
    scheme: Scheme
    policy: Policy
    counts: LocateCounts

    @property
    def info(self) -> dict[str, Any]:
        """What the artefact says of itself: scheme, policy, and the countries of its regions."""
        return {
            "scheme": self.scheme.name,
            "scheme_text": self.scheme.describe(),
            "policy": self.policy.describe(),
            "disputed_areas": self.policy.assignments,
            "region_countries": {region: list(codes) for region, codes in region_countries(self).items()},
        }

    @property
    def region_counts(self) -> dict[str, int]:
        """Region → number of images, most first."""
        regions = self.images["region"].drop_nulls()
        counts = regions.value_counts().sort(["count", "region"], descending=[True, False])
        return dict(counts.iter_rows())


def locate_images(
    images: pl.DataFrame,
    *,
    scheme: str | Path | Scheme = "geode",
    policy: str | Path | Policy = "de-facto",
    overwrite: bool = False,
) -> LocateResult:
    """Return the images with country and region filled in, as far as names, coordinates and the scheme say.

    Parameters
    ----------
    images
        An images table; other columns are passed along.
    scheme
        Which region a country belongs to: a name or a file (see `graticule.geo.schemes.load_scheme`), or a scheme.
    policy
        Who gets disputed places: a name or a file (see `graticule.geo.policies.load_policy`), or a policy.
    overwrite
        Whether countries that coordinates show, and regions that the scheme gives, replace those in the table.

    Raises
    ------
    ConfigError
        There is no such scheme or policy.
    GeoError
        A country is not known, a coordinate is out of range, or the scheme misses a country.

    Notes
    -----
    Regions in the table that match one of the scheme's but for case, spaces and underscores ("SouthEastAsia") get the
    scheme's spelling. In a table with regions and no countries they stay as they are otherwise.
    """
    used_scheme = scheme if isinstance(scheme, Scheme) else load_scheme(scheme)
    used_policy = policy if isinstance(policy, Policy) else load_policy(policy)
    named = _apply_policy(find_codes(_text(images, "country"), where="column 'country'"), used_policy)
    places = _Places.of(images, used_policy)
    country = _prefer(places.country, named) if overwrite else _prefer(named, places.country)
    assigned = used_scheme.regions_of(country)
    given = _harmonise(_text(images, "region"), used_scheme)
    region = _prefer(assigned, given) if overwrite else _prefer(given, assigned)
    kept = given.is_not_null() & (region == given).fill_null(value=False) & given.ne_missing(assigned)
    located = images.with_columns(
        country.alias("country"),
        region.alias("region"),
        _origin(images, "country", value=country, given=named, found=COORDINATES, replaced=overwrite),
        _origin(images, "region", value=region, given=given, found=SCHEME, replaced=overwrite),
    )
    counts = LocateCounts(
        n_images=images.height,
        n_named=_count(located["country_from"] == TABLE),
        n_from_gps=_count(located["country_from"] == COORDINATES),
        n_at_sea=_count(places.is_at_sea),
        n_null_island=_count(places.is_null_island),
        n_half=_count(places.is_half),
        n_without_place=_count(country.is_null() & region.is_null()),
        n_country_conflicts=_count(named != places.country),
        n_regions_kept=_count(kept),
        n_region_conflicts=_count(given != assigned),
        n_unassigned=_count(country.is_not_null() & assigned.is_null()),
        n_extended=_count(country.is_in(sorted(used_scheme.extended)) & (region == assigned)),
    )
    return LocateResult(images=located, scheme=used_scheme, policy=used_policy, counts=counts)


def forget_located(images: pl.DataFrame) -> pl.DataFrame:
    """Return the images without what an earlier run filled in, so that another scheme or policy can fill it anew."""
    kept = images
    for column, found in (("country", COORDINATES), ("region", SCHEME)):
        source = f"{column}_from"
        if column in images.columns and source in images.columns:
            ours = (images[source].cast(pl.String) == found).fill_null(value=False)
            kept = kept.with_columns(images[column].set(ours, None)).drop(source)
    return kept


def region_countries(result: LocateResult) -> dict[str, tuple[str, ...]]:
    """Return the countries of each region that the table has, for a map.

    A region of the scheme has the countries that the scheme gives it; any other region those of its images.
    """
    pairs = result.images.select("region", "country").drop_nulls("region").unique()
    found = {region: set(group["country"].drop_nulls()) for (region,), group in pairs.group_by(["region"])}
    return {
        str(region): result.scheme.regions.get(str(region), tuple(sorted(found[region])))
        for region in sorted(found, key=str)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """What the coordinates of a table say."""

    country: pl.Series
    is_at_sea: pl.Series
    is_null_island: pl.Series
    is_half: pl.Series

    @classmethod
    def of(cls, images: pl.DataFrame, policy: Policy) -> _Places:
        north, east = _numbers(images, "latitude"), _numbers(images, "longitude")
        null_island = (north == 0.0) & (east == 0.0)
        half = np.isnan(north) != np.isnan(east)
        try:
            found = find_countries(np.where(null_island, np.nan, north), east, policy=policy)
        except GeoError as error:
            raise GeoError(f"images table: {error}") from error
        country = pl.Series("country", found.tolist(), dtype=pl.String)
        placed = ~np.isnan(north) & ~np.isnan(east) & ~null_island
        return cls(
            country=country,
            is_at_sea=pl.Series(placed) & country.is_null(),
            is_null_island=pl.Series(null_island),
            is_half=pl.Series(half),
        )


def _text(images: pl.DataFrame, column: str) -> pl.Series:
    """Return a column of text, null where it is blank; nulls where there is no such column."""
    if column not in images.columns:
        return pl.Series(column, [None] * images.height, dtype=pl.String)
    text = images[column].cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


def _numbers(images: pl.DataFrame, column: str) -> np.ndarray:
    if column not in images.columns:
        return np.full(images.height, np.nan)
    return images[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _apply_policy(codes: pl.Series, policy: Policy) -> pl.Series:
    return codes.replace(dict(policy.countries)) if policy.countries else codes


def _harmonise(regions: pl.Series, scheme: Scheme) -> pl.Series:
    """Return regions in the scheme's spelling where they are the scheme's."""
    names = {name: scheme.match_region(name) or name for name in regions.drop_nulls().unique().to_list()}
    return regions.replace(names) if names else regions


def _origin(
    images: pl.DataFrame, column: str, *, value: pl.Series, given: pl.Series, found: str, replaced: bool
) -> pl.Series:
    """Return where each value came from; what an earlier run has written down stays."""
    name = f"{column}_from"
    earlier = _text(images, name)
    own = given.is_not_null() & ((value == given).fill_null(value=False) if replaced else True)
    table = earlier.fill_null(TABLE)
    origin = table.zip_with(own, pl.Series([found]).new_from_index(0, images.height))
    return origin.set(value.is_null(), None).alias(name)


def _prefer(first: pl.Series, second: pl.Series) -> pl.Series:
    return first.zip_with(first.is_not_null(), second)


def _count(which: pl.Series) -> int:
    return int(which.sum() or 0)
