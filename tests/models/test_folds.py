from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.errors import ConfigError
from graticule.models.folds import deal_folds


def deal(targets, groups=None, *, n_folds=5, seed=0):
    given_groups = None if groups is None else np.asarray(groups)
    return deal_folds(np.asarray(targets), given_groups, n_folds=n_folds, rng=np.random.default_rng(seed))


@given(st.lists(st.integers(0, 4), min_size=5, max_size=80), st.integers(2, 5), st.integers(0, 3))
def test_without_groups_labels_and_folds_are_even(targets, n_folds, seed):
    targets = np.unique(targets, return_inverse=True)[1]
    folds = deal(targets, n_folds=n_folds, seed=seed)
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for target in np.unique(targets):
        assert np.ptp(np.bincount(folds[targets == target], minlength=n_folds)) <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=6, max_size=80), st.integers(0, 3))
def test_a_group_stays_in_one_fold_and_every_fold_has_rows(rows, seed):
    targets, groups = np.array(rows).T
    if len(np.unique(groups)) < 3:
        return
    folds = deal(targets, groups, n_folds=3, seed=seed)
    assert set(folds.tolist()) == {0, 1, 2}
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1


def test_groups_are_dealt_so_that_labels_are_spread():
    targets = np.repeat(np.arange(4), 50)
    groups = np.arange(200) // 5
    folds = deal(targets, groups)
    counts = np.array([np.bincount(folds[targets == k], minlength=5) for k in range(4)])
    assert (counts == 10).all()


def test_the_seed_decides_and_the_same_seed_gives_the_same_folds():
    targets = np.arange(100) % 3
    assert (deal(targets, seed=1) == deal(targets, seed=1)).all()
    assert (deal(targets, seed=1) != deal(targets, seed=2)).any()


def test_fewer_groups_than_folds_give_fewer_folds():
    assert set(deal([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]).tolist()) == {0, 1, 2}


def test_one_group_is_refused_with_a_way_out():
    with pytest.raises(ConfigError, match=r"1 group to train on, expected at least 2 groups.*--folds 0"):
        deal([0, 1, 0], [7, 7, 7])
