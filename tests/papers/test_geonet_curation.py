"""GeoNet's published curation, from its real lists."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.curation.statistics import measure_statistics
from graticule.curation.universal import UniversalConfig, find_universal_labels


@pytest.fixture(scope="module")
def lists(shared):
    return pl.read_parquet(shared("data/geonet/geonet_lists.parquet"))


@pytest.fixture(scope="module")
def unida(lists):
    return lists.filter(benchmark="GeoUniDA").select(
        pl.col("path").alias("image_id"),
        pl.col("domain").alias("region"),
        pl.col("class_name").alias("label"),
        "split",
        pl.col("label").alias("published"),
    )


@pytest.mark.parametrize(
    ("benchmark", "domain", "split", "n"),
    [
        ("GeoPlaces", "usa", "test", 17_234),
        ("GeoPlaces", "asia", "test", 26_923),
        ("GeoImNet", "asia", "train", 68_722),
        ("GeoImNet", "asia", "test", 9_636),
        ("GeoImNet", "usa", "test", 16_784),
        ("GeoUniDA", "usa", "train", 100_136),
        ("GeoUniDA", "usa", "test", 25_034),
        ("GeoUniDA", "asia", "train", 33_912),
        ("GeoUniDA", "asia", "test", 8_478),
    ],
)
def test_the_lists_have_the_published_sizes(lists, benchmark, domain, split, n):
    assert lists.filter(benchmark=benchmark, domain=domain, split=split).height == n


def test_train_and_test_share_no_image(lists):
    for _, images in lists.group_by(["benchmark", "domain"]):
        sides = {
            split: set(images.filter(split=split)["path"].str.split("/").list.last()) for split in ("train", "test")
        }
        assert not sides["train"] & sides["test"]


def test_shared_and_private_labels_and_every_index_are_the_published_ones(unida):
    found = find_universal_labels(unida, config=UniversalConfig(source="usa", target="asia"))
    assert len(found.list_labels("shared")) == 62
    assert len(found.list_labels("source_private")) == len(found.list_labels("target_private")) == 138
    assert found.unknown_index == 200
    assert found.selection.rejects.is_empty()
    assert (found.selection.kept["label_index"] == found.selection.kept["published"]).all()


@pytest.mark.parametrize(("benchmark", "distance"), [("GeoPlaces", 0.492), ("GeoImNet", 0.263)])
def test_label_shares_lie_as_far_apart_as_published(lists, benchmark, distance):
    images = lists.filter(benchmark=benchmark, split="test").select(
        pl.col("domain").alias("region"), pl.col("class_name").alias("label")
    )
    found = measure_statistics({benchmark: images}).metrics.filter(metric="label_total_variation")
    assert found["value"].round(3).to_list() == [distance]
    assert found["high"][0] < distance
