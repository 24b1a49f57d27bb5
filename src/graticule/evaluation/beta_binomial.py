"""Shrunken estimates: what a cell's accuracy probably is, given its own few images and all the other cells.

Cells with many images keep their own accuracy; cells with few are drawn towards the others, the more so the more alike
the others are. A cell of four images that are all right is not the best region of the world.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from graticule.evaluation.estimates import Estimates

N_WEIGHTS = 20
"""Points at which the unknown strength of the shrinkage is averaged over."""


def shrink_accuracies(hits: Int[np.ndarray, "l r"], n: Int[np.ndarray, "l r"], *, confidence: float) -> Estimates:
    """Return each cell's accuracy shrunken towards those of its row, with a credible interval; rows after one another.

    Parameters
    ----------
    hits, n
        Right images and all images of each cell, shape ``(l, r)``. Cells of a row inform each other; cells without
        images come back as NaN.
    confidence
        Probability within the interval, as a fraction.

    Notes
    -----
    A beta-binomial model: the accuracies of a row's cells come from a beta distribution with mean ``μ`` and strength
    ``s`` (in images), hits are binomial. Instead of the single most likely strength, which is infinite as soon as the
    cells happen to be alike, the posterior is averaged over strengths by their likelihood. The prior is uniform on the
    square root of the weight of shrinkage ``s / (s + n̄)``, ``n̄`` being the harmonic mean of the cells' images: with
    six cells it covers better than Daniels' uniform prior on the weight itself. For each strength ``μ`` is the
    weighted mean of the cells, and its own uncertainty is added. Interval: quantiles of the beta distribution with the
    posterior's mean and variance. A row with one cell has nothing to shrink to: it gets Jeffreys' interval and mean.

    References
    ----------
    Daniels (1999), A prior for the variance in hierarchical models; Efron and Morris (1975), Data analysis using
    Stein's estimator and its generalizations.
    """
    from scipy.special import betaincinv

    alpha, beta = hits + 0.5, n - hits + 0.5
    mean = alpha / (alpha + beta)
    variance = mean * (1 - mean) / (alpha + beta + 1)
    several = np.count_nonzero(n > 0, axis=1) >= 2
    if several.any():
        mean[several], variance[several] = _find_posterior(
            hits[several].astype(np.float64), n[several].astype(np.float64)
        )
    strength = np.maximum(mean * (1 - mean) / variance - 1, 1e-3)
    low = betaincinv(mean * strength, (1 - mean) * strength, (1 - confidence) / 2)
    high = betaincinv(mean * strength, (1 - mean) * strength, (1 + confidence) / 2)
    empty = n == 0
    value, low, high = (np.where(empty, np.nan, numbers).ravel() for numbers in (mean, low, high))
    return Estimates(value=value, low=low, high=high, n=n.ravel())


def _find_posterior(hits: Float[np.ndarray, "l r"], n: Float[np.ndarray, "l r"]) -> Float[np.ndarray, "2 l r"]:
    """Return the mean and variance of each cell's accuracy, averaged over the strength of shrinkage."""
    from scipy.special import betaln

    present = n > 0
    n_cells = np.maximum(present.sum(axis=1, keepdims=True), 1)
    usual = n_cells / np.where(present, 1 / np.maximum(n, 1), 0).sum(axis=1, keepdims=True).clip(1e-12)
    likelihoods, means, squares = [], [], []
    for weight in ((np.arange(N_WEIGHTS) + 0.5) / N_WEIGHTS) ** 2:
        strength = usual * weight / (1 - weight)
        centre, uncertainty = _find_centre(hits, n, strength)
        alpha, beta = centre * strength, (1 - centre) * strength
        likelihood = np.where(present, betaln(hits + alpha, n - hits + beta) - betaln(alpha, beta), 0)
        likelihoods.append(likelihood.sum(axis=1))
        mean = (hits + alpha) / (n + strength)
        pulled = strength / (n + strength)
        variance = mean * (1 - mean) / (n + strength + 1) + pulled**2 * uncertainty
        means.append(mean)
        squares.append(variance + mean**2)
    logs = np.stack(likelihoods)
    shares = np.exp(logs - logs.max(axis=0))
    shares = (shares / shares.sum(axis=0))[:, :, None]
    mean = (shares * np.stack(means)).sum(axis=0)
    variance = (shares * np.stack(squares)).sum(axis=0) - mean**2
    return np.stack([mean, np.maximum(variance, 1e-12)])


def _find_centre(
    hits: Float[np.ndarray, "l r"], n: Float[np.ndarray, "l r"], strength: Float[np.ndarray, "l 1"]
) -> Float[np.ndarray, "2 l 1"]:
    """Return the mean that cells are drawn to, and its variance: a weighted mean, with one image more of even odds.

    A cell of n images counts as ``n (s + 1) / (n + s)`` independent ones when cells differ with strength ``s``.
    """
    effective = np.where(n > 0, n * (strength + 1) / np.maximum(n + strength, 1e-12), 0)
    total = effective.sum(axis=1, keepdims=True)
    centre = ((effective * hits / np.maximum(n, 1)).sum(axis=1, keepdims=True) + 0.5) / (total + 1)
    return np.stack([centre, centre * (1 - centre) / (total + 2)])
