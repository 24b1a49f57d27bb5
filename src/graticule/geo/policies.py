"""Policies on disputed places: which country each of them counts as, in words that a report can print.

A policy is a file in ``policies/`` or one of the user's own. It says two things: the country of each place that the
borders draw apart (`AREAS`), and countries that count as another one wherever they are met, in coordinates or by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from graticule.errors import GeoError, shown, unknown_choice
from graticule.geo.countries import find_country, load_countries
from graticule.geo.yaml_files import Mapped, list_packaged, read_packaged, read_yaml, take_text

AREAS: Mapping[str, str] = {
    "akrotiri_and_dhekelia": "the British bases on Cyprus",
    "bir_tawil": "Bir Tawil, between Egypt and Sudan",
    "crimea": "Crimea",
    "east_jerusalem": "East Jerusalem",
    "golan_heights": "the Golan Heights",
    "northern_cyprus": "Northern Cyprus",
    "western_sahara_west_of_the_berm": "Western Sahara west of the berm",
}
"""Places that the borders draw apart from any country → what they are."""

KEYS = ("name", "title", "text", "based_on", "areas", "countries")
NOBODY = ("", "null", "none", "~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who gets the disputed places."""

    name: str
    title: str
    text: str
    areas: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Place of `AREAS` → alpha-3 code; None for no country."""
    countries: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Alpha-3 code → the code that it counts as."""
    changes: tuple[str, ...] = ()
    """What the user changed, in words."""

    def country_of(self, area: str) -> str | None:
        """Return the alpha-3 code that an area (a code, or a place of `AREAS`) counts as."""
        code = self.areas.get(area) if area in AREAS else area
        return self.countries.get(code, code) if code is not None else None

    @property
    def assignments(self) -> dict[str, str | None]:
        """Place of `AREAS`, or code of a country that counts as another → alpha-3 code; None for no country."""
        return {**self.areas, **self.countries}

    def describe(self) -> str:
        """Return the policy in words, with the user's changes, as a report prints it."""
        changed = f" Changed by the user: {'; '.join(self.changes)}." if self.changes else ""
        return f"{self.title} (policy '{self.name}'). {self.text}{changed}"


def load_policy(policy: str | Path, *, overrides: Iterable[str] = ()) -> Policy:
    """Return a policy by name or from a YAML file.

    Parameters
    ----------
    policy
        ``de-facto``, ``united-nations``, or a file with the keys ``title``, ``text``, ``areas`` and ``countries`` and,
        to start from one of those, ``based_on``.
    overrides
        Changes as ``PLACE=COUNTRY``: the place is one of `AREAS` or a country, the country any name or code, or
        ``none``.

    Raises
    ------
    ConfigError
        There is no policy of that name.
    GeoError
        The file or a change is not as described.

    Examples
    --------
    >>> policy = load_policy("de-facto", overrides=["crimea=Ukraine", "Kosovo=SRB"])
    >>> policy.country_of("crimea"), policy.country_of("XKX"), policy.country_of("FRA")
    ('UKR', 'SRB', 'FRA')
    """
    chosen = _read_policy(policy)
    for override in overrides:
        place, separator, country = override.partition("=")
        if not separator or not place.strip():
            raise GeoError(
                f"--override '{override}': expected PLACE=COUNTRY, as in crimea=UKR or XKX=SRB or bir_tawil=none."
            )
        chosen = _override(chosen, place.strip(), country.strip(), where=f"--override '{override}'")
    return chosen


def _read_policy(policy: str | Path) -> Policy:
    packaged = list_packaged("policies")
    if str(policy) in packaged:
        return _read_packaged_policy(str(policy))
    path = Path(policy)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise unknown_choice("policy", str(policy), packaged, where="--policy")
    return _from_mapping(read_yaml(path, keys=KEYS), name=path.stem, where=str(path))


@cache
def _read_packaged_policy(name: str) -> Policy:
    return _from_mapping(read_packaged("policies", name), name=name, where=f"policy '{name}'")


def _from_mapping(raw: Mapped, *, name: str, where: str) -> Policy:
    base = take_text(raw, "based_on", where=where)
    started = load_policy(base) if base else Policy(name=name, title="", text="")
    policy = replace(
        started,
        name=take_text(raw, "name", where=where) or name,
        title=take_text(raw, "title", where=where) or started.title or name,
        text=take_text(raw, "text", where=where) or started.text,
    )
    for key in ("areas", "countries"):
        given = raw.get(key) or {}
        if not isinstance(given, dict):
            raise GeoError(f"{where}: '{key}' is {given!r}, expected lines such as 'crimea: UKR'.")
        for place, country in given.items():
            changed = _override(policy, str(place), str(country or ""), where=f"{where}, '{key}'")
            policy = changed if base else replace(changed, changes=())
    missing = sorted(set(AREAS) - set(policy.areas))
    if missing:
        raise GeoError(
            f"{where}: no country for {shown(missing, limit=9)} under 'areas'. Add them ('null' for no country), or "
            "start from a complete policy with 'based_on: de-facto'."
        )
    return policy


def _override(policy: Policy, place: str, country: str, *, where: str) -> Policy:
    code = None if country.lower() in NOBODY else _country_code(country, where=where)
    words = f"counts as {code}" if code else "counts as no country"
    if place.lower() in AREAS:
        change = f"{AREAS[place.lower()]} {words}"
        return replace(policy, areas={**policy.areas, place.lower(): code}, changes=(*policy.changes, change))
    own = _country_code(place, where=where, areas=True)
    change = f"{load_countries()[own].name} ({own}) {words}"
    return replace(policy, countries={**policy.countries, own: code}, changes=(*policy.changes, change))


def _country_code(text: str, *, where: str, areas: bool = False) -> str:
    try:
        return find_country(text).alpha3
    except GeoError as error:
        hint = f" Places that can be named: {', '.join(AREAS)}." if areas else ""
        raise GeoError(f"{where}: {error}{hint}") from error
