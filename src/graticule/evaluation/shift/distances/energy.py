"""Energy distance: how much farther apart images of two sides are than images of one side."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.distances.sides import Sides, average_pairs, measure_pairs


def measure_energy(sides: Sides) -> Float[np.ndarray, " p"]:
    """Return twice the mean distance across minus the mean distances within, in the features' unit.

    It is 0 on average where both sides have one distribution, and so may be below 0 by chance.

    References
    ----------
    Székely and Rizzo (2013), Energy statistics: a class of statistics based on distances.
    """
    means = average_pairs(np.sqrt(measure_pairs(sides.features)), sides.is_target)
    return 2 * means[:, 2] - means[:, 0] - means[:, 1]
