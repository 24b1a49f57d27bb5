"""Choosing a method by right answers: the best by far wins, luck does not, and without right answers there is a
default."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.answers import code_answers
from graticule.annotation.chooser import METHODS, aggregate_answers, choose_method
from graticule.errors import ConfigError

N_IMAGES = 200


def simulate(seed=0, *, n_workers=5, skill=0.75, labels="01"):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(labels), N_IMAGES)
    rows = [
        (f"i{i:03d}", f"w{w}", f"l{truth[i] if rng.random() < skill else rng.integers(len(labels))}")
        for i in range(N_IMAGES)
        for w in range(n_workers)
    ]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    return code_answers(frame.with_columns(task_id=pl.col("image_id"))), truth


def know(truth, n):
    return pl.DataFrame({"image_id": [f"i{i:03d}" for i in range(n)], "label": [f"l{k}" for k in truth[:n]]})


def test_without_right_answers_the_default_is_taken():
    answers, _ = simulate()
    choice = choose_method(answers)
    assert choice.method == "hbcc"
    assert choice.scores.is_empty()
    assert "default" in choice.reason


def test_the_default_for_many_labels_needs_no_table_of_all_labels():
    rng = np.random.default_rng(0)
    rows = [
        (f"i{i}", f"w{rng.integers(500)}", f"l{rng.integers(1000)}", f"t{i}-{n}") for i in range(3000) for n in "ab"
    ]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label", "task_id"], orient="row")
    answers = code_answers(frame, repeats="keep")
    assert choose_method(answers).method == "one_coin"
    gold = code_gold(frame.group_by("image_id").agg(pl.col("label").first()).head(40), answers)
    assert "hbcc" not in choose_method(answers, gold=gold).scores["method"].to_list()


def test_every_method_is_judged_on_right_answers_that_it_was_not_given():
    answers, truth = simulate()
    gold = code_gold(know(truth, 60), answers)
    choice = choose_method(answers, gold=gold)
    assert choice.scores["method"].to_list() == list(METHODS)
    assert choice.scores["n"].to_list() == [60] * len(METHODS)
    for name, accuracy in choice.scores.select("method", "accuracy").iter_rows():
        aggregate = AGGREGATORS[name]().aggregate(answers)
        main = aggregate.to_labels(min_probability=0.0).filter("is_main").sort("image_id").head(60)
        assert accuracy == pytest.approx((main["label"] == know(truth, 60)["label"]).mean(), abs=0.06)
    assert choice.method in METHODS


def test_a_method_that_sees_what_the_others_cannot_is_chosen():
    """All workers swap two labels; right answers to most images show it to confusion matrices, and to nothing else."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N_IMAGES)
    swap = {0: 0, 1: 2, 2: 1}
    rows = [(f"i{i:03d}", f"w{w}", f"l{swap[truth[i]]}") for i in range(N_IMAGES) for w in range(5)]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    answers = code_answers(frame.with_columns(task_id=pl.col("image_id")))
    gold = code_gold(know(truth, 150), answers)
    choice = choose_method(answers, gold=gold, methods=("majority", "one_coin", "dawid_skene"))
    assert choice.method == "dawid_skene"
    labels = aggregate_answers(answers, method=choice.method, gold=gold).to_labels().filter("is_main")
    assert (labels.sort("image_id")["label"].str.strip_prefix("l").cast(int).to_numpy() == truth).mean() > 0.99


def test_known_labels_stay_known():
    answers, truth = simulate()
    wrong = know(1 - truth, 20)
    aggregate = aggregate_answers(answers, method="auto", gold=code_gold(wrong, answers))
    main = aggregate.to_labels().filter("is_main").sort("image_id").head(20)
    assert main["label"].to_list() == wrong["label"].to_list()
    assert main["probability"].to_list() == [1.0] * 20


def test_contains_is_judged_by_yes_and_no():
    rng = np.random.default_rng(0)
    truth = rng.random(N_IMAGES) < 0.3
    rows = [
        (f"i{i:03d}", f"w{w}", "cat", bool(truth[i] == (rng.random() < 0.85)))
        for i in range(N_IMAGES)
        for w in range(5)
    ]
    frame = pl.DataFrame(rows, schema=["image_id", "worker_id", "label", "selected"], orient="row")
    answers = code_answers(frame.with_columns(task_id=pl.col("image_id"), kind=pl.lit("contains")))
    known = pl.DataFrame({"image_id": [f"i{i:03d}" for i in range(50)], "selected": truth[:50]})
    gold = code_gold(known.with_columns(label=pl.lit("cat")), answers)
    choice = choose_method(answers, gold=gold)
    assert (choice.scores["accuracy"] > 0.85).all()
    assert (choice.scores["brier"] < 0.3).all()


def test_classify_has_its_own_aggregation():
    rows = [("t", "v", "a", "cat", True), ("t", "v", "a", "dog", False)]
    frame = pl.DataFrame(rows, schema=["task_id", "worker_id", "image_id", "label", "is_main"], orient="row")
    answers = code_answers(frame)
    assert choose_method(answers).method == "classify"
    assert aggregate_answers(answers).method == "classify"


def test_the_same_seed_gives_the_same_choice():
    answers, truth = simulate(skill=0.5)
    gold = code_gold(know(truth, 40), answers)
    one, other = (choose_method(answers, gold=gold, seed=7) for _ in range(2))
    assert one.scores.equals(other.scores)
    assert one.method == other.method


def test_unknown_methods_and_too_few_folds_are_refused():
    answers, _ = simulate()
    with pytest.raises(ConfigError, match="Did you mean 'majority'"):
        choose_method(answers, methods=("majorty",))
    with pytest.raises(ConfigError, match="folds is 1"):
        choose_method(answers, folds=1)
    with pytest.raises(ConfigError, match=r"unknown method 'dawidskene'.*Did you mean 'dawid_skene'"):
        aggregate_answers(answers, method="dawidskene")
