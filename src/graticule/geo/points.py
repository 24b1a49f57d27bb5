"""Latitudes and longitudes as they are given, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64

from graticule.errors import EXAMPLES_SHOWN, GeoError

Degrees: TypeAlias = np.ndarray | pl.Series | Sequence[float | int | None] | float | int
"""Degrees north or east: one number, or many; NaN or None where there is no place."""


def as_floats(degrees: Degrees) -> Float64[np.ndarray, " *shape"]:
    """Return degrees as an array of floats, NaN where there is none."""
    given: Any = degrees
    return np.asarray(given, dtype=np.float64)


def check_points(latitude: Degrees, longitude: Degrees) -> tuple[Float64[np.ndarray, " n"], Float64[np.ndarray, " n"]]:
    """Return latitudes and longitudes as arrays of floats, NaN where there is none.

    Raises
    ------
    GeoError
        They differ in number, are no numbers, or lie outside their range.
    """
    try:
        north, east = np.atleast_1d(as_floats(latitude)), np.atleast_1d(as_floats(longitude))
    except (TypeError, ValueError) as error:
        raise GeoError(
            f"latitude or longitude is not a number ({error}). Give decimal degrees: 48.8566, 2.3522."
        ) from error
    if north.shape != east.shape or north.ndim != 1:
        raise GeoError(
            f"{north.shape} latitudes and {east.shape} longitudes, expected as many of each, in one dimension. "
            "Give one of each for every point."
        )
    faults = [
        _fault("latitude", north, np.abs(north) > 90, "-90 to 90", "Were latitude and longitude swapped?"),
        _fault("longitude", east, np.abs(east) > 180, "-180 to 180", "Subtract 360 from longitudes above 180."),
    ]
    if any(faults):
        raise GeoError("\n  ".join(fault for fault in faults if fault))
    return north, east


def _fault(name: str, values: Float64[np.ndarray, " n"], bad: Bool[np.ndarray, " n"], expected: str, hint: str) -> str:
    (rows,) = np.nonzero(bad)
    if not len(rows):
        return ""
    examples = ", ".join(f"row {row + 1}: {name} is {values[row]:g}" for row in rows[:EXAMPLES_SHOWN].tolist())
    more = f" and {len(rows) - EXAMPLES_SHOWN} more" if len(rows) > EXAMPLES_SHOWN else ""
    return f"{examples}{more}; expected {expected}. {hint}"
