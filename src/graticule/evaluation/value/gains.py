"""What each label's average precision gained between two sets of probes, with bootstrap error bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.evaluation.estimates import Estimates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelGains:
    """Average precision of each label in a region, before and after, shape ``(k,)`` each.

    Parameters
    ----------
    before, after
        Average precisions, mean over seeds.
    gain
        Their difference with percentile intervals; the paper reads ``median`` ± 2 ``std`` off the same draws.
    relative
        Gain over ``before``, with percentile intervals.
    median, std
        Of the draws of the gain.
    """

    before: Float[np.ndarray, " k"]
    after: Float[np.ndarray, " k"]
    gain: Estimates
    relative: Estimates
    median: Float[np.ndarray, " k"]
    std: Float[np.ndarray, " k"]


def bootstrap_gains(
    before: Float[np.ndarray, "s n k"],
    after: Float[np.ndarray, "s n k"],
    targets: Int[np.ndarray, " n"],
    *,
    n_bootstraps: int,
    confidence: float,
    rng: np.random.Generator,
) -> LabelGains:
    """Return what each label gained.

    Parameters
    ----------
    before, after
        Scores of the same test images by probes of several seeds.
    targets
        Indices of their labels.
    n_bootstraps
        Draws of the test images; a draw takes the same images before and after and for all seeds.
    confidence
        Coverage of the percentile intervals.
    rng
        Source of randomness.

    Notes
    -----
    A label without a test image, or that all test images have, is undefined.
    """
    n_images, n_labels = len(targets), before.shape[2]
    weights = np.concatenate(
        [np.ones((1, n_images)), rng.multinomial(n_images, np.full(n_images, 1 / n_images), size=n_bootstraps)]
    )
    found = np.full((2, n_labels, n_bootstraps + 1), np.nan)
    counts = np.bincount(targets, minlength=n_labels)
    for label in np.flatnonzero((counts > 0) & (counts < n_images)):
        for side, scores in enumerate((before, after)):
            precisions = [weigh_average_precision(own[:, label], targets == label, weights) for own in scores]
            found[side, label] = np.mean(precisions, axis=0)
    gains = found[1] - found[0]
    relative = np.divide(gains, found[0], out=np.full(gains.shape, np.nan), where=found[0] > 0)
    n = np.where(np.isfinite(gains[:, 0]), counts, 0)
    return LabelGains(
        before=found[0, :, 0],
        after=found[1, :, 0],
        gain=_summarise(gains, n, confidence),
        relative=_summarise(relative, n, confidence),
        median=_over_draws(np.nanmedian, gains),
        std=_over_draws(np.nanstd, gains),
    )


def weigh_average_precision(
    scores: Float[np.ndarray, " n"], is_positive: Bool[np.ndarray, " n"], weights: Float[np.ndarray, "b n"]
) -> Float[np.ndarray, " b"]:
    """Return the average precision under several weightings of the same images; equal scores are ranked together.

    Notes
    -----
    A weighting without a positive image gives NaN.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, positive = scores[order], is_positive[order]
    # Where a run of equal scores ends, so that each of its images counts all of them.
    ends = np.searchsorted(-ranked, -ranked, side="right") - 1
    weights = weights[:, order].astype(np.float64)
    hits = np.cumsum(weights * positive, axis=1)[:, ends]
    seen = np.cumsum(weights, axis=1)[:, ends]
    precision = np.divide(hits, seen, out=np.zeros(seen.shape), where=seen > 0)
    total = (weights * positive).sum(axis=1)
    return np.divide(
        (weights * positive * precision).sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0
    )


def _summarise(draws: Float[np.ndarray, "k b"], n: Int[np.ndarray, " k"], confidence: float) -> Estimates:
    tail = (1 - confidence) / 2
    low = _over_draws(lambda part, axis: np.nanquantile(part, tail, axis=axis), draws)
    high = _over_draws(lambda part, axis: np.nanquantile(part, 1 - tail, axis=axis), draws)
    return Estimates(value=draws[:, 0], low=low, high=high, n=n)


def _over_draws(measure: Callable[..., np.ndarray], draws: Float[np.ndarray, "k b"]) -> Float[np.ndarray, " k"]:
    """Return a measure of each row's draws but the first, which is the estimate; NaN where there are none."""
    known = np.isfinite(draws[:, 1:]).any(axis=1)
    found = np.full(len(draws), np.nan)
    if known.any():
        found[known] = measure(draws[known, 1:], axis=1)
    return found
