"""What a network looks at in photos: its share on the object, and a picture of it."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Float, Int
from PIL import Image

from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.errors import FileError, ImageError, unknown_choice
from graticule.models.foreground import MaskFolder, crop_mask, read_mask
from graticule.models.saliency import SALIENCIES
from graticule.models.saliency.map import Looker
from graticule.progress import track

SIDE = 160
QUALITY = 70
WARM = np.array([255.0, 96.0, 16.0])
STRONGEST = 0.8
"""Most that the warm colour covers a photo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookConfig:
    """How it is looked."""

    method: str = "grad_cam"
    batch_size: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a network looked at in one photo.

    Parameters
    ----------
    on_foreground
        Share of the saliency on the object; NaN without a mask, or where nothing speaks for the label.
    area
        Share of the input that the object covers; NaN without a mask.
    photo, overlay
        Pictures as data URIs; empty where none was asked for, or the photo cannot be read.
    """

    on_foreground: float
    area: float
    photo: str = ""
    overlay: str = ""


NOTHING = Look(on_foreground=math.nan, area=math.nan)


def look_at_images(
    images: pl.DataFrame,
    *,
    base: Path,
    looker: Looker,
    targets: Int[np.ndarray, " n"],
    config: LookConfig | None = None,
    masks: MaskFolder | None = None,
    pictured: Collection[str] = (),
) -> list[Look]:
    """Return one look an image, in order.

    Parameters
    ----------
    images
        An images table with paths.
    base
        Folder that relative paths start from.
    looker
        The network with the head whose scores are asked about.
    targets
        The label that is asked about in each image, as an index of the head.
    config
        Method and batch size; a batch gives what its images give alone.
    masks
        Where masks are.
    pictured
        Names of the images of which pictures are wanted.

    Raises
    ------
    ConfigError
        The method is unknown or cannot look into this network.
    """
    settings = config or LookConfig()
    if settings.method not in SALIENCIES:
        raise unknown_choice("method of saliency", settings.method, SALIENCIES)
    method = SALIENCIES[settings.method]
    found: list[Look] = []
    starts = range(0, images.height, settings.batch_size)
    for start in track(starts, total=len(starts), label="saliency", unit="batch", shown=images.height > 0):
        batch = images.slice(start, settings.batch_size)
        photos = [_read(path, base, looker) for path in batch["path"].to_list()]
        good = [row for row, photo in enumerate(photos) if photo is not None]
        looks = [NOTHING] * batch.height
        if good:
            pixels = np.stack([photo[0] for photo in photos if photo is not None])
            maps = method(looker, pixels, targets[start : start + batch.height][good].astype(np.int64))
            for row, cropped, seen in zip(good, pixels, maps, strict=True):
                photo = photos[row]
                assert photo is not None
                image_id, path = batch["image_id"][row], batch["path"][row]
                share = _read_share(image_id, path, masks, looker, size=photo[1])
                looks[row] = _describe(cropped, seen, share, is_pictured=image_id in pictured)
        found += looks
    return found


def _read(path: str | None, base: Path, looker: Looker) -> tuple[np.ndarray, tuple[int, int]] | None:
    if not path:
        return None
    try:
        image = open_image(read_bytes(path, base))
    except (ImageError, FileError):
        return None
    return looker.network.transform.crop(image), image.size


def _read_share(
    image_id: str, path: str, masks: MaskFolder | None, looker: Looker, *, size: tuple[int, int]
) -> Float[np.ndarray, "h w"] | None:
    place = None if masks is None else masks.find(image_id, path)
    if place is None:
        return None
    try:
        return crop_mask(read_mask(place), looker.network.transform, size=size)
    except ImageError:
        return None


def _describe(
    pixels: np.ndarray, seen: np.ndarray, share: Float[np.ndarray, "h w"] | None, *, is_pictured: bool
) -> Look:
    total = float(seen.sum())
    return Look(
        on_foreground=float((seen * share).sum() / total) if share is not None and total > 0 else math.nan,
        area=math.nan if share is None else float(share.mean()),
        photo=_write(pixels) if is_pictured else "",
        overlay=_write(_warm(pixels, seen)) if is_pictured else "",
    )


def _warm(pixels: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return a photo in grey with warm colour where it was looked at."""
    strength = STRONGEST * (seen / max(float(seen.max()), 1e-12))[:, :, None]
    grey = pixels.astype(np.float64).mean(axis=2, keepdims=True)
    return np.clip((1 - strength) * grey + strength * WARM, 0, 255).astype(np.uint8)


def _write(pixels: np.ndarray) -> str:
    image = Image.fromarray(pixels)
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    held = io.BytesIO()
    image.save(held, "WEBP", quality=QUALITY, method=4)
    return "data:image/webp;base64," + base64.b64encode(held.getvalue()).decode("ascii")
