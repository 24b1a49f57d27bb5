"""What an estimator of label shift is given: a model's view of a labelled source and of a target without labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """A model's view of a labelled source and an unlabelled target, over ``k`` labels.

    Parameters
    ----------
    source_label
        Code of each source image's label, shape ``(n,)``.
    source_scores, target_scores
        Probabilities that the model gives each label, shapes ``(n, k)`` and ``(m, k)``; rows of one 1 where only the
        best label is known.
    source_weight, target_weight
        How often each image counts.
    """

    source_label: Int[np.ndarray, " n"]
    source_scores: Float[np.ndarray, "n k"]
    target_scores: Float[np.ndarray, "m k"]
    source_weight: Float[np.ndarray, " n"]
    target_weight: Float[np.ndarray, " m"]

    @property
    def n_labels(self) -> int:
        """Return the number of labels."""
        return self.source_scores.shape[1]

    def share_source(self) -> Float[np.ndarray, " k"]:
        """Return the labels' shares in the source."""
        counts = np.bincount(self.source_label, weights=self.source_weight, minlength=self.n_labels)
        return counts / counts.sum()

    def confuse(self) -> Float[np.ndarray, "k k"]:
        """Return the joint distribution of what is predicted (rows) and the label (columns) in the source."""
        joint = np.zeros((self.n_labels, self.n_labels))
        weighted = self.source_scores * self.source_weight[:, None]
        np.add.at(joint.T, self.source_label, weighted)
        return joint / self.source_weight.sum()

    def predict_target(self) -> Float[np.ndarray, " k"]:
        """Return how often each label is predicted in the target."""
        return self.target_weight @ self.target_scores / self.target_weight.sum()


LabelShift = Callable[[Evidence], Float[np.ndarray, " k"]]
"""Gives the labels' shares in the target; they sum to 1."""


def weigh_shares(weights: Float[np.ndarray, " k"], source: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """Return the target's shares from how much more frequent each label is there; negative ones are 0."""
    shares = np.maximum(weights, 0.0) * source
    total = shares.sum()
    return shares / total if total > 0 else source
