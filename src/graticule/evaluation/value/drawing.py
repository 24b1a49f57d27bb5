"""Images drawn for an experiment: nested subsets, groups kept together, each label's share kept."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int


def order_rows(
    rows: Int[np.ndarray, " m"], groups: Int[np.ndarray, " n"], rng: np.random.Generator
) -> Int[np.ndarray, " m"]:
    """Return rows in a random order in which images of one group follow each other.

    The first so many rows are then a random subset, and larger subsets hold the smaller ones.
    """
    shuffled = rng.permutation(rows)
    _, codes = np.unique(groups[shuffled], return_inverse=True)
    ranks = rng.permutation(int(codes.max()) + 1 if len(codes) else 0)
    return shuffled[np.argsort(ranks[codes], kind="stable")]


def exclude_groups(
    rows: Int[np.ndarray, " m"], taken: Int[np.ndarray, " t"], groups: Int[np.ndarray, " n"]
) -> Int[np.ndarray, " m2"]:
    """Return the rows whose group none of the taken images shares."""
    return rows[~np.isin(groups[rows], groups[taken])]


def split_off(
    cells: Int[np.ndarray, " n"], groups: Int[np.ndarray, " n"], *, share: float, rng: np.random.Generator
) -> Bool[np.ndarray, " n"]:
    """Return which images are set aside: about a share of each cell, groups kept whole."""
    aside = np.zeros(len(cells), dtype=bool)
    for cell in np.unique(cells):
        rows = order_rows(np.flatnonzero(cells == cell), groups, rng)
        aside[rows[: round(share * len(rows))]] = True
    # A group that was cut, or that stands in several cells, goes to the side that holds most of it.
    _, codes = np.unique(groups, return_inverse=True)
    shares = np.bincount(codes, weights=aside) / np.bincount(codes)
    return shares[codes] > 0.5


def spread_evenly(total: int, weights: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
    """Return whole numbers that sum to ``total``, in proportion to weights, by largest remainders.

    Examples
    --------
    >>> spread_evenly(10, np.array([1, 1, 1]))
    array([4, 3, 3])
    """
    exact = total * weights / max(int(weights.sum()), 1)
    found = np.floor(exact).astype(np.int64)
    first = np.argsort(-(exact - found), kind="stable")[: total - int(found.sum())]
    found[first] += 1
    return found
