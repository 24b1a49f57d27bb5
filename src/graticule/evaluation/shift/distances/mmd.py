"""Maximum mean discrepancy with a Gaussian kernel whose width is the median distance."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.distances.sides import Sides, average_pairs, measure_pairs


def measure_mmd(sides: Sides) -> Float[np.ndarray, " p"]:
    """Return the squared discrepancy, unbiased: about 0 where both sides have one distribution, at most 2.

    References
    ----------
    Gretton et al. (2012), A kernel two-sample test, equation 3, and section 8 for the median as the kernel's width.
    """
    squared = measure_pairs(sides.features)
    above = squared[np.triu_indices(len(squared), k=1)]
    width = float(np.median(above)) if len(above) else 0.0
    kernel = np.exp(-squared / (width or 1.0))
    np.fill_diagonal(kernel, 0.0)
    means = average_pairs(kernel, sides.is_target)
    return means[:, 0] + means[:, 1] - 2 * means[:, 2]
