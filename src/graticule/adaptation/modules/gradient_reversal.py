"""The identity whose gradient is turned round: what lies before it learns to do the opposite of what lies behind."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return inputs.view_as(inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return grad_outputs[0] * -ctx.strength, None


def reverse_gradient(inputs: Tensor, *, strength: float) -> Tensor:
    """Return the inputs; on the way back their gradient is multiplied by ``-strength``.

    References
    ----------
    Ganin et al. 2016, "Domain-adversarial training of neural networks", section 4.2.
    """
    return _Reversal.apply(inputs, strength)  # pyright: ignore[reportReturnType]
