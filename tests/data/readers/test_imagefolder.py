"""Hugging Face's imagefolder: splits, labels and metadata tables."""

from __future__ import annotations

import zipfile

import pytest

from graticule.data.readers.imagefolder import read_imagefolder
from graticule.data.readers.layouts import list_images
from graticule.errors import TableError


def touch(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


def test_splits_and_labels_come_from_folders(tmp_path):
    touch(tmp_path, "train/dog/1.png", "Val/cat/2.png", "dog/3.png", "train/4.png", "a/b/c.png", "notes.txt")
    listing = read_imagefolder(tmp_path)
    rows = {row["image_id"]: (row["label"], row["split"]) for row in listing.frame.iter_rows(named=True)}
    assert rows == {
        "train/dog/1.png": ("dog", "train"),
        "Val/cat/2.png": ("cat", "validation"),
        "dog/3.png": ("dog", None),
    }
    assert {reject.path for reject in listing.rejects} == {"train/4.png", "a/b/c.png", "notes.txt"}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_metadata_table_names_its_images(tmp_path, kind):
    touch(tmp_path, "train/1.png", "train/sub/2.png", "train/3.png")
    text = {
        "csv": "file_name,Class,lat\n1.png,dog,1.5\nsub/2.png,cat,\ngone.png,cat,\n",
        "jsonl": '{"file_name": "1.png", "Class": "dog", "lat": 1.5}\n{"file_name": "sub/2.png", "Class": "cat"}\n'
        '{"file_name": "gone.png", "Class": "cat"}\n',
    }[kind]
    (tmp_path / "train" / f"metadata.{kind}").write_text(text)
    listing = list_images(tmp_path)
    rows = listing.frame.select("image_id", "label", "split").rows()
    assert rows == [("train/1.png", "dog", "train"), ("train/sub/2.png", "cat", "train")]
    reasons = {reject.path: reject.reason for reject in listing.rejects}
    assert "no such file" in reasons["train/gone.png"]
    assert "not named" in reasons["train/3.png"]
    assert "metadata table" in reasons[f"train/metadata.{kind}"]


def test_a_metadata_table_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("metadata.csv", "file_name,label\n1.png,dog\n")
        archive.writestr("1.png", b"")
    listing = read_imagefolder(tmp_path / "p.zip")
    assert listing.frame.select("path", "label").rows() == [("zip://1.png::p.zip", "dog")]


def test_a_metadata_table_without_file_names_is_named(tmp_path):
    touch(tmp_path, "1.png")
    (tmp_path / "metadata.csv").write_text("name,label\n1.png,dog\n")
    with pytest.raises(TableError, match=r"metadata.csv: no column 'file_name'"):
        read_imagefolder(tmp_path)
