"""Correlation of the target's predicted probabilities between labels, beside that of a sure and balanced model."""

from __future__ import annotations

import numpy as np

from graticule.adaptation.validators.seen import Seen, find_probabilities


def score_corr_c(seen: Seen) -> float:
    """Return the cosine between the labels' correlation matrix and the identity.

    References
    ----------
    Tu et al. 2023, "Assessing model out-of-distribution generalization with softmax prediction probability baselines
    and a correlation method".
    """
    probabilities = find_probabilities(seen.target_logits)
    correlation = probabilities.T @ probabilities
    return float(np.trace(correlation) / (np.linalg.norm(correlation) * np.sqrt(len(correlation))))
