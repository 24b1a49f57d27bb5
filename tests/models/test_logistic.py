from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from graticule.models.logistic import fit_logistic
from graticule.models.logistic_pass import NONE, FoldedRows

_place = Path(__file__).parents[1] / "oracles" / "logistic_by_newton.py"
_spec = importlib.util.spec_from_file_location("logistic_by_newton", _place)
assert _spec is not None
assert _spec.loader is not None
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def make_rows(*, n=120, d=6, k=4, seed=0, n_folds=3):
    rng = np.random.default_rng(seed)
    targets = rng.integers(k, size=n)
    targets[:k] = np.arange(k)
    centres = rng.normal(size=(k, d))
    features = (centres[targets] + rng.normal(size=(n, d))).astype(np.float32)
    bounds = tuple(np.linspace(0, n, n_folds + 1).astype(int).tolist())
    return FoldedRows(features=features, targets=targets, n_labels=k, bounds=bounds)


def without(rows, fold):
    kept = np.r_[0 : rows.bounds[fold], rows.bounds[fold + 1] : len(rows.targets)]
    return rows.features[kept], rows.targets[kept]


@pytest.mark.parametrize("inverse_penalty", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("k", [2, 4])
def test_the_fit_is_the_minimum_that_newtons_method_finds(inverse_penalty, k):
    rows = make_rows(k=k)
    found = fit_logistic(rows, left_out=[NONE], inverse_penalties=[inverse_penalty], tolerance=1e-9)
    weights, _, lowest = oracle.fit_by_newton(rows.features, rows.targets, n_labels=k, inverse_penalty=inverse_penalty)
    assert found.is_converged.all()
    assert found.objective[0] == pytest.approx(lowest, rel=2e-6)
    np.testing.assert_allclose(found.weights[0], weights, atol=2e-3 * np.abs(weights).max())


@pytest.mark.parametrize("inverse_penalty", [0.1, 10.0])
def test_the_fit_is_scikit_learns_at_the_same_c(inverse_penalty):
    linear_model = pytest.importorskip("sklearn.linear_model")
    rows = make_rows(n=300, d=20, k=5, seed=3)
    peer = linear_model.LogisticRegression(C=inverse_penalty, tol=1e-8, max_iter=10_000)
    peer.fit(rows.features.astype(np.float64), rows.targets)
    found = fit_logistic(rows, left_out=[NONE], inverse_penalties=[inverse_penalty], tolerance=1e-9)
    np.testing.assert_allclose(found.predict(rows.features, 0), peer.predict_proba(rows.features), atol=1e-3)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_the_gap_bounds_the_distance_to_the_minimum(tolerance):
    rows = make_rows(seed=5)
    found = fit_logistic(rows, left_out=[NONE], inverse_penalties=[10.0], tolerance=tolerance)
    _, _, lowest = oracle.fit_by_newton(rows.features, rows.targets, n_labels=4, inverse_penalty=10.0)
    above = found.objective[0] - lowest
    assert above > -1e-7
    assert above <= found.gap[0] + 1e-6


def test_fits_side_by_side_are_the_fits_one_by_one():
    rows = make_rows(n=151, n_folds=3)
    left_out, strengths = [NONE, 0, 1, 2, NONE], [1.0, 1.0, 3.0, 0.1, 50.0]
    together = fit_logistic(rows, left_out=left_out, inverse_penalties=strengths, tolerance=1e-8)
    for fit, (fold, strength) in enumerate(zip(left_out, strengths, strict=True)):
        features, targets = (rows.features, rows.targets) if fold == NONE else without(rows, fold)
        alone = FoldedRows(features=features, targets=targets, n_labels=4, bounds=(0, len(targets)))
        found = fit_logistic(alone, left_out=[NONE], inverse_penalties=[strength], tolerance=1e-8)
        assert together.objective[fit] == pytest.approx(found.objective[0], rel=1e-5)
        np.testing.assert_allclose(together.predict(features, fit), found.predict(features, 0), atol=2e-3)


def test_the_loss_on_the_left_out_fold_is_what_the_fit_predicts_there():
    rows = make_rows()
    found = fit_logistic(rows, left_out=[NONE, 1], inverse_penalties=[1.0, 1.0])
    inside = slice(rows.bounds[1], rows.bounds[2])
    right = found.predict(rows.features[inside], 1)[np.arange(40), rows.targets[inside]]
    assert found.left_out_loss[1] == pytest.approx(-np.log(right).mean(), rel=1e-4)
    assert np.isnan(found.left_out_loss[0])


def test_a_label_that_a_fit_has_not_seen_gets_no_probability_and_costs_no_loss():
    rows = make_rows(n=60)
    targets = np.where(np.arange(60) < 20, rows.targets, np.minimum(rows.targets, 2))
    assert (targets[:20] == 3).any()
    rows = FoldedRows(features=rows.features, targets=targets, n_labels=4, bounds=(0, 20, 40, 60))
    found = fit_logistic(rows, left_out=[0, 1], inverse_penalties=[1.0, 1.0])
    assert found.predict(rows.features, 0)[:, 3].max() == 0
    assert found.predict(rows.features, 1)[:, 3].max() > 0
    assert np.isfinite(found.left_out_loss).all()
    assert not found.weights[0][:, 3].any()


def test_starting_at_the_last_fit_gives_the_same_answer_in_fewer_steps():
    rows = make_rows(n=400, d=30)
    first = fit_logistic(rows, left_out=[NONE, 0], inverse_penalties=[1.0, 1.0], tolerance=1e-8)
    cold = fit_logistic(rows, left_out=[NONE, 0], inverse_penalties=[1.2, 1.2], tolerance=1e-8)
    warm = fit_logistic(rows, left_out=[NONE, 0], inverse_penalties=[1.2, 1.2], tolerance=1e-8, start=first)
    assert warm.n_iterations.sum() < cold.n_iterations.sum()
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-5)


def test_blocks_do_not_change_the_fit(monkeypatch):
    rows = make_rows(n=97)
    whole = fit_logistic(rows, left_out=[NONE, 2], inverse_penalties=[1.0, 1.0], tolerance=1e-8)
    monkeypatch.setattr("graticule.models.logistic_pass.BLOCK_ROWS", 7)
    cut = fit_logistic(rows, left_out=[NONE, 2], inverse_penalties=[1.0, 1.0], tolerance=1e-8)
    np.testing.assert_allclose(whole.objective, cut.objective, rtol=1e-6)
    np.testing.assert_allclose(whole.left_out_loss, cut.left_out_loss, rtol=1e-3)


def test_the_number_of_processors_changes_nothing(monkeypatch):
    rows = make_rows(n=700)
    monkeypatch.setattr("graticule.models.logistic_pass.BLOCK_ROWS", 50)
    found = []
    for n_workers in (1, 3):
        monkeypatch.setattr("graticule.models.logistic_pass.count_workers", lambda n=n_workers: n)
        found.append(fit_logistic(rows, left_out=[NONE, 2], inverse_penalties=[1.0, 1.0]))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
