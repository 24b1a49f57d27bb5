"""Grid cells of equal degrees: which cell a point lies in, and which cells touch it.

Cells are numbered row by row from the south pole, each row from 180° W. They serve to find points that are near each
other: two points closer than a cell is wide lie in the same cell or in neighbours.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int64

from graticule.errors import ConfigError
from graticule.geo.points import Degrees, check_points

NO_CELL = -1


def find_cells(latitude: Degrees, longitude: Degrees, *, degrees: float = 1.0) -> Int64[np.ndarray, " n"]:
    """Return the number of each point's cell; -1 where a coordinate is NaN or None.

    Parameters
    ----------
    latitude, longitude
        Degrees north, -90 to 90, and east, -180 to 180.
    degrees
        Width and height of a cell; 180 must be a multiple of it.

    Raises
    ------
    GeoError
        A coordinate lies outside its range.
    ConfigError
        180 is no multiple of ``degrees``.

    Examples
    --------
    >>> find_cells([-90.0, 0.5, None], [-180.0, 0.5, 8.0])
    array([    0, 32580,    -1])
    """
    n_rows, n_columns = _count_cells(degrees)
    north, east = check_points(latitude, longitude)
    known = ~(np.isnan(north) | np.isnan(east))
    # The north pole belongs to the last row, and 180° E is 180° W.
    row = np.minimum(np.floor((np.where(known, north, 0.0) + 90.0) / degrees), n_rows - 1).astype(np.int64)
    column = np.floor((np.where(known, east, 0.0) + 180.0) / degrees).astype(np.int64) % n_columns
    return np.where(known, row * n_columns + column, NO_CELL)


def find_neighbours(cell: int, *, degrees: float = 1.0) -> tuple[int, ...]:
    """Return the numbers of the cells that touch a cell, in order and without itself.

    The grid is closed at the antimeridian, and all cells of the first row touch at the south pole, as do those of the
    last row at the north pole.

    Examples
    --------
    >>> find_neighbours(32580)
    (32219, 32220, 32221, 32579, 32581, 32939, 32940, 32941)
    """
    n_rows, n_columns = _count_cells(degrees)
    if not 0 <= cell < n_rows * n_columns:
        raise ConfigError(
            f"cell {cell} does not exist: at {degrees:g} degrees they are numbered 0 to {n_rows * n_columns - 1}. "
            "Take numbers from find_cells with the same 'degrees'."
        )
    row, column = divmod(cell, n_columns)
    near = {
        (row + up) * n_columns + (column + right) % n_columns
        for up in (-1, 0, 1)
        for right in (-1, 0, 1)
        if 0 <= row + up < n_rows
    }
    if row in (0, n_rows - 1):
        near |= set(range(row * n_columns, (row + 1) * n_columns))
    return tuple(sorted(near - {cell}))


def _count_cells(degrees: float) -> tuple[int, int]:
    n_rows = round(180.0 / degrees) if degrees > 0 else 0
    if n_rows < 1 or not np.isclose(n_rows * degrees, 180.0):
        raise ConfigError(f"a cell of {degrees!r} degrees: 180 must be a multiple of it. Choose 0.1, 0.5, 1, 2 or 5.")
    return n_rows, 2 * n_rows
