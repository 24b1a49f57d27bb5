"""Distances between two sets of images: their values on known distributions, and honest p-values."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError, TableError
from graticule.evaluation.shift.distances import DISTANCES
from graticule.evaluation.shift.permutation import PermutationConfig, compare_features

QUICK = {name: PermutationConfig(distance=name, n_permutations=99) for name in DISTANCES}


def draw(shift: float, *, n: int = 60, d: int = 5, seed: int = 0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(2 * n, d))
    is_target = np.arange(2 * n) >= n
    features[is_target, 0] += shift
    return features, is_target


@pytest.mark.parametrize("name", DISTANCES)
def test_a_real_difference_is_found_and_grows_with_the_shift(name):
    values = []
    for shift in (1.5, 3.0, 6.0):
        found = compare_features(*draw(shift), config=QUICK[name])
        assert found.p_value == pytest.approx(0.01)
        assert found.value > found.usual[1]
        values.append(found.value)
    assert values == sorted(values)


@pytest.mark.parametrize("name", DISTANCES)
def test_without_a_difference_p_values_are_spread_evenly(name):
    config = PermutationConfig(distance=name, n_permutations=39)
    found = [compare_features(*draw(0.0, n=24, seed=seed), config=config, seed=seed).p_value for seed in range(60)]
    assert 0.3 < np.mean(found) < 0.7
    assert np.mean(np.array(found) <= 0.05) <= 0.15


@pytest.mark.parametrize("name", DISTANCES)
def test_the_same_seed_gives_the_same_and_swapping_sides_changes_no_distance(name):
    features, is_target = draw(0.8)
    config = PermutationConfig(distance=name, n_permutations=9)
    first, again = (compare_features(features, is_target, config=config, seed=3) for _ in range(2))
    assert first.value == again.value
    assert np.array_equal(first.null, again.null)
    if name != "domain_classifier":  # its folds are dealt by side
        assert compare_features(features, ~is_target, config=config, seed=3).value == pytest.approx(first.value)


def test_energy_is_twice_across_minus_within():
    features, is_target = draw(1.0, n=15)
    source, target = features[~is_target], features[is_target]

    def mean(one, other, pairs):
        return sum(np.linalg.norm(a - b) for a in one for b in other) / pairs

    expected = 2 * mean(source, target, 225) - mean(source, source, 15 * 14) - mean(target, target, 15 * 14)
    assert compare_features(features, is_target, config=QUICK["energy"]).value == pytest.approx(expected)


def test_frechet_is_the_squared_shift_of_equal_gaussians():
    features, is_target = draw(3.0, n=1500, d=3)
    config = PermutationConfig(distance="frechet", n_permutations=1)
    assert compare_features(features, is_target, config=config).value == pytest.approx(9.0, rel=0.1)


def test_left_out_predictions_equal_those_of_classifiers_that_are_fitted_again():
    from graticule.evaluation.shift.distances import domain_classifier
    from graticule.evaluation.shift.distances.sides import Sides

    features, is_target = draw(1.0, n=20, d=4)
    folds = np.arange(40) % 5
    centred = features - features.mean(axis=0)
    penalty = domain_classifier.PENALTY * np.mean(np.linalg.eigvalsh(centred.T @ centred))
    scores = np.empty(40)
    for fold in range(5):
        kept = folds != fold
        design = np.c_[np.ones(kept.sum()), centred[kept]]
        lengths = design.T @ design + np.diag([0.0, *[penalty] * 4])
        weights = np.linalg.solve(lengths, design.T @ np.where(is_target[kept], 1.0, -1.0))
        scores[~kept] = np.c_[np.ones((~kept).sum()), centred[~kept]] @ weights
    expected = np.mean((scores > 0) == is_target)
    found = domain_classifier.measure_domain_classifier(
        Sides(features=features, is_target=is_target[None], folds=folds)
    )
    assert found[0] == pytest.approx(expected)


def test_many_images_of_few_things_are_no_proof():
    rng = np.random.default_rng(0)
    signs = rng.normal(size=(8, 4))
    features = np.repeat(signs, 25, axis=0) + rng.normal(scale=0.01, size=(200, 4))
    groups = np.repeat(np.arange(8), 25)
    is_target = groups >= 4
    config = PermutationConfig(n_permutations=199)
    assert compare_features(features, is_target, config=config).p_value == pytest.approx(0.005)
    assert compare_features(features, is_target, groups=groups, config=config).p_value > 0.05


def test_a_side_without_two_images_has_no_distance():
    features, is_target = draw(1.0, n=10)
    kept = np.r_[0:11]
    found = compare_features(features[kept], is_target[kept])
    assert np.isnan(found.value)
    assert np.isnan(found.p_value)
    assert found.n_target == 1


def test_unknown_distances_and_broken_features_are_named():
    features, is_target = draw(1.0, n=5)
    with pytest.raises(ConfigError, match=r"unknown distance 'enegy'.*Did you mean 'energy'"):
        compare_features(features, is_target, config=PermutationConfig(distance="enegy"))
    with pytest.raises(ConfigError, match="0 permutations"):
        compare_features(features, is_target, config=PermutationConfig(n_permutations=0))
    features[3, 1] = np.nan
    with pytest.raises(TableError, match="row 3 is not finite"):
        compare_features(features, is_target)
