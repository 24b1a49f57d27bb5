"""When an iterative fit ends."""

from __future__ import annotations

from collections.abc import Sequence


def stands_still(trace: Sequence[float], *, tolerance: float) -> bool:
    """Return whether the last step raised what is traced by less than the tolerance; never with a tolerance of 0.

    Examples
    --------
    >>> stands_still([-5.0, -4.0], tolerance=0.1), stands_still([-5.0, -4.95], tolerance=0.1)
    (False, True)
    """
    return tolerance > 0 and len(trace) > 1 and bool(trace[-1] - trace[-2] < tolerance)
