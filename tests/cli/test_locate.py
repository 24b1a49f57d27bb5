from __future__ import annotations

import polars as pl
import pytest
from click.testing import CliRunner

from graticule.cli.locate import locate
from graticule.cli.main import main
from graticule.data.store import read_info, read_provenance, read_table, write_table
from graticule.data.tables import IMAGES

ROWS = "path,lat,lon,country,label\na.jpg,48.85,2.35,,cat\nb.jpg,0,0,,cat\nc.jpg,,,Turkey,dog\nd.jpg,44.95,34.1,,dog\n"


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "images.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def run(*arguments):
    result = CliRunner().invoke(locate, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_a_parquet_table_is_replaced_in_place_and_says_so(tmp_path):
    path = tmp_path / "images.parquet"
    write_table(pl.DataFrame({"image_id": ["a"], "country": ["Kenya"]}), path, IMAGES, info={"photos": "three"})
    output = run(path, "--scheme", "geode")
    assert f"Replaced {path}" in output
    assert "1 of 1 images have a place" in output
    assert "Regions (geode): Africa 1" in output
    assert read_table(path, IMAGES)["region"].to_list() == ["Africa"]
    assert read_info(path)["photos"] == "three"
    assert read_info(path)["scheme"] == "geode"
    assert read_provenance(path)["command"] == "graticule locate"
    assert [entry.name for entry in tmp_path.iterdir()] == ["images.parquet"]


def test_a_csv_is_read_and_the_table_written_beside_it(csv):
    output = run(csv)
    place = csv.with_suffix(".parquet")
    assert f"Wrote {place}" in output
    assert csv.read_text(encoding="utf-8") == ROWS
    assert read_table(place, IMAGES)["country"].to_list() == ["FRA", None, "TUR", "RUS"]
    assert "1 at 0° N 0° E" in output


def test_policy_override_and_assign_are_printed_and_kept(csv, tmp_path):
    place = tmp_path / "out.parquet"
    output = run(csv, "-o", place, "--override", "crimea=UKR", "--assign", "France=Gaul")
    assert "Disputed places: de-facto; Crimea counts as UKR" in output
    table = read_table(place, IMAGES)
    assert table["country"].to_list() == ["FRA", None, "TUR", "UKR"]
    assert table["region"].to_list() == ["Gaul", None, "West Asia", "Europe"]
    assert "Crimea counts as UKR" in read_info(place)["policy"]
    assert read_provenance(place)["config"]["override"] == ["crimea=UKR"]


def test_another_scheme_in_place_replaces_the_regions_of_the_first(csv):
    run(csv)
    place = csv.with_suffix(".parquet")
    output = run(place, "--scheme", "m49", "--policy", "united-nations")
    assert "is not the scheme's" not in output
    assert read_table(place, IMAGES)["region"].to_list() == ["Europe", None, "Asia", "Europe"]
    assert read_table(place, IMAGES)["country"].to_list() == ["FRA", None, "TUR", "UKR"]


def test_paths_stay_right_when_the_table_goes_to_another_folder(csv, tmp_path):
    place = tmp_path / "deep" / "down" / "out.parquet"
    run(csv, "-o", place)
    paths = read_table(place, IMAGES)["path"].to_list()
    assert [(place.parent / path).resolve() for path in paths] == [
        tmp_path / name for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg")
    ]


def test_photos_with_a_position_are_all_located(shared, tmp_path):
    """The index of real geotagged photos, as it is: its columns have other names."""
    output = run(shared("images/geotagged/index.csv"), "-o", tmp_path / "out.parquet", "--overwrite")
    table = read_table(tmp_path / "out.parquet", IMAGES)
    assert table["country"].null_count() == 0
    assert table["region"].null_count() == 0
    assert table["country"].n_unique() > 15
    assert f"{table.height} of {table.height} images have a place" in output


FAULTS = {
    "no table": (["absent.parquet"], "no such table"),
    "unknown scheme": (["images.csv", "--scheme", "geod"], "Did you mean 'geode'"),
    "unknown policy": (["images.csv", "--policy", "us"], "unknown policy"),
    "bad override": (["images.csv", "--override", "Atlantis=UKR"], "--override 'Atlantis=UKR'"),
    "bad assign": (["images.csv", "--assign", "Italy"], "--assign 'Italy'"),
    "output is no Parquet": (["images.csv", "-o", "out.csv"], "ends in .parquet"),
    "output exists": (["taken.csv"], "exists already"),
    "unknown country": (["atlantis.csv"], "unknown country 'Atlantis'"),
    "swapped": (["swapped.csv"], "Were latitude and longitude swapped"),
    "scheme misses a country": (["images.csv", "--scheme", "small.csv"], "has no region for 2"),
    "not Parquet": (["fake.parquet"], "not a readable Parquet file"),
    "a folder": (["folder"], "a folder without Parquet parts"),
}


@pytest.fixture
def folder(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.csv").write_text(ROWS)
    (tmp_path / "taken.parquet").write_bytes(b"mine")
    (tmp_path / "atlantis.csv").write_text("path,country\na.jpg,Atlantis\n")
    (tmp_path / "swapped.csv").write_text("path,latitude,longitude\na.jpg,139.7,35.7\n")
    (tmp_path / "small.csv").write_text("country,region\nTurkey,East\n")
    (tmp_path / "fake.parquet").write_text("nothing")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(("arguments", "message"), FAULTS.values(), ids=FAULTS)
def test_bad_input_is_one_message_and_leaves_nothing_behind(folder, capsys, arguments, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(SystemExit) as stopped:
        main(["locate", *arguments])
    assert stopped.value.code == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "Traceback" not in printed
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_folder_of_parts_is_read_and_never_replaced(tmp_path, capsys):
    parts = tmp_path / "parts"
    for number in range(2):
        rows = pl.DataFrame({"image_id": [f"{number}"], "country": ["Kenya"]})
        write_table(rows, parts / f"{number}.parquet", IMAGES)
    with pytest.raises(SystemExit):
        main(["locate", str(parts)])
    assert "-o FILE.parquet" in capsys.readouterr().err
    run(parts, "-o", tmp_path / "out.parquet")
    assert read_table(tmp_path / "out.parquet", IMAGES)["region"].to_list() == ["Africa", "Africa"]


def test_help_teaches_with_examples():
    output = CliRunner().invoke(locate, ["--help"]).output
    assert output.count("graticule locate images") >= 5
    assert "united-nations" in output
