"""Members of archives: read in place, never unpacked under their names, refused when they lie."""

from __future__ import annotations

import io
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graticule.data.archives import is_archive, open_index, read_member
from graticule.errors import FileError


def write_zip(place: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return place


def write_tar(place: Path, members: dict[str, bytes]) -> Path:
    mode = {".gz": "w:gz", ".tgz": "w:gz", ".bz2": "w:bz2", ".xz": "w:xz"}.get(place.suffix, "w")
    with tarfile.open(place, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return place


MEMBERS = {f"a/{index}.bin": bytes([index]) * (index * 1000) for index in range(20)}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_members_of_a_zip_come_back_whole(tmp_path, method):
    place = write_zip(tmp_path / "a.zip", MEMBERS, method)
    assert list(open_index(place).members) == list(MEMBERS)
    assert {name: read_member(place, name) for name in MEMBERS} == MEMBERS


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.bz2", "a.tar.xz"])
def test_members_of_a_tar_come_back_whole_from_many_threads(tmp_path, name):
    place = write_tar(tmp_path / name, MEMBERS)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda member: read_member(place, member), list(MEMBERS)))
    assert found == list(MEMBERS.values())


def test_an_archive_that_changes_is_read_anew(tmp_path):
    place = write_zip(tmp_path / "a.zip", {"x": b"old"})
    assert read_member(place, "x") == b"old"
    write_zip(place, {"x": b"newer", "y": b""})
    assert read_member(place, "x") == b"newer"


def test_names_that_climb_out_are_only_names(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    place = write_tar(inner / "a.tar", {"../../evil.jpg": b"1", "/etc/evil.jpg": b"2"})
    assert read_member(place, "../../evil.jpg") == b"1"
    assert read_member(place, "/etc/evil.jpg") == b"2"
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "a.tar"]


def test_a_member_that_is_missing_encrypted_or_a_link_is_refused(tmp_path):
    place = write_zip(tmp_path / "a.zip", {"x": b"secret"})
    data = bytearray(place.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + at] |= 1
    place.write_bytes(bytes(data))
    with pytest.raises(FileError, match="encrypted"):
        read_member(place, "x")
    with pytest.raises(FileError, match="no member 'y'"):
        read_member(place, "y")
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        link = tarfile.TarInfo("x.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(FileError, match="a link"):
        read_member(tmp_path / "b.tar", "x.jpg")


def test_a_member_that_grows_beyond_its_declared_size_is_stopped(tmp_path):
    place = write_zip(tmp_path / "a.zip", {"x": b"0" * 10_000_000})
    data = bytearray(place.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (100).to_bytes(4, "little")
    place.write_bytes(bytes(data))
    with pytest.raises(FileError, match="checksum"):
        read_member(place, "x")


def test_damage_is_found(tmp_path):
    place = write_zip(tmp_path / "a.zip", {"x": bytes(range(256)) * 10}, zipfile.ZIP_STORED)
    data = bytearray(place.read_bytes())
    data[200] ^= 0xFF
    place.write_bytes(bytes(data))
    with pytest.raises(FileError, match="checksum"):
        read_member(place, "x")
    for name, content in (
        ("b.zip", b"PK\x03\x04junk"),
        ("c.tar.gz", b"\x1f\x8bjunk"),
        ("d.tar", b"x" * 2000),
        ("e.zip", b""),
    ):
        (tmp_path / name).write_bytes(content)
        assert is_archive(tmp_path / name)
        with pytest.raises(FileError, match="not a readable archive"):
            open_index(tmp_path / name)
    with pytest.raises(FileError, match="not a readable archive"):
        open_index(tmp_path / "gone.zip")
    whole = write_tar(tmp_path / "f.tar.gz", {"x": bytes(range(256)) * 4000}).read_bytes()
    (tmp_path / "f.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="not a readable archive"):
        open_index(tmp_path / "f.tar.gz")
