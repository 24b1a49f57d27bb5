"""How often a linear classifier can tell from an image's features which side it is from, cross-validated.

The classifier is ridge regression on the side, which for two classes points where Fisher's discriminant does. Its
predictions of left-out images follow from one factorisation of the features for every way to divide the images at once,
so that a permutation test costs little more than the classifier.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.distances.sides import Sides

PENALTY = 0.1
"""Ridge penalty as a share of the features' mean variance over the axes along which they vary."""


def measure_domain_classifier(sides: Sides) -> Float[np.ndarray, " p"]:
    """Return the balanced accuracy on left-out images: 0.5 where the sides cannot be told apart, at most 1.

    References
    ----------
    Lopez-Paz and Oquab (2017), Revisiting classifier two-sample tests. Left-out predictions of a linear smoother:
    Golub, Heath and Wahba (1979), and for whole folds their block form.
    """
    n_images = len(sides.features)
    n_target = sides.is_target.sum(axis=1, keepdims=True)
    # Each side weighs the same, so that the threshold lies midway whatever the sizes.
    coded = np.where(sides.is_target, n_images / n_target, -n_images / (n_images - n_target)).T
    hat = _find_hat(sides.features)
    residuals = coded - hat @ coded
    scores = np.empty(coded.shape)
    for fold in np.unique(sides.folds):
        inside = np.flatnonzero(sides.folds == fold)
        block = np.eye(len(inside)) - hat[np.ix_(inside, inside)]
        scores[inside] = coded[inside] - np.linalg.solve(block, residuals[inside])
    is_right = sides.is_target == (scores > 0).T
    found = (is_right & sides.is_target).sum(axis=1) / n_target[:, 0]
    kept = (is_right & ~sides.is_target).sum(axis=1) / (n_images - n_target[:, 0])
    return (found + kept) / 2


def _find_hat(features: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n n"]:
    """Return the matrix that turns observed into fitted values: an intercept and penalised features."""
    n_images = len(features)
    centred = (features - features.mean(axis=0)).astype(np.float64)
    if n_images <= features.shape[1]:
        variances, axes = np.linalg.eigh(centred @ centred.T)
    else:
        axes, lengths, _ = np.linalg.svd(centred, full_matrices=False)
        variances = lengths**2
    kept = variances > 1e-10 * max(float(variances.max(initial=0.0)), 1e-300)
    variances, axes = variances[kept], axes[:, kept]
    penalty = PENALTY * float(variances.mean()) if len(variances) else 1.0
    return np.full((n_images, n_images), 1 / n_images) + (axes * (variances / (variances + penalty))) @ axes.T
