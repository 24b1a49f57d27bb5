"""Published figures about the quality of real answers: raters on ReaL's golden set, and labels that nobody selected."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.annotation.quality.answer_rows import prepare_answers
from graticule.annotation.quality.filter import filter_answers

ANSWERS = {0: "no", 1: "maybe", 2: "yes"}


def read_golden(path):
    """ReaL's golden questions as CLASSIFY answers: an image and label is the item, no, maybe or yes the label."""
    question = pl.format("{}/{}", "image_no", "label")
    return pl.read_parquet(path).select(
        question.alias("task_id"),
        pl.format("rater {}", "rater_id").alias("worker_id"),
        question.alias("image_id"),
        pl.col("answer").replace_strict(ANSWERS, return_dtype=pl.String).alias("label"),
    )


@pytest.fixture(scope="module")
def golden(shared):
    raters = read_golden(shared("data/reassessed_imagenet/votes_golden_raters.parquet"))
    experts = read_golden(shared("data/reassessed_imagenet/votes_golden_experts.parquet"))
    truth = experts.group_by("image_id").agg(pl.col("label").mode().sort().first())
    return filter_answers(raters, controls=truth), raters


def test_raters_accuracy_on_golden_controls_is_the_published_one(golden):
    filtered, _ = golden
    assert filtered.workers.height == 78
    assert filtered.workers["accuracy"].median() == pytest.approx(0.845, abs=0.0005)
    assert filtered.workers["accuracy"].min() == pytest.approx(0.214, abs=0.0005)


def test_the_one_rater_who_answers_at_random_is_left_out_and_nobody_else(golden):
    filtered, raters = golden
    worst = filtered.workers.sort("accuracy")["worker_id"][0]
    assert filtered.rejects["worker_id"].unique().to_list() == [worst]
    assert filtered.kept.height == raters.height - 1135


def test_150_images_are_marked_as_never_selected_in_contains_and_121_given_labels_are_in_no_classify_answer(shared):
    info = pl.read_parquet(shared("data/imagenet_multilabel/image_info.parquet"))
    assert info.filter(annotation="mis").height == 150
    answers = read_classify(shared)
    given = info.select(pl.col("image").alias("image_id"), pl.col("imagenet_label").cast(pl.String).alias("label"))
    asked = given.join(answers, on="image_id", how="semi")
    assert asked.height == 6761
    assert asked.join(answers, on=["image_id", "label"], how="anti").height == 121


def read_classify(shared):
    """The published CLASSIFY answers, a row a worker and selected label."""
    published = pl.read_parquet(shared("data/imagenet_multilabel/classify.parquet"))
    return (
        published.select("image", "main", "selected")
        .explode("main", "selected")
        .with_columns(pl.int_range(pl.len()).over("image").alias("number"))
        .explode("selected")
        .select(
            pl.col("image").alias("task_id"),
            pl.lit("classify").alias("kind"),
            pl.format("worker {}", "number").alias("worker_id"),
            pl.col("image").alias("image_id"),
            pl.col("selected").cast(pl.String).alias("label"),
            (pl.col("selected") == pl.col("main")).alias("is_main"),
        )
    )


def test_the_published_classify_answers_pass_the_checks_that_their_authors_applied(shared):
    answers = read_classify(shared)
    filtered = filter_answers(answers, checks=["duplicates", "invalid", "main_not_selected"])
    repeated = answers.height - prepare_answers(answers).select("task_id", "worker_id", "label").unique().height
    assert filtered.rejects.height == repeated
    assert set(filtered.rejects["check"]) <= {"duplicates"}
