"""Photos in a folder, a table or an archive → an images table: sizes, hashes, where and when, and rejects with reasons.

Every file becomes a row of the images or a row of the rejects. Copies of one photo are all kept; their equal ``sha256``
tells others.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from posixpath import normpath

import polars as pl

from graticule.data.decode import measure_image, quiet_decoding
from graticule.data.journal import Journal, hash_plan
from graticule.data.readers.layouts import list_images
from graticule.data.readers.listing import Listing
from graticule.data.sniff import SNIFF_BYTES, is_image_like, name_content
from graticule.data.sources import is_uri, move_base, read_bytes, read_head
from graticule.data.tables import IMAGES, REJECTS, TIME
from graticule.data.validate import validate_table
from graticule.data.walk import is_image_name
from graticule.errors import ConfigError, FileError, GraticuleError
from graticule.progress import track

CHUNK_FILES = 16
"""Files that a thread takes at a time."""

JOURNAL_INTERVAL_S = 3.0
"""How much work a kill may cost."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScanResult:
    """What a scan found."""

    images: pl.DataFrame
    rejects: pl.DataFrame
    position_notes: pl.DataFrame
    """Columns path and reason: positions that stand in the EXIF of an image and were not taken."""
    notes: tuple[str, ...]
    """What was assumed on the way, for the person who typed the command."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one file says."""

    reason: str | None = None
    width: int | None = None
    height: int | None = None
    sha256: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    captured_at: datetime | None = None
    position_note: str | None = None


MEASURED = {
    "reason": pl.String(),
    "width": pl.Int64(),
    "height": pl.Int64(),
    "sha256": pl.String(),
    "latitude": pl.Float64(),
    "longitude": pl.Float64(),
    "captured_at": TIME,
    "position_note": pl.String(),
}
"""Types of the columns of what was measured, in the order of the fields of `Measured`."""


def scan_images(
    source: str | Path,
    *,
    layout: str | None = None,
    root: str | Path | None = None,
    read_files: bool = True,
    base: str | Path | None = None,
    journal: str | Path | None = None,
    exclude: Sequence[str | Path] = (),
    workers: int | None = None,
    verify: bool = True,
    progress: bool = True,
) -> ScanResult:
    """Return the images of a source, and what was left out and why.

    Parameters
    ----------
    source
        A folder, an archive, a table with a column of paths, or a single image.
    layout
        A pattern of folder names such as ``{region}/{label}``, or the name of a layout; see
        `graticule.data.readers.layouts`.
    root
        Folder that the paths in a table or a list start from; None takes the folder that it lies in.
    read_files
        Whether to open the files. False takes a table or a list at its word: its photos need not be there, and what it
        does not say (size, hash, EXIF) stays empty.
    base
        Folder that the paths of the result are relative to: that of the file it will be written to. None leaves them
        relative to the source.
    journal
        Folder to keep finished work in, so that a killed scan goes on where it stopped; None keeps none.
    exclude
        Files and folders in the source to pass over: what this very run writes.
    workers
        Threads; None takes one for each processor that may be used.
    verify
        Decode every image, so that a truncated or damaged one becomes a reject now. False reads headers only.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    FileError
        The source is missing or unreadable as a whole.
    ConfigError
        The layout is neither a pattern nor a known name.
    TableError
        A table breaks the declaration of images.

    Notes
    -----
    Where a table says where or when a photo was taken, the table wins and EXIF fills what is missing there; width,
    height and sha256 are always measured.
    """
    if workers is not None and workers < 1:
        raise ConfigError(f"workers is {workers}, expected at least 1. Leave it out to use all processors.")
    passed_over = frozenset(Path(place).resolve() for place in (*exclude, *([journal] if journal else [])))
    listing = list_images(Path(source), layout=layout, exclude=passed_over)
    if root is not None:
        listing = replace(listing, base=_check_root(Path(root)))
    if not read_files:
        nothing = [None] * listing.frame.height
        measured = pl.DataFrame({name: pl.Series(nothing, dtype=dtype) for name, dtype in MEASURED.items()})
        return _assemble(listing, measured, base=Path(base) if base is not None else listing.base)
    paths = listing.frame["path"].to_list()
    plan = Journal(folder=Path(journal), plan=_describe_plan(listing, verify=verify)) if journal else None
    measured = _measure_all(paths, listing.base, journal=plan, workers=workers, verify=verify, progress=progress)
    return _assemble(listing, measured, base=Path(base) if base is not None else listing.base)


def _check_root(root: Path) -> Path:
    if not root.is_dir():
        raise FileError(f"{root}: no such folder; expected the one that the paths in the list start from (--root).")
    return root


def _describe_plan(listing: Listing, *, verify: bool) -> str:
    from graticule import __version__

    return hash_plan((__version__, str(verify), str(listing.base.resolve()), *listing.frame["path"].to_list()))


def _measure_all(
    paths: Sequence[str], base: Path, *, journal: Journal | None, workers: int | None, verify: bool, progress: bool
) -> pl.DataFrame:
    """Return what every file says, in the order of the paths."""
    done = _read_finished(journal, paths, base) if journal else pl.DataFrame(schema=MEASURED)
    parts = [done]
    n_kept = done.height
    waiting: list[Measured] = []
    kept_at = time.monotonic()
    rest = _measure_in_order(paths[n_kept:], base, workers=workers or _count_processors(), verify=verify)
    for found in track(rest, total=len(paths), done=n_kept, label="Scanning", shown=progress):
        waiting.append(found)
        if journal and time.monotonic() - kept_at > JOURNAL_INTERVAL_S:
            parts.append(_as_frame(waiting))
            journal.append(parts[-1], first_row=n_kept)
            n_kept += len(waiting)
            waiting, kept_at = [], time.monotonic()
    return pl.concat([*parts, _as_frame(waiting)])


def _as_frame(measured: Sequence[Measured]) -> pl.DataFrame:
    columns = list(zip(*(astuple(found) for found in measured), strict=True)) or [()] * len(MEASURED)
    return pl.DataFrame(
        [pl.Series(name, column, dtype=dtype) for (name, dtype), column in zip(MEASURED.items(), columns, strict=True)]
    )


def _read_finished(journal: Journal, paths: Sequence[str], base: Path) -> pl.DataFrame:
    """Return what an earlier run has measured, up to the first file that has changed since."""
    done, written_at = journal.read()
    if not done.height or done.schema != pl.Schema(MEASURED) or done.height > len(paths):
        journal.remove()
        return pl.DataFrame(schema=MEASURED)
    for path in paths[: done.height]:
        place = base / path.rsplit("::", 1)[-1]
        if place.exists() and place.stat().st_mtime > written_at:
            journal.remove()
            return pl.DataFrame(schema=MEASURED)
    return done


def _count_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _measure_in_order(paths: Sequence[str], base: Path, *, workers: int, verify: bool) -> Generator[Measured]:
    """Yield what each file says, in order, with a bounded number of files in work."""
    chunks = [paths[start : start + CHUNK_FILES] for start in range(0, len(paths), CHUNK_FILES)]
    running: deque[Future[list[Measured]]] = deque()
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="scan")
    try:
        for chunk in chunks:
            if len(running) >= 3 * workers:
                yield from running.popleft().result()
            running.append(pool.submit(_measure_chunk, chunk, base, verify))
        while running:
            yield from running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _measure_chunk(paths: Sequence[str], base: Path, verify: bool) -> list[Measured]:
    with quiet_decoding():
        return [_measure_one(path, base, verify=verify) for path in paths]


def _measure_one(path: str, base: Path, *, verify: bool) -> Measured:
    try:
        if not is_uri(path) and not is_image_name(path):
            head = read_head(base / path, SNIFF_BYTES)
            if not is_image_like(head):
                return Measured(reason=name_content(head))
        data = read_bytes(path, base)
        facts = measure_image(data, verify=verify)
    except FileError as error:
        return Measured(reason=str(error).removeprefix(f"{base / path}: "))
    except GraticuleError as error:
        return Measured(reason=str(error))
    return Measured(
        width=facts.width,
        height=facts.height,
        sha256=hashlib.sha256(data).hexdigest(),
        latitude=facts.exif.latitude,
        longitude=facts.exif.longitude,
        captured_at=facts.exif.captured_at,
        position_note=facts.exif.note or None,
    )


def _assemble(listing: Listing, measured: pl.DataFrame, *, base: Path) -> ScanResult:
    frame = listing.frame.with_columns(_move_paths(listing.frame["path"], listing.base, base))
    is_image = measured["reason"].is_null()
    found = measured.filter(is_image)
    images = frame.filter(is_image)
    for name in ("width", "height", "sha256"):
        if found[name].null_count() < found.height or name not in images.columns:
            images = images.with_columns(found[name])
    for name in ("latitude", "longitude", "captured_at"):
        images = images.with_columns(
            pl.coalesce(pl.col(name), found[name]).alias(name) if name in images.columns else found[name]
        )
    ordered = [name for name in IMAGES.columns if name in images.columns]
    images = images.select(*ordered, pl.exclude(ordered))
    rejects = pl.DataFrame(
        {
            "path": [
                *(move_base(r.path, listing.base, base) for r in listing.rejects),
                *frame.filter(~is_image)["path"],
            ],
            "reason": [*(r.reason for r in listing.rejects), *measured.filter(~is_image)["reason"]],
        },
        schema={"path": pl.String(), "reason": pl.String()},
    ).sort("path")
    with_note = found["position_note"].is_not_null()
    return ScanResult(
        images=validate_table(images, IMAGES, where="scanned images"),
        rejects=validate_table(rejects, REJECTS, where="scan's rejects"),
        position_notes=pl.DataFrame(
            {"path": images.filter(with_note)["path"], "reason": found.filter(with_note)["position_note"]}
        ),
        notes=listing.notes,
    )


def _move_paths(paths: pl.Series, old: Path, new: Path) -> pl.Series:
    """Return paths relative to ``old`` as paths relative to ``new``."""
    prefix = Path(os.path.relpath(old, new)).as_posix()
    if prefix == ".":
        return paths
    moved = [
        move_base(path, old, new) if is_uri(path) or PurePath(path).is_absolute() else normpath(f"{prefix}/{path}")
        for path in paths.to_list()
    ]
    return pl.Series(paths.name, moved, dtype=pl.String())
