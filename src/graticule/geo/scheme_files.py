"""The user's region scheme, as YAML or CSV: read, checked to its end, and every fault reported once."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graticule.errors import EXAMPLES_SHOWN, GeoError, shown
from graticule.geo.countries import find_country
from graticule.geo.yaml_files import Mapped, read_text, read_yaml, take_text

KEYS = ("name", "title", "source", "policy", "based_on", "others", "regions", "extended")
EVERY_OTHER = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeFile:
    """What a file says, with its countries as alpha-3 codes."""

    regions: Mapping[str, tuple[str, ...]]
    extended: frozenset[str] = field(default=frozenset())
    name: str = ""
    title: str = ""
    source: str = ""
    policy: str = ""
    based_on: str = ""
    others: str = ""

    @classmethod
    def from_mapping(cls, raw: Mapped, *, where: str) -> SchemeFile:
        """Return the scheme that a YAML file holds.

        Raises
        ------
        GeoError
            Regions are missing or no lists, or countries are unknown or stand in two regions.
        """
        own = _pairs(raw.get("regions"), key="regions", where=where)
        added = _pairs(raw.get("extended") or {}, key="extended", where=where)
        regions = _group([*own, *added], where=where)
        texts = {key: take_text(raw, key, where=where) for key in KEYS[:6]}
        codes = {find_country(country).alpha3 for country, _, _ in added}
        return cls(regions=regions, extended=frozenset(codes), **texts)


def read_scheme_file(path: Path) -> SchemeFile:
    """Return a user's scheme from a YAML, CSV or TSV file.

    Raises
    ------
    FileError
        The file is missing or cannot be read.
    GeoError
        The file is not as described; every fault is named.
    """
    if path.suffix.lower() in (".yaml", ".yml"):
        return SchemeFile.from_mapping(read_yaml(path, keys=KEYS), where=str(path))
    rows = _read_rows(path)
    others = [region for country, region, _ in rows if country == EVERY_OTHER]
    if len(others) > 1:
        raise GeoError(f"{path}: {len(others)} rows whose country is *, expected one at most. Keep one of them.")
    listed = [row for row in rows if row[0] != EVERY_OTHER]
    return SchemeFile(
        regions=_group(listed, where=str(path)), others=(others[0] or "unassigned") if others else "", source=path.name
    )


def _pairs(regions: object, *, key: str, where: str) -> list[tuple[str, str, str]]:
    """Return (country, region, place in the file) for all that a YAML key lists."""
    if not isinstance(regions, dict) or (not regions and key == "regions"):
        given = "missing or empty" if not regions else f"{shown([regions])}"
        raise GeoError(
            f"{where}: '{key}' is {given}, expected regions with their countries, as in 'North: [SWE, NOR]'."
        )
    faults: list[str] = []
    pairs: list[tuple[str, str, str]] = []
    for region, countries in regions.items():
        if not isinstance(countries, list) or not all(isinstance(country, str) for country in countries):
            faults.append(f"region '{region}' is {shown([countries])}")
        elif not region.strip():
            faults.append("a region has an empty name")
        else:
            pairs += [(country, region.strip(), f"region '{region}'") for country in countries]
    if faults:
        raise GeoError(f"{where}: {'; '.join(faults)}, expected a list of countries, as in [SWE, NOR].")
    return pairs


def _read_rows(path: Path) -> list[tuple[str, str, str]]:
    """Return (country, region, place in the file) for each row of a CSV or TSV file."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else None
    text = read_text(path)
    first = text.partition("\n")[0]
    delimiter = delimiter or max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise GeoError(f"{path}: not valid CSV ({error}). Is a quotation mark missing?") from error
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "country" not in header or "region" not in header:
        raise GeoError(
            f"{path}: the first line is {first[:60]!r}, expected a header with the columns country and region. "
            "Put 'country,region' there."
        )
    places = header.index("country"), header.index("region")
    filled = [(number, row) for number, row in enumerate(rows[1:], start=2) if any(cell.strip() for cell in row)]
    short = [number for number, row in filled if len(row) <= max(places)]
    if short:
        raise GeoError(f"{path}: too few cells in row {_numbers(short)}, expected a country and a region in each.")
    pairs = [(row[places[0]].strip(), row[places[1]].strip(), f"row {number}") for number, row in filled]
    empty = [place for country, region, place in pairs if not country or (not region and country != EVERY_OTHER)]
    if empty:
        raise GeoError(f"{path}: an empty cell in {_numbers(empty)}, expected a country and a region. Fill it in.")
    return pairs


def _group(pairs: Iterable[tuple[str, str, str]], *, where: str) -> dict[str, tuple[str, ...]]:
    """Return region → codes, or raise with every unknown country and every one that stands twice."""
    faults: list[str] = []
    regions: dict[str, list[str]] = {}
    seen: dict[str, tuple[str, str]] = {}
    for country, region, place in pairs:
        try:
            code = find_country(country).alpha3
        except GeoError as error:
            faults.append(f"{place}: {str(error).partition('. Use')[0]}")
            continue
        if code in seen:
            other, other_place = seen[code]
            again = "twice" if other == region else f"in '{other}' ({other_place}) and in '{region}'"
            faults.append(f"{place}: {country} ({code}) stands {again}")
            continue
        seen[code] = (region, place)
        regions.setdefault(region, []).append(code)
    if not faults and not regions:
        faults.append("no country is listed")
    if faults:
        more = f"\n  and {len(faults) - EXAMPLES_SHOWN} more" if len(faults) > EXAMPLES_SHOWN else ""
        raise GeoError(
            f"{where}: "
            + "\n  ".join(faults[:EXAMPLES_SHOWN])
            + more
            + "\n  Expected each country once, by an English "
            "name or ISO 3166-1 code. Correct these places."
        )
    return {region: tuple(codes) for region, codes in regions.items()}


def _numbers(values: list[int] | list[str]) -> str:
    more = f" and {len(values) - EXAMPLES_SHOWN} more" if len(values) > EXAMPLES_SHOWN else ""
    return ", ".join(str(value) for value in values[:EXAMPLES_SHOWN]) + more
