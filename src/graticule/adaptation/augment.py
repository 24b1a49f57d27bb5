"""How training photos are varied: a random part of the photo at the network's size, mirrored or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from graticule.models.transform import INTERPOLATIONS, Transform

AREAS = (0.08, 1.0)
"""Least and largest share of the photo that is cut out (Szegedy et al. 2015)."""
ASPECTS = (3 / 4, 4 / 3)
N_TRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """A random resized crop and a mirror image.

    Parameters
    ----------
    transform
        The network's preprocessing: its size and interpolation.
    mirrors
        Whether half of the photos are mirrored; not for signs and letters.
    areas
        Least and largest share of the photo that is cut out.
    """

    transform: Transform
    mirrors: bool = True
    areas: tuple[float, float] = AREAS

    def __call__(self, image: Image.Image, rng: np.random.Generator) -> UInt8[np.ndarray, "h w 3"]:
        """Return the pixels of a photo, varied."""
        box = self._draw_box(image.width, image.height, rng)
        size = (self.transform.width, self.transform.height)
        part = image.resize(size, INTERPOLATIONS[self.transform.interpolation], box=box)
        if self.mirrors and rng.random() < 0.5:
            part = part.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return np.asarray(part)

    def _draw_box(self, width: int, height: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a part; the middle where none of ten fits."""
        for _ in range(N_TRIES):
            area = width * height * rng.uniform(*self.areas)
            aspect = math.exp(rng.uniform(math.log(ASPECTS[0]), math.log(ASPECTS[1])))
            across, down = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < across <= width and 0 < down <= height:
                left, top = rng.integers(0, width - across + 1), rng.integers(0, height - down + 1)
                return float(left), float(top), float(left + across), float(top + down)
        side = min(width, height)
        left, top = (width - side) / 2, (height - side) / 2
        return left, top, left + side, top + side
