"""Shrunken accuracy: each region's accuracy drawn towards the other regions' as far as its few images demand."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.beta_binomial import shrink_accuracies
from graticule.evaluation.rows import make_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("shrunken_accuracy",)


def measure_shrunken_accuracy(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the shrunken accuracy of each region over all labels, and of each region within each label."""
    n, hits = scored.count_cells(), scored.count_cells(scored.is_right)
    n, hits = (np.concatenate([table, table.sum(axis=1, keepdims=True)], axis=1).T for table in (n, hits))
    label, region = np.divmod(np.arange(n.size), n.shape[1])
    return make_rows(
        "shrunken_accuracy",
        shrink_accuracies(hits, n, confidence=config.confidence),
        model=scored.model,
        region=take_names(scored.regions, region),
        label=take_names(scored.labels, label),
        method="beta-binomial",
    )
