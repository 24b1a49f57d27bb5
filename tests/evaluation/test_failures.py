"""The gallery's picks: bounded, fair, and the same however rows are ordered."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.failures import pick_failures


def pick(images, *predictions, **settings):
    config = AuditConfig(**settings)
    aligned = align_predictions(images, list(predictions), config=config)
    return pick_failures(aligned.scored, aligned.images, config=config)


def test_only_errors_are_picked_with_what_the_model_said(make_case):
    images, predictions = make_case(n=600)
    found = pick(images, predictions)
    assert found.height
    joined = found.join(images, on="image_id", suffix="_true")
    assert (joined["label"] == joined["label_true"]).all()
    assert (joined["region"] == joined["region_true"]).all()
    assert (joined["path"] == joined["path_true"]).all()
    best = dict(zip(predictions.image_ids, predictions.top[:, 0], strict=True))
    assert all(predictions.labels[best[row["image_id"]]] == row["predicted"] for row in found.iter_rows(named=True))
    assert (found["predicted"] != found["label"]).all()
    assert (found["predicted_probability"] >= found["label_probability"]).all()


@pytest.mark.parametrize("size", [0, 1, 7, 60, 10_000])
def test_there_are_never_more_than_asked_for(size, make_case):
    images, predictions = make_case(n=600)
    _, second = make_case(n=600, seed=5, model="second")
    found = pick(images, predictions, second, gallery_size=size)
    assert found.height <= size
    assert found.is_duplicated().sum() == 0
    if size == 60:
        assert dict(found.group_by("model").len().iter_rows()) == {"a model": 30, "second": 30}


def test_every_cell_gets_as_many_as_any_other_as_far_as_it_has_errors(make_case):
    images, predictions = make_case(n=3000, regions=("Africa", "Asia"), labels=("bag", "dog", "hat"))
    found = pick(images, predictions, gallery_size=120)
    for picked in ("random", "worst"):
        counts = found.filter(pl.col("picked") == picked).group_by("region", "label").len()["len"].to_list()
        assert counts == [10] * 6


def test_the_worst_are_the_most_confident_errors_of_each_cell(make_case):
    images, predictions = make_case(n=600, regions=("Africa",), labels=("bag", "dog"))
    found = pick(images, predictions, gallery_size=20)
    everything = pick(images, predictions, gallery_size=10_000).filter(pl.col("picked") == "random")
    for label in ("bag", "dog"):
        worst = found.filter((pl.col("picked") == "worst") & (pl.col("label") == label))[
            "predicted_probability"
        ].to_list()
        all_errors = (
            everything.filter(pl.col("label") == label)["predicted_probability"].sort(descending=True).to_list()
        )
        assert worst == all_errors[: len(worst)]


def test_the_random_sample_is_fair(make_case):
    images, predictions = make_case(n=600, regions=("Africa",), labels=("bag", "dog"))
    errors = pick(images, predictions, gallery_size=10_000).filter(pl.col("picked") == "random")
    times = dict.fromkeys(errors["image_id"], 0)
    for seed in range(300):
        for name in pick(images, predictions, gallery_size=40, seed=seed).filter(pl.col("picked") == "random")[
            "image_id"
        ]:
            times[name] += 1
    assert sum(times.values()) == 300 * 20
    counts = np.array(list(times.values()))
    # Each of about 60 errors of a label is in about one of six samples; five standard deviations either way.
    expected = 300 * 20 / len(counts)
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected)


def test_without_probabilities_all_places_are_random(make_case):
    images, predictions = make_case(n=600, kind="labels")
    found = pick(images, predictions, gallery_size=30)
    assert found["picked"].unique().to_list() == ["random"]
    assert found.height == 30
    assert found["predicted_probability"].is_nan().all()
