"""The exact upper bound of a share, so that nobody is judged by a handful of answers."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def bound_share(
    successes: Int[np.ndarray, " w"], trials: Int[np.ndarray, " w"], *, confidence: float
) -> tuple[Float[np.ndarray, " w"], Float[np.ndarray, " w"]]:
    """Return the lower and upper ends of the Clopper-Pearson intervals of shares; 0 and 1 where there was no trial.

    Parameters
    ----------
    successes
        Numbers of successes, shape ``(w,)``.
    trials
        Numbers of trials, shape ``(w,)``.
    confidence
        Two-sided confidence of the intervals.

    References
    ----------
    Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the binomial".

    Examples
    --------
    >>> low, high = bound_share(np.array([0]), np.array([3]), confidence=0.95)
    >>> float(low[0]), round(float(high[0]), 3)
    (0.0, 0.708)
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    failures = trials - successes
    low = np.where(successes > 0, betaincinv(np.maximum(successes, 1), failures + 1, tail), 0.0)
    high = np.where(failures > 0, betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail), 1.0)
    return low, high
