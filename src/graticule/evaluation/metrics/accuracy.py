"""Accuracy: the share of images whose best prediction is their label, by region, by label, and in every cell."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.rows import make_cell_rows
from graticule.evaluation.scored import Scored, add_margins

NAMES = ("accuracy",)


def measure_accuracy(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the accuracy of every region and label and of all, with Wilson's interval; empty cells are NaN."""
    n = add_margins(scored.count_cells()).ravel()
    hits = add_margins(scored.count_cells(scored.is_right)).ravel()
    return make_cell_rows(
        "accuracy",
        wilson_interval(hits, n, confidence=config.confidence),
        model=scored.model,
        regions=scored.regions,
        labels=scored.labels,
        method="wilson",
    )
