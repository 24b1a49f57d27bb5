"""Predictions: the model's own classes, written so that they read back as what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.data.readers.predictions import read_predictions
from graticule.errors import ModelError
from graticule.models.head import Head, own_head
from graticule.models.model import FEATURES, Model, Outputs
from graticule.models.pipeline import StreamConfig
from graticule.models.predict import predict_images, predict_with
from graticule.models.transform import Transform

QUIET = StreamConfig(batch_size=4, n_workers=2, progress=False)


class ColourEngine:
    """Scores: how much of each primary colour; features: those and their opposite."""

    name, device, precision, n_streams = "eager", "cpu", "float32", 1

    def compute(self, batch):
        scores = batch.mean(axis=(1, 2)).astype(np.float32)
        return Outputs(features=np.concatenate([scores, -scores], axis=1), scores=scores)


@pytest.fixture
def model():
    return Model(
        name="test/colours",
        transform=Transform(height=8, width=8, resize_to=(8, 8), mean=(0.5,) * 3, std=(0.5,) * 3),
        engine=ColourEngine(),
        n_features=6,
        n_scores=3,
        score_kind="logits",
        labels=("red", "green", "blue"),
        label_ids=("n1", "n2", "n3"),
        info={"model": "test/colours", "weights": {"source": "none"}, "transform": "t", "engine": "eager"},
    )


@pytest.fixture
def images(tmp_path):
    colours = {"r.png": (250, 0, 9), "g.png": (10, 200, 0), "b.png": (0, 60, 90)}
    for name, colour in colours.items():
        Image.new("RGB", (9, 9), colour).save(tmp_path / name)
    return pl.DataFrame({"image_id": list("rgb"), "path": list(colours)})


def test_own_classes_read_back_with_their_names_and_kind(images, model, tmp_path):
    result = predict_images(images, base=tmp_path, model=model, output=tmp_path / "p.parquet", config=QUIET)
    read = read_predictions(result.path)
    assert (read.model, read.kind, read.labels) == ("test/colours", "logits", ("red", "green", "blue"))
    assert list(read.image_ids) == ["r", "g", "b"]
    assert read.top[:, 0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(read.scores, [[250, 0, 9], [10, 200, 0], [0, 60, 90]])
    assert read.info["label_ids"] == ["n1", "n2", "n3"]


def test_classes_without_names_are_numbered(model):
    assert own_head(replace(model, labels=None, label_ids=None)).labels == ("0", "1", "2")


def test_a_head_may_take_features_and_give_other_labels(images, model, tmp_path):
    head = Head(
        labels=("dark", "light"),
        kind="probabilities",
        takes=FEATURES,
        apply=lambda features: np.stack([features[:, 3], features[:, 0]], axis=1),
        info={"prompts": "none"},
    )
    result = predict_with(head, images, base=tmp_path, model=model, output=tmp_path / "p.parquet", config=QUIET)
    read = read_predictions(result.path)
    assert (read.kind, read.labels) == ("probabilities", ("dark", "light"))
    np.testing.assert_array_equal(read.scores[:, 1], [250, 10, 0])
    assert read.info["prompts"] == "none"


def test_a_model_without_a_head_is_refused_before_any_work(images, model, tmp_path):
    headless = replace(model, n_scores=0, labels=None, label_ids=None)
    with pytest.raises(ModelError, match="no classification head"):
        predict_images(images, base=tmp_path, model=headless, output=tmp_path / "p.parquet")
    assert not (tmp_path / "p.parquet.partial").exists()
