"""What an audit was made of: the facts that a page prints beside its numbers.

`graticule.evaluation` writes one into the metadata of ``metrics.parquet`` (as JSON); `graticule.report` reads it there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from graticule.errors import TableError


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedModel:
    """A model as the page names it."""

    name: str
    kind: str
    n_labels: int
    sha256: str = ""
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """The settings and inputs of an audit."""

    by: str
    """Column whose values are compared: region, country or another."""
    models: tuple[AuditedModel, ...]
    n_images: int
    n_scored: int
    min_images: int
    """Cells with fewer images are shown greyed and never named best or worst."""
    seed: int
    confidence: float = 0.95
    n_partitions: int = 500
    n_bootstraps: int = 1000
    scheme: str = ""
    boundary_policy: str = ""
    disputed_areas: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Disputed place, or code of a country that counts as another → alpha-3 code, None for none: for the map."""
    photos: str = ""
    """What the photos are, in a sentence; a page about rendered scenes must say so here."""
    photos_are_rendered: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Reason → number of images that were left out."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name → SHA-256."""
    region_countries: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Region → alpha-3 codes, for the map; empty where regions are not made of countries."""
    headline: tuple[str, ...] = ()
    """What the audit found, in plain sentences, most important first: for the top of a page and for the terminal."""
    notes: tuple[str, ...] = ()
    """What a reader of the numbers should know (models scored on different images, scores that are no probabilities,
    lists that were cut short), in sentences: for the page's section on the method and its limits."""
    version: str = ""
    created_at: str = ""

    def to_json(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> AuditRecord:
        """Return the record that ``text`` holds.

        Raises
        ------
        TableError
            The text is not such a record.
        """
        try:
            raw = json.loads(text)
            known = {item.name for item in fields(cls)}
            models = tuple(AuditedModel(**model) for model in raw.pop("models"))
            countries = {name: tuple(codes) for name, codes in raw.pop("region_countries", {}).items()}
            texts = {name: tuple(map(str, raw.pop(name, ()))) for name in ("headline", "notes")}
            rest = {name: value for name, value in raw.items() if name in known}
            return cls(models=models, region_countries=countries, **texts, **rest)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise TableError(f"not an audit's record ({error}). Run `graticule audit` again.") from error
