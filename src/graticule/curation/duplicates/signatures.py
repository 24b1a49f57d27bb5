"""What an image file holds, in little: hashes of its bytes and of its pixels, and 32 × 32 greys or colours.

A JPEG is decoded at the smallest scale that suffices. Finished work is kept beside the output, so that a run that was
killed goes on where it stopped, and may be kept for good, so that images that come later are the only ones to be read.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass
from hashlib import blake2b
from pathlib import Path

import polars as pl
from PIL import Image

from graticule.curation.duplicates.hashes import SIDE
from graticule.data.decode import measure_image, open_image, quiet_decoding
from graticule.data.journal import Journal, hash_plan
from graticule.data.sources import read_bytes
from graticule.errors import GraticuleError
from graticule.progress import track

CHUNK_IMAGES = 16
JOURNAL_INTERVAL_S = 3.0
"""How much work a kill may cost."""
KEY_BYTES = 16

SIGNATURE = {
    "trouble": pl.String(),
    "seen_sha256": pl.String(),
    "seen_width": pl.Int64(),
    "seen_height": pl.Int64(),
    "is_reduced": pl.Boolean(),
    "picture_key": pl.Binary(),
    "greys": pl.Binary(),
    "colours": pl.Binary(),
}
"""Columns: why a file cannot be read, its SHA-256, the picture's size as shown, whether it was decoded at a reduced
scale, a hash of what was decoded, 32 × 32 greys, and 32 × 32 × 3 colours where they were asked for."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What one file holds, in little."""

    trouble: str | None = None
    seen_sha256: str | None = None
    seen_width: int | None = None
    seen_height: int | None = None
    is_reduced: bool | None = None
    picture_key: bytes | None = None
    greys: bytes | None = None
    colours: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Where the images' files lie, and how they are read."""

    base: str | Path = "."
    """Folder that relative paths start from."""
    journal: str | Path | None = None
    """Folder to keep finished work in; None keeps none. The caller removes it when its own result is written."""
    workers: int | None = None
    """Threads; None takes one for each processor."""
    progress: bool = True
    pictures: bool = True
    """Whether to decode; False reads the bytes only."""
    colours: bool = False
    """Whether colours are wanted too."""
    store: str | Path | None = None
    """File that keeps signatures from run to run, so that only new and changed files are read; None keeps none."""


def read_signatures(paths: Sequence[str | None], *, reading: Reading) -> pl.DataFrame:
    """Return what each file holds, in the order of the paths.

    Parameters
    ----------
    paths
        Paths as an images table has them; None is in trouble.
    reading
        Where the files lie, and how they are read.
    """
    base = Path(reading.base)
    kept = Journal(folder=Path(reading.journal), plan=_describe(paths, reading)) if reading.journal else None
    done = kept.read()[0] if kept else pl.DataFrame()
    if done.schema != pl.Schema(SIGNATURE) or done.height > len(paths):
        done = pl.DataFrame(schema=SIGNATURE)
    parts, waiting = [done], list[Signature]()
    n_kept, kept_at = done.height, time.monotonic()
    rest = _read_in_order(paths[n_kept:], base, reading)
    for found in track(rest, total=len(paths), done=n_kept, label="Reading", shown=reading.progress):
        waiting.append(found)
        if kept and time.monotonic() - kept_at > JOURNAL_INTERVAL_S:
            parts.append(_as_frame(waiting))
            kept.append(parts[-1], first_row=n_kept)
            n_kept += len(waiting)
            waiting, kept_at = [], time.monotonic()
    return pl.concat([*parts, _as_frame(waiting)])


def sign(data: bytes, *, pictures: bool = True, colours: bool = False) -> Signature:
    """Return what a file's bytes hold, in little.

    Notes
    -----
    The file is decoded to its end, so a truncated one is in trouble.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    if not pictures:
        return Signature(seen_sha256=sha256)
    try:
        facts = measure_image(data, verify=False)
        picture = open_image(data, min_side=SIDE, grey=not colours)
    except GraticuleError as error:
        return Signature(trouble=str(error), seen_sha256=sha256)
    small = picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return Signature(
        seen_sha256=sha256,
        seen_width=facts.width,
        seen_height=facts.height,
        is_reduced=data[:2] == b"\xff\xd8",
        picture_key=hash_picture(picture),
        greys=small.convert("L").tobytes(),
        colours=small.tobytes() if colours else None,
    )


def hash_picture(picture: Image.Image) -> bytes:
    """Return a hash of a picture's size and pixels."""
    head = f"{picture.mode} {picture.width} {picture.height} ".encode()
    return blake2b(head + picture.tobytes(), digest_size=KEY_BYTES).digest()


def _describe(paths: Sequence[str | None], reading: Reading) -> str:
    from graticule import __version__

    options = (str(reading.pictures), str(reading.colours), str(Path(reading.base).resolve()))
    return hash_plan((__version__, "signatures", *options, *(path or "" for path in paths)))


def _as_frame(found: Sequence[Signature]) -> pl.DataFrame:
    return pl.DataFrame([astuple(one) for one in found], schema=SIGNATURE, orient="row")


def _read_in_order(paths: Sequence[str | None], base: Path, reading: Reading) -> Generator[Signature]:
    """Yield what each file holds, in order, with a bounded number of files in work."""
    workers = reading.workers or len(os.sched_getaffinity(0))
    chunks = [paths[start : start + CHUNK_IMAGES] for start in range(0, len(paths), CHUNK_IMAGES)]
    running: deque[Future[list[Signature]]] = deque()
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sign")
    try:
        for chunk in chunks:
            if len(running) >= 3 * workers:
                yield from running.popleft().result()
            running.append(pool.submit(_read_chunk, chunk, base, reading))
        while running:
            yield from running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _read_chunk(paths: Sequence[str | None], base: Path, reading: Reading) -> list[Signature]:
    with quiet_decoding():
        return [_read_one(path, base, reading) for path in paths]


def _read_one(path: str | None, base: Path, reading: Reading) -> Signature:
    if path is None:
        return Signature(trouble="the table names no file for it")
    try:
        data = read_bytes(path, base)
    except GraticuleError as error:
        return Signature(trouble=str(error).removeprefix(f"{base / path}: "))
    return sign(data, pictures=reading.pictures, colours=reading.colours)
