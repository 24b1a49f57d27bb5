"""How evenly images are spread over labels, regions or countries, and how far two such spreads lie apart."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int64

CHANCE_DRAWS = 200


def find_entropy(counts: Int64[np.ndarray, " k"]) -> float:
    """Return the entropy of a spread over its largest possible, 1 where all parts are equal; NaN below two parts.

    References
    ----------
    Pielou (1966), The measurement of diversity in different types of biological collections.

    Examples
    --------
    >>> find_entropy(np.array([5, 5])), find_entropy(np.array([7, 0])), find_entropy(np.array([3]))
    (1.0, 0.0, nan)
    """
    total = counts.sum()
    if len(counts) < 2 or total == 0:
        return float("nan")
    shares = counts[counts > 0] / total
    return abs(float(-(shares * np.log(shares)).sum() / np.log(len(counts))))


def find_gini(counts: Int64[np.ndarray, " k"]) -> float:
    """Return the Gini coefficient of a spread: 0 where all parts are equal, near 1 where one has all.

    Examples
    --------
    >>> find_gini(np.array([5, 5])), find_gini(np.array([0, 0, 0, 8]))
    (0.0, 0.75)
    """
    total = counts.sum()
    if len(counts) < 1 or total == 0:
        return float("nan")
    ordered = np.sort(counts)
    place = np.arange(1, len(counts) + 1)
    return float((2 * place - len(counts) - 1) @ ordered / (len(counts) * total))


def find_total_variation(first: Int64[np.ndarray, " k"], second: Int64[np.ndarray, " k"]) -> float:
    """Return the total variation between two spreads: the share of one that must move to make it the other.

    Examples
    --------
    >>> find_total_variation(np.array([1, 1]), np.array([1, 3]))
    0.25
    """
    if first.sum() == 0 or second.sum() == 0:
        return float("nan")
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def expect_total_variation(
    first: Int64[np.ndarray, " k"], second: Int64[np.ndarray, " k"], *, rng: np.random.Generator
) -> Float64[np.ndarray, " 2"]:
    """Return the range, from the 2.5 to the 97.5 percent point, of the total variation that chance alone would give.

    Notes
    -----
    All images are dealt anew to the two sides, 200 times, which is a multivariate hypergeometric draw: with few images
    and many labels two samples of the same spread lie far apart.
    """
    pooled = first + second
    n_first = int(first.sum())
    if n_first == 0 or second.sum() == 0:
        return np.full(2, np.nan)
    drawn = rng.multivariate_hypergeometric(pooled, n_first, size=CHANCE_DRAWS, method="marginals")
    apart = np.abs(drawn / n_first - (pooled - drawn) / max(int(second.sum()), 1)).sum(axis=1) / 2
    return np.quantile(apart, [0.025, 0.975])
