"""Lists that published data sets come as: what a line says, and what becomes of a line that says nothing."""

from __future__ import annotations

import bz2
import gzip
import json
import random

import polars as pl
import pytest

from graticule.cli.main import main
from graticule.data.readers.lists import LISTS
from graticule.data.readers.lists.dollar_street import read_dollar_street
from graticule.data.readers.lists.geode import read_geode
from graticule.data.readers.lists.geonet import read_geonet
from graticule.data.readers.lists.yfcc100m import N_COLUMNS, read_yfcc100m
from graticule.data.store import read_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.data.validate import validate_table
from graticule.errors import FileError, GraticuleError, TableError


def photo(identifier, *, latitude="48.1", longitude="11.5", tags="stra%C3%9Fe,old+town", marker="0"):
    cells = [""] * N_COLUMNS
    cells[0], cells[1], cells[5], cells[8], cells[10] = "1", identifier, "2009-04-25 12:35:16.0", "Old+house", tags
    cells[12], cells[13], cells[14], cells[16] = longitude, latitude, "16", f"http://host/{identifier}.jpg"
    cells[17], cells[24] = "Attribution License", marker
    return "\t".join(cells)


def test_geode_says_region_country_and_label(tmp_path):
    lines = [
        "Africa/South_Africa/South_Africa_plate_of_food_51681.jpg",
        "Europe/Italy/Italy_car_1.jpg",
        "",
        "Europe/Italy/Italy_car_1.jpg",
        "Europe/Italy/Spain_car_2.jpg",
        "README.md",
    ]
    place = tmp_path / "all_files.txt"
    place.write_bytes(("\ufeff" + "\r\n".join(lines)).encode())
    listing = read_geode(place)
    assert listing.frame.select("region", "country", "label").rows() == [
        ("Africa", "South Africa", "plate_of_food"),
        ("Europe", "Italy", "car"),
    ]
    assert [reject.reason.split(":")[0] for reject in listing.rejects] == ["line 4", "line 5", "line 6"]


def test_geonet_says_region_split_label_and_its_number_or_a_position(tmp_path):
    text = "asia/test/abbey/12.jpg 0\nusa/train/alley/x.png 200\nasia/test/abbey\nasia/test/abbey/3.jpg one\n"
    place = tmp_path / "list.txt.gz"
    place.write_bytes(gzip.compress(text.encode()))
    listing = read_geonet(place)
    assert listing.frame.select("region", "split", "label", "label_index", "source_id").rows() == [
        ("asia", "test", "abbey", 0, "12"),
        ("usa", "train", "alley", 200, None),
    ]
    assert len(listing.rejects) == 2
    place = tmp_path / "latlon.txt"
    place.write_text("all/a/abbey/1.jpg 40.9 -73.9\nall/a/abbey/2.jpg 140.9 -73.9\n")
    listing = read_geonet(place)
    assert listing.frame.select("latitude", "longitude", "label").rows() == [(40.9, -73.9, "abbey")]
    assert "line 2" in listing.rejects[0].reason


def test_geonets_json_joins_photos_and_labels(tmp_path):
    content = {
        "images": [{"id": 7, "filename": "usa/train/abbey/7.jpg", "latitude": 1.5, "longitude": 2}, {"id": 8}],
        "annotations": [{"image_id": 7, "category": 4}],
        "categories": [{"category_id": 4, "category_name": "abbey"}],
    }
    place = tmp_path / "usa.json"
    place.write_text(json.dumps(content))
    listing = read_geonet(place)
    row = listing.frame.row(0, named=True)
    assert (row["label"], row["label_index"], row["latitude"], row["region"]) == ("abbey", 4, 1.5, "usa")
    assert [reject.reason for reject in listing.rejects] == ["image 2: no file name"]
    for text in ("[]", "{", '{"images": []}', json.dumps({"images": [], "annotations": []})):
        place.write_text(text)
        with pytest.raises(TableError, match=r"usa\.json"):
            read_geonet(place)


@pytest.mark.parametrize("part", ["images", "annotations", "categories"])
@pytest.mark.parametrize("odd", [None, 1, "x", [None], ["a"], [[]], [{"id": []}], [{"image_id": {}, "category": [1]}]])
def test_geonets_json_with_odd_parts_is_read_or_one_clear_error(tmp_path, part, odd):
    content = {
        "images": [{"id": 7, "filename": "usa/train/abbey/7.jpg"}, {"id": 7, "filename": "usa/train/abbey/7.jpg"}],
        "annotations": [{"image_id": 7, "category": 10**30}],
        "categories": [{"category_id": 4, "category_name": "abbey"}],
    }
    place = tmp_path / "usa.json"
    place.write_text(json.dumps(content | {part: odd}))
    if part == "images" or (part == "annotations" and not isinstance(odd, list)):
        with pytest.raises(TableError, match=r"usa\.json"):
            read_geonet(place)
    else:
        listing = read_geonet(place)
        assert listing.frame.select("label", "split").rows() == [("abbey", "train")]
        assert [reject.reason for reject in listing.rejects] == ["image 2: named before"]


def test_a_number_too_large_for_a_table_is_a_reject(tmp_path):
    place = tmp_path / "list.txt"
    place.write_text("asia/test/abbey/1.jpg 0\nasia/test/abbey/2.jpg 99999999999999999999999\n")
    listing = read_geonet(place)
    assert (listing.frame.height, len(listing.rejects)) == (1, 1)


def test_dollar_streets_topics_are_tags_and_a_single_one_is_the_label(tmp_path):
    place = tmp_path / "metadata.csv"
    place.write_text(
        ",country,url,income,lat,lng,region,label\n"
        "0,Kenya,http://host/image/a1/x.jpg,54.5,1.0,38.0,Africa,['stoves']\n"
        "1,Kenya,http://host/image/a2/x.jpg,,1.0,38.0,Africa,\"['stoves', 'pots']\"\n"
        "2,Kenya,http://host/image/a1/x.jpg,54.5,1.0,38.0,Africa,['stoves']\n"
    )
    listing = read_dollar_street(place)
    assert listing.frame.select("image_id", "label", "income").rows() == [("a1", "stoves", 54.5), ("a2", None, None)]
    assert listing.frame["tags"].to_list() == [["stoves"], ["stoves", "pots"]]
    assert len(listing.rejects) == 1


def test_yfcc_says_place_tags_and_licence(tmp_path):
    lines = [
        photo("1"),
        photo("2", latitude="", longitude=""),
        photo("3", latitude="123"),
        photo("4", marker="1"),
        photo("1"),
        "a\tb",
        photo("5", tags="\ud0d1\ufffd"),
    ]
    place = tmp_path / "part-0.bz2"
    place.write_bytes(bz2.compress("\n".join(lines).encode("utf-8", "replace")))
    listing = read_yfcc100m(place)
    frame = validate_table(listing.frame, IMAGES, where="yfcc")
    assert frame["image_id"].to_list() == ["1", "2", "3", "5"]
    assert frame.row(0, named=True)["tags"] == ["straße", "old town"]
    assert frame["latitude"].to_list() == [48.1, None, None, 48.1]
    assert frame["captured_at"].dt.year().to_list() == [2009] * 4
    assert sorted(reject.reason.split(":")[-1].strip() for reject in listing.rejects) == [
        "2 columns between tabs, expected 25",
        "a video",
        "named before",
    ]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\x00\x01\xff\xfe", b"a,b\n1,2\n", b"one two three four\n", b"\xef\xbb\xbf", b"{}"]
)
def test_a_list_of_something_else_is_one_clear_error(tmp_path, name, data):
    place = tmp_path / "list.csv"
    place.write_bytes(data)
    with pytest.raises(GraticuleError, match=r"list\.csv"):
        LISTS[name](place)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_is_not_there_or_damaged_is_a_file_error(tmp_path, name):
    with pytest.raises(FileError, match="no such file"):
        LISTS[name](tmp_path / "gone.csv")
    place = tmp_path / "cut.csv.gz"
    place.write_bytes(gzip.compress(b"Europe/Italy/Italy_car_1.jpg\n" * 999)[:30])
    with pytest.raises(FileError, match="gzip"):
        LISTS[name](place)


WHOLE = {
    "geode": "Africa/Kenya/Kenya_car_1.jpg\nEurope/Italy/Italy_car_1.jpg\n",
    "geonet": "asia/test/abbey/12.jpg 0\nusa/train/alley/1.jpg 40.9 -73.9\n",
    "dollar_street": ",country,url,income,lat,lng,region,label\n0,Kenya,http://h/image/a/x.jpg,5,1,38,Africa,['pots']\n",
    "yfcc100m": photo("1") + "\n" + photo("2") + "\n",
}
DAMAGE = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b",",
    b" ",
    b"nan",
    b"1e999",
    b"\xed\xa0\x80",
    b"%00",
]


@pytest.mark.parametrize("name", LISTS)
def test_a_damaged_list_is_read_or_one_clear_error(tmp_path, name):
    rng = random.Random(0)
    place = tmp_path / "list.csv"
    n_read = 0
    for _ in range(60):
        data = bytearray(WHOLE[name].encode())
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(len(data) + 1)
            data[start : start + rng.choice([0, 1, 5])] = rng.choice(DAMAGE)
        place.write_bytes(data)
        try:
            listing = LISTS[name](place)
        except GraticuleError:
            continue
        n_read += validate_table(listing.frame, IMAGES, where=name).height
    assert n_read


def test_a_list_is_taken_at_its_word_or_read_from_another_folder(tmp_path, monkeypatch, capsys, jpeg):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("asia/test/abbey/1.jpg 0\nasia/test/abbey/2.jpg 0\n")
    typed = ["scan", "list.txt", "--layout", "geonet", "-o", "images.parquet"]
    assert type_command([*typed, "--index-only"]) == 0
    images = read_table(tmp_path / "images.parquet", IMAGES)
    assert images["path"].to_list() == ["asia/test/abbey/1.jpg", "asia/test/abbey/2.jpg"]
    assert images["width"].null_count() == 2
    folder = tmp_path / "photos" / "asia" / "test" / "abbey"
    folder.mkdir(parents=True)
    (folder / "1.jpg").write_bytes(jpeg)
    assert type_command([*typed, "--root", "photos"]) == 0
    images = read_table(tmp_path / "images.parquet", IMAGES)
    assert images["path"].to_list() == ["photos/asia/test/abbey/1.jpg"]
    assert images["width"].to_list() == [40]
    assert read_table(tmp_path / "images.rejects.parquet", REJECTS).height == 1
    assert type_command([*typed, "--root", "gone"]) == 2
    assert "--root" in capsys.readouterr().err


@pytest.fixture
def jpeg():
    import io

    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(data, "JPEG")
    return data.getvalue()


def type_command(arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code or 0


@pytest.mark.parametrize(
    ("layout", "path", "n", "n_labels"),
    [
        ("geode", "geode_index/all_files.txt", 61_940, 40),
        ("geonet", "geonet/lists/places205__usa_test.txt.gz", 17_234, 201),
        ("geonet", "geonet/lists/places205__asia_test.txt.gz", 26_923, 203),
        ("geonet", "geonet/lists/places205__Africa_test.txt.gz", 8_358, None),
        ("geonet", "geonet/lists/geoILSVRC__asia_test.txt.gz", 9_636, 600),
        ("geonet", "geonet/lists/geoILSVRC__usa_test.txt.gz", 16_784, 600),
        ("geonet", "geonet/lists/uniDA__usa_train.txt.gz", 100_136, 200),
        ("geonet", "geonet/lists/uniDA__asia_test.txt.gz", 8_478, 200),
        ("dollar_street", "dollarstreet/metadata.csv", 13_565, None),
    ],
)
def test_the_real_lists_have_the_published_sizes(shared, layout, path, n, n_labels):
    listing = LISTS[layout](shared("data") / path)
    assert (listing.frame.height, listing.rejects) == (n, ())
    if n_labels:
        assert listing.frame["label"].n_unique() == n_labels
    if layout == "geode":
        assert listing.frame["country"].n_unique() == 43
        assert listing.frame["region"].n_unique() == 6


def test_geonets_test_points_lie_in_2368_cells_of_a_degree(shared):
    frame = read_geonet(shared("data/geonet/lists/places205__latlon_test.txt.gz")).frame
    assert frame.height == 44_157
    assert frame.select(pl.col("latitude").floor(), pl.col("longitude").floor()).unique().height == 2_368
