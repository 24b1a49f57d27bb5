"""Countries: ISO 3166-1 codes and the names that people type for them.

249 countries and territories of ISO 3166-1, and Kosovo as XKX (a code that ISO leaves to users). Names are understood
in some thirty languages, in official, short, old and common forms; case, accents, punctuation, underscores, "the" and
"and" make no difference. ``scripts/build_countries.py`` makes the table from i18n-iso-countries (MIT licence, beside
it) and from names of ours.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import polars as pl

from graticule.errors import GeoError, shown

AMBIGUOUS = {
    "korea": "South Korea (KOR) or North Korea (PRK)",
    "virgin islands": "US Virgin Islands (VIR) or British Virgin Islands (VGB)",
    "yugoslavia": "one of the countries that it split into, such as Serbia (SRB) or Croatia (HRV)",
    "czechoslovakia": "Czechia (CZE) or Slovakia (SVK)",
    "soviet union": "one of the countries that it split into, such as Russia (RUS) or Ukraine (UKR)",
    "ussr": "one of the countries that it split into, such as Russia (RUS) or Ukraine (UKR)",
    "serbia montenegro": "Serbia (SRB) or Montenegro (MNE)",
    "netherlands antilles": "Curaçao (CUW), Sint Maarten (SXM) or the Caribbean Netherlands (BES)",
    "channel islands": "Jersey (JEY) or Guernsey (GGY)",
}
"""Names of more than one country of today, as `fold_name` gives them, and what to write instead."""

IGNORED_WORDS = frozenset({"the", "and", "of"})
STYLE = re.compile(
    r"^(?:(?:federal|democratic|people s|socialist|islamic|independent|united) )*"
    r"(?:republic|state|kingdom|commonwealth|union|principality|sultanate|territory|bailiwick|sovereign state) "
)
"""How official names begin ("Republic of …"), as `fold_name` gives them."""

LIGATURES = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i", "ə": "e"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """A country or territory."""

    alpha3: str
    alpha2: str
    numeric: str
    """ISO's three digits; empty for Kosovo."""
    name: str


def find_country(text: str) -> Country:
    """Return the country that a code or a name stands for.

    Raises
    ------
    GeoError
        No country or more than one has that name.

    Examples
    --------
    >>> [find_country(text).alpha3 for text in ("tr", "Türkiye", "South_Africa", "Korea, Rep.", "the Netherlands")]
    ['TUR', 'TUR', 'ZAF', 'KOR', 'NLD']
    """
    code = _code_of(text)
    if code is None:
        raise GeoError(f"unknown country {_explain(text)}. Use an English name or an ISO 3166-1 code (DEU, DE).")
    return load_countries()[code]


def find_codes(names: pl.Series | Iterable[str | None], *, where: str = "") -> pl.Series:
    """Return the alpha-3 code of each name or code; null where there is none.

    Parameters
    ----------
    names
        Names or codes of countries; null or blank where there is none.
    where
        The file or column that they stand in, for the message.

    Raises
    ------
    GeoError
        Some names are no country's; all of them are named.

    Examples
    --------
    >>> find_codes(["Germany", None, "IT"]).to_list()
    ['DEU', None, 'ITA']
    """
    given = names if isinstance(names, pl.Series) else pl.Series(list(names), dtype=pl.String)
    given = given.cast(pl.String).str.strip_chars()
    distinct = [name for name in given.unique(maintain_order=True).to_list() if name]
    codes = {name: _code_of(name) for name in distinct}
    unknown = [name for name, code in codes.items() if code is None]
    if unknown:
        place = f"{where}: " if where else ""
        more = f"; and {len(unknown) - 5} more: {shown(unknown[5:], limit=20)}" if len(unknown) > 5 else ""
        raise GeoError(
            f"{place}unknown {'countries' if len(unknown) > 1 else 'country'} "
            f"{'; '.join(_explain(name) for name in unknown[:5])}{more}. "
            "Use English names or ISO 3166-1 codes (DEU, DE); leave the place empty where it is not known."
        )
    return given.replace_strict(codes, default=None, return_dtype=pl.String)


@cache
def load_countries() -> dict[str, Country]:
    """Return all countries by alpha-3 code, in the codes' order."""
    return {
        row["alpha3"]: Country(alpha3=row["alpha3"], alpha2=row["alpha2"], numeric=row["numeric"], name=row["name"])
        for row in _read_rows()
    }


def fold_name(text: str) -> str:
    """Return a name as it is compared: without case, accents, punctuation and little words.

    Examples
    --------
    >>> fold_name("The Bahamas"), fold_name("São Tomé & Príncipe"), fold_name("St. Lucia"), fold_name("U.S.A.")
    ('bahamas', 'sao tome principe', 'saint lucia', 'usa')
    """
    lower = unicodedata.normalize("NFKD", text.casefold().translate(LIGATURES))
    plain = "".join(letter for letter in lower if not unicodedata.combining(letter))
    plain = re.sub(r"(?<=\b\w)\.(?=\w\b)", "", plain)
    words = re.findall(r"\w+", plain.replace("_", " ").replace(".", " "))
    telling = [word for word in words if word not in IGNORED_WORDS] or words  # AND alone is Andorra's code
    return " ".join("saint" if word == "st" else word for word in telling)


def _code_of(text: str) -> str | None:
    """Return the alpha-3 code of a name or code, or None."""
    known = _codes_by_name()
    folded = fold_name(text)
    if folded in AMBIGUOUS:
        return None
    for form in (folded, _turned(text), STYLE.sub("", folded), STYLE.sub("", _turned(text))):
        if form and form not in AMBIGUOUS and form in known:
            return known[form]
    return None


def _turned(text: str) -> str:
    """Return "Moldova, Republic of" as "Republic of Moldova"; a name without a comma as it is."""
    head, _, tail = text.partition(",")
    return fold_name(f"{tail} {head}")


def _explain(text: str) -> str:
    folded = fold_name(text)
    if folded in AMBIGUOUS:
        return f"'{text}' (write {AMBIGUOUS[folded]})"
    latin = [name for name in _codes_by_name() if len(name) > 3]
    near = difflib.get_close_matches(folded, latin, n=1, cutoff=0.7)
    if not near:
        return f"'{text}'"
    country = load_countries()[_codes_by_name()[near[0]]]
    return f"'{text}' (did you mean '{country.name}'?)"


@cache
def _codes_by_name() -> dict[str, str]:
    """Return alpha-3 codes by folded code or name; a name that two countries share is left out.

    A name that looks like a code is taken for one: Vietnamese Ý (Italy) and Mỹ (USA) are left out.
    """
    known: dict[str, str] = {}
    for kinds in (("alpha3", "alpha2", "name"), ("aliases",), ("foreign_names",)):
        found: dict[str, set[str]] = {}
        for row in _read_rows():
            for name in (part for kind in kinds for part in row[kind].split("|")):
                folded = fold_name(name)
                if kinds != ("foreign_names",) or len(folded) > 3 or not folded.isascii():
                    found.setdefault(folded, set()).add(row["alpha3"])
        # Names of an earlier kind keep their meaning.
        known = {name: min(codes) for name, codes in found.items() if name and len(codes) == 1} | known
    joined = {name.replace(" ", ""): code for name, code in known.items() if len(name) > 5 and name.isascii()}
    return joined | known


@cache
def _read_rows() -> tuple[dict[str, str], ...]:
    text = files("graticule.geo").joinpath("sources", "countries.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(io.StringIO(text)))
