"""A scan: every file a row or a reject with its reason, whatever the source, and the facts of each image."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from graticule.data import scan as scanning
from graticule.data.readers.images import read_images
from graticule.data.scan import scan_images
from graticule.data.scan_files import scan_to_files
from graticule.data.sources import read_bytes
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.errors import ConfigError, FileError, TableError


def make_photo(place: Path, *, size: tuple[int, int] = (30, 20), colour: int = 90) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, (colour, 120, 30)).save(buffer, "JPEG")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(buffer.getvalue())
    return buffer.getvalue()


@pytest.fixture
def photos(tmp_path):
    """A folder of two regions and two labels, with a few files that are no photos."""
    root = tmp_path / "photos"
    for index, name in enumerate(("Africa/house/1.jpg", "Africa/dog/2.jpg", "Europe/house/3.jpg", "Europe/dog/4.JPG")):
        make_photo(root / name, colour=index)
    (root / "Europe" / "dog" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no")
    (root / "README.md").write_text("photos")
    make_photo(root / "stray.jpg")
    return root


def test_a_folder_with_a_pattern_gives_rows_and_rejects(photos):
    found = scan_images(photos, layout="{region}/{label}", progress=False)
    assert found.images["image_id"].to_list() == [
        "Africa/dog/2.jpg",
        "Africa/house/1.jpg",
        "Europe/dog/4.JPG",
        "Europe/house/3.jpg",
    ]
    assert found.images["label"].to_list() == ["dog", "house", "dog", "house"]
    assert found.images["region"].to_list() == ["Africa", "Africa", "Europe", "Europe"]
    assert found.images.select("width", "height").row(0) == (30, 20)
    data = (photos / "Africa/dog/2.jpg").read_bytes()
    assert found.images["sha256"][0] == hashlib.sha256(data).hexdigest()
    reasons = dict(found.rejects.iter_rows())
    assert set(reasons) == {"Europe/dog/broken.jpg", "README.md", "stray.jpg"}
    assert "layout" in reasons["stray.jpg"]
    assert "not an image" in reasons["README.md"]


def test_without_a_layout_nothing_is_guessed(photos):
    found = scan_images(photos, progress=False)
    assert found.images.height == 5
    assert "label" not in found.images.columns
    assert dict(found.rejects.iter_rows())["README.md"] == "a text file, not an image"


@pytest.mark.parametrize("name", ["p.zip", "p.tar", "p.tar.gz"])
def test_an_archive_is_read_in_place(photos, tmp_path, name):
    place = tmp_path / name
    if name.endswith("zip"):
        with zipfile.ZipFile(place, "w") as archive:
            for path in sorted(photos.rglob("*.*")):
                archive.write(path, path.relative_to(photos))
    else:
        with tarfile.open(place, "w:gz" if name.endswith("gz") else "w") as archive:
            archive.add(photos, arcname=".")
    found = scan_images(place, layout="**/{region}/{label}", base=tmp_path / "out", progress=False)
    assert sorted(found.images["label"].to_list()) == ["dog", "dog", "house", "house"]
    assert found.rejects.height == 3
    first = found.images.row(0, named=True)
    assert first["path"].endswith(f"::../{name}")
    (tmp_path / "out").mkdir()
    assert hashlib.sha256(read_bytes(first["path"], tmp_path / "out")).hexdigest() == first["sha256"]


def test_a_table_keeps_its_columns_and_wins_over_exif(photos, tmp_path, shared):
    geotagged = shared("images/geotagged/exif-samples_DSCN0010.jpg")
    table = tmp_path / "mine.csv"
    table.write_text(
        "File,Class,lat,lon,worker\n"
        "photos/Africa/dog/2.jpg,dog,1.5,2.5,007\n"
        f"{geotagged},duomo,,,008\n"
        "photos/gone.jpg,dog,,,009\n"
    )
    found = scan_images(table, base=tmp_path / "out", progress=False)
    assert found.images["worker"].to_list() == ["007", "008"]
    assert found.images["latitude"].to_list() == pytest.approx([1.5, 43.46744], abs=1e-4)
    assert found.images["path"][0] == "../photos/Africa/dog/2.jpg"
    assert dict(found.rejects.iter_rows()) == {"../photos/gone.jpg": "no such file."}
    assert any("'Class' taken as label" in note for note in found.notes)


def test_a_table_without_paths_and_rows_without_one(tmp_path):
    (tmp_path / "a.csv").write_text("image_id,label\n1,dog\n")
    with pytest.raises(TableError, match="no column 'path'"):
        scan_images(tmp_path / "a.csv", progress=False)
    make_photo(tmp_path / "1.jpg")
    (tmp_path / "b.csv").write_text("image_id,path\n1,1.jpg\n2,\n")
    found = scan_images(tmp_path / "b.csv", progress=False)
    assert found.images["image_id"].to_list() == ["1"]
    assert found.rejects.rows() == [("2", "no path in its row of b.csv")]


def test_a_single_photo_and_a_photo_without_an_ending(tmp_path):
    make_photo(tmp_path / "one.jpg")
    make_photo(tmp_path / "two")
    make_photo(tmp_path / "three.txt")
    assert scan_images(tmp_path / "one.jpg", progress=False).images["image_id"].to_list() == ["one.jpg"]
    assert scan_images(tmp_path, progress=False).images.height == 3


def test_an_empty_folder_gives_empty_tables(tmp_path):
    found = scan_images(tmp_path, progress=False)
    assert found.images.height == found.rejects.height == 0
    assert {"image_id", "path", "width", "sha256", "captured_at"} <= set(found.images.columns)


def test_equal_photos_are_all_kept(tmp_path):
    for name in ("1.jpg", "2.jpg"):
        make_photo(tmp_path / name)
    assert scan_images(tmp_path, progress=False).images["sha256"].n_unique() == 1


def test_wrong_options_are_named(photos, tmp_path):
    with pytest.raises(ConfigError, match=r"unknown column 'regoin'.*Did you mean 'region'"):
        scan_images(photos, layout="{regoin}/{label}", progress=False)
    with pytest.raises(ConfigError, match=r"unknown layout 'imagefoldr'.*Did you mean 'imagefolder'"):
        scan_images(photos, layout="imagefoldr", progress=False)
    with pytest.raises(ConfigError, match="workers"):
        scan_images(photos, workers=0, progress=False)
    with pytest.raises(FileError, match="no such folder"):
        scan_images(tmp_path / "gone", progress=False)


def test_the_number_of_workers_changes_nothing(photos):
    results = [scan_images(photos, workers=workers, progress=False) for workers in (1, 3)]
    assert results[0].images.equals(results[1].images)
    assert results[0].rejects.equals(results[1].rejects)


def test_headers_alone_say_the_same_of_sound_photos(photos):
    fast = scan_images(photos, layout="{region}/{label}", verify=False, progress=False)
    assert fast.images.equals(scan_images(photos, layout="{region}/{label}", progress=False).images)


def test_files_are_written_with_paths_that_hold_and_provenance(photos, tmp_path):
    files = scan_to_files(photos, tmp_path / "out" / "images.parquet", layout="{region}/{label}", progress=False)
    images = read_table(files.images, IMAGES)
    assert all((files.images.parent / path).is_file() for path in images["path"])
    assert read_table(files.rejects, REJECTS).height == 3
    assert files.rejects.name == "images.rejects.parquet"
    assert read_provenance(files.images)["config"]["layout"] == "{region}/{label}"
    assert sorted(path.name for path in files.images.parent.iterdir()) == ["images.parquet", "images.rejects.parquet"]
    assert read_images(files.images).equals(images)


def test_a_scan_into_its_own_folder_does_not_find_itself(photos):
    first = scan_to_files(photos, photos / "images.parquet", progress=False)
    again = scan_to_files(photos, photos / "images.parquet", progress=False)
    assert again.result.images.equals(first.result.images)
    assert again.result.rejects.equals(first.result.rejects)


def test_a_killed_scan_goes_on_where_it_stopped(tmp_path, monkeypatch):
    for index in range(60):
        make_photo(tmp_path / "photos" / f"{index:03}.jpg", colour=index)
    output = tmp_path / "images.parquet"
    whole = scan_images(tmp_path / "photos", base=tmp_path, progress=False)
    monkeypatch.setattr(scanning, "JOURNAL_INTERVAL_S", 0.0)
    opened: list[str] = []
    real = scanning._measure_one

    def measure(path: str, base: Path, *, verify: bool) -> object:
        if path == "040.jpg" and not opened.count("again"):
            raise KeyboardInterrupt
        opened.append(path)
        return real(path, base, verify=verify)

    monkeypatch.setattr(scanning, "_measure_one", measure)
    with pytest.raises(KeyboardInterrupt):
        scan_to_files(tmp_path / "photos", output, workers=1, progress=False)
    assert not output.exists()
    assert (tmp_path / "images.parquet.partial").is_dir()
    opened[:] = ["again"]
    files = scan_to_files(tmp_path / "photos", output, workers=1, progress=False)
    assert "000.jpg" not in opened
    assert "059.jpg" in opened
    assert files.result.images.equals(whole.images)
    assert not (tmp_path / "images.parquet.partial").exists()


def test_a_photo_that_changed_after_the_kill_is_measured_again(tmp_path, monkeypatch):
    make_photo(tmp_path / "photos" / "1.jpg")
    monkeypatch.setattr(scanning, "JOURNAL_INTERVAL_S", -1.0)
    scan_images(tmp_path / "photos", journal=tmp_path / "kept", progress=False)
    assert (tmp_path / "kept").is_dir()
    data = make_photo(tmp_path / "photos" / "1.jpg", colour=200)
    later = (tmp_path / "kept" / "plan.json").stat().st_mtime + 100
    os.utime(tmp_path / "photos" / "1.jpg", (later, later))
    found = scan_images(tmp_path / "photos", journal=tmp_path / "kept", progress=False)
    assert found.images["sha256"].to_list() == [hashlib.sha256(data).hexdigest()]


@pytest.mark.parametrize("damage", ["plan.json", "rows-000000000000.parquet"])
def test_a_damaged_journal_is_thrown_away(tmp_path, monkeypatch, damage):
    make_photo(tmp_path / "photos" / "1.jpg")
    monkeypatch.setattr(scanning, "JOURNAL_INTERVAL_S", -1.0)
    scan_images(tmp_path / "photos", journal=tmp_path / "kept", progress=False)
    (tmp_path / "kept" / damage).write_bytes(b"junk")
    assert scan_images(tmp_path / "photos", journal=tmp_path / "kept", progress=False).images.height == 1


def test_odd_real_files_are_each_a_row_or_a_reject(shared, recwarn, capfd):
    folder = shared("images/odd")
    found = scan_images(folder, progress=False)
    names = {path.name for path in folder.iterdir()}
    assert {*found.images["image_id"], *found.rejects["path"]} == names
    assert found.images.height + found.rejects.height == len(names)
    with (folder / "index.csv").open(encoding="utf-8") as file:
        readable = {row["file"] for row in csv.DictReader(file) if row["pillow13_rgb_load"] == "ok"}
    assert set(found.images["image_id"]) == readable
    assert all(len(reason) > 10 for reason in found.rejects["reason"])
    assert not recwarn.list
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "TIFF" not in captured.err


def test_real_geotagged_photos_keep_their_places(shared):
    folder = shared("images/geotagged")
    found = scan_images(folder, progress=False)
    assert found.images.height + found.rejects.height == sum(1 for _ in folder.iterdir())
    index = pl.read_csv(folder / "index.csv").select(image_id="file", lat="lat", lon="lon")
    both = found.images.join(index, on="image_id")
    assert both.height >= index.height - 1
    assert (both["latitude"] - both["lat"]).abs().max() < 1e-4
    assert (both["longitude"] - both["lon"]).abs().max() < 1e-4
