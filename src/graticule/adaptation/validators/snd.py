"""Soft neighbourhood density: target images that are predicted alike should lie in dense neighbourhoods."""

from __future__ import annotations

import numpy as np

from graticule.adaptation.validators.seen import Seen, find_entropies, find_probabilities

TEMPERATURE = 0.05
"""As in the paper, section 3.2."""
BLOCK_ROWS = 1024


def score_snd(seen: Seen) -> float:
    """Return the mean entropy of each image's soft neighbourhood among the others.

    Notes
    -----
    Computed in blocks of rows: memory grows with the number of images, not with its square.

    References
    ----------
    Saito et al. 2021, "Tune it the right way: unsupervised validation of domain adaptation via soft neighborhood
    density", equations 2 to 4.
    """
    from scipy.special import softmax

    probabilities = find_probabilities(seen.target_logits)
    units = probabilities / np.linalg.norm(probabilities, axis=1, keepdims=True)
    n = len(units)
    if n < 2:
        return float("nan")
    total = 0.0
    for start in range(0, n, BLOCK_ROWS):
        rows = np.arange(start, min(start + BLOCK_ROWS, n))
        similarity = units[rows] @ units.T / TEMPERATURE
        similarity[np.arange(len(rows)), rows] = -np.inf
        total += float(find_entropies(softmax(similarity, axis=1)).sum())
    return total / n
