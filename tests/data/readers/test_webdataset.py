"""WebDataset shards: files of one key are one image."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from graticule.data.readers.webdataset import read_webdataset
from graticule.data.sources import read_bytes
from graticule.errors import FileError


def write_shard(place, members):
    with tarfile.open(place, "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def test_labels_captions_and_json_become_columns(tmp_path):
    write_shard(
        tmp_path / "000000.tar",
        {
            "0001.jpg": b"1",
            "0001.cls": b"5\n",
            "0001.json": json.dumps({"lat": 1.5, "lon": 2, "image_id": "mine", "Country": "KE"}).encode(),
            "a/0002.png": b"2",
            "a/0002.txt": b"a red house",
            "0003.json": b"{}",
            "0004.jpg": b"4",
            "0004.json": b"{broken",
            "0005.jpg": b"",
            "0005.png": b"",
        },
    )
    listing = read_webdataset(tmp_path / "000000.tar")
    rows = listing.frame.rows(named=True)
    assert [row["image_id"] for row in rows] == ["0001", "a/0002"]
    assert rows[0] | {"caption": None} == {
        "image_id": "0001",
        "path": "tar://0001.jpg::000000.tar",
        "label": "5",
        "latitude": 1.5,
        "longitude": 2,
        "country": "KE",
        "caption": None,
    }
    assert rows[1]["caption"] == "a red house"
    assert [reject.reason.split("(")[0].strip() for reject in listing.rejects] == [
        "no image under this key, expected one",
        "2 images under this key, expected one",
        "a file beside it cannot be read",
    ]


def test_a_folder_of_shards_is_one_set_and_keys_stay_unique(tmp_path):
    for shard in ("000000.tar", "sub/000001.tar"):
        (tmp_path / shard).parent.mkdir(exist_ok=True)
        write_shard(tmp_path / shard, {"x.jpg": shard.encode(), "x.label.txt": b"dog"})
    listing = read_webdataset(tmp_path)
    assert listing.frame["image_id"].to_list() == ["x", "sub/000001.tar/x"]
    assert [read_bytes(path, listing.base) for path in listing.frame["path"]] == [b"000000.tar", b"sub/000001.tar"]


def test_a_folder_without_shards_is_named(tmp_path):
    with pytest.raises(FileError, match="no tar in the folder"):
        read_webdataset(tmp_path)
