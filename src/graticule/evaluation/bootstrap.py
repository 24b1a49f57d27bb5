"""Stratified bootstrap from counts: intervals for balanced accuracies and for the gap between best and worst.

Drawing a region's images of one label again with replacement changes nothing but its number of hits, which is then
binomial. So a bootstrap of a million predictions is a draw of a few hundred binomials, with the same law.

Two things differ from the plain percentile bootstrap, both so that the interval covers the truth as often as it says:

- draws are made at ``(hits + ½) / (n + 1)``, so that a cell whose images are all right (or all wrong) still varies;
- the deviations of the draws from their own expectation are put around the estimate. The percentiles themselves would
  be wrong for a gap: noise alone makes best minus worst positive, and drawing again adds noise to noise.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import find_quantile

PLAUSIBLE = 2.0
"""Standard errors by which a pair of regions may fall short of the widest difference and still be a contender."""
BLOCK_DRAWS = 4_000_000


def bootstrap_balanced_accuracy(
    hits: Int[np.ndarray, " k"],
    n: Int[np.ndarray, " k"],
    *,
    confidence: float,
    n_bootstraps: int,
    rng: np.random.Generator,
) -> Estimates:
    """Return the mean of labels' accuracies, each label with the same weight, with its interval; length one.

    Parameters
    ----------
    hits, n
        Right images and all images of each label, shape ``(k,)``; labels without images are left out.
    confidence
        Coverage of the interval, as a fraction.
    n_bootstraps
        Draws.
    rng
        Source of randomness.

    Notes
    -----
    Labels with equal counts are drawn together: a sum of binomials with the same rate is one binomial.
    """
    present = n > 0
    n_labels, total = int(np.count_nonzero(present)), int(n.sum())
    if not n_labels:
        nothing = np.array([np.nan])
        return Estimates(value=nothing, low=nothing, high=nothing, n=np.array([0]))
    pairs, times = np.unique(np.stack([n[present], hits[present]]), axis=1, return_counts=True)
    sizes, rates = pairs[0], (pairs[1] + 0.5) / (pairs[0] + 1)
    drawn = rng.binomial(sizes * times, rates, size=(n_bootstraps, len(sizes)))
    deviations = ((drawn / sizes).sum(axis=1) - (rates * times).sum()) / n_labels
    value = float((pairs[1] / sizes * times).sum() / n_labels)
    down, up = np.quantile(deviations, [(1 - confidence) / 2, (1 + confidence) / 2], method="weibull")
    return Estimates(
        value=np.array([value]),
        low=np.array([min(value, max(0.0, value + down))]),
        high=np.array([max(value, min(1.0, value + up))]),
        n=np.array([total]),
    )


def bootstrap_gaps(
    hits: Int[np.ndarray, "l r"],
    n: Int[np.ndarray, "l r"],
    *,
    confidence: float,
    n_bootstraps: int,
    rng: np.random.Generator,
) -> Estimates:
    """Return, for each row, the highest minus the lowest accuracy of its regions, with an interval for the true gap.

    Parameters
    ----------
    hits, n
        Right images and all images of each region, shape ``(l, r)``; regions with ``n`` of 0 take no part.
    confidence
        Coverage of the interval, as a fraction.
    n_bootstraps
        Draws.
    rng
        Source of randomness.

    Notes
    -----
    The true gap is the largest of all differences between two regions. The interval is that of a largest value:

    - the high end is the largest of all pairs' high ends, for the truly widest pair is among them;
    - the low end is the largest of all pairs' low ends, each made with the quantile of the *largest* deviation among
      the pairs that may plausibly be the widest. So where regions are equal it allows for the search among pairs, and
      where one pair is clearly the widest it is that pair's own.

    The low end is 0 wherever chance alone would do. ``n`` counts the images of all regions that take part.

    References
    ----------
    Chernozhukov, Lee and Rosen (2013), Intersection bounds: estimation and inference, section 4, for the idea of
    limiting the quantile to contenders.
    """
    n, hits, which_row = _drop_repeats(n, hits)
    value, low, high = (np.full(len(n), np.nan) for _ in range(3))
    takes_part = n > 0
    total = np.where(takes_part.sum(axis=1) >= 2, n.sum(axis=1), 0)
    sets, which = np.unique(takes_part, axis=0, return_inverse=True)
    for place, members in enumerate(sets):
        regions = np.flatnonzero(members)
        if len(regions) < 2:
            continue
        rows = np.flatnonzero(which.ravel() == place)
        step = max(1, BLOCK_DRAWS // (n_bootstraps * len(regions) * (len(regions) - 1)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            found = _bootstrap_block(
                hits[np.ix_(block, regions)],
                n[np.ix_(block, regions)],
                confidence=confidence,
                n_bootstraps=n_bootstraps,
                rng=rng,
            )
            value[block], low[block], high[block] = found
    return Estimates(value=value[which_row], low=low[which_row], high=high[which_row], n=total[which_row])


def _drop_repeats(
    n: Int[np.ndarray, "l r"], hits: Int[np.ndarray, "l r"]
) -> tuple[Int[np.ndarray, "u r"], Int[np.ndarray, "u r"], Int[np.ndarray, " l"]]:
    """Return the distinct rows of counts, and which of them each row is."""
    rows, which = np.unique(np.concatenate([n, hits], axis=1), axis=0, return_inverse=True)
    return rows[:, : n.shape[1]], rows[:, n.shape[1] :], which.ravel()


def _bootstrap_block(
    hits: Int[np.ndarray, "l r"],
    n: Int[np.ndarray, "l r"],
    *,
    confidence: float,
    n_bootstraps: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, "3 l"]:
    """Return value, low and high of the gaps of rows whose regions all have images."""
    rates = (hits + 0.5) / (n + 1)
    variances = rates * (1 - rates) / n
    deviations = (rng.binomial(n, rates, size=(n_bootstraps, *n.shape)) / n - rates).astype(np.float32)
    better, worse = np.nonzero(~np.eye(n.shape[1], dtype=bool))
    accuracies = hits / n
    differences = accuracies[:, better] - accuracies[:, worse]
    errors = np.sqrt(variances[:, better] + variances[:, worse])
    is_contender = _find_contenders(differences, errors)
    largest = np.full(deviations.shape[:2], -np.inf, dtype=np.float32)
    for pair in np.flatnonzero(is_contender.any(axis=0)):
        spread = (deviations[:, :, better[pair]] - deviations[:, :, worse[pair]]) / errors[:, pair].astype(np.float32)
        np.maximum(largest, np.where(is_contender[:, pair], spread, -np.inf), out=largest)
    reach = np.quantile(largest, (1 + confidence) / 2, axis=0, method="weibull")
    value = differences.max(axis=1)
    low = (differences - reach[:, None] * errors).max(axis=1)
    high = (differences + find_quantile(confidence) * errors).max(axis=1)
    return np.stack([value, np.clip(low, 0.0, value), np.clip(high, value, 1.0)])


def _find_contenders(
    differences: Float[np.ndarray, "l p"], errors: Float[np.ndarray, "l p"]
) -> Bool[np.ndarray, "l p"]:
    """Return which pairs may be the widest: those that reach what the widest pair certainly reaches."""
    certain = (differences - PLAUSIBLE * errors).max(axis=1, keepdims=True)
    return (differences + PLAUSIBLE * errors >= certain) | (differences == differences.max(axis=1, keepdims=True))
