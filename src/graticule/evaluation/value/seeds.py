"""A number measured under several seeds, as an estimate with an interval."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.estimates import Estimates


def average_seeds(values: Float[np.ndarray, "s m"], *, n: int, confidence: float = 0.95) -> Estimates:
    """Return the mean over seeds with Student's interval; no interval from one seed.

    Parameters
    ----------
    values
        A row a seed; NaN where a seed gives no number.
    n
        Images behind each number.
    confidence
        Coverage of the interval of the mean over draws.

    Examples
    --------
    >>> found = average_seeds(np.array([[0.5], [0.7]]), n=10)
    >>> found.value.round(3), found.low.round(3)
    (array([0.6]), array([-0.671]))
    """
    from scipy.special import stdtrit

    known = np.isfinite(values)
    n_seeds = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    mean = np.divide(total, n_seeds, out=np.full(values.shape[1], np.nan), where=n_seeds > 0)
    squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
    error = np.sqrt(squares / np.maximum(n_seeds - 1, 1) / np.maximum(n_seeds, 1))
    reach = np.where(n_seeds > 1, stdtrit(np.maximum(n_seeds - 1, 1), 0.5 + confidence / 2) * error, np.nan)
    return Estimates(value=mean, low=mean - reach, high=mean + reach, n=np.where(n_seeds > 0, n, 0))
