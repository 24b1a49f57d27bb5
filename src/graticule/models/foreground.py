"""Foreground masks of images: files that are white where the object is, found by the image's name or path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from jaxtyping import Float32
from PIL import Image

from graticule.errors import FileError, ImageError
from graticule.models.transform import Transform

SUFFIXES = (".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".jpg", ".jpeg")
HALF = 128
ASPECT_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskFolder:
    """A folder of masks, one an image, under the image's name (or path) with any usual ending.

    A mask has the photo's aspect; pixels from 128 to 255 are the object. ``a/b.jpg`` has its mask at ``a/b.png``.
    """

    folder: Path

    def find(self, image_id: str, path: str | None) -> Path | None:
        """Return an image's mask file; None where there is none."""
        for name in (image_id, path or ""):
            stem = PurePosixPath(name.replace("\\", "/")).with_suffix("") if name else None
            if stem is None or stem.is_absolute() or ".." in stem.parts:
                continue
            for suffix in SUFFIXES:
                place = self.folder / f"{stem}{suffix}"
                if place.is_file():
                    return place
        return None

    def check(self) -> None:
        """Raise unless the folder is there.

        Raises
        ------
        FileError
            It is not.
        """
        if not self.folder.is_dir():
            raise FileError(f"--masks {self.folder}: no such folder; expected one of mask files, one an image.")


def read_mask(place: Path) -> Image.Image:
    """Return a mask as black and white.

    Raises
    ------
    ImageError
        The file is no image.
    """
    try:
        with Image.open(place) as image:
            return image.convert("L").point([255 * (value >= HALF) for value in range(256)])
    except (OSError, ValueError) as error:
        raise ImageError(f"{place}: not a readable mask ({error}). Write it again as PNG.") from error


def crop_mask(mask: Image.Image, transform: Transform, *, size: tuple[int, int]) -> Float32[np.ndarray, "h w"]:
    """Return the share of foreground at each pixel of a model's input, cut as the photo is.

    Parameters
    ----------
    mask
        As `read_mask` gives it.
    transform
        The model's preprocessing.
    size
        Width and height of the photo, with which the mask must agree up to scale.

    Raises
    ------
    ImageError
        Its aspect is another.
    """
    if abs(mask.width * size[1] / (mask.height * size[0]) - 1) > ASPECT_TOLERANCE:
        raise ImageError(
            f"the mask is {mask.width}×{mask.height} and the photo {size[0]}×{size[1]}; expected the same aspect."
        )
    whole = mask.resize(size, Image.Resampling.BILINEAR) if mask.size != size else mask
    pixels = transform.crop(whole.convert("RGB"))
    return pixels[:, :, 0].astype(np.float32) / 255
