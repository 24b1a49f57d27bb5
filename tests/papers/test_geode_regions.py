"""The scheme ``geode`` against the published images' own folders and the paper's table 3."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.data.locate import locate_images
from graticule.geo.countries import find_country
from graticule.geo.schemes import load_scheme

TABLE_3 = {
    "West Asia": ["Saudi Arabia", "United Arab Emirates", "Turkey"],
    "Africa": ["Egypt", "Nigeria", "South Africa"],
    "East Asia": ["China", "Japan", "South Korea"],
    "Southeast Asia": ["Indonesia", "Philippines", "Thailand"],
    "Americas": ["Argentina", "Colombia", "Mexico"],
    "Europe": ["Italy", "Romania", "Spain", "United Kingdom"],
}


@pytest.mark.parametrize("name", ["geode", "geode_strict"])
def test_the_countries_of_table_3_are_in_their_region(name):
    scheme = load_scheme(name)
    assert set(scheme.regions) == set(TABLE_3)
    for region, countries in TABLE_3.items():
        codes = [find_country(country).alpha3 for country in countries]
        assert scheme.regions_of(codes).to_list() == [region] * len(codes)
        assert not scheme.extended & set(codes)


def test_every_published_image_gets_the_region_of_its_folder(shared):
    """61,940 images of 43 countries, named as their folders name them ("South_Africa", "SouthEastAsia")."""
    index = pl.read_parquet(shared("data/geode_index/geode_index.parquet"))
    images = index.select(pl.col("path").alias("image_id"), "country")
    located = locate_images(images, scheme="geode_strict")
    scheme = load_scheme("geode_strict")
    names = {region: scheme.match_region(region) for region in index["region"].unique()}
    assert sorted(names.values()) == sorted(TABLE_3)
    assert located.images["region"].to_list() == index["region"].replace_strict(names).to_list()
    assert located.counts.n_named == 61_940
    assert located.counts.n_unassigned == 0
    assert located.images["country"].n_unique() == 43


def test_published_region_names_are_harmonised_and_agree_with_the_countries(shared):
    index = pl.read_parquet(shared("data/geode_index/geode_index.parquet"))
    located = locate_images(index.select(pl.col("path").alias("image_id"), "country", "region"))
    assert set(located.region_counts) == set(TABLE_3)
    assert located.counts.n_region_conflicts == 0
    assert located.counts.n_extended == 0
