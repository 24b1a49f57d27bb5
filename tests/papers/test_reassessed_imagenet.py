"""Beyer et al. 2020, "Are we done with ImageNet?": 924,810 answers of 85 raters, their scores and their ReaL labels.

Raters could say no, maybe or yes. The published score is no function of yes and no alone: regressed on the raters'
answers
its log-odds have a coefficient for "maybe" that lies between those of no and yes, and Dawid and Skene's model with two
truths and three answers comes nearest to it. So "maybe" is an answer of its own here (``is_unsure``), not a yes or
a no.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from graticule.annotation.aggregation.dawid_skene import DawidSkene
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.aggregation.hbcc import Hbcc
from graticule.annotation.aggregation.majority import Majority
from graticule.annotation.answers import CONTAINS, code_answers
from graticule.annotation.chooser import aggregate_answers, choose_method

NO, MAYBE, YES = 0, 1, 2
MIN_SCORE = 0.8
"""Published score above which a label is one of ReaL's."""


@pytest.fixture(scope="module")
def folder(shared):
    return shared("data/reassessed_imagenet")


def as_table(votes):
    return votes.select(
        pl.format("{}-{}", "image_no", "label").alias("task_id"),
        pl.col("rater_id").cast(pl.String).alias("worker_id"),
        pl.col("image_no").cast(pl.String).alias("image_id"),
        pl.col("label").cast(pl.String),
        (pl.col("answer") == YES).alias("selected"),
        (pl.col("answer") == MAYBE).alias("is_unsure"),
        pl.lit("contains").alias("kind"),
    )


@pytest.fixture(scope="module")
def answers(folder):
    return code_answers(as_table(pl.read_parquet(folder / "votes.parquet")))


@pytest.fixture(scope="module")
def real(folder):
    """The (image, label) pairs that ReaL accepts."""
    entries = json.loads((folder / "real.json").read_text())
    return {(str(number), str(label)) for number, labels in enumerate(entries, 1) for label in labels}


def name_pairs(aggregate):
    images = aggregate.images.gather(aggregate.image.astype(int)).to_list()
    labels = aggregate.labels.gather(aggregate.label.astype(int)).to_list()
    return list(zip(images, labels, strict=True))


def agreement(aggregate, real, *, min_probability=0.5):
    holds = np.array([pair in real for pair in name_pairs(aggregate)])
    return ((aggregate.probability >= min_probability) == holds).mean()


def test_every_answer_is_read(answers):
    assert answers.question == CONTAINS
    assert len(answers) == 924_810
    assert (len(answers.workers), len(answers.images)) == (85, 24_889)
    assert answers.is_unsure.sum() == 78_942


def test_the_published_score_gives_reals_labels_exactly(folder, real):
    scores = pl.read_parquet(folder / "ds_scores.parquet")
    accepted = scores.filter(pl.col("ds_score") > MIN_SCORE).select("image_no", "label").rows()
    rated = set(scores["image_no"].cast(pl.String).unique())
    assert {(str(image), str(label)) for image, label in accepted} == {pair for pair in real if pair[0] in rated}


def test_the_default_aggregator_agrees_with_real_on_97_percent_of_the_pairs(answers, real):
    aggregate = Hbcc().aggregate(answers)
    assert len(aggregate.image) == 184_962
    assert agreement(aggregate, real) >= 0.975
    assert agreement(Majority().aggregate(answers), real) >= 0.97


def test_dawid_skene_with_three_answers_is_near_the_published_score(answers, folder, real):
    aggregate = DawidSkene().aggregate(answers)
    assert agreement(aggregate, real, min_probability=MIN_SCORE) >= 0.98
    scores = pl.read_parquet(folder / "ds_scores.parquet").select(
        pl.col("image_no").cast(pl.String), pl.col("label").cast(pl.String), "ds_score"
    )
    ours = pl.DataFrame(name_pairs(aggregate), schema=["image_no", "label"], orient="row")
    joined = ours.with_columns(p=pl.Series(aggregate.probability)).join(scores, on=["image_no", "label"])
    assert joined.height == 184_962
    assert np.corrcoef(joined["p"], joined["ds_score"])[0, 1] > 0.98


def golden_truth(folder):
    experts = pl.read_parquet(folder / "votes_golden_experts.parquet")
    return experts.group_by("image_no", "label").agg(selected=(pl.col("answer") == YES).mean() > 0.5)


def test_on_the_golden_set_the_chooser_is_no_worse_than_the_majority(folder):
    answers = code_answers(as_table(pl.read_parquet(folder / "votes_golden_raters.parquet")))
    truth = (
        golden_truth(folder).select(pl.col("image_no", "label").cast(pl.String), "selected").sort("image_no", "label")
    )
    known = truth.sample(200, seed=0).rename({"image_no": "image_id"})
    gold = code_gold(known, answers)
    rest = truth.join(known, left_on=["image_no", "label"], right_on=["image_id", "label"], how="anti")
    chosen = choose_method(answers, gold=gold, methods=("hbcc", "majority", "dawid_skene", "one_coin", "mace"))
    accuracy = {}
    for method in (chosen.method, "majority"):
        aggregate = aggregate_answers(answers, method=method, gold=gold)
        found = pl.DataFrame(name_pairs(aggregate), schema=["image_no", "label"], orient="row")
        joined = found.with_columns(p=pl.Series(aggregate.probability)).join(rest, on=["image_no", "label"])
        accuracy[method] = ((joined["p"] >= 0.5) == joined["selected"]).mean()
    assert accuracy[chosen.method] >= accuracy["majority"] - 0.01
