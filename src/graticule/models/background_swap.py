"""Objects on other backgrounds: the object of one photo, pasted over the background of another, and predicted again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int, UInt8

from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.errors import FileError, ImageError
from graticule.models.foreground import MaskFolder, crop_mask, read_mask
from graticule.models.saliency.map import Looker
from graticule.progress import track

BATCH_IMAGES = 32
HALF = 0.5


def swap_background(
    object_pixels: UInt8[np.ndarray, "h w 3"],
    object_share: Float[np.ndarray, "h w"],
    other_pixels: UInt8[np.ndarray, "h w 3"],
    other_share: Float[np.ndarray, "h w"],
) -> UInt8[np.ndarray, "h w 3"]:
    """Return one photo's object on another's background, with soft edges.

    Where the other photo's own object stood and this one does not cover it, the nearest pixels of its background are
    drawn on.
    """
    filled = fill_object(other_pixels, other_share >= HALF)
    share = object_share[:, :, None].astype(np.float64)
    return np.clip(share * object_pixels + (1 - share) * filled + 0.5, 0, 255).astype(np.uint8)


def fill_object(pixels: UInt8[np.ndarray, "h w 3"], is_object: Bool[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w 3"]:
    """Return a photo whose object is painted over with the nearest background."""
    from scipy.ndimage import distance_transform_edt

    if is_object.all():
        return pixels
    nearest = distance_transform_edt(is_object, return_distances=False, return_indices=True)
    assert isinstance(nearest, np.ndarray)
    return pixels[nearest[0], nearest[1]]


def predict_swapped(
    images: pl.DataFrame,
    objects: Int[np.ndarray, " m"],
    backgrounds: Int[np.ndarray, " m"],
    *,
    base: Path,
    looker: Looker,
    masks: MaskFolder,
) -> Int[np.ndarray, " m"]:
    """Return the label that the head gives to each exchanged photo; -1 where a photo or mask cannot be read.

    Parameters
    ----------
    images
        An images table with paths.
    objects, backgrounds
        Rows of the photos whose object, and whose background, is taken.
    base
        Folder that relative paths start from.
    looker
        Network and head.
    masks
        Where masks are.
    """
    import torch

    found = np.full(len(objects), -1, dtype=np.int64)
    cache: dict[int, tuple[np.ndarray, np.ndarray] | None] = {}

    def read(row: int) -> tuple[np.ndarray, np.ndarray] | None:
        if row not in cache:
            cache[row] = _read(images, row, base=base, looker=looker, masks=masks)
        return cache[row]

    starts = range(0, len(objects), BATCH_IMAGES)
    for start in track(starts, total=len(starts), label="exchanging backgrounds", unit="batch"):
        rows: list[int] = []
        made: list[np.ndarray] = []
        for place in range(start, min(start + BATCH_IMAGES, len(objects))):
            one, other = read(int(objects[place])), read(int(backgrounds[place]))
            if one is not None and other is not None:
                rows.append(place)
                made.append(swap_background(*one, *other))
        if rows:
            with torch.inference_mode():
                scores = looker.score(looker.place(np.stack(made)))
            found[rows] = scores.argmax(dim=1).cpu().numpy()
    return found


def _read(
    images: pl.DataFrame, row: int, *, base: Path, looker: Looker, masks: MaskFolder
) -> tuple[np.ndarray, np.ndarray] | None:
    path = images["path"][row]
    place = masks.find(images["image_id"][row], path)
    if not path or place is None:
        return None
    try:
        image = open_image(read_bytes(path, base))
        share = crop_mask(read_mask(place), looker.network.transform, size=image.size)
    except (ImageError, FileError):
        return None
    return looker.network.transform.crop(image), share
