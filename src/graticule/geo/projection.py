"""The Equal Earth projection: a map of the world on which areas are true, so that no region looks larger than it is.

References
----------
Šavrič, Patterson and Jenny (2019), The Equal Earth map projection, equations 1 to 4.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float64

from graticule.geo.points import Degrees, as_floats

A1, A2, A3, A4 = 1.340264, -0.081106, 0.000893, 0.003796
"""Coefficients of the polynomial (section 3 of the paper)."""

ROOT = math.sqrt(3.0)
HALF_WIDTH = 2 * ROOT * math.pi / (3 * A1)
HALF_HEIGHT = A4 * (math.pi / 3) ** 9 + A3 * (math.pi / 3) ** 7 + A2 * (math.pi / 3) ** 3 + A1 * (math.pi / 3)

CANVAS_WIDTH = 2000
"""Width of the map in the units of its drawing."""

CANVAS_HEIGHT = math.ceil(CANVAS_WIDTH * HALF_HEIGHT / HALF_WIDTH)


def project_points(
    latitude: Degrees, longitude: Degrees
) -> tuple[Float64[np.ndarray, " n"], Float64[np.ndarray, " n"]]:
    """Return where points lie on the canvas: x from the left, y from the top.

    Parameters
    ----------
    latitude, longitude
        Degrees north and east; NaN gives NaN.

    Examples
    --------
    >>> x, y = project_points([0.0, 90.0], [0.0, 0.0])
    >>> x.tolist(), y.round(1).tolist()
    ([1000.0, 1000.0], [487.0, 0.3])
    """
    north = np.atleast_1d(as_floats(latitude))
    east = np.radians(np.atleast_1d(as_floats(longitude)))
    angle = np.arcsin(ROOT / 2 * np.sin(np.radians(north)))
    slope = 9 * A4 * angle**8 + 7 * A3 * angle**6 + 3 * A2 * angle**2 + A1
    x = 2 * ROOT * east * np.cos(angle) / (3 * slope)
    y = A4 * angle**9 + A3 * angle**7 + A2 * angle**3 + A1 * angle
    scale = CANVAS_WIDTH / 2 / HALF_WIDTH
    return CANVAS_WIDTH / 2 + x * scale, CANVAS_HEIGHT / 2 - y * scale
