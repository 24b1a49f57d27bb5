"""Scores → the best few labels of each image, equal scores in the order of the labels."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

TOP = 5
"""Labels that are kept, as ImageNet's top-5 accuracy needs."""

BLOCK_SCORES = 8_000_000
"""Scores that are looked at together, so that memory does not grow with the number of images."""


def find_best_labels(scores: Float[np.ndarray, "n k"], *, count: int = TOP) -> Int[np.ndarray, "n t"]:
    """Return the indices of the highest finite scores of each row, highest first.

    Parameters
    ----------
    scores
        Scores, shape ``(n, k)``, all finite.
    count
        How many to keep; all ``k`` where there are fewer.

    Notes
    -----
    The maximum is taken ``count`` times, each time without those found before: the first of equal ones is found first,
    which a partial sort does not promise.

    Examples
    --------
    >>> find_best_labels(np.array([[0.1, 0.7, 0.7]]), count=2).tolist()
    [[1, 2]]
    """
    n_images, n_labels = scores.shape
    best = np.empty((n_images, min(count, n_labels)), dtype=np.int32)
    step = max(1, BLOCK_SCORES // max(1, n_labels))
    for start in range(0, n_images, step):
        block = np.array(scores[start : start + step], dtype=scores.dtype, order="C", copy=True)
        rows = np.arange(len(block))
        for place in range(best.shape[1]):
            found = block.argmax(axis=1)
            best[start : start + step, place] = found
            block[rows, found] = -np.inf
    return best
