"""Multinomial logistic regression the slow and obvious way: Newton's method on the whole Hessian, in float64."""

from __future__ import annotations

import numpy as np


def fit_by_newton(features, targets, *, n_labels, inverse_penalty, n_steps=50):
    """Return weights (d, k), intercepts (k,) and the objective at the minimum."""
    n_rows, n_features = features.shape
    design = np.column_stack([features.astype(np.float64), np.ones(n_rows)])
    penalty = np.r_[np.full(n_features, 1 / (inverse_penalty * n_rows)), 0]
    wanted = np.eye(n_labels)[targets]
    weights = np.zeros((n_features + 1, n_labels))
    for _ in range(n_steps):
        shares = _softmax(design @ weights)
        slope = design.T @ (shares - wanted) / n_rows + penalty[:, None] * weights
        hessian = np.zeros((weights.size, weights.size))
        for row, share in zip(design, shares, strict=True):
            hessian += np.kron(np.outer(row, row), np.diag(share) - np.outer(share, share)) / n_rows
        hessian += np.kron(np.diag(penalty), np.eye(n_labels))
        step = np.linalg.lstsq(hessian, slope.ravel(), rcond=1e-12)[0].reshape(weights.shape)
        weights = weights - step
        if np.abs(step).max() < 1e-12:
            break
    return weights[:-1], weights[-1], objective(features, targets, weights[:-1], weights[-1], inverse_penalty)


def objective(features, targets, weights, intercepts, inverse_penalty):
    """Return mean loss plus penalty, as the module's description writes it."""
    scores = features.astype(np.float64) @ weights + intercepts
    highest = scores.max(axis=1)
    losses = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest - scores[np.arange(len(targets)), targets]
    return losses.mean() + np.square(weights).sum() / (2 * inverse_penalty * len(targets))


def _softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
