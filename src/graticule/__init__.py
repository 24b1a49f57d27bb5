"""Graticule: find out where in the world an image model fails.

The names below are the public interface of the main job; each is imported when it is first used, so that
``import graticule`` is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "GraticuleError": "graticule.errors",
    "read_table": "graticule.data.store",
    "write_table": "graticule.data.store",
    "read_images": "graticule.data.readers.images",
    "read_predictions": "graticule.data.readers.predictions",
    "scan_images": "graticule.data.scan",
    "locate_images": "graticule.data.locate",
    "load_scheme": "graticule.geo.schemes",
    "rank_concepts": "graticule.curation.concepts.rank",
    "filter_images": "graticule.curation.filters.apply",
    "find_duplicates": "graticule.curation.duplicates.find",
    "balance_images": "graticule.curation.balance",
    "mix_images": "graticule.curation.mix",
    "split_images": "graticule.curation.splits",
    "find_universal_labels": "graticule.curation.universal",
    "measure_statistics": "graticule.curation.statistics",
    "find_countries": "graticule.geo.countries_at",
    "load_model": "graticule.models.registry",
    "embed_images": "graticule.models.extract",
    "predict_images": "graticule.models.predict",
    "probe_features": "graticule.models.probe",
    "adapt_features": "graticule.adaptation.adapt",
    "adapt_photos": "graticule.adaptation.adapt_photos",
    "run_benchmark": "graticule.adaptation.grid.benchmark",
    "audit_predictions": "graticule.evaluation.audit",
    "write_report": "graticule.report.page",
}

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'graticule' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
