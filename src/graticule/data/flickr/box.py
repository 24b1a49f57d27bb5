"""An area of the world between two parallels and two meridians, and its halves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graticule.errors import ConfigError

EXAMPLE = "68,6,97,36"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An area, in degrees; it never crosses the antimeridian."""

    west: float = -180.0
    south: float = -90.0
    east: float = 180.0
    north: float = 90.0

    @property
    def side(self) -> float:
        """The longer side in degrees."""
        return max(self.east - self.west, self.north - self.south)

    def halve(self) -> tuple[Box, Box]:
        """Return the two halves, cut across the longer side."""
        if self.east - self.west >= self.north - self.south:
            middle = round((self.west + self.east) / 2, 6)
            return (
                Box(west=self.west, south=self.south, east=middle, north=self.north),
                Box(west=middle, south=self.south, east=self.east, north=self.north),
            )
        middle = round((self.south + self.north) / 2, 6)
        return (
            Box(west=self.west, south=self.south, east=self.east, north=middle),
            Box(west=self.west, south=middle, east=self.east, north=self.north),
        )

    def __str__(self) -> str:
        return f"{self.west:g},{self.south:g},{self.east:g},{self.north:g}"


def read_boxes(text: str) -> tuple[Box, ...]:
    """Return the area that a text names: west, south, east and north in degrees, with commas between them.

    Notes
    -----
    Where west is larger than east the area crosses the antimeridian, and two boxes come back.

    Raises
    ------
    ConfigError
        The text is no such area.

    Examples
    --------
    >>> [str(box) for box in read_boxes("170, -50, -175, -30")]
    ['170,-50,180,-30', '-180,-50,-175,-30']
    """
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(
            f"--area {text}: expected west,south,east,north in degrees, such as {EXAMPLE} for India."
        ) from None
    numbers = (west, south, east, north)
    if not all(map(math.isfinite, numbers)) or max(abs(west), abs(east)) > 180 or max(abs(south), abs(north)) > 90:
        raise ConfigError(
            f"--area {text}: expected longitudes from -180 to 180 and latitudes from -90 to 90. Were they swapped? The "
            f"order is west,south,east,north, as in {EXAMPLE}."
        )
    if south >= north or west == east:
        raise ConfigError(f"--area {text}: south is not below north, or west is east; such an area is empty.")
    if west > east:
        return (
            Box(west=west, south=south, east=180.0, north=north),
            Box(west=-180.0, south=south, east=east, north=north),
        )
    return (Box(west=west, south=south, east=east, north=north),)
