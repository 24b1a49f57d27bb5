"""From which unknown score on an image counts as unknown: as published, or where the target's own scores split."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

THRESHOLDS = {
    "published": "what the algorithm's authors use; entropy of ln(k)/2 where they use none",
    "calibrated": "where the target's unknown scores split best into two groups (Otsu), without labels",
}
"""Name of a threshold → what it is."""


def split_scores(scores: Float[np.ndarray, " n"]) -> float:
    """Return the threshold between two groups with the largest variance between them; NaN for fewer than two values.

    References
    ----------
    Otsu 1979, "A threshold selection method from gray-level histograms".

    Examples
    --------
    >>> split_scores(np.array([0.0, 0.1, 0.2, 0.9, 1.0]))
    0.55
    """
    values = np.sort(scores.astype(np.float64))
    n = len(values)
    cuts = np.flatnonzero(np.diff(values) > 0)
    if not len(cuts):
        return float("nan") if n < 2 else float(values[-1])
    left = np.cumsum(values)[cuts] / (cuts + 1)
    right = (values.sum() - np.cumsum(values)[cuts]) / (n - cuts - 1)
    between = (cuts + 1) * (n - cuts - 1) * (left - right) ** 2
    best = cuts[int(between.argmax())]
    return float((values[best] + values[best + 1]) / 2)
