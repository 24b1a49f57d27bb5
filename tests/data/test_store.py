import polars as pl
import pytest

from graticule.data.store import describe_run, read_info, read_provenance, read_table, write_table
from graticule.data.tables import FEATURES, IMAGES
from graticule.errors import FileError, TableError


def test_a_table_comes_back_as_written_with_its_info_and_provenance(tmp_path):
    frame = pl.DataFrame({"image_id": ["a", "b"], "label": ["x", None], "extra": [1, 2]})
    path = write_table(
        frame, tmp_path / "i.parquet", IMAGES, info={"n": 2}, provenance=describe_run("test", config={"k": "v"}, seed=3)
    )
    assert read_table(path, IMAGES).equals(frame)
    assert read_info(path) == {"n": 2}
    assert read_provenance(path)["seed"] == 3
    assert [p.name for p in tmp_path.iterdir()] == ["i.parquet"]


def test_all_bad_rows_are_named_at_once_with_a_remedy(tmp_path):
    frame = pl.DataFrame({"image_id": [str(i) for i in range(9)], "latitude": [97.2] * 7 + [1.0, None]})
    with pytest.raises(TableError) as caught:
        write_table(frame, tmp_path / "i.parquet", IMAGES)
    message = str(caught.value)
    assert "row 1: latitude is 97.2" in message
    assert "and 2 more; expected -90 to 90. Were latitude and longitude swapped?" in message
    assert not list(tmp_path.iterdir())


def test_repeated_ids_are_an_error_that_names_the_later_row(tmp_path):
    with pytest.raises(TableError, match=r"row 3: image_id is 'a'.*earlier row"):
        write_table(pl.DataFrame({"image_id": ["a", "b", "a"]}), tmp_path / "i.parquet", IMAGES)


def test_lists_become_fixed_size_vectors_and_ragged_ones_are_an_error(tmp_path):
    path = write_table(pl.DataFrame({"image_id": ["a"], "features": [[1.0, 2.0]]}), tmp_path / "f.parquet", FEATURES)
    assert read_table(path, FEATURES)["features"].dtype == pl.Array(pl.Float32, 2)
    with pytest.raises(TableError, match=r"row 2.*expected 2 numbers"):
        write_table(
            pl.DataFrame({"image_id": ["a", "b", "c"], "features": [[1.0, 2.0], [1.0], [1.0, 1.0]]}),
            tmp_path / "g.parquet",
            FEATURES,
        )


def test_a_missing_file_and_a_file_of_another_kind_are_clear_errors(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_table(tmp_path / "none.parquet", IMAGES)
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(FileError, match="not a readable Parquet file"):
        read_table(tmp_path / "x.parquet", IMAGES)


def test_a_failed_write_leaves_the_old_file_as_it_was(tmp_path):
    path = write_table(pl.DataFrame({"image_id": ["a"]}), tmp_path / "i.parquet", IMAGES)
    before = path.read_bytes()
    with pytest.raises(TableError):
        write_table(pl.DataFrame({"image_id": [None]}), path, IMAGES)
    assert path.read_bytes() == before
