"""Region schemes: which region each country belongs to, from files that ship with Graticule or the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

import polars as pl

from graticule.errors import GeoError, shown, unknown_choice
from graticule.geo.countries import find_country, load_countries
from graticule.geo.countries import fold_name as fold_region
from graticule.geo.scheme_files import SchemeFile, read_scheme_file
from graticule.geo.yaml_files import list_packaged, read_packaged

UNASSIGNED = "unassigned"
ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """Regions of the world and the countries that each is made of."""

    name: str
    title: str
    source: str
    policy: str
    regions: Mapping[str, tuple[str, ...]]
    """Region → alpha-3 codes."""
    extended: frozenset[str] = frozenset()
    """Codes that the scheme's source does not cover and that were added to the nearest region."""
    others: str = ERROR
    """What happens to a country in no region: ``error``, ``unassigned`` (no region), or the region it gets."""
    changes: tuple[str, ...] = field(default=())
    """What the user changed, in words."""

    @cached_property
    def region_by_country(self) -> dict[str, str]:
        """Alpha-3 code → region, for the countries that are listed."""
        return {code: region for region, codes in self.regions.items() for code in codes}

    @property
    def region_names(self) -> tuple[str, ...]:
        """Names of all regions, in the scheme's order."""
        extra = () if self.others in (ERROR, UNASSIGNED, *self.regions) else (self.others,)
        return (*self.regions, *extra)

    def regions_of(self, countries: pl.Series | Iterable[str | None]) -> pl.Series:
        """Return the region of each country; null where the country is null or, by the scheme, in no region.

        Parameters
        ----------
        countries
            Alpha-3 codes, as `graticule.geo.countries.find_codes` returns them.

        Raises
        ------
        GeoError
            The scheme misses countries and does not say what happens to others.

        Examples
        --------
        >>> load_scheme("geode").regions_of(["NGA", None, "ITA"]).to_list()
        ['Africa', None, 'Europe']
        """
        codes = countries if isinstance(countries, pl.Series) else pl.Series(list(countries), dtype=pl.String)
        other = None if self.others in (ERROR, UNASSIGNED) else self.others
        regions = codes.replace_strict(self.region_by_country, default=other, return_dtype=pl.String)
        if self.others == ERROR:
            missed = sorted(codes.filter(regions.is_null() & codes.is_not_null()).unique().to_list())
            if missed:
                raise GeoError(self._explain_missed(missed))
        return regions.set(codes.is_null(), None)

    def match_region(self, text: str) -> str | None:
        """Return the scheme's region that ``text`` names, whatever its case, spaces and underscores; else None.

        Examples
        --------
        >>> load_scheme("geode").match_region("SouthEastAsia")
        'Southeast Asia'
        """
        given = _squeeze(text)
        return next((region for region in self.region_names if _squeeze(region) == given), None)

    def describe(self) -> str:
        """Return the scheme in words, with the user's changes, as a report prints it."""
        parts = [f"{self.title}.", self.source, self.policy]
        if self.changes:
            parts.append(f"Changed by the user: {'; '.join(self.changes)}.")
        return " ".join(part for part in parts if part)

    def _explain_missed(self, codes: list[str]) -> str:
        names = [f"{load_countries()[code].name} ({code})" for code in codes if code in load_countries()]
        return (
            f"scheme '{self.name}' has no region for {len(codes)} of the table's countries: {shown(names, limit=20)}. "
            "Add them to the file, or say what happens to all others: in YAML 'others: unassigned' or "
            "'others: Rest of the world', in CSV a row whose country is *."
        )


def load_scheme(scheme: str | Path, *, assign: Iterable[str] = ()) -> Scheme:
    """Return a region scheme by name or from a file.

    Parameters
    ----------
    scheme
        ``geode``, ``geode_strict``, ``geonet``, ``m49``, ``m49_subregions``, ``world_bank_income``, or a file: YAML
        with ``regions`` (region → list of countries), or CSV with the columns ``country`` and ``region``. Countries in
        any spelling that `graticule.geo.countries.find_country` knows.
    assign
        Changes as ``COUNTRY=REGION``; the region may be new, or ``unassigned``.

    Raises
    ------
    ConfigError
        There is no scheme of that name.
    FileError
        The file is missing or cannot be read.
    GeoError
        The file or a change is not as described, names an unknown country, or puts one in two regions.

    Examples
    --------
    >>> scheme = load_scheme("geode", assign=["USA=North America"])
    >>> scheme.regions_of(["USA", "CAN"]).to_list()
    ['North America', 'Americas']
    """
    packaged = list_packaged("schemes")
    if str(scheme) in packaged:
        loaded = _load_packaged(str(scheme))
    elif Path(scheme).suffix.lower() in (".yaml", ".yml", ".csv", ".tsv"):
        loaded = _build(read_scheme_file(Path(scheme)), name=Path(scheme).stem)
    else:
        raise unknown_choice("scheme", str(scheme), [*packaged, "FILE.yaml", "FILE.csv"], where="--scheme")
    for change in assign:
        loaded = _reassign(loaded, change)
    return loaded


@cache
def _load_packaged(name: str) -> Scheme:
    raw = SchemeFile.from_mapping(read_packaged("schemes", name), where=f"scheme '{name}'")
    return _build(raw, name=name)


def _build(raw: SchemeFile, *, name: str) -> Scheme:
    base = load_scheme(raw.based_on) if raw.based_on else Scheme(name="", title="", source="", policy="", regions={})
    moved = {code for codes in raw.regions.values() for code in codes}
    regions = {region: tuple(code for code in codes if code not in moved) for region, codes in base.regions.items()}
    for region, codes in raw.regions.items():
        regions[region] = (*regions.get(region, ()), *codes)
    return Scheme(
        name=raw.name or name,
        title=raw.title or base.title or raw.name or name,
        source=raw.source or base.source,
        policy=raw.policy or base.policy,
        regions={region: codes for region, codes in regions.items() if codes},
        extended=(base.extended - moved) | raw.extended,
        others=raw.others or (base.others if raw.based_on else ERROR),
    )


def _reassign(scheme: Scheme, change: str) -> Scheme:
    country, separator, region = (part.strip() for part in change.partition("="))
    if not separator or not country or not region:
        raise GeoError(f"--assign '{change}': expected COUNTRY=REGION, as in USA='North America' or GRL=unassigned.")
    try:
        code = find_country(country).alpha3
    except GeoError as error:
        raise GeoError(f"--assign '{change}': {error}") from error
    name = scheme.match_region(region) or region
    regions = {key: tuple(c for c in codes if c != code) for key, codes in scheme.regions.items()}
    if name != UNASSIGNED:
        regions[name] = (*regions.get(name, ()), code)
    words = f"{load_countries()[code].name} ({code}) " + (
        "belongs to no region" if name == UNASSIGNED else f"belongs to {name}"
    )
    return replace(
        scheme,
        regions={key: codes for key, codes in regions.items() if codes},
        extended=scheme.extended - {code},
        others=UNASSIGNED if name == UNASSIGNED and scheme.others == ERROR else scheme.others,
        changes=(*scheme.changes, words),
    )


def _squeeze(text: str) -> str:
    return fold_region(text).replace(" ", "")
