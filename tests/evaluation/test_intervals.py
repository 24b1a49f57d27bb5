"""Closed-form intervals: textbook values, edges, and the order of value and ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.evaluation.intervals import (
    find_quantile,
    logit_interval,
    newcombe_interval,
    paired_interval,
    wilson_interval,
)


def test_wilson_equals_the_textbook():
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3.
    found = wilson_interval(np.array([81, 15, 0, 1]), np.array([263, 148, 20, 29]), confidence=0.95)
    assert found.low == pytest.approx([0.2553, 0.0624, 0.0, 0.0061], abs=5e-5)
    assert found.high == pytest.approx([0.3662, 0.1605, 0.1611, 0.1718], abs=5e-5)


def test_newcombe_equals_the_textbook():
    # Newcombe (1998), Interval estimation for the difference between independent proportions, table II, method 10.
    first = wilson_interval(np.array([56, 9, 10, 10]), np.array([70, 10, 10, 10]), confidence=0.95)
    second = wilson_interval(np.array([48, 3, 0, 0]), np.array([80, 10, 20, 10]), confidence=0.95)
    found = newcombe_interval(first, second)
    assert found.value == pytest.approx([0.2, 0.6, 1.0, 1.0])
    assert found.low == pytest.approx([0.0524, 0.1705, 0.6791, 0.6075], abs=5e-5)
    assert found.high == pytest.approx([0.3339, 0.8090, 1.0, 1.0], abs=5e-5)


def test_bonett_price_equals_its_formula_written_out():
    found = paired_interval(np.array([12]), np.array([2]), np.array([90]), confidence=0.95)
    first, second = 13 / 92, 3 / 92
    margin = 1.959964 * np.sqrt((first + second - (first - second) ** 2) / 92)
    assert found.value == pytest.approx([10 / 90])
    assert found.low == pytest.approx([first - second - margin], abs=1e-6)
    assert found.high == pytest.approx([first - second + margin], abs=1e-6)


def test_nothing_known_is_nan_with_n_zero_and_never_zero():
    for found in (
        wilson_interval(np.array([0]), np.array([0]), confidence=0.95),
        paired_interval(np.array([0]), np.array([0]), np.array([0]), confidence=0.95),
    ):
        assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
        assert found.n[0] == 0


def test_all_right_and_all_wrong_still_have_a_width():
    found = wilson_interval(np.array([0, 25]), np.array([25, 25]), confidence=0.95)
    assert found.low.tolist() == pytest.approx([0.0, 0.8668], abs=5e-5)
    assert found.high.tolist() == pytest.approx([0.1332, 1.0], abs=5e-5)


def test_logit_intervals_are_undefined_at_the_ends():
    low, high = logit_interval(np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.01, 0.1]), confidence=0.95)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, True]
    assert low[1] + high[1] == pytest.approx(1)


@given(st.integers(1, 5000), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_every_interval_holds_its_value_and_stays_in_range(n, data, confidence):
    hits = data.draw(st.integers(0, n))
    other = data.draw(st.integers(0, n - hits))
    share = wilson_interval(np.array([hits]), np.array([n]), confidence=confidence)
    assert 0 <= share.low[0] <= share.value[0] <= share.high[0] <= 1
    pair = paired_interval(np.array([hits]), np.array([other]), np.array([n]), confidence=confidence)
    assert -1 <= pair.low[0] <= pair.value[0] <= pair.high[0] <= 1


def test_a_wider_confidence_gives_a_wider_interval():
    narrow, wide = (wilson_interval(np.array([7]), np.array([10]), confidence=level) for level in (0.8, 0.99))
    assert wide.low[0] < narrow.low[0] < narrow.high[0] < wide.high[0]
    assert find_quantile(0.99) > find_quantile(0.8)
