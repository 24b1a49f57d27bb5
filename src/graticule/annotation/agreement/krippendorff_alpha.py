"""Krippendorff's alpha for nominal data with missing answers."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.annotation.agreement.sums import Sums


def measure_krippendorff_alpha(sums: Sums) -> Float[np.ndarray, " s"]:
    """Return alpha, one minus observed over expected disagreement, shape ``(s,)``.

    Observed is the share of the other answers on its unit that differ from an answer, over all answers; expected the
    share of all other answers that do. 1 is full agreement, 0 what chance would give; NaN where all answers are the
    same, so that there is nothing to agree on.

    References
    ----------
    Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part D.

    Examples
    --------
    Krippendorff's example B, twelve units and two observers (published: .692):

    >>> from graticule.annotation.agreement.counted import sum_counts
    >>> counts = np.array([[1, 1, 0, 0, 0], [2, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [0, 1, 0, 1, 0],
    ...                    [0, 0, 2, 0, 0], [0, 0, 2, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 0, 2], [0, 0, 0, 2, 0],
    ...                    [0, 0, 0, 2, 0], [1, 0, 0, 1, 0]])
    >>> measure_krippendorff_alpha(sum_counts(counts)).round(3).tolist()
    [0.692]
    """
    possible = sums.answers**2 - sums.squares
    return 1 - np.divide(
        (sums.answers - 1) * sums.differing, possible, out=np.full_like(possible, np.nan), where=possible > 0
    )
