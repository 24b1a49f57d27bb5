"""Balanced accuracy: the mean of the labels' accuracies, so that a frequent label counts no more than a rare one."""

from __future__ import annotations

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.bootstrap import bootstrap_balanced_accuracy
from graticule.evaluation.image_keys import make_generator
from graticule.evaluation.rows import make_rows
from graticule.evaluation.scored import Scored

NAMES = ("balanced_accuracy",)


def measure_balanced_accuracy(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the balanced accuracy of each region, over the labels it has, and of all regions together.

    Notes
    -----
    Equals scikit-learn's ``balanced_accuracy_score``. Strata of the bootstrap are the labels of the region.
    """
    n, hits = scored.count_cells(), scored.count_cells(scored.is_right)
    cells = [(None, n.sum(axis=0), hits.sum(axis=0))]
    cells += [(region, n[place], hits[place]) for place, region in enumerate(scored.regions)]
    return pl.concat(
        make_rows(
            "balanced_accuracy",
            bootstrap_balanced_accuracy(
                cell_hits,
                cell_n,
                confidence=config.confidence,
                n_bootstraps=config.n_bootstraps,
                rng=make_generator(config.seed, scored.model, "balanced_accuracy", region or ""),
            ),
            model=scored.model,
            region=region,
            method="stratified bootstrap",
        )
        for region, cell_n, cell_hits in cells
    )
