from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.models.feature_scaling import SCALES, find_scaling

FEATURES = (np.random.default_rng(0).normal(size=(40, 5)) * [1, 10, 0.1, 3, 0] + [5, 0, 1, -2, 7]).astype(np.float32)


@pytest.mark.parametrize("scale", [name for name in SCALES if name != "none"])
def test_training_rows_are_centred_and_have_a_mean_squared_length_of_one(scale):
    scaled = find_scaling(FEATURES, scale).apply(FEATURES)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    assert np.square(scaled).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)
    assert not scaled[:, 4].any() or scale == "row"


def test_overall_keeps_the_shape_and_column_evens_it_out():
    overall = find_scaling(FEATURES, "overall").apply(FEATURES)
    assert np.ptp(overall.std(axis=0)[:4] / FEATURES.std(axis=0)[:4]) < 1e-5
    column = find_scaling(FEATURES, "column").apply(FEATURES)
    np.testing.assert_allclose(column.std(axis=0)[:4], 0.5, rtol=1e-4)


def test_row_scaling_forgets_how_long_a_vector_is():
    scaling = find_scaling(FEATURES, "row")
    np.testing.assert_allclose(scaling.apply(FEATURES * 7), scaling.apply(FEATURES), atol=1e-5)


def test_none_leaves_features_as_they_are():
    np.testing.assert_array_equal(find_scaling(FEATURES, "none").apply(FEATURES), FEATURES)


@pytest.mark.parametrize("scale", sorted(SCALES))
def test_features_that_do_not_vary_give_finite_numbers(scale):
    constant = np.full((4, 3), 1 / 3, dtype=np.float32)
    assert np.isfinite(find_scaling(constant, scale).apply(constant)).all()
    nothing = np.zeros((4, 3), dtype=np.float32)
    assert np.isfinite(find_scaling(nothing, scale).apply(nothing)).all()


def test_half_precision_is_computed_in_single():
    scaling = find_scaling(FEATURES.astype(np.float16), "overall")
    assert scaling.apply(FEATURES.astype(np.float16)).dtype == np.float32


def test_an_unknown_scale_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown scale 'colunm'.*Did you mean 'column'"):
        find_scaling(FEATURES, "colunm")
