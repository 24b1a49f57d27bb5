"""Where images lie: the forms that a path may take, and the bytes behind each.

A path is relative to a folder (``photos/a.jpg``), absolute, a member of an archive
(``zip://inner/a.jpg::photos.zip``, ``tar://inner/a.jpg::photos.tar.gz``, as fsspec chains them; the archive's path is
relative to the same folder), or another URI (``https://…``, ``s3://…``), which is read through fsspec where that is
installed.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

from graticule.data.archives import read_member
from graticule.errors import FileError

MAX_FILE_BYTES = 1 << 31
"""Files that are longer are refused."""

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
ARCHIVE_PROTOCOLS = ("zip://", "tar://")


def read_bytes(path: str, base: str | Path = ".") -> bytes:
    """Return the bytes that a path of an images table names.

    Parameters
    ----------
    path
        Any of the forms above.
    base
        Folder that relative paths start from: the folder of the images table.

    Raises
    ------
    FileError
        The file is missing, unreadable, no regular file or too long, or the address cannot be reached.
    """
    if path.startswith(ARCHIVE_PROTOCOLS) and "::" in path:
        member, archive = path.partition("://")[2].rsplit("::", 1)
        return read_member(Path(base, archive), member)
    if path.startswith("file://"):
        return read_file(Path(unquote(urlsplit(path).path)))
    if is_uri(path):
        return _read_remote(path)
    return read_file(Path(base, path))


def is_uri(path: str) -> bool:
    """Return whether a path is a URI, a member of an archive among them."""
    return URI.match(path) is not None


def move_base(path: str, old: str | Path, new: str | Path) -> str:
    """Return a path relative to ``new`` that names what it named relative to ``old``; URIs and absolute paths stay.

    Examples
    --------
    >>> move_base("a/b.jpg", "/data/photos", "/data/tables")
    '../photos/a/b.jpg'
    >>> move_base("zip://b.jpg::c.zip", "/data/photos", "/data")
    'zip://b.jpg::photos/c.zip'
    """
    if path.startswith(ARCHIVE_PROTOCOLS) and "::" in path:
        member, archive = path.rsplit("::", 1)
        return f"{member}::{move_base(archive, old, new)}"
    if is_uri(path) or Path(path).is_absolute():
        return path
    return Path(os.path.relpath(Path(old, path), new)).as_posix()


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file; pipes and devices, which could block, are refused.

    Raises
    ------
    FileError
        The file is missing, unreadable, no regular file or too long.
    """
    data = read_head(path, MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise FileError(f"{path}: longer than the {MAX_FILE_BYTES} bytes that are read. Is it an image?")
    return data


def read_head(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a regular file.

    Raises
    ------
    FileError
        The file is missing, unreadable or no regular file.
    """
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe or a device"
            raise FileError(f"{path}: {kind}, not a file.")
        with path.open("rb", buffering=0) as file:
            wanted = min(n_bytes, facts.st_size)
            data = file.read(wanted)
            while len(data) < wanted and (more := file.read(wanted - len(data))):
                data += more
        return data
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: {_describe(error)}.") from error


def _describe(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, PermissionError):
        return "no permission to read the file"
    return f"cannot be read ({error.strerror if isinstance(error, OSError) else error})"


def _read_remote(address: str) -> bytes:
    try:
        import fsspec
    except ImportError as error:
        raise FileError(
            f"{address}: remote addresses are read through the package 'fsspec', which is not installed. "
            "Install it (pip install fsspec), or download the file."
        ) from error
    try:
        system, place = fsspec.url_to_fs(address)
        with system.open(place, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except Exception as error:  # every remote file system has errors of its own
        raise FileError(f"{address}: cannot be read ({' '.join(str(error).split())[:200]}).") from error
    if len(data) > MAX_FILE_BYTES:
        raise FileError(f"{address}: more than {MAX_FILE_BYTES} bytes. Is it an image?")
    return data
