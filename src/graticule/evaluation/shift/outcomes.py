"""Images of two regions with their labels and whether a model was right: what every analysis of a drop works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graticule.errors import TableError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """One model on ``n`` images of a source and a target, over ``k`` labels.

    Parameters
    ----------
    labels
        Names of the labels.
    label
        Code of each image's label, shape ``(n,)``.
    is_target
        Which images are of the target, shape ``(n,)``.
    is_right
        Whether the best prediction is the image's label, shape ``(n,)``.
    groups
        What each image shows (a sign, a shop), as a code, shape ``(n,)``: images of a group are drawn together.
    """

    labels: tuple[str, ...]
    label: Int[np.ndarray, " n"]
    is_target: Bool[np.ndarray, " n"]
    is_right: Bool[np.ndarray, " n"]
    groups: Int[np.ndarray, " n"]

    def __post_init__(self) -> None:
        """Refuse a side without images.

        Raises
        ------
        TableError
            One side has none.
        """
        for name, n in (("target", int(self.is_target.sum())), ("source", int((~self.is_target).sum()))):
            if not n:
                raise TableError(
                    f"the {name} has no images with a label and a prediction; expected some on both sides."
                )

    def count_labels(self, weights: Float[np.ndarray, " n"] | None = None) -> Float[np.ndarray, "2 k"]:
        """Return the images (or their weights) of each label: source, then target."""
        return self._sum(np.ones(len(self.label)) if weights is None else weights)

    def measure_labels(self, weights: Float[np.ndarray, " n"] | None = None) -> Float[np.ndarray, "2 k"]:
        """Return each label's accuracy on either side; NaN where it has no images."""
        given = np.ones(len(self.label)) if weights is None else weights
        n = self._sum(given)
        return np.divide(self._sum(given * self.is_right), n, out=np.full(n.shape, np.nan), where=n > 0)

    def _sum(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "2 k"]:
        cells = self.is_target * len(self.labels) + self.label
        return np.bincount(cells, weights=weights, minlength=2 * len(self.labels)).reshape(2, -1)


def draw_again(outcomes: Outcomes, *, rng: np.random.Generator) -> Float[np.ndarray, " n"]:
    """Return how often each image is drawn in a bootstrap: groups, within each side, with replacement."""
    codes = np.unique(outcomes.groups * 2 + outcomes.is_target, return_inverse=True)[1]
    side_of = np.zeros(int(codes.max()) + 1, dtype=bool)
    side_of[codes] = outcomes.is_target
    times = np.zeros(len(side_of))
    for side in (False, True):
        members = np.flatnonzero(side_of == side)
        times[members] = np.bincount(rng.integers(len(members), size=len(members)), minlength=len(members))
    return times[codes]
