"""The settings of an audit, each with where its default comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graticule.errors import ConfigError, unknown_choice

PARTITION_METHODS = ("auto", "exact", "simulation")
UNMAPPED = ("drop", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """How to audit, and what the page should say of the images."""

    by: str = "region"
    """Column of the images table whose values are compared."""
    min_images: int = 20
    """Cells with fewer images are never named best or worst and take no part in gaps and partition tests. At 20 a
    Wilson interval is about 0.4 wide: below, a cell says next to nothing."""
    confidence: float = 0.95
    """Coverage of every interval, and one minus the level of the partition test (GeoDE, section 5)."""
    n_partitions: int = 500
    """Random partitions where the partition test is simulated, and for the gap that chance alone gives (GeoDE, section
    5)."""
    n_bootstraps: int = 1000
    """Bootstrap draws; the ends of a 95 % interval then rest on the 25 outermost draws on either side."""
    seed: int = 0
    partition_method: str = "auto"
    """`exact` computes the partition test without drawing; `simulation` draws, as GeoDE does; `auto` is exact unless
    the regions are so many that it would take minutes."""
    unmapped: str = "drop"
    """Images whose label a model cannot predict: left out and counted (`drop`), or scored as errors (`wrong`)."""
    gallery_size: int = 600
    """Failures that are picked in all, over models, regions and labels."""
    regions: tuple[str, ...] = ()
    """Regions in the order they should be shown, those without images included; others follow in alphabetical order."""
    scheme: str = ""
    """Name of the region scheme, for the record."""
    boundary_policy: str = ""
    """How disputed areas were assigned, for the record."""
    disputed_areas: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The same, place by place, for the record's map."""
    photos: str = ""
    """What the photos are, in a sentence, for the record."""
    photos_are_rendered: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name → SHA-256, for the record."""
    region_countries: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Region → alpha-3 codes, for the record's map."""

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range or a choice is unknown.
        """
        ranges = {
            "min_images": self.min_images >= 1,
            "n_partitions": self.n_partitions >= 1,
            "n_bootstraps": self.n_bootstraps >= 1,
            "gallery_size": self.gallery_size >= 0,
        }
        for name, is_good in ranges.items():
            if not is_good:
                least = 0 if name == "gallery_size" else 1
                raise ConfigError(
                    f"{name} is {getattr(self, name)}, expected at least {least} in the audit's settings."
                )
        if not 0.5 <= self.confidence < 1:
            raise ConfigError(
                f"confidence is {self.confidence}, expected a fraction from 0.5 to below 1 in the audit's settings. "
                "Write 0.95 for 95 %."
            )
        if self.partition_method not in PARTITION_METHODS:
            raise unknown_choice("partition_method", self.partition_method, PARTITION_METHODS)
        if self.unmapped not in UNMAPPED:
            raise unknown_choice("unmapped", self.unmapped, UNMAPPED)
