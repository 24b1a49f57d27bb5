"""Label-mix accuracy: what a region's accuracy would be if only its mix of labels set it apart.

A region whose images show harder labels looks bad although the model treats it like any other. This number takes every
label's accuracy over all regions and the region's own mix: what remains between it and the real accuracy is geography.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import as_estimates
from graticule.evaluation.rows import make_rows
from graticule.evaluation.scored import Scored

NAMES = ("label_mix_accuracy",)


def measure_label_mix_accuracy(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return, for each region, the accuracy that its mix of labels alone would give; it has no interval."""
    del config
    n, hits = scored.count_cells(), scored.count_cells(scored.is_right)
    total = n.sum(axis=1)
    accuracy = hits.sum(axis=0) / np.maximum(n.sum(axis=0), 1)
    expected = np.where(total > 0, n @ accuracy / np.maximum(total, 1), np.nan)
    return make_rows(
        "label_mix_accuracy",
        as_estimates(expected, total),
        model=scored.model,
        region=list(scored.regions),
        method="each label's accuracy over all regions, weighted by the region's labels",
    )
