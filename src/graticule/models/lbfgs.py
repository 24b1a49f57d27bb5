"""The minimum of a smooth convex function, by L-BFGS, as a generator: it asks for values and never computes one.

Whoever drives it computes the value and the gradient of every point it yields. Because the computing stands outside,
many minimisations can run side by side and share one pass over the data (`graticule.models.logistic`).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

SUFFICIENT_DECREASE = 1e-4
"""Share of the decrease foretold by the slope that a step must give (Nocedal and Wright 2006, section 3.1)."""
SMALLEST_STEP = 1e-8
ROUNDING = 1e-7
"""Relative error of a value that was summed in float32; a step that rises by less is not held against it."""

Point: TypeAlias = Float64[np.ndarray, "..."]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Value:
    """The function at a point."""

    value: float
    gradient: Point


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Minimum:
    """Where a minimisation ended."""

    point: Point
    n_iterations: int
    is_converged: bool


@dataclass(slots=True, kw_only=True, eq=False)
class _Memory:
    """The last steps and what they did to the gradient: an approximate inverse of the Hessian."""

    diagonal: Point
    """The inverse Hessian to start from."""
    length: int
    steps: list[np.ndarray] = field(default_factory=list[np.ndarray])
    changes: list[np.ndarray] = field(default_factory=list[np.ndarray])
    curvatures: list[float] = field(default_factory=list[float])
    scale: float = 1.0

    def direction(self, gradient: Point) -> Point:
        """Return the approximate inverse Hessian times the gradient (Nocedal and Wright 2006, algorithm 7.4)."""
        product = gradient.copy()
        shares: list[float] = []
        history = list(zip(self.steps, self.changes, self.curvatures, strict=True))
        for step, change, curvature in reversed(history):
            share = float(np.vdot(step, product)) / curvature
            product -= share * change
            shares.append(share)
        product *= self.diagonal * self.scale
        for (step, change, curvature), share in zip(history, reversed(shares), strict=True):
            product += (share - float(np.vdot(change, product)) / curvature) * step
        return product

    def remember(self, step: Point, change: Point) -> None:
        """Keep a step, unless the function did not curve upwards along it (as rounding may have it)."""
        curvature = float(np.vdot(step, change))
        if curvature <= 0:
            return
        self.scale = curvature / float(np.vdot(change, self.diagonal * change))
        for kept, new in ((self.steps, step), (self.changes, change)):
            kept.append(new.astype(np.float32))
        self.curvatures.append(float(np.vdot(self.steps[-1].astype(np.float64), self.changes[-1])))
        if self.curvatures[-1] <= 0 or len(self.steps) > self.length:
            oldest = 0 if self.curvatures[-1] > 0 else -1
            del self.steps[oldest], self.changes[oldest], self.curvatures[oldest]


def minimise(
    start: Point,
    inverse_diagonal: Point,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    memory: int = 10,
) -> Generator[Point, Value, Minimum]:
    """Yield points whose value and gradient are to be sent in; return the minimum.

    Parameters
    ----------
    start
        Where to begin, any shape.
    inverse_diagonal
        About the inverse of the Hessian's diagonal, of a shape that broadcasts to ``start``'s; the better it is, the
        fewer steps are needed.
    tolerance
        Ends when the decrease that is still to be had, as the quadratic model foretells it, falls below this share of
        the value.
    max_iterations
        Steps after which it gives up; the minimum then says that it has not converged.
    memory
        Steps that are remembered.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, chapter 7; backtracking by quadratic interpolation,
    section 3.5. On a convex function the update is safe without a condition on the curvature.
    """
    point = start
    here = yield point
    past = _Memory(diagonal=inverse_diagonal, length=memory)
    for n_iterations in range(max_iterations):
        direction = past.direction(here.gradient)
        slope = -float(np.vdot(here.gradient, direction))
        if -slope / 2 <= tolerance * abs(here.value):
            return Minimum(point=point, n_iterations=n_iterations, is_converged=True)
        length = 1.0
        while True:
            candidate = point - length * direction
            there = yield candidate
            bar = here.value + SUFFICIENT_DECREASE * length * slope + ROUNDING * abs(here.value)
            if there.value <= bar:
                break
            if length < SMALLEST_STEP:
                return Minimum(point=point, n_iterations=n_iterations, is_converged=False)
            rise = there.value - here.value - length * slope
            best = -slope * length**2 / (2 * rise) if np.isfinite(rise) else 0.0
            length = min(max(best, 0.1 * length), 0.5 * length)
        past.remember(candidate - point, there.gradient - here.gradient)
        point, here = candidate, there
    return Minimum(point=point, n_iterations=max_iterations, is_converged=False)
