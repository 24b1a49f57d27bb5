"""Trials for learning curves: probes on random numbers of images of each region and label, tested on others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.evaluation.value.drawing import order_rows
from graticule.models.folds import deal_folds
from graticule.models.probe_space import ProbeSpace
from graticule.progress import track

N_FOLDS = 4
DEEPEST = 1.5
"""A region, a label and a cell are each thinned to between all and 2^-(this) of their images."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trials:
    """What probes were trained on, and what they got wrong.

    Parameters
    ----------
    counts
        Training images of each region and label in each trial, shape ``(t, r, k)``.
    is_wrong
        Whether a probe was wrong about an image, shape ``(t, n)``; false where it was not tested on it.
    is_tested
        Whether it was tested on it, shape ``(t, n)``.
    cell
        Region times number of labels plus label of each image, shape ``(n,)``.
    """

    counts: Int[np.ndarray, "t r k"]
    is_wrong: Bool[np.ndarray, "t n"]
    is_tested: Bool[np.ndarray, "t n"]
    cell: Int[np.ndarray, " n"]

    def sum_cells(
        self, weights: Float[np.ndarray, " n"] | None = None
    ) -> tuple[Float[np.ndarray, "t c"], Float[np.ndarray, "t c"]]:
        """Return wrong and tested images of each trial and cell, images counting as often as their weights say."""
        n_cells = self.counts.shape[1] * self.counts.shape[2]
        member = np.zeros((len(self.cell), n_cells))
        member[np.arange(len(self.cell)), self.cell] = 1.0 if weights is None else weights
        return self.is_wrong.astype(np.float64) @ member, self.is_tested.astype(np.float64) @ member


def run_trials(
    space: ProbeSpace,
    train: Int[np.ndarray, " m"],
    test: Int[np.ndarray, " q"] | None,
    *,
    region: Int[np.ndarray, " n"],
    n_regions: int,
    groups: Int[np.ndarray, " n"],
    n_trials: int,
    seed: int = 0,
    shown: bool = False,
) -> Trials:
    """Return what probes on random numbers of images get wrong.

    Parameters
    ----------
    space
        All images.
    train
        Images to train on.
    test
        Images to test on; None has each trial tested on a fold of ``train`` that it leaves out.
    region, n_regions
        Index of each image's region, and how many there are.
    groups
        What each image shows.
    n_trials
        How many probes.
    seed
        Seed of the draws.
    shown
        Whether to draw a progress bar.
    """
    rng = np.random.default_rng(seed)
    n_labels = space.n_labels
    cell = region * n_labels + space.targets
    fold = np.full(len(cell), -1)
    if test is None:
        fold[train] = deal_folds(cell[train], groups[train], n_folds=N_FOLDS, rng=rng)
    counts = np.zeros((n_trials, n_regions, n_labels), dtype=np.int64)
    is_wrong, is_tested = (np.zeros((n_trials, len(cell)), dtype=bool) for _ in range(2))
    for trial in track(range(n_trials), total=n_trials, label="learning curves", unit="probe", shown=shown):
        left_out = trial % N_FOLDS
        judged = test if test is not None else train[fold[train] == left_out]
        usable = train if test is not None else train[fold[train] != left_out]
        kept = _thin(cell[usable], n_regions, n_labels, is_whole=trial < N_FOLDS, rng=rng)
        rows = [order_rows(usable[cell[usable] == place], groups, rng)[: kept[place]] for place in np.flatnonzero(kept)]
        chosen = np.concatenate(rows)
        counts[trial] = np.bincount(cell[chosen], minlength=n_regions * n_labels).reshape(n_regions, n_labels)
        is_tested[trial, judged] = True
        is_wrong[trial, judged] = ~space.test(chosen, judged)
    return Trials(counts=counts, is_wrong=is_wrong, is_tested=is_tested, cell=cell)


def _thin(
    cells: Int[np.ndarray, " m"], n_regions: int, n_labels: int, *, is_whole: bool, rng: np.random.Generator
) -> Int[np.ndarray, " c"]:
    """Return how many images of each cell a trial takes; the first trials take all."""
    have = np.bincount(cells, minlength=n_regions * n_labels)
    if is_whole:
        return have
    depth = (
        rng.uniform(0, DEEPEST, size=(n_regions, 1))
        + rng.uniform(0, DEEPEST, size=(1, n_labels))
        + rng.uniform(0, DEEPEST, size=(n_regions, n_labels))
    )
    return np.ceil(have * 2.0 ** -depth.ravel()).astype(np.int64)
