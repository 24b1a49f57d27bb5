"""Tsipras et al. 2020: their CLASSIFY answers for 6,761 ImageNet images come to their published annotations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from graticule.annotation.aggregation.classify import Classify, count_objects
from graticule.annotation.aggregation.partition import partition_labels
from graticule.annotation.answers import CLASSIFY, code_answers

N_IMAGES = 10_000
"""Images that the paper looks at; those without follow-up in CLASSIFY show one object."""


@pytest.fixture(scope="module")
def published(shared):
    return pl.read_parquet(shared("data/imagenet_multilabel") / "classify.parquet")


@pytest.fixture(scope="module")
def answers(published):
    rows = published.select("image", "main", "selected").explode("main", "selected")
    rows = rows.with_columns(pl.int_range(pl.len()).over("image").alias("worker")).explode("selected")
    return code_answers(
        rows.select(
            pl.col("image").alias("task_id"),
            pl.format("worker {}", "worker").alias("worker_id"),
            pl.col("image").alias("image_id"),
            pl.col("selected").cast(pl.String).alias("label"),
            (pl.col("selected") == pl.col("main")).alias("is_main"),
            pl.lit("classify").alias("kind"),
        )
    )


@pytest.fixture(scope="module")
def aggregate(answers):
    return Classify().aggregate(answers)


@pytest.fixture(scope="module")
def groups(aggregate):
    """Image → the labels of each object."""
    frame = pl.DataFrame(
        {
            "image": aggregate.images.gather(aggregate.image.astype(np.int64)),
            "label": aggregate.labels.gather(aggregate.label.astype(np.int64)).cast(pl.Int64),
            "object": aggregate.object,
        }
    ).filter(pl.col("object") >= 0)
    objects = frame.group_by("image", "object").agg("label")
    found: dict[str, set[frozenset[int]]] = {}
    for image, _, labels in objects.iter_rows():
        found.setdefault(image, set()).add(frozenset(labels))
    return found


def test_answers_are_read_as_classify(answers, published):
    assert answers.question == CLASSIFY
    assert len(answers.images) == published.height == 6761
    assert len(answers) == published["selected"].explode().list.len().sum()


def test_number_of_objects_is_the_published_one_for_every_image(answers, published):
    counts = dict(zip(answers.images, count_objects(answers).tolist(), strict=True))
    assert counts == dict(published.select("image", "num_objects").iter_rows())


def test_histogram_of_objects_and_share_of_multi_object_images(answers):
    counts = Counter(count_objects(answers).tolist())
    assert counts == {1: 4605, 2: 1562, 3: 451, 4: 99, 5: 27, 6: 17}
    several = sum(n for objects, n in counts.items() if objects > 1)
    assert several == 2156
    assert several / N_IMAGES == pytest.approx(0.2156)


def test_main_label_is_the_published_one_for_every_image(aggregate, published):
    main = aggregate.is_main
    images = aggregate.images.gather(aggregate.image[main].astype(np.int64))
    labels = aggregate.labels.gather(aggregate.label[main].astype(np.int64)).cast(pl.Int64)
    assert dict(zip(images, labels, strict=True)) == dict(published.select("image", "main_top").iter_rows())


def test_main_label_is_not_the_given_one_on_740_multi_object_images(aggregate, published):
    main = aggregate.to_labels(min_probability=0.0).filter("is_main").select("image_id", "label")
    joined = published.join(main, left_on="image", right_on="image_id").filter(pl.col("num_objects") > 1)
    assert joined.height == 2156
    assert joined.filter(pl.col("label").cast(pl.Int64) != pl.col("imagenet_label")).height == 740


def test_given_label_is_in_no_answer_of_121_images(aggregate, published):
    labels = aggregate.to_labels(min_probability=0.0).with_columns(pl.col("label").cast(pl.Int64))
    given = published.select("image", "imagenet_label")
    missing = given.join(labels, left_on=["image", "imagenet_label"], right_on=["image_id", "label"], how="anti")
    assert missing.height == 121


def test_objects_are_the_published_ones_wherever_the_best_partition_is_unique(groups, published):
    n_tied, n_unique = 0, 0
    for row in published.iter_rows(named=True):
        theirs = {frozenset(int(label) for label, *_ in group) for group in row["objects"]}
        ours = groups[row["image"]]
        if row["num_objects"] == 1:
            assert ours == theirs
            continue
        best = best_partitions(row["selected"], row["num_objects"])
        assert ours in best
        assert theirs in best
        n_tied += len(best) > 1
        n_unique += len(best) == 1
        if len(best) == 1:
            assert ours == theirs, row["image"]
    assert (n_unique, n_tied) == (1739, 417)


def test_the_label_of_an_object_is_the_one_that_most_workers_selected(aggregate, published):
    accepted = aggregate.to_labels().sort("image_id")
    by_image = dict(zip(*accepted.group_by("image_id", maintain_order=True).agg("label").get_columns(), strict=True))
    for row in published.filter(pl.col("num_objects") == 1).head(500).iter_rows(named=True):
        counts = Counter(label for answer in row["selected"] for label in answer)
        best = {str(label) for label, n in counts.items() if n == max(counts.values())}
        assert set(by_image[row["image"]]) & best
        assert set(by_image[row["image"]]) <= best | {str(row["main_top"])}


def best_partitions(selected, n_objects):
    """Every partition of the labels that were selected together into so many objects that cuts most, as sets."""
    together = Counter()
    for answer in selected:
        for first in answer:
            for second in answer:
                if first < second:
                    together[first, second] += 1
    labels = sorted({label for pair in together for label in pair})
    best, least = [], None
    for parts in partitions(labels, n_objects):
        inside = sum(together[pair] for part in parts for pair in together if set(pair) <= part)
        if least is None or inside < least:
            best, least = [], inside
        if inside == least:
            best.append({frozenset(part) for part in parts})
    return best


def partitions(labels, n_parts):
    """Every partition of a list into so many non-empty sets."""
    if not labels:
        if n_parts == 0:
            yield []
        return
    first, rest = labels[0], labels[1:]
    for parts in partitions(rest, n_parts):
        for place in range(len(parts)):
            yield [*parts[:place], parts[place] | {first}, *parts[place + 1 :]]
    if n_parts:
        for parts in partitions(rest, n_parts - 1):
            yield [{first}, *parts]


def test_partition_equals_the_slow_one():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n_labels = int(rng.integers(2, 6))
        together = np.triu(rng.integers(0, 4, (n_labels, n_labels)), 1)
        together = together + together.T
        selected = [[a, b] for a in range(n_labels) for b in range(a) for _ in range(together[a, b])]
        n_objects = int(rng.integers(1, n_labels + 1))
        found = partition_labels(together, n_objects=n_objects)
        assert len(set(found.tolist())) == n_objects
        if all(together.any(axis=1)):
            parts = {frozenset(np.flatnonzero(found == number).tolist()) for number in set(found.tolist())}
            assert parts in best_partitions(selected, n_objects)
