"""Value and gradient of several logistic regressions at once, from one pass over the rows that they share.

The weights of all fits stand side by side in one matrix product. A fit that leaves a fold out gets that fold's scores
from the product too; they make its loss on what it has not seen, and no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from graticule.models.processors import count_workers

BLOCK_ROWS = 512
"""Rows multiplied at once: large enough for BLAS, small enough to stay near the processor."""
N_CHUNKS = 16
"""Blocks are summed in so many chunks whatever the number of processors, so that a result does not depend on it."""
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
class Fits:
    """What each of ``p`` fits leaves out, how many rows it sees, its penalty, and which labels it knows."""

    left_out: Int[np.ndarray, " p"]
    n_rows: Int[np.ndarray, " p"]
    penalty: Float64[np.ndarray, " p"]
    is_known: Bool[np.ndarray, "p k"]

    def take(self, chosen: Sequence[int]) -> Fits:
        """Return some of the fits."""
        index = np.asarray(chosen)
        return Fits(
            left_out=self.left_out[index],
            n_rows=self.n_rows[index],
            penalty=self.penalty[index],
            is_known=self.is_known[index],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassResult:
    """What one pass over the rows gave; gradients of intercepts stand in the last row."""

    values: Float64[np.ndarray, " p"]
    gradients: Float64[np.ndarray, "p e k"]
    left_out_loss: Float64[np.ndarray, " p"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weights:
    """The fits' weights side by side."""

    weights: Float32[np.ndarray, "d q"]
    intercepts: Float32[np.ndarray, "p k"]
    left_out: Int[np.ndarray, " p"]


@dataclass(slots=True, kw_only=True, eq=False)
class _Sums:
    """Sums over some blocks of rows."""

    losses: Float64[np.ndarray, " p"]
    unseen: Float64[np.ndarray, " p"]
    n_unseen: Float64[np.ndarray, " p"]
    slopes: Float64[np.ndarray, "e q"]


def pass_over(rows: FoldedRows, points: Float64[np.ndarray, "p e k"], fits: Fits) -> PassResult:
    """Return value and gradient of every fit's objective, and its mean loss on the fold that it leaves out.

    Parameters
    ----------
    rows
        The rows.
    points
        Weights, and in the last row intercepts, of each fit.
    fits
        What the fits leave out, and their penalties.
    """
    n_fits, n_axes, n_labels = points.shape
    side_by_side = _Weights(
        weights=np.ascontiguousarray(points[:, :-1].transpose(1, 0, 2).reshape(n_axes - 1, -1), dtype=np.float32),
        intercepts=np.where(fits.is_known, points[:, -1], -np.inf).astype(np.float32),
        left_out=fits.left_out,
    )
    blocks = _cut(rows.bounds)
    chunks = [blocks[start::N_CHUNKS] for start in range(min(N_CHUNKS, len(blocks)))]
    n_workers = min(count_workers(), len(chunks))
    if n_workers > 1:
        with ThreadPoolExecutor(n_workers) as pool:
            parts = list(pool.map(lambda chunk: _sum_blocks(rows, side_by_side, chunk), chunks))
    else:
        parts = [_sum_blocks(rows, side_by_side, chunk) for chunk in chunks]
    total = parts[0]
    for part in parts[1:]:
        total.losses += part.losses
        total.unseen += part.unseen
        total.n_unseen += part.n_unseen
        total.slopes += part.slopes
    gradients = total.slopes.reshape(n_axes, n_fits, n_labels).transpose(1, 0, 2) / fits.n_rows[:, None, None]
    gradients[:, :-1] += fits.penalty[:, None, None] * points[:, :-1]
    squares = np.einsum("pdk,pdk->p", points[:, :-1], points[:, :-1])
    return PassResult(
        values=total.losses / fits.n_rows + fits.penalty * squares / 2,
        gradients=gradients,
        left_out_loss=np.divide(total.unseen, total.n_unseen, out=np.full(n_fits, np.nan), where=total.n_unseen > 0),
    )


def exponentiate(scores: Float32[np.ndarray, "*rows k"]) -> Float32[np.ndarray, "*rows"]:
    """Replace scores by their exponentials, after taking each row's highest away; return those highest."""
    highest = scores.max(axis=-1, keepdims=True)
    scores -= highest
    np.exp(scores, out=scores)
    return highest[..., 0]


def _cut(bounds: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return fold, first and last row of every block; none reaches over the end of a fold."""
    return [
        (fold, start, min(start + BLOCK_ROWS, stop))
        for fold, (first, stop) in enumerate(pairwise(bounds))
        for start in range(first, stop, BLOCK_ROWS)
    ]


def _sum_blocks(rows: FoldedRows, given: _Weights, blocks: Sequence[tuple[int, int, int]]) -> _Sums:
    n_fits, n_labels = given.intercepts.shape
    zeros = np.zeros(n_fits)
    slopes = np.zeros((len(given.weights) + 1, n_fits * n_labels))
    sums = _Sums(losses=zeros.copy(), unseen=zeros.copy(), n_unseen=zeros.copy(), slopes=slopes)
    for fold, start, stop in blocks:
        features, targets = rows.features[start:stop], rows.targets[start:stop]
        scores = (features @ given.weights).reshape(stop - start, n_fits, n_labels) + given.intercepts
        own = np.take_along_axis(scores, targets[:, None, None], axis=2)[:, :, 0].astype(np.float64)
        own -= exponentiate(scores)
        totals = scores.sum(axis=2, dtype=np.float64)
        loss = np.log(totals) - own
        is_unseen = given.left_out == fold
        sums.losses += np.where(is_unseen, 0, loss.sum(axis=0))
        is_scored = is_unseen & np.isfinite(loss)
        sums.unseen += np.where(is_scored, loss, 0).sum(axis=0)
        sums.n_unseen += is_scored.sum(axis=0)
        scores /= totals[:, :, None].astype(np.float32)
        scores[np.arange(len(targets)), :, targets] -= 1
        scores[:, is_unseen] = 0
        residuals = scores.reshape(len(targets), -1)
        slopes[:-1] += features.T @ residuals
        slopes[-1] += residuals.sum(axis=0, dtype=np.float64)
    return sums
