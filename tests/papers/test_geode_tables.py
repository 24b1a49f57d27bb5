"""GeoDE's published numbers (section 5, figure 9, tables 4, 5 and 10) through the partition test."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graticule.evaluation.partition_test import compute_partition_test, simulate_partition_test

# Table 4's short names that are not table 10's.
LONG_NAMES = {
    "lightswitch": "light switch",
    "hairbrush": "hairbrush/comb",
    "religious bld": "religious building",
    "toothpaste": "toothpaste / toothpowder",
    "front door": "front_door",
    "streetlight": "streetlight / lantern",
    "waste cont.": "waste container",
    "clean. equip.": "cleaning equipment",
}


@pytest.fixture(scope="module")
def tables(shared):
    return json.loads(shared("data/paper_tables/geode.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def labels(tables):
    """Return, for each label, its images by region and its overall accuracy."""
    sizes = tables["table10_counts"]["counts"]
    found = {
        LONG_NAMES.get(name, name): percent / 100 for name, percent in tables["table4_clip_per_class_accuracy"].items()
    }
    assert set(found) == set(sizes)
    return {name: (np.array(sizes[name]), found[name]) for name in sizes}


def spread(sizes, accuracy):
    """Return hits that give every region the label's overall accuracy, as nearly as whole images can."""
    ends = np.round(np.cumsum(sizes) * accuracy).astype(int)
    return np.diff(ends, prepend=0)


def test_the_mean_over_labels_is_the_published_one(tables):
    assert np.mean(list(tables["table4_clip_per_class_accuracy"].values())) == pytest.approx(82.8, abs=0.05)


def test_the_gap_between_europe_and_africa_is_the_published_one(tables):
    for model in ("ImageNet", "CLIP"):
        accuracy = dict(
            zip(tables["table5_region_accuracy"]["regions"], tables["table5_region_accuracy"][model], strict=True)
        )
        assert max(accuracy, key=accuracy.get) == "Europe"
        assert min(accuracy, key=accuracy.get) == "Africa"
        assert accuracy["Europe"] - accuracy["Africa"] > 7


@pytest.mark.parametrize("method", ["exact", "simulation"])
def test_the_band_of_fence_and_the_regions_that_the_paper_names_outside_it(method, tables, labels):
    sizes, accuracy = labels["fence"]
    hits = spread(sizes, accuracy)
    if method == "exact":
        found = compute_partition_test(sizes, hits, confidence=0.95)
    else:
        found = simulate_partition_test(sizes, hits, confidence=0.95, n_partitions=500, rng=np.random.default_rng(0))
    assert (found.pooled.low, found.pooled.high) == pytest.approx((0.702, 0.795), abs=0.006)
    # Section 5: 88 % in Europe, 60 % in Africa, 59 % in South-East Asia.
    for band in (found.pooled, found.extremes):
        assert band.low > 0.60
        assert band.high < 0.88


def test_fence_differs_by_region_far_beyond_chance(tables, labels):
    sizes, accuracy = labels["fence"]
    regions = tables["table10_counts"]["regions"]
    named = {"Africa": 0.60, "SouthEastAsia": 0.59, "Europe": 0.88}
    hits = np.array([round(named.get(region, 0.0) * size) for region, size in zip(regions, sizes, strict=True)])
    others = np.array([region not in named for region in regions])
    rest = round(accuracy * sizes.sum()) - hits.sum()
    hits[others] = spread(sizes[others], rest / sizes[others].sum())
    found = compute_partition_test(sizes, hits, confidence=0.95)
    assert found.p_min < 1e-6
    assert found.p_max < 1e-4
    assert found.p_either < 1e-6


def test_stove_differs_too(tables, labels):
    # Section 5: 95 % in the Americas, 67 % in East Asia.
    sizes, accuracy = labels["stove"]
    found = compute_partition_test(sizes, spread(sizes, accuracy), confidence=0.95)
    for band in (found.pooled, found.extremes):
        assert band.low > 0.67
        assert band.high < 0.95


def test_about_ten_labels_are_flagged_by_chance_as_the_paper_reads_it_and_two_when_calibrated(labels):
    tests = [
        compute_partition_test(sizes, spread(sizes, accuracy), confidence=0.95) for sizes, accuracy in labels.values()
    ]
    assert sum(test.pooled.flagged_by_chance for test in tests) == pytest.approx(9.6, abs=0.3)
    assert sum(test.extremes.flagged_by_chance for test in tests) == pytest.approx(1.75, abs=0.3)


def test_simulated_labels_without_effect_are_flagged_as_often(labels):
    rng = np.random.default_rng(0)
    flagged = {"pooled": 0, "extremes": 0}
    rounds = 10
    for sizes, accuracy in labels.values():
        n_hits = round(accuracy * sizes.sum())
        for hits in rng.multivariate_hypergeometric(sizes, n_hits, size=rounds):
            test = compute_partition_test(sizes, hits, confidence=0.95)
            accuracies = hits / sizes
            for reading in flagged:
                band = getattr(test, reading)
                flagged[reading] += accuracies.min() < band.low or accuracies.max() > band.high
    assert flagged["pooled"] / rounds == pytest.approx(9.6, abs=2.5)
    assert flagged["extremes"] / rounds == pytest.approx(1.75, abs=1.2)
