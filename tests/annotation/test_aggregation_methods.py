"""What each method is good for, on crowds where that shows; and what a result says of itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.classify import Classify, count_objects
from graticule.annotation.aggregation.dawid_skene import DawidSkene
from graticule.annotation.aggregation.glad import Glad
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.aggregation.hbcc import Hbcc
from graticule.annotation.aggregation.mace import Mace
from graticule.annotation.aggregation.majority import Majority
from graticule.annotation.aggregation.one_coin import OneCoin
from graticule.annotation.aggregation.partition import MAX_EXACT, partition_labels
from graticule.annotation.aggregation.quantiles import split_by_quantile
from graticule.annotation.aggregation.selection_frequency import SelectionFrequency
from graticule.annotation.answers import code_answers
from graticule.errors import ConfigError

N_IMAGES = 400
MODELS = ["dawid_skene", "one_coin", "glad", "mace", "hbcc"]


def simulate(answer, *, n_workers, seed=0, n_labels=2, shares=None):
    """Every worker answers every image; ``answer(worker, truth, rng)`` is what the worker says."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_labels, N_IMAGES, p=shares)
    rows = [
        (f"i{image:03d}", f"w{worker}", f"l{answer(worker, truth[image], rng)}")
        for image in range(N_IMAGES)
        for worker in range(n_workers)
    ]
    table = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    return code_answers(table.with_columns(task_id=pl.col("image_id"))), truth


def accuracy(aggregate, truth):
    main = aggregate.to_labels(min_probability=0.0).filter("is_main").sort("image_id")
    return (main["label"].str.strip_prefix("l").cast(pl.Int64).to_numpy() == truth).mean()


def spammers(worker, truth, rng):
    """Two of seven know; the others say 0 nine times in ten."""
    if worker < 2:
        return truth if rng.random() < 0.95 else 1 - truth
    return int(rng.random() > 0.9)


def experts(worker, truth, rng):
    """Two of seven know; the others guess."""
    return truth if rng.random() < (0.95 if worker < 2 else 0.5) else 1 - truth


@pytest.mark.parametrize("name", MODELS)
def test_models_find_the_workers_who_know(name):
    answers, truth = simulate(experts, n_workers=7)
    aggregate = AGGREGATORS[name]().aggregate(answers)
    assert accuracy(aggregate, truth) > accuracy(Majority().aggregate(answers), truth) + 0.05
    assert set(np.argsort(aggregate.skill)[-2:].tolist()) == {0, 1}


@pytest.mark.parametrize("name", ["dawid_skene", "mace", "hbcc"])
def test_models_with_habits_see_through_spammers_who_always_say_the_same(name):
    answers, truth = simulate(spammers, n_workers=7)
    aggregate = AGGREGATORS[name]().aggregate(answers)
    assert accuracy(aggregate, truth) > 0.9 > accuracy(Majority().aggregate(answers), truth)


def test_dawid_skene_takes_workers_at_their_word_who_swap_two_labels():
    def swap(worker, truth, rng):
        said = truth if rng.random() < 0.9 else int(rng.integers(3))
        return {1: 2, 2: 1}.get(said, said) if worker == 3 else said

    answers, truth = simulate(swap, n_workers=4, n_labels=3)
    aggregate = DawidSkene().aggregate(answers)
    assert accuracy(aggregate, truth) > 0.97
    assert aggregate.skill[3] < 0.5 < aggregate.skill[:3].min()


def test_hbcc_is_not_misled_by_workers_who_err_on_the_same_images():
    """Half of the images of label 0 fool two workers of five alike; the other three are right more often than not."""

    def alike(image, worker, truth, rng):
        if truth == 0 and image % 2 and worker < 2:
            return int(rng.random() < 0.9)
        return truth if rng.random() < 0.75 else 1 - truth

    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, N_IMAGES)
    rows = [
        (f"i{i:03d}", f"w{w}", f"l{alike(i, w, truth[i], rng)}", f"i{i:03d}") for i in range(N_IMAGES) for w in range(5)
    ]
    answers = code_answers(pl.DataFrame(rows, schema=["image_id", "worker_id", "label", "task_id"], orient="row"))
    assert accuracy(Hbcc().aggregate(answers), truth) >= accuracy(Hbcc(n_subtypes=1).aggregate(answers), truth)


@pytest.mark.parametrize("name", ["dawid_skene", "one_coin", "hbcc"])
def test_the_trace_never_falls_and_the_fit_converges(name):
    answers, _ = simulate(experts, n_workers=7)
    aggregate = AGGREGATORS[name]().aggregate(answers)
    assert aggregate.converged
    assert aggregate.n_iterations == len(aggregate.log_likelihood) > 1
    assert (np.diff(aggregate.log_likelihood) > -1e-6).all()


@pytest.mark.parametrize("model", [DawidSkene, OneCoin, Mace, Glad])
def test_a_fit_that_runs_out_of_steps_says_so(model):
    answers, _ = simulate(experts, n_workers=7)
    aggregate = model(max_iterations=1).aggregate(answers)
    assert not aggregate.converged
    assert aggregate.n_iterations == 1


def test_dawid_skene_with_smoothing_raises_the_posterior_density():
    answers, _ = simulate(experts, n_workers=7)
    for candidates in ("all", "answered"):
        trace = DawidSkene(smoothing=0.5, candidates=candidates).aggregate(answers).log_likelihood
        assert (np.diff(trace) > -1e-6).all()


def test_dawid_skene_over_answered_labels_is_the_same_where_every_label_is_answered():
    """Two workers see to that: one always says 0, one always 1."""

    def stubborn(worker, truth, rng):
        return worker if worker < 2 else experts(worker - 2, truth, rng)

    answers, _ = simulate(stubborn, n_workers=9)
    every, answered = (DawidSkene(candidates=c, smoothing=0.1).aggregate(answers) for c in ("all", "answered"))
    assert answered.n_iterations == every.n_iterations
    assert answered.log_likelihood == pytest.approx(every.log_likelihood)
    assert answered.probability == pytest.approx(every.probability, abs=1e-9)
    assert answered.skill == pytest.approx(every.skill, abs=0.02)


def test_a_thousand_labels_need_no_table_of_all_labels():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 1000, 2000)
    rows = [
        (f"i{i:04d}", f"w{w:03d}", f"l{truth[i] if rng.random() < 0.8 else (truth[i] + rng.integers(1, 4)) % 1000}")
        for i in range(2000)
        for w in rng.choice(300, 9, replace=False)
    ]
    table = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    answers = code_answers(table.with_columns(task_id=pl.col("image_id")))
    for name in ("one_coin", "mace", "majority"):
        assert accuracy(AGGREGATORS[name]().aggregate(answers), truth) > 0.95
    # Two images a label leave Dawid and Skene's matrices nearly empty: it ends, but a number a worker does better.
    assert 0.4 < accuracy(DawidSkene().aggregate(answers), truth) < 0.95
    with pytest.raises(ConfigError, match=r"300 workers, 2000 items and \d+ labels.*one_coin"):
        Hbcc().aggregate(answers)


def test_gold_tells_experts_from_a_wrong_majority():
    def liars(worker, truth, rng):
        return truth if rng.random() < (0.9 if worker < 2 else 0.2) else 1 - truth

    answers, truth = simulate(liars, n_workers=5)
    known = pl.DataFrame({"image_id": [f"i{i:03d}" for i in range(60)], "label": [f"l{k}" for k in truth[:60]]})
    for name in ("dawid_skene", "one_coin", "hbcc", "mace"):
        assert accuracy(AGGREGATORS[name]().aggregate(answers), truth) < 0.3
    assert accuracy(DawidSkene().aggregate(answers, gold=code_gold(known, answers)), truth) > 0.9


def test_a_minority_of_liars_is_turned_round():
    def liars(worker, truth, rng):
        return truth if rng.random() < (0.8 if worker < 4 else 0.05) else 1 - truth

    answers, truth = simulate(liars, n_workers=6)
    for name in MODELS:
        aggregate = AGGREGATORS[name]().aggregate(answers)
        if name != "mace":  # to MACE a worker can be of no use, not of use by being wrong
            assert accuracy(aggregate, truth) > 0.93
        assert aggregate.skill[4:].max() < aggregate.skill[:4].min()


def test_majority_counts_maybe_as_half_a_yes():
    rows = [("t", w, "a", "cat") for w in "uvw"]
    table = pl.DataFrame(rows, schema=["task_id", "worker_id", "image_id", "label"], orient="row")
    table = table.with_columns(
        kind=pl.lit("contains"), selected=pl.Series([True, False, False]), is_unsure=pl.Series([False, True, True])
    )
    answers = code_answers(table)
    assert Majority().aggregate(answers).probability == pytest.approx([2 / 3])
    assert SelectionFrequency().aggregate(answers).probability == pytest.approx([1 / 3])


def test_selection_frequency_of_classify_counts_every_selected_label():
    rows = [("t", "u", "a", "cat"), ("t", "u", "a", "dog"), ("t", "v", "a", "dog"), ("t", "w", "a", "eel")]
    table = pl.DataFrame(rows, schema=["task_id", "worker_id", "image_id", "label"], orient="row")
    labels = SelectionFrequency().aggregate(code_answers(table)).to_labels(min_probability=0.0)
    assert labels.select("label", "selection_frequency", "is_main", "n_workers").rows() == [
        ("cat", pytest.approx(1 / 3), False, 3),
        ("dog", pytest.approx(2 / 3), True, 3),
        ("eel", pytest.approx(1 / 3), False, 3),
    ]


# CLASSIFY


def classify(answers):
    """Answers of one image, each the labels that a worker selected, the main one first."""
    rows = [("t", f"w{w}", "a", label, label == labels[0]) for w, labels in enumerate(answers) for label in labels]
    columns = ["task_id", "worker_id", "image_id", "label", "is_main"]
    return code_answers(pl.DataFrame(rows, schema=columns, orient="row"))


def objects_of(answers):
    labels = Classify().aggregate(answers).to_labels(min_probability=0.0)
    return dict(labels.select("label", "object").iter_rows())


def test_labels_that_are_selected_together_name_different_objects():
    answers = classify([["cat", "ball"], ["tabby", "ball"], ["cat", "ball"]])
    found = objects_of(answers)
    assert found["cat"] == found["tabby"] != found["ball"]
    labels = Classify().aggregate(answers).to_labels()
    assert labels.select("label", "is_main").rows() == [("ball", False), ("cat", True)]


def test_with_one_object_every_selected_label_names_it():
    answers = classify([["cat"], ["tabby"], ["cat", "ball"]])
    assert count_objects(answers).tolist() == [1]
    assert set(objects_of(answers).values()) == {0}


def test_what_is_only_ever_selected_alone_names_no_object_where_there_are_several():
    answers = classify([["cat", "ball"], ["cat", "ball"], ["eel"]])
    assert objects_of(answers) == {"ball": 1, "cat": 0, "eel": None} or objects_of(answers)["eel"] is None


def test_of_equally_common_numbers_and_main_labels_the_first_counts():
    assert count_objects(classify([["cat", "ball"], ["cat"]])).tolist() == [2]
    assert count_objects(classify([["cat"], ["cat", "ball"]])).tolist() == [1]
    main = Classify().aggregate(classify([["dog"], ["cat"]])).to_labels(min_probability=0.0).filter("is_main")
    assert main["label"].to_list() == ["dog"]


def test_a_tied_partition_lets_the_most_selected_labels_share_an_object():
    together = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert partition_labels(together, n_objects=2).tolist() == [0, 0, 1]


def test_many_labels_are_parted_too_and_no_object_is_empty():
    n = MAX_EXACT + 5
    together = np.zeros((n, n), dtype=int)
    together[::2, 1::2] = 3
    together += together.T
    found = partition_labels(together, n_objects=2)
    assert found.tolist() == [0, 1] * (n // 2)
    assert len(set(partition_labels(together, n_objects=4).tolist())) == 4


def test_more_objects_than_labels_give_each_label_its_own():
    assert partition_labels(np.array([[0, 1], [1, 0]]), n_objects=5).tolist() == [0, 1]
    with pytest.raises(ConfigError, match="n_objects is 0"):
        partition_labels(np.array([[0]]), n_objects=0)


def test_classify_refuses_answers_to_contains():
    rows = [("t", "v", "a", "cat"), ("t", "w", "a", "cat")]
    table = pl.DataFrame(rows, schema=["task_id", "worker_id", "image_id", "label"], orient="row")
    with pytest.raises(ConfigError, match="selection_frequency"):
        Classify().aggregate(code_answers(table.with_columns(selected=pl.Series([True, False]))))


# Results


def test_labels_keep_the_winner_and_what_is_likely_enough():
    rows = [("a", w, label) for w, label in zip("uvwxy", ["cat", "cat", "dog", "dog", "eel"], strict=True)]
    table = pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row")
    aggregate = Majority().aggregate(code_answers(table.with_columns(task_id=pl.col("image_id"))))
    assert aggregate.to_labels().select("label", "is_main").rows() == [("cat", True)]
    assert aggregate.to_labels(min_probability=0.3)["label"].to_list() == ["cat", "dog"]
    assert aggregate.to_labels(min_probability=0.0)["probability"].to_list() == pytest.approx([0.4, 0.4, 0.2])
    with pytest.raises(ConfigError, match=r"min_probability is 1\.5"):
        aggregate.to_labels(min_probability=1.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DawidSkene(max_iterations=0), "max_iterations is 0"),
        (lambda: DawidSkene(candidates="al"), "Did you mean 'all'"),
        (lambda: OneCoin(smoothing=-1.0), "smoothing is -1"),
        (lambda: Mace(competence_prior=(0.0, 1.0)), "competence_prior is 0"),
        (lambda: Glad(max_steps=0), "max_steps is 0"),
        (lambda: Hbcc(n_subtypes=0), "n_subtypes is 0"),
        (lambda: Hbcc(vote_weight=1.5), "vote_weight"),
    ],
)
def test_options_out_of_range_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_quantiles_share_ties_alike():
    parts = split_by_quantile(np.array([2.0, 1.0, 2.0, 2.0]), weights=np.ones(4), n_bins=2)
    assert parts[1].tolist() == [1.0, 0.0]
    assert parts[0].tolist() == parts[2].tolist() == parts[3].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert parts.sum(axis=0) == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize(
    ("pooled", "plain"), [(DawidSkene(), DawidSkene(pool_lone_workers=False)), (Hbcc(max_lone_workers=1), Hbcc())]
)
def test_workers_who_voted_once_count_as_one_worker(pooled, plain):
    rows = [(f"i{i}", f"w{w}", "cat" if i % 2 else "dog") for i in range(6) for w in range(2)]
    rows += [("i0", "a", "cat"), ("i1", "b", "cat"), ("i2", "c", "cat"), ("i3", "d", "dog")]
    lone = set("abcd")

    def code(found):
        table = pl.DataFrame(found, schema=["image_id", "worker_id", "label"], orient="row")
        return code_answers(table.with_columns(task_id=pl.col("image_id")))

    apart = pooled.aggregate(code(rows))
    together = [(image, "lone" if worker in lone else worker, label) for image, worker, label in rows]
    merged = plain.aggregate(code(together))
    np.testing.assert_allclose(apart.probability, merged.probability, atol=1e-9)
    skills = dict(apart.to_workers().select("worker_id", "skill").iter_rows())
    of_merged = dict(merged.to_workers().select("worker_id", "skill").iter_rows())
    of_merged |= dict.fromkeys(lone, of_merged.pop("lone"))
    assert skills == pytest.approx(of_merged)
