"""P-values of many tests at once, adjusted so that chance does not win by trying often."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

METHODS = ("holm", "benjamini-hochberg")


def adjust_holm(p_values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """Return p-values adjusted by Holm: those below a level are all real with at least that confidence.

    NaN stays NaN and is not counted as a test.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> adjust_holm(np.array([0.01, 0.04, 0.03])).round(3)
    array([0.03, 0.06, 0.06])
    """
    order, n_tests = _order(p_values)
    adjusted = np.full(len(p_values), np.nan)
    factors = n_tests - np.arange(n_tests)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted


def adjust_benjamini_hochberg(p_values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
    """Return p-values adjusted by Benjamini and Hochberg: of those below a level, about that share are false.

    NaN stays NaN and is not counted as a test.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> adjust_benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(3)
    array([0.03, 0.04, 0.04])
    """
    order, n_tests = _order(p_values)
    adjusted = np.full(len(p_values), np.nan)
    factors = n_tests / (np.arange(n_tests) + 1)
    adjusted[order[::-1]] = np.minimum(np.minimum.accumulate((p_values[order] * factors)[::-1]), 1.0)
    return adjusted


def _order(p_values: Float[np.ndarray, " m"]) -> tuple[np.ndarray, int]:
    n_tests = int(np.count_nonzero(~np.isnan(p_values)))
    return np.argsort(p_values, kind="stable")[:n_tests], n_tests
