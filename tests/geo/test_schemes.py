from __future__ import annotations

import json

import polars as pl
import pytest

from graticule.errors import ConfigError, FileError, GeoError
from graticule.geo.countries import load_countries
from graticule.geo.schemes import load_scheme
from graticule.geo.yaml_files import list_packaged

NAMES = list_packaged("schemes")
GEODE = ("Africa", "Americas", "East Asia", "Europe", "Southeast Asia", "West Asia")


def test_the_promised_schemes_are_there():
    assert NAMES == ["geode", "geode_strict", "geonet", "m49", "m49_subregions", "world_bank_income"]


@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_says_what_it_is_and_puts_each_country_in_one_region(name):
    scheme = load_scheme(name)
    assert scheme.name == name
    assert scheme.title
    assert scheme.source
    assert scheme.policy
    codes = [code for region in scheme.regions.values() for code in region]
    assert len(codes) == len(set(codes))
    assert set(codes) <= set(load_countries())
    assert scheme.title in scheme.describe()


def test_geode_assigns_every_country_of_the_world():
    scheme = load_scheme("geode")
    assert scheme.region_names == GEODE
    assert set(load_countries()) - set(scheme.region_by_country) == {"ATA"}
    assert scheme.regions_of(["USA", "IND", "AUS", "KAZ"]).to_list() == [
        "Americas", "Southeast Asia", "Southeast Asia", "West Asia"
    ]  # fmt: skip


def test_geode_marks_what_the_paper_does_not_cover():
    scheme, strict = load_scheme("geode"), load_scheme("geode_strict")
    assert {"USA", "CAN", "IND", "AUS", "KAZ"} <= scheme.extended
    assert not scheme.extended & {"MEX", "IDN", "TUR", "NGA", "JPN", "ITA"}
    listed = {code: region for code, region in scheme.region_by_country.items() if code not in scheme.extended}
    assert listed == strict.region_by_country
    assert strict.regions_of(["USA", "MEX"]).to_list() == [None, "Americas"]


def test_geonet_has_three_regions_and_leaves_others_out():
    scheme = load_scheme("geonet")
    assert set(scheme.regions) == {"USA", "Asia", "Africa"}
    found = scheme.regions_of(["USA", "JPN", "KEN", "FRA", "CAN", "RUS", "TUR"]).to_list()
    assert found == ["USA", "Asia", "Africa", None, None, None, "Asia"]


def test_world_bank_groups_are_those_of_the_fiscal_year_that_is_named():
    scheme = load_scheme("world_bank_income")
    assert "2026" in scheme.title
    found = scheme.regions_of(["ETH", "VEN", "TGO", "IND", "CHN", "CRI", "NAM", "TWN"]).to_list()
    low, lower, upper, high = scheme.regions
    assert found == [None, None, low, lower, upper, high, lower, high]


def test_m49_subregions_are_within_their_region():
    regions, parts = load_scheme("m49"), load_scheme("m49_subregions")
    for codes in parts.regions.values():
        assert len(set(regions.regions_of(codes).to_list())) == 1
    assert set(regions.region_by_country) == set(parts.region_by_country)


def test_m49_subregions_equal_an_independent_list(shared):
    """REVISE's map of ISO codes to sub-regions; it has neither Kosovo nor Antarctica."""
    known = json.loads(shared("data/region_maps/iso3_to_subregion.json").read_text(encoding="utf-8"))
    ours = load_scheme("m49_subregions").region_by_country
    assert len(known) == 249
    assert {code: (ours.get(code, ""), region) for code, region in known.items() if ours.get(code, "") != region} == {}


def test_regions_are_recognised_whatever_their_case_and_underscores():
    scheme = load_scheme("geode")
    for text in ("SouthEastAsia", "southeast_asia", "SOUTHEAST ASIA", "South-East Asia"):
        assert scheme.match_region(text) == "Southeast Asia"
    assert scheme.match_region("Asia") is None


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_yaml_takes_countries_in_any_spelling(tmp_path):
    path = write(tmp_path / "mine.yaml", "regions:\n  North: [Sweden, NO, de]\n  South:\n    - Turkey\n    - it\n")
    scheme = load_scheme(path)
    assert scheme.name == "mine"
    assert scheme.regions == {"North": ("SWE", "NOR", "DEU"), "South": ("TUR", "ITA")}


def test_a_users_csv_is_read_with_any_delimiter_and_extra_columns(tmp_path):
    want = {"North": ("SWE", "NOR"), "South": ("CIV",)}
    for name, text in {
        "a.csv": "country,region\nSweden,North\nNO,North\nCôte d'Ivoire,South\n",
        "b.csv": "note;Region;COUNTRY\nx;North;SE\n;North;Norway\n;South;Ivory Coast\n",
        "c.tsv": "country\tregion\nSWE\tNorth\nNOR\tNorth\n\nCIV\tSouth\n",
        "d.csv": '\ufeffcountry,region\nSweden,North\n"Norway","North"\nCIV,South',
    }.items():
        assert load_scheme(write(tmp_path / name, text)).regions == want


def test_a_country_that_a_users_scheme_misses_is_an_error_that_names_it(tmp_path):
    scheme = load_scheme(write(tmp_path / "mine.csv", "country,region\nSweden,North\n"))
    with pytest.raises(GeoError, match=r"'mine' has no region for 2 .*France \(FRA\)', 'Italy \(ITA\)"):
        scheme.regions_of(["SWE", "FRA", None, "ITA", "FRA"])
    assert scheme.regions_of(["SWE", None]).to_list() == ["North", None]


@pytest.mark.parametrize(("others", "want"), [("unassigned", None), ("Rest of the world", "Rest of the world")])
def test_others_get_what_the_file_says(tmp_path, others, want):
    in_yaml = load_scheme(write(tmp_path / "a.yaml", f"others: {others}\nregions:\n  North: [SWE]\n"))
    row = "*," if want is None else f"*,{want}"
    in_csv = load_scheme(write(tmp_path / "a.csv", f"country,region\nSWE,North\n{row}\n"))
    for scheme in (in_yaml, in_csv):
        assert scheme.regions_of(["SWE", "FRA", None]).to_list() == ["North", want, None]


def test_a_users_scheme_can_start_from_another(tmp_path):
    path = write(tmp_path / "mine.yaml", "based_on: geode\nregions:\n  North America: [USA, CAN]\n  Europe: [TUR]\n")
    scheme = load_scheme(path)
    found = scheme.regions_of(["USA", "CAN", "TUR", "ITA", "BRA"]).to_list()
    assert found == ["North America", "North America", "Europe", "Europe", "Americas"]
    assert not scheme.extended & {"USA", "CAN"}


def test_a_country_can_be_moved_and_the_scheme_says_so():
    scheme = load_scheme("geode", assign=["Turkey=europe", "USA=North America", "GRL=unassigned"])
    assert scheme.regions_of(["TUR", "USA", "GRL", "CAN"]).to_list() == ["Europe", "North America", None, "Americas"]
    assert "Türkiye (TUR) belongs to Europe" in scheme.describe()
    assert "Greenland (GRL) belongs to no region" in scheme.describe()


@pytest.mark.parametrize("change", ["USA", "=Europe", "USA=", "Atlantis=Europe"])
def test_a_change_that_cannot_be_read_is_an_error(change):
    with pytest.raises(GeoError, match="--assign"):
        load_scheme("geode", assign=[change])


def test_an_unknown_scheme_is_an_error_with_the_nearest_name():
    with pytest.raises(ConfigError, match="Did you mean 'geode'"):
        load_scheme("geod")


FAULTS = {
    "unknown country": ("s.csv", "country,region\nSweden,A\nAtlantis,A\n", "row 3: unknown country 'Atlantis'"),
    "country twice": ("s.csv", "country,region\nSweden,A\nSE,A\n", r"row 3: SE \(SWE\) stands twice"),
    "two regions": ("s.csv", "country,region\nSweden,A\nSE,B\n", r"in 'A' \(row 2\) and in 'B'"),
    "no header": ("s.csv", "Sweden,A\nNorway,A\n", "expected a header"),
    "empty file": ("s.csv", "", "expected a header"),
    "header only": ("s.csv", "country,region\n", "no country is listed"),
    "empty cell": ("s.csv", "country,region\nSweden,\n,B\n", "empty cell in row 2, row 3"),
    "short row": ("s.csv", "country,region\nSweden\n", "too few cells in row 2"),
    "open quote": ("s.csv", 'country,region\n"Sweden,A\n', "not valid CSV"),
    "two rows for others": ("s.csv", "country,region\nSWE,A\n*,B\n*,C\n", "2 rows whose country is"),
    "yaml: unknown country": ("s.yaml", "regions: {A: [Atlantis]}", "region 'A': unknown country 'Atlantis'"),
    "yaml: country twice": ("s.yaml", "regions: {A: [SE], B: [Sweden]}", "in 'A' .* and in 'B'"),
    "yaml: empty": ("s.yaml", "", "holds nothing"),
    "yaml: a list": ("s.yaml", "- a\n- b\n", "holds a list"),
    "yaml: a text": ("s.yaml", "hello", "holds a text"),
    "yaml: no regions": ("s.yaml", "title: x", "'regions' is missing"),
    "yaml: regions is a list": ("s.yaml", "regions: [SWE]", "expected regions with their countries"),
    "yaml: region is a text": ("s.yaml", "regions: {A: SWE}", "expected a list of countries"),
    "yaml: country is a list": ("s.yaml", "regions: {A: [[SWE]]}", "expected a list of countries"),
    "yaml: empty region": ("s.yaml", "regions: {A: []}", "no country is listed"),
    "yaml: key twice": ("s.yaml", "regions: {A: [SWE], A: [NOR]}", "'A' stands twice"),
    "yaml: unknown key": ("s.yaml", "region: {A: [SWE]}", "unknown key 'region'.*Did you mean 'regions'"),
    "yaml: title is a list": ("s.yaml", "title: [x]\nregions: {A: [SWE]}", "'title' is .* expected a text"),
    "yaml: not yaml": ("s.yaml", "regions: {A: [SWE", "not valid YAML"),
    "yaml: bad base": ("s.yaml", "based_on: geod\nregions: {A: [SWE]}", "unknown scheme 'geod'"),
}


@pytest.mark.parametrize(("name", "text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_file_is_one_clear_error(tmp_path, name, text, message):
    path = write(tmp_path / name, text)
    with pytest.raises((GeoError, ConfigError), match=message) as caught:
        load_scheme(path)
    if "base" not in message and "geod" not in message:
        assert str(path) in str(caught.value)


def test_all_faults_of_a_file_are_reported_at_once(tmp_path):
    path = write(tmp_path / "s.csv", "country,region\nAtlantis,A\nMordor,A\nSE,A\nSweden,B\n")
    with pytest.raises(GeoError) as caught:
        load_scheme(path)
    assert all(text in str(caught.value) for text in ("row 2", "row 3", "row 5"))


def test_a_missing_or_binary_file_is_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        load_scheme(tmp_path / "absent.yaml")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FileError, match="UTF-8"):
        load_scheme(tmp_path / "binary.csv")


def test_regions_of_takes_series_and_keeps_their_length():
    scheme = load_scheme("m49")
    assert scheme.regions_of(pl.Series([], dtype=pl.String)).to_list() == []
    assert scheme.regions_of([None, None]).to_list() == [None, None]
