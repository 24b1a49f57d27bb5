"""A model's own preprocessing: from a photo to the pixels that it expects.

Each provider says what its library does (`Transform`); this module does it on a Pillow image, equal to the library's
own transform, with only the pixels that survive the crop computed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """How a model wants its images.

    Parameters
    ----------
    height, width
        Size of the input, in pixels.
    resize
        How a photo is brought to size: ``shortest`` (shortest side to ``resize_to``, then a centre crop), ``squash``
        (both sides to ``resize_to`` whatever the aspect, then a centre crop), ``longest`` (longest side to
        ``resize_to``, then padded with ``fill``).
    resize_to
        Height and width that the resize aims at, before the crop.
    interpolation
        ``nearest``, ``bilinear``, ``bicubic``, ``lanczos``, ``box`` or ``hamming``.
    mean, std
        Subtracted from and divided into pixel values in [0, 1], a channel.
    fill
        Padding, 0 to 255, a channel.
    """

    height: int
    width: int
    resize: str = "shortest"
    resize_to: tuple[int, int]
    interpolation: str = "bicubic"
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    fill: tuple[int, int, int] = (0, 0, 0)

    def describe(self) -> str:
        """Return the transform in one line, for metadata and pages."""
        crop = (
            f"centre crop {self.height}×{self.width}"
            if self.resize != "longest"
            else f"pad to {self.height}×{self.width}"
        )
        return (
            f"{self.resize} side to {self.resize_to[0]}×{self.resize_to[1]} ({self.interpolation}), {crop}, "
            f"mean {self.mean}, std {self.std}"
        )
