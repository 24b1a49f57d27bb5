"""A model's own preprocessing: from a photo to the pixels that it expects.

Each provider says what its library does to a photo (a `Transform`); this module does the same with Pillow, to the
pixel. Pixels stay bytes, height × width × channel, until the model computes: a quarter of the memory of floats, and
engines subtract the mean while they compute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from graticule.errors import ConfigError, unknown_choice

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

INTERPOLATIONS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}

MAX_RESIZED_PIXELS = 1 << 24
"""A resized image with more pixels, of which all but a strip is cut off, is not made whole (a photo of 1 × 60,000)."""

REDUCED_MARGIN = 1.5
"""A JPEG is decoded at a reduced scale only if it stays so much larger than what it is resized to: a pixel then moves
by half a level of 255 on average (`graticule.data.decode.open_image`), and accuracy does not move
(tests/models/test_extract.py)."""

RESIZES = ("shortest", "squash", "longest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """How a model wants its images.

    Parameters
    ----------
    height, width
        Size of the input, in pixels.
    resize
        How a photo is brought to size: ``shortest`` (shortest side to ``resize_to``), ``squash`` (both sides to
        ``resize_to``, whatever the aspect) or ``longest`` (longest side to ``resize_to``). Then the centre is cut out;
        what is missing is padded with ``fill``.
    resize_to
        Height and width that the resize aims at, before the crop.
    interpolation
        A key of `INTERPOLATIONS`; all but ``nearest`` are antialiased.
    mean, std
        Subtracted from, and divided into, pixel values in [0, 1], a channel.
    fill
        Padding, 0 to 255, a channel.
    crops_down
        Where the margins cannot be equal, the crop starts half a pixel before the centre (transformers) instead of at
        the even number (torchvision, timm).
    """

    height: int
    width: int
    resize_to: tuple[int, int]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    resize: str = "shortest"
    interpolation: str = "bicubic"
    fill: tuple[int, int, int] = (0, 0, 0)
    crops_down: bool = False

    def __post_init__(self) -> None:
        if self.resize not in RESIZES:
            raise unknown_choice("resize", self.resize, RESIZES)
        if self.interpolation not in INTERPOLATIONS:
            raise unknown_choice("interpolation", self.interpolation, INTERPOLATIONS)
        if min(self.height, self.width, *self.resize_to) < 1 or min(self.std) <= 0:
            raise ConfigError("transform: sizes must be at least 1 and the std above 0.")

    @property
    def min_side(self) -> int:
        """Pixels that a photo's shorter side must keep when it is decoded at a reduced scale."""
        return math.ceil(REDUCED_MARGIN * max(self.resize_to))

    def describe(self) -> str:
        """Return the transform in one line, for metadata and pages."""
        height, width = self.resize_to
        aim = {"shortest": "shortest side to", "squash": "squashed to", "longest": "longest side to"}[self.resize]
        size = f"{height}" if height == width and self.resize != "squash" else f"{height}×{width}"
        mean = ", ".join(f"{value:.4g}" for value in self.mean)
        std = ", ".join(f"{value:.4g}" for value in self.std)
        return f"{aim} {size} ({self.interpolation}), centre {self.height}×{self.width}, mean ({mean}), std ({std})"

    def __call__(self, image: Image.Image) -> Float32[np.ndarray, "3 h w"]:
        """Return what the model expects of one RGB image: float32, channel × height × width."""
        return self.normalise(self.crop(image)[np.newaxis])[0]

    def crop(self, image: Image.Image) -> UInt8[np.ndarray, "h w 3"]:
        """Return the pixels of one RGB image, resized and cropped, as bytes."""
        size = self._resized_size(image.size)
        resized = image
        if size[0] * size[1] > MAX_RESIZED_PIXELS:
            resized = self._resize_centre(image, size)
        elif size != image.size:
            resized = image.resize(size, INTERPOLATIONS[self.interpolation])
        return np.asarray(self._centre(resized))

    def normalise(self, pixels: UInt8[np.ndarray, "b h w 3"]) -> Float32[np.ndarray, "b 3 h w"]:
        """Return the pixels as the model expects them: scaled to [0, 1], less the mean, over the std."""
        scale, offset = self.scale_and_offset()
        floats = np.empty((len(pixels), 3, *pixels.shape[1:3]), dtype=np.float32)
        np.multiply(pixels.transpose(0, 3, 1, 2), scale[:, np.newaxis, np.newaxis], out=floats)
        return np.add(floats, offset[:, np.newaxis, np.newaxis], out=floats)

    def scale_and_offset(self) -> tuple[Float32[np.ndarray, " 3"], Float32[np.ndarray, " 3"]]:
        """Return what bytes are multiplied with, and what is then added, a channel."""
        std = np.asarray(self.std, dtype=np.float64)
        return (1 / (255 * std)).astype(np.float32), (-np.asarray(self.mean) / std).astype(np.float32)

    def _resized_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return width and height after the resize, rounded as torchvision and timm round them."""
        width, height = size
        aim_height, aim_width = self.resize_to
        if self.resize == "squash":
            return aim_width, aim_height
        if self.resize == "shortest" and aim_height == aim_width:
            shorter, longer = sorted(size)
            long_side = int(aim_width * longer / shorter)
            return (aim_width, long_side) if width <= height else (long_side, aim_width)
        ratios = (height / aim_height, width / aim_width)
        ratio = min(ratios) if self.resize == "shortest" else max(ratios)
        return max(1, round(width / ratio)), max(1, round(height / ratio))

    def _resize_centre(self, image: Image.Image, size: tuple[int, int]) -> Image.Image:
        """Return the middle of a very long image, resized: the same as resizing it whole, up to a rounding."""
        width, height = min(size[0], self.width), min(size[1], self.height)
        left, top = (size[0] - width) // 2, (size[1] - height) // 2
        across, down = image.width / size[0], image.height / size[1]
        box = (left * across, top * down, (left + width) * across, (top + height) * down)
        return image.resize((width, height), INTERPOLATIONS[self.interpolation], box=box)

    def _centre(self, image: Image.Image) -> Image.Image:
        """Return the centre of an image, padded where it is too small."""
        missing_x, missing_y = max(0, self.width - image.width), max(0, self.height - image.height)
        if missing_x or missing_y:
            padded = Image.new("RGB", (image.width + missing_x, image.height + missing_y), self.fill)
            padded.paste(image, (missing_x // 2, missing_y // 2))
            image = padded
        left, top = (image.width - self.width) / 2, (image.height - self.height) / 2
        left, top = (int(left), int(top)) if self.crops_down else (round(left), round(top))
        if image.size == (self.width, self.height):
            return image
        return image.crop((left, top, left + self.width, top + self.height))


def scaled(size: tuple[int, int], crop_fraction: float) -> tuple[int, int]:
    """Return the size to resize to, of which a crop of ``size`` is ``crop_fraction``, rounded down as timm does.

    Examples
    --------
    >>> scaled((224, 224), 0.875)
    (256, 256)
    """
    return math.floor(size[0] / crop_fraction), math.floor(size[1] / crop_fraction)
