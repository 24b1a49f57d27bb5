"""Joining images and predictions: what is scored, what is left out and why, and errors that say what to do."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from graticule.errors import ConfigError, TableError
from graticule.evaluation.alignment import align_predictions
from graticule.evaluation.audit_config import AuditConfig

CONFIG = AuditConfig()


def align(images, *predictions, **settings):
    return align_predictions(images, list(predictions), config=AuditConfig(**settings))


def test_every_image_is_scored_or_dropped_for_one_reason(make_case):
    images, predictions = make_case(n=100)
    images = images.with_row_index("row").with_columns(
        label=pl.when(pl.col("row") < 10)
        .then(None)
        .when(pl.col("row") < 15)
        .then(pl.lit("unheard of"))
        .otherwise("label"),
        region=pl.when(pl.col("row").is_between(5, 24)).then(pl.lit("  ")).otherwise("region"),
    )
    kept = np.arange(100) >= 30
    top = predictions.top.copy()
    top[40:43, 0] = -1
    predictions = replace(
        predictions,
        image_ids=predictions.image_ids[kept],
        top=top[kept],
        scores=predictions.scores[kept],
    )
    aligned = align(images, predictions)
    counts = dict(aligned.dropped.group_by("reason").len().iter_rows())
    assert counts == {
        "no label": 10,
        "no region": 15,
        "no prediction": 5,
        "the prediction names no label": 3,
    }
    assert len(aligned.scored[0].rows) + aligned.dropped.height == 100
    assert aligned.dropped.filter(pl.col("model").is_null())["reason"].unique().sort().to_list() == [
        "no label",
        "no region",
    ]
    assert aligned.dropped["path"][0] == "photos/photo-00000.jpg"


def test_labels_that_a_model_does_not_know_are_left_out_or_counted_as_wrong(make_case):
    images, predictions = make_case(n=200)
    known = replace(predictions, labels=("bag", "dog", "other", "another", "stove", "tree"))
    n_unknown = images["label"].is_in(["hat", "house"]).sum()
    dropped = align(images, known)
    assert dropped.dropped["reason"].to_list() == ["label outside the model's labels"] * n_unknown
    assert dropped.scored[0].labels == ("bag", "dog", "stove", "tree")
    kept = align(images, known, unmapped="wrong")
    assert kept.dropped.is_empty()
    assert kept.scored[0].labels == ("bag", "dog", "hat", "house", "stove", "tree")
    is_unknown = np.isin(kept.scored[0].label, [2, 3])
    assert is_unknown.sum() == n_unknown
    assert not kept.scored[0].is_right[is_unknown].any()
    assert not kept.scored[0].is_right_top5[is_unknown].any()
    assert np.isnan(kept.scored[0].label_probability[is_unknown]).all()


def test_predictions_of_images_that_are_not_listed_are_counted_and_no_error(make_case):
    images, predictions = make_case(n=100)
    aligned = align(images.head(60), predictions)
    assert aligned.n_unlisted == (40,)
    assert aligned.dropped.is_empty()
    assert len(aligned.scored[0].rows) == 60


def test_predictions_may_stand_in_any_order(make_case):
    images, predictions = make_case(n=100)
    order = np.random.default_rng(1).permutation(100)
    shuffled = replace(
        predictions,
        image_ids=predictions.image_ids[order],
        top=predictions.top[order],
        scores=predictions.scores[order],
    )
    one, other = align(images, predictions).scored[0], align(images, shuffled).scored[0]
    assert (one.predicted == other.predicted).all()
    assert (one.label_probability == other.label_probability).all()


def test_predictions_may_name_images_by_path(make_case):
    images, predictions = make_case(n=20)
    by_path = replace(predictions, image_ids=np.array([f"./photos/photo-{n:05d}.jpg" for n in range(20)], dtype=object))
    assert len(align(images, by_path).scored[0].rows) == 20


def test_composed_and_decomposed_letters_are_the_same_name(make_case):
    images, predictions = make_case(n=40, labels=("café", "dog"), regions=("Amérique", "Asia"))
    apart = images.with_columns(
        pl.col("label", "region").map_elements(lambda name: unicodedata.normalize("NFD", name), return_dtype=pl.String)
    )
    assert apart["label"].to_list() != images["label"].to_list()
    aligned = align(apart, predictions)
    assert aligned.scored[0].labels == ("café", "dog")
    assert aligned.images.regions == ("Amérique", "Asia")
    assert len(aligned.scored[0].rows) == 40


def test_regions_stand_in_the_order_asked_for_and_those_without_images_are_kept(make_case):
    images, predictions = make_case(n=60)
    assert align(images, predictions, regions=("Oceania", "Europe")).images.regions == (
        "Oceania",
        "Europe",
        "Africa",
        "Asia",
    )


def test_top_five_comes_from_scores_where_fewer_best_labels_are_given(make_case):
    images, predictions = make_case(n=300, labels=tuple("abcdefghij"))
    short = replace(predictions, top=predictions.top[:, :1])
    one, other = align(images, predictions).scored[0], align(images, short).scored[0]
    assert (one.is_right_top5 == other.is_right_top5).all()
    assert 0.8 < one.is_right_top5.mean() < 1


def test_equal_scores_are_ranked_in_the_order_of_the_labels(make_case):
    images, predictions = make_case(n=60, labels=tuple("abcdefg"), kind="probabilities")
    flat = replace(predictions, scores=np.full((60, 7), 1 / 7, np.float32), top=np.zeros((60, 1), np.int32))
    scored = align(images, flat).scored[0]
    assert (scored.is_right_top5 == (scored.label < 5)).all()


def test_similarities_become_probabilities_only_with_a_temperature(make_case):
    images, predictions = make_case(n=50)
    bare = replace(predictions, kind="similarity")
    assert align(images, bare).scored[0].label_probability is None
    warm = replace(predictions, kind="similarity", scores=predictions.scores / 100, info={"logit_scale": 100.0})
    as_logits = align(images, predictions).scored[0]
    assert align(images, warm).scored[0].label_probability == pytest.approx(as_logits.label_probability, abs=1e-5)


def test_softmax_of_large_logits_does_not_overflow(make_case):
    images, predictions = make_case(n=50)
    huge = replace(predictions, scores=predictions.scores * 3000)
    scored = align(images, huge).scored[0]
    assert ((scored.label_probability >= 0) & (scored.label_probability <= 1)).all()


FAULTS = {
    "no model": (lambda images, model: (images, []), ConfigError, "no predictions were given.*--predictions"),
    "same name": (lambda images, model: (images, [model, model]), ConfigError, "'a model'.*another name"),
    "no label column": (lambda images, model: (images.drop("label"), [model]), TableError, "no column 'label'.*layout"),
    "no region column": (
        lambda images, model: (images.drop("region"), [model]),
        TableError,
        "no column 'region'.*locate",
    ),
    "empty table": (lambda images, model: (images.head(0), [model]), TableError, "no rows"),
    "no region at all": (
        lambda images, model: (images.with_columns(region=pl.lit(None, dtype=pl.String)), [model]),
        TableError,
        "empty in all 30 rows.*locate",
    ),
    "repeated image": (lambda images, model: (pl.concat([images, images.head(2)]), [model]), TableError, "earlier row"),
    "repeated prediction": (
        lambda images, model: (images, [replace(model, image_ids=np.append(model.image_ids[1:], "photo-00003"))]),
        TableError,
        "'photo-00003' stand in more than one row.*Drop",
    ),
    "other names": (
        lambda images, model: (images.with_columns(image_id=pl.lit("x") + pl.col("image_id"), path=None), [model]),
        TableError,
        "none of their 30 images.*'photo-00000'.*'xphoto-00000'.*expected the same names",
    ),
    "other folders": (
        lambda images, model: (images.with_columns(image_id=pl.lit("a/") + pl.col("image_id")), [model]),
        TableError,
        "file names agree",
    ),
    "other endings": (
        lambda images, model: (images.with_columns(image_id=pl.col("image_id") + ".png", path=None), [model]),
        TableError,
        "but for folders and endings",
    ),
    "other labels": (
        lambda images, model: (images.with_columns(label=pl.col("label") + "s"), [model]),
        TableError,
        "label outside the model's labels: 30.*Does 'bags' mean 'bag'",
    ),
    "names that are no text": (
        lambda images, model: (images, [replace(model, image_ids=np.arange(30).astype(object))]),
        TableError,
        "is no text",
    ),
    "scores that are no numbers": (
        lambda images, model: (images, [replace(model, scores=_spoil(model.scores))]),
        TableError,
        "'photo-00007' are NaN",
    ),
    "probabilities that are none": (
        lambda images, model: (images, [replace(model, kind="probabilities")]),
        TableError,
        "expected probabilities from 0 to 1.*'logits'",
    ),
}


def _spoil(scores):
    spoilt = scores.copy()
    spoilt[7, 2] = np.nan
    return spoilt


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_with_examples_and_a_remedy(fault, make_case):
    change, kind, message = FAULTS[fault]
    images, models = change(*make_case(n=30))
    with pytest.raises(kind, match=f"(?s){message}"):
        align_predictions(images, models, config=CONFIG)
