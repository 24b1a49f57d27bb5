"""The best of each group, with ties broken by order rather than by rounding."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

TIE = 1e-9
"""Probabilities that differ by no more are tied."""


def find_winners(group: Int[np.ndarray, " p"], value: Float[np.ndarray, " p"]) -> Bool[np.ndarray, " p"]:
    """Return which rows have the highest value of their group, the first of them where several do, shape ``(p,)``.

    Parameters
    ----------
    group
        The group of each row, in ascending order; a group's rows stand in the order that breaks ties.
    value
        What is compared.

    Examples
    --------
    >>> find_winners(np.array([0, 0, 0, 1], dtype=np.int32), np.array([0.2, 0.4, 0.4, 0.1])).tolist()
    [False, True, False, True]
    """
    is_winner = np.zeros(len(group), dtype=bool)
    if not len(group):
        return is_winner
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    sizes = np.diff(np.append(starts, len(group)))
    near = np.flatnonzero(value >= np.repeat(np.maximum.reduceat(value, starts), sizes) - TIE)
    first = np.append(True, group[near[1:]] != group[near[:-1]])
    is_winner[near[first]] = True
    return is_winner
