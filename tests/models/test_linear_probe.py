"""`graticule.models.probe` and what it is made of: which images it trains on, and what it says of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.store import write_table
from graticule.data.tables import PREDICTIONS
from graticule.errors import ConfigError, TableError
from graticule.models.probe import ProbeConfig, probe_features

LABELS = ["cup", "lamp", "shoe"]
FIXED = ProbeConfig(inverse_penalty=10.0)


def make_tables(*, n=90, d=8, noise=0.6, seed=0):
    """Return features and images; the images of a group lie so near to each other that one gives the others away."""
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % 3
    features = rng.normal(size=(3, d))[targets] + noise * rng.normal(size=(n, d))
    ids = [f"image{i:03d}" for i in range(n)]
    images = pl.DataFrame(
        {
            "image_id": ids,
            "label": [LABELS[k] for k in targets],
            "region": ["Europe" if i % 2 else "Africa" for i in range(n)],
            "split": ["train" if i % 5 else "test" for i in range(n)],
        }
    )
    vectors = pl.Series(features.astype(np.float32), dtype=pl.Array(pl.Float32, d))
    return pl.DataFrame({"image_id": ids, "features": vectors}), images


def predicted(result):
    best = result.predictions["scores"].to_numpy().argmax(axis=1)
    return [result.info["labels"][k] for k in best]


def test_every_image_with_features_is_predicted_in_their_order():
    features, images = make_tables()
    result = probe_features(features, images, train='region == "Europe" and split == "train"', config=FIXED)
    assert result.predictions["image_id"].equals(features["image_id"])
    assert result.info["labels"] == LABELS
    assert result.info["kind"] == "probabilities"
    np.testing.assert_allclose(result.predictions["scores"].to_numpy().sum(axis=1), 1, rtol=1e-5)
    expected = images.select((pl.col("region") == "Europe") & (pl.col("split") == "train")).to_series()
    assert result.predictions["is_train"].equals(expected.alias("is_train"))
    assert (result.predictions["fold"].is_not_null() == expected).all()
    right = np.array(predicted(result)) == images["label"].to_numpy()
    assert right.mean() > 0.9


def test_the_order_of_rows_changes_nothing():
    features, images = make_tables()
    train = 'region == "Europe"'
    one = probe_features(features, images, train=train)
    other = probe_features(features.sample(fraction=1, shuffle=True, seed=1), images.reverse(), train=train)
    assert one.info == other.info
    both = one.predictions.join(other.predictions, on="image_id")
    np.testing.assert_allclose(both["scores"].to_numpy(), both["scores_right"].to_numpy(), atol=1e-5)


def test_the_same_seed_gives_the_same_predictions_and_another_seed_other_folds():
    features, images = make_tables()
    one, again = (probe_features(features, images, train="True", config=FIXED, seed=3) for _ in range(2))
    assert one.predictions.equals(again.predictions)
    other = probe_features(features, images, train="True", config=FIXED, seed=4)
    assert not one.predictions["fold"].equals(other.predictions["fold"])


def test_training_images_are_predicted_by_a_probe_that_did_not_see_them():
    """With labels that mean nothing, a probe can only know what it was trained on."""
    features, images = make_tables(n=120, d=100)
    images = images.with_columns(label=images["label"].shuffle(seed=5))
    config = ProbeConfig(inverse_penalty=1e4)
    honest = probe_features(features, images, train="True", config=config)
    flattering = probe_features(features, images, train="True", config=ProbeConfig(inverse_penalty=1e4, n_folds=0))
    assert honest.info["probe"]["out_of_fold_accuracy"] < 0.5
    assert flattering.info["probe"]["training_accuracy"] > 0.95
    assert flattering.predictions["fold"].null_count() == 120
    right = np.array(predicted(honest)) == images["label"].to_numpy()
    assert right.mean() == pytest.approx(honest.info["probe"]["out_of_fold_accuracy"])


def test_images_of_a_group_do_not_give_each_other_away():
    """Each group is a photo taken twice, with a label drawn at random: only a twin in training could tell it."""
    rng = np.random.default_rng(0)
    n_groups, d = 120, 300
    shots = rng.normal(size=(n_groups, d))
    features = np.repeat(shots, 2, axis=0) + 0.01 * rng.normal(size=(2 * n_groups, d))
    ids = [f"i{i:03d}" for i in range(2 * n_groups)]
    drawn = rng.permutation(np.arange(n_groups) % 3)
    images = pl.DataFrame(
        {
            "image_id": ids,
            "label": [LABELS[k] for k in np.repeat(drawn, 2)],
            "shot": [f"s{k}" for k in np.repeat(np.arange(n_groups), 2)],
        }
    )
    table = pl.DataFrame({"image_id": ids, "features": pl.Series(features.astype(np.float32))})
    alone = probe_features(table, images, train="True", config=ProbeConfig(inverse_penalty=1e3))
    grouped = probe_features(table, images, train="True", config=ProbeConfig(inverse_penalty=1e3, group="shot"))
    assert alone.info["probe"]["out_of_fold_accuracy"] > 0.7
    assert grouped.info["probe"]["out_of_fold_accuracy"] < 0.5
    folds = grouped.predictions.join(images, on="image_id").group_by("shot").agg(pl.col("fold").n_unique())
    assert (folds["fold"] == 1).all()


def test_an_image_without_a_group_is_on_its_own():
    features, images = make_tables(n=30)
    images = images.with_columns(shop=pl.when(pl.int_range(pl.len()) < 12).then(pl.lit("a")))
    result = probe_features(features, images, train="True", config=ProbeConfig(inverse_penalty=1.0, group="shop"))
    folds = result.predictions["fold"]
    assert folds[:12].n_unique() == 1
    assert folds[12:].n_unique() > 1


def test_the_info_says_what_was_done():
    features, images = make_tables()
    result = probe_features(
        features, images, train='region == "Europe"', features_info={"model": "timm/x", "layer": "pool"}, seed=7
    )
    probe = result.info["probe"]
    assert result.info["model"] == 'timm/x, probe trained on region == "Europe"'
    assert result.info["features"] == {"model": "timm/x", "layer": "pool"}
    assert (probe["train"], probe["seed"], probe["n_train"]) == ('region == "Europe"', 7, 45)
    assert probe["n_train_by_label"] == dict.fromkeys(LABELS, 15)
    assert len(probe["inverse_penalty_by_fold"]) == 5
    assert probe["inverse_penalty"] in probe["inverse_penalties_tried"]
    assert len(probe["left_out_losses"]) == len(probe["inverse_penalties_tried"])
    assert 0 <= probe["gap"] < 1e-2 * probe["objective"]
    assert len(probe["train_image_ids_sha256"]) == 64
    assert probe_features(features, images, train="True", name="mine").info["model"] == "mine"


def test_predictions_can_be_written_and_read_as_an_artefact(tmp_path):
    from graticule.data.readers.predictions import read_predictions

    features, images = make_tables()
    result = probe_features(features, images, train="True", config=FIXED)
    write_table(result.predictions, tmp_path / "p.parquet", PREDICTIONS, info=result.info)
    read = read_predictions(tmp_path / "p.parquet")
    assert (read.model, read.kind, read.labels) == (result.info["model"], "probabilities", tuple(LABELS))
    assert [read.labels[k] for k in read.top[:, 0]] == predicted(result)


def test_labels_are_those_of_the_training_images_only():
    features, images = make_tables()
    images = images.with_columns(label=pl.when(pl.col("region") == "Africa").then(pl.lit("hat")).otherwise("label"))
    result = probe_features(features, images, train='region == "Europe"', config=FIXED)
    assert result.info["labels"] == LABELS


def test_features_in_half_precision_and_as_plain_lists_are_accepted():
    features, images = make_tables()
    single = probe_features(features, images, train="True", config=FIXED)
    for dtype in (pl.Array(pl.Float16, 8), pl.List(pl.Float64)):
        cast = features.with_columns(pl.col("features").cast(dtype))
        other = probe_features(cast, images, train="True", config=FIXED)
        np.testing.assert_allclose(
            single.predictions["scores"].to_numpy(), other.predictions["scores"].to_numpy(), atol=0.02
        )


def test_unusual_things_are_noted_and_counted():
    features, images = make_tables(n=60)
    images = images.with_columns(
        label=pl.when(pl.col("image_id") == "image000")
        .then(None)
        .when(pl.col("image_id") == "image001")
        .then(pl.lit("once"))
        .otherwise("label")
    )
    result = probe_features(features[2:], images[:-3], train="True", config=FIXED)
    assert result.info["probe"]["n_train_without_label"] == 1
    assert result.info["probe"]["n_train_without_features"] == 1
    assert result.info["probe"]["n_not_in_images"] == 3
    assert [note.split(" images")[0] for note in result.notes[:3]] == ["1", "1", "3"]
    result = probe_features(features, images, train="True", config=FIXED)
    assert "1 of 4 labels have all their training images in one fold" in result.notes[-1]
    assert "once" in result.notes[-1]
    assert result.predictions["scores"].to_numpy()[1].argmax() != result.info["labels"].index("once")


@pytest.mark.parametrize(
    ("train", "error", "message"),
    [
        ('region == "Europ"', ConfigError, r"no image of 90 matches 'region == \"Europ\"'.*Did you mean 'Europe'"),
        ('region == "Europe" and region == "Africa"', ConfigError, "no image has them all"),
        ('regoin == "Europe"', ConfigError, "unknown column 'regoin'.*Did you mean 'region'"),
        ('label == "cup"', TableError, "all 30 images that match .* have the label 'cup'; expected at least two"),
        ("label is None", ConfigError, "no image of 90 matches"),
    ],
)
def test_a_query_that_cannot_train_a_probe_is_refused(train, error, message):
    features, images = make_tables()
    with pytest.raises(error, match=f"(?s){message}"):
        probe_features(features, images, train=train)


def test_tables_that_cannot_train_a_probe_are_refused():
    features, images = make_tables()
    with pytest.raises(TableError, match="no column 'label' to train on"):
        probe_features(features, images.drop("label"), train="True")
    with pytest.raises(TableError, match="none of the 90 images that match 'True' has a label"):
        probe_features(features, images.with_columns(label=pl.lit(None, dtype=pl.String)), train="True")
    renamed = features.with_columns(image_id=pl.format("x{}", pl.int_range(pl.len())))
    with pytest.raises(TableError, match=r"none of the 90 images that match 'True' is among them.*'x0'"):
        probe_features(renamed, images, train="True")
    with pytest.raises(ConfigError, match=r"unknown column 'sing'. Known: .*split"):
        probe_features(features, images, train="True", config=ProbeConfig(group="sing"))
    with pytest.raises(TableError, match="features: 0 vectors"):
        probe_features(features[:0], images, train="True", config=FIXED)


def test_features_that_are_not_finite_are_named_and_counted():
    features, images = make_tables()
    vectors = features["features"].to_numpy().copy()
    vectors[[3, 5, 7, 11, 13, 17], 2] = [np.nan, np.inf, -np.inf, np.nan, np.nan, np.nan]
    broken = features.with_columns(features=pl.Series(vectors))
    with pytest.raises(TableError, match=r"image003 \(row 4\)', 'image005 \(row 6\)'.*1 more; 6 of 90 rows"):
        probe_features(broken, images, train='region == "Europe"')


@pytest.mark.parametrize(
    "setting", [{"inverse_penalty": 0.0}, {"inverse_penalty": float("nan")}, {"n_folds": 1}, {"tolerance": 2.0}]
)
def test_settings_without_a_meaning_are_refused(setting):
    with pytest.raises(ConfigError, match=f"{next(iter(setting))} is .*expected .*Try "):
        ProbeConfig(**setting)
