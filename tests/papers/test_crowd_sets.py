"""Crowd sets of known truth: the default is better on average than the best published method, and never far below a
vote."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.answers import code_answers
from graticule.annotation.chooser import aggregate_answers, choose_method

FOLDER = "data/crowd/truth-inference-at-scale"
EBCC = {
    "active-crowd-toolkit/CF": 0.883,
    "active-crowd-toolkit/CF_amt": 0.857,
    "active-crowd-toolkit/MS": 0.787,
    "active-crowd-toolkit/SP": 0.915,
    "active-crowd-toolkit/SP_amt": 0.944,
    "active-crowd-toolkit/ZenCrowd_all": 0.862,
    "active-crowd-toolkit/ZenCrowd_in": 0.781,
    "crowd_truth_inference/d_jn-product": 0.935,
    "crowd_truth_inference/d_sentiment": 0.961,
    "crowd_truth_inference/s4_Face_Sentiment_Identification": 0.635,
    "crowd_truth_inference/s5_AdultContent": 0.748,
    "SpectralMethodsMeetEM/bluebird": 0.861,
    "SpectralMethodsMeetEM/rte": 0.931,
    "SpectralMethodsMeetEM/trec": 0.704,
}
"""Accuracy of EBCC (Li, Rubinstein and Cohn 2019), of which each is the best of 40 random starts."""
SMALL = [
    "active-crowd-toolkit/CF",
    "active-crowd-toolkit/MS",
    "active-crowd-toolkit/SP_amt",
    "active-crowd-toolkit/ZenCrowd_in",
    "crowd_truth_inference/s4_Face_Sentiment_Identification",
    "SpectralMethodsMeetEM/bluebird",
    "SpectralMethodsMeetEM/rte",
]


def read(folder):
    """Answers, each different one once, and the truth (image_id, label)."""
    rows = pl.read_csv(folder / "label.csv", schema_overrides=dict.fromkeys(("item", "worker", "label"), pl.String))
    rows = rows.unique(maintain_order=True).with_row_index("row")
    truth = pl.read_csv(folder / "truth.csv", schema_overrides=dict.fromkeys(("item", "truth"), pl.String))
    table = rows.select(
        pl.col("row").cast(pl.String).alias("task_id"),
        pl.col("worker").alias("worker_id"),
        pl.col("item").alias("image_id"),
        "label",
    )
    labels = sorted({*rows["label"], *truth["truth"]}, key=int)
    answers = code_answers(table, labels=labels, repeats="keep")
    known = truth.select(pl.col("item").alias("image_id"), pl.col("truth").alias("label"))
    return answers, known.filter(pl.col("image_id").is_in(answers.images.to_list()))


def accuracy(aggregate, truth):
    main = aggregate.to_labels(min_probability=0.0).filter("is_main").select("image_id", pl.col("label").alias("found"))
    joined = truth.join(main, on="image_id")
    assert joined.height == truth.height
    return (joined["found"] == joined["label"]).mean()


@pytest.fixture(scope="module")
def found(shared):
    """The default's accuracy on every set."""
    return {name: accuracy(aggregate_answers(answers), truth) for name, (answers, truth) in every(shared).items()}


def test_the_mean_over_the_sets_is_above_the_best_published_method(found):
    assert np.mean(list(found.values())) > np.mean(list(EBCC.values()))
    assert np.mean(list(found.values())) > 0.845


def test_without_right_answers_the_default_is_never_a_hundredth_below_the_majority(shared, found):
    for name, (answers, truth) in every(shared).items():
        voted = accuracy(AGGREGATORS["majority"]().aggregate(answers), truth)
        assert found[name] > voted - 0.01, name


def every(shared):
    folder = shared(FOLDER)
    return {name: read(folder / name) for name in EBCC}


@pytest.mark.parametrize("name", [*SMALL, "crowdscale2013/fact_eval"])
def test_with_right_answers_the_choice_is_never_a_hundredth_below_the_majority(shared, name):
    answers, truth = read(shared(FOLDER) / name)
    known = truth.sort("image_id").sample(fraction=0.2, seed=0)
    gold = code_gold(known, answers)
    method = choose_method(answers, gold=gold, methods=("hbcc", "majority", "dawid_skene", "one_coin", "mace")).method
    chosen = accuracy(aggregate_answers(answers, method=method, gold=gold), truth)
    voted = accuracy(aggregate_answers(answers, method="majority", gold=gold), truth)
    assert chosen > voted - 0.01, method


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SpectralMethodsMeetEM/bluebird", 0.889),
        ("SpectralMethodsMeetEM/rte", 0.928),
        ("SpectralMethodsMeetEM/trec", 0.702),
        ("active-crowd-toolkit/MS", 0.769),
        ("crowd_truth_inference/d_jn-product", 0.940),
    ],
)
def test_dawid_skene_is_as_accurate_as_is_known(shared, name, expected):
    answers, truth = read(shared(FOLDER) / name)
    assert accuracy(AGGREGATORS["dawid_skene"]().aggregate(answers), truth) == pytest.approx(expected, abs=0.01)


def test_labelme(shared):
    folder = shared("data/crowd/labelme")
    votes = np.loadtxt(folder / "answers.txt", dtype=int)
    image, worker = np.nonzero(votes >= 0)
    table = pl.DataFrame({"image": image, "worker_id": worker, "label": votes[image, worker]}).select(
        pl.col("image").cast(pl.String).alias("task_id"),
        pl.col("worker_id").cast(pl.String),
        pl.col("image").cast(pl.String).alias("image_id"),
        pl.col("label").cast(pl.String),
    )
    labels = np.loadtxt(folder / "LabelMe_Z_train.txt", dtype=int)
    truth = pl.DataFrame({"image_id": np.arange(len(labels)), "label": labels}).cast(pl.String)
    answers = code_answers(table)
    assert accuracy(AGGREGATORS["dawid_skene"]().aggregate(answers), truth) == pytest.approx(0.792, abs=0.01)
    assert accuracy(AGGREGATORS["majority"]().aggregate(answers), truth) == pytest.approx(0.766, abs=0.01)
    assert accuracy(aggregate_answers(answers), truth) > 0.78
