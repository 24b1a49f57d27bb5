"""From what a model gives to the scores that are written: the model's own classes, or other labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float32

from graticule.models.model import SCORES, Model


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Head:
    """The last step of a prediction.

    Parameters
    ----------
    labels
        What the scores are of, in order, each once.
    kind
        What the scores are: ``logits``, ``probabilities`` or ``similarity``.
    takes
        Which of `graticule.models.model.OUTPUTS` it works on.
    apply
        ``(b, x)`` of that output → scores ``(b, k)``, float32. Threads may call it at once.
    info
        What a file of predictions should say of it: prompts and their hash, labels that are left out, and the like.
    """

    labels: tuple[str, ...]
    kind: str
    takes: str
    apply: Callable[[Float32[np.ndarray, "b x"]], Float32[np.ndarray, "b k"]]
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])


def own_head(model: Model) -> Head:
    """Return the head that leaves a model's scores as they are.

    Notes
    -----
    Where the names of the classes are not known they are ``0``, ``1``, ….

    Raises
    ------
    ModelError
        The model has no head.
    """
    model.require([SCORES])
    names = model.labels or tuple(str(index) for index in range(model.n_scores))
    info: dict[str, Any] = {"label_ids": list(model.label_ids)} if model.label_ids else {}
    return Head(labels=names, kind=model.score_kind, takes=SCORES, apply=lambda scores: scores, info=info)
