from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graticule.data.locate import forget_located, locate_images
from graticule.errors import ConfigError, GeoError
from graticule.geo.policies import load_policy
from graticule.geo.schemes import load_scheme

PARIS, CRIMEA, SEA, NULL_ISLAND = (48.86, 2.35), (44.95, 34.1), (0.0, -30.0), (0.0, 0.0)


def table(**columns):
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"image_id": [f"{i}.jpg" for i in range(n)], **columns})


def test_country_comes_from_the_name_first_and_then_from_coordinates():
    images = table(
        country=["Turkey", None, "", "Canada", None],
        latitude=[None, PARIS[0], PARIS[0], PARIS[0], None],
        longitude=[None, PARIS[1], PARIS[1], PARIS[1], None],
    )
    located = locate_images(images)
    assert located.images["country"].to_list() == ["TUR", "FRA", "FRA", "CAN", None]
    assert located.images["region"].to_list() == ["West Asia", "Europe", "Europe", "Americas", None]
    assert located.images["country_from"].to_list() == ["table", "coordinates", "coordinates", "table", None]
    assert located.images["region_from"].to_list() == ["scheme"] * 4 + [None]
    counts = located.counts
    assert (counts.n_images, counts.n_named, counts.n_from_gps, counts.n_without_place) == (5, 2, 2, 1)
    assert (counts.n_country_conflicts, counts.n_extended) == (1, 1)
    assert located.region_counts == {"Europe": 2, "Americas": 1, "West Asia": 1}


def test_overwrite_lets_coordinates_and_the_scheme_win():
    images = table(
        country=["Canada", "Peru"], region=["Asia", "europe"], latitude=[PARIS[0], None], longitude=[PARIS[1], None]
    )
    located = locate_images(images, overwrite=True)
    assert located.images["country"].to_list() == ["FRA", "PER"]
    assert located.images["region"].to_list() == ["Europe", "Americas"]
    assert located.images["country_from"].to_list() == ["coordinates", "table"]
    assert located.images["region_from"].to_list() == ["scheme", "scheme"]
    assert located.counts.n_country_conflicts == 1
    assert located.counts.n_region_conflicts == 2
    assert located.counts.n_regions_kept == 0


def test_points_at_sea_null_island_and_half_points_are_counted_and_kept():
    north = [SEA[0], NULL_ISLAND[0], 12.0, None, 90.0]
    east = [SEA[1], NULL_ISLAND[1], None, 3.0, 0.0]
    located = locate_images(table(latitude=north, longitude=east))
    assert located.images["country"].to_list() == [None] * 5
    assert located.images["latitude"].to_list() == north
    counts = located.counts
    assert (counts.n_at_sea, counts.n_null_island, counts.n_half, counts.n_without_place) == (2, 1, 2, 5)


def test_regions_of_the_table_are_kept_and_conflicts_counted():
    images = table(country=["ITA", "ITA", "NGA", None], region=["Europe", "Asia", None, "SouthEastAsia"])
    located = locate_images(images)
    assert located.images["region"].to_list() == ["Europe", "Asia", "Africa", "Southeast Asia"]
    assert located.images["region_from"].to_list() == ["table", "table", "scheme", "table"]
    assert located.counts.n_region_conflicts == 1
    assert located.counts.n_regions_kept == 2  # Asia against the scheme, and a region without a country
    assert located.counts.n_without_place == 0


def test_a_table_with_regions_only_keeps_them_and_harmonises_what_matches():
    located = locate_images(table(region=["SouthEastAsia", "west_asia", "Germany", " Italy ", ""]))
    assert located.images["region"].to_list() == ["Southeast Asia", "West Asia", "Germany", "Italy", None]
    assert located.images["country"].null_count() == 5
    assert located.info["region_countries"]["Germany"] == []
    assert "THA" in located.info["region_countries"]["Southeast Asia"]


def test_a_table_without_any_place_keeps_its_rows():
    located = locate_images(table(label=["a", "b"]))
    assert located.images["region"].to_list() == [None, None]
    assert located.counts.n_without_place == 2
    assert located.images.columns == ["image_id", "label", "country", "region", "country_from", "region_from"]


def test_an_empty_table_stays_empty():
    images = pl.DataFrame(schema={"image_id": pl.String, "latitude": pl.Float64, "longitude": pl.Float64})
    located = locate_images(images)
    assert located.images.height == 0
    assert located.images.schema["region"] == pl.String
    assert located.region_counts == {}


def test_the_policy_decides_disputed_places_by_coordinates_and_by_name():
    images = table(country=[None, "Kosovo"], latitude=[CRIMEA[0], None], longitude=[CRIMEA[1], None])
    assert locate_images(images).images["country"].to_list() == ["RUS", "XKX"]
    assert locate_images(images, policy="united-nations").images["country"].to_list() == ["UKR", "SRB"]
    ours = load_policy("de-facto", overrides=["crimea=UKR"])
    located = locate_images(images, policy=ours)
    assert located.images["country"].to_list() == ["UKR", "XKX"]
    assert "Crimea counts as UKR" in located.info["policy"]


def test_unassigned_countries_have_no_region_and_are_counted():
    located = locate_images(table(country=["FRA", "USA", "ATA"]), scheme="geonet")
    assert located.images["region"].to_list() == [None, "USA", None]
    assert located.counts.n_unassigned == 2
    assert located.counts.n_without_place == 0


def test_info_says_scheme_policy_and_countries():
    located = locate_images(table(country=["FRA", "NGA"]), scheme=load_scheme("m49"))
    info = located.info
    assert info["scheme"] == "m49"
    assert "United Nations" in info["scheme_text"]
    assert "policy 'de-facto'" in info["policy"]
    assert set(info["region_countries"]) == {"Africa", "Europe"}
    assert "NGA" in info["region_countries"]["Africa"]


def test_another_scheme_redoes_what_an_earlier_run_filled_and_keeps_the_rest():
    images = table(
        country=["Italy", None, "Peru"],
        region=[None, None, "South"],
        latitude=[None, CRIMEA[0], None],
        longitude=[None, CRIMEA[1], None],
    )
    first = locate_images(images).images
    assert first["region"].to_list() == ["Europe", "Europe", "South"]
    again = locate_images(forget_located(first), scheme="m49_subregions", policy="united-nations").images
    assert again["country"].to_list() == ["ITA", "UKR", "PER"]
    assert again["region"].to_list() == ["Southern Europe", "Eastern Europe", "South"]
    assert again["region_from"].to_list() == ["scheme", "scheme", "table"]


def test_locating_twice_changes_nothing():
    images = table(country=["Italy", None], latitude=[None, PARIS[0]], longitude=[None, PARIS[1]])
    once = locate_images(images).images
    assert locate_images(once).images.equals(once)
    assert locate_images(forget_located(once)).images.equals(once)


def test_the_given_table_is_not_changed():
    images = table(country=["Italy"], region=["x"])
    before = images.clone()
    locate_images(images, overwrite=True)
    assert images.equals(before)


def test_unknown_countries_are_one_error():
    with pytest.raises(GeoError, match="column 'country': unknown countries 'Atlantis'; 'Mordor'"):
        locate_images(table(country=["Atlantis", "Italy", "Mordor", "Atlantis"]))


def test_swapped_coordinates_are_one_error():
    with pytest.raises(GeoError, match=r"row 2: latitude is 139\.7.*swapped"):
        locate_images(table(latitude=[1.0, 139.7], longitude=[1.0, 35.7]))


def test_a_scheme_that_misses_a_country_is_an_error(tmp_path):
    (tmp_path / "s.csv").write_text("country,region\nItaly,South\n")
    with pytest.raises(GeoError, match=r"'s' has no region for 1 .*France"):
        locate_images(table(country=["Italy", "France"]), scheme=tmp_path / "s.csv")


def test_unknown_scheme_and_policy_are_errors():
    with pytest.raises(ConfigError, match="unknown scheme"):
        locate_images(table(country=["Italy"]), scheme="x")
    with pytest.raises(ConfigError, match="unknown policy"):
        locate_images(table(country=["Italy"]), policy="x")


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "", "Italy", "TR", "korea, rep.", "Antarctica"]),
            st.sampled_from([None, "Europe", "west_asia", "Mars"]),
            st.none() | st.floats(-90, 90),
            st.none() | st.floats(-180, 180),
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_counts_add_up_and_no_row_is_lost(rows, overwrite):
    schema = {
        "image_id": pl.String,
        "country": pl.String,
        "region": pl.String,
        "latitude": pl.Float64,
        "longitude": pl.Float64,
    }
    images = pl.DataFrame([(str(i), *row) for i, row in enumerate(rows)], schema=schema, orient="row")
    located = locate_images(images, overwrite=overwrite)
    counts, frame = located.counts, located.images
    assert frame["image_id"].to_list() == images["image_id"].to_list()
    assert counts.n_images == len(rows)
    assert frame["country"].is_not_null().sum() == (frame["country_from"] == "table").sum() + counts.n_from_gps
    assert counts.n_without_place == frame.filter(pl.col("country").is_null() & pl.col("region").is_null()).height
    assert sum(located.region_counts.values()) == frame["region"].is_not_null().sum()
    assert frame["country"].is_null().to_list() == frame["country_from"].is_null().to_list()
    assert frame["region"].is_null().to_list() == frame["region_from"].is_null().to_list()
