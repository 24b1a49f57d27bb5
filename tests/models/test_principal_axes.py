from __future__ import annotations

import numpy as np
import pytest

from graticule.models.principal_axes import find_axes


@pytest.mark.parametrize(("n", "d"), [(50, 8), (8, 50), (20, 20), (1, 5), (5, 1)])
def test_turning_keeps_lengths_and_leaves_axes_uncorrelated(n, d):
    features = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    axes = find_axes(features)
    turned = features @ axes
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-5)
    np.testing.assert_allclose(turned @ turned.T, features @ features.T, atol=1e-3)
    products = turned.T @ turned
    assert np.abs(products - np.diag(np.diag(products))).max() < 1e-3 * products.max()
    assert (np.diff(np.diag(products)) <= 1e-3).all()
    assert axes.shape == (d, min(n, d))


def test_axes_along_which_nothing_varies_fall_away():
    features = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    wide = np.column_stack([features, features[:, :1] * 2, np.zeros(30)]).astype(np.float32)
    assert find_axes(wide).shape == (4, 2)
    assert find_axes(np.zeros((5, 3), dtype=np.float32)).shape[1] == 0
