"""The regions (or countries, or whatever is compared): their order, names, symbols and sizes, the same in every "
"panel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from graticule.data.audit_record import AuditRecord
from graticule.errors import GeoError
from graticule.report.drawing.symbols import Symbol, pick_symbol
from graticule.report.estimates import Estimates, list_values
from graticule.report.wording import percent_tick, spell

MANY_NAMES = {"country": "countries", "region": "regions", "city": "cities"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """What images are compared by.

    The order is by accuracy of the first model, lowest first, with thin groups (fewer images than the audit asks for)
    at the end: where a list is cut, what is left out is what matters least.
    """

    one: str
    """What one is called: region, country, …"""
    many: str
    keys: tuple[str, ...]
    """As the tables call them, in the page's order."""
    names: Mapping[str, str]
    """As people call them."""
    symbols: Mapping[str, Symbol]
    thin: frozenset[str]
    min_images: int
    confidence: str
    """Coverage of the intervals, as in 95%."""
    countries: Mapping[str, tuple[str, ...]]
    """Alpha-3 codes of each, for the map."""
    disputed_areas: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Which country the map draws disputed places with; see `graticule.geo.policies.Policy.assignments`."""

    def name(self, key: str) -> str:
        """Return what people call a group."""
        return spell(self.names.get(key, key))


def order_groups(metrics: pl.DataFrame, *, record: AuditRecord) -> Groups:
    """Return the groups that an audit compares."""
    keys = list_values(metrics, "region")
    model = record.models[0].name if record.models else None
    accuracy = Estimates(metrics.filter(pl.col("label").is_null()), "accuracy", model=model)
    sizes = {key: accuracy.get(region=key).n for key in keys}
    thin = frozenset(key for key in keys if sizes[key] < record.min_images)

    def rank(key: str) -> tuple[bool, float, str]:
        value = accuracy.get(region=key).value
        return key in thin, value if math.isfinite(value) else math.inf, key

    ordered = tuple(sorted(keys, key=rank))
    return Groups(
        one=record.by,
        many=MANY_NAMES.get(record.by, f"values of {record.by}"),
        keys=ordered,
        names={key: _name_group(key, by=record.by) for key in ordered},
        symbols={key: pick_symbol(place) for place, key in enumerate(ordered)},
        thin=thin,
        min_images=record.min_images,
        confidence=percent_tick(record.confidence),
        countries=_list_countries(ordered, record=record),
        disputed_areas=record.disputed_areas,
    )


def _name_group(key: str, *, by: str) -> str:
    if by != "country":
        return key
    from graticule.geo.countries import find_country

    try:
        return find_country(key).name
    except GeoError:
        return key


def _list_countries(keys: tuple[str, ...], *, record: AuditRecord) -> dict[str, tuple[str, ...]]:
    known = {key: tuple(codes) for key, codes in record.region_countries.items() if key in keys}
    if known or record.by != "country":
        return known
    return {key: (key,) for key in keys}
