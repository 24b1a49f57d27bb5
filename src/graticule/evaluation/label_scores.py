"""Scores of the images that are audited, read a block at a time: probabilities of a few labels, and columns to rank by.

A million images by forty labels are 160 MB: nothing here copies them whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from graticule.data.predictions import Predictions
from graticule.errors import TableError, shown

BLOCK_SCORES = 4_000_000
"""Scores that are held as a copy at any time."""
TOP = 5
LOGIT_SCALE = "logit_scale"
"""Key of the predictions' info for what similarities are multiplied by before the softmax (CLIP's temperature)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelScores:
    """The scores of ``n`` audited images over a model's ``m`` labels.

    Parameters
    ----------
    values
        All scores that the predictions hold, shape ``(all, m)``.
    positions
        Row in ``values`` of each audited image, shape ``(n,)``.
    scale
        What scores are multiplied by before the softmax; None where scores are used as they are.
    normaliser
        Logarithm of each image's sum of exponentials, shape ``(n,)``; None where scores are used as they are.
    """

    values: Float[np.ndarray, "all m"]
    positions: Int[np.ndarray, " n"]
    scale: float | None = None
    normaliser: Float[np.ndarray, " n"] | None = None

    def read_rows(self) -> Iterator[tuple[slice, Float[np.ndarray, "b m"]]]:
        """Yield blocks of images with all their scores as they stand."""
        step = max(1, BLOCK_SCORES // max(1, self.values.shape[1]))
        for start in range(0, len(self.positions), step):
            block = slice(start, min(start + step, len(self.positions)))
            yield block, self.values[self.positions[block]].astype(np.float32, copy=False)

    def read_columns(self, columns: Int[np.ndarray, " c"], order: Int[np.ndarray, " n"]) -> Float32[np.ndarray, "c n"]:
        """Return what images are ranked by for a few labels, images in the given order.

        Probabilities and similarities are ranked as they are; logits by the logarithm of their softmax, which keeps
        apart what a float rounds to a probability of one.
        """
        ranked = np.empty((len(columns), len(order)), dtype=np.float32)
        step = max(1, BLOCK_SCORES // max(1, self.values.shape[1]))
        for start in range(0, len(order), step):
            images = order[start : start + step]
            block = self.values[self.positions[images]][:, columns]
            if self.normaliser is not None:
                block = block * (self.scale or 1.0) - self.normaliser[images, None]
            ranked[:, start : start + step] = block.T
        return ranked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreFacts:
    """What is kept of the scores: two probabilities an image, whether the label is among the best, and the ranking."""

    predicted_probability: Float32[np.ndarray, " n"] | None
    label_probability: Float32[np.ndarray, " n"] | None
    is_right_top5: Bool[np.ndarray, " n"] | None
    scores: LabelScores


def read_scores(
    predictions: Predictions,
    *,
    positions: Int[np.ndarray, " n"],
    predicted: Int[np.ndarray, " n"],
    label: Int[np.ndarray, " n"],
) -> ScoreFacts:
    """Return what an audit needs of a model's scores.

    Parameters
    ----------
    predictions
        Predictions with scores.
    positions
        Row of each audited image in the predictions, shape ``(n,)``.
    predicted, label
        Columns of the best prediction and of the image's label, shape ``(n,)``; a label of -1 is one that the model
        does not know.

    Raises
    ------
    TableError
        A score is NaN, or what is said to be a probability is not.

    Notes
    -----
    Logits become probabilities by a softmax. Similarities do if the predictions' info holds the model's
    ``logit_scale``; without it they are not probabilities, and none are given. Where predictions hold fewer than five
    best labels an image, the label's place is counted from the scores: those that are higher, and equal ones of labels
    that stand earlier.
    """
    if predictions.scores is None:
        raise ValueError("predictions without scores")
    plain = LabelScores(values=predictions.scores, positions=positions)
    scale = find_scale(predictions)
    n_images, n_labels = len(positions), predictions.scores.shape[1]
    is_probability = predictions.kind == "probabilities"
    chosen = np.empty(n_images, dtype=np.float32)
    right = np.empty(n_images, dtype=np.float32)
    normaliser = None if scale is None else np.empty(n_images)
    is_right_top5 = np.empty(n_images, dtype=bool) if n_labels >= TOP else None
    for block, scores in plain.read_rows():
        known = label[block] >= 0
        images = np.arange(len(scores))
        own = np.where(known, scores[images, label[block]], np.float32(np.nan))
        _check(scores, predictions, positions[block], is_probability=is_probability)
        chosen[block], right[block] = scores[images, predicted[block]], own
        if is_right_top5 is not None:
            is_right_top5[block] = _find_places(scores, own, label[block]) < TOP
        if scale is not None and normaliser is not None:
            normaliser[block] = _sum_exponentials(scores, scale)
            chosen[block] = np.exp(chosen[block].astype(np.float64) * scale - normaliser[block])
            right[block] = np.exp(own.astype(np.float64) * scale - normaliser[block])
    has_probabilities = is_probability or scale is not None
    return ScoreFacts(
        predicted_probability=chosen if has_probabilities else None,
        label_probability=right if has_probabilities else None,
        is_right_top5=is_right_top5,
        scores=LabelScores(values=predictions.scores, positions=positions, scale=scale, normaliser=normaliser),
    )


def find_scale(predictions: Predictions) -> float | None:
    """Return what scores are multiplied by before the softmax; None where no softmax is taken."""
    if predictions.kind == "logits":
        return 1.0
    scale = predictions.info.get(LOGIT_SCALE)
    return float(scale) if predictions.kind == "similarity" and isinstance(scale, int | float) else None


def _sum_exponentials(scores: Float[np.ndarray, "b m"], scale: float) -> Float[np.ndarray, " b"]:
    highest = scores.max(axis=1, keepdims=True)
    powers = np.exp((scores - highest) * np.float32(scale))
    return highest[:, 0].astype(np.float64) * scale + np.log(powers.sum(axis=1, dtype=np.float64))


def _find_places(
    scores: Float[np.ndarray, "b m"], own: Float[np.ndarray, " b"], label: Int[np.ndarray, " b"]
) -> Int[np.ndarray, " b"]:
    """Return how many labels stand before the image's own; a label that is not known stands last."""
    higher = np.count_nonzero(scores > own[:, None], axis=1)
    equal = scores == own[:, None]
    tied = np.flatnonzero(np.count_nonzero(equal, axis=1) > 1)
    higher[tied] += np.count_nonzero(equal[tied] & (np.arange(scores.shape[1]) < label[tied, None]), axis=1)
    return np.where(label >= 0, higher, scores.shape[1])


def _check(
    scores: Float[np.ndarray, "b m"],
    predictions: Predictions,
    positions: Int[np.ndarray, " b"],
    *,
    is_probability: bool,
) -> None:
    lowest, highest = scores.min(initial=0), scores.max(initial=0)
    if np.isnan(lowest) or np.isnan(highest):
        bad = predictions.image_ids[positions[np.isnan(scores).any(axis=1)]]
        raise TableError(
            f"predictions of {predictions.model}: scores of {shown(bad.tolist())} are NaN, expected numbers. "
            "Predict these images again, or drop their rows."
        )
    if is_probability and (lowest < -1e-4 or highest > 1 + 1e-4):
        raise TableError(
            f"predictions of {predictions.model}: scores run from {lowest:.3g} to {highest:.3g}, expected "
            "probabilities from 0 to 1 as their kind says. Write kind 'logits' if a softmax is still to be taken."
        )
