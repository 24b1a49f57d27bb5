"""67 real ImageNet models on 50,000 images: the published accuracies, from a table of predictions alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions
from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit import audit_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.gate import check_gate
from graticule.evaluation.metrics import METRICS

LABELS = tuple(f"class {code:04d}" for code in range(1000))


@pytest.fixture(scope="module")
def images(shared):
    rows = pl.read_parquet(shared("data/imagenetv2_model_predictions/val_order.parquet"))
    return rows.select(
        pl.col("file").alias("image_id"),
        pl.Series("label", [LABELS[code] for code in rows["label"]]),
        pl.lit("everywhere").alias("region"),
    )


@pytest.fixture(scope="module")
def load(shared, images):
    archive = np.load(shared("data/imagenetv2_model_predictions/top5_val50k_67models.npz"))
    names = images["image_id"].to_numpy().astype(object)

    def make(model):
        return Predictions(
            model=model,
            image_ids=names,
            labels=LABELS,
            kind="labels",
            top=archive[model].astype(np.int32),
            scores=None,
            info={},
        )

    return lambda models=None: [make(model) for model in models or archive.files]


def read_overall(metrics):
    rows = metrics.filter(
        pl.col("metric").is_in(["accuracy", "top5_accuracy"]) & pl.col("region").is_null() & pl.col("label").is_null()
    )
    return rows.pivot("metric", index="model", values="value")


def test_resnet50_has_its_published_accuracy(images, load):
    audit = audit_predictions(images, load(["resnet50"]), config=AuditConfig(n_bootstraps=200))
    found = read_overall(audit.metrics).row(0, named=True)
    assert found["accuracy"] == pytest.approx(0.7613, abs=5e-5)
    assert found["top5_accuracy"] == pytest.approx(0.92862, abs=5e-5)
    assert audit.record.headline[0].startswith("The model is right on 76.1 % (75.8 to 76.5) of 50,000 images.")
    # Every label has 50 images, so that the mean over labels is the mean over images.
    balanced = audit.metrics.filter((pl.col("metric") == "balanced_accuracy") & pl.col("region").is_null())
    assert balanced["value"][0] == pytest.approx(found["accuracy"])


def test_two_models_are_compared_on_the_same_images(images, load):
    audit = audit_predictions(images, load(["resnet50", "resnet101"]), config=AuditConfig(n_bootstraps=50))
    rows = audit.metrics.filter(
        (pl.col("model") == "resnet101") & (pl.col("group") == "resnet50") & pl.col("region").is_null()
    )
    difference = rows.filter(pl.col("metric") == "paired_difference").row(0, named=True)
    one, other = load(["resnet50", "resnet101"])
    codes = np.array([LABELS.index(name) for name in images["label"].to_list()])
    assert difference["value"] == pytest.approx((other.top[:, 0] == codes).mean() - (one.top[:, 0] == codes).mean())
    assert 0 < difference["low"] < difference["value"] < difference["high"] < 0.03
    assert check_gate("paired_difference[model=resnet101, group=resnet50] > 0.005", audit.metrics).has_failed


@pytest.mark.slow
def test_all_67_models_have_the_accuracies_recomputed_by_others(images, load, shared):
    published = pl.read_csv(shared("data/imagenetv2_model_predictions/accuracies_recomputed.csv"))
    audit = audit_predictions(images, load(), config=AuditConfig(n_bootstraps=100))
    both = read_overall(audit.metrics).join(published, on="model")
    assert both.height == 67
    assert both["accuracy"].to_numpy() == pytest.approx(both["top1"].to_numpy(), abs=1e-9)
    assert both["top5_accuracy"].to_numpy() == pytest.approx(both["top5"].to_numpy(), abs=1e-9)
    pairs = audit.metrics.filter((pl.col("metric") == "mcnemar_p") & pl.col("region").is_null())
    assert pairs.height <= 4 * 67
    assert audit.record.headline[0].startswith("67 models: the most accurate is ")


@pytest.mark.slow
def test_models_on_the_same_images_share_the_luck_of_a_random_split(images, load):
    """What docs/statistics.md says of 67 models whose images were split in two at random."""
    halves = pl.Series(["A", "B"]).gather(np.random.default_rng(0).integers(0, 2, images.height))
    config = AuditConfig(min_images=1000)
    aligned = align_predictions(images.with_columns(region=halves), load(), config=config)
    rows = pl.concat(METRICS["worst_gap"].measure(scored, config) for scored in aligned.scored)
    overall = rows.filter(pl.col("label").is_null())
    beyond = overall.filter((pl.col("metric") == "worst_gap") & (pl.col("low") > 0))
    assert beyond.height == pytest.approx(15, abs=2)
    worst = overall.filter(pl.col("metric") == "worst_region").join(beyond, on="model", how="semi")
    assert worst["region"].n_unique() == 1
