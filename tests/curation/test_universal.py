"""Shared and private labels of two regions."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.curation.universal import UniversalConfig, find_universal_labels
from graticule.errors import ConfigError, TableError

COUNTS = {
    "US": {"hat": 9, "elk": 8, "dog": 7, "cup": 1},
    "Asia": {"dog": 9, "yak": 8, "hat": 7, "bus": 6, "cup": 2},
}


def make_images():
    rows = [(place, label) for place, labels in COUNTS.items() for label, n in labels.items() for _ in range(n)]
    rows += [("Africa", "hat"), ("Asia", None)]
    frame = pl.DataFrame(rows, schema=["region", "label"], orient="row")
    split = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("test")).otherwise(pl.lit("train"))
    return frame.with_columns(image_id=pl.format("i{}", pl.int_range(pl.len())), split=split)


def find(**options):
    return find_universal_labels(make_images(), config=UniversalConfig(source="US", target="Asia", **options))


def test_labels_are_shared_or_private_in_the_order_of_their_names():
    found = find(top=3)
    assert found.list_labels("shared") == ("dog", "hat")
    assert found.list_labels("source_private") == ("elk",)
    assert found.list_labels("target_private") == ("yak",)
    assert found.labels["index"].to_list() == [0, 1, 2, 3]
    assert found.unknown_index == 3


def test_private_labels_of_the_target_are_one_in_the_test_split_only():
    kept = find(top=4).selection.kept
    private = kept.filter(label_kind="target_private")
    assert set(private.filter(split="test")["label_index"]) == {4}
    assert set(private.filter(split="train")["label_index"]) == {4, 5}
    shared = kept.filter(pl.col("label_kind") == "shared").select("label", "label_index").unique()
    assert sorted(shared.iter_rows()) == [("dog", 0), ("hat", 1)]


def test_what_is_left_out_has_its_reason():
    rejects = find(top=3).selection.rejects
    reasons = rejects["reason"].value_counts()
    assert dict(reasons.iter_rows()) == {
        "'cup' is not among the top 3 labels of either region": 3,
        "'bus' is not among the top 3 labels of either region": 6,
        "region is neither US nor Asia": 1,
        "no label": 1,
    }


def test_images_of_a_label_that_is_private_to_the_other_region_are_left_out():
    images = pl.concat(
        [make_images(), pl.DataFrame({"region": ["US"], "label": ["yak"], "image_id": ["z"], "split": ["train"]})]
    )
    found = find_universal_labels(images, config=UniversalConfig(source="US", target="Asia", top=3))
    assert found.selection.rejects.filter(image_id="z")["reason"][0] == "'yak' is a label of the other region only"


def test_equal_counts_are_taken_in_alphabetical_order():
    images = pl.DataFrame(
        {"image_id": list("abcd"), "region": ["S", "S", "T", "T"], "label": ["zebra", "ant", "zebra", "ant"]}
    )
    found = find_universal_labels(images, config=UniversalConfig(source="S", target="T", top=1))
    assert found.list_labels("shared") == ("ant",)


def test_regions_that_are_not_there_are_refused():
    with pytest.raises(TableError, match="those that are there: 'Africa', 'Asia', 'US'"):
        find_universal_labels(make_images(), config=UniversalConfig(source="US", target="Mars"))
    with pytest.raises(ConfigError, match="two different regions"):
        UniversalConfig(source="US", target="US")
    with pytest.raises(TableError, match="no column 'label'"):
        find_universal_labels(make_images().drop("label"), config=UniversalConfig(source="US", target="Asia"))
