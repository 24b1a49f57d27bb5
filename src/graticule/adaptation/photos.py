"""Photos as an algorithm's inputs: decoded ahead, varied for training, cropped as the network wants them to predict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from jaxtyping import Float32, Int
from PIL import Image
from torch import nn

from graticule.adaptation.algorithm import Algorithm, Batch
from graticule.adaptation.augment import Augmentation
from graticule.adaptation.backbone import make_backbone
from graticule.adaptation.batches import BatchSource, check_batch_size
from graticule.adaptation.inference import Inferred, infer, join_inferred
from graticule.adaptation.inputs import Rows
from graticule.adaptation.sampling import RowSampler, mix_seed
from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.errors import FileError, ImageError
from graticule.models.registry import load_network
from graticule.models.transform import Transform

CACHE_BYTES = 1 << 30
"""Decoded photos that are kept in memory, so that small sets are decoded once."""
STEPS_AHEAD = 2
INFERENCE_BATCH = 32


@dataclass(slots=True, kw_only=True, eq=False)
class PhotoFiles:
    """Photos by row, decoded to a size that training crops are cut from.

    Parameters
    ----------
    paths
        Files, relative to ``base``.
    base
        Folder that they start from.
    transform
        The network's preprocessing; photos are decoded to its ``resize_to``, shortest side.
    """

    paths: Sequence[str | None]
    base: Path
    transform: Transform
    _cache: dict[int, Image.Image] = field(default_factory=dict[int, Image.Image], init=False)
    _cached_bytes: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def open(self, row: int) -> Image.Image:
        """Return a photo whose shortest side has the length that the network's crop is cut from.

        Raises
        ------
        ImageError
            It cannot be read.
        """
        if (found := self._cache.get(row)) is not None:
            return found
        path = self.paths[row]
        try:
            if not path:
                raise ImageError("no path")
            image = open_image(read_bytes(path, self.base), min_side=self.transform.min_side)
        except (ImageError, FileError) as error:
            raise ImageError(
                f"row {row + 1} of the images, {path}: {error} Expected a photo that can be read. Leave it out: "
                "'graticule scan' lists such files among its rejects."
            ) from error
        image = shrink(image, min(self.transform.resize_to))
        size = image.width * image.height * 3
        with self._lock:
            if self._cached_bytes + size <= CACHE_BYTES and row not in self._cache:
                self._cache[row] = image
                self._cached_bytes += size
        return image


def shrink(image: Image.Image, side: int) -> Image.Image:
    """Return a photo whose shortest side is ``side`` pixels, if it was longer."""
    shortest = min(image.size)
    if shortest <= side:
        return image
    scale = side / shortest
    size = (max(round(image.width * scale), side), max(round(image.height * scale), side))
    return image.resize(size, Image.Resampling.BICUBIC)


@dataclass(slots=True, kw_only=True, eq=False)
class PhotoBatches:
    """Batches of varied photos, made ahead by threads; what a step sees depends on the seed and the step alone."""

    files: PhotoFiles
    rows: Rows
    batch_size: int
    seed: int
    augmentation: Augmentation
    pool: ThreadPoolExecutor
    _waiting: dict[int, list[Future[np.ndarray]]] = field(
        default_factory=dict[int, list[Future[np.ndarray]]], init=False
    )
    _samplers: tuple[RowSampler, RowSampler] = field(init=False)

    def __post_init__(self) -> None:
        check_batch_size(self.batch_size, n_source=len(self.rows.source), n_target=len(self.rows.target))
        labels = torch.from_numpy(self.rows.source_labels) if self.rows.is_source_balanced else None
        self._samplers = (
            RowSampler(n=len(self.rows.source), batch_size=self.batch_size, seed=mix_seed(self.seed, 0), labels=labels),
            RowSampler(n=len(self.rows.target), batch_size=self.batch_size, seed=mix_seed(self.seed, 1)),
        )

    def draw(self, step: int) -> Batch:
        """Return the batch of a step."""
        for ahead in range(step, step + 1 + STEPS_AHEAD):
            if ahead not in self._waiting:
                self._waiting[ahead] = self._start(ahead)
        pixels = np.stack([future.result() for future in self._waiting.pop(step)])
        inputs = torch.from_numpy(self.augmentation.transform.normalise(pixels))
        inputs = inputs.contiguous(memory_format=torch.channels_last)
        source, target = (sampler.draw(step) for sampler in self._samplers)
        return Batch(
            source=inputs[: self.batch_size],
            source_labels=torch.from_numpy(self.rows.source_labels)[source],
            target=inputs[self.batch_size :],
            target_rows=target,
        )

    def _start(self, step: int) -> list[Future[np.ndarray]]:
        source, target = (sampler.draw(step).numpy() for sampler in self._samplers)
        rows = [*self.rows.source[source], *self.rows.target[target]]
        return [self.pool.submit(self._make, int(row), step, place) for place, row in enumerate(rows)]

    def _make(self, row: int, step: int, place: int) -> np.ndarray:
        rng = np.random.default_rng(mix_seed(self.seed, 3, step, place))
        return self.augmentation(self.files.open(row), rng)


@dataclass(slots=True, kw_only=True, eq=False)
class PhotoInputs:
    """Photos, and the network whose features are adapted with its head.

    Parameters
    ----------
    files
        The photos.
    model, weights
        The network's name and where its weights come from, as `graticule.models.registry.load_network` takes them.
    n_features
        How many features it gives.
    mirrors
        Whether training photos are mirrored.
    pool
        Threads that decode.
    """

    files: PhotoFiles
    model: str
    weights: str | None
    n_features: int
    mirrors: bool
    pool: ThreadPoolExecutor

    def make_backbone(self) -> nn.Module | None:
        """Return the network with its initial weights."""
        backbone, _ = make_backbone(load_network(self.model, weights=self.weights))
        return backbone.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]

    def make_batches(self, rows: Rows, *, batch_size: int, seed: int) -> BatchSource:
        """Return batches of varied photos."""
        augmentation = Augmentation(transform=self.files.transform, mirrors=self.mirrors)
        return PhotoBatches(
            files=self.files, rows=rows, batch_size=batch_size, seed=seed, augmentation=augmentation, pool=self.pool
        )

    def infer(self, algorithm: Algorithm, rows: Int[np.ndarray, " n"]) -> Inferred:
        """Return what an algorithm says of some photos."""
        blocks = [
            infer(algorithm, self._crop(rows[start : start + INFERENCE_BATCH]))
            for start in range(0, len(rows), INFERENCE_BATCH)
        ]
        return join_inferred(blocks)

    def hash(self) -> str:
        """Return a hash of the files' names and sizes, and of the network."""
        digest = hashlib.sha256(f"{self.model} {self.weights} {self.mirrors} {self.files.transform}".encode())
        for path in self.files.paths:
            place = self.files.base / (path or "")
            size = place.stat().st_size if path and place.is_file() else -1
            digest.update(f"\n{path} {size}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def _crop(self, rows: Int[np.ndarray, " n"]) -> Float32[np.ndarray, "n 3 h w"]:
        photos = self.pool.map(self.files.open, rows.tolist())
        return self.files.transform.normalise(np.stack([self.files.transform.crop(photo) for photo in photos]))
