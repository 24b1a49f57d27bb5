"""Quality control: one check a section, each with the answers it must find and those that it must leave alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from graticule.annotation.quality import CHECKS
from graticule.annotation.quality.agreement_rows import list_agreement
from graticule.annotation.quality.answer_rows import prepare_answers
from graticule.annotation.quality.binomial import bound_share
from graticule.annotation.quality.check import QualityConfig
from graticule.annotation.quality.filter import filter_answers
from graticule.errors import ConfigError, TableError

START = datetime(2026, 1, 1, tzinfo=UTC)


def contains(rows, **columns):
    """Rows of (task, worker, image, selected) about the label x."""
    schema = {"task_id": pl.String, "worker_id": pl.String, "image_id": pl.String, "selected": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        label=pl.lit("x"), kind=pl.lit("contains"), **columns
    )


def classify(rows):
    """Rows of (task, worker, image, label, selected, is_main)."""
    schema = {
        **dict.fromkeys(("task_id", "worker_id", "image_id", "label"), pl.String),
        **dict.fromkeys(("selected", "is_main"), pl.Boolean),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(kind=pl.lit("classify"))


def truth(pairs):
    return pl.DataFrame(pairs, schema=["image_id", "label", "selected"], orient="row")


def found(filtered):
    return filtered.rejects.select("check", "reason").rows()


# duplicates


def test_a_second_answer_to_a_question_is_left_out_and_the_first_stands():
    answers = contains([("t", "w", "a", True), ("t", "w", "a", False), ("t", "v", "a", False)])
    filtered = filter_answers(answers, checks=["duplicates"])
    assert filtered.kept.equals(answers[[0, 2]])
    assert found(filtered) == [("duplicates", "the worker answered the same question in row 1")]


def test_first_is_what_was_sent_first():
    sent = [START + timedelta(seconds=9), START]
    answers = contains([("t", "w", "a", True), ("t", "w", "a", False)], answered_at=pl.Series(sent))
    assert filter_answers(answers, checks=["duplicates"]).kept["selected"].to_list() == [False]


def test_the_same_question_in_another_task_counts_unless_it_is_a_control():
    answers = contains([("t1", "w", "a", True), ("t2", "w", "a", True), ("t1", "w", "c", True), ("t2", "w", "c", True)])
    controls = truth([("c", "x", True)])
    filtered = filter_answers(answers, controls=controls, checks=["duplicates"])
    assert found(filtered) == [("duplicates", "the worker answered the same question in task t1")]
    assert filtered.kept["image_id"].to_list() == ["a", "c", "c"]


def test_a_second_classify_answer_for_an_image_goes_as_a_whole():
    answers = classify(
        [("t1", "w", "a", "x", True, True), ("t2", "w", "a", "y", True, True), ("t2", "w", "a", "z", True, False)]
    )
    assert filter_answers(answers, checks=["duplicates"]).kept["task_id"].to_list() == ["t1"]


# invalid and main_not_selected


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("x", False, False), ("y", False, False)], "the answer selects no label"),
        ([("x", True, False), ("y", True, False)], "the answer names no main label"),
        ([("x", True, True), ("y", True, True)], "the answer names 2 main labels; expected one"),
        ([("x", True, True), ("y", True, False)], None),
    ],
)
def test_classify_answers_that_break_the_rules_are_left_out_whole(rows, reason):
    good = ("t", "v", "a", "x", True, True)
    answers = classify([good, *(("t", "w", "a", *row) for row in rows)])
    filtered = filter_answers(answers, checks=["invalid"])
    assert found(filtered) == ([] if reason is None else [("invalid", reason)] * len(rows))
    assert filtered.kept["worker_id"].to_list()[0] == "v"


def test_answers_without_main_labels_anywhere_need_none():
    answers = classify([("t", "w", "a", "x", True, False)])
    assert filter_answers(answers, checks=["invalid"]).rejects.is_empty()


def test_an_object_has_one_label():
    answers = classify([("t", "w", "a", "x", True, True), ("t", "w", "a", "y", True, False)])
    shared = answers.with_columns(object=pl.Series([0, 0]))
    assert found(filter_answers(shared, checks=["invalid"]))[0][1] == "the answer names one object with two labels"
    assert filter_answers(answers.with_columns(object=pl.Series([0, 1])), checks=["invalid"]).rejects.is_empty()


def test_labels_that_a_task_did_not_offer_are_found_where_the_tasks_are_known():
    tasks = pl.DataFrame({"task_id": ["t"], "kind": ["classify"], "position": [0], "image_id": ["a"], "label": ["x"]})
    answers = classify([("t", "w", "a", "x", True, True), ("t", "v", "a", "q", True, True)])
    filtered = filter_answers(answers, tasks=tasks, checks=["invalid"])
    assert filtered.rejects.select("worker_id", "reason").rows() == [
        ("v", "the answer holds a label that its task did not offer")
    ]


def test_a_main_label_must_be_selected():
    answers = classify(
        [("t", "w", "a", "x", True, False), ("t", "w", "a", "y", False, True), ("t", "v", "a", "x", True, True)]
    )
    filtered = filter_answers(answers, checks=["main_not_selected"])
    assert found(filtered) == [("main_not_selected", "the main label 'y' is not among the selected ones")] * 2
    assert filtered.kept["worker_id"].to_list() == ["v"]


# too_fast


def timed(seconds):
    rows = [(f"t{number}", "w", f"i{number}", True) for number in range(len(seconds))]
    return contains(
        rows, assigned_at=pl.lit(START), answered_at=pl.Series([START + timedelta(seconds=s) for s in seconds])
    )


def test_answers_far_below_the_usual_time_are_left_out():
    assert filter_answers(timed([10.0, 12.0, 11.0, 2.1, 2.3]), checks=["too_fast"]).rejects.is_empty()
    filtered = filter_answers(timed([10.0, 12.0, 11.0, 0.5, 9.0]), checks=["too_fast"])
    assert found(filtered) == [("too_fast", "answered in 0.5 s; expected at least 2.0 s")]
    assert (
        filter_answers(
            timed([10.0, 12.0, 1.5]), checks=["too_fast"], config=QualityConfig(min_elapsed_s=11.0)
        ).kept.height
        == 1
    )


def test_time_is_that_of_the_whole_task():
    answers = contains(
        [("t", "w", "a", True), ("t", "w", "b", True), ("u", "w", "c", True)],
        assigned_at=pl.lit(START),
        answered_at=pl.Series([START + timedelta(seconds=s) for s in (0.1, 10, 9)]),
    )
    assert filter_answers(answers, checks=["too_fast"]).rejects.is_empty()


def test_unknown_times_say_nothing_and_swapped_ones_are_an_error():
    assert filter_answers(timed([9.0, 0.1]).drop("assigned_at"), checks=["too_fast"]).rejects.is_empty()
    with pytest.raises(TableError, match=r"1 answers were sent before .*row 2"):
        filter_answers(timed([9.0, -1.0]), checks=["too_fast"])


# straight_lining


def crowd(answer_of, *, n_images=40, n_positive=20):
    """Four workers who see well, and one who answers as ``answer_of`` says."""
    rows = [
        (f"t{image}", f"w{worker}", f"i{image}", image < n_positive) for image in range(n_images) for worker in range(4)
    ]
    rows += [(f"t{image}", "lazy", f"i{image}", answer_of(image)) for image in range(n_images)]
    return contains(rows)


@pytest.mark.parametrize("answer", [True, False])
def test_always_the_same_answer_is_found_where_most_others_gave_the_other_one(answer):
    filtered = filter_answers(crowd(lambda image: answer), checks=["straight_lining"])
    assert set(filtered.rejects["worker_id"]) == {"lazy"}
    assert filtered.rejects.height == 40
    assert "agrees with 0 of the 20 majorities" in filtered.rejects["reason"][0]


def test_a_careful_worker_who_saw_nothing_but_negatives_is_left_alone():
    answers = crowd(lambda image: False, n_positive=0)
    noisy = contains([("n", "w0", f"i{image}", True) for image in range(10)])
    assert filter_answers(pl.concat([answers, noisy]), checks=["straight_lining"]).rejects.is_empty()


def test_six_missed_majorities_are_needed():
    assert filter_answers(crowd(lambda image: False, n_positive=5), checks=["straight_lining"]).rejects.is_empty()
    assert filter_answers(crowd(lambda image: False, n_positive=6), checks=["straight_lining"]).rejects.height == 40


def test_answers_that_list_only_what_was_selected_are_not_judged():
    rows = crowd(lambda image: True).filter("selected").drop("selected", "kind")
    assert filter_answers(rows, checks=["straight_lining"]).rejects.is_empty()


# controls


def on_controls(n_right, n_controls):
    rows = [(f"t{number}", "w", f"c{number}", number < n_right) for number in range(n_controls)]
    return contains(rows), truth([(f"c{number}", "x", True) for number in range(n_controls)])


@pytest.mark.parametrize(
    ("n_right", "n_controls", "is_kept"),
    [(0, 3, True), (0, 4, False), (3, 10, False), (4, 10, True), (60, 100, False), (65, 100, True), (100, 100, True)],
)
def test_workers_are_left_out_only_when_surely_below_the_threshold(n_right, n_controls, is_kept):
    answers, controls = on_controls(n_right, n_controls)
    filtered = filter_answers(answers, controls=controls, checks=["worker_controls"])
    assert filtered.kept.height == (n_controls if is_kept else 0)
    assert filtered.workers.select("n_right", "n_controls").row(0) == (n_right, n_controls)
    if not is_kept:
        assert f"right on {n_right} of {n_controls} controls" in filtered.rejects["reason"][0]


def test_hardly_any_honest_worker_is_left_out_by_chance():
    rng = np.random.default_rng(0)
    right = rng.binomial(30, 0.75, size=20_000)
    _, high = bound_share(right, np.full(20_000, 30), confidence=0.95)
    assert np.mean(high < 0.7) < 0.025


def test_a_task_with_failed_controls_goes_and_the_workers_other_tasks_stay():
    rows = [("bad", "w", f"c{n}", n == 0) for n in range(4)] + [("bad", "w", "a", True)]
    rows += [(f"good{task}", "w", f"c{n}", True) for task in range(5) for n in range(4)]
    controls = truth([(f"c{n}", "x", True) for n in range(4)])
    filtered = filter_answers(contains(rows), controls=controls)
    assert set(filtered.rejects["task_id"]) == {"bad"}
    assert set(filtered.rejects["check"]) == {"task_controls"}
    assert filtered.rejects["reason"][0] == "right on 1 of the task's 4 controls; expected at least 0.5 of them"


def test_tasks_with_fewer_controls_than_asked_are_not_judged():
    rows = [("t", "w", "c0", False), ("t", "w", "c1", False)]
    controls = truth([("c0", "x", True), ("c1", "x", True)])
    assert filter_answers(contains(rows), controls=controls, checks=["task_controls"]).rejects.is_empty()
    config = QualityConfig(min_task_controls=2)
    assert filter_answers(contains(rows), controls=controls, checks=["task_controls"], config=config).kept.is_empty()


def test_classify_controls_are_judged_by_the_main_label_or_else_by_every_selected_one():
    answers = classify(
        [
            ("t1", "main", "a", "x", True, True),
            ("t1", "main", "a", "y", True, False),
            ("t2", "other", "a", "x", True, False),
            ("t2", "other", "a", "y", True, False),
            ("t3", "unknown", "a", "q", True, True),
            ("t4", "avoided", "b", "q", True, True),
            ("t5", "trapped", "b", "x", True, True),
        ]
    )
    controls = truth([("a", "x", True), ("a", "y", False), ("b", "x", False)])
    workers = filter_answers(answers, controls=controls, checks=[]).workers
    assert dict(workers.select("worker_id", "n_right").iter_rows()) == {
        "main": 1,
        "other": 0,
        "unknown": 0,
        "avoided": 1,
        "trapped": 0,
    }


def test_controls_without_truth_and_controls_that_nobody_answered_are_errors():
    answers = contains([("t", "w", "a", True), ("t", "w", "b", True)], is_control=pl.Series([True, False]))
    with pytest.raises(TableError, match=r"1 answers to controls without a right answer: 'row 1: a / x'"):
        filter_answers(answers, controls=truth([("b", "x", True)]))
    with pytest.raises(TableError, match="none of them was answered"):
        filter_answers(answers.drop("is_control"), controls=truth([("q", "x", True)]))


# all together


def test_every_answer_is_kept_or_rejected_once_with_a_reason():
    rng = np.random.default_rng(1)
    answers = contains(
        [
            (f"t{rng.integers(30)}", f"w{rng.integers(12)}", f"i{rng.integers(40)}", bool(rng.random() < 0.4))
            for _ in range(3000)
        ]
    ).with_row_index("number")
    controls = truth([(f"i{n}", "x", n % 2 == 0) for n in range(10)])
    filtered = filter_answers(answers, controls=controls)
    numbers = pl.concat([filtered.kept["number"], filtered.rejects["number"]]).sort()
    assert numbers.to_list() == list(range(3000))
    assert filtered.rejects["reason"].null_count() == 0
    assert set(filtered.rejects["check"]) == {"duplicates", "worker_controls"}
    assert filtered.kept.columns == answers.columns


def test_order_of_rows_changes_nothing():
    answers = pl.concat([crowd(lambda image: False), contains([("t0", "late", "i0", True)])])
    controls = truth([(f"i{n}", "x", n < 20) for n in range(10)])
    first = filter_answers(answers, controls=controls)
    other = filter_answers(answers.sample(fraction=1, shuffle=True, seed=1), controls=controls)
    columns = ["task_id", "worker_id", "image_id", "label"]
    assert first.kept.select(columns).sort(columns).equals(other.kept.select(columns).sort(columns))
    assert (
        first.rejects.select("reason", *columns)
        .sort(columns)
        .equals(other.rejects.select("reason", *columns).sort(columns))
    )


def test_workers_are_judged_before_their_bad_tasks_are_dropped():
    names = list(CHECKS)
    assert names.index("worker_controls") < names.index("task_controls")


def test_kinds_are_taken_from_what_the_table_holds():
    answers = contains([("t", "w", "a", True), ("t", "w", "b", False)]).drop("kind")
    assert prepare_answers(answers)["kind"].to_list() == ["contains"] * 2
    assert prepare_answers(answers.drop("selected"))["kind"].to_list() == ["classify"] * 2
    assert prepare_answers(answers.filter("selected"))["kind"].to_list() == ["classify"]
    assert prepare_answers(answers.with_columns(is_main=pl.col("selected")))["kind"].to_list() == ["classify"] * 2
    with pytest.raises(TableError, match="row 1: 'ranking'"):
        prepare_answers(answers.with_columns(kind=pl.lit("ranking")))


def test_empty_tables_unknown_checks_and_thresholds_out_of_range_are_refused():
    with pytest.raises(TableError, match="empty"):
        filter_answers(contains([]))
    with pytest.raises(ConfigError, match="Did you mean 'too_fast'"):
        filter_answers(contains([("t", "w", "a", True)]), checks=["to_fast"])
    with pytest.raises(ConfigError, match="min_worker_accuracy is 70"):
        QualityConfig(min_worker_accuracy=70.0)


def test_intervals_equal_scipys_exact_ones():
    from scipy.stats import binomtest

    for successes, trials in [(0, 3), (3, 3), (5, 9), (243, 1135)]:
        low, high = bound_share(np.array([successes]), np.array([trials]), confidence=0.9)
        exact = binomtest(successes, trials).proportion_ci(0.9, method="exact")
        np.testing.assert_allclose([low[0], high[0]], [exact.low, exact.high], atol=1e-12)
    low, high = bound_share(np.array([0]), np.array([0]), confidence=0.9)
    assert (low[0], high[0]) == (0.0, 1.0)


# agreement


def test_agreement_is_of_the_kept_answers_and_accuracy_of_all():
    answers = crowd(lambda image: False)
    controls = truth([(f"i{n}", "x", n < 20) for n in range(10)])
    table = list_agreement(filter_answers(answers, controls=controls))
    whole = table.filter(pl.col("label").is_null(), pl.col("worker_id").is_null())
    assert set(whole["statistic"]) == {"krippendorff_alpha", "fleiss_kappa"}
    assert (whole["value"] == 1.0).all()
    accuracy = dict(table.filter(statistic="control_accuracy").select("worker_id", "value").iter_rows())
    assert accuracy["w0"] == 1.0
    assert accuracy["lazy"] == 0.0


def test_agreement_takes_both_kinds_and_leaves_contradictions_aside():
    good = classify([("k1", f"w{n}", "a", "x", True, True) for n in range(3)])
    bad = classify([("k2", "w1", "b", "x", True, False), ("k2", "w1", "b", "y", False, True)])
    rows = pl.concat([crowd(lambda image: image < 20), good, bad], how="diagonal")
    table = list_agreement(filter_answers(rows, checks=[]))
    assert set(table["kind"].drop_nulls()) == {"contains", "classify"}
    assert "control_accuracy" not in set(table["statistic"])
