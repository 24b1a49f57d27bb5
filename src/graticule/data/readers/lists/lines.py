"""A list of photos, a line each, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from graticule.errors import FileError


@contextmanager
def open_list(source: Path) -> Generator[BinaryIO]:
    """Open a list for reading, whatever it is packed with (``.gz``, ``.bz2`` or nothing).

    Raises
    ------
    FileError
        There is no such file, it is a folder, or what it is packed with is damaged.
    """
    if source.is_dir():
        raise FileError(f"{source}: a folder; expected the list itself, a file. Name one of the files in it.")
    if not source.is_file():
        raise FileError(f"{source}: no such file. Is the path relative to another folder than {Path.cwd()}?")
    suffix = source.suffix.lower()
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(suffix, open)
    try:
        with opener(source, "rb") as stream:
            yield cast("BinaryIO", stream)
    except (OSError, EOFError, zlib.error) as error:
        kind = {".gz": "gzip", ".bz2": "bzip2"}.get(suffix, "list")
        raise FileError(f"{source}: not a readable {kind} file ({error}). Was it copied whole?") from error


def read_lines(source: Path) -> list[tuple[int, str]]:
    """Return the number and the text of every line that is not empty.

    Raises
    ------
    FileError
        The list cannot be read, or is no text in UTF-8.
    """
    lines: list[tuple[int, str]] = []
    with open_list(source) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise FileError(
                    f"{source}, line {number}: not text in UTF-8 ({error.reason}). Is it the list, or an archive?"
                ) from error
            if text:
                lines.append((number, text))
    return lines
