"""From numbers to places on an axis, and from accuracies to steps of the colour scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from graticule.report.drawing.palette import N_STEPS

NICE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
"""Distances between ticks of an axis of fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A straight scale from ``low`` to ``high``, with its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return where ``value`` is: 0 at the low end, 1 at the high end; values outside are put at the end."""
        if self.high <= self.low:
            return 0.5
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """An ordered scale of a few steps, from the highest accuracy (step 0) to the lowest."""

    edges: tuple[float, ...]
    """Ascending, one more than there are bins."""

    @property
    def count(self) -> int:
        """Return the number of bins."""
        return len(self.edges) - 1

    def find(self, value: float) -> int:
        """Return the bin of a value, 0 the lowest; the upper edge belongs to the bin above it, except the last.

        Examples
        --------
        >>> Bins(edges=(0.4, 0.6, 0.8, 1.0)).find(0.6)
        1
        """
        inner = self.edges[1:-1]
        return sum(value >= edge - 1e-12 for edge in inner)

    def step(self, position: int) -> int:
        """Return the colour step of a bin: 0 for the top bin, the last step for the bottom one."""
        if self.count == 1:
            return 0
        return round((self.count - 1 - position) * (N_STEPS - 1) / (self.count - 1))


def make_axis(values: Iterable[float], *, lowest: float = 0.0, highest: float = 1.0, n_ticks: int = 6) -> Axis:
    """Return an axis that holds all values, begins and ends at a tick, and stays within the given ends.

    Examples
    --------
    >>> make_axis([0.62, 0.93]).ticks
    (0.6, 0.7, 0.8, 0.9, 1.0)
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return make_axis([lowest, highest], lowest=lowest, highest=highest, n_ticks=n_ticks)
    step = _find_step(max(known) - min(known), parts=n_ticks - 1)
    first = max(lowest, math.floor(min(known) / step + 1e-9) * step)
    last = min(highest, math.ceil(max(known) / step - 1e-9) * step)
    if last - first < step / 2:
        first, last = (first - step, last) if last >= highest else (first, last + step)
    count = round((last - first) / step)
    return Axis(low=first, high=last, ticks=tuple(round(first + i * step, 6) for i in range(count + 1)))


def make_symmetric_axis(values: Iterable[float], *, n_ticks: int = 7) -> Axis:
    """Return an axis of differences with zero in its middle.

    Examples
    --------
    >>> make_symmetric_axis([0.02, -0.07]).ticks
    (-0.1, -0.05, 0.0, 0.05, 0.1)
    """
    reach = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 0.01
    step = _find_step(2 * reach, parts=n_ticks - 1)
    count = math.ceil(reach / step - 1e-9)
    return Axis(low=-count * step, high=count * step, ticks=tuple(round(i * step, 6) for i in range(-count, count + 1)))


def make_bins(values: Iterable[float], *, limit: int = N_STEPS) -> Bins:
    """Return round bins that hold all values, at most ``limit`` of them, their top at the next round number.

    Examples
    --------
    >>> make_bins([0.57, 0.91], limit=6).edges
    (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    """
    known = [min(1.0, max(0.0, value)) for value in values if math.isfinite(value)] or [0.0, 1.0]
    for step in NICE:
        first = math.floor(min(known) / step + 1e-9)
        last = max(math.ceil(max(known) / step - 1e-9), first + 1)
        if last * step > 1 + 1e-9:
            first, last = first - 1, last - 1
        if last - first <= limit:
            return Bins(edges=tuple(round(i * step, 6) for i in range(first, last + 1)))
    return Bins(edges=(0.0, 0.5, 1.0))


def _find_step(reach: float, *, parts: int) -> float:
    return next((step for step in NICE if reach / step <= parts), NICE[-1])
