"""Shapley values: the part of a total that each of a few causes has, averaged over every order of switching them on."""

from __future__ import annotations

from math import factorial

import numpy as np
from jaxtyping import Float


def share_out(worlds: Float[np.ndarray, s * rest], *, n_causes: int) -> Float[np.ndarray, c * rest]:
    """Return what switching each cause on adds, on average over all orders; the parts sum to last minus first world.

    Parameters
    ----------
    worlds
        The total in each world, shape ``(2 ** c, …)``: in world ``w`` cause ``i`` is on where bit ``i`` of ``w`` is.
    n_causes
        How many causes there are.

    References
    ----------
    Shapley (1953), A value for n-person games.

    Examples
    --------
    >>> share_out(np.array([0.0, 1.0, 2.0, 5.0]), n_causes=2)
    array([2., 3.])
    """
    parts = np.zeros((n_causes, *worlds.shape[1:]))
    for cause in range(n_causes):
        for world in range(2**n_causes):
            if world >> cause & 1:
                continue
            size = world.bit_count()
            weight = factorial(size) * factorial(n_causes - size - 1) / factorial(n_causes)
            parts[cause] += weight * (worlds[world | 1 << cause] - worlds[world])
    return parts
