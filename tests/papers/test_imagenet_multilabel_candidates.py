"""Candidates from real predictions: as many as the paper says, and the labels that people then chose are among them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.candidates import find_candidates
from graticule.data.predictions import Predictions

TEN_MODELS = (
    *("vgg16", "inceptionv3", "densenet161", "resnet50", "resnet101", "resnext101_32x4d"),
    *("se_resnext50_32x4d", "nasnetalarge", "pnasnet5large", "senet154"),
)
"""Ten architectures; the paper's own ten are not all in the published predictions."""


@pytest.fixture(scope="module")
def candidates(shared):
    order = pl.read_parquet(shared("data/imagenetv2_model_predictions/val_order.parquet"))
    info = pl.read_parquet(shared("data/imagenet_multilabel/image_info.parquet"))
    images = info.select(pl.col("image").alias("image_id"), pl.col("imagenet_label").cast(pl.String).alias("label"))
    image_ids = order["file"].to_numpy()
    with np.load(shared("data/imagenetv2_model_predictions/top5_val50k_67models.npz")) as tops:
        models = [
            Predictions(
                model=name,
                image_ids=image_ids,
                labels=tuple(str(label) for label in range(1000)),
                kind="labels",
                top=tops[name].astype(np.int64),
                scores=None,
                info={},
            )
            for name in TEN_MODELS
        ]
    return find_candidates(images, models, top=5)


def test_ten_models_and_the_given_label_give_about_14_candidates_an_image(candidates):
    assert candidates["image_id"].n_unique() == 10_000
    assert candidates.height / 10_000 == pytest.approx(14, abs=1)
    assert candidates["is_given"].sum() == 10_000


def test_what_people_chose_is_nearly_always_among_the_candidates(candidates, shared):
    published = pl.read_parquet(shared("data/imagenet_multilabel/classify.parquet"))
    chosen = (
        published.select(pl.col("image").alias("image_id"), pl.col("selected").alias("label"))
        .explode("label")
        .explode("label")
        .unique()
        .with_columns(pl.col("label").cast(pl.String))
    )
    found = chosen.join(candidates, on=["image_id", "label"], how="semi")
    assert found.height / chosen.height > 0.95
