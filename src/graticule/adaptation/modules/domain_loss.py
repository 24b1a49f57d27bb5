"""How well a discriminator tells source from target, as a loss on logits."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def tell_apart(
    source: Tensor, target: Tensor, *, source_weights: Tensor | None = None, target_weights: Tensor | None = None
) -> Tensor:
    """Return the binary cross-entropy of logits (above 0 means source), the mean of both halves.

    Parameters
    ----------
    source, target
        Logits, shape ``(b, 1)`` or ``(b,)``.
    source_weights, target_weights
        Weights of the images, shape ``(b,)``; each half is divided by the number of its images, so weights whose mean
        is 1 leave its scale as it is.
    """
    halves: list[Tensor] = []
    for logits, weights in ((-source, source_weights), (target, target_weights)):
        losses = functional.softplus(logits.flatten())
        halves.append(losses.mean() if weights is None else (losses * weights).mean())
    return torch.stack(halves).mean()
