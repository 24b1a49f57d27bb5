"""Entropy of predicted distributions, computed from logits so that it is stable."""

from __future__ import annotations

from torch import Tensor


def find_entropy(logits: Tensor) -> Tensor:
    """Return the entropy (nats) of each row's softmax, shape ``(n,)``."""
    logs = logits.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1)
