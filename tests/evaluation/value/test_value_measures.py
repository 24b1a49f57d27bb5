"""Coverage, gains, crossings, mixes and data set comparisons: worked examples and planted answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.errors import ConfigError, TableError
from graticule.evaluation.shift.permutation import PermutationConfig
from graticule.evaluation.value.compare import CompareConfig, compare_sets, join_sets, keep_shared, match_cells
from graticule.evaluation.value.coverage import measure_coverage
from graticule.evaluation.value.drawing import order_rows, split_off, spread_evenly
from graticule.evaluation.value.gains import weigh_average_precision
from graticule.evaluation.value.labelled import label_features
from graticule.evaluation.value.mix import MixConfig, measure_mix, plan_step
from graticule.evaluation.value.relative import RelativeConfig, find_crossing, measure_relative_value
from graticule.evaluation.value.tell_compare import describe_comparison, make_comparison_rows
from graticule.evaluation.value.tell_mix import list_top_labels
from graticule.evaluation.value.tell_relative import describe_relative
from graticule.models.probe_space import ProbeSpaceConfig, make_probe_space


def label(world, region=None):
    features, images = world
    if region is None:
        return label_features(features, images, by="region")
    return label_features(features, images.filter(pl.col("region") == region))


def test_coverage_of_a_worked_example():
    first = np.array([[0.0], [10.0], [10.5], [11.0]])
    second = np.array([[0.2], [1.0], [2.0], [50.0]])
    found = measure_coverage(first, second, k=1)
    # Nearest of their own: 0.8, 0.8, 1.0 and 48 away; an image of the first lies within that of 0.2 and of 50.
    assert found.covered.tolist() == [True, False, False, True]
    # Balls around the first reach 10, 0.5, 0.5 and 0.5.
    assert found.recalled.tolist() == [True, True, True, False]
    assert found.precise.tolist() == [True, True, True, True]
    assert found.density.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_two_halves_of_one_set_cover_each_other_about_as_theory_says():
    rng = np.random.default_rng(0)
    found = measure_coverage(rng.standard_normal((400, 4)), rng.standard_normal((400, 4)), k=5)
    assert found.covered.mean() == pytest.approx(1 - 0.5**5, abs=0.03)


def test_coverage_wants_more_images_than_neighbours():
    with pytest.raises(ConfigError, match="Choose a smaller --neighbours"):
        measure_coverage(np.zeros((3, 2)), np.zeros((9, 2)), k=5)


def test_weighted_average_precision_is_that_of_repeated_images_and_ranks_ties_together():
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(1)
    scores = rng.integers(0, 8, size=60) / 8
    positive = rng.random(60) < 0.4
    weights = rng.integers(0, 3, size=(5, 60)).astype(float)
    found = weigh_average_precision(scores, positive, weights)
    for row, own in zip(found, weights.astype(int), strict=True):
        repeated = np.repeat(np.arange(60), own)
        assert row == pytest.approx(average_precision_score(positive[repeated], scores[repeated]))


def test_a_dip_is_no_early_crossing():
    sizes = np.array([100, 200, 400, 800])
    assert find_crossing(sizes, np.array([0.5, 0.7, 0.5, 0.9]), 0.69) > 400
    assert find_crossing(sizes, np.array([0.5, 0.6, 0.6, 0.6]), 0.7) == np.inf
    assert find_crossing(sizes, np.array([0.8, 0.9, 0.9, 0.9]), 0.7) == 100


def test_an_image_of_the_same_kind_is_worth_one_and_of_another_label_space_is_never_enough(make_world):
    same = make_world(n=90, shift=0.0)
    images = label(same)
    space = make_probe_space(images.vectors, images.targets, n_labels=3)
    is_other = np.arange(len(images.targets)) % 2 == 0
    config = RelativeConfig(n_images=40, n_seeds=4, n_bootstraps=100)
    found = measure_relative_value(space, is_other, images.groups, config=config)
    assert found.needed.low[0] <= 40 <= found.needed.high[0]
    far = label(make_world(n=50, shift=9.0))
    space = make_probe_space(far.vectors, far.targets, n_labels=3)
    is_europe = far.region == far.regions.index("Europe")
    found = measure_relative_value(space, is_europe, far.groups, config=config)
    assert found.needed.value[0] == np.inf
    assert found.reached_share == 0
    assert "not reached with all 150 images of B" in describe_relative(found, names=("A", "B"))


def test_a_baseline_larger_than_the_set_is_refused(world):
    images = label(world)
    space = make_probe_space(images.vectors, images.targets, n_labels=3)
    with pytest.raises(ConfigError, match="A has 120 images of the shared labels, expected more"):
        measure_relative_value(space, images.region != 0, images.groups, config=RelativeConfig(n_images=500, n_seeds=2))


def test_mix_keeps_size_and_label_shares_and_takes_what_there_is():
    wanted, source, regional = np.array([10, 20, 30]), np.array([10, 20, 30]), np.array([100, 3, 100])
    step = plan_step(wanted, source, regional, share=0.5)
    assert step.tolist() == [5, 3, 15]
    # Where the source has too few, the region fills up.
    assert plan_step(wanted, np.array([4, 20, 30]), regional, share=0.0).tolist() == [6, 0, 0]


def test_regional_images_help_where_they_are_from(make_world):
    images = label(make_world(n=80, shift=4.0))
    space = make_probe_space(images.vectors, images.targets, n_labels=3)
    is_test = np.arange(len(images.targets)) % 4 == 0
    africa, europe = (np.flatnonzero((images.region == code) & ~is_test) for code in (0, 2))
    tests = {
        place: np.flatnonzero(is_test & (images.region == code))
        for place, code in (("region", 0), ("control", 2), ("elsewhere", 1))
    }
    config = MixConfig(shares=(0.0, 0.5), n_seeds=3, n_bootstraps=60)
    found = measure_mix(
        space, europe, africa, tests, region=0, labels=images.labels, groups=images.groups, config=config
    )
    assert found.n_images == len(europe)
    assert found.n_regional.tolist() == [0, len(europe) // 2]
    there = found.accuracy["region"].value
    assert there[1] > there[0] + 0.1
    assert abs(np.diff(found.accuracy["control"].value)[0]) < 0.1
    gains = found.gains
    assert (gains.gain.low <= gains.gain.value).all()
    assert np.allclose(gains.after - gains.before, gains.gain.value)
    assert list_top_labels(found, images.labels)[0] == images.labels[int(gains.relative.value.argmax())]


def test_shares_must_rise():
    with pytest.raises(ConfigError, match="rising"):
        MixConfig(shares=(0.5, 0.2))


def test_data_sets_that_differ_are_told_apart_and_equal_ones_are_not(make_world):
    config = CompareConfig(distances=PermutationConfig(n_permutations=59), n_bootstraps=100)
    africa, europe = (label(make_world(n=60, shift=4.0), region) for region in ("Africa", "Europe"))
    far = compare_sets(join_sets(africa, europe, names=("a", "b")), config=config)
    other = make_world(n=60, shift=4.0)
    asia = label(other, "Asia")
    near = compare_sets(join_sets(asia, europe, names=("asia", "europe")), config=config)
    assert far.told.low[0] > max(0.6, near.told.value[0])
    assert near.told.low[0] < 0.6
    assert far.distance.p_value < 0.05
    assert near.covers_second.measures["coverage"].value[0] > far.covers_second.measures["coverage"].value[0] + 0.2
    rows = make_comparison_rows(near, distance="energy")
    assert set(rows["metric"]) >= {"dataset_classifier", "coverage", "coverage_of_itself", "dataset_distance_energy"}
    assert any("asia covers" in line for line in describe_comparison(near))


def test_matching_takes_as_many_of_each_cell_from_both(make_world):
    one = label(make_world(sizes=[[5, 0, 9], [0, 0, 0], [0, 0, 0]]))
    features, images = make_world(sizes=[[3, 4, 20], [0, 0, 0], [0, 0, 0]], seed=1)
    renamed = pl.col("image_id") + "_2"
    two = label_features(features.with_columns(renamed), images.with_columns(renamed), by="region")
    pair = join_sets(one, two, names=("a", "b"))
    kept = match_cells(pair, np.arange(len(pair.is_second)), np.random.default_rng(0))
    assert np.bincount(pair.images.targets[kept] * 2 + pair.is_second[kept]).tolist() == [3, 3, 0, 0, 9, 9]
    assert keep_shared(pair).images.labels == ("dustbin", "stove")


def test_data_sets_without_a_common_label_or_width_are_refused(world):
    features, images = world
    own = label(world)
    other = label_features(
        features.with_columns(pl.col("image_id") + "_2"),
        images.with_columns(pl.col("image_id") + "_2", pl.col("label") + "_2"),
        by="region",
    )
    with pytest.raises(TableError, match="share no label"):
        join_sets(own, other, names=("a", "b"))
    with pytest.raises(TableError, match="images stand in both"):
        join_sets(own, own, names=("a", "b"))


def test_groups_stay_together():
    groups = np.repeat(np.arange(30), 4)
    cells = np.repeat(np.arange(3), 40)
    ordered = order_rows(np.arange(120), groups, np.random.default_rng(0))
    assert (groups[ordered].reshape(30, 4) == groups[ordered].reshape(30, 4)[:, :1]).all()
    aside = split_off(cells, groups, share=0.25, rng=np.random.default_rng(0))
    assert (aside.reshape(30, 4) == aside.reshape(30, 4)[:, :1]).all()
    assert 0.1 < aside.mean() < 0.4


def test_spread_evenly_sums_to_the_total():
    for total in range(25):
        assert spread_evenly(total, np.array([3, 0, 5, 1])).sum() == total


def test_missing_labels_and_regions_are_named(world):
    features, images = world
    with pytest.raises(TableError, match="no column 'label'"):
        label_features(features, images.drop("label"))
    with pytest.raises(TableError, match=r"no column 'region' \(--by\).*graticule locate"):
        label_features(features, images.drop("region"), by="region")
    with pytest.raises(TableError, match="have the label 'stove'"):
        label_features(features, images.filter(pl.col("label") == "stove"))
    with pytest.raises(TableError, match="none belongs to one of"):
        label_features(features, images.with_columns(pl.col("image_id") + "x"))


def test_a_space_refuses_senseless_settings():
    with pytest.raises(ConfigError, match="expected a number above 0"):
        ProbeSpaceConfig(inverse_penalty=0.0)
