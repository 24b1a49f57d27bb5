"""Fréchet distance: between two Gaussians with the sides' means and covariances, on the leading principal axes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.distances.sides import Sides
from graticule.models.principal_axes import find_axes

N_AXES = 16
"""Covariances of more axes than a tenth of the images are mostly noise, so few axes are used."""


def measure_frechet(sides: Sides) -> Float[np.ndarray, " p"]:
    """Return the squared distance, in the features' unit squared; the axes are those of both sides together.

    References
    ----------
    Dowson and Landau (1982), The Fréchet distance between multivariate normal distributions.
    """
    centred = (sides.features - sides.features.mean(axis=0)).astype(np.float32)
    n_axes = max(1, min(N_AXES, len(centred) // 10))
    places = (centred @ find_axes(centred)[:, :n_axes]).astype(np.float64)
    if not places.shape[1]:
        return np.zeros(len(sides.is_target))
    products = np.einsum("na,nb->nab", places, places).reshape(len(places), -1)
    target = sides.is_target.astype(np.float64)
    means, covariances = [], []
    for weight in (1 - target, target):
        total = weight.sum(axis=1)[:, None]
        mean = weight @ places / total
        second = (weight @ products / total).reshape(len(weight), places.shape[1], places.shape[1])
        means.append(mean)
        covariances.append(second - np.einsum("pa,pb->pab", mean, mean))
    root = _take_root(covariances[0])
    cross = _take_root(root @ covariances[1] @ root)
    traces = np.trace(covariances[0] + covariances[1] - 2 * cross, axis1=1, axis2=2)
    return ((means[0] - means[1]) ** 2).sum(axis=1) + traces


def _take_root(matrices: Float[np.ndarray, "p a a"]) -> Float[np.ndarray, "p a a"]:
    values, axes = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.einsum("pab,pb,pcb->pac", axes, np.sqrt(np.maximum(values, 0.0)), axes)
