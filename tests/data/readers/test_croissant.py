"""Croissant: images where they lie, with what the record set says of them; one clear error for anything else."""

from __future__ import annotations

import hashlib
import json
import tarfile
import zipfile

import pytest

from graticule.data.readers.croissant import read_croissant
from graticule.data.sources import read_bytes
from graticule.errors import FileError, MissingExtraError, TableError

TERMS = "citeAs column data dataType extract field fileProperty fileObject fileSet format includes isLiveDataset"
TERMS += " jsonPath key md5 parentField path recordSet references regex repeated replace separator source subField"
TERMS += " transform"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    **{term: f"cr:{term}" for term in TERMS.split()},
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}


def field(name, kind, source, **other):
    return {"@type": "cr:Field", "@id": f"all/{name}", "name": name, "dataType": kind, "source": source, **other}


def column(name):
    return {"fileObject": {"@id": "meta"}, "extract": {"column": name}}


def write_set(root, *, held_in="", **changes):
    """Write three small files, a table on them, and the Croissant that joins both."""
    (root / "images").mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (root / "images" / name).write_bytes(name.encode())
    (root / "meta.csv").write_text("file,label,lat,lon\na.jpg,house,1.5,2.5\nb.jpg,car,3,4\nc.jpg,car,,\n")
    files = {"@type": "cr:FileSet", "@id": "files", "encodingFormat": "image/jpeg", "includes": "images/*.jpg"}
    objects = [("meta", "meta.csv", "text/csv")]
    if held_in:
        objects.append(("packed", held_in, "application/zip"))
        files["containedIn"] = {"@id": "packed"}
        with zipfile.ZipFile(root / held_in, "w") as archive:
            for path in sorted((root / "images").iterdir()):
                archive.write(path, f"images/{path.name}")
                path.unlink()
    distribution = [files]
    for name, path, kind in objects:
        digest = hashlib.sha256((root / path).read_bytes()).hexdigest()
        entry = {"@type": "cr:FileObject", "@id": name, "contentUrl": path, "encodingFormat": kind, "sha256": digest}
        distribution.append(entry)
    pictures = {"fileSet": {"@id": "files"}, "extract": {"fileProperty": "content"}}
    names = {"fileSet": {"@id": "files"}, "extract": {"fileProperty": "filename"}}
    join = {"fileObject": {"@id": "meta"}, "extract": {"column": "file"}}
    fields = [
        field("image", "sc:ImageObject", pictures),
        field("file", "sc:Text", names, references=join),
        field("label", "sc:Text", column("label")),
        field("lat", "sc:Float", column("lat")),
        field("lon", "sc:Float", column("lon")),
    ]
    content = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "three",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": distribution,
        "recordSet": [{"@type": "cr:RecordSet", "@id": "all", "name": "all", "field": fields}],
    }
    content |= changes
    (root / "croissant.json").write_text(json.dumps(content))
    return root / "croissant.json"


@pytest.fixture
def croissant():
    pytest.importorskip("mlcroissant", reason="the extra croissant is not installed")


@pytest.mark.usefixtures("croissant")
@pytest.mark.parametrize("held_in", ["", "photos.zip"])
def test_images_come_with_their_records_and_can_be_read(tmp_path, held_in):
    place = write_set(tmp_path, held_in=held_in)
    listing = read_croissant(place)
    assert listing.frame.select("label", "latitude", "longitude").rows() == [
        ("house", 1.5, 2.5),
        ("car", 3.0, 4.0),
        ("car", None, None),
    ]
    found = [read_bytes(path, listing.base) for path in listing.frame["path"]]
    assert found == [b"a.jpg", b"b.jpg", b"c.jpg"]
    assert listing.rejects == ()
    assert read_croissant(tmp_path).frame.equals(listing.frame)


@pytest.mark.usefixtures("croissant")
def test_what_mlcroissant_refuses_is_a_clear_error(tmp_path):
    place = write_set(tmp_path)
    place.write_text(place.read_text().replace('"column": "label"', '"column": "gone"'))
    with pytest.raises(TableError, match=r"mlcroissant cannot read record set 'all'.*gone"):
        read_croissant(place)


@pytest.mark.usefixtures("croissant")
def test_an_image_that_is_gone_has_no_row(tmp_path):
    place = write_set(tmp_path)
    (tmp_path / "images" / "b.jpg").unlink()
    assert read_croissant(place).frame["path"].to_list() == ["images/a.jpg", "images/c.jpg"]


def test_without_the_package_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlcroissant", None)
    with pytest.raises(MissingExtraError, match=r"graticule\[croissant\]"):
        read_croissant(write_set(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "not readable JSON"), ("[]", "not Croissant"), ('{"distribution": []}', "not Croissant"), ("\0", "JSON")],
)
def test_something_else_is_one_clear_error(tmp_path, text, message):
    (tmp_path / "croissant.json").write_text(text)
    with pytest.raises(TableError, match=message):
        read_croissant(tmp_path)


def test_images_inside_a_table_or_none_at_all_are_said(tmp_path):
    inside = [field("image", "sc:ImageObject", column("file"))]
    place = write_set(tmp_path, recordSet=[{"@id": "all", "field": inside}])
    with pytest.raises(TableError, match="'all/image' stand inside a table's column"):
        read_croissant(place)
    content = json.loads(place.read_text())
    place.write_text(json.dumps(content | {"recordSet": []}))
    with pytest.raises(TableError, match="no record set with images as files"):
        read_croissant(place)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://host/photos/other.csv?raw=1", r"other\.csv: no such file.*Download https"),
        ("gone.csv", "copied whole"),
        ("../meta.csv", "outside the folder"),
        ("/etc/passwd", "outside the folder"),
    ],
)
def test_a_file_that_is_not_beside_it_is_named_and_nothing_is_downloaded(tmp_path, address, message):
    place = write_set(tmp_path)
    content = json.loads(place.read_text())
    content["distribution"][1]["contentUrl"] = address
    place.write_text(json.dumps(content))
    with pytest.raises(FileError, match=message):
        read_croissant(place)


def test_an_archive_that_would_write_elsewhere_is_refused(tmp_path):
    place = write_set(tmp_path)
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        info = tarfile.TarInfo("../outside.jpg")
        archive.addfile(info)
    content = json.loads(place.read_text())
    content["distribution"].append({"@type": "cr:FileObject", "@id": "bad", "contentUrl": "bad.tar"})
    place.write_text(json.dumps(content))
    with pytest.raises(FileError, match="outside the archive's folder"):
        read_croissant(place)
