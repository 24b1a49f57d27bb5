"""The bootstrap from counts is the bootstrap of rows, only faster; and it never narrows to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.evaluation.bootstrap import bootstrap_balanced_accuracy, bootstrap_gaps


def test_counts_drawn_have_the_law_of_rows_drawn():
    rng = np.random.default_rng(0)
    n, hits = np.array([40, 90, 250]), np.array([30, 60, 240])
    rows = [np.arange(size) < right for size, right in zip(n, hits, strict=True)]
    slow = np.array([np.mean([rng.choice(row, len(row)).mean() for row in rows]) for _ in range(4000)])
    found = bootstrap_balanced_accuracy(hits, n, confidence=0.95, n_bootstraps=4000, rng=rng)
    assert found.value[0] == pytest.approx((hits / n).mean())
    assert found.low[0] == pytest.approx(np.quantile(slow, 0.025), abs=0.006)
    assert found.high[0] == pytest.approx(np.quantile(slow, 0.975), abs=0.006)


def test_labels_with_equal_counts_are_drawn_together_with_the_same_law():
    rng = np.random.default_rng(1)
    many = bootstrap_balanced_accuracy(np.full(200, 8), np.full(200, 10), confidence=0.95, n_bootstraps=4000, rng=rng)
    # 200 labels of 10 images are one of 2,000 as far as the mean's spread goes.
    one = bootstrap_balanced_accuracy(np.array([1600]), np.array([2000]), confidence=0.95, n_bootstraps=4000, rng=rng)
    assert many.high[0] - many.low[0] == pytest.approx(one.high[0] - one.low[0], rel=0.1)


def test_labels_without_images_take_no_part():
    found = bootstrap_balanced_accuracy(
        np.array([5, 0, 10]), np.array([10, 0, 10]), confidence=0.95, n_bootstraps=100, rng=np.random.default_rng(0)
    )
    assert found.value[0] == 0.75
    assert found.n[0] == 20


def test_nothing_is_nan_with_n_zero():
    rng = np.random.default_rng(0)
    empty = bootstrap_balanced_accuracy(np.array([0]), np.array([0]), confidence=0.95, n_bootstraps=10, rng=rng)
    single = bootstrap_gaps(np.array([[5, 0]]), np.array([[9, 0]]), confidence=0.95, n_bootstraps=10, rng=rng)
    for found in (empty, single):
        assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
        assert found.n[0] == 0


def test_a_gap_lies_in_its_interval_and_equal_rows_get_equal_answers():
    rng = np.random.default_rng(2)
    n = rng.integers(0, 300, (200, 5))
    hits = rng.binomial(n, 0.7)
    n, hits = np.concatenate([n, n]), np.concatenate([hits, hits])
    found = bootstrap_gaps(hits, n, confidence=0.95, n_bootstraps=200, rng=rng)
    known = found.n > 0
    assert (found.low[known] >= 0).all()
    assert (found.low[known] <= found.value[known]).all()
    assert (found.value[known] <= found.high[known]).all()
    assert (found.high[known] <= 1).all()
    assert found.low[:200].tolist() == pytest.approx(found.low[200:].tolist(), nan_ok=True)
    shares = np.where(n > 0, hits / np.maximum(n, 1), np.nan)
    assert found.value[known] == pytest.approx((np.nanmax(shares, axis=1) - np.nanmin(shares, axis=1))[known])
