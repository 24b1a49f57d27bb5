"""Two regions joined to predictions and features: what is left out, named and counted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions
from graticule.errors import ConfigError, TableError
from graticule.evaluation.shift.explain import ExplainConfig, explain_drop
from graticule.evaluation.shift.feature_rows import pick_features
from graticule.evaluation.shift.label_groups import measure_groups
from graticule.evaluation.shift.regions import TwoRegions, join_regions

REGIONS = TwoRegions(source='region == "A"', target='region == "B"', group="shop")


@pytest.fixture
def images():
    return pl.DataFrame(
        {
            "image_id": list("abcdefgh"),
            "label": ["cup", "hat", "cup", "owl", "cup", "hat", None, "hat"],
            "region": ["A", "A", "A", "B", "B", "B", "B", "C"],
            "shop": ["s", "s", None, "t", "t", "u", "u", None],
        }
    )


@pytest.fixture
def predictions():
    scores = np.array([[4.0, 0, 0], [0, 1, 2], [0, 3, 0], [3, 0, 0], [2, 1, 0], [0, 5, 1]], dtype=np.float32)
    return Predictions(
        model="m",
        image_ids=np.array(list("abcdef"), dtype=object),
        labels=("cup", "hat", "shoe"),
        kind="logits",
        top=np.argsort(-scores, axis=1, kind="stable"),
        scores=scores,
        info={},
    )


def test_sides_labels_and_what_is_left_out(images, predictions):
    found = join_regions(images, predictions, regions=REGIONS)
    assert (found.source, found.target) == ("A", "B")
    assert found.images["image_id"].to_list() == list("abcdef")
    assert found.outcomes.labels == ("cup", "hat", "owl")
    assert found.outcomes.is_right.tolist() == [True, False, False, False, True, True]
    assert found.outcomes.is_target.tolist() == [False] * 3 + [True] * 3
    groups = found.outcomes.groups
    assert groups[0] == groups[1] != groups[2]
    assert groups[3] == groups[4] != groups[5]
    assert found.is_right_top5 is not None
    assert found.is_right_top5.tolist() == [True, True, True, False, True, True]
    assert np.allclose(found.scores.sum(axis=1), 1)
    assert found.scores[0, 0] == pytest.approx(np.exp(4) / (np.exp(4) + 1))
    assert "1 images have no label" in found.notes[0]
    assert "1 labels are none of the model's" in found.notes[1]


def test_bad_regions_are_named(images, predictions):
    with pytest.raises(ConfigError, match="--target: no image of 8 matches"):
        join_regions(images, predictions, regions=TwoRegions(source='region == "A"', target='region == "b"'))
    with pytest.raises(ConfigError, match="3 images are in both"):
        join_regions(images, predictions, regions=TwoRegions(source='region == "A"', target='region != "C"'))
    with pytest.raises(TableError, match="none of the 1 images of the target has a label and a prediction"):
        join_regions(images, predictions, regions=TwoRegions(source='region == "A"', target='region == "C"'))
    with pytest.raises(TableError, match="no column 'label'"):
        join_regions(images.drop("label"), predictions, regions=REGIONS)


def test_images_without_features_leave_every_kind(images, predictions):
    joined = join_regions(images, predictions, regions=REGIONS)
    vectors = pl.Series(np.arange(10).reshape(5, 2), dtype=pl.Array(pl.Float32, 2))
    table = pl.DataFrame({"image_id": list("fabcd"), "features": vectors})
    found = pick_features(joined, {"appearance": table})
    assert found.joined.images["image_id"].to_list() == list("abcdf")
    assert found.features["appearance"][0].tolist() == [2, 3]
    assert found.features["appearance"][4].tolist() == [0, 1]
    assert found.joined.scores.shape == (5, 3)
    assert found.notes[0].startswith("1 images have no features")
    with pytest.raises(TableError, match="none of the 3 images of the target is among them"):
        pick_features(joined, {"appearance": table.filter(pl.col("image_id").is_in(list("abc")))})
    with pytest.raises(ConfigError, match="context together with design"):
        pick_features(joined, {"context": table})


def test_groups_of_labels_count_images_alike(images, predictions):
    outcomes = join_regions(images, predictions, regions=REGIONS).outcomes
    found = measure_groups(outcomes, {"cup": "things", "hat": "things"}, n_bootstraps=20)
    assert found.names == ("things", "(no group)")
    assert found.source.value[0] == pytest.approx(1 / 3)
    assert found.target.value[0] == 1.0
    assert found.drop.value[0] == pytest.approx(1 / 3 - 1)
    assert np.isnan(found.drop.value[1])
    assert found.drop.n[1] == 0
    with pytest.raises(TableError, match="none of the images' labels"):
        measure_groups(outcomes, {"dog": "animal"})


def test_a_handful_of_images_is_explained_without_a_word_too_much(images, predictions):
    found = explain_drop(images, predictions, regions=REGIONS, config=ExplainConfig(n_share_draws=2))
    assert "not clearly worse" in found.headline[0]
    assert set(found.labels["verdict"]) == {"too few images to tell", "on one side only"}
    whole = found.metrics.filter((pl.col("metric") == "drop_part") & pl.col("label").is_null())
    assert whole["value"].sum() == pytest.approx(1 / 3 - 2 / 3)
