"""What published lists say, beyond their sizes, and real photos: every file a row or a reject."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.data.readers.lists.dollar_street import read_dollar_street
from graticule.data.readers.lists.geode import read_geode
from graticule.data.readers.lists.geonet import read_geonet
from graticule.data.scan import scan_images
from graticule.geo.countries import find_codes
from graticule.geo.schemes import load_scheme

LISTS = "data/geonet/lists"


def test_dollar_streets_regions_are_the_united_nations_but_for_turkey_and_papua_new_guinea(shared):
    frame = read_dollar_street(shared("data/dollarstreet/metadata.csv")).frame
    codes = find_codes(frame["country"])
    assert codes.null_count() == 0
    regions = load_scheme("m49").regions_of(codes).replace({"Americas": "The Americas"})
    other = frame.filter(regions != frame["region"])
    assert set(other.select("country", "region").rows()) == {("Turkey", "Europe"), ("Papua New Guinea", "Asia")}
    assert frame.select(pl.col("country", "path", "region", "income").null_count()).row(0) == (0, 0, 0, 0)


def test_geodes_countries_lie_in_its_regions(shared):
    frame = read_geode(shared("data/geode_index/all_files.txt")).frame
    scheme = load_scheme("geode")
    named = frame["region"].replace_strict({name: scheme.match_region(name) for name in frame["region"].unique()})
    assert (scheme.regions_of(find_codes(frame["country"])) == named).all()


@pytest.fixture(scope="module")
def unida(shared):
    names = ("usa_train", "usa_test", "asia_train", "asia_test")
    return {name: read_geonet(shared(f"{LISTS}/uniDA__{name}.txt.gz")).frame for name in names}


@pytest.mark.parametrize(("region", "n_train", "n_test"), [("usa", 100_136, 25_034), ("asia", 33_912, 8_478)])
def test_geounidas_lists_have_the_published_sizes_and_share_no_photo(unida, region, n_train, n_test):
    train, test = unida[f"{region}_train"], unida[f"{region}_test"]
    assert (train["source_id"].n_unique(), test["source_id"].n_unique()) == (n_train, n_test)
    assert not set(train["source_id"]) & set(test["source_id"])


def test_geounidas_labels_are_62_shared_and_138_of_each_region(unida):
    usa, asia = set(unida["usa_train"]["label"]), set(unida["asia_train"]["label"])
    assert (len(usa & asia), len(usa - asia), len(asia - usa)) == (62, 138, 138)
    assert set(unida["asia_test"].filter(~pl.col("label").is_in(list(usa)))["label_index"]) == {200}


@pytest.mark.parametrize("folder", ["odd", "geotagged"])
def test_every_real_file_is_a_row_or_a_reject_with_a_reason(shared, folder):
    place = shared(f"images/{folder}")
    found = scan_images(place, progress=False)
    files = sorted(path.name for path in place.iterdir())
    assert sorted([*found.images["path"], *found.rejects["path"]]) == files
    assert found.rejects["reason"].str.len_chars().min() > 5
    if folder == "geotagged":
        assert found.images.drop_nulls(["latitude", "longitude"]).height >= 85
