"""GeoDE's published splits and counts, from its real index."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.cli.main import cli
from graticule.curation.split_sizes import SplitSizes
from graticule.curation.splits import SplitConfig, split_images
from graticule.data.store import read_table
from graticule.data.tables import IMAGES

SPLITS = {
    "Africa": (6565, 2188, 2189),
    "Americas": (5514, 1838, 1838),
    "EastAsia": (5692, 1897, 1898),
    "Europe": (6384, 2128, 2128),
    "SouthEastAsia": (6060, 2020, 2021),
    "WestAsia": (4970, 1657, 1657),
}


@pytest.fixture(scope="module")
def index(shared):
    table = pl.read_parquet(shared("data/geode_index/geode_index.parquet"))
    return table.select(pl.col("path").alias("image_id"), "path", "region", "country", pl.col("object").alias("label"))


@pytest.fixture(scope="module")
def mapped(index):
    return index.filter(~pl.col("label").is_in(["backyard", "toothpaste_toothpowder"]))


def count_splits(kept):
    counts = kept.group_by("region", "split").len().pivot("split", index="region", values="len").sort("region")
    return {row["region"]: (row["train"], row["validation"], row["test"]) for row in counts.iter_rows(named=True)}


def test_the_index_is_the_published_one(index):
    assert (index.height, index["label"].n_unique(), index["country"].n_unique()) == (61_940, 40, 43)


def test_the_splits_per_region_have_the_published_sizes(mapped):
    assert mapped["label"].n_unique() == 38
    sizes = SplitSizes.parse(["train=0.6", "validation=0.2", "test=0.2"])
    assert count_splits(split_images(mapped, config=SplitConfig(sizes=sizes, method="exact")).kept) == SPLITS


def test_the_command_makes_the_published_splits(mapped, tmp_path):
    source, output = tmp_path / "images.parquet", tmp_path / "split.parquet"
    mapped.write_parquet(source)
    cli.main(["curate", "split", str(source), "--like", "geode", "-o", str(output)], standalone_mode=False)
    assert count_splits(read_table(output, IMAGES)) == SPLITS


def test_a_hash_comes_near_them_and_moves_nothing(mapped):
    sizes = SplitSizes.parse(["train=0.6", "validation=0.2", "test=0.2"])
    config = SplitConfig(sizes=sizes)
    kept = split_images(mapped, config=config).kept
    for region, counts in count_splits(kept).items():
        n_images = sum(SPLITS[region])
        assert abs(counts[0] - SPLITS[region][0]) < 4 * (0.6 * 0.4 * n_images) ** 0.5
    half = split_images(mapped.sample(fraction=0.5, seed=1), config=config).kept
    both = half.join(kept, on="image_id")
    assert (both["split"] == both["split_right"]).all()
