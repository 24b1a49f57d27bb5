"""Every metric of an audit against a slow, obvious version: loops over rows, or scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, balanced_accuracy_score, confusion_matrix

from graticule.data.predictions import Predictions
from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.metrics import METRICS

FAST = AuditConfig(n_bootstraps=20, n_partitions=20, min_images=1)
LABELS = ("bag", "çay", "犬", "tree", "house", "stove", "hat")
REGIONS = ("Africa", "Amérique", "亚洲")


specs = st.fixed_dictionaries(
    {
        "n": st.integers(1, 40),
        "k": st.integers(1, len(LABELS)),
        "n_true": st.integers(1, len(LABELS)),
        "n_regions": st.integers(1, len(REGIONS)),
        "decimals": st.sampled_from([0, 1, 6]),
        "lift": st.sampled_from([-9.0, 0.0, 1.0, 9.0]),
        "kind": st.sampled_from(["logits", "probabilities"]),
        "seed": st.integers(0, 2**32 - 1),
    }
)
"""Few enough images to loop over: ties, empty cells, single labels and single regions included."""


def build(spec):
    rng = np.random.default_rng(spec["seed"])
    n, k = spec["n"], spec["k"]
    label = rng.integers(0, min(spec["n_true"], k), n)
    region = rng.integers(0, spec["n_regions"], n)
    scores = rng.normal(size=(n, k)).round(spec["decimals"])
    scores[np.arange(n), label] += spec["lift"]
    if spec["kind"] == "probabilities":
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return make(label, region, scores.astype(np.float32), kind=spec["kind"], labels=LABELS[:k])


def make(label, region, scores, *, kind, labels):
    names = [f"photo {place}" for place in range(len(label))]
    images = pl.DataFrame(
        {
            "image_id": names,
            "label": [labels[code] for code in label],
            "region": [REGIONS[code] for code in region],
        }
    )
    predictions = Predictions(
        model="m",
        image_ids=np.array(names, dtype=object),
        labels=tuple(labels),
        kind=kind,
        top=np.argsort(-scores, axis=1, kind="stable")[:, :5].astype(np.int32),
        scores=scores,
        info={},
    )
    return images, predictions


def measure(case, *names, config=FAST):
    """Return the rows of a few metrics, as an audit makes them."""
    images, predictions = case
    scored = align_predictions(images, [predictions], config=config).scored[0]
    return pl.concat(METRICS[name].measure(scored, config) for name in names)


def probabilities(predictions):
    scores = predictions.scores.astype(np.float64)
    if predictions.kind == "probabilities":
        return scores
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def read(metrics, metric):
    rows = metrics.filter(pl.col("metric") == metric)
    return {
        (region, label, group): (value, n)
        for region, label, group, value, n in rows.select("region", "label", "group", "value", "n").iter_rows()
    }


def count_confusions(truth, predicted, labels):
    """Return scikit-learn's confusion matrix; one label more is named, for it warns when there is only one."""
    codes = {name: place for place, name in enumerate(labels)}
    counted = confusion_matrix(
        [codes[name] for name in truth], [codes[name] for name in predicted], labels=range(len(labels) + 1)
    )
    return counted[:-1, :-1]


def cells(images):
    """Yield each region (None: all) and label (None: all) with the rows that belong to it."""
    regions, labels = images["region"].to_list(), images["label"].to_list()
    for region in [None, *sorted(set(regions))]:
        for label in [None, *sorted(set(labels))]:
            rows = [
                row
                for row in range(images.height)
                if (region is None or regions[row] == region) and (label is None or labels[row] == label)
            ]
            yield region, label, rows


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_shares_of_right_images_equal_a_loop(spec):
    images, predictions = build(spec)
    metrics = measure((images, predictions), "accuracy", "top5_accuracy")
    truth = images["label"].to_list()
    best = [[predictions.labels[code] for code in row] for row in predictions.top]
    found = {name: read(metrics, name) for name in ("accuracy", "top5_accuracy")}
    for region, label, rows in cells(images):
        place = (region, label, None)
        for name, depth in (("accuracy", 1), ("top5_accuracy", 5)):
            if name == "top5_accuracy" and len(predictions.labels) < 5:
                assert not found[name]
                continue
            value, n = found[name][place]
            assert n == len(rows)
            hits = sum(truth[row] in best[row][:depth] for row in rows)
            assert math.isnan(value) if not rows else value == pytest.approx(hits / len(rows), abs=1e-12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_balanced_accuracy_equals_scikit_learn(spec):
    images, predictions = build(spec)
    found = read(measure((images, predictions), "balanced_accuracy"), "balanced_accuracy")
    truth = np.array(images["label"].to_list(), dtype=object)
    given_labels = np.array([predictions.labels[code] for code in predictions.top[:, 0]], dtype=object)
    for region, label, rows in cells(images):
        if label is not None:
            continue
        # Scikit-learn's own function warns where a predicted label is never true, or where there is one label only.
        table = count_confusions(truth[rows], given_labels[rows], predictions.labels)
        present = table.sum(axis=1) > 0
        expected = (np.diag(table)[present] / table.sum(axis=1)[present]).mean()
        assert found[region, None, None][0] == pytest.approx(expected, abs=1e-12)
        if set(given_labels[rows]) <= set(truth[rows]) and len(set(truth[rows])) > 1:
            assert expected == pytest.approx(balanced_accuracy_score(truth[rows], given_labels[rows]), abs=1e-12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_average_precision_equals_scikit_learn(spec):
    images, predictions = build(spec)
    found = read(measure((images, predictions), "average_precision"), "average_precision")
    truth = np.array(images["label"].to_list(), dtype=object)
    ranked = probabilities(predictions)
    regions = np.array(images["region"].to_list(), dtype=object)
    for region in [None, *sorted(set(regions))]:
        rows = np.ones(len(truth), bool) if region is None else regions == region
        values = []
        for label in sorted(set(truth)):
            value, n = found[region, label, None]
            is_label = truth[rows] == label
            assert n == is_label.sum()
            if not is_label.any():
                assert math.isnan(value)
                continue
            expected = average_precision_score(is_label, ranked[rows, predictions.labels.index(label)])
            # A softmax in floats may part or join what is equal in exact numbers; probabilities are taken as they are.
            assert value == pytest.approx(expected, abs=1e-12 if predictions.kind == "probabilities" else 0.02)
            values.append(value)
        assert found[region, None, None][0] == pytest.approx(np.mean(values), abs=1e-12)


def test_average_precision_of_logits_equals_scikit_learn_on_their_softmax():
    rng = np.random.default_rng(3)
    n, k = 3000, 7
    label, region = rng.integers(0, k, n), rng.integers(0, 3, n)
    scores = rng.normal(size=(n, k)).astype(np.float32) * 4
    scores[np.arange(n), label] += 5
    images, predictions = make(label, region, scores, kind="logits", labels=LABELS)
    found = read(measure((images, predictions), "average_precision"), "average_precision")
    ranked = probabilities(predictions)
    for code, name in enumerate(LABELS):
        assert found[None, name, None][0] == pytest.approx(
            average_precision_score(label == code, ranked[:, code]), abs=1e-6
        )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_confusions_equal_scikit_learn(spec):
    images, predictions = build(spec)
    found = read(measure((images, predictions), "confusion"), "confusion")
    truth = np.array(images["label"].to_list(), dtype=object)
    given_labels = np.array([predictions.labels[code] for code in predictions.top[:, 0]], dtype=object)
    regions = np.array(images["region"].to_list(), dtype=object)
    seen = 0
    for region in [None, *sorted(set(regions))]:
        rows = np.ones(len(truth), bool) if region is None else regions == region
        table = count_confusions(truth[rows], given_labels[rows], predictions.labels)
        for true, predicted in zip(*np.nonzero(table), strict=True):
            value, n = found[region, predictions.labels[true], predictions.labels[predicted]]
            assert n == table[true].sum()
            assert round(value * n) == table[true, predicted]
            seen += 1
    assert seen == len(found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_calibration_equals_a_loop_over_bins(spec):
    images, predictions = build(spec)
    metrics = measure((images, predictions), "calibration_error")
    errors, accuracy = read(metrics, "calibration_error"), read(metrics, "calibration_accuracy")
    confidence = read(metrics, "calibration_confidence")
    stated = probabilities(predictions).astype(np.float32)[np.arange(images.height), predictions.top[:, 0]]
    truth = images["label"].to_list()
    right = [predictions.labels[code] == name for code, name in zip(predictions.top[:, 0], truth, strict=True)]
    for region, label, rows in cells(images):
        if label is not None:
            continue
        error = 0.0
        for place in range(15):
            low, high = place / 15, (place + 1) / 15
            inside = [
                row
                for row in rows
                if low + 1e-6 < stated[row] < high - 1e-6 or (place == 14 and stated[row] > low + 1e-6)
            ]
            group = f"{low:.3f}-{high:.3f}"
            value, n = accuracy[region, None, group]
            on_edge = [row for row in rows if min(abs(stated[row] * 15 - edge) for edge in range(1, 15)) < 1e-4]
            if on_edge:
                return
            assert n == len(inside)
            if inside:
                assert value == pytest.approx(np.mean([right[row] for row in inside]))
                assert confidence[region, None, group][0] == pytest.approx(np.mean(stated[inside]), abs=1e-6)
                error += (
                    len(inside) / len(rows) * abs(np.mean([right[row] for row in inside]) - np.mean(stated[inside]))
                )
        assert errors[region, None, None][0] == pytest.approx(error, abs=1e-6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs)
def test_label_probabilities_equal_numpy_quantiles(spec):
    images, predictions = build(spec)
    found = read(measure((images, predictions), "label_probability"), "label_probability")
    truth = images["label"].to_list()
    own = probabilities(predictions)[np.arange(images.height), [predictions.labels.index(name) for name in truth]]
    for region, label, rows in cells(images):
        if region is None or label is None:
            continue
        for name, level in (("p05", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95)):
            value, n = found[region, label, name]
            assert n == len(rows)
            assert math.isnan(value) if not rows else value == pytest.approx(np.quantile(own[rows], level), abs=1e-6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs, st.sampled_from([1, 2, 5]))
def test_worst_gap_equals_a_loop_over_regions(spec, min_images):
    images, predictions = build(spec)
    config = AuditConfig(n_bootstraps=20, n_partitions=20, min_images=min_images)
    metrics = measure((images, predictions), "worst_gap", config=config)
    gaps = read(metrics, "worst_gap")
    extremes = {
        name: {label: (region, value) for (region, label, _), (value, _) in read(metrics, name).items()}
        for name in ("best_region", "worst_region")
    }
    truth = images["label"].to_list()
    right = [predictions.labels[code] == name for code, name in zip(predictions.top[:, 0], truth, strict=True)]
    for label in [None, *sorted(set(truth))]:
        shares = {}
        for region, of_label, rows in cells(images):
            if region is not None and of_label == label and len(rows) >= min_images:
                shares[region] = sum(right[row] for row in rows) / len(rows)
        value, n = gaps[None, label, None]
        if len(shares) < 2:
            assert math.isnan(value)
            assert n == 0
            assert label not in extremes["best_region"]
            continue
        assert value == pytest.approx(max(shares.values()) - min(shares.values()), abs=1e-12)
        first = sorted(shares)
        assert extremes["best_region"][label][0] == max(first, key=lambda name: shares[name])
        assert extremes["worst_region"][label][0] == min(first, key=lambda name: shares[name])


def test_label_mix_accuracy_equals_a_loop():
    rng = np.random.default_rng(5)
    label, region = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    images, predictions = make(
        label, region, rng.normal(size=(200, 4)).astype(np.float32), kind="logits", labels=LABELS[:4]
    )
    found = read(measure((images, predictions), "label_mix_accuracy"), "label_mix_accuracy")
    right = predictions.top[:, 0] == label
    for code, name in enumerate(REGIONS):
        inside = label[region == code]
        expected = np.mean([right[label == one].mean() for one in inside])
        assert found[name, None, None][0] == pytest.approx(expected)
