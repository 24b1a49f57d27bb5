"""Any Pillow picture → 8-bit RGB, with documented answers where a mode has no single meaning.

- Alpha, transparent palette entries and transparent colours are laid on white.
- 16-bit greys are scaled by their full range, 0–65535 → 0–255; never clipped.
- 32-bit integers and floats have no agreed white. Values within 0–1 (floats) are multiplied by 255, within 0–255 kept,
  within 0–65535 scaled as 16-bit ones, and anything else is stretched from its least to its greatest value. NaN is
  black.
- CMYK is converted without its colour profile, as Pillow and torchvision do (JPEGs that Adobe wrote inverted are turned
  back by Pillow). RGB keeps its numbers; a profile such as Display P3 is not applied, as in common training pipelines.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageCms

WHITE = (255, 255, 255, 255)
SIXTEEN_BIT_MODES = ("I;16", "I;16L", "I;16B", "I;16N")


def to_rgb(image: Image.Image) -> Image.Image:
    """Return the loaded picture as 8-bit RGB, by the rules above."""
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode in SIXTEEN_BIT_MODES:
        return _grey_from_sixteen_bits(image)
    if image.mode in ("I", "F"):
        return _grey_from_wide(image)
    if image.mode == "LAB":
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
        return converted if converted is not None else image.convert("L").convert("RGB")
    if image.mode in ("La", "RGBa"):
        image = image.convert("LA" if image.mode == "La" else "RGBA")
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, WHITE), rgba).convert("RGB")
    return image.convert("RGB")


def _grey_from_sixteen_bits(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.uint32)
    grey = ((values * 255 + 32767) // 65535).astype(np.uint8)
    clear = image.info.get("transparency")
    if isinstance(clear, int):
        grey = np.where(values == clear, np.uint8(255), grey)
    return Image.fromarray(grey).convert("RGB")


def _grey_from_wide(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scale, offset = _find_scale(low, high, mode=image.mode, is_sixteen_bit=image.format == "PPM")
    grey = np.nan_to_num((values - offset) * scale, nan=0.0, posinf=255.0, neginf=0.0)
    return Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8)).convert("RGB")


def _find_scale(low: float, high: float, *, mode: str, is_sixteen_bit: bool) -> tuple[float, float]:
    """Return the factor and the offset that bring values between ``low`` and ``high`` to 0–255."""
    if is_sixteen_bit:
        return 255 / 65535, 0.0
    if low >= 0 and high <= 1 and mode == "F":
        return 255.0, 0.0
    if low >= 0 and high <= 255:
        return 1.0, 0.0
    if low >= 0 and high <= 65535:
        return 255 / 65535, 0.0
    if high == low:
        return 0.0, 0.0
    return 255 / (high - low), low
