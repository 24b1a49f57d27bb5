"""Nuclear norm of the target's predictions: large where they are sure and diverse."""

from __future__ import annotations

import numpy as np

from graticule.adaptation.validators.seen import Seen, find_probabilities


def score_bnm(seen: Seen) -> float:
    """Return the nuclear norm of the matrix of probabilities, divided by its largest possible value.

    References
    ----------
    Cui et al. 2020, "Towards discriminability and diversity: batch nuclear-norm maximization under label insufficient
    situations".
    """
    probabilities = find_probabilities(seen.target_logits)
    n, k = probabilities.shape
    return float(np.linalg.norm(probabilities, ord="nuc") / np.sqrt(n * min(n, k)))
