"""Calibration: whether a model that says 0.8 is right in 80 % of such images, by region.

The expected calibration error is the mean distance between accuracy and confidence over bins of confidence. Noise alone
makes it positive; the interval allows for that.

References
----------
Guo et al. (2017), On calibration of modern neural networks: 15 bins of equal width.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import Estimates, as_estimates
from graticule.evaluation.intervals import find_quantile, wilson_interval
from graticule.evaluation.rows import make_rows, no_rows, take_names
from graticule.evaluation.scored import Scored

NAMES = ("calibration_error", "calibration_accuracy", "calibration_confidence")
N_BINS = 15
BINS = tuple(f"{place / N_BINS:.3f}-{(place + 1) / N_BINS:.3f}" for place in range(N_BINS))


def measure_calibration_error(scored: Scored, config: AuditConfig) -> pl.DataFrame:
    """Return the calibration error of each region and of all, and the accuracy and confidence of each bin.

    No rows where the predictions hold no probabilities. A probability of exactly a bin's end belongs to the next bin.
    """
    if scored.predicted_probability is None:
        return no_rows()
    n_regions = len(scored.regions)
    place = np.minimum((scored.predicted_probability * np.float32(N_BINS)).astype(np.int64), N_BINS - 1)
    cell = scored.region.astype(np.int64) * N_BINS + place

    def count(weights: np.ndarray | None) -> np.ndarray:
        counted = np.bincount(cell, weights=weights, minlength=n_regions * N_BINS).reshape(n_regions, N_BINS)
        return np.concatenate([counted, counted.sum(axis=0, keepdims=True)])

    n, hits = count(None), count(scored.is_right).astype(np.int64)
    confidence_sums = count(scored.predicted_probability.astype(np.float64))
    confidences = confidence_sums / np.where(n > 0, n, np.nan)
    region, group = np.divmod(np.arange(n.size), N_BINS)
    names = {"region": take_names(scored.regions, region), "group": take_names(BINS, group)}
    return pl.concat(
        [
            make_rows(
                "calibration_error",
                estimate_calibration_errors(hits, confidences, n, confidence=config.confidence),
                model=scored.model,
                region=take_names(scored.regions, np.arange(n_regions + 1)),
                method=f"{N_BINS} bins; interval allows for noise",
            ),
            make_rows(
                "calibration_accuracy",
                wilson_interval(hits.ravel(), n.ravel(), confidence=config.confidence),
                model=scored.model,
                region=names["region"],
                group=names["group"],
                method="wilson",
            ),
            make_rows(
                "calibration_confidence",
                as_estimates(confidences.ravel(), n.ravel()),
                model=scored.model,
                region=names["region"],
                group=names["group"],
                method="mean",
            ),
        ]
    )


def estimate_calibration_errors(
    hits: Int[np.ndarray, "c b"],
    confidences: Float[np.ndarray, "c b"],
    n: Int[np.ndarray, "c b"],
    *,
    confidence: float,
) -> Estimates:
    """Return the expected calibration error of each of ``c`` cells from its bins.

    Parameters
    ----------
    hits, n
        Right images and all images of each bin, shape ``(c, b)``.
    confidences
        Mean probability of the prediction in each bin, shape ``(c, b)``; NaN in empty bins.
    confidence
        Coverage of the interval, as a fraction.

    Notes
    -----
    The value is the plain one, ``Σ n_b / n · |accuracy_b - confidence_b|``. It is too high by what noise adds to each
    distance; so the interval's high end is reached from a value corrected by the expected excess (a folded normal), its
    low end from one corrected more strongly (``√(distance² - error²)``), and the low end is 0 where a χ² test does not
    reject that the model is calibrated.
    """
    from scipy.special import chdtrc

    z = find_quantile(confidence)
    total = n.sum(axis=1)
    share = n / np.maximum(total, 1)[:, None]
    filled = np.where(n > 0, confidences, 0.5)
    sizes = np.maximum(n, 1)
    distance = np.where(n > 0, np.abs(hits / sizes - filled), 0.0)
    rate = (hits + 0.5) / (sizes + 1)
    error = np.sqrt(rate * (1 - rate) / sizes)
    value = (share * distance).sum(axis=1)
    spread = (share**2 * error**2).sum(axis=1) + ((share * distance**2).sum(axis=1) - value**2) / np.maximum(total, 1)
    margin = z * np.sqrt(np.maximum(spread, 0))
    excess = np.where(n > 0, _fold(distance, error) - distance, 0)
    mild = (share * np.maximum(distance - excess, 0)).sum(axis=1)
    strong = (share * np.sqrt(np.maximum(distance**2 - error**2, 0))).sum(axis=1)
    expected = np.maximum(filled * (1 - filled), 0.5 / (sizes + 1)) / sizes
    p_calibrated = chdtrc((n > 0).sum(axis=1), np.where(n > 0, distance**2 / expected, 0).sum(axis=1))
    low = np.where(p_calibrated < (1 - confidence) / 2, np.clip(strong - margin, 0, value), 0.0)
    high = np.clip(np.maximum(mild + margin, value), 0, 1)
    value, low, high = (np.where(total > 0, numbers, np.nan) for numbers in (value, low, high))
    return Estimates(value=value, low=low, high=high, n=total)


def _fold(mean: Float[np.ndarray, "c b"], error: Float[np.ndarray, "c b"]) -> Float[np.ndarray, "c b"]:
    """Return the expected distance from zero of a normal value with this mean and standard deviation."""
    from scipy.special import ndtr

    ratio = mean / error
    return error * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + mean * (1 - 2 * ndtr(-ratio))
