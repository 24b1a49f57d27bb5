"""How much of a data set's feature space another one covers: precision, recall, density and coverage.

The four measures come from the literature on generative models, where one set is real and the other is made. Here
both are real, and the question is a buyer's: do the images of A already show what the images of B show?
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.errors import ConfigError

BLOCK_ROWS = 1024
MEASURES = ("coverage", "recall", "precision", "density")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coverage:
    """How A lies about B, an image of B or A at a time.

    Parameters
    ----------
    covered
        Whether an image of B has one of A within the distance of its k-th nearest neighbour in B, shape ``(b,)``; the
        mean is Naeem's coverage.
    recalled
        Whether an image of B lies within the k-th neighbour's distance of any image of A, shape ``(b,)``; the mean is
        Kynkäänniemi's recall.
    precise
        Whether an image of A lies within the k-th neighbour's distance of any image of B, shape ``(a,)``; the mean is
        precision.
    density
        Of how many such balls around images of B an image of A is a part, over k, shape ``(a,)``.
    """

    covered: Bool[np.ndarray, " b"]
    recalled: Bool[np.ndarray, " b"]
    precise: Bool[np.ndarray, " a"]
    density: Float[np.ndarray, " a"]


def measure_coverage(first: Float[np.ndarray, "a d"], second: Float[np.ndarray, "b d"], *, k: int = 5) -> Coverage:
    """Return how much of the second set's feature space the first one covers.

    Parameters
    ----------
    first, second
        Features of A and of B; each needs more than ``k`` images.
    k
        Which nearest neighbour makes the radius.

    Raises
    ------
    ConfigError
        A set has no more than ``k`` images.

    References
    ----------
    Kynkäänniemi et al. (2019), Improved precision and recall metric for assessing generative models.
    Naeem et al. (2020), Reliable fidelity and diversity metrics for generative models.
    """
    if k < 1 or min(len(first), len(second)) <= k:
        raise ConfigError(
            f"k is {k} with sets of {len(first)} and {len(second)} images, expected at least 1 and fewer than either "
            "has. Choose a smaller --neighbours."
        )
    own_first, own_second = find_radii(first, k=k), find_radii(second, k=k)
    covered, recalled = (np.zeros(len(second), dtype=bool) for _ in range(2))
    precise, density = np.zeros(len(first), dtype=bool), np.zeros(len(first))
    for start in range(0, len(second), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        distances = _measure(second[block], first)
        inside = distances <= own_second[block, None]
        covered[block] = inside.any(axis=1)
        recalled[block] = (distances <= own_first).any(axis=1)
        precise |= inside.any(axis=0)
        density += inside.sum(axis=0)
    return Coverage(covered=covered, recalled=recalled, precise=precise, density=density / k)


def find_radii(features: Float[np.ndarray, "n d"], *, k: int) -> Float[np.ndarray, " n"]:
    """Return the squared distance of each image to its k-th nearest neighbour in the same set."""
    radii = np.empty(len(features))
    for start in range(0, len(features), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        distances = _measure(features[block], features)
        rows = np.arange(len(distances))
        distances[rows, start + rows] = np.inf
        radii[block] = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return radii


def draw_rows(rows: Int[np.ndarray, " m"], limit: int, rng: np.random.Generator) -> Int[np.ndarray, " m2"]:
    """Return at most ``limit`` of some rows, in order."""
    return rows if len(rows) <= limit else np.sort(rng.choice(rows, size=limit, replace=False))


def _measure(rows: Float[np.ndarray, "m d"], others: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "m n"]:
    """Return squared distances."""
    rows, others = rows.astype(np.float64), others.astype(np.float64)
    lengths = np.einsum("nd,nd->n", others, others)
    squared = np.einsum("nd,nd->n", rows, rows)[:, None] + lengths[None, :] - 2 * (rows @ others.T)
    return np.maximum(squared, 0.0)
