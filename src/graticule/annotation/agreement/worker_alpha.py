"""Krippendorff's alpha of each worker against all others, with an interval from the same resamplings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from graticule.annotation.aggregation.votes import Votes
from graticule.annotation.agreement.sums import Sums, Tally

Z_95 = 1.959963984540054
MIN_DEFINED = 0.5
"""An interval needs at least this share of the resamplings to hold one of the worker's images."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkerSums:
    """How far workers' answers differ from the others' on their units, and how many answers they are, by image.

    Parameters
    ----------
    differing, compared
        Sparse matrices of workers × images.
    n_images
        Images that each worker shares with another, shape ``(w,)``.
    """

    differing: sp.csr_matrix
    compared: sp.csr_matrix
    n_images: Int[np.ndarray, " w"]

    def measure(self, weights: Float[np.ndarray, "i b"], every: Sums) -> Float[np.ndarray, "w b"]:
        """Return each worker's alpha under each weighing of the images; NaN for workers with nothing to compare."""
        differing, compared = self.differing @ weights, self.compared @ weights
        observed = np.divide(differing, compared, out=np.full_like(differing, np.nan), where=compared > 0)
        possible = every.answers**2 - every.squares
        pairs = every.answers * (every.answers - 1)
        chance = np.divide(possible, pairs, out=np.full_like(possible, np.nan), where=possible > 0)
        return 1 - observed / chance


@dataclass(slots=True, kw_only=True, eq=False)
class Spread:
    """Running moments of the workers' alphas over resamplings, which would be too many to keep."""

    count: Float[np.ndarray, " w"]
    total: Float[np.ndarray, " w"]
    squares: Float[np.ndarray, " w"]
    n_draws: int = 0

    def add(self, drawn: Float[np.ndarray, "w b"], *, center: Float[np.ndarray, " w"]) -> None:
        """Take in some resamplings; ``center`` is near the mean, so that nothing cancels."""
        off = np.where(np.isfinite(drawn), drawn - center[:, None], 0.0)
        self.count += np.isfinite(drawn).sum(axis=1)
        self.total += off.sum(axis=1)
        self.squares += (off**2).sum(axis=1)
        self.n_draws += drawn.shape[1]

    def bound(self, value: Float[np.ndarray, " w"], sums: WorkerSums) -> Float[np.ndarray, "2 w"]:
        """Return the ends of a normal interval, at most 1; NaN for workers of one image."""
        enough = (self.count >= max(MIN_DEFINED * self.n_draws, 2)) & (sums.n_images > 1)
        count = np.where(enough, self.count, 1)
        variance = np.maximum(self.squares / count - (self.total / count) ** 2, 0)
        half = np.where(enough, Z_95 * np.sqrt(variance), np.nan)
        return np.stack([value - half, np.minimum(value + half, 1.0)])


def sum_by_worker(votes: Votes, tally: Tally) -> WorkerSums:
    """Return the sums of each worker."""
    compared = tally.unit_image >= 0
    places = (votes.worker[compared], tally.unit_image[compared])
    shape = (votes.n_workers, tally.n_images)
    counts = sp.csr_matrix((np.ones(int(compared.sum())), places), shape=shape)
    return WorkerSums(
        differing=sp.csr_matrix((tally.vote_differs[compared], places), shape=shape),
        compared=counts,
        n_images=np.diff(counts.indptr),
    )


def make_spread(n_workers: int) -> Spread:
    """Return moments of no resampling yet."""
    return Spread(count=np.zeros(n_workers), total=np.zeros(n_workers), squares=np.zeros(n_workers))
