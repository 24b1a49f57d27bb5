"""Shares and means of images, for each region and for all: rows of the metrics table with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile, wilson_interval
from graticule.evaluation.rows import make_rows, take_names


def share_rows(
    metric: str,
    *,
    hits: Bool[np.ndarray, " m"],
    among: Bool[np.ndarray, " m"],
    region: Int[np.ndarray, " m"],
    regions: Sequence[str],
    confidence: float,
    model: str | None,
    group: str | None = None,
    method: str = "wilson",
) -> pl.DataFrame:
    """Return the share of images that are ``hits`` among those that are ``among``, in each region and, last, in all.

    Parameters
    ----------
    metric, model, group, method
        As in the metrics table.
    hits, among
        What is counted, and what it is counted among, shape ``(m,)``.
    region
        Code of each image's region, shape ``(m,)``; images with a negative one count for all regions only.
    regions
        Names of the regions.
    confidence
        Coverage of Wilson's interval.
    """
    n = count_regions(among, region, len(regions))
    return make_rows(
        metric,
        wilson_interval(count_regions(among & hits, region, len(regions)), n, confidence=confidence),
        model=model,
        region=take_names(regions, np.arange(len(regions) + 1)),
        group=group,
        method=method,
    )


def mean_rows(
    metric: str,
    *,
    values: Float[np.ndarray, " m"],
    region: Int[np.ndarray, " m"],
    regions: Sequence[str],
    confidence: float,
    model: str | None,
    group: str | None = None,
    method: str = "normal",
) -> pl.DataFrame:
    """Return the mean of fractions, NaN ones left out, in each region and, last, in all.

    The interval is the normal one, stays within 0 and 1; a single image has none.
    """
    known = ~np.isnan(values)
    n = count_regions(known, region, len(regions))
    sums, squares = (_sum_regions(values[known] ** power, region[known], len(regions)) for power in (1, 2))
    total = np.where(n > 0, n, np.nan).astype(np.float64)
    mean = sums / total
    variance = np.maximum(squares / total - mean**2, 0.0) * total / np.where(n > 1, total - 1, np.nan)
    margin = find_quantile(confidence) * np.sqrt(variance / total)
    estimates = Estimates(value=mean, low=np.maximum(mean - margin, 0.0), high=np.minimum(mean + margin, 1.0), n=n)
    return make_rows(
        metric,
        estimates,
        model=model,
        region=take_names(regions, np.arange(len(regions) + 1)),
        group=group,
        method=method,
    )


def count_regions(
    among: Bool[np.ndarray, " m"], region: Int[np.ndarray, " m"], n_regions: int
) -> Int[np.ndarray, " r1"]:
    """Return how many images there are in each region and, last, in all."""
    counts = np.bincount(region[among & (region >= 0)], minlength=n_regions)
    return np.append(counts, np.count_nonzero(among)).astype(np.int64)


def _sum_regions(
    values: Float[np.ndarray, " m"], region: Int[np.ndarray, " m"], n_regions: int
) -> Float[np.ndarray, " r1"]:
    known = region >= 0
    return np.append(np.bincount(region[known], weights=values[known], minlength=n_regions), values.sum())
