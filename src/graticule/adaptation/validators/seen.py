"""What a validator may look at: no label of the target is among it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What a trained algorithm gives for source and target images.

    Parameters
    ----------
    source_features, source_logits, source_labels
        Of labelled source images: held out where there are such, else those trained on.
    training_features
        Features of the source images that were trained on, shape ``(m, d)``.
    target_features, target_logits
        Of the target's images.
    """

    source_features: Float[np.ndarray, "n d"]
    source_logits: Float[np.ndarray, "n k"]
    source_labels: Int[np.ndarray, " n"]
    training_features: Float[np.ndarray, "m d"]
    target_features: Float[np.ndarray, "t d"]
    target_logits: Float[np.ndarray, "t k"]


Validator = Callable[[Seen], float]
"""Scores a trained algorithm; the higher, the better it should do on the target."""


def find_probabilities(logits: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Return the softmax of each row, in float64."""
    from scipy.special import softmax

    return softmax(logits.astype(np.float64), axis=1)


def find_entropies(probabilities: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """Return the entropy of each row."""
    from scipy.special import entr

    return entr(probabilities).sum(axis=1)
