"""Tables of images as people write them: encodings, separators, names of columns, and bad rows."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graticule.data.readers.images import read_images
from graticule.errors import FileError, GraticuleError, TableError


@pytest.fixture
def write(tmp_path):
    """Return a function that writes bytes or text to a file and reads it as a table of images."""

    def read(content: bytes | str, name: str = "images.csv") -> pl.DataFrame:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return read_images(tmp_path / name)

    return read


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_line_ends_and_encodings(write, separator, line_end, encoding):
    rows = [["path", "label", "note"], ["a.jpg", "café", "x"], ["b.jpg", "日本", ""]]
    text = "".join(separator.join(row) + line_end for row in rows)
    frame = write(text.encode(encoding))
    assert frame.select("path", "label").rows() == [("a.jpg", "café"), ("b.jpg", "日本")]
    assert frame["note"].to_list() == ["x", None]


def test_text_that_is_no_utf_8_is_an_error_that_says_where(write):
    with pytest.raises(TableError, match=r"line 2: not UTF-8.*iconv"):
        write("path,label\na.jpg,café\n".encode("latin-1"))


def test_quoted_line_breaks_and_separators_stay_in_their_field(write):
    frame = write('path,label\na.jpg,"red\nand, blue"\n')
    assert frame["label"].to_list() == ["red\nand, blue"]


def test_ids_and_labels_stay_as_written(write):
    frame = write("id,label\n007,5\n008,1e3\n")
    assert frame.rows() == [("007", "5"), ("008", "1e3")]


def test_namibia_is_not_missing_and_missing_numbers_are(write):
    frame = write("path,country,lat,lon\na.jpg,NA,NA,nan\nb.jpg,,1.5,2\n")
    assert frame["country"].to_list() == ["NA", None]
    assert frame["latitude"].to_list() == [None, 1.5]


def test_common_names_are_taken_and_exact_names_win(write):
    frame = write("File Name,Class,Lat,lng,latitude,Country Code\na.jpg,dog,50,2,1,DE\n")
    assert frame.row(0, named=True) | {"image_id": "a.jpg"} == {
        "image_id": "a.jpg",
        "path": "a.jpg",
        "label": "dog",
        "Lat": "50",
        "longitude": 2.0,
        "latitude": 1.0,
        "country": "DE",
    }


def test_an_image_column_is_a_path_or_a_name_by_what_it_holds(write):
    assert write("image,label\na/b.jpg,dog\n")["path"].to_list() == ["a/b.jpg"]
    named = write("image,label\n0001,dog\n")
    assert named.columns == ["image_id", "label"]


def test_a_position_in_one_column_is_parted(write):
    frame = write('path,gps\na.jpg,"(52.5, 13.4)"\nb.jpg,\n')
    assert frame["latitude"].to_list() == [52.5, None]
    assert frame["longitude"].to_list() == [13.4, None]


def test_times_dates_and_exif_dates_are_read_as_utc(write):
    frame = write(
        "path,captured_at\na.jpg,2020-01-02T03:04:05+01:00\nb.jpg,2020-01-02\nc.jpg,2020:01:02 03:04:05\nd.jpg,\n"
    )
    assert frame["captured_at"].to_list() == [
        datetime(2020, 1, 2, 2, 4, 5, tzinfo=UTC),
        datetime(2020, 1, 2, tzinfo=UTC),
        datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
        None,
    ]


def test_splits_get_their_usual_names_and_tags_become_lists(write):
    frame = write('path,split,tags\na.jpg,Val,"red; old house"\nb.jpg,train,"x, y"\n')
    assert frame["split"].to_list() == ["validation", "train"]
    assert frame["tags"].to_list() == [["red", "old house"], ["x", "y"]]


def test_json_lines_json_parquet_and_gzip(write, tmp_path):
    assert write('{"id": "007", "label": 3}\n\n{"id": "8", "label": null}\n', "a.jsonl").rows() == [
        ("007", "3"),
        ("8", None),
    ]
    assert write('[{"file_name": "a.jpg", "tags": ["x"]}]', "a.json")["tags"].to_list() == [["x"]]
    assert write(gzip.compress(b"path\na.jpg\n"), "a.csv.gz").height == 1
    pl.DataFrame({"id": [1, 2], "label": [1.0, None]}).write_parquet(tmp_path / "a.parquet")
    assert read_images(tmp_path / "a.parquet").rows() == [("1", "1"), ("2", None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("path,label,label\na,b,c\n", r"'label' stand there twice"),
        ("path,,label\na,b,c\n", "columns \\[2\\] have no name"),
        ("path,label\na,b\na,b,c\nd,e,f,g\n", r"line 3 has 3 fields, line 4 has 4 fields; expected 2"),
        ("path,label\na\x00,b\n", "zero byte"),
        ("lat,lon\n1,2\n", "no column 'image_id'"),
        ("path\na\na\n", r"row 3: image_id is 'a'.*earlier row"),
        ("id,label\na,x\na,y\n", r"column 'id' taken as image_id\).*row 3"),
        (
            "path,lat,lon\na,97.2,1\nb,x,1\nc,1,181\n",
            r"(?s)row 3: latitude is 'x'.*row 2: latitude is 97.2.*swapped.*row 4: longitude",
        ),
        ("path,captured_at\na,soon\n", "row 2: captured_at is 'soon'; expected a time"),
        ("image_id,label\n,x\n", "image_id is empty"),
        ('path,label\na,"open\n', "quote"),
    ],
)
def test_bad_tables_are_named(write, text, message):
    with pytest.raises(TableError, match=message):
        write(text)


def test_every_bad_row_is_counted_and_five_are_shown(write):
    with pytest.raises(TableError) as raised:
        write("path,lat,lon\n" + "".join(f"{index}.jpg,91,0\n" for index in range(9)))
    assert str(raised.value).count("latitude is") == 5
    assert "and 4 more" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n[2]\n{"id"', r"line 2 is no object; line 3 is not JSON"),
        ("[1, 2]", "item 1 is no object; item 2"),
        ("{}", "no row has any key"),
        ("", "empty"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_json_is_named(write, text, message):
    with pytest.raises(TableError, match=message):
        write(text, "a.jsonl")


def test_files_that_are_no_tables(tmp_path, write):
    with pytest.raises(FileError, match="no such file"):
        read_images(tmp_path / "gone.csv")
    with pytest.raises(FileError, match="not a readable Parquet"):
        write(b"junk", "a.parquet")
    with pytest.raises(FileError, match="gzip"):
        write(b"junk", "a.csv.gz")


def test_only_spaces_or_trailing_separators_do_no_harm(write):
    assert write("path,label,,\na.jpg,dog,,\n,,,\n").rows() == [("a.jpg", "a.jpg", "dog")]
    assert write("path,label\na.jpg,  \n")["label"].to_list() == [None]


def test_a_header_alone_is_an_empty_table(write):
    assert write("path,label,lat,lon\n").height == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    st.sampled_from(["a.csv", "a.jsonl", "a.json", "a.tsv"]),
)
def test_any_bytes_are_a_table_or_a_named_error(write, data, name):
    try:
        frame = write(data, name)
    except GraticuleError:
        return
    assert frame["image_id"].is_unique().all()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["path", "id", "Lat", "label", "captured_at", "tags", "split", "gps", "x"]),
            st.lists(
                st.sampled_from(["", "1", "-91", "nan", "a.jpg", '"', "2020-01-01", "é", "1e400"]),
                min_size=3,
                max_size=3,
            ),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_columns_and_values_are_a_table_or_a_named_error(write, columns):
    rows = [
        ",".join(name for name, _ in columns),
        *(",".join(values[row] for _, values in columns) for row in range(3)),
    ]
    try:
        frame = write("\n".join(rows))
    except GraticuleError:
        return
    assert frame.height <= 3


def test_real_tables_are_read(shared):
    signs = read_images(shared("images/signs_de_it/index.csv"))
    assert signs.height == 3387
    assert signs["label"].n_unique() == 25
    dollar_street = read_images(shared("data/dollarstreet/metadata.csv"))
    assert dollar_street.height > 1000
    geode = read_images(shared("data/geode_index/geode_index.parquet"))
    assert geode.height == 61_940
    assert geode["label"].n_unique() == 40
