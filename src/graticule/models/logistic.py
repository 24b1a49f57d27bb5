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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from graticule.models.lbfgs import Minimum, Value, minimise

BLOCK_ROWS = 2048
"""Rows multiplied at once: large enough for BLAS, small enough to stay near the processor."""
NONE = -1
"""Stands for "no fold is left out"."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldedRows:
    """Rows to learn from, sorted by the fold that they are in.

    Parameters
    ----------
    features
        Shape ``(n, d)``, centred, in principal axes (`graticule.models.principal_axes`) for speed.
    targets
        Indices of the rows' labels, shape ``(n,)``.
    n_labels
        Number of labels.
    bounds
        First row of each fold, and the number of rows at the end: one more than there are folds.
    """

    features: Float32[np.ndarray, "n d"]
    targets: Int[np.ndarray, " n"]
    n_labels: int
    bounds: tuple[int, ...]

    def count_labels(self, left_out: int) -> Int[np.ndarray, " k"]:
        """Return how many rows of each label there are outside a fold."""
        counts = np.bincount(self.targets, minlength=self.n_labels)
        if left_out == NONE:
            return counts
        inside = self.targets[self.bounds[left_out] : self.bounds[left_out + 1]]
        return counts - np.bincount(inside, minlength=self.n_labels)


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
        _exponentiate(scores)
        return scores / scores.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fits:
    """The fits that are under way: what each of the ``p`` leaves out, its penalty, and the labels it knows."""

    left_out: Int[np.ndarray, " p"]
    n_rows: Int[np.ndarray, " p"]
    penalty: Float64[np.ndarray, " p"]
    is_known: Bool[np.ndarray, "p k"]

    def take(self, chosen: Sequence[int]) -> _Fits:
        index = np.asarray(chosen)
        return _Fits(
            left_out=self.left_out[index],
            n_rows=self.n_rows[index],
            penalty=self.penalty[index],
            is_known=self.is_known[index],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pass:
    """What one pass over the rows gave."""

    values: Float64[np.ndarray, " p"]
    gradients: Float64[np.ndarray, "p e k"]
    left_out_loss: Float64[np.ndarray, " p"]


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
        The fold that a fit does not see, or `NONE`.
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
    running = list(range(len(searches)))
    while running:
        found = _pass(rows, points[running], fits.take(running))
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
    return _gather(rows, points, fits, [minimum for minimum in minima if minimum is not None])


def _describe_fits(rows: FoldedRows, left_out: Sequence[int], inverse_penalties: Sequence[float]) -> _Fits:
    counts = np.array([rows.count_labels(fold) for fold in left_out])
    n_rows = counts.sum(axis=1)
    return _Fits(
        left_out=np.asarray(left_out),
        n_rows=n_rows,
        penalty=1 / (np.asarray(inverse_penalties, dtype=np.float64) * n_rows),
        is_known=counts > 0,
    )


def _inverse_diagonals(rows: FoldedRows, fits: _Fits) -> Float64[np.ndarray, "p e 1"]:
    """Return about the inverse of the Hessian's diagonal: that at weights of zero, the same for all labels."""
    squares = np.einsum("nd,nd->d", rows.features, rows.features, dtype=np.float64) / len(rows.features)
    shares = np.bincount(rows.targets, minlength=rows.n_labels) / len(rows.targets)
    curvature = float((shares * (1 - shares)).mean())
    weights = curvature * squares[None, :] + fits.penalty[:, None]
    intercepts = np.full((len(fits.penalty), 1), curvature)
    return 1 / np.concatenate([weights, intercepts], axis=1)[:, :, None]


def _gather(
    rows: FoldedRows, points: Float64[np.ndarray, "p e k"], fits: _Fits, minima: Sequence[Minimum]
) -> LogisticFits:
    last = _pass(rows, points, fits)
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


def _pass(rows: FoldedRows, points: Float64[np.ndarray, "p e k"], fits: _Fits) -> _Pass:
    """Return value and gradient of every fit's objective, and its loss on the fold it leaves out, from one pass."""
    n_fits, n_axes, n_labels = points.shape
    weights = points[:, :-1].transpose(1, 0, 2).reshape(n_axes - 1, -1).astype(np.float32)
    intercepts = np.where(fits.is_known, points[:, -1], -np.inf).astype(np.float32)
    losses, unseen, n_unseen = np.zeros(n_fits), np.zeros(n_fits), np.zeros(n_fits)
    slopes = np.zeros((n_axes, n_fits * n_labels))
    for fold, start, stop in _blocks(rows.bounds):
        features, targets = rows.features[start:stop], rows.targets[start:stop]
        scores = (features @ weights).reshape(stop - start, n_fits, n_labels) + intercepts
        own = np.take_along_axis(scores, targets[:, None, None], axis=2)[:, :, 0].astype(np.float64)
        own -= _exponentiate(scores)
        totals = scores.sum(axis=2, dtype=np.float64)
        loss = np.log(totals) - own
        is_unseen = fits.left_out == fold
        losses += np.where(is_unseen, 0, loss.sum(axis=0))
        is_scored = is_unseen & np.isfinite(loss)
        unseen += np.where(is_scored, loss, 0).sum(axis=0)
        n_unseen += is_scored.sum(axis=0)
        scores /= totals[:, :, None].astype(np.float32)
        scores[np.arange(len(targets)), :, targets] -= 1
        scores[:, is_unseen] = 0
        residuals = scores.reshape(len(targets), -1)
        slopes[:-1] += features.T @ residuals
        slopes[-1] += residuals.sum(axis=0, dtype=np.float64)
    gradients = slopes.reshape(n_axes, n_fits, n_labels).transpose(1, 0, 2) / fits.n_rows[:, None, None]
    gradients[:, :-1] += fits.penalty[:, None, None] * points[:, :-1]
    squares = np.einsum("pdk,pdk->p", points[:, :-1], points[:, :-1])
    return _Pass(
        values=losses / fits.n_rows + fits.penalty * squares / 2,
        gradients=gradients,
        left_out_loss=np.divide(unseen, n_unseen, out=np.full(n_fits, np.nan), where=n_unseen > 0),
    )


def _exponentiate(scores: Float32[np.ndarray, "*rows k"]) -> Float32[np.ndarray, "*rows"]:
    """Replace scores by their exponentials, after taking each row's highest away; return those highest."""
    highest = scores.max(axis=-1, keepdims=True)
    scores -= highest
    np.exp(scores, out=scores)
    return highest[..., 0]


def _blocks(bounds: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return fold, first and last row of every block; none reaches over the end of a fold."""
    return [
        (fold, start, min(start + BLOCK_ROWS, stop))
        for fold, (first, stop) in enumerate(pairwise(bounds))
        for start in range(first, stop, BLOCK_ROWS)
    ]
