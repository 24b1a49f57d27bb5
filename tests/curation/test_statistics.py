"""Counts and evenness of data sets."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.curation.evenness import expect_total_variation, find_entropy, find_gini, find_total_variation
from graticule.curation.statistics import StatisticsConfig, describe_statistics, measure_statistics
from graticule.data.tables import METRICS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError

COUNTS = st.lists(st.integers(0, 500), min_size=2, max_size=12).filter(any)


def make_images():
    cells = {("Asia", "hat", "JPN"): 30, ("Asia", "dog", "CHN"): 10, ("Europe", "hat", "Italy"): 20}
    rows = [cell for cell, n in cells.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["region", "label", "country"], orient="row")


def find(statistics, metric, **where):
    found = statistics.metrics.filter(metric=metric)
    for name in ("region", "label", "group"):
        found = found.filter(pl.col(name) == where[name] if name in where else pl.col(name).is_null())
    return found["value"].to_list()


def test_counts_by_region_label_cell_country_and_subregion():
    statistics = measure_statistics({"a": make_images()})
    assert find(statistics, "images") == [60]
    assert find(statistics, "images", region="Asia") == [40]
    assert find(statistics, "images", label="hat") == [50]
    assert find(statistics, "images", region="Asia", label="dog") == [10]
    assert find(statistics, "images", region="Europe", label="dog") == [0]
    assert find(statistics, "images_in_country", region="ITA") == [20]
    assert find(statistics, "images_in_subregion", region="Eastern Asia") == [40]
    assert find(statistics, "cells") == [4]
    assert find(statistics, "thin_cells") == [2]
    validate_table(statistics.metrics, METRICS, where="statistics")


def test_the_table_of_counts_has_a_row_a_label_and_no_gaps():
    counts = measure_statistics({"a": make_images()}).count_cells("a")
    assert counts.columns == ["label", "Asia", "Europe", "all"]
    assert counts.rows() == [("dog", 10, 0, 10), ("hat", 30, 20, 50)]


def test_regions_labels_are_compared_and_chance_is_beside_it():
    statistics = measure_statistics({"a": make_images()})
    row = statistics.metrics.filter(metric="label_total_variation").row(0, named=True)
    assert (row["region"], row["group"], row["value"]) == ("Asia", "Europe", pytest.approx(0.25))
    assert 0 <= row["low"] <= row["high"] <= 0.5


def test_data_sets_are_compared():
    other = make_images().with_columns(label=pl.lit("hat"))
    statistics = measure_statistics({"a": make_images(), "b": other})
    assert find(statistics, "label_total_variation", group="b") == [pytest.approx(1 / 6)]
    assert statistics.datasets == ("a", "b")
    sentences = describe_statistics(statistics)
    assert sentences[0] == "a: 60 images, 2 labels, 2 regions, 3 countries."
    assert any("Labels against b: total variation 0.167" in sentence for sentence in sentences)


def test_many_regions_are_compared_with_all_others():
    rows = [(f"r{number}", label) for number in range(41) for label in ("hat", "dog")]
    images = pl.DataFrame(rows, schema=["region", "label"], orient="row")
    found = measure_statistics({"a": images}).metrics.filter(metric="label_total_variation")
    assert found.height == 41
    assert set(found["group"]) == {"all others"}


@pytest.mark.parametrize("column", ["label", "region", "country"])
def test_one_column_is_enough(column):
    statistics = measure_statistics({"a": make_images().select(column)})
    assert describe_statistics(statistics)
    assert statistics.count_cells("a").is_empty()


def test_nothing_to_count_and_unknown_countries_are_refused():
    with pytest.raises(TableError, match="expected at least one of them"):
        measure_statistics({"a": pl.DataFrame({"image_id": ["x"]})})
    with pytest.raises(TableError, match="Atlantis"):
        measure_statistics({"a": pl.DataFrame({"country": ["Atlantis"]})})
    with pytest.raises(ConfigError, match="min_images is -1"):
        StatisticsConfig(min_images=-1)


@given(COUNTS)
def test_gini_is_the_mean_difference_of_all_pairs(counts):
    values = np.array(counts)
    pairs = np.abs(values[:, None] - values[None, :]).mean()
    assert find_gini(values) == pytest.approx(pairs / (2 * values.mean()), abs=1e-9)


@given(COUNTS)
def test_entropy_is_within_zero_and_one_and_largest_when_even(counts):
    values = np.array(counts)
    assert -1e-9 <= find_entropy(values) <= 1 + 1e-9
    assert find_entropy(np.full(len(values), 3)) == pytest.approx(1)


@given(COUNTS, st.integers(2, 9))
def test_total_variation_does_not_depend_on_sizes(counts, times):
    values = np.array(counts)
    assert find_total_variation(values, values * times) == pytest.approx(0)
    assert find_total_variation(values, np.roll(values, 1)) <= 1


def test_chance_covers_two_samples_of_one_spread():
    rng = np.random.default_rng(0)
    shares = np.full(50, 1 / 50)
    inside = 0
    for _ in range(100):
        first, second = rng.multinomial(200, shares), rng.multinomial(300, shares)
        low, high = expect_total_variation(first, second, rng=rng)
        inside += low <= find_total_variation(first, second) <= high
    assert inside >= 88
    assert np.isnan(find_total_variation(np.zeros(2, dtype=int), np.array([1, 2])))
