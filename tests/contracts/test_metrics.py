"""What every metric of the registry keeps: its names, its declaration, its seed, and no care for the rows' order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graticule.data.predictions import Predictions
from graticule.data.tables import METRICS as METRICS_TABLE
from graticule.data.validate import validate_table
from graticule.evaluation import metrics
from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.metrics import METRICS

CONFIG = AuditConfig(n_bootstraps=50, n_partitions=50, regions=("Oceania",))
KEY = ["metric", "model", "region", "label", "group"]
LABELS = ("bag", "dog", "hat", "house", "stove")


def make_scored(*, order=None, has_scores=True, config=CONFIG):
    rng = np.random.default_rng(0)
    n = 600
    label, region = rng.integers(0, 5, n), rng.integers(0, 3, n)
    scores = rng.normal(size=(n, 5)).astype(np.float32)
    scores[np.arange(n), label] += 2
    order = np.arange(n) if order is None else order
    names = np.array([f"photo {place}" for place in range(n)], dtype=object)
    images = pl.DataFrame(
        {
            "image_id": names[order].tolist(),
            "label": [LABELS[code] for code in label[order]],
            "region": [("Africa", "Asia", "Europe")[code] for code in region[order]],
        }
    )
    predictions = Predictions(
        model="m",
        image_ids=names,
        labels=LABELS,
        kind="logits" if has_scores else "labels",
        top=np.argsort(-scores, axis=1).astype(np.int32)[:, : 5 if has_scores else 1],
        scores=scores if has_scores else None,
        info={},
    )
    return align_predictions(images, [predictions], config=config).scored[0]


@pytest.fixture(scope="module")
def scored():
    return make_scored()


def test_every_file_is_in_the_registry_and_every_entry_is_a_file():
    folder = Path(metrics.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(METRICS)


def test_no_two_metrics_share_a_name():
    names = [name for metric in METRICS.values() for name in metric.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", METRICS)
def test_rows_keep_the_declaration_and_the_metrics_own_names(name, scored):
    rows = METRICS[name].measure(scored, CONFIG)
    validate_table(rows, METRICS_TABLE, where=name)
    assert rows.schema == {column: spec.dtype for column, spec in METRICS_TABLE.columns.items()}
    assert set(rows["metric"]) == set(METRICS[name].names)
    assert set(rows["model"]) == {"m"}
    assert rows.select(KEY).is_duplicated().sum() == 0
    assert not rows["method"].is_null().any()


@pytest.mark.parametrize("name", METRICS)
def test_values_lie_in_their_intervals_and_nan_stands_for_n_zero(name, scored):
    rows = METRICS[name].measure(scored, CONFIG)
    assert (rows["value"].is_nan() == (rows["n"] == 0)).all()
    known = rows.filter(rows["low"].is_not_nan())
    assert (known["low"] <= known["value"] + 1e-12).all()
    assert (known["value"] <= known["high"] + 1e-12).all()
    is_count = rows["metric"].is_in(["partition_flags", "partition_flags_expected"])
    fractions = rows.filter(~is_count & rows["value"].is_not_nan())
    assert fractions["value"].is_between(-1, 1).all()


@pytest.mark.parametrize("name", METRICS)
def test_the_same_seed_gives_the_same_rows(name, scored):
    assert_frame_equal(METRICS[name].measure(scored, CONFIG), METRICS[name].measure(scored, CONFIG))


@pytest.mark.parametrize("name", METRICS)
def test_shuffling_images_changes_nothing(name, scored):
    shuffled = make_scored(order=np.random.default_rng(5).permutation(600))
    one, other = (METRICS[name].measure(given, CONFIG).sort(KEY, nulls_last=True) for given in (scored, shuffled))
    assert_frame_equal(one, other, abs_tol=1e-9)


@pytest.mark.parametrize("name", METRICS)
def test_predictions_without_scores_give_rows_or_none_and_no_error(name):
    rows = METRICS[name].measure(make_scored(has_scores=False), CONFIG)
    assert rows.columns == list(METRICS_TABLE.columns)
    needs_scores = name in ("top5_accuracy", "average_precision", "calibration_error", "label_probability")
    assert rows.is_empty() == needs_scores


@pytest.mark.parametrize("name", METRICS)
def test_a_wider_confidence_never_narrows_an_interval(name):
    scored = make_scored()
    narrow, wide = (
        METRICS[name].measure(scored, AuditConfig(confidence=level, n_bootstraps=400, min_images=1))
        for level in (0.8, 0.99)
    )
    both = narrow.join(wide, on=KEY, nulls_equal=True, suffix="_wide").filter(pl.col("low").is_not_nan())
    assert (both["low_wide"] <= both["low"] + 1e-9).all()
    assert (both["high_wide"] >= both["high"] - 1e-9).all()
