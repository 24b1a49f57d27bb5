"""Numbers with their uncertainty, many at a time: what every interval in this package returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """Estimated numbers, their intervals, and the images that they rest on.

    Parameters
    ----------
    value
        The numbers, shape ``(m,)``; NaN where undefined.
    low, high
        Ends of the intervals, shape ``(m,)``; NaN where there is none.
    n
        Images behind each number, shape ``(m,)``; 0 where undefined.
    """

    value: Float[np.ndarray, " m"]
    low: Float[np.ndarray, " m"]
    high: Float[np.ndarray, " m"]
    n: Int[np.ndarray, " m"]


def as_estimates(value: Float[np.ndarray, " m"], n: Int[np.ndarray, " m"]) -> Estimates:
    """Return numbers that have no interval."""
    nothing = np.full(len(value), np.nan)
    return Estimates(value=np.asarray(value, dtype=np.float64), low=nothing, high=nothing, n=n)


def single_estimate(value: float, *, n: int, low: float = np.nan, high: float = np.nan) -> Estimates:
    """Return one number as estimates of length one."""
    return Estimates(value=np.array([value]), low=np.array([low]), high=np.array([high]), n=np.array([n]))
