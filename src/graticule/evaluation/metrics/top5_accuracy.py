"""Top-5 accuracy: the share of images whose label is among the five best predictions."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.rows import make_cell_rows, no_rows
from graticule.evaluation.scored import Scored, add_margins

NAMES = ("top5_accuracy",)


def measure_top5_accuracy(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the top-5 accuracy of every region and label; no rows where predictions hold fewer than five labels."""
    if scored.is_right_top5 is None:
        return no_rows()
    n = add_margins(scored.count_cells()).ravel()
    hits = add_margins(scored.count_cells(scored.is_right_top5)).ravel()
    return make_cell_rows(
        "top5_accuracy",
        wilson_interval(hits, n, confidence=config.confidence),
        model=scored.model,
        regions=scored.regions,
        labels=scored.labels,
        method="wilson",
    )
