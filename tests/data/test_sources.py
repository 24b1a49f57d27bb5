"""The forms of a path, and what is behind each."""

from __future__ import annotations

import os
import zipfile

import pytest

from graticule.data.sources import is_uri, move_base, read_bytes
from graticule.errors import FileError


def test_every_form_of_path_is_read(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.jpg").write_bytes(b"1")
    with zipfile.ZipFile(tmp_path / "sub" / "p.zip", "w") as archive:
        archive.writestr("in/x::y.jpg", b"2")
    assert read_bytes("sub/a b.jpg", tmp_path) == b"1"
    assert read_bytes(str(tmp_path / "sub" / "a b.jpg"), "/nowhere") == b"1"
    assert read_bytes((tmp_path / "sub" / "a b.jpg").as_uri(), "/nowhere") == b"1"
    assert read_bytes("zip://in/x::y.jpg::sub/p.zip", tmp_path) == b"2"
    assert read_bytes(f"zip://in/x::y.jpg::{tmp_path / 'sub' / 'p.zip'}", "/nowhere") == b"2"


def test_a_path_keeps_its_meaning_when_the_table_moves(tmp_path):
    for path in (
        "a.jpg",
        "sub/b.jpg",
        "../c.jpg",
        "zip://m.jpg::p.zip",
        "tar://m::../q.tar",
        "https://x/y.jpg",
        "/abs.jpg",
    ):
        moved = move_base(path, tmp_path / "old", tmp_path / "new" / "deep")
        assert move_base(moved, tmp_path / "new" / "deep", tmp_path / "old") == path
    assert is_uri("s3://bucket/a.jpg")
    assert not is_uri("C:/photos/a.jpg")


def test_what_is_no_file_is_refused_and_nothing_blocks(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "folder.jpg").mkdir()
    (tmp_path / "broken.jpg").symlink_to("nowhere")
    for name, reason in (
        ("pipe.jpg", "a pipe"),
        ("folder.jpg", "a folder"),
        ("broken.jpg", "no such file"),
        ("a\x00b.jpg", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ):
        with pytest.raises(FileError, match=reason):
            read_bytes(name, tmp_path)


def test_an_address_that_cannot_be_reached_is_a_file_error():
    with pytest.raises(FileError, match=r"cannot be read|fsspec"):
        read_bytes("nosuchprotocol://host/a.jpg")
