"""Worst gap: how far the best region's accuracy lies above the worst one's, and how far chance alone would put it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.bootstrap import bootstrap_gaps
from graticule.evaluation.estimates import Estimates
from graticule.evaluation.image_keys import make_generator
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.partition_test import REMEMBERED, draw_accuracies
from graticule.evaluation.rows import make_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("worst_gap", "worst_gap_expected", "worst_gap_p", "best_region", "worst_region")


def measure_worst_gap(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the gap over all labels and within each label, with the regions it lies between.

    ``worst_gap_expected`` is the gap that a random partition of the same images into regions of the same sizes shows on
    average, with the quantiles that such partitions stay between; ``worst_gap_p`` the share of them with a gap as wide.

    Notes
    -----
    Regions with fewer than ``min_images`` images take no part; with fewer than two regions left, the gap is NaN with
    n = 0 and there is no best or worst. Of equal regions the first in the order of the table is named.
    """
    n, hits = scored.count_cells(), scored.count_cells(scored.is_right)
    n, hits = (np.concatenate([table, table.sum(axis=1, keepdims=True)], axis=1).T for table in (n, hits))
    n = np.where(n >= config.min_images, n, 0)
    n = np.where((n > 0).sum(axis=1, keepdims=True) >= 2, n, 0)
    hits = np.where(n > 0, hits, 0)
    gaps = bootstrap_gaps(
        hits,
        n,
        confidence=config.confidence,
        n_bootstraps=config.n_bootstraps,
        rng=make_generator(config.seed, scored.model, "worst_gap"),
    )
    names = take_names(scored.labels, np.arange(len(n)))
    expected, p_values = _draw_gaps(hits, n, gaps, config=config)
    return pl.concat(
        [
            make_rows("worst_gap", gaps, model=scored.model, label=names, method="stratified bootstrap"),
            make_rows("worst_gap_expected", expected, model=scored.model, label=names, method="random partitions"),
            make_rows("worst_gap_p", p_values, model=scored.model, label=names, method="random partitions"),
            *(
                _name_extremes(metric, hits, n, scored=scored, config=config)
                for metric in ("best_region", "worst_region")
            ),
        ]
    )


def _draw_gaps(
    hits: Int[np.ndarray, "l r"], n: Int[np.ndarray, "l r"], gaps: Estimates, *, config: AuditConfig
) -> tuple[Estimates, Estimates]:
    """Return the gaps that random partitions show, and how often they are as wide as the real ones."""
    mean, low, high, p_value = (np.full(len(n), np.nan) for _ in range(4))
    tails = np.array([(1 - config.confidence) / 2, (1 + config.confidence) / 2])
    for row in np.flatnonzero(gaps.n > 0):
        widths = _draw_widths(
            tuple(sorted(n[row, n[row] > 0].tolist())), int(hits[row].sum()), config.n_partitions, config.seed
        )
        mean[row] = widths.mean()
        low[row], high[row] = widths[np.floor(tails * (len(widths) - 1) + 0.5).astype(np.int64)]
        p_value[row] = (1 + len(widths) - np.searchsorted(widths, gaps.value[row] - 1e-12)) / (1 + len(widths))
    nothing = np.full(len(n), np.nan)
    return (
        Estimates(value=mean, low=low, high=high, n=gaps.n),
        Estimates(value=p_value, low=nothing, high=nothing, n=gaps.n),
    )


@lru_cache(maxsize=REMEMBERED)
def _draw_widths(sizes: tuple[int, ...], n_hits: int, n_partitions: int, seed: int) -> Float[np.ndarray, " b"]:
    """Return the gaps of random partitions, ascending; they hang on counts alone, which labels and models share."""
    rng = make_generator(seed, "worst_gap_expected", str(sizes), str(n_hits))
    drawn = draw_accuracies(np.array(sizes), n_hits, n_partitions=n_partitions, rng=rng)
    return np.sort(drawn.max(axis=1) - drawn.min(axis=1))


def _name_extremes(
    metric: str, hits: Int[np.ndarray, "l r"], n: Int[np.ndarray, "l r"], *, scored: Scored, config: AuditConfig
) -> pl.DataFrame:
    accuracies = hits / np.where(n > 0, n, np.nan)
    rows = np.flatnonzero((n > 0).any(axis=1))
    find = np.nanargmax if metric == "best_region" else np.nanargmin
    regions = find(accuracies[rows], axis=1) if len(rows) else np.array([], dtype=np.int64)
    return make_rows(
        metric,
        wilson_interval(hits[rows, regions], n[rows, regions], confidence=config.confidence),
        model=scored.model,
        region=take_names(scored.regions, regions),
        label=take_names(scored.labels, rows),
        method="wilson",
    )
