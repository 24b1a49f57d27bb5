"""Label frequencies: common shares, and the target's shares estimated without its labels."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.evaluation.shift.label_shift import LABEL_SHIFTS
from graticule.evaluation.shift.label_shift.estimate import estimate_shares
from graticule.evaluation.shift.outcomes import Outcomes
from graticule.evaluation.shift.prior import measure_total_variation, weigh_labels


def make_outcomes():
    """Source: 30 of a (20 right), 10 of b (2 right). Target: 10 of a (5 right), 30 of b (3 right), 5 of c."""
    cells = [("a", 0, 20, 30), ("b", 0, 2, 10), ("a", 1, 5, 10), ("b", 1, 3, 30), ("c", 1, 5, 5)]
    rows = [("abc".index(label), bool(side), place < hits) for label, side, hits, n in cells for place in range(n)]
    label, is_target, is_right = (np.array(column) for column in zip(*rows, strict=True))
    return Outcomes(
        labels=("a", "b", "c"), label=label, is_target=is_target, is_right=is_right, groups=np.arange(len(rows))
    )


def test_accuracies_weighed_to_common_shares_by_hand():
    found = weigh_labels(make_outcomes(), fewest=10, n_bootstraps=20)
    assert found["own"].source.value[0] == pytest.approx(22 / 40)
    assert found["own"].target.value[0] == pytest.approx(13 / 45)
    assert found["balanced"].drop.value[0] == pytest.approx((2 / 3 + 0.2) / 2 - (0.5 + 0.1) / 2)
    assert found["matched"].target.value[0] == pytest.approx((0.5 * 10 + 0.1 * 10) / 20)
    assert found["source"].target.value[0] == pytest.approx((0.5 * 30 + 0.1 * 10) / 40)
    assert found["target"].source.value[0] == pytest.approx((2 / 3 * 10 + 0.2 * 30) / 40)
    assert found["own"].drop.low[0] < found["own"].drop.value[0] < found["own"].drop.high[0]


def test_labels_with_few_images_leave_the_balanced_comparison_and_none_left_is_undefined():
    found = weigh_labels(make_outcomes(), fewest=1000, n_bootstraps=20)
    assert np.isnan(found["balanced"].drop.value[0])
    assert found["balanced"].drop.n[0] == 0


def test_total_variation_by_hand():
    assert measure_total_variation(make_outcomes()) == pytest.approx(30 / 40 - 10 / 45)


def draw_scores(shares, n, rng, k=4, sharpness=2.0):
    """Return labels, and the exact posterior probabilities under even shares of a Gaussian model."""
    label = rng.choice(k, size=n, p=shares)
    seen = sharpness * np.eye(k)[label] + rng.normal(size=(n, k))
    scores = np.exp(sharpness * seen)
    return label, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("method", LABEL_SHIFTS)
def test_planted_shares_are_found_within_their_intervals(method):
    rng = np.random.default_rng(0)
    truth = np.array([0.55, 0.25, 0.15, 0.05])
    label, source = draw_scores(np.full(4, 0.25), 2000, rng)
    _, target = draw_scores(truth, 2000, rng)
    found = estimate_shares(label, source, target, method=method, n_bootstraps=30)
    assert found.value.sum() == pytest.approx(1)
    assert np.abs(found.value - truth).sum() / 2 < 0.04
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert ((found.low - 0.01 <= truth) & (truth <= found.high + 0.01)).all()


@pytest.mark.parametrize("method", LABEL_SHIFTS)
def test_without_a_shift_the_sources_shares_come_back(method):
    rng = np.random.default_rng(1)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    label, source = draw_scores(shares, 1500, rng)
    found = estimate_shares(label, source, source, method=method, n_bootstraps=2)
    assert np.allclose(found.value, np.bincount(label) / 1500, atol=0.02)


def test_best_labels_alone_serve_bbse_and_rlls_and_leave_mlls_undefined():
    rng = np.random.default_rng(2)
    label, source = draw_scores(np.full(4, 0.25), 1000, rng, sharpness=3.0)
    _, target = draw_scores(np.array([0.7, 0.1, 0.1, 0.1]), 1000, rng, sharpness=3.0)
    hard = [np.eye(4)[scores.argmax(axis=1)] for scores in (source, target)]
    for method in ("bbse", "rlls"):
        assert estimate_shares(label, *hard, method=method, n_bootstraps=2).value[0] == pytest.approx(0.7, abs=0.06)
    unknown = estimate_shares(label, *hard, method="mlls", n_bootstraps=2)
    assert np.isnan(unknown.value).all()
    assert (unknown.n == 0).all()


def test_an_unknown_estimator_is_named():
    with pytest.raises(ConfigError, match=r"unknown estimator of label shift 'bbs'.*Did you mean 'bbse'"):
        estimate_shares(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), method="bbs")
