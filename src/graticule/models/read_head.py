"""The linear head behind predictions: a network's own, or the one that turns its features into a probe's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32

from graticule.models.network import Network

SMALLEST = 1e-7
RIDGE = 1e-4
"""As a share of the features' mean variance."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadHead:
    """A head that was read off predictions.

    Parameters
    ----------
    weights, intercepts
        Shapes ``(d, k)`` and ``(k,)``.
    agreement
        Share of images to which it gives the label that the predictions give.
    """

    weights: Float32[np.ndarray, "d k"]
    intercepts: Float32[np.ndarray, " k"]
    agreement: float


def find_own_head(
    network: Network, labels: Sequence[str]
) -> tuple[Float32[np.ndarray, "d k"], Float32[np.ndarray, " k"]] | None:
    """Return the rows of a network's own linear head that stand for some labels; None where it lacks one of them."""
    head = getattr(network.module, "head", None)
    if head is None or network.labels is None or not set(labels) <= set(network.labels):
        return None
    rows = [network.labels.index(label) for label in labels]
    weights = head.weight.detach().cpu().numpy()[rows].T
    bias = np.zeros(len(rows)) if head.bias is None else head.bias.detach().cpu().numpy()[rows]
    return np.ascontiguousarray(weights, dtype=np.float32), bias.astype(np.float32)


def read_head_off(features: Float[np.ndarray, "n d"], scores: Float[np.ndarray, "n k"]) -> ReadHead:
    """Return the linear head whose scores come nearest the logarithms of some probabilities.

    Notes
    -----
    Logarithms of a softmax are the linear scores up to a number an image, which centring each image takes away; so the
    head of a logistic probe comes back exactly, but for probabilities that were too small to be written down.
    """
    logs = np.log(np.maximum(scores, SMALLEST))
    logs = logs - logs.mean(axis=1, keepdims=True)
    middle, level = features.mean(axis=0).astype(np.float64), logs.mean(axis=0)
    centred = features.astype(np.float64) - middle
    products = centred.T @ centred
    ridge = RIDGE * float(np.trace(products)) / len(products)
    weights = np.linalg.solve(products + ridge * np.eye(len(products)), centred.T @ (logs - level))
    fitted = centred @ weights + level
    return ReadHead(
        weights=weights.astype(np.float32),
        intercepts=(level - middle @ weights).astype(np.float32),
        agreement=float((fitted.argmax(axis=1) == scores.argmax(axis=1)).mean()),
    )
