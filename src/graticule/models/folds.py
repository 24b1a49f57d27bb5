"""Rows dealt into folds: every label spread evenly, and rows of one group (one sign, one shop) kept together.

A model that is tested on a photo of a sign that it was trained on with another photo of the same sign is not tested.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from graticule.errors import ConfigError


def deal_folds(
    targets: Int[np.ndarray, " n"], groups: Int[np.ndarray, " n"] | None, *, n_folds: int, rng: np.random.Generator
) -> Int[np.ndarray, " n"]:
    """Return the fold of each row, from 0 to ``n_folds`` - 1.

    Parameters
    ----------
    targets
        Indices of the rows' labels, shape ``(n,)``.
    groups
        Indices of the rows' groups, shape ``(n,)``; None if every row is its own.
    n_folds
        How many folds there should be; there are fewer where there are fewer groups.
    rng
        Decides between what is equally good.

    Raises
    ------
    ConfigError
        There are fewer than two groups.

    Notes
    -----
    Without groups a label's rows are shuffled and dealt in turn, so a label's counts in two folds differ by one at
    most. Groups are taken one by one, the largest first, each into the fold whose labels then lie nearest to an even
    spread; equally good folds are taken in the order of their size.
    """
    n_groups = len(targets) if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, n_groups)
    if n_folds < 2:
        what = "image" if groups is None else "group"
        raise ConfigError(
            f"{n_groups} {what} to train on, expected at least 2 {what}s to tell folds apart. Train on more images, or "
            "give --inverse-penalty and --folds 0 to do without folds."
        )
    if groups is None or n_groups == len(targets):
        return _deal_rows(targets, n_folds=n_folds, rng=rng)
    return _deal_groups(targets, np.unique(groups, return_inverse=True)[1], n_folds=n_folds, rng=rng)


def _deal_rows(targets: Int[np.ndarray, " n"], *, n_folds: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    folds = np.empty(len(targets), dtype=np.int64)
    first = 0
    for target in np.unique(targets):
        rows = rng.permutation(np.flatnonzero(targets == target))
        folds[rows] = (first + np.arange(len(rows))) % n_folds
        first = (first + len(rows)) % n_folds
    return folds


def _deal_groups(
    targets: Int[np.ndarray, " n"], groups: Int[np.ndarray, " n"], *, n_folds: int, rng: np.random.Generator
) -> Int[np.ndarray, " n"]:
    n_groups, n_labels = int(groups.max()) + 1, int(targets.max()) + 1
    counts = np.zeros((n_groups, n_labels))
    np.add.at(counts, (groups, targets), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    shuffled = rng.permutation(n_groups)
    order = shuffled[np.argsort(-counts.sum(axis=1)[shuffled], kind="stable")]
    held = np.zeros((n_folds, n_labels))
    sizes = np.zeros(n_folds)
    fold_of = np.empty(n_groups, dtype=np.int64)
    for group in order:
        # An even spread has the smallest sum of squares; only what the group adds to it differs between folds.
        added = held @ shares[group]
        fold = int(np.lexsort((sizes, added.round(12)))[0])
        held[fold] += shares[group]
        sizes[fold] += counts[group].sum()
        fold_of[group] = fold
    return fold_of[groups]
