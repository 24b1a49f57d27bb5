"""Average precision from two sorted lists: worked examples, ties, influence, and the mean over labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit import audit_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.average_precision import estimate_average_precision, rank_label
from graticule.evaluation.metrics import average_precision as average_precision_metric

FAST = AuditConfig(n_bootstraps=20, n_partitions=20)


def test_a_worked_example():
    # Ranked: right, wrong, right, wrong: (1/1 + 2/3) / 2.
    found = rank_label(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.2]))
    assert found.value == pytest.approx(5 / 6)


def test_images_with_equal_scores_are_ranked_together():
    assert rank_label(np.zeros(10), np.zeros(3)).value == pytest.approx(0.3)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.integers(1, 20), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 6]))
def test_influence_is_what_a_little_more_weight_on_an_image_changes(n_positives, n_negatives, seed, decimals):
    rng = np.random.default_rng(seed)
    positives = rng.normal(1, 1, n_positives).round(decimals)
    negatives = rng.normal(0, 1, n_negatives).round(decimals)
    scores, truth = np.concatenate([positives, negatives]), np.arange(n_positives + n_negatives) < n_positives

    def weighted(weights):
        at_least = scores[None, :] >= scores[truth][:, None]
        above = at_least @ (weights * truth)
        return (weights[truth] * above / (at_least @ weights)).sum() / weights[truth].sum()

    found = rank_label(np.sort(scores), positives)
    influence = found.find_influence(scores, truth)
    step = 1e-6
    plain = weighted(np.ones(len(scores)))
    assert found.value == pytest.approx(plain)
    slopes = [
        (weighted(np.ones(len(scores)) + step * (np.arange(len(scores)) == one)) - plain) / step
        for one in range(len(scores))
    ]
    assert influence == pytest.approx(slopes, abs=1e-4)
    assert influence.sum() == pytest.approx(0, abs=1e-9)
    spread = sum(
        ((part - part.mean()) ** 2).sum() * factor
        for part, factor in ((influence[truth], n_positives / (n_positives - 1)), (influence[~truth], 1))
    )
    assert found.variance == pytest.approx(spread)


def test_few_images_and_perfect_ranks_still_have_a_width():
    found = estimate_average_precision(
        np.array([1.0, 0.9, np.nan]), np.array([0.0, 1e-9, np.nan]), np.zeros(3), np.array([12, 5, 0]), confidence=0.95
    )
    assert found.low[0] == pytest.approx(12 / (12 + 1.959964**2), abs=1e-6)
    assert found.high[0] == 1
    assert found.high[1] - found.low[1] > 0.3
    assert np.isnan([found.value[2], found.low[2], found.high[2]]).all()


def test_the_mean_over_labels_covers_the_truth(make_case, monkeypatch, find_row):
    """Labels share their images: an interval that took them for independent would cover 80 of 100 here."""
    monkeypatch.setattr(average_precision_metric, "SAMPLE", 150)

    def draw(rng, per_label):
        label = np.repeat(np.arange(4), per_label)
        scores = rng.normal(size=(len(label), 4))
        scores[np.arange(len(label)), label] += 2
        scores[np.arange(len(label)), (label + 1) % 4] += rng.exponential(1.5, len(label))
        return label, scores

    def measure(label, scores, *, by_hand):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances = powers / powers.sum(axis=1, keepdims=True)
        if by_hand:
            return np.mean([rank_label(np.sort(chances[:, j]), chances[label == j, j]).value for j in range(4)])
        images, predictions = make_case(n=len(label), labels=tuple("abcd"), regions=("x",))
        images = images.with_columns(label=pl.Series(list("abcd")).gather(label))
        top = np.argsort(-scores, axis=1)[:, :1].astype(np.int32)
        predictions = replace(predictions, scores=scores.astype(np.float32), top=top)
        scored = align_predictions(images, [predictions], config=FAST).scored[0]
        return find_row(average_precision_metric.measure_average_precision(scored, FAST), "average_precision")

    rng = np.random.default_rng(0)
    truth = measure(*draw(rng, 100_000), by_hand=True)
    covered = [
        found["low"] <= truth <= found["high"]
        for found in (measure(*draw(rng, 100), by_hand=False) for _ in range(150))
    ]
    assert 0.9 <= np.mean(covered) <= 0.985


def test_similarities_without_a_temperature_are_ranked_as_they_are(make_case, find_row):
    images, predictions = make_case(n=200, labels=("bag", "dog"))
    bare = replace(predictions, kind="similarity")
    found = find_row(audit_predictions(images, [bare], config=FAST).metrics, "average_precision", label="bag")
    is_bag = (images["label"] == "bag").to_numpy()
    expected = rank_label(np.sort(predictions.scores[:, 0]), predictions.scores[is_bag, 0])
    assert found["value"] == pytest.approx(expected.value)
