"""Features turned into their principal axes, where a fit with an L2 penalty is the same and quicker.

Turning is orthogonal: it changes no length and no inner product, so weights found in the new axes are those of the old
ones, turned. In the new axes the features are uncorrelated, so that each axis can be given a step of its own; and axes
along which nothing varies fall away, which are many where there are fewer images than features.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64

SMALLEST_SHARE = 1e-10
"""Axes with less than this share of the largest axis' variance are dropped: below float32's resolution of lengths."""
BLOCK_ROWS = 8192


def find_axes(features: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "d r"]:
    """Return the axes along which centred features vary, most first; orthonormal columns.

    Notes
    -----
    Where there are fewer images than features, the axes come from the images' inner products, which is the smaller
    problem with the same answer.
    """
    from scipy.linalg import eigh

    n_images, n_features = features.shape
    if n_images < n_features:
        products = _sum_products(np.ascontiguousarray(features.T))
        variances, sides = eigh(products, driver="evd")
        kept = variances > SMALLEST_SHARE * max(variances[-1], 0)
        axes = features.T.astype(np.float64) @ (sides[:, kept] / np.sqrt(variances[kept]))
    else:
        variances, axes = eigh(_sum_products(features), driver="evd")
        axes = axes[:, variances > SMALLEST_SHARE * max(variances[-1], 0)]
    return np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)


def _sum_products(features: Float32[np.ndarray, "n d"]) -> Float64[np.ndarray, "d d"]:
    products = np.zeros((features.shape[1],) * 2)
    for start in range(0, len(features), BLOCK_ROWS):
        block = features[start : start + BLOCK_ROWS].astype(np.float64)
        products += block.T @ block
    return products
