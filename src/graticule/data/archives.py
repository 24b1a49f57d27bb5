"""ZIP and tar archives read in place: a list of members, and the bytes of any one of them.

Nothing is unpacked under a member's name, so a name that climbs out of its folder does no harm. An archive's index is
read once and remembered until the file changes; a member is then read with one open and one seek, from any thread. A
compressed tar cannot be read at random, so it is decompressed once into a temporary file that goes when the process
ends.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import struct
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from graticule.errors import FileError

ZIP_SUFFIXES = (".zip",)
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MAX_MEMBER_BYTES = 1 << 31
"""Members that claim more are refused."""

LOCAL_HEADER_BYTES = 30
ENCRYPTED = 0x1
INDEX_LOCK = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Where a member's bytes stand in its archive."""

    size: int
    start: int = 0
    compressed_size: int = 0
    method: int = zipfile.ZIP_STORED
    crc: int | None = None
    fault: str = ""
    """Why the member cannot be read; empty if it can."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Index:
    """An archive's members, in the order of the archive, and the file that holds their bytes."""

    protocol: str
    """``zip`` or ``tar``, as written in front of a member's path."""
    file: Path
    members: Mapping[str, Member]


def is_archive(path: Path) -> bool:
    """Return whether a file's name is that of an archive that can be read."""
    return path.name.lower().endswith(ZIP_SUFFIXES + TAR_SUFFIXES)


def open_index(path: Path) -> Index:
    """Return an archive's index, from memory if the archive has not changed since.

    Raises
    ------
    FileError
        There is no such archive, or it is damaged.
    """
    try:
        facts = path.stat()
        with INDEX_LOCK:
            return _read_index(path, facts.st_mtime_ns, facts.st_size)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: not a readable archive ({error}). Was it copied whole?") from error


def read_member(path: Path, member: str) -> bytes:
    """Return the bytes of one member of an archive.

    Raises
    ------
    FileError
        There is no such archive or member, or the member is encrypted or damaged.
    """
    index = open_index(path)
    entry = index.members.get(member)
    if entry is None:
        raise FileError(f"{path}: no member '{member}' in the archive.")
    if entry.fault:
        raise FileError(f"{path}, member '{member}': {entry.fault}.")
    try:
        with index.file.open("rb") as file:
            file.seek(entry.start)
            if index.protocol == "tar":
                return _exactly(file.read(entry.size), entry.size)
            header = _exactly(file.read(LOCAL_HEADER_BYTES), LOCAL_HEADER_BYTES)
            if header[:4] != b"PK\x03\x04":
                raise ValueError("no member where the index says")
            file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
            data = _decompress(_exactly(file.read(entry.compressed_size), entry.compressed_size), entry)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise FileError(
            f"{path}, member '{member}': cannot be read ({error}). Was the archive copied whole?"
        ) from error
    if zlib.crc32(data) != entry.crc:
        raise FileError(f"{path}, member '{member}': its bytes do not match their checksum. Was it copied whole?")
    return data


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError("the archive ends too early")
    return data


def _decompress(data: bytes, entry: Member) -> bytes:
    """Return a ZIP member's bytes; one that would grow beyond its declared size is stopped there."""
    if entry.method == zipfile.ZIP_STORED:
        return data
    if entry.method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-15).decompress(data, entry.size + 1)
    return bz2.BZ2Decompressor().decompress(data, entry.size + 1)


@lru_cache(maxsize=64)
def _read_index(path: Path, modified_ns: int, size: int) -> Index:
    del modified_ns, size  # part of the key: a changed archive is read anew
    if path.name.lower().endswith(ZIP_SUFFIXES):
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: _as_member(info) for info in archive.infolist() if not info.is_dir()}
        return Index(protocol="zip", file=path, members=members)
    if path.name.lower().endswith(".tar"):
        return Index(protocol="tar", file=path, members=_list_tar(path))
    with tarfile.open(path) as archive:  # fails now if it is no archive, before anything is written
        archive.next()
    handle = tempfile.NamedTemporaryFile(prefix="graticule-", suffix=".tar", delete=False)  # noqa: SIM115
    plain = Path(handle.name)
    try:
        with handle, _open_compressed(path) as source:
            shutil.copyfileobj(source, handle, 1 << 20)
        index = Index(protocol="tar", file=plain, members=_list_tar(plain))
    except BaseException:
        plain.unlink(missing_ok=True)
        raise
    weakref.finalize(index, plain.unlink, missing_ok=True)
    return index


def _open_compressed(path: Path) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    with path.open("rb") as file:
        head = file.read(6)
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    return bz2.open(path) if head.startswith(b"BZh") else lzma.open(path)


def _list_tar(path: Path) -> dict[str, Member]:
    members: dict[str, Member] = {}
    with tarfile.open(path, "r:") as archive:
        for info in archive:
            if info.isdir():
                continue
            fault = ""
            if not info.isreg() or info.sparse is not None:
                fault = "a link, a device or a sparse file inside the archive"
            elif info.size > MAX_MEMBER_BYTES:
                fault = f"larger than {MAX_MEMBER_BYTES} bytes"
            members[info.name] = Member(size=info.size, start=info.offset_data, fault=fault)
    return members


def _as_member(info: zipfile.ZipInfo) -> Member:
    fault = ""
    if info.flag_bits & ENCRYPTED:
        fault = "encrypted; unpack the archive with its password first"
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        fault = f"compressed by a method ({info.compress_type}) that is not read; pack the archive again"
    elif max(info.file_size, info.compress_size) > MAX_MEMBER_BYTES:
        fault = f"larger than {MAX_MEMBER_BYTES} bytes"
    return Member(
        size=info.file_size,
        start=info.header_offset,
        compressed_size=info.compress_size,
        method=info.compress_type,
        crc=info.CRC,
        fault=fault,
    )
