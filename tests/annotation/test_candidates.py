"""Candidate labels: the union of the models' best and the given label, with who proposed each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.candidates import find_candidates
from graticule.data.predictions import Predictions
from graticule.errors import ConfigError, TableError

LABELS = ("cat", "dog", "fox", "owl")


def make_model(name, top, *, image_ids=("a", "b"), scores=None):
    return Predictions(
        model=name,
        image_ids=np.array(image_ids, dtype=object),
        labels=LABELS,
        kind="labels" if scores is None else "logits",
        top=np.array(top),
        scores=None if scores is None else np.array(scores, dtype=np.float64),
        info={},
    )


IMAGES = pl.DataFrame({"image_id": ["a", "b"], "label": ["cat", "owl"]})


def test_candidates_are_the_union_of_every_models_best_and_the_given_label():
    found = find_candidates(IMAGES, [make_model("m1", [[0, 1], [1, 2]]), make_model("m2", [[1, 2], [1, 0]])], top=2)
    by_image = {image: set(labels) for image, labels in found.group_by("image_id").agg("label").iter_rows()}
    assert by_image == {"a": {"cat", "dog", "fox"}, "b": {"owl", "dog", "fox", "cat"}}


def test_each_candidate_says_which_models_proposed_it_and_at_which_rank():
    found = find_candidates(IMAGES, [make_model("m2", [[1, 2], [1, 0]]), make_model("m1", [[0, 1], [1, 2]])])
    row = found.filter(image_id="a", label="dog").row(0, named=True)
    assert (row["models"], row["ranks"], row["n_models"], row["best_rank"]) == (["m1", "m2"], [2, 1], 2, 1)
    given = found.filter(image_id="b", label="owl").row(0, named=True)
    assert given["is_given"]
    assert (given["models"], given["n_models"], given["best_rank"]) == ([], 0, None)


def test_order_is_the_given_label_then_votes_then_rank_then_name_whatever_the_files_order():
    models = [make_model("m1", [[1, 2], [0, 1]]), make_model("m2", [[2, 3], [1, 0]])]
    found = find_candidates(IMAGES, models)
    assert found.filter(image_id="a")["label"].to_list() == ["cat", "fox", "dog", "owl"]
    assert found.equals(find_candidates(IMAGES, models[::-1]))


def test_top_takes_no_more_than_asked_and_no_more_than_there_is():
    model = make_model("m", [[1, 2, -1], [1, -1, -1]])
    assert find_candidates(IMAGES, [model], top=1)["label"].to_list() == ["cat", "dog", "owl", "dog"]
    assert find_candidates(IMAGES, [model], top=9).filter(image_id="b")["label"].to_list() == ["owl", "dog"]


def test_scores_give_more_labels_than_the_stored_best_ones():
    model = make_model("m", [[3], [0]], scores=[[1, 2, 3, 4], [9, 1, 1, 0]])
    found = find_candidates(IMAGES, [model], top=3)
    assert set(found.filter(image_id="a")["label"]) == {"cat", "owl", "fox", "dog"}
    assert found.filter(image_id="b", label="dog")["best_rank"].item() == 2  # ties in the labels' order
    assert found.filter(image_id="b", label="fox")["best_rank"].item() == 3


def test_images_without_a_label_or_without_a_prediction_are_not_lost():
    images = pl.DataFrame({"image_id": ["a", "b", "c"], "label": ["cat", None, "fox"]})
    found = find_candidates(images, [make_model("m", [[0], [1]])])
    assert found.select("image_id", "label", "is_given").rows() == [
        ("a", "cat", True),
        ("b", "dog", False),
        ("c", "fox", True),
    ]
    assert find_candidates(images.drop("label"), [make_model("m", [[0], [1]])])["is_given"].sum() == 0


def test_unicode_names_pass_through():
    images = pl.DataFrame({"image_id": ["imagen ñ", "画像"], "label": ["cat", "dog"]})
    found = find_candidates(images, [make_model("mødel", [[0], [1]], image_ids=("画像", "imagen ñ"))])
    assert found.filter(image_id="画像")["models"].to_list() == [[], ["mødel"]]


@pytest.mark.parametrize(
    ("images", "models", "top", "message"),
    [
        (IMAGES.head(0), [make_model("m", [[0], [1]])], 5, "the table is empty"),
        (IMAGES, [make_model("m", [[0], [1]], image_ids=("x", "y"))], 5, "none of their images"),
        (IMAGES.with_columns(label=pl.lit("n1")), [make_model("m", [[0], [1]])], 5, "none of their labels"),
        (pl.concat([IMAGES, IMAGES]), [make_model("m", [[0], [1]])], 5, "row 3"),
    ],
)
def test_bad_input_is_named(images, models, top, message):
    with pytest.raises(TableError, match=message):
        find_candidates(images, models, top=top)


def test_two_files_of_one_model_and_a_top_of_zero_are_refused():
    with pytest.raises(ConfigError, match="'m'"):
        find_candidates(IMAGES, [make_model("m", [[0], [1]]), make_model("m", [[0], [1]])])
    with pytest.raises(ConfigError, match="top is 0"):
        find_candidates(IMAGES, [make_model("m", [[0], [1]])], top=0)
