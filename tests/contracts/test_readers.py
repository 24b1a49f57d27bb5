"""What every layout's reader keeps to: the same source gives the same listing, and every path in it can be read."""

from __future__ import annotations

import io
import json
import tarfile

import polars as pl
import pytest

from graticule.data.readers import LAYOUTS
from graticule.data.readers.layouts import list_images
from graticule.data.sources import read_bytes
from graticule.errors import FileError

CROISSANT = "http://mlcommons.org/croissant/"
TERMS = {
    name: f"cr:{name}" for name in ("extract", "field", "fileProperty", "fileSet", "includes", "recordSet", "source")
} | {"conformsTo": "dct:conformsTo", "dataType": {"@id": "cr:dataType", "@type": "@vocab"}}


def make_folder(root):
    for name in ("dog/1.png", "cat/2.png"):
        (root / name).parent.mkdir()
        (root / name).write_bytes(name.encode())
    return root


def make_table(root):
    make_folder(root)
    (root / "mine.csv").write_text("path,label\ndog/1.png,dog\ncat/2.png,cat\n")
    return root / "mine.csv"


def make_shards(root):
    with tarfile.open(root / "0.tar", "w") as archive:
        for name in ("dog.1.png", "cat.2.png"):
            info = tarfile.TarInfo(name)
            info.size = len(name)
            archive.addfile(info, io.BytesIO(name.encode()))
    return root


def make_croissant(root):
    pytest.importorskip("mlcroissant", reason="the extra croissant is not installed")
    make_folder(root)
    files = {"@type": "cr:FileSet", "@id": "files", "encodingFormat": "image/png", "includes": "*/*.png"}
    images = {"fileSet": {"@id": "files"}, "extract": {"fileProperty": "content"}}
    field = {"@type": "cr:Field", "@id": "all/image", "dataType": "sc:ImageObject", "source": images}
    content = {
        "@context": {
            "@language": "en",
            "@vocab": "https://schema.org/",
            "sc": "https://schema.org/",
            "cr": CROISSANT,
            "dct": "http://purl.org/dc/terms/",
            **TERMS,
        },
        "@type": "sc:Dataset",
        "name": "two",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [files],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "all", "field": [field]}],
    }
    (root / "croissant.json").write_text(json.dumps(content))
    return root


SOURCES = {
    "croissant": make_croissant,
    "folder": make_folder,
    "imagefolder": make_folder,
    "table": make_table,
    "webdataset": make_shards,
}


def test_every_layout_is_under_contract():
    assert set(SOURCES) == set(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_lists_images_that_can_be_read_and_the_same_ones_again(layout, tmp_path):
    source = SOURCES[layout](tmp_path)
    listing = list_images(source, layout=layout)
    assert listing.frame.height == 2
    assert listing.frame.columns[:2] == ["image_id", "path"]
    assert listing.frame.schema["image_id"] == listing.frame.schema["path"] == pl.String
    assert listing.frame["image_id"].is_unique().all()
    assert all(read_bytes(path, listing.base) for path in listing.frame["path"])
    again = list_images(source, layout=layout)
    assert again.frame.equals(listing.frame)
    assert again.rejects == listing.rejects


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_names_a_source_that_is_missing(layout, tmp_path):
    with pytest.raises(FileError, match="no such"):
        list_images(tmp_path / "gone", layout=layout)
    with pytest.raises(FileError, match="no such"):
        LAYOUTS[layout](tmp_path / "gone.csv")
