"""Adjusted p-values: textbook values, NaN, and order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from graticule.evaluation.adjustment import adjust_benjamini_hochberg, adjust_holm

# The fifteen p-values of Benjamini and Hochberg (1995), section 4.1.
PUBLISHED = np.array(
    [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
)


def test_the_published_example_rejects_four_by_rate_and_three_by_holm():
    assert (adjust_benjamini_hochberg(PUBLISHED) <= 0.05).sum() == 4
    assert (adjust_holm(PUBLISHED) <= 0.05).sum() == 3


def test_benjamini_hochberg_equals_scipy():
    assert adjust_benjamini_hochberg(PUBLISHED[::-1]) == pytest.approx(false_discovery_control(PUBLISHED[::-1]))


def test_holm_equals_its_definition():
    shuffled = np.random.default_rng(0).permutation(PUBLISHED)
    ordered = np.sort(shuffled)
    expected = [max(min(1, (15 - i) * ordered[i]) for i in range(15) if ordered[i] <= p) for p in shuffled]
    assert adjust_holm(shuffled) == pytest.approx(expected)


@pytest.mark.parametrize("adjust", [adjust_holm, adjust_benjamini_hochberg])
def test_nan_is_no_test(adjust):
    with_nan = np.insert(PUBLISHED, [0, 7], np.nan)
    found = adjust(with_nan)
    assert np.isnan(found).sum() == 2
    assert found[~np.isnan(found)] == pytest.approx(adjust(PUBLISHED))
    assert np.isnan(adjust(np.array([np.nan]))).all()
    assert len(adjust(np.array([]))) == 0
