"""Tables of answers into memory: which question was asked, in what order, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.aggregation.votes import make_votes
from graticule.annotation.answers import CHOICE, CLASSIFY, CONTAINS, code_answers
from graticule.errors import ConfigError, TableError

START = datetime(2026, 1, 1, tzinfo=UTC)


def table(rows, **columns):
    """(task, worker, image, label) and more columns."""
    frame = pl.DataFrame(rows, schema=["task_id", "worker_id", "image_id", "label"], orient="row")
    return frame.with_columns(*(pl.Series(name, values) for name, values in columns.items()))


TWO = [("t", "v", "a", "cat"), ("t", "w", "a", "dog")]
ONE_TASK = [("t", "v", "a", "cat"), ("t", "v", "a", "dog"), ("t", "w", "a", "cat")]


def test_one_label_a_worker_and_image_is_a_choice():
    assert code_answers(table(TWO)).question == CHOICE
    assert code_answers(table(TWO, kind=["classify"] * 2)).question == CHOICE


def test_several_labels_or_a_main_one_are_classify():
    assert code_answers(table(ONE_TASK)).question == CLASSIFY
    assert code_answers(table(TWO, is_main=[True, True])).question == CLASSIFY
    assert code_answers(table(TWO, object=[0, 0])).question == CLASSIFY


def test_unselected_labels_are_contains():
    answers = code_answers(table(TWO, selected=[True, False]))
    assert answers.question == CONTAINS
    assert answers.selected.tolist() == [True, False]
    assert code_answers(table(TWO, kind=["contains"] * 2, selected=[False, False])).question == CONTAINS


def test_an_unselected_row_of_classify_is_no_vote_but_the_worker_was_asked():
    rows = [("t", "v", "a", "cat"), ("t", "v", "a", "dog"), ("t", "w", "a", "cat"), ("t", "w", "a", "dog")]
    chosen = table(rows, kind=["classify"] * 4, selected=[True, False, False, True])
    assert code_answers(chosen).question == CHOICE
    assert len(code_answers(chosen)) == 2


def test_selected_is_true_where_it_is_missing_or_null():
    assert code_answers(table(TWO)).selected.all()
    assert code_answers(table(TWO, selected=[None, None], kind=["classify"] * 2)).selected.all()


def test_a_contains_table_of_selections_implies_what_was_not_selected():
    rows = [("t", "v", "a", "cat"), ("t", "v", "b", "cat"), ("t", "w", "a", "cat"), ("s", "u", "c", "cat")]
    answers = code_answers(table(rows, kind=["contains"] * 4))
    named = [
        (answers.images[int(i)], answers.workers[int(w)], bool(s))
        for i, w, s in zip(answers.image, answers.worker, answers.selected, strict=True)
    ]
    assert sorted(named) == [
        ("a", "v", True),
        ("a", "w", True),
        ("b", "v", True),
        ("b", "w", False),
        ("c", "u", True),
    ]


def test_unsure_answers_are_no_selection_and_a_value_of_their_own():
    answers = code_answers(table(TWO, kind=["contains"] * 2, selected=[True, True], is_unsure=[False, True]))
    assert answers.selected.tolist() == [True, False]
    votes = make_votes(answers)
    assert (votes.n_choices, votes.n_answers) == (2, 3)
    assert sorted(votes.choice.tolist()) == [1, 2]


def test_names_are_sorted_and_labels_keep_the_order_they_are_given_in():
    answers = code_answers(table(TWO), labels=["zebra", "dog", "cat"], images=["b", "a"], workers=["x", "w", "v"])
    assert answers.labels.to_list() == ["zebra", "dog", "cat"]
    assert answers.images.to_list() == ["a", "b"]
    assert answers.workers.to_list() == ["v", "w", "x"]
    assert answers.label.tolist() == [2, 1]


def test_answers_of_an_image_stand_in_the_order_of_time():
    later = table(TWO, answered_at=[START + timedelta(seconds=5), START])
    assert code_answers(later).worker.tolist() == [1, 0]
    assert code_answers(table(TWO)).worker.tolist() == [0, 1]


def test_an_empty_table_is_refused():
    with pytest.raises(TableError, match="the table is empty"):
        code_answers(table(TWO).clear())


def test_missing_columns_are_named():
    with pytest.raises(TableError, match="no column 'worker_id'"):
        code_answers(table(TWO).drop("worker_id"))


def test_mixed_kinds_are_refused():
    with pytest.raises(TableError, match=r"two kinds \(1 classify, 1 contains\)"):
        code_answers(table(TWO, kind=["contains", "classify"]))


def test_unknown_kinds_are_named_with_their_rows():
    with pytest.raises(TableError, match=r"1 answers of an unknown kind.*row 2: 'grid'"):
        code_answers(table(TWO, kind=["contains", "grid"]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"labels": ["cat"]}, r"1 answers whose label is not among the 1 that are known: 'row 2: dog'"),
        ({"images": ["b"]}, r"2 answers whose image_id .*row 1: a"),
        ({"workers": ["v"]}, r"1 answers whose worker_id .*row 2: w"),
    ],
)
def test_unknown_names_are_refused_with_their_rows(names, message):
    with pytest.raises(TableError, match=message):
        code_answers(table(TWO), **names)


def test_a_second_answer_to_a_question_is_refused_with_its_row():
    twice = table([*TWO, ("t2", "v", "a", "dog")])
    with pytest.raises(TableError, match=r"1 answers to a question .* 'row 3: v on a \(dog\)'"):
        code_answers(twice)
    with pytest.raises(TableError, match=r"row 2: v on a \(cat\)"):
        code_answers(table([TWO[0], TWO[0]], kind=["contains"] * 2, selected=[True, False]))


def test_every_second_answer_counts_when_asked_to():
    twice = table([*TWO, ("t2", "v", "a", "dog")])
    assert len(code_answers(twice, repeats="keep")) == 3
    with pytest.raises(ConfigError, match="unknown rule for repeated answers 'first'"):
        code_answers(twice, repeats="first")


def test_a_control_may_come_again_in_another_task():
    twice = table([*TWO, ("t2", "v", "a", "dog")], is_control=[True] * 3)
    assert len(code_answers(twice)) == 3
    again = table([TWO[0], ("t", "v", "a", "dog")], is_control=[True] * 2)
    assert code_answers(again).question == CLASSIFY


def test_a_main_label_that_is_not_selected_and_a_second_main_label_are_refused_together():
    rows = [("t", "v", "a", "cat"), ("t", "w", "a", "cat"), ("t", "w", "a", "dog")]
    bad = table(rows, is_main=[True, True, True], selected=[False, True, True])
    with pytest.raises(TableError, match=r"(?s)1 answers name a main label that is not selected: 'row 1.*second main"):
        code_answers(bad)


def test_gold_names_one_label_an_image_that_the_answers_know():
    answers = code_answers(table([*TWO, ("u", "v", "b", "cat")]))
    with pytest.raises(TableError, match=r"2 rows give an image a second right label"):
        code_gold(pl.DataFrame({"image_id": ["a", "a"], "label": ["cat", "dog"]}), answers)
    with pytest.raises(TableError, match=r"1 labels that no answer names: 'row 1: eel'"):
        code_gold(pl.DataFrame({"image_id": ["a"], "label": ["eel"]}), answers)
    with pytest.raises(TableError, match="empty"):
        code_gold(pl.DataFrame({"image_id": [], "label": []}, schema={"image_id": str, "label": str}), answers)


def test_controls_without_a_right_answer_are_named():
    answers = code_answers(table([*TWO, ("u", "v", "b", "cat")], is_control=[True] * 3))
    with pytest.raises(TableError, match=r"1 controls without a right answer: 'b'"):
        code_gold(pl.DataFrame({"image_id": ["a"], "label": ["cat"]}), answers)
    pairs = code_answers(
        table(TWO, kind=["contains"] * 2, selected=[True, False], is_control=[True, True]), labels=["dog", "cat"]
    )
    with pytest.raises(TableError, match=r"1 controls without a right answer: 'a / dog'"):
        code_gold(pl.DataFrame({"image_id": ["a"], "label": ["cat"]}), pairs)


def test_gold_of_contains_says_which_labels_hold():
    pairs = code_answers(table(TWO, kind=["contains"] * 2, selected=[True, False]))
    gold = code_gold(pl.DataFrame({"image_id": ["a", "a"], "label": ["cat", "dog"], "selected": [False, True]}), pairs)
    assert gold.holds.tolist() == [False, True]
    assert make_votes(pairs, gold=gold).known.tolist() == [0, 1]


def test_a_worker_who_selected_several_labels_and_named_no_main_one_casts_no_vote():
    answers = code_answers(table(ONE_TASK))
    votes = make_votes(answers)
    assert votes.worker.tolist() == [1]
