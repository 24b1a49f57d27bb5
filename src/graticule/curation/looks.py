"""What an image file looks like, in a few numbers: whether it can be read, its size, how flat and how blurred it is.

The picture is decoded once for all filters, at a reduced size. Finished work is kept beside the output, so that a run
that was killed goes on where it stopped.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Float32, UInt8
from PIL import Image

from graticule.curation.faces import LONG_SIDE, load_detector, score_face
from graticule.data.decode import measure_image, open_image, quiet_decoding
from graticule.data.journal import Journal, hash_plan
from graticule.data.sources import read_bytes
from graticule.errors import GraticuleError
from graticule.progress import track

SHORT_SIDE = 256
"""Pixels of the shorter side at which a picture is looked at: what most models see."""
FLAT_WITHIN = 10
"""Levels of 255 within which a pixel has the same colour as the picture's median, in every channel."""
BLUR_WINDOW = 11
"""Pixels of the mean filter that a picture is compared with (Crété and others)."""
CHUNK_IMAGES = 16
JOURNAL_INTERVAL_S = 3.0
"""How much work a kill may cost."""

LOOKS = {
    "trouble": pl.String(),
    "seen_width": pl.Int64(),
    "seen_height": pl.Int64(),
    "flat_share": pl.Float64(),
    "blur": pl.Float64(),
    "face": pl.Float64(),
}
"""Columns of what is measured: why it cannot be read, its size as shown, the share of pixels that have the median's
colour, how blurred it is, from 0 to 1, and, where it was asked for, how sure it is that it shows a face."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one file looks like."""

    trouble: str | None = None
    seen_width: int | None = None
    seen_height: int | None = None
    flat_share: float | None = None
    blur: float | None = None
    face: float | None = None


def look_at_images(
    images: pl.DataFrame,
    *,
    base: str | Path = ".",
    faces: bool = False,
    journal: str | Path | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Return what each image's file looks like, in the order of the images.

    Parameters
    ----------
    images
        An images table with paths; images without one are in trouble.
    base
        Folder that relative paths start from.
    faces
        Whether to look for faces; needs the extra ``faces``.
    journal
        Folder to keep finished work in; None keeps none. The caller removes it when its own result is written.
    workers
        Threads; None takes one for each processor.
    progress
        Whether to draw a progress bar.

    Raises
    ------
    MissingExtraError
        Faces are looked for, and the extra is not installed.
    """
    if faces:
        load_detector()
    paths = images["path"].to_list() if "path" in images.columns else [None] * images.height
    place = Path(base)
    kept = Journal(folder=Path(journal), plan=_describe(paths, place, faces=faces)) if journal else None
    done = kept.read()[0] if kept else pl.DataFrame()
    if done.schema != pl.Schema(LOOKS) or done.height > len(paths):
        done = pl.DataFrame(schema=LOOKS)
    parts, waiting = [done], list[Look]()
    n_kept, kept_at = done.height, time.monotonic()
    rest = _look_in_order(paths[n_kept:], place, faces=faces, workers=workers or len(os.sched_getaffinity(0)))
    for found in track(rest, total=len(paths), done=n_kept, label="Looking", shown=progress):
        waiting.append(found)
        if kept and time.monotonic() - kept_at > JOURNAL_INTERVAL_S:
            parts.append(_as_frame(waiting))
            kept.append(parts[-1], first_row=n_kept)
            n_kept += len(waiting)
            waiting, kept_at = [], time.monotonic()
    return pl.concat([*parts, _as_frame(waiting)])


def look_at(data: bytes, *, faces: bool = False) -> Look:
    """Return what a file's bytes look like; with ``faces``, how sure it is that there is a face too.

    Notes
    -----
    The file is decoded to its end, so a truncated one is in trouble.
    """
    try:
        facts = measure_image(data, verify=False)
        picture = open_image(data, min_side=LONG_SIDE if faces else SHORT_SIDE)
    except GraticuleError as error:
        return Look(trouble=str(error))
    face = score_face(picture) if faces else None
    scale = SHORT_SIDE / min(picture.size)
    if scale < 1:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    pixels = np.asarray(picture)
    grey = np.asarray(picture.convert("L"), dtype=np.float32)
    return Look(
        seen_width=facts.width,
        seen_height=facts.height,
        flat_share=measure_flatness(pixels),
        blur=measure_blur(grey),
        face=face,
    )


def measure_flatness(pixels: UInt8[np.ndarray, "h w 3"]) -> float:
    """Return the share of pixels that have nearly the picture's median colour, in every channel."""
    flat = pixels.reshape(-1, 3).astype(np.int16)
    return float((np.abs(flat - np.median(flat, axis=0)) <= FLAT_WITHIN).all(axis=1).mean())


def measure_blur(grey: Float32[np.ndarray, "h w"]) -> float:
    """Return how blurred a grey picture is: 0 for sharp, 1 for what blurring does not change any more.

    Notes
    -----
    A sharp picture loses much of its pixel-to-pixel variation when it is blurred again, a blurred one little. The
    variation that is left is taken along rows and along columns, and the larger of the two counts. A picture of one
    colour has nothing to lose and counts as 0: flatness is another matter.

    References
    ----------
    Crété, Dolmiere, Ladret and Nicolas (2007), The blur effect: perception and estimation with a new no-reference
    perceptual blur metric.
    """
    from scipy.ndimage import uniform_filter1d

    worst = 0.0
    for axis in (0, 1):
        if grey.shape[axis] < 3:
            continue
        again = uniform_filter1d(grey, size=BLUR_WINDOW, axis=axis, mode="nearest")
        before = np.abs(np.diff(grey, axis=axis))
        lost = np.maximum(before - np.abs(np.diff(again, axis=axis)), 0)
        total = float(before.sum())
        if total > 0:
            worst = max(worst, (total - float(lost.sum())) / total)
    return worst


def _describe(paths: Sequence[str | None], base: Path, *, faces: bool) -> str:
    from graticule import __version__

    return hash_plan((__version__, str(SHORT_SIDE), str(faces), str(base.resolve()), *(path or "" for path in paths)))


def _as_frame(found: Sequence[Look]) -> pl.DataFrame:
    return pl.DataFrame([astuple(look) for look in found], schema=LOOKS, orient="row")


def _look_in_order(paths: Sequence[str | None], base: Path, *, faces: bool, workers: int) -> Generator[Look]:
    """Yield what each file looks like, in order, with a bounded number of files in work."""
    chunks = [paths[start : start + CHUNK_IMAGES] for start in range(0, len(paths), CHUNK_IMAGES)]
    running: deque[Future[list[Look]]] = deque()
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="look")
    try:
        for chunk in chunks:
            if len(running) >= 3 * workers:
                yield from running.popleft().result()
            running.append(pool.submit(_look_at_chunk, chunk, base, faces))
        while running:
            yield from running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _look_at_chunk(paths: Sequence[str | None], base: Path, faces: bool) -> list[Look]:
    with quiet_decoding():
        return [_look_at_one(path, base, faces=faces) for path in paths]


def _look_at_one(path: str | None, base: Path, *, faces: bool) -> Look:
    if path is None:
        return Look(trouble="the table names no file for it")
    try:
        data = read_bytes(path, base)
    except GraticuleError as error:
        return Look(trouble=str(error).removeprefix(f"{base / path}: "))
    return look_at(data, faces=faces)
