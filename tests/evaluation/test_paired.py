"""Two models on the same images: counts, McNemar's test, and which pairs are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from graticule.evaluation.audit import audit_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.paired import compute_mcnemar

FAST = AuditConfig(n_bootstraps=20, n_partitions=20)


def test_mcnemar_is_half_the_probability_of_the_very_split_and_all_that_of_rarer_ones():
    for only_first, only_second in ((0, 6), (3, 14), (50, 71), (400, 400)):
        n, fewer = only_first + only_second, min(only_first, only_second)
        expected = 2 * binom(n, 0.5).cdf(fewer) - binom(n, 0.5).pmf(fewer) if only_first != only_second else 1.0
        found = compute_mcnemar(np.array([only_first]), np.array([only_second]), np.array([1000]))
        assert found == pytest.approx([expected])


def test_models_that_never_disagree_have_p_one_and_no_images_nan():
    assert compute_mcnemar(np.array([0, 0]), np.array([0, 0]), np.array([10, 0])).tolist() == pytest.approx(
        [1.0, np.nan], nan_ok=True
    )


def test_mcnemar_rejects_five_in_a_hundred_where_models_are_equal():
    drawn = np.random.default_rng(0).multinomial(500, [0.08, 0.08, 0.84], 4000)
    p_values = compute_mcnemar(drawn[:, 0], drawn[:, 1], np.full(4000, 500))
    assert 0.035 < (p_values < 0.05).mean() < 0.06


def test_differences_are_of_images_that_both_were_scored_on(make_case, find_row):
    images, first = make_case(n=400)
    _, second = make_case(n=400, seed=3, model="second")
    rng = np.random.default_rng(4)
    truth = np.array([first.labels.index(name) for name in images["label"]])
    second = replace(
        second,
        image_ids=second.image_ids[100:],
        top=np.where(rng.random((300, 1)) < 0.9, truth[100:, None], second.top[100:]).astype(np.int32),
        scores=None,
        kind="labels",
    )
    metrics = audit_predictions(images, [first, second], config=FAST).metrics
    right_first, right_second = first.top[100:, 0] == truth[100:], second.top[:, 0] == truth[100:]
    found = find_row(metrics, "paired_difference", model="a model", group="second")
    back = find_row(metrics, "paired_difference", model="second", group="a model")
    assert found["n"] == 300
    assert found["value"] == pytest.approx(right_first.mean() - right_second.mean())
    assert (back["value"], back["low"], back["high"]) == (-found["value"], -found["high"], -found["low"])
    in_asia = (images["region"] == "Asia").to_numpy()[100:]
    there = find_row(metrics, "paired_difference", model="a model", region="Asia", group="second")
    assert there["n"] == in_asia.sum()
    assert there["value"] == pytest.approx(right_first[in_asia].mean() - right_second[in_asia].mean())


def test_few_models_are_all_compared_and_many_with_the_first_and_the_best_only(make_case):
    images, predictions = make_case(n=100)
    for n_models, n_pairs in ((2, 1), (6, 15), (8, 13)):
        models = [
            replace(predictions, model=f"model {place}", top=np.roll(predictions.top, place % 3, 0))
            for place in range(n_models)
        ]
        models[3 % n_models] = replace(models[0], model="twin") if n_models == 2 else models[3 % n_models]
        # The best is the one that is told the truth.
        truth = np.array([[predictions.labels.index(name)] for name in images["label"]], dtype=np.int32)
        models[-1] = replace(predictions, model="best", top=truth, scores=None, kind="labels")
        metrics = audit_predictions(images, models, config=FAST).metrics
        rows = metrics.filter((pl.col("metric") == "mcnemar_p") & pl.col("region").is_null())
        assert rows.height == 2 * n_pairs
        if n_models == 8:
            pairs = {frozenset(pair) for pair in rows.select("model", "group").iter_rows()}
            assert all({"model 0", "best"} & pair for pair in pairs)


def test_p_values_are_adjusted_over_pairs(make_case, find_row):
    images, predictions = make_case(n=300)
    models = [predictions] + [make_case(n=300, seed=seed, model=f"model {seed}")[1] for seed in (5, 6)]
    truth = np.array([[predictions.labels.index(name)] for name in images["label"]], dtype=np.int32)
    models[0] = replace(predictions, top=truth, scores=None, kind="labels")
    metrics = audit_predictions(images, models, config=FAST).metrics
    plain = find_row(metrics, "mcnemar_p", model="a model", group="model 5")["value"]
    adjusted = find_row(metrics, "mcnemar_p_holm", model="a model", group="model 5")["value"]
    assert plain < 1e-20
    assert plain < adjusted <= 3 * plain * (1 + 1e-9)
