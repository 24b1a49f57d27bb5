"""Where an object of a rendered scene stands, and the few strokes that all objects are drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]


def shade(colour: Colour, factor: float) -> Colour:
    """Return a colour made lighter (above 1) or darker.

    Examples
    --------
    >>> shade((100, 200, 10), 1.5)
    (150, 255, 15)
    """
    red, green, blue = (max(0, min(255, round(part * factor))) for part in colour)
    return red, green, blue


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A canvas with its origin at the object's foot: one unit is the object's scale, and y grows upwards."""

    draw: ImageDraw.ImageDraw
    x: float
    foot: float
    scale: float
    design: int
    rng: np.random.Generator

    def at(self, x: float, y: float) -> Point:
        """Return a point of the object in pixels of the canvas."""
        return self.x + x * self.scale, self.foot - y * self.scale

    def pick(self, colours: Sequence[Colour]) -> Colour:
        """Return one of the colours, a little lighter or darker."""
        return shade(colours[int(self.rng.integers(len(colours)))], float(self.rng.uniform(0.9, 1.1)))

    def box(self, left: float, bottom: float, right: float, top: float, *, fill: Colour) -> None:
        """Fill a rectangle."""
        self.draw.rectangle((*self.at(left, top), *self.at(right, bottom)), fill=fill)

    def shape(self, *points: Point, fill: Colour) -> None:
        """Fill a polygon."""
        self.draw.polygon([self.at(*point) for point in points], fill=fill)

    def disc(self, x: float, y: float, radius: float, *, fill: Colour, flat: float = 1.0) -> None:
        """Fill a circle, or an ellipse whose height is ``flat`` times its width."""
        left, top = self.at(x - radius, y + radius * flat)
        right, bottom = self.at(x + radius, y - radius * flat)
        self.draw.ellipse((left, top, right, bottom), fill=fill)

    def stroke(self, *points: Point, width: float, fill: Colour) -> None:
        """Draw a line of a width in units of the object."""
        self.draw.line([self.at(*point) for point in points], fill=fill, width=max(1, round(width * self.scale)))

    def shadow(self) -> None:
        """Draw the shadow at the object's foot."""
        self.disc(0, 0, 0.62, fill=(62, 60, 52), flat=0.07)
