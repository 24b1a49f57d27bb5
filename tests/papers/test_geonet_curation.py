"""GeoNet's published curation, from its real lists."""

from __future__ import annotations

import math

import polars as pl
import pytest

from graticule.curation.filters.apply import filter_images
from graticule.curation.split_sizes import SplitSizes
from graticule.curation.splits import SplitConfig, split_images
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


def test_fifteen_percent_of_every_label_of_every_region_are_held_out(lists):
    images = lists.filter(benchmark="GeoImNet", domain="asia").select(
        pl.col("path").alias("image_id"), pl.col("domain").alias("region"), pl.col("class_name").alias("label")
    )
    sizes = SplitSizes.parse(["train=0.85", "test=0.15"])
    kept = split_images(images, config=SplitConfig(sizes=sizes, method="exact")).kept
    assert (kept["split"] == "test").sum() == math.ceil(0.15 * images.height)
    cells = kept.group_by("label").agg(pl.len().alias("n"), (pl.col("split") == "test").sum().alias("held"))
    assert cells.height == 600
    assert cells.filter((pl.col("held") - 0.15 * pl.col("n")).abs() >= 1).is_empty()
    # GeoNet's own lists hold out roughly as many: 9,636 of 78,358 were left after its test images were looked at.
    published = lists.filter(benchmark="GeoImNet", domain="asia", split="test").height
    assert abs(published / images.height - 0.15) < 0.03


def test_every_label_of_the_test_lists_has_images_in_both_regions_and_the_filter_finds_those_that_are_rare(lists):
    images = lists.filter(benchmark="GeoImNet", split="test").select(
        pl.col("path").alias("image_id"), pl.col("domain").alias("region"), pl.col("class_name").alias("label")
    )
    kept = filter_images(images, ["min_images"]).kept
    thinnest = images.group_by("label", "region").len().group_by("label").agg(pl.col("len").min())
    assert set(kept["label"]) == set(thinnest.filter(pl.col("len") >= 20)["label"])


def test_geotagged_points_stay_together_by_one_degree_cell(shared):
    points = pl.read_parquet(shared("data/geonet/geoplaces_test_geotagged.parquet"))
    images = points.select(
        pl.col("path").alias("image_id"),
        pl.col("lat").alias("latitude"),
        pl.col("lon").alias("longitude"),
        pl.col("domain").alias("region"),
        pl.col("class_name").alias("label"),
    )
    kept = split_images(images, config=SplitConfig(method="exact", place_degrees=1.0)).kept
    cells = kept.group_by(pl.col("latitude").floor(), pl.col("longitude").floor()).agg(pl.col("split").n_unique())
    assert cells.height == 2368
    assert cells["split"].max() == 1
    shares = kept.group_by("region").agg((pl.col("split") == "test").mean())
    assert ((shares["split"] - 0.15).abs() < 0.01).all()
