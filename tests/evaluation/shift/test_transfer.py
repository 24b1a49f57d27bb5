"""Models side by side: drops from home, pairs, and what is beyond the line."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions
from graticule.errors import ConfigError
from graticule.evaluation.shift.robustness import SCALES, measure_robustness
from graticule.evaluation.shift.transfer import TransferConfig, compare_transfer

N = 300


def make_predictions(name, accuracy, *, seed=0, info=None):
    """Return predictions that are right as often as said, source first then target."""
    rng = np.random.default_rng(seed)
    label = np.tile([0, 1, 2, 3, 4, 5], N // 3)
    rate = np.where(np.arange(2 * N) < N, *accuracy)
    top = np.stack([np.roll(np.arange(6), -place) for place in label])
    wrong = rng.random(2 * N) >= rate
    top[wrong, :2] = top[wrong, :2][:, ::-1]
    return Predictions(
        model=name,
        image_ids=np.array([f"i{place}" for place in range(2 * N)], dtype=object),
        labels=tuple("abcdef"),
        kind="labels",
        top=top,
        scores=None,
        info=info or {},
    )


@pytest.fixture(scope="module")
def images():
    return pl.DataFrame(
        {
            "image_id": [f"i{place}" for place in range(2 * N)],
            "label": list("abcdef") * (N // 3),
            "region": ["USA"] * N + ["Asia"] * N,
        }
    )


@pytest.fixture(scope="module")
def found(images):
    pairs = {"small": (0.5, 0.3), "middle": (0.7, 0.5), "large": (0.85, 0.7), "odd": (0.7, 0.75)}
    models = [make_predictions(name, pair, seed=place) for place, (name, pair) in enumerate(pairs.items())]
    models.append(make_predictions("asian", (0.4, 0.9), seed=9, info={"probe": {"train": 'region == "Asia"'}}))
    config = TransferConfig(source="USA", target="Asia", home={"small": "USA"}, n_bootstraps=100)
    return compare_transfer(images, models, config=config)


def get(found, metric, **where):
    rows = found.metrics.filter(pl.col("metric") == metric)
    for column, value in where.items():
        rows = rows.filter(pl.col(column).is_null() if value is None else pl.col(column) == value)
    assert rows.height == 1, rows
    return rows.row(0, named=True)


def test_a_drop_is_accuracy_at_home_minus_that_elsewhere(found):
    home = get(found, "accuracy", model="small", region="USA")["value"]
    away = get(found, "accuracy", model="small", region="Asia")["value"]
    drop = get(found, "transfer_drop", model="small", region="Asia")
    assert drop["value"] == pytest.approx(home - away)
    assert drop["low"] < drop["value"] < drop["high"]
    assert drop["group"] == "USA"


def test_a_probes_home_is_read_from_its_training_query(found):
    assert found.home == {"small": "USA", "asian": "Asia"}
    assert get(found, "transfer_drop", model="asian", region="USA")["value"] > 0.3


def test_the_model_off_the_line_is_found_and_one_trained_in_the_target_bends_it_not(found):
    beyond = {name: get(found, "effective_robustness", model=name) for name in found.models}
    assert beyond["odd"]["low"] > 0.05
    assert beyond["asian"]["value"] > beyond["odd"]["value"]
    assert "4 models" in beyond["asian"]["method"]
    assert any(sentence.startswith("odd is clearly furthest above") for sentence in found.headline)


def test_pairs_have_mcnemar_and_a_paired_difference_of_drops(found):
    assert get(found, "mcnemar_p", model="small", group="large", region=None)["value"] < 0.001
    drops = {name: get(found, "drop", model=name)["value"] for name in ("small", "odd")}
    pair = get(found, "paired_drop_difference", model="small", group="odd")
    assert pair["value"] == pytest.approx(drops["small"] - drops["odd"])
    assert pair["low"] > 0


@pytest.mark.parametrize("fit", SCALES)
def test_models_on_a_line_of_the_scale_have_nothing_beyond_it(fit):
    source = np.array([0.3, 0.5, 0.6, 0.8])
    scale = SCALES[fit]
    target = scale.back(0.9 * scale.forth(source) - 0.1)
    result = measure_robustness(source, target, n=np.full(4, 10), fit=fit)
    assert result.slope == pytest.approx(0.9)
    assert np.allclose(result.beyond.value, 0, atol=1e-9)
    assert result.share_explained == pytest.approx(1)


def test_bad_input_is_named(images):
    models = [make_predictions("one", (0.5, 0.4)), make_predictions("two", (0.6, 0.4))]
    with pytest.raises(ConfigError, match="--target is missing"):
        compare_transfer(images, models, config=TransferConfig(source="USA", n_bootstraps=2))
    with pytest.raises(ConfigError, match="--target: unknown region 'Asa'"):
        compare_transfer(images, models, config=TransferConfig(source="USA", target="Asa", n_bootstraps=2))
    with pytest.raises(ConfigError, match="--home: unknown model 'three'"):
        compare_transfer(images, models, config=TransferConfig(home={"three": "USA"}))
    with pytest.raises(ConfigError, match="unknown fit 'probbit'"):
        compare_transfer(images, models, config=TransferConfig(fit="probbit"))
    with pytest.raises(ConfigError, match="of 2 models: expected at least 3"):
        measure_robustness(np.array([0.5, 0.6]), np.array([0.4, 0.5]), n=np.array([9, 9]))
    few = compare_transfer(images, models, config=TransferConfig(source="USA", target="Asia", n_bootstraps=2))
    assert "needs 3 models" in few.headline[-1]
