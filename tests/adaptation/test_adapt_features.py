from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from graticule.adaptation.adapt import adapt_features
from graticule.adaptation.adapt_config import AdaptConfig
from graticule.adaptation.problem import Queries
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.adaptation.validators import VALIDATORS
from graticule.data.tables import METRICS, PREDICTIONS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, TrainingError

QUERIES = Queries(source='region == "Europe"', target='region == "Africa"')
TRAINER = TrainerConfig(n_steps=60, batch_size=12, checkpoint_every=20)


def config(algorithm="source_only", **settings):
    widths = {"bottleneck": 8}
    return AdaptConfig(algorithm=algorithm, options=widths, trainer=TRAINER, **settings)


def value(result, metric, **where):
    rows = result.metrics.filter(pl.col("metric") == metric)
    for column in ("label", "group"):
        wanted = where.get(column)
        rows = rows.filter(pl.col(column).is_null() if wanted is None else pl.col(column) == wanted)
    return rows.row(0, named=True)


def test_all_target_images_are_predicted_and_measured(small):
    features, images = small.make_tables()
    result = adapt_features(features, images, queries=QUERIES, config=config("mcc"))
    assert result.predictions["image_id"].to_list() == sorted(images.filter(region="Africa")["image_id"])
    validate_table(result.predictions, PREDICTIONS, where="predictions")
    validate_table(result.metrics, METRICS, where="metrics")
    scores = result.predictions["scores"].to_numpy()
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-5)
    truth = images.filter(region="Africa").sort("image_id")["label"].to_numpy()
    hits = np.array(result.info["labels"])[scores.argmax(axis=1)] == truth
    found = value(result, "accuracy")
    assert found["value"] == hits.mean()
    assert found["low"] < found["value"] < found["high"] or found["value"] == 1
    assert value(result, "accuracy", label="cup")["n"] == 20
    assert set(result.metrics.filter(metric="validator")["group"]) == set(VALIDATORS)


def test_target_labels_change_the_metrics_and_nothing_else(small):
    features, images = small.make_tables()
    wrong = images.with_columns(
        pl.when(pl.col("region") == "Africa").then(pl.lit("cup")).otherwise("label").alias("label")
    )
    one = adapt_features(features, images, queries=QUERIES, config=config("dann"))
    other = adapt_features(features, wrong, queries=QUERIES, config=config("dann"))
    bare = adapt_features(
        features,
        images.with_columns(pl.when(pl.col("region") == "Europe").then("label").alias("label")),
        queries=QUERIES,
        config=config("dann"),
    )
    assert one.predictions.equals(other.predictions)
    assert one.predictions.equals(bare.predictions)
    assert value(one, "accuracy")["value"] != value(other, "accuracy")["value"]
    assert value(bare, "accuracy")["n"] == 0
    assert "No test image has a label: predictions without accuracy." in bare.notes


def test_the_order_of_rows_changes_nothing(small):
    features, images = small.make_tables()
    one = adapt_features(features, images, queries=QUERIES, config=config())
    order = np.random.default_rng(0).permutation(features.height)
    other = adapt_features(features[order], images[order[::-1]], queries=QUERIES, config=config(scale="none"))
    plain = adapt_features(features, images, queries=QUERIES, config=config(scale="none"))
    assert plain.predictions.equals(other.predictions)
    assert one.predictions.height == plain.predictions.height


def test_held_out_source_images_give_the_drop(small):
    features, images = small.make_tables()
    queries = Queries(
        source='region == "Europe" and split == "train"',
        target='region == "Africa" and split == "train"',
        test='region == "Africa" and split == "test"',
        validation='region == "Europe" and split == "test"',
    )
    result = adapt_features(features, images, queries=queries, config=config())
    home, there, drop = (value(result, name) for name in ("home_accuracy", "accuracy", "drop"))
    assert (home["n"], there["n"]) == (12, 12)
    assert drop["value"] == pytest.approx(home["value"] - there["value"])
    assert drop["low"] <= drop["value"] <= drop["high"]
    assert result.predictions.height == 60
    assert result.predictions["is_test"].sum() == 12


def test_the_target_supervised_reference_predicts_each_image_by_a_run_that_did_not_see_it(small):
    features, images = small.make_tables()
    right = adapt_features(features, images, queries=QUERIES, config=config("target_supervised"))
    assert value(right, "accuracy")["value"] > 0.85
    shuffled = images.with_columns(
        pl.when(pl.col("region") == "Africa")
        .then(pl.Series(np.random.default_rng(0).permutation(images["label"].to_numpy())))
        .otherwise("label")
        .alias("label")
    )
    noise = adapt_features(features, shuffled, queries=QUERIES, config=config("target_supervised"))
    assert value(noise, "accuracy")["value"] < 0.6
    assert noise.info["adaptation"]["n_folds"] == 5


@pytest.mark.parametrize("algorithm", ["source_only", "unida", "dance", "ovanet"])
@pytest.mark.parametrize("threshold", ["published", "calibrated"])
def test_unknown_labels_are_measured(small, algorithm, threshold):
    features, images = small.make_tables()
    queries = replace(QUERIES, source='region == "Europe" and label != "shoe"')
    settings = config(algorithm, allow_unknown=True, threshold=threshold)
    result = adapt_features(features, images, queries=queries, config=settings)
    table = result.predictions.join(images, on="image_id")
    is_unknown, rejected = table["label"] == "shoe", table["is_unknown"]
    assert value(result, "open_set_accuracy")["value"] == pytest.approx((is_unknown & rejected).sum() / 20)
    closed, opened = value(result, "closed_set_accuracy")["value"], value(result, "open_set_accuracy")["value"]
    expected = 2 * closed * opened / (closed + opened) if closed + opened else 0
    assert value(result, "h_score")["value"] == pytest.approx(expected)
    assert closed <= value(result, "closed_set_accuracy", group="without rejection")["value"]
    pairs = [
        (high > low) + (high == low) / 2
        for high in table.filter(is_unknown)["unknown_score"]
        for low in table.filter(~is_unknown)["unknown_score"]
    ]
    assert value(result, "auroc")["value"] == pytest.approx(np.mean(pairs))
    assert 0 <= value(result, "oscr")["value"] <= value(result, "auroc")["value"] + 1e-9


def test_a_validator_picks_the_checkpoint_that_it_likes_best(small, tmp_path):
    features, images = small.make_tables()
    result = adapt_features(
        features, images, queries=QUERIES, config=config("mcc", select="infomax"), checkpoints=tmp_path
    )
    scores = {row["step"]: row["infomax"] for row in result.history if "infomax" in row}
    assert list(scores) == [20, 40, 60]
    best = max(scores, key=scores.get)
    assert result.info["adaptation"]["reported_step"] == [best]
    assert value(result, "validator", group="infomax")["value"] == pytest.approx(scores[best])
    again = adapt_features(
        features, images, queries=QUERIES, config=config("mcc", select="infomax"), checkpoints=tmp_path
    )
    assert again.predictions.equals(result.predictions)


def test_the_oracle_says_that_it_is_one(small):
    features, images = small.make_tables()
    result = adapt_features(features, images, queries=QUERIES, config=config(select="oracle"))
    scores = {row["step"]: row["oracle"] for row in result.history if "oracle" in row}
    assert value(result, "accuracy")["value"] == max(scores.values())
    assert any("an oracle, not a result" in note for note in result.notes)


def bad(name, features, images):
    """Return features, images, queries and config of a kind of bad input, and what the message says."""
    other = images.with_columns(
        pl.when(pl.col("region") == "Africa").then(pl.lit("sombrero")).otherwise("label").alias("label")
    )
    partly = images.with_columns(
        pl.when((pl.col("region") == "Africa") & (pl.col("split") == "test"))
        .then(pl.lit("sombrero"))
        .otherwise("label")
        .alias("label")
    )
    holes = features.with_columns(
        pl.when(pl.col("image_id") == "a003")
        .then(pl.lit([float("nan")] * small_width(features), dtype=features["features"].dtype))
        .otherwise("features")
        .alias("features")
    )
    return {
        "no shared label": (features, other, QUERIES, config(), ConfigError, "source and target share none"),
        "new label": (features, partly, QUERIES, config(), ConfigError, "has 1 that the source has not.*sombrero"),
        "empty target": (
            features,
            images,
            replace(QUERIES, target='region == "Afrika"'),
            config(),
            ConfigError,
            "--target: no image of 120 .*Did you mean 'Africa'",
        ),
        "one label": (
            features,
            images,
            replace(QUERIES, source='region == "Europe" and label == "cup"'),
            config(),
            TableError,
            "--source: all 20 images .* label 'cup'",
        ),
        "nan": (holes, images, QUERIES, config(), TableError, r"NaN or infinity in the vectors of 'a003 \(row 64\)'"),
        "large batch": (
            features,
            images,
            QUERIES,
            replace(config(), trainer=replace(TRAINER, batch_size=61)),
            ConfigError,
            "batch_size is 61, and the source has 60 images",
        ),
        "shared images": (
            features,
            images,
            replace(QUERIES, target="True"),
            config(),
            ConfigError,
            "60 of its 120 images are among the source's",
        ),
        "no features": (
            features.filter(~pl.col("image_id").str.starts_with("a")),
            images,
            QUERIES,
            config(),
            TableError,
            r"none of the 60 images .*\(--target\)",
        ),
    }[name]


def small_width(features):
    return features["features"].dtype.size


KINDS = ["no shared label", "new label", "empty target", "one label", "nan", "large batch", "shared images"]


@pytest.mark.parametrize("kind", [*KINDS, "no features"])
def test_bad_input_is_one_clear_error_and_nothing_is_written(small, tmp_path, kind):
    features, images, queries, settings, error, message = bad(kind, *small.make_tables())
    with pytest.raises(error, match=message):
        adapt_features(features, images, queries=queries, config=settings, checkpoints=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"algorithm": "dann"}, "its checkpoint is of algorithm 'source_only', expected 'dann'"),
        ({"trainer": replace(TRAINER, n_steps=70)}, "its checkpoint is of another trainer"),
        ({"options": {"bottleneck": 9}}, "its checkpoint is of options"),
        ({"scale": "column"}, "its checkpoint is of another data"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_kept(small, tmp_path, changed, message):
    features, images = small.make_tables()
    adapt_features(features, images, queries=QUERIES, config=config(), checkpoints=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ConfigError, match=message):
        adapt_features(features, images, queries=QUERIES, config=replace(config(), **changed), checkpoints=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_seed_s_checkpoint_is_refused(small, tmp_path):
    features, images = small.make_tables()
    adapt_features(features, images, queries=QUERIES, config=config(), checkpoints=tmp_path)
    with pytest.raises(ConfigError, match="seed '0', expected '1'"):
        adapt_features(features, images, queries=QUERIES, config=config(), checkpoints=tmp_path, seed=1)


@pytest.mark.parametrize("damage", ["state", "tensors"])
def test_a_damaged_checkpoint_is_named(small, tmp_path, damage):
    features, images = small.make_tables()
    adapt_features(features, images, queries=QUERIES, config=config(), checkpoints=tmp_path)
    file = tmp_path / "state.json" if damage == "state" else sorted(tmp_path.glob("*.safetensors"))[-1]
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(OSError, match="not a readable checkpoint"):
        adapt_features(features, images, queries=QUERIES, config=config(), checkpoints=tmp_path)


def test_a_rate_that_explodes_stops_with_step_and_term(small, tmp_path):
    features, images = small.make_tables()
    settings = replace(config("dance"), trainer=replace(TRAINER, learning_rate=1e30, checkpoint_every=1))
    with pytest.raises(TrainingError, match=r"(step \d+: the loss term '|after step \d+: a weight is NaN)"):
        adapt_features(features, images, queries=QUERIES, config=settings, checkpoints=tmp_path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AdaptConfig(algorithm="dan"), "unknown algorithm 'dan'.*Did you mean 'dann'"),
        (lambda: AdaptConfig(algorithm="mcc", options={"temprature": 2}), "Did you mean 'temperature'"),
        (lambda: AdaptConfig(algorithm="mcc", options={"temperature": "hot"}), "expected a number"),
        (lambda: AdaptConfig(algorithm="cdan", options={"entropy": "perhaps"}), "expected true or false"),
        (lambda: AdaptConfig(algorithm="mcc", options={"bottleneck": 2.5}), "expected a whole number"),
        (lambda: AdaptConfig(select="best"), "unknown selection 'best'"),
        (lambda: AdaptConfig(threshold="mine"), "unknown threshold 'mine'"),
        (lambda: AdaptConfig(n_folds=1), "n_folds is 1"),
        (lambda: TrainerConfig(n_steps=0), "n_steps is 0"),
        (lambda: TrainerConfig(batch_size=1), "expected at least 2"),
        (lambda: TrainerConfig(optimizer="adam"), "unknown optimizer 'adam'"),
        (lambda: TrainerConfig(learning_rate=float("nan")), "learning_rate is nan"),
        (lambda: TrainerConfig(momentum=1.0), "momentum is 1.0"),
        (lambda: TrainerConfig(precision="float8"), "unknown precision 'float8'"),
    ],
)
def test_settings_without_meaning_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_clipping_and_mixed_precision_train_too(small):
    features, images = small.make_tables()
    for trainer in (replace(TRAINER, clip_norm=0.5), replace(TRAINER, precision="bfloat16")):
        settings = replace(config("mcc"), trainer=trainer)
        result = adapt_features(features, images, queries=QUERIES, config=settings)
        assert value(result, "accuracy")["value"] > 0.5
