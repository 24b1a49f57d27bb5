"""The images that one model could be scored on, as codes: what every metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from graticule.evaluation.label_scores import LabelScores


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """One model on ``n`` images of ``r`` regions and ``k`` labels.

    Parameters
    ----------
    model
        Name of the model.
    regions, labels
        Names of the regions and of the images' labels, the same for every model of an audit.
    predicted_labels
        Labels that the model can predict.
    columns
        Each label's index among the predicted labels, shape ``(k,)``; -1 where the model does not know it.
    rows
        Rows of the images table, shape ``(n,)``.
    keys
        A pseudo-random number of each image that hangs on its name alone, shape ``(n,)``: what is sampled by it stays
        the same when rows are shuffled.
    region, label
        Codes of each image's region and label, shape ``(n,)``.
    predicted
        Index of each image's best prediction among the predicted labels, shape ``(n,)``.
    is_right, is_right_top5
        Whether the best prediction, and any of the best five, is the image's label, shape ``(n,)``; None where five
        are not known.
    predicted_probability, label_probability
        The model's probability of what it predicted and of the image's label, shape ``(n,)``; None where the
        predictions hold no probabilities.
    scores
        The scores of every label, for metrics that rank images; None where only the best labels are known.
    """

    model: str
    regions: tuple[str, ...]
    labels: tuple[str, ...]
    predicted_labels: tuple[str, ...]
    columns: Int[np.ndarray, " k"]
    rows: Int[np.ndarray, " n"]
    keys: UInt64[np.ndarray, " n"]
    region: Int[np.ndarray, " n"]
    label: Int[np.ndarray, " n"]
    predicted: Int[np.ndarray, " n"]
    is_right: Bool[np.ndarray, " n"]
    is_right_top5: Bool[np.ndarray, " n"] | None
    predicted_probability: Float[np.ndarray, " n"] | None
    label_probability: Float[np.ndarray, " n"] | None
    scores: LabelScores | None

    def count_cells(self, where: Bool[np.ndarray, " n"] | None = None) -> Int[np.ndarray, "r k"]:
        """Return the number of images in each region and label, or of those that ``where`` marks."""
        n_cells = len(self.regions) * len(self.labels)
        cells = self.region.astype(np.int64) * len(self.labels) + self.label
        counted = np.bincount(cells if where is None else cells[where], minlength=n_cells)
        return counted.reshape(len(self.regions), len(self.labels))


def add_margins(counts: Int[np.ndarray, "r k"]) -> Int[np.ndarray, "r1 k1"]:
    """Return the counts with a last row for all regions and a last column for all labels.

    Examples
    --------
    >>> add_margins(np.array([[1, 2], [3, 4]]))
    array([[ 1,  2,  3],
           [ 3,  4,  7],
           [ 4,  6, 10]])
    """
    with_labels = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    return np.concatenate([with_labels, with_labels.sum(axis=0, keepdims=True)], axis=0)
