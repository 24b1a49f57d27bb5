"""Shares of images with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A number between 0 and 1 with its 95 % interval; NaN with n = 0 where undefined."""

    value: float
    low: float
    high: float
    n: int


UNDEFINED = Share(value=math.nan, low=math.nan, high=math.nan, n=0)


def estimate_share(hits: int, n: int) -> Share:
    """Return a proportion with Wilson's interval.

    Examples
    --------
    >>> found = estimate_share(8, 10)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.49, 0.943)
    """
    from scipy.stats import binomtest

    if n == 0:
        return UNDEFINED
    interval = binomtest(int(hits), int(n)).proportion_ci(CONFIDENCE, method="wilson")
    return Share(value=hits / n, low=float(interval.low), high=float(interval.high), n=int(n))


def subtract(first: Share, second: Share) -> Share:
    """Return the difference of two independent proportions with Newcombe's interval; n is the second's.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.
    """
    if not first.n or not second.n:
        return UNDEFINED
    value = first.value - second.value
    down = math.hypot(first.value - first.low, second.high - second.value)
    up = math.hypot(first.high - first.value, second.value - second.low)
    return Share(value=value, low=value - down, high=value + up, n=second.n)
