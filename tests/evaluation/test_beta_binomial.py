"""Shrunken estimates: few images are drawn to the others, many stay, and odd rows do not break it."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.evaluation.beta_binomial import shrink_accuracies


def shrink(hits, n):
    return shrink_accuracies(np.array([hits]), np.array([n]), confidence=0.95)


def test_four_lucky_images_are_not_the_best_region():
    found = shrink([4, 160, 150, 155], [4, 200, 200, 200])
    assert found.value[0] < 0.85
    assert found.high[0] - found.low[0] > 2 * (found.high[1] - found.low[1])


def test_many_images_keep_their_own_accuracy():
    found = shrink([60_000, 90_000, 75_000], [100_000, 100_000, 100_000])
    assert found.value == pytest.approx([0.6, 0.9, 0.75], abs=1e-3)


def test_cells_that_are_alike_are_pooled():
    found = shrink([160, 161, 159, 160], [200, 200, 200, 200])
    assert np.ptp(found.value) < 0.004
    assert (found.high - found.low < 0.09).all()


def test_the_order_of_cells_is_kept_where_sizes_are_equal():
    found = shrink([100, 120, 150, 180], [200, 200, 200, 200])
    assert (np.diff(found.value) > 0).all()
    assert (
        np.abs(found.value - found.value.mean()) <= np.abs(np.array([0.5, 0.6, 0.75, 0.9]) - found.value.mean())
    ).all()


@pytest.mark.parametrize(
    ("hits", "n"),
    [
        ([0, 0], [10, 10]),
        ([10, 10], [10, 10]),
        ([1, 0, 1], [1, 1, 1]),
        ([0, 10], [10, 10]),
        ([3, 0], [3, 0]),
        ([0], [1]),
    ],
)
def test_odd_rows_have_sane_answers(hits, n):
    found = shrink(hits, n)
    known = np.array(n) > 0
    assert ((found.value > 0) & (found.value < 1))[known].all()
    assert ((found.low >= 0) & (found.low < found.value) & (found.value < found.high) & (found.high <= 1))[known].all()
    assert np.isnan(found.value[~known]).all()


def test_rows_do_not_inform_each_other():
    together = shrink_accuracies(np.array([[5, 9], [50, 90]]), np.array([[10, 10], [100, 100]]), confidence=0.95)
    assert together.value[:2] == pytest.approx(shrink([5, 9], [10, 10]).value)
    assert together.value[2:] == pytest.approx(shrink([50, 90], [100, 100]).value)
