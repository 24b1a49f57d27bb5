"""What every aggregator promises, for every kind of crowd: new entries of the registry join by existing."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.gold import code_gold
from graticule.annotation.answers import CLASSIFY, CONTAINS, code_answers
from graticule.data.tables import LABELS
from graticule.data.validate import validate_table

NAMES = sorted(AGGREGATORS)
BINARY = [name for name in NAMES if name != "classify"]
CONFUSION = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def choice(rows):
    """Answers from (image, worker, label)."""
    return pl.DataFrame(rows, schema=["image_id", "worker_id", "label"], orient="row").with_columns(
        pl.col("image_id").alias("task_id")
    )


def contains(rows):
    """Answers from (image, worker, label, selected)."""
    frame = choice([row[:3] for row in rows])
    return frame.with_columns(pl.Series("selected", [row[3] for row in rows]), pl.lit("contains").alias("kind"))


@st.composite
def crowds(draw):
    n_images, n_workers, n_labels = draw(st.integers(1, 7)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rows = [
        (f"image {i}", f"worker {w}", f"label {draw(st.integers(0, n_labels - 1))}")
        for i in range(n_images)
        for w in range(n_workers)
        if draw(st.booleans())
    ]
    return rows or [("image 0", "worker 0", "label 0")]


def probabilities(aggregate):
    images = aggregate.images.gather(aggregate.image.astype(int)).to_list()
    labels = aggregate.labels.gather(aggregate.label.astype(int)).to_list()
    return dict(zip(zip(images, labels, strict=True), aggregate.probability.tolist(), strict=True))


def winners(aggregate):
    main = aggregate.to_labels(min_probability=0.0).filter("is_main")
    return dict(main.select("image_id", "label").iter_rows())


def assert_close(found, expected, tolerance=1e-6):
    for key in found.keys() | expected.keys():
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_an_aggregator_is_a_frozen_dataclass_with_defaults_in_a_file_of_its_name(name):
    aggregator = AGGREGATORS[name]()
    assert is_dataclass(aggregator)
    assert type(aggregator).__module__.endswith(f".{name}")
    assert type(aggregator).__name__.lower() == name.replace("_", "")
    for field in fields(aggregator):
        with pytest.raises(AttributeError):
            setattr(aggregator, field.name, None)


@pytest.mark.parametrize("name", NAMES)
@CONFUSION
@given(rows=crowds(), seed=st.integers(0, 5))
def test_permuting_rows_changes_nothing(name, rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    one = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    if name == "classify":  # of equally common labels the first counts, so an image's answers keep their order
        order = np.array(sorted(range(len(rows)), key=lambda row: rows[row][0], reverse=True))
    other = AGGREGATORS[name]().aggregate(code_answers(choice([rows[row] for row in order])))
    assert probabilities(one) == probabilities(other)
    assert winners(one) == winners(other)
    np.testing.assert_array_equal(one.skill, other.skill)


@pytest.mark.parametrize("name", NAMES)
@CONFUSION
@given(rows=crowds(), seed=st.integers(0, 5))
def test_renaming_workers_and_images_changes_nothing(name, rows, seed):
    rng = np.random.default_rng(seed)
    image_name = {f"image {i}": f"image {p}" for i, p in enumerate(rng.permutation(7))}
    worker_name = {f"worker {i}": f"worker {p}" for i, p in enumerate(rng.permutation(6))}
    renamed = [(image_name[image], worker_name[worker], label) for image, worker, label in rows]
    one = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    other = AGGREGATORS[name]().aggregate(code_answers(choice(renamed)))
    expected = {(image_name[image], label): p for (image, label), p in probabilities(one).items()}
    assert_close(probabilities(other), expected)
    assert winners(other) == {image_name[image]: label for image, label in winners(one).items()}


@pytest.mark.parametrize("name", NAMES)
@CONFUSION
@given(rows=crowds())
def test_probabilities_are_probabilities_and_every_image_with_an_answer_has_one_winner(name, rows):
    aggregate = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    assert ((aggregate.probability >= 0) & (aggregate.probability <= 1 + 1e-9)).all()
    per_image = np.bincount(aggregate.image, weights=aggregate.probability, minlength=len(aggregate.images))
    assert per_image == pytest.approx(1.0, abs=1e-4)
    assert set(winners(aggregate)) == {image for image, _, _ in rows}
    assert np.bincount(aggregate.image, weights=aggregate.is_main).max() == 1
    validate_table(aggregate.to_labels(), LABELS, where="labels")


@pytest.mark.parametrize("name", NAMES)
def test_one_worker_is_believed(name):
    rows = [("a", "w", "cat"), ("b", "w", "dog"), ("c", "w", "dog")]
    aggregate = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    assert winners(aggregate) == {"a": "cat", "b": "dog", "c": "dog"}


@pytest.mark.parametrize("name", NAMES)
def test_a_single_answer_is_believed(name):
    aggregate = AGGREGATORS[name]().aggregate(code_answers(choice([("a", "w", "cat")])))
    assert winners(aggregate) == {"a": "cat"}
    assert aggregate.to_labels()["n_workers"].to_list() == [1]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "classify"])
def test_where_all_disagree_labels_go_by_their_order(name):
    rows = [("a", "u", "cat"), ("a", "v", "dog"), ("a", "w", "eel")]
    answers = code_answers(choice(rows), labels=["eel", "dog", "cat"])
    assert winners(AGGREGATORS[name]().aggregate(answers)) == {"a": "eel"}
    assert winners(AGGREGATORS[name]().aggregate(code_answers(choice(rows)))) == {"a": "cat"}


@pytest.mark.parametrize("name", NAMES)
def test_an_image_without_answers_has_no_label_and_a_worker_without_any_no_skill(name):
    rows = [("a", "w", "cat"), ("a", "v", "cat"), ("b", "w", "dog"), ("b", "v", "cat")]
    plain = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    more = code_answers(choice(rows), images=["0", "a", "b", "z"], workers=["0", "v", "w", "z"])
    aggregate = AGGREGATORS[name]().aggregate(more)
    assert probabilities(aggregate) == pytest.approx(probabilities(plain))
    assert np.isnan(aggregate.skill[[0, 3]]).all()
    assert aggregate.n_answers[[0, 3]].tolist() == [0, 0]
    assert aggregate.to_workers()["worker_id"].to_list() == ["0", "v", "w", "z"]


@pytest.mark.parametrize("name", NAMES)
def test_names_may_be_any_text(name):
    rows = [("图 1", "Zoë", "öl\n"), ("图 1", "🙂", "öl\n"), ("图 2", "Zoë", "🦆"), ("图 2", "🙂", "🦆")]
    aggregate = AGGREGATORS[name]().aggregate(code_answers(choice(rows)))
    assert winners(aggregate) == {"图 1": "öl\n", "图 2": "🦆"}


@pytest.mark.parametrize("name", NAMES)
def test_known_labels_are_kept(name):
    rows = [("a", "v", "cat"), ("a", "w", "cat"), ("b", "v", "dog"), ("b", "w", "dog"), ("c", "v", "cat")]
    answers = code_answers(choice(rows))
    gold = code_gold(pl.DataFrame({"image_id": ["a", "nobody asked"], "label": ["dog", "cat"]}), answers)
    assert winners(AGGREGATORS[name]().aggregate(answers, gold=gold))["a"] == "dog"


@pytest.mark.parametrize("name", BINARY)
@CONFUSION
@given(rows=crowds(), data=st.data())
def test_contains_answers_come_to_a_probability_for_each_image_and_label(name, rows, data):
    asked = [(*row, data.draw(st.booleans())) for row in rows]
    answers = code_answers(contains(asked))
    assert answers.question == CONTAINS
    aggregate = AGGREGATORS[name]().aggregate(answers)
    assert ((aggregate.probability >= 0) & (aggregate.probability <= 1 + 1e-9)).all()
    if any(selected for *_, selected in asked):
        assert set(probabilities(aggregate)) == {(image, label) for image, _, label, _ in asked}
    labels = aggregate.to_labels()
    assert (labels["probability"] >= 0.5 - 1e-9).all()
    assert labels.group_by("image_id").agg(pl.col("is_main").sum())["is_main"].to_list() == [1] * len(
        labels["image_id"].unique()
    )


@pytest.mark.parametrize("name", BINARY)
def test_labels_that_all_select_are_accepted_and_those_that_none_selects_are_not(name):
    rows = [
        (image, worker, label, (image, label) in {("a", "cat"), ("a", "dog"), ("b", "dog"), ("c", "cat")})
        for image in "abc"
        for worker in "uvw"
        for label in ("cat", "dog")
    ]
    labels = AGGREGATORS[name]().aggregate(code_answers(contains(rows))).to_labels()
    found = set(labels.select("image_id", "label").iter_rows())
    assert found == {("a", "cat"), ("a", "dog"), ("b", "dog"), ("c", "cat")}
    assert labels["selection_frequency"].to_list() == [1.0] * 4


@pytest.mark.parametrize("name", NAMES)
def test_classify_answers_have_the_main_label_most_workers_name(name):
    rows = [("a", w, "cat", True) for w in "uvw"] + [("a", w, "dog", False) for w in "uvw"] + [("b", "u", "dog", True)]
    table = choice([row[:3] for row in rows]).with_columns(
        pl.Series("is_main", [row[3] for row in rows]), pl.lit("classify").alias("kind")
    )
    answers = code_answers(table)
    assert answers.question == CLASSIFY
    assert winners(AGGREGATORS[name]().aggregate(answers)) == {"a": "cat", "b": "dog"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_million_workers_fit(name):
    rng = np.random.default_rng(0)
    n = 1_000_000
    truth = rng.integers(0, 2, n // 5)
    right = rng.random(n) < 0.8
    label = np.where(right, truth[np.arange(n) // 5], 1 - truth[np.arange(n) // 5])
    table = pl.DataFrame({"image": np.arange(n) // 5, "worker": rng.permutation(n), "label": label}).select(
        pl.format("i{}", "image").alias("task_id"),
        pl.format("w{}", "worker").alias("worker_id"),
        pl.format("i{}", "image").alias("image_id"),
        pl.format("l{}", "label").alias("label"),
    )
    aggregate = AGGREGATORS[name]().aggregate(code_answers(table))
    found = aggregate.to_labels(min_probability=0.0).filter("is_main").select("image_id", "label")
    expected = pl.DataFrame({"image_id": np.arange(n // 5), "truth": truth}).select(
        pl.format("i{}", "image_id").alias("image_id"), pl.format("l{}", "truth").alias("truth")
    )
    joined = found.join(expected, on="image_id")
    assert joined.height == n // 5
    assert (joined["label"] == joined["truth"]).mean() > 0.93
