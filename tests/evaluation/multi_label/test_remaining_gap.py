"""What remains of a regional gap: made worlds in which the answer is known, and intervals that cover it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.data.predictions import Predictions
from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label.judged import judge
from graticule.evaluation.multi_label.people import PeopleTables, read_people
from graticule.evaluation.multi_label.remaining_gap import measure_remaining_gap

LABELS = ("cat", "dog", "fox")


def make_world(rng, *, n=400, wrong_labels=(0.0, 0.0), skill=(0.9, 0.9)):
    """Two regions; the model names what is there with the region's skill, the data set errs as often as told."""
    truth = rng.integers(0, 3, 2 * n)
    region = np.repeat([0, 1], n)
    other = (truth + rng.integers(1, 3, 2 * n)) % 3
    given = np.where(rng.random(2 * n) < np.array(wrong_labels)[region], other, truth)
    predicted = np.where(rng.random(2 * n) < np.array(skill)[region], truth, other)
    ids = [f"i{number}" for number in range(2 * n)]
    names = np.array(LABELS)
    images = pl.DataFrame({"image_id": ids, "label": names[given], "region": np.array(["home", "away"])[region]})
    labels = pl.DataFrame({"image_id": ids, "label": names[truth]})
    model = Predictions(
        model="m",
        image_ids=np.array(ids, dtype=object),
        labels=LABELS,
        kind="labels",
        top=predicted[:, None],
        scores=None,
        info={},
    )
    config = AuditConfig(n_bootstraps=10, min_images=20)
    aligned = align_predictions(images, [model], config=config)
    people = read_people(aligned.images, PeopleTables(labels=labels), known_labels=set(LABELS))
    return measure_remaining_gap(judge(aligned.scored[0], people), config)


def row(metrics, metric, *, region="away", group="rest"):
    found = metrics.filter(pl.col("metric") == metric, pl.col("region").eq_missing(region), pl.col("group") == group)
    return found.row(0, named=True)


def test_a_gap_that_wrong_labels_make_goes_away():
    metrics = make_world(np.random.default_rng(0), wrong_labels=(0.0, 0.2), n=4000)
    assert row(metrics, "given_gap")["high"] < -0.1
    assert row(metrics, "accepted_gap")["low"] < 0 < row(metrics, "accepted_gap")["high"]
    remaining = row(metrics, "remaining_gap")
    assert remaining["low"] < 0 < remaining["high"] < 0.2
    assert row(metrics, "label_gap")["high"] < -0.1


def test_a_gap_that_the_model_makes_remains():
    remaining = row(make_world(np.random.default_rng(1), skill=(0.9, 0.6), n=4000), "remaining_gap")
    assert remaining["value"] == pytest.approx(1.0)
    assert remaining["low"] <= 1 <= remaining["high"]


def test_half_and_half():
    # A wrong given label and a wrong prediction are the same: away is right on 0.8 * 0.8 + 0.2 * 0.2 = 0.68 by given
    # labels and on 0.8 by accepted ones, home on 0.9 by both.
    metrics = make_world(np.random.default_rng(2), wrong_labels=(0.0, 0.2), skill=(0.9, 0.8), n=20000)
    assert row(metrics, "remaining_gap")["value"] == pytest.approx(0.10 / 0.22, abs=0.05)


def test_without_a_sure_gap_the_share_has_no_interval():
    metrics = make_world(np.random.default_rng(3), n=100)
    assert np.isnan(row(metrics, "remaining_gap")["low"])


def test_worst_and_best_region_are_compared_where_they_have_enough_images():
    metrics = make_world(np.random.default_rng(4), wrong_labels=(0.0, 0.2), n=500)
    whole = row(metrics, "given_gap", region=None, group="best to worst")
    assert whole["value"] == pytest.approx(row(metrics, "given_gap")["value"])
    small = make_world(np.random.default_rng(4), n=10)
    assert small.filter(group="best to worst").is_empty()


@pytest.mark.parametrize("metric", ["given_gap", "accepted_gap", "label_gap", "remaining_gap"])
def test_intervals_cover_the_truth_as_often_as_they_say(metric, worlds):
    covered = [low <= truth <= high for low, high, truth in worlds[metric]]
    assert 0.91 <= np.mean(covered) <= 0.99


@pytest.fixture(scope="module")
def worlds():
    """Intervals of 200 made worlds, each with the true number: away's labels are wrong 1 in 5, its model is 0.8."""
    wrong, home, away = 0.2, 0.9, 0.8
    given = away * (1 - wrong) + (1 - away) * wrong
    truths = {"given_gap": given - home, "accepted_gap": away - home}
    truths["label_gap"] = truths["given_gap"] - truths["accepted_gap"]
    truths["remaining_gap"] = truths["accepted_gap"] / truths["given_gap"]
    found = {metric: [] for metric in truths}
    for seed in range(200):
        metrics = make_world(np.random.default_rng(100 + seed), wrong_labels=(0.0, wrong), skill=(home, away))
        for metric, truth in truths.items():
            at = row(metrics, metric)
            found[metric].append((at["low"], at["high"], truth))
    return found
