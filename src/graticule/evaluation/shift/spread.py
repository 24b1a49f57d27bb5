"""How far bootstrap draws scatter, where some draws may leave a number undefined."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def measure_spread(draws: Float[np.ndarray, b * m]) -> Float[np.ndarray, "*m"]:
    """Return the standard deviation over the draws in which a number is defined; NaN where it is in fewer than two."""
    defined = np.isfinite(draws)
    n = defined.sum(axis=0)
    mean = np.where(defined, draws, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(defined, (np.where(defined, draws, 0.0) - mean) ** 2, 0.0).sum(axis=0)
    return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
