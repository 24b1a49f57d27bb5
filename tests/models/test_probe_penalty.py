from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.models import probe_penalty
from graticule.models.logistic_pass import FoldedRows
from graticule.models.probe_penalty import CANDIDATES, choose_penalty, pick_candidate


def make_rows(*, noise, n=300, d=30, seed=0):
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % 3
    features = rng.normal(size=(3, d))[targets] + noise * rng.normal(size=(n, d))
    features -= features.mean(axis=0)
    features /= np.sqrt(np.square(features).sum(axis=1).mean())
    return FoldedRows(
        features=features.astype(np.float32), targets=targets, n_labels=3, bounds=tuple(range(0, n + 1, n // 5))
    )


def test_the_simplest_candidate_within_one_standard_error_is_picked():
    losses = np.array([[0.9, 0.9, 0.9], [0.51, 0.53, 0.55], [0.48, 0.52, 0.56], [0.7, 0.7, 0.7]])
    assert pick_candidate(losses, "lowest") == 2
    assert pick_candidate(losses, "simplest") == 1
    assert pick_candidate(losses[:, :1], "simplest") == 2
    assert pick_candidate(np.ones((3, 2)), "lowest") == 0
    assert pick_candidate(np.full((3, 2), np.nan), "lowest") == 0
    with_gap = np.column_stack([losses, [np.nan] * 4])
    assert pick_candidate(with_gap, "simplest") == 1


def test_noisier_features_get_a_stronger_penalty():
    clear = choose_penalty(make_rows(noise=0.5), rng=np.random.default_rng(0))
    noisy = choose_penalty(make_rows(noise=6), rng=np.random.default_rng(0))
    assert noisy.inverse_penalty < clear.inverse_penalty
    assert noisy.inverse_penalty < CANDIDATES[5]


def test_losses_are_those_of_probes_that_did_not_see_the_fold():
    """Labels dealt at random cannot be predicted, so no candidate may beat guessing by more than chance."""
    rows = make_rows(noise=1)
    shuffled = FoldedRows(
        features=rows.features,
        targets=np.random.default_rng(1).permutation(rows.targets),
        n_labels=3,
        bounds=rows.bounds,
    )
    found = choose_penalty(shuffled, rng=np.random.default_rng(0), choice="lowest")
    assert found.losses.mean(axis=1).min() > np.log(3) - 0.05
    assert found.inverse_penalty <= 1


def test_the_path_ends_when_the_loss_keeps_rising():
    found = choose_penalty(make_rows(noise=6), rng=np.random.default_rng(0))
    means = found.losses.mean(axis=1)
    assert len(found.candidates) < len(CANDIDATES)
    assert means[-1] > means[-2] > means[-3]
    assert found.losses.shape == (len(found.candidates), 5)


def test_a_fold_has_no_say_in_its_own_penalty():
    found = choose_penalty(make_rows(noise=3), rng=np.random.default_rng(0))
    for fold, chosen in enumerate(found.by_fold):
        assert chosen == CANDIDATES[pick_candidate(np.delete(found.losses, fold, axis=1), "simplest")]


def test_the_choice_rests_on_no_more_rows_than_told_and_keeps_folds_and_labels_even():
    rows = make_rows(noise=2, n=600)
    found = choose_penalty(rows, rng=np.random.default_rng(0), most_rows=150)
    assert found.n_rows == 150
    some = probe_penalty._draw_rows(rows, 150, np.random.default_rng(0))
    assert np.ptp(np.diff(some.bounds)) <= 1
    for start, stop in zip(some.bounds[:-1], some.bounds[1:], strict=True):
        assert np.ptp(np.bincount(some.targets[start:stop], minlength=3)) <= 1


def test_an_unknown_rule_is_refused():
    with pytest.raises(ConfigError, match=r"unknown choice 'simple'.*Did you mean 'simplest'"):
        choose_penalty(make_rows(noise=1), choice="simple", rng=np.random.default_rng(0))
