"""CLASSIFY tasks: one image each, its labels in random order, settled images skipped."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.annotation.distance import load_distance
from graticule.annotation.glossary import Glossary
from graticule.annotation.tasks.assign import assign_tasks
from graticule.annotation.tasks.classify import build_classify_tasks
from graticule.annotation.tasks.task import TaskConfig
from graticule.errors import ConfigError, TableError


def make_candidates(frequencies):
    rows = [
        (image, label, place == 0, frequency)
        for image, labels in frequencies.items()
        for place, (label, frequency) in enumerate(labels.items())
    ]
    schema = {"image_id": pl.String, "label": pl.String, "is_given": pl.Boolean, "selection_frequency": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def build(candidates, *, controls=None, seed=0, **config):
    return build_classify_tasks(
        candidates,
        controls=controls,
        glossary=Glossary(names={"cat": "a cat"}),
        distance=load_distance("none"),
        config=TaskConfig(**config),
        seed=seed,
    )


MANY = make_candidates({f"i{n:02d}": {"cat": 0.5, "dog": 0.5, "fox": 0.5, "owl": 0.5} for n in range(60)})


def test_a_task_offers_all_labels_of_one_image_to_as_many_workers_as_asked():
    tasks = build(MANY, n_workers=7).tasks
    grouped = tasks.group_by("task_id").agg(pl.col("image_id").n_unique(), pl.col("label").sort(), pl.col("n_workers"))
    assert grouped.height == 60
    assert (grouped["image_id"] == 1).all()
    assert all(labels == ["cat", "dog", "fox", "owl"] for labels in grouped["label"].to_list())
    assert set(tasks["n_workers"]) == {7}
    assert set(tasks.filter(label="cat")["description"]) == {"a cat"}


def test_labels_stand_in_random_order_so_that_the_given_one_is_anywhere():
    tasks = build(MANY).tasks
    assert set(tasks.filter(label="cat")["position"]) == {0, 1, 2, 3}
    assert not tasks.equals(build(MANY, seed=1).tasks)
    assert tasks.equals(build(MANY[::-1]).tasks)


@pytest.mark.parametrize(
    ("frequencies", "reason"),
    [
        ({"cat": 0.9, "dog": 0.1}, "its given label is clearly dominant"),
        ({"cat": 0.5, "dog": 0.125}, "its given label is clearly dominant"),
        ({"cat": 0.49, "dog": 0.0}, None),
        ({"cat": 1.0, "dog": 0.2}, None),
        ({"cat": 0.2}, "it has a single candidate label"),
    ],
)
def test_settled_images_are_skipped_with_a_reason(frequencies, reason):
    built = build(make_candidates({"i": frequencies, "j": {"cat": 0.5, "dog": 0.5}}))
    assert dict(built.skipped.select("path", "reason").iter_rows()) == ({} if reason is None else {"i": reason})
    assert ("i" in built.tasks["image_id"]) == (reason is None)


def test_without_frequencies_no_image_counts_as_settled():
    built = build(make_candidates({"i": {"cat": 1.0, "dog": 0.0}}).drop("selection_frequency"))
    assert built.tasks.height == 2


def test_controls_are_marked():
    controls = pl.DataFrame({"image_id": ["i03", "zz"], "label": ["cat", "cat"]})
    built = build(MANY, controls=controls)
    assert built.tasks.filter("is_control")["image_id"].unique().to_list() == ["i03"]
    assert built.controls.rows() == [("i03", "cat", True)]


def test_workers_get_different_tasks_and_no_control_twice_where_that_can_be_avoided():
    rows = [
        (f"t{task}", "contains", place, f"c{task}-{place}" if place < 3 else f"i{task}-{place}", "x", place < 3, 2)
        for task in range(12)
        for place in range(6)
    ]
    schema = ["task_id", "kind", "position", "image_id", "label", "is_control", "n_workers"]
    tasks = pl.DataFrame(rows, schema=schema, orient="row")
    shared = tasks.with_columns(image_id=pl.col("image_id").str.replace(r"^c1\d-", "c0-"))
    given = assign_tasks(shared, worker_ids=[f"w{n}" for n in range(6)], seed=0)
    assert given.is_unique().all()
    assert (given.group_by("task_id").len()["len"] == 2).all()
    seen = given.join(shared.filter("is_control"), on="task_id").group_by("worker_id", "image_id").len()
    assert seen["len"].max() == 1
    assert given.group_by("worker_id").len()["len"].to_list() == [4] * 6
    assert given.equals(assign_tasks(shared[::-1], worker_ids=[f"w{n}" for n in range(6)], seed=0))


def test_too_few_or_repeated_workers_are_refused():
    tasks = build(MANY).tasks
    with pytest.raises(ConfigError, match="8 for tasks that ask for 9"):
        assign_tasks(tasks, worker_ids=[f"w{n}" for n in range(8)], seed=0)
    with pytest.raises(ConfigError, match="named twice: 'w'"):
        assign_tasks(tasks, worker_ids=["w", *"wabcdefghi"], seed=0)
    with pytest.raises(TableError, match="empty"):
        assign_tasks(tasks.head(0), worker_ids=["w"], seed=0)
