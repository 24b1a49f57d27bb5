"""Every file of a folder or an archive, in a fixed order, and every entry that is no file with its reason.

Nothing is left out silently: hidden files, broken links, pipes, folders without permission and names that are not UTF-8
come back as rejects. A folder that is reached twice through links is read once, so loops end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from graticule.data.archives import is_archive, open_index
from graticule.data.sources import read_bytes
from graticule.errors import FileError

IMAGE_SUFFIXES = frozenset(
    (
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".apng", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".dib"),
        *(".heic", ".heif", ".hif", ".avif", ".avifs", ".jp2", ".j2k", ".jpx", ".jpf", ".jpc", ".ico", ".icns", ".cur"),
        *(".ppm", ".pgm", ".pbm", ".pnm", ".pfm", ".psd", ".qoi", ".tga", ".pcx", ".dcx", ".sgi", ".rgb", ".ras"),
        *(".xbm", ".xpm", ".dds", ".pcd"),
    )
)
"""Endings of image files, in small letters."""

HIDDEN_FOLDERS = ("__MACOSX",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A file or a row that is left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder, an archive or a single file, and what is in it."""

    source: Path
    base: Path
    """Folder that `path_of` is relative to: the folder itself, or the one that holds the archive or the file."""
    files: tuple[str, ...]
    """Names relative to the folder, or of the archive's members, sorted."""
    rejects: tuple[Reject, ...]
    protocol: str = ""
    """``zip`` or ``tar`` for an archive, else empty."""

    def path_of(self, name: str) -> str:
        """Return the path of a file for a table of images, relative to `base`."""
        return f"{self.protocol}://{name}::{self.source.name}" if self.protocol else name

    def read(self, name: str) -> bytes:
        """Return the bytes of one of the files."""
        return read_bytes(self.path_of(name), self.base)


def open_place(source: Path, *, exclude: frozenset[Path] = frozenset()) -> Place:
    """Return what is in a folder or an archive, or the single file itself.

    Parameters
    ----------
    source
        A folder, an archive or a file.
    exclude
        Files and folders to pass over without a word: what this very run writes.

    Raises
    ------
    FileError
        There is no such folder or file, or the archive is damaged.
    """
    if source.is_dir():
        found = _Found(root=source, exclude=exclude, files=[], rejects=[], visited=set())
        found.visit(source, "")
        return Place(source=source, base=source, files=tuple(sorted(found.files)), rejects=tuple(found.rejects))
    if not source.exists():
        raise FileError(f"{source}: no such folder or file. Is the path relative to another folder than {Path.cwd()}?")
    if is_archive(source):
        return _open_archive(source)
    return Place(source=source, base=source.parent, files=(source.name,), rejects=())


def is_image_name(name: str) -> bool:
    """Return whether a file's name ends as those of images do.

    Examples
    --------
    >>> is_image_name("a/b.JPG"), is_image_name("a/README.md")
    (True, False)
    """
    _, dot, ending = name.rpartition(".")
    return (dot + ending).lower() in IMAGE_SUFFIXES


def _open_archive(source: Path) -> Place:
    index = open_index(source)
    files: list[str] = []
    rejects: list[Reject] = []
    for name, member in index.members.items():
        reason = member.fault or _name_fault(name)
        if reason:
            rejects.append(Reject(path=f"{index.protocol}://{readable(name)}::{source.name}", reason=reason))
        else:
            files.append(name)
    return Place(
        source=source, base=source.parent, files=tuple(sorted(files)), rejects=tuple(rejects), protocol=index.protocol
    )


def _name_fault(name: str) -> str:
    """Return why a name in an archive or a folder is passed over; empty if it is not."""
    if readable(name) != name:
        return "its name is not UTF-8; rename it"
    parts = name.replace("\\", "/").split("/")
    if any(part in HIDDEN_FOLDERS or (part.startswith(".") and part not in (".", "..")) for part in parts):
        return "hidden: a name starts with a dot, or a system's own folder"
    return ""


def readable(name: str) -> str:
    r"""Return a file's name as text that a table can hold; bytes that are no UTF-8 become escapes (``\xe9``)."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a walk through a folder has found so far."""

    root: Path
    exclude: frozenset[Path]
    files: list[str]
    rejects: list[Reject]
    visited: set[tuple[int, int]]

    def visit(self, folder: Path, prefix: str) -> None:
        waiting = [(folder, prefix)]
        while waiting:
            waiting += self._visit_one(*waiting.pop())

    def _visit_one(self, folder: Path, prefix: str) -> Generator[tuple[Path, str]]:
        """Sort one folder's entries into files and rejects, and yield the folders in it."""
        try:
            facts = folder.stat()
            if (facts.st_dev, facts.st_ino) in self.visited:
                self._reject(prefix, "a link to a folder that is read already")
                return
            self.visited.add((facts.st_dev, facts.st_ino))
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._reject(prefix or str(folder), f"a folder that cannot be read ({error.strerror})")
            return
        for entry in listed:
            name = prefix + entry.name
            if self.exclude and Path(entry.path).resolve() in self.exclude:
                continue
            fault = _name_fault(name)
            if fault:
                self._reject(name, fault)
            elif self._is_folder(entry):
                yield Path(entry.path), f"{name}/"
            else:
                self._take(entry, name)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError:
            return False

    def _take(self, entry: os.DirEntry[str], name: str) -> None:
        try:
            if entry.is_file(follow_symlinks=False) or stat.S_ISREG(entry.stat().st_mode):
                self.files.append(name)
            else:
                self._reject(name, "a pipe, a socket or a device, not a file")
        except OSError as error:
            broken = entry.is_symlink()
            self._reject(name, "a link to a file that is missing" if broken else f"cannot be read ({error.strerror})")

    def _reject(self, name: str, reason: str) -> None:
        self.rejects.append(Reject(path=readable(name.rstrip("/")), reason=reason))
