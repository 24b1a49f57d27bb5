"""Images read, decoded and cropped ahead of whoever computes them, in order, with bad ones named instead of raised.

Threads do it: reading, decoding and resizing leave Python's lock. A JPEG is decoded at half, a quarter or an eighth of
its size where the model's input needs no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.errors import FileError, ImageError
from graticule.models.transform import Transform

IMAGES_A_TASK = 8
"""Images that a thread takes at once: enough to make handing over cheap, few enough to share a batch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PixelBatch:
    """Some consecutive images of a list.

    Parameters
    ----------
    start, stop
        Which ones.
    pixels
        Shape ``(b, h, w, 3)``; zeros where an image is bad.
    reasons
        Why an image is bad; None where it is good.
    """

    start: int
    stop: int
    pixels: UInt8[np.ndarray, "b h w 3"]
    reasons: tuple[str | None, ...]


def read_batches(
    paths: Sequence[str | None],
    *,
    base: str | Path,
    transform: Transform,
    batch_size: int,
    n_workers: int,
    start: int = 0,
    reduced: bool = True,
) -> Generator[PixelBatch]:
    """Yield the images of a list in batches, in order.

    Parameters
    ----------
    paths
        As an images table holds them; None is a bad image.
    base
        Folder that relative paths start from.
    transform
        What is done to each image.
    batch_size
        Images a batch; the last may have fewer.
    n_workers
        Threads that decode.
    start
        Index of the first image to read.
    reduced
        Decode JPEGs at a reduced scale where the model needs no more.

    Notes
    -----
    At most two batches, or as many as keep the threads busy, are decoded ahead.
    """
    n_ahead = 2 + -(-n_workers * IMAGES_A_TASK // batch_size)
    starts = iter(range(start, len(paths), batch_size))
    waiting: deque[_Started] = deque()
    with ThreadPoolExecutor(n_workers, thread_name_prefix="decode") as pool:
        reader = _Reader(paths=paths, base=Path(base), transform=transform, reduced=reduced)
        try:
            while True:
                for first in _take(starts, n_ahead - len(waiting)):
                    waiting.append(_start(reader, first, min(first + batch_size, len(paths)), pool))
                if not waiting:
                    return
                yield waiting.popleft().finish()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Reader:
    """How the images of a list become pixels."""

    paths: Sequence[str | None]
    base: Path
    transform: Transform
    reduced: bool

    def fill(self, pixels: np.ndarray, indices: Sequence[int], first: int) -> list[str | None]:
        """Write the pixels of some images to their places in a batch; return what is wrong with each."""
        return [self._fill_one(pixels[index - first], self.paths[index]) for index in indices]

    def _fill_one(self, place: np.ndarray, path: str | None) -> str | None:
        if not path:
            return "no path"
        try:
            data = read_bytes(path, self.base)
            image = open_image(data, min_side=self.transform.min_side if self.reduced else None)
            place[...] = self.transform.crop(image)
        except (ImageError, FileError) as error:
            return str(error)
        except MemoryError:
            return "too large to decode in the memory that is there; make it smaller first"
        return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Started:
    """A batch that threads are filling."""

    start: int
    stop: int
    pixels: np.ndarray
    tasks: list[Future[list[str | None]]]

    def finish(self) -> PixelBatch:
        """Wait until it is full."""
        reasons = tuple(reason for task in self.tasks for reason in task.result())
        return PixelBatch(start=self.start, stop=self.stop, pixels=self.pixels, reasons=reasons)


def _start(reader: _Reader, start: int, stop: int, pool: ThreadPoolExecutor) -> _Started:
    pixels = np.zeros((stop - start, reader.transform.height, reader.transform.width, 3), dtype=np.uint8)
    shares = [range(at, min(at + IMAGES_A_TASK, stop)) for at in range(start, stop, IMAGES_A_TASK)]
    tasks = [pool.submit(reader.fill, pixels, share, start) for share in shares]
    return _Started(start=start, stop=stop, pixels=pixels, tasks=tasks)


def _take(starts: Iterator[int], count: int) -> Generator[int]:
    for _, start in zip(range(count), starts, strict=False):
        yield start
