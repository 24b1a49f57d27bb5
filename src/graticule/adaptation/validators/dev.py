"""Deep embedded validation: the source's errors, weighted as if its images came from the target."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.adaptation.validators.seen import Seen, find_probabilities

RIDGE = 1e-3
"""Penalty of the classifier that tells source from target, per image."""
N_NEWTON = 12
TINY = 1e-6


def score_dev(seen: Seen) -> float:
    """Return minus the weighted risk with its control variate.

    Notes
    -----
    The loss is the cross-entropy. Density ratios come from a logistic regression on standardised features, fitted by
    Newton's method, of the training source images against the target's.

    References
    ----------
    You et al. 2019, "Towards accurate model selection in deep unsupervised domain adaptation", algorithm 1.
    """
    weights = find_density_ratios(seen)
    rows = np.arange(len(seen.source_labels))
    right = find_probabilities(seen.source_logits)[rows, seen.source_labels]
    weighted = weights * -np.log(np.maximum(right, TINY))
    variance = float(weights.var())
    control = -float(np.cov(weighted, weights, ddof=0)[0, 1]) / variance if variance > TINY else 0.0
    return -float(weighted.mean() + control * weights.mean() - control)


def find_density_ratios(seen: Seen) -> Float[np.ndarray, " n"]:
    """Return how much likelier each source image is in the target than in the source."""
    both = np.concatenate([seen.training_features, seen.target_features]).astype(np.float64)
    mean, spread = both.mean(axis=0), both.std(axis=0)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > TINY)
    is_target = np.repeat([0.0, 1.0], [len(seen.training_features), len(seen.target_features)])
    inputs = np.column_stack([(both - mean) * factor, np.ones(len(both))])
    weights = _fit_logistic(inputs, is_target)
    given = (seen.source_features.astype(np.float64) - mean) * factor
    logits = given @ weights[:-1] + weights[-1]
    prior = len(seen.training_features) / len(seen.target_features)
    return prior * np.exp(np.clip(logits, -20, 20))


def _fit_logistic(inputs: Float[np.ndarray, "n d"], targets: Float[np.ndarray, " n"]) -> Float[np.ndarray, " d"]:
    n, d = inputs.shape
    weights = np.zeros(d)
    for _ in range(N_NEWTON):
        p = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        gradient = inputs.T @ (p - targets) / n + RIDGE * weights
        curvature = (inputs * (p * (1 - p))[:, None]).T @ inputs / n + RIDGE * np.eye(d)
        weights -= np.linalg.solve(curvature, gradient)
    return weights
