"""Accuracy difference: each region against all others taken together."""

from __future__ import annotations

import numpy as np
import polars as pl

from graticule.evaluation.adjustment import adjust_holm
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import as_estimates
from graticule.evaluation.hypergeometric import RandomPartition
from graticule.evaluation.intervals import newcombe_interval, wilson_interval
from graticule.evaluation.rows import make_rows
from graticule.evaluation.scored import Scored

NAMES = ("accuracy_difference", "accuracy_difference_p", "accuracy_difference_p_holm")
REST = "rest"


def measure_accuracy_difference(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return each region's accuracy minus that of the rest, with Newcombe's interval and an exact p-value.

    Notes
    -----
    The p-value is Fisher's: under a random partition of the images the region's hits are hypergeometric; the smaller
    tail is doubled. The adjusted one is Holm's over the regions.
    """
    n, hits = scored.count_cells().sum(axis=1), scored.count_cells(scored.is_right).sum(axis=1)
    rest_n, rest_hits = n.sum() - n, hits.sum() - hits
    difference = newcombe_interval(
        wilson_interval(hits, n, confidence=config.confidence),
        wilson_interval(rest_hits, rest_n, confidence=config.confidence),
    )
    p_values = np.array(
        [
            _test_difference(region_n=int(a), rest_n=int(b), region_hits=int(h), n_hits=int(hits.sum()))
            for a, b, h in zip(n, rest_n, hits, strict=True)
        ]
    )
    regions = list(scored.regions)
    return pl.concat(
        [
            make_rows(
                "accuracy_difference", difference, model=scored.model, region=regions, group=REST, method="newcombe"
            ),
            make_rows(
                "accuracy_difference_p",
                as_estimates(p_values, difference.n),
                model=scored.model,
                region=regions,
                group=REST,
                method="exact",
            ),
            make_rows(
                "accuracy_difference_p_holm",
                as_estimates(adjust_holm(p_values), difference.n),
                model=scored.model,
                region=regions,
                group=REST,
                method="exact, holm over regions",
            ),
        ]
    )


def _test_difference(*, region_n: int, rest_n: int, region_hits: int, n_hits: int) -> float:
    if not region_n or not rest_n:
        return float("nan")
    partition = RandomPartition(sizes=np.array([region_n, rest_n]), n_hits=n_hits)
    counts, probabilities = partition.counts[0], partition.marginals[0]
    low = probabilities[(counts <= region_hits) & (counts >= 0)].sum()
    high = probabilities[counts >= region_hits].sum()
    return float(min(1.0, 2 * min(low, high)))
