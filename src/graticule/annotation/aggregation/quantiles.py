"""A soft split of values into quantiles in which equal values share alike."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

DIGITS = 9
"""Values that agree in so many digits after the point are equal."""


def split_by_quantile(
    values: Float[np.ndarray, " n"], *, weights: Float[np.ndarray, " n"], n_bins: int
) -> Float[np.ndarray, "n b"]:
    """Return the part of each value that lies in each quantile bin, lowest first, shape ``(n, b)``; rows sum to 1.

    The bins have the same weight. Equal values take the same stretch of the ordered weight, so the order in which the
    values are given does not matter.

    Examples
    --------
    >>> split_by_quantile(np.array([1.0, 3.0, 2.0, 2.0]), weights=np.ones(4), n_bins=2).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]
    """
    _, group = np.unique(np.round(values, DIGITS), return_inverse=True)
    mass = np.bincount(group, weights=weights)
    ends = np.cumsum(mass)
    total = ends[-1] if ends[-1] > 0 else 1.0
    low, high = (ends - mass) / total, ends / total
    edges = np.arange(n_bins + 1) / n_bins
    overlap = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    overlap = np.maximum(overlap, 0.0)
    width = overlap.sum(axis=1, keepdims=True)
    within = np.minimum((low * n_bins).astype(int), n_bins - 1)
    point = np.eye(n_bins)[within]
    return np.where(width > 0, overlap / np.where(width > 0, width, 1.0), point)[group]
