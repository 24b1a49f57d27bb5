"""Photos from Flickr by tags and area, and positions by number."""

from __future__ import annotations

import polars as pl
import pytest

from graticule.cli.main import main
from graticule.curation.flickr_files import place_flickr
from graticule.data.flickr.box import Box, read_boxes
from graticule.data.flickr.client import MOST_PER_HOUR
from graticule.data.flickr.photo import read_photo
from graticule.data.flickr.search import MOST_WORDS, Query, divide_words
from graticule.data.store import read_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.errors import ConfigError, TableError


def test_photos_come_with_place_licence_owner_and_the_single_label_that_found_them(api, tmp_path):
    flickr, config = api.serve(
        [
            api.photo(1, tags="거리 seoul"),
            api.photo(2, tags="mainroad busstop"),
            api.photo(3, tags="busstop", license="9", latitude=0, longitude=0.0),
            api.photo(4, tags="busstop", url_c=None, datetakenunknown="1"),
            api.photo(5, tags="cat"),
            api.photo(6, tags="street", longitude=120),
        ]
    )
    flickr.photos[2]["license"] = "4"
    lines = api.run(tmp_path / "found.parquet", config, areas=("60,-1,100,40",))
    images = read_table(tmp_path / "found.parquet", IMAGES)
    assert images.select("image_id", "label", "license", "owner").sort("image_id").rows() == [
        ("1", "street", "Attribution License", "7@N00"),
        ("2", None, "Attribution License", "7@N00"),
    ]
    row = images.filter(image_id="1").row(0, named=True)
    assert row["path"] == "https://live.staticflickr.com/1_c.jpg"
    assert (row["latitude"], row["longitude"], row["position_accuracy"]) == (20, 80, 16)
    assert (row["width"], row["height"], row["tags"], row["source_id"]) == (800, 600, ["거리", "seoul"], "1")
    assert row["captured_at"].isoformat() == "2011-03-13T08:06:40+00:00"
    assert read_table(tmp_path / "found.rejects.parquet", REJECTS)["path"].to_list() == ["4"]
    assert any("several labels" in line for line in lines)
    assert not (tmp_path / "found.parquet.partial").exists()
    searches = [form for form in flickr.asked if form["method"].endswith("search")]
    assert {form["tags"] for form in searches} == {"street,mainroad,거리", "busstop"}


def test_more_photos_than_are_listed_are_found_by_dividing_area_and_time(api, tmp_path, few):
    spread = [api.photo(i, latitude=-80 + i % 160, longitude=-170 + (7 * i) % 340) for i in range(1, 300)]
    crowd = [api.photo(i, uploaded=1_100_000_000 + 9_000 * i) for i in range(1000, 1200)]
    flickr, config = api.serve(spread + crowd)
    api.run(tmp_path / "found.parquet", config)
    images = read_table(tmp_path / "found.parquet", IMAGES)
    assert set(images["image_id"]) == {item["id"] for item in spread + crowd}
    assert len(images) == 499
    pages = [form for form in flickr.asked if form["method"].endswith("search")]
    assert max(int(form["page"]) for form in pages) <= 4
    assert any("min_upload_date" in form for form in pages)


def test_photos_that_cannot_be_listed_are_counted(api, tmp_path, few):
    _, config = api.serve([api.photo(i) for i in range(100, 150)])
    lines = api.run(tmp_path / "found.parquet", config)
    assert len(read_table(tmp_path / "found.parquet", IMAGES)) == 40
    assert any("that Flickr does not list" in line for line in lines)


def test_positions_are_asked_for_by_number(api, tmp_path):
    flickr, config = api.serve([api.photo(11, latitude=1.5, longitude=2.5), api.photo(12, latitude=0, longitude=0)])
    pl.DataFrame(
        {
            "image_id": ["a/11.jpg", "a/12.jpg", "a/13.jpg", "known", "odd"],
            "source_id": ["11", "12", "13", "14", "x1"],
            "latitude": [None, None, None, 5.0, None],
            "longitude": [None, None, None, 6.0, None],
        }
    ).write_csv(tmp_path / "images.csv")
    place_flickr(tmp_path / "images.csv", tmp_path / "placed.parquet", config=config, progress=False)
    images = read_table(tmp_path / "placed.parquet", IMAGES)
    assert images.select("image_id", "latitude", "longitude", "position_accuracy").rows() == [
        ("a/11.jpg", 1.5, 2.5, 16),
        ("known", 5.0, 6.0, None),
    ]
    rejects = read_table(tmp_path / "placed.rejects.parquet", REJECTS)
    assert rejects["path"].to_list() == ["a/12.jpg", "a/13.jpg", "odd"]
    assert "no position" in rejects["reason"][0]
    assert "no such photo" in rejects["reason"][1]
    assert len(flickr.asked) == 3
    pl.DataFrame({"image_id": ["13"]}).write_csv(tmp_path / "none.csv")
    with pytest.raises(TableError, match="no position of any"):
        place_flickr(tmp_path / "none.csv", tmp_path / "x.parquet", config=config, progress=False)
    assert not (tmp_path / "x.parquet").exists()


def type_command(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code or 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--area", "1,2,3"), "west,south,east,north"),
        (("--area", "20,100,30,110"), "swapped"),
        (("--area", "30,10,20,5"), "empty"),
        (("--accuracy", "17"), "1 (the world) to 16"),
        (("--per-hour", str(MOST_PER_HOUR + 1)), "--per-hour 3601"),
        (("--address", "http://example.org/"), "https://"),
        (("-o", "out.csv"), ".parquet"),
    ],
)
def test_a_wrong_option_is_one_clear_error_before_anything_is_asked(names, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(names.parent)
    monkeypatch.setenv("FLICKR_API_KEY", "a-key")
    assert type_command("curate", "flickr", str(names), *arguments) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in names.parent.iterdir()] == ["names.csv"]


def test_nothing_found_is_said_and_nothing_is_written(api, names, tmp_path):
    _, config = api.serve([api.photo(1, tags="cat")])
    with pytest.raises(ConfigError, match="no photo with such a tag"):
        api.run(tmp_path / "found.parquet", config)
    assert [path.name for path in tmp_path.iterdir()] == ["names.csv"]


def test_an_area_over_the_antimeridian_is_two_boxes_and_halves_cover_the_whole():
    assert len(read_boxes("170,-50,-175,-30")) == 2
    for box in (Box(), Box(west=1, south=2, east=3, north=9)):
        first, second = box.halve()
        assert (first.west, first.south, second.east, second.north) == (box.west, box.south, box.east, box.north)
        assert first.east == second.west or first.north == second.south


def test_many_words_are_several_searches():
    groups = divide_words("street", [f"word {i}" for i in range(45)] + ["a,b", "WORD 1"])
    assert [len(group) for group in groups] == [20, 20, 6]
    assert "ab" in groups[-1]
    with pytest.raises(ConfigError):
        divide_words("street", [" ", ","])
    with pytest.raises(ConfigError):
        Query(label="street", words=("a",) * (MOST_WORDS + 1))


@pytest.mark.parametrize("odd", [None, 3, "x", {}, {"id": None}, {"id": "a/b"}, {"id": [1]}])
def test_an_entry_without_a_number_is_passed_over(odd):
    assert read_photo(odd) is None


@pytest.mark.parametrize(
    "said",
    [
        {"latitude": "north", "longitude": "1"},
        {"latitude": "nan", "longitude": "1"},
        {"latitude": "100", "longitude": "1"},
        {"latitude": 0, "longitude": 0, "accuracy": 0},
        {"latitude": None},
    ],
)
def test_an_odd_position_is_none(said):
    row = read_photo({"id": "1", "width_l": "x", "url_l": "https://host/1.jpg", "title": {"_content": "t"}} | said)
    assert (row["latitude"], row["longitude"], row["width"], row["title"]) == (None, None, None, "t")
