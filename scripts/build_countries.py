"""Make ``src/graticule/geo/sources/countries.csv`` and the M49 schemes.

Codes and names in the languages of `LANGUAGES` come from i18n-iso-countries (MIT licence), the United Nations' regions
from country-coder (ISC licence), and the names that people type besides from ``country_aliases.yaml`` here. Needs
``npm`` to fetch the sources::

    python scripts/build_countries.py
"""

from __future__ import annotations

import csv
import json
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import yaml
from npm_packages import COUNTRY_CODER, COUNTRY_NAMES, fetch_package

SCRIPTS = Path(__file__).parent
GEO = SCRIPTS.parent / "src" / "graticule" / "geo"
LANGUAGES = (
    "en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "nb", "fi", "pl", "cs", "hu", "ro", "el", "tr", "ru", "uk",
    "ar", "fa", "he", "hi", "zh", "ja", "ko", "th", "vi", "id",
)  # fmt: skip
SHORT_NAMES = {
    "BHS": "Bahamas", "CIV": "Côte d'Ivoire", "COD": "DR Congo", "COG": "Congo", "CZE": "Czechia", "FSM": "Micronesia",
    "GMB": "Gambia", "IRN": "Iran", "KOR": "South Korea", "MKD": "North Macedonia", "PSE": "Palestine", "RUS": "Russia",
    "TWN": "Taiwan", "TZA": "Tanzania", "NLD": "Netherlands", "PCN": "Pitcairn Islands", "CHN": "China",
    "SYR": "Syria", "LAO": "Laos", "LBY": "Libya", "MDA": "Moldova", "BRN": "Brunei", "VAT": "Vatican City",
    "FLK": "Falkland Islands", "GBR": "United Kingdom", "USA": "United States", "PRK": "North Korea", "VNM": "Vietnam",
    "VEN": "Venezuela", "BOL": "Bolivia", "TUR": "Türkiye", "SWZ": "Eswatini", "CPV": "Cabo Verde", "MMR": "Myanmar",
    "TLS": "Timor-Leste", "HKG": "Hong Kong", "MAC": "Macao", "VIR": "US Virgin Islands",
    "BES": "Caribbean Netherlands",
    "VGB": "British Virgin Islands", "SHN": "Saint Helena", "XKX": "Kosovo", "REU": "Réunion", "CUW": "Curaçao",
    "ALA": "Åland Islands", "ARE": "United Arab Emirates", "MAF": "Saint Martin", "SXM": "Sint Maarten",
    "STP": "São Tomé and Príncipe", "BLM": "Saint Barthélemy",
}  # fmt: skip
"""English names as the page shows them, where the source's first name is longer or older."""

PLACELESS = ("ATA",)
"""Codes that M49 puts in no region."""


def main() -> None:
    """Fetch the sources and write the table of countries and the two schemes."""
    with tempfile.TemporaryDirectory() as folder:
        names = fetch_package(COUNTRY_NAMES, folder=Path(folder))
        coder = fetch_package(COUNTRY_CODER, folder=Path(folder))
        codes = json.loads((names / "codes.json").read_text(encoding="utf-8"))
        by_language = {
            language: json.loads((names / "langs" / f"{language}.json").read_text(encoding="utf-8"))["countries"]
            for language in LANGUAGES
        }
        licence = (names / "LICENSE").read_text(encoding="utf-8")
        features = json.loads((coder / "src/data/borders.json").read_text(encoding="utf-8"))["features"]
    write_countries(codes, by_language)
    (GEO / "sources" / "countries.LICENSE.txt").write_text(licence, encoding="utf-8")
    write_m49_schemes(features)


def write_countries(codes: list[list[str]], by_language: dict[str, dict[str, Any]]) -> None:
    """Write one row a country: codes, English name, and all other names separated by bars."""
    aliases = yaml.safe_load((SCRIPTS / "country_aliases.yaml").read_text(encoding="utf-8"))
    path = GEO / "sources" / "countries.csv"
    rows: list[list[str]] = []
    for alpha2, alpha3, numeric, *_ in codes:
        code = "XKX" if alpha2 == "XK" else alpha3
        listed = [as_list(by_language[language].get(alpha2)) for language in LANGUAGES]
        short = SHORT_NAMES.get(code, listed[0][-1] if len(listed[0]) == 1 else listed[0][0])
        english = [name for name in listed[0] if name != short]
        foreign = sorted({name for names in listed[1:] for name in names} - {short, *english})
        # Names of the first list win over the second where two countries share one ("Congo"): see `find_country`.
        first = "|".join(dict.fromkeys([*aliases.get(code, []), *english]))
        rows.append([code, alpha2, numeric if code != "XKX" else "", short, first, "|".join(foreign)])
    unknown = set(aliases) - {row[0] for row in rows}
    assert not unknown, unknown
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["alpha3", "alpha2", "numeric", "name", "aliases", "foreign_names"])
        writer.writerows(sorted(rows))
    print(f"{path}: {len(rows)} countries, {path.stat().st_size / 1024:.0f} KiB")


def as_list(value: str | list[str] | None) -> list[str]:
    """Return the names that a language gives to a country."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def write_m49_schemes(features: list[dict[str, Any]]) -> None:
    """Write the United Nations' regions and sub-regions as scheme files."""
    groups = [f["properties"] for f in features if "m49" in f["properties"] and "level" in f["properties"]]
    names = {group["m49"]: group["nameEn"] for group in groups}
    levels = {group["m49"]: group["level"] for group in groups}
    parts: dict[str, set[str]] = {}
    for feature in features:
        own = feature["properties"]
        if own.get("iso1A2"):
            parts[own["iso1A2"]] = set(own.get("groups", []))
    for feature in features:
        # A country that is drawn in pieces only has no groups of its own: take those of its piece in the home region.
        own = feature["properties"]
        home = HOMES.get(own.get("nameEn", ""))
        if home:
            parts[home] = set(own["groups"])
    codes = {f["properties"]["iso1A2"]: f["properties"].get("iso1A3") for f in features if "iso1A2" in f["properties"]}
    for name, level, title in (
        ("m49", "region", "United Nations M49: regions"),
        ("m49_subregions", "subregion", "United Nations M49: sub-regions"),
    ):
        regions: dict[str, list[str]] = {}
        for alpha2, groups in parts.items():
            # Northern America belongs to two groups of that level (North America is not part of the standard tree).
            found = sorted(names[g] for g in groups if levels.get(g) == level and names[g] != "North America")
            code = codes[alpha2]
            if found and code and code not in ("ASC", "CPT", "CRQ", "DGA", "FXX", "TAA", "EUE"):
                assert len(found) == 1, (alpha2, found)
                regions.setdefault(found[0], []).append(code)
        write_scheme(name, title=title, regions={key: sorted(regions[key]) for key in sorted(regions)})


HOMES = {
    "England": "GB", "Denmark": "DK", "Netherlands": "NL", "Contiguous United States": "US", "Java": "ID",
    "Peninsular Spain": "ES", "European Russia": "RU", "Mainland China": "CN", "Mainland Portugal": "PT",
    "Mainland India": "IN", "Mainland Australia": "AU", "North Island": "NZ", "Mainland Ecuador": "EC",
    "Peninsular Malaysia": "MY", "Mainland Finland": "FI", "Mainland Norway": "NO", "West Bank": "PS",
    "Bonaire": "BQ", "Saint Helena": "SH", "Svalbard": "SJ", "Guernsey": "GG", "Peros Banhos": "IO",
    "Kerguelen Islands": "TF", "Wake Island": "UM", "Metropolitan France": "FR",
}  # fmt: skip
"""Feature of country-coder → the country whose home region it shows."""


def write_scheme(name: str, *, title: str, regions: dict[str, list[str]]) -> None:
    """Write a scheme file in the order of its regions' names."""
    lines = [
        f"title: '{title}'",
        "source: >-",
        "  United Nations Statistics Division, Standard country or area codes for statistical use (M49), as carried by",
        "  country-coder 5.6.1 (ISC licence). Made by scripts/build_countries.py.",
        "policy: >-",
        "  M49 lists neither Kosovo nor Taiwan; both are put beside their neighbours (Southern Europe, Eastern Asia).",
        "  Antarctica belongs to no region.",
        "others: unassigned",
        "regions:",
    ]
    for region, codes in regions.items():
        lines.append(f"  {region}:")
        row = "[" + ", ".join(codes) + "]"
        lines += textwrap.wrap(row, 116, initial_indent="    ", subsequent_indent="     ")
    path = GEO / "schemes" / f"{name}.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {sum(map(len, regions.values()))} countries in {len(regions)} regions")


if __name__ == "__main__":
    main()
