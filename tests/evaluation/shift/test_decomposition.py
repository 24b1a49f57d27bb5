"""A drop's parts: they sum to the drop, planted causes are found, and degenerate inputs have plain answers."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError, TableError
from graticule.evaluation.shift.decomposition import DecompositionConfig, decompose_drop
from graticule.evaluation.shift.outcomes import Outcomes
from graticule.evaluation.shift.planted import WorldConfig, plant_world
from graticule.evaluation.shift.shapley import share_out
from graticule.evaluation.shift.verdicts import has_clear_rest, name_causes, write_label_verdict, write_verdict

QUICK = DecompositionConfig(n_bootstraps=16, n_axes=8)
WORLDS = [(("prior",), 2), (("context",), 0), (("design",), 2), (("prior", "context", "design"), 0)]


@pytest.fixture(scope="module")
def planted():
    found = {}
    for causes, seed in WORLDS:
        world = plant_world(causes, config=WorldConfig(n_images=1200), seed=seed)
        found[causes] = (world, decompose_drop(world.outcomes, world.features, config=QUICK))
    return found


@pytest.mark.parametrize("causes", [causes for causes, _ in WORLDS[:3]])
def test_a_single_planted_cause_is_the_one_that_is_named(planted, causes):
    world, found = planted[causes]
    assert world.truth[causes[0]] > 0.05
    assert name_causes(found) == causes
    place = found.causes.index(causes[0])
    assert found.parts.low[place] <= world.truth[causes[0]] <= found.parts.high[place]


def test_a_mixture_has_a_part_of_each_cause(planted):
    world, found = planted["prior", "context", "design"]
    for place, cause in enumerate(found.causes[:3]):
        assert world.truth[cause] > 0.03
        assert found.parts.low[place] <= world.truth[cause] <= found.parts.high[place]


def test_parts_sum_to_the_drop_and_to_each_labels_own(planted):
    for _, found in planted.values():
        assert found.parts.value.sum() == pytest.approx(found.drop.value[0], abs=1e-12)
        summed = sum(part.value for part in found.label_parts)
        assert np.allclose(summed, found.label_drops.value, atol=1e-12)
        assert found.label_priors.value.sum() == pytest.approx(found.parts.value[0], abs=1e-12)


def test_verdicts_name_the_cause_in_words(planted):
    _, found = planted["design",]
    sentence = write_verdict(found, source="Europe", target="Africa")
    assert sentence.startswith("From Europe to Africa the model loses ")
    assert "the look of the objects" in sentence
    assert "label frequencies" not in sentence
    words = {write_label_verdict(found, label) for label in range(len(found.label_drops.value))}
    assert "mostly the look of the objects" in words


def make_outcomes(seed=0, n=400, k=4):
    rng = np.random.default_rng(seed)
    is_target = np.arange(2 * n) >= n
    label = np.where(is_target, rng.choice(k, size=2 * n, p=[0.1, 0.2, 0.3, 0.4]), rng.integers(k, size=2 * n))
    is_right = rng.random(2 * n) < 0.5 + 0.1 * label - 0.2 * is_target
    return Outcomes(
        labels=tuple("abcd"[:k]), label=label, is_target=is_target, is_right=is_right, groups=np.arange(2 * n)
    )


def test_without_features_the_prior_is_kitagawas_part():
    outcomes = make_outcomes()
    found = decompose_drop(outcomes, {}, config=QUICK)
    counts, accuracy = outcomes.count_labels(), outcomes.measure_labels()
    shares = counts / counts.sum(axis=1, keepdims=True)
    expected = ((shares[0] - shares[1]) * accuracy.mean(axis=0)).sum()
    assert found.causes == ("prior", "rest")
    assert found.parts.value[0] == pytest.approx(expected)


def test_features_that_say_nothing_leave_all_but_the_prior_to_the_rest():
    outcomes = make_outcomes()
    noise = np.random.default_rng(1).normal(size=(800, 10))
    found = decompose_drop(outcomes, {"appearance": noise}, config=QUICK)
    assert found.causes == ("prior", "appearance", "rest")
    assert abs(found.parts.value[1]) < 0.02
    assert has_clear_rest(found)


def test_the_order_of_labels_and_a_label_of_one_side_change_nothing_much():
    outcomes = make_outcomes(k=4)
    lone = Outcomes(
        labels=("a", "b", "c", "d"),
        label=np.where((outcomes.label == 3) & outcomes.is_target, 2, outcomes.label),
        is_target=outcomes.is_target,
        is_right=outcomes.is_right,
        groups=outcomes.groups,
    )
    features = np.random.default_rng(0).normal(size=(800, 6))
    found = decompose_drop(lone, {"appearance": features}, config=QUICK)
    assert found.n_judged == 3
    assert np.isnan(found.label_drops.value[3])
    assert found.label_drops.n[3] == 0
    assert write_label_verdict(found, 3) == "on one side only"
    assert found.parts.value.sum() == pytest.approx(found.drop.value[0])


def test_many_images_of_one_thing_widen_the_intervals():
    outcomes = make_outcomes()
    grouped = Outcomes(
        labels=outcomes.labels,
        label=np.repeat(outcomes.label[::8], 8),
        is_target=outcomes.is_target,
        is_right=np.repeat(outcomes.is_right[::8], 8),
        groups=np.repeat(np.arange(100), 8),
    )
    alone = Outcomes(
        labels=grouped.labels,
        label=grouped.label,
        is_target=grouped.is_target,
        is_right=grouped.is_right,
        groups=np.arange(800),
    )
    wide, narrow = (
        decompose_drop(given, {}, config=DecompositionConfig(n_bootstraps=100)) for given in (grouped, alone)
    )
    assert wide.drop.high[0] - wide.drop.low[0] > 2 * (narrow.drop.high[0] - narrow.drop.low[0])


def test_shapley_values_are_means_over_all_orders():
    from itertools import permutations

    worlds = np.random.default_rng(0).normal(size=8)
    expected = np.zeros(3)
    for order in permutations(range(3)):
        world = 0
        for cause in order:
            expected[cause] += (worlds[world | 1 << cause] - worlds[world]) / 6
            world |= 1 << cause
    assert np.allclose(share_out(worlds, n_causes=3), expected)


def test_bad_input_is_named():
    outcomes = make_outcomes()
    with pytest.raises(ConfigError, match="expected context and design together"):
        decompose_drop(outcomes, {"context": np.zeros((800, 2))}, config=QUICK)
    with pytest.raises(ConfigError, match="1 bootstrap draws"):
        DecompositionConfig(n_bootstraps=1)
    with pytest.raises(TableError, match="the target has no images"):
        Outcomes(
            labels=("a",),
            label=np.zeros(3, dtype=int),
            is_target=np.zeros(3, dtype=bool),
            is_right=np.ones(3, dtype=bool),
            groups=np.arange(3),
        )
