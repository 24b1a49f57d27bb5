"""Features put on a common scale before a probe is fitted, so that one range of penalties suits every model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32

from graticule.errors import unknown_choice

SCALES = {
    "overall": "centred, then divided by one number: the root mean squared length (angles between images are kept)",
    "column": "each feature centred and divided by its own standard deviation",
    "row": "each image's features divided by their length, then as overall",
    "none": "as they are",
}
"""Name of a scale → what is done."""
SMALLEST_SHARE = 1e-12
"""A feature whose variance is a smaller share of its mean square does not vary: what is left is float32's rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaling:
    """What is done to features, learned from the rows that a probe is trained on.

    Parameters
    ----------
    mean
        Taken away from every row, shape ``(d,)``.
    factor
        Every row is then multiplied by it, shape ``(d,)``.
    by_row
        Whether a row is divided by its length first.
    """

    mean: Float32[np.ndarray, " d"]
    factor: Float32[np.ndarray, " d"]
    by_row: bool

    def apply(self, features: Float[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
        """Return scaled features."""
        rows = _divide_by_length(features) if self.by_row else features.astype(np.float32)
        return (rows - self.mean) * self.factor


def find_scaling(features: Float[np.ndarray, "n d"], scale: str) -> Scaling:
    """Return the scaling of one of `SCALES` for the rows of a training set.

    Notes
    -----
    After ``overall``, ``column`` and ``row`` the mean squared length of the training rows is 1, so that C means the
    same whatever the model and the number of its features: the prior variance of a score is about C. A feature
    that does not vary in the training rows becomes 0 everywhere.
    """
    if scale not in SCALES:
        raise unknown_choice("scale", scale, SCALES)
    n_features = features.shape[1]
    by_row = scale == "row"
    if scale == "none":
        ones = np.ones(n_features, dtype=np.float32)
        return Scaling(mean=np.zeros(n_features, dtype=np.float32), factor=ones, by_row=False)
    rows = _divide_by_length(features) if by_row else features.astype(np.float32)
    mean = rows.mean(axis=0, dtype=np.float64)
    square = np.einsum("nd,nd->d", rows, rows, dtype=np.float64) / len(rows)
    variance = square - mean**2
    varies = variance > SMALLEST_SHARE * square
    spread = variance * np.count_nonzero(varies) if scale == "column" else np.full(n_features, variance[varies].sum())
    factor = np.divide(1, np.sqrt(np.abs(spread)), out=np.zeros(n_features), where=varies)
    return Scaling(mean=mean.astype(np.float32), factor=factor.astype(np.float32), by_row=by_row)


def _divide_by_length(features: Float[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    rows = features.astype(np.float32)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
