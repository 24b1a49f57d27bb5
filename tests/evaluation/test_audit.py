"""The whole audit: the metrics table's contract, what shuffling and adding models must not change, and the edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graticule.data.audit_record import AuditRecord
from graticule.data.tables import FAILURES, METRICS, REJECTS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError
from graticule.evaluation.audit import METRIC_NAMES, audit_predictions
from graticule.evaluation.audit_config import AuditConfig

KEY = ["metric", "model", "region", "label", "group"]
FAST = AuditConfig(n_bootstraps=50, n_partitions=50)


def in_order(metrics):
    return metrics.sort(KEY, nulls_last=True)


def test_tables_keep_their_declarations_and_no_number_stands_twice(make_case):
    images, predictions = make_case()
    images = images.with_columns(label=pl.when(pl.col("image_id") == "photo-00003").then(None).otherwise("label"))
    audit = audit_predictions(images, [predictions], config=FAST)
    validate_table(audit.metrics, METRICS, where="metrics")
    validate_table(audit.failures, FAILURES, where="failures")
    validate_table(audit.dropped, REJECTS, where="dropped")
    assert audit.metrics.select(KEY).is_duplicated().sum() == 0
    assert set(audit.metrics["metric"]) <= set(METRIC_NAMES)
    assert audit.metrics.filter(pl.col("value").is_null() | pl.col("low").is_null() | pl.col("n").is_null()).is_empty()


CONTRACT = {
    "n_images": ("any", "any", None),
    "accuracy": ("any", "any", None),
    "top5_accuracy": ("any", "any", None),
    "balanced_accuracy": ("any", "all", None),
    "shrunken_accuracy": ("each", "any", None),
    "label_mix_accuracy": ("each", "all", None),
    "average_precision": ("any", "any", None),
    "calibration_error": ("any", "all", None),
    "calibration_accuracy": ("any", "all", {"0.067-0.133", "0.933-1.000"}),
    "calibration_confidence": ("any", "all", {"0.000-0.067"}),
    "confusion": ("any", "each", {"bag", "tree"}),
    "label_probability": ("each", "each", {"p05", "p25", "p50", "p75", "p95"}),
    "worst_gap": ("all", "any", None),
    "worst_gap_expected": ("all", "any", None),
    "worst_gap_p": ("all", "any", None),
    "best_region": ("each", "any", None),
    "worst_region": ("each", "any", None),
    "accuracy_difference": ("each", "all", {"rest"}),
    "accuracy_difference_p": ("each", "all", {"rest"}),
    "accuracy_difference_p_holm": ("each", "all", {"rest"}),
    "partition_low": ("all", "each", {"pooled", "extremes"}),
    "partition_high": ("all", "each", {"pooled", "extremes"}),
    "partition_p": ("all", "each", {"min", "max", "either"}),
    "partition_p_adjusted": ("all", "each", {"holm", "benjamini-hochberg"}),
    "partition_flag": ("all", "each", {"pooled", "extremes"}),
    "partition_flags": ("all", "all", {"pooled", "extremes"}),
    "partition_flags_expected": ("all", "all", {"pooled", "extremes"}),
    "paired_difference": ("any", "all", {"a model", "another"}),
    "mcnemar_p": ("any", "all", {"a model", "another"}),
    "mcnemar_p_holm": ("any", "all", {"a model", "another"}),
    "n_labels_mapped": ("all", "all", None),
    "n_unlisted_predictions": ("all", "all", None),
    "n_dropped": ("all", "all", {"no label"}),
}


@pytest.fixture(scope="module")
def two_models(make_case):
    images, predictions = make_case(n=400)
    images = images.with_columns(label=pl.when(pl.col("image_id") == "photo-00003").then(None).otherwise("label"))
    other = replace(predictions, model="another", top=np.roll(predictions.top, 1, axis=0))
    return audit_predictions(images, [predictions, other], config=FAST)


def _check_axis(names, kind):
    given = set(names)
    assert (None in given) == (kind in ("any", "all"))
    assert bool(given - {None}) == (kind in ("any", "each"))


@pytest.mark.parametrize("metric", CONTRACT)
def test_rows_stand_where_the_contract_says(metric, two_models):
    rows = two_models.metrics.filter(pl.col("metric") == metric)
    assert rows.height
    region, label, group = CONTRACT[metric]
    _check_axis(rows["region"], region)
    _check_axis(rows["label"], label)
    if group is None:
        assert rows["group"].is_null().all()
    else:
        assert group <= set(rows["group"])


def test_the_contract_names_every_metric():
    assert set(CONTRACT) == set(METRIC_NAMES)


def test_shuffling_rows_changes_nothing(make_case):
    images, predictions = make_case(n=500)
    order = np.random.default_rng(7).permutation(500)
    shuffled = replace(
        predictions,
        image_ids=predictions.image_ids[order],
        top=predictions.top[order],
        scores=predictions.scores[order],
    )
    one = audit_predictions(images, [predictions], config=FAST)
    other = audit_predictions(images.sample(fraction=1, shuffle=True, seed=3), [shuffled], config=FAST)
    assert_frame_equal(in_order(one.metrics), in_order(other.metrics), abs_tol=1e-9)
    assert_frame_equal(one.failures, other.failures)
    assert one.record.headline == other.record.headline


def test_the_same_seed_gives_the_same_numbers_and_another_seed_nearly_the_same(make_case):
    images, predictions = make_case(n=500)
    one, same, other = (
        audit_predictions(images, [predictions], config=replace(FAST, seed=seed)).metrics for seed in (0, 0, 1)
    )
    assert_frame_equal(one, same)
    assert not one.equals(other)
    assert_frame_equal(one.select(*KEY, "n"), other.select(*KEY, "n"))


def test_another_model_beside_it_changes_no_number_of_a_model(make_case):
    images, predictions = make_case(n=500)
    _, second = make_case(n=500, seed=9, model="second")
    alone = audit_predictions(images, [predictions], config=FAST).metrics
    beside = audit_predictions(images, [second, predictions], config=FAST).metrics
    of_model = pl.col("model") == predictions.model
    is_shared = ~pl.col("metric").is_in(["paired_difference", "mcnemar_p", "mcnemar_p_holm"])
    assert_frame_equal(alone.filter(of_model), beside.filter(of_model & is_shared))


def test_by_may_be_any_column(make_case, find_row):
    images, predictions = make_case(n=200, seed=2)
    images = images.with_columns(year=pl.Series(np.arange(200) % 3 + 2020))
    audit = audit_predictions(images, [predictions], by="year", config=FAST)
    assert audit.record.by == "year"
    assert find_row(audit.metrics, "n_images", region="2020")["n"] == 67
    assert audit.record.headline[1].startswith("It is worst where year is 202")


@pytest.mark.parametrize("accuracy", [0.0, 1.0])
def test_all_right_and_all_wrong_have_intervals_and_no_gap(accuracy, make_case, find_row):
    images, predictions = make_case(n=700, accuracy=accuracy)
    audit = audit_predictions(images, [predictions], config=FAST)
    for metric in ("accuracy", "balanced_accuracy"):
        found = find_row(audit.metrics, metric)
        assert found["value"] == accuracy
        assert 0 < found["high"] - found["low"] < 0.2
    gap = find_row(audit.metrics, "worst_gap")
    assert (gap["value"], gap["low"]) == (0, 0)
    assert gap["high"] > 0
    assert find_row(audit.metrics, "partition_flags", group="extremes")["value"] == 0
    assert find_row(audit.metrics, "accuracy_difference_p", region="Asia", group="rest")["value"] == 1
    assert audit.failures.is_empty() == (accuracy == 1)
    assert "No place with 20 images or more is better or worse than another." in audit.record.headline


def test_one_region_has_no_gap_and_says_so(make_case, find_row):
    images, predictions = make_case(n=120, regions=("Asia",))
    audit = audit_predictions(images, [predictions], config=FAST)
    for metric, place in (
        ("worst_gap", {}),
        ("partition_p", {"label": "bag", "group": "either"}),
        ("accuracy_difference", {"region": "Asia", "group": "rest"}),
    ):
        found = find_row(audit.metrics, metric, **place)
        assert np.isnan(found["value"])
        assert found["n"] == 0
    assert audit.metrics.filter(pl.col("metric").is_in(["best_region", "worst_region"])).is_empty()
    assert "nothing can be said of gaps" in audit.record.headline[1]


def test_one_label_and_one_image_are_audited(make_case, find_row):
    images, predictions = make_case(n=80, labels=("bag",))
    audit = audit_predictions(images, [predictions], config=FAST)
    assert find_row(audit.metrics, "accuracy")["value"] == 1
    single = audit_predictions(images.head(1), [predictions], config=FAST)
    assert find_row(single.metrics, "accuracy")["n"] == 1


def test_an_empty_region_is_nan_with_n_zero_and_never_zero(make_case):
    images, predictions = make_case(n=200)
    audit = audit_predictions(images, [predictions], config=replace(FAST, regions=("Oceania",)))
    there = audit.metrics.filter((pl.col("region") == "Oceania") & (pl.col("metric") != "n_images"))
    assert there["value"].is_nan().all()
    assert (there["n"] == 0).all()
    assert {"accuracy", "shrunken_accuracy", "average_precision", "calibration_error"} <= set(there["metric"])
    assert "Oceania" not in set(audit.metrics.filter(pl.col("metric") == "worst_region")["region"])


def test_small_cells_never_shout(make_case, find_row):
    images, predictions = make_case(n=600)
    # Four images make a region of their own, and all four are wrong.
    wrong = (predictions.top[:, 0] != np.array([predictions.labels.index(name) for name in images["label"]])).nonzero()[
        0
    ]
    region = images["region"].to_numpy().astype(object)
    region[wrong[:4]] = "Tiny"
    audit = audit_predictions(images.with_columns(region=pl.Series(region.tolist())), [predictions], config=FAST)
    tiny = find_row(audit.metrics, "accuracy", region="Tiny")
    assert (tiny["value"], tiny["n"]) == (0, 4)
    assert find_row(audit.metrics, "shrunken_accuracy", region="Tiny")["value"] > 0.3
    assert "Tiny" not in set(audit.metrics.filter(pl.col("metric") == "worst_region")["region"])
    gap = find_row(audit.metrics, "worst_gap")
    assert gap["n"] == 596
    assert gap["value"] < 0.3
    assert any("Tiny (4)" in sentence for sentence in audit.record.headline)


def test_a_planted_gap_is_found_and_named(make_case, find_row):
    images, predictions = make_case(n=1500, accuracy=0.95)
    truth = np.array([predictions.labels.index(name) for name in images["label"]])
    spoilt = (images["region"] == "Asia").to_numpy() & (np.random.default_rng(1).random(1500) < 0.3)
    top = predictions.top.copy()
    top[spoilt, 0] = (truth[spoilt] + 1) % 6
    audit = audit_predictions(images, [replace(predictions, top=top, scores=None, kind="labels")], config=FAST)
    gap = find_row(audit.metrics, "worst_gap")
    assert 0.2 < gap["low"] < gap["value"] < gap["high"] < 0.4
    expected = find_row(audit.metrics, "worst_gap_expected")
    assert expected["high"] < gap["value"]
    assert find_row(audit.metrics, "worst_gap_p")["value"] == pytest.approx(1 / 51)
    assert find_row(audit.metrics, "partition_flags", group="extremes")["value"] >= 5
    assert find_row(audit.metrics, "accuracy_difference_p_holm", region="Asia", group="rest")["value"] < 1e-10
    assert "worst in Asia" in audit.record.headline[1]
    assert "more than chance" in audit.record.headline[1]


def test_predictions_of_labels_only_have_no_metrics_that_need_scores(make_case):
    images, predictions = make_case(n=100, kind="labels")
    metrics = audit_predictions(images, [predictions], config=FAST).metrics
    assert not {"average_precision", "calibration_error", "label_probability", "top5_accuracy"} & set(metrics["metric"])


def test_the_partition_test_may_be_simulated(make_case, find_row):
    images, predictions = make_case(n=900)
    exact, drawn = (
        audit_predictions(images, [predictions], config=AuditConfig(partition_method=method, n_partitions=2000)).metrics
        for method in ("exact", "simulation")
    )
    for label in predictions.labels:
        for metric, group, tolerance in (
            ("partition_low", "extremes", 0.03),
            ("partition_high", "pooled", 0.03),
            ("partition_p", "either", 0.05),
        ):
            one, other = (find_row(metrics, metric, label=label, group=group) for metrics in (exact, drawn))
            assert other["value"] == pytest.approx(one["value"], abs=tolerance)
            assert (one["method"], other["method"]) == ("exact", "simulation")


def test_the_record_says_what_was_audited_and_survives_json(make_case):
    images, predictions = make_case(n=100)
    config = replace(
        FAST,
        scheme="geode",
        boundary_policy="as the UN draws them",
        disputed_areas={"crimea": "UKR", "bir_tawil": None},
        photos="Photos.",
        region_countries={"Asia": ("JPN",)},
    )
    record = audit_predictions(images.head(50), [predictions], config=config).record
    assert (record.n_images, record.n_scored, record.scheme, record.min_images) == (50, 50, "geode", 20)
    assert record.models[0].name == "a model"
    assert any("50 predictions are of images that the images table does not list" in note for note in record.notes)
    assert AuditRecord.from_json(record.to_json()) == record


def test_settings_without_meaning_are_refused():
    for settings, message in (
        ({"confidence": 95.0}, "Write 0.95"),
        ({"min_images": 0}, "at least 1"),
        ({"n_bootstraps": 0}, "at least 1"),
        ({"partition_method": "exakt"}, "Did you mean 'exact'"),
        ({"unmapped": "ignore"}, "Known: drop, wrong"),
    ):
        with pytest.raises(ConfigError, match=message):
            AuditConfig(**settings)
