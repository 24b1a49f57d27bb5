"""Every entry of a folder becomes a file or a reject, in a fixed order, whatever it is."""

from __future__ import annotations

import os
import zipfile

import pytest

from graticule.data.walk import open_place
from graticule.errors import FileError


def test_files_come_sorted_with_their_folders(tmp_path):
    for name in ("b/2.jpg", "a/x/1.JPG", "a/z", "0.png", "ümlaut/日本\n.jpg", "x.jpg/in.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    place = open_place(tmp_path)
    assert place.files == ("0.png", "a/x/1.JPG", "a/z", "b/2.jpg", "x.jpg/in.jpg", "ümlaut/日本\n.jpg")
    assert place.rejects == ()


def test_what_is_no_file_is_a_reject_with_a_reason(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "broken.jpg").symlink_to("nowhere.jpg")
    (tmp_path / ".hidden.jpg").write_bytes(b"")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.jpg").write_bytes(b"")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "loop").symlink_to(".", target_is_directory=True)
    with open(os.fsencode(tmp_path) + b"/caf\xe9.jpg", "wb"):  # noqa: PTH123
        pass
    reasons = {reject.path: reject.reason for reject in open_place(tmp_path).rejects}
    assert "pipe" in reasons["pipe.jpg"]
    assert "missing" in reasons["broken.jpg"]
    assert "read already" in reasons["loop"]
    assert "not UTF-8" in reasons["caf\\xe9.jpg"]
    assert all("hidden" in reasons[name] for name in (".hidden.jpg", ".git", "__MACOSX"))
    assert open_place(tmp_path).files == ()


def test_a_linked_folder_is_read_once_and_loops_end(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "1.jpg").write_bytes(b"")
    (tmp_path / "real" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "twin").symlink_to("real", target_is_directory=True)
    place = open_place(tmp_path)
    assert len(place.files) == 1
    assert len(place.rejects) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="the super-user may read every folder")
def test_a_folder_without_permission_is_a_reject(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o000)
    try:
        assert "cannot be read" in open_place(tmp_path).rejects[0].reason
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_members_of_an_archive_are_listed_as_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for name in ("b/1.jpg", "a/2.jpg", "__MACOSX/._2.jpg", "a/.DS_Store", "../up.jpg"):
            archive.writestr(name, b"x")
    place = open_place(tmp_path / "p.zip")
    assert place.files == ("../up.jpg", "a/2.jpg", "b/1.jpg")
    assert place.path_of("a/2.jpg") == "zip://a/2.jpg::p.zip"
    assert place.read("a/2.jpg") == b"x"
    assert len(place.rejects) == 2


def test_what_this_run_writes_is_passed_over(tmp_path):
    (tmp_path / "images.parquet").write_bytes(b"")
    (tmp_path / "1.jpg").write_bytes(b"")
    place = open_place(tmp_path, exclude=frozenset({(tmp_path / "images.parquet").resolve()}))
    assert place.files == ("1.jpg",)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        open_place(tmp_path / "gone")
