"""Scores in logarithms to probabilities, the same whatever order the sums behind them were taken in."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int32

DIGITS = 12
"""Probabilities are rounded to so many digits, which is where the order of a sum begins to show. Without this, rounding
errors would grow from one iteration to the next where two labels are tied, and break the tie by accident."""


def normalize(scores: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """Turn log scores into probabilities in place, and return the log of each row's sum, shape ``(n,)``."""
    highest = scores[:, 0].copy()
    for column in range(1, scores.shape[1]):
        np.maximum(highest, scores[:, column], out=highest)
    scores -= highest[:, None]
    np.exp(scores, out=scores)
    total = np.einsum("nk->n", scores)
    scores /= total[:, None]
    np.round(scores, DIGITS, out=scores)
    return highest + np.log(total)


def normalize_groups(
    scores: Float[np.ndarray, " p"],
    starts: Int32[np.ndarray, " n"],
    *,
    n_unlisted: Float[np.ndarray, " n"],
) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, " n"]]:
    """Return the probabilities of listed choices, and the log of each item's sum.

    Parameters
    ----------
    scores
        Log scores of the choices of all items, item after item, shape ``(p,)``.
    starts
        Where each item's choices begin, shape ``(n,)``.
    n_unlisted
        Weight of the item's choices that are not listed, whose log score is 0, shape ``(n,)``; 0 where there are none.
    """
    sizes = np.diff(np.append(starts, len(scores)))
    highest = np.maximum.reduceat(scores, starts)
    highest = np.where(n_unlisted > 0, np.maximum(highest, 0.0), highest)
    weights = np.exp(scores - np.repeat(highest, sizes))
    total = np.add.reduceat(weights, starts) + n_unlisted * np.exp(-highest)
    weights /= np.repeat(total, sizes)
    return np.round(weights, DIGITS), highest + np.log(total)
