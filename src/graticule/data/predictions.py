"""A model's predictions in memory, the one form that everything after reading works on.

Whatever they came as (an artefact with scores, a CSV of top-1 labels, top-k lists), predictions are the indices of the
best labels, best first, and the scores where they are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

KINDS = ("logits", "probabilities", "similarity", "labels")
"""What scores are; ``labels`` means that only the order of the best labels is known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """Predictions of one model for ``n`` images over ``k`` labels.

    Parameters
    ----------
    model
        Name of the model, as shown in tables and on pages.
    image_ids
        Names of the images, shape ``(n,)``, unique, dtype object (str).
    labels
        The labels that the model can predict, in the order of the scores' columns.
    kind
        One of `KINDS`.
    top
        Indices into ``labels`` of the best predictions, best first, shape ``(n, t)``; -1 where fewer are known.
        Equal scores are ordered by the labels' order.
    scores
        Scores, shape ``(n, k)``, or None where only the order is known.
    info
        What the file says of itself (weights, transform, prompts' hash …).
    top_scores
        Where ``scores`` is None: the scores of ``top``, shape ``(n, t)``, NaN where there is none; None if unknown.
    """

    model: str
    image_ids: np.ndarray
    labels: tuple[str, ...]
    kind: str
    top: Int[np.ndarray, "n t"]
    scores: Float[np.ndarray, "n k"] | None
    info: dict[str, object]
    top_scores: Float[np.ndarray, "n t"] | None = None
