"""Confidence intervals in closed form: a proportion, a difference of two, and a difference on the same images."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.estimates import Estimates


def find_quantile(confidence: float) -> float:
    """Return how many standard errors a two-sided normal interval reaches.

    Examples
    --------
    >>> round(find_quantile(0.95), 3)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def wilson_interval(hits: Int[np.ndarray, " m"], n: Int[np.ndarray, " m"], *, confidence: float) -> Estimates:
    """Return proportions with Wilson's score interval; NaN with n = 0 where there is no image.

    Parameters
    ----------
    hits
        Images that were right, shape ``(m,)``.
    n
        Images in all, shape ``(m,)``.
    confidence
        Coverage of the interval, as a fraction.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> found = wilson_interval(np.array([8]), np.array([10]), confidence=0.95)
    >>> found.value.round(3), found.low.round(3), found.high.round(3)
    (array([0.8]), array([0.49]), array([0.943]))
    """
    z = find_quantile(confidence)
    total = np.where(n > 0, n, np.nan).astype(np.float64)
    share = hits / total
    scale = 1 + z**2 / total
    centre = (share + z**2 / (2 * total)) / scale
    margin = z / scale * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    low = np.where(hits == 0, np.where(n > 0, 0.0, np.nan), centre - margin)
    high = np.where(hits == n, np.where(n > 0, 1.0, np.nan), centre + margin)
    return Estimates(value=share, low=low, high=high, n=n)


def newcombe_interval(
    first: Estimates,
    second: Estimates,
) -> Estimates:
    """Return differences of two independent proportions, first minus second, by Newcombe's square-and-add.

    Parameters
    ----------
    first, second
        Proportions with their Wilson intervals, shape ``(m,)`` each.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.
    """
    value = first.value - second.value
    down = np.hypot(first.value - first.low, second.high - second.value)
    up = np.hypot(first.high - first.value, second.value - second.low)
    n = np.where((first.n > 0) & (second.n > 0), first.n, 0)
    return Estimates(value=value, low=value - down, high=value + up, n=n)


def paired_interval(
    only_first: Int[np.ndarray, " m"],
    only_second: Int[np.ndarray, " m"],
    n: Int[np.ndarray, " m"],
    *,
    confidence: float,
) -> Estimates:
    """Return differences of two models' accuracies on the same images, by Bonett and Price's adjusted interval.

    Parameters
    ----------
    only_first
        Images that only the first model got right, shape ``(m,)``.
    only_second
        Images that only the second model got right, shape ``(m,)``.
    n
        Images that both were scored on, shape ``(m,)``.
    confidence
        Coverage of the interval, as a fraction.

    References
    ----------
    Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial proportions based on paired
    data.
    """
    z = find_quantile(confidence)
    total = np.where(n > 0, n, np.nan).astype(np.float64)
    value = (only_first - only_second) / total
    first = (only_first + 1) / (total + 2)
    second = (only_second + 1) / (total + 2)
    margin = z * np.sqrt((first + second - (first - second) ** 2) / (total + 2))
    centre = first - second
    low = np.minimum(np.maximum(centre - margin, -1.0), value)
    high = np.maximum(np.minimum(centre + margin, 1.0), value)
    return Estimates(value=value, low=low, high=high, n=n)


def logit_interval(
    value: Float[np.ndarray, " m"], variance: Float[np.ndarray, " m"], *, confidence: float
) -> Float[np.ndarray, "2 m"]:
    """Return the ends of intervals of numbers between 0 and 1, made on the logit scale so that they stay there.

    Parameters
    ----------
    value
        The numbers, strictly between 0 and 1, shape ``(m,)``; NaN comes back for others.
    variance
        Their variances, shape ``(m,)``.
    confidence
        Coverage of the interval, as a fraction.
    """
    z = find_quantile(confidence)
    inside = np.where((value > 0) & (value < 1), value, np.nan)
    logit = np.log(inside / (1 - inside))
    margin = z * np.sqrt(variance) / (inside * (1 - inside))
    with np.errstate(over="ignore"):
        return np.stack([1 / (1 + np.exp(margin - logit)), 1 / (1 + np.exp(-margin - logit))])
