"""Images through a model to a file: decoded ahead, computed in streams, written in parts, resumable.

Decoders (threads) fill batches in order; as many threads as the engine has streams compute them; the caller's thread
writes what is done. Each hand-over is a short queue, so memory does not grow with the number of images.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.store import Provenance
from graticule.errors import ImageError, ModelError, TableError, shown
from graticule.models.engine_settings import count_threads
from graticule.models.model import Model
from graticule.models.part_writer import Column, ComputedBatch, PartWriter
from graticule.models.parts import Parts
from graticule.models.pixels import PixelBatch, read_batches
from graticule.progress import track


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How images are streamed. All but ``reduced`` change nothing that is computed, beyond a float's last digits.

    Parameters
    ----------
    batch_size
        Images computed at once.
    n_workers
        Threads that decode; 0 takes one a core that computes, or all cores where a graphics card does.
    reduced
        Decode JPEGs at a half, a quarter or an eighth of their size where the model needs no more: accuracy stays, and
        features keep a cosine of about .998.
    restart
        Drop what an interrupted run left instead of going on with it.
    part_images, part_s
        A part is written after so many images, or so many seconds, whichever comes first.
    progress
        Whether to draw a progress bar.
    """

    batch_size: int = 32
    n_workers: int = 0
    reduced: bool = True
    restart: bool = False
    part_images: int = 1024
    part_s: float = 10.0
    progress: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """A stretch of work: which images, what of them, where to, and what the file says of itself."""

    images: pl.DataFrame
    base: Path
    model: Model
    column: Column
    output: Path
    label: str
    run: Mapping[str, Any]
    """What must be the same for an interrupted run to go on."""
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streamed:
    """What came of a run."""

    path: Path
    rejects_path: Path
    rejects: pl.DataFrame
    n_written: int
    n_resumed: int
    """Images that an earlier, interrupted run had done."""
    elapsed_s: float


def stream_images(job: Job, config: StreamConfig | None = None) -> Streamed:
    """Run images through a model and write one row for each good one, and one reject for each bad one.

    Raises
    ------
    ConfigError
        An interrupted run with other settings lies beside the output.
    TableError
        The images have no paths.
    ImageError
        Not one of the images can be read.
    ModelError
        The model fails.
    """
    settings = config or StreamConfig()
    if "path" not in job.images.columns:
        raise TableError(
            f"the images have no column 'path'; the columns are {shown(job.images.columns, limit=12)}. "
            "A model needs the photos: name the column that holds their files 'path'."
        )
    started = time.monotonic()
    parts = Parts(output=job.output)
    n_resumed = parts.open(_describe_run(job, settings), restart=settings.restart)
    rows = _work(job, settings, parts, start=n_resumed)
    bar = track(rows, total=job.images.height, label=job.label, done=n_resumed, shown=settings.progress)
    for _ in bar:
        pass
    if not job.images.height:
        PartWriter(images=job.images, column=job.column, parts=parts, start=0).write_empty()
    info = {**job.info, "decoding": _describe_decoding(job, settings)}
    rejects = parts.merge(info=info, provenance=job.provenance)
    n_written = job.images.height - rejects.height
    if job.images.height and not n_written:
        job.output.unlink()
        reasons = [f"{path}: {reason}" for path, reason in rejects.head(5).iter_rows()]
        raise ImageError(
            f"not one of {job.images.height} images could be read: {'; '.join(reasons)}. Paths are relative to "
            f"{job.base}. All reasons are in {parts.rejects_path}."
        )
    return Streamed(
        path=job.output,
        rejects_path=parts.rejects_path,
        rejects=rejects,
        n_written=n_written,
        n_resumed=n_resumed,
        elapsed_s=time.monotonic() - started,
    )


def _describe_decoding(job: Job, config: StreamConfig) -> str:
    if not config.reduced:
        return "in full"
    return f"JPEGs at a reduced scale where the shorter side keeps {job.model.transform.min_side} pixels"


def _describe_run(job: Job, config: StreamConfig) -> dict[str, Any]:
    """Return what makes two runs the same."""
    digest = hashlib.sha256()
    for row in job.images.select("image_id", "path").iter_rows():
        digest.update(repr(row).encode())
    images = f"{job.images.height} images ({digest.hexdigest()[:16]})"
    return {
        "images": images,
        "base": str(job.base.resolve()),
        "dtype": job.column.dtype,
        "decoding": _describe_decoding(job, config),
        **job.run,
    }


def _work(job: Job, config: StreamConfig, parts: Parts, *, start: int) -> Generator[int]:
    """Compute and write all images from ``start`` on; yield once for each image that is done."""
    writer = PartWriter(images=job.images, column=job.column, parts=parts, start=start)
    batches = read_batches(
        job.images["path"].to_list(),
        base=job.base,
        transform=job.model.transform,
        batch_size=config.batch_size,
        n_workers=config.n_workers or _count_workers(job.model),
        start=start,
        reduced=config.reduced,
    )
    with closing(batches):
        for done in _compute_in_order(batches, job):
            writer.add(done)
            if writer.n_waiting >= config.part_images or writer.age_s >= config.part_s:
                writer.flush()
            yield from range(done.batch.start, done.batch.stop)
    writer.flush()


def _count_workers(model: Model) -> int:
    return count_threads() if model.engine.device == "cpu" else os.cpu_count() or 1


def _compute_in_order(batches: Iterable[PixelBatch], job: Job) -> Generator[ComputedBatch]:
    """Yield batches as computed, in order, with one more waiting for each of the engine's streams."""
    n_streams = job.model.engine.n_streams
    waiting: deque[Future[ComputedBatch]] = deque()
    with ThreadPoolExecutor(n_streams, thread_name_prefix="compute") as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(_compute, batch, job))
                while len(waiting) >= 2 * n_streams or (waiting and waiting[0].done()):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _compute(batch: PixelBatch, job: Job) -> ComputedBatch:
    try:
        outputs = job.model.compute(batch.pixels, outputs=job.column.outputs)
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"{job.model.name}: fails on a batch of {len(batch.pixels)} images "
            f"({str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}). "
            "If memory ran out, give a smaller --batch-size and run again: it goes on where it stopped."
        ) from error
    return ComputedBatch(batch=batch, rows=job.column.make(outputs))
