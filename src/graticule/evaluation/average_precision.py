"""Average precision of one label, with its variance and what each image contributes to it.

Average precision is the mean, over the images that show the label, of the share of right images among all that the
model ranks as high or higher. Everything here follows from two sorted lists: all scores, and those of the images that
show it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.evaluation.estimates import Estimates
from graticule.evaluation.intervals import logit_interval, wilson_interval

FEW = 20
"""Positives below which the variance is not trusted to be smaller than a proportion's."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedLabel:
    """A label's average precision over ``n`` images of which ``p`` show it.

    Parameters
    ----------
    value
        Average precision.
    variance
        Its variance, the numbers of images with and without the label being given.
    excess
        By how much the value is expected to lie above that of infinitely many images.
    n_positives
        Images that show the label.
    thresholds
        Distinct scores of those images, ascending, shape ``(t,)``.
    positive, negative
        Influence of an image with and without the label whose score reaches so many thresholds, shape ``(t + 1,)``.
    """

    value: float
    variance: float
    excess: float
    n_positives: int
    thresholds: Float[np.ndarray, " t"]
    positive: Float[np.ndarray, " t1"]
    negative: Float[np.ndarray, " t1"]

    def find_influence(
        self, scores: Float[np.ndarray, " m"], is_positive: Bool[np.ndarray, " m"]
    ) -> Float[np.ndarray, " m"]:
        """Return by how much each image moves the average precision away from its expectation."""
        reached = np.searchsorted(self.thresholds, scores, side="right")
        return np.where(is_positive, self.positive[reached], self.negative[reached])


def rank_label(ordered: Float[np.ndarray, " n"], positives: Float[np.ndarray, " p"]) -> RankedLabel:
    """Return a label's average precision.

    Parameters
    ----------
    ordered
        Scores of all images, ascending, shape ``(n,)``.
    positives
        Scores of the images that show the label, in any order, shape ``(p,)``, at least one.

    Notes
    -----
    The value is scikit-learn's ``average_precision_score``: images with equal scores are ranked together. Writing ``A``
    and ``B`` for the numbers of images with and without the label at or above a threshold, an image with the label adds
    one to every ``A`` below it and one without to every ``B``; the derivatives of ``A / (A + B)`` give each image's
    influence (the infinitesimal jackknife), their squares the variance. The excess is the second-order term: an image
    always counts itself as ranked.
    """
    thresholds, times = np.unique(positives, return_counts=True)
    n_positives, n_negatives = len(positives), len(ordered) - len(positives)
    above = n_positives - np.cumsum(times) + times
    ranked = len(ordered) - np.searchsorted(ordered, thresholds, side="left")
    others = ranked - above
    precision = above / ranked
    value = float((times * precision).sum() / n_positives)
    gained = np.concatenate([[0.0], np.cumsum(times * others / ranked**2)])
    lost = np.concatenate([[0.0], np.cumsum(times * above / ranked**2)])
    positive = (np.concatenate([[0.0], precision - value]) + gained) / n_positives
    negative = -lost / n_positives
    at_least = np.concatenate([[n_negatives], others, [0]])
    variance = _sum_squares(positive[1:], times) * n_positives / max(n_positives - 1, 1)
    variance += _sum_squares(negative, at_least[:-1] - at_least[1:])
    excess = (1 - above / n_positives) * others / ranked**2
    excess += above * others / ranked**3 * (above / n_positives - others / max(n_negatives, 1))
    return RankedLabel(
        value=value,
        variance=float(variance),
        excess=float((times * excess).sum() / n_positives),
        n_positives=n_positives,
        thresholds=thresholds,
        positive=positive,
        negative=negative,
    )


def estimate_average_precision(
    value: Float[np.ndarray, " m"],
    variance: Float[np.ndarray, " m"],
    excess: Float[np.ndarray, " m"],
    n: Int[np.ndarray, " m"],
    *,
    confidence: float,
) -> Estimates:
    """Return average precisions with intervals on the logit scale.

    Parameters
    ----------
    value, variance, excess
        As a `RankedLabel` has them, shape ``(m,)``; NaN where there is no image with the label.
    n
        Images with the label, shape ``(m,)``.
    confidence
        Coverage of the interval, as a fraction.

    Notes
    -----
    The interval stands around the value less its excess. With fewer than 20 images of the label the variance is at
    least that of a proportion (Boyd and others' logit interval), and where all of them are ranked first Wilson's
    interval is given: the variance is then zero, and the truth is not.

    References
    ----------
    Boyd, Eng and Page (2013), Area under the precision-recall curve: point estimates and confidence intervals.
    """
    sizes = np.maximum(n, 1)
    variance = np.where(n < FEW, np.maximum(variance, value * (1 - value) / sizes), variance)
    centre = np.maximum(value - excess, value / 2)
    low, high = logit_interval(centre, variance, confidence=confidence)
    perfect = wilson_interval(n, n, confidence=confidence)
    is_perfect = (value >= 1) & (n > 0)
    low = np.where(is_perfect, perfect.low, np.minimum(low, value))
    high = np.where(is_perfect, 1.0, np.maximum(high, value))
    return Estimates(value=value, low=low, high=high, n=n)


def _sum_squares(values: Float[np.ndarray, " t"], times: Int[np.ndarray, " t"]) -> float:
    """Return the sum of squared deviations of values that stand ``times`` times each."""
    total = times.sum()
    if not total:
        return 0.0
    mean = (values * times).sum() / total
    return float((times * (values - mean) ** 2).sum())
