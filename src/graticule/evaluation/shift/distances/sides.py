"""What a distance is given: features, and which of them are on the target's side, in fact and in permutations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sides:
    """Images of two sides, divided in ``p`` ways.

    Parameters
    ----------
    features
        Shape ``(n, d)``.
    is_target
        Which images are on the target's side, shape ``(p, n)``: in fact in the first row, permuted in the others.
    folds
        Fold of each image for what is cross-validated, shape ``(n,)``; images of one group share a fold.
    """

    features: Float[np.ndarray, "n d"]
    is_target: Bool[np.ndarray, "p n"]
    folds: Int[np.ndarray, " n"]


Distance = Callable[[Sides], Float[np.ndarray, " p"]]
"""Gives the distance in each of the ``p`` ways to divide the images."""


def measure_pairs(features: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n n"]:
    """Return the squared Euclidean distances between all pairs of images."""
    centred = features - features.mean(axis=0)
    lengths = np.einsum("nd,nd->n", centred, centred)
    squared = lengths[:, None] + lengths[None, :] - 2 * (centred @ centred.T)
    np.fill_diagonal(squared, 0.0)
    return np.maximum(squared, 0.0)


def average_pairs(values: Float[np.ndarray, "n n"], is_target: Bool[np.ndarray, "p n"]) -> Float[np.ndarray, "p 3"]:
    """Return the mean over pairs of different images: both source, both target, one of each; NaN where none.

    Parameters
    ----------
    values
        A symmetric number for each pair, with a diagonal of zeros.
    is_target
        Sides, as in `Sides`.
    """
    target = is_target.astype(np.float64)
    rows = target @ values
    both = np.einsum("pn,pn->p", rows, target)
    all_target = rows.sum(axis=1)
    one = all_target - both
    neither = values.sum() - both - 2 * one
    n_target = target.sum(axis=1)
    n_source = is_target.shape[1] - n_target
    pairs = np.stack([n_source * (n_source - 1), n_target * (n_target - 1), n_source * n_target], axis=1)
    sums = np.stack([neither, both, one], axis=1)
    return np.divide(sums, pairs, out=np.full(sums.shape, np.nan), where=pairs > 0)
