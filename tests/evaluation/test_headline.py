"""The headline: every sentence is true of the table, and noise is called noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from graticule.evaluation.audit import audit_predictions
from graticule.evaluation.audit_config import AuditConfig

FAST = AuditConfig(n_bootstraps=200, n_partitions=200)


def test_regions_that_are_alike_are_never_said_to_differ_beyond_chance(make_case):
    shouts = 0
    for seed in range(25):
        images, predictions = make_case(n=600, kind="labels", seed=seed)
        headline = audit_predictions(images, [predictions], config=FAST).record.headline
        shouts += "more than chance" in headline[1]
    assert shouts <= 4


def test_numbers_in_sentences_are_those_of_the_table(make_case, find_row):
    images, predictions = make_case(n=900)
    audit = audit_predictions(images, [predictions], config=FAST)
    overall = find_row(audit.metrics, "accuracy")
    assert audit.record.headline[0] == (
        f"The model is right on {100 * overall['value']:.1f} % ({100 * overall['low']:.1f} to "
        f"{100 * overall['high']:.1f}) of 900 images."
    )
    gap = find_row(audit.metrics, "worst_gap")
    expected = find_row(audit.metrics, "worst_gap_expected")
    assert f"The gap is {100 * gap['value']:.1f} points" in audit.record.headline[1]
    assert f"shows {100 * expected['value']:.1f} points on average" in audit.record.headline[1]
    flags = find_row(audit.metrics, "partition_flags", group="extremes")
    chance = find_row(audit.metrics, "partition_flags_expected", group="extremes")
    assert any(
        sentence.startswith(f"{flags['value']:.0f} of 6 labels differ")
        and f"about {chance['value']:.1f} would" in sentence
        for sentence in audit.record.headline
    )
    error = find_row(audit.metrics, "calibration_error")
    assert any(
        f"calibration error is {100 * error['value']:.1f} points" in sentence for sentence in audit.record.headline
    )


def test_a_gap_that_the_mix_of_labels_makes_is_said_to_be_of_the_mix(make_case):
    # 'bag' is always wrong and nearly all of Africa's images are bags; within a label no region differs.
    images, predictions = make_case(n=3000, accuracy=1.0, regions=("Africa", "Asia"), labels=("bag", "dog"))
    rng = np.random.default_rng(0)
    region = np.where(
        (images["label"] == "bag").to_numpy(), rng.choice(2, 3000, p=[0.9, 0.1]), rng.choice(2, 3000, p=[0.1, 0.9])
    )
    images = images.with_columns(region=pl.Series(["Africa", "Asia"]).gather(region))
    top = np.ones((3000, 1), dtype=np.int32)
    audit = audit_predictions(images, [replace(predictions, top=top, scores=None, kind="labels")], config=FAST)
    assert "worst in Africa" in audit.record.headline[1]
    assert "more than chance" in audit.record.headline[1]
    points = audit.record.headline[1].split("The gap is ")[1].split(" points")[0]
    assert f"By their mix of labels alone Asia would be {points} points ahead of Africa." in audit.record.headline


@pytest.mark.parametrize("n_models", [2, 3, 5])
def test_models_are_told_apart_and_many_are_summed_up(n_models, make_case):
    images, predictions = make_case(n=500, kind="labels")
    models = [
        replace(make_case(n=500, kind="labels", seed=0, accuracy=0.8)[1], model=f"model {n}") for n in range(n_models)
    ]
    truth = np.array([[predictions.labels.index(name)] for name in images["label"]], dtype=np.int32)
    models[1] = replace(models[1], top=truth)
    headline = audit_predictions(images, models, config=FAST).record.headline
    if n_models > 3:
        assert headline[0].startswith("5 models: the most accurate is model 1, right on 100.0 %")
        assert len(headline) <= 3
    else:
        assert (
            sum(sentence.startswith(f"model {n} is right on") for n in range(n_models) for sentence in headline)
            == n_models
        )
        assert any(
            "model 1 is" in sentence and "points ahead of model 0, more than chance" in sentence
            for sentence in headline
        )


def test_what_was_left_out_is_said(make_case):
    images, predictions = make_case(n=200)
    kept = replace(
        predictions, image_ids=predictions.image_ids[:150], top=predictions.top[:150], scores=predictions.scores[:150]
    )
    headline = audit_predictions(images, [kept], config=FAST).record.headline
    assert headline[-1] == "Left out of 200 images: no prediction: 50."
