"""Computed batches → parts of the output: rows of good images, reasons of bad ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float16, Float32

from graticule.models.model import Outputs
from graticule.models.parts import Parts, no_rejects
from graticule.models.pixels import PixelBatch

DTYPES = {"float32": pl.Float32(), "float16": pl.Float16()}
Vectors = Float32[np.ndarray, "b x"] | Float16[np.ndarray, "b x"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """The column that is made of a model's outputs.

    Parameters
    ----------
    name
        ``features`` or ``scores``.
    width
        Numbers in a row.
    dtype
        A key of `DTYPES`.
    outputs
        What the model is asked for.
    make
        From that to the rows. Threads call it at once.
    """

    name: str
    width: int
    outputs: tuple[str, ...]
    make: Callable[[Outputs], Vectors]
    dtype: str = "float32"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComputedBatch:
    """A batch that is computed."""

    batch: PixelBatch
    rows: np.ndarray


class PartWriter:
    """Collects rows until they make a part."""

    def __init__(self, *, images: pl.DataFrame, column: Column, parts: Parts, start: int) -> None:
        self._images = images
        self._column = column
        self._parts = parts
        self._start = start
        self._done: list[ComputedBatch] = []
        self._since = time.monotonic()

    @property
    def n_waiting(self) -> int:
        """Images that are collected."""
        return sum(done.batch.stop - done.batch.start for done in self._done)

    @property
    def age_s(self) -> float:
        """Seconds since the last part."""
        return time.monotonic() - self._since

    def add(self, done: ComputedBatch) -> None:
        """Collect a batch."""
        self._done.append(done)

    def flush(self) -> None:
        """Write what is collected as a part."""
        if not self._done:
            return
        stop = self._done[-1].batch.stop
        reasons = [reason for done in self._done for reason in _judge(done)]
        good = np.array([reason is None for reason in reasons])
        slice_ = self._images.slice(self._start, stop - self._start)
        vectors = np.concatenate([done.rows for done in self._done])[good]
        frame = _to_frame(self._column, slice_["image_id"].filter(pl.Series(good)).to_list(), vectors)
        named = slice_["path"].fill_null(slice_["image_id"]).to_list()
        bad = [(path, reason) for path, reason in zip(named, reasons, strict=True) if reason is not None]
        rejects = pl.DataFrame(bad, schema=no_rejects().schema, orient="row")
        self._parts.write(frame, rejects, start=self._start, stop=stop)
        self._start, self._done, self._since = stop, [], time.monotonic()

    def write_empty(self) -> None:
        """Write a part without rows, so that there is a table even of no images."""
        nothing = np.empty((0, self._column.width), dtype=np.float32)
        self._parts.write(_to_frame(self._column, [], nothing), no_rejects(), start=0, stop=0)


def _judge(done: ComputedBatch) -> list[str | None]:
    """Return why each image is bad: what its decoder said, or that the model gave no finite numbers."""
    finite = np.asarray(np.isfinite(done.rows).all(axis=1)).tolist()
    text = "the model gives numbers that are not finite; compute in float32"
    return [
        reason or (None if is_finite else text) for reason, is_finite in zip(done.batch.reasons, finite, strict=True)
    ]


def _to_frame(column: Column, image_ids: list[str], vectors: np.ndarray) -> pl.DataFrame:
    dtype = pl.Array(DTYPES[column.dtype], column.width)
    values = pl.Series(column.name, np.ascontiguousarray(vectors, dtype=column.dtype), dtype=dtype)
    return pl.DataFrame([pl.Series("image_id", image_ids, dtype=pl.String), values])
