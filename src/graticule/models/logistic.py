"""Multinomial logistic regression with an L2 penalty, several at once over the same rows.

A linear probe needs many fits that differ little: one on all rows, one with each fold left out, each for several
strengths of the penalty. They share their rows, so they share each pass over them: their weights stand side by side in
one matrix product, and what a fit thinks of the fold that it does not see comes out of the same product.

The objective of one fit is scikit-learn's, divided by C n (C is here ``inverse_penalty``)::

    mean over rows of (log of the sum of exp(scores) - score of the right label)  +  |weights|² / (2 C n)

with an intercept a label that is not penalised. It is strictly convex in the weights, so there is one minimum, and how
far from it a fit may be at most is known: `LogisticFits.gap`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from graticule.models.lbfgs import Minimum, Point, Value, minimise
from graticule.models.logistic_pass import Fits, FoldedRows, exponentiate, pass_over
from graticule.models.processors import one_blas_thread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogisticFits:
    """What `fit_logistic` found, for ``p`` fits.

    Parameters
    ----------
    weights
        Shape ``(p, d, k)``.
    intercepts
        Shape ``(p, k)``; minus infinity for a label that no row outside the left-out fold has.
    objective
        Value of the objective, shape ``(p,)``.
    gap
        How far above the minimum the objective may be at most, shape ``(p,)``: the squared length of the gradient over
        twice the penalty's curvature (strong convexity). It holds up to the intercepts' own slope, which is near zero.
    left_out_loss
        Mean logarithmic loss on the left-out fold, over rows whose label the fit knows, shape ``(p,)``; NaN where there
        are none.
    n_iterations
        Shape ``(p,)``.
    is_converged
        Shape ``(p,)``.
    """

    weights: Float64[np.ndarray, "p d k"]
    intercepts: Float64[np.ndarray, "p k"]
    objective: Float64[np.ndarray, " p"]
    gap: Float64[np.ndarray, " p"]
    left_out_loss: Float64[np.ndarray, " p"]
    n_iterations: Int[np.ndarray, " p"]
    is_converged: Bool[np.ndarray, " p"]

    def predict(self, features: Float32[np.ndarray, "m d"], fit: int) -> Float32[np.ndarray, "m k"]:
        """Return the probabilities that one of the fits gives to each label."""
        scores = features @ self.weights[fit].astype(np.float32) + self.intercepts[fit].astype(np.float32)
        exponentiate(scores)
        return scores / scores.sum(axis=-1, keepdims=True)


def fit_logistic(
    rows: FoldedRows,
    *,
    left_out: Sequence[int],
    inverse_penalties: Sequence[float],
    start: LogisticFits | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
) -> LogisticFits:
    """Return one fit for each entry of ``left_out``.

    Parameters
    ----------
    rows
        What to learn from.
    left_out
        The fold that a fit does not see, or `graticule.models.logistic_pass.NONE`.
    inverse_penalties
        Each fit's C: the larger, the weaker the penalty.
    start
        Fits of the same rows and folds to begin at, such as those of the last C.
    tolerance
        See `graticule.models.lbfgs.minimise`.
    max_iterations
        Steps after which a fit is left as it is.
    """
    fits = _describe_fits(rows, left_out, inverse_penalties)
    shape = (len(left_out), rows.features.shape[1] + 1, rows.n_labels)
    points = np.zeros(shape)
    if start is not None:
        points[:, :-1], points[:, -1] = start.weights, np.where(fits.is_known, start.intercepts, 0)
    searches = [
        minimise(points[fit].copy(), diagonal, tolerance=tolerance, max_iterations=max_iterations)
        for fit, diagonal in enumerate(_inverse_diagonals(rows, fits))
    ]
    minima: list[Minimum | None] = [None] * len(searches)
    for fit, search in enumerate(searches):
        points[fit] = next(search)
    with one_blas_thread():
        _drive(rows, points, fits, searches, minima)
        return _gather(rows, points, fits, [minimum for minimum in minima if minimum is not None])


def _drive(
    rows: FoldedRows,
    points: Float64[np.ndarray, "p e k"],
    fits: Fits,
    searches: Sequence[Generator[Point, Value, Minimum]],
    minima: list[Minimum | None],
) -> None:
    """Give every search the values that it asks for until all have ended; those that have ended cost nothing more."""
    running = list(range(len(searches)))
    while running:
        found = pass_over(rows, points[running], fits.take(running))
        still: list[int] = []
        for place, fit in enumerate(running):
            here = Value(value=float(found.values[place]), gradient=found.gradients[place])
            try:
                points[fit] = searches[fit].send(here)
                still.append(fit)
            except StopIteration as end:
                minima[fit] = end.value
                points[fit] = end.value.point
        running = still


def _describe_fits(rows: FoldedRows, left_out: Sequence[int], inverse_penalties: Sequence[float]) -> Fits:
    counts = np.array([rows.count_labels(fold) for fold in left_out])
    n_rows = counts.sum(axis=1)
    return Fits(
        left_out=np.asarray(left_out),
        n_rows=n_rows,
        penalty=1 / (np.asarray(inverse_penalties, dtype=np.float64) * n_rows),
        is_known=counts > 0,
    )


def _inverse_diagonals(rows: FoldedRows, fits: Fits) -> Float64[np.ndarray, "p e 1"]:
    """Return about the inverse of the Hessian's diagonal: that at weights of zero, the same for all labels."""
    squares = np.einsum("nd,nd->d", rows.features, rows.features, dtype=np.float64) / len(rows.features)
    shares = np.bincount(rows.targets, minlength=rows.n_labels) / len(rows.targets)
    curvature = float((shares * (1 - shares)).mean())
    weights = curvature * squares[None, :] + fits.penalty[:, None]
    intercepts = np.full((len(fits.penalty), 1), curvature)
    return 1 / np.concatenate([weights, intercepts], axis=1)[:, :, None]


def _gather(
    rows: FoldedRows, points: Float64[np.ndarray, "p e k"], fits: Fits, minima: Sequence[Minimum]
) -> LogisticFits:
    last = pass_over(rows, points, fits)
    slope = last.gradients[:, :-1]
    return LogisticFits(
        weights=points[:, :-1],
        intercepts=np.where(fits.is_known, points[:, -1], -np.inf),
        objective=last.values,
        gap=np.einsum("pdk,pdk->p", slope, slope) / (2 * fits.penalty),
        left_out_loss=last.left_out_loss,
        n_iterations=np.array([minimum.n_iterations for minimum in minima]),
        is_converged=np.array([minimum.is_converged for minimum in minima]),
    )
