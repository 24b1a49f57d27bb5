"""What every heuristic does: it tells labels that look different in different regions from those that do not."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest

from graticule.curation.concepts import HEURISTICS
from graticule.curation.concepts.concept import ConceptConfig, join_features
from graticule.curation.concepts.rank import load_heuristic

REGIONS = ("Africa", "Asia", "Europe")
CONFIG = ConceptConfig(n_bootstraps=30)


LABELS = ("chair", "dog", "house", "stove")
"""The first two look alike everywhere, the last two different in each region. A fifth label, ``wall``, looks in every
region like any of those, so that what is new in a region can be taken for it."""


def make_table(*, n=60, width=12, seed=0):
    rng = np.random.default_rng(seed)
    axes = 6.0 * np.eye(width)
    rows, vectors = [], []
    for place, label in enumerate((*LABELS, "wall")):
        for number, region in enumerate(REGIONS):
            for _ in range(n):
                axis = {"house": 4 + number, "stove": 7 + number, "wall": rng.integers(4, 10)}.get(label, place)
                rows.append((f"i{len(rows)}", label, region))
                vectors.append(axes[axis] + rng.normal(size=width))
    images = pl.DataFrame(rows, schema=["image_id", "label", "region"], orient="row")
    features = pl.Series("features", np.array(vectors, dtype=np.float32), dtype=pl.Array(pl.Float32, width))
    return images, images.select("image_id").with_columns(features)


@pytest.fixture(scope="module")
def data():
    return join_features(*make_table())


@pytest.fixture(scope="module")
def scores(data):
    return {name: load_heuristic(name)(data, CONFIG) for name in HEURISTICS}


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_heuristic_is_documented_and_imports_by_its_name(name):
    module, _, attribute = HEURISTICS[name][0].partition(":")
    assert module.endswith(f".{name}")
    assert attribute == f"score_{name}"
    assert getattr(import_module(module), attribute).__doc__


@pytest.mark.parametrize("name", HEURISTICS)
def test_it_keeps_the_labels_that_look_different_and_no_other(name, data, scores):
    kept = {label for label, is_kept in zip(data.labels, scores[name].is_kept, strict=True) if is_kept} - {"wall"}
    assert kept == {"house", "stove"}
    assert scores[name].difference[2:4].min() > scores[name].difference[:2].max()


@pytest.mark.parametrize("name", HEURISTICS)
def test_intervals_hold_their_value_and_say_what_they_rest_on(name, data, scores):
    found = scores[name]
    assert (found.low <= found.value + 1e-9).all()
    assert (found.value <= found.high + 1e-9).all()
    assert (found.n == 180).all()
    assert len(found.detail) == len(data.labels)


@pytest.mark.parametrize("name", HEURISTICS)
def test_the_same_seed_gives_the_same_result_whatever_the_order_of_rows(name, scores):
    images, vectors = make_table()
    again = load_heuristic(name)(join_features(images.sample(fraction=1, shuffle=True, seed=3), vectors), CONFIG)
    assert np.array_equal(again.value, scores[name].value)
    assert np.array_equal(again.low, scores[name].low)


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_label_in_one_region_is_undefined_and_not_kept(name):
    images, vectors = make_table(n=20)
    images = images.with_columns(
        region=pl.when(pl.col("label") == "dog").then(pl.lit("Asia")).otherwise(pl.col("region"))
    )
    data = join_features(images, vectors)
    found = load_heuristic(name)(data, CONFIG)
    dog = data.labels.index("dog")
    assert np.isnan(found.value[dog])
    assert found.n[dog] == 0
    assert not found.is_kept[dog]


@pytest.mark.parametrize("name", HEURISTICS)
def test_features_of_another_scale_and_origin_change_nothing(name, scores):
    images, vectors = make_table()
    moved = vectors["features"].to_numpy() * 3 + 5
    vectors = vectors.with_columns(pl.Series("features", moved, dtype=pl.Array(pl.Float32, moved.shape[1])))
    again = load_heuristic(name)(join_features(images, vectors), CONFIG)
    assert again.value == pytest.approx(scores[name].value, abs=0.02)
