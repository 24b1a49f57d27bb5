"""Fleiss' kappa."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.annotation.agreement.sums import Sums


def measure_fleiss_kappa(sums: Sums) -> Float[np.ndarray, " s"]:
    """Return kappa, shape ``(s,)``: NaN where all answers are the same.

    Notes
    -----
    Fleiss has the same number of answers on every unit. Where it varies, a unit counts once however many answers it
    has, and the share of a value is that among all answers.

    References
    ----------
    Fleiss 1971, "Measuring nominal scale agreement among many raters", equations 1 to 9; a label against the others:
    equation 14.

    Examples
    --------
    Three units, four raters, two values:

    >>> from graticule.annotation.agreement.counted import sum_counts
    >>> measure_fleiss_kappa(sum_counts(np.array([[4, 0], [2, 2], [0, 4]]))).round(3).tolist()
    [0.556]
    """
    by_chance = sums.answers**2 - sums.squares
    chance = np.divide(by_chance, sums.answers**2, out=np.full_like(by_chance, np.nan), where=by_chance > 0)
    differing = np.divide(sums.differing_pairs, sums.units, out=np.full_like(chance, np.nan), where=sums.units > 0)
    return 1 - differing / chance
